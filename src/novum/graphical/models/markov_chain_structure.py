"""Which states of a Markov chain lead to which: classes, periods, and long-run shares.

    classes      states that lead to each other; a class is closed where no step leaves it, and
                 then recurrent, otherwise transient
    period       greatest common divisor of the lengths of all ways back
    stationary   p = p P with sum 1: one for each closed class, and all mixtures of these

The stationary distribution of a class comes from eliminating its states one by one without any
subtraction (Grassmann, Taksar and Heyman 1985), so that even tiny entries are right to nearly all
digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def communicating_classes(transition: Floats) -> list[list[int]]:
    """States that lead to each other, each class and all classes in the order of first states.

    Examples
    --------
    >>> communicating_classes(np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0.1, 0, 0.9]]))
    [[0, 1], [2]]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n, labels = connected_components(csr_array(transition > 0), connection="strong")
    found: dict[int, list[int]] = {}
    for state, label in enumerate(labels.tolist()):
        found.setdefault(label, []).append(state)
    assert len(found) == n
    return sorted(found.values())


def is_closed(transition: Floats, states: Sequence[int]) -> bool:
    """Whether no step leaves a set of states."""
    outside = np.ones(len(transition), np.bool_)
    outside[list(states)] = False
    return not bool((transition[list(states)][:, outside] > 0).any())


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


def stationary_of(transition: Floats, states: Sequence[int]) -> Floats:
    """The stationary distribution of a closed class, over all states of the chain.

    Examples
    --------
    >>> stationary_of(np.array([[0.9, 0.1], [0.5, 0.5]]), [0, 1]).round(4).tolist()
    [0.8333, 0.1667]
    """
    rates = _within(transition, states)
    n = len(rates)
    for k in range(n - 1, 0, -1):
        out = rates[k, :k].sum()
        rates[:k, k] /= out
        rates[:k, :k] += np.outer(rates[:k, k], rates[k, :k])
    shares = np.zeros(n)
    shares[0] = 1.0
    for k in range(1, n):
        shares[k] = shares[:k] @ rates[:k, k]
    whole = np.zeros(len(transition))
    whole[list(states)] = shares / shares.sum()
    return whole


def reaches(transition: Floats, targets: Sequence[int]) -> Mask:
    """Which states can get to one of the targets, in any number of steps."""
    found = np.zeros(len(transition), np.bool_)
    found[list(targets)] = True
    waiting = list(targets)
    while waiting:
        before = np.flatnonzero((transition[:, waiting.pop()] > 0) & ~found)
        found[before] = True
        waiting.extend(before.tolist())
    return found


def hitting_probabilities(transition: Floats, targets: Sequence[int]) -> Floats:
    """The probability of ever reaching the targets, from every state.

    The smallest solution at least 0 of  h = 1 on the targets,  h = P h  elsewhere.
    """
    reaching = reaches(transition, targets)
    found = np.zeros(len(transition))
    found[list(targets)] = 1.0
    free = np.flatnonzero(reaching & (found == 0))
    if free.size:
        inner = np.eye(free.size) - transition[np.ix_(free, free)]
        found[free] = np.linalg.solve(inner, transition[free] @ found)
    return np.clip(found, 0.0, 1.0)


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
    found = np.zeros(len(transition))
    found[lost] = math.inf
    is_free = ~lost
    is_free[list(targets)] = False
    free = np.flatnonzero(is_free)
    if free.size:
        inner = np.eye(free.size) - transition[np.ix_(free, free)]
        found[free] = np.linalg.solve(inner, np.ones(free.size))
    return found


def _within(transition: Floats, states: Sequence[int]) -> Floats:
    """Rows and columns of some states; a copy."""
    chosen = np.array(states, np.int64)
    return transition[np.ix_(chosen, chosen)]
