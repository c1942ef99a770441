"""Hugin files."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import FileFormatError, InputError
from novum.graphical.formats import hugin
from novum.graphical.models.bayesian_network import BayesianNetwork
from tests.strategies.network_files import PLAIN, damaged, networks, refuses_or_reads

HEAD = """% made by hand
net { node_size = (80 40); name = "x"; }
node rain { label = "Rain; or } not"; states = ("yes" "no"); position = (10 20); }
discrete node sprinkler { states = (on off); }
node wet { states = ("yes" "no"); }
potential (rain) { data = (0.2 0.8); }
potential (sprinkler | ) { data = ( 0.5, 0.5 ); }
"""
WET = "potential (wet | rain sprinkler) { data = %s; meta = 1; }"


def read(text: str) -> BayesianNetwork:
    return BayesianNetwork(hugin.read(text.encode(), "file.net"))


@pytest.mark.parametrize(
    "data",
    [
        "(((0.9 0.1)(0.8 0.2))((0.7 0.3)(0.1 0.9)))",
        "(0.9 0.1 0.8 0.2 0.7 0.3 0.1 0.9)",
        "((0.9 0.1 0.8 0.2) % first\n (0.7 0.3 0.1 0.9))",
        "0.9 0.1 0.8 0.2 0.7 0.3 0.1 0.9",
    ],
)
def test_parents_are_the_first_indices(data: str) -> None:
    network = read(HEAD + WET % data)
    assert network.names == ("rain", "sprinkler", "wet")
    assert network["sprinkler"].variable.states == ("on", "off")
    assert network["wet"].table.tolist() == [[[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.1, 0.9]]]


@given(networks(PLAIN))
def test_a_network_reads_back_to_the_bit(network: BayesianNetwork) -> None:
    assert read(hugin.written(network, "x.net")) == network


@pytest.mark.parametrize("name", ["two words", "1st", "node", "ß"])
def test_names_that_are_no_identifiers_are_refused(name: str) -> None:
    network = BayesianNetwork().add(name, table=[0.5, 0.5])
    with pytest.raises(InputError, match=r"digits and _, and .* is not. Use network.rename"):
        hugin.written(network, "x.net")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (HEAD, 5, "node 'wet' has no potential"),
        (HEAD + WET % "(0.1 0.9)", 8, "2 numbers for 'wet', 8 are needed"),
        (HEAD + WET % "(((0.9 0.1 0.2)", 8, "closes a group that is no part of"),
        (HEAD + WET % "((((0.9", 8, "nested more than 3 deep"),
        (HEAD + WET % "(0.9 0.1 0.8 0.2 0.7 0.3 0.1 0.9", 8, "and every '(' a ')'"),
        (HEAD + WET % "0.1)", 8, "closes a group"),
        (HEAD + WET % "(x)", 8, "expected a number, found 'x'"),
        (HEAD + "potential (wett) { }", 8, "no node 'wett': did you mean 'wet'?"),
        (HEAD + "potential (wet | wet) { }", 8, "'wet' stands twice in the potential of 'wet'"),
        (HEAD + "potential (rain) { }", 8, "the potential of 'rain' occurs twice"),
        (HEAD + "potential (wet) { }", 8, "the potential of 'wet' has no data"),
        (HEAD + "potential (wet) { model_data = ( Not(rain) ); }", 8, "is a formula"),
        (HEAD + "node rain { states = (a); }", 8, "node 'rain' occurs twice"),
        (HEAD + "node x { states = (a a); }", 8, "state a of 'x' occurs twice"),
        (HEAD + "node x { label = 1; }", 8, "node 'x' has no states"),
        (HEAD + "utility u { }", 8, "'utility' is not read"),
        (HEAD + "node x { states = (a b", 8, "expected a state or ')', found the end of the"),
        (HEAD + "node x { label = 1", 8, "expected ';' behind an attribute"),
    ],
)
def test_malformed_files_name_place_and_reason(text: str, line: int, words: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        read(text)
    assert words in str(caught.value)
    assert caught.value.line == line, str(caught.value)


VALID = HEAD + WET % "(((0.9 0.1)(0.8 0.2))((0.7 0.3)(0.1 0.9)))"


@settings(max_examples=200)
@given(damaged(VALID))
def test_damaged_files_are_refused_in_words(data: bytes) -> None:
    refuses_or_reads(hugin, data)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_in_words(data: bytes) -> None:
    refuses_or_reads(hugin, data)


def test_deep_nesting_ends_in_a_message() -> None:
    with pytest.raises(FileFormatError, match="nested more than"):
        read(HEAD + WET % ("(" * 1_000_000))
    with pytest.raises(FileFormatError, match="expected"):
        read("net {" * 100_000)


def test_wrong_numbers_name_their_line() -> None:
    data = "(((0.9 0.1)\n (0.8 0.2))\n((0.7 0.4)\n(0.1 0.9)))"
    with pytest.raises(FileFormatError, match=r"rain = no, sprinkler = on sum to 1\.1") as caught:
        read(HEAD + WET % data)
    assert caught.value.line == HEAD.count("\n") + 3
