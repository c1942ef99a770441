"""The rule that tells classes from numbers, at and around each of its limits."""

from __future__ import annotations

import numpy as np
import pytest

from novum.apps.job.table.column_cells import Cells
from novum.apps.job.table.target_column import TargetLook, look_at_target
from novum.core.tables import Column
from tests.apps.job.table.tables import words


def look(values: np.ndarray) -> TargetLook:
    return look_at_target(Cells(Column("y"), np.asarray(values, float)))


@pytest.mark.parametrize(
    ("values", "is_classes", "is_doubtful"),
    [
        (np.tile([0, 1], 3), True, False),
        (np.tile([-1, 1], 3), True, False),
        (np.tile(np.arange(3), 5), True, True),
        (np.tile(np.arange(3), 5)[:14], False, True),
        (np.tile(np.arange(10), 5), True, True),
        (np.tile(np.arange(11), 5), False, False),
        (np.tile([0.5, 1.5], 50), False, False),
        (np.arange(5000), False, False),
    ],
    ids=["0/1", "-1/1", "3 x 5", "3 in 14 rows", "10 x 5", "11 x 5", "fractions", "many"],
)
def test_numbers(values: np.ndarray, is_classes: bool, is_doubtful: bool) -> None:
    found = look(values)
    assert (found.is_classes, found.is_doubtful) == (is_classes, is_doubtful)
    assert found.n_distinct == len(np.unique(values))


def test_missing_cells_do_not_count() -> None:
    assert look(np.array([0, 1, np.nan, np.nan])) == TargetLook(True, 2, True, False)


def test_levels_are_classes_of_those_that_occur() -> None:
    assert look_at_target(words("a", "b", None)) == TargetLook(True, 2, False, False)
