"""The rows of a logistic regression in memory, summed block by block.

Dense and sparse rows answer the same questions: loss with gradient and Hessian
at some coefficients, the product of the Hessian with a direction, and a subsample whose weights
stand for all rows. Blocks are cut by constants and summed in a fixed order, in up to `n_jobs`
threads, so that the bits of a sum depend on the rows only; a block takes some tens of milliseconds,
after which Ctrl-C is heard.

Sparse rows stay in the CSR format. Their design is centered like that of dense rows, without
touching a cell: with `z = (x - c, 1)`

    W'z = W_x'x + (W_0 - W_x'c),        sum_i r_i (x_i - c) = X'r - c sum_i r_i,

so a center changes scores by one number per class and sums by a term of rank one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novum.core.runtime import run_tasks
from novum.core.sums import total
from novum.core.tables import Sample, Schema, treatment_rows
from novum.linear.logistic.loss import LossSums, links, loss_sums, mixed_curvature
from novum.numerics import (
    Array,
    Floats,
    Integers,
    Positions,
    as_argument,
    cached_property,
    column_norms,
)

# Multiply-adds of one block, so few that Ctrl-C is heard soon, and its most rows.
BLOCK_WORK = 4e8
BLOCK_ROWS = 65_536
# Cells of a design that is kept between passes: 16 MB.
KEPT_CELLS = 2_000_000
# Rows from which the middle of a dense table is taken.
_MIDDLE_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Curvature:
    """The Hessian of the loss at one point: its products `W -> H W`, and its diagonal (m, p)."""

    product: Callable[[Floats], Floats]
    diagonal: Callable[[], Floats]


class Rows(ABC):
    """Rows with their classes and effective weights; the design is centered, intercept last."""

    codes: Integers
    weight: Floats
    center: Floats
    spread: Floats
    n_classes: int

    @property
    def n_rows(self) -> int:
        return len(self.codes)

    @property
    def n_columns(self) -> int:
        """Columns of the design, without the intercept."""
        return len(self.center)

    @property
    def n_scores(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    @cached_property
    def class_weights(self) -> Floats:
        return np.bincount(self.codes, self.weight, self.n_classes).astype(np.float64)

    @property
    @abstractmethod
    def cells(self) -> float:
        """Cells of a row that a product reads, on average."""

    @abstractmethod
    def sums(self, W: Floats, *, hessian: bool) -> LossSums:
        """Loss, gradient and, if asked, Hessian at `W` (m, d + 1)."""

    @abstractmethod
    def curvature(self, W: Floats) -> tuple[LossSums, Curvature]:
        """Loss and gradient at `W`, and the Hessian there as products."""

    @abstractmethod
    def strided(self, stride: int) -> Rows:
        """Every `stride`-th row, with `stride` times its weight."""

    @abstractmethod
    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Which rows, and their part of the design without center and intercept, one by one."""

    @abstractmethod
    def with_columns(self, kept: Positions) -> Rows:
        """The same rows with some of the columns of their design."""

    @abstractmethod
    def column_sums(self, V: Floats) -> tuple[Floats, Floats]:
        """`V'(X - c)` (k, d) for weights `V` (n, k), and the sums of squares by the first, (d,)."""

    def moments(self) -> Floats:
        """Mean and deviation of each column, and its covariance with the class's number, (3, d)."""
        codes, share = self.codes.astype(np.float64), self.weight / self.weight.sum()
        sums, squares = self.column_sums(np.column_stack([share, share * (codes - share @ codes)]))
        deviation = np.sqrt(np.maximum(squares - sums[0] ** 2, 0.0))
        return np.array([self.center + sums[0], deviation, sums[1]])

    @abstractmethod
    def largest_norm(self, scale: Floats) -> float:
        """A bound of the largest `|(x - c) scale|` of all rows, intercept not included."""


@dataclass(frozen=True, eq=False)
class DenseRows(Rows):
    """Rows whose design is dense, or is made dense block by block."""

    sample: Sample
    codes: Integers
    weight: Floats
    center: Floats
    spread: Floats
    n_classes: int
    kept: Positions | None = None
    n_jobs: int | None = None

    @property
    def cells(self) -> float:
        return float(self.n_columns)

    def sums(self, W: Floats, *, hessian: bool) -> LossSums:
        m, p = W.shape

        def step(rows: slice) -> LossSums:
            X = self.design(rows)
            codes, weight = self.codes[rows], self.weight[rows]
            return loss_sums(X, codes, weight, W, self.center, hessian=hessian)

        slices = self._slices(p * p * m * (m + 1) / 2 if hessian else 16 * p * m)
        return step(slices[0]) if len(slices) == 1 else total(run_tasks(step, slices, self.n_jobs))

    def curvature(self, W: Floats) -> tuple[LossSums, Curvature]:
        state = np.concatenate(
            [
                curvature_state(links(self._centered(rows) @ W.T, self.codes[rows])[1])
                for rows in self._slices(16 * W.size)
            ]
        )

        def product(V: Floats) -> Floats:
            def step(rows: slice) -> Floats:
                Z = self._centered(rows)
                return np.asarray(change(Z @ V.T, state[rows], self.weight[rows]).T @ Z)

            return np.asarray(total(run_tasks(step, self._slices(16 * V.size), self.n_jobs)))

        def diagonal() -> Floats:
            def step(rows: slice) -> Floats:
                weights = own_curvature(state[rows], self.weight[rows])
                return np.asarray(weights.T @ self._centered(rows) ** 2)

            return np.asarray(total(run_tasks(step, self._slices(16 * W.size), self.n_jobs)))

        return self.sums(W, hessian=False), Curvature(product, diagonal)

    def strided(self, stride: int) -> DenseRows:
        chosen = slice(None, None, stride)
        part = self.sample.rows(chosen)
        if not part.is_sparse:
            # Every pass would gather the rows anew.
            part = replace(part, numeric=np.ascontiguousarray(part.numeric))
        return replace(
            self,
            sample=part,
            codes=np.ascontiguousarray(self.codes[chosen]),
            weight=stride * self.weight[chosen],
        )

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        for rows in self._slices(64 * self.n_columns):
            yield rows, self.design(rows)

    def with_columns(self, kept: Positions) -> DenseRows:
        whole = kept if self.kept is None else self.kept[kept]
        return replace(self, center=self.center[kept], spread=self.spread[kept], kept=whole)

    def column_sums(self, V: Floats) -> tuple[Floats, Floats]:
        sums, squares = np.zeros((V.shape[1], self.n_columns)), np.zeros(self.n_columns)
        for rows, X in self.blocks():
            Z = X - self.center
            sums += V[rows].T @ Z
            squares += V[rows, 0] @ Z**2
        return sums, squares

    def largest_norm(self, scale: Floats) -> float:
        from novum.linear.logistic.kernels import largest_square

        largest = 0.0
        for rows in self._slices(4 * self.n_columns):
            X = as_argument(self.design(rows))
            largest = max(largest, largest_square(X, as_argument(self.center), as_argument(scale)))
        return float(np.sqrt(largest))

    def design(self, rows: slice) -> Floats:
        """Some rows of the design, without center and intercept."""
        if self._is_small:
            return self._whole_design[rows]
        return self._designed(rows)

    def _centered(self, rows: slice) -> Floats:
        """Some rows of the centered design, with a column of ones."""
        if self._is_small:
            return self._whole_centered[rows]
        return self._with_ones(self.design(rows))

    # Steps ask for the rows hundreds of times. A small design is coded and centered once.

    @property
    def _is_small(self) -> bool:
        return self.n_rows * (self.n_columns + 1) <= KEPT_CELLS

    @cached_property
    def _whole_design(self) -> Floats:
        return self._designed(slice(0, self.n_rows))

    @cached_property
    def _whole_centered(self) -> Floats:
        return self._with_ones(self._whole_design)

    def _designed(self, rows: slice) -> Floats:
        X = treatment_rows(self.sample, rows.start, rows.stop)
        return X if self.kept is None else X[:, self.kept]

    def _with_ones(self, X: Floats) -> Floats:
        Z = np.ones((len(X), self.n_columns + 1))
        np.subtract(X, self.center, out=Z[:, :-1])
        return Z

    def _slices(self, price: float) -> list[slice]:
        size = int(np.clip(BLOCK_WORK / max(price, 1.0), 256, BLOCK_ROWS))
        return [slice(s, min(s + size, self.n_rows)) for s in range(0, self.n_rows, size)]


# --- Second derivatives by the scores -------------------------------------------------------------


def curvature_state(share: Floats) -> Floats:
    """What the second derivatives need: `p (1 - p)` for two classes, all `p` for more."""
    return share * (1.0 - share) if share.shape[1] == 1 else share


def change(U: Floats, state: Floats, weight: Floats) -> Floats:
    """Change of the weighted residuals (n, m) when the scores change by `U` (n, m)."""
    w = weight[:, np.newaxis]
    if U.shape[1] == 1:
        return np.asarray(w * state * U)
    mean = np.einsum("ij,ij->i", state, U)[:, np.newaxis]
    return np.asarray(w * state * (U - mean))


def own_curvature(state: Floats, weight: Floats) -> Floats:
    """Second derivative of the loss by each score, (n, m)."""
    w = weight[:, np.newaxis]
    return w * state if state.shape[1] == 1 else w * state * (1.0 - state)


# --- The middle -----------------------------------------------------------------------------------


def middle_and_spread(sample: Sample, weight: Floats, *, centered: bool) -> tuple[Floats, Floats]:
    """A point near the middle of the rows, (d,), and the size of the columns about it, (d,).

    Any such point serves: it is there for the roundness of the objective, not for its value. Some
    thousand rows are looked at.
    """
    stride = max(1, sample.n_rows // _MIDDLE_ROWS)
    part = sample.rows(slice(None, None, stride))
    X = treatment_rows(part, 0, part.n_rows)
    shares = weight[::stride] / weight[::stride].sum()
    # Off a first row the mean of a constant column is exact, and large offsets keep their digits.
    center = X[0] + shares @ (X - X[0]) if centered else np.zeros(X.shape[1])
    return center, column_norms(np.sqrt(shares)[:, np.newaxis] * (X - center))


# Cells of a sparse table that one call reads, so few that Ctrl-C is heard soon.
PART_CELLS = 20_000_000

Arrays = tuple[Array, Array, Array]


@dataclass(frozen=True, eq=False)
class SparseRows(Rows):
    """Rows of a CSR matrix."""

    matrix: Any
    codes: Integers
    weight: Floats
    center: Floats
    spread: Floats
    n_classes: int
    n_jobs: int | None = None

    @property
    def cells(self) -> float:
        return float(self.matrix.nnz) / max(1, self.n_rows)

    def sums(self, W: Floats, *, hessian: bool) -> LossSums:
        return self.as_dense.sums(W, hessian=True) if hessian else self._pass(W)[0]

    def curvature(self, W: Floats) -> tuple[LossSums, Curvature]:
        sums, state = self._pass(W)
        weights = state if len(W) == 1 else own_curvature(state, self.weight)
        product = _BinaryProduct(self, weights[:, 0]) if len(W) == 1 else _Product(self, state)
        return sums, Curvature(product, lambda: self._diagonal(weights))

    def strided(self, stride: int) -> SparseRows:
        chosen = slice(None, None, stride)
        return replace(
            self,
            matrix=self.matrix[chosen],
            codes=np.ascontiguousarray(self.codes[chosen]),
            weight=stride * self.weight[chosen],
        )

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        return self.as_dense.blocks()

    def with_columns(self, kept: Positions) -> SparseRows:
        return replace(
            self,
            matrix=self.matrix[:, kept].tocsr(),
            center=self.center[kept],
            spread=self.spread[kept],
        )

    def column_sums(self, V: Floats) -> tuple[Floats, Floats]:
        from novum.linear.logistic.sparse_kernels import sparse_squares

        first, square = np.zeros(self.n_columns), np.zeros(self.n_columns)
        sparse_squares(*self._arrays, as_argument(V[:, 0]), first, square)
        size = V.sum(axis=0)
        sums = np.asarray((self.matrix.T @ V).T) - np.outer(size, self.center)
        return sums, square - 2 * self.center * first + self.center**2 * size[0]

    def largest_norm(self, scale: Floats) -> float:
        # |x - c| <= |x| + |c|, which never makes a sparse row dense.
        from novum.linear.logistic.sparse_kernels import sparse_largest_square

        largest = sparse_largest_square(*self._arrays, as_argument(scale))
        return float(np.sqrt(largest) + np.linalg.norm(self.center * scale))

    @property
    def as_dense(self) -> DenseRows:
        """The same rows, made dense block by block."""
        schema = Schema.of_array(self.n_columns)
        sample = Sample(schema, self.matrix, np.empty((self.n_rows, 0), np.int32))
        return DenseRows(
            sample,
            self.codes,
            self.weight,
            self.center,
            self.spread,
            self.n_classes,
            n_jobs=self.n_jobs,
        )

    @cached_property
    def _arrays(self) -> Arrays:
        return csr_arrays(self.matrix)

    def _shift(self, W: Floats) -> Floats:
        return np.asarray(W[:, -1] - W[:, :-1] @ self.center)

    def _centered(self, back: Floats, sums: Floats) -> Floats:
        """`sum_i r_i z_i'` (m, p) from `X'r` (m, d) and the sums of `r` (m,)."""
        return np.column_stack([back - np.outer(sums, self.center), sums])

    def _diagonal(self, weights: Floats) -> Floats:
        from novum.linear.logistic.sparse_kernels import sparse_squares

        diagonal = np.empty((weights.shape[1], self.n_columns + 1))
        for k, h in enumerate(weights.T):
            linear, square = np.zeros(self.n_columns), np.zeros(self.n_columns)
            sparse_squares(*self._arrays, as_argument(h), linear, square)
            size = float(h.sum())
            # Rounding must not make a variance negative.
            spread = square - 2 * self.center * linear + self.center**2 * size
            diagonal[k] = np.append(np.maximum(spread, 0.0), size)
        return diagonal

    def _parts(self) -> Iterator[tuple[slice, Arrays]]:
        """Rows of some million cells at a time, after which Ctrl-C is heard."""
        data, indices, starts = self._arrays
        cuts = np.searchsorted(starts, np.arange(0, len(data), PART_CELLS), side="left")
        edges = np.unique(np.concatenate([[0], cuts, [self.n_rows]]))
        for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            yield slice(first, last), (data, indices, starts[first : last + 1])

    def _pass(self, W: Floats) -> tuple[LossSums, Floats]:
        """Loss and gradient, and of each row `w p (1 - p)`, or all `p` of more than two classes."""
        return self._binary_pass(W) if len(W) == 1 else self._softmax_pass(W)

    def _binary_pass(self, W: Floats) -> tuple[LossSums, Floats]:
        from novum.linear.logistic.sparse_kernels import sparse_binary_pass

        sign, coef, shift = 2.0 * self.codes - 1.0, as_argument(W[0, :-1]), self._shift(W)[0]
        residual, state = np.empty(self.n_rows), np.empty(self.n_rows)
        gradient, value, w = np.zeros(self.n_columns), 0.0, as_argument(self.weight)
        for rows, arrays in self._parts():
            value += sparse_binary_pass(
                *arrays, sign[rows], w[rows], coef, shift, residual[rows], state[rows], gradient
            )
        gradient_sums = self._centered(gradient[np.newaxis], residual.sum(keepdims=True))
        return LossSums(float(value), gradient_sums, np.array([[state.sum()]])), state[
            :, np.newaxis
        ]

    def _softmax_pass(self, W: Floats) -> tuple[LossSums, Floats]:
        from novum.linear.logistic.sparse_kernels import sparse_softmax_pass

        share, back = np.empty((self.n_rows, len(W))), np.zeros((self.n_columns, len(W)))
        codes, coef = as_argument(self.codes, np.int64), as_argument(W[:, :-1].T)
        value, w, shift = 0.0, as_argument(self.weight), self._shift(W)
        for rows, arrays in self._parts():
            value += sparse_softmax_pass(
                *arrays, codes[rows], w[rows], coef, shift, share[rows], back
            )
        sums = self.weight @ share - self.class_weights
        mixed = mixed_curvature(share, self.weight)
        return LossSums(float(value), self._centered(back.T, sums), mixed), share


class _BinaryProduct:
    """`V -> H V` for two classes."""

    def __init__(self, rows: SparseRows, curvature: Floats) -> None:
        self.rows, self.curvature = rows, as_argument(curvature)

    def __call__(self, V: Floats) -> Floats:
        from novum.linear.logistic.sparse_kernels import sparse_binary_product

        rows, back, total = self.rows, np.zeros(self.rows.n_columns), 0.0
        shift, coef = float(rows._shift(V)[0]), as_argument(V[0, :-1])
        for chosen, arrays in rows._parts():
            total += sparse_binary_product(*arrays, self.curvature[chosen], coef, shift, back)
        return rows._centered(back[np.newaxis], np.array([total]))


class _Product:
    """`V -> H V` for more classes."""

    def __init__(self, rows: SparseRows, share: Floats) -> None:
        self.rows, self.share = rows, share

    def __call__(self, V: Floats) -> Floats:
        from novum.linear.logistic.sparse_kernels import sparse_softmax_product

        rows, m = self.rows, len(V)
        back, sums = np.zeros((rows.n_columns, m)), np.zeros(m)
        coef, shift = as_argument(V[:, :-1].T), as_argument(rows._shift(V))
        w = as_argument(rows.weight)
        for chosen, arrays in rows._parts():
            sparse_softmax_product(*arrays, self.share[chosen], w[chosen], coef, shift, back, sums)
        return rows._centered(back.T, sums)


def csr_arrays(X: Any) -> Arrays:
    """Cells, columns and row starts of a CSR matrix, as the kernels take them."""
    return (
        as_argument(X.data),
        as_argument(X.indices, np.int32),
        as_argument(X.indptr, np.int64),
    )


def sparse_middle(X: Any, weight: Floats, *, centered: bool) -> tuple[Floats, Floats]:
    """Mean of the rows (zero if not `centered`), and the size of the columns about it."""
    from novum.linear.logistic.sparse_kernels import sparse_squares

    linear, square = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    sparse_squares(*csr_arrays(X), as_argument(weight), linear, square)
    total = float(weight.sum())
    center = linear / total if centered else np.zeros(X.shape[1])
    return center, np.sqrt(np.maximum(square / total - center**2, 0.0))
