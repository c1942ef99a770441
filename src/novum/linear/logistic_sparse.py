"""Sparse rows of a logistic regression: they stay in the CSR format.

The design is centered like that of dense rows, without touching a cell: with `z = (x - c, 1)`

    W'z = W_x'x + (W_0 - W_x'c),        sum_i r_i (x_i - c) = X'r - c sum_i r_i,

so a center changes scores by one number per class and sums by a term of rank one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.schema import Schema
from novum.core.validation import Sample
from novum.linear.logistic_loss import Codes, Floats, LossSums, mixed_curvature
from novum.linear.logistic_rows import Curvature, DenseRows, Rows, own_curvature
from novum.numerics.jit import as_argument
from novum.numerics.shared_state import cached_property

# Cells of a sparse table that one call reads, so few that Ctrl-C is heard soon.
PART_CELLS = 20_000_000

Arrays = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


@dataclass(frozen=True, eq=False)
class SparseRows(Rows):
    """Rows of a CSR matrix."""

    matrix: Any
    codes: Codes
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
        found, state = self._pass(W)
        weights = state if len(W) == 1 else own_curvature(state, self.weight)
        product = _BinaryProduct(self, weights[:, 0]) if len(W) == 1 else _Product(self, state)
        return found, Curvature(product, lambda: self._diagonal(weights))

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

    def with_columns(self, kept: NDArray[np.intp]) -> SparseRows:
        return replace(
            self,
            matrix=self.matrix[:, kept].tocsr(),
            center=self.center[kept],
            spread=self.spread[kept],
        )

    def column_sums(self, V: Floats) -> tuple[Floats, Floats]:
        from novum.linear.logistic_sparse_kernels import sparse_squares

        first, square = np.zeros(self.n_columns), np.zeros(self.n_columns)
        sparse_squares(*self._arrays, as_argument(V[:, 0]), first, square)
        size = V.sum(axis=0)
        sums = np.asarray((self.matrix.T @ V).T) - np.outer(size, self.center)
        return sums, square - 2 * self.center * first + self.center**2 * size[0]

    def largest_norm(self, scale: Floats) -> float:
        # |x - c| <= |x| + |c|, which never makes a sparse row dense.
        from novum.linear.logistic_sparse_kernels import sparse_largest_square

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
        from novum.linear.logistic_sparse_kernels import sparse_squares

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
        from novum.linear.logistic_sparse_kernels import sparse_binary_pass

        sign, coef, shift = 2.0 * self.codes - 1.0, as_argument(W[0, :-1]), self._shift(W)[0]
        residual, state = np.empty(self.n_rows), np.empty(self.n_rows)
        gradient, value, w = np.zeros(self.n_columns), 0.0, as_argument(self.weight)
        for rows, arrays in self._parts():
            value += sparse_binary_pass(
                *arrays, sign[rows], w[rows], coef, shift, residual[rows], state[rows], gradient
            )
        found = self._centered(gradient[np.newaxis], residual.sum(keepdims=True))
        return LossSums(float(value), found, np.array([[state.sum()]])), state[:, np.newaxis]

    def _softmax_pass(self, W: Floats) -> tuple[LossSums, Floats]:
        from novum.linear.logistic_sparse_kernels import sparse_softmax_pass

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
        from novum.linear.logistic_sparse_kernels import sparse_binary_product

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
        from novum.linear.logistic_sparse_kernels import sparse_softmax_product

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
    from novum.linear.logistic_sparse_kernels import sparse_squares

    linear, square = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    sparse_squares(*csr_arrays(X), as_argument(weight), linear, square)
    total = float(weight.sum())
    center = linear / total if centered else np.zeros(X.shape[1])
    return center, np.sqrt(np.maximum(square / total - center**2, 0.0))
