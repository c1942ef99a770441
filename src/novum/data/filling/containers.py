"""Levels and indicator columns put into the container that a table came in.

Numbers are put back by `novum.data.scaling.containers`; here missing cells of nominal and ordinal
columns get a level, and columns of zeros and ones are added behind the others. Frames stay frames
of their library, categorical columns stay categorical.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from novum.core.schema import Level
from novum.core.tables import frame_of

Mask = NDArray[np.bool_]


def fill_levels(X: Any, fills: Mapping[int, tuple[Mask, Level]]) -> Any:
    """`X`, an array or a frame, with levels in the cells of some columns.

    Parameters
    ----------
    X : array or data frame
        A fresh one; arrays are changed in place.
    fills : mapping of column positions to (cells to fill, level)

    Examples
    --------
    >>> X = np.array([[None, 1.0]], object)
    >>> fill_levels(X, {0: (np.array([True]), "missing")}).tolist()
    [['missing', 1.0]]
    """
    wanted = {place: fill for place, fill in fills.items() if fill[0].any()}
    if not nw.dependencies.is_into_dataframe(X):
        for place, (gone, level) in wanted.items():
            X[gone, place] = level
        return X
    frame = frame_of(X)
    if frame.implementation.is_pandas_like():
        return _in_pandas(X, wanted)
    if frame.implementation.is_polars():
        return _in_polars(X, wanted)
    return _in_arrow(X, wanted)


def add_indicators(X: Any, names: list[str], flags: NDArray[np.float64]) -> Any:
    """`X` with columns of zeros and ones behind its own."""
    if not names:
        return X
    if not nw.dependencies.is_into_dataframe(X):
        return np.hstack([X, flags.astype(X.dtype)])
    frame = frame_of(X)
    backend = nw.get_native_namespace(frame)
    columns = [
        nw.new_series(name, flags[:, j].copy(), backend=backend) for j, name in enumerate(names)
    ]
    return frame.with_columns(*columns).to_native()


# --- By library -----------------------------------------------------------------------------------


def _in_pandas(X: Any, fills: Mapping[int, tuple[Mask, Level]]) -> Any:
    out = X.copy(deep=False)
    for place, (gone, level) in fills.items():
        column = out.iloc[:, place].copy()
        if type(column.dtype).__name__ == "CategoricalDtype" and level not in column.cat.categories:
            column = column.cat.add_categories([level])
        column[gone] = level
        out.isetitem(place, column)
    return out


def _in_polars(X: Any, fills: Mapping[int, tuple[Mask, Level]]) -> Any:
    out = X.clone()
    for place, (_, level) in fills.items():
        column = out.to_series(place)
        if type(column.dtype).__name__ in ("Categorical", "Enum"):
            text = nw.from_native(column, series_only=True).cast(nw.String).to_native()
            filled = text.fill_null(level).cast(column.dtype)
        else:
            filled = column.fill_nan(None) if column.dtype.is_float() else column
            filled = filled.fill_null(level)
        out.replace_column(place, filled.rename(column.name))
    return out


def _in_arrow(X: pa.Table, fills: Mapping[int, tuple[Mask, Level]]) -> pa.Table:
    for place, (gone, level) in fills.items():
        column = X.column(place)
        kind = column.type
        is_coded = pa.types.is_dictionary(kind)
        cells = column.cast(kind.value_type) if is_coded else column
        cells = cells.combine_chunks()
        filled = pc.if_else(pa.array(gone), pa.scalar(level, cells.type), cells)
        if is_coded and kind.ordered:
            levels = column.combine_chunks().dictionary
            codes = pc.index_in(filled, value_set=levels).cast(kind.index_type)
            filled = pa.DictionaryArray.from_arrays(codes, levels, ordered=True)
        elif is_coded:
            filled = filled.dictionary_encode()
        X = X.set_column(place, X.column_names[place], filled)
    return X
