"""The map of a quadratic expansion on rows of numbers, dense or sparse, and its products.

`triangle` and `plain` list the products of two columns by rows of the upper triangle of `x x'`,
`vec` all rows; the columns themselves come last. The place of a product among them has a formula,
so sparse rows of many columns need no table of places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

ROOT_TWO = float(np.sqrt(2.0))


class QuadraticForm(NamedTuple):
    """The function `x'Ax + b'x + c`, with symmetric `A`.

    Examples
    --------
    >>> form = QuadraticForm(np.eye(2), np.zeros(2), -1.0)
    >>> form([[1.0, 0.0], [2.0, 1.0]]).tolist()
    [0.0, 4.0]
    """

    A: Floats
    b: Floats
    c: float

    def __call__(self, X: ArrayLike) -> Floats:
        """Values at rows `X`, of shape (n,)."""
        rows = np.atleast_2d(np.asarray(X, float))
        return form_values(rows, self.A, self.b) + self.c


class Terms(NamedTuple):
    """The products that are taken: `x[first] * x[second] * factor`, one entry for each."""

    first: Places
    second: Places
    factor: Floats


@dataclass(frozen=True)
class Expansion:
    """The map for rows of `n_columns` numbers.

    Attributes
    ----------
    n_columns : int
    form : {"triangle", "vec", "plain"}
    terms : {"all", "squares", "products"}

    Examples
    --------
    >>> Expansion(2, "plain", "all").of(np.array([[2.0, 3.0]])).tolist()
    [[4.0, 6.0, 9.0, 2.0, 3.0]]
    """

    n_columns: int
    form: str
    terms: str

    @property
    def n_products(self) -> int:
        d = self.n_columns
        crossed = d * (d - 1) if self.form == "vec" else d * (d - 1) // 2
        return {"all": crossed + d, "squares": d, "products": crossed}[self.terms]

    @property
    def width(self) -> int:
        """Columns of the expanded table."""
        return self.n_products + self.n_columns

    @property
    def products(self) -> Terms:
        d = self.n_columns
        if self.form == "vec":
            first, second = (part.ravel() for part in np.indices((d, d)))
        else:
            first, second = np.triu_indices(d)
        same = first == second
        keep = {"all": np.ones_like(same), "squares": same, "products": ~same}[self.terms]
        first, second = first[keep].astype(np.int64), second[keep].astype(np.int64)
        return Terms(first, second, self._factors(first, second))

    def of(self, X: Floats) -> Floats:
        """Expanded rows."""
        first, second, factor = self.products
        out = np.empty((X.shape[0], self.width))
        np.multiply(X[:, first], X[:, second], out=out[:, : len(first)])
        out[:, : len(first)] *= factor
        out[:, len(first) :] = X
        return out

    def of_sparse(self, X: Any) -> Any:
        """Expanded compressed rows, made from pairs of stored cells only."""
        first, second, row = _pairs_within_rows(X)
        i, j = X.indices[first].astype(np.int64), X.indices[second].astype(np.int64)
        kept = self._is_taken(i, j)
        i, j, first, second = i[kept], j[kept], first[kept], second[kept]
        data = X.data[first] * X.data[second] * self._factors(i, j)
        places = (row[kept], self._places(i, j))
        products = sparse.csr_matrix((data, places), shape=(X.shape[0], self.n_products))
        return sparse.hstack([products, X], format="csr")

    def matrix(self, weights: Floats) -> tuple[Floats, Floats]:
        """`A` and `b` of the function with these weights."""
        first, second, factor = self.products
        A = np.zeros((self.n_columns, self.n_columns))
        A[first, second] = factor * weights[: len(first)]
        return (A + A.T) / 2, np.asarray(weights[len(first) :])

    def transposed(self, X: Any, v: Floats) -> Floats:
        """`phi(X)'v`, from `X' diag(v) X` and `X'v`."""
        if sparse.issparse(X):
            moments = (X.T @ X.multiply(v[:, np.newaxis])).toarray()
        else:
            moments = (X * v[:, np.newaxis]).T @ X
        first, second, factor = self.products
        return np.concatenate([factor * moments[first, second], np.asarray(X.T @ v).ravel()])

    def gram(self, X: Any, Z: Any) -> Floats:
        """`phi(X) phi(Z)'`, from inner products of rows and of their squares."""
        inner = _dense(X @ Z.T)
        squares = _dense(_squared(X) @ _squared(Z).T)
        if self.terms == "squares":
            return np.asarray(squares + inner)
        crossed = inner**2 - squares
        if self.form == "plain":
            crossed = crossed / 2
        return np.asarray(crossed + inner + (squares if self.terms == "all" else 0.0))

    def _factors(self, i: Places, j: Places) -> Floats:
        return np.where((i == j) | (self.form != "triangle"), 1.0, ROOT_TWO)

    def _is_taken(self, i: Places, j: Places) -> NDArray[np.bool_]:
        """Whether the ordered pair of columns is a product of this form."""
        kind = {"all": np.ones(len(i), bool), "squares": i == j, "products": i != j}[self.terms]
        return np.asarray(kind if self.form == "vec" else kind & (i <= j))

    def _places(self, i: Places, j: Places) -> Places:
        """The column of the product of two columns."""
        d = self.n_columns
        if self.terms == "squares":
            return i
        if self.form == "vec":
            return i * d + j if self.terms == "all" else i * (d - 1) + j - (j > i)
        if self.terms == "all":
            return i * d - i * (i - 1) // 2 + (j - i)
        return i * (d - 1) - i * (i - 1) // 2 + (j - i - 1)


# --- Rows -----------------------------------------------------------------------------------------


def form_values(rows: Any, A: Floats, b: Floats) -> Floats:
    """`x'Ax + b'x` of every row."""
    if sparse.issparse(rows):
        quadratic = np.asarray(rows.multiply(rows @ A).sum(axis=1)).ravel()
    else:
        quadratic = np.einsum("ij,ij->i", rows @ A, rows)
    return np.asarray(quadratic + rows @ b)


def _pairs_within_rows(X: Any) -> tuple[Places, Places, Places]:
    """Positions of all ordered pairs of stored cells of one row, and that row."""
    counts = np.diff(X.indptr).astype(np.int64)
    row = np.repeat(np.arange(X.shape[0]), counts**2)
    first = np.repeat(np.arange(X.nnz), np.repeat(counts, counts))
    # Within the pairs of one first cell the second runs through the row.
    runs = np.repeat(counts, counts)
    begin = np.cumsum(runs) - runs
    second = np.arange(len(first)) - np.repeat(begin, runs)
    return first, second + X.indptr[row].astype(np.int64), row


def _squared(X: Any) -> Any:
    return X.multiply(X) if sparse.issparse(X) else np.square(X)


def _dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X
