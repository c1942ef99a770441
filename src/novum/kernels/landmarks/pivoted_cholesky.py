"""Greedy low-rank factor of a Gram matrix: one column at a time, the worst object first.

    K ~ LL',    E = K - LL',    next landmark: the object of largest E_ii

After r steps L has r columns, agrees with K on the landmarks' rows, and only these columns of K
were computed: O(n r) similarities and O(n r^2) operations. For positive semi-definite K so is E,
hence every error is bounded by what is known of its diagonal:

    max E_ii <= |E|_2 <= |E|_F <= trace(E).

References
----------
Harbrecht, Peters and Schneider, "On the low-rank approximation by the pivoted Cholesky
decomposition", 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.runtime import check_memory
from novum.kernels.validity import IndefiniteKernelError
from novum.numerics import EPSILON, Floats, Positions, one_blas_thread

FIRST_COLUMNS = 64


@dataclass(frozen=True, eq=False)
class PivotedFactor:
    """A factor with its error.

    Attributes
    ----------
    factor : array of shape (n, r)
        `L`; its rows at the landmarks form a lower triangle.
    landmarks : int array of shape (r,)
        Positions of the objects, in the order chosen.
    residual : array of shape (n,)
        Diagonal of `E`; zero at the landmarks.
    errors : array of shape (r + 1,)
        `trace(E)` before the first and after every step.
    """

    factor: Floats
    landmarks: Positions
    residual: Floats
    errors: Floats


def pivoted_cholesky(rows: Any, rank: int, tolerance: float = 0.0) -> PivotedFactor:
    """The factor of prepared objects, of at most `rank` columns.

    Parameters
    ----------
    rows : Prepared
    rank : int
        Columns at most; fewer where the tolerance or the rounding of K is reached before.
    tolerance : float
        Share of `trace(K)` at which to stop.

    Raises
    ------
    IndefiniteKernelError
        If an object is less similar to itself than it is to the landmarks.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> found = pivoted_cholesky(Linear().prepare([[2.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), rank=3)
    >>> found.landmarks.tolist(), found.errors.tolist()
    ([0, 2], [6.0, 1.0, 0.0])
    """
    residual = np.array(rows.diagonal(), float)
    largest = float(np.abs(residual).max(initial=0.0))
    rounding = len(residual) * EPSILON * largest
    rank = min(rank, len(residual))
    columns = np.empty((0, len(residual)))
    landmarks: list[int] = []
    _refuse_negative(residual, rounding, landmarks)
    errors = [float(residual.sum())]
    with one_blas_thread():
        while len(landmarks) < rank and errors[-1] > tolerance * errors[0]:
            chosen, k = int(np.argmax(residual)), len(landmarks)
            pivot = residual[chosen]
            if pivot <= rounding:
                break
            columns = _with_room(columns, k, rank)
            column = rows.cross(rows.take([chosen]), np.float64)[:, 0]
            column -= columns[:k].T @ columns[:k, chosen]
            columns[k] = column / np.sqrt(pivot)
            residual -= columns[k] ** 2
            landmarks.append(chosen)
            residual[landmarks] = 0.0
            _refuse_negative(residual, rounding, landmarks)
            errors.append(float(residual.sum()))
    factor = np.ascontiguousarray(columns[: len(landmarks)].T)
    # Above the triangle only rounding is left.
    factor[landmarks] = np.tril(factor[landmarks])
    return PivotedFactor(factor, np.array(landmarks, np.intp), residual, np.array(errors))


def _with_room(columns: Floats, used: int, rank: int) -> Floats:
    """The columns found so far with room for another, doubled in size where it is full."""
    if used < len(columns):
        return columns
    size = min(rank, max(FIRST_COLUMNS, 2 * used))
    check_memory(
        8 * (size + used) * columns.shape[1],
        f"A factor of rank {size} for {columns.shape[1]} objects",
        "Lower the rank or raise the tolerance.",
    )
    larger = np.empty((size, columns.shape[1]))
    larger[:used] = columns[:used]
    return larger


def _refuse_negative(residual: Floats, rounding: float, landmarks: list[int]) -> None:
    """Negative residuals of rounding become zero; others prove the similarity indefinite."""
    worst = int(np.argmin(residual)) if residual.size else 0
    # Each step rounds once more; the factor of 8 keeps kernels of few digits from a false alarm.
    if residual.size and residual[worst] < -8 * (1 + len(landmarks)) * rounding:
        raise IndefiniteKernelError(
            f"The similarity is no kernel: after {len(landmarks)} landmarks object {worst} has "
            f"{residual[worst]:.6g} of its similarity to itself left, which is negative. Choose a "
            "kernel that is positive semi-definite by construction."
        )
    np.maximum(residual, 0.0, out=residual)
