"""Rows of numbers, and their inner products by one matrix product for each block.

    <x, z> = sum over columns of x_j z_j

Rows are a C-ordered float64 array or a CSR matrix; rows of new objects take the form of the
training rows. A block of inner products is one call of BLAS (dense) or one sparse product, in
double or in single precision. What single precision needs is converted once and remembered, and
`take` hands the converted rows on, so that a solver that asks for block after block converts
nothing twice.

`InnerProductKernel` is the family of kernels that are a function of `<x, z>` alone; a member says
only how a block of inner products becomes a block of similarities, in place.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from novum.core.errors import InputError
from novum.core.learners import Learner, parameter
from novum.core.runtime import check_memory, long_call
from novum.core.tables import Sample, check_sample, treatment_rows
from novum.kernels.protocol import Kernel, Prepared
from novum.numerics import Array, Floats, cached_property

# Single precision ends at 3.4e38; sums on the way to an entry need some room.
LARGEST_SINGLE = 1e37


# --- Reading --------------------------------------------------------------------------------------


class _Reader(Learner):
    """What `core.tables` wants to know of a learner; subclasses lend it a kernel's name."""

    categorical_features: Any = parameter(default=None)


def read_vectors(X: Any, kernel: str, like: Any = None) -> Any:
    """`X` as a float64 array in C order or as a CSR matrix, all cells finite.

    Parameters
    ----------
    X : array, sparse matrix, list of rows or data frame of numbers, or a checked sample
        Nominal columns of a checked sample are coded by their levels, the first left out.
    kernel : str
        Who asks, for messages.
    like : array or CSR matrix, optional
        Rows of the training; `X` must have as many columns and takes their form.

    Examples
    --------
    >>> read_vectors([[1, 2], [3, 4]], "Linear")
    array([[1., 2.],
           [3., 4.]])
    """
    rows = X if _is_plain(X) else _checked(X, kernel)
    if like is None:
        return np.ascontiguousarray(rows) if isinstance(rows, np.ndarray) else rows
    if rows.shape[1] != like.shape[1]:
        raise InputError(
            f"{kernel} was given rows of {rows.shape[1]} numbers to compare with rows of "
            f"{like.shape[1]}: X has {rows.shape[1]} features, but the training rows have "
            f"{like.shape[1]} features. Pass the same columns, in the same order."
        )
    return in_form_of(rows, like)


def in_form_of(rows: Any, like: Any) -> Any:
    """The rows dense where `like` is dense, and sparse where it is sparse."""
    if sparse.issparse(like):
        return rows if sparse.issparse(rows) else sparse.csr_array(rows)
    if not sparse.issparse(rows):
        return np.ascontiguousarray(rows)
    check_memory(
        8 * rows.shape[0] * rows.shape[1],
        "A dense copy of sparse rows, which are compared with dense ones,",
        "Pass fewer rows at a time, or train on sparse rows.",
    )
    return rows.toarray()


def _is_plain(X: Any) -> bool:
    """A matrix of finite floats needs no further look: one row stays quick."""
    if not (type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.size):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


def _checked(X: Any, kernel: str) -> Any:
    if isinstance(X, Sample):
        return X.numeric if X.is_sparse else treatment_rows(X, 0, X.n_rows)
    reader = type(kernel, (_Reader,), {})()
    try:
        rows = check_sample(reader, X, target="none", accept_sparse=True).numeric
    except InputError:
        raise
    except ValueError as error:
        reason = re.sub(r"np\.str_\((.*?)\)", r"\1", str(error)).rstrip(".")
        raise InputError(
            f"{kernel} compares rows of numbers, and X does not hold such: {reason}. Give it a "
            "table of numbers; other objects need a kernel of their own kind."
        ) from error
    if not sparse.issparse(rows):
        return rows
    merged = sparse.csr_array(rows)
    if not merged.has_canonical_format:
        merged = merged.copy()
        merged.sum_duplicates()
    return merged


# --- Products -------------------------------------------------------------------------------------


def products(left: Any, right: Any) -> Array:
    """Inner products of all rows of both, C-contiguous, in the precision of the rows.

    Examples
    --------
    >>> products(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[11.,  2.]])
    """
    if sparse.issparse(left) and sparse.issparse(right):
        return np.ascontiguousarray((left @ right.T).toarray())
    if sparse.issparse(right):
        return np.ascontiguousarray((right @ left.T).T)
    # BLAS recognizes a matrix times its own transpose, and then the result is exactly symmetric.
    return np.ascontiguousarray(left @ right.T)


def squared_lengths(rows: Any) -> Floats:
    """`<x, x>` of every row; infinite where it exceeds double precision."""
    with np.errstate(over="ignore"):
        if sparse.issparse(rows):
            return np.asarray(rows.multiply(rows).sum(axis=1), np.float64).ravel()
        return np.asarray(np.einsum("ij,ij->i", rows, rows))


# What turning an inner product into a similarity costs, in operations of a product of matrices.
ENTRY_FLOPS = 50.0


def mirrored(K: Array) -> Array:
    """`K` with its lower triangle copied to the upper one, in place, a block at a time."""
    size = 256
    for start in range(0, len(K), size):
        stop = start + size
        corner = K[start:stop, start:stop]
        corner[...] = np.tril(corner) + np.tril(corner, -1).T
        K[start:stop, stop:] = K[stop:, start:stop].T
    return K


# --- Kernels of inner products --------------------------------------------------------------------


class InnerProductKernel(Kernel):
    """A kernel that is a function of `<x, z>`."""

    @abstractmethod
    def from_products(self, block: Array) -> Array:
        """Turns inner products into similarities, in place, and returns the block."""

    @abstractmethod
    def largest(self, product: float) -> float:
        """The largest size of a similarity, where no inner product exceeds `product` in size."""

    def prepare(self, X: Any, like: ProductRows | None = None) -> ProductRows:
        name = type(self).__name__
        rows = ProductRows(self, read_vectors(X, name, None if like is None else like.rows))
        if not np.isfinite(rows.largest):
            row = int(np.argmax(rows.lengths))
            raise InputError(
                f"{self!r} exceeds the largest number there is: the squared length of row {row} "
                f"is {rows.lengths[row]:.3g}. Scale the columns, for example by "
                "novum.data.StandardScaler."
            )
        return rows


@dataclass(frozen=True, eq=False)
class ProductRows(Prepared):
    """Rows of numbers for a kernel of inner products.

    Attributes
    ----------
    kernel : InnerProductKernel
    rows : float64 array in C order, or CSR matrix, of shape (n, n_columns)
    """

    kernel: InnerProductKernel
    rows: Any

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def take(self, rows: Any) -> ProductRows:
        taken = ProductRows(self.kernel, self.rows[rows])
        if "single" in vars(self):
            vars(taken)["single"] = self.single[rows]
        vars(taken)["lengths"] = self.lengths[rows]
        return taken

    def diagonal(self) -> Floats:
        return np.asarray(self.kernel.from_products(self.lengths.copy()))

    def cross(self, other: ProductRows, dtype: DTypeLike = np.float64) -> Array:
        check_width(self.rows, other.rows, self.kernel)
        with np.errstate(under="ignore"):
            if np.dtype(dtype) == np.float64:
                return self.kernel.from_products(products(self.rows, other.rows))
            if max(self.largest, other.largest) < LARGEST_SINGLE:
                return self.kernel.from_products(products(self.single, other.single))
        return as_single(self.cross(other), self.kernel)

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        # An entrywise function of an exactly symmetric matrix is exactly symmetric; only sparse
        # products and BLAS libraries without that shortcut need the copying.
        n, width = self.rows.shape
        return long_call(
            lambda: mirrored(self.cross(self, dtype)),
            float(n) ** 2 * (2 * width + ENTRY_FLOPS),
            f"similarities of {n} rows",
        )

    @cached_property
    def lengths(self) -> Floats:
        return squared_lengths(self.rows)

    @cached_property
    def single(self) -> Any:
        """The rows in single precision."""
        return self.rows.astype(np.float32)

    @cached_property
    def largest(self) -> float:
        """A bound of all products and similarities among rows no longer than these."""
        longest = float(self.lengths.max(initial=0.0))
        with np.errstate(over="ignore", invalid="ignore"):
            return max(longest, self.kernel.largest(longest))


def check_width(left: Any, right: Any, kernel: Kernel) -> None:
    """Both sides must have the same number of columns."""
    if left.shape[1] != right.shape[1]:
        raise InputError(
            f"{type(kernel).__name__} was given rows of {left.shape[1]} numbers to compare with "
            f"rows of {right.shape[1]}. Prepare both from the same columns."
        )


def as_single(K: Floats, kernel: Kernel) -> Array:
    """Similarities rounded to single precision, refused where they do not fit."""
    largest = float(np.abs(K).max(initial=0.0))
    if largest > float(np.finfo(np.float32).max):
        raise InputError(
            f"{kernel!r} gives similarities up to {largest:.3g}, too large for single precision. "
            "Scale the columns or normalize the kernel."
        )
    return K.astype(np.float32)
