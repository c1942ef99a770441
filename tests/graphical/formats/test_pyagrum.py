"""Networks to pyAgrum and back, and the answers of both."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from novum.core.errors import InputError
from novum.graphical.formats.pyagrum import from_pyagrum, to_pyagrum
from novum.graphical.models.bayesian_network import BayesianNetwork
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
