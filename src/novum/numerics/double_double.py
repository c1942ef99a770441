"""Numbers of about 32 digits as unevaluated sums of two doubles.

    x = high + low,    |low| <= half a unit in the last place of high

The error of a rounded sum or product is itself a double and can be computed exactly, so pairs can
be added and multiplied with a relative error near 2^-104. Statistics that are merged and taken
apart again are kept this way: what was added and is removed leaves no trace above 1e-30.

References
----------
Dekker, "A floating-point technique for extending the available precision", 1971.
Hida, Li and Bailey, "Algorithms for quad-double precision floating point arithmetic", 2001.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.numerics.types import Floats

Pair = tuple[Floats, Floats]

# Splits 53 bits into 26 + 26 with the sign as the missing one (Veltkamp).
_SPLITTER = 2.0**27 + 1
_SPLITTABLE = 2.0**990
_DOWN = 2.0**-30


def pair(high: Any, low: Any = 0.0) -> Pair:
    """A pair from plain numbers or arrays."""
    high = np.asarray(high, float)
    return high, np.broadcast_to(np.asarray(low, float), high.shape)


def two_sum(a: Floats, b: Floats) -> Pair:
    """`a + b` as the rounded sum and its exact error.

    >>> high, low = two_sum(1e16, 1.0)
    >>> float(high), float(low)
    (1e+16, 1.0)
    """
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Floats, b: Floats) -> Pair:
    """`a * b` as the rounded product and its error, exact where nothing underflows."""
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def add(x: Pair, y: Pair) -> Pair:
    """`x + y`, accurate also where the high parts cancel.

    >>> high, low = add(pair(1.0, 1e-20), pair(-1.0))
    >>> float(high)
    1e-20
    """
    high, low = two_sum(x[0], y[0])
    carry, rest = two_sum(x[1], y[1])
    high, low = _normalize(high, low + carry)
    return _normalize(high, low + rest)


def subtract(x: Pair, y: Pair) -> Pair:
    return add(x, (-y[0], -y[1]))


def multiply(x: Pair, y: Pair) -> Pair:
    high, low = two_product(x[0], y[0])
    return _normalize(high, low + (x[0] * y[1] + x[1] * y[0]))


def divide(x: Pair, y: Pair) -> Pair:
    """`x / y` by long division with three quotient digits; `y` must not be zero."""
    first = x[0] / y[0]
    rest = subtract(x, multiply(y, pair(first)))
    second = rest[0] / y[0]
    rest = subtract(rest, multiply(y, pair(second)))
    return add(_normalize(first, second), pair(rest[0] / y[0]))


def _normalize(high: Floats, low: Floats) -> Pair:
    total = high + low
    return total, low - (total - high)


def _split(a: Floats) -> Pair:
    # The splitter times a number above 2^996 would overflow; powers of two change no digit.
    factor = np.where(np.abs(a) > _SPLITTABLE, _DOWN, 1.0)
    scaled = a * factor
    carried = _SPLITTER * scaled
    high = (carried - (carried - scaled)) / factor
    return high, a - high
