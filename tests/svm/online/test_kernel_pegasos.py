"""Pegasos with kernels: the textbook's dual steps, checks, bounds, objects of any kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import svm as reference
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError
from novum.core.learners import Case, Check, ConvergenceWarning
from novum.core.learners.contracts import check_name, estimator_checks
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.svm.online.kernel_pegasos import KernelPegasos, ObjectMachine
from novum.svm.online.kernel_perceptron_passes import Columns
from novum.svm.online.pegasos import Pegasos
from novum.svm.online.pegasos_training import PegasosRule
from tests.oracles.linear_svm_definitions import kernel_pegasos
from tests.svm.linear_tables import overlapping, three_classes


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@parametrize_with_checks([KernelPegasos(max_iter=50)], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(check: Check) -> None:
    check(Case(KernelPegasos(alpha=0.1, tol=0.02), *three_classes(60)))


@pytest.mark.parametrize("budget", [0, 10**8])
def test_steps_are_the_textbooks(budget: int) -> None:
    X, side = overlapping(30)
    draws = np.random.default_rng(0).integers(0, 30, 300)
    columns = Columns(Gaussian(1.5).prepare(X), 1.0, budget)
    machine = ObjectMachine(columns, side, PegasosRule(0.05, 1, False, False))
    machine.take(draws)
    K = Gaussian(1.5).gram(X) + 1.0
    expected = kernel_pegasos(K, side, 0.05, draws.tolist())
    np.testing.assert_allclose(machine.shares * side / (0.05 * 300), expected, atol=1e-10)
    margins, square = machine.margins(np.abs(expected))
    np.testing.assert_allclose(margins, side * (K @ expected), atol=1e-8)
    assert square == pytest.approx(expected @ K @ expected)


@pytest.mark.parametrize("settings", [{}, {"batch_size": 4}, {"projection": False}])
def test_a_linear_kernel_is_the_primal(settings: dict[str, Any]) -> None:
    X, side = overlapping(60)
    dual = KernelPegasos(kernel="linear", alpha=0.1, tol=0.01, **settings).fit(X, side)
    primal = Pegasos(alpha=0.1, tol=0.01, **settings).fit(X, side)
    for model in (dual, primal):
        assert model.certificate_.relative_gap <= 0.01
    distance = dual.certificate_.distance_bound + primal.certificate_.distance_bound
    difference = dual.dual_coef_ @ dual.support_vectors_ - primal.coef_
    assert np.linalg.norm(difference) <= distance


def test_the_bound_is_below_libsvms_optimum() -> None:
    X, side = overlapping(80)
    alpha, gamma = 0.02, 0.5
    model = KernelPegasos(alpha=alpha, gamma=gamma, tol=0.01, fit_intercept=False).fit(X, side)
    # With its free bias the other minimizes over more functions.
    other = reference.SVC(C=1 / (alpha * 80), gamma=gamma, tol=1e-8).fit(X, side)
    a = np.abs(other.dual_coef_).sum()
    V, b = other.support_vectors_, other.dual_coef_.ravel()
    K = np.exp(-gamma * ((V[:, None] - V[None]) ** 2).sum(axis=2))
    optimum = alpha * (a - b @ K @ b / 2)
    assert model.certificate_.primal >= optimum - 1e-9
    assert model.certificate_.relative_gap <= 0.01
    assert model.score(X, side) >= other.score(X, side) - 0.05


def test_similarities_and_kernels_of_ours_are_taken() -> None:
    X, side = overlapping(40)
    named = KernelPegasos(kernel="linear", alpha=0.1, tol=0.02).fit(X, side)
    ours = KernelPegasos(kernel=Linear(), alpha=0.1, tol=0.02).fit(X, side)
    np.testing.assert_allclose(named.decision_function(X), ours.decision_function(X))
    K = X @ X.T
    given = KernelPegasos(kernel="precomputed", alpha=0.1, tol=0.02).fit(K, side)
    assert given.certificate_.relative_gap <= 0.02
    assert (given.predict(K) == named.predict(X)).mean() > 0.9


def test_odd_input_is_refused() -> None:
    X, side = overlapping()
    with pytest.raises(InputError, match="one class only"):
        KernelPegasos().fit(X, np.ones(60))
    with pytest.raises(ValueError, match="'alpha' parameter"):
        KernelPegasos(alpha=-1.0).fit(X, side)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        KernelPegasos(alpha=1e-4, max_iter=1).fit(X, side)


def test_without_time_the_gap_is_not_claimed() -> None:
    # Too many objects for the whole matrix, so that products are made under the clock.
    X = np.linspace(-1, 1, 2500)[:, None]
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        model = KernelPegasos(max_seconds=0.0001, tol=1e-9).fit(X, X[:, 0] > 0)
    assert model.certificate_.gap == np.inf
    assert model.n_iter_ == 1
