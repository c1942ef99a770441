"""DBSCAN and HDBSCAN: definitions, scikit-learn's answers, other distances, bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn import cluster as theirs
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import haversine_distances
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.clustering import DBSCAN, HDBSCAN
from novum.core import load, save
from novum.core.errors import InputError
from novum.distances import Gower
from tests.oracles.clustering_definitions import dbscan, hdbscan


def groups(n: int = 300, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) * 0.4 + 4.0 * (np.arange(n) % 3)[:, None]


@parametrize_with_checks([DBSCAN(), HDBSCAN(), DBSCAN(metric="gower", eps=0.1)], legacy=True)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


# --- DBSCAN ---------------------------------------------------------------------------------------


@given(
    st.integers(0, 10_000),
    st.sampled_from(["euclidean", "manhattan", "chebyshev"]),
    st.booleans(),
)
def test_labels_are_those_of_the_definition(seed: int, metric: str, grid: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 7, (120, 2)).astype(float) if grid else rng.normal(size=(120, 2))
    eps = 1.0 if grid else 0.3
    D = cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric))
    weights = rng.integers(1, 3, 120)
    for given_weights in (None, weights):
        expected = dbscan(D, eps, 4, given_weights)
        model = DBSCAN(eps, min_samples=4, metric=metric).fit(X, sample_weight=given_weights)
        assert np.array_equal(model.labels_, expected)
        square = DBSCAN(eps, min_samples=4, metric="precomputed")
        assert np.array_equal(square.fit_predict(D, sample_weight=given_weights), expected)


def test_answers_are_scikit_learns() -> None:
    X = groups()
    for eps in (0.05, 0.2, 0.5, 9.0):
        ours, other = DBSCAN(eps).fit(X), theirs.DBSCAN(eps=eps).fit(X)
        assert np.array_equal(ours.labels_, other.labels_)
        assert np.array_equal(ours.core_sample_indices_, other.core_sample_indices_)
        assert np.array_equal(ours.components_, other.components_)


def test_the_very_distance_is_within() -> None:
    # 0.1 * 3 and 0.3 differ in their last bits.
    X = np.array([[0.0], [0.1 * 3], [0.3 + 0.3]])
    assert np.array_equal(DBSCAN(0.3, min_samples=2).fit_predict(X), dbscan(cdist(X, X), 0.3, 2))


def test_mixed_columns_missing_cells_and_functions() -> None:
    table = pd.DataFrame({"a": [0.0, 0.1, None, 5.0, 5.1, 5.2], "b": list("uuuvvv")})
    expected = dbscan(Gower().pairwise(table), 0.3, 2)
    assert np.array_equal(DBSCAN(0.3, min_samples=2, metric=Gower()).fit_predict(table), expected)
    X = groups(60)
    by_function = DBSCAN(0.5, metric=lambda a, b: float(np.abs(a - b).sum()))
    assert np.array_equal(by_function.fit_predict(X), DBSCAN(0.5, metric="l1").fit_predict(X))
    by_power = DBSCAN(0.5, metric="minkowski", p=1).fit_predict(X)
    assert np.array_equal(by_power, DBSCAN(0.5, metric="manhattan").fit_predict(X))


@pytest.mark.parametrize("metric", ["euclidean", "canberra"])
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_repetitions_and_weight_0_is_absence(metric: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 2)) + 3.0
    weights = rng.integers(0, 3, 80)
    rows = np.repeat(np.arange(80), weights)
    model = DBSCAN(0.4 if metric == "euclidean" else 0.08, min_samples=5, metric=metric)
    found = model.fit(X, sample_weight=weights)
    assert (weights[found.core_sample_indices_] > 0).all()
    assert len(np.unique(found.labels_)) >= 2
    assert np.array_equal(found.labels_[rows], clone(model).fit_predict(X[rows]))


def test_only_border_rows_depend_on_the_order() -> None:
    # The row at 1.0 is within reach of a core row on either side.
    X = np.array([[0.0], [0.1], [0.2], [1.0], [1.8], [1.9], [2.0]])
    model = DBSCAN(0.85, min_samples=4)
    assert "row_order" not in model.invariances
    there, back = model.fit(X).core_sample_indices_, 6 - model.fit(X[::-1]).core_sample_indices_
    assert set(there) == set(back)
    assert (
        model.fit_predict(X).tolist()
        == theirs.DBSCAN(eps=0.85, min_samples=4).fit_predict(X).tolist()
    )


@pytest.mark.parametrize("eps", [0.05, 0.4, 4.0])
def test_places_on_a_sphere(eps: float) -> None:
    rng = np.random.default_rng(2)
    places = np.c_[rng.uniform(-1.5, 1.5, 40), rng.uniform(-3, 3, 40)]
    D = haversine_distances(places)
    found = DBSCAN(eps, min_samples=3, metric="haversine").fit_predict(places)
    assert np.array_equal(found, dbscan(D, eps, 3))
    for alpha in (1.0, 1.4):
        ours = HDBSCAN(3, metric="haversine", alpha=alpha).fit(places).linkage_matrix_
        square = HDBSCAN(3, metric="precomputed", alpha=alpha).fit(D).linkage_matrix_
        np.testing.assert_allclose(ours[:, 2], square[:, 2], rtol=1e-7)


@given(st.integers(0, 10_000))
def test_sparse_distances_are_those_of_neighbors_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (30, 2)).astype(float)
    D = cdist(X, X)
    near = D <= 2.5
    lines, columns = np.nonzero(near & ~np.eye(30, dtype=bool))
    # Distances of 0 between equal rows are held.
    graph = sparse.csr_matrix((D[lines, columns], (lines, columns)), shape=(30, 30))
    apart = np.where(near, D, np.inf)
    weights = rng.integers(0, 3, 30).astype(float)
    weights[0] = 1.0
    for eps in (1.0, 2.0, 9.0):
        model = DBSCAN(eps, min_samples=4, metric="precomputed")
        expected = dbscan(apart, min(eps, 2.5), 4, weights)
        for table in (graph, graph.tocoo(), apart):
            assert np.array_equal(model.fit_predict(table, sample_weight=weights), expected)
    theirs_too = theirs.DBSCAN(eps=2.0, min_samples=4, metric="precomputed").fit(graph.copy())
    model = DBSCAN(2.0, min_samples=4, metric="precomputed").fit(graph)
    assert np.array_equal(model.labels_, theirs_too.labels_)
    thin, thick = (HDBSCAN(3, metric="precomputed").fit(table) for table in (graph, apart))
    assert np.array_equal(thin.linkage_matrix_, thick.linkage_matrix_)
    assert np.array_equal(thin.labels_, thick.labels_)
    inside = [np.isfinite(apart[np.ix_(m, m)]).any(axis=1).all() for m in _members(thin.labels_)]
    assert all(inside)


def _members(labels: Any) -> list[Any]:
    return [np.flatnonzero(labels == c) for c in range(labels.max() + 1)]


def test_components_that_are_infinitely_far_apart_are_never_joined() -> None:
    X = np.r_[np.arange(6.0), 50.0 + np.arange(6.0)][:, None]
    D = cdist(X, X)
    D[D > 9] = np.inf
    for single in (False, True):
        model = HDBSCAN(3, 2, metric="precomputed", allow_single_cluster=single).fit(D)
        assert adjusted_rand_score(model.labels_, np.arange(12) >= 6) == 1.0
        assert np.isinf(model.linkage_matrix_[:, 2]).sum() == 1
    coarse = HDBSCAN(3, 2, metric="precomputed", cluster_selection_epsilon=5.0).fit(D)
    assert adjusted_rand_score(coarse.labels_, np.arange(12) >= 6) == 1.0


# --- HDBSCAN --------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([(2, 3), (3, 3), (1, 2)]))
def test_clusters_are_those_of_the_definition(
    seed: int, grid: bool, sizes: tuple[int, int]
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 2)) + 4 * (np.arange(24) % 2)[:, None]
    X = np.unique(X.round(), axis=0) if grid else X
    k, least = sizes
    model = HDBSCAN(least, k).fit(X)
    found = {
        frozenset(np.flatnonzero(model.labels_ == c).tolist())
        for c in range(model.labels_.max() + 1)
    }
    expected = hdbscan(cdist(X, X), k, least)
    # Rows that leave a cluster before it ends still belong to it.
    assert found == expected


@pytest.mark.parametrize("seed", range(4))
def test_labels_are_near_scikit_learns(seed: int) -> None:
    X = groups(seed=seed)
    for how in ({}, {"min_cluster_size": 15}, {"alpha": 1.3}, {"allow_single_cluster": True}):
        ours, other = HDBSCAN(**how).fit(X), theirs.HDBSCAN(**how, copy=True).fit(X)
        # Merges of equal height, which scikit-learn takes in some order, are one merge here.
        assert adjusted_rand_score(ours.labels_, other.labels_) > 0.97


def test_ways_to_choose_clusters() -> None:
    X = groups()
    assert set(HDBSCAN(10).fit_predict(X)) >= {0, 1, 2}
    finest = HDBSCAN(10, cluster_selection_method="leaf").fit(X)
    assert finest.labels_.max() >= 2
    coarse = HDBSCAN(10, cluster_selection_method="leaf", cluster_selection_epsilon=1.5).fit(X)
    assert coarse.labels_.max() == 2
    small = HDBSCAN(5, max_cluster_size=50).fit(X)
    assert np.bincount(small.labels_[small.labels_ >= 0]).max() <= 50
    one = np.random.default_rng(0).normal(size=(80, 2))
    assert set(HDBSCAN(20, allow_single_cluster=True).fit_predict(one)) == {-1, 0}
    loose = HDBSCAN(20, allow_single_cluster=True, cluster_selection_epsilon=5.0)
    assert set(loose.fit_predict(one)) == {0}


@pytest.mark.parametrize("cut", [0.2, 0.35, 5.0])
def test_a_cut_is_dbscan_without_border_rows(cut: float) -> None:
    X = groups(seed=1)
    found = HDBSCAN(10, 4).fit(X).dbscan_clustering(cut, 3)
    other = theirs.HDBSCAN(min_cluster_size=10, min_samples=4, copy=True).fit(X)
    assert adjusted_rand_score(found, other.dbscan_clustering(cut, 3)) == 1.0
    model = DBSCAN(cut, min_samples=4).fit(X)
    core = np.isin(np.arange(len(X)), model.core_sample_indices_)
    alone = HDBSCAN(10, 4).fit(X).dbscan_clustering(cut, 1)
    assert adjusted_rand_score(alone[core], model.labels_[core]) == 1.0
    first = [int(np.flatnonzero(found == c)[0]) for c in range(found.max() + 1)]
    assert first == sorted(first)
    for c in range(found.max() + 1):
        assert (found == c).sum() >= 3


def test_centers_and_strengths() -> None:
    X = groups()
    model = HDBSCAN(20, store_centers="both").fit(X)
    assert model.centroids_.shape == model.medoids_.shape == (3, 2)
    for j in range(3):
        mine = model.labels_ == j
        mean = np.average(X[mine], axis=0, weights=model.probabilities_[mine])
        np.testing.assert_allclose(model.centroids_[j], mean)
        assert (model.medoids_[j] == X).all(axis=1).any()
    assert ((model.probabilities_ > 0) == (model.labels_ >= 0)).all()
    assert len(model.cluster_persistence_) == 3
    with pytest.raises(InputError, match="Cannot store centers"):
        HDBSCAN(metric="precomputed", store_centers="both").fit(cdist(X, X))


def test_other_distances_give_the_same_tree() -> None:
    X = groups(120)
    model = HDBSCAN(8).fit(X)
    square = HDBSCAN(8, metric="precomputed").fit(cdist(X, X))
    assert adjusted_rand_score(model.labels_, square.labels_) == 1.0
    np.testing.assert_allclose(model.linkage_matrix_[:, 2], square.linkage_matrix_[:, 2])
    mixed = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 2, "u", "v")})
    assert HDBSCAN(8, metric="gower").fit(mixed).labels_.max() >= 1


@pytest.mark.parametrize("model", [DBSCAN(0.4), HDBSCAN(10)], ids=repr)
def test_files_order_and_repeated_rows(model: Any, tmp_path: Path) -> None:
    X = groups()
    model.fit(X)
    save(model, tmp_path / "model.novum")
    again = load(tmp_path / "model.novum")
    assert np.array_equal(again.labels_, model.labels_)
    order = np.random.default_rng(0).permutation(len(X))
    assert adjusted_rand_score(model.fit_predict(X[order]), again.labels_[order]) == 1.0
    assert (np.sort(model.labels_ < 0) == np.sort(again.labels_ < 0)).all()
    assert model.fit(np.ones((30, 2))).labels_.shape == (30,)


@pytest.mark.parametrize(
    ("model", "X", "message"),
    [
        (DBSCAN(0.0), groups(), "'eps' parameter of DBSCAN must be a float in the range"),
        (DBSCAN(metric="precomputed"), np.ones((2, 3)), "so it is square; got shape"),
        (DBSCAN(metric="nearest"), groups(), "metric='nearest' is no distance"),
        (DBSCAN(metric="value_difference"), groups(), "learned from classes"),
        (DBSCAN(), [[1.0], [np.inf]], "contains infinity"),
        (DBSCAN(), [[1.0], [1e160]], "whose squares leave the range"),
        (HDBSCAN(2, 2), [[0.0], [7.0], [-1e190], [8.0]], "whose squares leave the range"),
        (DBSCAN(metric="precomputed"), sparse.csr_matrix([[0, 1], [2, 0]]), "1 and 2 apart"),
        (HDBSCAN(metric="precomputed"), sparse.csr_matrix([[0, 1], [0, 0]]), "1 and inf apart"),
        (DBSCAN(), [[1.0, 2.0], [np.nan, np.nan]], "Row 1 has no cell that is known"),
        (HDBSCAN(), groups(3), "min_samples .5. must be at most the number of samples"),
        (HDBSCAN(), [[1.0]], "requires more than one sample"),
        (HDBSCAN(1), groups(), "'min_cluster_size' parameter of HDBSCAN must be an int"),
    ],
)
def test_bad_input(model: Any, X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(X)
