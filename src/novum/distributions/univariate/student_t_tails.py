"""Tails of the standard Student t law and their inverse, to full precision at any distance.

    P(T > t) = I_y(v/2, 1/2) / 2,    y = v / (v + t^2),    t >= 0

With `r = t / sqrt(v)` the function is evaluated at `1/(1 + r^2)` or, near the middle, as the
complement at `r^2/(1 + r^2)`, whichever is far from 1. Beyond the range of `r^2` the tail is a
power, `P(T > t) = r^-v / (v B(v/2, 1/2))`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from novum.distributions.univariate.log_gamma import log_gamma_half_step

Floats = NDArray[np.float64]

# From here on the law and the normal law differ by less than the last digit, tails included.
_NORMAL = 1e20
# Beyond this r the power law is exact to the last digit, and r^2 stays below the largest number.
_FAR = 1e100


def upper_tail(t: Floats, degrees: float) -> Floats:
    """`P(T > t)` for `t >= 0`.

    >>> float(upper_tail(np.float64(1.0), 1.0).round(12))
    0.25
    """
    if degrees >= _NORMAL:
        return special.ndtr(-t)
    r = t / np.sqrt(degrees)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        square = np.square(np.minimum(r, _FAR))
        center = special.betainc(0.5, 0.5 * degrees, square / (1 + square))
        inner = special.betaincc(0.5, 0.5 * degrees, square / (1 + square))
        # Next to the median the complement of the complement is the exact one.
        inner = np.where(center < 0.5, 1 - center, inner)
        outer = special.betainc(0.5 * degrees, 0.5, 1 / (1 + square))
        far = np.exp(-degrees * np.log(r) - _log_constant(degrees))
    return np.where(r > _FAR, far, 0.5 * np.where(r < 1, inner, outer))


def upper_tail_inverse(p: Floats, degrees: float) -> Floats:
    """The `t >= 0` with `P(T > t) = p`, for p from 0 to 1/2."""
    if degrees >= _NORMAL:
        return np.abs(special.ndtri(p))
    half = 0.5 * degrees
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        # Near the median 1 - 2p is exact, in the tail 2p is.
        middle = special.betaincinv(0.5, half, 1 - 2 * p)
        tail = special.betainccinv(0.5, half, 2 * p)
        y = np.where(p > 0.25, middle, tail)
        z = special.betaincinv(half, 0.5, 2 * p)
        r = np.where(y < 0.5, np.sqrt(y / (1 - y)), np.sqrt((1 - z) / z))
        far = np.exp(-(np.log(p) + _log_constant(degrees)) / degrees)
    return np.sqrt(degrees) * np.where((y >= 0.5) & (z < _FAR**-2), far, r)


def _log_constant(degrees: float) -> Floats:
    """`log(v B(v/2, 1/2))`."""
    return np.log(degrees) + 0.5 * np.log(np.pi) - log_gamma_half_step(0.5 * degrees)
