"""Gradient descent as a value: any loss, any step rule, with everything that happened.

    full:        w <- w - a_t g(w),                g the gradient over all rows
    stochastic:  w <- w - a_t g_B(w),              g_B that of a batch B, drawn without repetition
    momentum:    v <- m v - a_t g,  w <- w + v     (heavy ball)

The objective is the mean loss plus `alpha |w|^2 / 2` (`descent.objective`). Both are here to be
looked at: traces have the objective, the norm of the gradient and the length of every step. With
alpha > 0 the certificate has a proved gap, whatever the loss; kinks are no exception.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.learners import Certificate, Stopwatch, Verdict, warn_if_stopped
from novum.core.runtime import RandomSource, seed_sequence, stream
from novum.linear.descent.objective import LinearObjective, linear_objective
from novum.linear.descent.steps import Backtracking, DecayingStep, StepRule, StepRun
from novum.numerics import Floats, Loss, Positions

OBJECTIVE = "mean loss + alpha |coef|^2 / 2"


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended and how it got there.

    Attributes
    ----------
    coef : array of shape (d,)
    intercept : float
    certificate : Certificate
        Its gap is proved where `alpha > 0`.
    objectives, gradient_norms : arrays of shape (t + 1,)
        At the start and after each step; of a stochastic descent after each pass.
    lengths : array of shape (t,)
        Mean length of each step, or of the steps of each pass.
    """

    coef: Floats
    intercept: float
    certificate: Certificate
    objectives: Floats
    gradient_norms: Floats
    lengths: Floats

    def scores(self, X: Any) -> Floats:
        """`x'w + b` of rows."""
        return np.asarray(X @ self.coef + self.intercept)


# --- All rows -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GradientDescent:
    """Gradient descent on all rows.

    Parameters
    ----------
    step : StepRule
        `Backtracking()`, `ConstantStep()`, `DecayingStep()` or `AdaGrad()`.
    momentum : float in [0, 1)
        Share of the last move that is kept; not with `Backtracking`.
    tol : float
        Stop when the gap, or without a penalty the norm of the gradient, is at most this share of
        its size at the start.
    max_iter : int

    Examples
    --------
    >>> from novum.numerics import SquaredLoss
    >>> found = GradientDescent().minimize(SquaredLoss(), [[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> round(float(found.coef[0]), 4), round(found.intercept, 4)
    (2.0, 1.0)
    """

    step: StepRule = field(default_factory=Backtracking)
    momentum: float = 0.0
    tol: float = 1e-8
    max_iter: int = 10_000

    def __post_init__(self) -> None:
        _check_settings(self.step, self.momentum, self.tol, self.max_iter)
        if self.momentum and isinstance(self.step, Backtracking):
            raise InputError(
                "Backtracking needs a direction that descends, which momentum does not promise. "
                "Use ConstantStep() with momentum, or momentum=0."
            )

    def minimize(
        self,
        loss: Loss,
        X: Any,
        y: ArrayLike,
        *,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        sample_weight: ArrayLike | None = None,
        start: ArrayLike | None = None,
    ) -> Descent:
        """The descent of the mean loss of a linear model.

        Parameters
        ----------
        loss : Loss
            Of `novum.numerics.losses`; those of classification take sides -1 and +1 as `y`.
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        alpha : float
            Strength of the penalty.
        fit_intercept : bool
        sample_weight : array-like of shape (n,), optional
        start : array-like of shape (d,) or (d + 1,), optional
            With the intercept last; zeros by default.
        """
        objective = linear_objective(loss, X, y, sample_weight, alpha, fit_intercept)
        trace = _Trace(objective, self.tol, _checked_start(objective, start))
        lengths = self.step.run(objective.lipschitz())
        velocity = np.zeros(objective.n_params)
        for number in range(self.max_iter):
            if trace.is_done():
                break
            gradient = trace.gradient
            step = lengths.search(objective.value_and_gradient, trace.params, trace.value, gradient)
            if step == 0.0:
                trace.stopped_by = "rounding"
                break
            length = lengths.length(number, gradient) if step is None else step
            velocity = self.momentum * velocity - length * gradient
            if not trace.moved(trace.params + velocity, float(np.mean(length))):
                break
        return trace.finished(type(self).__name__)


# --- Batches --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StochasticGradientDescent:
    """Gradient descent on batches of rows in random order.

    Parameters
    ----------
    batch : int
        Rows of a batch; in every pass each row is in one.
    step : StepRule
        `DecayingStep()`, `ConstantStep()` or `AdaGrad()`; counts batches.
    momentum : float in [0, 1)
    averaged : bool
        Answer with the mean of the parameters over the last half of all passes (Polyak), which
        settles where the last parameters still jump.
    tol : float
        As for `GradientDescent`, looked at after each pass.
    max_iter : int
        Passes.
    random_state : int, generator or None

    Examples
    --------
    >>> from novum.numerics import LogisticLoss
    >>> sgd = StochasticGradientDescent(batch=2, tol=1e-3, random_state=0)
    >>> X, sides = [[-2.0], [-1.0], [1.0], [2.0]], [-1, -1, 1, 1]
    >>> found = sgd.minimize(LogisticLoss(), X, sides, alpha=0.1)
    >>> bool(found.coef[0] > 0), found.certificate.converged
    (True, True)
    """

    batch: int = 32
    step: StepRule = field(default_factory=DecayingStep)
    momentum: float = 0.0
    averaged: bool = False
    tol: float = 1e-4
    max_iter: int = 1000
    random_state: RandomSource = None

    def __post_init__(self) -> None:
        _check_settings(self.step, self.momentum, self.tol, self.max_iter)
        if not (self.batch == int(self.batch) and self.batch >= 1):
            raise InputError(f"batch is a number of rows of at least 1, got {self.batch!r}.")
        if isinstance(self.step, Backtracking):
            raise InputError(
                "Backtracking compares values of the whole objective, which a batch does not know. "
                "Use DecayingStep, ConstantStep or AdaGrad."
            )

    def minimize(
        self,
        loss: Loss,
        X: Any,
        y: ArrayLike,
        *,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        sample_weight: ArrayLike | None = None,
        start: ArrayLike | None = None,
    ) -> Descent:
        """The descent of the mean loss of a linear model; see `GradientDescent.minimize`."""
        objective = linear_objective(loss, X, y, sample_weight, alpha, fit_intercept)
        params = _checked_start(objective, start)
        trace = _Trace(objective, self.tol, params)
        lengths, root = self.step.run(objective.lipschitz()), seed_sequence(self.random_state)
        velocity, number, mean = np.zeros_like(params), 0, _HalfMean()
        for epoch in range(self.max_iter):
            if trace.is_done():
                break
            order = stream(root, "pass", epoch).permutation(objective.n_rows)
            params, velocity, number, length = self._pass(
                objective, lengths, order, params, velocity, number
            )
            shown = mean.with_one(params) if self.averaged else params
            if not trace.moved(shown, length):
                break
        return trace.finished(type(self).__name__)

    def _pass(
        self,
        objective: LinearObjective,
        lengths: StepRun,
        order: Positions,
        params: Floats,
        velocity: Floats,
        number: int,
    ) -> tuple[Floats, Floats, int, float]:
        """One pass: new parameters and velocity, steps so far, and the mean length."""
        total, batches = 0.0, range(0, len(order), self.batch)
        for first in batches:
            gradient = objective.batch_gradient(params, order[first : first + self.batch])
            length = lengths.length(number, gradient)
            velocity = self.momentum * velocity - length * gradient
            params, number = params + velocity, number + 1
            total += float(np.mean(length))
        return params, velocity, number, total / len(batches)


class _HalfMean:
    """The mean over the last half of what it was given."""

    def __init__(self) -> None:
        self.kept: list[Floats] = []

    def with_one(self, params: Floats) -> Floats:
        self.kept.append(params)
        return np.mean(self.kept[len(self.kept) // 2 :], axis=0)


# --- Traces ---------------------------------------------------------------------------------------


class _Trace:
    """The points of a run, the best of them, and when it is done."""

    def __init__(self, objective: LinearObjective, tol: float, params: Floats) -> None:
        self.objective, self.tol, self.clock = objective, tol, Stopwatch()
        self.params = self.best = params
        self.stopped_by = "max_iter"
        self.value, self.gradient = objective.value_and_gradient(params)
        self.best_value, self.best_gradient = self.value, self.gradient
        self.bound = objective.lower_bound(params)
        self.objectives, self.norms = [self.value], [float(np.linalg.norm(self.gradient))]
        self.lengths: list[float] = []
        self.first_gap = None if self.bound is None else self.value - self.bound

    @property
    def gap(self) -> float | None:
        return None if self.bound is None else max(0.0, self.best_value - self.bound)

    def is_done(self) -> bool:
        if self.gap is not None and self.first_gap is not None:
            done = self.gap <= self.tol * self.first_gap
        else:
            done = self.norms[-1] <= self.tol * self.norms[0]
        if done:
            self.stopped_by = "tol"
        return done

    def moved(self, params: Floats, length: float) -> bool:
        """Notes a step; False where the run has left all bounds."""
        with np.errstate(over="ignore", invalid="ignore"):
            value, gradient = self.objective.value_and_gradient(params)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            self.stopped_by = "diverged"
            return False
        self.params, self.value, self.gradient = params, value, gradient
        self.objectives.append(value)
        self.norms.append(float(np.linalg.norm(gradient)))
        self.lengths.append(length)
        if value <= self.best_value:
            self.best, self.best_value, self.best_gradient = params, value, gradient
        bound = self.objective.lower_bound(params)
        if bound is not None and self.bound is not None:
            self.bound = max(self.bound, bound)
        return True

    def finished(self, method: str) -> Descent:
        self.is_done()
        certificate = Certificate(
            objective=OBJECTIVE,
            verdict=self._verdict(),
            value=self.best_value,
            lower_bound=None if self.bound is None else min(self.bound, self.best_value),
            residual=float(np.linalg.norm(self.best_gradient)),
            iterations=len(self.lengths),
            trace=tuple(self.objectives),
            details={"stopped_by": self.stopped_by, "share_of_start": self.tol},
            seconds=self.clock.seconds,
        )
        warn_if_stopped(certificate, method, stacklevel=4)
        w, b = self.objective.parts(self.best)
        return Descent(
            w.copy(),
            b,
            certificate,
            np.array(self.objectives),
            np.array(self.norms),
            np.array(self.lengths),
        )

    def _verdict(self) -> Verdict:
        if self.stopped_by == "tol":
            # A small gap is proof; a small gradient of a convex function is small nowhere else.
            return Verdict.WITHIN_TOLERANCE
        return Verdict.LOCAL if self.stopped_by == "rounding" else Verdict.STOPPED_EARLY


# --- Checks ---------------------------------------------------------------------------------------


def _checked_start(objective: LinearObjective, start: ArrayLike | None) -> Floats:
    if start is None:
        return np.zeros(objective.n_params)
    params = np.array(start, float)
    if params.shape != (objective.n_params,) or not np.isfinite(params).all():
        raise InputError(
            f"start needs {objective.n_params} finite numbers, the intercept last, got shape "
            f"{params.shape}."
        )
    return params


def _check_settings(step: Any, momentum: float, tol: float, max_iter: int) -> None:
    if not isinstance(step, StepRule):
        raise InputError(f"step is a step rule such as DecayingStep(), got {step!r}.")
    if not 0 <= momentum < 1:
        raise InputError(f"momentum is a share of at least 0 and below 1, got {momentum!r}.")
    if not tol >= 0:
        raise InputError(f"tol must be at least 0, got {tol!r}.")
    if not (max_iter == int(max_iter) and max_iter >= 1):
        raise InputError(f"max_iter is a count of at least 1, got {max_iter!r}.")
