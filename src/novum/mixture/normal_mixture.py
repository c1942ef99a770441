"""The law of a Gaussian mixture: densities, samples, and what some columns tell of others.

    p(x) = sum_k w_k N(x; m_k, C_k)

Given some coordinates b, the others follow a mixture again: every component contributes its
conditional normal law, weighted by how well it explains what is given,

    p(x_a | x_b) = sum_k w'_k N(x_a; m_k,a|b, C_k,a|b),      w'_k ~ w_k N(x_b; m_k,b, C_k,bb),

so a mixture is a regression whose curve, spread and number of peaks change with what is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.distributions import (
    ArrayParameters,
    MultivariateNormal,
    mixture_weights,
    refuse_overflow,
)
from novum.mixture.gaussian_em import GaussianParameters, log_joint
from novum.numerics import (
    Floats,
    Integers,
    as_argument,
    cached_property,
    log_sum_exp,
    one_blas_thread,
)


class EntropyEstimate(NamedTuple):
    """Entropy in nats by simulation, and its standard error."""

    value: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class NormalMixture(ArrayParameters):
    """A mixture of K normal laws of d coordinates.

    Parameters
    ----------
    weights : array (K,)
        At least 0; their sum is 1.
    means : array (K, d)
    covariances : array (K, d, d)

    Examples
    --------
    >>> law = NormalMixture([0.5, 0.5], [[0.0, 0.0], [4.0, 8.0]], [np.eye(2), np.eye(2)])
    >>> law.mean.tolist(), law.covariance.tolist()
    ([2.0, 4.0], [[5.0, 8.0], [8.0, 17.0]])
    >>> law.condition([0], [4.0]).mean.round(2).tolist()
    [8.0]
    """

    weights: Floats
    means: Floats
    covariances: Floats

    def __post_init__(self) -> None:
        weights = np.array(self.weights, np.float64)
        means, covariances = np.array(self.means, float), np.array(self.covariances, float)
        K, d = means.shape if means.ndim == 2 else (0, 0)
        if weights.shape != (K,) or covariances.shape != (K, d, d) or K == 0:
            raise InputError(
                "A NormalMixture of K laws of d coordinates needs weights (K,), means (K, d) and "
                f"covariances (K, d, d), got shapes {weights.shape}, {means.shape} and "
                f"{covariances.shape}."
            )
        self._store(weights=mixture_weights(weights), means=means, covariances=covariances)
        # Each component refuses a covariance that is none.
        _ = self.components

    @cached_property
    def components(self) -> tuple[MultivariateNormal, ...]:
        """The normal laws."""
        pairs = zip(self.means, self.covariances, strict=True)
        return tuple(MultivariateNormal(mean, matrix) for mean, matrix in pairs)

    @property
    def n_components(self) -> int:
        return len(self.weights)

    @property
    def n_coordinates(self) -> int:
        return self.means.shape[1]

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """Log-density of points `(..., d)`; NaN where a coordinate is missing."""
        points = self._points(x)
        densities = np.asarray(self.log_density_observed(points))
        return np.where(np.isnan(points).any(axis=-1), np.nan, densities)

    def density(self, x: ArrayLike) -> Floats:
        return np.exp(self.log_density(x))

    def log_density_observed(self, x: ArrayLike) -> Floats:
        """Log-density of the coordinates that are present; NaN is missing and integrated out."""
        points = self._points(x)
        joint = log_joint(self._gaussian, as_argument(points.reshape(-1, self.n_coordinates)))
        return log_sum_exp(joint, axis=1).reshape(points.shape[:-1])

    def responsibilities(self, x: ArrayLike) -> Floats:
        """The probability of every component, `(..., K)`, given the present coordinates."""
        points = self._points(x)
        joint = log_joint(self._gaussian, as_argument(points.reshape(-1, self.n_coordinates)))
        refuse_overflow(joint.max(axis=1))
        shares = np.exp(joint - log_sum_exp(joint, axis=1, keepdims=True))
        return shares.reshape(*points.shape[:-1], self.n_components)

    # Moments

    @property
    def mean(self) -> Floats:
        return self.weights @ self.means

    @property
    def covariance(self) -> Floats:
        """Of all components together: within and between."""
        away = self.means - self.mean
        within = np.einsum("k,kij->ij", self.weights, self.covariances)
        return np.asarray(within + (away.T * self.weights) @ away)

    @property
    def variance(self) -> Floats:
        return np.diagonal(self.covariance)

    def entropy(self, n_samples: int = 10_000, random_state: RandomSource = 0) -> EntropyEstimate:
        """`-E[log p(x)]` in nats, which has no closed form, by simulation."""
        logs = -self.log_density(self.sample(n_samples, random_state))
        return EntropyEstimate(float(logs.mean()), float(logs.std(ddof=1) / np.sqrt(n_samples)))

    # Sampling

    def sample(self, size: int | tuple[int, ...], random_state: RandomSource = None) -> Floats:
        """Points of shape `(*size, d)`."""
        return self.sample_with_components(size, random_state)[0]

    def sample_with_components(
        self, size: int | tuple[int, ...], random_state: RandomSource = None
    ) -> tuple[Floats, Integers]:
        """Points `(*size, d)`, and the components that they come from."""
        shape = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        rng = stream(random_state)
        codes = np.searchsorted(np.cumsum(self.weights)[:-1], rng.random(shape), side="right")
        noise = rng.standard_normal((*shape, self.n_coordinates))
        with one_blas_thread():
            for k, law in enumerate(self.components):
                chosen = codes == k
                noise[chosen] = law.mean + noise[chosen] @ law._any_root.lower.T
        return noise, np.asarray(codes, np.int64)

    # Relations

    def marginal(self, indices: ArrayLike) -> NormalMixture:
        """The law of some of the coordinates, in the order given."""
        chosen = np.atleast_1d(np.asarray(indices, np.intp))
        blocks = self.covariances[:, chosen][:, :, chosen]
        return NormalMixture(self.weights, self.means[:, chosen], blocks)

    def condition(self, indices: ArrayLike, values: ArrayLike) -> NormalMixture:
        """The law of the other coordinates when those of `indices` have the given values."""
        fixed, given = np.atleast_1d(np.asarray(indices, np.intp)), np.atleast_1d(values)
        if fixed.size == 0:
            return self
        laws = [law.condition(fixed, given) for law in self.components]
        point = np.full(self.n_coordinates, np.nan)
        point[fixed] = given
        shares = self.responsibilities(point)
        means = np.array([law.mean for law in laws])
        return NormalMixture(shares, means, np.array([law.covariance for law in laws]))

    @cached_property
    def _gaussian(self) -> GaussianParameters:
        return GaussianParameters(self.weights, self.means, self.covariances)

    def _points(self, x: ArrayLike) -> Floats:
        points = np.asarray(x, np.float64)
        if points.ndim < 1 or points.shape[-1] != self.n_coordinates:
            raise InputError(
                f"This NormalMixture has {self.n_coordinates} coordinates, so its points have "
                f"shape (..., {self.n_coordinates}); got {points.shape}."
            )
        return points
