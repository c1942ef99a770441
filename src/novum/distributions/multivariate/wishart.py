"""Wishart law: the scatter matrix of normal vectors, and the prior of a precision matrix.

    p(W) = |W|^((v - d - 1)/2) exp(-tr(T^-1 W)/2) / (2^(v d/2) |T|^(v/2) Gamma_d(v/2)),   v > d - 1

For whole v it is the law of `sum_{i <= v} z_i z_i'` with independent `z_i ~ N(0, T)`, with mean
`v T` and `Var[W_ij] = v (T_ij^2 + T_ii T_jj)`. With l the eigenvalues of `T^-1 W / v`, all terms
of size v together are

    -(v/2) sum_i (l_i - 1 - log l_i),

which is what Stirling's formula leaves of large logarithms. Samples come from Bartlett's triangular
factor, the maximum of the likelihood from one equation in v.

References
----------
Bartlett, "On the theory of statistical regression", 1933. Muirhead, "Aspects of multivariate
statistical theory", 1982, ch. 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.sums import Sums
from novum.distributions.multivariate.coordinates import checked_table, chosen_and_others
from novum.distributions.multivariate.matrix_gamma import (
    halves,
    log_gamma_ratio,
    matrix_gamma_divergence,
)
from novum.distributions.multivariate.parameters import (
    ArrayParameters,
    checked_positive,
    checked_total,
)
from novum.distributions.multivariate.positive_definite import (
    DefiniteRoot,
    definite_root,
)
from novum.distributions.univariate.log_gamma import (
    log_minus_digamma,
    ratio_deviance,
    stirling_error,
)
from novum.numerics import EPSILON, Floats, Mask, cached_property, one_blas_thread, power_of_two

if TYPE_CHECKING:
    from novum.distributions.univariate.gamma import Gamma

LOG_TWO_PI = float(np.log(2 * np.pi))


# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WishartStatistics(Sums, ArrayParameters):
    """What the likelihood needs to know of a weighted sample of matrices.

    Parameters
    ----------
    weight : float
        Number of matrices.
    total : array (d, d)
        Their sum.
    log_determinants : float
        Sum of the logarithms of their determinants.
    """

    weight: float
    total: Floats
    log_determinants: float


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Wishart(ArrayParameters):
    """Law of symmetric positive definite matrices.

    Parameters
    ----------
    degrees_of_freedom : float
        Above d - 1.
    scale : array (d, d)
        Symmetric positive definite; the mean is `degrees_of_freedom * scale`.

    Examples
    --------
    >>> law = Wishart(5.0, [[2.0, 1.0], [1.0, 1.0]])
    >>> law.mean.tolist(), law.variance.tolist()
    ([[10.0, 5.0], [5.0, 5.0]], [[40.0, 15.0], [15.0, 10.0]])
    >>> law.marginal(0)
    Gamma(shape=2.5, rate=0.25)
    """

    degrees_of_freedom: float
    scale: Floats

    def __post_init__(self) -> None:
        scale = np.array(self.scale, np.float64)
        self._store(scale=scale)
        size = self.root.size
        degrees = checked_positive(
            self.degrees_of_freedom,
            f"The degrees of freedom of a Wishart law of {size} x {size} matrices",
            above=size - 1,
        )
        scale = scale / 2 + scale.T / 2
        scale.setflags(write=False)
        self._store(degrees_of_freedom=degrees, scale=scale)

    @classmethod
    def from_inverse_scale(cls, degrees_of_freedom: float, inverse_scale: ArrayLike) -> Wishart:
        """The law whose scale is the inverse of a matrix, as priors and posteriors give it."""
        root = definite_root(inverse_scale, "The inverse scale of a Wishart law")
        return cls(degrees_of_freedom, root.inverse)

    @cached_property
    def root(self) -> DefiniteRoot:
        """The scaled triangular root of the scale."""
        return definite_root(self.scale, "The scale of a Wishart law")

    @property
    def inverse_scale(self) -> Floats:
        return self.root.inverse

    @property
    def size(self) -> int:
        """Number of rows of a matrix."""
        return len(self.scale)

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """Log-density of matrices `(..., d, d)`; `-inf` where they are not positive definite."""
        matrices = _checked_matrices(x, self.size)
        flat = matrices.reshape(-1, self.size, self.size)
        lower, valid = _roots(flat)
        diagonal = np.diagonal(lower, axis1=-2, axis2=-1)
        log_determinant = 2 * np.log(diagonal).sum(axis=-1)
        v = self.degrees_of_freedom
        density = self._log_constant() - 0.5 * (self.size + 1) * log_determinant
        with np.errstate(over="ignore"):
            density = density - 0.5 * v * self._spread(lower, log_determinant)
        result = np.where(valid, density, -np.inf)
        result = np.where(np.isnan(flat).any(axis=(-2, -1)), np.nan, result)
        return result.reshape(matrices.shape[:-2])

    def density(self, x: ArrayLike) -> Floats:
        with np.errstate(over="ignore"):
            return np.exp(self.log_density(x))

    def _spread(self, lower: Floats, log_determinant: Floats) -> Floats:
        """`sum_i (l_i - 1 - log l_i)` with l the eigenvalues of `T^-1 W / v`."""
        v, d = self.degrees_of_freedom, self.size
        half = self.root.whitened(np.swapaxes(lower, -1, -2)) / np.sqrt(v)
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            values = np.linalg.svd(half, compute_uv=False)
            near = ratio_deviance(values * values).sum(axis=-1)
            trace = (half * half).sum(axis=(-2, -1))
        logs = log_determinant - self.root.log_determinant - d * np.log(v)
        # Small singular values have lost digits, which the triangular root still has.
        return np.where(values[..., -1] > 1e-3 * values[..., 0], near, trace - d - logs)

    def _log_constant(self) -> float:
        """`log p + (d+1)/2 log |W|` where `W = v T`: what is left of the gamma functions."""
        v, d = self.degrees_of_freedom, self.size
        j = np.arange(d)
        # log Gamma((v - j)/2) = log Gamma(v/2) - (j/2) log((v - j)/2) - ratio.
        lowered = halves(v, d)
        shift = -0.5 * j * np.log(lowered) - log_gamma_ratio(lowered, 0.5 * j)
        single = 0.5 * (np.log(v / 2) - LOG_TWO_PI) - stirling_error(v / 2)
        return float(d * single - shift.sum() - d * (d - 1) / 4 * np.log(np.pi))

    # Moments

    @property
    def mean(self) -> Floats:
        """`v T`."""
        return self.degrees_of_freedom * self.scale

    @property
    def variance(self) -> Floats:
        """`v (T_ij^2 + T_ii T_jj)` of each entry."""
        diagonal = np.diagonal(self.scale)
        return self.degrees_of_freedom * (self.scale**2 + np.outer(diagonal, diagonal))

    @property
    def covariance(self) -> Floats:
        """`Cov[W_ij, W_kl] = v (T_ik T_jl + T_il T_jk)` as an array (d, d, d, d)."""
        products = np.multiply.outer(self.scale, self.scale)
        return self.degrees_of_freedom * (
            products.transpose(0, 2, 1, 3) + products.transpose(0, 2, 3, 1)
        )

    @property
    def mode(self) -> Floats:
        """`(v - d - 1) T`, where v is at least d + 1."""
        excess = self.degrees_of_freedom - self.size - 1
        if excess < 0:
            raise InputError(
                f"A Wishart law of {self.size} x {self.size} matrices has a mode from "
                f"{self.size + 1} degrees of freedom on; it has {self.degrees_of_freedom:g}, and "
                "its density is infinite at singular matrices."
            )
        return excess * self.scale

    @property
    def mean_log_determinant(self) -> float:
        """`E[log |W|] = sum_j digamma((v - j)/2) + d log 2 + log |T|`."""
        x = halves(self.degrees_of_freedom, self.size)
        digammas = np.log(x) - log_minus_digamma(x)
        return float(digammas.sum() + self.size * np.log(2) + self.root.log_determinant)

    @property
    def entropy(self) -> float:
        """`-E[log p(W)]` in nats."""
        d, x = self.size, halves(self.degrees_of_freedom, self.size)
        j, bend = np.arange(d), log_minus_digamma(x)
        # log Gamma(x) - x digamma(x) + x, of which Stirling's formula leaves small terms.
        small = 0.5 * (LOG_TWO_PI - np.log(x)) + stirling_error(x) + x * bend
        rest = 0.5 * j + 0.5 * (d + 1 - j) * (np.log(x) - bend)
        constant = 0.5 * d * (d + 1) * np.log(2) + 0.25 * d * (d - 1) * np.log(np.pi)
        return float(0.5 * (d + 1) * self.root.log_determinant + constant + (small + rest).sum())

    # Sampling

    def sample(self, size: int | tuple[int, ...], random_state: RandomSource = None) -> Floats:
        """Matrices of shape `(*size, d, d)`: `L A A' L'` with Bartlett's triangular A.

        The squares on the diagonal of A are chi-square with v - j degrees of freedom, below it are
        standard normals.
        """
        shape = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        rng, d = stream(random_state), self.size
        factor = np.tril(rng.standard_normal((*shape, d, d)), -1)
        squares = 2 * rng.standard_gamma(halves(self.degrees_of_freedom, d), (*shape, d))
        factor[..., np.arange(d), np.arange(d)] = np.sqrt(squares)
        with one_blas_thread():
            half = self.root.lower @ factor
            return half @ np.swapaxes(half, -1, -2)

    # Estimation

    @staticmethod
    def statistics(x: ArrayLike, weight: ArrayLike | None = None) -> WishartStatistics:
        """Weight, sum and log-determinants of matrices of shape (n, d, d)."""
        matrices, weights = checked_table(x, weight, "Wishart", cell_axes=2)
        matrices = _checked_matrices(matrices, matrices.shape[-1])
        lower, valid = _roots(matrices)
        bad = np.flatnonzero(~valid)
        if bad.size:
            raise InputError(
                "A Wishart law is estimated from symmetric positive definite matrices; "
                f"{bad.size} of {len(matrices)} are not, the first is matrix {bad[0]}. "
                "Drop such matrices or give them weight 0."
            )
        logs = 2 * np.log(np.diagonal(lower, axis1=-2, axis2=-1)).sum(axis=-1)
        total = np.einsum("n,nij->ij", weights, matrices)
        return WishartStatistics(float(weights.sum()), total, float(weights @ logs))

    @classmethod
    def from_statistics(cls, statistics: WishartStatistics) -> Wishart:
        """Degrees of freedom and scale of largest likelihood.

        The scale is the mean matrix M divided by v, and v solves
        `sum_j [log v/2 - digamma((v - j)/2)] = log |M| - E[log |W|]`.
        """
        checked_total(statistics.weight, "Wishart")
        mean = statistics.total / statistics.weight
        root = definite_root(mean, "The mean of the matrices")
        gap = root.log_determinant - statistics.log_determinants / statistics.weight
        size = abs(root.log_determinant) + len(mean)
        if not gap > 1e-14 * size:
            raise _no_spread()
        degrees = _degrees_of_gap(gap, len(mean))
        return cls(degrees, mean / degrees)

    @classmethod
    def fit(cls, x: ArrayLike, weight: ArrayLike | None = None) -> Wishart:
        """Maximum likelihood."""
        return cls.from_statistics(cls.statistics(x, weight))

    @classmethod
    def fit_moments(cls, x: ArrayLike, weight: ArrayLike | None = None) -> Wishart:
        """The law with the sample's mean M and the variances of its entries, in units of M.

        `Var[W_ij] = (M_ij^2 + M_ii M_jj) / v`, summed over all entries, gives v.
        """
        statistics = cls.statistics(x, weight)
        checked_total(statistics.weight, "Wishart")
        matrices, weights = checked_table(x, weight, "Wishart", cell_axes=2)
        mean = statistics.total / statistics.weight
        unit = np.sqrt(np.diagonal(mean))
        away = (matrices - mean) / unit / unit[:, None]
        spread = float(weights @ (away**2).sum(axis=(1, 2))) / statistics.weight
        expected = float(((mean / unit / unit[:, None]) ** 2 + 1).sum())
        if not spread > 1e-28 * expected:
            raise _no_spread()
        degrees = expected / spread
        if not degrees > len(mean) - 1:
            raise InputError(
                f"The matrices vary too much for a Wishart law: their moments ask for {degrees:g} "
                f"degrees of freedom, which must be above {len(mean) - 1}. Use `fit`."
            )
        return cls(degrees, mean / degrees)

    # Relations

    def kl(self, other: Wishart) -> float:
        """`E[log p(W) - log p_other(W)]` under this law, in nats."""
        if self.size != other.size:
            raise InputError(
                f"Laws of matrices with {self.size} and {other.size} rows do not go together."
            )
        v, u = self.degrees_of_freedom, other.degrees_of_freedom
        values = np.linalg.svd(other.root.whitened(self.root.lower.T), compute_uv=False)
        apart = 0.5 * u * float(ratio_deviance(values * values * (v / u)).sum())
        return max(0.0, apart + matrix_gamma_divergence(u / 2, v / 2, self.size))

    def marginal(self, indices: ArrayLike) -> Wishart | Gamma:
        """The law of the block of some rows and columns; of one diagonal entry a `Gamma`."""
        chosen, _ = chosen_and_others(indices, self.size)
        if np.ndim(indices) == 0:
            from novum.distributions.univariate.gamma import Gamma

            scale = float(self.scale[chosen[0], chosen[0]])
            return Gamma(0.5 * self.degrees_of_freedom, 0.5 / scale)
        return Wishart(self.degrees_of_freedom, self.scale[np.ix_(chosen, chosen)])

    def affine(self, matrix: ArrayLike) -> Wishart:
        """The law of `A W A'` for a matrix A of full row rank: scale `A T A'`."""
        half = np.atleast_2d(np.asarray(matrix, np.float64)) @ self.root.lower
        return Wishart(self.degrees_of_freedom, half @ half.T)


# --- Estimation -----------------------------------------------------------------------------------


def _degrees_of_gap(gap: float, size: int) -> float:
    """Solves `sum_j [log(v/2) - digamma((v - j)/2)] = gap` for v; the sum falls from inf to 0."""
    from scipy.optimize import brentq

    j, least = np.arange(size), size - 1

    def excess(log_room: float) -> float:
        v = least + np.exp(log_room)
        x = np.maximum(0.5 * (least - j + np.exp(log_room)), np.finfo(float).tiny)
        return float((log_minus_digamma(x) + np.log(v / 2 / x)).sum()) / gap - 1

    # For large v the sum is about d (d + 1) / (2 v); near the lowest v it is about 2 / (v - d + 1).
    low, high = np.log(1e-2 / gap), np.log(size * (size + 1) / gap)
    while excess(low) < 0:
        low -= 2.0
    while excess(high) > 0:
        high += 2.0
    return float(least + np.exp(brentq(excess, low, high, xtol=1e-14, rtol=1e-14)))


# --- Checks ---------------------------------------------------------------------------------------


def _checked_matrices(x: ArrayLike, size: int) -> Floats:
    matrices = np.asarray(x, np.float64)
    if matrices.ndim < 2 or matrices.shape[-2:] != (size, size):
        raise InputError(
            f"A Wishart law of {size} x {size} matrices takes arrays of shape "
            f"(..., {size}, {size}), got {matrices.shape}."
        )
    return matrices


def _roots(matrices: Floats) -> tuple[Floats, Mask]:
    """Triangular roots of `(n, d, d)` and which are valid; others get the root of the identity."""
    diagonal = np.diagonal(matrices, axis1=-2, axis2=-1)
    finite = np.isfinite(matrices).all(axis=(-2, -1))
    valid = np.asarray(finite & (diagonal > 0).all(axis=-1))
    unit = power_of_two(np.sqrt(np.where(valid[:, None], diagonal, 1.0)))
    scaled = np.where(valid[:, None, None], matrices, np.eye(matrices.shape[-1]))
    scaled = scaled / unit[:, None, :] / unit[:, :, None]
    valid &= (np.abs(scaled - np.swapaxes(scaled, -1, -2)) <= 1e-10).all(axis=(-2, -1))
    lower = np.broadcast_to(np.eye(matrices.shape[-1]), matrices.shape).copy()
    try:
        lower[valid] = np.linalg.cholesky(scaled[valid])
    except np.linalg.LinAlgError:
        # One that fails hides the others, so they are taken one by one.
        for number in np.flatnonzero(valid):
            try:
                lower[number] = np.linalg.cholesky(scaled[number])
            except np.linalg.LinAlgError:
                valid[number] = False
    pivots = np.diagonal(lower, axis1=-2, axis2=-1) ** 2
    ones = np.diagonal(scaled, axis1=-2, axis2=-1)
    valid &= (pivots > matrices.shape[-1] * EPSILON * ones).all(axis=-1)
    lower = np.where(valid[:, None, None], lower * unit[:, :, None], np.eye(matrices.shape[-1]))
    return lower, valid


def _no_spread() -> InputError:
    return InputError(
        "The matrices are all equal up to rounding, and the likelihood of a Wishart law grows "
        "without bound as its degrees of freedom do. Give matrices that differ."
    )
