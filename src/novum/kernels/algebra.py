"""The algebra of kernels: sums, multiples, products and powers of kernels are kernels.

    (a + b)(x, z) = a(x, z) + b(x, z)        (c a)(x, z) = c a(x, z),    c >= 0
    (a * b)(x, z) = a(x, z) b(x, z)          (a ** d)(x, z) = a(x, z)^d,  d = 1, 2, ...

Each keeps positive semi-definiteness: the sum of two quadratic forms that are never negative is
never negative; the entrywise product of two such matrices is one again (Schur); a power is a
product. A negative multiple of a kernel is none, and is refused. A number in a sum is the constant
kernel, which a model reads as a bias inside the kernel.

Sums of kernels on parts of an object (`novum.kernels.parts`) are direct sums of their spaces.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import prod
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.kernels.feature_maps import (
    Crossed,
    Monomials,
    Ones,
    SideBySide,
    count_objects,
    stretched,
)
from novum.kernels.parameters import kernel_factor, positive_integer
from novum.kernels.protocol import Kernel, Prepared, Takes
from novum.kernels.vectors.polynomial import raised_in_place
from novum.kernels.vectors.vector_rows import LARGEST_SINGLE, as_single
from novum.numerics import Array, Floats, cached_property

# --- The operators --------------------------------------------------------------------------------


def added(a: Any, b: Any) -> Kernel:
    """`a + b`; a number is the constant kernel, and 0 adds nothing, so that `sum` works.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> added(Linear(), 1.0)
    Linear() + 1.0
    """
    terms = [part for side in (a, b) for part in _terms(side)]
    constants = [term.value for term in terms if isinstance(term, Constant)]
    kept = [term for term in terms if not isinstance(term, Constant)]
    if sum(constants) > 0 or not kept:
        kept.append(Constant(sum(constants)))
    return kept[0] if len(kept) == 1 else Sum(tuple(kept))


def multiplied(a: Any, b: Any) -> Kernel:
    """`a * b`; numbers are gathered in one factor at the front.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> 2.0 * Linear() * (3 * Linear())
    6.0 * Linear() * Linear()
    """
    factors: list[float] = []
    parts: list[Kernel] = []
    for side in (a, b):
        factor, rest = _factors(side)
        factors.append(factor)
        parts += rest
    factor = prod(factors)
    if not np.isfinite(factor):
        raise InputError(f"The factors {factors} of these kernels multiply to no finite number.")
    product = parts[0] if len(parts) == 1 else Product(tuple(parts))
    return product if factor == 1.0 else Scaled(factor, product)


def raised(a: Kernel, degree: Any) -> Kernel:
    """`a ** degree` for a whole number of at least 1.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> (Linear() ** 2) ** 3
    Linear() ** 6
    """
    why = "Other powers of a kernel are not positive semi-definite in general."
    degree = positive_integer(degree, "The power of a kernel", why)
    if degree == 1:
        return a
    if isinstance(a, Scaled):
        factor = float(np.float_power(a.factor, degree))
        return multiplied(kernel_factor(factor), raised(a.kernel, degree))
    if isinstance(a, Power):
        return Power(a.kernel, a.degree * degree)
    return Power(a, degree)


def _terms(side: Any) -> tuple[Kernel, ...]:
    if isinstance(side, Sum):
        return side.parts
    if isinstance(side, Kernel):
        return (side,)
    if isinstance(side, Real):
        return (Constant(kernel_factor(side)),)
    raise _no_kernel(side, "+")


def _factors(side: Any) -> tuple[float, tuple[Kernel, ...]]:
    if isinstance(side, Scaled):
        return side.factor, _factors(side.kernel)[1]
    if isinstance(side, Product):
        return 1.0, side.parts
    if isinstance(side, Kernel):
        return 1.0, (side,)
    if isinstance(side, Real):
        return kernel_factor(side), ()
    raise _no_kernel(side, "*")


def _no_kernel(side: Any, operator: str) -> TypeError:
    return TypeError(
        f"unsupported operand for {operator} of kernels: {label_text(side)}. Combine kernels with "
        "kernels or numbers of at least 0."
    )


# --- Values ---------------------------------------------------------------------------------------


class Combination(Kernel):
    """A kernel made of parts that are all prepared from the same objects."""

    parts: tuple[Kernel, ...]

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        return common_kind(self.parts)

    @property
    def is_psd_by_construction(self) -> bool:
        return all(part.is_psd_by_construction for part in self.parts)

    @abstractmethod
    def united(self, blocks: Any) -> Array:
        """One block of the similarities of the parts' blocks, which may be overwritten."""

    def prepare(self, X: Any, like: CombinedRows | None = None) -> CombinedRows:
        likes = [None] * len(self.parts) if like is None else like.parts
        pairs = zip(self.parts, likes, strict=True)
        return CombinedRows(self, tuple(part.prepare(X, known) for part, known in pairs))


@dataclass(frozen=True, repr=False)
class Sum(Combination):
    """`k(x, z) = a(x, z) + b(x, z) + ...`; made by `a + b`.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> (Linear() + 1.0).gram([[1.0], [2.0]])
    array([[2., 3.],
           [3., 5.]])
    """

    parts: tuple[Kernel, ...]

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.parts))

    @property
    def feature_map(self) -> SideBySide | None:
        maps = tuple(part.feature_map for part in self.parts)
        return None if None in maps else SideBySide(maps)

    def united(self, blocks: Any) -> Array:
        total = next(blocks)
        for block in blocks:
            total += block
        return np.asarray(total)


@dataclass(frozen=True, repr=False)
class Product(Combination):
    """`k(x, z) = a(x, z) b(x, z) ...`; made by `a * b`.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> (Linear() * Linear()).gram([[1.0], [2.0]])
    array([[ 1.,  4.],
           [ 4., 16.]])
    """

    parts: tuple[Kernel, ...]

    def __repr__(self) -> str:
        return " * ".join(_factor_text(part) for part in self.parts)

    @property
    def feature_map(self) -> Crossed | None:
        maps = tuple(part.feature_map for part in self.parts)
        return None if None in maps else Crossed(maps)

    def united(self, blocks: Any) -> Array:
        total = next(blocks)
        for block in blocks:
            total *= block
        return np.asarray(total)


@dataclass(frozen=True, repr=False)
class Scaled(Combination):
    """`k(x, z) = factor a(x, z)`, factor at least 0; made by `factor * a`.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> (0.5 * Linear()).diagonal([[1.0], [2.0]])
    array([0.5, 2. ])
    """

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", kernel_factor(self.factor))

    def __repr__(self) -> str:
        inner = repr(self.kernel) if isinstance(self.kernel, Product) else _factor_text(self.kernel)
        return f"{self.factor!r} * {inner}"

    @property
    def parts(self) -> tuple[Kernel, ...]:  # type: ignore[override]
        return (self.kernel,)

    @property
    def feature_map(self) -> Any:
        return stretched(self.kernel.feature_map, self.factor)

    def united(self, blocks: Any) -> Array:
        block = next(blocks)
        block *= block.dtype.type(self.factor)
        return np.asarray(block)


@dataclass(frozen=True, repr=False)
class Power(Combination):
    """`k(x, z) = a(x, z)^degree` for a whole degree; made by `a ** degree`.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> (Linear() ** 3).diagonal([[1.0], [2.0]])
    array([ 1., 64.])
    """

    kernel: Kernel
    degree: int

    def __post_init__(self) -> None:
        degree = positive_integer(self.degree, "The power of a kernel")
        object.__setattr__(self, "degree", degree)

    def __repr__(self) -> str:
        combined = isinstance(self.kernel, (Combination, Constant))
        base = f"({self.kernel!r})" if combined else repr(self.kernel)
        return f"{base} ** {self.degree}"

    @property
    def parts(self) -> tuple[Kernel, ...]:  # type: ignore[override]
        return (self.kernel,)

    @property
    def feature_map(self) -> Monomials | None:
        inner = self.kernel.feature_map
        return None if inner is None else Monomials(inner, self.degree)

    def united(self, blocks: Any) -> Array:
        return raised_in_place(next(blocks), self.degree)


def common_kind(parts: tuple[Kernel, ...]) -> Takes:
    """What objects a combination takes: those that all of its parts can be given.

    Rows of a table serve kernels of vectors too, and objects serve whoever chooses parts of them.
    """
    kinds = {part.takes for part in parts if not isinstance(part, Constant)}
    order: tuple[Takes, ...] = ("objects", "table", "vectors")
    return next((kind for kind in order if kind in kinds), "vectors")


def _factor_text(kernel: Kernel) -> str:
    """In a product, sums and factors at other places than the front need parentheses."""
    loose = isinstance(kernel, (Sum, Scaled, Product, Constant))
    return f"({kernel!r})" if loose else repr(kernel)


# --- Prepared objects -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CombinedRows(Prepared):
    """The same objects prepared for every part of a combined kernel."""

    kernel: Combination
    parts: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.parts[0])

    def take(self, rows: Any) -> CombinedRows:
        return CombinedRows(self.kernel, tuple(part.take(rows) for part in self.parts))

    def diagonal(self) -> Floats:
        return np.asarray(self.kernel.united(part.diagonal().copy() for part in self.parts))

    def cross(self, other: CombinedRows, dtype: DTypeLike = np.float64) -> Array:
        if isinstance(self.kernel, Scaled) and self.kernel.factor == 0.0:
            return np.zeros((len(self), len(other)), dtype)
        pairs = list(zip(self.parts, other.parts, strict=True))
        if np.dtype(dtype) == np.float32 and not self._fits_single(other):
            return as_single(self.cross(other), self.kernel)
        return self.kernel.united(mine.cross(theirs, dtype) for mine, theirs in pairs)

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        if np.dtype(dtype) == np.float32 and not self._fits_single(self):
            return as_single(self.gram(), self.kernel)
        return self.kernel.united(part.gram(dtype) for part in self.parts)

    def _fits_single(self, other: CombinedRows) -> bool:
        """Whether no product on the way can exceed single precision.

        Products and powers of parts that each fit may not fit; sums do, for all practical sizes.
        """
        if isinstance(self.kernel, Sum):
            return True
        return max(self._largest, other._largest) < LARGEST_SINGLE

    @cached_property
    def _largest(self) -> float:
        """The largest similarity of an object with itself, by which all others are bounded."""
        with np.errstate(over="ignore"):
            sizes = [float(np.abs(part.diagonal()).max(initial=0.0)) for part in self.parts]
            return max(*sizes, float(np.abs(self.diagonal()).max(initial=0.0)))


# --- Constants ------------------------------------------------------------------------------------
#
#     k(x, z) = value,  at least 0
#
# Its feature space has one dimension, in which all objects are the same: a bias inside the kernel.


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
