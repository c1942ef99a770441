"""Parquet as a source, read through DuckDB in batches.

Kinds follow the types in the file: numbers are numeric, text and truth values nominal, ordered
dictionaries ordinal in their own order; dates and times are kept as text and reported. DuckDB
counts missing cells and finds the levels, and streams the rows, within a memory limit.

Chunks follow the row groups, which are what can be read alone: whole groups are taken together as
long as they hold at most `rows` rows, and a larger group is cut into slices of `rows`. The same
spans are the partitions, which Arrow reads, because it opens a row group without what precedes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from novum.core.errors import FileFormatError
from novum.core.memory import memory_limit as limit_in_force
from novum.core.schema import Schema
from novum.core.sources.limits import LIMITS, Limits
from novum.core.sources.parquet_columns import ParquetColumn, parquet_columns, schema_table
from novum.core.sources.parquet_queries import ParquetQueries
from novum.core.sources.protocol import CHUNK_ROWS, check_chunk
from novum.core.sources.report import ColumnReport, ReadReport, printable
from novum.core.sources.streams import Stamp, check_stamp, checked_path, stamp
from novum.core.sources.wishes import KindWish, check_known, checked_wishes

DEFAULT_MEMORY = 256 << 20


@dataclass(frozen=True)
class Span:
    """Rows `skip` to `skip + rows` of the row groups `first` to `last`, ends included."""

    first: int
    last: int
    skip: int
    rows: int


@dataclass(frozen=True)
class ParquetPartition:
    """One span of a Parquet file; can be pickled and read in another process."""

    path: Path
    stamp: Stamp
    schema: Schema
    columns: tuple[ParquetColumn, ...]
    span: Span

    @property
    def rows(self) -> int:
        return self.span.rows

    def read(self) -> pa.Table:
        check_stamp(self.path, self.stamp)
        stop = self.span.skip + self.span.rows
        groups = list(range(self.span.first, self.span.last + 1))
        parts, position = [], 0
        try:
            with pq.ParquetFile(self.path) as file:
                names = [column.name for column in self.columns]
                # Batches keep a slice of a large row group from unpacking all of it at once.
                for batch in file.iter_batches(CHUNK_ROWS, groups, names, use_threads=False):
                    end = position + batch.num_rows
                    if end > self.span.skip:
                        begin = max(0, self.span.skip - position)
                        parts.append(batch.slice(begin, min(end, stop) - position - begin))
                    position = end
                    if position >= stop:
                        break
        except (pa.ArrowException, OSError) as error:
            raise damaged(self.path, error) from None
        table = pa.Table.from_batches(parts).select(names)
        return schema_table(table, self.schema, self.columns).combine_chunks()


class ParquetSource:
    """A Parquet file.

    Parameters
    ----------
    path : path
    kinds : mapping, default=None
        Kinds other than the types tell: `{"zip": "nominal"}`; a sequence of levels makes a
        column ordinal in that order.
    missing : sequence of str, default=None
        Text that stands for a missing cell besides nulls and NaN; None takes no such text.
    columns : sequence of str, default=None
        The columns to read, in this order; None reads all.
    memory_limit : int or str, default=None
        Bytes (or `"400MB"`) that DuckDB may take, and a chunk; None allows DuckDB 256 MB and a
        chunk 80 % of the available memory.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        kinds: Mapping[str, KindWish] | None = None,
        missing: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        memory_limit: int | str | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        self.path: Path = checked_path(path)
        self.memory_limit = memory_limit
        self.limits = limits
        self._wishes = checked_wishes(kinds)
        self._missing = tuple(missing or ())
        self._names = None if columns is None else tuple(columns)
        self._found: tuple[Schema, ReadReport, tuple[ParquetColumn, ...], Stamp] | None = None
        self._group_rows: tuple[int, ...] = ()

    def schema(self) -> Schema:
        return self._findings()[0]

    def report(self) -> ReadReport:
        return self._findings()[1]

    def chunks(self, rows: int = CHUNK_ROWS) -> Iterator[pa.Table]:
        schema, _, columns, known = self._findings()
        check_chunk(rows, schema, self.memory_limit)
        check_stamp(self.path, known)
        return self._streamed(schema, columns, rows)

    def partitions(self, rows: int = CHUNK_ROWS) -> tuple[ParquetPartition, ...]:
        schema, _, columns, known = self._findings()
        check_chunk(rows, schema, self.memory_limit)
        return tuple(
            ParquetPartition(self.path, known, schema, columns, span)
            for span in spans(self._group_rows, rows)
        )

    def _streamed(
        self, schema: Schema, columns: tuple[ParquetColumn, ...], rows: int
    ) -> Iterator[pa.Table]:
        batches = self._queries(columns).batches()
        held: list[pa.Table] = []
        for span in spans(self._group_rows, rows):
            while (have := sum(table.num_rows for table in held)) < span.rows:
                batch = next(batches, None)
                if batch is None:
                    raise FileFormatError(
                        f"{self.path.name} ends {span.rows - have:,} rows before its own count."
                    )
                held.append(pa.table(batch))
            whole = pa.concat_tables(held)
            chunk = whole.slice(0, span.rows)
            held = [whole.slice(span.rows)]
            yield schema_table(chunk, schema, columns).combine_chunks()

    # First pass

    def _findings(self) -> tuple[Schema, ReadReport, tuple[ParquetColumn, ...], Stamp]:
        if self._found is None:
            known = stamp(self.path)
            columns = self._opened()
            schema, reports = self._queries(columns).first_pass(self._wishes, self.limits)
            rows = sum(self._group_rows)
            report = ReadReport(str(self.path), "Parquet", rows, _noted(columns, reports))
            check_stamp(self.path, known)
            self._found = schema, report, columns, known
        return self._found

    def _opened(self) -> tuple[ParquetColumn, ...]:
        """The columns to read, after the file's own description of itself has been checked."""
        try:
            with pq.ParquetFile(self.path) as file:
                meta = file.metadata
                groups = tuple(meta.row_group(i).num_rows for i in range(meta.num_row_groups))
                described = file.schema_arrow
                declared = meta.num_rows
                columns = parquet_columns(file, described, self._names, self._missing)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise damaged(self.path, error) from None
        if min(groups, default=0) < 0 or sum(groups) != declared:
            raise FileFormatError(
                f"{self.path.name} counts {declared:,} rows, its row groups {sum(groups):,}: "
                "it is damaged. Write it again."
            )
        if declared == 0:
            raise FileFormatError(f"{self.path.name} has columns but no rows.")
        check_known(tuple(self._wishes), described.names, "kinds")
        self._group_rows = groups
        return columns

    def _queries(self, columns: tuple[ParquetColumn, ...]) -> ParquetQueries:
        allowed = limit_in_force(self.memory_limit)
        if self.memory_limit is None:
            allowed = min(allowed, DEFAULT_MEMORY)
        return ParquetQueries(self.path, columns, allowed)


def spans(group_rows: Sequence[int], rows: int) -> tuple[Span, ...]:
    """Row groups taken together up to `rows` rows, larger ones cut into slices.

    Examples
    --------
    >>> [(span.first, span.last, span.skip, span.rows) for span in spans([3, 3, 9], 6)]
    [(0, 1, 0, 6), (2, 2, 0, 6), (2, 2, 6, 3)]
    """
    found: list[Span] = []
    first, held = 0, 0
    for group, size in enumerate(group_rows):
        if held and held + size > rows:
            found.append(Span(first, group - 1, 0, held))
            held = 0
        if size > rows:
            slices = range(0, size, rows)
            found += [Span(group, group, skip, min(rows, size - skip)) for skip in slices]
            continue
        if not held:
            first = group
        held += size
    if held:
        found.append(Span(first, len(group_rows) - 1, 0, held))
    return tuple(found)


def damaged(path: Path, error: BaseException) -> FileFormatError:
    return FileFormatError(
        f"{path.name} cannot be read as Parquet: {printable(str(error), 200)}. "
        "It is damaged or of another format; write it again."
    )


def _noted(
    columns: tuple[ParquetColumn, ...], reports: tuple[ColumnReport, ...]
) -> tuple[ColumnReport, ...]:
    return tuple(
        replace(report, notes=(*report.notes, *column.notes))
        for column, report in zip(columns, reports, strict=True)
    )
