"""Normalized kernels: the cosine of the angle between two objects in feature space.

    normalize(a)(x, z) = a(x, z) / sqrt(a(x, x) a(z, z))

Long strings and large graphs are similar to everything; divided by their lengths they are not. An
object of length zero (an empty string) has no direction: its similarities are 0, also with itself.
Positive semi-definite where `a` is, because rows and columns of the Gram matrix are multiplied by
the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.kernels.algebra import Scaled
from novum.kernels.composition import GaussianOf
from novum.kernels.feature_maps import UnitLength
from novum.kernels.protocol import Kernel, Prepared, Takes
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.vector_rows import LARGEST_SINGLE
from novum.numerics import Array, Floats, cached_property


def normalize(kernel: Kernel) -> Kernel:
    """The kernel divided by the lengths of both objects.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> normalize(Linear()).gram([[3.0, 4.0], [0.0, 2.0]])
    array([[1. , 0.8],
           [0.8, 1. ]])
    """
    if not isinstance(kernel, Kernel):
        raise InputError(f"normalize takes a kernel of novum.kernels, got {label_text(kernel)}.")
    if isinstance(kernel, (Normalized, Gaussian, GaussianOf)):
        return kernel
    if isinstance(kernel, Scaled) and kernel.factor > 0:
        return normalize(kernel.kernel)
    return Normalized(kernel)


@dataclass(frozen=True, repr=False)
class Normalized(Kernel):
    """What `normalize(kernel)` makes."""

    kernel: Kernel

    def __repr__(self) -> str:
        return f"normalize({self.kernel!r})"

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        return self.kernel.takes

    @property
    def is_psd_by_construction(self) -> bool:
        return self.kernel.is_psd_by_construction

    @property
    def feature_map(self) -> UnitLength | None:
        inner = self.kernel.feature_map
        return None if inner is None else UnitLength(inner)

    def prepare(self, X: Any, like: NormalizedRows | None = None) -> NormalizedRows:
        return NormalizedRows(self, self.kernel.prepare(X, None if like is None else like.inner))


@dataclass(frozen=True, eq=False)
class NormalizedRows(Prepared):
    """Prepared objects with the inverse of their lengths."""

    kernel: Normalized
    inner: Any

    def __len__(self) -> int:
        return len(self.inner)

    def take(self, rows: Any) -> NormalizedRows:
        taken = NormalizedRows(self.kernel, self.inner.take(rows))
        if "inverse" in vars(self):
            vars(taken)["inverse"] = self.inverse[rows]
        return taken

    def diagonal(self) -> Floats:
        return (self.inverse > 0).astype(np.float64)

    def cross(self, other: NormalizedRows, dtype: DTypeLike = np.float64) -> Array:
        single = np.dtype(dtype) == np.float32 and self._fits_single and other._fits_single
        K = self.inner.cross(other.inner, np.float32 if single else np.float64)
        K *= self.inverse.astype(K.dtype)[:, np.newaxis]
        K *= other.inverse.astype(K.dtype)
        return np.asarray(K.astype(dtype, copy=False))

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        K = self.inner.gram()
        # One factor for each entry, the same for both of its mirror images.
        for i, inverse in enumerate(self.inverse):
            K[i] *= inverse * self.inverse
        np.fill_diagonal(K, self.diagonal())
        return np.asarray(K.astype(dtype, copy=False))

    @cached_property
    def inverse(self) -> Floats:
        """`1 / sqrt(a(x, x))`, and 0 where that is infinite."""
        squares = np.asarray(self.inner.diagonal(), np.float64)
        negative = np.flatnonzero(~(squares >= 0))
        if negative.size:
            row = int(negative[0])
            raise InputError(
                f"{self.kernel.kernel!r} cannot be normalized: object {row} has the similarity "
                f"{squares[row]:.6g} with itself, so it has no length. Use a kernel that is "
                "positive semi-definite."
            )
        lengths = np.sqrt(squares)
        return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    @cached_property
    def _fits_single(self) -> bool:
        inverse = self.inverse[self.inverse > 0]
        smallest, largest = inverse.min(initial=1.0), inverse.max(initial=1.0)
        return bool(largest < LARGEST_SINGLE**0.5 and smallest > LARGEST_SINGLE**-0.5)
