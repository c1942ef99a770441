"""Answers: tables, mappings and configurations that people read."""

from __future__ import annotations

import copy
import math
import pickle
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.joint_table import JointTable
from novum.graphical import (
    BayesianNetwork,
    Beliefs,
    Configuration,
    Diagnosis,
    FactorGraph,
    LikelihoodWeighting,
    Posterior,
)
from novum.graphical.models.answers import row_of_codes
from tests.graphical.networks_on_disk import network_on_disk
from tests.graphical.textbook_networks import alarm


def test_a_posterior_is_a_joint_table() -> None:
    table = alarm().query("Burglary", "Alarm", given={"JohnCalls": "true"})
    assert isinstance(table, JointTable)
    assert table.values is table.probabilities
    assert float(table.values.sum()) == pytest.approx(1.0)
    single = alarm().query("Burglary", given={"JohnCalls": "true"})
    assert np.allclose(table.marginal("Burglary").probabilities, single.values)
    assert (table.diagnosis, table.errors) == (None, None)
    with pytest.raises(ValueError, match="read-only"):
        table.values[0, 0] = 1.0


def test_an_approximate_answer_says_how_far_to_trust_it() -> None:
    axis = alarm().variables[0]
    errors = (np.array([0.01, 0.02]),)
    diagnosis = Diagnosis("tossing", True, "1000 <tosses>", 1000, errors)
    table = Posterior.of((axis,), Beliefs((np.array([0.25, 0.75]),), -1.5, diagnosis))
    text = repr(table)
    assert "1000 <tosses>" in text
    assert "at most 0.02" in text
    assert "&lt;tosses&gt;" in table._repr_html_()
    assert table.log_evidence == -1.5


def test_tables_of_engines_are_kept_as_they_were() -> None:
    axes = (alarm().variables[0],)
    own = np.array([0.25, 0.75])
    shown = own[:]
    shown.flags.writeable = False
    for table in (own, shown, [0.25, 0.75], np.array([0.25, 0.75], np.float32)):
        found = Posterior.of(axes, Beliefs((table,)))  # type: ignore[arg-type]
        assert (found.values.dtype, found.values.flags.writeable) == (np.float64, False)
        own[0] = 0.5
        assert found.values.tolist() == [0.25, 0.75]
        own[0] = 0.25


def pickled(table: Posterior) -> Posterior:
    found: Posterior = pickle.loads(pickle.dumps(table))
    return found


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_copies_cannot_be_written_to(copied: Callable[[Posterior], Posterior]) -> None:
    table = alarm().query("Burglary", "Alarm", given={"JohnCalls": "true"})
    assert table.names == ("Burglary", "Alarm")
    other = copied(table)
    assert other.values.tolist() == table.values.tolist()
    assert (other.names, other.states, repr(other)) == (table.names, table.states, repr(table))
    with pytest.raises(ValueError, match="read-only"):
        other.values[0, 0] = 1.0


def test_nobody_writes_to_marginals() -> None:
    network = network_on_disk("alarm")
    found = network.marginals()
    with pytest.raises(ValueError, match="read-only"):
        found[network.names[3]].values[0] = 1.0


def test_marginals_are_a_mapping_in_the_order_of_the_nodes() -> None:
    network = alarm()
    found = network.marginals({"MaryCalls": "false"})
    assert tuple(found) == network.names
    assert len(found) == 5
    assert found["MaryCalls"].values.tolist() == [0.0, 1.0]
    assert found.get("Alarn") is None
    assert "Alarn" not in found
    with pytest.raises(KeyError, match="did you mean 'Alarm'"):
        found["Alarn"]
    assert found.log_evidence == pytest.approx(network.log_evidence({"MaryCalls": "false"}))


def test_marginals_can_be_copied() -> None:
    found = alarm().marginals({"MaryCalls": "false"})
    copied = pickle.loads(pickle.dumps(found))
    assert repr(copied) == repr(found)
    assert copied["Alarm"].values.tolist() == found["Alarm"].values.tolist()


def test_long_and_hostile_answers_stay_readable() -> None:
    network = BayesianNetwork()
    for i in range(30):
        network = network.add(f"<node>\n{i}", table=[0.5, 0.5], states=["\x1b[2J", "b"])
    found = network.marginals()
    text, page = repr(found), found._repr_html_()
    assert "... 10 more nodes" in text
    assert "\x1b" not in text
    assert len(text.splitlines()) == 22
    assert "<node>" not in page
    assert "10 more nodes" in page


def test_configurations_are_dicts_with_their_probability() -> None:
    best = alarm().most_probable({"JohnCalls": "true"})
    assert isinstance(best, dict)
    assert best.probability == pytest.approx(math.exp(best.log_probability))
    assert repr(best).endswith("log-probability -3.00979")
    assert Configuration({"a": 1}, -1e5).probability == 0.0
    assert repr(Configuration({}, 0.0)) == "log-probability 0"
    with pytest.raises(InputError, match="5 variables need as many states, got 2"):
        row_of_codes(alarm().variables, [0, 1])


def test_a_configuration_is_a_table_in_notebooks() -> None:
    page = Configuration({"<a>": "x & y", "b": 1}, -2.5)._repr_html_()
    root = ElementTree.fromstring(page)
    assert [cell.text for cell in root.iter("td")] == ["x & y", "1"]
    assert [cell.text for cell in root.iter("th")] == ["node", "state", "<a>", "b"]
    assert "log-probability -2.5" in page


def test_approximate_marginals_say_so_in_notebooks_too() -> None:
    engine = LikelihoodWeighting(200, random_state=0)
    found = alarm().marginals({"Alarm": "true"}, engine=engine)
    assert found.diagnosis is not None
    assert repr(found).endswith(found.diagnosis.sentence)
    assert f"<p>{found.diagnosis.sentence}</p>" in found._repr_html_()
    assert "<p>" not in alarm().marginals()._repr_html_()


def test_answers_can_be_read_only() -> None:
    engine = LikelihoodWeighting(200, random_state=0)
    found = alarm().marginals({"Alarm": "true"}, engine=engine)
    table = found["Burglary"]
    for array in (table.values, table.errors, found.diagnosis.errors[0]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.5


def test_marginals_of_graphs_and_networks_can_be_pickled() -> None:
    for model in (alarm(), FactorGraph.of(alarm())):
        found = model.marginals()
        again = pickle.loads(pickle.dumps(found))
        assert list(again) == list(found)
        assert all(np.array_equal(again[name].values, found[name].values) for name in found)
