"""pgmpy's objects, by what they answered (frozen) and by stand-ins that take what pgmpy takes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from novum.core.errors import InputError
from novum.graphical.formats.pgmpy import from_pgmpy, to_pgmpy
from novum.graphical.models.bayesian_network import BayesianNetwork
from tests.strategies.network_files import networks

FROZEN = json.loads((Path(__file__).parents[2] / "oracles" / "network_objects.json").read_text())


class TabularCPD:
    """Keeps a table as pgmpy does: values with the variable first, then its parents."""

    def __init__(
        self,
        variable: str,
        variable_card: int,
        values: Any,
        evidence: list[str] | None = None,
        evidence_card: list[int] | None = None,
        state_names: dict[str, list[Any]] | None = None,
    ) -> None:
        cards = evidence_card or []
        assert np.shape(values) == (variable_card, int(np.prod(cards)))
        self.variable = variable
        self.variables = [variable, *(evidence or [])]
        self.values = np.reshape(values, [variable_card, *cards])
        self.state_names = state_names


class Model:
    """As much of pgmpy's network as converting needs."""

    def __init__(self) -> None:
        self._nodes: list[str] = []
        self.edges: list[tuple[str, str]] = []
        self._cpds: dict[str, TabularCPD] = {}

    def add_nodes_from(self, nodes: Any) -> None:
        self._nodes += nodes

    def add_edges_from(self, edges: Any) -> None:
        self.edges += edges

    def add_cpds(self, cpd: TabularCPD) -> None:
        self._cpds[cpd.variable] = cpd

    def nodes(self) -> list[str]:
        return self._nodes

    def get_cpds(self, node: str) -> TabularCPD | None:
        return self._cpds.get(node)


@pytest.fixture(scope="module", autouse=True)
def pgmpy() -> Any:
    parts = {
        "pgmpy": ModuleType("pgmpy"),
        "pgmpy.factors": ModuleType("pgmpy.factors"),
        "pgmpy.factors.discrete": SimpleNamespace(TabularCPD=TabularCPD),
        "pgmpy.models": SimpleNamespace(DiscreteBayesianNetwork=Model),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, module in parts.items():
            patch.setitem(sys.modules, name, module)
        yield


def frozen_model() -> Any:
    found = FROZEN["pgmpy"]
    cpds = {
        node: SimpleNamespace(
            variables=found["variables"][node],
            values=np.array(found["values"][node]),
            state_names=found["state_names"][node],
        )
        for node in found["nodes"]
    }
    return SimpleNamespace(nodes=lambda: found["nodes"], get_cpds=cpds.get)


def test_what_pgmpy_answers_becomes_the_network_that_was_put_in() -> None:
    network = from_pgmpy(frozen_model())
    assert network.names == tuple(FROZEN["pgmpy"]["nodes"])
    for name, table in FROZEN["tables"].items():
        assert [parent.name for parent in network[name].parents] == FROZEN["parents"][name]
        assert list(network[name].variable.states) == FROZEN["states"][name]
        np.testing.assert_allclose(network[name].table, table, rtol=1e-15)


def test_both_compute_the_same_posterior() -> None:
    found = from_pgmpy(frozen_model()).query("b", given=FROZEN["given"])
    np.testing.assert_allclose(found.values, FROZEN["pgmpy"]["posterior"], rtol=1e-13)


@given(networks())
def test_there_and_back(network: BayesianNetwork) -> None:
    model = to_pgmpy(network)
    assert tuple(model.edges) == network.edges
    assert from_pgmpy(model) == network


def test_models_that_are_not_finished_are_refused() -> None:
    model = frozen_model()
    model.get_cpds = {}.get
    with pytest.raises(InputError, match=r"Node '\w' has no table. Add one with model.add_cpds"):
        from_pgmpy(model)
    with pytest.raises(InputError, match=r"Names of nodes are text, got 1. Relabel"):
        from_pgmpy(SimpleNamespace(nodes=lambda: [1]))


def test_states_that_differ_between_tables_are_refused() -> None:
    model = to_pgmpy(from_pgmpy(frozen_model()))
    model.get_cpds("j").state_names["a"] = ["off", "on"]
    with pytest.raises(InputError, match="table of 'j' has other states of 'a'"):
        from_pgmpy(model)
