"""Means of functions under a law of numbers, by summation or quadrature.

    E[f(X)] = sum_x p(x) f(x)        or        integral p(x) f(x) dx

Whole-numbered laws are summed over their support, cut where less than 1e-17 of the mass is left.
Continuous laws are integrated piece by piece between quantiles, so that no peak is missed, out to
both ends of the support (QUADPACK, adaptive Gauss-Kronrod). The error estimate is part of the
result; below 8 certain digits a warning says how many there are.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError, LostDigitsWarning
from novum.numerics import Floats

# Levels between which a law is integrated: the middle, the flanks, the far tails.
_LEVELS = (1e-15, 1e-9, 1e-5, 1e-2, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1 - 1e-5, 1 - 1e-9)
_MAX_TERMS = 10**7
_TRUSTED = 1e-8


@dataclass(frozen=True)
class Integral:
    """A number and how far off it can be."""

    value: float
    error: float


def mean_of(law: Any, function: Callable[[Any], Any], kinks: Sequence[float] = ()) -> Integral:
    """`E[f(X)]` with its error estimate.

    Parameters
    ----------
    law : law of numbers
        With `density` and `quantile`; `discrete` says whether to sum.
    function : callable of an array
        Infinite values where the density is zero do not count.
    kinks : numbers at which the function is not smooth
        A continuous law is integrated on both sides of them.
    """
    if not hasattr(law, "quantile"):
        raise InputError(
            f"{type(law).__name__} has no closed form for this, and is no law of single numbers "
            "that could be integrated. Estimate it from a sample instead."
        )
    return _summed(law, function) if law.discrete else _integrated(law, function, kinks)


def mean_under(
    law: Any, function: Callable[[Any], Any], what: str, kinks: Sequence[float] = ()
) -> float:
    """The value of `mean_of`, with a warning where fewer than 8 digits are certain."""
    result = mean_of(law, function, kinks)
    if result.error > _TRUSTED * max(1.0, abs(result.value)):
        warnings.warn(
            f"The integral for {what} is {result.value:g} with an error of up to "
            f"{result.error:.1g}.",
            LostDigitsWarning,
            stacklevel=4,
        )
    return result.value


def _summed(law: Any, function: Callable[[Any], Any]) -> Integral:
    low, high = (float(law.quantile(level)) for level in (0.0, 1.0))
    if not math.isfinite(low):
        low = float(law.quantile(1e-17))
    if not math.isfinite(high):
        high = float(law.quantile(1 - 2**-53))
    if high - low >= _MAX_TERMS:
        raise InputError(
            f"The sum over {low:g} to {high:g} has too many terms. Estimate it from a sample."
        )
    points = np.arange(low, high + 1)
    mass = np.asarray(law.density(points), float)
    terms = mass * np.where(mass > 0, _finite_where(function, points, mass), 0.0)
    size = math.fsum(np.abs(terms)) if np.isfinite(terms).all() else math.inf
    if not math.isfinite(size):
        return Integral(float(terms.sum()), 0.0)
    return Integral(math.fsum(terms), 1e-15 * size)


def _finite_where(function: Callable[[Any], Any], points: Floats, mass: Floats) -> Floats:
    inside = np.where(mass > 0, points, points[int(np.argmax(mass))])
    return np.asarray(function(inside), float)


def _integrated(law: Any, function: Callable[[Any], Any], kinks: Sequence[float]) -> Integral:
    from scipy import integrate

    # In units of its own spread a law has no peaks that the quadrature could miss.
    low, middle, high = (float(law.quantile(level)) for level in (0.25, 0.5, 0.75))
    spread = high - low if high > low else 1.0

    def integrand(t: float) -> float:
        x = middle + spread * t
        height = float(law.density(x))
        return spread * height * float(function(x)) if 0 < height < math.inf else 0.0

    total, error = [], 0.0
    for a, b in _pieces(law, middle, spread, kinks):
        with warnings.catch_warnings():
            # The estimate of the error is returned, so the warning would say it twice.
            warnings.simplefilter("ignore", integrate.IntegrationWarning)
            part, off = (
                integrate.quad(integrand, a, b, limit=200, epsabs=1e-14, epsrel=1e-12)
                if math.isfinite(a) and math.isfinite(b)
                else _tail(integrand, a, b)
            )
        total.append(part)
        error += off
    if not np.isfinite(total).all():
        return Integral(float(np.sum(total)), math.inf)
    return Integral(math.fsum(total), error + _unresolved(law, function))


def _tail(integrand: Callable[[float], float], a: float, b: float) -> tuple[float, float]:
    """From the last quantile to an infinite end, by the logarithm of the distance.

    Heavy tails reach over many decades, which a quadrature in units of the spread would not see.
    """
    from scipy import integrate

    side, start = (1.0, a) if math.isfinite(a) else (-1.0, b)

    def scaled(log_distance: float) -> float:
        distance = math.exp(min(log_distance, 700.0))
        height = integrand(start + side * (distance - 1.0))
        return height * distance if height != 0 else 0.0

    options = {"limit": 200, "epsabs": 1e-14, "epsrel": 1e-12}
    near, near_off = integrate.quad(scaled, 0.0, 40.0, **options)
    far, far_off = integrate.quad(scaled, 40.0, 700.0, **options)
    # Beyond e^700 nothing can be evaluated; a power that still lives there goes on as it ended.
    last, before = scaled(700.0), scaled(699.0)
    rest = abs(last) / -math.log(last / before) if 0 < abs(last) < abs(before) else abs(last)
    return near + far, near_off + far_off + (rest if last != 0 else 0.0)


def _unresolved(law: Any, function: Callable[[Any], Any]) -> float:
    """What may hide between an end of the support and the number next to it.

    Near 1 numbers are 1e-16 apart, and a density that is infinite there can hold much in the gap.
    """
    hidden = 0.0
    for end, inward in zip(law.support, law.support[::-1], strict=True):
        if math.isfinite(end) and math.isinf(float(law.density(end))):
            near = math.nextafter(end, inward)
            mass = float(law.cdf(near)) if end < inward else 1.0 - float(law.cdf(near))
            # The numbers after it are as coarse; together they hide some multiples of the gap.
            hidden += 10 * mass * abs(float(function(near)))
    return hidden


def _pieces(
    law: Any, middle: float, spread: float, kinks: Sequence[float]
) -> Iterator[tuple[float, float]]:
    """Intervals between quantiles, from one end of the support to the other, standardized."""
    low, *levels, high = (float(law.quantile(level)) for level in (0.0, *_LEVELS, 1.0))
    inside = sorted([*levels, *(kink for kink in kinks if low < kink < high)])
    for a, b in itertools.pairwise((x - middle) / spread for x in (low, *inside, high)):
        if a < b:
            yield a, b
