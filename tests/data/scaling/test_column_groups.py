"""Groups of columns: codes by names and positions, and what cannot be a group."""

from __future__ import annotations

from typing import Any

import pytest

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema
from novum.data.scaling.column_groups import group_codes

SCHEMA = Schema((Column("a"), Column("kind", Kind.NOMINAL, ("x",)), Column("b"), Column("c")))


@pytest.mark.parametrize(
    ("groups", "codes"),
    [
        (None, [0, 1, 2]),
        ("all", [0, 0, 0]),
        ([], [0, 1, 2]),
        ([["a", "c"]], [0, 1, 0]),
        ([[2, -1]], [0, 1, 1]),
        ([["c"], ["b", 0]], [0, 0, 1]),
    ],
)
def test_codes(groups: Any, codes: list[int]) -> None:
    assert group_codes(groups, SCHEMA).tolist() == codes


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("some", "is not one of None, 'all', or lists"),
        (["a", "b"], "is not one of None, 'all', or lists"),
        ([3], "is not one of None, 'all', or lists"),
        ([["z"]], "names 'z', but X has no such column; it has 4: a, kind, b, c"),
        ([[4]], "names 4, but X has no such column"),
        ([[True]], "names True, but X has no such column"),
        ([["a", "kind"]], "Column 'kind' in `groups` is nominal and has no scale"),
        ([["a"], ["b", 0]], "Column 0 is in `groups` twice"),
    ],
)
def test_what_cannot_be_a_group(groups: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        group_codes(groups, SCHEMA)
