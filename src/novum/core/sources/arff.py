"""ARFF, the attribute-relation format of Weka, as a source.

Kinds are declared in the file: numeric attributes are numeric, nominal ones keep their declared
levels even where some never occur, strings and dates are text. `kinds={"size": "ordinal"}` takes
the declared order of a nominal attribute as its order. Rows are read as `arff_rows` says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from novum.core.errors import FileFormatError
from novum.core.schema import Kind, Schema
from novum.core.sources.arff_header import Attribute, parse_attribute
from novum.core.sources.arff_rows import ArffDecoder
from novum.core.sources.blocks import Block, BlockReader, TableBuilder, TextFindings
from novum.core.sources.cells import CellReader
from novum.core.sources.file_source import FileSource, check_names
from novum.core.sources.line_blocks import line_blocks
from novum.core.sources.report import ReadReport, printable
from novum.core.sources.streams import sniffed_encoding, stamp
from novum.core.sources.tallies import ColumnTally
from novum.core.sources.wishes import Wish

_DECLARED = "the file"


@dataclass(frozen=True)
class _Head:
    """The declarations, and where the rows begin."""

    attributes: tuple[Attribute, ...]
    offset: int
    line: int


class ArffSource(FileSource):
    """An ARFF file, plain or gzip; parameters as in `open_source`.

    A missing cell is ARFF's own `?` unless `missing` says otherwise. `kinds` changes what the file
    declares: `{"grade": "ordinal"}` keeps the declared levels in their order.
    """

    usual_missing = ("?",)

    def _first_pass(self) -> TextFindings:
        encoding, note = sniffed_encoding(self.path)
        try:
            return self._scan(encoding, note)
        except UnicodeDecodeError:
            return self._scan_fallback("encoding cp1252, because the file is not UTF-8")

    def _scan_fallback(self, note: str) -> TextFindings:
        try:
            return self._scan("cp1252", note)
        except UnicodeDecodeError:
            raise FileFormatError(
                f"{self.path.name} is neither UTF-8 nor cp1252 text. Save it as UTF-8."
            ) from None

    def _scan(self, encoding: str, note: str) -> TextFindings:
        head = self._head(encoding)
        names = tuple(attribute.name for attribute in head.attributes)
        chosen = self._chosen(names)
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
        builder = TableBuilder(schema, self._cell_reader)
        reader = BlockReader(self.path, stamp(self.path), encoding, decoder, builder)
        return TextFindings(report, tuple(blocks), reader)

    def _tally(self, position: int, attribute: Attribute) -> ColumnTally:
        wish = self._wishes.get(attribute.name, _declared(attribute)).as_text()
        if wish.levels is None and wish.kind is not Kind.NUMERIC and attribute.levels:
            wish = Wish(wish.kind, attribute.levels, _DECLARED)
        return ColumnTally(attribute.name, position + 1, wish, self._cell_reader, self.limits)

    @property
    def _cell_reader(self) -> CellReader:
        return CellReader(frozenset(self._missing))

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
                        "or @data should. Correct the line, or name the file by what it is (.csv).",
                        line=line,
                    )
                if len(attributes) > self.limits.columns:
                    raise FileFormatError(
                        f"Line {line}: more than {self.limits.columns:,} attributes. Store the "
                        "table with fewer columns.",
                        line=line,
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
