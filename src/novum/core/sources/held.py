"""Formats that are read whole: Excel sheets, JSON records, and answers of databases.

    sheet | records | select ...  ->  cells  ->  the text of a CSV file  ->  typed columns

Their cells have types of their own, but not one type for a column: a sheet mixes numbers and words,
SQLite stores what it is given, records lack fields. So every cell is taken as a CSV file would
write it, and from there on kinds, levels, missing cells and notes are found as in any text file: a
table means the same in whatever format it comes.

Databases are opened for reading only, and answer questions only.
"""

from __future__ import annotations

import datetime
import gzip
import importlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote
from zipfile import BadZipFile

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from novum.core.errors import FileFormatError, InputError
from novum.core.runtime import memory_limit as limit_in_force
from novum.core.sources.cells import DEFAULT_MISSING, CellReader
from novum.core.sources.parquet import DEFAULT_MEMORY
from novum.core.sources.parquet_queries import import_duckdb
from novum.core.sources.report import ReadReport, printable
from novum.core.sources.source import DeclaredKind, FileSource, Options, check_names
from novum.core.sources.tallies import ColumnTally, builder_of
from novum.core.tables import Schema

# Names of columns, and for each its cells as text; null where there is none.
TextColumns = dict[str, pa.StringArray]


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


def _by_columns(path: Path, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> TextColumns:
    """Rows of cells as columns of text."""
    if names:
        check_names(names)
    cells_of: TextColumns = {}
    for place, name in enumerate(names):
        try:
            cells = [_text_of(row[place]) for row in rows]
        except TypeError as error:
            raise FileFormatError(
                f"Column {printable(name)!r} of {path.name} holds {error}, which is no cell: "
                "neither a number, text, a truth value nor a date. Leave the column out by "
                "`columns=`.",
                column=place + 1,
            ) from None
        cells_of[name] = pa.array(cells, pa.string())
    return cells_of


def _by_arrow(path: Path, table: pa.Table) -> TextColumns:
    """The columns of an Arrow table as text; plain numbers and text without a loop."""
    check_names(table.column_names)
    cells_of: TextColumns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if pa.types.is_string(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
            cells = pc.cast(column, pa.string()).combine_chunks()
            cells_of[name] = (
                cells if isinstance(cells, pa.StringArray) else pa.array([], pa.string())
            )
        else:
            cells_of |= _by_columns(path, [name], [(cell,) for cell in column.to_pylist()])
    return cells_of


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
            book = openpyxl.load_workbook(self.path, read_only=True, data_only=True)
        except (BadZipFile, KeyError, ValueError, OSError, EOFError) as error:
            raise FileFormatError(
                f"{self.path.name} cannot be read as Excel ({printable(str(error), 120)}). Save it "
                "again as .xlsx."
            ) from None
        with closing(book):
            sheet = self._chosen_sheet(book)
            lines = [
                (number, row)
                for number, row in enumerate(sheet.iter_rows(values_only=True), 1)
                if any(cell is not None for cell in row)
            ]
        if not lines:
            raise FileFormatError(
                f"The sheet {printable(self._sheet or '')!r} of {self.path.name} has no table: "
                "every cell is empty. Name another sheet."
            )
        (_, head), *rows = lines
        self._lines = [number for number, _ in rows]
        width = max(len(row) for _, row in lines)
        cells = [(*row, *(None,) * (width - len(row))) for _, row in rows]
        names = [None if name is None else str(_text_of(name)).strip() for name in head]
        names += [None] * (width - len(names))
        kept = [j for j in range(width) if names[j] or any(row[j] is not None for row in cells)]
        shown = [names[j] or f"column_{j + 1}" for j in kept]
        return _by_columns(self.path, shown, [[row[j] for j in kept] for row in cells])

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
        with gzip.open(self.path) if self.path.suffix == ".gz" else self.path.open("rb") as file:
            content = file.read()
        content = content.removeprefix(b"\xef\xbb\xbf")
        if not content.strip():
            raise FileFormatError(f"{self.path.name} is empty. Add records, one on each line.")
        if content.lstrip()[:1] != b"[":
            try:
                return _by_arrow(self.path, pj.read_json(pa.BufferReader(content)))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                # A field of several types, or what is no JSON: line by line tells which.
                return self._by_records(self._lines_of(content))
        try:
            records = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise FileFormatError(
                f"{self.path.name} is no JSON: {printable(str(error), 120)}. Write an array of "
                "objects, or one object on each line."
            ) from None
        return self._by_records(list(enumerate(records, 1)))

    def _lines_of(self, content: bytes) -> list[tuple[int, Any]]:
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
        rows = [[record.get(name) for name in names] for _, record in records]
        return _by_columns(self.path, list(names), rows)

    def _where(self, row: int) -> int:
        return row + 1


# --- Databases ------------------------------------------------------------------------------------

DATABASES = (".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db", ".db3")
_SQLITE_MARK = b"SQLite format 3\x00"
# What a question may do in SQLite: select, read a column, call a function, recurse.
_ALLOWED = frozenset(
    (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
)


class DatabaseSource(HeldSource):
    """The answer of a DuckDB or SQLite file to a question, or its only table."""

    format = "database"

    def __init__(self, path: Any, *, sql: str | None = None, **options: Any) -> None:
        super().__init__(path, **options)
        self._sql = sql

    def _columns_of_text(self) -> TextColumns:
        with self.path.open("rb") as file:
            is_sqlite = file.read(len(_SQLITE_MARK)) == _SQLITE_MARK
        return self._of_sqlite() if is_sqlite else self._of_duckdb()

    def _of_sqlite(self) -> TextColumns:
        address = f"file:{quote(str(self.path.resolve()))}?mode=ro"
        try:
            with closing(sqlite3.connect(address, uri=True)) as base:
                tables = base.execute(
                    "select name from sqlite_master where type in ('table', 'view') "
                    "and name not like 'sqlite~_%' escape '~' order by name"
                ).fetchall()
                sql = self._question([str(name) for (name,) in tables])
                base.set_authorizer(
                    lambda action, *_: (
                        sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY
                    )
                )
                cursor = base.execute(sql)
                names = [str(column[0]) for column in cursor.description or ()]
                rows = cursor.fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise self._refused(error) from None
        return self._answered(names, rows)

    def _of_duckdb(self) -> TextColumns:
        duckdb = import_duckdb()
        allowed = min(limit_in_force(self.memory_limit) // 4, 8 * DEFAULT_MEMORY)
        try:
            with closing(
                duckdb.connect(
                    str(self.path),
                    read_only=True,
                    config={
                        "memory_limit": f"{allowed}B",
                        "threads": 1,
                        "enable_external_access": False,
                        "autoinstall_known_extensions": False,
                        "autoload_known_extensions": False,
                    },
                )
            ) as base:
                base.execute("SET enable_progress_bar = false")
                base.execute("SET lock_configuration = true")
                tables = base.execute(
                    "select table_name from information_schema.tables order by table_name"
                ).fetchall()
                sql = self._question([str(name) for (name,) in tables])
                cursor = base.execute(sql)
                names = [str(column[0]) for column in cursor.description or ()]
                rows = cursor.fetchall()
        except duckdb.Error as error:
            raise self._refused(error) from None
        return self._answered(names, rows)

    def _question(self, tables: list[str]) -> str:
        if self._sql is not None:
            return self._sql
        if len(tables) == 1:
            name = tables[0].replace('"', '""')
            return f'select * from "{name}"'
        shown = ", ".join(repr(printable(name)) for name in tables[:8]) or "no table"
        example = tables[0] if tables else "a_table"
        raise InputError(
            f"{self.path.name} holds {shown}. Say which rows to take with a question: "
            f'sql="select * from {printable(example)}".'
        )

    def _answered(self, names: list[str], rows: list[Any]) -> TextColumns:
        if not names or not rows:
            raise InputError(
                f"The question to {self.path.name} has no {'rows' if names else 'table'} as its "
                "answer. Ask for rows with a select that finds some."
            )
        return _by_columns(self.path, names, rows)

    def _refused(self, error: BaseException) -> InputError:
        message = printable(str(error).split("\n")[0], 160).rstrip(".")
        if self._sql is None:
            return FileFormatError(
                f"{self.path.name} cannot be read as a DuckDB or SQLite file: {message}. Check the "
                "file, and that no other program is writing to it."
            )
        return InputError(
            f"{self.path.name} does not answer the question {printable(self._sql, 80)!r}: "
            f"{message}. Ask with one select."
        )

    def _where(self, row: int) -> int:
        return row + 1


def held_source(
    path: Any, suffix: str, sheet: str | None, sql: str | None, options: Options
) -> Any:
    """The source of a format that is read whole; None for any other."""
    if suffix == ".xlsx":
        return ExcelSource(path, sheet=sheet, **options)
    if suffix in (".jsonl", ".ndjson", ".json"):
        return JsonSource(path, **options)
    return DatabaseSource(path, sql=sql, **options) if suffix in DATABASES else None
