"""Whether a target is a class or a number: the rule, in one place.

| target | read as |
|---|---|
| text, truth values, ordered levels | classes |
| two different whole numbers | classes |
| three to ten different whole numbers, five rows for each on average | classes, asking for a look |
| all other numbers | numbers |

`--task` overrides it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.apps.job.table.column_cells import Cells

MOST_NUMBER_CLASSES = 10
ROWS_PER_CLASS = 5


@dataclass(frozen=True)
class TargetLook:
    """How the rule reads a target.

    Attributes
    ----------
    is_classes : bool
    n_distinct : int
        Different values; for numbers that are clearly no classes, more than `MOST_NUMBER_CLASSES`.
    is_whole : bool
        Whether all values are whole numbers.
    is_doubtful : bool
        Whether the user should look, because the rule had to guess.
    """

    is_classes: bool
    n_distinct: int
    is_whole: bool
    is_doubtful: bool


def look_at_target(cells: Cells) -> TargetLook:
    """Applies the rule to the known cells of a target.

    Examples
    --------
    >>> from novum.core.schema import Column
    >>> look_at_target(Cells(Column("grade"), np.tile([1.0, 2.0, 3.0], 10)))
    TargetLook(is_classes=True, n_distinct=3, is_whole=True, is_doubtful=True)
    """
    if not cells.is_numeric:
        return TargetLook(True, int(np.count_nonzero(cells.level_counts)), False, False)
    known = cells.values[cells.known]
    is_whole = bool((known == np.floor(known)).all()) and known.size > 0
    n_distinct = _distinct(known)
    if not is_whole:
        return TargetLook(False, n_distinct, False, False)
    if n_distinct <= 2:
        return TargetLook(True, n_distinct, True, False)
    enough = known.size >= ROWS_PER_CLASS * n_distinct
    is_classes = n_distinct <= MOST_NUMBER_CLASSES and enough
    return TargetLook(is_classes, n_distinct, True, n_distinct <= MOST_NUMBER_CLASSES)


def _distinct(known: NDArray[Any]) -> int:
    """The number of different values."""
    first = np.unique(known[:1000])
    return len(first) if known.size <= 1000 else len(np.unique(known))
