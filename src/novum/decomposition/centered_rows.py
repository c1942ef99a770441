"""A table seen from its mean, without a centered copy of it.

    A = W^(1/2) (X - 1 m'),       S = A'A,       G = A A'

Dense tables are centered block by block in a small buffer, which costs no digits however far the
mean is from zero; sparse ones stay sparse, and the mean is taken off the products,
`A V = W^(1/2) (X V - 1 (m'V))`. Products are the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from novum.core.tables import Sample
from novum.numerics import Floats, cached_property

# A block of columns of this many cells, 8 MB, is long enough for BLAS to run at full speed.
_WIDE_CELLS = 2**20

# A block of rows of this many cells, half a megabyte, stays in the cache with its centered copy.
_TALL_CELLS = 2**16


def row_blocks(n_rows: int, n_columns: int) -> Iterator[tuple[int, int]]:
    """Bounds of consecutive blocks of rows.

    >>> list(row_blocks(5000, 64))[-1]
    (4096, 5000)
    """
    height = max(16, _TALL_CELLS // max(1, n_columns))
    for start in range(0, n_rows, height):
        yield start, min(start + height, n_rows)


def projected(X: Any, center: Floats, matrix: Floats, *, is_near: bool = False) -> Floats:
    """`(X - 1 center') matrix` of dense or sparse rows.

    Where the center `is_near` zero, compared with the spread of the rows, it can be taken off the
    products at no loss of digits.

    >>> projected(np.array([[1e8 + 1.0], [1e8]]), np.array([1e8]), np.array([[2.0]])).tolist()
    [[2.0], [0.0]]
    """
    if sparse.issparse(X):
        return np.asarray(X @ matrix - center @ matrix)
    if is_near:
        out = X @ matrix
        out -= center @ matrix
        return np.asarray(out)
    out = np.empty((X.shape[0], matrix.shape[1]))
    scratch: Floats | None = None
    for start, stop in row_blocks(*X.shape):
        if scratch is None:
            scratch = np.empty((stop - start, X.shape[1]))
        about = np.subtract(X[start:stop], center, out=scratch[: stop - start])
        np.matmul(about, matrix, out=out[start:stop])
    return out


def dense_blocks(X: Any) -> Iterator[tuple[int, int, Floats]]:
    """Rows of a dense or sparse table as dense blocks `(start, stop, rows)`."""
    for start, stop in row_blocks(*X.shape):
        block = X[start:stop]
        yield start, stop, block.toarray() if sparse.issparse(X) else block


class CenteredRows:
    """The matrix A of a sample, by its products.

    Parameters
    ----------
    sample : Sample
        Of numeric columns, dense or sparse.

    Attributes
    ----------
    mean : array (d,)
    weight : float
    """

    def __init__(self, sample: Sample) -> None:
        self.X = sample.numeric
        self.n_rows, self.n_columns = self.X.shape
        self.is_sparse = sample.is_sparse
        self.weights = sample.weights
        self.roots = np.sqrt(self.weights)
        self.weight = float(self.weights.sum())
        # Column blocks of a CSR matrix are slow to cut.
        self._columns = self.X.tocsc() if self.is_sparse else self.X
        self._weighted = sample.weight is not None
        self.mean = self._mean()
        self._is_near = self._lies_near(self.mean)

    def _mean(self) -> Floats:
        if self.is_sparse:
            return np.asarray(self.weights @ self.X) / self.weight
        mean = self._mean_about(None)
        # A mean far from zero is right to its own last digits; a second look at small numbers
        # makes it right to those of the spread.
        return mean if self._lies_near(mean) else mean + self._mean_about(mean)

    def _mean_about(self, center: Floats | None) -> Floats:
        sums = np.zeros(self.n_columns)
        for start, stop in row_blocks(self.n_rows, self.n_columns):
            block = self.X[start:stop] if center is None else self.X[start:stop] - center
            sums += self.weights[start:stop] @ block if self._weighted else block.sum(axis=0)
        return sums / self.weight

    @cached_property
    def total(self) -> float:
        """Sum of squares about the mean, the trace of S and of G."""
        total = 0.0
        for start, stop in self._column_blocks():
            block = self._centered(start, stop)
            total += float(np.einsum("ij,ij->", block, block))
        return total

    def _column_blocks(self) -> Iterator[tuple[int, int]]:
        width = max(16, _WIDE_CELLS // max(1, self.n_rows))
        for start in range(0, self.n_columns, width):
            yield start, min(start + width, self.n_columns)

    def _centered(self, start: int, stop: int) -> Floats:
        """Columns of A as a contiguous block."""
        if self.is_sparse:
            block = self._columns[:, start:stop].toarray()
            block -= self.mean[start:stop]
        else:
            block = self.X[:, start:stop] - self.mean[start:stop]
        if self._weighted:
            block *= self.roots[:, None]
        return np.asarray(block)

    def gram(self) -> Floats:
        """`A A'`, of shape (n, n)."""
        if self._is_near:
            G = np.zeros((self.n_rows, self.n_rows))
            for start, stop in self._column_blocks():
                G += self.X[:, start:stop] @ self.X[:, start:stop].T
            # Centered afterwards: rows and columns of a Gram matrix of centered rows sum to zero.
            along = G.mean(axis=0)
            return np.asarray(G - along - along[:, None] + along.mean())
        G = np.zeros((self.n_rows, self.n_rows))
        for start, stop in self._column_blocks():
            block = self._centered(start, stop)
            G += block @ block.T
        return G

    def _lies_near(self, mean: Floats) -> bool:
        """Whether the mean is so near zero that squares about zero are as good as about it.

        Within four standard deviations, which costs four or five binary digits of 53. The spread
        is that of a few rows, evenly taken.
        """
        if self.is_sparse or self._weighted or self.n_rows < 2:
            return False
        some = self.X[:: max(1, self.n_rows // 16)]
        return bool(mean @ mean <= 16 * some.var(axis=0).sum())

    def times(self, V: Floats) -> Floats:
        """`A V` of a matrix (d, b)."""
        product = projected(self.X, self.mean, V, is_near=self._is_near)
        return product * self.roots[:, None] if self._weighted else product

    def transposed_times(self, U: Floats) -> Floats:
        """`A'U` of a matrix (n, b)."""
        if self.is_sparse:
            weighted = self.roots[:, None] * U
            return np.asarray(self.X.T @ weighted - np.outer(self.mean, weighted.sum(axis=0)))
        if self._is_near:
            # A row-major table is read in order when it stands on the right.
            return np.asarray((U.T @ self.X - np.outer(U.sum(axis=0), self.mean)).T)
        if self.n_rows <= self.n_columns:
            out = np.empty((self.n_columns, U.shape[1]))
            for start, stop in self._column_blocks():
                np.matmul(self._centered(start, stop).T, U, out=out[start:stop])
            return out
        out = np.zeros((self.n_columns, U.shape[1]))
        weighted = self.roots[:, None] * U if self._weighted else U
        for start, stop in row_blocks(self.n_rows, self.n_columns):
            out += (self.X[start:stop] - self.mean).T @ weighted[start:stop]
        return out
