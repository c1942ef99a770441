"""States and axes: identity of states, places, and sizes that cannot wrap around."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import InputError, MemoryLimitError
from novum.distributions.joint_table_states import (
    MAX_CELLS,
    StateAxis,
    StateSpace,
    check_cells,
    names_of,
    shown,
)


def test_true_and_one_are_different_states() -> None:
    axis = StateAxis("x", (1, True, 0, False))
    assert [axis.position(state) for state in (1, True, 0, False)] == [0, 1, 2, 3]


def test_numpy_scalars_are_the_same_states_as_pythons() -> None:
    axis = StateAxis("x", (np.int64(2), np.str_("a"), np.bool_(True)))
    assert axis.states == (2, "a", True)
    assert [type(state) for state in axis.states] == [int, str, bool]
    assert axis.position(np.float64(2.0)) == 0


def test_spread_broadcasts_against_the_table() -> None:
    space = StateSpace([StateAxis("a", (0, 1)), StateAxis("b", ("x", "y", "z"))])
    assert space.spread("b", np.arange(3)).shape == (1, 3)
    assert space.spread("a", np.arange(2)).shape == (2, 1)


def test_numbers_take_truth_values_as_zero_and_one() -> None:
    assert StateAxis("x", (False, True)).numbers.tolist() == [0.0, 1.0]
    assert not StateAxis("x", (False, True)).is_numeric


@pytest.mark.parametrize("sizes", [[2] * 64, [2**32, 2**32], [10**30], [2] * 27])
def test_tables_beyond_the_limit_are_refused_with_their_true_size(sizes: list[int]) -> None:
    product = 1
    for size in sizes:
        product *= size
    with pytest.raises(MemoryLimitError, match=str(product)):
        check_cells(sizes)


def test_the_largest_table_is_allowed() -> None:
    assert check_cells([MAX_CELLS]) == MAX_CELLS


def test_too_many_axes_are_refused_before_numpy_does() -> None:
    with pytest.raises(InputError, match="at most 64 variables"):
        check_cells([1] * 65)


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ((), "has no states"),
        (("a", "a"), "has a state twice: a, a"),
        ((1, 1.0), "has a state twice"),
        ((None,), "got None of type NoneType"),
        ((float("nan"),), "finite number"),
    ],
)
def test_bad_states_are_named(states: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        StateAxis("x", states)  # type: ignore[arg-type]


def test_unknown_names_and_states_list_what_there_is() -> None:
    space = StateSpace([StateAxis("rain", (True, False))])
    with pytest.raises(InputError, match="no variable 'snow'; it has 'rain'"):
        space.place("snow")
    with pytest.raises(InputError, match="no state 1; its states are True, False"):
        space.axis("rain").position(1)
    with pytest.raises(InputError, match="named twice"):
        space.places(["rain", "rain"])
    with pytest.raises(InputError, match="occurs twice"):
        StateSpace([StateAxis("a", (0,)), StateAxis("a", (1,))])


def test_names_are_text() -> None:
    with pytest.raises(InputError, match="are text, got 3"):
        StateSpace([StateAxis(3, (0, 1))])  # type: ignore[arg-type]
    assert names_of("one") == ("one",)
    assert names_of(["a", "b"]) == ("a", "b")


def test_escape_sequences_are_shown_not_sent() -> None:
    assert "\x1b" not in shown("\x1b[2Jhidden")
