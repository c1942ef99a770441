"""Newton's method for the logistic loss, with a checked step and few readings of the rows.

    H(v) step = -g(v),        v <- v + t step,        nu^2 = g' H^-1 g  (twice the expected gain)

A step is accepted when it keeps a part of the gain it promises, and is halved otherwise. Few steps
see all rows: the start is the optimum of every 40th and then of every 10th row, which is known to
within the error that so few rows allow, and their Hessian serves the first step of all. Close to
the optimum the Hessian of a large table is kept, and a pass sums the gradient alone.

The last step is taken without looking: its gain is below the rounding of the objective, and the
certificate knows how far it leads.

Tables too wide for a Hessian find their steps by conjugate gradients:

    H step = -g  solved until  |H step + g| <= forcing |g|,     both in the norm of the diagonal

(Dembo, Eisenstat and Steihaug 1982). Products with the Hessian are two products with the rows, so
nothing larger than a vector is kept, and sparse rows stay sparse. The forcing falls with the
gradient: early steps are cheap, and the last ones converge faster than linearly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np

from novum.linear.logistic.objective import Evaluation, Factor, LocalHessian, PenalizedLoss, Shape
from novum.numerics import Floats

# A start from every k-th row is worth it when these rows outnumber the parameters so many times.
STRIDES = (40, 10)
ROWS_PER_PARAMETER = 20
# A large table keeps its Hessian where the decrement is below this share of the root of F.
SETTLED = 5e-3
LARGE = 2e7
# Steps go on to this share of the tolerance; they cost little, and near the optimum gain much. The
# last one is counted by the rate so far where the Hessian was kept.
FINISH = 1e-3
_ARMIJO = 1e-4
# Towards infinity the loss of a separated row falls by a factor e, its decrement by the root of it.
_SLOW = 0.45
_HALVINGS = 30
# Values that differ by less are equal; so many such steps in a row, and there is no more to gain.
ROUNDING = 1e-13
STUCK = 4

Watch = Callable[[Evaluation], bool]
Local = TypeVar("Local")


@dataclass(eq=False)
class Minimum:
    """Where a solver stopped.

    Attributes
    ----------
    vector : array (P,)
    evaluation : Evaluation
        Value and gradient there, or before the last step.
    stopped_by : {"tol", "rounding", "max_iter", "callback", "slow"}
    trace : list of float
        Objective over all rows at the start and after each step.
    decrement : float
        `sqrt(g' H^-1 g)` of the evaluation, or an estimate of it.
    last_step : array (P,)
        What was added after the evaluation.
    factor, hessian
        Of a point near the evaluation, `moved` away in their norm; None where there is no Hessian.
    """

    vector: Floats
    evaluation: Evaluation
    stopped_by: str
    trace: list[float]
    decrement: float
    last_step: Floats = field(default_factory=lambda: np.zeros(0))
    factor: Factor | None = None
    hessian: Floats | None = None
    moved: float = 0.0

    @property
    def iterations(self) -> int:
        return len(self.trace) - 1

    @property
    def converged(self) -> bool:
        return self.stopped_by in ("tol", "rounding")


def never(_evaluation: Evaluation) -> bool:
    """Watches nothing."""
    return False


def newton_from_subsamples(
    loss: PenalizedLoss,
    start: Floats,
    *,
    tol: float,
    max_iter: int,
    watch: Watch = never,
    patience: int | None = None,
) -> Minimum:
    """Newton's method, started on every 40th and every 10th row where there are enough."""
    size, factor = loss.shape.size, None
    for stride in STRIDES:
        if loss.rows.n_rows < stride * ROWS_PER_PARAMETER * size:
            continue
        part = loss.strided(stride)
        if not part.rows.class_weights.all():
            continue
        # So few rows know the optimum to a decrement of about sqrt(stride P), no better.
        minimum = newton(
            part, start, factor, goal=0.3 * np.sqrt(size), tol=0.0, max_iter=min(12, max_iter)
        )
        start, factor = minimum.vector, minimum.factor
    return newton(loss, start, factor, tol=tol, max_iter=max_iter, watch=watch, patience=patience)


def newton(
    loss: PenalizedLoss,
    start: Floats,
    factor: Factor | None = None,
    *,
    tol: float,
    max_iter: int,
    goal: float = 0.0,
    watch: Watch = never,
    patience: int | None = None,
) -> Minimum:
    """Minimizes `F(v)` from `start`.

    Ends when the decrement is at most `goal`, or when the expected gap is at most `tol^2` times the
    objective and the next step leads far beyond that. `factor` is of a Hessian near `start`, if one
    is known; `watch` is told of every step and may end the fit. So many full steps in a row that
    hardly gain as `patience` says end it too: an optimum at infinity is approached like that.
    """
    hessian, moved = None, 0.0
    vector, factor, now = _first_look(loss, start, factor)
    # Inference, which is of use without a penalty, wants the Hessian of the very optimum.
    large = loss.shape.penalty > 0 and loss.rows.n_rows * float(loss.shape.size) ** 2 > LARGE
    trace, last, stopped_by, slow, stuck = [now.value], np.inf, "", 0, 0
    while True:
        if now.hessian is not None:
            factor, hessian, moved = Factor(now.hessian), now.hessian, 0.0
        assert factor is not None
        step, decrement = factor.step(now.gradient)
        rate = max(min(1.0, decrement / last), FINISH)
        size = loss.size(now.value)
        if _is_done(now, decrement, rate, tol * size, goal):
            stopped_by = "tol"
        elif len(trace) > max_iter:
            stopped_by = stopped_by or "max_iter"
        elif patience is not None and slow >= patience:
            stopped_by = stopped_by or "slow"
        elif stuck >= STUCK:
            stopped_by = "rounding"
        if stopped_by:
            break
        fresh = not large or decrement > SETTLED * size or rate > 0.3
        taken = _checked_step(partial(_evaluated, loss, fresh), vector, now, step)
        if taken is None:
            stopped_by = "rounding"
            break
        length, vector, now, _ = taken
        moved, last = moved + length * decrement, decrement
        slow = slow + 1 if rate > _SLOW and length == 1.0 else 0
        stuck = stuck + 1 if trace[-1] - now.value <= ROUNDING * now.value else 0
        trace.append(now.value)
        stopped_by = "callback" if watch(now) else ""
    step = step if stopped_by == "tol" else np.zeros_like(step)
    # A Hessian of other rows proves nothing about these.
    known = None if hessian is None else factor
    return Minimum(vector + step, now, stopped_by, trace, decrement, step, known, hessian, moved)


def _first_look(
    loss: PenalizedLoss, start: Floats, factor: Factor | None
) -> tuple[Floats, Factor | None, Evaluation]:
    """Where to start: from a subsample's optimum, unless it misled."""
    now = loss.evaluate(start, hessian=factor is None)
    if factor is None or now.value < loss.value_at_start:
        return start, factor, now
    # Rows may come in an order that the subsample does not see.
    vector = loss.start()
    return vector, None, loss.evaluate(vector, hessian=True)


def _is_done(now: Evaluation, decrement: float, rate: float, limit: float, goal: float) -> bool:
    """Whether the next step is the last one; `rate` is that of the decrement in this step."""
    finish = FINISH if now.hessian is not None else min(1.0, FINISH / rate)
    # Within the tolerance, a decrement that falls no further is rounding.
    rounding = rate > 0.3 and decrement <= limit
    return bool(decrement <= max(goal, finish * limit) or rounding)


def _evaluated(loss: PenalizedLoss, hessian: bool, vector: Floats) -> tuple[Evaluation, None]:
    return loss.evaluate(vector, hessian=hessian), None


def _checked_step(
    evaluate: Callable[[Floats], tuple[Evaluation, Local]],
    vector: Floats,
    now: Evaluation,
    step: Floats,
) -> tuple[float, Floats, Evaluation, Local] | None:
    """Length, end and evaluation of the longest of 1, 1/2, 1/4, ... that is good enough."""
    promise = -float(now.gradient @ step)
    slack = ROUNDING * now.value
    length = 1.0
    for _ in range(_HALVINGS):
        candidate = vector + length * step
        if np.array_equal(candidate, vector):
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            evaluation, local = evaluate(candidate)
        gain = now.value - evaluation.value
        if np.isfinite(evaluation.value) and gain >= _ARMIJO * length * promise - slack:
            return length, candidate, evaluation, local
        length *= 0.5
    return None


_INNER = 1000


def newton_conjugate(
    loss: PenalizedLoss, start: Floats, *, tol: float, max_iter: int, watch: Watch = never
) -> Minimum:
    """Minimizes from `start` until Newton's decrement is `tol` times the root of the objective."""
    vector = start
    now, local = loss.local(start)
    weights = _positive(local.diagonal())
    trace, curved = [now.value], now
    first = _norm(now.gradient, weights)
    while True:
        limit = tol * loss.size(now.value)
        minimum = Minimum(vector, now, "", trace, _bound(now, loss.shape))
        if minimum.decrement > limit:
            if _flattened(now, curved):
                weights, curved = _positive(local.diagonal()), now
            share = _norm(now.gradient, weights) / first if first else 0.0
            forcing = min(0.25, float(np.sqrt(share)))
            step, minimum.decrement = _inner(local, now.gradient, weights, forcing)
        if minimum.decrement <= limit:
            minimum.stopped_by = "tol"
        elif len(trace) > max_iter:
            minimum.stopped_by = "max_iter"
        if minimum.stopped_by:
            return minimum
        taken = _checked_step(loss.local, vector, now, step)
        if taken is None:
            minimum.stopped_by = "rounding"
            return minimum
        _, vector, now, local = taken
        trace.append(now.value)
        if watch(now):
            return Minimum(vector, now, "callback", trace, minimum.decrement)


def _inner(
    local: LocalHessian, gradient: Floats, weights: Floats, forcing: float
) -> tuple[Floats, float]:
    """Conjugate gradients on `H step = -g`; the step, and the decrement it shows.

    A step that was cut short shows too small a decrement, and its bound is infinite instead.
    """
    step = np.zeros_like(gradient)
    residual = -gradient
    inner = residual / weights
    direction = inner
    rho = float(residual @ inner)
    goal = forcing**2 * rho
    for _ in range(_INNER):
        if rho <= goal:
            return step, float(np.sqrt(max(0.0, -float(gradient @ step))))
        image = local.product(direction)
        curvature = float(direction @ image)
        if not curvature > 0:
            break
        length = rho / curvature
        step = step + length * direction
        residual = residual - length * image
        inner = residual / weights
        rho, before = float(residual @ inner), rho
        direction = inner + (rho / before) * direction
    return step, np.inf


def _bound(now: Evaluation, shape: Shape) -> float:
    """A bound of the decrement by the penalty; infinite where it does not reach."""
    if shape.penalty == 0:
        return np.inf
    if not shape.fit_intercept:
        return float(np.linalg.norm(now.gradient)) / np.sqrt(shape.penalty)
    by_class = now.gradient.reshape(-1, shape.width)
    least = float(np.linalg.eigvalsh(shape.intercept_hessian(now.mixed))[0])
    if not least > 0:
        return np.inf
    # As if slopes and intercepts were uncoupled, which centered columns nearly are.
    slopes, offsets = (float(np.linalg.norm(g)) for g in (by_class[:, :-1], by_class[:, -1]))
    return float(np.hypot(slopes / np.sqrt(shape.penalty), offsets / np.sqrt(least)))


def _flattened(now: Evaluation, before: Evaluation) -> bool:
    """Whether the loss has lost half of its curvature since the preconditioner was made."""
    return bool(np.trace(now.mixed) < 0.5 * np.trace(before.mixed))


def _positive(diagonal: Floats) -> Floats:
    """Preconditioner: columns without cells and penalty have no curvature, and never move."""
    return np.where(diagonal > 0, diagonal, 1.0)


def _norm(gradient: Floats, weights: Floats) -> float:
    return float(np.sqrt(gradient @ (gradient / weights)))
