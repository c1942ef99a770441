"""Law of independent coordinates, each with a law of its own.

    p(x) = prod_j p_j(x_j)

A missing coordinate drops out of the product, which is its exact marginal, at prediction as in
estimation: every factor is estimated from the cells that it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.sums import Additive
from novum.distributions.components import (
    Component,
    observed_log_density,
    prior_log_density,
)
from novum.distributions.multivariate.coordinates import chosen_and_others, sample_weights
from novum.distributions.protocol import Size
from novum.numerics import Floats

# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ProductStatistics(Additive):
    """Statistics of every factor, each over the rows that have its cell.

    Parameters
    ----------
    components : tuple of Component
        The factors' classes of laws.
    weight : float
        Number of rows.
    parts : tuple
        Statistics of the factors.
    """

    components: tuple[Component, ...]
    weight: float
    parts: tuple[Any, ...]

    _fixed: ClassVar[tuple[str, ...]] = ("components",)

    def __sub__(self, other: ProductStatistics) -> ProductStatistics:
        self._check_fits(other)
        left = tuple(a - b for a, b in zip(self.parts, other.parts, strict=True))
        return ProductStatistics(self.components, self.weight - other.weight, left)

    def __mul__(self, factor: float) -> ProductStatistics:
        parts = tuple(factor * part for part in self.parts)
        return ProductStatistics(self.components, factor * self.weight, parts)

    __rmul__ = __mul__

    def isclose(self, other: ProductStatistics, rtol: float = 1e-10) -> bool:
        """Equal factor by factor, within `rtol`."""
        if self.components != other.components:
            return False
        pairs = zip(self.parts, other.parts, strict=True)
        near = abs(self.weight - other.weight) <= rtol * max(self.weight, other.weight)
        return near and all(a.isclose(b, rtol) for a, b in pairs)


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProductLaw:
    """Law of independent coordinates.

    Parameters
    ----------
    laws : tuple of laws of numbers or labels
        One for each coordinate.

    Examples
    --------
    >>> from novum.distributions import Normal, Poisson
    >>> law = ProductLaw.fit([[1, 0.5], [3, 1.5], [2, np.nan]], laws=(Poisson, Normal))
    >>> law.laws
    (Poisson(rate=2.0), Normal(mean=1.0, variance=0.25))
    >>> bool(law.log_density_observed([2, np.nan]) == law.laws[0].log_density(2))
    True
    """

    laws: tuple[Any, ...]
    takes_missing_cells: ClassVar[bool] = True

    def __post_init__(self) -> None:
        laws = tuple(self.laws)
        if not laws or not all(hasattr(law, "discrete") for law in laws):
            raise InputError(
                f"A ProductLaw has a law of numbers or labels for each column, got {laws!r:.80}."
            )
        object.__setattr__(self, "laws", laws)

    @property
    def n_coordinates(self) -> int:
        return len(self.laws)

    # Density

    def log_density(self, x: Any) -> Floats:
        """Sum of the log-densities of the factors; NaN where a coordinate is missing."""
        points = self._points(x)
        parts = [np.asarray(law.log_density(points[..., j])) for j, law in enumerate(self.laws)]
        return np.add.reduce(parts)

    def density(self, x: Any) -> Floats:
        return np.exp(self.log_density(x))

    def log_density_observed(self, x: Any) -> Floats:
        """Log-density of the coordinates that are present."""
        points = self._points(x)
        parts = [observed_log_density(law, points[..., j]) for j, law in enumerate(self.laws)]
        return np.add.reduce(parts)

    def _points(self, x: Any) -> Any:
        points = _table(x, self.laws)
        if points.ndim < 1 or points.shape[-1] != len(self.laws):
            raise InputError(
                f"This ProductLaw has {len(self.laws)} coordinates, so its points have shape (..., "
                f"{len(self.laws)}); got {points.shape}."
            )
        return points

    # Moments

    @property
    def mean(self) -> Floats:
        return np.array([law.mean for law in self.laws], np.float64)

    @property
    def variance(self) -> Floats:
        return np.array([law.variance for law in self.laws], np.float64)

    @property
    def covariance(self) -> Floats:
        """Diagonal: the coordinates are independent."""
        return np.diag(self.variance)

    @property
    def entropy(self) -> float:
        """Sum of the entropies, in nats."""
        return float(sum(law.entropy for law in self.laws))

    # Sampling

    def sample(self, size: Size, random_state: RandomSource = None) -> Any:
        """Points of shape `(*size, d)`; an array of objects where some coordinates are labels."""
        rng = stream(random_state)
        columns = [law.sample(size, rng) for law in self.laws]
        dtype = object if any(map(_has_labels, self.laws)) else np.float64
        return np.stack([column.astype(dtype) for column in columns], axis=-1)

    # Estimation

    @staticmethod
    def statistics(
        x: Any, weight: ArrayLike | None = None, *, laws: Sequence[Any]
    ) -> ProductStatistics:
        """Statistics of every factor over the cells that are present.

        Parameters
        ----------
        x : array (n, d)
        weight : array (n,), optional
        laws : sequence of d classes of laws, or of `Component`
        """
        hidden = [c.law.__name__ for c in map(Component.of, laws) if c.is_hidden]
        if hidden:
            raise InputError(f"{hidden[0]} is not estimated from sums of rows; use its own `fit`.")
        rows = np.asarray(x)
        weights = sample_weights(weight, len(rows))
        components, cells = zip(*_present(rows, weights, laws), strict=True)
        parts = tuple(c.expected(None, *part) for c, part in zip(components, cells, strict=True))
        return ProductStatistics(components, float(weights.sum()), parts)

    @classmethod
    def from_statistics(cls, statistics: ProductStatistics) -> ProductLaw:
        """The likeliest law of every factor."""
        pairs = zip(statistics.components, statistics.parts, strict=True)
        return cls(tuple(component.of_sums(part) for component, part in pairs))

    @classmethod
    def fit(cls, x: Any, weight: ArrayLike | None = None, *, laws: Sequence[Any]) -> ProductLaw:
        """Maximum likelihood."""
        return cls.from_statistics(cls.statistics(x, weight, laws=laws))

    # As a component of a hidden model

    @classmethod
    def first(cls, x: Any, weight: Floats, *, laws: Sequence[Any]) -> ProductLaw:
        """The law of a weighted sample, or one to start from."""
        return cls(tuple(component.first(*part) for component, part in _present(x, weight, laws)))

    def expected_statistics(
        self, x: Any, weight: Floats, *, laws: Sequence[Any], prior: Floats | None = None
    ) -> ProductStatistics:
        """Sums of the factors, expectations under this law."""
        components = tuple(map(Component.of, laws))
        whole = weight if prior is None else np.column_stack([weight, prior])
        parts = []
        for law, (component, (cells, kept)) in zip(
            self.laws, _present(x, whole, components), strict=True
        ):
            both = (kept,) if prior is None else (kept[:, 0], kept[:, 1])
            parts.append(component.expected(law, cells, *both))
        return ProductStatistics(components, float(whole.sum()), tuple(parts))

    def prior_log_density(self, x: Any) -> Floats:
        """Log-density of rows that every factor has seen in advance."""
        points = self._points(x)
        parts = [prior_log_density(law, points[..., j]) for j, law in enumerate(self.laws)]
        return np.add.reduce(parts)

    def maximized(self, statistics: ProductStatistics) -> ProductLaw:
        """The likeliest law of such sums."""
        factors = zip(self.laws, statistics.components, statistics.parts, strict=True)
        return ProductLaw(tuple(component.likeliest(law, part) for law, component, part in factors))

    # Relations

    def kl(self, other: ProductLaw) -> float:
        """Sum of the divergences of the factors."""
        pairs = zip(self.laws, other.laws, strict=True)
        return float(sum(law.kl(theirs) for law, theirs in pairs))

    def marginal(self, indices: ArrayLike) -> Any:
        """The law of some of the coordinates, in the order given."""
        chosen, _ = chosen_and_others(indices, self.n_coordinates)
        if np.ndim(indices) == 0:
            return self.laws[int(chosen[0])]
        return ProductLaw(tuple(self.laws[j] for j in chosen))


# --- Coordinates ----------------------------------------------------------------------------------


def _has_labels(law: Any) -> bool:
    """Whether values are other things than numbers."""
    return any(not isinstance(level, (int, float)) for level in getattr(law, "levels", None) or ())


def _table(x: Any, laws: Sequence[Any]) -> Any:
    return np.asarray(x, object if any(map(_has_labels, laws)) else np.float64)


def _present(
    x: Any, weight: Floats, laws: Sequence[Any]
) -> Iterator[tuple[Component, tuple[Any, Floats]]]:
    """Every factor's class of laws with the cells that are present, and their weights."""
    rows = np.asarray(x)
    if rows.ndim != 2 or rows.shape[1] != len(laws):
        raise InputError(
            f"{len(laws)} laws take a table of as many columns, got shape {rows.shape}."
        )
    for component, cells in zip(map(Component.of, laws), rows.T, strict=True):
        # What is missing does not equal itself, or is None.
        there = (cells == cells) & (cells != np.array(None)) if rows.dtype == object else None
        there = ~np.isnan(cells) if there is None and rows.dtype.kind == "f" else there
        part = (cells, weight) if there is None or there.all() else (cells[there], weight[there])
        yield component, part
