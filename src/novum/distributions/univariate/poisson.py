"""Poisson law: how many independent events happen at a constant rate.

    P(X = k) = rate^k exp(-rate) / k!,        k = 0, 1, 2, ...

The factorial is never formed: with the deviance `D(k, rate)` and Stirling's remainder
(`log_gamma`) no large terms cancel, and counts of 1e9 keep their digits. A sample enters the
likelihood through its weight and its total count only, and the maximum is the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.sums import Sums
from novum.distributions.protocol import Size
from novum.distributions.univariate import arguments
from novum.distributions.univariate.log_gamma import deviance, log_poisson_term
from novum.numerics import Floats

# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class PoissonStatistics(Sums):
    """What a Poisson likelihood needs to know of a weighted sample.

    Parameters
    ----------
    weight : float
        Number of counts.
    total : float
        Their sum.
    """

    weight: float = 0.0
    total: float = 0.0

    _never_negative: ClassVar[tuple[str, ...]] = ("weight", "total")


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Poisson:
    """Poisson law with `rate` expected events.

    Parameters
    ----------
    rate : float
        Mean and variance of the count, at least 0; 0 puts all mass on 0.

    Examples
    --------
    >>> law = Poisson.fit([2, 0, 1, 5])
    >>> law.rate
    2.0
    >>> law.density([0, 1, 2]).round(4).tolist()
    [0.1353, 0.2707, 0.2707]
    >>> float(law.quantile(0.95))
    5.0
    """

    rate: float
    discrete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        (rate,) = arguments.finite("Poisson", rate=self.rate)
        # Counts are kept as floats, which are exact up to 2^53.
        if not 0 <= rate <= 2.0**50:
            raise InputError(f"Poisson needs a rate from 0 to 2^50, got {self.rate!r}.")
        object.__setattr__(self, "rate", rate)

    @property
    def support(self) -> tuple[float, float]:
        """All whole numbers from 0; 0 alone where the rate is 0."""
        return 0.0, float("inf") if self.rate > 0 else 0.0

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """`k log(rate) - rate - log(k!)`, and `-inf` off the support."""
        values = arguments.points("Poisson", x)
        whole = (values >= 0) & (values == np.floor(values)) & np.isfinite(values)
        inside = log_poisson_term(np.where(whole, values, 0.0), self.rate)
        return arguments.keep_missing(np.where(whole, inside, -np.inf), values)

    def density(self, x: ArrayLike) -> Floats:
        """Probability of each point."""
        return np.exp(self.log_density(x))

    # Distribution function

    def cdf(self, x: ArrayLike) -> Floats:
        """`P(X <= x)`, by the incomplete gamma function."""
        values = np.floor(arguments.points("Poisson", x))
        return arguments.keep_missing(self._at_most(values), values)

    def quantile(self, level: ArrayLike) -> Floats:
        """The smallest count at which the cdf reaches `level`, by bisection."""
        values = arguments.levels("Poisson", level)
        far = np.ceil(self.rate + 40 * np.sqrt(self.rate) + 40)
        high = arguments.smallest_counts(self._at_most, values, -1.0, far)
        return arguments.keep_missing(np.where(values == 1, self.support[1], high), values)

    def probability(self, a: ArrayLike, b: ArrayLike) -> Floats:
        """`P(a <= X <= b)`."""
        low, high = arguments.interval("Poisson", a, b)
        below, top = np.ceil(low) - 1, np.floor(high)
        # Differences of upper tails keep their digits above the mean, of lower ones below it.
        lower = self._at_most(top) - self._at_most(below)
        upper = self._above(below) - self._above(top)
        inside = np.where(below >= self.rate, upper, lower)
        return arguments.keep_missing(np.where(top > below, inside, 0.0), low, high)

    def _at_most(self, k: Floats) -> Floats:
        """P(X <= k) of whole numbers."""
        inner = special.gammaincc(np.clip(k, 0.0, 2.0**53) + 1, self.rate)
        return np.where(k < 0, 0.0, np.where(k > 2.0**53, 1.0, inner))

    def _above(self, k: Floats) -> Floats:
        inner = special.gammainc(np.clip(k, 0.0, 2.0**53) + 1, self.rate)
        return np.where(k < 0, 1.0, np.where(k > 2.0**53, 0.0, inner))

    # Moments

    @property
    def mean(self) -> float:
        """The rate."""
        return self.rate

    @property
    def variance(self) -> float:
        """The rate."""
        return self.rate

    @property
    def mode(self) -> float:
        """The likeliest count; the smaller of two."""
        return max(float(np.ceil(self.rate)) - 1.0, 0.0)

    @property
    def entropy(self) -> float:
        """`-sum_k P(k) log P(k)` in nats; by Stirling's series for large rates."""
        if self.rate > _MANY:
            r = self.rate
            series = 1 / (12 * r) + 1 / (24 * r**2) + 19 / (360 * r**3)
            return float(0.5 * (np.log(2 * np.pi * r) + 1) - series)
        # Beyond 12 standard deviations and 50 counts the terms are below 1e-20.
        reach = np.ceil(12 * np.sqrt(self.rate) + 50)
        first = max(np.floor(self.rate) - reach, 0.0)
        counts = np.arange(first, np.ceil(self.rate) + reach + 1)
        return float(special.entr(self.density(counts)).sum())

    # Sampling

    def sample(self, size: Size, random_state: RandomSource = None) -> Floats:
        """Counts."""
        return stream(random_state).poisson(self.rate, size).astype(float)

    # Estimation

    @staticmethod
    def statistics(x: ArrayLike, weight: ArrayLike | None = None) -> PoissonStatistics:
        """Weight and total of a sample of counts."""
        values, weights = arguments.sample("Poisson", x, weight)
        arguments.refuse(
            "Poisson",
            "counts, whole numbers of at least 0",
            values,
            (values >= 0) & (values == np.floor(values)),
            "Drop them, or choose a law of real numbers, such as Gamma.",
        )
        total = values.sum() if weights is None else weights @ values
        return PoissonStatistics(arguments.weight_of(weights, values.size), float(total))

    @classmethod
    def from_statistics(cls, statistics: PoissonStatistics) -> Poisson:
        """The rate of largest likelihood: total count over weight."""
        arguments.refuse_no_data("Poisson", statistics.weight)
        return cls(statistics.total / statistics.weight)

    @classmethod
    def fit(cls, x: ArrayLike, weight: ArrayLike | None = None) -> Poisson:
        """Maximum likelihood."""
        return cls.from_statistics(cls.statistics(x, weight))

    @classmethod
    def fit_moments(cls, x: ArrayLike, weight: ArrayLike | None = None) -> Poisson:
        """The law with the sample's mean, which is also that of largest likelihood."""
        return cls.fit(x, weight)

    # Relations

    def kl(self, other: Poisson) -> float:
        """`E[log p(X) - log p_other(X)]` under this law: the deviance of the rates."""
        return float(deviance(self.rate, other.rate))

    def __add__(self, other: Poisson) -> Poisson:
        """The law of the sum of two independent counts: the rates add up."""
        return Poisson(self.rate + other.rate) if isinstance(other, Poisson) else NotImplemented


# Above this rate the series of the entropy has all digits.
_MANY = 1e5
