"""Tables of every make, read by one schema into numbers and codes.

    X  ->  RawTable(schema, numeric, codes)

Numeric arrays and sparse matrices pass as they are, through scikit-learn's own checks. Frames, and
arrays that hold text or named categories, are read column by column (`core.tables.columns`).
`categorical_features` decides the kinds: `"auto"` by type, `"all"`, `None`, or a mask, names or
positions of the categorical columns.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.utils.validation import validate_data

from novum.core.errors import InputError, SchemaError
from novum.core.runtime import check_memory
from novum.core.tables.columns import (
    arrow_column,
    codes_of,
    frame_column,
    is_declared,
    is_ordered,
    kind_of,
    levels_of,
    numbers_of,
)
from novum.core.tables.frames import frame_of, is_frame, unmasked
from novum.core.tables.missing import missing_mask
from novum.core.tables.schema import Column, Kind, Schema
from novum.core.text import label_text
from novum.numerics import Array, Codes, Mask

CategoricalFeatures = str | None | Iterable[Any]


class RawTable(NamedTuple):
    """Columns by kind: numbers (missing cells NaN) and codes of levels.

    `declared` holds the positions of columns whose levels the container lists, used or not.
    """

    schema: Schema
    numeric: Any
    codes: Codes
    declared: frozenset[int] = frozenset()


def read_table(
    estimator: Any, X: Any, schema: Schema | None, *, reset: bool, accept_sparse: bool
) -> RawTable:
    """Reads `X` by `schema`, or by one learned from `X`.

    Sets (or, unless `reset`, checks) `n_features_in_` and `feature_names_in_` of the estimator.
    Cells of sparse matrices are numbers unless `categorical_features` says otherwise.
    """
    chosen = getattr(estimator, "categorical_features", None)
    if _is_plain(estimator, X, chosen, schema, reset):
        if reset:
            # Not by its `__dict__`: who asks for that may have looked at any parameter, and then
            # candidates of a search would no longer share their sums.
            with contextlib.suppress(AttributeError):
                del estimator.feature_names_in_
            estimator.n_features_in_ = X.shape[1]
        empty = np.empty((len(X), 0), np.int32)
        rows = np.ascontiguousarray(X)
        return RawTable(schema or Schema.of_array(X.shape[1]), rows, empty)
    X = _as_container(X, chosen)
    if is_frame(X):
        return _from_frame(estimator, X, chosen, schema, reset)
    if _needs_columns(X, chosen, schema):
        return _from_columns(estimator, X, chosen, schema, reset, accept_sparse)
    return _from_array(estimator, X, schema, reset, accept_sparse)


def _is_plain(
    estimator: Any, X: Any, chosen: CategoricalFeatures, schema: Schema | None, reset: bool
) -> bool:
    """Whether rows are what they will be: float64 cells, for a schema of numbers without names.

    Then nothing that scikit-learn's checks or a container could say is left to be said.
    """
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.size > 0
        and (chosen is None or (isinstance(chosen, str) and chosen == "auto"))
        and (schema is None or (schema.is_numeric and X.shape[1] == schema.n_columns))
        and (
            reset
            or (
                not hasattr(estimator, "feature_names_in_")
                and getattr(estimator, "n_features_in_", None) == X.shape[1]
            )
        )
    )


# --- By container ---------------------------------------------------------------------------------


def _as_container(X: Any, chosen: CategoricalFeatures) -> Any:
    """A frame, an array or a sparse matrix; lists of rows become arrays that lose no type."""
    if isinstance(X, pa.RecordBatch):
        return pa.Table.from_batches([X])
    if X is None or isinstance(X, (str, bytes)) or type(X) is dict:
        raise InputError(
            f"Expected 2D array, got X of type {type(X).__name__} instead. Pass an array, a list "
            "of rows or a data frame."
        )
    if _is_lazy(X):
        raise InputError(
            f"X is a {type(X).__module__.split('.')[0]} {type(X).__name__} that is not computed "
            "yet. Compute or collect it first, or pass its parts to `fit_stream`."
        )
    if isinstance(X, (list, tuple)):
        return _array_of_rows(X, chosen)
    return unmasked(X)


def _is_lazy(X: Any) -> bool:
    """Frames of Dask, DuckDB, Spark and lazy polars; NumPy would lose their names and types."""
    if isinstance(X, (np.ndarray, list, tuple)) or is_frame(X):
        return False
    return isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame)


def _array_of_rows(rows: Sequence[Any], chosen: CategoricalFeatures) -> Any:
    """NumPy turns `[1, "a"]` into text and `[True, 1.5]` into numbers; these stay objects here."""
    if any(isinstance(row, np.ma.MaskedArray) for row in rows):
        return unmasked(np.ma.stack([np.ma.asarray(row) for row in rows]))
    lengths = [len(row) if isinstance(row, (list, tuple, np.ndarray)) else None for row in rows]
    odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is not None:
        raise InputError(
            f"The rows of X have an inhomogeneous shape: row 0 has {lengths[0]} cells, row {odd} "
            f"has {lengths[odd]}. Give every row one cell for each column."
        )
    cells = [cell for row in rows if isinstance(row, (list, tuple)) for cell in row]
    if any(cell is np.ma.masked for cell in cells):
        rows = [[None if cell is np.ma.masked else cell for cell in row] for row in rows]
    table = np.asarray(rows)
    mixed = table.dtype.kind in "US" and not all(isinstance(cell, (str, bytes)) for cell in cells)
    switch = table.dtype.kind in "iuf" and any(isinstance(cell, (bool, np.bool_)) for cell in cells)
    if mixed or (switch and chosen is not None):
        return np.asarray(rows, dtype=object)
    return table


def _from_array(
    estimator: Any, X: Any, schema: Schema | None, reset: bool, accept_sparse: bool
) -> RawTable:
    if isinstance(X, np.ndarray) and X.dtype.kind == "O":
        X = np.where(missing_mask(X), np.nan, X)
    # A number too large for float64 becomes infinite, and that has a message of its own.
    with np.errstate(over="ignore"), _naming_text(X):
        numeric = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr" if accept_sparse else False,
            dtype=np.float64,
            order="C",
            ensure_all_finite=False,
        )
    if schema is None:
        schema = Schema.of_array(numeric.shape[1])
    _check_width(numeric.shape[1], schema)
    return RawTable(schema, numeric, np.empty((numeric.shape[0], 0), np.int32))


@contextmanager
def _naming_text(X: Any) -> Iterator[None]:
    """Says which cell is no number, where scikit-learn says only what it holds."""
    try:
        yield
    except ValueError as error:
        if not (_has_kind(X, "OUST") and X.ndim == 2):
            raise
        for row, column in np.ndindex(*X.shape):
            try:
                float(X[row, column])
            except ValueError:
                raise SchemaError(
                    f"Column 'x{column}' is numeric, but holds text here, "
                    f"{label_text(X[row, column])} at row {row}. Convert it to numbers, or name "
                    "it in `categorical_features`."
                ) from error
        raise


def _from_frame(
    estimator: Any, X: Any, chosen: CategoricalFeatures, schema: Schema | None, reset: bool
) -> RawTable:
    original = list(X.column_names if isinstance(X, pa.Table) else X.columns)
    names = [str(name) for name in original]
    # Arrow is what all others are turned into, so it needs no detour.
    is_arrow = isinstance(X, pa.Table) and len(set(names)) == len(names)
    frame = X if is_arrow else frame_of(X)
    # As scikit-learn's `validate_data`, whose look at a table takes longer than a small one's fit.
    if is_arrow and names and reset:
        estimator.feature_names_in_ = np.array(names, object)
        estimator.n_features_in_ = len(names)
    elif not is_arrow or names != list(getattr(estimator, "feature_names_in_", ())):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    _check_not_empty(frame.shape)
    named = all(isinstance(name, str) for name in original)
    if named and schema is not None:
        _check_order(names, schema)
    column = X.column if is_arrow else partial(frame_column, frame)
    arrays = [arrow_column(column(i), name) for i, name in enumerate(names)]
    return _from_arrays(arrays, names, named, chosen, schema)


def _from_columns(
    estimator: Any,
    X: Any,
    chosen: CategoricalFeatures,
    schema: Schema | None,
    reset: bool,
    accept_sparse: bool,
) -> RawTable:
    table = _dense(X, accept_sparse)
    if table.dtype.kind in "cV":
        what = "Complex data not supported" if table.dtype.kind == "c" else "X has named fields"
        raise InputError(f"{what}: X has type {table.dtype}. Pass one column for each number.")
    if table.ndim != 2:
        raise InputError(
            f"Expected 2D array, got an array of shape {table.shape} instead. "
            "Reshape your data: one row for each sample, one column for each feature."
        )
    _check_not_empty(table.shape)
    validate_data(estimator, table, reset=reset, skip_check_array=True)
    names = list(schema.names if schema is not None else Schema.of_array(table.shape[1]).names)
    if schema is not None:
        _check_width(table.shape[1], schema)
    arrays = [arrow_column(_column(table, i), name) for i, name in enumerate(names)]
    return _from_arrays(arrays, names, False, chosen, schema)


def _dense(X: Any, accept_sparse: bool) -> Array:
    if not sparse.issparse(X):
        return np.asarray(X)
    if not accept_sparse:
        raise TypeError(
            "Sparse data was passed for X, but dense data is required. Use '.toarray()' to convert "
            "to a dense numpy array."
        )
    check_memory(
        8 * X.shape[0] * X.shape[1],
        "A dense copy of sparse X, which its categorical columns need",
        "Pass the categorical columns in a data frame of their own.",
    )
    return np.asarray(X.toarray())


def _column(table: Array, position: int) -> Array:
    column = table[:, position]
    # Arrow has no float wider than float64, and no durations in days.
    wanted = {"f": np.dtype(np.float64), "m": np.dtype("m8[s]")}
    with np.errstate(over="ignore"):
        return column.astype(wanted.get(column.dtype.kind, column.dtype), copy=False)


def _from_arrays(
    arrays: list[pa.Array],
    names: list[str],
    named: bool,
    chosen: CategoricalFeatures,
    schema: Schema | None,
) -> RawTable:
    if schema is None:
        kinds = _chosen_kinds(arrays, names, chosen)
        columns = []
        for array, name, kind in zip(arrays, names, kinds, strict=True):
            levels = () if kind is Kind.NUMERIC else levels_of(array, name)
            columns.append(Column(name, kind, levels))
        schema = Schema(tuple(columns), named)
    else:
        _check_width(len(arrays), schema)
    n = len(arrays[0])
    numeric = np.empty((n, schema.numeric.size))
    codes = np.empty((n, schema.categorical.size), np.int32)
    for j, i in enumerate(schema.numeric):
        numeric[:, j] = numbers_of(arrays[i], names[i])
    for j, i in enumerate(schema.categorical):
        codes[:, j] = codes_of(arrays[i], schema.columns[i])
    declared = frozenset(i for i, array in enumerate(arrays) if is_declared(array))
    return RawTable(schema, numeric, codes, declared)


# --- Kinds ----------------------------------------------------------------------------------------


def _chosen_kinds(
    arrays: list[pa.Array], names: list[str], chosen: CategoricalFeatures
) -> list[Kind]:
    if _is_auto(chosen):
        return [kind_of(array, name) for array, name in zip(arrays, names, strict=True)]
    marked = _marked(names, chosen)
    kinds = []
    for array, is_marked in zip(arrays, marked, strict=True):
        category = Kind.ORDINAL if is_ordered(array) else Kind.NOMINAL
        kinds.append(category if is_marked else Kind.NUMERIC)
    return kinds


def _marked(names: list[str], chosen: CategoricalFeatures) -> Mask:
    """Which columns the user names categorical, by mask, names or positions."""
    if chosen is None or isinstance(chosen, str):
        if chosen in (None, "all"):
            return np.full(len(names), chosen == "all")
        raise InputError(
            f"categorical_features={chosen!r} is not one of 'auto', 'all', None, a mask, names or "
            "positions of columns."
        )
    try:
        wanted = list(chosen)
    except TypeError as error:
        raise InputError(
            f"categorical_features={chosen!r} is not one of 'auto', 'all', None, a mask, names or "
            "positions of columns."
        ) from error
    marked = np.zeros(len(names), bool)
    if wanted and all(isinstance(item, (bool, np.bool_)) for item in wanted):
        if len(wanted) != len(names):
            raise InputError(
                f"The mask in categorical_features has {len(wanted)} entries for {len(names)} "
                "columns. Give one entry for each column."
            )
        return np.array(wanted, bool)
    for item in wanted:
        marked[_position(item, names)] = True
    return marked


def _position(item: Any, names: list[str]) -> int:
    if isinstance(item, str) and item in names:
        return names.index(item)
    whole = isinstance(item, Integral) and not isinstance(item, (bool, np.bool_))
    if whole and -len(names) <= item < len(names):
        return int(item)
    raise InputError(
        f"categorical_features names {item!r}, but X has no such column; "
        f"it has {len(names)}: {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}. "
        "Give names or positions of its columns, or one mask entry for each."
    )


def _needs_columns(X: Any, chosen: CategoricalFeatures, schema: Schema | None) -> bool:
    """Whether an array must be read column by column: it has text, or categories are named."""
    if schema is not None and not schema.is_numeric:
        return True
    if schema is None and chosen is not None and not _is_auto(chosen):
        return True
    text = "OUST" if schema is not None else "OUSTb"
    return _has_kind(X, "mMV" if chosen is None else "mMV" + text)


def _is_auto(chosen: CategoricalFeatures) -> bool:
    return isinstance(chosen, str) and chosen == "auto"


def _has_kind(X: Any, kinds: str) -> bool:
    return isinstance(X, np.ndarray) and X.dtype.kind in kinds


# --- Checks ---------------------------------------------------------------------------------------


def _check_not_empty(shape: tuple[int, ...]) -> None:
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise InputError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
            )


def _check_order(names: list[str], schema: Schema) -> None:
    """The columns of a frame are those of the schema, where that has names."""
    if not schema.named or len(names) != schema.n_columns:
        return
    pairs = enumerate(zip(names, schema.names, strict=True))
    wrong = next((i for i, (name, expected) in pairs if name != expected), None)
    if wrong is not None:
        raise SchemaError(
            f"Column {wrong} of X is {names[wrong]!r}, but the schema has {schema.names[wrong]!r} "
            "there. Pass the columns of the schema, in its order."
        )


def _check_width(n_columns: int, schema: Schema) -> None:
    if n_columns != schema.n_columns:
        raise SchemaError(
            f"X has {n_columns} features, but {schema.n_columns} are expected: "
            f"{', '.join(schema.names[:10])}. Pass the columns used in fitting."
        )
