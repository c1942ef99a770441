"""How much a page shows: a few levels, tried from the fullest until the page is small enough.

Tables of thousands of columns or classes help no reader and make a page that no browser opens.
What is left out at a level is counted where it is missed, and `run.json` has all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from novum.display import Block, Bullets, Paragraph

Item = TypeVar("Item")

LARGEST_PAGE = 10_000_000


@dataclass(frozen=True)
class Detail:
    """Limits of one level.

    Attributes
    ----------
    columns : int
        Columns of the table that are profiled.
    rows : int
        Rows of any other table, and sentences of any list.
    points : int
        Points of a scatter plot, and of a curve.
    drawing : int
        Characters of the drawing that explains the model.
    pictures : bool
    note : str
        What a reader is told; empty at the fullest level.
    """

    columns: int
    rows: int
    points: int
    drawing: int
    pictures: bool
    note: str = ""


LEVELS = (
    Detail(columns=60, rows=100, points=800, drawing=600_000, pictures=True),
    Detail(
        columns=20,
        rows=30,
        points=150,
        drawing=100_000,
        pictures=True,
        note="This page would have been too large, so its figures are simplified and its tables "
        "are shorter. run.json has everything.",
    ),
    Detail(
        columns=5,
        rows=10,
        points=0,
        drawing=0,
        pictures=False,
        note="This page would have been too large, so it has no figures and short tables. "
        "run.json has everything.",
    ),
)


def first_of(items: Sequence[Item], most: int, what: str) -> tuple[Sequence[Item], str]:
    """The first `most` items, and a sentence about the others (empty if there are none).

    Examples
    --------
    >>> first_of("abcd", 3, "levels")
    ('abc', 'The first 3 of 4 levels are shown; run.json has all of them.')
    >>> first_of("ab", 3, "levels")
    ('ab', '')
    """
    if len(items) <= most:
        return items, ""
    return items[
        :most
    ], f"The first {most} of {len(items):,} {what} are shown; run.json has all of them."


def sentences(items: Sequence[str], most: int) -> list[Block]:
    """Sentences as a list, with a count of those that are not shown."""
    if not items:
        return []
    blocks: list[Block] = [Bullets(tuple(items[:most]))]
    if len(items) > most:
        blocks.append(Paragraph(f"{len(items) - most:,} more are in run.json.", "quiet"))
    return blocks
