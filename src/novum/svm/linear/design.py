"""Rows with a constant cell: the design `Z = [X, s]` of a linear machine, never copied.

The intercept is the coefficient of a constant column of `s` (`intercept_scaling`), as LIBLINEAR has
it. Its column is not stored: products with `Z` are products with the user's rows, dense or
compressed, and a term for the constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.runtime import check_memory
from novum.core.tables import Coding, Sample, treatment_rows
from novum.core.text import label_text
from novum.numerics import Floats, Positions, cached_property

# Cells that one call of BLAS reads, so few that Ctrl-C is heard soon.
CALL_CELLS = 2**25
# Rows whose products are summed at a time: their part of the table stays in the cache.
GRAM_ROWS = 2048
# Rows beyond this length have squares that leave the range of doubles.
_LARGEST = 1e120


@dataclass(frozen=True, eq=False)
class Design:
    """The rows `z_i = (x_i, s)` of a table.

    Attributes
    ----------
    X : array or CSR matrix of shape (n, d)
    constant : float
        `s`; 0 without an intercept.

    Examples
    --------
    >>> design = Design(np.array([[1.0, 2.0], [3.0, 4.0]]), 1.0)
    >>> design.scores(np.array([1.0, 0.0, 0.5]))
    array([1.5, 3.5])
    >>> design.adjoint(np.array([1.0, -1.0]))
    array([-2., -2.,  0.])
    """

    X: Any
    constant: float

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def width(self) -> int:
        """Coefficients, that of the constant included."""
        return int(self.X.shape[1]) + (self.constant > 0)

    @property
    def is_sparse(self) -> bool:
        return bool(sparse.issparse(self.X))

    @cached_property
    def squares(self) -> Floats:
        """`|z_i|^2` of every row."""
        if self.is_sparse:
            cells = (self.X.data**2, self.X.indices, self.X.indptr)
            own = sparse.csr_matrix(cells, self.X.shape) @ np.ones(self.X.shape[1])
        else:
            own = np.einsum("ij,ij->i", self.X, self.X)
        return own + self.constant**2

    def scores(self, vector: Floats) -> Floats:
        """`Z u`, shape (n,)."""
        d = self.X.shape[1]
        scores = self.X @ vector[:d] if self.is_sparse else np.empty(self.n_rows)
        for rows in self._calls():
            scores[rows] = self.X[rows] @ vector[:d]
        if self.constant:
            scores += self.constant * vector[d]
        return scores

    def adjoint(self, coefficients: Floats) -> Floats:
        """`Z'b`, shape (width,)."""
        total = self.X.T @ coefficients if self.is_sparse else np.zeros(self.X.shape[1])
        for rows in self._calls():
            total += coefficients[rows] @ self.X[rows]
        return np.append(total, self.constant * coefficients.sum()) if self.constant else total

    def gram(self, rows: Positions, weight: Floats) -> Floats:
        """`sum_i w_i z_i z_i'` over some rows; `weight` is of all rows."""
        total = np.zeros((self.width, self.width))
        for start in range(0, len(rows), GRAM_ROWS):
            chosen = rows[start : start + GRAM_ROWS]
            if self.is_sparse:
                part = self._joined(chosen)
                total += (part.T @ part.multiply(weight[chosen, np.newaxis]).tocsr()).toarray()
            else:
                part = self._joined(chosen) * np.sqrt(weight[chosen])[:, np.newaxis]
                total += part.T @ part
        return total

    def kernel(self) -> Floats:
        """`Z Z'` of all rows."""
        product = self.X @ self.X.T
        return np.asarray(product.toarray() if self.is_sparse else product) + self.constant**2

    def rows(self, chosen: Positions) -> Floats:
        """Some of the rows, dense."""
        rows = self._joined(chosen)
        return np.asarray(rows.toarray() if self.is_sparse else rows)

    def part(self, chosen: slice | Positions) -> Design:
        """The design of some of the rows."""
        X = self.X[chosen]
        return replace(self, X=X if self.is_sparse else np.ascontiguousarray(X))

    def _joined(self, chosen: Positions) -> Any:
        part = self.X[chosen]
        if not self.constant:
            return part
        column = np.full((len(chosen), 1), self.constant)
        return (
            sparse.hstack([part, column]).tocsr() if self.is_sparse else np.hstack([part, column])
        )

    def _calls(self) -> Iterator[slice]:
        """Rows of dense tables, a part at a time; a part of a sparse one would be a copy."""
        if self.is_sparse:
            return
        step = max(1, CALL_CELLS // max(1, self.X.shape[1]))
        for start in range(0, self.n_rows, step):
            yield slice(start, start + step)


def design_of(sample: Sample, constant: float) -> Design:
    """The design of a checked sample; nominal columns by treatment coding."""
    if sample.is_sparse:
        X = sparse.csr_matrix(sample.numeric, copy=not sample.numeric.has_canonical_format)
        X.sum_duplicates()
    else:
        width = len(Coding(sample.schema).names)
        if not sample.schema.is_numeric:
            check_memory(
                8 * sample.n_rows * width,
                f"The design of {sample.n_rows} rows and {width} columns",
                "Pass one-hot coded columns as a sparse matrix, or select columns.",
            )
        X = np.ascontiguousarray(treatment_rows(sample, 0, sample.n_rows))
    _check_range(X, sample)
    return Design(X, constant)


def _check_range(X: Any, sample: Sample) -> None:
    """Refuses cells whose squares are no doubles."""
    cells = X.data if sparse.issparse(X) else X
    if cells.size and max(cells.max(), -cells.min()) > _LARGEST:
        sizes = np.abs(X).max(axis=0)
        sizes = sizes.toarray().ravel() if sparse.issparse(X) else sizes
        j = int(np.argmax(sizes))
        raise InputError(
            f"Column {label_text(Coding(sample.schema).names[j])} has cells of size "
            f"{sizes[j]:.3g}, whose squares leave the range of double precision. Rescale it by a "
            "power of ten."
        )
