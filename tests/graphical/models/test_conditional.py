"""Conditional tables: what is accepted, normalized and refused."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from novum.core.errors import InputError, MemoryLimitError
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.models.compact import Deterministic, NoisyOr
from novum.graphical.models.conditional import (
    NetworkWarning,
    Tabular,
    check_node_cells,
    row_text,
)

RAIN = StateAxis("rain", ("yes", "no"))
WIND = StateAxis("wind", ("calm", "breeze", "storm"))
WET = StateAxis("wet", ("yes", "no"))


def test_rows_of_combinations_are_reshaped() -> None:
    flat = np.array([[0.1 * i, 1 - 0.1 * i] for i in range(1, 7)])
    table = Tabular(WET, (RAIN, WIND), flat).table
    assert table.shape == (2, 3, 2)
    np.testing.assert_array_equal(table[1, 0], flat[3])
    assert Tabular(WET, (RAIN, WIND), flat).n_parameters == 6


def test_tables_are_copied_and_read_only() -> None:
    cells = np.array([[0.5, 0.5], [0.25, 0.75]])
    made = Tabular(WET, (RAIN,), cells)
    cells[0] = [1.0, 0.0]
    assert made.table[0].tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        made.table[0, 0] = 1.0


def test_rounded_rows_are_normalized_and_rows_that_are_wrong_named() -> None:
    exact = Tabular(WET, (RAIN,), [[1 / 3, 2 / 3], [0.5, 0.5 + 1e-9]])
    # A quotient of rounded numbers sums to one up to a rounding of each.
    assert np.abs(exact.table.sum(axis=1) - 1.0).max() <= 2**-52
    with pytest.warns(NetworkWarning, match="row rain = no summed to 0.9995"):
        rounded = Tabular(WET, (RAIN,), [[0.5, 0.5], [0.333, 0.6665]])
    assert abs(rounded.table[1].sum() - 1) <= 2**-52
    with pytest.raises(InputError, match=r"row rain = no, wind = storm sum to 0\.9, not to 1"):
        Tabular(WET, (RAIN, WIND), [[[0.5, 0.5]] * 3, [[0.5, 0.5], [0.5, 0.5], [0.5, 0.4]]])


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([[0.5, 0.5]], r"shape \(1, 2\); it needs \(2, 2\)"),
        ([[-0.1, 1.1], [0.5, 0.5]], "has -0.1 for state yes in the row rain = yes"),
        ([[np.nan, 1.0], [0.5, 0.5]], "has nan for state yes"),
        ([[0.5, 0.5], [0.5]], "not an array of numbers"),
        ([["a", "b"], ["c", "d"]], "not an array of numbers"),
    ],
)
def test_wrong_tables(cells: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Tabular(WET, (RAIN,), cells)  # type: ignore[arg-type]


def test_values_are_equal_by_content() -> None:
    one = Tabular(WET, (RAIN,), [[0.5, 0.5], [0.25, 0.75]])
    same = Tabular(WET, (RAIN,), [[0.5, 0.5], [0.25, 0.75]])
    other = Tabular(WET, (RAIN,), [[0.5, 0.5], [0.75, 0.25]])
    assert one == same
    assert hash(one) == hash(same)
    assert one != other


def test_rows_in_words() -> None:
    assert row_text((RAIN, WIND), 4) == "rain = no, wind = breeze"
    assert row_text((), 0) == ""


def test_rows_of_tables_that_cannot_exist_have_words() -> None:
    many = tuple(StateAxis(f"p{i}", ("a", "b")) for i in range(70))
    assert row_text(many, 2**69 + 1).endswith("p68 = a, p69 = b")
    assert row_text(many, 2**69 + 1).startswith("p0 = b, p1 = a")


def test_a_value_is_its_own_copy_and_a_pickle_stays_read_only() -> None:
    made = Tabular(WET, (RAIN,), [[0.5, 0.5], [0.25, 0.75]])
    assert copy.copy(made) is made
    assert copy.deepcopy([made])[0] is made
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    with pytest.raises(ValueError, match="read-only"):
        again.table[0] = 0.0


def test_a_table_too_large_to_exist_is_refused_in_words_of_the_node() -> None:
    parents = tuple(StateAxis(f"p{number}", ("true", "false")) for number in range(30))
    said = (
        r"The table of 'wet' with its 30 parents has 2,147,483,648 cells; the limit is 67,108,864"
    )
    for make in (
        lambda: Tabular(WET, parents, [[0.5, 0.5]]),
        lambda: Deterministic(WET, parents, lambda *states: states[0]),
        lambda: NoisyOr(WET, parents, [0.5] * 30).table,
    ):
        with pytest.raises(MemoryLimitError, match=said) as caught:
            make()
        assert "Bayesian network" not in str(caught.value)
    check_node_cells(WET, parents[:20], "")
    alone = tuple(StateAxis(f"p{number}", ("only",)) for number in range(64))
    with pytest.raises(InputError, match="with its 64 parents has more than 64 axes"):
        check_node_cells(WET, alone, "")
