"""What every kernel offers: similarities of objects as inner products.

    k(x, z) = <phi(x), phi(z)>

A kernel is an immutable value: its settings are checked once, when it is made. It computes in two
steps. `prepare` brings objects into the form that the similarities need (codes of substrings,
compressed labels of nodes, lengths of rows) once, and checks them; the `Prepared` rows then give
any block of the Gram matrix, so that a learner never has to hold the whole. New objects are
prepared `like` those of the training, so that both speak one code.

Kernels combine by operators (`novum.kernels.algebra`): `a + b`, `a * b`, `2.0 * a`, `a ** 3`, and
the result knows whether it is positive semi-definite by construction: that closure is a theorem
for each operator, whereas a Gram matrix can only be checked (`check_kernel`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import DTypeLike

from novum.numerics import Array, Floats

# What a kernel is a similarity of: rows of numbers; rows of a table with kinds; or any objects.
Takes = Literal["vectors", "table", "objects"]


class Prepared(ABC):
    """Objects in the form in which one kernel computes; made by `Kernel.prepare` only."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, rows: Any) -> Self:
        """Those rows, by a slice, positions or a mask."""

    @abstractmethod
    def diagonal(self) -> Floats:
        """`k(x, x)` of every row."""

    @abstractmethod
    def cross(self, other: Self, dtype: DTypeLike = np.float64) -> Array:
        """`k(x, z)` of every row here (axis 0) and every row of `other` (axis 1).

        A new C-contiguous array of `dtype`, float64 or float32, which the caller may overwrite.
        float32 permits, but does not oblige, to compute in single precision. Both sides were
        prepared by the same kernel, one of them perhaps `like` the other.
        """

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        """`k(x, z)` of all pairs of rows, exactly symmetric."""
        K = self.cross(self, dtype)
        return np.asarray((K + K.T) * K.dtype.type(0.5))


class Kernel(ABC):
    """A similarity of two objects that is meant to be an inner product.

    Attributes
    ----------
    takes : {"vectors", "table", "objects"}
        Rows of numbers (a learner codes nominal columns first); rows of a table, columns with
        their kinds; or a sequence of anything else, such as strings or graphs.
    """

    takes: ClassVar[Takes] = "vectors"

    @property
    @abstractmethod
    def is_psd_by_construction(self) -> bool:
        """Whether every Gram matrix is positive semi-definite, as a theorem."""

    @abstractmethod
    def prepare(self, X: Any, like: Any = None) -> Any:
        """The objects as `Prepared` rows; `like` those of the training, where there were such.

        Objects that are not of the kernel's kind raise `InputError`, naming the first of them.
        """

    @property
    def feature_map(self) -> Any:
        """`phi` as a callable from objects to a matrix, or None where it is not finite."""
        return None

    def gram(self, X: Any) -> Floats:
        """Similarities of all pairs, of shape (n, n), exactly symmetric."""
        return np.asarray(self.prepare(X).gram(np.float64))

    def cross(self, X: Any, Z: Any) -> Floats:
        """Similarities of every `X` and every `Z`, of shape (n, m)."""
        rows = self.prepare(X)
        return np.asarray(rows.cross(self.prepare(Z, rows), np.float64))

    def diagonal(self, X: Any) -> Floats:
        """Similarity of every object with itself, of shape (n,)."""
        return np.asarray(self.prepare(X).diagonal())

    # The operators; what they make is in `novum.kernels.algebra`, which imports this module.

    def __add__(self, other: Any) -> Kernel:
        from novum.kernels.algebra import added

        return added(self, other)

    def __radd__(self, other: Any) -> Kernel:
        from novum.kernels.algebra import added

        return added(other, self)

    def __mul__(self, other: Any) -> Kernel:
        from novum.kernels.algebra import multiplied

        return multiplied(self, other)

    def __rmul__(self, other: Any) -> Kernel:
        from novum.kernels.algebra import multiplied

        return multiplied(other, self)

    def __pow__(self, degree: int) -> Kernel:
        from novum.kernels.algebra import raised

        return raised(self, degree)
