"""Quadratic expansion: linear models on it have quadratic boundaries.

    phi(x) = [vec(x x'), x],        w'phi(x) = x'Ax + b'x

for a symmetric `A` made of the first weights and `b` of the last. Three forms span the same
functions and differ in how weights are measured, as a penalty does: `vec` has every product
twice; `triangle` once, times sqrt(2), so that both have the same inner products

    phi(x)'phi(z) = (x'z)^2 + x'z;

`plain` has it once as it is. Products with `phi(X)` and its transpose need `A` and `X` only,

    phi(X) w = diag(X A X') + X b,        phi(X)'v  <-  X' diag(v) X  and  X'v,

so a model can be solved without the expanded table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from novum.core.certificate import Certificate, Verdict
from novum.core.coding import Coding, treatment_rows
from novum.core.errors import InputError, ModelFileError
from novum.core.fitting import fitting
from novum.core.memory import check_memory
from novum.core.validation import Sample, check_features, check_sample
from novum.linear.quadratic_expansion import Expansion, QuadraticForm, form_values

Floats = NDArray[np.float64]

# The square of a larger cell is not a double.
LARGEST = 2.0**511


class QuadraticFeatures(TransformerMixin, BaseEstimator):
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "form": [StrOptions({"triangle", "vec", "plain"})],
        "terms": [StrOptions({"all", "squares", "products"})],
    }

    def __init__(
        self, form: str = "triangle", *, terms: str = "all", categorical_features: Any = "auto"
    ) -> None:
        self.form = form
        self.terms = terms
        self.categorical_features = categorical_features

    @_fit_context(prefer_skip_nested_validation=True)
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

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
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
