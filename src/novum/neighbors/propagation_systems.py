"""Linear systems of labels that spread over a graph, solved to a stated error.

    (diag(W 1 + c) - W) F = B,        W symmetric, and W, c, B without negative cells,

are a random walk from row to row that ends at row i with the share c_i. The inverse of the matrix
has no negative cell, and two things follow.

Eliminating row after row needs no subtraction, since what is left of the matrix is again weights,
row sums and ends of a walk among fewer rows (Grassmann, Taksar and Heyman):

    w_ij += w_ik w_kj / s_k,    c_i += w_ik c_k / s_k,    b_i += w_ik b_k / s_k

with `s_k = c_k + sum_j w_kj` over the rows j that are left. By the matrix-tree theorem a cell of F
is a ratio of sums of products of n weights, and a relative change of all weights by d changes it by
2 n d at most. The rounding of one elimination is such a change, of less than 44 roundings, so that
every cell of F, however small, is right to the relative error 25 n^2 eps.

And the error of any approximate F with the residual R is bounded by another system,

    A z > 0  implies  |F - F*| <= z max_i |R_i| / (A z)_i        in every row.

With `A z` near the row sums of F times those of W, z says how long walks are from where F comes
from. If they are long, as within groups of rows with weak links to all others, a small residual
proves nothing.

References: Grassmann, Taksar and Heyman, "Regenerative analysis and steady state distributions for
Markov chains", Operations Research 33, 1985; O'Cinneide, "Entrywise perturbation theory and error
analysis for Markov chains", Numerische Mathematik 65, 1993.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from novum.core.errors import MemoryLimitError
from novum.core.runtime import check_cancelled, check_memory
from novum.numerics import Floats, Mask, one_blas_thread

_EPS = float(np.finfo(np.float64).eps)
# Rows that are eliminated before the others hear of it, and rows that hear of it at a time.
_BLOCK, _STRIP = 64, 512
# Rows of a sparse graph up to which elimination is a matter of less than a tenth of a second.
_FEW = 1_000


class Solution(NamedTuple):
    """A solution and how far it may be off.

    Attributes
    ----------
    values : array (n, K)
    error : float
        Largest error of a cell, relative to the sum of its row.
    distance : float
        Bound of the norm of all errors.
    steps : int
        Of conjugate gradients; 0 where rows were eliminated.
    """

    values: Floats
    error: float
    distance: float
    steps: int


def solve(weights: Any, ends: Floats, target: Floats, tol: float, max_iter: int) -> Solution:
    """Solves `(diag(W 1 + c) - W) F = B`; every row is connected with one of positive `c`.

    Dense weights and small graphs are eliminated. Large sparse graphs are so only where conjugate
    gradients cannot prove an error of `tol`, and if the memory is there.

    Parameters
    ----------
    weights : array, which is overwritten, or sparse matrix (n, n)
        Symmetric; the diagonal takes no part.
    ends : array (n,)
        What a walk from row to row ends with.
    target : array (n, K)
    tol : float
    max_iter : int
    """
    if not (sparse.issparse(weights) and len(ends)):
        return _solution_by(eliminated(weights, ends, target), len(ends))
    if len(ends) <= _FEW:
        return _solution_by_components(weights, ends, target)
    solution = by_gradients(weights, ends, target, tol, max_iter)
    if solution.error <= tol:
        return solution
    try:
        return _solution_by_components(weights, ends, target)
    except MemoryLimitError:
        return solution


def reached_rows(graph: Any, sources: Mask) -> Mask:
    """Rows that a path of the graph connects with a source."""
    if not len(sources):
        return sources
    _, component = sparse.csgraph.connected_components(sparse.csr_matrix(graph), directed=False)
    return np.isin(component, np.unique(component[sources]))


# --- Elimination ----------------------------------------------------------------------------------


def _solution_by(values: Floats, n: int) -> Solution:
    error = 25 * n * n * _EPS
    return Solution(values, error, error * float(np.linalg.norm(values)), 0)


def _solution_by_components(weights: Any, ends: Floats, target: Floats) -> Solution:
    _, component = sparse.csgraph.connected_components(weights, directed=False)
    order = np.argsort(component, kind="stable")
    values, largest = np.zeros(target.shape), 0
    for rows in np.split(order, np.flatnonzero(np.diff(component[order])) + 1):
        largest = max(largest, len(rows))
        check_memory(
            2 * 8 * len(rows) ** 2, f"Eliminating {len(rows)} rows", "Take fewer neighbors."
        )
        within = weights[rows][:, rows].toarray()
        values[rows] = eliminated(within, ends[rows], target[rows])
    return _solution_by(values, largest)


def eliminated(weights: Floats, ends: Floats, target: Floats) -> Floats:
    """The solution by elimination without subtraction; only cells right of the diagonal are read.

    Parameters
    ----------
    weights : array (n, n), overwritten
    ends : array (n,)
    target : array (n, K)

    Examples
    --------
    >>> weights = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> eliminated(weights, np.array([1e-20, 1e-20]), np.array([[1e-20, 0.0], [0.0, 1e-20]]))
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    n, K = target.shape
    weights = np.ascontiguousarray(weights)
    sides = np.column_stack([target, ends])
    sums = np.empty(n)
    with one_blas_thread():
        for first in range(0, n, _BLOCK):
            check_cancelled()
            last = min(first + _BLOCK, n)
            block, own = weights[first:last], sides[first:last]
            for k in range(first, last):
                row = block[k - first, k + 1 :]
                # Dividing first keeps products of tiny weights from vanishing.
                sums[k] = row.sum() + own[k - first, K]
                share = row[: last - k - 1, None] / (sums[k] or 1.0)
                block[k - first + 1 :, k + 1 :] += share * row
                own[k - first + 1 :] += share * own[k - first]
            scale = np.where(sums[first:last] > 0, sums[first:last], 1.0)[:, None]
            for start in range(last, n, _STRIP):
                rows = slice(start, min(start + _STRIP, n))
                shares = (block[:, rows] / scale).T
                weights[rows, start:] += shares @ block[:, start:]
                sides[rows] += shares @ own
        values = sides[:, :K]
        for k in range(n - 1, -1, -1):
            values[k] = (values[k] + weights[k, k + 1 :] @ values[k + 1 :]) / (sums[k] or 1.0)
    return np.ascontiguousarray(values)


# --- Conjugate gradients --------------------------------------------------------------------------


class _System(NamedTuple):
    """The matrix, and its row sums."""

    weights: Any
    diagonal: Floats

    def times(self, F: Floats) -> Floats:
        return np.asarray(self.diagonal[:, None] * F - self.weights @ F)

    def rounding(self, F: Floats) -> Floats:
        """What rounding may add to `times(F)`."""
        terms = 2 * np.diff(self.weights.indptr) + 8
        sizes = self.diagonal[:, None] * np.abs(F) + self.weights @ np.abs(F)
        return np.asarray(_EPS * terms[:, None] * sizes)


def by_gradients(weights: Any, ends: Floats, target: Floats, tol: float, max_iter: int) -> Solution:
    """The solution by conjugate gradients, and the error that is proved of it.

    Residuals are held small row by row: a row far from all of `target` is small itself.
    """
    diagonal = np.asarray(weights.sum(axis=1)).ravel() + ends
    system = _System(weights.tocsr(), diagonal)

    def rows(F: Floats) -> Floats:
        return diagonal[:, None] * F.sum(axis=1, keepdims=True)

    values, steps = conjugate_gradients(
        system, target, np.zeros_like(target), lambda F: tol * rows(F), max_iter
    )
    # Lengths of walks times values; roughly right is enough.
    sizes = rows(values)
    lengths, _ = conjugate_gradients(system, sizes, 0 * sizes, lambda _: sizes / 4, max_iter)
    error, distance = _proved_error(system, target, values, lengths)
    if error > tol:
        # What residuals prove is in proportion to them.
        share = tol * tol / (2 * error)
        values, more = conjugate_gradients(
            system, target, values, lambda F: share * rows(F), max_iter - steps
        )
        steps += more
        error, distance = _proved_error(system, target, values, lengths)
    return Solution(values, error, distance, steps)


def _proved_error(
    system: _System, target: Floats, values: Floats, lengths: Floats
) -> tuple[float, float]:
    """Largest error of a cell relative to its row, and a bound of the norm of all errors."""
    reach = system.times(lengths) - system.rounding(lengths)
    if not (reach > 0).all():
        return np.inf, np.inf
    rest = np.abs(target - system.times(values)) + system.rounding(values)
    apart = lengths[:, 0] * (rest / reach).max()
    distance = float(np.linalg.norm(apart)) * np.sqrt(target.shape[1])
    least = values.sum(axis=1) - target.shape[1] * apart
    return (float((apart / least).max()) if (least > 0).all() else np.inf), distance


def conjugate_gradients(
    system: _System,
    target: Floats,
    first: Floats,
    allowed: Callable[[Floats], Floats],
    max_iter: int,
) -> tuple[Floats, int]:
    """Steps of all columns from `first` until residuals are within what is `allowed` for `F`.

    The diagonal is the preconditioner.
    """
    F, rest, steps = first.copy(), target - system.times(first), 0
    inverse = 1.0 / system.diagonal[:, None]
    direction = inverse * rest
    product = np.einsum("ij,ij->j", rest, direction)
    while steps < max_iter:
        check_cancelled()
        steps += 1
        image = system.times(direction)
        curvature = np.einsum("ij,ij->j", direction, image)
        step = np.divide(product, curvature, out=np.zeros_like(product), where=curvature > 0)
        F += step * direction
        rest -= step * image
        if (np.abs(rest) <= allowed(F)).all():
            # The recursion drifts from the true residual; it decides only if both agree.
            rest = target - system.times(F)
            if (np.abs(rest) <= allowed(F)).all():
                break
        scaled = inverse * rest
        new = np.einsum("ij,ij->j", rest, scaled)
        ratio = np.divide(new, product, out=np.zeros_like(new), where=product > 0)
        direction, product = scaled + ratio * direction, new
    return F, steps
