"""KMedians and KMedoids: optima by enumeration, other distances, missing cells, bad input."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.clustering import KMedians, KMedoids
from novum.clustering.k_medians import weighted_median
from novum.core import load, save
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import ConvergenceWarning
from novum.core.learners.contracts import Case, check_name, estimator_checks
from novum.distances import Euclidean, Gower, Manhattan


def groups(n: int = 90, p: int = 3, k: int = 3, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) + 6.0 * (np.arange(n) % k)[:, None]


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@parametrize_with_checks([KMedians(), KMedoids()], legacy=True)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize(
    "model", [KMedians(3, random_state=0), KMedoids(3), KMedoids(3, metric=Manhattan())], ids=repr
)
def test_contract(model: Any, check: Any) -> None:
    check(Case(model, groups()))


# --- Medians --------------------------------------------------------------------------------------


@given(st.integers(0, 10_000))
def test_weighted_medians_are_medians_of_repeated_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, counts = rng.normal(size=8).round(1), rng.integers(1, 5, 8)
    expected = float(np.median(np.repeat(values, counts)))
    assert weighted_median(values, counts.astype(float)) == pytest.approx(expected)


@given(st.integers(0, 10_000), st.booleans())
def test_both_conditions_hold_at_the_end(seed: int, missing: bool) -> None:
    X = groups(40, 2, 3, seed)
    if missing:
        X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
        X = X[~np.isnan(X).all(axis=1)]
    model = KMedians(3, random_state=seed).fit(X)
    apart = Manhattan(missing="partial").pairwise(X, model.cluster_centers_)
    np.testing.assert_allclose(model.transform(X), apart)
    assert np.array_equal(model.labels_, apart.argmin(axis=1))
    assert model.inertia_ == pytest.approx(apart.min(axis=1).sum())
    if not missing:
        for j in range(3):
            mine = X[model.labels_ == j]
            np.testing.assert_allclose(model.cluster_centers_[j], np.median(mine, axis=0))
    trace = model.certificate_.trace
    assert all(a >= b - 1e-9 for a, b in itertools.pairwise(trace))


def test_a_far_cell_does_not_pull_a_median() -> None:
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [1e6]])
    model = KMedians(2, init=[[1.0], [10.0]]).fit(X)
    assert model.cluster_centers_.tolist() == [[1.0], [11.0]]
    again = KMedians(2, init=[[0.0], [1e9]]).fit(X)
    assert len(set(again.labels_)) == 2


# --- Medoids --------------------------------------------------------------------------------------


def best_medoids(D: Any, k: int, weights: Any) -> float:
    choices = itertools.combinations(range(len(D)), k)
    return min(float(D[list(c)].min(axis=0) @ weights) for c in choices)


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_no_exchange_lowers_the_sum(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(12, 2)), rng.integers(1, 4, 12).astype(float)
    D = cdist(X, X)
    for init in ("build", "k-medoids++", "random"):
        model = KMedoids(k, init=init, random_state=0).fit(X, sample_weight=weights)
        medoids = model.medoid_indices_
        assert model.inertia_ == pytest.approx(D[medoids].min(axis=0) @ weights)
        assert model.inertia_ >= best_medoids(D, k, weights) - 1e-9
        for place, row in itertools.product(range(k), range(12)):
            other = medoids.copy()
            other[place] = row
            assert D[other].min(axis=0) @ weights >= model.inertia_ - 1e-9
        if k == 1:
            assert model.inertia_ == pytest.approx(best_medoids(D, 1, weights))


@pytest.mark.parametrize("form", ["rows", "matrix", "function", "levels"])
def test_rows_of_weight_0_are_labelled_and_are_no_medoids(form: str) -> None:
    X = np.array([[5.2], [4.0], [-2.0], [-2.5], [6.0], [-9.0], [5.5]])
    weights = np.array([3.0, 0, 1, 2, 1, 0, 0])
    table: Any = X
    metric: Any = "euclidean"
    if form == "matrix":
        table, metric = cdist(X, X), "precomputed"
    elif form == "function":
        metric = lambda a, b: float(abs(a - b).sum())  # noqa: E731
    elif form == "levels":
        table, metric = pd.DataFrame({"a": X[:, 0], "b": list("uuvvuvu")}), Gower()
    model = KMedoids(2, metric=metric).fit(table, sample_weight=weights)
    assert sorted(model.medoid_indices_) == [0, 3]
    assert (model.labels_[[0, 1, 4, 6]] == model.labels_[0]).all()
    assert (model.labels_[[2, 3, 5]] != model.labels_[0]).all()
    assert np.array_equal(model.predict(table), model.labels_)
    assert model.inertia_ == pytest.approx(model.transform(table).min(axis=1) @ weights)
    again = clone(model).set_params(init=[0, 3]).fit(table, sample_weight=weights)
    assert np.array_equal(again.medoid_indices_, [0, 3])
    with pytest.raises(InputError, match="of a weight above 0 from 0 to 4"):
        clone(model).set_params(init=[0, 1]).fit(table, sample_weight=weights)


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_medoids_are_never_infinitely_far_where_that_can_be(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(11, 3))
    X[rng.random(X.shape) < 0.45] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 0.0
    weights = rng.integers(1, 4, 11).astype(float)
    distance = Euclidean(missing="partial")
    D = distance.pairwise(X)
    model = KMedoids(k, init="k-medoids++", n_init=20, random_state=0, metric=distance)
    best = best_medoids(D, k, weights)
    if np.isinf(best):
        with pytest.raises(InputError, match=f"cannot be joined into {k} clusters: row"):
            model.fit(X, sample_weight=weights)
        return
    # Restarts need not reach the best, but no exchange improves what they reach.
    assert best - 1e-9 <= model.fit(X, sample_weight=weights).inertia_ < np.inf
    for place, row in itertools.product(range(k), range(11)):
        other = model.medoid_indices_.copy()
        other[place] = row
        assert D[other].min(axis=0) @ weights >= model.inertia_ - 1e-9


def test_a_row_far_off_leaves_the_exchanges_an_end() -> None:
    X = np.r_[groups(30), [[1e130, 0.0, 0.0]]]
    model = KMedoids(2).fit(X)
    assert 30 in model.medoid_indices_
    assert model.inertia_ == pytest.approx(best_medoids(cdist(X[:30], X[:30]), 1, np.ones(30)))


def test_restarts_reach_the_best() -> None:
    X = groups(18, 2, 3, seed=3)
    model = KMedoids(3, init="k-medoids++", n_init=10, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(best_medoids(cdist(X, X), 3, np.ones(18)))


def test_mixed_columns_matrices_and_functions() -> None:
    table = pd.DataFrame({"a": [1.0, 1.2, None, 8.0, 8.5, 9.0], "b": list("uuuvvv")})
    model = KMedoids(2, metric=Gower()).fit(table)
    assert adjusted_rand_score(model.labels_, [0, 0, 0, 1, 1, 1]) == 1.0
    assert np.array_equal(model.predict(table), model.labels_)
    assert not hasattr(model, "cluster_centers_")
    D = Gower().pairwise(table)
    square = KMedoids(2, metric="precomputed").fit(D)
    assert square.inertia_ == pytest.approx(model.inertia_)
    assert np.array_equal(square.predict(D), square.labels_)
    X = groups(30)
    by_function = KMedoids(3, metric=lambda a, b: float(np.abs(a - b).max())).fit(X)
    by_name = KMedoids(3, metric="chebyshev").fit(X)
    assert np.array_equal(by_function.predict(X), by_name.predict(X))
    assert by_function.score(X) == pytest.approx(by_name.score(X))


def test_equal_rows_are_told() -> None:
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(1\)"):
        KMedoids(2).fit(np.ones((4, 1)))
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(1\)"):
        KMedians(2, random_state=0).fit(np.ones((4, 1)))


@pytest.mark.parametrize(
    ("model", "X", "message"),
    [
        (KMedoids(5), np.ones((2, 1)), "n_samples=2 should be >= n_clusters=5"),
        (KMedians(5), np.ones((2, 1)), "n_samples=2 should be >= n_clusters=5"),
        (KMedoids(2, init=[0, 0]), groups(), "2 different row numbers from 0 to 89"),
        (KMedoids(2, metric="precomputed"), np.ones((2, 3)), "so it is square"),
        (KMedoids(2, metric="mahalanobis"), np.ones((9, 2)), "needs a positive definite matrix"),
        (KMedians(2), pd.DataFrame({"a": ["u", "v"]}), "column 'a' holds categories"),
    ],
)
def test_bad_input(model: Any, X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit(X)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_files_of_earlier_versions_number_the_rows_they_keep(metric: str, tmp_path: Any) -> None:
    X = np.array([[0.0], [50.0], [1.0], [3.0], [9.0], [10.0], [12.0]])
    model = KMedoids(2, metric=metric).fit(X, sample_weight=[1, 0, 1, 1, 1, 1, 1])
    expected = model.predict(X).tolist()
    model.medoid_indices_ = np.searchsorted(model.counted_rows_, model.medoid_indices_)
    del model.counted_rows_
    save(model, tmp_path / "m.novum")
    assert load(tmp_path / "m.novum").predict(X).tolist() == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [("medoid_indices_", [0, 7]), ("medoid_indices_", [0]), ("counted_rows_", [0, 2, 1, 3]),
     ("numbers_", [0.0, 1.0, 8.0, 9.0]), ("codes_", np.zeros((3, 0), np.int32))],
)  # fmt: skip
def test_changed_files_are_refused(name: str, value: Any, tmp_path: Any) -> None:
    model = KMedoids(2).fit([[0.0], [1.0], [8.0], [9.0]])
    setattr(model, name, np.array(value))
    save(model, tmp_path / "m.novum")
    with pytest.raises(ModelFileError, match="not in order"):
        load(tmp_path / "m.novum")
