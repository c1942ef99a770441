"""Model files of strangers: networks, graphs and chains that no one could build are refused."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from novum.core.errors import ModelFileError
from novum.core.files import load, save
from novum.core.files.state_coding import StateEncoder
from novum.core.files.state_decoding import StateDecoder
from novum.graphical import (
    BayesianNetwork,
    Deterministic,
    Factor,
    FactorGraph,
    MarkovChain,
    NoisyOr,
)
from tests.graphical.models.test_network_text import COMPACT


class Parts(NamedTuple):
    """What a file holds."""

    node: dict[str, Any]
    arrays: list[Any]


def decoded(value: Any, change: Callable[[Parts], None]) -> Any:
    """A value that goes through its JSON and arrays, changed in between."""
    encoder = StateEncoder()
    node = json.loads(json.dumps(encoder.encode(value, "model")))
    arrays = [np.array(array) for array in encoder.arrays]
    change(Parts(node, arrays))
    return StateDecoder(arrays.__getitem__, len(arrays), 10**6).decode_model(node)


def chain_of_two() -> BayesianNetwork:
    network = BayesianNetwork().add("a", table=[0.25, 0.75])
    return network.add("b", ["a"], [[0.5, 0.5], [0.125, 0.875]])


def part(node: dict[str, Any], *names: str) -> Any:
    for name in names:
        node = node["fields"][name]
    return node


def wrong_sum(file: Parts) -> None:
    file.arrays[2][0] = 0.9


def cycle(file: Parts) -> None:
    file.arrays[0], file.arrays[1] = np.array([0, 2, 4]), np.array([1, 0, 0, 1])
    file.arrays[2] = np.full(8, 0.5)


def no_variables(file: Parts) -> None:
    part(file.node, "record")["fields"]["variables"] = "ab"


def other_record(file: Parts) -> None:
    file.node["fields"]["record"] = 5
    del file.arrays[:]


def same_names(file: Parts) -> None:
    part(file.node, "record", "variables")["items"][1]["fields"]["name"] = "a"


def no_names(file: Parts) -> None:
    part(file.node, "record", "variables")["items"][0]["fields"]["name"] = 5


def same_states(file: Parts) -> None:
    part(file.node, "record", "variables")["items"][0]["fields"]["states"]["items"] = ["x", "x"]


def huge(file: Parts) -> None:
    """Seventy parents of two states and no cells: nothing may be allocated."""
    items = [
        {
            "kind": "value",
            "name": "StateAxis",
            "fields": {
                "name": f"p{i}",
                "states": {"kind": "tuple", "items": ["x", "y"]},
                "ordered": False,
            },
        }
        for i in range(71)
    ]
    part(file.node, "record")["fields"]["variables"] = {"kind": "tuple", "items": items}
    file.arrays[0] = np.array([*range(71), 142])
    file.arrays[1] = np.array([*range(71), *range(71)][:142])
    file.arrays[2] = np.full(140, 0.5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (wrong_sum, r"table of 'a' sum to 1.65, not to 1"),
        (cycle, "cycle: '[ab]' -> '[ab]' -> '[ab]'"),
        (no_variables, "variables of a model's record are no tuple of StateAxis"),
        (other_record, "is made from its record"),
        (same_names, "one table for each variable of its own name"),
        (no_names, "sets name to a value of another type: int"),
        (same_states, "state twice"),
        (huge, "the limit is"),
    ],
)
def test_hostile_networks_are_refused(change: Any, words: str) -> None:
    with pytest.raises(ModelFileError, match=words):
        decoded(chain_of_two(), change)


def test_hostile_compact_nodes_are_refused() -> None:
    network = BayesianNetwork.from_text(COMPACT)
    noisy, function = network["fever"], network["both"]
    assert isinstance(noisy, NoisyOr)
    assert isinstance(function, Deterministic)

    def strength(file: Parts) -> None:
        file.node["fields"]["strengths"]["items"][0] = 1.5

    def code(file: Parts) -> None:
        file.arrays[0][0, 0] = 2

    def shape(file: Parts) -> None:
        file.arrays[0] = file.arrays[0][:1]

    def real(file: Parts) -> None:
        file.arrays[0] = file.arrays[0].astype(float)

    def renamed(file: Parts) -> None:
        compact = part(file.node, "record", "compact")["items"]
        compact[1] = compact[0]

    for value, change, words in (
        (noisy, strength, "strengths and leak are probabilities"),
        (function, code, "number its 2 states from 0"),
        (function, shape, "have shape"),
        (function, real, "sets codes to a value of another type"),
        (network, renamed, "The compact node 'fever' has another scope"),
    ):
        with pytest.raises(ModelFileError, match=words):
            decoded(value, change)


def test_hostile_graphs_and_chains_are_refused() -> None:
    graph = FactorGraph([Factor([1.0, 2.0], {"a": (0, 1)})])

    def negative_cell(file: Parts) -> None:
        file.arrays[2][0] = -1.0

    with pytest.raises(ModelFileError, match="finite and at least 0"):
        decoded(graph, negative_cell)

    def wide(file: Parts) -> None:
        file.arrays[0] = np.ones((2, 3)) / 3

    def off(file: Parts) -> None:
        file.arrays[0] = np.full((2, 2), 0.6)

    chain = MarkovChain([[0.5, 0.5], [0.25, 0.75]])
    for change, words in ((wide, "square"), (off, "sum to 1")):
        with pytest.raises(ModelFileError, match=words):
            decoded(chain, change)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.novum"
    save(chain_of_two(), path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelFileError, match=r"x\.novum"):
        load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", "{}")
    with pytest.raises(ModelFileError, match=r"x\.novum"):
        load(path)
