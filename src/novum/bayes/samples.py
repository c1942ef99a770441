"""Cells of a checked sample in the user's terms: for explanations and for drawn rows.

A column of levels is turned from codes back to its levels; a missing cell is None. Tables that
have names or levels come as Arrow tables, others as arrays of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.core.schema import UNSEEN, Kind, Schema
from novum.core.validation import Sample


def row_cells(sample: Sample) -> tuple[Any, ...]:
    """The cells of the first row, in the order of the table's columns."""
    numbers = sample.numeric[[0]].toarray()[0] if sample.is_sparse else sample.numeric[0]
    cells: list[Any] = [None] * sample.schema.n_columns
    for i, value in zip(sample.schema.numeric, numbers, strict=True):
        cells[i] = None if np.isnan(value) else float(value)
    for i, code in zip(sample.schema.categorical, sample.codes[0], strict=True):
        cells[i] = sample.schema.columns[i].levels[code] if code >= 0 else None
        if code == UNSEEN:
            cells[i] = "(a new level)"
    return tuple(cells)


def checked_row_count(n: Any) -> int:
    """The number of rows to draw."""
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 0:
        raise InputError(f"The number of rows to draw is a whole number of at least 0, got {n!r}.")
    return int(n)


def drawn_table(schema: Schema, cells: Mapping[int, NDArray[Any]]) -> Any:
    """Drawn cells by position of their column, as a table of the schema."""
    if schema.is_numeric and not schema.named:
        return np.column_stack([cells[i] for i in range(schema.n_columns)])
    return pa.table(
        {column.name: _column(column, cells[i]) for i, column in enumerate(schema.columns)}
    )


def _column(column: Any, values: NDArray[Any]) -> pa.Array:
    if column.kind is Kind.NUMERIC:
        return pa.array(values, pa.float64(), from_pandas=True)
    levels = pa.array(list(column.levels))
    codes = pa.array(values.astype(np.int32), mask=values < 0)
    if column.kind is Kind.ORDINAL:
        return pa.DictionaryArray.from_arrays(codes, levels, ordered=True)
    return levels.take(codes)
