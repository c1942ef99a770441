"""ARFF, the attribute-relation format of Weka, as a source.

Kinds are declared in the file: numeric attributes are numeric, nominal ones keep their declared
levels even where some never occur, strings and dates are text. `kinds={"size": "ordinal"}` takes
the declared order of a nominal attribute as its order. Rows are read as `arff_rows` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import pyarrow as pa

from novum.core.errors import FileFormatError
from novum.core.schema import Kind, Schema
from novum.core.sources.arff_header import Attribute, parse_attribute
from novum.core.sources.arff_rows import ArffDecoder
from novum.core.sources.blocks import (
    Block,
    BlockReader,
    TableBuilder,
    TextPartition,
    text_chunks,
    text_partitions,
)
from novum.core.sources.cells import CellReader
from novum.core.sources.delimited import as_text, check_names
from novum.core.sources.limits import LIMITS, Limits
from novum.core.sources.line_blocks import line_blocks
from novum.core.sources.protocol import CHUNK_ROWS, check_chunk
from novum.core.sources.report import ReadReport, printable
from novum.core.sources.streams import check_stamp, checked_path, sniffed_encoding, stamp
from novum.core.sources.tallies import ColumnTally
from novum.core.sources.wishes import KindWish, Wish, check_known, checked_wishes

_DECLARED = "the file"


@dataclass(frozen=True)
class _Head:
    """The declarations, and where the rows begin."""

    attributes: tuple[Attribute, ...]
    offset: int
    line: int


@dataclass(frozen=True)
class _Findings:
    """What the first pass leaves behind."""

    schema: Schema
    report: ReadReport
    blocks: tuple[Block, ...]
    reader: BlockReader


class ArffSource:
    """An ARFF file, plain or gzip.

    Parameters
    ----------
    path : path
    kinds : mapping, default=None
        Kinds other than declared: `{"grade": "ordinal"}`, `{"zip": "nominal"}`.
    missing : sequence of str, default=None
        What stands for a missing cell; None takes ARFF's own `?`.
    columns : sequence of str, default=None
        The attributes to read, in this order; None reads all.
    memory_limit : int or str, default=None
        Bytes (or `"400MB"`) that a chunk may take; None allows 80 % of the available memory.
    """

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
        self.path: Path = checked_path(path)
        self.memory_limit = memory_limit
        self.limits = limits
        self._wishes = {name: as_text(wish) for name, wish in checked_wishes(kinds).items()}
        self._missing = frozenset(("?",) if missing is None else missing)
        self._columns = None if columns is None else tuple(columns)
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
            known = stamp(self.path)
            encoding, note = sniffed_encoding(self.path)
            try:
                self._found = self._scan(encoding, note)
            except UnicodeDecodeError:
                note = "encoding cp1252, because the file is not UTF-8"
                self._found = self._scan_fallback(note)
            check_stamp(self.path, known)
        return self._found

    def _scan_fallback(self, note: str) -> _Findings:
        try:
            return self._scan("cp1252", note)
        except UnicodeDecodeError:
            raise FileFormatError(
                f"{self.path.name} is neither UTF-8 nor cp1252 text. Save it as UTF-8."
            ) from None

    def _scan(self, encoding: str, note: str) -> _Findings:
        head = self._head(encoding)
        names = tuple(attribute.name for attribute in head.attributes)
        check_known(tuple(self._wishes), names, "kinds")
        check_known(self._columns or (), names, "columns")
        chosen = tuple(names.index(name) for name in (self._columns or names))
        decoder = ArffDecoder(head.attributes, chosen, encoding)
        tallies = [self._tally(i, head.attributes[i]) for i in chosen]
        blocks = []
        for piece in line_blocks(self.path, encoding, self.limits, head.offset, head.line):
            cells, lines = decoder.parsed(piece.data, piece.line)
            for tally, column in zip(tallies, cells, strict=True):
                tally.update(column, lines.__getitem__)
            if lines:
                blocks.append(Block(piece.offset, len(piece.data), len(lines), piece.line))
        if not blocks:
            raise FileFormatError(f"{self.path.name} has a head but no rows.", line=head.line)
        schema = Schema(tuple(tally.column() for tally in tallies))
        columns = tuple(
            replace(tally.report(), notes=(*tally.report().notes, *_note(head.attributes[i])))
            for i, tally in zip(chosen, tallies, strict=True)
        )
        report = ReadReport(str(self.path), "ARFF", tallies[0].rows, columns, (note,))
        builder = TableBuilder(schema, CellReader(self._missing))
        reader = BlockReader(self.path, stamp(self.path), encoding, decoder, builder)
        return _Findings(schema, report, tuple(blocks), reader)

    def _tally(self, position: int, attribute: Attribute) -> ColumnTally:
        wish = self._wishes.get(attribute.name)
        if wish is None:
            wish = _declared(attribute)
        elif wish.levels is None and wish.kind is not Kind.NUMERIC and attribute.levels:
            wish = Wish(wish.kind, attribute.levels, _DECLARED)
        return ColumnTally(
            attribute.name, position + 1, wish, CellReader(self._missing), self.limits
        )

    # The head

    def _head(self, encoding: str) -> _Head:
        attributes: list[Attribute] = []
        for piece in line_blocks(self.path, encoding, self.limits, 0, 1):
            for line, start, text in piece.lines(encoding):
                words = text.split(None, 1)
                if not words or text.startswith("%"):
                    continue
                keyword = words[0].lower()
                if keyword == "@data":
                    return self._checked_head(attributes, piece.offset + start, line + 1)
                if keyword == "@attribute":
                    attributes.append(
                        parse_attribute(words[1] if len(words) > 1 else "", line, self.limits)
                    )
                elif keyword != "@relation":
                    raise FileFormatError(
                        f"Line {line}: {printable(text, 40)!r} stands where @relation, @attribute "
                        "or @data should.",
                        line=line,
                    )
                if len(attributes) > self.limits.columns:
                    raise FileFormatError(
                        f"Line {line}: more than {self.limits.columns:,} attributes.", line=line
                    )
        raise FileFormatError(f"{self.path.name} has no @data: it is empty, cut off or no ARFF.")

    def _checked_head(self, attributes: list[Attribute], offset: int, line: int) -> _Head:
        if not attributes:
            raise FileFormatError(f"{self.path.name} declares no attribute.", line=line)
        check_names(tuple(attribute.name for attribute in attributes), line)
        return _Head(tuple(attributes), offset, line)


def _declared(attribute: Attribute) -> Wish:
    if attribute.type == "numeric":
        return Wish(Kind.NUMERIC, by=_DECLARED)
    levels = attribute.levels if attribute.type == "nominal" else None
    return Wish(Kind.NOMINAL, levels, _DECLARED)


def _note(attribute: Attribute) -> tuple[str, ...]:
    if attribute.type == "date":
        return ("dates as text; derive numbers (year, month, days since ...) to learn",)
    return ("declared as string",) if attribute.type == "string" else ()
