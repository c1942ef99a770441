"""Tables of a report, rendered as text and as HTML.

Names come from data, so text is made printable and HTML is escaped here, once for all reports.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from novum.core.text import printable

# Longer labels would push the numbers off the line.
_WIDEST = 60

STYLE = (
    ".novum-report{font:14px/1.45 system-ui,sans-serif;max-width:72em}"
    ".novum-report table{border-collapse:collapse;margin:0 0 1.2em}"
    ".novum-report caption{text-align:left;font-weight:600;padding:.2em 0}"
    ".novum-report th,.novum-report td{padding:.15em .7em;text-align:right;"
    "border-bottom:1px solid #bbb;font-variant-numeric:tabular-nums}"
    ".novum-report th{font-weight:600}"
    ".novum-report tbody th,.novum-report thead th:first-child{text-align:left}"
)


@dataclass(frozen=True)
class Table:
    """A caption, column heads, and rows whose first cell is their head."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def text(self) -> str:
        """The table in columns of fixed width, without lines."""
        cells = [[printable(cell, _WIDEST) for cell in row] for row in (self.head, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if place == 0 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in cells
        ]
        note = [f"  {printable(self.note)}"] if self.note else []
        return "\n".join([printable(self.caption), *(f"  {line}" for line in lines), *note])

    def html(self) -> str:
        """The table with a caption and heads for rows and columns."""
        head = "".join(f'<th scope="col">{escaped(cell)}</th>' for cell in self.head)
        body = "".join(
            f'<tr><th scope="row">{escaped(first)}</th>'
            f"{''.join(f'<td>{escaped(cell)}</td>' for cell in rest)}</tr>"
            for first, *rest in self.rows
        )
        note = f"<p>{escaped(self.note)}</p>" if self.note else ""
        return (
            f"<table><caption>{escaped(self.caption)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"
        )


def text_report(title: str, lead: str, tables: Sequence[Table], notes: Sequence[str]) -> str:
    """All of a report as text.

    Examples
    --------
    >>> print(text_report("Report", "", [Table("T", ("a", "b"), (("x", "1"),))], ["Few rows."]))
    Report
    <BLANKLINE>
    T
      a  b
      x  1
    <BLANKLINE>
    Note: Few rows.
    """
    parts = [printable(title) + (f"\n{printable(lead)}" if lead else "")]
    parts.extend(table.text() for table in tables)
    if notes:
        parts.append("\n".join(f"Note: {printable(note)}" for note in notes))
    return "\n\n".join(parts)


def html_report(title: str, lead: str, tables: Sequence[Table], notes: Sequence[str]) -> str:
    """All of a report as one self-contained HTML element, without scripts and outside links.

    Examples
    --------
    >>> "<b>" in html_report("<b>", "", [], [])
    False
    """
    told = "".join(f"<li>{escaped(note)}</li>" for note in notes)
    return (
        f'<section class="novum-report" aria-label="{escaped(title)}"><style>{STYLE}</style>'
        f"<h2>{escaped(title)}</h2>{f'<p>{escaped(lead)}</p>' if lead else ''}"
        f"{''.join(table.html() for table in tables)}"
        f"{f'<h3>Notes</h3><ul>{told}</ul>' if told else ''}</section>"
    )


def escaped(text: str) -> str:
    """Text for HTML, on one line and not endless."""
    return html.escape(printable(text, 400))
