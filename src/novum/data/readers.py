"""Reading a whole file into a typed table, with a report of everything that was decided.

`read` is the in-memory door to `novum.core.sources`: the same first pass, the same columns. For
files that do not fit into memory, learners take the path itself (`fit_file`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from novum.core.errors import InputError
from novum.core.runtime import check_memory
from novum.core.sources import Dialect, KindLike, ReadReport, open_source
from novum.core.tables import Frame, Schema, to_frame
from novum.display import Table, notebook


@dataclass(frozen=True)
class ReadTable:
    """A table with its schema and the report of its reading.

    Parameters
    ----------
    table : pyarrow.Table
        Numeric columns as float64, truth values as Booleans, others as dictionaries (ordered for
        ordinal columns); missing cells are null.
    schema : Schema
    report : ReadReport
    """

    table: pa.Table
    schema: Schema
    report: ReadReport

    def frame(self, library: Frame = "arrow") -> Any:
        """The table as `"arrow"`, `"pandas"` or `"polars"`; nominal columns become categorical."""
        return to_frame(self.table, library)

    def __repr__(self) -> str:
        return str(self.report)

    def _repr_html_(self) -> str:
        names = self.schema.names[:20]
        rows = [
            ["missing" if row[name] is None else str(row[name]) for name in names]
            for row in self.table.slice(0, 5).to_pylist()
        ]
        return notebook(*self.report.blocks(), Table("", names, rows))


def read(
    path: str | os.PathLike[str],
    *,
    kinds: Mapping[str, KindLike] | None = None,
    missing: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    dialect: Dialect | None = None,
    memory_limit: int | str | None = None,
    sheet: str | None = None,
    sql: str | None = None,
) -> ReadTable:
    """Read a CSV, TSV, ARFF, Parquet, Excel, JSON, DuckDB or SQLite file into typed columns.

    Parameters
    ----------
    path, kinds, missing, columns, dialect, sheet, sql
        As in `open_source`.
    memory_limit : int or str, default=None
        Bytes the table may take, or text such as `"2GB"`; None allows 80 % of what is available.

    Returns
    -------
    ReadTable

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age;height;city\\n31;1,82;Ulm\\n?;1,7;Bonn\\n")
    >>> people = read(path)
    >>> people.table.column("height").to_pylist()
    [1.82, 1.7]
    >>> people.report.missing_cells, people.report.notes[0]
    (1, 'separator \\';\\', quote ", a header, decimal commas')
    """
    source = open_source(
        path,
        kinds=kinds,
        missing=missing,
        columns=columns,
        dialect=dialect,
        memory_limit=memory_limit,
        sheet=sheet,
        sql=sql,
    )
    schema, report = source.schema(), source.report()
    # Eight bytes per number, four per code, and as much again while chunks are put together.
    check_memory(
        16 * report.rows * schema.n_columns,
        f"{report.path} with {report.rows:,} rows and {schema.n_columns:,} columns",
        "Read fewer columns (`columns=`), or give the path itself to a learner's `fit_file`.",
        memory_limit,
    )
    table = pa.concat_tables(source.chunks()).combine_chunks()
    if table.num_rows != report.rows:
        raise InputError(f"{report.path} has changed while it was read. Read it again.")
    return ReadTable(table, schema, report)
