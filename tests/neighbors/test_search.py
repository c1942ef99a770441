"""Every way of searching finds the rows that the definition finds, bit for bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn import neighbors as theirs

from novum.distances import (
    Chebyshev,
    Cosine,
    Euclidean,
    FromKernel,
    Gower,
    Mahalanobis,
    Manhattan,
    Minkowski,
    Overlap,
)
from novum.kernels import Spectrum
from novum.neighbors import (
    KNeighborsClassifier,
    NearestNeighbors,
    kneighbors_graph,
    radius_neighbors_graph,
)
from novum.neighbors.index import RowIndex, way_for
from tests.oracles import distance_definitions as defined

METRICS = [
    Euclidean(),
    Manhattan(),
    Chebyshev(),
    Minkowski(3.0),
    Cosine(),
    Mahalanobis(),
]


def table(seed: int, n: int, p: int, grid: bool) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 0.1
    # On a grid there are many ties, and rows that are equal.
    return np.round(3 * X) + 0.5 if grid else X


@given(
    st.integers(0, 10_000),
    st.sampled_from([2, 7, 64, 65, 130, 300]),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from(METRICS),
)
def test_all_ways_agree_bit_by_bit(seed: int, n: int, p: int, grid: bool, metric: Any) -> None:
    X, Z = table(seed, n, p, grid), table(seed + 1, 20, p, grid)
    if isinstance(metric, Mahalanobis):
        metric = Mahalanobis(np.eye(p) + 0.5)
    rows = metric.prepare(X)
    asked = metric.prepare(Z, rows)
    k = min(n, 6)
    powers, places = defined.nearest(asked.cross_powers(rows), k)
    for way in ("kd_tree", "brute", "screened"):
        if way == "screened" and rows.terms.power != 2.0:
            continue
        distances, found = RowIndex(rows, way).nearest(asked, k)  # type: ignore[arg-type]
        assert np.array_equal(found, places), way
        assert np.array_equal(distances, rows.finish(powers)), way
    if n > 1:
        powers, places = defined.nearest(rows.cross_powers(rows), min(k, n - 1), own=True)
        for way in ("kd_tree", "brute"):
            index = RowIndex(rows, way)  # type: ignore[arg-type]
            distances, found = index.nearest(rows, min(k, n - 1), np.arange(n))
            assert np.array_equal(found, places), way
    D = asked.cross(rows)
    radius = float(np.quantile(D, 0.1))
    for way in ("kd_tree", "brute"):
        lengths, near = RowIndex(rows, way).within(asked, radius)  # type: ignore[arg-type]
        for line, apart, places in zip(D, lengths, near, strict=True):
            assert np.array_equal(places, np.flatnonzero(line <= radius)), way
            assert np.array_equal(apart, line[places]), way


def test_mixed_rows_with_missing_cells_are_found_by_brute_force() -> None:
    rng = np.random.default_rng(3)
    rows = [
        [float(a), b] for a, b in zip(rng.normal(size=60), rng.choice(list("ab"), 60), strict=True)
    ]
    rows[4][0] = None  # type: ignore[call-overload]
    rows[7][1] = None  # type: ignore[call-overload]
    model = NearestNeighbors(n_neighbors=5).fit(rows)
    assert model.certificate_.details["search"] == "brute"
    expected = defined.nearest(Gower().pairwise(rows), 5, own=True)
    distances, places = model.kneighbors()
    assert np.array_equal(places, expected[1])
    assert np.array_equal(distances, expected[0])
    overlap = NearestNeighbors(n_neighbors=2, metric=Overlap(missing="partial")).fit(rows)
    assert np.array_equal(
        overlap.kneighbors(return_distance=False),
        defined.nearest(Overlap(missing="partial").pairwise(rows), 2, own=True)[1],
    )


cells = st.one_of(st.none(), st.integers(-3, 3).map(float))
levels = st.one_of(st.none(), st.sampled_from("abc"))
mixed = st.lists(st.tuples(cells, levels, cells, levels), min_size=3, max_size=25).filter(
    lambda rows: (
        all(any(cell is not None for cell in row) for row in rows)
        and all(any(row[j] is not None for row in rows) for j in range(4))
    )
)


@given(mixed, st.sampled_from(["expected", "partial"]), st.data())
def test_mixed_tables_with_missing_cells_are_the_definition(
    table: Any, missing: Any, data: Any
) -> None:
    rows = [list(row) for row in table]
    kinds = ["numeric", "nominal", "numeric", "nominal"]
    D = np.array([[defined.gower(x, z, rows, kinds, missing) for z in rows] for x in rows])
    np.fill_diagonal(D, np.inf)
    k = data.draw(st.integers(1, len(rows) - 1))
    found = [
        NearestNeighbors(n_neighbors=k, metric=Gower(missing=missing), algorithm=algorithm)
        .fit(rows)
        .kneighbors()
        for algorithm in ("auto", "brute", "kd_tree", "ball_tree")
    ]
    np.testing.assert_allclose(found[0][0], np.sort(D, axis=1)[:, :k], rtol=1e-12, atol=1e-12)
    for distances, places in found:
        assert np.array_equal(distances, found[0][0])
        assert np.array_equal(places, found[0][1])
        # Of equal distances the smaller number comes first.
        ties = distances[:, 1:] == distances[:, :-1]
        assert (places[:, 1:] > places[:, :-1])[ties].all()


def test_vantage_rows_of_strings_and_functions() -> None:
    rng = np.random.default_rng(2)
    words = ["".join(rng.choice(list("ab"), rng.integers(2, 7))) for _ in range(150)]
    distance = FromKernel(Spectrum(2))
    rows = distance.prepare(words)
    assert way_for(rows, "auto") == "vantage"
    for k in (1, 5, 149):
        ours = RowIndex(rows, "vantage").nearest(rows, k, np.arange(150))
        plain = RowIndex(rows, "brute").nearest(rows, k, np.arange(150))
        assert np.array_equal(ours[1], plain[1])
        assert np.array_equal(ours[0], plain[0])
    calls = []

    def apart(x: Any, z: Any) -> float:
        calls.append(1)
        return float(np.abs(x - z).sum())

    X = np.vstack([rng.normal(size=(200, 2)), 50.0 + rng.normal(size=(200, 2))])
    for algorithm in ("brute", "ball_tree"):
        calls.clear()
        model = NearestNeighbors(n_neighbors=3, metric=apart, algorithm=algorithm).fit(X)
        places = model.kneighbors(X[:20] + 0.1, return_distance=False)
        expected = NearestNeighbors(n_neighbors=3, metric="manhattan").fit(X)
        assert np.array_equal(places, expected.kneighbors(X[:20] + 0.1, return_distance=False))
    # 8,000 by brute force, and 8,000 more to see the rows from 20 of them, once.
    assert len(calls) < 12_000


def test_graphs_are_scikit_learns() -> None:
    X = table(3, 40, 3, False)
    for mode in ("connectivity", "distance"):
        for include in (False, True, "auto"):
            for ours, other, size in (
                (kneighbors_graph, theirs.kneighbors_graph, 4),
                (radius_neighbors_graph, theirs.radius_neighbors_graph, 1.5),
            ):
                mine = ours(X, size, mode=mode, include_self=include).toarray()  # type: ignore[arg-type]
                expected = other(X, size, mode=mode, include_self=include).toarray()
                np.testing.assert_allclose(mine, expected, atol=1e-12)


def test_the_choice_of_the_way_and_what_may_override_it() -> None:
    few, many = np.random.default_rng(0).normal(size=(2, 1500, 20))
    few = few[:, :3]
    assert way_for(Euclidean().prepare(few), "auto") == "kd_tree"
    assert way_for(Euclidean().prepare(many), "auto") == "by trial"
    wide = np.tile(many, (1, 4))
    assert way_for(Euclidean().prepare(wide), "auto") == "screened"
    assert way_for(Manhattan().prepare(wide), "auto") == "brute"
    assert way_for(Manhattan().prepare(many), "ball_tree") == "kd_tree"
    assert way_for(Euclidean().prepare(few), "brute") == "brute"
    few[3, 1] = math.nan
    assert way_for(Euclidean().prepare(few), "kd_tree") == "brute"


def test_sparse_graphs_and_infinite_distances_name_neighbors_alone() -> None:
    X = np.random.default_rng(8).normal(size=(40, 2))
    graph = theirs.NearestNeighbors(radius=1.2).fit(X).radius_neighbors_graph(mode="distance")
    thick = np.where(graph.toarray() > 0, graph.toarray(), np.inf)
    np.fill_diagonal(thick, 0.0)
    ours = NearestNeighbors(n_neighbors=3, radius=0.8, metric="precomputed")
    for table in (graph, thick):
        ours.fit(table)
        for row, near in enumerate(ours.radius_neighbors(return_distance=False)):
            expected = np.flatnonzero((thick[row] <= 0.8) & (np.arange(40) != row))
            assert np.array_equal(near, expected)
        distances, _ = ours.kneighbors()
        far = np.sort(np.where(np.eye(40, dtype=bool), np.inf, thick), axis=1)[:, :3]
        assert np.array_equal(distances, far)
        assert ours.radius_neighbors_graph(radius=np.inf).nnz == np.isfinite(thick).sum() - 40
        # Of a new row the graph names the neighbors, and the row itself is none of them.
        distances, rows = ours.kneighbors(graph[:9])
        assert np.array_equal(distances, far[:9])
        near = np.isfinite(distances)
        assert np.array_equal(thick[np.arange(9)[:, None], rows][near], distances[near])


def test_what_is_infinitely_far_has_no_vote_beside_others() -> None:
    X = np.array([[0.0, np.nan], [1.0, np.nan], [np.nan, 3.0], [np.nan, 4.0], [np.nan, 5.0]])
    for weights in ("uniform", "distance"):
        model = KNeighborsClassifier(4, metric="nan_euclidean", weights=weights)
        model.fit(X, ["a", "a", "b", "b", "b"])
        assert model.predict_proba([[0.4, np.nan]]).tolist() == [[1.0, 0.0]]
