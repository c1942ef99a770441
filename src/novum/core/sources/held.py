"""Formats that are read whole: Excel sheets and JSON records; `databases.py` has one more.

    sheet | records | select ...  ->  cells  ->  the text of a CSV file  ->  typed columns

Their cells have types of their own, but not one type for a column: a sheet mixes numbers and words,
SQLite stores what it is given, records lack fields. So every cell is taken as a CSV file would
write it, and from there on kinds, levels, missing cells and notes are found as in any text file: a
table means the same in whatever format it comes.

A file of a few bytes can claim any number of rows, so rows are taken in pieces that turn to text at
once, and what they take is counted.
"""

from __future__ import annotations

import datetime
import importlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from novum.core.errors import FileFormatError, InputError
from novum.core.json_text import MAX_DEPTH, json_depth
from novum.core.runtime import check_memory
from novum.core.sources.cells import DEFAULT_MISSING, CellReader
from novum.core.sources.report import ReadReport, printable
from novum.core.sources.source import DeclaredKind, FileSource, check_names
from novum.core.sources.streams import TextStream
from novum.core.sources.tallies import ColumnTally, builder_of
from novum.core.tables import Schema

# Names of columns, and for each its cells as text; null where there is none.
TextColumns = dict[str, pa.StringArray]
PIECE_ROWS = 1024
# Cells of text are held as they came, filled, coded and as a table of the schema.
_COPIES = 4
# A column of Arrow has no more bytes of text.
_MOST_TEXT = 2**31 - 1


@dataclass(frozen=True)
class HeldPartition:
    """Some rows of a table in memory."""

    table: pa.Table

    @property
    def rows(self) -> int:
        return int(self.table.num_rows)

    def read(self) -> pa.Table:
        return self.table


@dataclass(frozen=True)
class HeldFindings:
    """A table that was read whole."""

    schema: Schema
    report: ReadReport
    table: pa.Table

    def chunks(self, rows: int) -> Iterator[pa.Table]:
        for start in range(0, self.table.num_rows, rows):
            yield self.table.slice(start, rows)

    def partitions(self, rows: int) -> tuple[HeldPartition, ...]:
        return tuple(HeldPartition(chunk) for chunk in self.chunks(rows))


class HeldSource(FileSource):
    """A file that is read whole; parameters as in `open_source`."""

    usual_missing = DEFAULT_MISSING
    format: ClassVar[str]

    def _columns_of_text(self) -> TextColumns:
        """The table of the file as cells of text."""
        raise NotImplementedError

    def _where(self, row: int) -> int:
        """The line that messages name for a row counted from 0."""
        return row + 2

    def _first_pass(self) -> HeldFindings:
        cells = self._columns_of_text()
        names = list(cells)
        n_rows = len(next(iter(cells.values()))) if cells else 0
        if not n_rows:
            raise FileFormatError(f"{self.path.name} has no rows{self._what()}. Add some.")
        places = self._chosen(names)
        reader = CellReader(frozenset(self._missing))
        tallies, text = [], []
        for place in places:
            name = names[place]
            declared = self._declared.get(name, DeclaredKind()).as_text()
            tally = ColumnTally(name, place + 1, declared, reader, self.limits)
            column = cells[name].fill_null("")
            tally.update(column, self._where)
            if tally.late:
                tally.collect(column)
            tallies.append(tally)
            text.append(column)
        schema = Schema(tuple(tally.column() for tally in tallies))
        reports = tuple(tally.report() for tally in tallies)
        table = builder_of(tallies, schema, reader).table(text)
        report = ReadReport(str(self.path), self.format, n_rows, reports, self._notes())
        return HeldFindings(schema, report, table)

    def _what(self) -> str:
        return ""

    def _notes(self) -> tuple[str, ...]:
        return ()

    def _check_memory(self, n_bytes: int) -> None:
        check_memory(
            n_bytes,
            f"The table of {self.path.name}",
            "Ask for fewer rows or columns, or write it as Parquet, which is read in pieces.",
            self.memory_limit,
        )

    def _by_columns(self, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> TextColumns:
        """Rows of cells as columns of text; a missing cell at the end of a row may be left out."""
        if names:
            check_names(names)
        if len(names) > self.limits.columns:
            raise FileFormatError(
                f"{self.path.name} has {len(names):,} columns; {self.limits.columns:,} are the "
                "most. Turn the table, or leave columns out."
            )
        pieces: list[list[pa.StringArray]] = [[] for _ in names]
        n_bytes, rest = 0, iter(rows)
        while piece := list(islice(rest, PIECE_ROWS)):
            for place, name in enumerate(names):
                try:
                    cells = [_text_of(row[place]) for row in piece]
                except TypeError as error:
                    raise FileFormatError(
                        f"Column {printable(name)!r} of {self.path.name} holds {error}, which is "
                        "no cell: neither a number, text, a truth value nor a date. Leave the "
                        "column out by `columns=`.",
                        column=place + 1,
                    ) from None
                pieces[place].append(pa.array(cells, pa.string()))
                n_bytes += pieces[place][-1].nbytes
            self._check_memory(_COPIES * n_bytes)
        return {name: self._joined(name, parts) for name, parts in zip(names, pieces, strict=True)}

    def _joined(self, name: str, pieces: list[pa.StringArray]) -> pa.StringArray:
        if sum(piece.nbytes for piece in pieces) > _MOST_TEXT:
            raise FileFormatError(
                f"Column {printable(name)!r} of {self.path.name} has more than 2 GB of text. Leave "
                "it out by `columns=`, or write the table as a CSV or Parquet file."
            )
        return pa.concat_arrays(pieces) if pieces else pa.array([], pa.string())


# --- Cells as text --------------------------------------------------------------------------------


def _text_of(cell: Any) -> str | None:
    """A cell as a CSV file would write it."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        whole = cell.is_integer() and abs(cell) < 2**53
        return repr(int(cell)) if whole else ("" if cell != cell else repr(cell))
    if isinstance(cell, datetime.datetime):
        midnight = cell.time() == datetime.time() and cell.tzinfo is None
        return cell.date().isoformat() if midnight else cell.isoformat(" ")
    if isinstance(cell, (datetime.date, datetime.time)):
        return cell.isoformat()
    if isinstance(cell, datetime.timedelta):
        return repr(cell.total_seconds())
    if isinstance(cell, (dict, list, tuple, bytes, memoryview)):
        raise TypeError(type(cell).__name__)
    return str(cell)


# --- Excel ----------------------------------------------------------------------------------------

_FORMULA_ERRORS = ("#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!")


class ExcelSource(HeldSource):
    """A sheet of an Excel file: its first row that is not blank has the names of the columns.

    Blank rows, and columns without a name and without cells, are no part of the table. Formulas
    count by the value that was stored with them, and errors are missing cells.
    """

    usual_missing = (*DEFAULT_MISSING, *_FORMULA_ERRORS)
    format = "Excel"

    def __init__(self, path: Any, *, sheet: str | None = None, **options: Any) -> None:
        super().__init__(path, **options)
        self._sheet = sheet
        self._lines: list[int] = []

    def _columns_of_text(self) -> TextColumns:
        openpyxl = _openpyxl()
        try:
            self._check_unpacked()
            book = openpyxl.load_workbook(self.path, read_only=True, data_only=True)
            with closing(book):
                return self._columns_of(self._chosen_sheet(book))
        except (InputError, MemoryError):
            raise
        except Exception as error:
            # A damaged file makes the reader fail in any way that there is.
            raise FileFormatError(
                f"{self.path.name} cannot be read as Excel ({printable(str(error), 120)}). Save it "
                "again as .xlsx."
            ) from None

    def _check_unpacked(self) -> None:
        """What the packed sheets and texts take, which the reader holds whole."""
        with ZipFile(self.path) as archive:
            n_bytes = sum(member.file_size for member in archive.infolist())
        size = self.path.stat().st_size
        if n_bytes > max(self.limits.expansion_floor, self.limits.expansion * size):
            raise FileFormatError(
                f"{self.path.name} unpacks to more than {self.limits.expansion} times its size, as "
                "hostile files do. Save it again as .xlsx."
            )
        self._check_memory(2 * n_bytes)

    def _columns_of(self, sheet: Any) -> TextColumns:
        # What the file says about its size is not believed.
        sheet.reset_dimensions()
        lines, width, n_bytes, n_blank = [], 0, 0, 0
        for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
            filled = len(row) - row.count(None)
            n_blank += len(row) - filled
            if n_blank > self.limits.blank_cells:
                raise FileFormatError(
                    f"{self.path.name} claims more than {self.limits.blank_cells:,} cells that "
                    "hold nothing. Copy the table into a sheet of its own."
                )
            if filled:
                lines.append((number, row))
                width = max(width, len(row))
                n_bytes += 8 * len(row) + 64 * filled
                if len(lines) % PIECE_ROWS == 0:
                    self._check_memory(n_bytes)
        if not lines:
            raise FileFormatError(
                f"The sheet {printable(self._sheet or '')!r} of {self.path.name} has no table: "
                "every cell is empty. Name another sheet."
            )
        (_, head), *rows = lines
        self._lines = [number for number, _ in rows]
        cells = [(*row, *(None,) * (width - len(row))) for _, row in rows]
        names = [None if name is None else str(_text_of(name)).strip() for name in head]
        names += [None] * (width - len(names))
        kept = [j for j in range(width) if names[j] or any(row[j] is not None for row in cells)]
        shown = [names[j] or f"column_{j + 1}" for j in kept]
        return self._by_columns(shown, ([row[j] for j in kept] for row in cells))

    def _chosen_sheet(self, book: Any) -> Any:
        names = [sheet.title for sheet in book.worksheets]
        if self._sheet is None:
            self._sheet = names[0]
        if self._sheet not in names:
            listed = ", ".join(repr(printable(name)) for name in names[:8])
            raise InputError(
                f"{self.path.name} has no sheet {printable(self._sheet)!r}; it has {listed}. Name "
                "one of them."
            )
        return book[self._sheet]

    def _where(self, row: int) -> int:
        return self._lines[row]

    def _what(self) -> str:
        return f" in the sheet {printable(self._sheet or '')!r}"

    def _notes(self) -> tuple[str, ...]:
        return (f"sheet {printable(self._sheet or '')!r}",)


def _openpyxl() -> Any:
    try:
        return importlib.import_module("openpyxl")
    except ImportError:
        raise ImportError(
            "Reading Excel files needs openpyxl, which is not installed: "
            "pip install '.[excel]' in a copy of the sources."
        ) from None


# --- JSON -----------------------------------------------------------------------------------------


class JsonSource(HeldSource):
    """Records in JSON: one object on each line, or one array of objects.

    A field that a record lacks is a missing cell.
    """

    format = "JSON"

    def _columns_of_text(self) -> TextColumns:
        content = self._content()
        if not content.strip():
            raise FileFormatError(f"{self.path.name} is empty. Add records, one on each line.")
        depth = json_depth(content)
        if depth > MAX_DEPTH:
            raise FileFormatError(
                f"{self.path.name} is nested {depth:,} levels deep; {MAX_DEPTH} are the most, and "
                "cells are not nested. Write one flat object on each line."
            )
        if content.lstrip()[:1] != b"[":
            try:
                return self._by_arrow(pj.read_json(pa.BufferReader(content)))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                # A field of several types, or what is no JSON: line by line tells which.
                return self._by_records(self._lines_of(content))
        self._check_objects(content)
        try:
            records = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise FileFormatError(
                f"{self.path.name} is no JSON: {printable(str(error), 120)}. Write an array of "
                "objects, or one object on each line."
            ) from None
        return self._by_records(list(enumerate(records, 1)))

    def _content(self) -> bytes:
        pieces, n_bytes = [], 0
        with TextStream(self.path, limits=self.limits) as stream:
            while piece := stream.read(1 << 22):
                pieces.append(piece)
                n_bytes += len(piece)
                # The text twice while its pieces are joined, and then its cells.
                self._check_memory(2 * n_bytes)
        return b"".join(pieces)

    def _check_objects(self, content: bytes) -> None:
        """What a text takes as objects of Python: an empty one needs three bytes of text."""
        n_cells = content.count(b",")
        n_parts = content.count(b"{") + content.count(b"[")
        self._check_memory(2 * len(content) + 64 * n_cells + 200 * n_parts)

    def _by_arrow(self, table: pa.Table) -> TextColumns:
        """The columns of an Arrow table as text; plain numbers and text without a loop."""
        check_names(table.column_names)
        cells_of: TextColumns = {}
        for name, column in zip(table.column_names, table.columns, strict=True):
            kind = column.type
            if pa.types.is_string(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
                cells_of[name] = self._joined(name, pc.cast(column, pa.string()).chunks)
            else:
                cells_of |= self._by_columns([name], zip(column.to_pylist(), strict=True))
        return cells_of

    def _lines_of(self, content: bytes) -> list[tuple[int, Any]]:
        self._check_objects(content)
        records = []
        for number, line in enumerate(content.splitlines(), 1):
            if line.strip():
                try:
                    records.append((number, json.loads(line)))
                except (ValueError, RecursionError) as error:
                    raise FileFormatError(
                        f"Line {number}: no JSON ({printable(str(error), 120)}). Write one object "
                        "on each line.",
                        line=number,
                    ) from None
        return records

    def _by_records(self, records: list[tuple[int, Any]]) -> TextColumns:
        names: dict[str, None] = {}
        for number, record in records:
            if not isinstance(record, Mapping):
                raise FileFormatError(
                    f"{self.path.name}: record {number} is {printable(repr(record), 40)} and no "
                    'object. Write records like {"age": 31, "city": "Ulm"}.',
                    line=number,
                )
            names.update(dict.fromkeys(record))
        rows = ([record.get(name) for name in names] for _, record in records)
        return self._by_columns(list(names), rows)

    def _where(self, row: int) -> int:
        return row + 1
