"""Color refinement: the same partition as nested tuples give, both ways, and continued."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.kernels.graphs.graph import Graph
from novum.kernels.graphs.graph_sample import read_sample
from novum.kernels.graphs.refinement import arcs_of, refine, signatures
from tests.kernels.graphs.graph_examples import (
    compile_everything,
    compile_nothing,
    cycle,
    path,
    random_pairs,
    samples,
)
from tests.oracles.graph_kernel_definitions import refined_colors


def first_occurrence(values: list[object]) -> list[int]:
    seen: dict[object, int] = {}
    return [seen.setdefault(value, len(seen)) for value in values]


@pytest.mark.parametrize("switch", [compile_everything, compile_nothing], ids=["compiled", "plain"])
@given(graphs=samples(), iterations=st.integers(0, 4))
def test_colors_are_those_of_the_definition(
    switch: object, graphs: list[Graph], iterations: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        switch(patch)  # type: ignore[operator]
        refined = refine(read_sample(graphs), iterations)
    by_graph = [refined_colors(graph, iterations) for graph in graphs]
    for t in range(iterations + 1):
        expected = first_occurrence([color for colors in by_graph for color in colors[t]])
        # Beyond the last iteration computed the partition stays, and so do the numbers.
        assert refined.colors[min(t, len(refined.colors) - 1)].tolist() == expected


@pytest.mark.parametrize("switch", [compile_everything, compile_nothing], ids=["compiled", "plain"])
@given(first=samples(), second=samples(), iterations=st.integers(0, 4))
def test_a_continued_refinement_is_that_of_both_samples(
    switch: object, first: list[Graph], second: list[Graph], iterations: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        switch(patch)  # type: ignore[operator]
        alone = read_sample(first)
        known = refine(alone, iterations)
        later = refine(
            read_sample(second, alone.node_codes, alone.edge_codes), iterations, known.tables
        )
        together = refine(read_sample([*first, *second]), iterations)
    cut = len(alone.nodes)
    for t in range(iterations + 1):
        one = together.colors[min(t, len(together.colors) - 1)].tolist()
        mine = known.colors[min(t, len(known.colors) - 1)].tolist()
        theirs = later.colors[min(t, len(later.colors) - 1)].tolist()
        assert one[:cut] == mine
        assert one[cut:] == theirs


def test_it_stops_when_the_colors_are_stable() -> None:
    refined = refine(read_sample([(path(9), "a" * 9)]), 1000)
    assert refined.is_stable
    # The middle of a path of 9 is found after 4 steps from the ends.
    assert refined.sizes == (1, 2, 3, 4, 5)
    assert len(refined.tables) == len(refined.colors)


def test_it_stops_after_the_iterations_asked_for() -> None:
    refined = refine(read_sample([(path(9), "a" * 9)]), 2)
    assert not refined.is_stable
    assert refined.sizes == (1, 2, 3)
    assert len(refined.tables) == 2


def test_regular_graphs_are_stable_at_once() -> None:
    assert refine(read_sample([(cycle(6), "aaaaaa")]), None).sizes == (1,)


def test_a_hub_of_many_neighbors_takes_linear_time() -> None:
    # Sorting neighbors by insertion would take 10^10 steps here.
    n = 100_000
    star = Graph(np.column_stack([np.zeros(n, int), np.arange(1, n + 1)]), [0] * (n + 1))
    refined = refine(read_sample([star]), None)
    assert refined.sizes == (1, 2)


def test_neighbors_are_a_multiset() -> None:
    # As sets, all inner nodes of paths and all nodes of cycles see one color for ever.
    one = [*path(4), *path(4, 4), *cycle(4, 8)]
    other = [*path(4), *cycle(4, 4), *cycle(4, 8)]
    refined = refine(read_sample([(one, "a" * 12), (other, "a" * 12)]), 1)
    counts = [np.bincount(colors, minlength=2) for colors in refined.colors[1].reshape(2, 12)]
    assert [c.tolist() for c in counts] == [[4, 8], [2, 10]]


def test_self_loops_parallel_edges_and_directions_are_seen() -> None:
    graphs = [
        Graph([], "a"),
        Graph([(0, 0)], "a"),
        Graph([(0, 0), (0, 0)], "a"),
        Graph([(0, 0)], "a", ["loop"]),
        Graph([(0, 0)], "a", directed=True),
    ]
    assert refine(read_sample(graphs), 1).colors[1].tolist() == [0, 1, 2, 3, 4]
    arrow = refine(read_sample([Graph([(0, 1)], "aa", directed=True)]), 1)
    assert arrow.colors[1].tolist() == [0, 1]


def test_both_ways_write_the_same_signatures(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    pairs = random_pairs(30, 20, 3)
    graphs = [Graph(edges, labels, rng.integers(0, 3, len(edges))) for edges, labels in pairs]
    sample = read_sample(graphs)
    arcs = arcs_of(sample)
    compile_everything(monkeypatch)
    compiled = signatures(arcs, sample.nodes, 3)
    compile_nothing(monkeypatch)
    plain = signatures(arcs, sample.nodes, 3)
    assert np.array_equal(compiled.values, plain.values)
    assert np.array_equal(compiled.starts, plain.starts)
