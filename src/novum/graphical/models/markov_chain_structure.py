"""Which states of a Markov chain lead to which: classes, periods, and long-run shares.

classes      states that lead to each other; a class is closed where no step leaves it, and
             then recurrent, otherwise transient
period       greatest common divisor of the lengths of all ways back
stationary   p = p P with sum 1: one for each closed class, and all mixtures of these
"""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Level
from novum.core.text import label_text, listed
from novum.distributions import EXACT, StateAxis
from novum.graphical.models.conditional import NetworkWarning
from novum.graphical.models.questions import state_of
from novum.numerics import Floats, Mask
from novum.numerics import communicating_classes as communicating_classes
from novum.numerics import is_closed as is_closed
from novum.numerics import stationary_of as stationary_of


def period_of(transition: Floats, states: Sequence[int]) -> int:
    """The period of a class; 0 for a state that is never returned to.

    With depths d from any state, every step i -> j within the class adds d(i) + 1 - d(j) to the
    numbers whose greatest common divisor is the period.

    Examples
    --------
    >>> period_of(np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1])
    2
    """
    inside = _within(transition, states) > 0
    depths = np.full(len(inside), -1)
    depths[0] = 0
    waiting = [0]
    for state in waiting:
        for other in np.flatnonzero(inside[state]).tolist():
            if depths[other] < 0:
                depths[other] = depths[state] + 1
                waiting.append(other)
    sources, ends = np.nonzero(inside)
    return math.gcd(*(int(step) for step in depths[sources] + 1 - depths[ends]))


def reaches(transition: Floats, targets: Sequence[int]) -> Mask:
    """Which states can get to one of the targets, in any number of steps."""
    reached = np.zeros(len(transition), np.bool_)
    reached[list(targets)] = True
    waiting = list(targets)
    while waiting:
        before = np.flatnonzero((transition[:, waiting.pop()] > 0) & ~reached)
        reached[before] = True
        waiting.extend(before.tolist())
    return reached


def hitting_probabilities(transition: Floats, targets: Sequence[int]) -> Floats:
    """The probability of ever reaching the targets, from every state.

    The smallest solution at least 0 of  h = 1 on the targets,  h = P h  elsewhere.
    """
    reaching = reaches(transition, targets)
    chances = np.zeros(len(transition))
    chances[list(targets)] = 1.0
    free = np.flatnonzero(reaching & (chances == 0))
    hits = transition[free] @ chances
    misses = transition[free][:, ~reaching].sum(axis=1)
    chances[free] = _expected(transition[np.ix_(free, free)], hits + misses, hits)
    return np.clip(chances, 0.0, 1.0)


def hitting_times(transition: Floats, targets: Sequence[int]) -> Floats:
    """Expected steps until a target is reached; infinite where it may never be.

    t = 0 on the targets,  t = 1 + P t  elsewhere.
    """
    outside = ~reaches(transition, targets)
    # A state from which the targets can be missed: one that leads to where they cannot be reached.
    without = transition.copy()
    without[list(targets)] = 0.0
    lost = reaches(without, np.flatnonzero(outside).tolist())
    lost[list(targets)] = False
    times = np.zeros(len(transition))
    times[lost] = math.inf
    hit = np.zeros(len(transition), np.bool_)
    hit[list(targets)] = True
    free = np.flatnonzero(~lost & ~hit)
    hits = transition[free][:, hit].sum(axis=1)
    times[free] = _expected(transition[np.ix_(free, free)], hits, np.ones(len(free)))
    return times


def _expected(rates: Floats, leaving: Floats, gains: Floats) -> Floats:
    """Expected gains until a walk leaves, from every state: the solution of x = gains + rates x.

    Rows of `rates` and `leaving` together sum to one. States are eliminated one by one, and a row
    is divided by the sum of its steps to others, in place of 1 less the step to itself: nothing is
    ever subtracted (Grassmann, Taksar and Heyman 1985), so that chains that are hardly ever left
    keep their digits.
    """
    n = len(rates)
    table = np.column_stack([rates, leaving, gains])
    with np.errstate(over="ignore"):
        _divide_by_steps(table, slice(n), n)
        for k in range(n - 1, 0, -1):
            before: Any = np.flatnonzero(table[:k, k])
            # A view where all rows change, which is much faster than their numbers.
            before = slice(k) if len(before) == k else before
            weights = table[before, k, None]
            table[before, :k] += weights * table[k, :k]
            table[before, n:] += weights * table[k, n:]
            _divide_by_steps(table, before, k)
        expected = np.zeros(n)
        for k in range(n):
            # Times may be infinite, and zero times infinity is no number.
            ahead = np.flatnonzero(table[k, :k])
            expected[k] = table[k, ahead] @ expected[ahead] + table[k, n + 1]
    return expected


def _divide_by_steps(table: Floats, rows: Any, k: int) -> None:
    """Divides rows by the sum of their steps to the first k states and out, but to themselves."""
    np.fill_diagonal(table[:k, :k], 0.0)
    steps = table[rows, :k].sum(axis=1) + table[rows, -2]
    if not (steps > 0).all():
        raise InputError(
            "A state is left with a probability below what floating-point numbers hold. Ask about "
            "the chain without its smallest transition probabilities."
        )
    table[rows, :k] /= steps[:, None]
    table[rows, -2:] /= steps[:, None]


def _within(transition: Floats, states: Sequence[int]) -> Floats:
    """Rows and columns of some states; a copy."""
    chosen = np.array(states, np.int64)
    return transition[np.ix_(chosen, chosen)]


# --- Powers ---------------------------------------------------------------------------------------
# Powers of transition matrices, and when they come near their limit.
#
#     P^(2t) = P^t P^t,    every row divided by its sum after each product
#
# All terms are at least 0, so each product keeps the relative accuracy of even tiny entries, and
# rows that are divided by their sums do not drift from 1: the error grows with the number of
# products, not with the number of steps. That reaches as far as floating-point numbers do, which is
# some 10^300 steps.


# Twice as many as double entries from the smallest number to one: beyond, nothing moves any more.
_MOST_SQUARES = 2200
# Powers that tell apart all numbers of steps that a float does.
_KEPT = 64


def power(transition: Floats, steps: int) -> Floats:
    """The transition matrix of several steps at once.

    Examples
    --------
    >>> power(np.array([[0.9, 0.1], [0.5, 0.5]]), 10**30).round(4).tolist()
    [[0.8333, 0.1667], [0.8333, 0.1667]]
    """
    matrix = np.eye(len(transition))
    square = transition
    left = int(steps)
    while left:
        if left & 1:
            matrix = _product(matrix, square)
        left >>= 1
        if left:
            square = _product(square, square)
    return matrix


def distance(several: Floats, limit: Floats) -> float:
    """Largest total variation of a row to the limit."""
    return float(0.5 * np.abs(several - limit).sum(axis=1).max())


def mixing_time(transition: Floats, limit: Floats, tolerance: float) -> float:
    """Steps until every row is within a distance of the limit; exact up to 2^53.

    Examples
    --------
    >>> slow = np.array([[1 - 1e-200, 1e-200], [1e-200, 1 - 1e-200]])
    >>> float(f"{mixing_time(slow, np.array([0.5, 0.5]), 0.25):.4g}")
    3.466e+199
    """
    reached = np.eye(len(transition))
    if distance(reached, limit) <= tolerance:
        return 0
    # The distance never grows, so powers of two bracket the time, and halving finds it.
    powers = deque([transition], _KEPT)
    squares = 0
    while (off := distance(powers[-1], limit)) > tolerance:
        powers.append(_product(powers[-1], powers[-1]))
        squares += 1
        if squares == _MOST_SQUARES or np.array_equal(powers[-1], powers[-2]):
            raise InputError(
                f"The distance to the stationary distribution stays at {off:.3g} as far as "
                f"floating-point numbers reach, above tolerance = {tolerance:g}. Raise tolerance, "
                "or look at the chain without its smallest transition probabilities."
            )
    lowest = squares + 1 - len(powers)
    steps = 0
    for exponent in range(squares, lowest - 1, -1):
        further = _product(reached, powers[exponent - lowest])
        if distance(further, limit) > tolerance:
            reached, steps = further, steps + 2**exponent
    steps += 2**lowest
    # A whole number again where it exceeds what a float can be.
    exact = steps <= 2**53 or steps.bit_length() > 1023
    return steps if exact else float(steps)


def _product(one: Floats, other: Floats) -> Floats:
    matrix = one @ other
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))


# --- Rows -----------------------------------------------------------------------------------------
# Reading the transition matrix of a Markov chain: rows of probabilities by named states.


# Rows off by more than the first are refused, by more than the second renormalized with a warning.
WRONG, ROUNDED = 1e-3, 1e-6


def from_mapping(
    rows: Mapping[Level, Mapping[Level, float]], states: Sequence[Level] | None
) -> tuple[Sequence[Level], Floats]:
    """States and matrix of rows given by name; what a row leaves out has probability zero."""
    names = list(rows) if states is None else list(states)
    axis = StateAxis("state", tuple(names))
    table = np.zeros((len(names), len(names)))
    for state, row in rows.items():
        for following, value in row.items():
            table[state_of(axis, state), state_of(axis, following)] = value
    return names, table


def checked_rows(table: Floats, axis: StateAxis) -> Floats:
    """Rows that sum to one, read-only; wrong ones are refused by the name of their state."""
    for state, row in zip(axis.states, table, strict=True):
        total = float(row.sum())
        if not (np.isfinite(row).all() and (row >= 0).all() and abs(total - 1) <= WRONG):
            raise InputError(
                f"The row of state {label_text(state)} must have probabilities from 0 to 1 that "
                f"sum to 1, got {listed(row.tolist())} with sum {total:g}."
            )
        if abs(total - 1) > ROUNDED:
            warnings.warn(
                f"The row of state {label_text(state)} sums to {total:.7g} and was divided by it.",
                NetworkWarning,
                stacklevel=4,
            )
    sums = table.sum(axis=1, keepdims=True)
    # Rows that sum to one up to rounding keep their bits, so that a chain is its own copy.
    checked = table / np.where(np.abs(sums - 1) > EXACT, sums, 1.0)
    checked.flags.writeable = False
    return checked
