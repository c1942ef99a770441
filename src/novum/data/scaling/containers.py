"""Putting numbers back into the container they came from.

A scaling reads the numeric columns of whatever it is given and must return the same kind of thing:
an array for an array, a frame of the same library for a frame, with the other columns, their order
and the index untouched. Missing numbers are NaN in arrays and in pandas, null in frames that have
null. Where `set_output` asks for a library, that is what is returned.
"""

from __future__ import annotations

import importlib
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils._set_output import _get_output_config

from novum.core.schema import Schema
from novum.core.single_precision import kept_float
from novum.core.tables import frame_of, unmasked

Floats = NDArray[np.float64]


def put_back(X: Any, schema: Schema, numbers: Floats, library: str | None = None) -> Any:
    """`X` with its numeric columns replaced.

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
    >>> from novum.core.schema import Column, Kind
    >>> schema = Schema((Column("x0"), Column("x1", Kind.NOMINAL, ("a",))), named=False)
    >>> put_back([[1.0, "a"]], schema, np.array([[0.5]])).tolist()
    [[0.5, 'a']]
    """
    if isinstance(X, pa.RecordBatch):
        X = pa.Table.from_batches([X])
    if nw.dependencies.is_into_dataframe(X):
        return _into_frame(X, schema, numbers, library)
    if schema.is_numeric:
        return numbers
    cells = _cells(X)
    if library is not None:
        return _new_frame(cells, schema, numbers, library)
    # Codes of categories that came as numbers stay numbers; else every cell keeps its own type.
    out = cells.astype(kept_float(cells) if cells.dtype.kind in "iuf" else object)
    out[:, schema.numeric] = numbers
    return out


def output_library(estimator: Any) -> str | None:
    """The library that `set_output` asks for; None leaves containers as they are."""
    wanted: str = _get_output_config("transform", estimator)["dense"]
    return None if wanted == "default" else wanted


def _into_frame(X: Any, schema: Schema, numbers: Floats, library: str | None) -> Any:
    frame = frame_of(X)
    names = [frame.columns[i] for i in schema.numeric]
    columns = [
        nw.new_series(name, numbers[:, j].copy(), backend=nw.get_native_namespace(frame))
        for j, name in enumerate(names)
    ]
    frame = frame.with_columns(*columns)
    if np.isnan(np.sum(numbers)) and not frame.implementation.is_pandas_like():
        known = [nw.when(~nw.col(name).is_nan()).then(nw.col(name)).alias(name) for name in names]
        frame = frame.with_columns(*known)
    if library == "pandas":
        return frame.to_pandas()
    return frame.to_polars() if library == "polars" else frame.to_native()


def _cells(X: Any) -> NDArray[Any]:
    cells = unmasked(X)
    if not isinstance(cells, (list, tuple)):
        return np.asarray(cells)
    # NumPy would make text of rows that mix numbers and text, and numbers of truth values.
    mixed = np.array([list(row) for row in X], object)
    plain = all(type(cell) in (int, float) for cell in mixed.ravel())
    return mixed.astype(np.float64) if plain else mixed


def _new_frame(cells: NDArray[Any], schema: Schema, numbers: Floats, library: str) -> Any:
    """A frame of columns that each keep their type, where one array of objects would lose it."""
    columns: dict[str, Any] = {}
    places = {int(i): j for j, i in enumerate(schema.numeric)}
    for i, name in enumerate(schema.names):
        columns[name] = numbers[:, places[i]] if i in places else cells[:, i].tolist()
    return importlib.import_module(library).DataFrame(columns)
