"""The network of a class and its columns: counts by hand, and states of numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import ModelFileError
from novum.core.tables import Column, Kind, Sample, Schema, check_sample
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.classifier import BayesianNetworkClassifier
from novum.graphical.naive_network import (
    INTERVALS,
    MOST_NUMBERS,
    ColumnStates,
    check_column_states,
    class_name_in,
    column_states,
    naive_network,
    state_codes,
)


def sample_of(X: object, weight: object = None) -> Sample:
    return check_sample(
        BayesianNetworkClassifier(), X, None, weight, target="none", allow_missing=True
    )


def test_tables_are_smoothed_counts_of_present_cells() -> None:
    target, wings = StateAxis("kind", ("bat", "cat")), StateAxis("wings", ("no", "yes"))
    codes = np.array([[1], [1], [0], [-1]])
    network = naive_network(target, (wings,), np.array([0, 0, 1, 1]), codes, np.ones(4))
    assert network["kind"].table.tolist() == [0.5, 0.5]
    assert network["wings"].table[0].tolist() == [1 / 4, 3 / 4]
    assert network["wings"].table[1].tolist() == pytest.approx([2 / 3, 1 / 3])
    double = naive_network(target, (wings,), np.array([0, 0, 1, 1]), codes, np.full(4, 2.0))
    assert double["wings"].table[0].tolist() == pytest.approx([1 / 6, 5 / 6])


@given(
    st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=60),
    st.integers(0, 3),
)
def test_every_number_has_one_state_and_order_is_kept(numbers: list[float], gaps: int) -> None:
    cells = np.array([*numbers, *[np.nan] * gaps])[:, None]
    sample = sample_of(cells)
    states = column_states(sample)
    item = states[0]
    assert item is not None
    codes = state_codes(states, sample)[:, 0]
    assert (codes[len(numbers) :] == -1).all()
    order = np.argsort(numbers, kind="stable")
    sorted_codes = codes[: len(numbers)][order]
    assert (np.diff(sorted_codes) >= 0).all()
    # No state is empty, and there are not too many.
    assert set(sorted_codes.tolist()) == set(range(len(item.axis.states)))
    distinct = len(set(np.array(numbers).tolist()))
    assert len(item.axis.states) <= max(min(distinct, MOST_NUMBERS), INTERVALS)
    if distinct <= MOST_NUMBERS:
        assert item.axis.states == tuple(sorted(set((np.array(numbers) + 0.0).tolist())))


def test_many_numbers_are_cut_into_equal_shares() -> None:
    sample = sample_of(np.arange(60.0)[:, None])
    states = column_states(sample)
    counts = np.bincount(state_codes(states, sample)[:, 0])
    assert counts.tolist() == [10] * 6
    assert states[0] is not None
    assert states[0].axis.states[0] == "up to 9.5"
    assert states[0].axis.states[-1] == "above 49.5"
    # Beyond what was seen: the outermost intervals.
    assert states[0].codes(np.array([-1e9, 1e9, np.nan])).tolist() == [0, 5, -1]


def test_weights_cut_as_repeated_rows_do() -> None:
    rng = np.random.default_rng(0)
    cells, weight = rng.normal(size=50), rng.integers(1, 4, 50)
    once = column_states(sample_of(cells[:, None], weight))[0]
    often = column_states(sample_of(np.repeat(cells, weight)[:, None]))[0]
    assert once is not None
    assert often is not None
    assert once.axis == often.axis


def test_levels_empty_columns_and_names() -> None:
    X = np.array([["b", None], ["a", None], [None, None]], dtype=object)
    sample = sample_of(X)
    states = column_states(sample)
    assert states[0] is not None
    assert states[0].axis.states == ("a", "b")
    assert states[1] is None
    assert state_codes(states, sample).tolist() == [[1], [0], [-1]]
    assert class_name_in(sample.schema, None) == "class"
    assert class_name_in(sample.schema, "x0") == "x0_"


def test_states_of_other_columns_are_refused() -> None:
    size = Column("size")
    color = Column("color", Kind.NOMINAL, ("blue", "red"))
    schema = Schema((size, color))
    axis = StateAxis("size", ("low", "middle", "high"), ordered=True)
    good = ColumnStates(axis, np.array([0.0, 1.0]))
    names = ColumnStates(StateAxis("color", ("blue", "red")))
    check_column_states((good, names), schema)
    check_column_states((None, None), schema)
    for states, words in (
        ([good, names], "have not one set of states each"),
        ((good,), "have not one set of states each"),
        ((names, good), "states of column 'size' belong to another one"),
        (("size", names), "states of column 'size' belong to another one"),
        ((ColumnStates(axis), names), "'size' are of another kind"),
        ((good, ColumnStates(names.axis, np.array([0.0]))), "'color' are of another kind"),
        ((ColumnStates(axis, np.array([0.0])), names), "cuts of column 'size'"),
        ((ColumnStates(axis, np.array([1.0, 0.0])), names), "cuts of column 'size'"),
        ((ColumnStates(axis, np.array([0.0, np.nan])), names), "cuts of column 'size'"),
        ((ColumnStates(axis, np.array([0, 1])), names), "cuts of column 'size'"),
    ):
        with pytest.raises(ModelFileError, match=words):
            check_column_states(states, schema)
