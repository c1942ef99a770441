"""Trees of merges and splits: SciPy's heights, definitions, cuts, graphs, pictures, bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform
from sklearn import cluster as theirs
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.clustering import (
    DBSCAN,
    HDBSCAN,
    AgglomerativeClustering,
    Dendrogram,
    DivisiveClustering,
    KMedoids,
    StepwiseOptimal,
    cophenetic_distances,
    cut_tree,
    linkage,
)
from novum.core import load, save
from novum.core.errors import InputError
from novum.distances import Euclidean, Gower, Manhattan, Minkowski
from tests.oracles.clustering_definitions import naive_heights

METHODS = ["single", "complete", "average", "weighted", "ward", "centroid", "median"]


def groups(n: int = 60, p: int = 3, k: int = 3, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) + 8.0 * (np.arange(n) % k)[:, None]


@parametrize_with_checks(
    [
        AgglomerativeClustering(),
        AgglomerativeClustering(linkage="single"),
        AgglomerativeClustering(linkage="complete", metric="manhattan"),
        DivisiveClustering(),
        DivisiveClustering(method="bisecting"),
    ],
    legacy=True,
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


# --- Merges ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [2, 3, 50, 400])
def test_heights_and_merges_are_scipys(method: str, n: int) -> None:
    X = np.random.default_rng(n).normal(size=(n, 4))
    ours, other = linkage(X, method), hierarchy.linkage(X, method)
    np.testing.assert_allclose(ours[:, 2], other[:, 2], rtol=1e-12)
    np.testing.assert_array_equal(ours[:, [0, 1, 3]], np.c_[np.sort(other[:, :2]), other[:, 3]])
    condensed, square = pdist(X), squareform(pdist(X))
    for found in (linkage(condensed, method), linkage(square, method, "precomputed")):
        np.testing.assert_allclose(found[:, 2], other[:, 2], rtol=1e-11)


@given(st.integers(0, 10_000), st.sampled_from([*METHODS[:3], "ward", "centroid"]))
def test_heights_are_those_of_the_definition(seed: int, method: str) -> None:
    X = np.random.default_rng(seed).normal(size=(9, 2))
    found = linkage(X, method)[:, 2]
    np.testing.assert_allclose(found, naive_heights(squareform(pdist(X)), method, X), rtol=1e-10)


@pytest.mark.parametrize("method", ["single", "ward"])
@pytest.mark.parametrize("shape", [(128, 1), (129, 3), (130, 9), (257, 6), (700, 12)])
def test_blocks_of_rows_are_merged_as_scipy_does(method: str, shape: tuple[int, int]) -> None:
    X = np.random.default_rng(shape[0]).normal(size=shape)
    ours, other = linkage(X, method), hierarchy.linkage(X, method)
    np.testing.assert_allclose(ours[:, 2], other[:, 2], rtol=1e-12)
    np.testing.assert_array_equal(ours[:, [0, 1, 3]], np.c_[np.sort(other[:, :2]), other[:, 3]])


@pytest.mark.parametrize("method", ["single", "ward"])
@pytest.mark.parametrize("far", [1e3, 1e6, 1e9, 1e40])
def test_what_single_precision_cannot_tell_apart_is_compared_exactly(
    method: str, far: float
) -> None:
    X = np.random.default_rng(5).normal(size=(400, 4))
    X[17, 2] = far
    ours, other = linkage(X, method), hierarchy.linkage(X, method)
    np.testing.assert_allclose(ours[:, 2], other[:, 2], rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e150])
def test_trees_of_tiny_and_huge_numbers(scale: float) -> None:
    X = np.random.default_rng(6).normal(size=(200, 3))
    expected = hierarchy.linkage(pdist(X, "cityblock"), "single")[:, 2]
    np.testing.assert_allclose(linkage(X * scale, "single", Manhattan())[:, 2] / scale, expected)
    if scale > 1e100:
        for method in METHODS:
            with pytest.raises(InputError, match="whose squares leave the range"):
                linkage(X * scale, method)
        with pytest.raises(InputError, match="whose powers of 3 leave the range"):
            linkage(X * 1e95, "single", Minkowski(3.0))


@given(st.integers(0, 10_000), st.sampled_from(METHODS[:5]))
def test_ties_everywhere_keep_heights(seed: int, method: str) -> None:
    X = np.random.default_rng(seed).integers(0, 3, (14, 2)).astype(float)
    heights = linkage(X, method)[:, 2]
    assert (np.diff(heights) >= -1e-12).all()
    if method == "single":
        np.testing.assert_allclose(heights, hierarchy.linkage(X, method)[:, 2])
    assert linkage(np.ones((5, 2)), method)[:, 2].tolist() == [0.0] * 4


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted"])
@pytest.mark.parametrize("metric", [Manhattan(), "chebyshev", "cosine", Minkowski(3.0)])
def test_other_distances(method: str, metric: Any) -> None:
    X = np.random.default_rng(1).normal(size=(60, 6)) + 5
    name = "cityblock" if isinstance(metric, Manhattan) else metric
    if isinstance(metric, Minkowski):
        between = pdist(X, "minkowski", p=3.0)
    else:
        between = pdist(X, name)
    expected = hierarchy.linkage(between, method)[:, 2]
    np.testing.assert_allclose(linkage(X, method, metric)[:, 2], expected, rtol=1e-10)


def test_mixed_columns_with_missing_cells() -> None:
    table = pd.DataFrame({"a": [1.0, 1.1, None, 9.0, 9.2], "b": list("uuuvv")})
    D = Gower().pairwise(table)
    np.fill_diagonal(D, 0.0)
    for method in ("single", "average"):
        expected = hierarchy.linkage(squareform(D, checks=False), method)[:, 2]
        np.testing.assert_allclose(linkage(table, method, Gower())[:, 2], expected)
    model = AgglomerativeClustering(2, metric="gower", linkage="average").fit(table)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1]


def in_islands(seed: int, n: int = 24) -> Any:
    """Distances of which many are infinite: of rows that share no known column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[rng.random(X.shape) < 0.5] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 0.0
    return X, Euclidean(missing="partial").pairwise(X)


@given(st.integers(0, 10_000), st.sampled_from(METHODS))
def test_what_is_infinitely_far_is_never_joined(seed: int, method: str) -> None:
    X, D = in_islands(seed)
    Z = linkage(X, method, Euclidean(missing="partial"))
    assert hierarchy.is_valid_linkage(Z)
    assert Z[-1, 3] == len(X)
    if method in ("single", "complete", "average"):
        np.testing.assert_allclose(Z[:, 2], np.sort(naive_heights(D, method, X)), rtol=1e-10)
    np.testing.assert_allclose(linkage(D, method, "precomputed")[:, 2], Z[:, 2])
    fewest = 1 + int(np.isinf(Z[:, 2]).sum())
    assert len(np.unique(cut_tree(Z, fewest))) == fewest
    assert fewest == 1 or not (np.diff(np.isinf(Z[:, 2])) < 0).any()
    if fewest > 1:
        with pytest.raises(InputError, match=f"there are {fewest} that are infinitely far apart"):
            cut_tree(Z, fewest - 1)


def test_infinite_distances_in_estimators_and_pictures() -> None:
    D = np.full((5, 5), np.inf)
    D[:2, :2], D[2:, 2:] = 1.0, 4.0
    np.fill_diagonal(D, 0.0)
    thin = sparse.csr_matrix(np.where(np.isinf(D), 0.0, D))
    everybody = np.ones((5, 5))
    for method in ("average", "complete", "single"):
        for table, graph in ((D, None), (thin, None), (D, everybody)):
            model = AgglomerativeClustering(
                2, metric="precomputed", linkage=method, connectivity=graph
            ).fit(table)
            assert model.labels_.tolist() == [0, 0, 1, 1, 1]
            assert model.distances_.tolist() == [1.0, 4.0, 4.0, np.inf]
            with pytest.raises(InputError, match="of row 0 and of row 2 for example"):
                model.set_params(n_clusters=1).fit(table)
    text = model.set_params(n_clusters=2).fit(D).dendrogram().as_text()
    assert "merged at heights from 1 to 4, and 1 never" in text
    assert model.dendrogram().as_svg().startswith("<svg")
    split = DivisiveClustering(2, metric="precomputed").fit(D)
    assert split.labels_.tolist() == [0, 0, 1, 1, 1]
    assert split.distances_.tolist() == [1.0, 4.0, 4.0, np.inf]
    assert split.divisive_coefficient_ == 1.0
    with pytest.raises(InputError, match="cannot be joined into 1 clusters"):
        split.set_params(n_clusters=1).fit(D)
    with pytest.raises(InputError, match="are infinitely far apart, so there is no correlation"):
        model.cophenetic_correlation(D)
    wrong = AgglomerativeClustering(2, metric=lambda *_: np.nan, linkage="average")
    with pytest.raises(InputError, match="Distances are numbers of at least 0"):
        wrong.fit(np.arange(4.0)[:, None])


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS[:5])
def test_large_trees_are_compacted_on_the_way(method: str) -> None:
    X = np.random.default_rng(3).normal(size=(3000, 3))
    expected = hierarchy.linkage(X, method)[:, 2]
    np.testing.assert_allclose(linkage(X, method)[:, 2], expected, rtol=1e-11)


# --- The estimator --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["ward", "complete", "average", "single"])
def test_labels_and_trees_are_scikit_learns(method: str) -> None:
    X = groups()
    ours = AgglomerativeClustering(4, linkage=method).fit(X)
    other = theirs.AgglomerativeClustering(4, linkage=method, compute_distances=True).fit(X)
    assert adjusted_rand_score(ours.labels_, other.labels_) == 1.0
    np.testing.assert_allclose(ours.distances_, other.distances_, rtol=1e-12)
    assert np.array_equal(np.sort(ours.children_), np.sort(other.children_))
    limit = float(ours.distances_[-5:-3].mean())
    cut = AgglomerativeClustering(None, distance_threshold=limit, linkage=method).fit(X)
    assert cut.n_clusters_ == 5
    assert cut.labels_[0] == 0


def test_ward_with_a_graph_is_scikit_learns() -> None:
    X = groups(seed=4)
    graph = kneighbors_graph(X, 20, include_self=False)
    ours = AgglomerativeClustering(3, connectivity=graph).fit(X)
    other = theirs.AgglomerativeClustering(3, connectivity=graph, compute_distances=True).fit(X)
    np.testing.assert_allclose(ours.distances_, other.distances_, rtol=1e-9)
    assert adjusted_rand_score(ours.labels_, other.labels_) == 1.0


@pytest.mark.parametrize("method", ["average", "complete", "single"])
def test_graphs_allow_merges_of_neighbors_only(method: str) -> None:
    X = np.array([[0.0], [0.1], [0.2], [0.3]])
    path = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]])
    with pytest.warns(UserWarning, match="connected components of the connectivity matrix is 2"):
        model = AgglomerativeClustering(2, linkage=method, connectivity=path).fit(X)
    assert model.labels_.tolist() == [0, 1, 0, 1]
    assert model.n_connected_components_ == 2


def test_stepwise_optimal_merging_by_squares_is_wards() -> None:
    X = groups(25)
    model = AgglomerativeClustering(3, linkage=StepwiseOptimal()).fit(X)
    ward = linkage(X, "ward")
    np.testing.assert_allclose(np.sqrt(2 * model.distances_), ward[:, 2], rtol=1e-9)
    spread = AgglomerativeClustering(3, linkage=StepwiseOptimal(lambda rows: np.ptp(rows))).fit(X)
    assert adjusted_rand_score(spread.labels_, cut_tree(ward, 3)) == 1.0
    by_median = AgglomerativeClustering(3, linkage=StepwiseOptimal("absolute_error")).fit(X)
    assert adjusted_rand_score(by_median.labels_, cut_tree(ward, 3)) == 1.0


@pytest.mark.parametrize(
    "model",
    [
        AgglomerativeClustering(3),
        AgglomerativeClustering(3, linkage="average", metric=Manhattan()),
        AgglomerativeClustering(3, linkage=StepwiseOptimal("diameter")),
        DivisiveClustering(3),
        DivisiveClustering(3, method="bisecting", random_state=0),
    ],
    ids=repr,
)
def test_files_order_units_and_threads(model: Any, tmp_path: Path) -> None:
    X = groups()
    model.fit(X)
    save(model, tmp_path / "tree.novum")
    again = load(tmp_path / "tree.novum")
    assert np.array_equal(again.labels_, model.labels_)
    assert np.array_equal(again.linkage_matrix_, model.linkage_matrix_)
    order = np.random.default_rng(0).permutation(len(X))
    for changed in (X[order], X * 2.0**20, X + 1e6):
        reference = again.labels_[order] if np.array_equal(changed, X[order]) else again.labels_
        assert adjusted_rand_score(model.fit_predict(changed), reference) == 1.0


# --- Splits ---------------------------------------------------------------------------------------


def test_diana_splits_by_definition() -> None:
    # Kaufman and Rousseeuw, table 1 of chapter 6: the splinter group of five objects.
    D = np.array(
        [
            [0.0, 2.0, 6.0, 10.0, 9.0],
            [2.0, 0.0, 5.0, 9.0, 8.0],
            [6.0, 5.0, 0.0, 4.0, 5.0],
            [10.0, 9.0, 4.0, 0.0, 3.0],
            [9.0, 8.0, 5.0, 3.0, 0.0],
        ]
    )
    model = DivisiveClustering(2, metric="precomputed").fit(D)
    assert model.labels_.tolist() == [0, 0, 1, 1, 1]
    assert model.distances_.tolist() == [2.0, 3.0, 5.0, 10.0]
    assert DivisiveClustering(3, metric="precomputed").fit(D).labels_.tolist() == [0, 0, 1, 2, 2]
    assert 0 < model.divisive_coefficient_ < 1


def test_bisecting_finds_separated_groups() -> None:
    X = groups(90, 2, 3)
    model = DivisiveClustering(3, method="bisecting", random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, np.arange(90) % 3) == 1.0
    assert model.linkage_matrix_.shape == (89, 4)
    assert (np.diff(model.distances_) >= 0).all()


# --- Pictures and correlations --------------------------------------------------------------------


def test_cophenetic_distances_are_scipys() -> None:
    X = groups(30)
    for method in ("average", "ward", "single"):
        Z = linkage(X, method)
        correlation, expected = hierarchy.cophenet(Z, pdist(X))
        np.testing.assert_allclose(cophenetic_distances(Z), expected)
        model = AgglomerativeClustering(linkage=method).fit(X)
        assert model.cophenetic_correlation(X) == pytest.approx(correlation)
    with pytest.raises(InputError, match="The tree is of 30 rows, got 20"):
        model.cophenetic_correlation(X[:20])


def test_pictures_show_leaves_and_heights() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    X = groups(50)
    model = AgglomerativeClustering(3).fit(X)
    tree = model.dendrogram(most=5)
    assert len(tree.root.leaves) == 5
    assert sum(leaf.size for leaf in tree.root.leaves) == 50
    text, svg = tree.as_text(), tree.as_svg()
    assert text.count("rows") >= 5
    assert svg.startswith("<svg")
    assert len(tree.plot().lines) >= 4
    names = [f"row <{i}>" for i in range(50)]
    whole = model.dendrogram(names, most=100)
    assert {leaf.row for leaf in whole.root.leaves} == set(range(50))
    assert "row &lt;3&gt;" in whole.as_svg()
    assert whole._repr_html_() == whole.as_svg()
    assert repr(whole) == whole.as_text()


def test_a_long_chain_is_drawn() -> None:
    X = np.cumsum(np.arange(1, 1500.0))[:, None]
    tree = Dendrogram(linkage(X, "single"), most=2000)
    assert len(tree.as_text().splitlines()) == 2 * 1499 + 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: linkage(X, "best"), "'best' is no linkage"),
        (
            lambda X: linkage(X, "ward", "manhattan"),
            "manhattan was provided as metric. Ward can only",
        ),
        (lambda X: linkage(X[:1]), "at least 2 rows, got 1"),
        (lambda X: linkage(X[:, 0].copy()[:4]), "n .n - 1. / 2 numbers, got 4"),
        (lambda X: linkage(X[:2] ** 2, "single", "precomputed"), "square; got shape"),
        (lambda _: linkage(-np.ones((2, 2)), "single", "precomputed"), "at least 0"),
        (lambda _: linkage(np.triu(np.ones((3, 3)), 1), "single", "precomputed"), "is symmetric"),
        (lambda X: AgglomerativeClustering(99).fit(X), "more clusters than samples"),
        (lambda X: AgglomerativeClustering(None).fit(X), "Exactly one of n_clusters and"),
        (lambda X: AgglomerativeClustering(2, connectivity=np.eye(2)).fit(X), "is of shape"),
        (lambda _: AgglomerativeClustering(2).fit([[1.0], [np.inf]]), "contains infinity"),
        (lambda _: StepwiseOptimal("volume"), "cost of a cluster is one of"),
        (lambda X: DivisiveClustering(99).fit(X), "cannot be split into 99 clusters"),
        (lambda X: Dendrogram(X), "has the shape"),
        (lambda X: Dendrogram(linkage(X), ["a"]), "need as many names"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(groups(20))


@pytest.mark.parametrize(
    "model",
    [
        AgglomerativeClustering(3),
        AgglomerativeClustering(3, linkage="average", metric="cosine"),
        AgglomerativeClustering(3, linkage="single", metric="manhattan"),
        DivisiveClustering(3),
        DBSCAN(eps=2.5),
        HDBSCAN(min_cluster_size=4),
        KMedoids(3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_sparse_rows_are_grouped_by_distances_as_dense_ones(model: Any) -> None:
    rng = np.random.default_rng(3)
    X = np.where(rng.random((45, 8)) < 0.4, rng.normal(size=(45, 8)), 0.0)
    X[:, :3] += 4.0 * np.eye(3)[np.arange(45) % 3]
    thin = clone(model).fit(sparse.csr_matrix(X))
    np.testing.assert_array_equal(thin.labels_, clone(model).fit(X).labels_)
    assert len(np.unique(thin.labels_)) >= 3


def test_tables_with_levels_are_grouped_by_gower_without_being_asked() -> None:
    table = [[1.0, "a"], [1.1, "a"], [1.2, "a"], [9.0, "b"], [9.5, "b"], [9.1, "b"]]
    for model in (
        KMedoids(2),
        AgglomerativeClustering(2, linkage="average"),
        DivisiveClustering(2),
        DBSCAN(eps=0.3, min_samples=2),
        HDBSCAN(min_cluster_size=2),
    ):
        own = clone(model).fit(table).labels_
        assert adjusted_rand_score(own, [0, 0, 0, 1, 1, 1]) == 1.0
        gower = clone(model).set_params(metric=Gower()).fit(table)
        np.testing.assert_array_equal(own, gower.labels_)
    medoids = KMedoids(2).fit(table)
    np.testing.assert_array_equal(
        medoids.predict([[1.0, "a"], [8.0, "b"]]), medoids.labels_[[0, 3]]
    )
    with pytest.raises(InputError, match="'ward' merges means of numbers, but column 'x1' is nom"):
        AgglomerativeClustering(2).fit(table)
    with pytest.raises(InputError, match="'centroid' merges means of numbers"):
        linkage(table, "centroid")


@pytest.mark.parametrize("method", ["single", "ward", "average", "complete"])
def test_the_rows_of_the_caller_stay_as_they_are(method: str) -> None:
    X = np.random.default_rng(0).normal(size=(9, 1))
    before = X.copy()
    linkage(X, method)
    np.testing.assert_array_equal(X, before)
