"""Parquet as a source, a file or a folder of parts, read through Arrow in small batches.

Kinds follow the types in the file: numbers are numeric, text and truth values nominal, ordered
dictionaries ordinal in their own order; dates and times are kept as text and reported. DuckDB
counts missing cells and finds the levels within a memory limit.

Chunks follow the row groups, which are what can be read alone: whole groups are taken together as
long as they hold at most `rows` rows, and a larger group is cut into slices of `rows`. The same
spans are the partitions: a row group can be opened without what precedes it.

A folder is read as one table: its files `*.parquet` in the order of the numbers in their names
(`part.2` before `part.10`), each with the same columns. No chunk holds rows of two files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from novum.core.errors import FileFormatError, InputError
from novum.core.runtime import memory_limit as limit_in_force
from novum.core.sources.parquet_columns import ParquetColumn, damaged, parquet_columns, schema_table
from novum.core.sources.parquet_queries import ParquetQueries
from novum.core.sources.report import ReadReport, printable
from novum.core.sources.source import FileSource, check_names
from novum.core.sources.streams import Stamp, check_stamp, stamp
from novum.core.tables import Column, Kind, Schema

DEFAULT_MEMORY = 128 << 20
_BATCH_ROWS = 8_192
_BUFFER_BYTES = 1 << 16


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
        for batch in _batches(self.path, groups, self.columns):
            end = position + batch.num_rows
            if end > self.span.skip:
                begin = max(0, self.span.skip - position)
                parts.append(batch.slice(begin, min(end, stop) - position - begin))
            position = end
            if position >= stop:
                break
        return schema_table(pa.Table.from_batches(parts), self.schema, self.columns)


def _batches(
    path: Path, groups: Sequence[int], columns: Sequence[ParquetColumn]
) -> Iterator[pa.RecordBatch]:
    """The rows of some row groups in small batches, which unpack a page of each column at a time.

    Arrow would otherwise hold all of a row group, packed and unpacked.
    """
    names = [column.name for column in columns]
    try:
        with pq.ParquetFile(path, buffer_size=_BUFFER_BYTES, pre_buffer=False) as file:
            for batch in file.iter_batches(_BATCH_ROWS, list(groups), names, use_threads=False):
                yield batch.select(names)
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, error) from None


@dataclass(frozen=True)
class ParquetFile:
    """One file as it describes itself: its columns and the rows of its row groups."""

    path: Path
    stamp: Stamp
    columns: tuple[ParquetColumn, ...]
    group_rows: tuple[int, ...]


@dataclass(frozen=True)
class ParquetFindings:
    """What the first pass leaves behind."""

    queries: ParquetQueries
    files: tuple[ParquetFile, ...]
    schema: Schema
    report: ReadReport

    def chunks(self, rows: int) -> Iterator[pa.Table]:
        columns = self.queries.columns
        for file in self.files:
            check_stamp(file.path, file.stamp)
            batches = _batches(file.path, range(len(file.group_rows)), columns)
            held: list[pa.RecordBatch] = []
            for span in spans(file.group_rows, rows):
                have = sum(batch.num_rows for batch in held)
                while have < span.rows:
                    batch = next(batches, None)
                    if batch is None:
                        raise FileFormatError(
                            f"{file.path.name} ends {span.rows - have:,} rows before its own "
                            "count: it is damaged. Write it again."
                        )
                    held.append(batch)
                    have += batch.num_rows
                # Only the last batch can reach over the end; what is read is let go of at once.
                last = held.pop()
                kept = last.num_rows - (have - span.rows)
                raw = pa.Table.from_batches([*held, last.slice(0, kept)])
                held = [last.slice(kept)] if kept < last.num_rows else []
                chunk = schema_table(raw, self.schema, columns)
                del raw, last
                yield chunk

    def partitions(self, rows: int) -> tuple[ParquetPartition, ...]:
        columns = self.queries.columns
        return tuple(
            ParquetPartition(file.path, file.stamp, self.schema, columns, span)
            for file in self.files
            for span in spans(file.group_rows, rows)
        )


class ParquetSource(FileSource):
    """A Parquet file, or a folder of them; parameters as in `open_source`.

    Nulls and NaN are missing; `missing` adds words that stand for a missing cell in columns of
    text. DuckDB may take a quarter of `memory_limit`, and at most 128 MB.
    """

    usual_missing = ()
    takes_folders = True

    def _first_pass(self) -> ParquetFindings:
        folder = self.path.is_dir()
        paths = parts_of(self.path) if folder else (self.path,)
        files = tuple(self._opened(path) for path in paths)
        rows = sum(sum(file.group_rows) for file in files)
        if rows == 0:
            raise FileFormatError(f"{self.path.name} has columns but no rows.")
        columns = _columns_of_all(files)
        # DuckDB's limit is that of its tables; what it reads into comes on top.
        allowed = min(limit_in_force(self.memory_limit) // 4, DEFAULT_MEMORY)
        queries = ParquetQueries(self.path, columns, allowed, paths if folder else ())
        schema, reports = queries.first_pass(self._declared, self.limits)
        noted = tuple(
            replace(report, notes=(*report.notes, *column.notes))
            for column, report in zip(columns, reports, strict=True)
        )
        report = ReadReport(str(self.path), "Parquet", rows, noted)
        return ParquetFindings(queries, files, schema, report)

    def _opened(self, path: Path) -> ParquetFile:
        """The columns to read and the sizes of the row groups, as the file describes itself."""
        known = stamp(path)
        try:
            with pq.ParquetFile(path) as file:
                meta = file.metadata
                groups = tuple(meta.row_group(i).num_rows for i in range(meta.num_row_groups))
                declared = meta.num_rows
                check_names(file.schema_arrow.names)
                chosen = self._chosen(file.schema_arrow.names)
                columns = parquet_columns(file, chosen, self._missing)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise damaged(path, error) from None
        if min(groups, default=0) < 0 or sum(groups) != declared:
            raise FileFormatError(
                f"{path.name} counts {declared:,} rows, its row groups {sum(groups):,}: "
                "it is damaged. Write it again."
            )
        return ParquetFile(path, known, columns, groups)


def parts_of(folder: Path) -> tuple[Path, ...]:
    """The Parquet files of a folder, by the numbers in their names; `_` and `.` hide a file."""
    inner = next(iter(sorted(folder.glob("*/**/*.parquet"))), None)
    if inner is not None:
        raise InputError(
            f"{folder.name!r} has Parquet files in folders of its own, such as "
            f"{str(inner.relative_to(folder))!r}, whose names may be columns. Write the table "
            "with its files side by side, or name one of the inner folders."
        )
    parts = [path for path in folder.glob("*.parquet") if path.name[0] not in "._"]
    if not parts:
        raise InputError(
            f"{str(folder)!r} is a folder without Parquet files. Name one file, or a folder of "
            "files with the suffix .parquet."
        )
    pieces = {path: re.split(r"(\d+)", path.name) for path in parts}
    # Text and numbers take turns, so that pieces of one place are of one type.
    return tuple(
        sorted(parts, key=lambda path: [int(p) if p.isdigit() else p for p in pieces[path]])
    )


def _columns_of_all(files: Sequence[ParquetFile]) -> tuple[ParquetColumn, ...]:
    """The columns of the first file, which all others must have in the same places."""
    first, *others = files
    columns = list(first.columns)
    for file in others:
        if len(file.columns) != len(columns):
            raise FileFormatError(
                f"{file.path.name} has {len(file.columns)} columns to read, {first.path.name} has "
                f"{len(columns)}. Write all files of a folder with the same columns."
            )
        for i, (one, other) in enumerate(zip(columns, file.columns, strict=True)):
            mine, theirs = ((c.name, c.position, c.type) for c in (one, other))
            if mine != theirs:
                raise FileFormatError(
                    f"Column {mine[1] + 1} is {printable(mine[0])!r} ({mine[2]}) in "
                    f"{first.path.name}, but {printable(theirs[0])!r} ({theirs[2]}) is column "
                    f"{theirs[1] + 1} of {file.path.name}. Write all files of a folder alike."
                )
            ordered = (Column(one.name, Kind.ORDINAL, c.order) for c in (one, other))
            order = tuple(str(level) for level in next(ordered).unite(next(ordered)).levels)
            columns[i] = replace(one, order=order, whole=one.whole and other.whole)
    return tuple(columns)


def spans(group_rows: Sequence[int], rows: int) -> tuple[Span, ...]:
    """Row groups taken together up to `rows` rows, larger ones cut into slices.

    Examples
    --------
    >>> [(span.first, span.last, span.skip, span.rows) for span in spans([3, 3, 9], 6)]
    [(0, 1, 0, 6), (2, 2, 0, 6), (2, 2, 6, 3)]
    """
    spans: list[Span] = []
    first, held = 0, 0
    for group, size in enumerate(group_rows):
        if held and held + size > rows:
            spans.append(Span(first, group - 1, 0, held))
            held = 0
        if size > rows:
            slices = range(0, size, rows)
            spans += [Span(group, group, skip, min(rows, size - skip)) for skip in slices]
            continue
        if not held:
            first = group
        held += size
    if held:
        spans.append(Span(first, len(group_rows) - 1, 0, held))
    return tuple(spans)
