"""What a page is made of: sections of headings, texts, tables and figures.

Sections say what is shown, the template says how; so no section writes HTML. All texts are plain
and are escaped by the template. The only markup is that of drawings, which `svg.py` has rebuilt
from an allow-list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class Block:
    """A part of a section; `kind` names the macro that shows it."""

    kind: ClassVar[str] = ""


@dataclass(frozen=True)
class Heading(Block):
    """A heading within a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Text(Block):
    """A paragraph; `tone` "lead" is larger, "quiet" is smaller."""

    kind: ClassVar[str] = "text"
    text: str
    tone: Literal["", "lead", "quiet"] = ""


@dataclass(frozen=True)
class Points(Block):
    """Sentences as a list."""

    kind: ClassVar[str] = "points"
    items: Sequence[str]


@dataclass(frozen=True)
class Lines(Block):
    """Lines in a fixed-width font."""

    kind: ClassVar[str] = "lines"
    items: Sequence[str]
    name: str


@dataclass(frozen=True)
class Fact:
    """A number that matters, with its name and a remark."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Facts(Block):
    """A few numbers at a glance."""

    kind: ClassVar[str] = "facts"
    items: Sequence[Fact]


@dataclass(frozen=True)
class Notice(Block):
    """Something to know, with its severity in words."""

    kind: ClassVar[str] = "notice"
    severity: str
    title: str
    text: str
    advice: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell of a table: text, a badge after it, a remark below it, or a small picture."""

    text: str
    badge: str = ""
    note: str = ""
    picture: Markup | None = None


@dataclass(frozen=True)
class Column:
    """A column of a table; numbers stand at the right, long texts get room."""

    title: str
    is_number: bool = False
    is_long: bool = False


@dataclass(frozen=True)
class Table(Block):
    """A table with its caption; the first cell of a row is its header.

    `marked` are the places of rows that stand out, `note` says what is not shown.
    """

    kind: ClassVar[str] = "table"
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell | str]]
    marked: frozenset[int] = field(default_factory=frozenset)
    note: str = ""


@dataclass(frozen=True)
class Figure(Block):
    """A drawing, what it shows, and how to read it; a `natural` one keeps its own size."""

    kind: ClassVar[str] = "figure"
    title: str
    caption: str
    drawing: Markup
    natural: bool = False


@dataclass(frozen=True)
class Gallery(Block):
    """Figures side by side where there is room."""

    kind: ClassVar[str] = "gallery"
    figures: Sequence[Figure]


@dataclass(frozen=True)
class Fold(Block):
    """Blocks behind a line that opens them."""

    kind: ClassVar[str] = "fold"
    summary: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Section:
    """A section of the page; `key` is its address."""

    key: str
    title: str
    short: str
    blocks: Sequence[Block]


def sentences(items: Sequence[str], most: int) -> list[Block]:
    """Sentences as a list, with a count of those that are not shown."""
    if not items:
        return []
    shown: list[Block] = [Points(tuple(items[:most]))]
    if len(items) > most:
        shown.append(Text(f"{len(items) - most:,} more are in run.json.", "quiet"))
    return shown
