"""Rows for learners inside a learner: looked at, cut, never converted.

A member reads the table itself, so it reaches it in the container it came in: a frame stays a frame
with its nominal and missing cells, a sparse matrix stays sparse. Rows that are no rows of cells
(texts, dicts, lists of tokens) stay what they are, since only the member knows how to read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from novum.core.errors import InputError
from novum.core.tables import frame_of, unmasked


def as_rows(X: Any) -> Any:
    """Rows that can be counted and chosen, in the container they came in.

    Frames, series, arrays and sparse matrices stay; masked cells become missing ones. Lists of
    rows of cells become arrays, of objects where text and numbers are mixed. Lists of texts, of
    dicts, or of lists of tokens stay lists.

    Examples
    --------
    >>> as_rows([[1.5, "a"], [2.5, "b"]])[0].tolist()
    [1.5, 'a']
    >>> as_rows(["a text", "another"])
    ['a text', 'another']
    """
    if X is None:
        raise InputError("X is None. Give a table with one row for each case.")
    if isinstance(X, pa.RecordBatch):
        X = pa.Table.from_batches([X])
    X = unmasked(X)
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return X
    if nw.dependencies.is_into_dataframe(X) or nw.dependencies.is_into_series(X):
        return X
    listed = isinstance(X, (list, tuple))
    if not listed and not hasattr(X, "__array__"):
        return X
    if listed and len(X) and isinstance(X[0], (str, bytes, Mapping)):
        return X
    try:
        table = np.asarray(X)
    except ValueError as error:
        if listed and _holds_tokens(X):
            return X
        raise InputError(
            "The rows of X have an inhomogeneous shape. Give every row one cell for each column."
        ) from error
    # NumPy turns `[1, "a"]` into text; such rows stay objects here.
    return np.asarray(X, dtype=object) if table.ndim == 2 and table.dtype.kind in "US" else table


def _holds_tokens(rows: Any) -> bool:
    return all(
        isinstance(row, (list, tuple)) and all(isinstance(token, (str, bytes)) for token in row)
        for row in rows
    )


def checked_rows(model: Any, X: Any, *, reset: bool) -> Any:
    """`as_rows` of a table, which must have rows and columns unless its rows are no cells.

    Sets (or, unless `reset`, checks) `n_features_in_` and `feature_names_in_` of the model, where
    the rows have columns.
    """
    X = as_rows(X)
    shape: tuple[int, ...] = tuple(getattr(X, "shape", ()))
    if len(shape) not in (0, 2) and _holds_numbers(X) and get_tags(model).input_tags.two_d_array:
        raise InputError(
            f"Expected 2D array, got an array of shape {shape} instead. Reshape your data: one "
            "row for each sample, one column for each feature."
        )
    if 0 in shape:
        what = "sample" if shape[0] == 0 else "feature"
        raise InputError(
            f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
        )
    if nw.dependencies.is_into_dataframe(X):
        frame_of(X)  # refuses two columns of one name in our words
    if reset:
        # A fit to rows without columns must not keep the columns of an earlier one.
        for name in ("n_features_in_", "feature_names_in_"):
            vars(model).pop(name, None)
    if not isinstance(X, (list, tuple)):
        validate_data(model, X, reset=reset, skip_check_array=True)
    return X


def _holds_numbers(X: Any) -> bool:
    return bool(np.asarray(X).dtype.kind in "biufc")
