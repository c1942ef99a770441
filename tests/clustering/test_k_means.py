"""KMeans: Lloyd's algorithm by definition, bounds, starts, streams, missing cells, bad input."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import cluster as theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.clustering import KMeans, KMedians
from novum.clustering.lloyd import BoundedRows, Centers, LloydProblem, nearest_centers
from novum.clustering.lower_bound import least_along
from novum.core.errors import InputError
from novum.core.learners import ConvergenceWarning, Verdict
from novum.core.learners.contracts import Case, check_name, estimator_checks
from tests.oracles.clustering_definitions import best_inertia, lloyd, partial_squares


def groups(n: int = 90, p: int = 3, k: int = 3, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) + 6.0 * (np.arange(n) % k)[:, None]


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@parametrize_with_checks([KMeans()], legacy=True)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("missing", [False, True])
def test_contract(check: Any, missing: bool) -> None:
    X = groups()
    if missing:
        X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    check(Case(KMeans(3, random_state=0), X))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 2, 7])
def test_a_fixed_start_gives_lloyds_algorithm(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 1 + seed)) if seed % 2 else rng.integers(0, 4, (200, 2)).astype(float)
    weights = rng.integers(1, 4, 200).astype(float)
    start = np.unique(X, axis=0)[:k]
    centers, labels, inertia = lloyd(X, start, weights)
    model = KMeans(len(start), init=start, tol=0, max_iter=1000).fit(X, sample_weight=weights)
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=1e-12)
    assert np.array_equal(model.labels_, labels)
    assert model.inertia_ == pytest.approx(inertia, rel=1e-12)
    assert np.array_equal(model.predict(X), labels)


@pytest.mark.parametrize("unit", [1e-120, 1.0, 1e120])
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("far", [0.0, 1e12, 1e30])
def test_bounds_give_the_labels_of_all_distances(unit: float, offset: float, far: float) -> None:
    rng = np.random.default_rng(0)
    # Grids have rows between two centers; a row and a center far off leave the others few digits.
    X = np.vstack([np.round(4 * rng.normal(size=(3000, 3))), rng.normal(size=(2000, 3))]) + offset
    weights = np.append(np.ones(4999), 0.0)
    X[-1] += far
    start = np.vstack([X[:9], X[:1] + far])
    problem = LloydProblem(lambda _: start, np.full(3, offset) * unit, 1.0, True)
    engine = BoundedRows(X * unit, weights, problem.origin, 4.0 * unit**2, len(start))
    centers = Centers(start * unit)
    for _ in range(8):
        sums = engine(partial(problem.step, centers))
        labels, _ = nearest_centers(X * unit, centers.points)
        assert np.array_equal(engine.labels, labels)
        centers = problem.update(centers, sums)


def test_answers_are_scikit_learns() -> None:
    X = groups(300, 5, 4, seed=3)
    start = X[:4]
    ours = KMeans(4, init=start, tol=0).fit(X)
    other = theirs.KMeans(4, init=start, tol=0, n_init=1).fit(X)
    np.testing.assert_allclose(ours.cluster_centers_, other.cluster_centers_, atol=1e-12)
    np.testing.assert_allclose(ours.transform(X), other.transform(X), atol=1e-9)
    assert ours.score(X) == pytest.approx(other.score(X))
    assert ours.get_feature_names_out().tolist() == ["kmeans0", "kmeans1", "kmeans2", "kmeans3"]


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_the_bound_is_below_the_best_possible(seed: int, k: int) -> None:
    X = np.random.default_rng(seed).normal(size=(7, 1 + seed % 3))
    model = KMeans(k, n_init=5, random_state=0, tol=0).fit(X)
    best = best_inertia(X, k)
    certificate = model.certificate_
    assert certificate.lower_bound <= best * (1 + 1e-9)
    assert model.inertia_ >= best * (1 - 1e-9)
    assert all(
        a >= b - 1e-9 for a, b in zip(certificate.trace, certificate.trace[1:], strict=False)
    )
    if certificate.verdict is Verdict.PROVED:
        assert model.inertia_ == pytest.approx(best, rel=1e-8)


def test_the_certificate_speaks() -> None:
    model = KMeans(3, random_state=0, tol=0).fit(groups(p=6))
    assert model.certificate_.details["rows"] == "every row belongs to its nearest center"
    assert model.certificate_.details["centers"] == "every center is the mean of its rows"
    assert "% of the best possible" in model.certificate_.details["statement"]
    assert model.certificate_.gap > 0


def test_many_columns_have_a_bound_too() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 600)) + 9.0 * (np.arange(20) % 2)[:, None]
    certificate = KMeans(2, random_state=0).fit(X).certificate_
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    assert certificate.lower_bound >= values[1:].sum() * (1 - 1e-9)


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_sums_along_an_axis_are_least(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=8).round(1)
    assert least_along(x, np.ones(8), k) == pytest.approx(best_inertia(x[:, None], k), abs=1e-9)
    counts = rng.integers(1, 4, 8)
    repeated = np.repeat(x, counts)
    weighted = least_along(x, counts.astype(float), k)
    assert weighted == pytest.approx(least_along(repeated, np.ones(len(repeated)), k), abs=1e-9)


@pytest.mark.parametrize("n", [50, 700])
def test_long_axes_agree_with_plain_dynamic_programming(n: int) -> None:
    x = np.sort(np.random.default_rng(n).normal(size=n))
    sums, squares = np.cumsum(np.r_[0, x]), np.cumsum(np.r_[0, x**2])
    i, j = np.tril_indices(n)[::-1]
    cost = np.full((n, n), np.inf)
    cost[i, j] = squares[j + 1] - squares[i] - (sums[j + 1] - sums[i]) ** 2 / (j + 1 - i)
    best = cost[0]
    for _ in range(4):
        best = np.minimum(best, (np.r_[np.inf, best[:-1]][:, None] + cost).min(axis=0))
    assert least_along(x, np.ones(n), 5) == pytest.approx(best[-1])


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_restarts_keep_the_best(init: str) -> None:
    X = groups(200, 2, 5, seed=2)
    one, ten = (KMeans(5, init=init, n_init=n, random_state=4).fit(X) for n in (1, 10))
    assert ten.inertia_ <= one.inertia_ * (1 + 1e-12)
    assert len(ten.certificate_.details["finals"]) == 10


def test_spread_starts_find_separated_groups() -> None:
    X = np.concatenate(
        [np.random.default_rng(j).normal(size=(30, 2)) * 0.1 + 5 * j for j in range(12)]
    )
    for seed in range(5):
        assert KMeans(12, random_state=seed).fit(X).inertia_ < 30


def test_callables_give_first_centers() -> None:
    X = groups()
    model = KMeans(2, init=lambda X, k, **_: X[:k], n_init=1).fit(X)
    assert model.inertia_ > 0
    with pytest.raises(InputError, match="init has the shape"):
        KMeans(3, init=X[:2]).fit(X)


@pytest.mark.parametrize("learner", [KMeans, KMedians])
@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, sparse.csr_matrix])
def test_rows_of_weight_0_have_the_label_of_their_nearest_center(learner: Any, form: Any) -> None:
    if learner is KMedians and form is sparse.csr_matrix:
        return
    X = groups(40, seed=7)
    X[:4] += 3.0
    weights = np.arange(40) % 5 / 2.0
    model = learner(3, random_state=0).fit(form(X), sample_weight=weights)
    same = learner(3, random_state=0).fit(form(X[weights > 0]), sample_weight=weights[weights > 0])
    assert model.labels_.dtype == np.int32
    assert np.array_equal(model.labels_[weights > 0], same.labels_)
    assert np.array_equal(model.labels_, same.predict(form(X)))
    assert np.array_equal(learner(3, random_state=0).fit_predict(X, None, weights), model.labels_)
    if learner is KMeans:
        model.partial_fit(form(X), sample_weight=weights)
        assert np.array_equal(model.labels_, model.predict(form(X)))


def test_huge_rows_are_refused_by_answers_too() -> None:
    model = KMeans(2, random_state=0).fit(groups())
    with pytest.raises(InputError, match="squares leave the range"):
        model.predict(np.full((1, 3), 1e170))


# --- Missing cells and empty clusters -------------------------------------------------------------


def test_missing_cells_by_partial_distance() -> None:
    X = groups(120, 4)
    X[np.random.default_rng(5).random(X.shape) < 0.15] = np.nan
    model = KMeans(3, random_state=0, tol=0).fit(X)
    squares = partial_squares(X, model.cluster_centers_)
    assert np.array_equal(model.labels_, squares.argmin(axis=1))
    assert model.inertia_ == pytest.approx(squares.min(axis=1).sum())
    np.testing.assert_allclose(model.transform(X) ** 2, squares, rtol=1e-9)
    scale = 4 / (~np.isnan(X)).sum(axis=1)
    for j in range(3):
        mine = model.labels_ == j
        for t in range(4):
            known = mine & ~np.isnan(X[:, t])
            mean = np.average(X[known, t], weights=scale[known])
            assert model.cluster_centers_[j, t] == pytest.approx(mean)


def test_an_empty_cluster_starts_again_at_the_farthest_row() -> None:
    X = np.array([[0.0], [0.1], [0.2], [9.0]])
    model = KMeans(2, init=[[0.0], [100.0]]).fit(X)
    assert sorted(model.cluster_centers_.ravel().round(12)) == [0.1, 9.0]
    chunks = [(X[:2],), (X[2:],)]
    assert KMeans(2, init=[[0.0], [100.0]]).fit_stream(chunks).inertia_ == pytest.approx(0.02)


def test_fewer_different_rows_than_clusters_are_told() -> None:
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(1\) found smaller than"):
        model = KMeans(3, random_state=0).fit(np.ones((5, 2)))
    assert model.inertia_ == 0.0


@pytest.mark.parametrize(
    ("X", "model", "message"),
    [
        (np.ones((2, 1)), KMeans(3), "n_samples=2 should be >= n_clusters=3"),
        (np.ones((3, 1)), KMeans(0), "'n_clusters' parameter of KMeans must be an int"),
        ([[1.0], [np.inf], [2.0]], KMeans(2), "contains infinity"),
        ([[1.0, 2.0], [np.nan, np.nan]], KMeans(1), "Row 1 has no cell that is known"),
        (pd.DataFrame({"a": ["u", "v"]}), KMeans(1), "column 'a' holds categories"),
        ([[1e200], [2e200]], KMeans(1), "squares leave the range"),
        ([[1e-200], [2e-200]], KMeans(1), "squares are too small"),
    ],
)
def test_bad_input(X: Any, model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(X)


# --- Streams --------------------------------------------------------------------------------------


def test_streams_files_and_chunks_agree_with_memory(tmp_path: Path) -> None:
    X = groups(300, 3, 4)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = KMeans(4, random_state=0, tol=0).fit(X)
    streamed = KMeans(4, random_state=0, tol=0).fit_stream([(X[:70],), (X[70:],)])
    filed = KMeans(4, random_state=0, tol=0).fit_file(tmp_path / "rows.csv")
    for other in (streamed, filed):
        np.testing.assert_allclose(other.cluster_centers_, model.cluster_centers_, rtol=1e-10)
        assert other.inertia_ == pytest.approx(model.inertia_, rel=1e-10)
        assert other.certificate_.lower_bound <= model.certificate_.lower_bound * (1 + 1e-9)
    assert filed.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(InputError, match="several passes: KMeans reads the chunks several times"):
        KMeans(2).fit_stream(iter([(X,)]))


def test_dask_arrays() -> None:
    array = pytest.importorskip("dask.array")
    X = groups(120)
    model = KMeans(3, random_state=0).fit_stream((array.from_array(X, chunks=(50, 3)),))
    assert model.inertia_ == pytest.approx(KMeans(3, random_state=0).fit(X).inertia_)


def test_partial_fit_moves_centers_to_the_means_of_all_their_rows() -> None:
    X = groups(90)
    model = KMeans(3, random_state=0).fit(X[:60])
    before = model.labels_
    model.partial_fit(X[60:])
    labels = np.concatenate([before, model.predict(X[60:])])
    for j in range(3):
        np.testing.assert_allclose(model.cluster_centers_[j], X[labels == j].mean(axis=0))


# --- Sparse rows ----------------------------------------------------------------------------------


def _thin(n: int = 60, p: int = 12, seed: int = 0) -> Any:
    """Three groups, each of which holds other columns."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, p)) < 0.2, rng.normal(size=(n, p)), 0.0)
    group = np.arange(n) % 3
    for g in range(3):
        X[group == g, 4 * g : 4 * g + 2] += 3.0 + g
    return X


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_rows_are_grouped_as_dense_ones(weighted: bool) -> None:
    X = _thin()
    weight = np.arange(60) % 4 + 0.5 if weighted else None
    dense = KMeans(3, random_state=0).fit(X, sample_weight=weight)
    thin = KMeans(3, random_state=0).fit(sparse.csr_matrix(X), sample_weight=weight)
    np.testing.assert_array_equal(thin.labels_, dense.labels_)
    np.testing.assert_allclose(thin.cluster_centers_, dense.cluster_centers_, atol=1e-12)
    assert thin.inertia_ == pytest.approx(dense.inertia_, rel=1e-12)
    assert thin.certificate_.lower_bound <= thin.inertia_
    new = sparse.csr_array(_thin(seed=1))
    np.testing.assert_array_equal(thin.predict(new), dense.predict(new.toarray()))
    np.testing.assert_allclose(thin.transform(new), dense.transform(new.toarray()), atol=1e-12)
    assert thin.score(new) == pytest.approx(dense.score(new.toarray()))
    # From a fixed start both are Lloyd's algorithm, step by step.
    start = X[:4]
    settings: dict[str, Any] = {"init": start, "n_init": 1, "tol": 0.0}
    one = KMeans(4, **settings).fit(sparse.csc_matrix(X))
    two = KMeans(4, **settings).fit(X)
    assert one.n_iter_ == two.n_iter_
    np.testing.assert_allclose(one.cluster_centers_, two.cluster_centers_, atol=1e-12)


def test_sparse_rows_are_added_and_an_empty_cluster_starts_again() -> None:
    X = _thin()
    thin = KMeans(3, random_state=0).fit(sparse.csr_matrix(X[:40]))
    dense = KMeans(3, random_state=0).fit(X[:40])
    thin.partial_fit(sparse.csr_matrix(X[40:]))
    dense.partial_fit(X[40:])
    np.testing.assert_allclose(thin.cluster_centers_, dense.cluster_centers_, atol=1e-12)
    far = np.vstack([X[:2], np.full((1, 12), 1e3)])
    again = KMeans(3, init=far, n_init=1).fit(sparse.csr_matrix(X))
    assert len(np.unique(again.labels_)) == 3
    same = KMeans(3, init=far, n_init=1).fit(X)
    np.testing.assert_array_equal(again.labels_, same.labels_)


def test_what_sparse_rows_cannot_do_is_said() -> None:
    X = sparse.csr_matrix(_thin())
    with pytest.raises(InputError, match=r"this one is sparse\. Yield X\.toarray"):
        KMeans(3).fit_stream([(X,)])
    holes = X.copy()
    holes.data[0] = np.nan
    with pytest.raises(InputError, match="Row 0 of the sparse table misses a cell"):
        KMeans(3).fit(holes)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        KMedians(3).fit(X)
