"""The profile: one line for each column, and the cells that are missing together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from novum.apps.job.record import ColumnRecord, ProfileRecord
from novum.apps.report.blocks import Block, Cell, Column, Heading, Table, Text
from novum.apps.report.detail import Detail, first_of
from novum.apps.report.figures.spark import share_bar, spark_bars
from novum.apps.report.names import label
from novum.apps.report.numbers import counted, number, percent

if TYPE_CHECKING:
    from markupsafe import Markup

_HEADS = (
    Column("column"),
    Column("kind"),
    Column("missing", True),
    Column("distinct", True),
    Column("distribution"),
    Column("in brief", is_long=True),
    Column("tells of the target", True),
)


def column_blocks(profile: ProfileRecord, detail: Detail) -> list[Block]:
    """Heading, sentences and tables of the profile."""
    blocks: list[Block] = [Heading("Columns"), Text(_words(profile))]
    if profile.columns:
        shown, rest = _most_telling(profile.columns, detail.columns)
        rows = [_row(column, profile.n_rows, detail) for column in shown]
        note = (
            "The last figure is the share of the target's uncertainty that the column explains "
            "alone, without the others. " + rest
        )
        blocks.append(Table("Columns of the table", _HEADS, rows, note=note.strip()))
    if profile.missing_patterns:
        blocks.append(_patterns(profile, detail))
    return blocks


def _words(profile: ProfileRecord) -> str:
    whole = counted(profile.n_complete_rows, "row")
    words = f"{whole} of {number(profile.n_rows)} have no missing cell"
    words += f"; {counted(profile.n_duplicate_rows, 'row')} repeat an earlier one."
    if profile.seen_rows < profile.n_rows:
        words += f" The profile was made from {counted(profile.seen_rows, 'row')}."
    return words


def _most_telling(columns: Sequence[ColumnRecord], most: int) -> tuple[Sequence[ColumnRecord], str]:
    """All columns in their order, or those that tell most of the target."""
    if len(columns) <= most:
        return columns, ""
    order = sorted(range(len(columns)), key=lambda j: (-(columns[j].association or 0.0), j))
    words = (
        f"The {most} of {len(columns):,} columns that tell most are listed; run.json has all of "
        "them."
    )
    return [columns[j] for j in order[:most]], words


def _row(column: ColumnRecord, n_rows: int, detail: Detail) -> tuple[Cell | str, ...]:
    missing = percent(column.n_missing / n_rows) if n_rows and column.n_missing else "0"
    return (
        column.name,
        column.kind,
        missing,
        number(column.n_distinct),
        Cell("", picture=_distribution(column) if detail.pictures else None),
        _brief(column),
        _telling(column, detail),
    )


def _distribution(column: ColumnRecord) -> Markup | None:
    if column.histogram_counts:
        return spark_bars(column.histogram_counts, f"histogram of {label(column.name)}")
    return spark_bars([n for _, n in column.levels], f"rows of each level of {label(column.name)}")


def _brief(column: ColumnRecord) -> str:
    if len(column.quantiles) == 5:
        low, _, middle, _, high = (number(value, 3) for value in column.quantiles)
        return f"{low} to {high}, median {middle}"
    if not column.levels:
        return ""
    shown = ", ".join(f"{label(name, 20)} {number(count)}" for name, count in column.levels[:3])
    rest = len(column.levels) - 3 + column.n_other_levels
    return f"{shown}, and {number(rest)} more" if rest > 0 else shown


def _telling(column: ColumnRecord, detail: Detail) -> Cell:
    share = column.association
    words = percent(share)
    if share is None or not detail.pictures:
        return Cell(words)
    return Cell(words, picture=share_bar(share, f"{words} explained"))


def _patterns(profile: ProfileRecord, detail: Detail) -> Table:
    shown, rest = first_of(profile.missing_patterns, min(detail.rows, 15), "patterns")
    rows = []
    for names, n_rows in shown:
        words = ", ".join(label(name, 30) for name in names[:8]) or "none"
        words += f" and {len(names) - 8:,} more" if len(names) > 8 else ""
        share = n_rows / profile.n_rows if profile.n_rows else None
        rows.append((words, number(n_rows), percent(share)))
    heads = (Column("missing together"), Column("rows", True), Column("share", True))
    return Table("Cells that are missing together", heads, rows, note=rest)
