"""Normal-gamma law: an unknown mean and an unknown precision together.

    precision ~ Gamma(a, b),        mean | precision ~ Normal(m, 1 / (k precision))
    p(mu, t) = b^a / Gamma(a) sqrt(k / (2 pi)) t^(a - 1/2) exp(-t (b + k (mu - m)^2 / 2))

The conjugate prior of a normal law. On its own the mean has a Student t law with 2a degrees of
freedom and *squared* scale `b / (a k)`; given the mean, the precision has a gamma law. A sample of
pairs enters the likelihood through the moments of the means, weighted by their precisions, and
those of the precisions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.sums import Sums
from novum.distributions.multivariate.parameters import checked_positive, checked_total
from novum.distributions.univariate.gamma import Gamma
from novum.distributions.univariate.log_gamma import log_minus_digamma, ratio_deviance
from novum.numerics import Floats, Moments, moments_of

if TYPE_CHECKING:
    from novum.distributions.univariate.normal import Normal
    from novum.distributions.univariate.student_t import StudentT

Part = Literal["mean", "precision"]
LOG_TWO_PI = float(np.log(2 * np.pi))


# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NormalGammaStatistics(Sums):
    """What the likelihood needs to know of a weighted sample of pairs.

    Parameters
    ----------
    precisions : Moments
        Of the columns precision and log precision.
    means : Moments
        Of the means, each row weighted by its precision as well.
    """

    precisions: Moments
    means: Moments

    @property
    def weight(self) -> float:
        """Number of pairs."""
        return self.precisions.weight


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NormalGamma:
    """Joint law of a mean and a precision.

    Parameters
    ----------
    mean : float
        Where the unknown mean is expected.
    strength : float
        How many observations the knowledge of the mean is worth.
    shape, rate : float
        Of the gamma law of the precision, whose mean is `shape / rate`.

    Examples
    --------
    >>> law = NormalGamma(0.0, 2.0, 3.0, 6.0)
    >>> law.marginal("precision"), law.condition("precision", 0.5)
    (Gamma(shape=3.0, rate=6.0), Normal(mean=0.0, variance=1.0))
    >>> law.marginal("mean")
    StudentT(degrees_of_freedom=6.0, location=0.0, scale=1.0)
    """

    mean: float
    strength: float
    shape: float
    rate: float

    def __post_init__(self) -> None:
        if not np.isfinite(self.mean):
            raise InputError(f"The mean of a NormalGamma must be finite, got {self.mean!r}.")
        object.__setattr__(self, "mean", float(self.mean))
        for name in ("strength", "shape", "rate"):
            value = checked_positive(getattr(self, name), f"The {name} of a NormalGamma")
            object.__setattr__(self, name, value)

    # Density

    def log_density(self, location: ArrayLike, precision: ArrayLike) -> Floats:
        """Log-density of pairs; `-inf` where the precision is not positive."""
        mu, t = np.broadcast_arrays(
            np.asarray(location, np.float64), np.asarray(precision, np.float64)
        )
        valid = (t > 0) & np.isfinite(t) & np.isfinite(mu)
        safe = np.where(valid, t, 1.0)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            away = np.where(valid, mu - self.mean, 0.0)
            # Roots first: the square of a distance may overflow where the product does not.
            score = np.sqrt(self.strength) * np.sqrt(safe) * away
            normal = 0.5 * (np.log(self.strength) + np.log(safe) - LOG_TWO_PI - score * score)
        result = np.where(valid, normal + self._precision_law.log_density(safe), -np.inf)
        return np.where(np.isnan(mu) | np.isnan(t), np.nan, result)

    def density(self, location: ArrayLike, precision: ArrayLike) -> Floats:
        with np.errstate(over="ignore"):
            return np.exp(self.log_density(location, precision))

    @property
    def _precision_law(self) -> Gamma:
        return Gamma(self.shape, self.rate)

    # Moments

    @property
    def expected_precision(self) -> float:
        """`a / b`; the expectation of the mean is `mean` itself."""
        return self.shape / self.rate

    @property
    def covariance(self) -> Floats:
        """Of mean and precision, which are uncorrelated: `b / (k (a - 1))` and `a / b^2`."""
        if self.shape <= 1:
            raise InputError(
                f"The mean has a variance only for a shape above 1; it is {self.shape:g}."
            )
        return np.diag(
            [self.rate / (self.strength * (self.shape - 1)), self.expected_precision / self.rate]
        )

    @property
    def mode(self) -> tuple[float, float]:
        """`m` and `(a - 1/2) / b`, for shapes of at least 1/2."""
        if self.shape < 0.5:
            raise InputError(
                f"A NormalGamma has a mode from shape 1/2 on; it is {self.shape:g}, and the "
                "density is infinite where the precision is 0."
            )
        return self.mean, (self.shape - 0.5) / self.rate

    @property
    def entropy(self) -> float:
        """That of the precision plus that of the mean when the precision is known, in nats."""
        mean_log = np.log(self.shape) - float(log_minus_digamma(self.shape)) - np.log(self.rate)
        given = 0.5 * (LOG_TWO_PI + 1 - np.log(self.strength) - mean_log)
        return self._precision_law.entropy + float(given)

    # Sampling

    def sample(
        self, size: int | tuple[int, ...], random_state: RandomSource = None
    ) -> tuple[Floats, Floats]:
        """Means and precisions of shape `size`: first a precision, then a mean given it."""
        rng = stream(random_state)
        precision = rng.standard_gamma(self.shape, size) / self.rate
        noise = rng.standard_normal(size)
        with np.errstate(divide="ignore", over="ignore"):
            deviation = 1 / np.sqrt(self.strength * precision)
        return self.mean + noise * deviation, precision

    # Estimation

    @staticmethod
    def statistics(
        location: ArrayLike, precision: ArrayLike, weight: ArrayLike | None = None
    ) -> NormalGammaStatistics:
        """Moments of a sample of pairs, each of shape (n,)."""
        mu, t = (np.asarray(part, np.float64).ravel() for part in (location, precision))
        if mu.size != t.size:
            raise InputError(
                f"Every mean needs a precision: there are {mu.size} means and {t.size} precisions."
            )
        precisions = Gamma.statistics(t, weight)
        weights = np.ones(t.size) if weight is None else np.asarray(weight, np.float64)
        counted = weights > 0
        products = np.where(counted, weights * np.where(counted, t, 1.0), 0.0)
        try:
            return NormalGammaStatistics(precisions, moments_of(mu[:, None], products))
        except ValueError as error:
            raise InputError(f"NormalGamma cannot be estimated. {error}") from None

    @classmethod
    def from_statistics(cls, statistics: NormalGammaStatistics) -> NormalGamma:
        """Largest likelihood: a gamma fit, a mean weighted by precision, and its strength."""
        checked_total(statistics.weight, "NormalGamma")
        scatter = float(statistics.means.scatter[0, 0])
        if not scatter > 0:
            raise InputError(
                "All means are equal, and the likelihood of a NormalGamma grows without bound as "
                "its strength does. Give means that differ."
            )
        gamma = Gamma.from_statistics(statistics.precisions)
        mean = float(statistics.means.mean[0])
        return cls(mean, statistics.weight / scatter, gamma.shape, gamma.rate)

    @classmethod
    def fit(
        cls, location: ArrayLike, precision: ArrayLike, weight: ArrayLike | None = None
    ) -> NormalGamma:
        """Maximum likelihood."""
        return cls.from_statistics(cls.statistics(location, precision, weight))

    @classmethod
    def fit_moments(
        cls, location: ArrayLike, precision: ArrayLike, weight: ArrayLike | None = None
    ) -> NormalGamma:
        """Moments of the precisions and of the means, standardized by their precisions."""
        statistics = cls.statistics(location, precision, weight)
        gamma = Gamma.fit_moments(precision, weight)
        likeliest = cls.from_statistics(statistics)
        return cls(likeliest.mean, likeliest.strength, gamma.shape, gamma.rate)

    # Relations

    def kl(self, other: NormalGamma) -> float:
        """That of the precisions plus the expected one of the means given the precision."""
        ratio = other.strength / self.strength
        distance = np.sqrt(other.strength * self.expected_precision) * (self.mean - other.mean)
        given = 0.5 * (float(ratio_deviance(ratio)) + distance * distance)
        return self._precision_law.kl(other._precision_law) + float(given)

    @overload
    def marginal(self, part: Literal["mean"]) -> StudentT: ...
    @overload
    def marginal(self, part: Literal["precision"]) -> Gamma: ...
    def marginal(self, part: Part) -> StudentT | Gamma:
        """The law of the mean, a Student t of squared scale `b / (a k)`, or of the precision."""
        from novum.distributions.univariate.student_t import StudentT

        if checked_part(part) == "precision":
            return self._precision_law
        scale = np.sqrt(self.rate / self.shape) / np.sqrt(self.strength)
        return StudentT(2 * self.shape, self.mean, float(scale))

    @overload
    def condition(self, part: Literal["mean"], value: float) -> Gamma: ...
    @overload
    def condition(self, part: Literal["precision"], value: float) -> Normal: ...
    def condition(self, part: Part, value: float) -> Gamma | Normal:
        """The law of the other part, when the one named is known."""
        from novum.distributions.univariate.normal import Normal

        if checked_part(part) == "precision":
            precision = checked_positive(value, "A precision")
            return Normal(self.mean, 1 / (self.strength * precision))
        if not np.isfinite(value):
            raise InputError(f"A known mean must be finite, got {value!r}.")
        away = value - self.mean
        return Gamma(self.shape + 0.5, self.rate + 0.5 * self.strength * away * away)


# --- Checks ---------------------------------------------------------------------------------------


def checked_part(part: str) -> str:
    """The name of a part of a pair."""
    if part not in ("mean", "precision"):
        raise InputError(f'The parts of this law are "mean" and "precision", got {part!r}.')
    return part
