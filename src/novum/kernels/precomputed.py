"""Similarities that the user has computed already.

    fit:      K[i, j] = k(x_i, x_j),    square, of all training objects
    predict:  K[i, j] = k(new_i, x_j),  one column for each training object

Objects are then nothing but positions. Nothing makes such a matrix positive semi-definite, so
learners check it (`check_kernel`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from novum.core.errors import InputError
from novum.kernels.protocol import Kernel, Prepared
from novum.kernels.vectors.vector_rows import as_single, in_form_of, read_vectors
from novum.numerics import Array, Floats, Positions, cached_property

# What single-precision products leave of symmetry; relative to the largest entry.
ASYMMETRY = 1e-6
BLOCK = 512


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The matrix of similarities itself in place of the objects, as scikit-learn's "precomputed".

    Notes
    -----
    The training matrix must be square, finite and symmetric (up to rounding). Similarities of new
    objects have one column for each training object; those of new objects among each other are
    not known, and asking for them is an error.

    Examples
    --------
    >>> training = Precomputed().prepare([[2.0, 1.0], [1.0, 3.0]])
    >>> new = Precomputed().prepare([[0.5, 4.0]], training)
    >>> new.cross(training.take([1])), training.diagonal()
    (array([[4.]]), array([2., 3.]))
    """

    @property
    def is_psd_by_construction(self) -> bool:
        return False

    def prepare(self, X: Any, like: PrecomputedRows | None = None) -> PrecomputedRows:
        rows = read_vectors(X, "Precomputed")
        matrix = in_form_of(rows, np.empty((0, rows.shape[1])))
        if like is None:
            _check_square(matrix)
            check_symmetric(matrix, "The precomputed kernel matrix")
            return PrecomputedRows(matrix, np.arange(len(matrix)), matrix.shape[1], True)
        if matrix.shape[1] != like.n_columns:
            raise InputError(
                f"The precomputed matrix has {matrix.shape[1]} columns, but the training had "
                f"{like.n_columns} objects: X has {matrix.shape[1]} features, but "
                f"{like.n_columns} features are expected. Pass the similarities of the new objects "
                "(rows) with all training objects (columns)."
            )
        return PrecomputedRows(matrix, np.arange(len(matrix)), like.n_columns, False)

    @staticmethod
    def positions(positions: Any, n_columns: int) -> PrecomputedRows:
        """Training objects that are known by their positions only, without their matrix.

        Enough to compare new objects with them, as a fitted model does.
        """
        known = np.asarray(positions, np.intp)
        return PrecomputedRows(np.empty((0, n_columns)), known, n_columns, True)


@dataclass(frozen=True, eq=False)
class PrecomputedRows(Prepared):
    """Rows of a matrix of similarities.

    Attributes
    ----------
    matrix : float64 array of shape (n_all, n_columns)
        Shared by all parts that are taken.
    chosen : int array
        The rows of the matrix that these objects are.
    n_columns : int
        How many objects the training had.
    in_training : bool
        Whether the objects are those of the columns.
    """

    matrix: Floats
    chosen: Positions
    n_columns: int
    in_training: bool

    def __len__(self) -> int:
        return len(self.chosen)

    def take(self, rows: Any) -> PrecomputedRows:
        return PrecomputedRows(self.matrix, self.chosen[rows], self.n_columns, self.in_training)

    @cached_property
    def is_whole(self) -> bool:
        """Whether these are all training objects, in their order."""
        return self.in_training and np.array_equal(self.chosen, np.arange(self.n_columns))

    def diagonal(self) -> Floats:
        if not self.in_training or len(self.matrix) == 0:
            raise _unknown()
        return self.matrix[self.chosen, self.chosen]

    def cross(self, other: PrecomputedRows, dtype: DTypeLike = np.float64) -> Array:
        if other.in_training and len(self.matrix):
            # Whole rows are copied much quicker than cell by cell.
            rows = self.matrix[self.chosen]
            block = rows if other.is_whole else np.ascontiguousarray(rows[:, other.chosen])
        elif self.in_training and len(other.matrix):
            block = np.ascontiguousarray(other.matrix[other.chosen][:, self.chosen].T)
        else:
            raise _unknown()
        return block if np.dtype(dtype) == np.float64 else as_single(block, Precomputed())


def check_symmetric(K: Floats, what: str) -> None:
    """Refuses a square matrix whose two halves differ by more than rounding explains.

    Examples
    --------
    >>> check_symmetric(np.array([[1.0, 0.5], [0.5, 1.0]]), "K")
    """
    allowed = ASYMMETRY * float(np.abs(K).max(initial=0.0))
    for start in range(0, len(K), BLOCK):
        difference = np.abs(K[start : start + BLOCK] - K[:, start : start + BLOCK].T)
        if difference.max(initial=0.0) > allowed:
            i, j = np.unravel_index(int(np.argmax(difference)), difference.shape)
            row, column = int(i) + start, int(j)
            raise InputError(
                f"{what} is not symmetric: entry ({row}, {column}) is {K[row, column]:.6g} and "
                f"entry ({column}, {row}) is {K[column, row]:.6g}. The similarity of two objects "
                "must not depend on their order; correct it, or average the matrix with its "
                "transpose if that is what you mean."
            )


def _check_square(matrix: Floats) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"The precomputed kernel matrix has shape {matrix.shape}: X should be a square kernel "
            "matrix in fit. Pass the similarities of all pairs of training objects."
        )


def _unknown() -> InputError:
    return InputError(
        "A precomputed kernel has no similarities of new objects among each other: only those with "
        "the training objects were given. Use a kernel that computes, where these are needed."
    )
