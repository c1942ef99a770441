"""Blocks: runs of whole records of a text file, found once and read on demand.

The first pass over a CSV or ARFF file cuts it into blocks of about a megabyte that end where a
record ends, and remembers where each begins. Chunks and partitions are then cut from the blocks'
rows; a partition carries only the blocks that hold its rows.

In gzip and UTF-16 files a position can be reached only by reading up to it, so a partition there
costs one pass over what precedes it; its memory stays that of its own rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from novum.core.errors import FileFormatError, InputError
from novum.core.schema import Column, Kind, Schema
from novum.core.sources.cells import CellReader
from novum.core.sources.protocol import arrow_type, rechunked
from novum.core.sources.report import ReadReport
from novum.core.sources.streams import Stamp, TextStream, check_stamp

_FEW_LEVELS = 1000


@dataclass(frozen=True)
class Block:
    """`length` bytes from `offset` on hold `rows` whole records, the first of them in `line`."""

    offset: int
    length: int
    rows: int
    line: int


class Decoder(Protocol):
    """From the bytes of a block to its cells, one array of text per chosen column."""

    def cells(self, data: bytes, line: int) -> list[pa.StringArray]: ...


@dataclass(frozen=True)
class TableBuilder:
    """From cells of text to the Arrow columns of a schema.

    Parameters
    ----------
    schema : Schema
    reader : CellReader
    """

    schema: Schema
    reader: CellReader

    def table(self, cells: list[pa.StringArray]) -> pa.Table:
        columns = [
            self._column(column, text)
            for column, text in zip(self.schema.columns, cells, strict=True)
        ]
        return pa.table(columns, schema=table_type(self.schema))

    def _column(self, column: Column, text: pa.StringArray) -> pa.Array:
        if column.kind is Kind.NUMERIC:
            numbers = self.reader.numbers(text)
            if numbers.words is not None:
                raise _changed(column)
            return numbers.values
        coded = self.reader.levels(text)
        is_truth = pt.is_boolean(arrow_type(column))
        return truth_column(column, coded) if is_truth else coded_column(column, coded)


def table_type(schema: Schema) -> pa.Schema:
    """The Arrow schema of every chunk."""
    return pa.schema([pa.field(column.name, arrow_type(column)) for column in schema.columns])


def coded_column(column: Column, coded: pa.DictionaryArray) -> pa.DictionaryArray:
    """Coded text with the codes of the schema."""
    levels = _level_array(column)
    codes = _codes(column, coded.dictionary, levels).take(coded.indices)
    return pa.DictionaryArray.from_arrays(codes, levels, ordered=column.kind is Kind.ORDINAL)


def truth_column(column: Column, coded: pa.DictionaryArray) -> pa.BooleanArray:
    """Coded words `true` and `false`, in any case, as the truth values of the schema."""
    words = pa.array([str(level).lower() for level in column.levels], pa.string())
    codes = _codes(column, pc.utf8_lower(coded.dictionary), words).take(coded.indices)
    return pa.array(column.levels, pa.bool_()).take(codes)


def _codes(column: Column, found: pa.StringArray, levels: pa.StringArray) -> pa.Int32Array:
    if len(levels) <= max(len(found), _FEW_LEVELS):
        codes = pc.index_in(found, value_set=levels)
    else:
        # Arrow would hash all levels again for every block.
        places = _places(column)
        codes = pa.array([places.get(text) for text in found.to_pylist()], pa.int32())
    if codes.null_count:
        raise _changed(column)
    return codes


@lru_cache(maxsize=64)
def _places(column: Column) -> dict[str, int]:
    return {str(level): code for code, level in enumerate(column.levels)}


@lru_cache(maxsize=64)
def _level_array(column: Column) -> pa.StringArray:
    # Building it for every block would cost more than reading the block when levels are many.
    return pa.array(list(column.levels), pa.string())


def _changed(column: Column) -> InputError:
    return InputError(
        f"Column {column.name!r} holds a value that was not there when its kind and levels were "
        "found: the file has changed. Open it again with open_source."
    )


@dataclass(frozen=True)
class BlockReader:
    """Reads the blocks of one file; can be pickled.

    Parameters
    ----------
    path : Path
    stamp : tuple of int
        Size and time of change when the blocks were found.
    encoding : str
    decoder : Decoder
    builder : TableBuilder
    """

    path: Path
    stamp: Stamp
    encoding: str
    decoder: Decoder
    builder: TableBuilder

    def tables(self, blocks: Iterable[Block]) -> Iterator[pa.Table]:
        """One table per block, in order, from one pass over the file."""
        for data, block in self.bytes(blocks):
            table = self.builder.table(self.decoder.cells(data, block.line))
            if table.num_rows != block.rows:
                raise FileFormatError(
                    f"{self.path.name}: {block.rows} records were expected from line {block.line} "
                    f"on, {table.num_rows} were read. Open the file again with open_source.",
                    line=block.line,
                )
            yield table

    def bytes(self, blocks: Iterable[Block]) -> Iterator[tuple[bytes, Block]]:
        """The blocks' bytes, which come in the order of the file."""
        check_stamp(self.path, self.stamp)
        with TextStream(self.path, self.encoding) as stream:
            held, position = b"", None
            for block in blocks:
                if position is None:
                    stream.skip(block.offset)
                    position = block.offset
                stop = block.offset - position + block.length
                parts, size = [held], len(held)
                while size < stop and (data := stream.read(stop - size)):
                    parts.append(data)
                    size += len(data)
                held = b"".join(parts)
                yield held[block.offset - position : stop], block
                held, position = held[stop:], position + stop


@dataclass(frozen=True)
class TextPartition:
    """Rows of a text file: those of `blocks` without the first `skip`, `rows` in all."""

    reader: BlockReader
    blocks: tuple[Block, ...]
    skip: int
    rows: int

    def read(self) -> pa.Table:
        whole = pa.concat_tables(self.reader.tables(self.blocks))
        return whole.slice(self.skip, self.rows).combine_chunks()


@dataclass(frozen=True)
class TextFindings:
    """What the first pass over a text file leaves behind."""

    report: ReadReport
    blocks: tuple[Block, ...]
    reader: BlockReader

    @property
    def schema(self) -> Schema:
        return self.reader.builder.schema

    def chunks(self, rows: int) -> Iterator[pa.Table]:
        return rechunked(self.reader.tables(self.blocks), rows)

    def partitions(self, rows: int) -> tuple[TextPartition, ...]:
        return text_partitions(self.reader, self.blocks, rows)


def text_partitions(
    reader: BlockReader, blocks: tuple[Block, ...], rows: int
) -> tuple[TextPartition, ...]:
    """Partitions of `rows` rows: the same rows as the chunks, in the same order."""
    held: list[tuple[int, Block, int]] = []
    first = 0
    for block in blocks:
        # Every partition that the block's rows fall into holds the block.
        for part in range(first // rows, (first + block.rows - 1) // rows + 1):
            held.append((part, block, first))
        first += block.rows
    partitions = []
    for part, group in groupby(held, key=lambda entry: entry[0]):
        members = list(group)
        partitions.append(
            TextPartition(
                reader,
                tuple(block for _, block, _ in members),
                part * rows - members[0][2] if part * rows > members[0][2] else 0,
                min(rows, first - part * rows),
            )
        )
    return tuple(partitions)
