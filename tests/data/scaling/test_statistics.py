"""Statistics of scalings: rows and weights, levels that unite, and what does not combine."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from novum.core.errors import InputError, SchemaError
from novum.core.sums import Statistics
from novum.data.scaling import Gaussianizer, MinMaxScaler, StandardScaler
from novum.data.scaling.transformer import seen


def test_rows_weights_and_levels() -> None:
    a = StandardScaler().statistics([[1.0, "a"], [2.0, "b"]], sample_weight=[0.5, 2.0])
    b = StandardScaler().statistics([[4.0, "c"]])
    both = a + b
    assert isinstance(both, Statistics)
    assert (both.rows, both.weight) == (3.0, 3.5)
    assert both.schema.columns[1].levels == ("a", "b", "c")
    less = both - b
    assert (less.rows, less.weight) == (2.0, 2.5)
    assert less.isclose(a)
    assert (both.zero().rows, both.zero().weight) == (0.0, 0.0)
    assert pickle.loads(pickle.dumps(both)).isclose(both)


def test_removing_all_leaves_nothing_to_fit() -> None:
    model = StandardScaler().fit([[1.0], [2.0]])
    with pytest.raises(InputError, match="hold no rows"):
        model.forget([[1.0], [2.0]])
    with pytest.raises(InputError, match="more rows than there are"):
        model.forget([[1.0], [2.0], [3.0]])
    assert model.mean_.tolist() == [1.5]


def test_a_row_of_which_half_the_weight_left_is_still_a_row() -> None:
    sums = StandardScaler().statistics([[1.0]], sample_weight=[2.0])
    left = sums - StandardScaler().statistics([[1.0]])
    assert (left.rows, left.weight) == (1.0, 1.0)


def test_other_statistics_do_not_combine() -> None:
    sums = StandardScaler().statistics([[1.0]])
    with pytest.raises(InputError, match="ColumnMoments combine with their like only"):
        sums + MinMaxScaler().statistics([[1.0]])
    with pytest.raises(InputError, match="combine with their like only"):
        sums + 3
    with pytest.raises(SchemaError, match="does not fit"):
        sums + StandardScaler().statistics([["a"]])
    with pytest.raises(InputError, match="limits 0 and 50"):
        Gaussianizer().statistics([[1.0]]) + Gaussianizer(max_values=50).statistics([[1.0]])


def test_seen_is_one_number_where_all_are_equal() -> None:
    assert seen(np.array([2.5, 2.5])) == 2.5
    assert isinstance(seen(np.array([3.0])), int)
    assert seen(np.array([1.0, 2.0])).tolist() == [1.0, 2.0]
    assert seen(np.empty(0)).size == 0
