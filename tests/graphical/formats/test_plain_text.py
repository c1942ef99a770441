"""Files of the text that people write: nothing is lost, and errors name the file and the line."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings

from novum.core.errors import FileFormatError
from novum.graphical.formats import plain_text
from novum.graphical.models.bayesian_network import BayesianNetwork
from tests.graphical.models.test_network_text import COMPACT
from tests.strategies.network_files import damaged, networks, refuses_or_reads


@given(networks())
def test_networks_come_back_to_the_bit(network: BayesianNetwork) -> None:
    text = plain_text.written(network, "x.network")
    assert BayesianNetwork(plain_text.read(text.encode(), "x.network")) == network


@pytest.mark.parametrize("name", ["x.network", "x.network.gz"])
def test_compact_nodes_and_zeros_are_kept_without_a_warning(name: str, tmp_path: Path) -> None:
    network = BayesianNetwork.from_text(COMPACT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        network = BayesianNetwork([*network.conditionals, *_certain().conditionals])
        network.write(tmp_path / name)
        again = BayesianNetwork.read(tmp_path / name)
    assert again == network
    assert again.variables == network.variables


def _certain() -> BayesianNetwork:
    with pytest.warns(UserWarning, match="exactly 0"):
        return BayesianNetwork().add("sure", table=[1.0, 0.0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: x 0.5, y 0.6", "x.network, line 1: the probabilities of 'a' sum to 1.1, not to 1"),
        ("a: x 1\na: y 1", r"x.network, line 2: node 'a' occurs twice\.$"),
        ("", "x.network: there is no variable in it"),
        ("a | a\n x: x 1", "form a cycle: 'a' -> 'a'"),
    ],
)
def test_errors_name_the_file(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.network").write_text(text)
    with pytest.raises(ValueError, match=words) as caught:
        BayesianNetwork.read(tmp_path / "x.network")
    if "cycle" not in words:
        assert isinstance(caught.value, FileFormatError)


@given(damaged(COMPACT))
@settings(max_examples=300, deadline=None)
def test_damaged_files_are_refused_or_read(data: bytes) -> None:
    refuses_or_reads(plain_text, data)
