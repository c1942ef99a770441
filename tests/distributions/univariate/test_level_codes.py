"""Labels as positions: mixed types, missing values, repeated and unhashable levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.univariate.level_codes import (
    MISSING,
    UNSEEN,
    checked_levels,
    codes_of,
    is_missing,
    labels,
    sorted_levels,
)


def test_numbers_do_not_turn_into_strings() -> None:
    assert labels(["a", 1, None]).tolist() == ["a", 1, None]
    assert labels(["a", "b"]).dtype.kind == "U"
    assert labels([[1, 2], [3, 4]]).shape == (2, 2)
    assert labels("ab").shape == ()
    assert labels(np.array([1.5])).dtype == float


@pytest.mark.parametrize(
    ("x", "levels", "expected"),
    [
        (["b", "a", "z", None], ("a", "b"), [1, 0, UNSEEN, MISSING]),
        ([3, 1, 2.5, np.nan], (1, 2, 3), [2, 0, UNSEEN, MISSING]),
        ([1.0, 2.0], (2, 1), [1, 0]),
        ([True, False], (False, True), [1, 0]),
        (["1", 1], (1, "1"), [1, 0]),
        (["a", "b"], (1, 2), [UNSEEN, UNSEEN]),
        ([1, 2], ("a", "b"), [UNSEEN, UNSEEN]),
        ([5], (1,), [UNSEEN]),
    ],
)
def test_codes(x: list[Any], levels: tuple[Any, ...], expected: list[int]) -> None:
    assert codes_of(x, levels).tolist() == expected


def test_codes_keep_the_shape() -> None:
    assert codes_of([["a", "b"], ["b", "c"]], ("a", "b")).tolist() == [[0, 1], [1, UNSEEN]]
    assert codes_of("b", ("a", "b")).shape == ()


def test_levels_are_sorted_where_they_compare() -> None:
    assert sorted_levels(np.array([3, 1, 3, 2])) == (1, 2, 3)
    assert sorted_levels(np.array(["b", 1, None], object)) == ("b", 1)
    with pytest.raises(InputError, match="no label of positive weight"):
        sorted_levels(np.array([None], object))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("ab", "a list of labels, got the single string 'ab'"),
        (["a", "b", "a"], "'a' is given twice"),
        ([1, 1.0], "1.0 is given twice"),
        (["a", None], "missing value is not a level"),
        ([np.nan], "missing value is not a level"),
        ([[1], [2]], "hashable"),
        ([], "no levels"),
    ],
)
def test_bad_levels_are_named(bad: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked_levels(bad)


def test_plain_values_are_kept() -> None:
    assert checked_levels(np.array([1, 2])) == (1, 2)
    assert type(checked_levels(np.array([1, 2]))[0]) is int


@pytest.mark.parametrize("value", [None, np.nan, float("nan"), np.datetime64("NaT")])
def test_missing(value: object) -> None:
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", "nan", False, 1.5])
def test_not_missing(value: object) -> None:
    assert not is_missing(value)
