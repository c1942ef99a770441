"""pyAgrum's objects, by what they answered (frozen) and by stand-ins that take what it takes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from novum.graphical.formats.pyagrum import from_pyagrum, to_pyagrum
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.conditional import NetworkWarning
from tests.strategies.network_files import networks

FROZEN = json.loads((Path(__file__).parents[2] / "oracles" / "network_objects.json").read_text())


class LabelizedVariable:
    def __init__(self, name: str, description: str, labels: list[str]) -> None:
        assert all(isinstance(label, str) for label in [name, description, *labels])
        self._name, self._labels = name, tuple(labels)

    def name(self) -> str:
        return self._name

    def labels(self) -> tuple[str, ...]:
        return self._labels


class Tensor:
    """A table over named variables, the first of which runs fastest."""

    def __init__(self, bn: BayesNet, name: str) -> None:
        self.names = (name, *(parent for parent, child in bn.arcs if child == name))
        self.shape = [len(bn.variable(v).labels()) for v in reversed(self.names)]

    def fillWith(self, cells: list[float]) -> None:  # noqa: N802 - pyAgrum's name
        self.cells = np.reshape(cells, self.shape)

    def toarray(self) -> Any:
        return self.cells


class BayesNet:
    """As much of pyAgrum's network as converting needs."""

    def __init__(self) -> None:
        self.variables: list[LabelizedVariable] = []
        self.arcs: list[tuple[str, str]] = []
        self.tables: dict[str, Tensor] = {}

    def add(self, variable: LabelizedVariable) -> None:
        self.variables.append(variable)

    def addArc(self, parent: str, child: str) -> None:  # noqa: N802 - pyAgrum's name
        self.arcs.append((parent, child))

    def nodes(self) -> set[int]:
        return set(range(len(self.variables)))

    def variable(self, which: int | str) -> LabelizedVariable:
        if isinstance(which, int):
            return self.variables[which]
        return next(v for v in self.variables if v.name() == which)

    def cpt(self, name: str) -> Tensor:
        return self.tables.setdefault(name, Tensor(self, name))


@pytest.fixture(scope="module", autouse=True)
def pyagrum() -> Any:
    module = SimpleNamespace(BayesNet=BayesNet, LabelizedVariable=LabelizedVariable)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pyagrum", module)
        yield


def frozen_net() -> Any:
    found = FROZEN["pyagrum"]
    variables = [LabelizedVariable(v, v, found["labels"][v]) for v in found["names"]]
    tables = {
        v: SimpleNamespace(
            names=found["variables"][v], toarray=lambda v=v: np.array(found["arrays"][v])
        )
        for v in found["names"]
    }
    return SimpleNamespace(
        nodes=lambda: set(range(len(variables))), variable=variables.__getitem__, cpt=tables.get
    )


def test_what_pyagrum_answers_becomes_the_network_that_was_put_in() -> None:
    network = from_pyagrum(frozen_net())
    assert network.names == tuple(FROZEN["pyagrum"]["names"])
    for name, table in FROZEN["tables"].items():
        assert [parent.name for parent in network[name].parents] == FROZEN["parents"][name]
        assert list(network[name].variable.states) == FROZEN["states"][name]
        np.testing.assert_allclose(network[name].table, table, rtol=1e-15)


def test_both_compute_the_same_posterior() -> None:
    found = from_pyagrum(frozen_net()).query("b", given=FROZEN["given"])
    np.testing.assert_allclose(found.values, FROZEN["pyagrum"]["posterior"], rtol=1e-13)


def test_tables_are_laid_out_as_pyagrum_lays_them_out() -> None:
    bn = to_pyagrum(from_pyagrum(frozen_net()))
    for name in FROZEN["pyagrum"]["names"]:
        assert list(bn.cpt(name).names) == FROZEN["pyagrum"]["variables"][name]
        np.testing.assert_allclose(bn.cpt(name).toarray(), FROZEN["pyagrum"]["arrays"][name])


@given(networks())
def test_there_and_back(network: BayesianNetwork) -> None:
    assert from_pyagrum(to_pyagrum(network)) == network


def test_numbers_become_labels_with_a_warning() -> None:
    network = BayesianNetwork().add("n", table=[0.5, 0.5], states=[0, 1])
    with pytest.warns(NetworkWarning, match="A pyAgrum network holds states as text"):
        bn = to_pyagrum(network)
    assert bn.variable("n").labels() == ("0", "1")
