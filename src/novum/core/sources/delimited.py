"""Delimited text (CSV, TSV and kin) as a source.

The first pass checks the structure of every record, finds the columns' kinds and levels and
remembers blocks of whole records; later passes parse blocks with Arrow's CSV parser.

DuckDB, which reads Parquet here, is not used for text: it cannot start at a byte position, as a
partition must, two parsers for one file could disagree, and its messages do not name the line of
a ragged record or open quote. The memory held is that of one block and one chunk.
"""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Unpack

import pyarrow as pa
import pyarrow.csv as pcsv

from novum.core.errors import FileFormatError, InputError, MixedColumnWarning
from novum.core.schema import Schema
from novum.core.sources.blocks import Block, BlockReader, TableBuilder, TextFindings
from novum.core.sources.cells import DEFAULT_MISSING, CellReader
from novum.core.sources.dialect import Dialect, sniffed
from novum.core.sources.file_source import FileSource, Options, check_names
from novum.core.sources.record_blocks import NotUtf8Error, RawBlock, RecordBlocks
from novum.core.sources.records import split_record
from novum.core.sources.report import ReadReport, counted, printable
from novum.core.sources.streams import read_sample, sniffed_encoding, stamp, to_utf8
from novum.core.sources.tallies import ColumnTally
from novum.core.sources.wishes import Wish

_SAMPLE = 1 << 20
_SEPARATOR_LINE = re.compile(rb"[sS][eE][pP]=.")


@dataclass(frozen=True)
class DelimitedDecoder:
    """From the bytes of a block to the cells of the chosen columns."""

    dialect: Dialect
    n_columns: int
    chosen: tuple[int, ...]

    def cells(self, data: bytes, line: int) -> list[pa.StringArray]:
        assert self.dialect.encoding is not None
        text = to_utf8(data, self.dialect.encoding)
        names = [str(i) for i in range(self.n_columns)]
        wanted = [str(i) for i in self.chosen]
        try:
            table = pcsv.read_csv(
                pa.py_buffer(text),
                # One block for Arrow: it must not look for record ends of its own.
                pcsv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
                pcsv.ParseOptions(
                    delimiter=self.dialect.separator,
                    quote_char=self.dialect.quote or False,
                    newlines_in_values=True,
                ),
                # Markers are looked for later; Arrow would keep a copy of the lists per column.
                pcsv.ConvertOptions(
                    column_types=dict.fromkeys(wanted, pa.string()),
                    include_columns=wanted,
                    null_values=[],
                    true_values=[],
                    false_values=[],
                ),
            )
        except pa.ArrowException as error:
            raise FileFormatError(
                f"The records from line {line} on cannot be read: {printable(str(error), 200)}",
                line=line,
            ) from None
        return [table.column(i).combine_chunks() for i in range(len(wanted))]


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
            found = self._scan(encoding, note)
        except NotUtf8Error as problem:
            if self._dialect.encoding or not problem.plain_before:
                raise
            note = f"encoding cp1252: line {problem.line} is not UTF-8, all before is plain ASCII"
            found = self._scan("cp1252", note)
        warn_of_mixed(found.report)
        return found

    def _scan(self, encoding: str, note: str) -> TextFindings:
        sample = to_sample(read_sample(self.path, encoding, _SAMPLE), encoding)
        given = replace(self._dialect, encoding=encoding)
        dialect = sniffed(sample, given, frozenset(self._missing))
        raw = RecordBlocks(self.path, dialect, self.limits)
        names, named, head_notes = self._header(raw.first, dialect)
        decoder = DelimitedDecoder(dialect, len(names), self._chosen(names))
        tallies, blocks = self._tallied(raw, names, decoder)
        self._collect_late(tallies, decoder, blocks)
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
        return TextFindings(report, blocks, self._reader(decoder, schema))

    def _tallied(
        self, raw: RecordBlocks, names: tuple[str, ...], decoder: DelimitedDecoder
    ) -> tuple[list[ColumnTally], tuple[Block, ...]]:
        """Counts of the chosen columns over all records, and where the records are."""
        cell_reader = self._cell_reader(decoder.dialect)
        tallies = []
        for place in decoder.chosen:
            wish = self._wishes.get(names[place], Wish()).as_text()
            tallies.append(ColumnTally(names[place], place + 1, wish, cell_reader, self.limits))
        blocks = []
        for piece in raw.blocks(skip_first=bool(decoder.dialect.header)):
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
        return tallies, tuple(blocks)

    def _collect_late(
        self, tallies: list[ColumnTally], decoder: DelimitedDecoder, blocks: tuple[Block, ...]
    ) -> None:
        late = [tally for tally in tallies if tally.late]
        if not late:
            return
        narrow = replace(decoder, chosen=tuple(tally.position - 1 for tally in late))
        for data, block in self._reader(narrow, Schema(())).bytes(blocks):
            for tally, cells in zip(late, narrow.cells(data, block.line), strict=True):
                tally.collect(cells)

    def _reader(self, decoder: DelimitedDecoder, schema: Schema) -> BlockReader:
        dialect = decoder.dialect
        assert dialect.encoding is not None
        builder = TableBuilder(schema, self._cell_reader(dialect))
        return BlockReader(self.path, stamp(self.path), dialect.encoding, decoder, builder)

    def _cell_reader(self, dialect: Dialect) -> CellReader:
        return CellReader(frozenset(self._missing), dialect.decimal or ".")

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


# --- Parts ----------------------------------------------------------------------------------------


def to_sample(data: bytes, encoding: str) -> bytes:
    """Bytes for sniffing as UTF-8; a cut or wrong byte at this stage is not yet an error."""
    if encoding in ("cp1252", "latin-1"):
        return data.decode(encoding, "replace").encode("utf-8")
    return data


def warn_of_mixed(report: ReadReport) -> None:
    """One warning for all columns in which numbers and words stand together."""
    mixed = [column for column in report.columns if column.mixed]
    if mixed:
        found = "; ".join(
            f"{printable(column.name)!r} is {', '.join(column.notes)}" for column in mixed[:10]
        )
        more = f"; and {len(mixed) - 10} more" if len(mixed) > 10 else ""
        warnings.warn(
            f"{Path(report.path).name}: read as nominal text: {found}{more}. Correct the cells, "
            "add the words to `missing`, or settle the kinds by `kinds=`.",
            MixedColumnWarning,
            stacklevel=_callers_level(),
        )


def _callers_level() -> int:
    """How far up the caller of the library is: the line that a warning should point to."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("novum."):
        level, frame = level + 1, frame.f_back
    return level
