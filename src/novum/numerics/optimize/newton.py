"""Newton's method, damped and safe outside the convex region.

    H(w) d = -g(w),        w  <-  w + a d,        a from {1, 1/2, 1/4, ...} by Armijo's condition

Near a minimum with positive definite Hessian the full step is accepted and the number of correct
digits doubles in every step. Where H is not positive definite the Newton direction need not
descend; then the step follows the negative gradient instead, so that the value decreases in every
step wherever the method starts. Half the squared Newton decrement, -<g, d> / 2, is the decrease
that the quadratic model still promises.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from novum.numerics.optimize.gradient_descent import evaluated_start
from novum.numerics.optimize.line_search import ValueAndGradient, backtracking
from novum.numerics.optimize.outcome import Outcome
from novum.numerics.types import Floats


def newton(
    function: ValueAndGradient,
    hessian: Callable[[Floats], Floats],
    start: ArrayLike,
    *,
    strong_convexity: float | None = None,
    tol: float = 1e-8,
    gradient_scale: float | None = None,
    max_iter: int = 100,
    max_seconds: float | None = None,
    callback: Callable[[int, float], bool | None] | None = None,
) -> Outcome:
    """Minimize a twice differentiable function by damped Newton steps.

    Parameters
    ----------
    function : callable
        Point to pair of value and gradient.
    hessian : callable
        Point to the matrix of second derivatives, shape (n_params, n_params).
    start : array of shape (n_params,)
    strong_convexity, tol, gradient_scale, max_iter, max_seconds, callback
        As in `gradient_descent`.

    Returns
    -------
    Outcome
        Its details count `gradient_steps`, taken where the Hessian was not positive definite, and
        `halvings` of the step.

    Examples
    --------
    >>> bowl = lambda w: (float((w - 3.0) @ (w - 3.0)) / 2, w - 3.0)
    >>> newton(bowl, lambda w: np.array([[1.0]]), [0.0]).params.tolist()
    [3.0]
    """
    params, value, gradient = evaluated_start(function, start)
    scale = float(np.linalg.norm(gradient)) if gradient_scale is None else gradient_scale
    deadline = np.inf if max_seconds is None else time.perf_counter() + max_seconds
    trace, gradient_steps, halvings, stopped_by = [value], 0, 0, ""
    while not stopped_by:
        if np.linalg.norm(gradient) <= tol * scale:
            stopped_by = "tol"
        elif len(trace) > max_iter:
            stopped_by = "max_iter"
        elif time.perf_counter() >= deadline:
            stopped_by = "max_seconds"
        else:
            direction, is_newton = _direction(hessian(params), gradient)
            step = backtracking(function, params, value, gradient, direction)
            if step is None:
                stopped_by = "rounding"
                break
            params, value, gradient = step.params, step.value, step.gradient
            trace.append(value)
            gradient_steps += not is_newton
            halvings += step.trials - 1
            if callback is not None and callback(len(trace) - 1, value):
                stopped_by = "callback"
    return Outcome(
        params,
        value,
        float(np.linalg.norm(gradient)),
        len(trace) - 1,
        stopped_by,
        tuple(trace),
        tol,
        strong_convexity,
        (("gradient_steps", gradient_steps), ("halvings", halvings)),
    )


def _direction(hessian: Floats, gradient: Floats) -> tuple[Floats, bool]:
    """Newton's direction and True, or the negative gradient and False where it need not descend."""
    if np.isfinite(hessian).all():
        try:
            direction = -linalg.cho_solve(linalg.cho_factor(hessian), gradient)
        except linalg.LinAlgError:
            return -gradient, False
        # A nearly singular factor can pass and still give a useless direction.
        if np.isfinite(direction).all() and float(direction @ gradient) < 0:
            return direction, True
    return -gradient, False
