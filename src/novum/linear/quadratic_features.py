"""Quadratic expansion: linear models on it have quadratic boundaries.

    phi(x) = [vec(x x'), x],        w'phi(x) = x'Ax + b'x

for a symmetric `A` made of the first weights and `b` of the last. Three forms span the same
functions and differ in how weights are measured, as a penalty does: `vec` has every product
twice; `triangle` once, times sqrt(2), so that both have the same inner products

    phi(x)'phi(z) = (x'z)^2 + x'z;

`plain` has it once as it is. Products with `phi(X)` and its transpose need `A` and `X` only,

    phi(X) w = diag(X A X') + X b,        phi(X)'v  <-  X' diag(v) X  and  X'v,

so a model can be solved without the expanded table.

`triangle` and `plain` list the products of two columns by rows of the upper triangle of `x x'`,
`vec` all rows; the columns themselves come last. The place of a product among them has a formula,
so sparse rows of many columns need no table of places.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, Verdict, parameter
from novum.core.runtime import check_memory, fit_context, fitting
from novum.core.tables import Coding, Sample, check_features, check_sample, treatment_rows
from novum.numerics import Array, Floats, Integers, Mask

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

    first: Integers
    second: Integers
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

    def _factors(self, i: Integers, j: Integers) -> Floats:
        return np.where((i == j) | (self.form != "triangle"), 1.0, ROOT_TWO)

    def _is_taken(self, i: Integers, j: Integers) -> Mask:
        """Whether the ordered pair of columns is a product of this form."""
        kind = {"all": np.ones(len(i), bool), "squares": i == j, "products": i != j}[self.terms]
        return np.asarray(kind if self.form == "vec" else kind & (i <= j))

    def _places(self, i: Integers, j: Integers) -> Integers:
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


def _pairs_within_rows(X: Any) -> tuple[Integers, Integers, Integers]:
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


# The square of a larger cell is not a double.
LARGEST = 2.0**511


class QuadraticFeatures(TransformerMixin, Learner):
    """All squares and products of columns beside the columns themselves.

    Parameters
    ----------
    form : {"triangle", "vec", "plain"}
        Every product once, times sqrt(2); every product twice, as `vec(x x')`; or once as it is,
        as in scikit-learn's `PolynomialFeatures(2, include_bias=False)`.
    terms : {"all", "squares", "products"}
        Squares and products of two columns, or one of both.
    categorical_features : "auto", "all", None, mask, names or indices
        Columns to be coded by their levels before they are expanded.

    Attributes
    ----------
    n_output_features_ : int
    schema_ : Schema

    Notes
    -----
    Nothing is learned but the columns. The expanded table has about `d^2 / 2` columns; `matvec`,
    `rmatvec`, `gram`, `linear_operator` and `blocks` do without it. Sparse rows stay sparse.
    Missing cells are refused.

    Examples
    --------
    >>> QuadraticFeatures(form="vec").fit_transform([[1.0, 2.0]]).tolist()
    [[1.0, 2.0, 2.0, 4.0, 1.0, 2.0]]
    >>> expand = QuadraticFeatures(form="plain").fit([[1.0, 2.0]])
    >>> expand.get_feature_names_out().tolist()
    ['x0^2', 'x0 x1', 'x1^2', 'x0', 'x1']
    >>> expand.quadratic_form([1.0, 4.0, 3.0, 0.0, 0.0]).A.tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """

    invariances: ClassVar[tuple[str, ...]] = ("row_order",)

    form: str = parameter({"triangle", "vec", "plain"}, default="triangle", kw_only=False)
    terms: str = parameter({"all", "squares", "products"}, default="all")
    categorical_features: Any = parameter(default="auto")

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learns the columns of `X`."""
        with fitting(self):
            sample = check_sample(self, X, target="none", accept_sparse=True)
            self.schema_ = sample.schema
            self.n_output_features_ = self._expansion().width
            self.certificate_ = Certificate(
                objective="nothing: the features are given by a formula",
                verdict=Verdict.PROVED,
                details={"columns": sample.schema.n_columns, "features": self.n_output_features_},
            )
        return self

    def transform(self, X: Any) -> Any:
        """`phi(X)`, of shape (n, n_output_features_); sparse for sparse rows."""
        rows, expansion = self._rows(X), self._expansion()
        if sparse.issparse(rows):
            counts = np.diff(rows.indptr).astype(float)
            pairs = int((counts**2).sum()) + int(counts.sum())
            check_memory(48 * pairs, "The sparse quadratic features", _REMEDY)
            return expansion.of_sparse(rows)
        check_memory(
            8 * rows.shape[0] * expansion.width, "The table of quadratic features", _REMEDY
        )
        return expansion.of(rows)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Array:
        """Names such as `age^2`, `age size` and `age`."""
        check_is_fitted(self, "n_output_features_")
        given = _check_feature_names_in(self, input_features, generate_names=True)
        schema = self.schema_.renamed([str(name) for name in given])
        names = Coding(schema).names
        first, second, _ = self._expansion().products
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        products = [f"{names[i]}^2" if i == j else f"{names[i]} {names[j]}" for i, j in pairs]
        return np.array([*products, *names], dtype=object)

    # What weights mean

    def quadratic_form(self, weights: ArrayLike, intercept: float = 0.0) -> QuadraticForm:
        """`A`, `b`, `c` with `w'phi(x) + intercept = x'Ax + b'x + c`.

        Parameters
        ----------
        weights : array-like of shape (n_output_features_,)
            Coefficients of a linear model on the features.
        intercept : float
        """
        check_is_fitted(self, "n_output_features_")
        A, b = self._expansion().matrix(self._weights(weights))
        return QuadraticForm(A, b, float(intercept))

    # Products without the table

    def matvec(self, X: Any, weights: ArrayLike) -> Floats:
        """`phi(X) w`, of shape (n,), in `n d^2` operations and without `phi(X)`."""
        rows = self._rows(X)
        A, b = self._expansion().matrix(self._weights(weights))
        return form_values(rows, A, b)

    def rmatvec(self, X: Any, v: ArrayLike) -> Floats:
        """`phi(X)'v`, of shape (n_output_features_,), without `phi(X)`."""
        rows, values = self._rows(X), np.asarray(v, float)
        if values.shape != (rows.shape[0],):
            raise InputError(f"v has shape {values.shape}, but X has {rows.shape[0]} rows.")
        return self._expansion().transposed(rows, values)

    def gram(self, X: Any, Z: Any = None) -> Floats:
        """`phi(X) phi(Z)'`, of shape (n, m), from the inner products of the rows."""
        rows = self._rows(X)
        return self._expansion().gram(rows, rows if Z is None else self._rows(Z))

    def linear_operator(self, X: Any) -> LinearOperator:
        """`phi(X)` as an operator for solvers such as LSQR."""
        rows, expansion = self._rows(X), self._expansion()
        return LinearOperator(
            (rows.shape[0], expansion.width),
            matvec=lambda w: form_values(rows, *expansion.matrix(np.asarray(w).ravel())),
            rmatvec=lambda v: expansion.transposed(rows, np.asarray(v).ravel()),
            dtype=np.float64,
        )

    def blocks(self, X: Any, rows: int = 1024) -> Iterator[tuple[slice, Any]]:
        """Which rows, and their features, some at a time: for `fit_stream` of a linear model."""
        if rows < 1:
            raise InputError(f"rows must be at least 1, got {rows!r}.")
        table, expansion = self._rows(X), self._expansion()
        expand = expansion.of_sparse if sparse.issparse(table) else expansion.of
        for start in range(0, table.shape[0], rows):
            part = slice(start, min(start + rows, table.shape[0]))
            yield part, expand(table[part])

    # Rows and state

    def _expansion(self) -> Expansion:
        return Expansion(len(Coding(self.schema_).names), self.form, self.terms)

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self, "n_output_features_")
        sample = check_features(self, X, accept_sparse=True, tell_unseen=False)
        _refuse_large(sample)
        if sample.is_sparse:
            rows = sample.numeric.tocsr()
            if not rows.has_canonical_format:
                rows = rows.copy()
                rows.sum_duplicates()
            return rows
        return treatment_rows(sample, 0, sample.n_rows)

    def _weights(self, weights: ArrayLike) -> Floats:
        check_is_fitted(self, "n_output_features_")
        values = np.asarray(weights, float)
        values = values[0] if values.ndim == 2 and len(values) == 1 else values
        if values.shape != (self.n_output_features_,):
            raise InputError(
                f"weights have shape {values.shape}, but there are {self.n_output_features_} "
                "features. Pass the coefficients of one linear function."
            )
        return values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        chosen = self.categorical_features
        tags.input_tags.string = chosen is not None
        tags.input_tags.categorical = isinstance(chosen, str) and chosen == "all"
        return tags

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        width = self._expansion().width
        if self.n_output_features_ != width:
            raise ModelFileError(
                f"The model says {self.n_output_features_} features, but its columns make {width}."
            )


_REMEDY = "Use matvec, rmatvec, linear_operator or blocks, which hold some rows at a time."


# --- Checks ---------------------------------------------------------------------------------------


def _refuse_large(sample: Sample) -> None:
    cells = np.abs(sample.numeric)
    if not cells.shape[1] or cells.max() < LARGEST:
        return
    sizes = cells.max(axis=0)
    column = int(np.argmax(sizes.toarray() if sparse.issparse(sizes) else sizes))
    name = sample.schema.columns[sample.schema.numeric[column]].name
    raise InputError(
        f"Column {name!r} has cells of size {cells.max():.3g}, whose squares leave the range of "
        "double precision. Divide the column by a power of ten."
    )
