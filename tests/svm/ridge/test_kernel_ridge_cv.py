"""KernelRidgeCV: the chosen strength is the one that refits without each row would choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge as Reference
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError
from novum.core.learners import Case, Check, Verdict
from novum.core.learners.contracts import check_name, estimator_checks
from novum.linear import RidgeCV
from novum.numerics import Floats
from novum.svm.ridge.kernel_ridge import KernelRidge
from novum.svm.ridge.kernel_ridge_cv import KernelRidgeCV

ALPHAS = [0.001, 0.01, 0.1, 1.0, 10.0]


def table(n: int = 30, t: int = 1, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] + 2 * rng.normal(size=n)])[:, :t]
    return X, (y[:, 0] if t == 1 else y) + 0.2 * rng.normal(size=(n,) if t == 1 else (n, t))


@parametrize_with_checks([KernelRidgeCV(), KernelRidgeCV(ALPHAS, kernel="rbf")], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(check: Check) -> None:
    check(Case(KernelRidgeCV(ALPHAS, kernel="rbf", gamma=0.5), *table()))


def test_errors_are_those_of_real_refits() -> None:
    X, y = table()
    model = KernelRidgeCV(ALPHAS, kernel="rbf", gamma=0.5, store_cv_results=True).fit(X, y)
    errors = []
    for alpha in ALPHAS:
        reference = Reference(alpha, kernel="rbf", gamma=0.5)
        errors.append((y - cross_val_predict(reference, X, y, cv=LeaveOneOut())) ** 2)
    np.testing.assert_allclose(model.cv_results_, np.column_stack(errors), rtol=1e-6)
    means = np.mean(errors, axis=1)
    assert model.alpha_ == ALPHAS[int(np.argmin(means))]
    assert model.best_score_ == pytest.approx(-means.min())


def test_the_model_is_that_of_its_strength() -> None:
    X, y = table()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    model = KernelRidgeCV(ALPHAS, kernel="rbf").fit(X, y, weight)
    plain = KernelRidge(model.alpha_, kernel="rbf").fit(X, y, weight)
    np.testing.assert_allclose(model.predict(X), plain.predict(X), rtol=1e-9)
    assert model.certificate_.verdict is Verdict.PROVED


def test_the_linear_kernel_chooses_as_linear_ridge_does() -> None:
    X, y = table()
    ours = KernelRidgeCV(ALPHAS).fit(X, y)
    theirs = RidgeCV(ALPHAS, fit_intercept=False).fit(X, y)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)


def test_targets_choose_together_or_each_for_itself() -> None:
    X, y = table(40, 2)
    each = KernelRidgeCV(ALPHAS, kernel="rbf", alpha_per_target=True, store_cv_results=True)
    each.fit(X, y)
    for t in range(2):
        one = KernelRidgeCV(ALPHAS, kernel="rbf").fit(X, y[:, t])
        assert each.alpha_[t] == one.alpha_
        assert each.best_score_[t] == pytest.approx(one.best_score_)
        np.testing.assert_allclose(each.predict(X)[:, t], one.predict(X), rtol=1e-9)
    assert each.cv_results_.shape == (40, 2, len(ALPHAS))
    together = KernelRidgeCV(ALPHAS, kernel="rbf").fit(X, y)
    means = each.cv_results_.mean(axis=(0, 1))
    assert together.alpha_ == ALPHAS[int(np.argmin(means))]


def test_results_of_an_earlier_fit_do_not_stay() -> None:
    X, y = table()
    model = KernelRidgeCV(ALPHAS, store_cv_results=True).fit(X, y)
    model.set_params(store_cv_results=False).fit(X, y)
    assert not hasattr(model, "cv_results_")


@pytest.mark.parametrize(
    ("alphas", "message"),
    [
        ([0.0, 1.0], "strengths above 0"),
        ([], "strengths above 0"),
        ([-1.0], "at least 0"),
        ([np.nan], "finite"),
    ],
)
def test_wrong_strengths_are_named(alphas: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        KernelRidgeCV(alphas).fit(*table())


def test_strengths_below_rounding_and_single_rows_are_refused() -> None:
    X, y = table()
    with pytest.raises(InputError, match=r"no more than the rounding of the kernel matrix"):
        KernelRidgeCV([1e-30]).fit(X, y)
    with pytest.raises(InputError, match="n_samples = 1"):
        KernelRidgeCV().fit([[1.0]], [1.0])
