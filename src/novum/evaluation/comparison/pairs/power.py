"""Power of a comparison on shared folds, and how many repeats an effect would need.

If the models really differ by `effect`, the corrected statistic has the noncentral t law with n - 1
degrees of freedom and

    noncentrality = effect / (s sqrt(1/n + ratio)),      ratio = n_test / n_train

so the power of a two-sided test of size alpha is the probability of that law beyond its critical
values. The standard error never falls below `s sqrt(ratio)`, however many repeats: an effect that
needs less is out of reach of this table, and only more rows (or fewer test rows in each fold) help.
`s` is the deviation of the differences, as estimated from the experiment just run.

Power is stated for an effect that would matter, not for the one observed: the latter is a function
of the p-value and says nothing new.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real

from scipy import integrate, optimize, special, stats

from novum.core.errors import InputError
from novum.evaluation.comparison.pairs.outcome import (
    Alternative,
    checked_options,
    checked_ratio,
    t_region,
)

# Beyond this many repeats the answer is that nobody will run them.
MOST_REPEATS = 1_000_000


@dataclass(frozen=True)
class RepeatsNeeded:
    """How many repeats of the folds find an effect with the wanted power.

    Attributes
    ----------
    repeats : int or None
        None: no number of repeats is enough.
    effect, power : float
        What was asked.
    best_power : float
        Power that endless repeats approach.
    smallest_effect : float
        Effect that endless repeats would find with the wanted power: the floor set by
        `test_train_ratio`.
    """

    repeats: int | None
    effect: float
    power: float
    best_power: float
    smallest_effect: float

    def __str__(self) -> str:
        if self.repeats is None:
            return (
                f"no number of repeats finds a difference of {self.effect:.3g} with probability "
                f"{self.power:g}: endless ones approach {self.best_power:.2f}, because the folds "
                f"share their rows; from {self.smallest_effect:.3g} on it is possible, and more "
                "rows lower that floor"
            )
        noun = "repeat finds" if self.repeats == 1 else "repeats find"
        return (
            f"{self.repeats} {noun} a difference of {self.effect:.3g} with probability "
            f"{self.power:g}"
        )


def corrected_power(
    effect: float,
    deviation: float,
    n_folds: int,
    test_train_ratio: float,
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> float:
    """Probability that the corrected resampled t test finds a true mean difference of `effect`.

    Parameters
    ----------
    effect : float
        True difference, in units of the score.
    deviation : float
        Standard deviation of the differences over folds.
    n_folds : int
        Folds in all, over all repeats; at least 2.
    test_train_ratio : float
        Rows of a test part over rows of its training part.
    alternative : {"two-sided", "less", "greater"}
    level : float
        The test has size `1 - level`.

    Examples
    --------
    >>> round(corrected_power(0.02, 0.04, 100, 1 / 9), 3)
    0.296
    >>> round(corrected_power(0.0, 0.04, 100, 1 / 9), 3)
    0.05
    """
    checked_options(alternative, level)
    ratio = checked_ratio(test_train_ratio)
    effect, deviation = _finite(effect, "effect"), _deviation(deviation)
    n = _whole(n_folds, "n_folds", 2)
    region = t_region(n - 1, alternative, level)
    if deviation == 0.0:
        shifted = math.copysign(math.inf, effect) if effect else 0.0
        return float(shifted in region)
    center = effect / (deviation * math.sqrt(1 / n + ratio))
    return _beyond(region.low, region.high, n - 1, center)


def detectable_effect(
    deviation: float,
    n_folds: int,
    test_train_ratio: float,
    *,
    power: float = 0.8,
    level: float = 0.95,
) -> float:
    """The smallest true difference that the two-sided corrected test finds with that power.

    Parameters
    ----------
    deviation, n_folds, test_train_ratio, level
        As for `corrected_power`.
    power : float
        Above `1 - level`, which any test reaches for no effect at all.

    Examples
    --------
    >>> effect = detectable_effect(0.04, 100, 1 / 9)
    >>> round(effect, 4), round(corrected_power(effect, 0.04, 100, 1 / 9), 4)
    (0.0394, 0.8)
    """
    _check_power(power, level)
    deviation = _deviation(deviation)
    if deviation == 0.0:
        return 0.0
    n, ratio = _whole(n_folds, "n_folds", 2), checked_ratio(test_train_ratio)
    region = t_region(n - 1, "two-sided", level)

    def missing(center: float) -> float:
        return _beyond(region.low, region.high, n - 1, center) - power

    high = region.high + 1.0
    while missing(high) < 0:
        high *= 2
    center = float(optimize.brentq(missing, 0.0, high, xtol=1e-12))
    return center * deviation * math.sqrt(1 / n + ratio)


def repeats_needed(
    effect: float,
    deviation: float,
    n_folds: int,
    test_train_ratio: float,
    *,
    power: float = 0.8,
    level: float = 0.95,
) -> RepeatsNeeded:
    """How many repeats of `n_folds` folds find a true difference of `effect` with that power.

    Parameters
    ----------
    effect : float
        Difference that would matter; not zero.
    deviation : float
        Standard deviation of the differences over folds.
    n_folds : int
        Folds of one repeat.
    test_train_ratio : float
        Rows of a test part over rows of its training part.
    power, level : float
        As for `detectable_effect`.

    Returns
    -------
    RepeatsNeeded
        Its `repeats` is None when the floor `deviation * sqrt(test_train_ratio)` of the standard
        error makes the power impossible.

    Examples
    --------
    >>> print(repeats_needed(0.05, 0.04, 10, 1 / 9))
    2 repeats find a difference of 0.05 with probability 0.8
    >>> repeats_needed(0.02, 0.04, 10, 1 / 9).repeats is None
    True
    """
    _check_power(power, level)
    size, deviation = abs(_finite(effect, "effect")), _deviation(deviation)
    k, ratio = _whole(n_folds, "n_folds", 1), checked_ratio(test_train_ratio)
    if size == 0:
        raise InputError("effect is the difference that would matter, and 0 is none.")
    floor = deviation * math.sqrt(ratio)
    limit = _limit(size, floor, level)
    smallest = floor * _normal_center(power, level)

    def enough(repeats: int) -> bool:
        n = repeats * k
        return n >= 2 and corrected_power(size, deviation, n, ratio, level=level) >= power

    repeats = _smallest(enough) if limit > power else None
    return RepeatsNeeded(repeats, size, float(power), limit, smallest)


# --- Laws -----------------------------------------------------------------------------------------


def _beyond(low: float, high: float, degrees: float, center: float) -> float:
    """Probability of a noncentral t below `low` or above `high`."""
    below = _noncentral_below(low, degrees, center) if low > -math.inf else 0.0
    above = _noncentral_below(-high, degrees, -center) if high < math.inf else 0.0
    return min(1.0, below + above)


def _noncentral_below(t: float, degrees: float, center: float) -> float:
    """P(T <= t) of a noncentral t; SciPy's series has no value in some of its tails."""
    probability = float(stats.nct.cdf(t, degrees, center))
    if math.isfinite(probability):
        return probability
    # T = (Z + center) / sqrt(V / degrees), given V, over the quantiles of chi-squared V.
    return float(
        integrate.quad(
            lambda level: special.ndtr(
                t * math.sqrt(special.gammaincinv(degrees / 2, level) * 2 / degrees) - center
            ),
            0.0,
            1.0,
            epsabs=1e-12,
            limit=200,
        )[0]
    )


def _limit(effect: float, floor: float, level: float) -> float:
    """Power of endless repeats: a normal test with the standard error at its floor."""
    if floor == 0.0:
        return 1.0
    reach = -float(special.ndtri((1 - level) / 2))
    center = effect / floor
    return float(special.ndtr(center - reach) + special.ndtr(-center - reach))


def _normal_center(power: float, level: float) -> float:
    """The effect, in standard errors, that a two-sided normal test finds with that power."""
    top = -float(special.ndtri((1 - level) / 2)) + 10.0 + abs(float(special.ndtri(power)))
    return float(optimize.brentq(lambda center: _limit(center, 1.0, level) - power, 0.0, top))


def _smallest(enough: Callable[[int], bool]) -> int | None:
    """The smallest number that is enough, by doubling and halving; power grows with repeats."""
    high = 1
    while not enough(high):
        high *= 2
        if high > MOST_REPEATS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


# --- Checks ---------------------------------------------------------------------------------------


def _check_power(power: float, level: float) -> None:
    checked_options("two-sided", level)
    if not (isinstance(power, Real) and 1 - level < float(power) < 1):
        raise InputError(
            f"power is a probability above the size {1 - level:.3g} of the test and below 1, got "
            f"{power!r}."
        )


def _finite(value: float, name: str) -> float:
    if isinstance(value, bool) or not (isinstance(value, Real) and math.isfinite(float(value))):
        raise InputError(f"{name} is a finite number, got {value!r}.")
    return float(value)


def _deviation(value: float) -> float:
    deviation = _finite(value, "deviation")
    if deviation < 0:
        raise InputError(f"deviation is at least 0, got {value!r}.")
    return deviation


def _whole(value: int, name: str, at_least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise InputError(f"{name} is a whole number of at least {at_least}, got {value!r}.")
    return int(value)
