"""Objects as rows of finitely many features, whose inner products are the similarities.

    k(x, z) = <phi(x), phi(z)>,      phi(x) a row of numbers

Projected and low-rank similarities are of this form: once the features of an object are known, its
similarities are one matrix product, and the objects themselves are not needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from novum.kernels.protocol import Prepared
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.vector_rows import ProductRows
from novum.numerics import Array, Floats


@dataclass(frozen=True, eq=False)
class FeatureRows(Prepared):
    """Rows of features.

    Attributes
    ----------
    rows : ProductRows
        The features as rows of numbers under the linear kernel.

    Examples
    --------
    >>> rows = FeatureRows.of(np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> rows.cross(rows.take([1])).tolist(), rows.diagonal().tolist()
    ([[2.0], [1.0]], [5.0, 1.0])
    """

    rows: ProductRows

    @staticmethod
    def of(features: Floats) -> FeatureRows:
        """Rows of an array of features."""
        return FeatureRows(ProductRows(Linear(), np.ascontiguousarray(features, np.float64)))

    @property
    def features(self) -> Floats:
        """Of shape (n, n_features)."""
        return np.asarray(self.rows.rows)

    def with_features(self, features: Floats) -> Self:
        """Other objects in the same similarity."""
        return replace(self, rows=FeatureRows.of(features).rows)

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: Any) -> Self:
        return replace(self, rows=self.rows.take(rows))

    def diagonal(self) -> Floats:
        return self.rows.diagonal()

    def cross(self, other: Self, dtype: DTypeLike = np.float64) -> Array:
        return self.rows.cross(other.rows, dtype)

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        return self.rows.gram(dtype)
