"""What a section shows, read from its blocks."""

from __future__ import annotations

from collections.abc import Sequence

from novum.apps.report.detail import LEVELS
from novum.display import Block, Cell, Fold, Gallery, Paragraph, Section, Table

FULL, SIMPLE, LEAST = LEVELS


def flat(blocks: Sequence[Block]) -> list[Block]:
    """All blocks, those behind folds and in galleries too."""
    found: list[Block] = []
    for block in blocks:
        found.append(block)
        if isinstance(block, Fold):
            found += flat(block.blocks)
        if isinstance(block, Gallery):
            found += flat(block.blocks)
    return found


def table(section: Section, caption: str) -> Table:
    """The table whose caption starts so."""
    return next(
        b for b in flat(section.blocks) if isinstance(b, Table) and b.caption.startswith(caption)
    )


def figures(section: Section) -> list[str]:
    return [block.title for block in flat(section.blocks) if hasattr(block, "drawing")]


def texts(section: Section) -> str:
    return " ".join(block.text for block in flat(section.blocks) if isinstance(block, Paragraph))


def row(cells: Sequence[Cell | str]) -> list[str]:
    """A row as plain text, with plain blanks."""
    words = [cell.text if isinstance(cell, Cell) else cell for cell in cells]
    return [word.replace("\u00a0", " ") for word in words]
