"""LinearSVR: scikit-learn's optima, its checks and ours, the tube, odd input."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.svm import LinearSVR as Reference
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, MissingValuesError
from novum.core.learners import Case, Check, ConvergenceWarning
from novum.core.learners.contracts import check_name, estimator_checks
from novum.svm.linear.regressor import LinearSVR
from tests.oracles.linear_svm_definitions import tube_objective
from tests.svm.linear_tables import line, with_constant

LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive")


@parametrize_with_checks([LinearSVR(), LinearSVR(loss=LOSSES[1], epsilon=0.1)], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks([LinearSVR(categorical_features="all")], legacy=True)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("loss", LOSSES)
def test_contract(loss: str, check: Check) -> None:
    check(Case(LinearSVR(loss=loss, epsilon=0.1), *line()))


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("loss", LOSSES)
def test_objectives_are_no_worse_than_scikit_learns(loss: str, epsilon: float, C: float) -> None:
    X, y = line(100)
    model = LinearSVR(loss=loss, epsilon=epsilon, C=C).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = Reference(
            loss=loss, epsilon=epsilon, C=C, dual=True, tol=1e-8, max_iter=100_000
        ).fit(X, y)

    def value(m: Any) -> float:
        u = np.append(m.coef_, m.intercept_)
        squared = loss == LOSSES[1]
        return tube_objective(with_constant(X), y, np.full(100, C), u, epsilon, squared=squared)

    assert value(model) == pytest.approx(model.certificate_.primal, rel=1e-10)
    assert value(model) <= value(other) * (1 + 1e-10)
    assert model.certificate_.dual <= value(other) * (1 + 1e-12)


def test_a_wide_tube_holds_all_targets_with_no_slope() -> None:
    X, y = line()
    model = LinearSVR(epsilon=100.0).fit(X, y)
    assert not model.coef_.any()
    assert model.certificate_.primal == 0.0
    assert model.certificate_.converged


def test_far_targets_are_reached() -> None:
    X, y = line()
    model = LinearSVR(intercept_scaling=1e4).fit(X, y + 1e6)
    np.testing.assert_allclose(
        model.predict(X) - 1e6, LinearSVR(C=50.0).fit(X, y).predict(X), atol=0.5
    )


def test_sparse_rows_are_dense_rows() -> None:
    X, y = line()
    dense, compressed = LinearSVR().fit(X, y), LinearSVR().fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(dense.coef_, compressed.coef_, atol=1e-9)


def test_targets_of_several_columns_are_refused_and_one_is_said() -> None:
    X, y = line()
    with pytest.raises(InputError, match=r"y has 2 columns.*MultiOutputRegressor"):
        LinearSVR().fit(X, np.column_stack([y, y]))
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = LinearSVR().fit(X, y[:, None])
    assert model.predict(X).shape == (50,)


@pytest.mark.parametrize("parameter", [{"C": 0.0}, {"epsilon": -1.0}, {"tol": 0.0}])
def test_impossible_parameters_are_refused(parameter: dict[str, float]) -> None:
    X, y = line()
    with pytest.raises(ValueError, match=f"'{next(iter(parameter))}' parameter of LinearSVR"):
        LinearSVR(**parameter).fit(X, y)  # type: ignore[arg-type]


def test_missing_cells_are_refused() -> None:
    with pytest.raises(MissingValuesError, match="x0"):
        LinearSVR().fit([[np.nan], [1.0]], [0.0, 1.0])


def test_equal_rows_get_the_middle_of_their_targets() -> None:
    model = LinearSVR(C=100.0).fit(np.ones((3, 1)), [0.0, 1.0, 5.0])
    # The weights that reach the median cost less than any loss they save.
    np.testing.assert_allclose(model.predict([[1.0]]), 1.0, atol=1e-6)


def test_a_budget_that_ends_is_told() -> None:
    X, y = line()
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        LinearSVR(max_iter=1).fit(X, y)
