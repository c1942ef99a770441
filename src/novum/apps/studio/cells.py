"""Cells of tables for people."""

from __future__ import annotations

from typing import Any

from novum.core.text import printable

MOST_CELL = 200


def cell_text(cell: Any) -> str | None:
    """A cell for people, None where it is missing.

    Examples
    --------
    >>> cell_text(0.1 + 0.2), cell_text("red"), cell_text(float("nan"))
    ('0.3', 'red', None)
    """
    if cell is None or cell != cell:
        return None
    return format(cell, ".10g") if isinstance(cell, float) else printable(str(cell), MOST_CELL)
