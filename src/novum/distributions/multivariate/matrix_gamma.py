"""The multivariate gamma function, which normalizes densities of matrices.

    log Gamma_d(x) = d (d - 1)/4 log(pi) + sum_{j < d} log Gamma(x - j/2),        x > (d - 1)/2

Its terms are as large as `x log x`. Where a law needs only how they differ, the functions below
give that difference without forming them (see `univariate.log_gamma`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.distributions.univariate.log_gamma import (
    deviance,
    log_gamma_divergence,
    stirling_error,
)
from novum.numerics import Floats


def log_gamma_ratio(a: ArrayLike, b: ArrayLike) -> Floats:
    """`log Gamma(a + b) - log Gamma(a) - b log a` for `a > 0` and `b >= 0`; near 0 for large `a`.

    >>> bool(abs(log_gamma_ratio(1e15, 0.5) + 1.25e-16) < 1e-20)
    True
    """
    base, more = np.asarray(a, np.float64), np.asarray(b, np.float64)
    remainders = stirling_error(base + more) - stirling_error(base)
    with np.errstate(over="ignore"):
        growth: Floats = np.log1p(more / base)
    return deviance(base + more, base) - 0.5 * growth + remainders


def halves(degrees_of_freedom: float, size: int) -> Floats:
    """The arguments `(v - j)/2`, j = 0, ..., d - 1, of the gamma functions of a matrix law."""
    return 0.5 * (degrees_of_freedom - np.arange(size, dtype=np.float64))


def log_matrix_gamma(x: float, size: int) -> float:
    """`log Gamma_d(x)`.

    >>> round(log_matrix_gamma(2.5, 1), 12) == round(float(special.gammaln(2.5)), 12)
    True
    """
    logs = special.gammaln(halves(2 * x, size)).sum()
    return float(size * (size - 1) / 4 * np.log(np.pi) + logs)


def matrix_digamma(x: float, size: int) -> float:
    """The derivative of `log_matrix_gamma` by x."""
    return float(special.digamma(halves(2 * x, size)).sum())


def matrix_gamma_divergence(other: float, x: float, size: int) -> float:
    """What the tangent of `log Gamma_d` at x misses at `other`, less `d D(other, x)`.

    Each gamma function contributes its deviance and its bend; the deviances nearly equal
    `D(other, x)`, which the law's own terms cancel.
    """
    y, z = halves(2 * other, size), halves(2 * x, size)
    shifted = deviance(y, z) - deviance(other, x)
    return float((shifted + log_gamma_divergence(y, z)).sum())
