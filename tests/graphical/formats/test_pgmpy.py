"""Networks to pgmpy and back, and the answers of both."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from novum.core.errors import InputError, MemoryLimitError
from novum.graphical.formats.other_libraries import from_pgmpy, to_pgmpy
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.compact import noisy_or
from tests.graphical.networks_on_disk import network_on_disk
from tests.strategies.network_files import networks

CELLS = {"rain": np.array([[0.2, 0.8]]), "wet": np.array([[0.9, 0.1], [0.3, 0.7]])}
STATES = {"rain": ["yes", "no"], "wet": ["soaked", "dry"]}


@cache
def pgmpy() -> Any:
    """What is used of it; it brings torch, for which collecting the tests need not wait."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.inference import VariableElimination
        from pgmpy.models import DiscreteBayesianNetwork
        from pgmpy.readwrite import XMLBIFReader
    names = (TabularCPD, VariableElimination, DiscreteBayesianNetwork, XMLBIFReader)
    return SimpleNamespace(**{name.__name__: name for name in names})


def model(**of_wet: Any) -> Any:
    """Rain makes wet, as pgmpy has it: the variable itself is the first axis."""
    found = pgmpy().DiscreteBayesianNetwork([("rain", "wet")])
    found.add_cpds(
        pgmpy().TabularCPD("rain", 2, CELLS["rain"].T, state_names={"rain": STATES["rain"]}),
        pgmpy().TabularCPD(
            "wet", 2, CELLS["wet"].T, ["rain"], [2], **{"state_names": STATES} | of_wet
        ),
    )
    return found


def test_what_pgmpy_holds_becomes_the_network_that_was_put_in() -> None:
    network = from_pgmpy(model())
    assert network.edges == (("rain", "wet"),)
    for name, states in STATES.items():
        assert list(network[name].variable.states) == states
    np.testing.assert_allclose(network["rain"].table, CELLS["rain"][0], rtol=1e-15)
    np.testing.assert_allclose(network["wet"].table, CELLS["wet"], rtol=1e-15)


def test_both_compute_the_same_posteriors() -> None:
    network = network_on_disk("asia")
    asked = pgmpy().VariableElimination(to_pgmpy(network))
    known = {"xray": "yes", "dysp": "no"}
    for node, table in network.marginals(known).items():
        if node not in known:
            found = asked.query([node], known, show_progress=False)
            assert found.state_names[node] == list(table.states[0])
            np.testing.assert_allclose(table.values, found.values, atol=1e-13)


@given(networks())
def test_there_and_back(network: BayesianNetwork) -> None:
    found = to_pgmpy(network)
    assert set(found.edges) == set(network.edges)
    assert found.check_model()
    assert from_pgmpy(found) == network


def test_models_that_are_not_finished_are_refused() -> None:
    bare = pgmpy().DiscreteBayesianNetwork([("rain", "wet")])
    with pytest.raises(InputError, match=r"Node 'rain' has no table. Add one with model.add_cpds"):
        from_pgmpy(bare)
    numbered = pgmpy().DiscreteBayesianNetwork()
    numbered.add_node(1)
    with pytest.raises(InputError, match=r"Names of nodes are text, got 1. Relabel"):
        from_pgmpy(numbered)


def test_states_that_differ_between_tables_are_refused() -> None:
    swapped = model(state_names={"rain": ["no", "yes"], "wet": ["soaked", "dry"]})
    with pytest.raises(InputError, match="table of 'wet' has other states of 'rain'"):
        from_pgmpy(swapped)


def test_pgmpy_reads_the_xml_files(tmp_path: Path) -> None:
    network = from_pgmpy(model()).add(
        "both", ["rain", "wet"], [[[0.1, 0.9], [0.2, 0.8]], [[0.3, 0.7], [0.4, 0.6]]]
    )
    network.write(tmp_path / "x.xmlbif")
    again = from_pgmpy(pgmpy().XMLBIFReader(str(tmp_path / "x.xmlbif")).get_model())
    np.testing.assert_allclose(again["both"].table, network["both"].table, rtol=1e-12)


def test_a_table_too_large_to_exist_is_refused_before_it_is_made() -> None:
    network = BayesianNetwork()
    for number in range(30):
        network = network.add(f"p{number}", table=[0.3, 0.7])
    network = network.add("x", network.names, noisy_or([0.5] * 30, leak=0.1))
    with pytest.raises(MemoryLimitError, match="A pgmpy network: the table of 'x' with its 30"):
        to_pgmpy(network)


def test_other_objects_are_refused_in_words() -> None:
    with pytest.raises(InputError, match="from_pgmpy reads a pgmpy DiscreteBayesianNetwork, got 3"):
        from_pgmpy(3)
