"""The rows of an ARFF file, dense or sparse, as columns of text.

A dense row is `v1, v2, ...`; a sparse one is `{index value, ...}` with indices from 0, where what
is not written is 0 for numeric and the first declared level for nominal attributes. A string or
date that a sparse row leaves out has no defined value and is refused, and so are weights (`{w}`
after a row): keep them in a column. `%` begins a comment line.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from novum.core.errors import FileFormatError
from novum.core.sources.arff_header import Attribute, read_token
from novum.core.sources.report import counted, printable
from novum.core.sources.streams import to_utf8

# Without these signs a row is cut at its commas and nothing else.
_SPECIAL = "'\"\\{%"


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

    def parsed(self, data: bytes, line: int) -> tuple[list[pa.StringArray], list[int]]:
        """Cells of the chosen columns, and the line of each row."""
        text = to_utf8(data, self.encoding).decode("utf-8")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        plain = not any(sign in text for sign in _SPECIAL)
        rows: list[list[str]] = []
        lines: list[int] = []
        for number, written in enumerate(text.split("\n"), line):
            row = written.strip()
            if not row or row[0] == "%":
                continue
            rows.append(self._plain(row, number) if plain else self._row(row, number))
            lines.append(number)
        columns = [pa.array([row[i] for row in rows], pa.string()) for i in self.chosen]
        return columns, lines

    def _plain(self, row: str, line: int) -> list[str]:
        cells = [cell.strip() for cell in row.split(",")]
        self._check_width(len(cells), row, line)
        return cells

    def _row(self, row: str, line: int) -> list[str]:
        if row[0] == "{":
            return self._sparse(row, line)
        if not any(sign in row for sign in _SPECIAL):
            return self._plain(row, line)
        cells: list[str] = []
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


def _after_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t":
        at += 1
    return at


def _unescaped(cell: str) -> str:
    if "\\" not in cell:
        return cell
    return cell.replace("\\'", "'").replace('\\"', '"').replace("\\%", "%").replace("\\\\", "\\")
