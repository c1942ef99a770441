"""Pegasos: checks, bounds, streams of rows, odd input."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, MissingValuesError, ModelFileError
from novum.core.learners import Case, Check, ConvergenceWarning, Verdict
from novum.core.learners.contracts import check_name, estimator_checks
from novum.svm.linear.classifier import LinearSVC
from novum.svm.online.kernel_pegasos import KernelPegasos
from novum.svm.online.pegasos import Pegasos
from tests.svm.linear_tables import overlapping, three_classes

SETTINGS: list[dict[str, Any]] = [{}, {"average": True}, {"batch_size": 5}, {"projection": False}]


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@parametrize_with_checks(
    [Pegasos(max_iter=50), Pegasos(max_iter=50, batch_size=3, average=True)], legacy=True
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks([Pegasos(max_iter=50, categorical_features="all")], legacy=True)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_contract(settings: dict[str, Any], check: Check) -> None:
    check(Case(Pegasos(alpha=0.1, tol=0.02, **settings), *three_classes(60)))


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_optimum_lies_between_the_bounds(settings: dict[str, Any]) -> None:
    X, side = overlapping(100)
    model = Pegasos(alpha=0.05, tol=0.01, **settings).fit(X, side)
    exact = LinearSVC(loss="hinge", C=1 / (0.05 * 100)).fit(X, side)
    best = 0.05 * exact.certificate_.primal
    found = model.certificate_
    assert found.dual <= best + 1e-12
    assert best <= found.primal + 1e-12
    assert found.relative_gap <= 0.01
    assert np.linalg.norm(model.coef_ - exact.coef_) <= found.distance_bound


def test_sparse_rows_are_dense_rows() -> None:
    X, side = overlapping(60)
    X[np.abs(X) < 0.5] = 0.0
    dense = Pegasos(alpha=0.1, tol=0.01).fit(X, side)
    compressed = Pegasos(alpha=0.1, tol=0.01).fit(sparse.csr_matrix(X), side)
    np.testing.assert_allclose(dense.coef_, compressed.coef_, atol=1e-9)


def test_rows_may_come_in_parts() -> None:
    X, y = three_classes(600)
    model = Pegasos(alpha=0.01)
    for start in range(0, 600, 100):
        model.partial_fit(X[start : start + 100], y[start : start + 100], classes=[0, 1, 2])
    assert model.t_ == 600
    assert model.certificate_.verdict is Verdict.STOPPED_EARLY
    whole = LinearSVC().fit(X, y)
    assert model.score(X, y) > whole.score(X, y) - 0.1
    coef = model.coef_.copy()
    with pytest.raises(InputError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1])
    assert model.coef_.tobytes() == coef.tobytes()


def test_partial_fit_needs_classes_and_no_balance() -> None:
    X, side = overlapping()
    with pytest.raises(InputError, match="classes must be passed"):
        Pegasos().partial_fit(X, side)
    with pytest.raises(InputError, match="balanced"):
        Pegasos(class_weight="balanced").partial_fit(X, side, classes=[-1, 1])


def test_class_weights_are_weights_of_rows() -> None:
    X, side = overlapping()
    given = Pegasos(alpha=0.1, tol=0.05, class_weight={1.0: 3.0}).fit(X, side)
    rows = Pegasos(alpha=0.1, tol=0.05).fit(X, side, sample_weight=np.where(side > 0, 3.0, 1.0))
    np.testing.assert_allclose(given.coef_, rows.coef_)


def test_budgets_that_end_are_told() -> None:
    X, side = overlapping()
    with pytest.warns(ConvergenceWarning, match=r"gap is .*Raise max_iter"):
        Pegasos(max_iter=2).fit(X, side)
    with pytest.warns(ConvergenceWarning, match="Raise max_seconds"):
        Pegasos(max_seconds=0.0).fit(X, side)


def test_odd_input_is_refused() -> None:
    X, side = overlapping()
    with pytest.raises(ValueError, match="'alpha' parameter of Pegasos"):
        Pegasos(alpha=0.0).fit(X, side)
    with pytest.raises(InputError, match="one class only"):
        Pegasos().fit(X, np.ones(60))
    with pytest.raises(MissingValuesError, match="x0"):
        Pegasos().fit([[np.nan], [1.0]], [0, 1])
    with pytest.raises(InputError, match="below 1e-120"):
        Pegasos(fit_intercept=False).fit(X * 1e-150, side)


def test_a_model_of_another_shape_is_refused() -> None:
    X, side = overlapping()
    model = Pegasos(alpha=0.1, tol=0.05).fit(X, side)
    model._check_state()
    model.sums_ = model.sums_[:, :2]
    with pytest.raises(ModelFileError, match=r"sums of shape \(1, 2\)"):
        model._check_state()


@pytest.mark.parametrize("alpha", [1e-300, 1e-100, 1e-20, 1e-8, 1e300])
@pytest.mark.parametrize("batch_size", [1, 5])
@pytest.mark.parametrize("learner", [Pegasos, KernelPegasos])
def test_no_penalty_is_too_small_for_a_certificate(
    learner: type, alpha: float, batch_size: int
) -> None:
    rng = np.random.default_rng(4)
    # Rows far larger than the ball of the first steps: each is followed by a projection.
    X = 1e3 * rng.normal(size=(120, 4))
    y = (X[:, 0] + 1e3 * rng.normal(size=120) > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = learner(alpha=alpha, batch_size=batch_size, max_iter=4).fit(X, y)
    assert model.certificate_.gap >= 0
    assert np.isfinite(model.decision_function(X)).all()
