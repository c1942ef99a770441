"""Kernels of vectors and their algebra, written as the formulas stand.

Slow and plain: one pair of objects at a time, in Python's floats, sums by `math.fsum`. The tests
compare the library with these, and a reader can check a number by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import exp, factorial, fsum, prod, sqrt, tanh
from typing import Any

import numpy as np

from novum.numerics import Floats

Similarity = Callable[[Any, Any], float]
Vector = Sequence[float]


# --- Vectors --------------------------------------------------------------------------------------


def linear(x: Vector, z: Vector) -> float:
    """`<x, z>`.

    Examples
    --------
    >>> linear([1.0, 2.0], [3.0, 4.0])
    11.0
    """
    return fsum(a * b for a, b in zip(x, z, strict=True))


def polynomial(degree: int, constant: float = 0.0, scale: float = 1.0) -> Similarity:
    """`(scale <x, z> + constant)^degree`."""
    return lambda x, z: (scale * linear(x, z) + constant) ** degree


def gaussian(width: float) -> Similarity:
    """`exp(-|x - z|^2 / (2 width^2))`, from differences."""
    return lambda x, z: exp(-squared_distance(x, z) / (2.0 * width**2))


def sigmoid(scale: float = 1.0, constant: float = 0.0) -> Similarity:
    """`tanh(scale <x, z> + constant)`."""
    return lambda x, z: tanh(scale * linear(x, z) + constant)


def delta(x: Sequence[Any], z: Sequence[Any]) -> float:
    """Share of the cells that are equal.

    Examples
    --------
    >>> delta(["red", 1], ["red", 2])
    0.5
    """
    return sum(a == b for a, b in zip(x, z, strict=True)) / len(x)


def squared_distance(x: Vector, z: Vector) -> float:
    """`|x - z|^2`, from differences."""
    return fsum((a - b) ** 2 for a, b in zip(x, z, strict=True))


def monomials(x: Vector, degree: int, constant: float = 0.0, scale: float = 1.0) -> Floats:
    """`phi` of the polynomial kernel with all its exponents, in any order.

    Every choice of exponents `(a_0, a_1, ..., a_p)` with sum `degree` is one feature, where `a_0`
    is the exponent of the constant.

    Examples
    --------
    >>> monomials([3.0, 1.0], 2).round(3)
    array([1.   , 4.243, 9.   , 0.   , 0.   , 0.   ])
    """
    extended = [sqrt(constant), *(sqrt(scale) * value for value in x)]
    features = []
    for exponents in product(range(degree + 1), repeat=len(extended)):
        if sum(exponents) == degree:
            ways = factorial(degree) // prod(factorial(a) for a in exponents)
            powers = prod(value**a for value, a in zip(extended, exponents, strict=True))
            features.append(sqrt(ways) * powers)
    return np.array(features)


# --- Algebra --------------------------------------------------------------------------------------


def added(*kernels: Similarity) -> Similarity:
    """`a(x, z) + b(x, z) + ...`."""
    return lambda x, z: fsum(kernel(x, z) for kernel in kernels)


def multiplied(*kernels: Similarity) -> Similarity:
    """`a(x, z) b(x, z) ...`."""
    return lambda x, z: prod(kernel(x, z) for kernel in kernels)


def scaled(factor: float, kernel: Similarity) -> Similarity:
    """`factor a(x, z)`."""
    return lambda x, z: factor * kernel(x, z)


def raised(kernel: Similarity, degree: int) -> Similarity:
    """`a(x, z)^degree`."""
    return lambda x, z: kernel(x, z) ** degree


def normalized(kernel: Similarity) -> Similarity:
    """`a(x, z) / sqrt(a(x, x) a(z, z))`, and 0 where an object has length 0."""

    def cosine(x: Any, z: Any) -> float:
        squares = kernel(x, x), kernel(z, z)
        return kernel(x, z) / (sqrt(squares[0]) * sqrt(squares[1])) if all(squares) else 0.0

    return cosine


def gaussian_of(kernel: Similarity, width: float) -> Similarity:
    """`exp(-d^2 / (2 width^2))` of the distance in feature space."""

    def similarity(x: Any, z: Any) -> float:
        square = kernel(x, x) + kernel(z, z) - 2.0 * kernel(x, z)
        return exp(-square / (2.0 * width**2))

    return similarity


def on(part: Any, kernel: Similarity) -> Similarity:
    """`a(x[part], z[part])`; several parts, in a tuple, make a list."""

    def chosen(x: Any) -> Any:
        return [x[item] for item in part] if isinstance(part, tuple) else x[part]

    return lambda x, z: kernel(chosen(x), chosen(z))


# --- Matrices -------------------------------------------------------------------------------------


def cross(kernel: Similarity, X: Sequence[Any], Z: Sequence[Any]) -> Floats:
    """All similarities, pair by pair.

    Examples
    --------
    >>> cross(linear, [[1.0], [2.0]], [[3.0]])
    array([[3.],
           [6.]])
    """
    return np.array([[kernel(x, z) for z in Z] for x in X])
