"""Logarithms of gamma functions where large terms cancel.

Densities, entropies and divergences of the binomial, gamma and beta laws are differences of terms
as large as `n log n` whose result is of order one: with n = 1e9 the plain formulas keep six digits.
Here the large parts are taken away by hand. With Stirling's formula

    log Gamma(x) = (x - 1/2) log x - x + log(2 pi)/2 + e(x),        e(x) = 1/(12 x) - ...

and the deviance `D(x, m) = x log(x/m) + m - x`, which is never negative and is summed as a series
near `x = m`, all that is left are small terms:

    log [m^x exp(-m) / Gamma(x+1)]       = -e(x) - D(x, m) - log(2 pi x)/2
    log [C(n, k) p^k q^(n-k)]            = e(n) - e(k) - e(n-k) - D(k, np) - D(n-k, nq)
                                           - log(2 pi k (n-k) / n)/2

All functions take numbers and arrays and do not warn.

References
----------
Loader, "Fast and accurate computation of binomial probabilities", 2000, eq. 3-5.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.numerics import Floats

_HALF_LOG_TWO_PI = 0.5 * float(np.log(2 * np.pi))
# Bernoulli numbers B_2k / (2k (2k-1)): the coefficients of 1/x, 1/x^3, ... in Stirling's series.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
# From here on the seven terms are exact to the last digit.
_LARGE = 16.0


# --- Stirling's remainder -------------------------------------------------------------------------


def stirling_error(x: ArrayLike) -> Floats:
    """`e(x) = log Gamma(x) - (x - 1/2) log x + x - log(2 pi)/2` for `x > 0`; it falls to 0.

    >>> float(stirling_error(1.0)) == 1 - _HALF_LOG_TWO_PI
    True
    >>> float(stirling_error(1e9) * 12e9)
    1.0
    """
    values = np.asarray(x, float)
    small = np.minimum(values, _LARGE)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore", under="ignore"):
        plain = special.gammaln(small) - (small - 0.5) * np.log(small) + small - _HALF_LOG_TWO_PI
        return np.where(values < _LARGE, plain, _odd_series(np.maximum(values, _LARGE), _STIRLING))


def stirling_slope(x: ArrayLike) -> Floats:
    """`-e'(x) = log x - 1/(2x) - digamma(x)`, which is positive and about `1/(12 x^2)`."""
    values = np.asarray(x, float)
    small = np.minimum(values, _LARGE)
    terms = tuple((2 * i + 1) * term for i, term in enumerate(_STIRLING))
    large = np.maximum(values, _LARGE)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore", under="ignore"):
        plain = np.log(small) - 0.5 / small - special.digamma(small)
        return np.where(values < _LARGE, plain, _odd_series(large, terms) / large)


def log_minus_digamma(x: ArrayLike) -> Floats:
    """`log x - digamma(x)`, which falls from infinity to 0 and lies between `1/(2x)` and `1/x`.

    >>> float(log_minus_digamma(1.0)) == np.euler_gamma
    True
    """
    values = np.asarray(x, float)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        return 0.5 / values + stirling_slope(values)


def log_gamma_half_step(x: ArrayLike) -> Floats:
    """`log Gamma(x + 1/2) - log Gamma(x)` for `x > 0`, about `log(x)/2`.

    >>> float(log_gamma_half_step(0.5).round(12)) == round(-0.5 * float(np.log(np.pi)), 12)
    True
    """
    values = np.asarray(x, float)
    errors = stirling_error(values + 0.5) - stirling_error(values)
    return 0.5 * np.log(values) + (values * np.log1p(0.5 / values) - 0.5) + errors


def digamma_half_step(x: ArrayLike) -> Floats:
    """`digamma(x + 1/2) - digamma(x)` for `x > 0`, about `1/(2x)`."""
    values = np.asarray(x, float)
    rests = log_minus_digamma(values) - log_minus_digamma(values + 0.5)
    return np.log1p(0.5 / values) + rests


def _odd_series(x: Floats, terms: tuple[float, ...]) -> Floats:
    """`sum_i terms_i / x^(2i + 1)`."""
    inverse = 1.0 / x
    square = inverse * inverse
    total = np.zeros_like(x)
    for term in reversed(terms):
        total = total * square + term
    return total * inverse


# --- Deviances ------------------------------------------------------------------------------------


def deviance(x: ArrayLike, m: ArrayLike) -> Floats:
    """`D(x, m) = x log(x/m) + m - x >= 0` for `x >= 0` and `m >= 0`, with `D(0, m) = m`.

    >>> deviance([0.0, 2.0, 3.0], [5.0, 2.0, 0.0]).tolist()
    [5.0, 0.0, inf]
    """
    x, m = np.broadcast_arrays(np.asarray(x, float), np.asarray(m, float))
    with np.errstate(all="ignore"):
        # Halved, so that the sum of the largest numbers stays finite.
        ratio = (0.5 * x - 0.5 * m) / (0.5 * x + 0.5 * m)
        near = np.abs(ratio) < 0.1
        close = np.where(near, ratio, 0.0)
        square = close * close
        series = np.zeros_like(x)
        for power in range(17, 1, -2):
            series = (series + 2.0 / power) * square
        summed = close * (x - m) + x * close * series
        plain = special.xlogy(x, x / m) + (m - x)
        # x/m may leave the range of numbers where its logarithm does not.
        apart = special.xlogy(x, x) - special.xlogy(x, m) + (m - x)
        extreme = ~np.isfinite(plain) | (x / m == 0) & (x > 0)
        result = np.where(near, summed, np.where(extreme, apart, plain))
    result = np.where(np.isinf(m), np.inf, result)
    return np.where((x == m) & (x >= 0), 0.0, result)


def ratio_deviance(t: ArrayLike) -> Floats:
    """`t - 1 - log t >= 0` for `t > 0`: the deviance of 1 from t."""
    return deviance(1.0, t)


def log_gamma_divergence(other: ArrayLike, x: ArrayLike) -> Floats:
    """What the tangent of `log Gamma` at `x` misses at `other`, without the part `D(other, x)`.

        log Gamma(y) - log Gamma(x) - digamma(x) (y - x)
            = D(y, x) + [ (y/x - 1 - log(y/x))/2 + e(y) - e(x) - e'(x) (y - x) ]

    The bracket is returned; it is never negative, because `e` is convex.
    """
    y, x = np.asarray(other, float), np.asarray(x, float)
    with np.errstate(over="ignore", invalid="ignore"):
        bend = stirling_error(y) - stirling_error(x) + stirling_slope(x) * (y - x)
        return 0.5 * ratio_deviance(y / x) + np.maximum(bend, 0.0)


# --- Terms of the Poisson and binomial laws -------------------------------------------------------


def log_poisson_term(x: ArrayLike, m: ArrayLike) -> Floats:
    """`log [m^x exp(-m) / Gamma(x + 1)]` for real `x >= 0`."""
    x, m = np.asarray(x, float), np.asarray(m, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = -stirling_error(x) - deviance(x, m) - _HALF_LOG_TWO_PI - 0.5 * np.log(x)
    return np.where(x == 0, -m, inside)


def log_binomial_term(k: ArrayLike, n: ArrayLike, p: ArrayLike, q: ArrayLike) -> Floats:
    """`log [C(n, k) p^k q^(n - k)]` for real `0 <= k <= n`, with `q = 1 - p` given too."""
    k, n, p, q = (np.asarray(value, float) for value in (k, n, p, q))
    rest = n - k
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inside = (
            stirling_error(n) - stirling_error(k) - stirling_error(rest)
            - deviance(k, n * p) - deviance(rest, n * q)
            - _HALF_LOG_TWO_PI + 0.5 * (np.log(n) - np.log(k) - np.log(rest))
        )  # fmt: skip
    # A factor that is absent must not meet 0 log 0.
    none, all_of_them = special.xlog1py(n, -p), special.xlogy(n, p)
    exact_none = np.where(p > 0.5, special.xlogy(n, q), none)
    exact_all = np.where(q > 0.5, all_of_them, special.xlog1py(n, -q))
    return np.where(k == 0, exact_none, np.where(rest == 0, exact_all, inside))
