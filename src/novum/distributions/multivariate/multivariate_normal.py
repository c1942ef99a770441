"""Multivariate normal law.

    p(x | m, C) = exp(-(x - m)' C^-1 (x - m) / 2) / sqrt((2 pi)^d |C|)

Everything is read off the triangular root `C = L L'` of scaled columns (`positive_definite`):
`L^-1 (x - m)` is a vector of d independent standard normals, its length is the Mahalanobis
distance, and the rows of L of the last coordinates, once the first are known, are the root of the
conditional covariance. The density is constant on ellipsoids whose half-axes are proportional to
the square roots of the eigenvalues of C.

A singular C is a valid law of points on a flat: it has moments, samples, marginals and
conditionals, but no density, and what needs one says which columns depend on each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.distributions.multivariate.coordinates import (
    checked_points,
    checked_table,
    chosen_and_others,
    fixed_and_free,
    log_density_by_pattern,
)
from novum.distributions.multivariate.ellipsoid import Ellipsoid, ellipsoid_of
from novum.distributions.multivariate.parameters import (
    ArrayParameters,
    checked_total,
    checked_vector,
)
from novum.distributions.multivariate.positive_definite import (
    DefiniteRoot,
    SemidefiniteRoot,
    SingularMatrixError,
    definite_root,
    semidefinite_root,
)
from novum.distributions.univariate.log_gamma import ratio_deviance
from novum.numerics import Floats, Moments, Positions, cached_property, moments_of, one_blas_thread

if TYPE_CHECKING:
    from novum.distributions.univariate.normal import Normal

LOG_TWO_PI = float(np.log(2 * np.pi))


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MultivariateNormal(ArrayParameters):
    """Normal law of d coordinates.

    Parameters
    ----------
    mean : array (d,)
    covariance : array (d, d)
        Symmetric and positive semidefinite; definite where a density is asked for.

    Notes
    -----
    A point with a missing coordinate (NaN) has no density: `log_density` gives NaN there.
    `log_density_observed` integrates missing coordinates out instead. Statistics are `Moments`.

    Examples
    --------
    >>> law = MultivariateNormal([0.0, 1.0], [[4.0, 2.0], [2.0, 2.0]])
    >>> law.mahalanobis([2.0, 1.0]).round(12)
    np.float64(1.414213562373)
    >>> law.marginal([1])
    MultivariateNormal(mean=array([1.]), covariance=array([[2.]]))
    >>> law.condition([0], [2.0])
    MultivariateNormal(mean=array([2.]), covariance=array([[1.]]))
    """

    mean: Floats
    covariance: Floats

    def __post_init__(self) -> None:
        mean = checked_vector(self.mean, "The mean of a MultivariateNormal")
        covariance = np.array(self.covariance, np.float64)
        if covariance.shape != (mean.size, mean.size):
            raise InputError(
                f"A mean of {mean.size} coordinates needs a covariance of shape "
                f"({mean.size}, {mean.size}), got {covariance.shape}."
            )
        self._store(mean=mean, covariance=covariance)
        if self._definite is None:
            semidefinite_root(covariance, _NAME)
        # Both roots refuse what is not symmetric, so only rounding is averaged here.
        covariance = covariance / 2 + covariance.T / 2
        covariance.setflags(write=False)
        self._store(covariance=covariance)

    @property
    def n_coordinates(self) -> int:
        return self.mean.size

    @property
    def is_singular(self) -> bool:
        """Whether some combination of the coordinates is constant, so that there is no density."""
        return self._definite is None

    @cached_property
    def root(self) -> DefiniteRoot:
        """The scaled triangular root of the covariance; raises where it is singular."""
        known = self._definite
        return definite_root(self.covariance, _NAME) if known is None else known

    @cached_property
    def _definite(self) -> DefiniteRoot | None:
        try:
            return definite_root(self.covariance, _NAME)
        except SingularMatrixError:
            return None

    @cached_property
    def _any_root(self) -> DefiniteRoot | SemidefiniteRoot:
        return semidefinite_root(self.covariance, _NAME) if self.is_singular else self.root

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """`-(d log(2 pi) + log |C| + (x - m)' C^-1 (x - m)) / 2` of points `(..., d)`."""
        points = checked_points(x, self.n_coordinates, "MultivariateNormal")
        constant = self.n_coordinates * LOG_TWO_PI + self.root.log_determinant
        return -0.5 * (self.root.squared_lengths(points - self.mean) + constant)

    def density(self, x: ArrayLike) -> Floats:
        return np.exp(self.log_density(x))

    def log_density_observed(self, x: ArrayLike) -> Floats:
        """Log-density of the coordinates that are present; NaN is missing and integrated out.

        Points of equal pattern share one factorization. A point without any coordinate has
        log-density 0, the logarithm of the total probability.
        """
        points = checked_points(x, self.n_coordinates, "MultivariateNormal")
        if not np.isnan(points).any():
            return self.log_density(points)
        return log_density_by_pattern(points, lambda present: self._block(present).log_density)

    def mahalanobis(self, x: ArrayLike) -> Floats:
        """Distances `sqrt((x - m)' C^-1 (x - m))` of points `(..., d)` from the mean."""
        points = checked_points(x, self.n_coordinates, "MultivariateNormal")
        return self.root.lengths(points - self.mean)

    # Distribution function

    def contour(self, probability: float) -> Ellipsoid:
        """The ellipsoid of constant density whose inside has this probability.

        Its squared Mahalanobis radius is the quantile of the chi-square law with d degrees of
        freedom.

        Examples
        --------
        >>> law = MultivariateNormal([0.0, 0.0], [[4.0, 0.0], [0.0, 1.0]])
        >>> law.contour(0.95).half_axes.round(3).tolist()
        [4.895, 2.448]
        """
        if not 0 <= probability < 1:
            raise InputError(
                f"A contour holds a probability of at least 0 and below 1, got {probability!r}."
            )
        radius = np.sqrt(2 * special.gammaincinv(self.n_coordinates / 2, probability))
        return ellipsoid_of(self.mean, self.covariance, float(radius))

    # Moments

    @property
    def variance(self) -> Floats:
        """Variance of each coordinate."""
        return np.diagonal(self.covariance)

    @property
    def mode(self) -> Floats:
        return self.mean

    @property
    def entropy(self) -> float:
        """`(d log(2 pi e) + log |C|) / 2` nats."""
        return 0.5 * (self.n_coordinates * (LOG_TWO_PI + 1) + self.root.log_determinant)

    # Sampling

    def sample(self, size: int | tuple[int, ...], random_state: RandomSource = None) -> Floats:
        """Points of shape `(*size, d)`."""
        shape = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        lower = self._any_root.lower
        noise = stream(random_state).standard_normal((*shape, lower.shape[1]))
        with one_blas_thread():
            return self.mean + noise @ lower.T

    # Estimation

    @staticmethod
    def statistics(x: ArrayLike, weight: ArrayLike | None = None) -> Moments:
        """Weight, mean and scatter of the rows of `x`, of shape (n, d)."""
        rows, weights = checked_table(x, weight, "MultivariateNormal")
        try:
            return moments_of(rows, None if weight is None else weights)
        except ValueError as error:
            raise InputError(str(error)) from None

    @staticmethod
    def completed_statistics(
        x: ArrayLike, weight: ArrayLike | None = None, *, law: MultivariateNormal | None = None
    ) -> Moments:
        """Expected moments of rows with missing cells, under the law or independent columns."""
        from novum.distributions.multivariate import completion

        name = "MultivariateNormal"
        if law is None:
            mean, covariance = completion.independent_columns(x, weight, name)
        else:
            mean, covariance = law.mean, law.covariance
        return completion.completed_moments(x, weight, mean, covariance, name)

    @classmethod
    def from_statistics(cls, statistics: Moments) -> MultivariateNormal:
        """The mean and the covariance of largest likelihood, `S / W`.

        With fewer than d + 1 rows, constant or dependent columns the covariance is singular and
        the likelihood has no maximum: the law is the limit, which has no density.
        """
        checked_total(statistics.weight, "MultivariateNormal")
        return cls(statistics.mean, statistics.covariance())

    @classmethod
    def fit(cls, x: ArrayLike, weight: ArrayLike | None = None) -> MultivariateNormal:
        return cls.from_statistics(cls.statistics(x, weight))

    @classmethod
    def fit_moments(cls, x: ArrayLike, weight: ArrayLike | None = None) -> MultivariateNormal:
        """The law of the sample's mean and covariance, which is also that of largest likelihood."""
        return cls.fit(x, weight)

    # Relations

    def kl(self, other: MultivariateNormal) -> float:
        """Divergence `E[log p(x) - log q(x)]` under this law p, in nats.

        With `s` the singular values of `L_q^-1 L_p` it is
        `(sum (s^2 - 1 - log s^2) + |L_q^-1 (m_p - m_q)|^2) / 2`; infinite from a singular law.
        """
        _check_same_size(self, other)
        far = other.root.squared_lengths(self.mean - other.mean)
        if self.is_singular:
            return float("inf")
        return 0.5 * (log_determinant_divergence(self.root, other.root) + float(far))

    def marginal(self, indices: ArrayLike) -> MultivariateNormal | Normal:
        """The law of some of the coordinates, in the order given.

        One coordinate, given as a number, has a `Normal` law; in a list it keeps this class.
        """
        chosen, _ = chosen_and_others(indices, self.n_coordinates)
        if np.ndim(indices) == 0:
            from novum.distributions.univariate.normal import Normal

            place = int(chosen[0])
            return Normal(float(self.mean[place]), float(self.covariance[place, place]))
        return self._block(chosen)

    def _block(self, chosen: Positions) -> MultivariateNormal:
        return MultivariateNormal(self.mean[chosen], self.covariance[np.ix_(chosen, chosen)])

    def condition(self, indices: ArrayLike, values: ArrayLike) -> MultivariateNormal:
        """The law of the other coordinates when those of `indices` have the given values.

        `m_a + C_ab C_bb^-1 (v - m_b)` and `C_aa - C_ab C_bb^-1 C_ba`.
        """
        fixed, free, given = fixed_and_free(indices, values, self.n_coordinates)
        away = given - self.mean[fixed]
        if self.is_singular:
            return self._condition_on_flat(fixed, free, away)
        order = np.concatenate([fixed, free])
        joint = definite_root(self.covariance[np.ix_(order, order)], _NAME)
        k = fixed.size
        # The triangular root of the joint covariance holds that of the conditional one: a product
        # with itself stays definite, which the difference of the formula need not.
        known = DefiniteRoot(joint.unit[:k], joint.factor[:k, :k]).whitened(away)
        mean = self.mean[free] + joint.lower[k:, :k] @ known
        return MultivariateNormal(mean, joint.lower[k:, k:] @ joint.lower[k:, k:].T)

    def _condition_on_flat(
        self, fixed: Positions, free: Positions, away: Floats
    ) -> MultivariateNormal:
        root = semidefinite_root(self.covariance[np.ix_(fixed, fixed)], _NAME)
        if not root.is_possible(away):
            raise InputError(
                f"The values given for coordinates {fixed.tolist()} cannot occur together: "
                "these coordinates depend on each other. Condition on fewer of them."
            )
        shared = root.whitened(self.covariance[np.ix_(free, fixed)])
        mean = self.mean[free] + shared @ root.whitened(away)
        left = self.covariance[np.ix_(free, free)] - shared @ shared.T
        # What is zero within the rounding of the subtraction is zero.
        variance = np.diagonal(self.covariance)[free]
        gone = np.diagonal(left) <= 1e-13 * self.n_coordinates * variance
        left[gone, :] = left[:, gone] = 0.0
        return MultivariateNormal(mean, left)

    def affine(self, matrix: ArrayLike, shift: ArrayLike = 0.0) -> MultivariateNormal | Normal:
        """The law of `A x + b`: mean `A m + b`, covariance `A C A'`.

        Parameters
        ----------
        matrix : array (k, d), or (d,) for one combination, whose law is a `Normal`
        shift : array (k,) or number

        Examples
        --------
        >>> law = MultivariateNormal([1.0, 2.0], [[2.0, 1.0], [1.0, 2.0]])
        >>> law.affine([[1.0, -1.0]], 3.0)
        MultivariateNormal(mean=array([2.]), covariance=array([[2.]]))
        """
        map_ = np.asarray(matrix, np.float64)
        if map_.ndim not in (1, 2) or map_.shape[-1] != self.n_coordinates:
            raise InputError(
                f"A map of {self.n_coordinates} coordinates has shape (k, {self.n_coordinates}), "
                f"got {map_.shape}."
            )
        mean = map_ @ self.mean + np.asarray(shift, np.float64)
        half = map_ @ self._any_root.lower
        if map_.ndim == 1:
            from novum.distributions.univariate.normal import Normal

            return Normal(float(mean), float(half @ half))
        return MultivariateNormal(mean, half @ half.T)

    def __add__(self, other: MultivariateNormal) -> MultivariateNormal:
        """The law of the sum of two independent vectors: means and covariances add up."""
        if not isinstance(other, MultivariateNormal):
            return NotImplemented
        _check_same_size(self, other)
        return MultivariateNormal(self.mean + other.mean, self.covariance + other.covariance)


def log_determinant_divergence(p: DefiniteRoot, q: DefiniteRoot) -> float:
    """`tr(Q^-1 P) - d - log |Q^-1 P|`, never negative and zero for equal matrices only."""
    singular = np.linalg.svd(q.whitened(p.lower.T).T, compute_uv=False)
    # s^2 - 1 - log s^2 is the deviance of 1 from s^2.
    return float(ratio_deviance(singular * singular).sum())


# --- Checks ---------------------------------------------------------------------------------------

_NAME = "The covariance of a MultivariateNormal"


def _check_same_size(a: MultivariateNormal, b: MultivariateNormal) -> None:
    if a.n_coordinates != b.n_coordinates:
        raise InputError(
            f"Laws of {a.n_coordinates} and of {b.n_coordinates} coordinates do not go together."
        )
