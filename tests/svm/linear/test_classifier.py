"""LinearSVC: scikit-learn's optima, its checks and ours, nominal and sparse tables, odd input."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy import sparse
from sklearn.svm import LinearSVC as Reference
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, MissingValuesError, UnseenLevelWarning
from novum.core.learners import Case, Check, ConvergenceWarning, Verdict
from novum.core.learners.contracts import (
    check_interrupted_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.svm.linear.classifier import LinearSVC
from tests.oracles.linear_svm_definitions import hinge_objective
from tests.svm.linear_tables import overlapping, sided_tables, three_classes, with_constant

# --- scikit-learn's checks and the contract -------------------------------------------------------


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@parametrize_with_checks(
    [
        LinearSVC(),
        LinearSVC(loss="hinge"),
        LinearSVC(penalty="l1"),
        LinearSVC(multi_class="crammer_singer"),
    ],
    legacy=True,
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks([LinearSVC(categorical_features="all")], legacy=True)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


def mixed_frame() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    color = rng.choice(["blue", "green", "red"], 60)
    size = rng.uniform(-1, 1, 60)
    return pd.DataFrame({"size": size, "color": color}), (color == "red") ^ (size > 0.8)


def cases() -> list[Any]:
    found = []
    for loss in ("hinge", "squared_hinge"):
        X, side = overlapping()
        found.append(pytest.param(Case(LinearSVC(loss=loss), X, side), id=f"{loss} 2"))
        found.append(pytest.param(Case(LinearSVC(loss=loss), *three_classes()), id=f"{loss} 3"))
        found.append(pytest.param(Case(LinearSVC(loss=loss), *mixed_frame()), id=f"{loss} mixed"))
    joint = LinearSVC(multi_class="crammer_singer", random_state=0)
    found.append(pytest.param(Case(joint, *three_classes()), id="crammer_singer"))
    lasso = LinearSVC(penalty="l1", random_state=0)
    found.append(pytest.param(Case(lasso, *three_classes()), id="l1"))
    return found


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("case", cases())
def test_contract(case: Case, check: Check) -> None:
    check(case)


@pytest.mark.slow
def test_ctrl_c_gives_control_back() -> None:
    X, side = overlapping(600)
    check_interrupted_fit_changes_nothing(Case(LinearSVC(loss="hinge"), X, side), rows=200_000)


# --- Optima ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_objectives_are_no_worse_than_scikit_learns(loss: str, C: float) -> None:
    X, side = overlapping(120, 4)
    model = LinearSVC(loss=loss, C=C).fit(X, side)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = Reference(loss=loss, C=C, dual=True, tol=1e-10, max_iter=300_000).fit(X, side)

    def value(m: Any) -> float:
        u = np.append(m.coef_.ravel(), m.intercept_)
        Z, weight = with_constant(X), np.full(120, C)
        return hinge_objective(Z, side, weight, u, squared=loss == "squared_hinge")

    certificate = model.certificate_
    assert value(model) == pytest.approx(certificate.primal, rel=1e-10)
    assert value(model) <= value(other) * (1 + 1e-10)
    assert certificate.dual <= value(other) * (1 + 1e-12)
    # Strong convexity turns the excess of the other's objective into a distance.
    distance = np.linalg.norm(model.coef_ - other.coef_)
    assert distance**2 / 2 <= value(other) - certificate.dual + 1e-9


def test_classes_are_each_against_the_rest() -> None:
    X, y = three_classes()
    model = LinearSVC(loss="hinge").fit(X, y)
    for k in range(3):
        single = LinearSVC(loss="hinge").fit(X, y == k)
        np.testing.assert_allclose(model.coef_[k], single.coef_[0], atol=1e-9)
    assert len(model.certificate_.details["gaps"]) == 3  # type: ignore[arg-type]


def test_class_weights_are_weights_of_rows() -> None:
    X, side = overlapping()
    given = LinearSVC(class_weight={1.0: 3.0}).fit(X, side)
    rows = LinearSVC().fit(X, side, sample_weight=np.where(side > 0, 3.0, 1.0))
    np.testing.assert_allclose(given.coef_, rows.coef_, rtol=1e-9)
    total = np.array([(side < 0).sum(), (side > 0).sum()])
    balanced = LinearSVC(class_weight="balanced").fit(X, side)
    weight = np.where(side > 0, 60 / (2 * total[1]), 60 / (2 * total[0]))
    rows = LinearSVC().fit(X, side, sample_weight=weight)
    np.testing.assert_allclose(balanced.coef_, rows.coef_, rtol=1e-9)


@settings(max_examples=25, deadline=None)
@given(sided_tables())
def test_weights_are_repetitions_on_any_table(table: Any) -> None:
    X, side, weight = table
    if len(np.unique(side)) < 2:
        return
    counts = np.ceil(weight).astype(int)
    for loss in ("hinge", "squared_hinge"):
        weighted = LinearSVC(loss=loss).fit(X, side, sample_weight=counts)
        repeated = LinearSVC(loss=loss).fit(np.repeat(X, counts, axis=0), np.repeat(side, counts))
        found = np.append(weighted.coef_, weighted.intercept_)
        expected = np.append(repeated.coef_, repeated.intercept_)
        # Gaps are rounding of the objective, distances the root of that.
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("shape", [(200, 30), (1200, 900)])
def test_sparse_rows_are_dense_rows(shape: tuple[int, int]) -> None:
    X = sparse.random(*shape, density=0.05, random_state=0, format="csr")
    y = np.asarray(X[:, :5].sum(axis=1)).ravel() > 0.1
    compressed = LinearSVC(random_state=0, tol=1e-6).fit(X, y)
    dense = LinearSVC(random_state=0, tol=1e-6).fit(X.toarray(), y)
    bound = compressed.certificate_.distance_bound + dense.certificate_.distance_bound
    assert np.linalg.norm(compressed.coef_ - dense.coef_) <= bound + 1e-9
    assert compressed.score(X, y) == dense.score(X.toarray(), y)


def test_one_seed_one_result_on_wide_tables() -> None:
    X = sparse.random(900, 800, density=0.02, random_state=0, format="csr")
    y = np.arange(900) % 2
    fits = [LinearSVC(random_state=s).fit(X, y).coef_.tobytes() for s in (3, 3, 4)]
    assert fits[0] == fits[1] != fits[2]


def test_nominal_columns_have_a_coefficient_for_each_level() -> None:
    frame, y = mixed_frame()
    model = LinearSVC().fit(frame, y)
    assert model.coef_names_ == ("size", "color=green", "color=red")
    new = pd.DataFrame({"size": [0.0], "color": ["pink"]})
    with pytest.warns(UnseenLevelWarning, match="color"):
        reference = model.decision_function(new)
    known = model.decision_function(pd.DataFrame({"size": [0.0], "color": ["blue"]}))
    np.testing.assert_allclose(reference, known)


# --- Budgets and odd input ------------------------------------------------------------------------


def test_a_budget_that_ends_is_told_with_the_gap() -> None:
    X, side = overlapping(2000, 20)
    with pytest.warns(ConvergenceWarning, match=r"gap is .*Raise max_iter"):
        model = LinearSVC(loss="hinge", max_iter=2).fit(X, side)
    assert model.certificate_.verdict is Verdict.STOPPED_EARLY
    assert model.certificate_.gap > 0
    with pytest.warns(ConvergenceWarning, match="Raise max_seconds"):
        LinearSVC(loss="hinge", max_seconds=0.0).fit(X, side)


@pytest.mark.parametrize("C", [0.0, -1.0, np.nan, "much"])
def test_impossible_costs_are_refused(C: Any) -> None:
    X, side = overlapping()
    with pytest.raises(ValueError, match="'C' parameter of LinearSVC"):
        LinearSVC(C=C).fit(X, side)


def test_what_is_not_solved_is_refused() -> None:
    X, side = overlapping()
    with pytest.raises(InputError, match=r"penalty='l1' with loss='hinge'.*squared_hinge"):
        LinearSVC(penalty="l1", loss="hinge").fit(X, side)


def test_one_class_is_refused() -> None:
    with pytest.raises(InputError, match="one class only: all 3 rows are of class 'a'"):
        LinearSVC().fit([[1.0], [2.0], [3.0]], ["a"] * 3)


def test_missing_cells_are_refused_with_a_pointer() -> None:
    with pytest.raises(MissingValuesError, match="x0"):
        LinearSVC().fit([[np.nan], [1.0]], [0, 1])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_equal_rows_of_both_classes_have_no_direction(loss: str) -> None:
    model = LinearSVC(loss=loss).fit(np.ones((4, 2)), [0, 1, 0, 1])
    np.testing.assert_allclose(model.decision_function(np.ones((1, 2))), 0.0, atol=1e-12)
    assert model.certificate_.converged


@pytest.mark.parametrize("multi_class", ["ovr", "crammer_singer"])
def test_equal_rows_with_more_of_one_class_follow_it(multi_class: str) -> None:
    model = LinearSVC(multi_class=multi_class, random_state=0)
    model.fit(np.ones((5, 2)), ["a", "b", "b", "b", "b"])
    assert model.predict(np.ones((1, 2))).tolist() == ["b"]


def test_lasso_leaves_coefficients_at_zero() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 10))
    model = LinearSVC(penalty="l1", C=0.05, random_state=0).fit(X, X[:, 3] > 0)
    assert model.coef_[0, 3] > 0
    assert (model.coef_ == 0).sum() >= 7
    assert model.certificate_.distance_bound is None
