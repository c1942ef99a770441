"""Binomial law: successes in a known number of independent trials.

    P(X = k) = C(n, k) p^k q^(n - k),    k = 0, ..., n,    q = 1 - p

With n known the likelihood depends on a sample through the total of successes only, and its maximum
is that total over all trials. The probability is evaluated by Loader's formula (`log_gamma`), so a
billion trials cost no digits; the cdf is an incomplete beta function.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.sums import Additive
from novum.distributions.protocol import Size
from novum.distributions.univariate import arguments
from novum.distributions.univariate.log_gamma import deviance, log_binomial_term
from novum.numerics import Floats

# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class BinomialStatistics(Additive):
    """What a binomial likelihood with known trials needs to know of a weighted sample.

    Parameters
    ----------
    trials : int
        Of every observation.
    weight : float
        Number of observations.
    successes : float
        Total over all observations, from 0 to `weight * trials`.
    """

    trials: int
    weight: float = 0.0
    successes: float = 0.0

    _fixed: ClassVar[tuple[str, ...]] = ("trials",)

    def __post_init__(self) -> None:
        _checked_trials(self.trials)
        if not 0 <= self.successes <= self.weight * self.trials < np.inf:
            raise InputError(
                f"Statistics of {self.weight:g} times {self.trials} trials cannot have "
                f"{self.successes:g} successes. Remove only what was added."
            )

    def __sub__(self, other: BinomialStatistics) -> BinomialStatistics:
        self._check_fits(other)
        weight, successes = self.weight - other.weight, self.successes - other.successes
        # Fractional weights leave rounding behind, which must not make a count negative.
        slack = 1e-14 * self.weight * self.trials
        if -slack <= successes <= weight * self.trials + slack:
            weight = max(weight, 0.0)
            successes = min(max(successes, 0.0), weight * self.trials)
        return BinomialStatistics(self.trials, weight, successes)

    def __mul__(self, factor: float) -> BinomialStatistics:
        weight = factor * self.weight
        successes = min(factor * self.successes, weight * self.trials)
        return BinomialStatistics(self.trials, weight, successes)

    __rmul__ = __mul__

    def zero(self) -> BinomialStatistics:
        """The statistics of no observations."""
        return BinomialStatistics(self.trials)

    def isclose(self, other: BinomialStatistics, rtol: float = 1e-10) -> bool:
        """Equal within `rtol` of the weight and of all trials."""
        size = rtol * max(self.weight, other.weight)
        return (
            self.trials == other.trials
            and abs(self.weight - other.weight) <= size
            and abs(self.successes - other.successes) <= size * self.trials
        )

    def _check_fits(self, other: BinomialStatistics) -> None:
        if self.trials != other.trials:
            raise InputError(
                f"Binomial statistics of {self.trials} and {other.trials} trials do not add up to "
                "those of one law. Use Bernoulli statistics for single trials."
            )


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Binomial:
    """Binomial law of the successes in `trials` independent trials.

    Parameters
    ----------
    trials : int
        At least 0.
    probability : float
        Of success in each trial, from 0 to 1.

    Examples
    --------
    >>> law = Binomial(4, 0.5)
    >>> law.density([0, 1, 2, 3, 4]).round(12).tolist()
    [0.0625, 0.25, 0.375, 0.25, 0.0625]
    >>> round(float(law.interval_probability(1, 3)), 12), law.mean, law.variance
    (0.875, 2.0, 1.0)
    >>> Binomial.fit([3, 1, 4, 4], trials=4).probability
    0.75
    """

    trials: int
    probability: float
    discrete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        value = arguments.share("Binomial", "probability", self.probability)
        object.__setattr__(self, "trials", _checked_trials(self.trials))
        object.__setattr__(self, "probability", value)

    @property
    def support(self) -> tuple[float, float]:
        """Zero to `trials`, less values of probability zero."""
        low = self.trials if self.probability == 1 else 0
        return float(low), float(self.trials if self.probability > 0 else 0)

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """`log C(n, k) + k log p + (n - k) log(1 - p)`, and `-inf` off the support."""
        values = arguments.points("Binomial", x)
        whole = (values >= 0) & (values <= self.trials) & (values == np.floor(values))
        p = self.probability
        inside = log_binomial_term(np.where(whole, values, 0.0), self.trials, p, 1 - p)
        return arguments.keep_missing(np.where(whole, inside, -np.inf), values)

    def density(self, x: ArrayLike) -> Floats:
        """Probability of each point."""
        return np.exp(self.log_density(x))

    # Distribution function

    def cdf(self, x: ArrayLike) -> Floats:
        """`P(X <= x)`, by the incomplete beta function."""
        values = np.floor(arguments.points("Binomial", x))
        return arguments.keep_missing(self._at_most(values), values)

    def quantile(self, level: ArrayLike) -> Floats:
        """The smallest count at which the cdf reaches `level`, by bisection."""
        values = arguments.levels("Binomial", level)
        low, top = self.support
        high = arguments.smallest_counts(self._at_most, values, low - 1, top)
        # Rounding lets the cdf reach 1 too early.
        return arguments.keep_missing(np.where(values == 1, self.support[1], high), values)

    def interval_probability(self, a: ArrayLike, b: ArrayLike) -> Floats:
        """`P(a <= X <= b)`."""
        low, high = arguments.interval("Binomial", a, b)
        below, top = np.ceil(low) - 1, np.floor(high)
        # Differences of upper tails keep their digits above the mean, of lower ones below it.
        lower = self._at_most(top) - self._at_most(below)
        upper = self._above(below) - self._above(top)
        inside = np.where(below >= self.mean, upper, lower)
        return arguments.keep_missing(np.where(top > below, inside, 0.0), low, high)

    def _at_most(self, k: Floats) -> Floats:
        """`P(X <= k)` for whole k."""
        inside = (k >= 0) & (k < self.trials)
        count = np.where(inside, k, 0.0)
        probabilities = special.betaincc(count + 1, max(self.trials, 1) - count, self.probability)
        return np.where(inside, probabilities, (k >= 0).astype(float))

    def _above(self, k: Floats) -> Floats:
        """`P(X > k)` for whole k."""
        inside = (k >= 0) & (k < self.trials)
        count = np.where(inside, k, 0.0)
        probabilities = special.betainc(count + 1, max(self.trials, 1) - count, self.probability)
        return np.where(inside, probabilities, (k < 0).astype(float))

    # Moments

    @property
    def mean(self) -> float:
        """`n p`."""
        return self.trials * self.probability

    @property
    def variance(self) -> float:
        """`n p (1 - p)`."""
        return self.trials * self.probability * (1 - self.probability)

    @property
    def mode(self) -> float:
        """The likeliest count; the smaller one if two are equally likely."""
        peak = (self.trials + 1) * self.probability
        return float(min(max(np.ceil(peak) - 1, 0), self.trials))

    @property
    def entropy(self) -> float:
        """`-sum_k P(k) log P(k)` in nats, summed over all counts that matter."""
        variance = self.variance
        if variance > _MANY:
            p = self.probability
            normal = 0.5 * (np.log(2 * np.pi * variance) + 1)
            return float(normal + (4 * p * (1 - p) - 1) / (12 * variance))
        # Beyond 12 standard deviations and 50 counts the terms are below 1e-20.
        reach = np.ceil(12 * np.sqrt(variance) + 50)
        first = max(np.floor(self.mean) - reach, 0)
        counts = np.arange(first, min(np.ceil(self.mean) + reach, self.trials) + 1)
        return float(special.entr(self.density(counts)).sum())

    # Sampling

    def sample(self, size: Size, random_state: RandomSource = None) -> Floats:
        """Counts, as floats."""
        return stream(random_state).binomial(self.trials, self.probability, size).astype(float)

    # Estimation

    @staticmethod
    def statistics(
        x: ArrayLike, weight: ArrayLike | None = None, *, trials: int
    ) -> BinomialStatistics:
        """Weight and total successes of a sample of counts, each out of `trials`."""
        _checked_trials(trials)
        values, weights = arguments.sample("Binomial", x, weight)
        arguments.refuse(
            "Binomial",
            f"whole numbers from 0 to {trials}",
            values,
            (values >= 0) & (values <= trials) & (values == np.floor(values)),
            "Correct them or the number of trials.",
        )
        total = arguments.weight_of(weights, values.size)
        successes = values.sum() if weights is None else weights @ values
        return BinomialStatistics(trials, total, min(float(successes), total * trials))

    @classmethod
    def from_statistics(cls, statistics: BinomialStatistics) -> Binomial:
        """The probability of largest likelihood: successes over trials."""
        trials = statistics.weight * statistics.trials
        arguments.refuse_no_data("Binomial", trials)
        return cls(statistics.trials, statistics.successes / trials)

    @classmethod
    def fit(cls, x: ArrayLike, weight: ArrayLike | None = None, *, trials: int) -> Binomial:
        """Maximum likelihood for a known number of trials."""
        return cls.from_statistics(cls.statistics(x, weight, trials=trials))

    @classmethod
    def fit_moments(cls, x: ArrayLike, weight: ArrayLike | None = None, *, trials: int) -> Binomial:
        """The law with the sample's mean, which is also that of largest likelihood."""
        return cls.fit(x, weight, trials=trials)

    # Relations

    def kl(self, other: Binomial) -> float:
        """`E[log p(X) - log p_other(X)]` under this law, for the same number of trials."""
        if self.trials != other.trials:
            raise InputError(
                "The divergence of binomial laws has a closed form for equal trials only, got "
                f"{self.trials} and {other.trials}."
            )
        p, r = self.probability, other.probability
        single = deviance(p, r) + deviance(1 - p, 1 - r)
        return float(self.trials * single) if self.trials else 0.0


# Above this variance two terms of the expansion around a normal law's entropy give 15 digits.
_MANY = 1e8


# --- Checks ---------------------------------------------------------------------------------------


def _checked_trials(trials: int) -> int:
    # Counts are kept as floats, which are exact up to 2^53.
    if not isinstance(trials, Integral) or not 0 <= trials <= 2**53:
        raise InputError(f"Binomial needs a whole number of trials from 0 to 2^53, got {trials!r}.")
    return int(trials)
