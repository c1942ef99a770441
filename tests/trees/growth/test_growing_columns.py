"""The shared names: no two places are the same, and the arrays have a place for each."""

from __future__ import annotations

import re

import numpy as np
import pytest

from novum.core.tables import Schema
from novum.trees.growth import growing_columns as at
from novum.trees.growth.coding import TableCoding
from novum.trees.growth.growing import (
    CRITERIA,
    NOMINAL_RULES,
    CodedTable,
    Growth,
    GrowthRules,
)

GROUPS = {
    "integers": "QUESTION COLUMN CODE NEXT_CODE CHILD PARENT MISSING_BRANCH LEVEL_AT DEPTH START "
    "STOP ROWS",
    "numbers": "SHARE WEIGHT IMPURITY GAIN LOWER UPPER",
    "state": "WAITING NODES ARENA LEVELS LOCAL_AT LEAVES STATUS",
    "options": "CRITERION MAX_DEPTH MAX_FEATURES NOMINAL_RULE MISSING_RULE RANDOM_CUT MAX_CUTS "
    "MAX_LEAVES MISSING_CODE ANY_MISSING",
    "limits": "MIN_SPLIT MIN_LEAF MIN_GAIN",
}


def growth() -> Growth:
    cells = np.array([[0.0], [1.0]])
    coding = TableCoding.of(Schema.of_array(1), cells)
    codes = coding.codes(cells)
    label = np.array([[0], [1]], np.int32)
    table = CodedTable(
        coding, codes, label, np.empty((2, 0)), np.array([0, 2]), *coding.ranges(codes, cells)
    )
    made = Growth(table, GrowthRules("gini")).planted(np.ones(2), None, None)
    made.run()
    return made


@pytest.mark.parametrize("array", GROUPS)
def test_every_place_has_one_name(array: str) -> None:
    places = [getattr(at, name) for name in GROUPS[array].split()]
    assert sorted(places) == list(range(len(places)))
    assert getattr(growth(), array).shape[-1] == len(places)


def test_names_of_rules_are_those_of_the_engine() -> None:
    assert CRITERIA["gini"] == at.GINI
    assert CRITERIA["entropy"] == CRITERIA["log_loss"] == at.ENTROPY
    assert CRITERIA["squared_error"] == at.SQUARED_ERROR
    assert NOMINAL_RULES == {"subset": at.SETS, "single": at.SINGLE, "auto": at.AUTO}
    assert [rule.name.lower() for rule in at.MissingRule] == ["fractional", "direction", "auto"]
    assert len({at.DONE, at.SLICED, at.NEEDS_ENTRIES, at.NEEDS_NODES}) == 4


def test_tuples_of_arrays_have_their_stated_types() -> None:
    """The signatures that are compiled ahead are those of the arrays that are passed."""
    made = growth()
    table = (made.table.codes, made.table.labels, made.table.numbers)
    nodes = (made.integers, made.numbers, made.sums, made.branches)
    for stated, arrays in (
        (at.TABLE, table),
        (at.ENTRIES, (made.rows, made.weight)),
        (at.COLUMNS, made.columns),
        (at.RULES, (made.table.target_start, made.options, made.limits)),
        (at.WORK, made.work),
        (at.SEARCH, made.search),
        (at.BEST, made.best),
        (at.NODES_OF_TREE, nodes),
        (at.SPARE, made.spare),
    ):
        kinds = re.findall(r"(\w+)\[(:, )?::1\]", stated)
        found = [(a.dtype.name.replace("bool", "boolean"), ":, " * (a.ndim - 1)) for a in arrays]
        assert kinds == found
        assert all(a.flags.c_contiguous for a in arrays)
