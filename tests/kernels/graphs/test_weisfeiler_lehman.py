"""The Weisfeiler-Lehman kernel: sums by hand, stability, real molecules, large samples."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.core.files.registry import registered
from novum.core.files.state_coding import StateEncoder
from novum.core.files.state_decoding import StateDecoder
from novum.kernels.graphs.graph import Graph
from novum.kernels.graphs.histograms import EdgeHistogram, VertexHistogram
from novum.kernels.graphs.shortest_path import ShortestPath
from novum.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman
from tests.kernels.graphs.graph_examples import (
    cycle,
    molecule_graphs,
    molecules,
    path,
    random_pairs,
)


def test_iteration_zero_is_part_of_the_sum() -> None:
    graphs = [([(0, 1)], "ab"), ([], "ab")]
    assert WeisfeilerLehman(iterations=0).gram(graphs).tolist() == [[2, 2], [2, 2]]
    assert WeisfeilerLehman(iterations=1).gram(graphs).tolist() == [[4, 2], [2, 4]]


@pytest.mark.parametrize("iterations", [1, 5, 10**6])
def test_stable_colors_go_on_counting(iterations: int) -> None:
    hexagon = (cycle(6), "a" * 6)
    K = WeisfeilerLehman(iterations=iterations).gram([hexagon])
    assert K.tolist() == [[36.0 * (iterations + 1)]]


def test_new_graphs_may_be_stable_later_than_the_training() -> None:
    # The cycle is stable at once; each iteration finds more nodes of the path to be none of it.
    kernel = WeisfeilerLehman(iterations=10)
    rows = kernel.prepare([(cycle(20), "a" * 20)])
    new = kernel.prepare([(path(8), "a" * 8)], like=rows)
    inner = [8, 6, 4, 2, 0, 0, 0, 0, 0, 0, 0]
    assert new.cross(rows).tolist() == [[20.0 * sum(inner)]]


def test_labels_unseen_in_training_match_nothing() -> None:
    kernel = WeisfeilerLehman(iterations=1)
    rows = kernel.prepare([([(0, 1)], "ab")])
    new = kernel.prepare([([(0, 1)], "zb"), ([(0, 1, "new")], "ab"), ([(0, 1)], "zy")], like=rows)
    assert new.cross(rows).tolist() == [[1], [2], [0]]
    assert new.gram().tolist() == [[4, 1, 1], [1, 4, 0], [1, 0, 4]]


def test_edge_labels_take_part_from_the_first_iteration() -> None:
    graphs = [([(0, 1, kind)], "ab") for kind in ("single", "double")]
    assert WeisfeilerLehman(iterations=0).gram(graphs).tolist() == [[2, 2], [2, 2]]
    assert WeisfeilerLehman(iterations=1).gram(graphs).tolist() == [[4, 2], [2, 4]]


def dictionary_gram(graphs: list[Any], iterations: int) -> Any:
    """A second implementation: labels in one dict, counts in one dense matrix."""
    codes: dict[Any, int] = {}
    near = []
    for edges, labels in graphs:
        lists: list[list[int]] = [[] for _ in labels]
        for a, b in edges:
            lists[a].append(b)
            if a != b:
                lists[b].append(a)
        near.append(lists)
    state = [[codes.setdefault((0, x), len(codes)) for x in labels] for _, labels in graphs]
    found = [list(labels) for labels in state]
    for t in range(1, iterations + 1):
        state = [
            [
                codes.setdefault((t, labels[v], *sorted(labels[u] for u in N[v])), len(codes))
                for v in range(len(labels))
            ]
            for labels, N in zip(state, near, strict=True)
        ]
        for seen, labels in zip(found, state, strict=True):
            seen += labels
    X = np.array([np.bincount(seen, minlength=len(codes)) for seen in found])
    return X @ X.T


@pytest.mark.slow
def test_large_samples_equal_a_second_implementation() -> None:
    graphs = random_pairs(400, 50, 4)
    kernel = WeisfeilerLehman(iterations=3)
    expected = dictionary_gram(graphs, 3)
    rows = kernel.prepare(graphs[:300])
    assert np.array_equal(rows.gram(), expected[:300, :300])
    assert np.array_equal(rows.gram(np.float32), expected[:300, :300])
    new = kernel.prepare(graphs[300:], like=rows)
    assert np.array_equal(new.cross(rows), expected[300:, :300])
    assert np.array_equal(rows.cross(new), expected[:300, 300:])
    chosen = np.arange(0, 300, 7)
    assert np.array_equal(
        rows.take(chosen).cross(rows, np.float32), expected[:300, :300][chosen].astype(np.float32)
    )
    single = kernel.prepare([graphs[399]], like=rows)
    assert np.array_equal(single.cross(rows), expected[399:, :300])


def test_molecules_are_told_by_their_nearest() -> None:
    # Leave-one-out nearest neighbor by the normalized kernel; guessing is right in 20 of 40.
    y = np.array([g["y"] for g in molecules()])
    K = WeisfeilerLehman(iterations=3).gram(molecule_graphs())
    N = K / np.sqrt(np.outer(np.diag(K), np.diag(K)))
    np.fill_diagonal(N, -1)
    assert np.mean(y[N.argmax(axis=1)] == y) > 0.7


def test_molecules_of_triples_and_of_graphs_agree() -> None:
    triples = [([tuple(e) for e in g["edges"]], g["node_labels"]) for g in molecules()]
    kernel = WeisfeilerLehman(iterations=2)
    assert np.array_equal(kernel.gram(triples), kernel.gram(molecule_graphs()))


def test_it_is_a_value() -> None:
    kernel = WeisfeilerLehman(EdgeHistogram(), iterations=2)
    assert kernel == WeisfeilerLehman(EdgeHistogram(), 2)
    assert kernel != WeisfeilerLehman(EdgeHistogram(), 3)
    assert hash(kernel) == hash(WeisfeilerLehman(EdgeHistogram(), np.int64(2)))
    assert repr(kernel) == "WeisfeilerLehman(base=EdgeHistogram(), iterations=2)"
    assert WeisfeilerLehman().base == VertexHistogram()
    assert pickle.loads(pickle.dumps(kernel)) == kernel


def test_it_can_be_saved() -> None:
    kernel = WeisfeilerLehman(ShortestPath(), 4)
    with registered(values={"SavedWL": WeisfeilerLehman, "SavedPath": ShortestPath}):
        encoder = StateEncoder()
        coded = encoder.encode(kernel, "kernel")
        decoder = StateDecoder(encoder.arrays.__getitem__, len(encoder.arrays), 10**6)
        assert decoder.decode(coded, "kernel", 0) == kernel


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"iterations": -1}, "iterations is a whole number of at least 0, got -1"),
        ({"iterations": 1.5}, "got 1.5"),
        ({"iterations": True}, "got True"),
        ({"base": "vertex"}, r"base is a kernel on graphs .* got 'vertex'. Use VertexHistogram"),
        ({"base": VertexHistogram}, "base is a kernel on graphs"),
        ({"base": WeisfeilerLehman()}, "without iterations of its own"),
    ],
)
def test_wrong_settings_are_told(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        WeisfeilerLehman(**arguments)


def test_graphs_and_pairs_mix() -> None:
    mixed = [Graph([(0, 1)], "ab"), ([(0, 1)], "ab"), {0: [1], 1: [0]}]
    assert WeisfeilerLehman(iterations=1).gram(mixed).tolist() == [[4, 4, 0], [4, 4, 0], [0, 0, 8]]
