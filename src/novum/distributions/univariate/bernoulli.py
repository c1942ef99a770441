"""Bernoulli law: one trial that succeeds or fails.

    P(X = 1) = p,    P(X = 0) = q = 1 - p

A sample enters the likelihood `p^s q^(w - s)` through its weight `w` and its successes `s` only,
and the maximum is the relative frequency `s / w`. Seven throws HHTTTHH give `4/7`; three heads give
1, which is why one often starts from a prior (`distributions.conjugacy`) instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.sums import Additive
from novum.distributions.protocol import Size
from novum.distributions.univariate import arguments
from novum.distributions.univariate.log_gamma import deviance
from novum.numerics import Floats

# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class BernoulliStatistics(Additive):
    """What a Bernoulli likelihood needs to know of a weighted sample.

    Parameters
    ----------
    weight : float
        Number of trials.
    successes : float
        How many of them gave 1.
    """

    weight: float = 0.0
    successes: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.weight < np.inf:
            raise InputError(
                f"Statistics of {self.weight:g} trials cannot have {self.successes:g} successes. "
                "Remove only what was added."
            )

    def __sub__(self, other: BernoulliStatistics) -> BernoulliStatistics:
        weight, successes = self.weight - other.weight, self.successes - other.successes
        # Fractional weights leave rounding behind, which must not make a count negative.
        slack = 1e-14 * self.weight
        if -slack <= successes <= weight + slack:
            weight = max(weight, 0.0)
            successes = min(max(successes, 0.0), weight)
        return BernoulliStatistics(weight, successes)

    def __mul__(self, factor: float) -> BernoulliStatistics:
        return BernoulliStatistics(factor * self.weight, factor * self.successes)

    __rmul__ = __mul__

    def zero(self) -> BernoulliStatistics:
        """The statistics of no trials."""
        return BernoulliStatistics()

    def isclose(self, other: BernoulliStatistics, rtol: float = 1e-10) -> bool:
        """Equal within `rtol` of the weight."""
        size = rtol * max(self.weight, other.weight)
        return (
            abs(self.weight - other.weight) <= size
            and abs(self.successes - other.successes) <= size
        )


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bernoulli:
    """Bernoulli law: 1 with that probability, 0 otherwise.

    Parameters
    ----------
    probability : float
        Of success, from 0 to 1.

    Examples
    --------
    >>> heads = Bernoulli.fit([1, 1, 0, 0, 0, 1, 1])
    >>> heads.probability == 4 / 7
    True
    >>> heads.variance == 4 / 7 * 3 / 7
    True
    >>> Bernoulli(0.25).density([0, 1, 2]).tolist()
    [0.75, 0.25, 0.0]
    """

    probability: float
    discrete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        value = arguments.share("Bernoulli", "probability", self.probability)
        object.__setattr__(self, "probability", value)

    @property
    def support(self) -> tuple[float, float]:
        """Zero to one, less an end of probability zero."""
        return float(self.probability == 1), float(self.probability > 0)

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """`log p` at 1, `log(1 - p)` at 0, and `-inf` elsewhere."""
        values = arguments.points("Bernoulli", x)
        with np.errstate(divide="ignore"):
            success, failure = np.log(self.probability), np.log1p(-self.probability)
        inside = np.where(values == 1, success, np.where(values == 0, failure, -np.inf))
        return arguments.keep_missing(inside, values)

    def density(self, x: ArrayLike) -> Floats:
        """Probability of each point."""
        values = arguments.points("Bernoulli", x)
        p = self.probability
        inside = np.where(values == 1, p, np.where(values == 0, 1 - p, 0.0))
        return arguments.keep_missing(inside, values)

    # Distribution function

    def cdf(self, x: ArrayLike) -> Floats:
        """0 below 0, `1 - p` from 0, and 1 from 1 on."""
        values = arguments.points("Bernoulli", x)
        steps = np.where(values < 0, 0.0, np.where(values < 1, 1 - self.probability, 1.0))
        return arguments.keep_missing(steps, values)

    def quantile(self, level: ArrayLike) -> Floats:
        """1 for levels above `1 - p`, otherwise 0."""
        values = arguments.levels("Bernoulli", level)
        low, high = self.support
        # 1 - p may be rounded to 1, which only the upper end reaches.
        steps = np.where((values > 1 - self.probability) | (values == 1), high, low)
        return arguments.keep_missing(steps, values)

    def interval_probability(self, a: ArrayLike, b: ArrayLike) -> Floats:
        """`P(a <= X <= b)`."""
        low, high = arguments.interval("Bernoulli", a, b)
        failure = np.where((low <= 0) & (high >= 0), 1 - self.probability, 0.0)
        success = np.where((low <= 1) & (high >= 1), self.probability, 0.0)
        # The sum is rounded when p is tiny; both values are certain together.
        both = np.where((low <= 0) & (high >= 1), 1.0, failure + success)
        return arguments.keep_missing(both, low, high)

    # Moments

    @property
    def mean(self) -> float:
        """The probability of success."""
        return self.probability

    @property
    def variance(self) -> float:
        """`p (1 - p)`."""
        return self.probability * (1 - self.probability)

    @property
    def mode(self) -> float:
        """The likelier value; 0 if both are equally likely."""
        return float(self.probability > 0.5)

    @property
    def entropy(self) -> float:
        """`-p log p - (1 - p) log(1 - p)` in nats."""
        p = self.probability
        return float(special.entr(p) - special.xlog1py(1 - p, -p))

    # Sampling

    def sample(self, size: Size, random_state: RandomSource = None) -> Floats:
        """Zeros and ones."""
        return (stream(random_state).random(size) < self.probability).astype(float)

    # Estimation

    @staticmethod
    def statistics(x: ArrayLike, weight: ArrayLike | None = None) -> BernoulliStatistics:
        """Weight and successes of a sample of zeros and ones (or truth values)."""
        values, weights = arguments.sample("Bernoulli", x, weight)
        arguments.refuse(
            "Bernoulli",
            "zeros and ones",
            values,
            (values == 0) | (values == 1),
            "Code the outcomes as 0 and 1, or choose Binomial or Categorical.",
        )
        total = arguments.weight_of(weights, values.size)
        successes = values.sum() if weights is None else weights @ values
        return BernoulliStatistics(total, min(float(successes), total))

    @classmethod
    def from_statistics(cls, statistics: BernoulliStatistics) -> Bernoulli:
        """The probability of largest likelihood: successes over trials."""
        arguments.refuse_no_data("Bernoulli", statistics.weight)
        return cls(statistics.successes / statistics.weight)

    @classmethod
    def fit(cls, x: ArrayLike, weight: ArrayLike | None = None) -> Bernoulli:
        """Maximum likelihood."""
        return cls.from_statistics(cls.statistics(x, weight))

    @classmethod
    def fit_moments(cls, x: ArrayLike, weight: ArrayLike | None = None) -> Bernoulli:
        """The law with the sample's mean, which is also that of largest likelihood."""
        return cls.fit(x, weight)

    # Relations

    def kl(self, other: Bernoulli) -> float:
        """`E[log p(X) - log p_other(X)]` under this law; `inf` if `other` excludes a value."""
        p, r = self.probability, other.probability
        # The linear parts of the two deviances cancel each other.
        return float(deviance(p, r) + deviance(1 - p, 1 - r))
