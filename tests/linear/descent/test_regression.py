"""Gradient descent: optima known otherwise, proved gaps, traces, and settings that cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.linear_model import LogisticRegression as OtherLogistic

from novum.core.errors import InputError
from novum.core.learners import ConvergenceWarning, Verdict
from novum.linear import LinearRegression, Ridge
from novum.linear.descent.regression import GradientDescent, StochasticGradientDescent
from novum.linear.descent.steps import AdaGrad, Backtracking, ConstantStep, DecayingStep
from novum.numerics import (
    AbsoluteLoss,
    Floats,
    HingeLoss,
    LogisticLoss,
    Loss,
    PerceptronLoss,
    SquaredHingeLoss,
    SquaredLoss,
)
from novum.numerics.losses import HuberLoss
from tests.linear.tables import normal_table

SMOOTH = [SquaredLoss(), HuberLoss(0.5), LogisticLoss(), SquaredHingeLoss()]
KINKED = [AbsoluteLoss(), HingeLoss(), PerceptronLoss()]


def table_for(loss: Loss, n: int = 60) -> tuple[Floats, Floats]:
    X, y = normal_table(n, 2)
    if isinstance(loss, (SquaredLoss, HuberLoss, AbsoluteLoss)):
        return X, y
    return X, np.where(y > 4, 1.0, -1.0)


def objective(loss: Loss, X: Floats, y: Floats, alpha: float, params: Floats) -> float:
    w, b = params[:-1], params[-1]
    return float(np.mean(loss.value(X @ w + b, y)) + alpha / 2 * w @ w)


# --- Optima ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [Backtracking(), ConstantStep()], ids=repr)
def test_least_squares_is_that_of_the_regressions(step: Any) -> None:
    X, y = normal_table(80, 3)
    weight = np.random.default_rng(0).uniform(0.5, 2, 80)
    plain = GradientDescent(step, tol=1e-10).minimize(SquaredLoss(), X, y, sample_weight=weight)
    exact = LinearRegression().fit(X, y, weight)
    np.testing.assert_allclose(plain.coef, exact.coef_, rtol=1e-7)
    assert plain.intercept == pytest.approx(exact.intercept_, rel=1e-7)
    descended = LinearRegression(solver="gradient").fit(X, y, weight)
    np.testing.assert_allclose(plain.coef, descended.coef_, rtol=1e-5)
    # Half the mean square plus alpha/2 |w|^2 is Ridge's objective over twice the weight.
    alpha = 0.3
    shrunk = GradientDescent(step, tol=1e-12).minimize(
        SquaredLoss(), X, y, alpha=alpha, sample_weight=weight
    )
    ridge = Ridge(alpha=alpha * weight.sum()).fit(X, y, weight)
    np.testing.assert_allclose(shrunk.coef, ridge.coef_, rtol=1e-5)


def test_logistic_loss_is_logistic_regression() -> None:
    X, y = table_for(LogisticLoss(), 100)
    found = GradientDescent(tol=1e-12).minimize(LogisticLoss(), X, y, alpha=0.1)
    other = OtherLogistic(C=1 / (0.1 * 100), tol=1e-12, solver="newton-cholesky").fit(X, y)
    np.testing.assert_allclose(found.coef, other.coef_[0], rtol=1e-5)
    assert found.intercept == pytest.approx(other.intercept_[0], rel=1e-5)


@pytest.mark.parametrize("loss", [*SMOOTH, *KINKED], ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("intercept", [True, False])
def test_gaps_are_proved_for_every_loss(loss: Loss, intercept: bool) -> None:
    X, y = table_for(loss)
    smooth = loss in SMOOTH
    method = (
        GradientDescent(tol=1e-6)
        if smooth
        else GradientDescent(DecayingStep(1.0, delay=20), tol=0.05, max_iter=5000)
    )
    found = method.minimize(loss, X, y, alpha=0.5, fit_intercept=intercept)
    certificate = found.certificate
    start = np.append(found.coef, found.intercept)

    def value(params: Floats) -> float:
        kept = params if intercept else np.append(params[:-1], 0.0)
        return objective(loss, X, y, 0.5, kept)

    other = optimize.minimize(
        value, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14, "maxfev": 9999}
    )
    assert certificate.value == pytest.approx(value(start), rel=1e-12)
    assert certificate.lower_bound is not None
    assert certificate.lower_bound <= other.fun + 1e-12
    assert certificate.value >= other.fun - 1e-9
    assert certificate.verdict is Verdict.WITHIN_TOLERANCE
    assert certificate.gap is not None
    assert certificate.gap < (1e-4 if smooth else 0.2)


def test_momentum_and_adagrad_reach_the_same() -> None:
    X, y = table_for(LogisticLoss(), 100)
    X = X * [10.0, 0.1]
    expected = GradientDescent(tol=1e-9, max_iter=100_000).minimize(LogisticLoss(), X, y, alpha=0.1)
    heavy = GradientDescent(ConstantStep(), momentum=0.95, tol=1e-8).minimize(
        LogisticLoss(), X, y, alpha=0.1
    )
    adaptive = GradientDescent(AdaGrad(0.5), tol=1e-8).minimize(LogisticLoss(), X, y, alpha=0.1)
    for found in (heavy, adaptive):
        # A gap g leaves the coefficients within sqrt(2 g / alpha) of the optimum.
        reach = np.sqrt(2 * (found.certificate.gap or 0.0) / 0.1)
        assert np.linalg.norm(found.coef - expected.coef) <= reach + 1e-4
        assert reach < 2e-3
    plain = GradientDescent(ConstantStep(), tol=1e-8, max_iter=100_000).minimize(
        LogisticLoss(), X, y, alpha=0.1
    )
    iterations = [one.certificate.iterations or 0 for one in (heavy, plain)]
    assert iterations[0] < iterations[1]


# --- Traces ---------------------------------------------------------------------------------------


def test_traces_have_every_step() -> None:
    X, y = table_for(LogisticLoss())
    found = GradientDescent(ConstantStep(0.5), tol=1e-4).minimize(LogisticLoss(), X, y)
    w = np.zeros(3)
    rows = np.column_stack([X, np.ones(len(X))])
    for number, length in enumerate(found.lengths):
        gradient = rows.T @ LogisticLoss().gradient(rows @ w, y) / len(X)
        assert found.objectives[number] == pytest.approx(objective(LogisticLoss(), X, y, 0.0, w))
        assert found.gradient_norms[number] == pytest.approx(np.linalg.norm(gradient))
        assert length == 0.5
        w = w - length * gradient
    np.testing.assert_allclose(np.append(found.coef, found.intercept), w, rtol=1e-9)
    assert found.certificate.trace == tuple(found.objectives)
    np.testing.assert_allclose(found.scores(X), rows @ w, rtol=1e-9)


def test_backtracking_never_goes_up() -> None:
    X, y = table_for(SquaredHingeLoss())
    found = GradientDescent(tol=1e-6).minimize(SquaredHingeLoss(), X, y, alpha=0.01)
    assert (np.diff(found.objectives) <= 1e-15).all()
    assert (found.lengths > 0).all()


def test_a_step_without_length_is_one_over_the_lipschitz_constant() -> None:
    X, y = table_for(SquaredLoss())
    found = GradientDescent(ConstantStep(), tol=1e-6).minimize(SquaredLoss(), X, y)
    rows = np.column_stack([X, np.ones(len(X))])
    largest = np.linalg.eigvalsh(rows.T @ rows / len(X))[-1]
    np.testing.assert_allclose(found.lengths, 1 / largest, rtol=1e-9)
    assert (np.diff(found.objectives) <= 0).all()


# --- Batches --------------------------------------------------------------------------------------


def test_stochastic_descent_comes_close_and_says_how() -> None:
    X, y = table_for(LogisticLoss(), 300)
    exact = GradientDescent(tol=1e-10).minimize(LogisticLoss(), X, y, alpha=0.1)
    for step in (DecayingStep(1.0, delay=50), AdaGrad(0.5)):
        sgd = StochasticGradientDescent(10, step, tol=1e-3, random_state=0)
        found = sgd.minimize(LogisticLoss(), X, y, alpha=0.1)
        assert found.certificate.converged
        gap = (found.certificate.value or 0.0) - (exact.certificate.value or 0.0)
        assert 0 <= gap <= (found.certificate.gap or 0.0) + 1e-12
        np.testing.assert_allclose(found.coef, exact.coef, atol=0.1)


def test_one_batch_of_all_rows_is_the_full_descent() -> None:
    X, y = table_for(LogisticLoss())
    full = GradientDescent(DecayingStep(0.5), tol=1e-3).minimize(LogisticLoss(), X, y, alpha=0.1)
    sgd = StochasticGradientDescent(60, DecayingStep(0.5), tol=1e-3, random_state=0)
    found = sgd.minimize(LogisticLoss(), X, y, alpha=0.1)
    np.testing.assert_allclose(found.objectives, full.objectives, rtol=1e-12)
    np.testing.assert_allclose(found.coef, full.coef, rtol=1e-10)


def test_averaging_settles_where_a_constant_step_jumps() -> None:
    X, y = table_for(LogisticLoss(), 200)
    values = []
    for averaged in (False, True):
        sgd = StochasticGradientDescent(
            1, ConstantStep(0.5), averaged=averaged, tol=0.0, max_iter=30, random_state=0
        )
        with pytest.warns(ConvergenceWarning, match="stopped early after 30 iterations"):
            values.append(sgd.minimize(LogisticLoss(), X, y, alpha=0.1).objectives[-1])
    assert values[1] < values[0]


def test_seeds_give_the_same_bits() -> None:
    X, y = table_for(LogisticLoss())
    method = StochasticGradientDescent(7, tol=1e-2, random_state=3)
    first, second = (method.minimize(LogisticLoss(), X, y, alpha=0.1) for _ in range(2))
    assert first.coef.tobytes() == second.coef.tobytes()
    other = StochasticGradientDescent(7, tol=1e-2, random_state=4)
    assert other.minimize(LogisticLoss(), X, y, alpha=0.1).coef.tobytes() != first.coef.tobytes()


def test_sparse_rows_give_the_dense_descent() -> None:
    X, y = table_for(LogisticLoss())
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    for method in (GradientDescent(tol=1e-6), StochasticGradientDescent(tol=1e-2, random_state=0)):
        step = {} if isinstance(method, GradientDescent) else {"step": DecayingStep(0.3)}
        chosen = type(method)(**{**vars(method), **step})
        dense = chosen.minimize(LogisticLoss(), X, y, alpha=0.1)
        found = chosen.minimize(LogisticLoss(), sparse.csr_array(X), y, alpha=0.1)
        np.testing.assert_allclose(found.coef, dense.coef, rtol=1e-8)


# --- Ends and refusals ----------------------------------------------------------------------------


def test_a_step_too_long_is_announced() -> None:
    X, y = table_for(SquaredLoss())
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        found = GradientDescent(ConstantStep(1e3), max_iter=500).minimize(SquaredLoss(), X, y)
    assert found.certificate.details["stopped_by"] == "diverged"
    assert np.isfinite(found.coef).all()


def test_a_start_at_the_optimum_stays() -> None:
    X, y = normal_table(30, 2, noise=0.0)
    exact = LinearRegression().fit(X, y)
    start = np.append(exact.coef_, exact.intercept_)
    found = GradientDescent().minimize(SquaredLoss(), X, y, start=start)
    np.testing.assert_allclose(found.coef, exact.coef_, rtol=1e-9)


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match="Backtracking compares values of the whole objective"):
        StochasticGradientDescent(step=Backtracking())
    with pytest.raises(InputError, match="momentum does not promise"):
        GradientDescent(momentum=0.5)
    with pytest.raises(InputError, match=r"at least 0 and below 1, got 1\.0"):
        GradientDescent(ConstantStep(), momentum=1.0)
    with pytest.raises(InputError, match="step is a step rule"):
        GradientDescent("armijo")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="batch is a number of rows"):
        StochasticGradientDescent(0)
    with pytest.raises(InputError, match="max_iter"):
        GradientDescent(max_iter=0)
    with pytest.raises(InputError, match="tol"):
        GradientDescent(tol=-1.0)
    X, y = table_for(LogisticLoss())
    with pytest.raises(InputError, match="start needs 3 finite numbers"):
        GradientDescent().minimize(LogisticLoss(), X, y, start=[0.0])
    with pytest.raises(InputError, match=r"ConstantStep\(length=0\.1\)"):
        GradientDescent(ConstantStep()).minimize(HingeLoss(), X, y)


def test_values_are_frozen_and_comparable() -> None:
    assert GradientDescent() == GradientDescent()
    assert StochasticGradientDescent(5) != StochasticGradientDescent(6)
    with pytest.raises(AttributeError):
        GradientDescent().tol = 1.0  # type: ignore[misc]
