"""Normal law, given by its mean and its variance.

    p(x) = exp(-(x - m)^2 / (2 v)) / sqrt(2 pi v)

A sample enters the likelihood through its weight, mean and scatter about the mean, which are kept
with twice the usual digits (`novum.numerics.Moments`) and merge and come off exactly. The maximum
of the likelihood has the sample's mean and its variance with denominator n, so `fit_moments` is
`fit`.

Affine maps `a X + b` and sums of independent normal variables are normal again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.distributions.protocol import Size
from novum.distributions.univariate import arguments
from novum.distributions.univariate.log_gamma import ratio_deviance
from novum.numerics import Floats, Moments, moments_of

# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Normal:
    """Normal law with that mean and variance.

    Parameters
    ----------
    mean : float
    variance : float
        Above 0: the square of the standard deviation.

    Examples
    --------
    >>> height = Normal(170.0, 36.0)
    >>> height.standard_deviation
    6.0
    >>> round(float(height.probability(164, 176)), 4)
    0.6827
    >>> height.affine(0.5, 10.0)
    Normal(mean=95.0, variance=9.0)
    >>> Normal(1.0, 9.0) + Normal(2.0, 16.0)
    Normal(mean=3.0, variance=25.0)
    >>> Normal.fit([1.0, 2.0, 3.0, 6.0])
    Normal(mean=3.0, variance=3.5)
    """

    mean: float = 0.0
    variance: float = 1.0
    discrete: ClassVar[bool] = False

    def __post_init__(self) -> None:
        (mean,) = arguments.finite("Normal", mean=self.mean)
        (variance,) = arguments.positive("Normal", variance=self.variance)
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "variance", variance)

    @property
    def support(self) -> tuple[float, float]:
        """All numbers."""
        return -np.inf, np.inf

    @property
    def standard_deviation(self) -> float:
        """`sqrt(variance)`."""
        return float(np.sqrt(self.variance))

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """`-log(2 pi v)/2 - (x - m)^2 / (2 v)`."""
        scores = self._standardized(arguments.points("Normal", x))
        with np.errstate(over="ignore"):
            return -0.5 * (np.log(2 * np.pi) + np.log(self.variance)) - 0.5 * scores * scores

    def density(self, x: ArrayLike) -> Floats:
        """Density at each point."""
        return np.exp(self.log_density(x))

    # Distribution function

    def cdf(self, x: ArrayLike) -> Floats:
        """`P(X <= x)`."""
        return special.ndtr(self._standardized(arguments.points("Normal", x)))

    def quantile(self, level: ArrayLike) -> Floats:
        """`m + s z`, with the quantile z of the standard normal law."""
        scores = special.ndtri(arguments.levels("Normal", level))
        with np.errstate(over="ignore"):
            return self.mean + self.standard_deviation * scores

    def probability(self, a: ArrayLike, b: ArrayLike) -> Floats:
        """`P(a <= X <= b)`."""
        low, high = (self._standardized(end) for end in arguments.interval("Normal", a, b))
        # Above the mean the smaller, upper tails are subtracted.
        flip = low > 0
        return special.ndtr(np.where(flip, -low, high)) - special.ndtr(np.where(flip, -high, low))

    def _standardized(self, values: Floats) -> Floats:
        # Halved before the difference: it may be twice the largest number.
        with np.errstate(over="ignore"):
            return 2 * ((0.5 * values - 0.5 * self.mean) / self.standard_deviation)

    # Moments

    @property
    def mode(self) -> float:
        """The mean."""
        return self.mean

    @property
    def entropy(self) -> float:
        """`log(2 pi e v) / 2` in nats."""
        return 0.5 * float(np.log(2 * np.pi) + 1 + np.log(self.variance))

    # Sampling

    def sample(self, size: Size, random_state: RandomSource = None) -> Floats:
        """Independent values."""
        return self.mean + self.standard_deviation * stream(random_state).standard_normal(size)

    # Estimation

    @staticmethod
    def statistics(x: ArrayLike, weight: ArrayLike | None = None) -> Moments:
        """Moments of the sample, as one column."""
        values, weights = arguments.sample("Normal", x, weight)
        try:
            return moments_of(values[:, None], weights)
        except ValueError as error:
            raise InputError(f"Normal cannot be estimated. {error}") from error

    @classmethod
    def from_statistics(cls, statistics: Moments) -> Normal:
        """Mean and variance of largest likelihood; the variance has denominator n."""
        if statistics.n_columns != 1:
            raise InputError(
                f"Normal is estimated from moments of 1 column, got {statistics.n_columns}. "
                "Use MultivariateNormal for more."
            )
        arguments.refuse_no_data("Normal", statistics.weight)
        variance = float(statistics.variance()[0])
        if not variance > 0:
            raise InputError(
                f"All values equal {statistics.mean[0]:g}, and a normal law needs a variance above "
                "0. Give values that differ, or a prior on the variance (NormalGamma)."
            )
        return cls(float(statistics.mean[0]), variance)

    @classmethod
    def fit(cls, x: ArrayLike, weight: ArrayLike | None = None) -> Normal:
        """Maximum likelihood."""
        return cls.from_statistics(cls.statistics(x, weight))

    @classmethod
    def fit_moments(cls, x: ArrayLike, weight: ArrayLike | None = None) -> Normal:
        """The law with the sample's mean and variance, which is also that of largest likelihood."""
        return cls.fit(x, weight)

    # Relations

    def kl(self, other: Normal) -> float:
        """`(v/u - 1 - log(v/u) + (m - n)^2/u) / 2` for `other` with mean n and variance u."""
        distance = float(other._standardized(np.asarray(self.mean)))
        with np.errstate(over="ignore"):
            ratio = np.float64(self.variance) / other.variance
            return float(0.5 * (ratio_deviance(ratio) + np.square(distance)))

    def affine(self, scale: float, shift: float = 0.0) -> Normal:
        """The law of `scale X + shift`."""
        scale, shift = arguments.finite("An affine map", scale=scale, shift=shift)
        if scale == 0:
            raise InputError(
                "A scale of 0 maps a normal law to a single point, which has no density."
            )
        return Normal(scale * self.mean + shift, scale * scale * self.variance)

    def __add__(self, other: Normal) -> Normal:
        """The law of `X + Y` for independent X and Y of these laws."""
        if not isinstance(other, Normal):
            return NotImplemented
        return Normal(self.mean + other.mean, self.variance + other.variance)


# --- Unknown mean ---------------------------------------------------------------------------------


def mean_after(mean: Any, strength: Any, n: Any, away: Any) -> tuple[Any, Any, Any]:
    """Strength and mean after n observations whose mean is `away` from the prior's, and the squares
    between the two means, `k n / (k + n) d^2`; numbers, or arrays of classes and columns.
    """
    after = strength + n
    return after, mean + n / after * away, strength * (n / after) * away * away
