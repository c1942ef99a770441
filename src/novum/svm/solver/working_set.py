"""Which variables a round works on: those that violate optimality most, and some of the last round.

In a group whose multiplier must lie between `M = max g over what can fall` and `m = min g over what
can rise`, every variable that can rise with `g < M`, or can fall with `g > m`, is part of a
violating pair. Half of the working set are the worst of these, as many that rise as that fall. The
other half stays from the round before, unbound variables first: they are the ones whose
coefficients the new ones disturb (Joachims 1999; Zanni, Serafini and Zanghirati 2006).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novum.svm.solver.optimality import Terms

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]


class Extremes(NamedTuple):
    """For each group the least gradient of what can rise, the largest of what can fall."""

    least: Floats
    largest: Floats

    @property
    def violations(self) -> Floats:
        return self.largest - self.least

    @property
    def violation(self) -> float:
        return float(np.max(self.violations, initial=-np.inf))


def extremes(terms: Terms, b: Floats, g: Floats) -> Extremes:
    """Where the multipliers would have to lie; without groups they are zero."""
    rises, falls = b < terms.upper, b > terms.lower
    walls = (np.inf, -np.inf) if terms.is_grouped else (0.0, 0.0)
    parts = terms.segments
    least = np.array([g[part].min(where=rises[part], initial=walls[0]) for part in parts])
    largest = np.array([g[part].max(where=falls[part], initial=walls[1]) for part in parts])
    return Extremes(least, largest)


def select(
    terms: Terms, b: Floats, g: Floats, ends: Extremes, size: int, last: Positions
) -> Positions:
    """Up to `size` variables, in ascending order.

    Parameters
    ----------
    terms : Terms
    b, g : arrays of shape (n_variables,)
        Coefficients and gradient.
    ends : Extremes
    size : int
    last : int array
        The working set of the round before, or empty.
    """
    if size >= len(b):
        return np.arange(len(b))
    chosen = np.zeros(len(b), bool)
    violating = np.flatnonzero(ends.violations > 0)
    share = max(1, size // (4 * max(1, violating.size)))
    for group in violating:
        part = terms.segments[group]
        inside = np.arange(part.start, part.stop)
        value = g[part]
        rises = (b[part] < terms.upper[part]) & (value < ends.largest[group])
        falls = (b[part] > terms.lower[part]) & (value > ends.least[group])
        chosen[_least(inside[rises], value[rises], share)] = True
        chosen[_least(inside[falls], -value[falls], share)] = True
    room = size - int(chosen.sum())
    kept = last[~chosen[last]]
    unbound = (b[kept] > terms.lower[kept]) & (b[kept] < terms.upper[kept])
    order = np.argsort(~unbound, kind="stable")
    chosen[kept[order[:room]]] = True
    return np.flatnonzero(chosen)


def _least(members: Positions, values: Floats, count: int) -> Positions:
    """The `count` members of least value; of equal ones, any, but always the same."""
    if members.size <= count:
        return members
    return members[np.argpartition(values, count - 1)[:count]]
