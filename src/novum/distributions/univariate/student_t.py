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
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.distributions.protocol import Size
from novum.distributions.univariate import arguments
from novum.distributions.univariate.log_gamma import digamma_half_step, log_gamma_half_step
from novum.distributions.univariate.normal import Normal
from novum.numerics import Floats

if TYPE_CHECKING:
    from novum.distributions.multivariate.multivariate_student_t import MultivariateStudentT
    from novum.distributions.multivariate.student_t_fit import ScaleSums

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
        return student_t_log_density(values, v, self.location, self.scale)

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
        probabilities = np.where(left & ~right, across, one_side)
        return arguments.keep_missing(probabilities, low, high)

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
        from novum.distributions.univariate.student_t_likelihood import most_likely

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

    # As a component of a hidden model: that of vectors with one coordinate

    @classmethod
    def first(
        cls, x: ArrayLike, weight: ArrayLike, *, degrees_of_freedom: float | None = None
    ) -> StudentT:
        """A law to start from: the sample's mean and variance."""
        from novum.distributions.multivariate.student_t_fit import first_student_t

        law = first_student_t(_column(x), weight, degrees_of_freedom)
        return law.marginal(0)  # type: ignore[return-value]

    def expected_statistics(
        self, x: ArrayLike, weight: ArrayLike, *, prior: ArrayLike | None = None
    ) -> ScaleSums:
        """Expected sums of values and their hidden scales under this law; they add."""
        return self._of_vectors().expected_statistics(_column(x), weight, prior=prior)

    def prior_log_density(self, x: ArrayLike) -> Floats:
        """Log-density of values that were seen in advance: normal; 0 where missing."""
        logs = self._of_vectors().prior_log_density(arguments.points("StudentT", x)[..., None])
        return np.where(np.isnan(logs), 0.0, logs)

    def _of_vectors(self) -> MultivariateStudentT:
        from novum.distributions.multivariate.multivariate_student_t import MultivariateStudentT

        square = np.array([[self.scale * self.scale]])
        return MultivariateStudentT(self.degrees_of_freedom, np.array([self.location]), square)

    def maximized(
        self, statistics: ScaleSums, *, degrees_of_freedom: float | None = None
    ) -> StudentT:
        """The likeliest law of such sums: one step of the EM algorithm."""
        from novum.distributions.multivariate.student_t_fit import likeliest_student_t

        return likeliest_student_t(statistics, degrees_of_freedom).marginal(0)  # type: ignore[return-value]

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


def _column(x: ArrayLike) -> Floats:
    return arguments.points("StudentT", x).reshape(-1, 1)


# --- Formula --------------------------------------------------------------------------------------


def student_t_log_density(
    x: Floats, degrees: float | Floats, location: float | Floats, scale: float | Floats
) -> Floats:
    """The logarithm of the density for any arrays that broadcast; NaN stays NaN.

    `log(1 + z^2 / v)` is right also where `z^2` or `z` itself is beyond the largest number.
    """
    root = np.sqrt(degrees)
    top = log_gamma_half_step(0.5 * np.asarray(degrees)) - np.log(root) - 0.5 * np.log(np.pi)
    unit = 0.5 * scale * root
    with np.errstate(over="ignore", divide="ignore"):
        # Halved before the difference: it may be twice the largest number.
        half = np.abs(np.asarray(0.5 * x - 0.5 * location))
        tail = np.asarray(half / unit)
        large = tail > 1e9
        np.log1p(np.square(tail, out=tail), out=tail)
        if large.any():
            tail = np.where(large, 2 * (np.log(half) - np.log(unit)), tail)
    return (top - np.log(scale)) - (0.5 * degrees + 0.5) * tail


# --- Checks ---------------------------------------------------------------------------------------


def checked_degrees(value: float) -> float:
    """Degrees of freedom: a number above 0, or infinity."""
    if not (isinstance(value, Real) and float(value) > 0):
        raise InputError(f"StudentT needs degrees_of_freedom above 0 (or inf), got {value!r}.")
    return float(value)


# --- Tails ----------------------------------------------------------------------------------------
#
# Tails of the standard Student t law and their inverse, to full precision at any distance.
#
#     P(T > t) = I_y(v/2, 1/2) / 2,    y = v / (v + t^2),    t >= 0
#
# With `r = t / sqrt(v)` the function is evaluated at `1/(1 + r^2)` or, near the middle, as the
# complement at `r^2/(1 + r^2)`, whichever is far from 1. Beyond the range of `r^2` the tail is a
# power, `P(T > t) = r^-v / (v B(v/2, 1/2))`.


# From here on the law and the normal law differ by less than the last digit, tails included.
_NORMAL = 1e20
# Beyond this r the power law is exact to the last digit, and r^2 stays below the largest number.
_FAR = 1e100


def upper_tail(t: Floats, degrees: float) -> Floats:
    """`P(T > t)` for `t >= 0`.

    >>> float(upper_tail(np.float64(1.0), 1.0).round(12))
    0.25
    """
    if degrees >= _NORMAL:
        return special.ndtr(-t)
    r = t / np.sqrt(degrees)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        square = np.square(np.minimum(r, _FAR))
        center = special.betainc(0.5, 0.5 * degrees, square / (1 + square))
        inner = special.betaincc(0.5, 0.5 * degrees, square / (1 + square))
        # Next to the median the complement of the complement is the exact one.
        inner = np.where(center < 0.5, 1 - center, inner)
        outer = special.betainc(0.5 * degrees, 0.5, 1 / (1 + square))
        far = np.exp(-degrees * np.log(r) - _log_constant(degrees))
    return np.where(r > _FAR, far, 0.5 * np.where(r < 1, inner, outer))


def upper_tail_inverse(p: Floats, degrees: float) -> Floats:
    """The `t >= 0` with `P(T > t) = p`, for p from 0 to 1/2."""
    if degrees >= _NORMAL:
        return np.abs(special.ndtri(p))
    half = 0.5 * degrees
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        # Near the median 1 - 2p is exact, in the tail 2p is.
        middle = special.betaincinv(0.5, half, 1 - 2 * p)
        tail = special.betainccinv(0.5, half, 2 * p)
        y = np.where(p > 0.25, middle, tail)
        z = special.betaincinv(half, 0.5, 2 * p)
        r = np.where(y < 0.5, np.sqrt(y / (1 - y)), np.sqrt((1 - z) / z))
        far = np.exp(-(np.log(p) + _log_constant(degrees)) / degrees)
    return np.sqrt(degrees) * np.where((y >= 0.5) & (z < _FAR**-2), far, r)


def _log_constant(degrees: float) -> Floats:
    """`log(v B(v/2, 1/2))`."""
    return np.log(degrees) + 0.5 * np.log(np.pi) - log_gamma_half_step(0.5 * degrees)
