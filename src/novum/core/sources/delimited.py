"""Delimited text (CSV, TSV and kin) as a source.

The first pass checks the structure of every record, finds the columns' kinds and levels and
remembers blocks of whole records; later passes parse blocks with Arrow's CSV parser.

DuckDB, which reads Parquet here, is not used for text: it cannot start at a byte position, as a
partition must, two parsers for one file could disagree, and its messages do not name the line of
a ragged record or open quote. The memory held is that of one block and one chunk.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv

from novum.core.errors import FileFormatError, MixedColumnWarning
from novum.core.schema import Schema
from novum.core.sources.blocks import (
    Block,
    BlockReader,
    TableBuilder,
    TextPartition,
    text_chunks,
    text_partitions,
)
from novum.core.sources.cells import DEFAULT_MISSING, CellReader
from novum.core.sources.dialect import Dialect, sniffed
from novum.core.sources.limits import LIMITS, Limits
from novum.core.sources.protocol import CHUNK_ROWS, check_chunk
from novum.core.sources.record_blocks import NotUtf8Error, RawBlock, RecordBlocks
from novum.core.sources.records import split_record
from novum.core.sources.report import ReadReport, printable
from novum.core.sources.streams import (
    check_stamp,
    checked_path,
    read_sample,
    sniffed_encoding,
    stamp,
    to_utf8,
)
from novum.core.sources.tallies import ColumnTally
from novum.core.sources.wishes import KindWish, Wish, check_known, checked_wishes

_SAMPLE = 1 << 20


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


@dataclass(frozen=True)
class _Findings:
    """What the first pass leaves behind."""

    schema: Schema
    report: ReadReport
    blocks: tuple[Block, ...]
    reader: BlockReader


class DelimitedSource:
    """A CSV, TSV or similar text file, plain or gzip.

    Parameters
    ----------
    path : path
    kinds : mapping, default=None
        Kinds of columns that the cells alone do not tell: `{"zip": "nominal"}`; a sequence of
        levels makes a column ordinal in that order. All levels are text.
    missing : sequence of str, default=None
        What stands for a missing cell; None takes the usual markers (`DEFAULT_MISSING`).
    columns : sequence of str, default=None
        The columns to read, in this order; None reads all.
    dialect : Dialect, default=None
        What is known about the way the file is written; the rest is found from the file.
    memory_limit : int or str, default=None
        Bytes (or `"400MB"`) that a chunk may take; None allows 80 % of the available memory.

    Notes
    -----
    Blanks around cells are removed and counted in the report. Lines that are blank are skipped;
    those before the last record are counted.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        kinds: Mapping[str, KindWish] | None = None,
        missing: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        dialect: Dialect | None = None,
        memory_limit: int | str | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        self.path: Path = checked_path(path)
        self.memory_limit = memory_limit
        self.limits = limits
        self._wishes = {name: as_text(wish) for name, wish in checked_wishes(kinds).items()}
        self._missing = frozenset(DEFAULT_MISSING if missing is None else missing)
        self._columns = None if columns is None else tuple(columns)
        self._dialect = dialect or Dialect()
        self._found: _Findings | None = None

    def schema(self) -> Schema:
        return self._findings().schema

    def report(self) -> ReadReport:
        return self._findings().report

    def chunks(self, rows: int = CHUNK_ROWS) -> Iterator[pa.Table]:
        found = self._findings()
        check_chunk(rows, found.schema, self.memory_limit)
        return text_chunks(found.reader, found.blocks, rows)

    def partitions(self, rows: int = CHUNK_ROWS) -> tuple[TextPartition, ...]:
        found = self._findings()
        check_chunk(rows, found.schema, self.memory_limit)
        return text_partitions(found.reader, found.blocks, rows)

    def _findings(self) -> _Findings:
        if self._found is None:
            self._found = self._first_pass()
            warn_of_mixed(self._found.report)
        return self._found

    # First pass

    def _first_pass(self) -> _Findings:
        known = stamp(self.path)
        if known[0] == 0:
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
        check_stamp(self.path, known)
        return findings

    def _scan(self, encoding: str, note: str) -> _Findings:
        sample = to_sample(read_sample(self.path, encoding, _SAMPLE), encoding)
        given = replace(self._dialect, encoding=encoding)
        dialect = sniffed(sample, given, self._missing)
        raw = RecordBlocks(self.path, dialect, self.limits)
        names, named, head_notes = self._header(raw.first, dialect)
        chosen = self._chosen(names)
        decoder = DelimitedDecoder(dialect, len(names), chosen)
        reader = CellReader(self._missing, dialect.decimal or ".")
        tallies = [
            ColumnTally(names[i], i + 1, self._wishes.get(names[i], Wish()), reader, self.limits)
            for i in chosen
        ]
        blocks = []
        for piece in raw.blocks(skip_first=bool(dialect.header)):
            cells = decoder.cells(piece.data, piece.block.line)
            for tally, column in zip(tallies, cells, strict=True):
                tally.update(column, piece.line_of)
            blocks.append(piece.block)
        if not blocks:
            raise FileFormatError(f"{self.path.name} has a header but no rows.", line=1)
        self._collect_late(tallies, names, dialect, tuple(blocks))
        schema = Schema(tuple(tally.column() for tally in tallies), named)
        notes = [dialect.note, note, *head_notes]
        if raw.blank_lines:
            notes.append(f"{raw.blank_lines:,} blank lines between records skipped")
        report = ReadReport(
            str(self.path),
            "delimited text",
            tallies[0].rows,
            tuple(tally.report() for tally in tallies),
            tuple(notes),
        )
        block_reader = BlockReader(
            self.path, stamp(self.path), encoding, decoder, TableBuilder(schema, reader)
        )
        return _Findings(schema, report, tuple(blocks), block_reader)

    def _collect_late(
        self,
        tallies: list[ColumnTally],
        names: tuple[str, ...],
        dialect: Dialect,
        blocks: tuple[Block, ...],
    ) -> None:
        late = [tally for tally in tallies if tally.late]
        if not late:
            return
        decoder = DelimitedDecoder(dialect, len(names), tuple(t.position - 1 for t in late))
        builder = TableBuilder(Schema(()), late[0].reader)
        assert dialect.encoding is not None
        reader = BlockReader(self.path, stamp(self.path), dialect.encoding, decoder, builder)
        for data, block in reader.bytes(blocks):
            for tally, cells in zip(late, decoder.cells(data, block.line), strict=True):
                tally.collect(cells)

    def _header(self, first: RawBlock, dialect: Dialect) -> tuple[tuple[str, ...], bool, list[str]]:
        """Names of the columns, whether they are the file's own, and notes on them."""
        assert dialect.encoding is not None
        assert dialect.separator is not None
        record = to_utf8(first.data, dialect.encoding)
        cells = [
            cell.strip() for cell in split_record(record, dialect.separator, dialect.quote or "")
        ]
        if not dialect.header:
            return tuple(f"x{i}" for i in range(len(cells))), False, []
        unnamed = [i for i, name in enumerate(cells) if not name]
        names = tuple(name or f"column_{i + 1}" for i, name in enumerate(cells))
        check_names(names, first.block.line)
        notes = [f"column {i + 1} has no name and is called column_{i + 1}" for i in unnamed[:5]]
        return names, True, notes

    def _chosen(self, names: tuple[str, ...]) -> tuple[int, ...]:
        check_known(tuple(self._wishes), names, "kinds")
        if self._columns is None:
            return tuple(range(len(names)))
        check_known(self._columns, names, "columns")
        return tuple(names.index(name) for name in self._columns)


# --- Parts that other text sources share ----------------------------------------------------------


def as_text(wish: Wish) -> Wish:
    """Levels of a text file are text."""
    return wish if wish.levels is None else replace(wish, levels=tuple(map(str, wish.levels)))


def check_names(names: tuple[str, ...], line: int) -> None:
    values, counts = np.unique(np.array(names, dtype=object), return_counts=True)
    if (counts > 1).any():
        twice = str(values[counts > 1][0])
        raise FileFormatError(
            f"Line {line}: {int(counts.max())} columns are called {printable(twice)!r}. Rename "
            "them; if the file has no header, say so: dialect=Dialect(header=False).",
            line=line,
            column=[i + 1 for i, name in enumerate(names) if name == twice][1],
        )


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
            stacklevel=4,
        )
