"""The linear kernel: the inner product itself.

    k(x, z) = <x, z>,        phi(x) = x

A learner with it is a linear model written in its dual form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from novum.kernels.vectors.vector_rows import InnerProductKernel, read_vectors
from novum.numerics import Array


@dataclass(frozen=True)
class Linear(InnerProductKernel):
    """`k(x, z) = <x, z>`.

    Notes
    -----
    Arrays, CSR matrices, lists of rows and frames of numbers. float32 blocks are computed in
    single precision: an entry is off by about `n_columns * 6e-8 * |x| |z|` at most.

    Examples
    --------
    >>> Linear().gram([[1.0, 2.0], [3.0, -1.0]])
    array([[ 5.,  1.],
           [ 1., 10.]])
    """

    @property
    def is_psd_by_construction(self) -> bool:
        return True

    @property
    def feature_map(self) -> Callable[[Any], Any]:
        """`phi(x) = x`."""
        return _identity

    def from_products(self, block: Array) -> Array:
        return block

    def largest(self, product: float) -> float:
        return product


def _identity(X: Any) -> Any:
    return read_vectors(X, "Linear")
