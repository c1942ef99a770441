"""The constant kernel: what a number in a sum of kernels stands for.

    k(x, z) = value,  at least 0

Its feature space has one dimension, in which all objects are the same: a bias inside the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from novum.kernels.feature_maps import Ones, count_objects
from novum.kernels.parameters import kernel_factor
from novum.kernels.protocol import Array, Kernel, Prepared

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Constant(Kernel):
    """`k(x, z) = value` for all objects; what a number in a sum of kernels stands for.

    Examples
    --------
    >>> Constant(2.0).gram(["any", "objects"])
    array([[2., 2.],
           [2., 2.]])
    """

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", kernel_factor(self.value))

    def __repr__(self) -> str:
        return repr(self.value)

    @property
    def is_psd_by_construction(self) -> bool:
        return True

    @property
    def feature_map(self) -> Ones:
        return Ones(float(np.sqrt(self.value)))

    def prepare(self, X: Any, like: Any = None) -> ConstantRows:  # noqa: ARG002
        return ConstantRows(self.value, count_objects(X))


@dataclass(frozen=True, eq=False)
class ConstantRows(Prepared):
    """So many objects, of which nothing is known."""

    value: float
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows

    def take(self, rows: Any) -> ConstantRows:
        return ConstantRows(self.value, len(np.empty(self.n_rows)[rows]))

    def diagonal(self) -> Floats:
        return np.full(self.n_rows, self.value)

    def cross(self, other: ConstantRows, dtype: DTypeLike = np.float64) -> Array:
        return np.full((self.n_rows, other.n_rows), self.value, dtype)
