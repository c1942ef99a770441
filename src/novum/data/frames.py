"""Arrow tables as pandas or polars frames without losing what the columns are.

Nominal columns become categorical; ordinal ones ordered categoricals in pandas and `Enum` in
polars, with all levels of the schema, those that never occur too.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, Literal

import pyarrow as pa
import pyarrow.types as pt

from novum.core.errors import InputError
from novum.core.schema import Kind, Schema

Frame = Literal["arrow", "pandas", "polars"]


def to_frame(table: pa.Table, schema: Schema, library: Frame) -> Any:
    """`table` in the data frame library asked for.

    Parameters
    ----------
    table : pyarrow.Table
        A table in the shape of `schema`.
    schema : Schema
    library : {"arrow", "pandas", "polars"}
    """
    if library == "arrow":
        return table
    if library == "pandas":
        _imported("pandas")
        return table.to_pandas()
    if library == "polars":
        return _polars(table, schema)
    raise InputError(f"A frame is 'arrow', 'pandas' or 'polars', got {library!r}.")


def _polars(table: pa.Table, schema: Schema) -> Any:
    polars = _imported("polars")
    columns = []
    for column, values in zip(schema.columns, table.columns, strict=True):
        if not pt.is_dictionary(values.type):
            columns.append(polars.Series(column.name, values))
            continue
        text = values.cast(pa.string())
        if column.kind is Kind.ORDINAL:
            dtype = polars.Enum(list(column.levels))
        else:
            dtype = polars.Categorical
        columns.append(polars.Series(column.name, text).cast(dtype))
    return polars.DataFrame(columns)


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(
            f"frame={name!r} needs {name}, which is not installed: pip install {name}."
        ) from None
