"""What the regressors share: tubes, contracts, LIBSVM's terms, odd targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import svm
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError
from novum.core.learners import Case, Check, ConvergenceWarning
from novum.core.learners.contracts import check_name, estimator_checks
from novum.kernels.vectors.mixed import Mixed
from novum.svm import KernelRidge, KernelRidgeCV, LinearSVR
from novum.svm.regression import SVR, NuSVR
from tests.svm.machine_tables import as_files, wave

BOTH = (SVR, NuSVR)
FINE = {"tol": 1e-10}


@parametrize_with_checks([SVR(), NuSVR()], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks([SVR(categorical_features="all")], legacy=True)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


def mixed_frame() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.uniform(-1, 1, 50), "color": rng.choice(["blue", "red"], 50)})
    return frame, np.where(frame["color"] == "red", 2.0, 0.0) + frame["size"].to_numpy()


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize(
    "case",
    [Case(SVR(), *wave()), Case(NuSVR(), *wave()), Case(SVR(kernel=Mixed()), *mixed_frame())],
    ids=["tube", "nu", "mixed"],
)
def test_contract(case: Case, check: Check) -> None:
    with as_files():
        check(case)


@pytest.mark.parametrize("cls", BOTH)
def test_attributes_are_those_of_libsvm(cls: Any) -> None:
    X, y = wave()
    ours, theirs = cls(**FINE).fit(X, y), getattr(svm, cls.__name__)(tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    assert ours.shape_fit_ == theirs.shape_fit_


@pytest.mark.parametrize("cls", BOTH)
def test_slack_is_what_is_outside_of_the_tube(cls: Any) -> None:
    X, y = wave()
    model = cls(**FINE).fit(X, y)
    distance = np.abs(y - model.predict(X))
    np.testing.assert_allclose(model.xi_, np.maximum(distance - model.epsilon_, 0), atol=1e-8)
    assert (np.abs(distance[model.unbound_] - model.epsilon_) < 1e-4).all()
    assert (distance[model.bound_] > model.epsilon_ - 1e-4).all()
    inside = np.setdiff1d(np.arange(len(y)), model.support_)
    assert (distance[inside] < model.epsilon_ + 1e-4).all()


@pytest.mark.parametrize("cls", BOTH)
def test_weights_of_columns_of_a_linear_kernel(cls: Any) -> None:
    X, y = wave()
    model = cls(kernel="linear").fit(X, y)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_[0] + model.intercept_[0])
    assert not hasattr(cls().fit(X, y), "coef_")


@pytest.mark.parametrize("cls", BOTH)
def test_constant_targets_need_no_support(cls: Any) -> None:
    model = cls().fit([[0.0], [1.0], [2.0]], [5.0, 5.0, 5.0])
    np.testing.assert_allclose(model.predict([[9.0]]), 5.0)
    assert len(model.support_) == 0 or np.abs(model.dual_coef_.sum()) < 1e-9


def test_several_targets_are_for_others() -> None:
    with pytest.raises(InputError, match=r"y has 2 columns.*MultiOutputRegressor"):
        SVR().fit([[0.0], [1.0]], [[1.0, 2.0], [3.0, 4.0]])


def test_a_column_of_targets_is_taken_with_a_warning() -> None:
    X, y = wave(20)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = SVR().fit(X, y[:, np.newaxis])
    np.testing.assert_array_equal(model.predict(X), SVR().fit(X, y).predict(X))


@pytest.mark.parametrize("cls", BOTH)
def test_budgets_end_a_fit(cls: Any) -> None:
    X, y = wave()
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        model = cls(C=1e4, tol=1e-12, max_iter=2).fit(X, y)
    assert model.fit_status_ == 1


@pytest.mark.parametrize(
    "model",
    [
        SVR(C=1.0, epsilon=0.1, tol=1e-8),
        NuSVR(C=1.0, tol=1e-8),
        LinearSVR(C=1.0, epsilon=0.1, tol=1e-6),
        KernelRidge(kernel="rbf"),
        KernelRidgeCV(),
    ],
    ids=str,
)
def test_targets_in_any_unit_or_refused(model: Any) -> None:
    X, y = wave()
    plain = model.fit(X, y).predict(X)

    def predicted(unit: float) -> Any:
        given = model.get_params()
        own = {name: unit * given[name] for name in ("C", "epsilon") if name in given}
        return clone(model).set_params(**own).fit(X, unit * y).predict(X) / unit

    for unit in (2.0**-400, 2.0**400):
        np.testing.assert_allclose(predicted(unit), plain, atol=1e-5 * np.abs(plain).max())
    with pytest.raises(InputError, match=r"a value of size .* whose square leaves the range"):
        predicted(1e280)
    if isinstance(model, KernelRidge):
        np.testing.assert_allclose(predicted(1e-280), plain)
        return
    with pytest.raises(InputError, match=r"no value larger than .* whose square leaves"):
        predicted(1e-280)
