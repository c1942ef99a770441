"""A number that is normal given which of several cases holds: what a mixed network says of one.

p(x) = sum over k of  weight_k N(x; mean_k, variance_k)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp, ndtr, ndtri

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.numerics import Floats


@dataclass(frozen=True, eq=False)
class MixtureOfNormals:
    """A law of numbers with several normal components.

    Parameters
    ----------
    weights, means, variances : arrays of shape (n_components,)
        Weights sum to one; variances above 0.

    Examples
    --------
    >>> law = MixtureOfNormals([0.5, 0.5], [0.0, 4.0], [1.0, 1.0])
    >>> law.mean, law.variance, round(float(law.cdf(2.0)), 6)
    (2.0, 5.0, 0.5)
    >>> law.quantile([0.025, 0.975]).round(3).tolist()
    [-1.645, 5.645]
    """

    weights: Any
    means: Any
    variances: Any
    discrete: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("weights", "means", "variances"):
            array = np.array(getattr(self, name), np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        shapes = {self.weights.shape, self.means.shape, self.variances.shape}
        if len(shapes) > 1 or self.weights.ndim != 1 or not self.weights.size:
            raise InputError("A mixture has one weight, mean and variance for each component.")
        if not (
            np.all(self.weights >= 0)
            and abs(self.weights.sum() - 1) < 1e-6
            and np.all(np.isfinite(self.means))
            and np.all((self.variances > 0) & np.isfinite(self.variances))
        ):
            raise InputError(
                "Weights of a mixture are at least 0 and sum to one, means are finite, variances "
                "above 0."
            )

    @property
    def support(self) -> tuple[float, float]:
        """All numbers."""
        return -math.inf, math.inf

    @property
    def mean(self) -> float:
        return float(self.weights @ self.means)

    @property
    def variance(self) -> float:
        """Within the components, and between their means."""
        return float(self.weights @ (self.variances + (self.means - self.mean) ** 2))

    @property
    def standard_deviation(self) -> float:
        return math.sqrt(self.variance)

    def log_density(self, x: ArrayLike) -> Floats:
        scaled = (np.asarray(x, float)[..., None] - self.means) ** 2 / self.variances
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights) - 0.5 * (np.log(2 * np.pi * self.variances) + scaled)
        return np.asarray(logsumexp(logs, axis=-1))

    def density(self, x: ArrayLike) -> Floats:
        return np.exp(self.log_density(x))

    def cdf(self, x: ArrayLike) -> Floats:
        """`P(X <= x)`."""
        scaled = (np.asarray(x, float)[..., None] - self.means) / np.sqrt(self.variances)
        return np.asarray(ndtr(scaled) @ self.weights)

    def probability(self, a: ArrayLike, b: ArrayLike) -> Floats:
        """`P(a <= X <= b)`."""
        ends = (self.cdf(a), self.cdf(b))
        return ends[1] - ends[0]

    def quantile(self, level: ArrayLike) -> Floats:
        """Where the cdf reaches a level: between those of the components, by bisection."""
        levels = np.asarray(level, float)
        if not np.all((levels >= 0) & (levels <= 1)):
            raise InputError("Levels of quantiles lie between 0 and 1.")
        used = self.weights > 0
        each = self.means[used] + np.sqrt(self.variances[used]) * ndtri(levels)[..., None]
        low, high = each.min(axis=-1), each.max(axis=-1)
        for _ in range(200):
            with np.errstate(invalid="ignore"):
                middle = np.where(np.isfinite(low), low / 2 + high / 2, low)
            below = self.cdf(middle) < levels
            low, high = np.where(below, middle, low), np.where(below, high, middle)
            if np.all((middle == low) & (np.nextafter(low, high) == high) | (low == high)):
                break
        return np.asarray(high)

    def sample(self, size: int | tuple[int, ...], random_state: RandomSource = None) -> Floats:
        """Independent values."""
        rng = stream(random_state, "mixture of normals")
        chosen = rng.choice(len(self.weights), size, p=self.weights / self.weights.sum())
        spread = np.sqrt(self.variances[chosen])
        return self.means[chosen] + spread * rng.standard_normal(size)

    def __repr__(self) -> str:
        return (
            f"MixtureOfNormals(mean={self.mean:.6g}, variance={self.variance:.6g}, "
            f"{len(self.weights)} components)"
        )
