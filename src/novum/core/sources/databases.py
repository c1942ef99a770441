"""Answers of DuckDB and SQLite files, which are opened for reading only and answer questions only.

A view can make any number of rows of nothing, or none in a lifetime. So rows are fetched in pieces
whose text is counted (`held.py`), and a database that computes for too long is interrupted.
"""

from __future__ import annotations

import math
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from itertools import chain
from typing import Any, TypeVar
from urllib.parse import quote

from novum.core.errors import FileFormatError, InputError
from novum.core.runtime import memory_limit as limit_in_force
from novum.core.sources.held import PIECE_ROWS, HeldSource, TextColumns
from novum.core.sources.parquet import DEFAULT_MEMORY
from novum.core.sources.parquet_queries import import_duckdb
from novum.core.sources.report import printable

Answer = TypeVar("Answer")

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
        self._patience: _Patience | None = None

    def _columns_of_text(self) -> TextColumns:
        with self.path.open("rb") as file:
            is_sqlite = file.read(len(_SQLITE_MARK)) == _SQLITE_MARK
        return self._of_sqlite() if is_sqlite else self._of_duckdb()

    def _of_sqlite(self) -> TextColumns:
        address = f"file:{quote(str(self.path.resolve()))}?mode=ro"
        try:
            with closing(sqlite3.connect(address, uri=True)) as base:
                # Longer cells than a text file may have are refused before they are made.
                base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self.limits.field_bytes)
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
                return self._answered(base, sql)
        except (sqlite3.Error, sqlite3.Warning, UnicodeError) as error:
            raise self._refused(error) from None

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
                return self._answered(base, sql)
        except duckdb.Error as error:
            raise self._refused(error) from None

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

    def _answered(self, base: Any, sql: str) -> TextColumns:
        with _Patience(base.interrupt, self.limits.answer_seconds) as within:
            self._patience = within
            cursor = within(lambda: base.execute(sql))
            names = [str(column[0]) for column in cursor.description or ()]
            pieces = iter(lambda: within(lambda: cursor.fetchmany(PIECE_ROWS)), [])
            rows = chain.from_iterable(pieces)
            cells = self._by_columns(names, rows) if names else {}
        if not cells or not len(cells[names[0]]):
            raise InputError(
                f"The question to {self.path.name} has no {'rows' if names else 'table'} as its "
                "answer. Ask for rows with a select that finds some."
            )
        return cells

    def _refused(self, error: BaseException) -> InputError:
        if self._patience is not None and self._patience.is_over:
            return FileFormatError(
                f"{self.path.name} has not answered in {self.limits.answer_seconds:g} seconds. Ask "
                "an easier question, or write its answer to a Parquet file."
            )
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


class _Patience:
    """Interrupts a database that computes for longer than some seconds altogether."""

    def __init__(self, interrupt: Callable[[], None], seconds: float) -> None:
        self.is_over = False
        self._interrupt, self._seconds = interrupt, seconds
        self._spent, self._begun = 0.0, math.inf
        self._has_answered = threading.Event()

    def __enter__(self) -> _Patience:
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._has_answered.set()

    def __call__(self, work: Callable[[], Answer]) -> Answer:
        self._begun = time.monotonic()
        try:
            return work()
        finally:
            self._spent += time.monotonic() - self._begun
            self._begun = math.inf

    def _watch(self) -> None:
        while not self._has_answered.wait(min(0.1, self._seconds)):
            if self._spent + time.monotonic() - self._begun > self._seconds:
                self.is_over = True
                self._interrupt()
