"""What all selectors of columns share: they keep some columns of a table and change none.

`transform` gives the kept columns in the container they came in: an array of an array, a sparse
matrix of a sparse one, a frame of the same library of a frame, nominal and missing cells as they
are. Where `set_output` asks for a library, that is what is returned.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, fitted
from novum.core.tables import as_table, columns_of, frame_of, in_library, is_frame, output_library
from novum.numerics import Array, Mask


class NothingSelectedWarning(UserWarning):
    """A selector kept no column at all."""


class ColumnSelector(TransformerMixin, Learner):
    """Shared by all selectors; subclasses say which columns are kept (`_get_support_mask`)."""

    n_features_in_: int = fitted()
    certificate_: Certificate = fitted()

    @abstractmethod
    def _get_support_mask(self) -> Mask:
        """Which columns are kept, of shape (n_columns,)."""

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on."""
        return ()

    def get_support(self, indices: bool = False) -> Array:
        """Which columns are kept: a mask, or their positions if `indices`."""
        check_is_fitted(self)
        mask = self._get_support_mask()
        return np.flatnonzero(mask) if indices else mask

    def transform(self, X: Any) -> Any:
        """The kept columns of a table, in the container it came in."""
        check_is_fitted(self)
        table = checked_columns(self, X, reset=False)
        kept = self.get_support(indices=True)
        if kept.size == 0:
            warnings.warn(
                "No features were selected: no column passes the test, or there is too little "
                "data. Choose a weaker one if some column is needed.",
                NothingSelectedWarning,
                stacklevel=2,
            )
        return in_library(columns_of(table, kept), output_library(self))

    def inverse_transform(self, X: Any) -> Any:
        """A table of all columns: the kept ones filled from `X`, the others 0.

        For arrays and sparse matrices of numbers; the columns that were dropped are not known any
        more, so a frame gives an array too.
        """
        check_is_fitted(self)
        mask = self.get_support()
        table = as_table(X)
        if table.shape[1] != mask.sum():
            raise InputError(
                f"X has {table.shape[1]} columns, but {mask.sum()} were selected. Pass what "
                "`transform` gave."
            )
        if sparse.issparse(table):
            columns = table.tocsc()
            widths = np.zeros(mask.size, np.int64)
            widths[mask] = np.diff(columns.indptr)
            starts = np.concatenate([[0], np.cumsum(widths)])
            parts = (columns.data, columns.indices, starts)
            return sparse.csc_array(parts, shape=(table.shape[0], mask.size)).tocsr()
        cells = frame_of(table).to_numpy() if is_frame(table) else table
        whole = np.zeros((cells.shape[0], mask.size), cells.dtype)
        whole[:, mask] = cells
        return whole

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the kept columns."""
        check_is_fitted(self)
        names: Array = _check_feature_names_in(self, input_features)
        return names[self.get_support()]

    def _check_state(self) -> None:
        """Refuses a loaded selector whose parts do not fit together."""
        if self._get_support_mask().shape != (self.n_features_in_,):
            raise ModelFileError("The selection does not have as many columns as it says.")


def checked_columns(model: Any, X: Any, *, reset: bool) -> Any:
    """The table as it came; sets or checks `n_features_in_` and `feature_names_in_`.

    What cannot be a table, and arrays of numbers with cells that the model does not take, are
    refused as scikit-learn does.
    """
    if sparse.issparse(X) or (
        isinstance(X, np.ndarray)
        and X.dtype.kind in "iufc"
        and not isinstance(X, np.ma.MaskedArray)
    ):
        tags = model.__sklearn_tags__().input_tags
        finite: Any = "allow-nan" if tags.allow_nan else True
        accepted: Any = ["csr", "csc"] if tags.sparse else False
        return validate_data(
            model, X, reset=reset, dtype=None, accept_sparse=accepted, ensure_all_finite=finite
        )
    table = as_table(X)
    if is_frame(table):
        frame_of(table)  # refuses two columns of one name in our words
    validate_data(model, table, reset=reset, skip_check_array=True)
    return table
