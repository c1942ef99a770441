"""Lloyd's algorithm on sparse rows, whose cells that are not held are zero.

    |x - c|^2 = |c|^2 + sum over the cells that x holds of x_j (x_j - 2 c_j)

so that a row costs as many operations as it holds cells, for every center. Sums of clusters are of
the cells that are held; the rows never become dense.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.clustering.starts import Starts, order_of_heights
from novum.core.runtime import time_sliced
from novum.numerics import Codes, Floats, Integers, Positions, kernel

Cells = tuple[Floats, Integers, Integers]


def cells_of(X: Any) -> Cells:
    """Cells, their columns, and where each row starts, as kernels take them."""
    return X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)


def nearest_of_sparse(X: Any, centers: Floats) -> tuple[Codes, Floats]:
    """The nearest center of every sparse row and the squared distance to it, interruptibly.

    Examples
    --------
    >>> from scipy import sparse
    >>> X = sparse.csr_array([[0.0, 3.0], [2.0, 0.0]])
    >>> nearest_of_sparse(X, np.array([[0.0, 2.0], [2.0, 0.0]]))
    (array([0, 1], dtype=int32), array([1., 0.]))
    """
    cells, columns, starts = cells_of(X)
    labels, squares = np.empty(X.shape[0], np.int32), np.empty(X.shape[0])
    turned = np.ascontiguousarray(centers.T)
    lengths = (centers**2).sum(axis=1)
    for start, stop in time_sliced(X.shape[0], block=4096):
        rows = cells, columns, starts[start : stop + 1]
        assign_sparse(rows, turned, lengths, labels[start:stop], squares[start:stop])
    return labels, squares


def sums_of_sparse(X: Any, weights: Floats, labels: Codes, k: int) -> tuple[Floats, Floats]:
    """Weights of the clusters, and weighted sums of their rows."""
    counts, sums = np.zeros(k), np.zeros((k, X.shape[1]))
    add_sparse_rows(cells_of(X), weights, labels, counts, sums)
    return counts, sums


def sparse_moments(X: Any, weights: Floats) -> tuple[Floats, float]:
    """Means of the columns, and the mean of their variances."""
    total = weights.sum()
    means = np.asarray(X.T @ weights) / total
    squares = np.asarray(X.multiply(X).T @ weights) / total
    return means, float(np.maximum(squares - means**2, 0.0).mean())


def sparse_scatter(X: Any, weights: Floats, means: Floats) -> Floats:
    """The scatter matrix of the columns, of tables with few of them."""
    products = (X.T @ X.multiply(weights[:, np.newaxis]).tocsr()).toarray()
    return np.asarray(products - weights.sum() * np.outer(means, means))


class SparseStarts(Starts):
    """First centers of sparse rows, by the draws of dense ones."""

    @classmethod
    def of_sparse(cls, X: Any, weights: Floats, means: Floats) -> SparseStarts:
        order = order_of_heights(X, means)
        return cls(X[order], weights[order])

    def _points(self, chosen: Any) -> Floats:
        return np.asarray(self.rows[chosen].toarray())

    def _costs(self, rows: Positions) -> Floats:
        points = self._points(rows)
        own: Any = self.rows
        lengths = np.asarray(own.multiply(own).sum(axis=1)).ravel()
        products = np.asarray(own @ points.T).T
        squares = lengths - 2.0 * products + (points**2).sum(axis=1)[:, np.newaxis]
        # What rounding leaves of equal rows is no distance.
        return np.where(squares <= 1e-13 * (lengths + lengths[rows][:, np.newaxis]), 0.0, squares)


# --- Kernels --------------------------------------------------------------------------------------

_SPARSE = "Tuple((float64[::1], int64[::1], int64[::1]))"


@kernel(f"void({_SPARSE}, float64[:, ::1], float64[::1], int32[::1], float64[::1])")
def assign_sparse(rows, turned, lengths, labels, squares):  # type: ignore[no-untyped-def]
    """The nearest center of every row, the first of equals; centers are given by columns."""
    cells, columns, starts = rows
    k = lengths.size
    out = np.empty(k)
    for i in range(labels.size):
        for j in range(k):
            out[j] = lengths[j]
        for t in range(starts[i], starts[i + 1]):
            x, column = cells[t], turned[columns[t]]
            for j in range(k):
                out[j] += x * (x - 2.0 * column[j])
        best = 0
        for j in range(1, k):
            if out[j] < out[best]:
                best = j
        labels[i], squares[i] = best, max(out[best], 0.0)


@kernel(f"void({_SPARSE}, float64[::1], int32[::1], float64[::1], float64[:, ::1])")
def add_sparse_rows(rows, weights, labels, counts, sums):  # type: ignore[no-untyped-def]
    """Adds weights and rows to the sums of their clusters."""
    cells, columns, starts = rows
    for i in range(labels.size):
        w, total = weights[i], sums[labels[i]]
        counts[labels[i]] += w
        for t in range(starts[i], starts[i + 1]):
            total[columns[t]] += w * cells[t]
