"""Credible intervals: where an unknown number lies with a given probability.

    equal-tailed     [q((1 - c)/2), q((1 + c)/2)]             the same risk on both sides
    highest density  the shortest [l, u] with P(l <= x <= u) = c

The shortest interval of a law with one peak has equal densities at both ends, or ends where the
support does. With `t` the probability below it, its length `q(t + c) - q(t)` is minimized over
`0 <= t <= 1 - c`. A law with two peaks at the ends (a beta law with both shapes below one) has no
such interval, and is refused.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from novum.core.errors import InputError


class Interval(NamedTuple):
    """Lower and upper end."""

    low: float
    high: float


def credible_interval(law: Any, level: float = 0.95, kind: str = "equal_tailed") -> Interval:
    """Interval that holds the unknown number with probability `level`.

    Parameters
    ----------
    law : continuous law of one number
        Such as a posterior, or a marginal of one.
    level : float
        Between 0 and 1.
    kind : {"equal_tailed", "highest_density"}

    Examples
    --------
    >>> from novum.distributions.univariate.beta import Beta
    >>> low, high = credible_interval(Beta(1.0, 3.0), 0.5, "highest_density")
    >>> low, round(high, 6)  # the density falls from 0 on: 1 - 0.5^(1/3)
    (0.0, 0.206299)
    """
    if not 0 < level < 1:
        raise InputError(f"The level of an interval is between 0 and 1, got {level!r}.")
    if not hasattr(law, "quantile") or law.discrete:
        raise InputError(
            f"{type(law).__name__} is no continuous law of one number. Take a marginal first, such "
            "as `posterior.marginal(...)`."
        )
    if kind == "equal_tailed":
        rest = (1 - level) / 2
        return Interval(float(law.quantile(rest)), float(law.quantile(1 - rest)))
    if kind == "highest_density":
        return _shortest(law, level)
    raise InputError(f"The kind is 'equal_tailed' or 'highest_density', got {kind!r}.")


def _shortest(law: Any, level: float) -> Interval:
    room = 1 - level

    def ends(below: float) -> Interval:
        return Interval(float(law.quantile(below)), float(law.quantile(min(1.0, below + level))))

    def slope(below: float) -> float:
        """Sign of the derivative of the length: 1/density at the upper end less at the lower."""
        low, high = ends(below)
        left, right = float(law.log_density(low)), float(law.log_density(high))
        return 0.0 if left == right else left - right

    _check_one_peak(law)
    if slope(0.0) >= 0:
        return ends(0.0)
    if slope(room) <= 0:
        return ends(room)
    return ends(_root(slope, 0.0, room))


def _root(slope: Any, low: float, high: float) -> float:
    """Bisection: at the ends densities may be zero or infinite, where secants are of no use."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if slope(middle) < 0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def _check_one_peak(law: Any) -> None:
    left, right = (float(law.log_density(end)) for end in law.support)
    if left == math.inf and right == math.inf:
        raise InputError(
            f"{law!r} has peaks at both ends of its support, so its region of highest density is "
            "no interval. Take the equal-tailed one."
        )
