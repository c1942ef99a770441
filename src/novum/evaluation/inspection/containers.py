"""Columns of any table, taken, exchanged and set without changing what the table is.

A model reads a table by its own rules, so whatever asks a model about a column must hand it the
table in the container it came in: a frame stays a frame of the same library, with nominal columns
of the same type and missing cells that are still missing. Columns are known by position here;
`column_places` turns what a user writes (a name, a position) into one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from novum.core.columns import arrow_column, frame_column
from novum.core.errors import InputError
from novum.core.tables import frame_of, unmasked

Places = NDArray[np.intp]


def as_table(X: Any) -> Any:
    """The table as it came; lists become arrays that lose no type, masked cells missing ones.

    Examples
    --------
    >>> as_table([[1.5, "a"], [2.5, "b"]]).dtype
    dtype('O')
    """
    if isinstance(X, pa.RecordBatch):
        X = pa.Table.from_batches([X])
    X = unmasked(X)
    if is_frame(X) or sparse.issparse(X):
        return X
    table = np.asarray(X)
    if table.dtype.kind in "US" and not isinstance(X, np.ndarray):
        table = np.asarray(X, object)
    if table.ndim != 2 or 0 in table.shape:
        raise InputError(
            f"Expected 2D array with rows and columns, got an array of shape {table.shape} instead."
            " Reshape your data: one row for each sample, one column for each feature."
        )
    return table


def is_frame(X: Any) -> bool:
    """Whether a table is a data frame of any library."""
    return bool(nw.dependencies.is_into_dataframe(X))


def column_names(X: Any) -> tuple[str, ...]:
    """Names of the columns; `x0, x1, ...` where the table has none."""
    if is_frame(X):
        names = X.column_names if isinstance(X, pa.Table) else X.columns
        return tuple(str(name) for name in names)
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
    return [_place(item, names, parameter) for item in columns]


def columns_of(X: Any, places: Places) -> Any:
    """Some columns of a table, in the order of `places`, each at most once.

    Examples
    --------
    >>> columns_of(pa.table({"a": [1], "b": [2], "c": [3]}), np.array([2, 0])).column_names
    ['c', 'a']
    """
    if sparse.issparse(X):
        return X.tocsc()[:, places].tocsr()
    if not is_frame(X):
        return X[:, places]
    if isinstance(X, pa.Table):
        return X.select([int(place) for place in places])
    return frame_of(X)[:, [int(place) for place in places]].to_native()


def exchanged(X: Any, places: Sequence[int], order: NDArray[np.intp]) -> Any:
    """The table whose columns at `places` come from the rows `order`; the others stay.

    Examples
    --------
    >>> exchanged(np.array([[1, 10], [2, 20]]), [1], np.array([1, 0])).tolist()
    [[1, 20], [2, 10]]
    """
    if is_frame(X):
        frame = frame_of(X)
        return _with_series(X, {j: frame[:, j][order] for j in places})
    table = X.copy()
    chosen = np.array(places, np.intp)
    table[:, chosen] = X[np.ix_(order, chosen)]
    return table


def filled(X: Any, values: dict[int, Any]) -> Any:
    """The table whose columns hold one value each, by position.

    Values of numeric columns are numbers; any other column takes the values of a row: an integer
    there says which row's cell is repeated, so that a level keeps the type of its column.
    """
    if is_frame(X):
        frame = frame_of(X)
        n_rows = len(frame)
        series = {}
        for j, value in values.items():
            if isinstance(value, FromRow):
                series[j] = frame[:, j][np.full(n_rows, value.row)]
            else:
                column = np.full(n_rows, float(value))
                space = nw.get_native_namespace(frame)
                series[j] = nw.new_series(str(j), column, backend=space)
        return _with_series(X, series)
    table = X.copy()
    for j, value in values.items():
        table[:, j] = X[value.row, j] if isinstance(value, FromRow) else value
    return table


class FromRow:
    """The cell of a row, as the value that a whole column takes."""

    def __init__(self, row: int) -> None:
        self.row = row


def arrow_of(X: Any, place: int) -> pa.Array:
    """One column in Arrow's types, as `core.columns` reads it."""
    name = column_names(X)[place]
    if is_frame(X):
        return arrow_column(frame_column(frame_of(X), place), name)
    return arrow_column(X[:, place], name)


def refuse_sparse(X: Any, what: str) -> None:
    """Refuses a sparse matrix, whose columns cannot be exchanged cell by cell."""
    if sparse.issparse(X):
        raise InputError(
            f"Sparse data was passed for X, but {what} changes whole columns and needs a dense "
            "table. Use '.toarray()' to convert to a dense numpy array."
        )


def _with_series(X: Any, series: dict[int, Any]) -> Any:
    """A frame with columns replaced; pandas by position, as its labels need not be text."""
    frame = frame_of(X)
    if frame.implementation.is_pandas():
        table = X.copy(deep=False)
        for j, column in series.items():
            table.isetitem(j, column.to_native().set_axis(X.index))
        return table
    new = [column.alias(frame.columns[j]) for j, column in series.items()]
    return frame.with_columns(*new).to_native()


def _place(item: Any, names: Sequence[str], parameter: str) -> int:
    if isinstance(item, str) and item in names:
        return list(names).index(item)
    whole = isinstance(item, Integral) and not isinstance(item, (bool, np.bool_))
    if whole and -len(names) <= int(item) < len(names):
        return int(item) % len(names)
    shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
    raise InputError(
        f"`{parameter}` names {item!r}, but X has no such column; it has {len(names)}: {shown}."
    )
