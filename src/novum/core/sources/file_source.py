"""What the sources of all formats share: what the caller asks for, and a first pass taken once.

A format adds one method, `_first_pass`, which reads the file and returns its findings: the schema,
the report, and the rows as chunks and as partitions. Everything else is here, so that all formats
treat their arguments alike and notice a file that changes under the reader.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import ClassVar, Protocol, TypedDict

import pyarrow as pa

from novum.core.errors import FileFormatError, InputError
from novum.core.schema import Schema
from novum.core.sources.limits import LIMITS, Limits
from novum.core.sources.protocol import CHUNK_ROWS, Partition, check_chunk
from novum.core.sources.report import ReadReport, printable
from novum.core.sources.streams import check_stamp, checked_path, stamp
from novum.core.sources.wishes import KindWish, check_known, checked_wishes


class Options(TypedDict, total=False):
    """What can be said about a file of any format; `open_source` explains it."""

    kinds: Mapping[str, KindWish] | None
    missing: Sequence[str] | None
    columns: Sequence[str] | None
    memory_limit: int | str | None
    limits: Limits


class Findings(Protocol):
    """What a first pass leaves behind."""

    @property
    def schema(self) -> Schema: ...

    @property
    def report(self) -> ReadReport: ...

    def chunks(self, rows: int) -> Iterator[pa.Table]: ...

    def partitions(self, rows: int) -> tuple[Partition, ...]: ...


class FileSource(ABC):
    """A file of one format; `Source` describes the public methods.

    Parameters
    ----------
    path, kinds, missing, columns, memory_limit
        As in `open_source`, the door to all formats.
    limits : Limits
        What is accepted at most.
    """

    usual_missing: ClassVar[tuple[str, ...]]
    takes_folders: ClassVar[bool] = False

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
        self.path: Path = checked_path(path, self.takes_folders)
        self.memory_limit = memory_limit
        self.limits = limits
        self._wishes = checked_wishes(kinds)
        self._missing = self.usual_missing if missing is None else _texts(missing, "missing")
        self._columns = None if columns is None else _checked_columns(columns)
        self._found: Findings | None = None

    def schema(self) -> Schema:
        return self._findings().schema

    def report(self) -> ReadReport:
        return self._findings().report

    def chunks(self, rows: int = CHUNK_ROWS) -> Iterator[pa.Table]:
        return self._cut(rows).chunks(rows)

    def partitions(self, rows: int = CHUNK_ROWS) -> tuple[Partition, ...]:
        return self._cut(rows).partitions(rows)

    @abstractmethod
    def _first_pass(self) -> Findings:
        """Read the whole file once."""

    def _chosen(self, names: Sequence[str]) -> tuple[int, ...]:
        """Places of the wanted columns among those of the file."""
        check_known(tuple(self._wishes), names, "kinds")
        if self._columns is None:
            return tuple(range(len(names)))
        check_known(self._columns, names, "columns")
        places = {name: place for place, name in enumerate(names)}
        return tuple(places[name] for name in self._columns)

    def _findings(self) -> Findings:
        if self._found is None:
            known = stamp(self.path)
            with _naming(self.path):
                found = self._first_pass()
            check_stamp(self.path, known)
            self._found = found
        return self._found

    def _cut(self, rows: int) -> Findings:
        found = self._findings()
        check_chunk(rows, found.schema, self.memory_limit)
        return found


def check_names(names: Sequence[str], line: int | None = None, hint: str = "") -> None:
    """Refuse names that occur twice; `hint` adds what else may be the reason."""
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        where = "" if line is None else f"Line {line}: "
        raise FileFormatError(
            f"{where}{count} columns are called {printable(name)!r}. Rename them{hint}.",
            line=line,
            column=[place for place, other in enumerate(names, 1) if other == name][1],
        )


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Put the file's name before messages that begin with a line, as parts of a file write them."""
    try:
        yield
    except FileFormatError as problem:
        message = str(problem)
        if not message.startswith("Line "):
            raise
        raise FileFormatError(
            f"{path.name}, l{message[1:]}", line=problem.line, column=problem.column
        ) from None


def _checked_columns(columns: Sequence[str]) -> tuple[str, ...]:
    names = _texts(columns, "columns")
    if not names:
        raise InputError("`columns` is empty. Name a column, or leave it out to read all.")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"`columns` names {twice!r} twice. Name every column once.")
    return names


def _texts(values: Sequence[str], argument: str) -> tuple[str, ...]:
    """A sequence of texts; a single text would be taken for its letters."""
    if isinstance(values, str):
        raise InputError(f"`{argument}` is a list of texts, got {values!r}. Write [{values!r}].")
    texts = tuple(values)
    strange = [value for value in texts if not isinstance(value, str)]
    if strange:
        raise InputError(
            f"`{argument}` lists texts as the file has them, got {strange[0]!r}. "
            f"Write {str(strange[0])!r}."
        )
    return texts
