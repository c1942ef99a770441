"""Blocks: runs of whole records of a text file, found once and read on demand.

The first pass over a text file cuts it into blocks of about a megabyte that end where a record
ends, and remembers where each begins. Chunks and partitions are then cut from the blocks' rows; a
partition carries only the blocks that hold its rows.

In gzip and UTF-16 files a position can be reached only by reading up to it, so a partition there
costs one pass over what precedes it; its memory stays that of its own rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa

from novum.core.errors import FileFormatError
from novum.core.sources.cells import TableBuilder
from novum.core.sources.report import ReadReport
from novum.core.sources.source import rechunked
from novum.core.sources.streams import Limits, Stamp, TextStream, check_stamp, line_of, to_utf8
from novum.core.tables import Schema

BLOCK_BYTES = 1 << 20

Cut = TypeVar("Cut")


@dataclass(frozen=True)
class Block:
    """`length` bytes from `offset` on hold `rows` whole records, the first of them in `line`."""

    offset: int
    length: int
    rows: int
    line: int


# --- Cutting a file -------------------------------------------------------------------------------


def whole_pieces(
    stream: TextStream,
    cut: Callable[[bytes, int, bool], tuple[int, Cut]],
    size: int,
    offset: int = 0,
    line: int = 1,
    hint: str = "The file is damaged or not text.",
) -> Iterator[tuple[bytes, Cut, int, int]]:
    """Bytes of whole records, about `size` at a time, with their offset and first line.

    `cut(held, line, final)` says where the last whole record of `held` ends, 0 if none does, and
    what it knows about the records. `hint` ends the message about a zero byte.
    """
    stream.skip(offset)
    held, final, want = b"", False, size
    while not final:
        while len(held) < want and not final:
            data = stream.read(want - len(held))
            held, final = held + data, not data
        # Before anything else: in a file that is not text, complaints about quotes would mislead.
        zero = held.find(b"\0")
        if zero >= 0:
            at = line + line_of(held, zero) - 1
            raise FileFormatError(
                f"{stream.path.name}, line {at}: there is a zero byte, which text does not have. "
                f"{hint}",
                line=at,
            )
        stop, about = cut(held, line, final)
        want = size if stop else 2 * len(held)
        if stop:
            piece, held = held[:stop], held[stop:]
            yield piece, about, offset, line
            offset, line = offset + stop, line + line_of(piece, stop) - 1


@dataclass(frozen=True)
class LineBlock:
    """Whole lines from byte `offset` on, the first of them number `line`."""

    data: bytes
    offset: int
    line: int

    def lines(self, encoding: str) -> Iterator[tuple[int, int, str]]:
        """Number, position after it within the block, and stripped text of each line."""
        position = 0
        for number, line in enumerate(self.data.splitlines(keepends=True), self.line):
            position += len(line)
            yield number, position, to_utf8(line, encoding).decode("utf-8").strip()


def line_blocks(
    path: Path, encoding: str, limits: Limits, offset: int, line: int
) -> Iterator[LineBlock]:
    """Blocks of lines from `offset` on, where line number `line` begins."""

    def last_end(held: bytes, line: int, final: bool) -> tuple[int, None]:
        if final:
            return len(held), None
        # A return at the very end may be half of a line end.
        stop = max(held.rfind(b"\n"), held.rfind(b"\r", 0, len(held) - 1)) + 1
        if stop == 0 and len(held) > limits.record_bytes:
            raise FileFormatError(
                f"{path.name}, line {line}: a line is longer than "
                f"{limits.record_bytes >> 20} MB. The file is no table of lines.",
                line=line,
            )
        return stop, None

    with TextStream(path, encoding, limits) as stream:
        for piece, _, start, first in whole_pieces(stream, last_end, BLOCK_BYTES, offset, line):
            yield LineBlock(piece, start, first)


# --- Reading blocks again -------------------------------------------------------------------------


class Decoder(Protocol):
    """From the bytes of a block to its cells, one array of text per chosen column."""

    def cells(self, data: bytes, line: int) -> list[pa.StringArray]: ...


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
        """The same rows as the chunks, in the same order, each with the blocks that hold them."""
        edges = np.cumsum([0, *(block.rows for block in self.blocks)])
        partitions = []
        for start in range(0, int(edges[-1]), rows):
            stop = min(start + rows, int(edges[-1]))
            first = int(np.searchsorted(edges, start, "right")) - 1
            blocks = self.blocks[first : int(np.searchsorted(edges, stop))]
            skip = start - int(edges[first])
            partitions.append(TextPartition(self.reader, blocks, skip, stop - start))
        return tuple(partitions)
