"""A delimited file cut into blocks of whole records, every record checked on the way.

Checked are: text that decodes, no zero bytes, quotes in place, equal numbers of cells, and the
bounds of `Limits`. Whatever fails is reported with the line of the file and the cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import FileFormatError
from novum.core.sources.blocks import Block
from novum.core.sources.dialect import Dialect
from novum.core.sources.limits import LIMITS, Limits
from novum.core.sources.records import Records, line_of, scan_records
from novum.core.sources.report import counted
from novum.core.sources.streams import TextStream

_LEAST, _MOST = 1 << 20, 1 << 25
_RECORDS_PER_BLOCK = 256
_INNER_MARK = re.compile(rb"(?:\A|[\r\n])\xef\xbb\xbf")


class NotUtf8Error(FileFormatError):
    """Text taken for UTF-8 that is not; `plain_before` tells whether all before it is ASCII."""

    def __init__(self, message: str, *, line: int, plain_before: bool) -> None:
        super().__init__(message, line=line)
        self.plain_before = plain_before


@dataclass(frozen=True)
class RawBlock:
    """The bytes of a block, and where in them each record that is not blank begins."""

    data: bytes
    block: Block
    starts: NDArray[np.int64]

    def line_of(self, row: int) -> int:
        """Line of the file in which row `row` of the block begins."""
        return self.block.line + line_of(self.data, int(self.starts[row])) - 1


class RecordBlocks:
    """The blocks of one file.

    Parameters
    ----------
    path : Path
    dialect : Dialect
        Complete: nothing in it is None.
    limits : Limits

    Attributes
    ----------
    first : RawBlock
        The first record alone.
    width : int
        Number of its cells, which every record must have.
    blank_lines : int
        Blank lines before the last record, counted by `blocks`.
    """

    def __init__(self, path: Path, dialect: Dialect, limits: Limits = LIMITS) -> None:
        self.path = path
        self.dialect = dialect
        self.limits = limits
        self.width: int | None = None
        self.blank_lines = 0
        self._plain = True
        self._block_size = _LEAST
        self.first = self._first_record()
        # Wide tables need larger blocks, or the work per column and block would dominate.
        usual = _RECORDS_PER_BLOCK * self.first.block.length
        self._block_size = min(max(usual, _LEAST), _MOST)

    def blocks(self, *, skip_first: bool) -> Iterator[RawBlock]:
        """All blocks from a fresh pass, without the first record if it is a header."""
        waiting = 0
        first_offset = self.first.block.offset + self.first.block.length if skip_first else 0
        for data, records, offset, line in self._pieces():
            full = np.flatnonzero(~records.blank)
            if full.size:
                self.blank_lines += waiting + int(records.blank[: full[-1]].sum())
                waiting = int(records.blank[full[-1] :].sum())
            else:
                waiting += records.blank.size
            full = full[records.starts[full] + offset >= first_offset]
            if full.size:
                start = int(records.starts[full[0]])
                rest = data[start:]
                at = Block(offset + start, len(rest), full.size, line + line_of(data, start) - 1)
                yield RawBlock(rest, at, records.starts[full] - start)

    def _first_record(self) -> RawBlock:
        for data, records, offset, line in self._pieces():
            full = np.flatnonzero(~records.blank)
            if full.size == 0:
                continue
            start, end = int(records.starts[full[0]]), int(records.ends[full[0]])
            self.width = int(records.cells[full[0]])
            if self.width > self.limits.columns:
                self._refuse(
                    f"{self.width:,} columns are more than the {self.limits.columns:,} that are "
                    "read. Store the table with fewer columns.",
                    line + line_of(data, start) - 1,
                )
            at = Block(offset + start, end - start, 1, line + line_of(data, start) - 1)
            return RawBlock(data[start:end], at, np.zeros(1, np.int64))
        raise FileFormatError(f"{self.path.name} holds nothing but blank lines.", line=1)

    def _pieces(self) -> Iterator[tuple[bytes, Records, int, int]]:
        """Whole records with their position and line, about a megabyte at a time."""
        held, offset, line = b"", 0, 1
        want = self._block_size
        self._plain, self.blank_lines = True, 0
        assert self.dialect.encoding is not None
        with TextStream(self.path, self.dialect.encoding, self.limits) as stream:
            final = False
            while not final:
                while len(held) < want and not final:
                    data = stream.read(want - len(held))
                    held, final = held + data, not data
                records = self._scanned(held, line, final)
                if records.ends.size == 0:
                    want = 2 * len(held)
                    continue
                stop = int(records.ends[-1])
                piece = held[:stop]
                self._check_text(piece, line)
                self._check_widths(piece, records, line)
                yield piece, records, offset, line
                held, offset, line = held[stop:], offset + stop, line + records.lines
                want = self._block_size

    # Checks

    def _scanned(self, held: bytes, line: int, final: bool) -> Records:
        separator, quote = self.dialect.separator, self.dialect.quote
        assert separator is not None
        assert quote is not None
        # Before anything else: in a file that is not text, complaints about quotes would mislead.
        self._check_zero_bytes(held, line)
        try:
            records = scan_records(held, separator, quote, final=final)
        except FileFormatError as problem:
            at = line + (problem.line or 1) - 1
            raise FileFormatError(
                f"{self.path.name}, line {at}: {problem}", line=at, column=problem.column
            ) from None
        if records.longest > self.limits.field_bytes:
            self._refuse_long(held, records, line)
        stop = int(records.ends[-1]) if records.ends.size else 0
        if len(held) - stop > self.limits.record_bytes:
            self._refuse(
                f"one record is longer than {_size(self.limits.record_bytes)}. Either a quote is "
                "never closed, or the file is no table of cells.",
                line,
            )
        return records

    def _refuse_long(self, held: bytes, records: Records, line: int) -> None:
        bounds = [*records.starts.tolist(), int(records.ends[-1]) if records.ends.size else 0]
        ends = [*records.ends.tolist(), len(held)]
        lengths = np.subtract(ends, bounds)
        start = bounds[int(np.argmax(lengths > self.limits.field_bytes))]
        self._refuse(
            f"a cell is longer than {_size(self.limits.field_bytes)}. Either a quote is never "
            "closed, or the file is no table of cells.",
            line + line_of(held, start) - 1,
        )

    def _check_zero_bytes(self, held: bytes, line: int) -> None:
        zero = held.find(b"\0")
        if zero >= 0:
            self._refuse(
                "there is a zero byte, which text does not have. If the file is UTF-16, say "
                "so: dialect=Dialect(encoding='utf-16-le'); else it is damaged or not text.",
                line + line_of(held, zero) - 1,
            )

    def _check_text(self, piece: bytes, line: int) -> None:
        encoding = self.dialect.encoding
        assert encoding is not None
        mark = _INNER_MARK.search(piece) if encoding.startswith("utf") else None
        if mark is not None:
            # Arrow would drop it at the start of a block and keep it elsewhere.
            self._refuse(
                "the record begins with a byte order mark, as where two files were joined. "
                "Remove the mark (and a second header).",
                line + line_of(piece, mark.end() - 3) - 1,
            )
        plain_before = self._plain
        self._plain = self._plain and piece.isascii()
        if encoding == "latin-1" or encoding.startswith("utf-16"):
            return
        try:
            if not piece.isascii():
                piece.decode(encoding)
        except UnicodeDecodeError as error:
            at = line + line_of(piece, error.start) - 1
            raise NotUtf8Error(
                f"{self.path.name}, line {at}: byte {piece[error.start]:#04x} is not {encoding}, "
                "in which the file begins. Save it in one encoding, or name it: "
                "dialect=Dialect(encoding='latin-1').",
                line=at,
                plain_before=plain_before and piece[: error.start].isascii(),
            ) from None

    def _check_widths(self, piece: bytes, records: Records, line: int) -> None:
        if self.width is None:
            return
        ragged = np.flatnonzero(~records.blank & (records.cells != self.width))
        if ragged.size:
            row = int(ragged[0])
            others = counted(ragged.size - 1, "more record")
            more = f" (and {others} nearby)" if ragged.size > 1 else ""
            first = self.first.block.line
            title = f" If line {first} is a title or a comment, remove it."
            self._refuse(
                f"the record has {counted(int(records.cells[row]), 'cell')}, the first one in line "
                f"{first} has {counted(self.width, 'cell')}{more}. Add or remove "
                f"{self.dialect.separator!r}, or quote cells that hold it."
                f"{title if self.width == 1 else ''}",
                line + line_of(piece, int(records.starts[row])) - 1,
                int(min(self.width, records.cells[row])),
            )

    def _refuse(self, message: str, line: int, column: int | None = None) -> None:
        raise FileFormatError(f"{self.path.name}, line {line}: {message}", line=line, column=column)


def _size(count: int) -> str:
    return f"{count >> 20} MB"
