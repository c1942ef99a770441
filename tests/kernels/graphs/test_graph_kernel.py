"""What all graph kernels share, tested on each of them: counting, `like`, features, messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.graphs.graph import Graph
from novum.kernels.graphs.graph_kernel import GraphKernel
from novum.kernels.graphs.histograms import EdgeHistogram, VertexHistogram
from novum.kernels.graphs.shortest_path import ShortestPath
from novum.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman
from tests.kernels.graphs.graph_examples import (
    compile_everything,
    compile_nothing,
    labelled_graphs,
    molecule_graphs,
    renamed,
    samples,
)
from tests.oracles.graph_kernel_definitions import (
    edge_counts,
    path_counts,
    vertex_counts,
    weisfeiler_lehman,
)

BASES: list[tuple[GraphKernel, Callable[..., Any]]] = [
    (VertexHistogram(), vertex_counts),
    (EdgeHistogram(), edge_counts),
    (ShortestPath(), path_counts),
]
WAYS = pytest.mark.parametrize(
    "switch", [compile_everything, compile_nothing], ids=["compiled", "plain"]
)
OF_ALL = pytest.mark.parametrize(
    ("base", "counts"), BASES, ids=[type(base).__name__ for base, _ in BASES]
)


def matrix_of(X: list[Graph], Z: list[Graph], iterations: int, counts: Any) -> Any:
    shape = (len(X), len(Z))
    return np.reshape([weisfeiler_lehman(x, z, iterations, counts) for x in X for z in Z], shape)


@WAYS
@OF_ALL
@given(X=samples(), Z=samples(), iterations=st.integers(0, 3))
def test_kernels_equal_brute_force(
    switch: Any, base: GraphKernel, counts: Any, X: list[Graph], Z: list[Graph], iterations: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        switch(patch)
        kernel = WeisfeilerLehman(base, iterations)
        expected = matrix_of(X, Z, iterations, counts)
        assert np.array_equal(kernel.cross(X, Z), expected)
        assert np.array_equal(kernel.gram(X), matrix_of(X, X, iterations, counts))
        assert np.array_equal(kernel.diagonal(X), np.diag(matrix_of(X, X, iterations, counts)))
        if iterations == 0:
            assert np.array_equal(base.cross(X, Z), expected)
            assert np.array_equal(base.gram(X), kernel.gram(X))
        rows = kernel.prepare(X)
        new = kernel.prepare(Z, like=rows)
        assert np.array_equal(rows.cross(new), expected)
        assert np.array_equal(new.cross(rows), expected.T)
        # New graphs among themselves, with labels that only they have.
        assert np.array_equal(new.gram(), matrix_of(Z, Z, iterations, counts))
        newer = kernel.prepare(X, like=new)
        assert np.array_equal(newer.cross(new), expected)
        assert np.array_equal(newer.cross(rows), matrix_of(X, X, iterations, counts))


@OF_ALL
@given(X=samples(), iterations=st.integers(0, 40))
def test_features_reproduce_the_kernel(
    base: GraphKernel, counts: Any, X: list[Graph], iterations: int
) -> None:
    assert callable(counts)
    kernel = WeisfeilerLehman(base, iterations)
    phi = kernel.feature_map(X)
    assert phi.dtype == np.int64
    assert phi.has_sorted_indices
    assert np.array_equal((phi @ phi.T).toarray(), kernel.gram(X))


@OF_ALL
@given(graph=labelled_graphs(), data=st.data())
def test_names_of_nodes_do_not_matter(
    base: GraphKernel, counts: Any, graph: Graph, data: st.DataObject
) -> None:
    assert callable(counts)
    other = renamed(graph, data.draw(st.permutations(range(graph.n_nodes))))
    K = WeisfeilerLehman(base, 3).gram([graph, other])
    assert K[0, 0] == K[0, 1] == K[1, 1]


@OF_ALL
def test_both_ways_agree_on_molecules(
    base: GraphKernel, counts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs = molecule_graphs()
    kernel = WeisfeilerLehman(base, 2)
    compile_everything(monkeypatch)
    compiled = kernel.gram(graphs)
    compile_nothing(monkeypatch)
    assert np.array_equal(compiled, kernel.gram(graphs))
    assert np.array_equal(compiled[:4, :4], matrix_of(graphs[:4], graphs[:4], 2, counts))
    assert kernel.is_psd_by_construction
    # Rounding of an eigenvalue is below n eps times the largest.
    eigenvalues = np.linalg.eigvalsh(compiled)
    assert eigenvalues[0] >= -1e-13 * eigenvalues[-1]


@WAYS
@OF_ALL
def test_the_contract_of_kernels(
    switch: Any, base: GraphKernel, counts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(counts)
    switch(monkeypatch)
    graphs = molecule_graphs()[:8]
    for kernel in (base, WeisfeilerLehman(base, 4)):
        check_kernel_contract(kernel, [*graphs, graphs[0], Graph([])])


def test_graphs_without_anything_are_similar_to_nothing() -> None:
    empty, single = ([], []), ([], "a")
    for kernel in (VertexHistogram(), EdgeHistogram(), ShortestPath(), WeisfeilerLehman()):
        K = kernel.gram([empty, single])
        assert K[0].tolist() == [0.0, 0.0]
        assert kernel.gram([]).shape == (0, 0)
        assert kernel.cross([single], []).shape == (1, 0)
    assert WeisfeilerLehman(iterations=3).gram([single]).tolist() == [[4.0]]


def test_directed_and_undirected_edges_are_not_the_same() -> None:
    graphs = [Graph([(0, 1)], "ab", directed=way) for way in (False, True)]
    for kernel in (EdgeHistogram(), ShortestPath()):
        assert kernel.gram(graphs).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert WeisfeilerLehman(iterations=1).gram(graphs).tolist() == [[4.0, 2.0], [2.0, 4.0]]


def test_like_is_of_the_same_kernel() -> None:
    rows = VertexHistogram().prepare([([], "a")])
    with pytest.raises(InputError, match=r"prepared by VertexHistogram\(\), not by EdgeHistogram"):
        EdgeHistogram().prepare([([], "a")], like=rows)
    with pytest.raises(InputError, match="prepared by another kernel"):
        VertexHistogram().prepare([([], "a")], like="rows")
    assert VertexHistogram().prepare([([], "a")], like=rows).cross(rows).tolist() == [[1.0]]


def test_a_wrong_graph_is_named() -> None:
    with pytest.raises(InputError, match=r"Graph 1: Edge 0 is \(0, 5\)"):
        WeisfeilerLehman().gram([([], "a"), ([(0, 5)], "ab")])
