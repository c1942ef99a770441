"""Models as flat arrays: nothing is lost, and what does not fit is refused before it is built."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from novum.core.errors import InputError, MemoryLimitError
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.factor import Factor
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.factor_graph import FactorGraph
from novum.graphical.models.model_record import (
    ModelRecord,
    graph_factors,
    network_conditionals,
    record_of_graph,
    record_of_network,
)
from tests.graphical.models.test_network_text import COMPACT
from tests.strategies.network_files import networks


@given(networks())
def test_networks_come_back_to_the_bit(network: BayesianNetwork) -> None:
    again = BayesianNetwork(network_conditionals(record_of_network(network)))
    assert again == network
    for old, new in zip(network.conditionals, again.conditionals, strict=True):
        assert old.table.tobytes() == new.table.tobytes()


def test_compact_nodes_stay_as_they_are() -> None:
    network = BayesianNetwork.from_text(COMPACT)
    record = record_of_network(network)
    assert [item.name for item in record.compact] == ["fever", "both", "fixed"]
    assert len(record.cells) == 5
    assert BayesianNetwork(network_conditionals(record)) == network
    assert network_conditionals(record_of_network(BayesianNetwork())) == []


def test_factor_graphs_come_back() -> None:
    pair = {"b": ("x", "y", "z"), "a": (0, 1)}
    graph = FactorGraph([Factor(np.arange(6.0).reshape(3, 2), pair), Factor(0.5, {})])
    again = FactorGraph(graph_factors(record_of_graph(graph)))
    assert again.variables == graph.variables
    for old, new in zip(graph.factors, again.factors, strict=True):
        assert (old.variables, old.values.tolist()) == (new.variables, new.values.tolist())


def chain_of_two() -> ModelRecord:
    network = BayesianNetwork().add("a", table=[0.25, 0.75])
    return record_of_network(network.add("b", ["a"], [[0.5, 0.5], [0.125, 0.875]]))


def whole(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"variables": ["a", "b"]}, "variables of a model's record are no tuple of StateAxis"),
        ({"variables": ("a", "b")}, "variables of a model's record are no tuple of StateAxis"),
        ({"compact": (1,)}, "compact nodes of a model's record are no tuple of Conditional"),
        ({"scopes": np.array([0.0, 0.0, 1.0])}, "The scopes of a model's record are no array"),
        ({"scopes": [0, 0, 1]}, "The scopes of a model's record are no array"),
        ({"cells": np.ones((2, 3))}, "The cells of a model's record are no array"),
        ({"cells": np.ones(6, complex)}, "The cells of a model's record are no array"),
        ({"scope_starts": whole()}, "do not fill their array"),
        ({"scope_starts": whole(1, 1, 3)}, "do not fill their array"),
        ({"scope_starts": whole(0, 1, 2)}, "do not fill their array"),
        ({"scope_starts": whole(0, 4, 3)}, "end before they begin"),
        ({"scopes": whole(0, 2, 1)}, "variables that are not there"),
        ({"scopes": whole(0, -1, 1)}, "variables that are not there"),
        ({"scopes": whole(0, 1, 1)}, "cycle: 'b' -> 'b'"),
        ({"scopes": whole(1, 0, 1)}, "Table 0 of the record belongs to another variable"),
        ({"scope_starts": whole(0, 0, 3)}, "Table 0 of the record belongs to another variable"),
        ({"scope_starts": whole(0, 3)}, "one table for each variable"),
        ({"cells": np.full(5, 0.5)}, "5 cells are not those of its tables"),
        ({"cells": np.full(7, 0.5)}, "7 cells are not those of its tables"),
        ({"cells": np.array([0.9, 0.75, 0.5, 0.5, 0.5, 0.5])}, "'a' sum to 1.65, not to 1"),
        ({"cells": np.array([-0.5, 1.5, 0.5, 0.5, 0.5, 0.5])}, "has -0.5 for state true"),
        ({"cells": np.full(6, np.nan)}, "has nan for state true"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        BayesianNetwork(network_conditionals(replace(chain_of_two(), **changes)))


def test_tables_beyond_reason_are_not_made() -> None:
    axes = tuple(StateAxis(f"p{i}", ("x", "y")) for i in range(71))
    record = ModelRecord(axes, whole(0, 71), whole(*range(71)), np.full(4, 0.5))
    with pytest.raises(MemoryLimitError, match="the limit is"):
        graph_factors(record)


def test_compact_nodes_of_other_scopes_are_refused() -> None:
    record = record_of_network(BayesianNetwork.from_text(COMPACT))
    fever, *others = record.compact
    for compact in ((fever, fever, *others), (fever, others[0])):
        with pytest.raises(InputError, match=r"another scope|belongs to another|not those of"):
            network_conditionals(replace(record, compact=compact))
    strange = fever.renamed(StateAxis("pain", fever.variable.states), fever.parents)
    with pytest.raises(InputError, match="The compact node 'pain' has another scope"):
        network_conditionals(replace(record, compact=(strange, *others)))


def test_only_records_are_records() -> None:
    for make in (network_conditionals, graph_factors):
        with pytest.raises(InputError, match="made from its record"):
            make("record")  # type: ignore[arg-type]
