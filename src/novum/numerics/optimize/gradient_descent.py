"""Gradient descent with a checked step.

    w  <-  w - a g(w),        g the gradient of f

With a known Lipschitz constant L of g the step a = 1/L decreases f by at least |g|^2 / (2 L); with
strong convexity mu as well, a = 2 / (L + mu) shrinks the distance to the optimum in every step by

    (kappa - 1) / (kappa + 1),        kappa = L / mu

(Nesterov 2018, theorem 2.1.15). The promised decrease is checked in every step, so a constant that
is too small is an error and not a wrong answer. Without L the step is found by backtracking,
starting from twice the last accepted length, and Armijo's condition is the check.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from novum.numerics.optimize.line_search import ROUNDING, Step, ValueAndGradient, backtracking
from novum.numerics.optimize.outcome import Outcome
from novum.numerics.types import Floats


def gradient_descent(
    function: ValueAndGradient,
    start: ArrayLike,
    *,
    lipschitz: float | None = None,
    strong_convexity: float | None = None,
    tol: float = 1e-8,
    gradient_scale: float | None = None,
    max_iter: int = 1000,
    max_seconds: float | None = None,
    callback: Callable[[int, float], bool | None] | None = None,
) -> Outcome:
    """Minimize a smooth function by gradient steps whose decrease is checked.

    Parameters
    ----------
    function : callable
        Point to pair of value and gradient.
    start : array of shape (n_params,)
    lipschitz : float, optional
        Lipschitz constant L of the gradient; fixes the step length. Backtracking if absent.
    strong_convexity : float, optional
        Modulus mu of strong convexity; gives bounds of value and distance.
    tol : float
        Stop when the gradient norm is at most `tol` times `gradient_scale`.
    gradient_scale : float, optional
        Size of a gradient far from the optimum; its norm at the start if absent.
    max_iter, max_seconds
        Limits of steps and of time.
    callback : callable, optional
        Called with the step's number and value; stops the descent by returning True.

    Returns
    -------
    Outcome

    Raises
    ------
    ValueError
        For a start without finite value and gradient, impossible constants, or a step that does not
        decrease the function as `lipschitz` promises.

    Notes
    -----
    Needs about `kappa / 2 * log(1 / tol)` steps on a strongly convex function.

    Examples
    --------
    >>> bowl = lambda w: (float((w - 3.0) @ (w - 3.0)), 2.0 * (w - 3.0))
    >>> outcome = gradient_descent(bowl, [0.0], lipschitz=2.0, strong_convexity=2.0)
    >>> outcome.params.tolist(), outcome.iterations, outcome.distance_bound
    ([3.0], 1, 0.0)
    """
    _check_constants(lipschitz, strong_convexity)
    params, value, gradient = evaluated_start(function, start)
    scale = float(np.linalg.norm(gradient)) if gradient_scale is None else gradient_scale
    deadline = np.inf if max_seconds is None else time.perf_counter() + max_seconds
    trace, length, stopped_by = [value], 1.0, "max_iter"
    if np.linalg.norm(gradient) <= tol * scale:
        stopped_by, max_iter = "tol", 0
    for iteration in range(1, max_iter + 1):
        if lipschitz is None:
            # Twice the last length lets the step grow again after a narrow stretch.
            step = backtracking(
                function, params, value, gradient, -gradient, length=2 * length, share=0.5
            )
        else:
            step = _promised_step(function, params, value, gradient, lipschitz, strong_convexity)
        if step is None:
            stopped_by = "rounding"
            break
        params, value, gradient, length = step.params, step.value, step.gradient, step.length
        trace.append(value)
        reason = _reason_to_stop(gradient, tol * scale, deadline, callback, iteration, value)
        if reason:
            stopped_by = reason
            break
    return Outcome(
        params,
        value,
        float(np.linalg.norm(gradient)),
        len(trace) - 1,
        stopped_by,
        tuple(trace),
        tol,
        strong_convexity,
    )


def evaluated_start(function: ValueAndGradient, start: ArrayLike) -> tuple[Floats, float, Floats]:
    """The start as a float vector with its value and gradient, all finite."""
    params = np.array(start, dtype=np.float64)
    if params.ndim != 1:
        raise ValueError(f"The start must be a vector, got an array of shape {params.shape}.")
    value, gradient = function(params)
    if not (np.isfinite(params).all() and np.isfinite(value) and np.isfinite(gradient).all()):
        raise ValueError(
            f"The function has no finite value and gradient at the start (value {value}). "
            "Choose a start inside its domain, or scale the data."
        )
    return params, float(value), np.asarray(gradient, dtype=np.float64)


# --- Steps ----------------------------------------------------------------------------------------


def _promised_step(
    function: ValueAndGradient,
    params: Floats,
    value: float,
    gradient: Floats,
    lipschitz: float,
    strong_convexity: float | None,
) -> Step | None:
    """The step of fixed length, or `None` when it no longer moves the point."""
    length = 1 / lipschitz if strong_convexity is None else 2 / (lipschitz + strong_convexity)
    candidate = params - length * gradient
    if np.array_equal(candidate, params):
        return None
    new_value, new_gradient = function(candidate)
    # f(w - a g) <= f(w) - a (1 - L a / 2) |g|^2 for every a, by the descent lemma.
    promised = length * (1 - lipschitz * length / 2) * float(gradient @ gradient)
    slack = ROUNDING * max(abs(value), abs(new_value))
    if not new_value <= value - promised + slack:
        raise ValueError(
            f"A step of length {length:.6g} took the value from {value:.17g} to {new_value:.17g} "
            f"and should have decreased it by {promised:.6g}: the Lipschitz constant "
            f"{lipschitz:.6g} is too small. Give a larger one, or none, and the step is searched."
        )
    # Below rounding the values say nothing, but the gradient still tells closer from not closer.
    if promised <= slack and _norm(new_gradient) >= _norm(gradient):
        return None
    return Step(length, candidate, float(new_value), new_gradient, 1)


def _norm(vector: Floats) -> float:
    return float(np.linalg.norm(vector))


def _reason_to_stop(
    gradient: Floats,
    threshold: float,
    deadline: float,
    callback: Callable[[int, float], bool | None] | None,
    iteration: int,
    value: float,
) -> str:
    wish = callback is not None and bool(callback(iteration, value))
    if _norm(gradient) <= threshold:
        return "tol"
    if wish:
        return "callback"
    return "max_seconds" if time.perf_counter() >= deadline else ""


def _check_constants(lipschitz: float | None, strong_convexity: float | None) -> None:
    for name, constant in (("lipschitz", lipschitz), ("strong_convexity", strong_convexity)):
        if constant is not None and not (np.isfinite(constant) and constant > 0):
            raise ValueError(f"{name} must be a finite number above 0, got {constant!r}.")
    if lipschitz is not None and strong_convexity is not None and strong_convexity > lipschitz:
        raise ValueError(
            f"strong_convexity {strong_convexity} exceeds lipschitz {lipschitz}; no function has "
            "more curvature at least than at most. Swap or recompute them."
        )
