"""Feature maps of combined kernels, made of those of their parts.

    a + b          phi_a and phi_b side by side
    c * a          sqrt(c) phi_a
    a * b          all products of an entry of phi_a and an entry of phi_b
    a ** d         all monomials of degree d of phi_a, with multinomial weights
    normalize(a)   phi_a / |phi_a|

A map is a callable from objects to a matrix with one row for each object, dense or CSR. The columns
of a map that depends on the objects (such as the substrings that occur) fit within one call.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.runtime import check_memory, format_bytes
from novum.kernels.vectors.polynomial import MAX_FEATURES, PolynomialFeatures
from novum.kernels.vectors.vector_rows import in_form_of, squared_lengths
from novum.numerics import Floats

Map = Any


@dataclass(frozen=True)
class SideBySide:
    """The features of several maps, one after the other."""

    maps: tuple[Map, ...]

    def __call__(self, X: Any) -> Any:
        blocks = [phi(X) for phi in self.maps]
        if all(sparse.issparse(block) for block in blocks):
            return sparse.csr_array(sparse.hstack(blocks))
        return np.hstack([_dense(block) for block in blocks])


@dataclass(frozen=True)
class Stretched:
    """The features of a map times a number."""

    map: Map
    factor: float

    def __call__(self, X: Any) -> Any:
        return self.map(X) * self.factor


@dataclass(frozen=True)
class Ones:
    """One feature that all objects have."""

    value: float

    def __call__(self, X: Any) -> Floats:
        return np.full((count_objects(X), 1), self.value)


@dataclass(frozen=True)
class Crossed:
    """All products of one feature of each map, the last map running fastest.

    Examples
    --------
    >>> Crossed((np.asarray, np.asarray))([[1.0, 2.0]])
    array([[1., 2., 2., 4.]])
    """

    maps: tuple[Map, ...]

    def __call__(self, X: Any) -> Floats:
        blocks = [phi(X) for phi in self.maps]
        # Python's integers do not overflow.
        width = 1
        for block in blocks:
            width *= int(block.shape[1])
        _check_width(width, int(blocks[0].shape[0]))
        crossed = _dense(blocks[0])
        for block in blocks[1:]:
            crossed = (crossed[:, :, np.newaxis] * _dense(block)[:, np.newaxis, :]).reshape(
                len(crossed), -1
            )
        return crossed


@dataclass(frozen=True)
class Monomials:
    """The features of a polynomial kernel on the features of a map."""

    map: Map
    degree: int
    constant: float = 0.0
    scale: float = 1.0

    def __call__(self, X: Any) -> Floats:
        outer = PolynomialFeatures(self.degree, self.constant, self.scale)
        return outer(_dense(self.map(X)))


@dataclass(frozen=True)
class UnitLength:
    """The features of a map, each object's divided by their length; zeros stay zeros."""

    map: Map

    def __call__(self, X: Any) -> Any:
        features = self.map(X)
        lengths = np.sqrt(squared_lengths(features))
        inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        if sparse.issparse(features):
            return sparse.csr_array(sparse.diags_array(inverse) @ features)
        return features * inverse[:, np.newaxis]


def stretched(phi: Map, factor: float) -> Map:
    """The map whose inner products are `factor` times those of `phi`, None staying None."""
    return None if phi is None else Stretched(phi, sqrt(factor))


def count_objects(X: Any) -> int:
    """How many objects `X` holds, be it an array, a frame, a checked sample or a list.

    Examples
    --------
    >>> count_objects([[1, 2], [3, 4], [5, 6]])
    3
    """
    if hasattr(X, "n_rows"):
        return int(X.n_rows)
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _dense(features: Any) -> Floats:
    return np.asarray(in_form_of(features, np.empty((0, features.shape[1]))))


def _check_width(width: int, n_rows: int) -> None:
    if width > MAX_FEATURES:
        raise InputError(
            f"The product of these kernels has {width} features, "
            f"{format_bytes(8 * width * n_rows)} for {n_rows} objects; at most {MAX_FEATURES} are "
            "written out. Use the kernel itself, or novum.kernels.Nystroem."
        )
    check_memory(
        2 * 8 * width * n_rows,
        f"The feature map with its {width} products",
        "Map fewer objects at a time, or use the kernel itself.",
    )
