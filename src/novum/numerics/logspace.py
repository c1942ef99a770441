"""Sums of numbers that are given by their logarithms.

    log_sum_exp(a) = m + log sum_i exp(a_i - m),    m = max_i a_i

No term overflows, and the largest contributes exactly 1. The limits are those of the numbers
behind the logarithms: `-inf` is zero and adds nothing, an empty sum is `-inf`, `+inf` wins over
everything finite, NaN stays NaN. No function warns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from novum.numerics.types import Floats

Axis = int | tuple[int, ...] | None


def log_sum_exp(
    a: ArrayLike, axis: Axis = None, weight: ArrayLike | None = None, keepdims: bool = False
) -> Floats:
    """`log sum w exp(a)` along `axis` (all axes by default).

    Parameters
    ----------
    a : array
        Logarithms. An empty axis gives `-inf`, the logarithm of zero.
    axis : int or tuple, optional
    weight : array, optional
        Factors `w >= 0`, broadcast against `a`. A weight of zero removes its term, also an infinite
        one.
    keepdims : bool
        Keep the summed axes with length one.

    Examples
    --------
    >>> float(log_sum_exp(np.log([1.0, 2.0, 5.0])).round(12)) == round(float(np.log(8)), 12)
    True
    >>> float(log_sum_exp([-1000.0, -1000.0], weight=[0.5, 0.5]))
    -1000.0
    >>> float(log_sum_exp([]))
    -inf
    """
    terms, weights = _weighted_terms(a, weight)
    top = np.max(terms, axis=axis, keepdims=True, initial=-np.inf)
    # An infinite maximum is not subtracted: inf - inf has no value.
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        powers = np.exp(terms - shift)
        if weights is not None:
            powers = np.where(weights == 0, 0.0, weights * powers)
        total = np.log(np.sum(powers, axis=axis, keepdims=True)) + shift
    return total if keepdims else np.squeeze(total, axis=_squeezed(axis, total.ndim))


def log_normalize(a: ArrayLike, axis: int = -1) -> tuple[Floats, Floats]:
    """`a - log sum exp(a)` along `axis`, and the log normalizer.

    The shares are right, and sum to one, whatever the size of the terms, also where the normalizer
    is so large that the differences between terms are below its rounding.

    Returns
    -------
    normalized : array like `a`
        Logarithms of shares that sum to one. Where all terms are `-inf` there is nothing to share:
        they stay `-inf` and the normalizer is `-inf`, which is how the caller can tell. Where some
        are `+inf`, they share everything equally.
    log_normalizer : array without `axis`

    Examples
    --------
    >>> shares, log_total = log_normalize(np.log([1.0, 3.0]))
    >>> np.exp(shares).round(12).tolist(), round(float(np.exp(log_total)), 12)
    ([0.25, 0.75], 4.0)
    """
    terms = np.asarray(a, float)
    top = np.max(terms, axis=axis, keepdims=True, initial=-np.inf)
    infinite = top == np.inf
    # Shares come from the differences to the largest term. Taking them from the normalizer would
    # lose them where it is so large that its own rounding exceeds the logarithm of the sum.
    shift = np.where(np.isinf(top), 0.0, top)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
        if infinite.any():
            terms = np.where(infinite, np.where(terms == np.inf, 0.0, -np.inf), terms)
        gaps = terms - shift
        log_sum = np.log(np.sum(np.exp(gaps), axis=axis, keepdims=True))
        shares = gaps - np.where(np.isneginf(log_sum), 0.0, log_sum)
        total = np.where(infinite, np.inf, log_sum + shift)
    return shares, np.squeeze(total, axis=axis)


def log_add(a: ArrayLike, b: ArrayLike) -> Floats:
    """`log(exp(a) + exp(b))`, element by element.

    >>> float(log_add(-np.inf, -3.0))
    -3.0
    """
    with np.errstate(invalid="ignore", under="ignore"):
        return np.logaddexp(np.asarray(a, float), np.asarray(b, float))


def log_subtract(a: ArrayLike, b: ArrayLike) -> Floats:
    """`log(exp(a) - exp(b))`, element by element, for `a >= b`.

    Equal arguments give `-inf`, also where both are `-inf`. `a < b` has no logarithm and raises;
    `inf - inf` has no value and gives NaN.

    >>> float(log_subtract(np.log(5.0), np.log(3.0)).round(12)) == round(float(np.log(2)), 12)
    True
    """
    larger, smaller = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float))
    if np.any(larger < smaller):
        place = tuple(int(i) for i in np.argwhere(larger < smaller)[0])
        raise ValueError(
            "A logarithm of a difference needs a >= b; "
            f"at position {place} a is {larger[place]} and b is {smaller[place]}."
        )
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        gap = smaller - larger
        # log(1 - exp(gap)): each form is exact on its side of log 2 (Maechler, 2012).
        near = gap > -np.log(2.0)
        rest = np.where(near, np.log(-np.expm1(gap)), np.log1p(-np.exp(gap)))
        result = larger + rest
    return np.where((larger == smaller) & (larger != np.inf), -np.inf, result)


def log_mean(a: ArrayLike, axis: Axis = None, weight: ArrayLike | None = None) -> Floats:
    """`log (sum w exp(a) / sum w)`; a mean over nothing is NaN.

    >>> float(log_mean([2.0, 2.0, 2.0]))
    2.0
    """
    terms = np.asarray(a, float)
    weights = np.ones(terms.shape) if weight is None else np.asarray(weight, float)
    terms, weights = np.broadcast_arrays(terms, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        return log_sum_exp(terms, axis=axis, weight=weights) - np.log(np.sum(weights, axis=axis))


def _weighted_terms(a: ArrayLike, weight: ArrayLike | None) -> tuple[Floats, Floats | None]:
    terms = np.asarray(a, float)
    if weight is None:
        return terms, None
    weights = np.asarray(weight, float)
    if not np.all(weights >= 0):
        first = weights.ravel()[np.flatnonzero(~(weights.ravel() >= 0))[0]]
        raise ValueError(f"Weights of a log-sum must be at least 0; one is {first}.")
    terms, weights = np.broadcast_arrays(terms, weights)
    return np.where(weights == 0, -np.inf, terms), weights


def _squeezed(axis: Axis, ndim: int) -> int | tuple[int, ...]:
    return tuple(range(ndim)) if axis is None else axis
