"""The profile of a table: every column in brief, missing cells, repeated rows.

Columns are read one after the other, all rows of each: one pass, and the memory of one column
beside the table. Quantiles, counts and repeated rows are exact.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from novum.apps.job.record import ColumnRecord, ProfileRecord, TaskKind
from novum.apps.job.table.association import TargetValues
from novum.apps.job.table.column_cells import Cells, cells_of
from novum.apps.job.table.profile_columns import column_record
from novum.apps.job.table.row_fingerprints import column_part, mixed, n_repeated, salt
from novum.apps.job.table.task_kinds import look_at_target
from novum.core.schema import Schema

# Sets of columns missing together that are listed.
MOST_PATTERNS = 10


def profile_table(
    table: pa.Table, schema: Schema, target: str | None = None, kind: TaskKind | None = None
) -> ProfileRecord:
    """A table in brief.

    Parameters
    ----------
    table : pyarrow.Table
    schema : Schema
        Of all its columns.
    target : str, optional
        Column whose association with the others is measured; it stands apart in the result.
    kind : {"binary", "multiclass", "regression"}, optional
        What the target is; by default found by the rule of `task_kinds`.

    Examples
    --------
    >>> from novum.data import load
    >>> iris = load("iris")
    >>> found = profile_table(iris.table, iris.schema, iris.target)
    >>> [(column.name, round(column.association, 2)) for column in found.columns[2:]]
    [('petal_length', 0.81), ('petal_width', 0.83)]
    """
    n_rows = int(table.num_rows)
    aim = None
    if target is not None:
        place = schema.names.index(target)
        aim = target_values(cells_of(table.column(place), schema.columns[place]), kind)
    rows = _RowPass(n_rows)
    records: dict[str, ColumnRecord] = {}
    for place, column in enumerate(schema.columns):
        cells = cells_of(table.column(place), column)
        rows.add(cells)
        records[column.name] = column_record(cells, None if column.name == target else aim)
    return ProfileRecord(
        n_rows=n_rows,
        columns=tuple(record for name, record in records.items() if name != target),
        target=None if target is None else records[target],
        n_duplicate_rows=n_repeated(rows.prints),
        n_complete_rows=int(np.count_nonzero(rows.n_missing == 0)),
        missing_patterns=rows.patterns(),
        seen_rows=n_rows,
    )


def target_values(cells: Cells, kind: TaskKind | None = None) -> TargetValues:
    """The known targets, as codes of classes or as numbers."""
    is_classes = look_at_target(cells).is_classes if kind is None else kind != "regression"
    known = cells.values[cells.known]
    if not is_classes:
        finite = cells.known & np.isfinite(cells.values)
        return TargetValues(finite, cells.values[finite], 0)
    met, codes = np.unique(known, return_inverse=True)
    return TargetValues(cells.known, codes.astype(np.int64), len(met))


class _RowPass:
    """What is summed over the columns for every row."""

    def __init__(self, n_rows: int) -> None:
        self.prints = np.zeros(n_rows, np.uint64)
        self.n_missing = np.zeros(n_rows, np.int32)
        self.missing_prints = np.zeros(n_rows, np.uint64)
        self.masks: dict[str, NDArray[np.uint8]] = {}
        self.n_columns = 0

    def add(self, cells: Cells) -> None:
        self.prints += column_part(cells, self.n_columns)
        if cells.n_missing:
            gone = ~cells.known
            self.n_missing += gone
            self.missing_prints[gone] += mixed(np.array([salt(self.n_columns)]))
            # Packed, because a wide table may miss cells in every column.
            self.masks[cells.name] = np.packbits(gone)
        self.n_columns += 1

    def patterns(self) -> tuple[tuple[tuple[str, ...], int], ...]:
        """Sets of columns missing together with their rows, the most frequent first."""
        if not self.masks:
            return ()
        _, first, counts = np.unique(self.missing_prints, return_index=True, return_counts=True)
        some = self.n_missing[first] > 0
        first, counts = first[some], counts[some]
        order = np.lexsort((first, -counts))[:MOST_PATTERNS]
        return tuple((self._columns(int(first[i])), int(counts[i])) for i in order)

    def _columns(self, row: int) -> tuple[str, ...]:
        byte, bit = row >> 3, 7 - (row & 7)
        return tuple(name for name, mask in self.masks.items() if mask[byte] >> bit & 1)
