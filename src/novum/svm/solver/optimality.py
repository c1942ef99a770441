"""How far a feasible point can be from the optimum: the duality gap and its best multipliers.

For any expansion `w = s sum_j b_j phi(x_j)` and any multiplier `r` of a group, the minimum of the
program in `problem` is at least

    D(s, r) = -s^2 b'Kb / 2 + sum over groups of r total
              + sum_i min over c in [lower_i, upper_i] of (s F_i + p_i - r) c,      F = Kb,

because `c'Kc / 2 >= <w, sum c_i phi(x_i)> - |w|^2 / 2`. The gap is the objective at `b` minus D. At
`s = 1` it is, term by term,

    sum_i  (g_i - r)^+ (b_i - lower_i) + (r - g_i)^+ (upper_i - b_i),      g = F + p,

convex and piecewise linear in `r` with kinks at the `g_i`. Passing `g_i` raises the slope by
`upper_i - lower_i`, from `-sum (b - lower)` on the far left: the best `r` is a weighted median,
found by one sort.

Bounds may be infinite, as for hard margins. Then D is `-inf` unless every variable without an
upper bound has `g_i >= r` and every one without a lower bound `g_i <= r`: the primal point breaks
the margin. It is stretched, `s > 1`, by as little as makes it keep all margins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from novum.numerics import Floats, Mask, Positions

# Stretching solves for the zero of a concave, piecewise linear function by Newton's method, which
# ends after finitely many pieces; rounding might hold it up.
_STRETCHES = 50
# A distance from a bound, as a share of the way to the other, that is no distance.
_ROUNDING = 1e-12


class Terms(NamedTuple):
    """A program whose variables are sorted by their group, and all of them can move.

    Attributes
    ----------
    linear, lower, upper : float arrays of shape (n_variables,)
    starts : int array of shape (n_groups + 1,)
        Group `g` holds the variables from `starts[g]` to `starts[g + 1]`.
    totals : float array of shape (n_groups,)
    is_grouped : bool
        Without groups all variables are listed as one, whose multiplier is zero.
    """

    linear: Floats
    lower: Floats
    upper: Floats
    starts: Positions
    totals: Floats
    is_grouped: bool

    @property
    def segments(self) -> list[slice]:
        return [slice(a, b) for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]


# --- Karush-Kuhn-Tucker conditions ----------------------------------------------------------------


def room_to_move(b: Floats, lower: Floats, upper: Floats) -> tuple[Mask, Mask]:
    """Which variables can rise, and which can fall, by more than rounding.

    Where all of a group are at bounds, their sum is kept to rounding only, and the one that takes
    the rest must not pass for unbound: it would be the whole mean of `middle_multipliers`.

    Examples
    --------
    >>> rises, falls = room_to_move(np.array([0.0, 0.5, 1 - 1e-15]), np.zeros(3), np.ones(3))
    >>> rises.tolist(), falls.tolist()
    ([True, True, False], [False, True, True])
    """
    least = _ROUNDING * (upper - lower)
    least[np.isinf(least)] = 0.0
    return b < upper - least, b > lower + least


def middle_multipliers(terms: Terms, b: Floats, g: Floats) -> Floats:
    """Mean of the gradient over unbound variables, else the middle of the admissible interval."""
    multipliers = np.zeros(len(terms.totals))
    if not terms.is_grouped:
        return multipliers
    for group, part in enumerate(terms.segments):
        rises, falls = room_to_move(b[part], terms.lower[part], terms.upper[part])
        unbound = rises & falls
        if unbound.any():
            multipliers[group] = g[part][unbound].mean()
            continue
        least = g[part].max(where=falls, initial=-np.inf)
        largest = g[part].min(where=rises, initial=np.inf)
        finite = [end for end in (least, largest) if np.isfinite(end)]
        multipliers[group] = sum(finite) / len(finite) if finite else 0.0
    return multipliers


def largest_violation(terms: Terms, b: Floats, g: Floats, multipliers: Floats) -> float:
    """Of `g >= r` below the upper bound and `g <= r` above the lower one."""
    worst = 0.0
    for r, part in zip(multipliers, terms.segments, strict=True):
        excess = g[part] - r
        rises, falls = room_to_move(b[part], terms.lower[part], terms.upper[part])
        worst = max(
            worst, -excess.min(where=rises, initial=0.0), excess.max(where=falls, initial=0.0)
        )
    return float(worst)


def decision_scale(linear: Floats, multipliers: Floats) -> float:
    """The size of decision values, the unit in which violations are judged.

    The spread of the linear terms (1 between two classes of labels -1 and 1, the standard deviation
    of targets in regression). Where they are all the same, decisions are distances from multipliers
    or between them.

    Examples
    --------
    >>> decision_scale(np.array([-1.0, 1.0]), np.array([0.3]))
    1.0
    >>> decision_scale(np.zeros(4), np.array([5.0, 4.0])), decision_scale(np.zeros(4), np.ones(1))
    (0.5, 1.0)
    """
    if linear.size and linear.max() > linear.min():
        return float(linear.std())
    if multipliers.size > 1:
        return float(np.ptp(multipliers)) / 2
    return float(np.abs(multipliers - linear[:1]).max(initial=0.0))


# --- The gap --------------------------------------------------------------------------------------


def gap_at(terms: Terms, b: Floats, g: Floats, multipliers: Floats) -> float:
    """The gap without stretching, at any multipliers; infinite where a margin is broken."""
    total = 0.0
    for r, part in zip(multipliers, terms.segments, strict=True):
        excess = g[part] - r
        # A product of zero and an infinite room is no room at all.
        room = np.where(excess > 0, b[part] - terms.lower[part], terms.upper[part] - b[part])
        room[excess == 0] = 0.0
        total += float(np.abs(excess) @ room)
    return total


def best_multipliers(terms: Terms, b: Floats, g: Floats) -> Floats:
    """Where the unstretched gap is least: a weighted median of the gradient in each group."""
    multipliers = np.zeros(len(terms.totals))
    if not terms.is_grouped:
        return multipliers
    for group, part in enumerate(terms.segments):
        values, lower, upper = g[part], terms.lower[part], terms.upper[part]
        least, largest = _admissible(values, lower, upper)
        finite = np.isfinite(lower) & np.isfinite(upper)
        order = np.argsort(values[finite], kind="stable")
        kinks = values[finite][order]
        slope = np.cumsum((upper[finite] - lower[finite])[order])
        below = np.where(np.isfinite(lower), b[part] - lower, 0.0)
        above = np.where(np.isfinite(upper), upper - b[part], 0.0)
        # Between the walls, variables with one bound add a constant slope on their finite side.
        start = below[finite].sum() + below[~finite].sum() - above[~finite].sum()
        place = int(np.searchsorted(slope, start))
        if kinks.size == 0:
            multipliers[group] = largest if start > 0 else least
        else:
            multipliers[group] = kinks[min(place, kinks.size - 1)] if start > 0 else -np.inf
        multipliers[group] = min(max(multipliers[group], least), largest)
        if not np.isfinite(multipliers[group]):
            ends = [end for end in (least, largest, *kinks[:1]) if np.isfinite(end)]
            multipliers[group] = ends[0] if ends else 0.0
    return multipliers


def duality_gap(terms: Terms, b: Floats, F: Floats, square: float) -> float:
    """The least gap over the multipliers, stretched where infinite bounds need it.

    Parameters
    ----------
    terms : Terms
    b : array of shape (n_variables,)
        Feasible.
    F : array of shape (n_variables,)
        `Kb`, for each variable.
    square : float
        `b'Kb`.

    Examples
    --------
    Two points with labels 1 and -1 at distance 2 on a line, both at coefficient 1/4 of 1/2:

    >>> terms = Terms(np.array([-1.0, 1.0]), np.array([0.0, -9.0]), np.array([9.0, 0.0]),
    ...               np.array([0, 2]), np.zeros(1), True)
    >>> b = np.array([0.25, -0.25])
    >>> round(duality_gap(terms, b, np.array([0.5, -0.5]), 0.25), 6)
    8.75
    >>> hard = terms._replace(lower=np.array([0.0, -np.inf]), upper=np.array([np.inf, 0.0]))
    >>> round(duality_gap(hard, b, np.array([0.5, -0.5]), 0.25), 6)  # 1/2 less 3/8
    0.125
    """
    s = _stretch(terms, F)
    if not np.isfinite(s):
        return float(np.inf)
    g = s * F + terms.linear
    r = best_multipliers(terms, b, g)
    # V - D with the terms of b taken together: they cancel where b is at its better bound.
    return gap_at(terms, b, g, r) + (s - 1) ** 2 / 2 * square


def delivered(
    terms: Terms, b: Floats, g: Floats, is_enough: Callable[[float], bool]
) -> tuple[Floats, float]:
    """The multipliers that a model uses, and the gap at these very multipliers.

    The middle ones if their gap is enough; otherwise those that make the gap least. Where margins
    are hard the gap of the middle ones is infinite unless the point is stretched; they stay.
    """
    middle = middle_multipliers(terms, b, g)
    gap = gap_at(terms, b, g, middle)
    if is_enough(gap) or not np.isfinite(gap):
        return middle, gap
    best = best_multipliers(terms, b, g)
    return best, gap_at(terms, b, g, best)


def _admissible(values: Floats, lower: Floats, upper: Floats) -> tuple[float, float]:
    """The interval of multipliers at which no infinite bound is attractive."""
    least = values.max(where=np.isinf(lower), initial=-np.inf)
    largest = values.min(where=np.isinf(upper), initial=np.inf)
    return float(least), float(largest)


def _stretch(terms: Terms, F: Floats) -> float:
    """The least `s >= 1` at which every group has an admissible multiplier, or infinity."""
    if np.isfinite(terms.lower).all() and np.isfinite(terms.upper).all():
        return 1.0
    s = 1.0
    for _ in range(_STRETCHES):
        opening, slope = _opening(terms, F, s)
        if opening >= 0:
            return s
        if slope <= 0:
            break
        s = s - opening / slope
        # Rounding must not leave the point outside by an ulp.
        s += 1e-15 * abs(s)
    return float(np.inf)


def _opening(terms: Terms, F: Floats, s: float) -> tuple[float, float]:
    """The narrowest admissible interval of a group, its length and how it grows with `s`."""
    narrowest = (np.inf, 1.0)
    g = s * F + terms.linear
    for part in terms.segments:
        no_floor, no_ceiling = np.isinf(terms.lower[part]), np.isinf(terms.upper[part])
        low, high = (-np.inf, 0.0), (np.inf, 0.0)
        if not terms.is_grouped:
            low = high = (0.0, 0.0)
        if no_floor.any():
            k = int(np.argmax(np.where(no_floor, g[part], -np.inf)))
            low = max(low, (float(g[part][k]), float(F[part][k])))
        if no_ceiling.any():
            k = int(np.argmin(np.where(no_ceiling, g[part], np.inf)))
            high = min(high, (float(g[part][k]), float(F[part][k])))
        if high[0] - low[0] < narrowest[0]:
            narrowest = (high[0] - low[0], high[1] - low[1])
    return narrowest
