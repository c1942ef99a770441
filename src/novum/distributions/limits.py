"""Means of many observations: bounds on their errors, and their limits as simulations.

For the mean of `n` independent observations with variance `v` and any `d > 0`,

    Chebyshev  P(|mean - mu| >= d) <= v / (n d^2)
    Hoeffding  P(|mean - mu| >= d) <= 2 exp(-2 n d^2 / (b - a)^2)      for values in [a, b]

Chebyshev's right side falls to zero as n grows: the weak law of large numbers. Solved for n it says
how many observations are enough. The central limit theorem says more: the standardized mean
`sqrt(n / v) (mean - mu)` becomes standard normal, and by Berry and Esseen its distribution function
is off by at most `0.4748 E|X - mu|^3 / (v^1.5 sqrt(n))`.

The two simulations return small tables (frozen arrays, also as Arrow tables) that a plot can show.

References
----------
Hoeffding, "Probability inequalities for sums of bounded random variables", 1963, theorem 2;
Shevtsova, "On the absolute constants in the Berry-Esseen type inequalities", 2011.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import special

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, check_memory, seed_sequence, stream
from novum.numerics import Floats, Integers, Mask, at_least

# Values drawn at a time, so that memory does not grow with the number of repetitions.
_BLOCK = 2**21


# --- Bounds ---------------------------------------------------------------------------------------


def chebyshev_bound(variance: float, distance: float, n: int = 1) -> float:
    """Largest possible `P(|mean of n - mu| >= distance)` for any law of that variance.

    Examples
    --------
    >>> chebyshev_bound(variance=1.0, distance=2.0)  # two standard deviations
    0.25
    """
    _check_at_least(variance, 0, "variance")
    _check_above(distance, 0, "distance")
    _check_count(n, "n")
    return min(1.0, variance / n / distance / distance)


def chebyshev_sample_size(variance: float, distance: float, risk: float) -> int:
    """Smallest `n` for which Chebyshev bounds the risk of an error of `distance`.

    Examples
    --------
    >>> chebyshev_sample_size(variance=0.25, distance=0.1, risk=0.05)  # share of a coin
    500
    """
    _check_at_least(variance, 0, "variance")
    _check_above(distance, 0, "distance")
    _check_risk(risk)
    # Decimal fractions as the user wrote them: 0.25 / (0.05 * 0.1^2) is 500, not 500.0000000001.
    wanted = _as_written(variance) / (_as_written(risk) * _as_written(distance) ** 2)
    return max(1, math.ceil(wanted))


def hoeffding_bound(low: float, high: float, distance: float, n: int = 1) -> float:
    """Largest possible `P(|mean of n - mu| >= distance)` for values from `low` to `high`.

    Examples
    --------
    >>> round(hoeffding_bound(0.0, 1.0, distance=0.1, n=500), 6)
    9.1e-05
    """
    width = _checked_width(low, high)
    _check_above(distance, 0, "distance")
    _check_count(n, "n")
    return min(1.0, 2 * math.exp(-2 * n * (distance / width) ** 2))


def hoeffding_sample_size(low: float, high: float, distance: float, risk: float) -> int:
    """Smallest `n` for which Hoeffding bounds the risk of an error of `distance`.

    Examples
    --------
    >>> hoeffding_sample_size(0.0, 1.0, distance=0.1, risk=0.05)
    185
    """
    width = _checked_width(low, high)
    _check_above(distance, 0, "distance")
    _check_risk(risk)
    return max(1, math.ceil(math.log(2 / risk) * (width / distance) ** 2 / 2))


# --- Simulations ----------------------------------------------------------------------------------


class _Columns:
    """A frozen record of equally long arrays."""

    def to_arrow(self) -> Any:
        """The columns as an Arrow table."""
        import pyarrow as pa

        return pa.table({f.name: getattr(self, f.name) for f in fields(self)})  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class LargeNumbers(_Columns):
    """Means of growing samples; one row for each sample size.

    Parameters
    ----------
    n : array (m,)
        Sample sizes.
    mean, spread : arrays (m,)
        Mean and standard deviation of the sample means over the repetitions.
    expected_spread : array (m,)
        `sqrt(variance / n)`.
    share_outside : array (m,)
        How often the sample mean missed the mean by at least the distance.
    chebyshev : array (m,)
        What Chebyshev allows it to be.
    """

    n: Integers
    mean: Floats
    spread: Floats
    expected_spread: Floats
    share_outside: Floats
    chebyshev: Floats


@dataclass(frozen=True, eq=False)
class CentralLimit(_Columns):
    """Standardized means of growing samples against the normal law; one row for each size.

    Parameters
    ----------
    n : array (m,)
    skewness, excess_kurtosis : arrays (m,)
        Of the standardized means; both go to 0, like `1 / sqrt(n)` and `1 / n`.
    distance : array (m,)
        Largest difference of their distribution function from the normal one.
    noise : array (m,)
        What chance alone gives: a normal law exceeds it in one of 100 simulations.
    """

    n: Integers
    skewness: Floats
    excess_kurtosis: Floats
    distance: Floats
    noise: Floats


def law_of_large_numbers(
    law: Any,
    distance: float,
    sizes: Sequence[int] = (1, 10, 100, 1000),
    repetitions: int = 1000,
    random_state: RandomSource = None,
) -> LargeNumbers:
    """Simulate how sample means close in on the mean, next to Chebyshev's bound.

    Parameters
    ----------
    law : law of numbers
        With `sample`, `mean` and a finite `variance`.
    distance : float
        Errors of the mean of at least this are counted; an error that equals it but for rounding,
        such as `0.6 - 0.5` for 0.1, is at least that.
    sizes : sample sizes
    repetitions : int
        Samples drawn for each size. The rows of one size do not depend on the other sizes.
    """
    _check_above(distance, 0, "distance")
    mu, variance = _moments(law)
    means = _all_means(law, sizes, repetitions, random_state, "large numbers")
    n = np.array(sizes, np.int64)
    return LargeNumbers(
        n,
        np.array([m.mean() for m in means]),
        np.array([m.std() for m in means]),
        np.sqrt(variance / n),
        np.array([_outside(m, mu, distance).mean() for m in means]),
        np.array([chebyshev_bound(variance, distance, int(size)) for size in sizes]),
    )


def central_limit_theorem(
    law: Any,
    sizes: Sequence[int] = (1, 2, 5, 30, 100),
    repetitions: int = 2000,
    random_state: RandomSource = None,
) -> CentralLimit:
    """Simulate how standardized sample means become normal.

    Parameters
    ----------
    law : law of numbers
        With `sample`, `mean` and a finite, positive `variance`.
    sizes : sample sizes
    repetitions : int
    """
    mu, variance = _moments(law)
    _check_above(variance, 0, "variance of the law")
    means = _all_means(law, sizes, repetitions, random_state, "central limit")
    scores = [(m - mu) * math.sqrt(n / variance) for m, n in zip(means, sizes, strict=True)]
    centered = [z - z.mean() for z in scores]
    squares = [(c**2).mean() for c in centered]
    return CentralLimit(
        np.array(sizes, np.int64),
        np.array([(c**3).mean() / s**1.5 for c, s in zip(centered, squares, strict=True)]),
        np.array([(c**4).mean() / s**2 - 3 for c, s in zip(centered, squares, strict=True)]),
        np.array([_kolmogorov(z) for z in scores]),
        # Dvoretzky-Kiefer-Wolfowitz, with Massart's constant.
        np.full(len(sizes), math.sqrt(math.log(2 / 0.01) / (2 * repetitions))),
    )


def standardized_means(
    law: Any, n: int, repetitions: int = 2000, random_state: RandomSource = None
) -> Floats:
    """`sqrt(n / variance) (mean - mu)` of that many samples of `n`, for a histogram.

    The values are those that `central_limit_theorem` judges for this size and `random_state`.
    """
    mu, variance = _moments(law)
    _check_above(variance, 0, "variance of the law")
    (means,) = _all_means(law, [n], repetitions, random_state, "central limit")
    return np.asarray((means - mu) * math.sqrt(n / variance))


def _outside(means: Floats, mu: float, distance: float) -> Mask:
    """Whether means miss `mu` by at least a distance, rounding left aside."""
    return at_least(means, mu + distance) | at_least(-means, distance - mu)


def _all_means(
    law: Any, sizes: Sequence[int], repetitions: int, random_state: RandomSource, task: str
) -> list[Floats]:
    for size in sizes:
        _check_count(size, "a sample size")
    _check_count(repetitions, "repetitions")
    if len(sizes) == 0:
        raise InputError("A simulation needs at least one sample size.")
    root = seed_sequence(random_state)
    return [_means(law, int(n), repetitions, stream(root, task, int(n))) for n in sizes]


def _means(law: Any, n: int, repetitions: int, rng: np.random.Generator) -> Floats:
    check_memory(8 * n, f"A sample of {n} values", "Choose smaller sample sizes.")
    rows = max(1, _BLOCK // n)
    means = np.empty(repetitions)
    for start in range(0, repetitions, rows):
        count = min(rows, repetitions - start)
        draws = np.asarray(law.sample((count, n), random_state=rng), float)
        means[start : start + count] = draws.mean(axis=1)
    return means


def _kolmogorov(scores: Floats) -> float:
    ordered = np.sort(scores)
    normal = special.ndtr(ordered)
    above = np.arange(1, len(ordered) + 1) / len(ordered)
    return float(np.maximum(above - normal, normal - above + 1 / len(ordered)).max())


# --- Checks ---------------------------------------------------------------------------------------


def _moments(law: Any) -> tuple[float, float]:
    mean, variance = law.mean, law.variance
    if np.ndim(mean) or not (math.isfinite(mean) and math.isfinite(variance)):
        raise InputError(
            f"The law of large numbers is shown for numbers with a mean and a finite variance; "
            f"{law!r:.80} has mean {mean} and variance {variance}."
        )
    return float(mean), float(variance)


def _as_written(number: float) -> Fraction:
    return Fraction(repr(float(number)))


def _checked_width(low: float, high: float) -> float:
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(
            f"Hoeffding's bound needs values between two numbers, got low={low!r}, high={high!r}."
        )
    return high - low


def _check_above(value: float, bound: float, name: str) -> None:
    if not (math.isfinite(value) and value > bound):
        raise InputError(f"The {name} must be finite and above {bound}, got {value!r}.")


def _check_at_least(value: float, bound: float, name: str) -> None:
    if not (math.isfinite(value) and value >= bound):
        raise InputError(f"The {name} must be finite and at least {bound}, got {value!r}.")


def _check_risk(risk: float) -> None:
    if not 0 < risk < 1:
        raise InputError(f"The risk is a probability between 0 and 1, got {risk!r}.")


def _check_count(value: int, name: str) -> None:
    if not (value == int(value) and value >= 1):
        raise InputError(f"{name} must be a whole number of at least 1, got {value!r}.")
