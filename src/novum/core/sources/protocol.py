"""A source: a file as a schema plus chunks that can be read again and again.

The first pass over the file settles names, kinds and levels; later passes only read. The rows
come in the file's order and are cut at places that depend on `rows` and the file alone, so that a
sum over chunks has the same bits in every run, and over partitions the same as over chunks.

Every chunk has the columns of the schema: numeric ones as float64, nominal and ordinal ones of
text as dictionary arrays whose codes are the schema's codes (`ordered` for ordinal columns), other
levels in their own Arrow type. A missing cell is null in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol, runtime_checkable

import pyarrow as pa

from novum.core.errors import InputError
from novum.core.memory import check_memory
from novum.core.schema import Column, Kind, Schema
from novum.core.sources.report import ReadReport

CHUNK_ROWS = 65_536


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
