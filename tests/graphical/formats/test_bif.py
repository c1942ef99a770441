"""BIF read token by token and written."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import FileFormatError, InputError
from novum.graphical.formats import bif
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.conditional import NetworkWarning
from tests.strategies.network_files import damaged, networks, refuses_or_reads

BUNDLED = Path(__file__).parents[3] / "benchmarks" / "data"
HEAD = """network "two dogs" { property "made by hand"; }
// a comment } with { marks
variable rain { type discrete [ 2 ] { yes, no }; property position = (1, 2); }
variable wet { /* several
lines */ type discrete[3] { <5, 5-12 "Asy/Patch" }; }
"""
RAIN = "probability ( rain ) { table 2e-1, .8; }\n"
WET = "probability ( wet | rain ) { (no) 0, 0.5 0.5; (yes) 1.0, 0.0, 0.0; }\n"


def read(text: str) -> BayesianNetwork:
    return BayesianNetwork(bif.read(text.encode(), "file.bif"))


def message(text: str) -> FileFormatError:
    with pytest.raises(FileFormatError) as caught:
        read(text)
    return caught.value


def test_every_construct_is_read() -> None:
    network = read(HEAD + RAIN + WET)
    assert network.names == ("rain", "wet")
    assert network["wet"].variable.states == ("<5", "5-12", "Asy/Patch")
    assert network["rain"].table.tolist() == [0.2, 0.8]
    assert network["wet"].table.tolist() == [[1, 0, 0], [0, 0.5, 0.5]]


def test_default_fills_the_rows_that_are_not_given() -> None:
    network = read(HEAD + RAIN + "probability(wet|rain){default 0.2,0.3,0.5; (no) 1,0,0;}")
    assert network["wet"].table.tolist() == [[0.2, 0.3, 0.5], [1, 0, 0]]


def test_a_table_with_parents_has_the_variable_as_slowest_index() -> None:
    # The dog problem of the format's definition, whose table begins with the four 'true's.
    text = """
    variable b { type discrete [ 2 ] { true, false }; }
    variable f { type discrete [ 2 ] { true, false }; }
    variable d { type discrete [ 2 ] { true, false }; }
    probability ( b ) { table 0.01 0.99; }
    probability ( f ) { table 0.15 0.85; }
    probability ( d b f ) { table 0.99 0.97 0.9 0.3 0.01 0.03 0.1 0.7; }
    """
    network = read(text)
    assert [axis.name for axis in network["d"].parents] == ["b", "f"]
    assert network["d"].table[..., 0].tolist() == [[0.99, 0.97], [0.9, 0.3]]


@pytest.mark.parametrize("name", ["asia", "child", "alarm", "hailfinder", "win95pts", "andes"])
def test_published_networks_are_read_and_kept(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)
        network = BayesianNetwork.read(BUNDLED / f"{name}.bif.gz")
    counts = {"asia": 18, "child": 230, "alarm": 509, "hailfinder": 2656, "win95pts": 574}
    # Parameters as the repository that publishes them states.
    assert network.n_parameters == counts.get(name, 1157)
    network.write(tmp_path / "copy.bif")
    assert BayesianNetwork.read(tmp_path / "copy.bif") == network


@given(networks())
def test_a_network_reads_back_to_the_bit(network: BayesianNetwork) -> None:
    text = bif.written(network, "x.bif")
    again = read(text)
    assert again == network
    assert bif.written(again, "x.bif") == text


WRONG = [
    ("variabel x {}", 1, 1, "expected 'network', 'variable' or 'probability', found 'variabel'"),
    (HEAD + RAIN, 4, 10, "variable 'wet' has no probability block"),
    (HEAD + RAIN + RAIN, 7, 15, "the probabilities of 'rain' occur twice"),
    (HEAD + "variable rain { type discrete [1] { a }; }", 6, 10, "variable 'rain' occurs twice"),
    (HEAD + "probability ( wett ) {", 6, 15, "there is no variable 'wett': did you mean 'wet'?"),
    (HEAD + "probability ( wet | rian ) {", 6, 21, "no variable 'rian': did you mean 'rain'?"),
    (HEAD + "probability ( wet | wet ) {", 6, 21, "'wet' stands twice in the block of 'wet'"),
    (HEAD + RAIN + "probability ( wet | rain ) { (yess) 1,0,0; }", 7, 31, "mean 'yes'?"),
    (HEAD + RAIN + "probability ( wet | rain ) { (yes) 1,0; }", 7, 30, "2 numbers for 'wet', 3"),
    (HEAD + RAIN + "probability ( wet | rain ) { (yes) 1,0,0,0; }", 7, 42, "expected ';' after 3"),
    (HEAD + RAIN + "probability ( wet | rain ) { (yes) 1,0,0; }", 7, 30, "row rain = no of 'wet'"),
    (HEAD + RAIN + "probability ( wet | rain ) { (yes, no) 1,0,0; }", 7, 30, "2 states for the 1"),
    (
        HEAD + RAIN + "probability ( wet | rain ) { (yes) 1,0,0; (yes) 1,0,0; }",
        7,
        43,
        "the row rain = yes occurs twice",
    ),
    (HEAD + "probability ( rain ) { table 0.2, 0.x; }", 6, 35, "expected a number, found '0.x'"),
    (HEAD + "probability ( rain ) { table 0.2, nan; }", 6, 35, "expected a number, found 'nan'"),
    (HEAD + "probability ( rain ) { table 0.2, 0.8;", 6, 39, "found the end of the file"),
    ("variable x { type discrete [ 3 ] { a, b }; }", 1, 30, "to have 3 states and lists 2"),
    ("variable x { type discrete [ 2 ] { a, a }; }", 1, 39, "state a of 'x' occurs twice"),
    ("variable x { type continuous; }", 1, 19, "expected 'discrete', found 'continuous'"),
    ('variable "x', 1, 10, "quotes that do not close"),
    ("variable x /* y", 1, 12, "a comment without an end"),
]


@pytest.mark.parametrize(("text", "line", "column", "words"), WRONG)
def test_a_malformed_file_names_place_and_reason(
    text: str, line: int, column: int, words: str
) -> None:
    error = message(text)
    assert (error.line, error.column) == (line, column), str(error)
    assert str(error).startswith(f"file.bif, line {line}, column {column}: ")
    assert words in str(error)


def test_cycles_are_shown() -> None:
    head = "variable a { type discrete [1] { x }; } variable b { type discrete [1] { x }; }"
    with pytest.raises(InputError, match="cycle: 'a' -> 'b' -> 'a'"):
        read(head + "probability (a | b) { (x) 1; } probability (b | a) { (x) 1; }")


def test_sixty_four_binary_parents_are_refused_before_anything_is_allocated() -> None:
    names = [f"x{i}" for i in range(64)]
    text = "".join(f"variable {name} {{ type discrete [2] {{ a, b }}; }}\n" for name in names)
    text += "".join(f"probability ({name}) {{ table 0.5, 0.5; }}\n" for name in names[:-1])
    text += f"probability (x63 | {', '.join(names[:40])}) {{ default 0.5, 0.5; }}"
    assert "'default' would fill 2199023255552 cells" in str(message(text))
    few = text.replace("default 0.5, 0.5;", "(a) 0.5, 0.5;")
    assert "1 states for the 40 parents of 'x63'" in str(message(few))


def test_deep_nesting_and_long_garbage_end_quickly() -> None:
    assert "expected" in str(message("{" * 1_000_000))
    assert "expected" in str(message("variable x { property " + "(" * 1_000_000))
    assert "without an end" in str(message("/* " * 1_000_000))
    assert "quotes" in str(message('variable "' + "\\" * 1_000_001))


VALID = bif.written(
    BayesianNetwork()
    .add("a", table=[0.25, 0.75], states=["x y", "z"])
    .add("b", ["a"], [[0.1, 0.9], [0.5, 0.5]]),
    "valid",
)


@settings(max_examples=300)
@given(damaged(VALID))
def test_damaged_files_are_refused_in_words(data: bytes) -> None:
    refuses_or_reads(bif, data)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_in_words(data: bytes) -> None:
    refuses_or_reads(bif, data)


def test_the_valid_file_of_the_fuzzing_is_valid() -> None:
    assert refuses_or_reads(bif, VALID.encode())
    assert np.array_equal(read(VALID)["b"].table, [[0.1, 0.9], [0.5, 0.5]])


REGULAR = """network unknown {
}
variable rain {
  type discrete [ 2 ] { yes, no };
}
variable wet {
  type discrete [ 2 ] { yes, no };
}
probability ( rain ) {
  table 0.2, 0.8;
}
probability ( wet | rain ) {
  (yes) 0.9, 0.1;
  (no) 0.2, 0.8;
}
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("0.2, 0.8;\n}\nprob", "1.2, -0.2;\n}\nprob", 10, "the table of 'rain' has 1.2"),
        ("(no) 0.2, 0.8", "(no) 1e999, 0.8", 14, "row rain = no has inf for state yes"),
        ("(yes) 0.9, 0.1", "(yes) -0.1, 1.1", 13, "row rain = yes has -0.1 for state yes"),
        ("(no) 0.2, 0.8", "(no) 0.2, 0.9", 14, "row rain = no sum to 1.1, not to 1"),
        ("(no) 0.2, 0.8", "default 0.2, 0.9", 14, "row rain = no sum to 1.1, not to 1"),
    ],
)
# A name in quotes makes the file irregular, which is read in another way.
@pytest.mark.parametrize("network", ["unknown", '"un known"'])
def test_wrong_numbers_name_their_line(
    old: str, new: str, line: int, words: str, network: str
) -> None:
    assert REGULAR.count(old) == 1
    found = message(REGULAR.replace(old, new).replace("unknown", network))
    assert words in str(found)
    assert (found.line, f"line {line}:" in str(found)) == (line, True)
