"""What a column is beyond its kind: an identifier, a date, free text, constant, or a feature.

| nature | rule |
|---|---|
| empty | no cell has a value |
| constant | every cell has the same value and none is missing |
| date | every level is written as a date |
| text | nominal, many levels of several words each |
| identifier | nominal with fewer than two rows for each level |
| identifier | different whole numbers that count the rows, or that the name calls identifiers |

Nothing can be learned from such a column, or not without deriving something from it first; it
takes no part in models, and the reason is always said. Tables with few rows are given the benefit
of the doubt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from novum.apps.job.table.column_cells import Cells
from novum.core.sources import DATE, all_match
from novum.core.tables import Kind

NatureName = Literal["feature", "empty", "constant", "date", "text", "identifier"]

# Below this many known cells an all-different column may well be a measurement.
FEWEST_ROWS = 20
_ROWS_PER_LEVEL = 2.0

_IDENTIFIER_NAME = re.compile(
    r"(^|[^a-z])(id|ids|uuid|guid|key|index|idx|rowid|rownum|serial|identifier)([^a-z]|$)"
    r"|^unnamed: ?\d+$|^column_1$",
    re.IGNORECASE,
)
_CAMEL_IDENTIFIER = re.compile(r"[a-z](Id|ID|Uuid|UUID|Key)$")

# Levels looked at for words and dates; more would not change the answer.
_SEEN_LEVELS = 2000
_TEXT_WORDS = 3.0
_LONG_TEXT = 30.0
_MANY_LEVELS = 100


@dataclass(frozen=True)
class Nature:
    """What a column is, and why it is no feature.

    Attributes
    ----------
    name : {"feature", "empty", "constant", "date", "text", "identifier"}
    reason : str
        In words, empty for a feature.
    """

    name: NatureName
    reason: str = ""

    @property
    def is_feature(self) -> bool:
        return self.name == "feature"


FEATURE = Nature("feature")


def nature_of(cells: Cells) -> Nature:
    """The nature of a column.

    Examples
    --------
    >>> from novum.core.tables import Column
    >>> nature_of(Cells(Column("row"), np.arange(100.0))).reason
    'an identifier: 100 different whole numbers that count the rows'
    """
    n_known = len(cells.values) - cells.n_missing
    if n_known == 0:
        return Nature("empty", "no values: every cell is missing")
    return _of_numbers(cells, n_known) if cells.is_numeric else _of_levels(cells, n_known)


# --- Numbers --------------------------------------------------------------------------------------


def _of_numbers(cells: Cells, n_known: int) -> Nature:
    values = cells.values
    if cells.n_missing:
        return FEATURE
    low, high = float(values.min()), float(values.max())
    if low == high:
        return Nature("constant", f"constant: every cell is {low:g}")
    if n_known < FEWEST_ROWS or not _all_different_wholes(values, low, high):
        return FEATURE
    if high - low == n_known - 1:
        return _identifier(f"{n_known:,} different whole numbers that count the rows")
    if is_identifier_name(cells.name):
        return _identifier(f"by its name, with {n_known:,} different whole numbers")
    return FEATURE


def _all_different_wholes(values: np.ndarray, low: float, high: float) -> bool:
    if not (np.isfinite(low) and np.isfinite(high)):
        return False
    # A look at the first rows settles most columns without sorting them.
    for part in (values[:1000], values):
        if not (part == np.floor(part)).all() or len(np.unique(part)) < len(part):
            return False
    return True


def is_identifier_name(name: str) -> bool:
    """Whether a name says that the column holds identifiers.

    >>> [is_identifier_name(name) for name in ("PassengerId", "patient_id", "width", "humid")]
    [True, True, False, False]
    """
    return bool(_IDENTIFIER_NAME.search(name) or _CAMEL_IDENTIFIER.search(name))


def _identifier(how: str) -> Nature:
    return Nature("identifier", f"an identifier: {how}")


# --- Levels ---------------------------------------------------------------------------------------


def _of_levels(cells: Cells, n_known: int) -> Nature:
    met = np.flatnonzero(cells.level_counts)
    if len(met) == 1 and not cells.n_missing:
        return Nature("constant", f"constant: every cell is {cells.level(int(met[0]))!r}")
    words = [str(cells.level(int(code))) for code in met[:_SEEN_LEVELS]]
    if cells.column.kind is not Kind.NOMINAL or not isinstance(cells.level(int(met[0])), str):
        return FEATURE
    if all_match(DATE, words):
        return Nature("date", "dates: derive numbers from them (elapsed days, month, weekday)")
    if n_known < FEWEST_ROWS:
        return FEATURE
    few_rows = n_known < _ROWS_PER_LEVEL * len(met)
    n_words = float(np.mean([len(word.split()) for word in words]))
    length = float(np.mean([len(word) for word in words]))
    many_long = len(met) > _MANY_LEVELS and length >= _LONG_TEXT
    if n_words >= _TEXT_WORDS and (few_rows or many_long):
        return Nature(
            "text", f"free text: {len(met):,} different texts of {n_words:.1f} words on average"
        )
    if few_rows:
        return _identifier(f"{len(met):,} different values in {n_known:,} rows")
    return FEATURE
