"""Networks to pyAgrum and back, and the answers of both."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from novum.core.errors import InputError, MemoryLimitError
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.formats.other_libraries import from_pyagrum, to_pyagrum
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.compact import noisy_or
from novum.graphical.models.conditional import NetworkWarning
from tests.graphical.networks_on_disk import network_on_disk
from tests.strategies.network_files import networks

with warnings.catch_warnings():
    # Its extension module was generated; warnings of that as errors end the process.
    warnings.simplefilter("ignore")
    import pyagrum

STATES = {"b": ["true", "false"], "e": ["yes", "no", "strong"], "a": ["on", "off"], "j": ["1", "0"]}
PARENTS = {"b": [], "e": [], "a": ["e", "b"], "j": ["a"]}


def cells_of(name: str) -> Any:
    rng = np.random.default_rng(len(name) + ord(name[0]))
    shape = [*(len(STATES[parent]) for parent in PARENTS[name]), len(STATES[name])]
    return rng.dirichlet(np.ones(shape[-1]), shape[:-1])


def net() -> Any:
    """A network written into pyAgrum row by row, each named by its states."""
    bn = pyagrum.BayesNet()
    for name, labels in STATES.items():
        bn.add(pyagrum.LabelizedVariable(name, name, labels))
    for name, parents in PARENTS.items():
        for parent in parents:
            bn.addArc(parent, name)
    for name, parents in PARENTS.items():
        cells = cells_of(name)
        for index in np.ndindex(*cells.shape[:-1]):
            row = {p: STATES[p][i] for p, i in zip(parents, index, strict=True)}
            bn.cpt(name)[row] = cells[index].tolist()
    return bn


def test_what_pyagrum_holds_becomes_the_network_that_was_put_in() -> None:
    network = from_pyagrum(net())
    assert set(network.names) == set(STATES)
    for name, parents in PARENTS.items():
        assert [parent.name for parent in network[name].parents] == parents
        assert list(network[name].variable.states) == STATES[name]
        np.testing.assert_allclose(network[name].table, cells_of(name), rtol=1e-15)


@pytest.mark.parametrize("name", ["asia", "child", "alarm"])
def test_both_compute_the_same_posteriors(name: str) -> None:
    network = network_on_disk(name)
    bn = to_pyagrum(network)
    row = network.sample(1, random_state=0).to_pylist()[0]
    known = {v: row[v] for v in network.names[:: max(2, len(network) // 5)]}
    engine = pyagrum.LazyPropagation(bn)
    engine.setEvidence(known)
    engine.makeInference()
    for node, table in network.marginals(known).items():
        np.testing.assert_allclose(table.values, engine.posterior(node).toarray(), atol=1e-13)
    assert network.probability(known) == pytest.approx(engine.evidenceProbability(), rel=1e-12)


@given(networks())
def test_there_and_back(network: BayesianNetwork) -> None:
    assert from_pyagrum(to_pyagrum(network)) == network


def test_variables_of_every_kind_are_read_by_their_labels() -> None:
    bn = pyagrum.BayesNet()
    bn.add(pyagrum.RangeVariable("r", "a range", 1, 3))
    bn.add(pyagrum.DiscretizedVariable("d", "intervals", [0.0, 1.5, 4.0]))
    for name in ("r", "d"):
        bn.cpt(name).fillWith(1.0).normalize()
    network = from_pyagrum(bn)
    assert network["r"].variable.states == ("1", "2", "3")
    assert len(network["d"].variable.states) == 2


def test_numbers_become_labels_with_a_warning() -> None:
    network = BayesianNetwork().add("n", table=[0.5, 0.5], states=[0, 1])
    with pytest.warns(NetworkWarning, match="A pyAgrum network holds states as text"):
        bn = to_pyagrum(network)
    assert bn.variable("n").labels() == ("0", "1")


def test_tables_that_are_not_filled_are_refused() -> None:
    bn = pyagrum.BayesNet()
    bn.add(pyagrum.LabelizedVariable("v", "v", 2))
    with pytest.raises(InputError, match="'v'"):
        from_pyagrum(bn)


def by_cell(bn: Any, name: str) -> Any:
    """A table read cell by cell, with the variable as the last axis."""
    table = bn.cpt(name)
    variable, *parents = table.names
    sizes = [bn.variable(each).domainSize() for each in (*parents, variable)]
    cells = np.empty(sizes)
    for index in np.ndindex(*sizes):
        place = pyagrum.Instantiation(table)
        for each, state in zip((*parents, variable), index, strict=True):
            place.chgVal(each, state)
        cells[index] = table.get(place)
    return cells


WEIGHTED = ["NoisyOR", "NoisyORNet", "NoisyORCompound", "NoisyAND", "Logit"]
AGGREGATES = ["AND", "OR", "MAX", "MIN", "MEDIAN"]


@pytest.mark.parametrize("kind", [*WEIGHTED, *AGGREGATES])
def test_tables_that_pyagrum_computes_are_read_cell_by_cell(kind: str) -> None:
    bn = pyagrum.BayesNet()
    for name in ("p", "q", "r"):
        bn.add(pyagrum.LabelizedVariable(name, name, 2))
        bn.cpt(name).fillWith([0.4, 0.6])
    leak = [0.1] if kind in WEIGHTED else []
    getattr(bn, f"add{kind}")(pyagrum.LabelizedVariable("n", "n", 2), *leak)
    for name, weight in (("p", 0.3), ("q", 0.6), ("r", 0.8)):
        if leak:
            bn.addWeightedArc(name, "n", weight)
        else:
            bn.addArc(name, "n")
    network = from_pyagrum(bn)
    np.testing.assert_allclose(network["n"].table, by_cell(bn, "n"), atol=1e-15)


def causes(n: int, states: list[str]) -> BayesianNetwork:
    network = BayesianNetwork()
    for number in range(n):
        network = network.add(f"p{number}", table=[0.3, 0.7], states=states)
    strengths = np.linspace(0.2, 0.9, n).tolist()
    return network.add("x", network.names, noisy_or(strengths, leak=0.05), states)


def test_a_noisy_or_of_pyagrums_form_stays_one() -> None:
    network = causes(30, ["no", "yes"])
    bn = to_pyagrum(network)
    table = bn.cpt("x")
    known = pyagrum.Instantiation(table)
    known.chgVal("x", 1)
    assert table.get(known) == pytest.approx(0.05, rel=1e-12)
    known.chgVal("p0", 1)
    assert table.get(known) == pytest.approx(1 - 0.95 * 0.8, rel=1e-12)
    small = causes(3, ["no", "yes"])
    np.testing.assert_allclose(by_cell(to_pyagrum(small), "x"), small["x"].table, atol=1e-15)
    with pytest.raises(
        MemoryLimitError, match="From pyAgrum: the table of 'x' with its 30 parents"
    ):
        from_pyagrum(bn)


def test_a_table_too_large_to_exist_is_refused_before_it_is_made() -> None:
    network = causes(30, ["yes", "no"])
    with pytest.raises(MemoryLimitError, match="'x' with its 30 parents has 2,147,483,648 cells"):
        to_pyagrum(network)
    small = causes(3, ["yes", "no"])
    with pytest.warns(NetworkWarning, match="tables in full: 'x'"):
        bn = to_pyagrum(small)
    np.testing.assert_allclose(by_cell(bn, "x"), small["x"].table, atol=1e-15)


@pytest.mark.parametrize("given", [3, None, "net.bif"])
def test_other_objects_are_refused_in_words(given: object) -> None:
    with pytest.raises(InputError, match=r"from_pyagrum reads a pyagrum\.BayesNet, got"):
        from_pyagrum(given)


@given(networks())
def test_pyagrum_reads_the_xml_files(network: BayesianNetwork) -> None:
    plain = network.rename({name: f"n{place}" for place, name in enumerate(network.names)})
    axes = {axis.name: axis for axis in plain.variables}
    for name, axis in axes.items():
        states = tuple(f"s{place}" for place in range(len(axis.states)))
        axes[name] = StateAxis(name, states)
    plain = BayesianNetwork(
        item.renamed(axes[item.name], tuple(axes[parent.name] for parent in item.parents))
        for item in plain.conditionals
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.bifxml"
        plain.write(path)
        again = from_pyagrum(pyagrum.loadBN(str(path)))
    for name in plain.names:
        ours, theirs = plain.families(name)[name], again.families(name)[name]
        for parent in plain[name].parents:
            assert parent in again[name].parents
        turned = theirs.values.transpose([theirs.names.index(n) for n in ours.names])
        np.testing.assert_allclose(turned, ours.values, atol=1e-6)
