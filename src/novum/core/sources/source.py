"""A source: a file as a schema plus chunks that can be read again and again.

The first pass over the file settles names, kinds and levels; later passes only read. The rows
come in the file's order and are cut at places that depend on `rows` and the file alone, so that a
sum over chunks has the same bits in every run, and over partitions the same as over chunks.

Every chunk has the columns of the schema: numeric ones as float64, nominal and ordinal ones of
text as dictionary arrays whose codes are the schema's codes (`ordered` for ordinal columns), other
levels in their own Arrow type. A missing cell is null in all of them.

A format adds one method to `FileSource`, `_first_pass`, which reads the file and returns its
findings: the schema, the report, and the rows as chunks and as partitions. All formats treat their
arguments alike and notice a file that changes under the reader.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import ClassVar, Protocol, TypedDict, runtime_checkable

import pyarrow as pa

from novum.core.errors import FileFormatError, InputError, SchemaError
from novum.core.runtime import check_memory
from novum.core.sources.report import ReadReport, printable
from novum.core.sources.streams import LIMITS, Limits, check_stamp, checked_path, stamp
from novum.core.tables import Column, Kind, Level, Schema

CHUNK_ROWS = 65_536

# A string or `Kind` fixes the kind, a sequence of levels makes the column ordinal in that order:
# {"zip": "nominal", "size": ("small", "medium", "large"), "grade": "ordinal"}. "ordinal" alone is
# enough where the order is known from the file, or because all levels are numbers.
KindLike = Kind | str | Sequence[Level]


@runtime_checkable
class Partition(Protocol):
    """Some rows of a file that another process can read: a small value that can be pickled."""

    @property
    def rows(self) -> int: ...

    def read(self) -> pa.Table: ...


@runtime_checkable
class Source(Protocol):
    """A file as schema plus restartable chunks."""

    @property
    def path(self) -> Path: ...

    def schema(self) -> Schema:
        """Names, kinds and levels; found at the first call, kept afterwards."""
        ...

    def report(self) -> ReadReport:
        """What was found and decided; takes the first pass if it was not taken yet."""
        ...

    def chunks(self, rows: int = CHUNK_ROWS) -> Iterator[pa.Table]:
        """A fresh iterator over all rows, `rows` of them at a time."""
        ...

    def partitions(self, rows: int = CHUNK_ROWS) -> tuple[Partition, ...]:
        """The chunks as values that other processes can read."""
        ...


# --- Files ----------------------------------------------------------------------------------------


class Options(TypedDict, total=False):
    """What can be said about a file of any format; `open_source` explains it."""

    kinds: Mapping[str, KindLike] | None
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
        kinds: Mapping[str, KindLike] | None = None,
        missing: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        memory_limit: int | str | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        self.path: Path = checked_path(path, self.takes_folders)
        self.memory_limit = memory_limit
        self.limits = limits
        self._declared = declared_kinds(kinds)
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
        check_exist(tuple(self._declared), names, "kinds")
        if self._columns is None:
            return tuple(range(len(names)))
        check_exist(self._columns, names, "columns")
        places = {name: place for place, name in enumerate(names)}
        return tuple(places[name] for name in self._columns)

    def _findings(self) -> Findings:
        if self._found is None:
            known = stamp(self.path)
            with _naming(self.path):
                findings = self._first_pass()
            check_stamp(self.path, known)
            self._found = findings
        return self._found

    def _cut(self, rows: int) -> Findings:
        findings = self._findings()
        check_chunk(rows, findings.schema, self.memory_limit)
        return findings


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


# --- Kinds that a caller declares -----------------------------------------------------------------


@dataclass(frozen=True)
class DeclaredKind:
    """A column's kind and levels as far as they are settled before the file is read.

    Parameters
    ----------
    kind : Kind or None
        None leaves it to the cells.
    levels : tuple or None
        The only levels allowed, in order; None takes those that occur.
    by : str
        Who settled it, for messages: `kinds` (the caller) or the file's own declaration.
    """

    kind: Kind | None = None
    levels: tuple[Level, ...] | None = None
    by: str = "`kinds`"

    def as_text(self) -> DeclaredKind:
        """The same with levels as a text file writes them."""
        return self if self.levels is None else replace(self, levels=tuple(map(str, self.levels)))


def declared_kinds(kinds: Mapping[str, KindLike] | None) -> dict[str, DeclaredKind]:
    """The caller's `kinds` as `DeclaredKind` values; raises `SchemaError` for what is none.

    Examples
    --------
    >>> declared_kinds({"zip": "nominal"})["zip"].kind
    <Kind.NOMINAL: 'nominal'>
    """
    if kinds is not None and not isinstance(kinds, Mapping):
        raise SchemaError(
            "`kinds` maps names of columns to kinds, as in {'zip': 'nominal'}; "
            f"got {kinds!r:.80}."
        )
    return {name: _declared_kind(name, value) for name, value in (kinds or {}).items()}


def check_exist(wanted: Sequence[str], names: Sequence[str], argument: str) -> None:
    """Refuse names in `argument` that the file does not have."""
    known = set(names)
    strange = [name for name in wanted if name not in known]
    if strange:
        shown = ", ".join(repr(name) for name in names[:8]) + (", ..." if len(names) > 8 else "")
        raise SchemaError(
            f"`{argument}` names the column {strange[0]!r}, which the file does not have. "
            f"Its columns are {shown}."
        )


def _declared_kind(name: str, value: KindLike) -> DeclaredKind:
    if isinstance(value, Kind):
        return DeclaredKind(value)
    known = {kind.value: kind for kind in Kind}
    if isinstance(value, str) and value in known:
        return DeclaredKind(known[value])
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise SchemaError(
            f"`kinds` says {value!r} for column {name!r}. Say 'numeric', 'nominal', 'ordinal', "
            "or give the levels of an ordinal column from low to high."
        )
    levels = tuple(value)
    if not levels or len(set(levels)) != len(levels):
        raise SchemaError(
            f"`kinds` lists the levels {levels!r} for column {name!r}. "
            "List every level once, from low to high."
        )
    return DeclaredKind(Kind.ORDINAL, levels)


# --- Shapes of chunks -----------------------------------------------------------------------------


def arrow_type(column: Column) -> pa.DataType:
    """The Arrow type of a schema column in every chunk."""
    if column.kind is Kind.NUMERIC:
        return pa.float64()
    if column.has_text_levels:
        return pa.dictionary(pa.int32(), pa.string(), ordered=column.kind is Kind.ORDINAL)
    return pa.array(list(column.levels)).type


def rechunked(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The same rows in tables of exactly `rows` rows, the last one perhaps shorter."""
    held: list[pa.Table] = []
    n_held = 0
    for table in tables:
        while n_held + table.num_rows >= rows:
            cut = rows - n_held
            yield pa.concat_tables([*held, table.slice(0, cut)]).combine_chunks()
            table = table.slice(cut)
            held, n_held = [], 0
        if table.num_rows:
            held.append(table)
            n_held += table.num_rows
    if n_held:
        yield pa.concat_tables(held).combine_chunks()


def check_chunk(rows: int, schema: Schema, memory_limit: int | str | None) -> None:
    """Refuse a chunk size that is no size, or that would not fit into memory."""
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise InputError(f"A chunk needs at least one row, got rows={rows!r}.")
    # Twice the cells: the block they are cut from is held beside the chunk.
    check_memory(
        16 * rows * schema.n_columns,
        f"A chunk of {rows:,} rows and {schema.n_columns:,} columns",
        "Ask for smaller chunks (`rows=`) or fewer columns (`columns=`).",
        memory_limit,
    )
