"""Columns of a penalized problem: centered, weighted, dense or compressed.

With weights `w_i` of sum `W` and `v_i = sqrt(w_i / W)`, a vector of length one, the loss

    sum_i w_i (y_i - b0 - x_i'b)^2 / (2 W)  =  |t - A b|^2 / 2,      A_ij = v_i (x_ij - mean_j),

has no intercept any more: the best one is `mean(y) - mean'b`. Dense columns are centered before
anything is summed, so an offset costs no digits. Compressed ones stay as they are: `A = V - v m'`
with `V_ij = v_i x_ij` and `m = V'v`, and products take the second part into account.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from novum.core.runtime import check_memory
from novum.core.tables import Coding, Sample, treatment_blocks
from novum.linear.column_range import check_range, check_sparse_range, check_target_range
from novum.linear.sparse.objective import Penalty
from novum.numerics import Floats, Positions, as_argument


class Columns(Protocol):
    """What a solver asks of the columns `A` (n, p)."""

    @property
    def mean(self) -> Floats:
        """What was taken off each column, (p,); zeros without an intercept."""

    @property
    def squares(self) -> Floats:
        """`|A_j|^2`, (p,)."""

    @property
    def root(self) -> Floats:
        """`v`, (n,)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def products(self, r: Floats, chosen: Positions | None = None) -> Floats:
        """`A_j'r` of all or some columns; `r` is orthogonal to `v` where columns are centered."""

    def scores(self, b: Floats, chosen: Positions) -> Floats:
        """`sum_j A_j b_j` over some columns."""

    def gram(self, left: Positions, right: Positions) -> Floats:
        """`A_i'A_j` of some columns with others."""

    def pass_over(
        self, chosen: Positions, l1: Floats, l2: Floats, positive: bool, b: Floats, r: Floats
    ) -> None:
        """One pass of coordinate descent over some columns; writes `b` (p,) and `r` (n,)."""


@dataclass(frozen=True, eq=False)
class DenseColumns:
    """Columns as the rows of `cells` (p, n)."""

    cells: Floats
    mean: Floats
    squares: Floats
    root: Floats

    @property
    def shape(self) -> tuple[int, int]:
        return self.cells.shape[1], self.cells.shape[0]

    def products(self, r: Floats, chosen: Positions | None = None) -> Floats:
        if chosen is None:
            return np.asarray(self.cells @ r)
        from novum.linear.sparse.descent_kernels import dense_products

        out = np.empty(len(chosen))
        dense_products(self.cells, as_argument(r), as_argument(chosen, np.int64), out)
        return out

    def scores(self, b: Floats, chosen: Positions) -> Floats:
        return np.asarray(b[chosen] @ self.cells[chosen])

    def gram(self, left: Positions, right: Positions) -> Floats:
        rows = self.cells[left]
        return np.asarray(rows @ (rows if right is left else self.cells[right]).T)

    def weighted_squares(self, weight: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij,j->i", self.cells, self.cells, weight))

    def curvature(self, weight: Floats, left: Positions, right: Positions) -> Floats:
        if left is right:
            scaled = self.cells[left] * np.sqrt(weight)
            return np.asarray(scaled @ scaled.T)
        return np.asarray((self.cells[left] * weight) @ self.cells[right].T)

    def cells_of(self, chosen: Positions) -> int | None:
        del chosen
        return None

    def settle(
        self, d: Floats, free: bool, chosen: Positions, penalty: Penalty, target: float,
        passes: int, b: Floats, r: Floats,
    ) -> float:  # fmt: skip
        raise NotImplementedError("Dense columns are descended on their cross-products.")

    def pass_over(
        self, chosen: Positions, l1: Floats, l2: Floats, positive: bool, b: Floats, r: Floats
    ) -> None:
        from novum.linear.sparse.descent_kernels import dense_pass

        places = as_argument(chosen, np.int64)
        dense_pass(self.cells, self.squares, places, l1, l2, positive, b, r)


@dataclass(frozen=True, eq=False)
class SparseColumns:
    """Columns `V - v m'` with `V` compressed by columns; `m` is `inner`, zeros if not centered."""

    V: sparse.csc_matrix
    inner: Floats
    mean: Floats
    squares: Floats
    root: Floats

    @property
    def shape(self) -> tuple[int, int]:
        n, p = self.V.shape
        return n, p

    def products(self, r: Floats, chosen: Positions | None = None) -> Floats:
        if chosen is None:
            return np.asarray(self.V.T @ r)
        from novum.linear.sparse.descent_kernels import sparse_products

        out = np.empty(len(chosen))
        places = as_argument(chosen, np.int64)
        sparse_products(self.V.data, self.V.indices, self.V.indptr, as_argument(r), places, out)
        return out

    def scores(self, b: Floats, chosen: Positions) -> Floats:
        from novum.linear.sparse.descent_kernels import sparse_scores

        out = np.zeros(self.V.shape[0])
        places = as_argument(chosen, np.int64)
        sparse_scores(self.V.data, self.V.indices, self.V.indptr, b, places, out)
        return np.asarray(out - float(self.inner[chosen] @ b[chosen]) * self.root)

    def gram(self, left: Positions, right: Positions) -> Floats:
        product = (self.V[:, left].T @ self.V[:, right]).toarray()
        return np.asarray(product - np.outer(self.inner[left], self.inner[right]))

    def weighted_squares(self, weight: Floats) -> Floats:
        return _squares(self.V, weight)

    def curvature(self, weight: Floats, left: Positions, right: Positions) -> Floats:
        part = self.V[:, right]
        scaled = part if left is right else self.V[:, left]
        cells = (scaled.data * weight[scaled.indices], scaled.indices, scaled.indptr)
        return np.asarray((sparse.csc_matrix(cells, scaled.shape).T @ part).toarray())

    def cells_of(self, chosen: Positions) -> int | None:
        return int((self.V.indptr[chosen + 1] - self.V.indptr[chosen]).sum())

    def settle(
        self, d: Floats, free: bool, chosen: Positions, penalty: Penalty, target: float,
        passes: int, b: Floats, r: Floats,
    ) -> float:  # fmt: skip
        from novum.linear.sparse.descent_kernels import sparse_model_descent

        V, total = self.V, float(d.sum()) if free else 0.0
        cells = (V.data, V.indices, V.indptr, as_argument(d), total, as_argument(chosen, np.int64))
        strengths = (as_argument(penalty.l1), as_argument(penalty.l2), penalty.positive)
        return float(sparse_model_descent(*cells, *strengths, passes, target, b, r))

    def pass_over(
        self, chosen: Positions, l1: Floats, l2: Floats, positive: bool, b: Floats, r: Floats
    ) -> None:
        from novum.linear.sparse.descent_kernels import sparse_pass

        V, places = self.V, as_argument(chosen, np.int64)
        offset = sparse_pass(
            V.data, V.indices, V.indptr, self.inner, self.squares, places, l1, l2, positive, b, r
        )
        r += offset * self.root


class PlainColumns(Protocol):
    """Columns without weights, for losses whose curvature changes."""

    @property
    def mean(self) -> Floats:
        """What was taken off each column, (p,)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def products(self, r: Floats, chosen: Positions | None = None) -> Floats:
        """`A_j'r` of all or some columns."""

    def scores(self, b: Floats, chosen: Positions) -> Floats:
        """`sum_j A_j b_j` over some columns."""

    def weighted_squares(self, weight: Floats) -> Floats:
        """`sum_i w_i A_ij^2` of every column."""

    def curvature(self, weight: Floats, left: Positions, right: Positions) -> Floats:
        """`sum_i w_i A_il A_ir` of some columns with others; weights may be negative."""

    def cells_of(self, chosen: Positions) -> int | None:
        """Stored cells of some columns, which a pass visits; None where all are stored."""

    def settle(
        self, d: Floats, free: bool, chosen: Positions, penalty: Penalty, target: float,
        passes: int, b: Floats, r: Floats,
    ) -> float:  # fmt: skip
        """Lowers the quadratic function of a Newton step under weights `d` (n,), with its penalty.

        `target` is a slope that needs no further step, as a share of the penalty's. Writes
        coefficients `b` (k,) and residuals `r` (n,); returns the move of a free intercept.
        """


def columns_of(sample: Sample, *, centered: bool) -> Columns:
    """The columns of a checked sample; nominal columns by treatment coding."""
    weight = sample.weights
    root = np.sqrt(weight / weight.sum())
    if sample.is_sparse:
        return _sparse_columns(sample, root, centered)
    cells, mean = _dense_cells(sample, root**2, centered)
    cells *= root
    return DenseColumns(cells, mean, np.einsum("ij,ij->i", cells, cells), root)


def plain_columns(sample: Sample, weight: Floats, *, centered: bool) -> PlainColumns:
    """Columns without weights; dense ones are taken from their means under weights (n,)."""
    if sample.is_sparse:
        return _sparse_columns(sample, np.ones(sample.n_rows), False)
    cells, mean = _dense_cells(sample, weight / weight.sum(), centered)
    return DenseColumns(cells, mean, np.einsum("ij,ij->i", cells, cells), np.ones(sample.n_rows))


def _dense_cells(sample: Sample, share: Floats, centered: bool) -> tuple[Floats, Floats]:
    """Columns (p, n), centered under shares of weight, and their means."""
    width = len(Coding(sample.schema).names)
    check_memory(
        8 * sample.n_rows * width,
        f"The columns of {sample.n_rows} rows and {width} coefficients",
        "Pass a sparse matrix, or select columns.",
    )
    cells = np.empty((width, sample.n_rows))
    for rows, X in treatment_blocks(sample):
        cells[:, rows] = X.T
    lowest, highest = cells.min(axis=1), cells.max(axis=1)
    mean = np.zeros(width)
    if centered:
        # From a cell of the column, so that an offset costs no digits of the mean.
        first = cells[:, 0].copy()
        cells -= first[:, np.newaxis]
        shift = cells @ share
        cells -= shift[:, np.newaxis]
        mean = first + shift
        constant = lowest == highest
        cells[constant], mean[constant] = 0.0, lowest[constant]
    reach = np.maximum(np.abs(highest - mean), np.abs(lowest - mean))
    if centered:
        reach[constant] = 0.0
    check_range(mean, reach, lambda: Coding(sample.schema).names)
    return cells, mean


def _sparse_columns(sample: Sample, root: Floats, centered: bool) -> SparseColumns:
    check_sparse_range(sample.numeric, lambda: sample.schema.names)
    V: Any = sparse.csc_matrix(sample.numeric, dtype=np.float64, copy=True)
    V.sum_duplicates()
    V.eliminate_zeros()
    if (root != 1.0).any():
        V.data *= root[V.indices]
    # SciPy narrows what it is given; kernels have one signature.
    V.data = as_argument(V.data)
    V.indices, V.indptr = as_argument(V.indices, np.int32), as_argument(V.indptr, np.int64)
    plain = _squares(V, np.ones(V.shape[0]))
    mean = np.asarray(V.T @ root) if centered else np.zeros(V.shape[1])
    squares = plain - mean**2
    # What is left of a constant column is rounding.
    squares[squares <= 1e-14 * plain] = 0.0
    return SparseColumns(V, mean, mean, squares, root)


def _squares(V: Any, weight: Floats) -> Floats:
    """`sum_i w_i V_ij^2` of every column."""
    from novum.linear.sparse.descent_kernels import sparse_squares

    out = np.empty(V.shape[1])
    sparse_squares(V.data, V.indices, V.indptr, as_argument(weight), out)
    return out


def centered_target(target: Floats, root: Floats, *, centered: bool) -> tuple[Floats, float]:
    """`t` and the mean of a target, for `v` (n,)."""
    mean = float(target[0] + root**2 @ (target - target[0])) if centered else 0.0
    if centered and target.min() == target.max():
        mean = float(target[0])
    return root * (target - mean), mean


def checked_targets(sample: Sample, centered: bool) -> tuple[list[Floats], Floats]:
    """The targets of a solver, and their means; refuses what has no square."""
    targets = np.asarray(sample.targets, np.float64)
    check_target_range(targets)
    root = np.sqrt(sample.weights / sample.weights.sum())
    pairs = [centered_target(t, root, centered=centered) for t in targets.T]
    return [t for t, _ in pairs], np.array([mean for _, mean in pairs])
