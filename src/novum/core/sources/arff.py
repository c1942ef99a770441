"""ARFF, the attribute-relation format of Weka, as a source.

    @relation name
    @attribute name numeric | real | integer
    @attribute name {level, 'level with blanks', ...}
    @attribute name string | date ["format"]
    @data
    v1, v2, ...                     a dense row
    {index value, ...}              a sparse row, indices from 0

Keywords are case-insensitive, `%` begins a comment, and names, levels and cells may stand in single
or double quotes with backslash escapes. What a sparse row does not write is 0 for numeric and the
first declared level for nominal attributes; a string or date left out has no defined value and is
refused, and so are relational attributes and weights (`{w}` after a row): keep them in a column.

Kinds are declared in the file: numeric attributes are numeric, nominal ones keep their declared
levels even where some never occur, strings and dates are text. `kinds={"size": "ordinal"}` takes
the declared order of a nominal attribute as its order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from novum.core.errors import FileFormatError
from novum.core.sources.blocks import Block, BlockReader, TextFindings, line_blocks
from novum.core.sources.cells import CellReader, arrow_cells
from novum.core.sources.report import ReadReport, counted, printable
from novum.core.sources.source import DeclaredKind, FileSource, check_names
from novum.core.sources.streams import LIMITS, Limits, sniffed_encoding, stamp, to_utf8
from novum.core.sources.tallies import ColumnTally, LineOf, builder_of
from novum.core.tables import Kind, Schema

_DECLARED = "the file"
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
# Without these signs a row is cut at its commas and nothing else.
_SPECIAL = "'\"\\{%"
_MARK = b"\xef\xbb\xbf"


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
            note = "encoding cp1252, because the file is not UTF-8"
        try:
            return self._scan("cp1252", note)
        except UnicodeDecodeError:
            raise FileFormatError(
                f"{self.path.name} is neither UTF-8 nor cp1252 text. Save it as UTF-8."
            ) from None

    def _scan(self, encoding: str, note: str) -> TextFindings:
        attributes, offset, line = self._head(encoding)
        chosen = self._chosen([attribute.name for attribute in attributes])
        decoder = ArffDecoder(attributes, chosen, encoding)
        cell_reader = CellReader(frozenset(self._missing))
        tallies = []
        for i in chosen:
            declared = self._declared_kind(attributes[i])
            name = attributes[i].name
            tallies.append(ColumnTally(name, i + 1, declared, cell_reader, self.limits, False))
        blocks = []
        for piece in line_blocks(self.path, encoding, self.limits, offset, line):
            cells, line_of = decoder.parsed(piece.data, piece.line)
            for tally, column in zip(tallies, cells, strict=True):
                tally.update(column, line_of)
            if len(cells[0]):
                blocks.append(Block(piece.offset, len(piece.data), len(cells[0]), piece.line))
        if not blocks:
            raise FileFormatError(f"{self.path.name} has a head but no rows.", line=line)
        reports = []
        for i, tally in zip(chosen, tallies, strict=True):
            column = tally.report()
            reports.append(replace(column, notes=(*column.notes, *_NOTES[attributes[i].type])))
        report = ReadReport(str(self.path), "ARFF", tallies[0].rows, tuple(reports), (note,))
        schema = Schema(tuple(tally.column() for tally in tallies))
        builder = builder_of(tallies, schema, cell_reader)
        reader = BlockReader(self.path, stamp(self.path), encoding, decoder, builder)
        return TextFindings(report, tuple(blocks), reader)

    def _declared_kind(self, attribute: Attribute) -> DeclaredKind:
        """What the caller says about the column, and what the file says beyond it."""
        kind = Kind.NUMERIC if attribute.type == "numeric" else Kind.NOMINAL
        declared = self._declared.get(attribute.name, DeclaredKind(kind, by=_DECLARED)).as_text()
        if declared.levels is None and declared.kind is not Kind.NUMERIC and attribute.levels:
            return DeclaredKind(declared.kind, attribute.levels, _DECLARED)
        return declared

    def _head(self, encoding: str) -> tuple[tuple[Attribute, ...], int, int]:
        """The declarations, and the offset and line where the rows begin."""
        attributes: list[Attribute] = []
        for piece in line_blocks(self.path, encoding, self.limits, 0, 1):
            for line, start, text in piece.lines(encoding):
                words = text.split(None, 1)
                if not words or text.startswith("%"):
                    continue
                keyword = words[0].lower()
                if keyword == "@data":
                    if not attributes:
                        raise FileFormatError(
                            f"{self.path.name} declares no attribute.", line=line + 1
                        )
                    check_names([attribute.name for attribute in attributes], line + 1)
                    return tuple(attributes), piece.offset + start, line + 1
                if keyword == "@attribute":
                    declaration = words[1] if len(words) > 1 else ""
                    attributes.append(parse_attribute(declaration, line, self.limits))
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


_NOTES: dict[str, tuple[str, ...]] = {
    "numeric": (),
    "nominal": (),
    "string": ("declared as string",),
    "date": ("dates as text; derive numbers (year, month, days since ...) to learn",),
}


# --- Declarations ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attribute:
    """One declaration: `type` is numeric, nominal, string or date; `levels` of nominal ones."""

    name: str
    type: str
    levels: tuple[str, ...] = ()
    line: int = 0


def parse_attribute(text: str, line: int, limits: Limits = LIMITS) -> Attribute:
    """One declaration, without its keyword.

    Examples
    --------
    >>> parse_attribute("'tear rate' {reduced, normal}", 3).levels
    ('reduced', 'normal')
    """
    name, rest = read_token(text.strip(), 0, line, stops=" \t{")
    declared = text.strip()[rest:].strip()
    if not name:
        raise FileFormatError(f"Line {line}: an attribute has no name.", line=line)
    if declared.startswith("{"):
        return Attribute(name, "nominal", _levels(name, declared, line, limits), line)
    word = declared.split(None, 1)[0].lower() if declared else ""
    if word in ("numeric", "real", "integer"):
        return Attribute(name, "numeric", line=line)
    if word in ("string", "date"):
        return Attribute(name, word, line=line)
    if word == "relational":
        raise FileFormatError(
            f"Line {line}: attribute {printable(name)!r} is relational, a table within a cell, "
            "which is not read. Store the inner table in a file of its own.",
            line=line,
        )
    raise FileFormatError(
        f"Line {line}: attribute {printable(name)!r} has the type {printable(declared, 40)!r}; "
        "known are numeric, real, integer, string, date and {level, ...}.",
        line=line,
    )


def read_token(text: str, start: int, line: int, stops: str) -> tuple[str, int]:
    """The word at `start`, unquoted, and the position after it; an open quote is refused."""
    if text[start : start + 1] not in ("'", '"'):
        end = start
        while end < len(text) and text[end] not in stops:
            end += 1
        return text[start:end].strip(), end
    signs: list[str] = []
    quote, at = text[start], start + 1
    while at < len(text):
        if text[at] == quote:
            return "".join(signs), at + 1
        if text[at] == "\\" and at + 1 < len(text):
            at += 1
            signs.append(_ESCAPES.get(text[at], text[at]))
        else:
            signs.append(text[at])
        at += 1
    raise FileFormatError(
        f"Line {line}: the {quote} in column {start + 1} is never closed.",
        line=line,
        column=start + 1,
    )


def _after_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t":
        at += 1
    return at


def _levels(name: str, declared: str, line: int, limits: Limits) -> tuple[str, ...]:
    if declared.count(",") >= limits.levels:
        raise FileFormatError(
            f"Line {line}: attribute {printable(name)!r} declares more than {limits.levels:,} "
            "levels: it is an identifier. Declare it as string and leave it out by `columns=`.",
            line=line,
        )
    if declared.endswith("}") and not any(sign in declared for sign in "'\"\\"):
        words = [word.strip() for word in declared[1:-1].split(",")]
        return _checked_levels(name, [word for word in words if word], line)
    levels: list[str] = []
    at = 1
    while True:
        at = _after_blanks(declared, at)
        quoted = at < len(declared) and declared[at] in "'\""
        level, at = read_token(declared, at, line, stops=",}")
        at = _after_blanks(declared, at)
        if at >= len(declared) or declared[at] not in ",}":
            raise FileFormatError(
                f"Line {line}: the levels of attribute {printable(name)!r} are not closed by }} "
                "or not separated by commas.",
                line=line,
            )
        if level or quoted:
            levels.append(level)
        if declared[at] == "}":
            return _checked_levels(name, levels, line)
        at += 1


def _checked_levels(name: str, levels: list[str], line: int) -> tuple[str, ...]:
    if not levels or len(set(levels)) != len(levels):
        what = "a level twice" if levels else "no levels"
        raise FileFormatError(
            f"Line {line}: attribute {printable(name)!r} declares {what}. List each level once.",
            line=line,
        )
    return tuple(levels)


# --- Rows -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ArffDecoder:
    """From the bytes of a block to the cells of the chosen columns.

    Parameters
    ----------
    attributes : tuple of Attribute
        All attributes of the file.
    chosen : tuple of int
    encoding : str
    """

    attributes: tuple[Attribute, ...]
    chosen: tuple[int, ...]
    encoding: str

    def cells(self, data: bytes, line: int) -> list[pa.StringArray]:
        return self.parsed(data, line)[0]

    def parsed(self, data: bytes, line: int) -> tuple[list[pa.StringArray], LineOf]:
        """Cells of the chosen columns, and the line of each row."""
        data = to_utf8(data, self.encoding)
        text = data.decode("utf-8")
        plain = not any(sign in text for sign in _SPECIAL)
        # Arrow would drop a mark, and take a line of blanks in a single column for a row.
        if plain and len(self.attributes) > 1 and not data.startswith(_MARK):
            try:
                columns = arrow_cells(data, ",", "", len(self.attributes), self.chosen)
            except pa.ArrowException:
                pass  # The way below skips lines of blanks, and names the line of a wrong row.
            else:
                return [pc.utf8_trim_whitespace(cells) for cells in columns], lambda row: [
                    number for number, text in enumerate(data.splitlines(), line) if text
                ][row]
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        rows: list[list[str]] = []
        lines: list[int] = []
        for number, written in enumerate(text.split("\n"), line):
            row = written.strip()
            if row and row[0] != "%":
                rows.append(self._row(row, number))
                lines.append(number)
        columns = [pa.array([row[i] for row in rows], pa.string()) for i in self.chosen]
        return columns, lines.__getitem__

    def _row(self, row: str, line: int) -> list[str]:
        if row[0] == "{":
            return self._sparse(row, line)
        if not any(sign in row for sign in _SPECIAL):
            cells = [cell.strip() for cell in row.split(",")]
            self._check_width(len(cells), row, line)
            return cells
        cells = []
        at = 0
        while True:
            at = _after_blanks(row, at)
            if at < len(row) and row[at] == "{":
                raise FileFormatError(
                    f"Line {line}: a row ends with a weight in braces, which is not read. "
                    "Store the weights as a column.",
                    line=line,
                    column=len(cells) + 1,
                )
            cell, at = read_token(row, at, line, stops=",")
            cells.append(_unescaped(cell))
            at = _after_blanks(row, at)
            if at >= len(row):
                break
            if row[at] != ",":
                raise FileFormatError(
                    f"Line {line}: cell {len(cells)} goes on after its closing quote. "
                    "Separate cells by commas.",
                    line=line,
                    column=len(cells),
                )
            at += 1
        self._check_width(len(cells), row, line)
        return cells

    def _check_width(self, width: int, row: str, line: int) -> None:
        declared = len(self.attributes)
        if width != declared:
            hint = " Cells are separated by commas." if width == 1 else ""
            raise FileFormatError(
                f"Line {line}: the row {printable(row, 40)!r} has {counted(width, 'cell')}, "
                f"{declared} attributes are declared. Add or remove cells.{hint}",
                line=line,
                column=min(width, declared),
            )

    # Sparse rows

    def _sparse(self, row: str, line: int) -> list[str]:
        values: dict[int, str] = {}
        at = 1
        while True:
            at = _after_blanks(row, at)
            if at < len(row) and row[at] == "}" and not values:
                break
            index, at = self._index(row, at, line, values)
            values[index], at = read_token(row, at, line, stops=",}")
            at = _after_blanks(row, at)
            if at >= len(row) or row[at] not in ",}":
                raise FileFormatError(
                    f"Line {line}: the sparse row is not closed by }} or its entries are not "
                    "separated by commas.",
                    line=line,
                    column=index + 1,
                )
            if row[at] == "}":
                break
            at += 1
        if row[at + 1 :].strip():
            raise FileFormatError(
                f"Line {line}: {printable(row[at + 1 :].strip(), 20)!r} follows a sparse row; "
                "weights in braces are not read. Store the weights as a column.",
                line=line,
            )
        return [
            values[i] if i in values else self._default(attribute, line)
            for i, attribute in enumerate(self.attributes)
        ]

    def _index(self, row: str, at: int, line: int, values: dict[int, str]) -> tuple[int, int]:
        word, after = read_token(row, at, line, stops=" \t,}")
        declared = len(self.attributes)
        if not (word.isascii() and word.isdigit() and len(word) < 10 and int(word) < declared):
            raise FileFormatError(
                f"Line {line}: a sparse row has the index {printable(word, 20)!r}; "
                f"indices are 0 to {declared - 1}.",
                line=line,
            )
        if int(word) in values:
            raise FileFormatError(
                f"Line {line}: a sparse row gives attribute {word} twice.",
                line=line,
                column=int(word) + 1,
            )
        return int(word), _after_blanks(row, after)

    def _default(self, attribute: Attribute, line: int) -> str:
        if attribute.type == "numeric":
            return "0"
        if attribute.type == "nominal":
            return attribute.levels[0]
        raise FileFormatError(
            f"Line {line}: a sparse row leaves out {attribute.type} attribute "
            f"{printable(attribute.name)!r}, which has no default. Write its value.",
            line=line,
        )


def _unescaped(cell: str) -> str:
    if "\\" not in cell:
        return cell
    return cell.replace("\\'", "'").replace('\\"', '"').replace("\\%", "%").replace("\\\\", "\\")
