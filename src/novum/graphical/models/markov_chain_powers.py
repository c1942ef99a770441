"""Powers of transition matrices, and when they come near their limit.

    P^(2t) = P^t P^t,    every row divided by its sum after each product

All terms are at least 0, so each product keeps the relative accuracy of even tiny entries, and rows
that are divided by their sums do not drift from 1: the error grows with the number of products, not
with the number of steps. That reaches as far as floating-point numbers do, which is some 10^300
steps.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError

Floats = NDArray[np.float64]
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
    found = np.eye(len(transition))
    square = transition
    left = int(steps)
    while left:
        if left & 1:
            found = _product(found, square)
        left >>= 1
        if left:
            square = _product(square, square)
    return found


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
    found = one @ other
    return np.asarray(found / found.sum(axis=1, keepdims=True))
