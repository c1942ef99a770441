"""What a reader found and decided, as plain values that can be printed or shown.

Nothing is dropped or changed quietly: missing cells, blank lines, trimmed blanks, mixed columns,
constant columns and every guess about the file's dialect are counted or named here.
"""

from __future__ import annotations

from dataclasses import dataclass

from novum.core.tables import Kind
from novum.display import Block, Bullets, Paragraph, Table, counted, notebook
from novum.display import printable as printable_text


@dataclass(frozen=True)
class ColumnReport:
    """One column: its kind, its missing cells, its number of levels, and remarks.

    Parameters
    ----------
    name : str
    kind : Kind
    missing : int
        Cells without a value.
    n_levels : int
        Levels of the schema; 0 for a numeric column.
    constant : bool
        Whether all cells that have a value have the same one.
    mixed : bool
        Whether numbers and words stand in one column that was not declared by the caller.
    notes : tuple of str
    lone_word : str
        The one word that stands among the numbers of a mixed column.
    """

    name: str
    kind: Kind
    missing: int = 0
    n_levels: int = 0
    constant: bool = False
    mixed: bool = False
    notes: tuple[str, ...] = ()
    lone_word: str = ""


@dataclass(frozen=True)
class ReadReport:
    """What was read from one file, and how.

    Examples
    --------
    >>> report = ReadReport("a.csv", "CSV", 3, (ColumnReport("age", Kind.NUMERIC, missing=1),))
    >>> print(report)
    a.csv: CSV, 3 rows, 1 column, 1 missing cell
      age  numeric, 1 missing
    """

    path: str
    format: str
    rows: int
    columns: tuple[ColumnReport, ...]
    notes: tuple[str, ...] = ()

    @property
    def missing_cells(self) -> int:
        return sum(column.missing for column in self.columns)

    @property
    def mixed_columns(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.mixed)

    @property
    def constant_columns(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.constant)

    @property
    def title(self) -> str:
        return (
            f"{printable(self.path, 300)}: {self.format}, {counted(self.rows, 'row')}, "
            f"{counted(len(self.columns), 'column')}, "
            f"{counted(self.missing_cells, 'missing cell')}"
        )

    def __str__(self) -> str:
        lines = [self.title, *(f"  {printable(note, 240)}" for note in self.notes)]
        shown = self.columns[:_SHOWN]
        width = min(30, max((len(printable(column.name)) for column in shown), default=0))
        for column in shown:
            lines.append(f"  {printable(column.name):<{width}}  {_described(column)}")
        if len(self.columns) > _SHOWN:
            lines.append(f"  ... and {len(self.columns) - _SHOWN} more columns")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return notebook(*self.blocks())

    def blocks(self) -> list[Block]:
        """Title, notes and columns, as a page shows them."""
        rows = [(column.name, _described(column)) for column in self.columns[:_SHOWN]]
        notes = [printable(note, 300) for note in self.notes]
        return [Paragraph(self.title), Bullets(notes), Table("", ["column", "read as"], rows)]


# --- Text -----------------------------------------------------------------------------------------

_SHOWN = 60


def printable(text: str, limit: int = 60) -> str:
    """`text` as a message can show it: on one line and short."""
    return printable_text(text, limit)


def _described(column: ColumnReport) -> str:
    parts = [column.kind.value]
    if column.kind is not Kind.NUMERIC:
        parts[0] += f" ({counted(column.n_levels, 'level')})"
    if column.missing:
        parts.append(f"{column.missing:,} missing")
    if column.constant:
        parts.append("constant")
    parts += [printable(note, 240) for note in column.notes]
    return ", ".join(parts)
