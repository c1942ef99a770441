"""Line search: how far to go along a direction that is known to descend.

For a point w, a direction d and the slope  p = <gradient, d> < 0  a step length a is accepted when
it keeps a fixed share of the decrease that the slope promises (Armijo's condition),

    f(w + a d) <= f(w) + share a p.

Backtracking tries a, a/2, a/4, ... Non-finite values count as too far: a step out of the domain of
f is halved like any other. Near an optimum the promised decrease drowns in the rounding of f, which
would end the search at half the digits of w. There the gradient decides, which still has digits:
its norm must fall and the slope at the new point must meet Armijo's condition for a parabola,

    <gradient(w + a d), d> <= (2 share - 1) p

(Hager and Zhang, SIAM Journal on Optimization 16 (2005), eq. 4.1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from novum.numerics.types import Floats

ValueAndGradient = Callable[[Floats], tuple[float, Floats]]


# Values that differ by less than this share of their size are equal up to the rounding of f.
ROUNDING = 64 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Step:
    """An accepted step: its length, where it leads, and how many lengths were tried."""

    length: float
    params: Floats
    value: float
    gradient: Floats
    trials: int


def backtracking(
    function: ValueAndGradient,
    params: Floats,
    value: float,
    gradient: Floats,
    direction: Floats,
    *,
    length: float = 1.0,
    share: float = 1e-4,
    max_trials: int = 60,
) -> Step | None:
    """First length of `length`, `length / 2`, ... that meets Armijo's condition.

    Parameters
    ----------
    function : callable
        Point to pair of value and gradient.
    params, value, gradient
        The present point with its value and gradient.
    direction : array
        Where to go; must descend, that is have a negative product with the gradient.
    length : float
        First length tried.
    share : float in (0, 1)
        Share of the promised decrease that must be kept.
    max_trials : int
        Lengths tried before giving up; 60 halvings exhaust the digits of float64.

    Returns
    -------
    Step or None
        `None` when no tried length is accepted, which near an optimum means that neither value nor
        gradient have digits left to judge by.

    Raises
    ------
    ValueError
        If the direction does not descend.

    Examples
    --------
    >>> square = lambda w: (float(w @ w), 2 * w)
    >>> step = backtracking(square, np.array([1.0]), 1.0, np.array([2.0]), np.array([-2.0]))
    >>> step.length, step.params.tolist(), step.trials
    (0.5, [0.0], 2)
    """
    slope = float(gradient @ direction)
    if not slope < 0:
        raise ValueError(
            f"The direction does not descend: its product with the gradient is {slope}. "
            "Check the sign of the direction and the gradient."
        )
    for trial in range(1, max_trials + 1):
        candidate = params + length * direction
        if np.array_equal(candidate, params):
            return None
        # A trial step may leave the domain; what it gives there is checked, not warned about.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            new_value, new_gradient = function(candidate)
        step = Step(length, candidate, float(new_value), new_gradient, trial)
        if _is_sufficient(step, value, gradient, direction, share):
            return step
        length *= 0.5
    return None


def _is_sufficient(
    step: Step, value: float, gradient: Floats, direction: Floats, share: float
) -> bool:
    if not (np.isfinite(step.value) and np.isfinite(step.gradient).all()):
        return False
    slope = float(gradient @ direction)
    promised = -share * step.length * slope
    slack = ROUNDING * max(abs(value), abs(step.value))
    if promised > slack:
        return bool(step.value <= value - promised)
    falls = float(step.gradient @ step.gradient) < float(gradient @ gradient)
    flattens = float(step.gradient @ direction) <= (2 * share - 1) * slope
    return bool(step.value <= value + slack) and falls and flattens
