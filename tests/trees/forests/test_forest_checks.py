"""Damaged forests are refused, whatever array the damage is in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.trees.forests.forest import RandomForestClassifier
from novum.trees.forests.forest_value import Forest, check_forest
from tests.trees.forest_tables import mixed_labels, mixed_table


@cache
def forest(**parameters: Any) -> Forest:
    table = mixed_table(120)
    model = RandomForestClassifier(3, random_state=0, missing="direction", **parameters)
    return model.fit(table, mixed_labels(table)).forest_


# Fitted when it is asked for: while tests are collected, every worker would compile for it.
CODED: dict[str, Any] = {}
EXACT: dict[str, Any] = {"max_bins": None, "nominal": "multiway"}
EITHER = pytest.mark.parametrize("whole", [CODED, EXACT], ids=["coded", "exact"], indirect=True)


@pytest.fixture
def whole(request: pytest.FixtureRequest) -> Forest:
    return forest(**request.param)


def changed(whole: Forest, name: str, place: int, value: Any) -> Forest:
    array = getattr(whole, name).copy()
    array[place] = value
    return replace(whole, **{name: array})


def first_inner(whole: Forest, question: int) -> int:
    return int(np.flatnonzero(whole.question == question)[0])


DAMAGES: dict[str, Callable[[Forest], Forest]] = {
    "child before its parent": lambda f: changed(f, "step", 0, f.step[0] & 0xFFFFFFFF),
    "child in another tree": lambda f: changed(
        f, "step", 0, (f.step[0] & 0xFFFFFFFF) | int(f.tree_start[1]) << 32
    ),
    "child beyond all trees": lambda f: changed(
        f, "step", 0, (f.step[0] & 0xFFFFFFFF) | f.n_nodes << 32
    ),
    "column beyond the table": lambda f: changed(f, "step", 0, f.step[0] | 0x3FFFFF << 8),
    "no question": lambda f: changed(f, "step", 0, f.step[0] & ~(3 << 30)),
    "missing branch": lambda f: changed(f, "missing_branch", 0, 40),
    "start of a tree": lambda f: changed(f, "tree_start", 1, f.n_nodes + 5),
    "end of the trees": lambda f: changed(f, "tree_start", -1, f.n_nodes - 1),
    "value": lambda f: changed(f, "value", 0, np.nan),
    "type": lambda f: replace(f, weight=f.weight.astype(np.float32)),
    "length": lambda f: replace(f, gain=f.gain[:-1]),
    "values of other classes": lambda f: replace(f, value=f.value[:, :2]),
    "level beyond the branches": lambda f: replace(f, level_branch=f.level_branch[:-1]),
    "no levels": lambda f: replace(f, level_start=f.level_start[:0]),
    "branch that is not there": lambda f: replace(
        f, level_branch=np.full_like(f.level_branch, 100)
    ),
    "thresholds": lambda f: replace(f, threshold=np.empty(3)),
}


@EITHER
def test_a_sound_forest_passes(whole: Forest) -> None:
    check_forest(whole)


@EITHER
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damage_is_refused(whole: Forest, damage: Callable[[Forest], Forest]) -> None:
    with pytest.raises(InputError, match="do not fit together"):
        check_forest(damage(whole))


def test_a_coding_of_other_columns_is_refused() -> None:
    coded = forest(**CODED)
    assert coded.coding is not None
    for coding in (
        replace(coded.coding, n_codes=coded.coding.n_codes + 1),
        replace(coded.coding, edges=coded.coding.edges[:-1]),
    ):
        with pytest.raises(InputError, match="do not fit together"):
            check_forest(replace(coded, coding=coding))


def test_a_coded_forest_has_two_branches_a_node() -> None:
    coded = forest(**CODED)
    node = first_inner(coded, 2)
    with pytest.raises(InputError, match="do not fit together"):
        check_forest(changed(coded, "step", node, coded.step[node] | 3 << 30))
