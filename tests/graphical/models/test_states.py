"""Names and states as people give them."""

from __future__ import annotations

from typing import Any

import pytest

from novum.core.errors import InputError
from novum.distributions.joint_table_states import StateAxis
from novum.graphical import BayesianNetwork, Factor, NoisyOr, Tabular, noisy_or
from novum.graphical.models.states import check_told_apart, names_in_order, refuse_set

BASE = BayesianNetwork().add("a", table=[0.3, 0.7]).add("b", table=[0.1, 0.9])


@pytest.mark.parametrize(
    "states",
    [
        (1, True),
        (True, 1.0),
        (1, "1"),
        (1.0, "1"),
        ("1.0", 1.0),
        (0, False, "0"),
        ("True", True),
        ("FALSE", False),
        (0.5, "0.5"),
    ],
)
def test_states_that_are_written_alike_are_refused(states: tuple[Any, ...]) -> None:
    with pytest.raises(InputError, match="of 'x' are the same once they are written"):
        check_told_apart(StateAxis("x", states))
    cells = [1 / len(states)] * len(states)
    with pytest.raises(InputError, match="are the same once they are written"):
        BASE.add("x", table=cells, states=states)
    with pytest.raises(InputError, match="are the same once they are written"):
        BayesianNetwork.from_dict({"x": {"states": states, "table": cells}})
    with pytest.raises(InputError, match="are the same once they are written"):
        BayesianNetwork([Tabular(StateAxis("x", states), (), cells)])


@pytest.mark.parametrize(
    "states", [("a", "A"), (0, 1), (True, False), (True, 2, "1"), (0.5, "1"), ("true", "True")]
)
def test_other_states_are_told_apart(states: tuple[Any, ...]) -> None:
    check_told_apart(StateAxis("x", states))


def test_sets_have_no_order() -> None:
    half = [[0.5, 0.5]] * 2
    with pytest.raises(InputError, match="The states of 'x' are a list, because their order"):
        BASE.add("x", table=[0.2, 0.8], states={"low", "high"})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="The states of 'x' are a list"):
        BayesianNetwork.from_dict({"x": {"states": {"u", "v"}, "table": [0.2, 0.8]}})
    with pytest.raises(InputError, match="The parents of 'x' are a list"):
        BASE.add("x", {"a", "b"}, [half] * 2)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="The parents of 'b' are a list"):
        BASE.replace("b", half, parents={"a"})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="The parents of 'x' are a list"):
        BayesianNetwork.from_dict({"x": {"parents": {"a"}, "table": half}})
    with pytest.raises(InputError, match="nodes are a list"):
        BASE.most_probable(nodes={"a", "b"})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="The weights of 'a' are a list"):
        BASE.query("b", likelihood={"a": {0.5, 0.2}})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="The strengths of a noisy or are a list"):
        noisy_or({0.5, 0.2})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="The strengths of 'x' are a list"):
        NoisyOr(StateAxis("x", ("true", "false")), BASE.variables, {0.5, 0.2})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="The states of 'a' are a list"):
        Factor([1.0, 2.0], {"a": {"x", "y"}})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="The variables of a factor are a list"):
        Factor([[1.0, 2.0]] * 2, {*BASE.variables})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Conditional distributions are a list"):
        BayesianNetwork({*BASE.conditionals})


def test_names_are_one_or_several() -> None:
    assert names_in_order("a", "The parents") == ("a",)
    assert names_in_order({"a": 1, "b": 2}.keys(), "The parents") == ("a", "b")
    with pytest.raises(InputError, match="The parents are names of nodes, got 3"):
        names_in_order(3, "The parents")
    refuse_set(["a"], "Names")
