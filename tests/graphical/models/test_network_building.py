"""What is given for a network, and what is said when it is wrong."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.joint_table_states import StateAxis
from novum.graphical import BayesianNetwork, NetworkWarning, Tabular, noisy_or
from novum.graphical.models.network_building import checked_order, conditionals_of, node_of
from tests.graphical.models.test_network_text import COMPACT

HALF = [0.5, 0.5]
A = StateAxis("a", ("true", "false"))
B = StateAxis("b", ("true", "false"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": None, "table": HALF}, "name that is text and not empty, got None"),
        ({"name": "", "table": HALF}, "got ''"),
        ({"name": ["x"], "table": HALF}, r"got \['x'\]"),
        ({"name": "x"}, "'x' has no table"),
        ({"name": "x", "states": ["y", "n"]}, "'x' has no table"),
        ({"name": "x", "table": HALF, "states": "yn"}, "list such as .* got 'yn'"),
        ({"name": "x", "table": HALF, "states": 2}, "list such as .* got 2"),
        ({"name": "x", "table": HALF, "states": []}, "no states"),
        ({"name": "x", "table": HALF, "states": ["y", None]}, "text, a number or a truth value"),
        ({"name": "x", "table": "ab", "states": ["y", "n"]}, "not an array of numbers"),
        ({"name": "x", "table": [0.2, 0.3]}, "sum to 0.5, not to 1"),
        ({"name": "x", "table": [1.5, -0.5]}, "probabilities lie between 0 and 1"),
        ({"name": "x", "table": {"y": "q", "n": 1}, "states": ["y", "n"]}, "'q' for state 'y'"),
        ({"name": "x", "table": {"y": 0.2, "z": 0.8}, "states": ["y", "n"]}, "no state z"),
        ({"name": "x", "parents": ["q"], "table": [HALF] * 2}, "no node 'q'"),
        ({"name": "x", "parents": ["a", "a"], "table": [[HALF] * 2] * 2}, "parent 'a' twice"),
        (
            {"name": "x", "parents": "a", "table": {"true": "k", "false": HALF}},
            "is 'k'; it needs 2",
        ),
        ({"name": "a", "table": HALF}, "a node 'a' already"),
    ],
)
def test_a_wrong_node_is_refused_in_words(arguments: dict[str, Any], message: str) -> None:
    network = BayesianNetwork().add("a", table=HALF)
    with pytest.raises(InputError, match=message):
        network.add(**arguments)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([1], r"mapping from names to nodes.*got \[1\]"),
        (None, "mapping from names to nodes"),
        ({"a": HALF}, "Node 'a' is a mapping with the entries"),
        ({1: {"table": HALF}}, "text and not empty, got 1"),
        ({"": {"table": HALF}}, "got ''"),
        ({"a": {"x": 1, 3: 4}}, "has the entry 'x'"),
        ({"a": {"table": HALF, "parents": ["b"]}}, "which is no node"),
        ({"a": {"table": HALF, "parents": [1]}}, "parent 1, which is no node"),
        ({"a": {"table": [HALF] * 2, "parents": "a"}}, "'a' -> 'a'"),
    ],
)
def test_wrong_dicts_are_refused_in_words(nodes: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        BayesianNetwork.from_dict(nodes)


def test_wrong_conditionals_are_refused_in_words() -> None:
    for wrong in ([1], None, 3, BayesianNetwork().add("a", table=HALF)):
        with pytest.raises(InputError, match="made of conditional distributions"):
            BayesianNetwork(wrong)  # type: ignore[arg-type]
    root = Tabular(A, (), HALF)
    with pytest.raises(InputError, match="two nodes 'a'"):
        BayesianNetwork([root, root])
    with pytest.raises(InputError, match="'b' has the parent 'a', which is no node"):
        BayesianNetwork([Tabular(B, (A,), [HALF] * 2)])
    other = StateAxis("a", ("false", "true"))
    with pytest.raises(InputError, match="takes 'a' with the states 'false', 'true'"):
        BayesianNetwork([root, Tabular(B, (other,), [HALF] * 2)])


def test_a_cycle_is_shown_with_all_its_nodes_and_no_others() -> None:
    axes = [StateAxis(f"v{i}", ("x",)) for i in range(5)]

    def node(child: int, *parents: int) -> Tabular:
        shape = [1] * len(parents) + [1]
        return Tabular(axes[child], tuple(axes[p] for p in parents), np.ones(shape))

    with pytest.raises(InputError, match="form a cycle: ") as caught:
        checked_order((node(0, 3), node(1, 3), node(2, 1), node(3, 2, 4), node(4)))
    ring = str(caught.value).split("cycle: ")[1].split(". Remove")[0].split(" -> ")
    assert ring[0] == ring[-1]
    assert sorted(ring[:-1]) == ["'v1'", "'v2'", "'v3'"]
    arrows = {("'v1'", "'v2'"), ("'v2'", "'v3'"), ("'v3'", "'v1'")}
    assert set(itertools.pairwise(ring)) == arrows


@pytest.mark.slow
def test_very_deep_networks_do_not_exhaust_the_stack() -> None:
    axes = [StateAxis(f"v{i}", ("x",)) for i in range(5000)]
    chain = [Tabular(axes[0], (), [1.0])]
    chain += [Tabular(axes[i], (axes[i - 1],), [[1.0]]) for i in range(1, 5000)]
    assert len(checked_order(tuple(reversed(chain)))) == 5000
    ring = [Tabular(axes[0], (axes[-1],), [[1.0]]), *chain[1:]]
    with pytest.raises(InputError, match="cycle"):
        checked_order(tuple(ring))
    # In no order at all, which no few rounds sort out.
    shuffle = np.random.default_rng(0).permutation(5000)
    assert len(checked_order(tuple(chain[i] for i in shuffle))) == 5000
    with pytest.raises(InputError, match="cycle"):
        checked_order(tuple(ring[i] for i in shuffle))


def test_zero_cells_are_warned_of_once_unless_they_are_meant() -> None:
    with pytest.warns(NetworkWarning, match="table of 'a' has 1 cell that is exactly 0"):
        BayesianNetwork().add("a", table=[0.0, 1.0])
    with pytest.warns(NetworkWarning, match="tables of 'a', 'b' have 2 cells") as heard:
        BayesianNetwork.from_dict({"a": {"table": [0, 1]}, "b": {"table": [1, 0]}})
    assert len(heard) == 1
    assert heard[0].filename == __file__
    # A function of the parents is deterministic on purpose.
    network = BayesianNetwork().add("a", table=HALF)
    network.add("b", parents="a", table=lambda a: a, states=["true", "false"])


def test_one_parent_may_be_given_by_its_name_alone() -> None:
    network = BayesianNetwork().add("rain", table=HALF)
    network = network.add("wet", parents="rain", table=[HALF, [0.1, 0.9]])
    assert network.edges == (("rain", "wet"),)
    again = BayesianNetwork.from_dict(
        {"wet": {"parents": "rain", "table": [HALF, [0.1, 0.9]]}, "rain": {"table": HALF}}
    )
    assert again.edges == network.edges
    noisy = network.add("y", parents=["rain", "wet"], table=noisy_or([0.5, 0.5], leak=0.1))
    assert noisy["y"].variable.states == ("true", "false")


# --- Nodes as plain values ------------------------------------------------------------------------


def test_compact_nodes_stay_compact_as_plain_values() -> None:
    network = BayesianNetwork.from_text(COMPACT)
    nodes = {item.name: node_of(item) for item in network.conditionals}
    assert nodes["fever"] == {
        "states": ["no", "yes"],
        "parents": ["cold", "flu"],
        "noisy_or": {
            "strengths": [0.4, 0.8],
            "leak": 0.01,
            "active": {"fever": "yes"},
            "inactive": {"cold": "no", "flu": "none"},
        },
    }
    assert nodes["both"]["function"] == [[0, 1], [0, 0]]
    assert nodes["fixed"]["function"] == "b"
    assert nodes["flu"]["ordered"] is True
    again = BayesianNetwork(conditionals_of(json.loads(json.dumps(nodes))))
    assert again == network
    assert again.variables == network.variables


def test_a_noisy_or_as_plain_values_needs_little() -> None:
    rain = {"table": HALF}
    node = {"parents": "rain", "noisy_or": {"strengths": [0.5]}}
    made = conditionals_of({"rain": rain, "wet": node})[1]
    assert made.table.tolist() == [[0.5, 0.5], [0.0, 1.0]]
    by_name = {"parents": "rain", "noisy_or": {"strengths": {"rain": 0.5}}}
    assert conditionals_of({"rain": rain, "wet": by_name})[1] == made


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"noisy_or": [0.5]}, "noisy_or of 'x' is a mapping with the entries strengths"),
        ({"noisy_or": {}}, "noisy_or of 'x' is a mapping with the entries strengths"),
        ({"noisy_or": {"strengths": [0.5], "lek": 1}}, "noisy_or of 'x' is a mapping"),
        ({"noisy_or": {"strengths": [0.5, 0.5]}}, "1 parents and 2 strengths"),
        ({"noisy_or": {"strengths": [0.5]}, "table": HALF}, "'table', 'noisy_or'; one of them"),
        ({"function": ["true"], "states": ["true"]}, "The values of 'x' have shape"),
        ({"function": ["true", "q"], "states": ["true"]}, "gives q for a = false"),
        ({"function": ["true", "q"]}, "gives q for a = false"),
    ],
)
def test_wrong_compact_nodes(node: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        conditionals_of({"a": {"table": HALF}, "x": {"parents": ["a"], **node}})


def test_the_distribution_of_another_node_fits_or_is_refused() -> None:
    network = BayesianNetwork().add("a", table=[0.2, 0.3, 0.5], states=["x", "y", "z"])
    network = network.add("b", "a", [[0.1, 0.9], [0.3, 0.7], [0.8, 0.2]], ["p", "q"])
    made = network.add("c", "a", network["b"])
    assert made["c"].variable.states == ("p", "q")
    assert made["c"].table.tolist() == network["b"].table.tolist()
    for parents in ("b", (), ("a", "b")):
        with pytest.raises(InputError, match=r"given for 'c' has shape \(3, 2\); its parents"):
            network.add("c", parents, network["b"])
