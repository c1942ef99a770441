"""Newton's method with steps by conjugate gradients: for tables too wide for a Hessian.

    H step = -g  solved until  |H step + g| <= forcing |g|,     both in the norm of the diagonal

(Dembo, Eisenstat and Steihaug 1982). Products with the Hessian are two products with the rows, so
nothing larger than a vector is kept, and sparse rows stay sparse. The forcing falls with the
gradient: early steps are cheap, and the last ones converge faster than linearly.
"""

from __future__ import annotations

import numpy as np

from novum.linear.logistic_loss import Floats
from novum.linear.logistic_newton import Minimum, Watch, never
from novum.linear.logistic_objective import Evaluation, LocalHessian, PenalizedLoss, Shape

_INNER = 1000
_ARMIJO = 1e-4
_HALVINGS = 30


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
        found = Minimum(vector, now, "", trace, _bound(now, loss.shape))
        if found.decrement > limit:
            if _flattened(now, curved):
                weights, curved = _positive(local.diagonal()), now
            share = _norm(now.gradient, weights) / first if first else 0.0
            forcing = min(0.25, float(np.sqrt(share)))
            step, found.decrement = _inner(local, now.gradient, weights, forcing)
        if found.decrement <= limit:
            found.stopped_by = "tol"
        elif len(trace) > max_iter:
            found.stopped_by = "max_iter"
        if found.stopped_by:
            return found
        taken = _checked(loss, vector, now, step)
        if taken is None:
            found.stopped_by = "rounding"
            return found
        vector, now, local = taken
        trace.append(now.value)
        if watch(now):
            return Minimum(vector, now, "callback", trace, found.decrement)


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


def _checked(
    loss: PenalizedLoss, vector: Floats, now: Evaluation, step: Floats
) -> tuple[Floats, Evaluation, LocalHessian] | None:
    """The end of the longest of 1, 1/2, 1/4, ... of the step that is good enough."""
    promise = -float(now.gradient @ step)
    slack = 1e-13 * abs(now.value)
    length = 1.0
    for _ in range(_HALVINGS):
        candidate = vector + length * step
        if np.array_equal(candidate, vector):
            return None
        found, local = loss.local(candidate)
        if np.isfinite(found.value) and now.value - found.value >= (
            _ARMIJO * length * promise - slack
        ):
            return candidate, found, local
        length *= 0.5
    return None


def _positive(diagonal: Floats) -> Floats:
    """Preconditioner: columns without cells and penalty have no curvature, and never move."""
    return np.where(diagonal > 0, diagonal, 1.0)


def _norm(gradient: Floats, weights: Floats) -> float:
    return float(np.sqrt(gradient @ (gradient / weights)))
