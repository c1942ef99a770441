"""The rows of a logistic regression in memory, summed block by block.

Dense and sparse rows (`logistic_sparse`) answer the same questions: loss with gradient and Hessian
at some coefficients, the product of the Hessian with a direction, and a subsample whose weights
stand for all rows. Blocks are cut by constants and summed in a fixed order, in up to `n_jobs`
threads, so that the bits of a sum depend on the rows only; a block takes some tens of milliseconds,
after which Ctrl-C is heard.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from novum.core.coding import treatment_rows
from novum.core.engine import total
from novum.core.parallel import run_tasks
from novum.core.validation import Sample
from novum.linear.logistic_loss import Codes, Floats, LossSums, links, loss_sums
from novum.numerics.jit import as_argument
from novum.numerics.linear_algebra import column_norms

# Multiply-adds of one block, so few that Ctrl-C is heard soon, and its most rows.
BLOCK_WORK = 4e8
BLOCK_ROWS = 65_536
# Rows from which the middle of a dense table is taken.
_MIDDLE_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Curvature:
    """The Hessian of the loss at one point: its products `W -> H W`, and its diagonal (m, p)."""

    product: Callable[[Floats], Floats]
    diagonal: Callable[[], Floats]


class Rows(ABC):
    """Rows with their classes and effective weights; the design is centered, intercept last."""

    codes: Codes
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

    @property
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
    def with_columns(self, kept: NDArray[np.intp]) -> Rows:
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
    codes: Codes
    weight: Floats
    center: Floats
    spread: Floats
    n_classes: int
    kept: NDArray[np.intp] | None = None
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

        price = p * p * m * (m + 1) / 2 if hessian else 16 * p * m
        return total(run_tasks(step, self._slices(price), self.n_jobs))

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

    def with_columns(self, kept: NDArray[np.intp]) -> DenseRows:
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
        from novum.linear.logistic_kernels import largest_square

        largest = 0.0
        for rows in self._slices(4 * self.n_columns):
            X = as_argument(self.design(rows))
            largest = max(largest, largest_square(X, as_argument(self.center), as_argument(scale)))
        return float(np.sqrt(largest))

    def design(self, rows: slice) -> Floats:
        """Some rows of the design, without center and intercept."""
        X = treatment_rows(self.sample, rows.start, rows.stop)
        return X if self.kept is None else X[:, self.kept]

    def _centered(self, rows: slice) -> Floats:
        X = self.design(rows)
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
