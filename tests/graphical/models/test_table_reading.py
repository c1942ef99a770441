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
    with pytest.raises(InputError, match="Which states has 'x'"):
        BASE.add("x", table={"a": 0.2, "b": 0.8})
    made = BASE.add("x", table={"a": 0.2, "b": 0.8}, states=["a", "b"])
    assert made["x"].table.tolist() == [0.2, 0.8]
