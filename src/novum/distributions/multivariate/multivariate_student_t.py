"""Multivariate Student t law: a normal law with heavy tails, and what is left of it when its
precision is not known.

    p(x) = Gamma((v + d)/2) / (Gamma(v/2) (v pi)^(d/2) |S|^(1/2)) (1 + q/v)^(-(v + d)/2),
    q = (x - m)' S^-1 (x - m)

S is the *shape*, which stands where a normal law has its covariance; the covariance is
`S v / (v - 2)`. With infinite degrees of freedom it is the normal law. Conditionals are Student t
laws again, with more degrees of freedom and a shape that grows with the distance of what was seen.

There are no sums that tell all about a sample; the likelihood is maximized by the EM algorithm
(`student_t_fit`), which weights every row by `(v + d) / (v + q)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.distributions.multivariate.coordinates import (
    checked_points,
    chosen_and_others,
    fixed_and_free,
    log_density_by_pattern,
)
from novum.distributions.multivariate.ellipsoid import Ellipsoid, ellipsoid_of
from novum.distributions.multivariate.matrix_gamma import log_gamma_ratio
from novum.distributions.multivariate.parameters import ArrayParameters, checked_vector
from novum.distributions.multivariate.positive_definite import DefiniteRoot, definite_root
from novum.distributions.univariate.log_gamma import log_minus_digamma
from novum.numerics import Floats, Positions, cached_property

if TYPE_CHECKING:
    from novum.core.learners import Certificate
    from novum.distributions.multivariate.student_t_fit import ScaleSums
    from novum.distributions.univariate.student_t import StudentT

LOG_TWO_PI = float(np.log(2 * np.pi))
_NAME = "The shape of a MultivariateStudentT"


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MultivariateStudentT(ArrayParameters):
    """Student t law of d coordinates.

    Parameters
    ----------
    degrees_of_freedom : float
        Positive; `inf` gives the normal law.
    location : array (d,)
    shape : array (d, d)
        Symmetric positive definite; a *squared* scale, not a precision.

    Notes
    -----
    As for `MultivariateNormal`, `log_density` is NaN at points with missing coordinates and
    `log_density_observed` integrates them out.

    Examples
    --------
    >>> law = MultivariateStudentT(3.0, [0.0, 0.0], [[1.0, 0.0], [0.0, 4.0]])
    >>> law.covariance.tolist()
    [[3.0, 0.0], [0.0, 12.0]]
    >>> law.condition([0], [3.0])
    MultivariateStudentT(degrees_of_freedom=4.0, location=array([0.]), shape=array([[12.]]))
    """

    degrees_of_freedom: float
    location: Floats
    shape: Floats
    takes_missing_cells: ClassVar[bool] = True

    def __post_init__(self) -> None:
        location = checked_vector(self.location, "The location of a MultivariateStudentT")
        degrees = float(self.degrees_of_freedom)
        if not degrees > 0:
            raise InputError(
                "The degrees of freedom of a MultivariateStudentT must be above 0, "
                f"got {self.degrees_of_freedom!r}."
            )
        shape = np.array(self.shape, np.float64)
        if shape.shape != (location.size, location.size):
            raise InputError(
                f"A location of {location.size} coordinates needs a shape matrix of shape "
                f"({location.size}, {location.size}), got {shape.shape}."
            )
        self._store(degrees_of_freedom=degrees, location=location, shape=shape)
        # Making the root refuses what is not symmetric, so only rounding is averaged here.
        _ = self.root
        shape = shape / 2 + shape.T / 2
        shape.setflags(write=False)
        self._store(shape=shape)

    @cached_property
    def root(self) -> DefiniteRoot:
        """The scaled triangular root of the shape."""
        return definite_root(self.shape, _NAME)

    @property
    def n_coordinates(self) -> int:
        return self.location.size

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """Log-density of points `(..., d)`."""
        distances = self.mahalanobis(x)
        return self._log_constant() - tail_term(distances, self.degrees_of_freedom, self.root.size)

    def density(self, x: ArrayLike) -> Floats:
        with np.errstate(over="ignore"):
            return np.exp(self.log_density(x))

    def log_density_observed(self, x: ArrayLike) -> Floats:
        """Log-density of the coordinates that are present; NaN is missing and integrated out."""
        points = checked_points(x, self.n_coordinates, "MultivariateStudentT")
        if not np.isnan(points).any():
            return self.log_density(points)
        return log_density_by_pattern(points, lambda present: self._block(present).log_density)

    def mahalanobis(self, x: ArrayLike) -> Floats:
        """Distances `sqrt((x - m)' S^-1 (x - m))` of points `(..., d)` from the location."""
        points = checked_points(x, self.n_coordinates, "MultivariateStudentT")
        return self.root.lengths(points - self.location)

    def _log_constant(self) -> float:
        return log_constant(self.degrees_of_freedom, self.root)

    # Distribution function

    def contour(self, probability: float) -> Ellipsoid:
        """The ellipsoid of constant density whose inside has this probability.

        Its squared radius in units of the shape is d times a quantile of the F law with d and v
        degrees of freedom.
        """
        if not 0 <= probability < 1:
            raise InputError(
                f"A contour holds a probability of at least 0 and below 1, got {probability!r}."
            )
        d, v = self.n_coordinates, self.degrees_of_freedom
        if np.isinf(v):
            square = 2 * special.gammaincinv(d / 2, probability)
        else:
            share = special.betaincinv(d / 2, v / 2, probability)
            left = special.betainccinv(v / 2, d / 2, probability)
            square = v * share / left
        return ellipsoid_of(self.location, self.shape, float(np.sqrt(square)))

    # Moments

    @property
    def mean(self) -> Floats:
        """The location, for more than one degree of freedom."""
        if self.degrees_of_freedom <= 1:
            raise InputError(
                "A Student t law has a mean only above 1 degree of freedom; it has "
                f"{self.degrees_of_freedom:g}. Its center is `location`."
            )
        return self.location

    @property
    def covariance(self) -> Floats:
        """`S v / (v - 2)`, for more than two degrees of freedom."""
        v = self.degrees_of_freedom
        if v <= 2:
            raise InputError(
                "A Student t law has a covariance only above 2 degrees of freedom; it has "
                f"{v:g}. Its spread is described by `shape`."
            )
        return self.shape if np.isinf(v) else self.shape * (v / (v - 2))

    @property
    def variance(self) -> Floats:
        """Variance of each coordinate."""
        return np.diagonal(self.covariance)

    @property
    def mode(self) -> Floats:
        return self.location

    @property
    def entropy(self) -> float:
        """`-E[log p(x)]` in nats."""
        v, d = self.degrees_of_freedom, self.n_coordinates
        if np.isinf(v):
            return 0.5 * d - self._log_constant()
        # digamma((v + d)/2) - digamma(v/2), from logarithms that do not cancel.
        bend = log_minus_digamma(v / 2) - log_minus_digamma((v + d) / 2)
        return float(0.5 * (v + d) * (np.log1p(d / v) + bend) - self._log_constant())

    # Sampling

    def sample(self, size: int | tuple[int, ...], random_state: RandomSource = None) -> Floats:
        """Points of shape `(*size, d)`: a normal vector divided by the root of a chi-square."""
        shape = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        rng, v = stream(random_state), self.degrees_of_freedom
        points = self.root.colored(rng.standard_normal((*shape, self.n_coordinates)))
        if np.isfinite(v):
            squares = rng.standard_gamma(v / 2, shape) / (v / 2)
            with np.errstate(divide="ignore", over="ignore"):
                points = points / np.sqrt(squares)[..., None]
        return self.location + points

    # Estimation

    @classmethod
    def fit(
        cls,
        x: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        degrees_of_freedom: float | None = None,
    ) -> MultivariateStudentT:
        """Maximum likelihood by the EM algorithm; warns if it stopped before it was done.

        Parameters
        ----------
        x : array (n, d)
        weight : array (n,), optional
        degrees_of_freedom : float, optional
            If they are known; otherwise they are estimated, and infinite for tails no heavier
            than those of a normal law.
        """
        from novum.core.learners import warn_if_stopped

        law, certificate = cls.fit_certified(x, weight, degrees_of_freedom=degrees_of_freedom)
        warn_if_stopped(certificate, cls.__name__)
        return law

    @classmethod
    def fit_certified(
        cls,
        x: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        degrees_of_freedom: float | None = None,
        tol: float = 1e-12,
        max_iter: int = 2000,
    ) -> tuple[MultivariateStudentT, Certificate]:
        """The fit and its certificate: the rising likelihood and the size of its gradient.

        Parameters
        ----------
        x, weight, degrees_of_freedom
            As for `fit`.
        tol : float
            Ends when a step changes the mean log-likelihood by less.
        max_iter : int
        """
        from novum.distributions.multivariate.student_t_fit import fit_student_t

        return fit_student_t(x, weight, degrees_of_freedom, tol, max_iter)

    @classmethod
    def fit_moments(cls, x: ArrayLike, weight: ArrayLike | None = None) -> MultivariateStudentT:
        """The law with the sample's mean, covariance and Mardia's kurtosis.

        `E[q^2] = d (d + 2) (v - 2) / (v - 4)` with q in units of the covariance gives v above 4,
        infinite where the sample has no heavier tails than a normal law.
        """
        from novum.distributions.multivariate.student_t_fit import match_moments

        return match_moments(x, weight)

    # As a component of a hidden model

    @classmethod
    def first(
        cls, x: ArrayLike, weight: ArrayLike, *, degrees_of_freedom: float | None = None
    ) -> MultivariateStudentT:
        """A law to start from: the sample's mean and covariance."""
        from novum.distributions.multivariate.student_t_fit import first_student_t

        return first_student_t(x, weight, degrees_of_freedom)

    def expected_statistics(
        self, x: ArrayLike, weight: ArrayLike, *, prior: ArrayLike | None = None
    ) -> ScaleSums:
        """Expected sums of rows and their hidden scales under this law; they add."""
        from novum.distributions.multivariate.student_t_fit import expected_scales

        return expected_scales(self, x, weight, prior)

    def prior_log_density(self, x: ArrayLike) -> Floats:
        """Log-density of rows that were seen in advance: that of the normal law of scale 1."""
        return MultivariateStudentT(np.inf, self.location, self.shape).log_density_observed(x)

    def maximized(
        self, statistics: ScaleSums, *, degrees_of_freedom: float | None = None
    ) -> MultivariateStudentT:
        """The likeliest law of such sums: one step of the EM algorithm."""
        from novum.distributions.multivariate.student_t_fit import likeliest_student_t

        return likeliest_student_t(statistics, degrees_of_freedom)

    # Relations

    def marginal(self, indices: ArrayLike) -> MultivariateStudentT | StudentT:
        """The law of some of the coordinates: the same degrees of freedom, a block of the shape.

        One coordinate, given as a number, has a `StudentT` law; in a list it keeps this class.
        """
        chosen, _ = chosen_and_others(indices, self.n_coordinates)
        if np.ndim(indices) == 0:
            from novum.distributions.univariate.student_t import StudentT

            place = int(chosen[0])
            scale = float(np.sqrt(self.shape[place, place]))
            return StudentT(self.degrees_of_freedom, float(self.location[place]), scale)
        return self._block(chosen)

    def _block(self, chosen: Positions) -> MultivariateStudentT:
        return MultivariateStudentT(
            self.degrees_of_freedom, self.location[chosen], self.shape[np.ix_(chosen, chosen)]
        )

    def condition(self, indices: ArrayLike, values: ArrayLike) -> MultivariateStudentT:
        """The law of the other coordinates when those of `indices` have the given values.

        With q the squared distance of the k values, degrees of freedom `v + k`, location
        `m_a + S_ab S_bb^-1 (x_b - m_b)` and shape `(v + q)/(v + k) (S_aa - S_ab S_bb^-1 S_ba)`.
        """
        fixed, free, given = fixed_and_free(indices, values, self.n_coordinates)
        order, k = np.concatenate([fixed, free]), fixed.size
        joint = definite_root(self.shape[np.ix_(order, order)], _NAME)
        seen = DefiniteRoot(joint.unit[:k], joint.factor[:k, :k]).whitened(
            given - self.location[fixed]
        )
        location = self.location[free] + joint.lower[k:, :k] @ seen
        half, v = joint.lower[k:, k:], self.degrees_of_freedom
        growth = 1.0 if np.isinf(v) else (v + float(seen @ seen)) / (v + k)
        return MultivariateStudentT(v + k, location, growth * (half @ half.T))

    def affine(self, matrix: ArrayLike, shift: ArrayLike = 0.0) -> MultivariateStudentT:
        """The law of `A x + b` for A of full row rank: location `A m + b`, shape `A S A'`."""
        map_ = np.atleast_2d(np.asarray(matrix, np.float64))
        if map_.ndim != 2 or map_.shape[1] != self.n_coordinates:
            raise InputError(
                f"A map of {self.n_coordinates} coordinates has shape (k, {self.n_coordinates}), "
                f"got {np.shape(matrix)}."
            )
        half = map_ @ self.root.lower
        location = map_ @ self.location + np.asarray(shift, np.float64)
        return MultivariateStudentT(self.degrees_of_freedom, location, half @ half.T)


# --- Parts of the density -------------------------------------------------------------------------


def log_constant(degrees_of_freedom: float, root: DefiniteRoot) -> float:
    """Log-density at the location."""
    constant = -0.5 * (root.size * LOG_TWO_PI + root.log_determinant)
    if np.isinf(degrees_of_freedom):
        return constant
    return constant + float(log_gamma_ratio(degrees_of_freedom / 2, root.size / 2))


def tail_term(distance: Floats, degrees_of_freedom: float, size: int) -> Floats:
    """`(v + d)/2 log(1 + q/v)` for `q = distance^2`, also where q over- or underflows."""
    v = degrees_of_freedom
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        if np.isinf(v):
            return 0.5 * distance * distance
        ratio = distance / np.sqrt(v)
        far = 2 * np.log(ratio)
        term = np.where(ratio < 1e150, np.log1p(np.minimum(ratio, 1e150) ** 2), far)
        return 0.5 * (v + size) * term
