"""Targets with an order: declared, given, by size, and the alphabet with a warning."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from novum.core.errors import InputError
from novum.linear.ordinal.rows import (
    AbsentClassWarning,
    UnorderedTargetWarning,
    checked_codes,
    declared_order,
    order_of,
    ordered_codes,
)


def test_orders_that_containers_declare() -> None:
    levels = ["low", "mid", "high"]
    ordered = pd.Categorical(["mid", "low"], levels, ordered=True)
    plain = pd.Categorical(["mid", "low"], levels)
    for target in (
        ordered,
        pd.Series(ordered),
        pd.Series(ordered).to_frame("y"),
        pl.Series(["mid", "low"], dtype=pl.Enum(levels)),
    ):
        assert declared_order(target) == tuple(levels)
    two = pd.DataFrame({"a": ordered, "b": ordered})
    unordered: list[Any] = [plain, pd.Series(plain), pd.Series([1, 2]), ["low"], np.array([1.0])]
    for target in (*unordered, two):
        assert declared_order(target) is None


def test_numbers_are_ordered_by_size_and_booleans_too() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert order_of(np.array([1, 5, 9]), None, None, "Learner").tolist() == [1, 5, 9]
        assert order_of(np.array([False, True]), None, None, "Learner").tolist() == [False, True]


def test_what_is_given_goes_before_what_is_declared() -> None:
    labels = np.array(["a", "b", "c"])
    assert order_of(labels, ["c", "a", "b"], ("a", "b", "c"), "L").tolist() == ["c", "a", "b"]
    assert order_of(labels, None, ("b", "a", "c"), "L").tolist() == ["b", "a", "c"]
    assert order_of(np.array([1, 2]), np.array([2, 1]), None, "L").tolist() == [2, 1]


def test_text_without_order_is_announced() -> None:
    with pytest.warns(
        UnorderedTargetWarning, match=r"alphabet is taken: 'a' < 'b'\. Pass `classes=`"
    ):
        found = order_of(np.array(["a", "b"]), None, None, "Learner")
    assert found.tolist() == ["a", "b"]


def test_wrong_orders_are_refused() -> None:
    labels = np.array(["a", "b"])
    with pytest.raises(InputError, match=r"'b', which is not among classes: 'a', 'c'"):
        order_of(labels, ["a", "c"], None, "L")
    with pytest.raises(InputError, match=r"stands twice in classes: 'a', 'b', 'a'"):
        order_of(labels, ["a", "b", "a"], None, "L")
    with pytest.warns(AbsentClassWarning, match=r"the classes 'x', 'y' of the declared levels"):
        assert order_of(labels, None, ("x", "b", "y", "a"), "L").tolist() == ["b", "a"]


def test_codes_are_places_in_the_order() -> None:
    labels, order = np.array(["a", "b", "c"]), np.array(["c", "a", "b"])
    assert ordered_codes(labels, np.array([0, 1, 2, 2]), order).tolist() == [1, 2, 0, 0]
    assert checked_codes(["b", "c"], order, "L").tolist() == [2, 0]
    with pytest.raises(InputError, match=r"label 'd', which is none of the classes"):
        checked_codes(["d"], order, "L")
