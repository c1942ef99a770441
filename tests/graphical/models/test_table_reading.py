"""Tables in the forms that people write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.graphical.models.bayesian_network import BayesianNetwork

BASE = BayesianNetwork().add("rain", table=[0.2, 0.8]).add("wind", table=[0.5, 0.5])
ROWS = {
    ("true", "true"): [0.9, 0.1],
    ("true", "false"): [0.8, 0.2],
    ("false", "true"): [0.3, 0.7],
    ("false", "false"): [0.1, 0.9],
}
WANTED = np.array(list(ROWS.values())).reshape(2, 2, 2)


@pytest.mark.parametrize(
    "table",
    [
        WANTED,
        WANTED.tolist(),
        WANTED.reshape(4, 2),
        ROWS,
        {a: {b: ROWS[a, b] for b in ("true", "false")} for a in ("true", "false")},
        {key: {"true": row[0], "false": row[1]} for key, row in ROWS.items()},
        {key: {"true": row[0]} for key, row in ROWS.items()},
    ],
)
def test_all_forms_mean_the_same(table: Any) -> None:
    made = BASE.add("wet", ["rain", "wind"], table, ["true", "false"])
    np.testing.assert_allclose(made["wet"].table, WANTED, atol=1e-15)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({("true", "true"): [0.9, 0.1]}, r"no row for rain = true, wind = false \(3 of 4"),
        ({"true": [0.9, 0.1], "false": [0.1, 0.9]}, "ends before all parents have a state"),
        ({("true", "true", "true"): [0.9, 0.1]}, "more states than there are parents"),
        ({("true", "maybe"): [0.9, 0.1]}, "'wind' has no state maybe"),
        ({key: [0.9, 0.05, 0.05] for key in ROWS}, "needs 2 probabilities"),
        ({key: {"wet": 1.0} for key in ROWS}, "'wet' has no state wet"),
    ],
)
def test_wrong_mappings(table: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        BASE.add("wet", ["rain", "wind"], table, ["true", "false"])


def test_states_must_be_given_unless_there_are_two() -> None:
    assert BASE["rain"].variable.states == ("true", "false")
    with pytest.raises(InputError, match="Which states has 'x'"):
        BASE.add("x", table=[0.2, 0.3, 0.5])
    made = BASE.add("x", table={"a": 0.2, "b": 0.8}, states=["b", "a"])
    assert made["x"].table.tolist() == [0.8, 0.2]


@pytest.mark.parametrize(
    ("parents", "table", "states"),
    [
        ([], {"a": 0.2, "b": 0.3, "c": 0.5}, ("a", "b", "c")),
        ([], {"only": 1}, ("only",)),
        (["rain"], {"true": {"a": 0.2, "b": 0.8}, "false": {"b": 0.4, "a": 0.6}}, ("a", "b")),
        (["rain"], {"true": {"a": 0.2}, "false": {"b": 0.4}}, ("a", "b")),
        (["rain"], {"true": [0.1, 0.9], "false": [0.4, 0.6]}, ("true", "false")),
        (
            ["rain", "wind"],
            {(r, w): {1: 0.5, 2: 0.5} for r in ("true", "false") for w in ("true", "false")},
            (1, 2),
        ),
        (["rain"], lambda rain: rain, ("true", "false")),
        (["rain"], lambda rain: rain == "true", ("true", "false")),
    ],
)
def test_states_are_those_that_the_table_names(parents: Any, table: Any, states: Any) -> None:
    base = BayesianNetwork().add("rain", table=[0.3, 0.7]).add("wind", table=[0.1, 0.9])
    assert base.add("x", parents, table)["x"].variable.states == states
    node = {"parents": parents, "table": table}
    again = BayesianNetwork.from_dict({**base.to_dict(), "x": node})
    assert again["x"].variable.states == states


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (None, "Node 'x' has no table. Give table="),
        ([[0.5, 0.5], [0.2, 0.3, 0.5]], "The rows of the table of 'x' differ in length"),
        ([0.2, 0.3, 0.5], "Which states has 'x'. Its table has 3 columns"),
        (0.5, "Its table has the one entry 0.5"),
        ({"true": {"a": 0.2}, "false": {"a": 0.4}}, "The rows of its table name 'a'. List them"),
        ({}, "name none. List them"),
    ],
)
def test_a_table_that_leaves_states_open_is_told_why(table: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        BASE.add("x", ["rain"], table)


def test_a_function_is_called_with_one_state_for_each_parent() -> None:
    message = "function of 'x' is called with one state for each of its 1 parents"
    with pytest.raises(InputError, match=message):
        BASE.add("x", "rain", lambda a, b: a + b, ["true", "false"])
    with pytest.raises(InputError, match="no parents"):
        BASE.add("x", (), lambda a: a)
    assert BASE.add("x", "rain", lambda *states: states[0])["x"].table[0].tolist() == [1, 0]
    # Nobody knows the arguments of some functions that are built in.
    assert BASE.add("x", "rain", str)["x"].table[0].tolist() == [1, 0]
