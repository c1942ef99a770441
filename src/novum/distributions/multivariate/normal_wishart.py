"""Normal-Wishart law: an unknown mean vector and an unknown precision matrix together.

    precision ~ Wishart(v, T),        mean | precision ~ Normal(m, (k precision)^-1)

The conjugate prior of a multivariate normal law. On its own the mean has a Student t law with
`v - d + 1` degrees of freedom and shape matrix (in place of the *squared* scale)
`T^-1 / (k (v - d + 1))`; given the mean, the precision has a Wishart law with one more degree of
freedom. A sample of pairs enters the likelihood through the sums of the precisions P and of their
log-determinants, the mean weighted by precisions, and the spread about it,

    c = P^-1 sum_i L_i mu_i,        s = sum_i (mu_i - c)' L_i (mu_i - c),

which merge as moments do: `s = s_a + s_b + (c_b - c_a)' P_a P^-1 P_b (c_b - c_a)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.distributions.multivariate.coordinates import checked_points, checked_table
from novum.distributions.multivariate.multivariate_normal import MultivariateNormal
from novum.distributions.multivariate.multivariate_student_t import MultivariateStudentT
from novum.distributions.multivariate.normal_gamma import Part, checked_part
from novum.distributions.multivariate.parameters import (
    ArrayParameters,
    checked_positive,
    checked_total,
    checked_vector,
)
from novum.distributions.multivariate.positive_definite import definite_root
from novum.distributions.multivariate.wishart import Wishart, WishartStatistics
from novum.distributions.univariate.log_gamma import ratio_deviance
from novum.numerics import Floats, cached_property

LOG_TWO_PI = float(np.log(2 * np.pi))


# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NormalWishartStatistics:
    """What the likelihood needs to know of a weighted sample of pairs.

    Parameters
    ----------
    precisions : WishartStatistics
        Weight, sum and log-determinants of the precisions.
    center : array (d,)
        Mean of the means, weighted by the precisions.
    spread : float
        Sum of squared distances of the means from the center, in units of the precisions.
    """

    precisions: WishartStatistics
    center: Floats
    spread: float

    @property
    def weight(self) -> float:
        """Number of pairs."""
        return self.precisions.weight

    def __add__(self, other: NormalWishartStatistics) -> NormalWishartStatistics:
        return self._merged(other, self.precisions + other.precisions, 1.0)

    def __sub__(self, other: NormalWishartStatistics) -> NormalWishartStatistics:
        """The statistics without the pairs of `other`, which must be among them."""
        return self._merged(other, self.precisions - other.precisions, -1.0)

    def _merged(
        self, other: NormalWishartStatistics, both: WishartStatistics, sign: float
    ) -> NormalWishartStatistics:
        if both.weight == 0:
            return NormalWishartStatistics(both.zero(), np.zeros_like(self.center), 0.0)
        if other.weight == 0:
            return self
        if self.weight == 0:
            return other
        away = other.center - self.center
        moved = definite_root(both.total, "The sum of precisions").solved(
            sign * (other.precisions.total @ away)
        )
        between = float(away @ (self.precisions.total @ moved))
        spread = self.spread + sign * other.spread + between
        if spread < -1e-9 * self.spread:
            raise InputError(
                "Cannot remove pairs that were never added: the spread would fall from "
                f"{self.spread:g} to {spread:g}. Remove only what was added."
            )
        return NormalWishartStatistics(both, self.center + moved, max(spread, 0.0))

    def __mul__(self, factor: float) -> NormalWishartStatistics:
        center = self.center if factor else np.zeros_like(self.center)
        return NormalWishartStatistics(factor * self.precisions, center, factor * self.spread)

    __rmul__ = __mul__

    def zero(self) -> NormalWishartStatistics:
        """The statistics of no pairs."""
        return 0.0 * self

    def isclose(self, other: NormalWishartStatistics, rtol: float = 1e-10) -> bool:
        """Equal within `rtol`; centers in units of their size or of the spread."""
        if not self.precisions.isclose(other.precisions, rtol) or self.weight == 0:
            return self.precisions.isclose(other.precisions, rtol)
        unit = 1 / np.sqrt(np.diagonal(self.precisions.total))
        size = np.maximum(np.abs(self.center), np.sqrt(self.spread) * unit)
        return bool(
            np.all(np.abs(self.center - other.center) <= rtol * size)
            and abs(self.spread - other.spread) <= rtol * max(self.spread, other.spread)
        )


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NormalWishart(ArrayParameters):
    """Joint law of a mean vector and a precision matrix.

    Parameters
    ----------
    mean : array (d,)
        Where the unknown mean is expected.
    strength : float
        How many observations the knowledge of the mean is worth.
    degrees_of_freedom : float
        Of the Wishart law of the precision, above d - 1.
    scale : array (d, d)
        Of that law; the precision is expected at `degrees_of_freedom * scale`.

    Examples
    --------
    >>> law = NormalWishart([0.0, 1.0], 2.0, 5.0, [[1.0, 0.0], [0.0, 0.25]])
    >>> law.marginal("mean").shape.tolist()
    [[0.125, 0.0], [0.0, 0.5]]
    >>> law.condition("mean", [0.0, 1.0]).degrees_of_freedom
    6.0
    """

    mean: Floats
    strength: float
    degrees_of_freedom: float
    scale: Floats

    def __post_init__(self) -> None:
        mean = checked_vector(self.mean, "The mean of a NormalWishart")
        strength = checked_positive(self.strength, "The strength of a NormalWishart")
        law = Wishart(self.degrees_of_freedom, self.scale)
        if law.size != mean.size:
            raise InputError(
                f"A mean of {mean.size} coordinates needs a scale of shape "
                f"({mean.size}, {mean.size}), got {law.scale.shape}."
            )
        self._store(mean=mean, strength=strength, scale=law.scale)
        self._store(degrees_of_freedom=law.degrees_of_freedom, _precision_law=law)

    @classmethod
    def from_inverse_scale(
        cls,
        mean: ArrayLike,
        strength: float,
        degrees_of_freedom: float,
        inverse_scale: ArrayLike,
    ) -> NormalWishart:
        """The law whose scale is the inverse of a matrix, as updates give it."""
        law = Wishart.from_inverse_scale(degrees_of_freedom, inverse_scale)
        return cls(np.asarray(mean, np.float64), strength, degrees_of_freedom, law.scale)

    @cached_property
    def _precision_law(self) -> Wishart:
        return Wishart(self.degrees_of_freedom, self.scale)

    @property
    def inverse_scale(self) -> Floats:
        return self._precision_law.inverse_scale

    @property
    def n_coordinates(self) -> int:
        return self.mean.size

    # Density

    def log_density(self, location: ArrayLike, precision: ArrayLike) -> Floats:
        """Log-density of means `(..., d)` and precisions `(..., d, d)`; `-inf` off the support."""
        mu = checked_points(location, self.n_coordinates, "NormalWishart")
        matrices = np.asarray(precision, np.float64)
        matrix_part = self._precision_law.log_density(matrices)
        away = mu - self.mean
        with np.errstate(over="ignore", invalid="ignore"):
            squares = self.strength * np.einsum("...i,...ij,...j->...", away, matrices, away)
            _, log_determinant = np.linalg.slogdet(matrices)
            given = 0.5 * (
                self.n_coordinates * (np.log(self.strength) - LOG_TWO_PI)
                + log_determinant
                - squares
            )
        missing = np.isnan(mu).any(axis=-1) | np.isnan(matrix_part)
        inside = np.isfinite(mu).all(axis=-1) & (matrix_part > -np.inf) & np.isfinite(given)
        result = np.where(inside, matrix_part + np.where(inside, given, 0.0), -np.inf)
        return np.where(missing, np.nan, result)

    def density(self, location: ArrayLike, precision: ArrayLike) -> Floats:
        with np.errstate(over="ignore"):
            return np.exp(self.log_density(location, precision))

    # Moments

    @property
    def expected_precision(self) -> Floats:
        """`v T`; the expectation of the mean is `mean` itself."""
        return self._precision_law.mean

    @property
    def covariance(self) -> Floats:
        """Of the mean: `T^-1 / (k (v - d - 1))`."""
        room = self.degrees_of_freedom - self.n_coordinates - 1
        if room <= 0:
            raise InputError(
                "The mean has a covariance only for degrees of freedom above "
                f"{self.n_coordinates + 1}; there are {self.degrees_of_freedom:g}."
            )
        return self.inverse_scale / (self.strength * room)

    @property
    def mode(self) -> tuple[Floats, Floats]:
        """`m` and `(v - d) T`, for degrees of freedom of at least d."""
        room = self.degrees_of_freedom - self.n_coordinates
        if room < 0:
            raise InputError(
                f"A NormalWishart has a mode from {self.n_coordinates} degrees of freedom on; it "
                f"has {self.degrees_of_freedom:g}, and its density is infinite at singular ones."
            )
        return self.mean, room * self.scale

    @property
    def entropy(self) -> float:
        """That of the precision plus that of the mean when the precision is known, in nats."""
        d, law = self.n_coordinates, self._precision_law
        given = d * (LOG_TWO_PI + 1 - np.log(self.strength)) - law.mean_log_determinant
        return law.entropy + 0.5 * float(given)

    # Sampling

    def sample(
        self, size: int | tuple[int, ...], random_state: RandomSource = None
    ) -> tuple[Floats, Floats]:
        """Means `(*size, d)` and precisions `(*size, d, d)`: first a precision, then a mean."""
        shape = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        rng = stream(random_state)
        precision = self._precision_law.sample(shape, rng)
        noise = rng.standard_normal((*shape, self.n_coordinates, 1))
        # With precision = L L', L'^-1 e has covariance precision^-1.
        lower = np.linalg.cholesky(precision)
        deviation = np.linalg.solve(np.swapaxes(lower, -1, -2), noise)[..., 0]
        return self.mean + deviation / np.sqrt(self.strength), precision

    # Estimation

    @staticmethod
    def statistics(
        location: ArrayLike, precision: ArrayLike, weight: ArrayLike | None = None
    ) -> NormalWishartStatistics:
        """Sums over pairs of means (n, d) and precisions (n, d, d)."""
        means, weights = checked_table(location, weight, "NormalWishart")
        matrices, _ = checked_table(precision, weight, "NormalWishart", cell_axes=2)
        if matrices.shape != (*means.shape, means.shape[1]) or not np.all(np.isfinite(means)):
            raise InputError(
                "A NormalWishart is estimated from finite means of shape (n, d) with precisions of "
                f"shape (n, d, d); got {means.shape} and {matrices.shape}."
            )
        precisions = Wishart.statistics(matrices, weights)
        if not len(means):
            return NormalWishartStatistics(precisions, np.zeros(means.shape[1]), 0.0)
        # Differences to one of the means lose no digits to a common offset.
        origin = means[0]
        root = definite_root(precisions.total, "The sum of precisions")
        pulls = np.einsum("n,nij,nj->i", weights, matrices, means - origin)
        center = origin + root.solved(pulls)
        away = means - center
        spread = float(np.einsum("n,ni,nij,nj->", weights, away, matrices, away))
        return NormalWishartStatistics(precisions, center, spread)

    @classmethod
    def from_statistics(cls, statistics: NormalWishartStatistics) -> NormalWishart:
        """Largest likelihood: a Wishart fit, the weighted center, and strength `n d / s`."""
        checked_total(statistics.weight, "NormalWishart")
        if not statistics.spread > 0:
            raise InputError(
                "All means are equal, and the likelihood of a NormalWishart grows without bound as "
                "its strength does. Give means that differ."
            )
        law = Wishart.from_statistics(statistics.precisions)
        strength = statistics.weight * statistics.center.size / statistics.spread
        return cls(statistics.center, strength, law.degrees_of_freedom, law.scale)

    @classmethod
    def fit(
        cls, location: ArrayLike, precision: ArrayLike, weight: ArrayLike | None = None
    ) -> NormalWishart:
        """Maximum likelihood."""
        return cls.from_statistics(cls.statistics(location, precision, weight))

    # Relations

    def kl(self, other: NormalWishart) -> float:
        """That of the precisions plus the expected one of the means given the precision."""
        d = self.n_coordinates
        if d != other.n_coordinates:
            raise InputError(
                f"Laws of {d} and of {other.n_coordinates} coordinates do not go together."
            )
        away = (self.mean - other.mean) @ self._precision_law.root.lower
        distance = other.strength * self.degrees_of_freedom * float(away @ away)
        ratio = float(ratio_deviance(other.strength / self.strength))
        return self._precision_law.kl(other._precision_law) + 0.5 * (d * ratio + distance)

    @overload
    def marginal(self, part: Literal["mean"]) -> MultivariateStudentT: ...
    @overload
    def marginal(self, part: Literal["precision"]) -> Wishart: ...
    def marginal(self, part: Part) -> MultivariateStudentT | Wishart:
        """The law of the mean, `t(v - d + 1, m, T^-1 / (k (v - d + 1)))`, or of the precision."""
        if checked_part(part) == "precision":
            return self._precision_law
        degrees = self.degrees_of_freedom - self.n_coordinates + 1
        shape = self.inverse_scale / (self.strength * degrees)
        return MultivariateStudentT(degrees, self.mean, shape)

    @overload
    def condition(self, part: Literal["mean"], value: ArrayLike) -> Wishart: ...
    @overload
    def condition(self, part: Literal["precision"], value: ArrayLike) -> MultivariateNormal: ...
    def condition(self, part: Part, value: ArrayLike) -> Wishart | MultivariateNormal:
        """The law of the other part, when the one named is known.

        Given the mean it is `Wishart(v + 1, (T^-1 + k (mu - m)(mu - m)')^-1)`.
        """
        if checked_part(part) == "precision":
            root = definite_root(value, "A precision")
            return MultivariateNormal(self.mean, root.inverse / self.strength)
        known = checked_vector(value, "A known mean")
        away = checked_points(known, self.n_coordinates, "NormalWishart") - self.mean
        # With T = L L' and q = L'(mu - m) the new scale is L (I - c q q')^2 L', a product that
        # stays definite where the difference of Sherman and Morrison's formula need not.
        lower = self._precision_law.root.lower
        q = away @ lower
        square = float(q @ q)
        if square > 0:
            shrunk = 1 / np.sqrt(1 + self.strength * square)
            lower = lower - np.outer(lower @ q, q) * ((1 - shrunk) / square)
        return Wishart(self.degrees_of_freedom + 1, lower @ lower.T)
