"""Tables: a caption, columns, rows whose first cell is their head, and a note."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from novum.display.markup import Markup, element, joined, printable, scrolled, shortened

# Longer cells would push the others off the line of a terminal, and a page's column off the page.
_WIDEST = 90
_WIDEST_HTML = 160
# Columns that fit on any page, and on that of a tablet.
_FEW, _MANY = 3, 6
_LONGEST_WORD = 20


@dataclass(frozen=True)
class Column:
    """A column of a table; numbers stand at the right, long texts get room."""

    title: str
    is_number: bool = False
    is_long: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell of a table: text, a badge after it, a remark below it, or a small picture."""

    text: str
    badge: str = ""
    note: str = ""
    picture: Markup | None = None


@dataclass(frozen=True)
class Table:
    """Rows under heads; a column given as text is one of texts.

    `marked` are the places of rows that stand out, `note` says what is not shown.

    Examples
    --------
    >>> table = Table("Coin", ["side", Column("probability", True)], [["head", "0.5"]])
    >>> print(table.as_text())
    Coin
      side  probability
      head          0.5
    """

    caption: str
    columns: Sequence[Column | str]
    rows: Sequence[Sequence[Cell | str]]
    note: str = ""
    marked: frozenset[int] = field(default_factory=frozenset)

    @classmethod
    def of_numbers(
        cls, caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], note: str = ""
    ) -> Table:
        """A table whose columns, but for the first, are numbers."""
        first, *others = heads
        columns = (Column(first), *(Column(head, True) for head in others))
        return cls(caption, columns, tuple(map(tuple, rows)), note)

    @property
    def heads(self) -> tuple[Column, ...]:
        return tuple(Column(c) if isinstance(c, str) else c for c in self.columns)

    def as_text(self) -> str:
        """Columns of fixed width without lines, indented below the caption where there is one."""
        heads = self.heads
        titles = [[column.title for column in heads]] if any(c.title for c in heads) else []
        rows = [[c if isinstance(c, str) else _words(c) for c in row] for row in self.rows]
        lines = aligned([*titles, *rows], [column.is_number for column in heads])
        if self.note:
            lines.append(printable(self.note))
        if not self.caption:
            return "\n".join(lines)
        return "\n".join([printable(self.caption), *(f"  {line}" for line in lines)])

    def as_html(self) -> Markup:
        """A table with a caption and heads for rows and columns, that scrolls where it is wide."""
        heads = self.heads
        looks = ["number" if c.is_number else "long" if c.is_long else None for c in heads]
        titles = [
            element(
                "th",
                shortened(column.title, _WIDEST),
                scope="col",
                class_=_look(column.title, look),
            )
            for column, look in zip(heads, looks, strict=True)
        ]
        body = [
            element(
                "tr",
                element("th", _inside(row[0]), scope="row", class_=_look(row[0], looks[0])),
                (
                    element(
                        "td",
                        _inside(cell),
                        class_=_look(cell, look),
                        data_label=column.title or None,
                    )
                    for cell, look, column in zip(row[1:], looks[1:], heads[1:], strict=True)
                ),
                class_="marked" if place in self.marked else None,
            )
            for place, row in enumerate(self.rows)
        ]
        table = element(
            "table",
            element("caption", self.caption) if self.caption else None,
            element("thead", element("tr", titles)) if any(c.title for c in heads) else None,
            element("tbody", body),
        )
        if self.caption:
            # A page that is too narrow for the columns shows each row as a list of its cells.
            look = "many" if len(heads) > _MANY else "some" if len(heads) > _FEW else ""
            table = scrolled(table, self.caption, look)
        return joined([table, element("p", self.note, class_="quiet") if self.note else None])


def aligned(rows: Iterable[Sequence[str]], are_numbers: Sequence[bool]) -> list[str]:
    """Lines of cells below each other, numbers flush right, wide signs counted as two letters.

    Examples
    --------
    >>> aligned([["rows", "test"], ["10", "0.5"]], [False, True])
    ['rows  test', '10     0.5']
    """
    cells = [[printable(cell, _WIDEST) for cell in row] for row in rows]
    if not cells:
        return []
    widths = [max(map(letters, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        padded = [
            " " * (width - letters(cell)) + cell
            if is_number
            else cell + " " * (width - letters(cell))
            for cell, width, is_number in zip(row, widths, are_numbers, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return lines


def letters(text: str) -> int:
    """Letters of a fixed width that a text takes; wide signs of East Asia take two.

    Examples
    --------
    >>> letters("abc"), letters("身長")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _words(cell: Cell) -> str:
    return " ".join(word for word in (cell.text, cell.badge and f"({cell.badge})") if word)


def _look(cell: Cell | str, look: str | None) -> str | None:
    """The classes of a cell; words that no column has room for may be broken anywhere."""
    text = cell if isinstance(cell, str) else f"{cell.text} {cell.note}"
    if max(map(len, text.split()), default=0) <= _LONGEST_WORD:
        return look
    return f"{look} broken" if look else "broken"


def _inside(cell: Cell | str) -> Markup:
    if isinstance(cell, str):
        return shortened(cell, _WIDEST_HTML)
    return joined(
        [
            cell.picture,
            " " if cell.picture else None,
            shortened(cell.text, 80),
            joined([" ", element("span", cell.badge, class_="badge")]) if cell.badge else None,
            element("small", shortened(cell.note, _WIDEST_HTML)) if cell.note else None,
        ]
    )
