"""Functions of a kernel that are kernels again, on whatever objects the inner kernel compares.

    Polynomial.of(a):  (scale a(x, z) + constant)^degree
    Sigmoid.of(a):     tanh(scale a(x, z) + constant)
    Gaussian.of(a):    exp(-d^2 / (2 width^2)),   d^2 = a(x, x) + a(z, z) - 2 a(x, z)

`d` is the distance in the feature space of `a`. A polynomial with coefficients of at least 0 keeps
positive semi-definiteness, and so does its limit, the exponential:
`exp(-d^2 / (2 w^2)) = f(x) f(z) exp(a(x, z) / w^2)`. With `Linear()` inside, each is the kernel of
the same name on vectors.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.kernels.feature_maps import Monomials
from novum.kernels.parameters import positive_number
from novum.kernels.protocol import Kernel, Prepared, Takes
from novum.kernels.vectors.gaussian import single_limit
from novum.kernels.vectors.polynomial import Polynomial
from novum.kernels.vectors.sigmoid import Sigmoid
from novum.kernels.vectors.vector_rows import LARGEST_SINGLE, as_single
from novum.numerics import Array, Floats, cached_property

MIN_WIDTH = 1e-100

# Products that an inner kernel may sum; those of counts are exact, however many.
INNER_TERMS = 200


@dataclass(frozen=True, repr=False)
class Composed(Kernel):
    """A polynomial or sigmoid kernel whose inner product is another kernel.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> Polynomial.of(Linear(), degree=2).gram([[1.0], [3.0]])
    array([[ 1.,  9.],
           [ 9., 81.]])
    """

    outer: Polynomial | Sigmoid
    inner: Kernel

    def __post_init__(self) -> None:
        if not isinstance(self.outer, (Polynomial, Sigmoid)):
            raise InputError(
                f"The outer kernel must be Polynomial or Sigmoid, got {label_text(self.outer)}."
            )
        check_inner(self.inner, f"{type(self.outer).__name__}.of")

    def __repr__(self) -> str:
        settings = [f"{f.name}={getattr(self.outer, f.name)!r}" for f in fields(self.outer)]
        return f"{type(self.outer).__name__}.of({', '.join([repr(self.inner), *settings])})"

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        return self.inner.takes

    @property
    def is_psd_by_construction(self) -> bool:
        return self.outer.is_psd_by_construction and self.inner.is_psd_by_construction

    @property
    def feature_map(self) -> Monomials | None:
        inner, outer = self.inner.feature_map, self.outer
        if inner is None or not (isinstance(outer, Polynomial) and outer.is_psd_by_construction):
            return None
        return Monomials(inner, outer.degree, outer.constant, outer.scale)

    def prepare(self, X: Any, like: ComposedRows | None = None) -> ComposedRows:
        return ComposedRows(self, self.inner.prepare(X, None if like is None else like.inner))


@dataclass(frozen=True, eq=False)
class ComposedRows(Prepared):
    """Objects prepared for the inner kernel."""

    kernel: Composed
    inner: Any

    def __len__(self) -> int:
        return len(self.inner)

    def take(self, rows: Any) -> ComposedRows:
        return ComposedRows(self.kernel, self.inner.take(rows))

    def diagonal(self) -> Floats:
        return np.asarray(self.kernel.outer.from_products(np.array(self.inner.diagonal(), float)))

    def cross(self, other: ComposedRows, dtype: DTypeLike = np.float64) -> Array:
        if np.dtype(dtype) == np.float64 or max(self._largest, other._largest) < LARGEST_SINGLE:
            return self.kernel.outer.from_products(self.inner.cross(other.inner, dtype))
        return as_single(self.cross(other), self.kernel)

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        if np.dtype(dtype) == np.float64 or self._largest < LARGEST_SINGLE:
            return self.kernel.outer.from_products(self.inner.gram(dtype))
        return as_single(self.gram(), self.kernel)

    @cached_property
    def _largest(self) -> float:
        inside = float(np.abs(self.inner.diagonal()).max(initial=0.0))
        return max(inside, self.kernel.outer.largest(inside))


@dataclass(frozen=True, repr=False)
class GaussianOf(Kernel):
    """The Gaussian of the distance in another kernel's feature space; made by `Gaussian.of`.

    Notes
    -----
    The error of an entry is about `eps (a(x, x) + a(z, z)) / (2 width^2)`: for objects that are
    long compared with the width, normalize the inner kernel.

    Examples
    --------
    >>> from novum.kernels.vectors.gaussian import Gaussian
    >>> from novum.kernels.vectors.linear import Linear
    >>> Gaussian.of(Linear(), width=5.0).gram([[0.0, 0.0], [3.0, 4.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    inner: Kernel
    width: float = 1.0

    def __post_init__(self) -> None:
        check_inner(self.inner, "Gaussian.of")
        width = positive_number(self.width, "Gaussian's width")
        if not MIN_WIDTH <= width <= 1 / MIN_WIDTH:
            raise InputError(
                f"Gaussian's width is {width:.3g}; its square must be a number of double "
                f"precision. Use one between {MIN_WIDTH} and {1 / MIN_WIDTH}, or scale the inner "
                "kernel."
            )
        object.__setattr__(self, "width", width)

    def __repr__(self) -> str:
        return f"Gaussian.of({self.inner!r}, width={self.width!r})"

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        return self.inner.takes

    @property
    def is_psd_by_construction(self) -> bool:
        return self.inner.is_psd_by_construction

    def prepare(self, X: Any, like: GaussianOfRows | None = None) -> GaussianOfRows:
        if like is not None:
            return GaussianOfRows(self, self.inner.prepare(X, like.inner), like.single_is_enough)
        first = GaussianOfRows(self, self.inner.prepare(X), False)
        enough = bool(np.abs(first.halves).max(initial=0.0) <= single_limit(INNER_TERMS))
        return GaussianOfRows(self, first.inner, enough)


@dataclass(frozen=True, eq=False)
class GaussianOfRows(Prepared):
    """Objects prepared for the inner kernel; the training decides the precision of float32."""

    kernel: GaussianOf
    inner: Any
    single_is_enough: bool

    def __len__(self) -> int:
        return len(self.inner)

    def take(self, rows: Any) -> GaussianOfRows:
        taken = GaussianOfRows(self.kernel, self.inner.take(rows), self.single_is_enough)
        vars(taken)["halves"] = self.halves[rows]
        return taken

    def diagonal(self) -> Floats:
        return np.ones(len(self))

    def cross(self, other: GaussianOfRows, dtype: DTypeLike = np.float64) -> Array:
        dtype = np.dtype(dtype)
        longest = max(np.abs(side.halves).max(initial=0.0) for side in (self, other))
        single = dtype == np.float32 and self.single_is_enough and longest < LARGEST_SINGLE
        K = self.inner.cross(other.inner, np.float32 if single else np.float64)
        K = self._negated_distances(K, other).astype(dtype, copy=False)
        return np.asarray(np.exp(K, out=K))

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        K = self._negated_distances(self.inner.gram(), self).astype(dtype, copy=False)
        np.exp(K, out=K)
        np.fill_diagonal(K, 1.0)
        return np.asarray(K)

    @cached_property
    def halves(self) -> Floats:
        """`a(x, x) / (2 width^2)` of every object."""
        return np.asarray(self.inner.diagonal(), np.float64) / (2.0 * self.kernel.width**2)

    def _negated_distances(self, K: Array, other: GaussianOfRows) -> Array:
        """`-d^2 / (2 width^2)` of all pairs, in place."""
        K *= K.dtype.type(self.kernel.width**-2)
        theirs = other.halves.astype(K.dtype)
        for row, half in zip(K, self.halves.astype(K.dtype), strict=True):
            row -= half + theirs
        # Only an indefinite inner kernel has negative squares of distances that are no rounding.
        return np.minimum(K, 0.0, out=K) if self.kernel.is_psd_by_construction else K


def check_inner(inner: Any, what: str) -> None:
    """The inner part of a composition must be a kernel itself."""
    if not isinstance(inner, Kernel):
        raise InputError(f"{what} takes a kernel of novum.kernels, got {label_text(inner)}.")
