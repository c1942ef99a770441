"""Logistic regression as a whole: scikit-learn's checks, the contract, optima, nasty input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression as OtherLogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError
from novum.core.files import load, save
from novum.core.learners import Case, Check, ConvergenceWarning, Verdict
from novum.core.learners.contracts import (
    check_bits_in_new_processes,
    check_interrupted_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.linear.logistic.regression import LogisticRegression
from novum.numerics import Floats
from tests.linear.logistic_tables import known_to_files, logistic_table, objective
from tests.oracles.plain_logistic import exact_logistic

INF = float("inf")

MODELS = [
    LogisticRegression(),
    LogisticRegression(C=100.0, class_weight="balanced"),
    LogisticRegression(solver="lbfgs"),
    LogisticRegression(solver="newton-cg"),
]


@parametrize_with_checks(MODELS, legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks([LogisticRegression(categorical_features="all")], legacy=True)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


def mixed_table(n: int = 80) -> tuple[pd.DataFrame, Floats]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=n),
            "color": rng.choice(["blue", "green", "red"], n),
            "grade": pd.Categorical(rng.choice(["a", "b"], n), ["a", "b"], ordered=True),
            "member": rng.random(n) < 0.5,
        }
    )
    return frame, (frame["age"].to_numpy() + rng.logistic(size=n) > 0).astype(int)


def cases() -> list[Any]:
    X, y = logistic_table(80, 3)
    many = logistic_table(80, 3, 3)
    frame, target = mixed_table()
    return [
        pytest.param(Case(LogisticRegression(), X, y), id="two classes"),
        pytest.param(Case(LogisticRegression(), *many), id="three classes"),
        pytest.param(Case(LogisticRegression(C=INF), *many), id="no penalty"),
        pytest.param(Case(LogisticRegression(prior=[0.3, 0.7]), X, y), id="prior"),
        pytest.param(Case(LogisticRegression(), frame, target), id="mixed columns"),
    ]


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("case", cases())
def test_contract(case: Case, check: Check) -> None:
    with known_to_files():
        check(case)


@pytest.mark.slow
def test_threads_of_a_process_do_not_change_bits() -> None:
    check_bits_in_new_processes(Case(LogisticRegression(), *logistic_table(30_000, 6, 3)))


def test_an_interrupt_changes_nothing() -> None:
    X, y = logistic_table(100, 3)
    check_interrupted_fit_changes_nothing(Case(LogisticRegression(), X, y), rows=100_000)


# --- The optimum ----------------------------------------------------------------------------------


@settings(max_examples=15)
@given(
    st.integers(0, 10**6),
    st.sampled_from([2, 3]),
    st.floats(1e-3, 1e3),
    st.booleans(),
    st.integers(-8, 8),
)
def test_it_is_its_definition(seed: int, K: int, C: float, intercept: bool, power: int) -> None:
    X, y = logistic_table(10, 2, K, seed=seed)
    X = X * np.array([10.0**power, 1.0])
    weight = np.random.default_rng(seed).integers(1, 4, 10).astype(float)
    model = LogisticRegression(C=C, fit_intercept=intercept).fit(X, y, weight)
    exact, least = exact_logistic(
        X.tolist(), y.tolist(), weight.tolist(), n_classes=K, penalty=1 / C, intercept=intercept,
        digits=30,
    )  # fmt: skip
    W = np.array(exact, float)
    found = np.column_stack([model.coef_, model.intercept_]) if intercept else model.coef_
    # Each coefficient in the units of its column; conditions of up to 1e6 take six digits.
    sizes = np.append(np.abs(X).max(axis=0), 1.0)[: W.shape[1]]
    np.testing.assert_allclose(found * sizes, W * sizes, rtol=1e-8, atol=1e-9)
    assert objective(model, X, y, C, weight) <= float(least) * (1 + 1e-12)


@pytest.mark.parametrize("K", [2, 4])
def test_no_objective_of_another_implementation_is_lower(K: int) -> None:
    X, y = logistic_table(2000, 8, K)
    for C in (0.01, 1.0, 100.0):
        ours = LogisticRegression(C=C).fit(X, y)
        other = OtherLogisticRegression(C=C, solver="newton-cholesky", tol=1e-10).fit(X, y)
        assert objective(ours, X, y, C) <= objective(other, X, y, C) * (1 + 1e-12)
        # The other stops by a gradient of 1e-10 of the mean loss, or where its line search ends.
        np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-5)
        np.testing.assert_allclose(ours.intercept_, other.intercept_, atol=1e-5)


def test_large_tables_go_the_compiled_way_to_the_same_place() -> None:
    X, y = logistic_table(50_000, 6)
    model = LogisticRegression().fit(X, y)
    assert model.certificate_.details["solver"] == "newton-cholesky"
    assert model.certificate_.verdict is Verdict.PROVED
    order = np.random.default_rng(0).permutation(50_000)
    other = LogisticRegression(n_jobs=2).fit(X[order], y[order])
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-10)


def test_coefficients_of_many_classes_sum_to_zero() -> None:
    X, y = logistic_table(100, 3, 4)
    model = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-12)
    assert model.intercept_.sum() == pytest.approx(0, abs=1e-12)


def test_known_coefficients_are_recovered_within_four_standard_errors() -> None:
    rng = np.random.default_rng(0)
    X, truth = rng.normal(size=(20_000, 3)), np.array([0.5, 1.0, -2.0, 0.0])
    y = (truth[0] + X @ truth[1:] + rng.logistic(size=20_000) > 0).astype(int)
    found = LogisticRegression(C=INF).fit(X, y).inference()
    assert (np.abs(found.coef - truth) < 4 * found.standard_errors).all()


# --- Weights, priors, parameters ------------------------------------------------------------------


def test_a_prior_is_a_weight_of_the_classes() -> None:
    X, y = logistic_table(200, 2)
    model = LogisticRegression(prior={0: 0.9, 1: 0.1}).fit(X, y)
    share = np.bincount(y) / len(y)
    weight = np.array([0.9, 0.1])[y] / share[y]
    other = LogisticRegression().fit(X, y, weight)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.class_prior_, [0.9, 0.1], rtol=1e-12)
    # The mean probability of a class is its prior: the intercept sees to it.
    mean = np.average(model.predict_proba(X)[:, 1], weights=weight)
    assert mean == pytest.approx(0.1, rel=1e-9)
    balanced = LogisticRegression(class_weight="balanced").fit(X, y)
    even = LogisticRegression(prior=[0.5, 0.5]).fit(X, y)
    np.testing.assert_allclose(balanced.coef_, even.coef_, rtol=1e-12)


def test_scikit_learns_parameters_are_understood() -> None:
    X, y = logistic_table(60, 2)
    plain = LogisticRegression(C=INF).fit(X, y)
    none = LogisticRegression(penalty=None, C=3.0).fit(X, y)
    np.testing.assert_array_equal(none.coef_, plain.coef_)
    default = LogisticRegression().fit(X, y)
    for options in (
        {"penalty": "l2"},
        {"solver": "liblinear"},
        {"solver": "saga", "random_state": 0},
        {"dual": True, "intercept_scaling": 5.0, "verbose": 1, "n_jobs": 2},
    ):
        np.testing.assert_array_equal(LogisticRegression(**options).fit(X, y).coef_, default.coef_)
    shared = OtherLogisticRegression().get_params()
    ours = LogisticRegression().get_params()
    assert set(shared) <= set(ours)
    assert {k for k in shared if shared[k] != ours[k]} == {"tol", "solver"}


# --- Nasty input ----------------------------------------------------------------------------------


def test_one_class_is_refused() -> None:
    with pytest.raises(InputError, match="only one class: 'a'"):
        LogisticRegression().fit([[0.0], [1.0]], ["a", "a"])
    # Rows of weight zero are absent.
    with pytest.raises(InputError, match="only one class: 1"):
        LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 1], sample_weight=[0, 1, 1])


@pytest.mark.parametrize("C", [1.0, INF])
def test_offsets_and_units_do_not_hurt(C: float) -> None:
    X, y = logistic_table(200, 3)
    units = np.array([1e8, 1.0, 1e-8])
    if C == INF:
        expected = LogisticRegression(C=C).fit(X, y).predict_proba(X)
        found = LogisticRegression(C=C).fit(X * units, y).predict_proba(X * units)
        np.testing.assert_allclose(found, expected, rtol=1e-8)
    model = LogisticRegression(C=C).fit(X * units + 1e3 * units, y)
    assert model.certificate_.converged
    far = LogisticRegression(C=C).fit(X + 1e8, y)
    near = LogisticRegression(C=C).fit(X, y)
    # Cells at 1e8 are known to 1e-8.
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)


def test_squares_out_of_range_are_refused() -> None:
    X, y = logistic_table(20, 2)
    with pytest.raises(InputError, match=r"Column 'x1' has a size of 6\.92e"):
        LogisticRegression().fit(X * np.array([1.0, 1e200]), y)
    with pytest.raises(InputError, match="Rescale"):
        LogisticRegression().fit(X * np.array([1e-200, 1.0]), y)


def test_more_columns_than_rows_with_a_penalty() -> None:
    X, y = logistic_table(20, 60)
    model = LogisticRegression().fit(X, y)
    # The optimum is a combination of rows: in their span, by the representer theorem.
    centered = X - X.mean(axis=0)
    outside = model.coef_ - model.coef_ @ np.linalg.pinv(centered) @ centered
    assert np.abs(outside).max() < 1e-8
    assert model.certificate_.converged
    assert model.certificate_.distance_bound < 1e-4


def test_sparse_tables_with_empty_columns_and_rows() -> None:
    X, y = logistic_table(100, 5, 3)
    X[np.abs(X) < 1] = 0.0
    X[:, [1, 4]] = 0.0
    X[7] = 0.0
    for C in (1.0, 100.0):
        thick = LogisticRegression(C=C).fit(X, y)
        for make in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
            thin = LogisticRegression(C=C).fit(make(X), y)
            np.testing.assert_allclose(thin.coef_, thick.coef_, rtol=1e-9, atol=1e-11)
            np.testing.assert_array_equal(thin.coef_[:, [1, 4]], 0)
    free = LogisticRegression(C=INF).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(free.coef_[:, [1, 4]], 0)


def test_frames_of_any_kind() -> None:
    frame, y = mixed_table()
    model = LogisticRegression().fit(frame, y)
    assert model.coef_names_ == ("age", "color=green", "color=red", "grade=b", "member=True")
    other = LogisticRegression().fit(pl.from_pandas(frame), y)
    np.testing.assert_allclose(other.coef_, model.coef_, rtol=1e-12)


def test_separated_models_can_be_stored(tmp_path: Any) -> None:
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(C=INF).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    with known_to_files():
        save(model, tmp_path / "model.novum")
        other = load(tmp_path / "model.novum")
    assert other.separation_.kind == "complete"
    assert other.certificate_ == model.certificate_
    np.testing.assert_array_equal(other.summary_.class_weights, [2.0, 2.0])


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "newton-cg", "gradient"])
def test_no_steps_are_no_iterations(solver: str) -> None:
    for rows in (60, 20_000):
        X, y = logistic_table(rows, 3)
        with pytest.warns(ConvergenceWarning, match="after 0 iterations"):
            model = LogisticRegression(max_iter=0, solver=solver).fit(X, y)
        assert model.n_iter_.tolist() == [0]
        assert not model.certificate_.converged
        # Not even steps on a part of the rows.
        np.testing.assert_array_equal(model.coef_, 0.0)
