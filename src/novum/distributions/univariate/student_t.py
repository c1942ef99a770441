"""Student's t law with location m and scale s.

    p(x) = Gamma((v+1)/2) / (Gamma(v/2) sqrt(v pi) s) (1 + z^2 / v)^(-(v+1)/2),    z = (x - m) / s

A normal law whose precision is itself drawn from `Gamma(v/2, v s^2 / 2)`: small degrees of freedom
v give heavy tails, `v = inf` is the normal law with variance `s^2`. It is the predictive law of
normal data with unknown variance, and a fit to it does not follow outliers.

No sums summarize a sample for this law, so it has no statistics; `student_t_likelihood` says how
the likelihood is maximized. `s` is the scale itself, not its square and not a precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novum.core.errors import InputError
from novum.core.randomness import RandomSource, stream
from novum.distributions.protocol import Size
from novum.distributions.univariate import arguments
from novum.distributions.univariate.log_gamma import digamma_half_step, log_gamma_half_step
from novum.distributions.univariate.normal import Normal
from novum.distributions.univariate.student_t_likelihood import most_likely
from novum.distributions.univariate.student_t_tails import upper_tail, upper_tail_inverse

Floats = NDArray[np.float64]


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StudentT:
    """Student's t law.

    Parameters
    ----------
    degrees_of_freedom : float
        Above 0; `inf` gives the normal law.
    location : float
        Median and mode.
    scale : float
        Above 0.

    Examples
    --------
    >>> law = StudentT(3.0, location=10.0, scale=2.0)
    >>> law.mean, law.variance
    (10.0, 12.0)
    >>> round(float(law.quantile(0.975)), 4)
    16.3649
    >>> StudentT.fit([1.0, 2.0, 3.0, 4.0, 5.0, 1000.0], degrees_of_freedom=1.0).location < 4
    True
    """

    degrees_of_freedom: float
    location: float = 0.0
    scale: float = 1.0
    discrete: ClassVar[bool] = False

    def __post_init__(self) -> None:
        degrees = checked_degrees(self.degrees_of_freedom)
        (location,) = arguments.finite("StudentT", location=self.location)
        (scale,) = arguments.positive("StudentT", scale=self.scale)
        object.__setattr__(self, "degrees_of_freedom", degrees)
        object.__setattr__(self, "location", location)
        object.__setattr__(self, "scale", scale)

    @property
    def support(self) -> tuple[float, float]:
        """All numbers."""
        return -np.inf, np.inf

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """The formula above, in logarithms."""
        values = arguments.points("StudentT", x)
        v = self.degrees_of_freedom
        if v == np.inf:
            return self._normal().log_density(values)
        top = log_gamma_half_step(0.5 * v) - 0.5 * np.log(v) - 0.5 * np.log(np.pi)
        return top - np.log(self.scale) - (0.5 * v + 0.5) * self._log_one_plus(values)

    def _log_one_plus(self, values: Floats) -> Floats:
        """`log(1 + z^2 / v)`, also where `z^2` or `z` itself is beyond the largest number."""
        root = np.sqrt(self.degrees_of_freedom)
        with np.errstate(over="ignore", divide="ignore"):
            half = np.abs(0.5 * values - 0.5 * self.location)
            ratio = 2 * (half / self.scale) / root
            logs = np.log(2.0) + np.log(half) - np.log(self.scale) - np.log(root)
            return np.where(ratio > 1e9, 2 * logs, np.log1p(ratio * ratio))

    def density(self, x: ArrayLike) -> Floats:
        """Density at each point."""
        return np.exp(self.log_density(x))

    # Distribution function

    def cdf(self, x: ArrayLike) -> Floats:
        """`P(X <= x)`, by the incomplete beta function."""
        values = arguments.points("StudentT", x)
        low = self._tail(values)
        return arguments.keep_missing(np.where(values < self.location, low, 1 - low), values)

    def quantile(self, level: ArrayLike) -> Floats:
        """Inverse of the cdf."""
        values = arguments.levels("StudentT", level)
        size = upper_tail_inverse(np.minimum(values, 1 - values), self.degrees_of_freedom)
        with np.errstate(over="ignore", invalid="ignore"):
            return self.location + self.scale * np.where(values < 0.5, -size, size)

    def probability(self, a: ArrayLike, b: ArrayLike) -> Floats:
        """`P(a <= X <= b)`."""
        low, high = arguments.interval("StudentT", a, b)
        tails = self._tail(low), self._tail(high)
        left, right = low < self.location, high < self.location
        # On one side of the median tails are subtracted; across it, both from one.
        across = 1 - tails[0] - tails[1]
        one_side = np.where(left & right, tails[1] - tails[0], tails[0] - tails[1])
        found = np.where(left & ~right, across, one_side)
        return arguments.keep_missing(found, low, high)

    def _tail(self, values: Floats) -> Floats:
        """Probability beyond `values`, on their side of the median."""
        with np.errstate(over="ignore"):
            size = 2 * np.abs((0.5 * values - 0.5 * self.location) / self.scale)
        return upper_tail(size, self.degrees_of_freedom)

    # Moments

    @property
    def mean(self) -> float:
        """The location, if there is more than one degree of freedom."""
        if self.degrees_of_freedom <= 1:
            raise InputError(
                f"A Student t law with {self.degrees_of_freedom:g} degrees of freedom has no mean; "
                "its median is `location`."
            )
        return self.location

    @property
    def variance(self) -> float:
        """`s^2 v / (v - 2)`, infinite for v from above 1 to 2."""
        v = self.degrees_of_freedom
        if v <= 1:
            raise InputError(
                f"A Student t law with {v:g} degrees of freedom has no mean and so no variance; "
                "its spread is `scale`."
            )
        if v <= 2:
            return np.inf
        with np.errstate(over="ignore", under="ignore"):
            return float(np.square(self.scale) * (1.0 if v == np.inf else v / (v - 2)))

    @property
    def mode(self) -> float:
        """The location."""
        return self.location

    @property
    def entropy(self) -> float:
        """`(v+1)/2 (digamma((v+1)/2) - digamma(v/2)) + log(sqrt(v) B(v/2, 1/2) s)` in nats."""
        v = self.degrees_of_freedom
        if v == np.inf:
            return self._normal().entropy + 0.0
        log_beta = 0.5 * np.log(np.pi) - log_gamma_half_step(0.5 * v)
        spread = 0.5 * np.log(v) + log_beta + np.log(self.scale)
        return float((0.5 * v + 0.5) * digamma_half_step(0.5 * v) + spread)

    # Sampling

    def sample(self, size: Size, random_state: RandomSource = None) -> Floats:
        """Independent values."""
        rng, v = stream(random_state), self.degrees_of_freedom
        draws = rng.standard_normal(size) if v == np.inf else rng.standard_t(v, size)
        with np.errstate(over="ignore"):
            return self.location + self.scale * draws

    # Estimation

    @classmethod
    def fit(
        cls,
        x: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        degrees_of_freedom: float | None = None,
    ) -> StudentT:
        """A maximum of the likelihood over location, scale and, if not given, degrees of freedom.

        The likelihood can have several maxima; the highest that Newton's method reaches from a
        robust and from a normal start is taken. It never falls on the way.

        Returns
        -------
        law : StudentT
            With `degrees_of_freedom=inf` if the tails of the sample are no heavier than a normal's.

        Raises
        ------
        InputError
            If all values are equal, or so many are equal that the likelihood has no bound.
        """
        values, weights = arguments.sample("StudentT", x, weight)
        known = None if degrees_of_freedom is None else checked_degrees(degrees_of_freedom)
        return cls(*most_likely(values, weights, known))

    @classmethod
    def fit_moments(cls, x: ArrayLike, weight: ArrayLike | None = None) -> StudentT:
        """The law with the sample's mean, variance and kurtosis k: `v = 4 + 6 / (k - 3)`.

        For `k <= 3` the normal law. There are always more than 4 degrees of freedom, because
        fewer have no kurtosis.
        """
        normal = Normal.fit(x, weight)
        values, weights = arguments.sample("StudentT", x, weight)
        scores = (values - normal.mean) / normal.standard_deviation
        fourth = np.average(scores**4, weights=weights)
        degrees = 4 + 6 / (fourth - 3) if fourth > 3 else np.inf
        shrink = 1.0 if degrees == np.inf else (degrees - 2) / degrees
        return cls(float(degrees), normal.mean, normal.standard_deviation * float(np.sqrt(shrink)))

    # Relations

    def affine(self, scale: float, shift: float = 0.0) -> StudentT:
        """The law of `scale X + shift`."""
        scale, shift = arguments.finite("An affine map", scale=scale, shift=shift)
        if scale == 0:
            raise InputError("A scale of 0 maps a law to a single point, which has no density.")
        return StudentT(
            self.degrees_of_freedom, scale * self.location + shift, abs(scale) * self.scale
        )

    def _normal(self) -> Normal:
        return Normal(self.location, self.scale * self.scale)


# --- Checks ---------------------------------------------------------------------------------------


def checked_degrees(value: float) -> float:
    """Degrees of freedom: a number above 0, or infinity."""
    if not (isinstance(value, Real) and float(value) > 0):
        raise InputError(f"StudentT needs degrees_of_freedom above 0 (or inf), got {value!r}.")
    return float(value)
