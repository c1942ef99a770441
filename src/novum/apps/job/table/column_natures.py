"""What a column is beyond its kind: an identifier, a date, free text, constant, or a feature.

| nature | rule |
|---|---|
| empty | no cell has a value |
| constant | every cell has the same value and none is missing |
| date | every level is a date, or a time of the day |
| text | nominal, many levels of several words each |
| identifier | nominal with fewer than two rows for each level |
| identifier | different whole numbers that count the rows, or that the name calls identifiers |

Dates and texts become features by a step of each model (`novum.data.DateFeatures` and
`TextFeatures`). Nothing can be learned from the others, which take no part in models; the reason is
always said. Tables with few rows are given the benefit of the doubt.

What a user declares with `--kind` holds, but that a column without values or with one value only
teaches nothing, whatever it is called.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from novum.apps.job.table.column_cells import Cells
from novum.core.sources import DATE, all_match
from novum.core.tables import Kind, are_dates
from novum.core.text import label_text

NatureName = Literal["feature", "empty", "constant", "date", "text", "identifier", "dropped"]

# Below this many known cells an all-different column may well be a measurement.
FEWEST_ROWS = 20
_ROWS_PER_LEVEL = 2.0

_IDENTIFIER_NAME = re.compile(
    r"(^|[^a-z])(id|ids|uuid|guid|key|index|idx|rowid|rownum|serial|identifier)([^a-z]|$)"
    r"|^unnamed: ?\d+$|^column_1$",
    re.IGNORECASE,
)
_CAMEL_IDENTIFIER = re.compile(r"[a-z](Id|ID|Uuid|UUID|Key)$")

_TIME_OF_DAY = r"^\d{1,2}:\d{2}(:\d{2})?$"

# Levels looked at for words and dates; more would not change the answer.
_SEEN_LEVELS = 2000
_TEXT_WORDS = 3.0
_LONG_TEXT = 30.0
_MANY_LEVELS = 100


@dataclass(frozen=True)
class Nature:
    """What a column is, and why.

    Attributes
    ----------
    name : {"feature", "empty", "constant", "date", "text", "identifier", "dropped"}
    reason : str
        In words, empty for a feature that is nothing besides.
    """

    name: NatureName
    reason: str = ""

    @property
    def is_feature(self) -> bool:
        return self.name in ("feature", "date", "text")


FEATURE = Nature("feature")
_DECLARED = {
    "id": Nature("identifier", "an identifier, as --kind says"),
    "drop": Nature("dropped", "left out, as --kind says"),
    "date": Nature("date", "dates, as --kind says"),
    "text": Nature("text", "free text, as --kind says"),
}


def nature_of(cells: Cells, declared: str | None = None) -> Nature:
    """The nature of a column, by its cells or, where that says more, by the declared kind.

    Examples
    --------
    >>> from novum.core.tables import Column
    >>> nature_of(Cells(Column("row"), np.arange(100.0))).reason
    'an identifier: 100 different whole numbers that count the rows'
    """
    n_known = len(cells.values) - cells.n_missing
    if declared in ("id", "drop"):
        return _DECLARED[declared]
    if n_known == 0:
        return Nature("empty", "no values: every cell is missing")
    if declared is not None:
        nature = _constant(cells)
        return _DECLARED.get(declared, FEATURE) if nature is None else nature
    return _of_numbers(cells, n_known) if cells.is_numeric else _of_levels(cells, n_known)


def _constant(cells: Cells) -> Nature | None:
    if cells.n_missing:
        return None
    first = cells.values[0]
    if (cells.values != first).any():
        return None
    shown = f"{float(first):g}" if cells.is_numeric else repr(cells.level(int(first)))
    return Nature("constant", f"constant: every cell is {shown}")


# --- Numbers --------------------------------------------------------------------------------------


def _of_numbers(cells: Cells, n_known: int) -> Nature:
    values = cells.values
    if cells.n_missing:
        return FEATURE
    if (constant := _constant(cells)) is not None:
        return constant
    low, high = float(values.min()), float(values.max())
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
    if (constant := _constant(cells)) is not None:
        return constant
    met = np.flatnonzero(cells.level_counts)
    if cells.column.kind is not Kind.NOMINAL or not isinstance(cells.level(int(met[0])), str):
        return FEATURE
    words = [str(cells.level(int(code))) for code in met[:_SEEN_LEVELS]]
    # The first levels tell most columns from dates; all of them have to be some.
    is_dated = all_match(DATE, words) or all_match(_TIME_OF_DAY, words)
    if is_dated and are_dates(pa.array([cells.level(int(code)) for code in met])):
        return Nature("date", f"dates such as {label_text(words[0])}")
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
