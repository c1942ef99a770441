"""One column of a table as arrays: numbers, or codes of levels.

Profile, findings and the understanding of the task look at one column at a time, so that a table of
a million rows needs the memory of one more column and no second table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from novum.core.tables import MISSING, Column, Kind, Level, arrow_column, codes_of, numbers_of
from novum.numerics import Array, Integers, Mask, cached_property


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column.

    Attributes
    ----------
    column : Column
    values : array (n,)
        float64 with NaN for missing in a numeric column, else int32 codes with `MISSING`, and
        `UNSEEN` for levels that the column does not have.

    Examples
    --------
    >>> cells = cells_of(pa.array(["b", None, "a"]), Column("c", Kind.NOMINAL, ("a", "b")))
    >>> cells.values.tolist(), cells.n_missing, cells.level(1)
    ([1, -1, 0], 1, 'b')
    """

    column: Column
    values: Array

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def is_numeric(self) -> bool:
        return self.column.kind is Kind.NUMERIC

    @cached_property
    def known(self) -> Mask:
        """Which cells have a value."""
        if self.is_numeric:
            return np.asarray(~np.isnan(self.values))
        return np.asarray(self.values != MISSING)

    @cached_property
    def n_missing(self) -> int:
        return len(self.values) - int(np.count_nonzero(self.known))

    @cached_property
    def level_counts(self) -> Integers:
        """Rows of each level of a column that is not numeric."""
        codes = self.values[self.values >= 0]
        return np.bincount(codes, minlength=self.column.n_levels).astype(np.int64)

    def level(self, code: int) -> Level:
        return self.column.levels[code]

    def rows(self, chosen: Array) -> Cells:
        """The same column in some of the rows."""
        return Cells(self.column, self.values[chosen])


def cells_of(values: Any, column: Column) -> Cells:
    """The cells of an Arrow column under its column of the schema."""
    array = arrow_column(values, column.name)
    if column.kind is Kind.NUMERIC:
        return Cells(column, numbers_of(array, column.name))
    if _is_coded(array, column):
        codes = array.indices.fill_null(MISSING) if array.null_count else array.indices
        return Cells(column, codes.to_numpy(zero_copy_only=False).astype(np.int32, copy=False))
    return Cells(column, codes_of(array, column))


def _is_coded(array: pa.Array, column: Column) -> bool:
    """Whether the codes are already the schema's, as in all tables that readers give."""
    if not pa.types.is_dictionary(array.type) or not pa.types.is_string(array.type.value_type):
        return False
    return len(array.dictionary) == column.n_levels and array.dictionary.to_pylist() == list(
        column.levels
    )
