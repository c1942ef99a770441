"""What a page is made of: sections of headings, texts, lists, tables and figures.

Blocks say what is shown, not how: each has a view as text and one as HTML, and nobody above writes
either. The HTML of a block has classes, no styles: `notebook` adds the few rules that a cell of a
notebook needs, a report brings its own style sheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from novum.display.markup import Markup, element, printable, scrolled, shortened
from novum.display.palette import PAGE_COLORS

_NOTEBOOK_STYLE = (
    ".novum{font:14px/1.45 system-ui,sans-serif;max-width:72em}"
    ".novum table{border-collapse:collapse;margin:0 0 1.2em}"
    ".novum caption{text-align:left;font-weight:600;padding:.2em 0}"
    ".novum th,.novum td{padding:.15em .7em;text-align:left;vertical-align:top;"
    "border-bottom:1px solid #8884;font-variant-numeric:tabular-nums}"
    ".novum .number{text-align:right}.novum .scroll{overflow-x:auto}.novum .quiet{opacity:.75}"
)


class Block(Protocol):
    """A part of a page."""

    def as_text(self) -> str: ...

    def as_html(self) -> Markup: ...


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    text: str

    def as_text(self) -> str:
        return printable(self.text)

    def as_html(self) -> Markup:
        return element("h3", self.text)


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; `tone` "lead" is larger, "quiet" is smaller."""

    text: str
    tone: Literal["", "lead", "quiet"] = ""

    def as_text(self) -> str:
        return printable(self.text)

    def as_html(self) -> Markup:
        return element("p", self.text, class_=self.tone or None)


@dataclass(frozen=True)
class Bullets:
    """Sentences as a list."""

    items: Sequence[str]

    def as_text(self) -> str:
        return "\n".join(f"- {printable(item)}" for item in self.items)

    def as_html(self) -> Markup:
        return element("ul", (element("li", item) for item in self.items))


@dataclass(frozen=True)
class Listing:
    """Lines in a fixed-width font; `name` says what they are."""

    items: Sequence[str]
    name: str

    def as_text(self) -> str:
        return "\n".join(map(printable, self.items))

    def as_html(self) -> Markup:
        lines = element("pre", ((item, "\n") for item in self.items))
        return scrolled(lines, self.name)


@dataclass(frozen=True)
class Fact:
    """A number that matters, with its name and a remark."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Facts:
    """A few numbers at a glance."""

    items: Sequence[Fact]

    def as_text(self) -> str:
        lines = (f"{fact.name}: {fact.value} {fact.note}".rstrip() for fact in self.items)
        return "\n".join(map(printable, lines))

    def as_html(self) -> Markup:
        boxes = (
            element(
                "div",
                element("dt", fact.name),
                element(
                    "dd",
                    shortened(fact.value, 40),
                    element("small", shortened(fact.note, 120)) if fact.note else None,
                ),
            )
            for fact in self.items
        )
        return element("dl", boxes, class_="facts")


@dataclass(frozen=True)
class Notice:
    """Something to know, with its severity in words."""

    severity: str
    title: str
    text: str
    advice: str = ""

    def as_text(self) -> str:
        return printable(f"{self.severity}: {self.title}. {self.text} {self.advice}".rstrip())

    def as_html(self) -> Markup:
        kind = self.severity if self.severity in ("danger", "warning") else "note"
        head = (element("span", self.severity, class_="severity"), " ")
        advice = (" ", element("span", self.advice, class_="advice")) if self.advice else None
        return element(
            "div",
            element("p", head, element("strong", self.title)),
            element("p", self.text, advice),
            class_=f"notice {kind}",
        )


@dataclass(frozen=True)
class Figure:
    """A drawing, what it shows, and how to read it.

    A drawing shrinks with the page; a `natural` one keeps its size and is scrolled.
    """

    title: str
    caption: str
    drawing: Markup
    natural: bool = False

    def as_text(self) -> str:
        return printable(f"{self.title}. {self.caption}")

    def as_html(self) -> Markup:
        drawing = scrolled(self.drawing, self.title) if self.natural else self.drawing
        return element(
            "figure",
            element("figcaption", self.title),
            drawing,
            element("p", self.caption, class_="quiet") if self.caption else None,
            class_="natural" if self.natural else None,
        )


@dataclass(frozen=True)
class Gallery:
    """Figures, or blocks of the width of tables, side by side where there is room."""

    blocks: Sequence[Block]
    size: Literal["figures", "tables"] = "figures"

    def as_text(self) -> str:
        return texts(self.blocks)

    def as_html(self) -> Markup:
        # A block of several elements keeps them together.
        inside = (element("div", block.as_html()) for block in self.blocks)
        return element("div", inside, class_=f"gallery {self.size}")


@dataclass(frozen=True)
class Fold:
    """Blocks behind a line that opens them."""

    summary: str
    blocks: Sequence[Block]

    def as_text(self) -> str:
        return texts(self.blocks)

    def as_html(self) -> Markup:
        inside = (block.as_html() for block in self.blocks)
        return element("details", element("summary", self.summary), inside)


@dataclass(frozen=True)
class Section:
    """A section of a page; `key` is its address, `short` its name in a list of contents."""

    key: str
    title: str
    short: str
    blocks: Sequence[Block]

    def as_text(self) -> str:
        return f"{printable(self.title)}\n\n{texts(self.blocks)}"

    def as_html(self) -> Markup:
        name = f"{self.key}-heading"
        return element(
            "section",
            element("h2", self.title, id=name),
            (block.as_html() for block in self.blocks),
            id=self.key,
            aria_labelledby=name,
        )


@dataclass(frozen=True)
class Summary:
    """A result as notebooks and terminals show it: a title, a sentence, blocks, remarks.

    Examples
    --------
    >>> print(Summary("Report", blocks=[Paragraph("All is well.")], notes=["Few rows."]).as_text())
    Report
    <BLANKLINE>
    All is well.
    <BLANKLINE>
    Note: Few rows.
    """

    title: str
    lead: str = ""
    blocks: Sequence[Block] = ()
    notes: Sequence[str] = ()

    def as_text(self) -> str:
        title = printable(self.title) + (f"\n{printable(self.lead)}" if self.lead else "")
        notes = "\n".join(f"Note: {printable(note)}" for note in self.notes)
        return "\n\n".join(part for part in (title, texts(self.blocks), notes) if part)

    def as_html(self) -> Markup:
        return element(
            "section",
            element("style", Markup(_NOTEBOOK_STYLE + PAGE_COLORS)),
            element("h2", self.title),
            element("p", self.lead) if self.lead else None,
            (block.as_html() for block in self.blocks),
            (element("h3", "Notes"), Bullets(self.notes).as_html()) if self.notes else None,
            class_="novum",
            aria_label=printable(self.title, 400),
        )


def notebook(*blocks: Block) -> Markup:
    """Blocks in one element with the rules that a notebook lacks.

    Examples
    --------
    >>> notebook(Paragraph("a < b")).split("</style>")[1]
    '<p>a &lt; b</p></div>'
    """
    style = element("style", Markup(_NOTEBOOK_STYLE))
    return element("div", style, (block.as_html() for block in blocks), class_="novum")


def texts(blocks: Iterable[Block]) -> str:
    """Blocks as text, with a blank line between them."""
    return "\n\n".join(text for text in (block.as_text() for block in blocks) if text)
