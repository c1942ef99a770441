"""What formats with names cannot hold is said once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from novum.core.errors import InputError, MemoryLimitError
from novum.graphical.formats.draft import text_states
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.compact import noisy_or
from novum.graphical.models.conditional import NetworkWarning


def test_text_states_pass_without_a_word() -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5], states=["x", "y"])
    assert text_states(network, "file") == {"a": ("x", "y")}


def test_numbers_order_and_compact_tables_are_named_in_one_warning(tmp_path: Path) -> None:
    network = (
        BayesianNetwork()
        .add("number", table=[0.5, 0.5], states=[1, 2])
        .add("order", table=[0.5, 0.5], states=["low", "high"], ordered=True)
        .add("cause", table=[0.5, 0.5])
        .add("effect", ["cause"], noisy_or([0.8], leak=0.1))
    )
    with pytest.warns(NetworkWarning) as caught:
        network.write(tmp_path / "x.bif")
    assert len(caught) == 1
    assert "'number', 'order', 'effect' will read back so" in str(caught[0].message)
    assert caught[0].filename == __file__
    again = BayesianNetwork.read(tmp_path / "x.bif")
    assert again["number"].variable.states == ("1", "2")
    assert again["effect"].table.tolist() == network["effect"].table.tolist()


@pytest.mark.parametrize("states", [["", "x"]])
def test_states_that_text_cannot_tell_apart_are_refused(states: list[object]) -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5], states=states)
    with pytest.raises(InputError, match="node 'a' has states that are empty or equal as text"):
        text_states(network, "file")


@pytest.mark.parametrize("suffix", [".bif", ".xmlbif", ".net", ".uai"])
def test_a_node_whose_table_cannot_exist_is_named(suffix: str, tmp_path: Path) -> None:
    network = BayesianNetwork()
    for number in range(30):
        network = network.add(f"p{number}", table=[0.3, 0.7])
    network = network.add("x", network.names, noisy_or([0.5] * 30, leak=0.1))
    text = f"file{suffix}: the table of 'x' with its 30 parents has 2,147,483,648 cells"
    with pytest.raises(MemoryLimitError, match=re.escape(text)) as caught:
        network.write(tmp_path / f"file{suffix}")
    assert ".network file keeps compact nodes" in str(caught.value)
    network.write(tmp_path / "file.network")
    assert BayesianNetwork.read(tmp_path / "file.network") == network
