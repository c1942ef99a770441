"""The rows that a perceptron visits: their sides, their weights, and an order without memory.

A stochastic rule depends on the order of its visits, and a row that stands twice in a table is
visited twice. Both would make a fit depend on how the table happens to be stored. Here rows are
first put into an order that depends on their cells alone (by a digest of 64 bits), and rows that
are equal become one row with the sum of their weights. Then, with shuffling,

    the order of the table does not matter, and weight 2 is the row twice, to the last bit.

A row of weight `c` is visited `c` times in a row, the last time for the part of a visit that is
left. Without shuffling the rows keep the order of the table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from novum.numerics.jit import as_argument

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Digests = NDArray[np.uint64]

# Cells beyond 2^400 or all below 2^-400 are scaled, so that scores and squares stay in range.
_LARGEST_EXPONENT = 400
_BLOCK_CELLS = 2**20


class SparseRows(NamedTuple):
    """Compressed rows as the kernels take them."""

    data: Floats
    indices: Places
    starts: Places


class Visits(NamedTuple):
    """What a binary perceptron learns from.

    Attributes
    ----------
    X : array of shape (n, d) or CSR matrix
        Times `scale`.
    rows : array of shape (g,)
        The row of `X` that stands for each group of equal rows.
    sign, weight : arrays of shape (g,)
        Side (-1 or +1) and total weight of each group.
    constant : float
        The cell that the intercept multiplies: `scale`, or 0 without one.
    scale : float
        A power of two.
    """

    X: Any
    rows: Places
    sign: Floats
    weight: Floats
    constant: float
    scale: float

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1])

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.weight.sum())

    def scores(self, weights: Floats) -> Floats:
        """`<w, x>` of every group, shape (g,), with the intercept."""
        products = np.asarray(self.X @ weights[:-1])
        return products[self.rows] + self.constant * weights[-1]

    def error(self, weights: Floats) -> float:
        """Weight of the rows that are not strictly on their side."""
        return float(self.weight[~(self.sign * self.scores(weights) > 0)].sum())

    def norms(self) -> Floats:
        """Length of every group's row, with the cell of the intercept."""
        squares = self.X.multiply(self.X).sum(axis=1) if sparse.issparse(self.X) else None
        if squares is None:
            squares = np.einsum("ij,ij->i", self.X, self.X)
        return np.sqrt(np.asarray(squares, float).ravel()[self.rows] + self.constant**2)

    def sparse_rows(self) -> SparseRows:
        return SparseRows(
            as_argument(self.X.data),
            as_argument(self.X.indices, np.int64),
            as_argument(self.X.indptr, np.int64),
        )


def visits_of(
    X: Any, positive: NDArray[Any], weight: Floats | None, fit_intercept: bool, canonical: bool
) -> Visits:
    """The visits of a table; `canonical` forgets its order and unites equal rows.

    Examples
    --------
    >>> found = visits_of(np.array([[2.0], [1.0], [2.0]]), np.array([1, 0, 1]), None, True, True)
    >>> sorted(found.weight.tolist()), found.total
    ([1.0, 2.0], 3.0)
    """
    scale = _scale(X, fit_intercept)
    cells = X if scale == 1.0 else X * scale
    if sparse.issparse(cells):
        # A copy of the outer object only; what is summed and sorted was the caller's otherwise.
        cells = sparse.csr_matrix(cells, copy=not cells.has_canonical_format)
        cells.sum_duplicates()
    sign = np.where(np.asarray(positive) > 0, 1.0, -1.0)
    weights = np.ones(len(sign)) if weight is None else np.asarray(weight, float)
    rows = np.arange(len(sign))
    if canonical:
        rows, weights = _united(cells, sign, weights)
        sign = sign[rows]
    constant = scale if fit_intercept else 0.0
    return Visits(cells, rows.astype(np.int64), sign, weights, constant, scale)


def _scale(X: Any, fit_intercept: bool) -> float:
    cells = X.data if sparse.issparse(X) else X
    # The cell of the intercept is 1 and has to stay in range as well.
    largest = float(np.abs(cells).max(initial=1.0 if fit_intercept else 0.0))
    if largest == 0.0:
        return 1.0
    exponent = int(np.frexp(largest)[1])
    return 1.0 if abs(exponent) <= _LARGEST_EXPONENT else float(np.ldexp(1.0, -exponent))


# --- Equal rows -----------------------------------------------------------------------------------


def _united(X: Any, sign: Floats, weight: Floats) -> tuple[Places, Floats]:
    """One row of each group of equal ones, in the order of their digests, and its weight."""
    digests = row_digests(X) ^ _mixed(np.where(sign > 0, 1, 2).astype(np.uint64))
    order = np.argsort(digests, kind="stable")
    alike = np.flatnonzero(digests[order[1:]] == digests[order[:-1]])
    first, second = order[alike], order[alike + 1]
    equal = (sign[first] == sign[second]) & _equal_rows(X, first, second)
    starts = np.ones(len(order), bool)
    starts[alike[equal] + 1] = False
    groups = np.cumsum(starts) - 1
    return order[starts].astype(np.int64), np.bincount(groups, weight[order]).astype(float)


def row_digests(X: Any) -> Digests:
    """64 bits of each row: the sum of the mixed bits of its cells; cells of zero add nothing."""
    if sparse.issparse(X):
        mixed = _cell_digests(X.data, X.indices)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
        return np.asarray(sums[X.indptr[1:]] - sums[X.indptr[:-1]])
    n, d = X.shape
    found, columns = np.empty(n, np.uint64), np.arange(d)
    size = max(1, _BLOCK_CELLS // max(d, 1))
    for start in range(0, n, size):
        block = np.ascontiguousarray(X[start : start + size], np.float64)
        found[start : start + size] = _cell_digests(block, columns).sum(axis=1, dtype=np.uint64)
    return found


def _cell_digests(values: Floats, columns: NDArray[Any]) -> Digests:
    places = _mixed(np.asarray(columns).astype(np.uint64) + np.uint64(1))
    bits = np.ascontiguousarray(values, np.float64).view(np.uint64)
    return np.where(values == 0, np.uint64(0), _mixed(bits ^ places))


def _mixed(bits: Digests) -> Digests:
    """The finalizer of splitmix64 (Steele, Lea and Flood 2014): every bit depends on all."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _equal_rows(X: Any, first: Places, second: Places) -> NDArray[np.bool_]:
    if not len(first):
        return np.zeros(0, bool)
    if sparse.issparse(X):
        return np.asarray(abs(X[first] - X[second]).sum(axis=1)).ravel() == 0
    return np.asarray((X[first] == X[second]).all(axis=1))
