"""Similarities as they come: from a kernel and objects, or as a matrix, with their accuracy.

Nothing is made symmetric here, and nothing is assumed of the numbers but that they are finite: what
`novum.kernels.validity` judges is what a kernel really computes.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils import _safe_indexing

from novum.core.errors import InputError
from novum.core.runtime import check_memory
from novum.core.tables import Sample
from novum.kernels.protocol import Kernel, Prepared
from novum.numerics import EPSILON, Array, Floats, Positions

# Entries go through a few rounded operations after the last sum that could be counted.
ROUNDINGS = 16
# BLAS sums the two triangles of a matrix in different order; what exceeds this is no rounding.
ASYMMETRY = 1e-10


class MatrixRows(Prepared):
    """A matrix in the place of prepared objects."""

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix

    def __len__(self) -> int:
        return len(self.matrix)

    def take(self, rows: Any) -> MatrixRows:
        return MatrixRows(self.matrix[np.ix_(rows, rows)])

    def diagonal(self) -> Floats:
        return np.diagonal(self.matrix).astype(float)

    def cross(self, other: Any, dtype: Any = np.float64) -> Array:  # noqa: ARG002
        return np.array(self.matrix, dtype)


def rows_of(kernel: Any, X: Any) -> tuple[Any, str | None]:
    """Prepared objects, and the kernel's name if it is valid by construction.

    Examples
    --------
    >>> rows, promised = rows_of([[1.0, 0.5], [0.5, 1.0]], None)
    >>> len(rows), promised
    (2, None)
    """
    if isinstance(kernel, Kernel):
        if X is None:
            raise InputError(f"check_kernel needs objects to compare: check_kernel({kernel!r}, X).")
        rows = kernel.prepare(X)
        return rows, repr(kernel) if kernel.is_psd_by_construction else None
    if X is not None or callable(kernel) or isinstance(kernel, str):
        raise InputError(
            "check_kernel takes a kernel of novum.kernels and objects, or a matrix alone, got "
            f"{type(kernel).__name__}{'' if X is None else ' and objects'}. Turn a name or a "
            "function into a kernel first, as in FromCallable(function)."
        )
    matrix = np.asarray(kernel)
    if matrix.dtype.kind not in "biuf" or matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"A matrix of similarities is square and holds real numbers, got shape {matrix.shape} "
            f"of {matrix.dtype}."
        )
    return MatrixRows(matrix), None


def similarities(rows: Any, chosen: Positions) -> tuple[Floats, float | None]:
    """Similarities of all pairs of chosen objects as computed, and the precision of a matrix."""
    n = len(chosen)
    if n == 0:
        raise InputError("There are no objects to check a kernel on. Give at least one.")
    check_memory(
        4 * 8 * n * n,
        f"Checking the similarities of {n} objects",
        "Lower max_rows: a random principal submatrix can prove a similarity invalid.",
    )
    part = rows if n == len(rows) else rows.take(chosen)
    precision = None
    if isinstance(part, MatrixRows):
        kind = part.matrix.dtype
        precision = float(np.finfo(kind).eps) if kind.kind == "f" else 0.0
    K = np.asarray(part.cross(part, np.float64), float)
    bad = np.argwhere(~np.isfinite(K))
    if bad.size:
        i, j = (int(chosen[k]) for k in bad[0])
        raise InputError(
            f"The similarity of objects {i} and {j} is {K[tuple(bad[0])]} ({len(bad)} such pairs "
            "in all). Similarities must be finite numbers."
        )
    return K, precision


def objects_at(objects: Any, rows: Positions) -> Any:
    """Some of the objects of a list, an array, a sparse matrix, a frame or a checked sample.

    Examples
    --------
    >>> objects_at(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    return objects.rows(rows) if isinstance(objects, Sample) else _safe_indexing(objects, rows)


def entry_accuracy(K: Floats, precision: float | None = None) -> float:
    """Relative error that the entries of a matrix must be credited with.

    Examples
    --------
    >>> entry_accuracy(np.array([[0.1]])) < entry_accuracy(np.array([[0.1]], np.float32) + 0.0)
    True
    """
    if precision == 0.0:
        return 0.0
    whole = bool((np.round(K) == K).all())
    # A matrix computed in single precision and converted afterwards still has its errors.
    with np.errstate(over="ignore"):
        single = not whole and bool((K.astype(np.float32) == K).all())
    return ROUNDINGS * max(precision or EPSILON, float(np.finfo(np.float32).eps) if single else 0.0)


def checked_accuracy(accuracy: Any) -> float:
    """A relative error that a user has stated."""
    if not (isinstance(accuracy, Real) and 0 <= float(accuracy) < 1):
        raise InputError(
            f"accuracy is the relative error of an entry, at least 0 and below 1, got {accuracy!r}."
        )
    return float(accuracy)


def asymmetry_of(K: Floats) -> tuple[float, tuple[int, int] | None]:
    """Largest difference between an entry and its mirror image, and where; None if there is none.

    Examples
    --------
    >>> asymmetry_of(np.array([[1.0, 0.5], [0.25, 1.0]]))
    (0.25, (0, 1))
    """
    # Halves first: the difference of two numbers of opposite sign may be beyond the largest.
    difference = np.abs(K / 2 - K.T / 2)
    i, j = np.unravel_index(int(np.argmax(difference)), difference.shape)
    largest = 2 * float(difference[i, j])
    return largest, (int(i), int(j)) if largest > 0 else None


def is_crooked(K: Floats, asymmetry: float, accuracy: float) -> bool:
    """Whether an asymmetry is more than the rounding of entries explains."""
    return asymmetry > max(ASYMMETRY, 4 * accuracy) * float(np.abs(K).max())


# --- Blocks ---------------------------------------------------------------------------------------


def empty_block(n: int, m: int, dtype: DTypeLike) -> Array:
    """A matrix of n times m numbers that are still to be filled in.

    Examples
    --------
    >>> empty_block(2, 3, np.float32).shape
    (2, 3)
    """
    check_memory(
        n * m * np.dtype(dtype).itemsize,
        f"A matrix of {n * m:,} similarities",
        "Ask for a part of the rows at a time (take), or use single precision.",
    )
    return np.empty((n, m), dtype)
