"""Delimited text (CSV, TSV and kin) as a source.

The first pass checks the structure of every record, finds the columns' kinds and levels and
remembers blocks of whole records; the cells of a block are parsed by Arrow's CSV parser, in the
first pass and in all later ones. Checked are: text that decodes, no zero bytes, quotes in place,
equal numbers of cells, and the bounds of `Limits`; what fails is reported with its line and cell.
The memory held is that of one block and one chunk.

`docs/decisions/0007-text-files.md` tells why Arrow does not also find the records.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import NoReturn, Unpack

import numpy as np
import pyarrow as pa

from novum.core.errors import FileFormatError, InputError, MixedColumnWarning, caller_level
from novum.core.sources.blocks import BLOCK_BYTES, Block, BlockReader, TextFindings, whole_pieces
from novum.core.sources.cells import DEFAULT_MISSING, CellReader, TableBuilder, arrow_cells
from novum.core.sources.dialect import Dialect, sniffed
from novum.core.sources.records import Records, scan_records, split_record
from novum.core.sources.report import ReadReport, counted, printable
from novum.core.sources.source import DeclaredKind, FileSource, Options, check_names
from novum.core.sources.streams import (
    LIMITS,
    Limits,
    TextStream,
    line_of,
    read_sample,
    sniffed_encoding,
    stamp,
    to_utf8,
)
from novum.core.sources.tallies import ColumnTally, builder_of
from novum.core.tables import Schema
from novum.numerics import Integers

_SAMPLE = 1 << 20
# Wide tables need larger blocks, or the work per column and block would dominate.
_RECORDS_PER_BLOCK, _MOST_BYTES = 256, 1 << 25
_MARK = b"\xef\xbb\xbf"
_INNER_MARK = re.compile(rb"(?:\A|[\r\n])" + _MARK)
_SEPARATOR_LINE = re.compile(rb"[sS][eE][pP]=.")


@dataclass(frozen=True)
class DelimitedDecoder:
    """From the bytes of a block to the cells of the chosen columns."""

    dialect: Dialect
    n_columns: int
    chosen: tuple[int, ...]

    def cells(self, data: bytes, line: int) -> list[pa.StringArray]:
        assert self.dialect.encoding is not None
        assert self.dialect.separator is not None
        text = to_utf8(data, self.dialect.encoding)
        separator, quote = self.dialect.separator, self.dialect.quote or ""
        try:
            return arrow_cells(text, separator, quote, self.n_columns, self.chosen)
        except pa.ArrowException as error:
            raise FileFormatError(
                f"The records from line {line} on cannot be read: {printable(str(error), 200)}",
                line=line,
            ) from None


class DelimitedSource(FileSource):
    """A CSV, TSV or similar text file, plain or gzip; parameters as in `open_source`.

    Parameters
    ----------
    dialect : Dialect, default=None
        What is known about the way the file is written; the rest is found from the file.

    Notes
    -----
    A missing cell is one of `DEFAULT_MISSING` unless `missing` says otherwise. Levels are text,
    except that a column of which every word is `true` or `false`, in any case, has the levels
    False and True, as a Boolean column of a data frame has; `kinds={...: "nominal"}` keeps the
    words. Blanks around cells are removed and counted in the report. Lines that are blank are
    skipped; those before the last record are counted.
    """

    usual_missing = DEFAULT_MISSING

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        dialect: Dialect | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(path, **options)
        if dialect is not None and not isinstance(dialect, Dialect):
            raise InputError(
                f"`dialect` is a Dialect, as in Dialect(separator=';'); got {dialect!r:.80}."
            )
        self._dialect = dialect or Dialect()

    # First pass

    def _first_pass(self) -> TextFindings:
        if stamp(self.path)[0] == 0:
            raise FileFormatError(f"{self.path.name} is empty. A table needs a header and rows.")
        guess, note = sniffed_encoding(self.path)
        encoding = self._dialect.encoding or guess
        if self._dialect.encoding:
            note = f"encoding {encoding}, as given"
        try:
            findings = self._scan(encoding, note)
        except NotUtf8Error as problem:
            if self._dialect.encoding or not problem.plain_before:
                raise
            note = f"encoding cp1252: line {problem.line} is not UTF-8, all before is plain ASCII"
            findings = self._scan("cp1252", note)
        warn_of_mixed(findings.report)
        return findings

    def _scan(self, encoding: str, note: str) -> TextFindings:
        sample = read_sample(self.path, encoding, _SAMPLE)
        if encoding in ("cp1252", "latin-1"):
            # A cut or wrong byte is not yet an error at this stage.
            sample = sample.decode(encoding, "replace").encode("utf-8")
        given = replace(self._dialect, encoding=encoding)
        dialect = sniffed(sample, given, frozenset(self._missing))
        raw = RecordBlocks(self.path, dialect, self.limits)
        names, named, head_notes = self._header(raw.first, dialect)
        decoder = DelimitedDecoder(dialect, len(names), self._chosen(names))
        cell_reader = CellReader(frozenset(self._missing), dialect.decimal or ".")
        # Semicolons separate where commas are decimal signs, and there points group thousands.
        is_doubtful = dialect.separator == ";" and given.decimal is None and dialect.decimal == "."
        tallies = []
        for place in decoder.chosen:
            declared = self._declared.get(names[place], DeclaredKind()).as_text()
            tally = ColumnTally(
                names[place],
                place + 1,
                declared,
                cell_reader,
                self.limits,
                is_point_doubtful=is_doubtful,
            )
            tallies.append(tally)
        blocks = []
        for piece in raw.blocks(skip_first=bool(dialect.header)):
            cells = decoder.cells(piece.data, piece.block.line)
            for tally, column in zip(tallies, cells, strict=True):
                tally.update(column, piece.line_of)
            blocks.append(piece.block)
        if not blocks:
            raise FileFormatError(
                f"{self.path.name} has a header but no rows. If the first line is a row, say so: "
                "dialect=Dialect(header=False).",
                line=1,
            )
        if late := [tally for tally in tallies if tally.late]:
            narrow = replace(decoder, chosen=tuple(tally.position - 1 for tally in late))
            reader = self._reader(narrow, TableBuilder(Schema(()), cell_reader))
            for data, block in reader.bytes(blocks):
                for tally, column in zip(late, narrow.cells(data, block.line), strict=True):
                    tally.collect(column)
        notes = [dialect.note, note, *head_notes]
        if raw.blank_lines:
            notes.append(f"{counted(raw.blank_lines, 'blank line')} between records skipped")
        report = ReadReport(
            str(self.path),
            "delimited text",
            tallies[0].rows,
            tuple(tally.report() for tally in tallies),
            tuple(notes),
        )
        schema = Schema(tuple(tally.column() for tally in tallies), named)
        builder = builder_of(tallies, schema, cell_reader)
        return TextFindings(report, tuple(blocks), self._reader(decoder, builder))

    def _reader(self, decoder: DelimitedDecoder, builder: TableBuilder) -> BlockReader:
        assert decoder.dialect.encoding is not None
        return BlockReader(self.path, stamp(self.path), decoder.dialect.encoding, decoder, builder)

    def _header(self, first: RawBlock, dialect: Dialect) -> tuple[tuple[str, ...], bool, list[str]]:
        """Names of the columns, whether they are the file's own, and notes on them."""
        assert dialect.encoding is not None
        assert dialect.separator is not None
        record = to_utf8(first.data, dialect.encoding)
        line = first.block.line
        cells = [
            cell.strip() for cell in split_record(record, dialect.separator, dialect.quote or "")
        ]
        if _SEPARATOR_LINE.fullmatch(record.strip()):
            raise FileFormatError(
                f"Line {line}: {printable(record.decode('utf-8').strip())!r} tells spreadsheets "
                "the separator and is no record. Remove the line.",
                line=line,
            )
        notes = []
        if len(cells) == 1 and self._dialect.separator is None:
            notes.append(
                "one column: no comma, semicolon, tab or bar separates cells; another sign is "
                "named by dialect=Dialect(separator=...)"
            )
        if not dialect.header:
            return tuple(f"x{i}" for i in range(len(cells))), False, notes
        names = tuple(name or f"column_{i}" for i, name in enumerate(cells, 1))
        check_names(
            names, line, "; if the file has no header, say so: dialect=Dialect(header=False)"
        )
        unnamed = [i for i, name in enumerate(cells, 1) if not name]
        notes += [f"column {i} has no name and is called column_{i}" for i in unnamed[:5]]
        if len(unnamed) > 5:
            notes.append(f"{len(unnamed) - 5} more columns have no name and are called alike")
        return names, True, notes


def warn_of_mixed(report: ReadReport) -> None:
    """One warning for all columns in which numbers and words stand together."""
    mixed = [column for column in report.columns if column.mixed]
    if mixed:
        listing = "; ".join(
            f"{printable(column.name)!r} is {', '.join(column.notes)}" for column in mixed[:10]
        )
        more = f"; and {len(mixed) - 10} more" if len(mixed) > 10 else ""
        warnings.warn(
            f"{Path(report.path).name}: read as nominal text: {listing}{more}. Correct the cells, "
            "add the words to `missing`, or settle the kinds by `kinds=`.",
            MixedColumnWarning,
            stacklevel=caller_level(),
        )


# --- Blocks of records ----------------------------------------------------------------------------


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
    starts: Integers

    def line_of(self, row: int) -> int:
        """Line of the file in which row `row` of the block begins."""
        return self.block.line + line_of(self.data, int(self.starts[row])) - 1


class RecordBlocks:
    """A delimited file cut into blocks of whole records, every record checked on the way.

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
        pieces = (piece for piece in self._pieces(BLOCK_BYTES) if piece[1].full.size)
        piece = next(pieces, None)
        if piece is None:
            raise FileFormatError(f"{path.name} holds nothing but blank lines.", line=1)
        data, records, offset, line = piece
        start, end = int(records.starts[records.full[0]]), int(records.ends[records.full[0]])
        line += line_of(data, start) - 1
        self.width = int(records.cells[records.full[0]])
        if self.width > limits.columns:
            self._refuse(
                f"{self.width:,} columns are more than the {limits.columns:,} that are "
                "read. Store the table with fewer columns.",
                line,
            )
        at = Block(offset + start, end - start, 1, line)
        self.first = RawBlock(data[start:end], at, np.zeros(1, np.int64))

    def blocks(self, *, skip_first: bool) -> Iterator[RawBlock]:
        """All blocks from a fresh pass, without the first record if it is a header."""
        self._plain, self.blank_lines, waiting = True, 0, 0
        first = self.first.block
        first_offset = first.offset + first.length if skip_first else 0
        size = min(max(_RECORDS_PER_BLOCK * first.length, BLOCK_BYTES), _MOST_BYTES)
        for data, records, offset, line in self._pieces(size):
            full = records.full
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

    def _pieces(self, size: int) -> Iterator[tuple[bytes, Records, int, int]]:
        assert self.dialect.encoding is not None
        hint = (
            "If the file is UTF-16, say so: dialect=Dialect(encoding='utf-16-le'); else it is "
            "damaged or not text."
        )
        with TextStream(self.path, self.dialect.encoding, self.limits) as stream:
            yield from whole_pieces(stream, self._cut, size, hint=hint)

    def _cut(self, held: bytes, line: int, final: bool) -> tuple[int, Records]:
        separator, quote = self.dialect.separator, self.dialect.quote
        assert separator is not None
        assert quote is not None
        try:
            records = scan_records(held, separator, quote, final=final)
        except FileFormatError as problem:
            self._refuse(str(problem), line + (problem.line or 1) - 1, problem.column)
        if records.longest > self.limits.field_bytes:
            starts = np.append(records.starts, records.stop)
            lengths = np.append(records.ends, len(held)) - starts
            start = int(starts[np.argmax(lengths > self.limits.field_bytes)])
            self._refuse(
                f"a cell is longer than {self.limits.field_bytes >> 20} MB. Either a quote is "
                "never closed, or the file is no table of cells.",
                line + line_of(held, start) - 1,
            )
        if len(held) - records.stop > self.limits.record_bytes:
            self._refuse(
                f"one record is longer than {self.limits.record_bytes >> 20} MB. Either a quote "
                "is never closed, or the file is no table of cells.",
                line,
            )
        self._check_text(held[: records.stop], line)
        self._check_widths(held, records, line)
        return records.stop, records

    def _check_text(self, piece: bytes, line: int) -> None:
        encoding = self.dialect.encoding
        assert encoding is not None
        mark = _INNER_MARK.search(piece) if encoding.startswith("utf") and _MARK in piece else None
        if mark is not None:
            # Arrow would drop it at the start of a block and keep it elsewhere.
            self._refuse(
                "the record begins with a byte order mark, as where two files were joined. "
                "Remove the mark (and a second header).",
                line + line_of(piece, mark.end() - 3) - 1,
            )
        if piece.isascii():
            return
        plain_before, self._plain = self._plain, False
        if encoding == "latin-1" or encoding.startswith("utf-16"):
            return
        try:
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

    def _check_widths(self, held: bytes, records: Records, line: int) -> None:
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
                line + line_of(held, int(records.starts[row])) - 1,
                int(min(self.width, records.cells[row])),
            )

    def _refuse(self, message: str, line: int, column: int | None = None) -> NoReturn:
        raise FileFormatError(
            f"{self.path.name}, line {line}: {message}", line=line, column=column
        ) from None
