"""Tables of every make as what they are: the one place that knows data frames.

A table is a frame of any library that narwhals knows, an Arrow table, an array, a sparse matrix, or
a list of rows. Whoever hands a table on to a model takes its rows and columns here, so that it
reaches the model in the container it came in: a frame stays a frame of its library, with nominal
columns of the same type and missing cells that are still missing; a sparse matrix stays sparse.
Columns are known by position. `core.tables.reading` turns a table into numbers and codes.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import validate_data

from novum.core.errors import InputError, SchemaError
from novum.core.runtime import kept_float
from novum.core.tables.columns import arrow_column, frame_column, one_array
from novum.core.tables.schema import Level, Schema
from novum.numerics import Array, Floats, Mask, Positions

Frame = Literal["arrow", "pandas", "polars"]


# --- What a table is ------------------------------------------------------------------------------


def is_frame(X: Any) -> bool:
    """Whether a table is a data frame of any library."""
    # narwhals looks long at what it does not know, and at Arrow's tables too.
    is_other = type(X) is not np.ndarray and type(X) is not pa.Table
    return bool(nw.dependencies.is_into_dataframe(X)) if is_other else type(X) is pa.Table


def frame_of(X: Any) -> Any:
    """A data frame of any make as narwhals sees it; two columns of one name are refused.

    Examples
    --------
    >>> frame_of(pa.table({"a": [1], "b": [2]})).columns
    ['a', 'b']
    """
    names = list(map(str, getattr(X, "column_names", X.columns)))
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SchemaError(
            f"Column names must differ; {twice!r} occurs {names.count(twice)} times. Rename the "
            "columns."
        )
    return nw.from_native(X, eager_only=True)


def unmasked(X: Any) -> Any:
    """A masked array with its masked cells turned into missing ones."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    mask = np.ma.getmaskarray(X)
    if not mask.any():
        return X.data
    if X.dtype.kind in "iuf":
        return np.where(mask, np.nan, X.data.astype(np.float64))
    cells = X.data.astype(object)
    cells[mask] = None
    return cells


def as_rows(X: Any) -> Any:
    """Rows that can be counted and chosen, in the container they came in.

    Frames, series, arrays and sparse matrices stay; masked cells become missing ones. Lists of
    rows of cells become arrays, of objects where text and numbers are mixed. Lists of texts, of
    dicts, or of lists of tokens stay lists, since only a model knows how to read them.

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
    if isinstance(X, np.ndarray) or sparse.issparse(X) or is_frame(X):
        return X
    listed = isinstance(X, (list, tuple))
    if nw.dependencies.is_into_series(X) or not (listed or hasattr(X, "__array__")):
        return X
    if listed and len(X) and isinstance(X[0], (str, bytes, Mapping)):
        return X
    try:
        table = np.asarray(X)
    except ValueError as error:
        rows = [row if isinstance(row, (list, tuple)) else (None,) for row in X if listed]
        if rows and all(isinstance(token, (str, bytes)) for row in rows for token in row):
            return X
        raise InputError(
            "The rows of X have an inhomogeneous shape. Give every row one cell for each column."
        ) from error
    # NumPy turns `[1, "a"]` into text; such rows stay objects here.
    return np.asarray(X, dtype=object) if table.ndim == 2 and table.dtype.kind in "US" else table


def as_table(X: Any, dense_for: str | None = None) -> Any:
    """`as_rows` of a table, whose rows must have cells in columns.

    Sparse matrices are refused in the name of `dense_for`, which changes whole columns.

    Examples
    --------
    >>> as_table([[1.5, "a"], [2.5, "b"]]).dtype
    dtype('O')
    """
    table = as_rows(X)
    if dense_for is not None and sparse.issparse(table):
        raise InputError(
            f"Sparse data was passed for X, but {dense_for} changes whole columns and needs a "
            "dense table. Use '.toarray()' to convert to a dense numpy array."
        )
    if is_frame(table) or sparse.issparse(table):
        return table
    table = np.asarray(table)
    if table.ndim != 2 or 0 in table.shape:
        raise InputError(
            f"Expected 2D array with rows and columns, got an array of shape {table.shape} instead."
            " Reshape your data: one row for each sample, one column for each feature."
        )
    return table


def checked_rows(model: Any, X: Any, *, reset: bool) -> Any:
    """`as_rows` of a table, which must have rows and columns unless its rows are no cells.

    Sets (or, unless `reset`, checks) `n_features_in_` and `feature_names_in_` of the model, where
    the rows have columns.
    """
    X = as_rows(X)
    shape: tuple[int, ...] = tuple(getattr(X, "shape", ()))
    flat = len(shape) not in (0, 2) and np.asarray(X).dtype.kind in "biufc"
    if flat and get_tags(model).input_tags.two_d_array:
        raise InputError(
            f"Expected 2D array, got an array of shape {shape} instead. Reshape your data: one "
            "row for each sample, one column for each feature."
        )
    if 0 in shape:
        what = "sample" if shape[0] == 0 else "feature"
        raise InputError(
            f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
        )
    if is_frame(X):
        frame_of(X)  # refuses two columns of one name in our words
    if reset:
        # A fit to rows without columns must not keep the columns of an earlier one.
        for name in ("n_features_in_", "feature_names_in_"):
            vars(model).pop(name, None)
    if not isinstance(X, (list, tuple)):
        validate_data(model, X, reset=reset, skip_check_array=True)
    return X


# --- Rows and columns -----------------------------------------------------------------------------


def n_rows_of(X: Any) -> int:
    """Number of rows of a table."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def rows_of(X: Any, rows: Positions) -> Any:
    """Some rows of any container."""
    if type(X) is np.ndarray:
        return X[rows]
    if sparse.issparse(X):
        part = X.tocsr()[rows]
        return part.tocsc() if X.format == "csc" else part
    X = pa.Table.from_batches([X]) if isinstance(X, pa.RecordBatch) else X
    if isinstance(X, pa.Table):
        return X.take(rows)
    return frame_of(X)[rows].to_native() if is_frame(X) else _safe_indexing(X, rows)


def column_names(X: Any) -> tuple[str, ...]:
    """Names of the columns; `x0, x1, ...` where the table has none."""
    if is_frame(X):
        return tuple(map(str, X.column_names if isinstance(X, pa.Table) else X.columns))
    return tuple(f"x{j}" for j in range(X.shape[1]))


def column_places(
    columns: Iterable[Any], names: Sequence[str], parameter: str = "columns"
) -> list[int]:
    """Positions of columns that are given by name or position.

    Parameters
    ----------
    columns : iterable of str or int
    names : sequence of str
        Of all columns.
    parameter : str
        What the user calls the argument, for messages.

    Examples
    --------
    >>> column_places(["b", 0, -1], ["a", "b", "c"])
    [1, 0, 2]
    """
    places = []
    for item in columns:
        whole = isinstance(item, Integral) and not isinstance(item, (bool, np.bool_))
        if isinstance(item, str) and item in names:
            places.append(list(names).index(item))
        elif whole and -len(names) <= item < len(names):
            places.append(int(item) % len(names))
        else:
            shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
            raise InputError(
                f"`{parameter}` names {item!r}, but X has no such column; it has {len(names)}: "
                f"{shown}."
            )
    return places


def columns_of(X: Any, columns: Positions) -> Any:
    """Some columns of a table, possibly repeated; a repeated column of a frame is renamed.

    Examples
    --------
    >>> columns_of(np.array([[1, 2, 3]]), np.array([2, 0])).tolist()
    [[3, 1]]
    >>> columns_of(pa.table({"a": [1], "b": [2]}), np.array([1, 1])).column_names
    ['b', 'b (2)']
    """
    if sparse.issparse(X):
        part = X.tocsc()[:, columns]
        return part if X.format == "csc" else part.tocsr()
    if not is_frame(X):
        return np.asarray(X)[:, columns]
    frame, places = frame_of(X), [int(column) for column in columns]
    if len(set(places)) == len(places):
        return frame[:, places].to_native()
    chosen: dict[str, Any] = {}
    for place in places:
        name, count = frame.columns[place], 1
        while name in chosen:
            count += 1
            name = f"{frame.columns[place]} ({count})"
        chosen[name] = frame[:, place].alias(name)
    return frame.select(*chosen.values()).to_native()


def arrow_of(X: Any, place: int) -> pa.Array:
    """One column in Arrow's types, as `core.tables.columns` reads it."""
    cells = frame_column(frame_of(X), place) if is_frame(X) else X[:, place]
    return arrow_column(cells, column_names(X)[place])


def cells_of(X: Any, place: int, rows: Positions) -> Any:
    """Some cells of a column in the type that the column has, for `set_columns`."""
    return frame_of(X)[:, place][rows] if is_frame(X) else X[rows, place]


def set_columns(X: Any, columns: Mapping[int, Any]) -> Any:
    """The table with columns replaced, by position: by numbers, or by what `cells_of` gives.

    Examples
    --------
    >>> set_columns(np.array([[1, 10], [2, 20]]), {1: np.array([20, 10])}).tolist()
    [[1, 20], [2, 10]]
    """
    if not is_frame(X):
        table = X.copy()
        for j, values in columns.items():
            table[:, j] = values
        return table
    frame = frame_of(X)
    series = {
        j: values if isinstance(values, nw.Series) else _series(frame, str(j), values)
        for j, values in columns.items()
    }
    if frame.implementation.is_pandas():
        # By position, as labels need not be text; rows are not joined by the index.
        table = X.copy(deep=False)
        for j, column in series.items():
            table.isetitem(j, column.to_native().set_axis(X.index))
        return table
    new = [column.alias(frame.columns[j]) for j, column in series.items()]
    return frame.with_columns(*new).to_native()


def with_columns(X: Any, names: Sequence[str], numbers: Array) -> Any:
    """A table with columns of numbers behind its own, or in place of those of a frame's names.

    Examples
    --------
    >>> with_columns(pa.table({"a": ["x"]}), ["b"], np.array([[1.5]])).to_pydict()
    {'a': ['x'], 'b': [1.5]}
    """
    if len(names) == 0:
        return X
    if sparse.issparse(X):
        return sparse.hstack((X, sparse.csr_matrix(numbers)), format="csr")
    if not is_frame(X):
        return np.hstack((X, numbers.astype(object) if X.dtype.kind == "O" else numbers))
    if isinstance(X, pa.Table):
        behind = {name: numbers[:, j].copy() for j, name in enumerate(names)}
        return pa.table({**dict(zip(X.column_names, X.columns, strict=True)), **behind})
    frame = frame_of(X)
    new = [_series(frame, name, numbers[:, j].copy()) for j, name in enumerate(names)]
    rows = nw.maybe_get_index(frame)
    if rows is not None:
        # pandas joins series by their index, which need not count from zero.
        new = [nw.maybe_set_index(series, index=rows) for series in new]
    return frame.with_columns(*new).to_native()


def with_numbers(X: Any, schema: Schema, numbers: Floats, library: str | None = None) -> Any:
    """`X` with its numeric columns replaced, the others, their order and the index untouched.

    Missing numbers are NaN in arrays and in pandas, null in frames that have null.

    Parameters
    ----------
    X : array, list of rows or data frame
    schema : Schema
        Of its columns.
    numbers : array (n, number of numeric columns)
    library : {"pandas", "polars"}, optional
        The frame to return; by default what `X` is.

    Examples
    --------
    >>> from novum.core.tables import Column, Kind
    >>> schema = Schema((Column("x0"), Column("x1", Kind.NOMINAL, ("a",))), named=False)
    >>> with_numbers([[1.0, "a"]], schema, np.array([[0.5]])).tolist()
    [[0.5, 'a']]
    """
    X = pa.Table.from_batches([X]) if isinstance(X, pa.RecordBatch) else X
    if is_frame(X):
        own = X.column_names if type(X) is pa.Table else frame_of(X).columns
        names = np.array(own, object)[schema.numeric].tolist()
        X = with_columns(X, names, numbers)
        return in_library(nulls_for_nan(X, names) if np.isnan(np.sum(numbers)) else X, library)
    if schema.is_numeric:
        return numbers
    cells = unmasked(X)
    if isinstance(cells, (list, tuple)):
        # NumPy would make text of rows that mix numbers and text, and numbers of truth values.
        cells = np.array([list(row) for row in X], object)
        if all(type(cell) in (int, float) for cell in cells.ravel()):
            cells = cells.astype(np.float64)
    cells = np.asarray(cells)
    if library is not None:
        # Columns that each keep their type, where one array of objects would lose it.
        made: dict[str, Any] = {name: cells[:, i].tolist() for i, name in enumerate(schema.names)}
        made |= {schema.names[i]: numbers[:, j] for j, i in enumerate(schema.numeric)}
        return importlib.import_module(library).DataFrame(made)
    # Codes of categories that came as numbers stay numbers; else every cell keeps its own type.
    out = cells.astype(kept_float(cells) if cells.dtype.kind in "iuf" else object)
    out[:, schema.numeric] = numbers
    return out


def nulls_for_nan(X: Any, names: Sequence[str]) -> Any:
    """A frame with null for NaN in some columns, where its library has null; arrays stay."""
    if not is_frame(X) or not names or frame_of(X).implementation.is_pandas_like():
        return X
    known = [nw.when(~nw.col(name).is_nan()).then(nw.col(name)) for name in names]
    return frame_of(X).with_columns(*known).to_native()


def with_levels(X: Any, fills: Mapping[int, tuple[Mask, Level]]) -> Any:
    """`X`, an array or a frame, with levels in some cells; categorical columns stay categorical.

    Parameters
    ----------
    X : array or data frame
        A fresh one; arrays are changed in place.
    fills : mapping of column positions to (cells to fill, level)

    Examples
    --------
    >>> X = np.array([[None, 1.0]], object)
    >>> with_levels(X, {0: (np.array([True]), "missing")}).tolist()
    [['missing', 1.0]]
    """
    wanted = {place: fill for place, fill in fills.items() if fill[0].any()}
    if not is_frame(X):
        for place, (gone, level) in wanted.items():
            X[gone, place] = level
        return X
    library = frame_of(X).implementation
    if library.is_pandas_like():
        X = X.copy(deep=False)
    elif library.is_polars():
        X = X.clone()
    for place, (gone, level) in wanted.items():
        if library.is_pandas_like():
            X = _fill_pandas(X, place, gone, level)
        elif library.is_polars():
            X = _fill_polars(X, place, gone, level)
        else:
            X = _fill_arrow(X, place, gone, level)
    return X


def _fill_pandas(X: Any, place: int, gone: Mask, level: Level) -> Any:
    column = X.iloc[:, place].copy()
    if type(column.dtype).__name__ == "CategoricalDtype" and level not in column.cat.categories:
        column = column.cat.add_categories([level])
    column[gone] = level
    X.isetitem(place, column)
    return X


def _fill_polars(X: Any, place: int, gone: Mask, level: Level) -> Any:
    column = X.to_series(place)
    cells = column
    if type(column.dtype).__name__ in ("Categorical", "Enum"):
        cells = nw.from_native(column, series_only=True).cast(nw.String).to_native()
    levels = type(column)([level]).cast(cells.dtype).new_from_index(0, len(cells))
    filled = cells.zip_with(type(column)(~gone), levels).cast(column.dtype)
    return X.replace_column(place, filled.rename(column.name))


def _fill_arrow(X: pa.Table, place: int, gone: Mask, level: Level) -> pa.Table:
    column = X.column(place)
    kind = column.type
    is_coded = pa.types.is_dictionary(kind)
    cells = one_array(column.cast(kind.value_type) if is_coded else column)
    filled = pc.if_else(pa.array(gone), pa.scalar(level, cells.type), cells)
    if is_coded and kind.ordered:
        levels = one_array(column).dictionary
        codes = pc.index_in(filled, value_set=levels).cast(kind.index_type)
        filled = pa.DictionaryArray.from_arrays(codes, levels, ordered=True)
    elif is_coded:
        filled = filled.dictionary_encode()
    return X.set_column(place, X.column_names[place], filled)


def _series(frame: Any, name: str, values: Array) -> Any:
    return nw.new_series(name, values, backend=nw.get_native_namespace(frame))


# --- The library of an output ---------------------------------------------------------------------


def output_library(estimator: Any) -> str | None:
    """The library that `set_output` asks for; None leaves containers as they are."""
    wanted: str = _get_output_config("transform", estimator)["dense"]
    return None if wanted == "default" else wanted


def in_library(X: Any, library: str | None) -> Any:
    """A frame in the library that `output_library` names, so that kinds of columns survive."""
    if library is None or not is_frame(X):
        return X
    return frame_of(X).to_pandas() if library == "pandas" else frame_of(X).to_polars()


def to_frame(table: pa.Table, library: str) -> Any:
    """An Arrow table in the library asked for, without losing what the columns are.

    Dictionaries become categorical; ordered ones ordered categoricals in pandas and `Enum` in
    polars, with all their levels, those that never occur too.
    """
    if library == "arrow":
        return table
    if library not in ("pandas", "polars"):
        raise InputError(f"A frame is 'arrow', 'pandas' or 'polars', got {library!r}.")
    try:
        module = importlib.import_module(library)
    except ImportError:
        raise ImportError(
            f"frame={library!r} needs {library}, which is not installed: pip install {library}."
        ) from None
    if library == "pandas":
        return table.to_pandas()
    columns = []
    for name, values in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_dictionary(values.type):
            kind = module.Categorical
            if values.type.ordered:
                kind = module.Enum(one_array(values).dictionary.to_pylist())
            columns.append(module.Series(name, values.cast(pa.string())).cast(kind))
        else:
            columns.append(module.Series(name, values))
    return module.DataFrame(columns)
