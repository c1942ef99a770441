"""Distances that come from elsewhere: from a kernel, from a matrix, by a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Sample
from novum.distances.mixed import Gower, Overlap, ValueDifference
from novum.distances.protocol import Distance, DistanceRows, Takes
from novum.distances.vectors import Chebyshev, Cosine, Euclidean, Mahalanobis, Manhattan, Minkowski
from novum.numerics import EPSILON, Floats


@dataclass(frozen=True, eq=False)
class KernelRows(DistanceRows):
    """Rows as a kernel prepares them, with their similarity to themselves."""

    prepared: Any
    own: Floats
    is_dear: bool = False

    @property
    def rounding(self) -> float:  # type: ignore[override]
        """Squares are differences of similarities, and lose half of their digits."""
        return float(np.sqrt(64.0 * EPSILON * np.abs(self.own).max(initial=0.0)))

    def __len__(self) -> int:
        return len(self.prepared)

    def take(self, rows: Any) -> Self:
        return type(self)(self.prepared.take(rows), self.own[rows], self.is_dear)

    def cross_powers(self, other: Self) -> Floats:
        K = self.prepared.cross(other.prepared, np.float64)
        total = self.own[:, np.newaxis] + other.own
        powers = total - 2.0 * K
        # What rounding leaves of equal features is no distance.
        powers[powers <= 8.0 * EPSILON * total] = 0.0
        return np.asarray(powers)

    def finish(self, powers: Floats) -> Floats:
        return np.asarray(np.sqrt(powers))


@dataclass(frozen=True)
class FromKernel(Distance):
    """`sqrt(k(x, x) - 2 k(x, z) + k(z, z))`: how far apart a kernel's features are.

    Parameters
    ----------
    kernel : Kernel
        On vectors, tables, strings, graphs, or anything else.

    Notes
    -----
    A metric where the kernel is positive definite. Squares below `8 eps (k(x, x) + k(z, z))` are 0.

    Examples
    --------
    >>> from novum.kernels import Linear
    >>> FromKernel(Linear()).pairwise([[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    """

    kernel: Any

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        found: Takes = self.kernel.takes
        return found

    def prepare(self, X: Any, like: KernelRows | None = None, target: Any = None) -> KernelRows:
        del target
        rows = X.numeric if isinstance(X, Sample) and self.takes == "vectors" else X
        prepared = self.kernel.prepare(rows, None if like is None else like.prepared)
        own = np.asarray(prepared.diagonal(), np.float64)
        return KernelRows(prepared, own, self.takes == "objects")


_NAMES: dict[str, Any] = {
    "euclidean": Euclidean,
    "l2": Euclidean,
    "manhattan": Manhattan,
    "cityblock": Manhattan,
    "l1": Manhattan,
    "chebyshev": Chebyshev,
    "infinity": Chebyshev,
    "cosine": Cosine,
    "mahalanobis": Mahalanobis,
    "gower": Gower,
    "overlap": Overlap,
    "hamming": Overlap,
    "value_difference": ValueDifference,
}


def distance_named(name: str, **settings: Any) -> Distance:
    """The distance of one of scikit-learn's names.

    Examples
    --------
    >>> distance_named("minkowski", p=1)
    Minkowski(p=1, missing='expected')
    """
    if name == "minkowski":
        found: Distance = Minkowski(**settings)
        return found
    if name not in _NAMES:
        known = ", ".join(sorted(["minkowski", *_NAMES]))
        raise InputError(f"metric={name!r} is no distance. There are {known}, or a Distance.")
    made: Distance = _NAMES[name]()
    return made
