"""Gamma law, given by shape a and rate b.

    p(x) = b^a / Gamma(a) x^(a - 1) exp(-b x),    x > 0

The likelihood depends on a sample through the means of `x` and of `log x`. Its maximum has the rate
`a / mean(x)` and the shape that solves

    log a - digamma(a) = log mean(x) - mean(log x) = s.

The left side falls from infinity to 0 and lies between `1/(2a)` and `1/a`, so exactly one root
exists and it lies between `1/(2s)` and `1/s`: Newton's steps are kept inside an interval that
always holds it, and the end is reached to the last digit. A constant sample has s = 0 and no
maximum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.distributions.protocol import Size
from novum.distributions.univariate import arguments
from novum.distributions.univariate.log_gamma import (
    deviance,
    log_gamma_divergence,
    log_minus_digamma,
    log_poisson_term,
    stirling_error,
)
from novum.numerics import Floats, Moments, moments_of

# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gamma:
    """Gamma law with that shape and rate.

    Parameters
    ----------
    shape : float
        Above 0. 1 is the exponential law, k/2 with rate 1/2 the chi-square law.
    rate : float
        Above 0: the inverse of the scale.

    Examples
    --------
    >>> wait = Gamma(3.0, 2.0)
    >>> wait.mean, wait.variance, wait.mode
    (1.5, 0.75, 1.0)
    >>> round(float(wait.density(1.0)), 4)
    0.5413
    >>> fitted = Gamma.fit([0.5, 1.0, 2.5])
    >>> round(fitted.shape, 4), round(fitted.shape / fitted.rate, 4)
    (2.4982, 1.3333)
    """

    shape: float
    rate: float = 1.0
    discrete: ClassVar[bool] = False

    def __post_init__(self) -> None:
        shape, rate = arguments.positive("Gamma", shape=self.shape, rate=self.rate)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "rate", rate)

    @property
    def support(self) -> tuple[float, float]:
        """All positive numbers."""
        return 0.0, np.inf

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """`a log b - log Gamma(a) + (a - 1) log x - b x`, and `-inf` off the support."""
        values = arguments.points("Gamma", x)
        inside = (values >= 0) & (values < np.inf)
        densities = self._inside(np.where(inside, values, 1.0))
        return arguments.keep_missing(np.where(inside, densities, -np.inf), values)

    def _inside(self, x: Floats) -> Floats:
        shape, log_rate = self.shape, np.log(self.rate)
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            product = self.rate * x
            if shape < _PLAIN:
                # The range of the product is wider than that of numbers: logarithms are added.
                # xlogy gives 0 log 0 = 0 for the exponential law.
                powers = special.xlogy(shape - 1, x) + shape * log_rate
                return powers - product - special.gammaln(shape)
            logs = log_rate + np.log(x)
            ordinary = log_poisson_term(shape - 1, product) + log_rate
            # Where the product underflows, its exponential is 1.
            tiny = (shape - 1) * logs + log_rate - special.gammaln(shape)
        return np.where(product < np.finfo(float).tiny, tiny, ordinary)

    def density(self, x: ArrayLike) -> Floats:
        """Density at each point; infinite at 0 if the shape is below 1."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_density(x))

    # Distribution function

    def cdf(self, x: ArrayLike) -> Floats:
        """`P(X <= x)`, the regularized incomplete gamma function."""
        values = arguments.points("Gamma", x)
        return arguments.keep_missing(special.gammainc(self.shape, self._scaled(values)), values)

    def quantile(self, level: ArrayLike) -> Floats:
        """Inverse of the cdf."""
        values = arguments.levels("Gamma", level)
        with np.errstate(over="ignore", under="ignore"):
            return special.gammaincinv(self.shape, values) / self.rate

    def probability(self, a: ArrayLike, b: ArrayLike) -> Floats:
        """`P(a <= X <= b)`."""
        ends = arguments.interval("Gamma", a, b)
        low, high = (self._scaled(end) for end in ends)
        lower = special.gammainc(self.shape, high) - special.gammainc(self.shape, low)
        upper = special.gammaincc(self.shape, low) - special.gammaincc(self.shape, high)
        # Above the mean the smaller, upper tails are subtracted.
        return arguments.keep_missing(np.where(low > self.shape, upper, lower), *ends)

    def _scaled(self, values: Floats) -> Floats:
        with np.errstate(over="ignore", under="ignore"):
            return self.rate * np.maximum(values, 0.0)

    # Moments

    @property
    def mean(self) -> float:
        """`a / b`."""
        return _quotient(self.shape, self.rate)

    @property
    def variance(self) -> float:
        """`a / b^2`."""
        return _quotient(_quotient(self.shape, self.rate), self.rate)

    @property
    def mode(self) -> float:
        """`(a - 1) / b`, or 0 for shapes below 1."""
        return _quotient(max(self.shape - 1, 0.0), self.rate)

    @property
    def entropy(self) -> float:
        """`a - log b + log Gamma(a) + (1 - a) digamma(a)` in nats."""
        # Stirling's large terms are gone: what is left keeps its digits for any shape.
        a = self.shape
        spread = 0.5 * np.log(2 * np.pi) + 0.5 * np.log(a) + stirling_error(a)
        return float(spread + (a - 1) * log_minus_digamma(a) - np.log(self.rate))

    # Sampling

    def sample(self, size: Size, random_state: RandomSource = None) -> Floats:
        """Independent values."""
        with np.errstate(over="ignore", under="ignore"):
            return stream(random_state).standard_gamma(self.shape, size) / self.rate

    # Estimation

    @staticmethod
    def statistics(x: ArrayLike, weight: ArrayLike | None = None) -> Moments:
        """Moments of the columns `x` and `log x` of a positive sample."""
        values, weights = arguments.sample("Gamma", x, weight)
        arguments.refuse(
            "Gamma",
            "numbers above 0",
            values,
            values > 0,
            "Drop them, or choose a law that has them, such as Normal.",
        )
        try:
            return moments_of(np.column_stack([values, np.log(values)]), weights)
        except ValueError as error:
            raise InputError(f"Gamma cannot be estimated. {error}") from error

    @classmethod
    def from_statistics(cls, statistics: Moments) -> Gamma:
        """Shape and rate of largest likelihood, by Newton's method inside a bracket."""
        mean, _ = _mean_and_variance(statistics)
        assert statistics.mean_low is not None
        tail = statistics.mean_low[0] / mean - statistics.mean_low[1]
        gap = float(np.log(mean) - statistics.mean[1] + tail)
        if not gap > 4 * np.finfo(float).eps * max(1.0, abs(float(statistics.mean[1]))):
            raise InputError(
                f"The values differ from {mean:g} by rounding only, and the likelihood of a gamma "
                "law grows without bound as its shape does. Give values that differ."
            )
        shape = shape_of_gap(gap)
        return cls(shape, shape / mean)

    @classmethod
    def fit(cls, x: ArrayLike, weight: ArrayLike | None = None) -> Gamma:
        """Maximum likelihood."""
        return cls.from_statistics(cls.statistics(x, weight))

    @classmethod
    def fit_moments(cls, x: ArrayLike, weight: ArrayLike | None = None) -> Gamma:
        """The law with the sample's mean and variance: `a = m^2 / v`, `b = m / v`."""
        mean, variance = _mean_and_variance(cls.statistics(x, weight))
        return cls(mean * (mean / variance), mean / variance)

    # Relations

    def kl(self, other: Gamma) -> float:
        """`E[log p(X) - log p_other(X)]` under this law, as a sum of terms that are never negative.

        With `t` the ratio of the means, `c (t - 1 - log t)` for the shape c of `other`, plus what
        `log Gamma` bends between the shapes.
        """
        with np.errstate(over="ignore", under="ignore"):
            target = other.shape * (self.shape / other.shape) * (other.rate / self.rate)
            apart = deviance(other.shape, target)
        return float(apart + log_gamma_divergence(other.shape, self.shape))


# --- Estimation -----------------------------------------------------------------------------------

# Below this shape the plain formula of the density keeps all digits.
_PLAIN = 10.0


def shape_of_gap(gap: float) -> float:
    """Solves `log a - digamma(a) = gap`.

    Newton's step for `1 / (log a - digamma(a))`, which is nearly linear in a. The interval
    `[1/(2 gap), 1/gap]` holds the root; a step that leaves it is replaced by its middle.
    """
    low, high = 0.5 / gap, 1.0 / gap
    shape = 0.5 * (low + high)
    for _ in range(100):
        value = float(log_minus_digamma(shape))
        low, high = (shape, high) if value > gap else (low, shape)
        step = value * (value / gap - 1.0) / _slope(shape)
        proposal = shape - step
        if not low < proposal < high:
            proposal = 0.5 * (low + high)
        if abs(proposal - shape) <= 4 * np.finfo(float).eps * shape:
            return proposal
        shape = proposal
    return shape


def _slope(shape: float) -> float:
    """Derivative of `log a - digamma(a)`; for large shapes the two terms would cancel."""
    if shape > 1e3:
        return -0.5 / shape**2 - 1 / (6 * shape**3)
    return 1.0 / shape - float(special.polygamma(1, shape))


def _mean_and_variance(statistics: Moments) -> tuple[float, float]:
    if statistics.n_columns != 2:
        raise InputError(
            "Gamma is estimated from moments of the columns x and log x, got "
            f"{statistics.n_columns} columns. Use Gamma.statistics."
        )
    arguments.refuse_no_data("Gamma", statistics.weight)
    mean, variance = float(statistics.mean[0]), float(statistics.variance()[0])
    if not variance > 0:
        raise InputError(
            f"All values equal {mean:g}, and the likelihood of a gamma law grows without bound as "
            "its shape does. Give values that differ."
        )
    return mean, variance


def _quotient(a: float, b: float) -> float:
    """`a / b`, infinite beyond the largest number."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float64(a) / b)
