"""Networks as text: what is written is read back, and what is wrong is named by its line."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import FileFormatError, InputError, MemoryLimitError
from novum.distributions.joint_table_states import StateAxis
from novum.graphical import BayesianNetwork, Deterministic, NoisyOr, Tabular, noisy_or
from novum.graphical.models.network_text import parsed
from novum.graphical.models.states import check_told_apart
from tests.graphical.textbook_networks import ALARM_TEXT, alarm, random_network

STATES = st.one_of(
    st.text(max_size=6),
    st.integers(-(10**20), 10**20),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["nan", "inf", "True", "1", "1e5", "#", '"', "\\", "\\n", "a b", "\u2028"]),
)


@settings(deadline=None)
@given(
    st.lists(st.text(min_size=1, max_size=8), min_size=2, max_size=2, unique=True),
    st.lists(STATES, min_size=1, max_size=4),
)
def test_any_names_and_states_come_back(names: list[str], states: list[object]) -> None:
    kept: list[object] = []
    for state in states:
        try:
            check_told_apart(StateAxis("a", (*kept, state)))
        except InputError:
            continue
        kept.append(state)
    first = StateAxis(names[0], tuple(kept))
    second = StateAxis(names[1], ("yes", "no"))
    network = BayesianNetwork(
        [
            Tabular(first, (), [1 / len(kept)] * len(kept)),
            Tabular(second, (first,), [[0.25, 0.75]] * len(kept)),
        ]
    )
    again = BayesianNetwork.from_text(network.to_text())
    assert again == network
    for mine, theirs in zip(again.variables, network.variables, strict=True):
        assert [type(s) for s in mine.states] == [type(s) for s in theirs.states]


@given(st.integers(0, 1000))
def test_probabilities_keep_every_bit(seed: int) -> None:
    network = random_network(seed)
    assert BayesianNetwork.from_text(network.to_text()) == network


def test_the_text_of_the_alarm_reads_as_people_write_it() -> None:
    network = alarm()
    assert network.edges == (
        ("Burglary", "Alarm"),
        ("Earthquake", "Alarm"),
        ("Alarm", "JohnCalls"),
        ("Alarm", "MaryCalls"),
    )
    assert network["Alarm"].table[1, 0].tolist() == [0.29, 0.71]
    # Comments, empty lines, states in another order, a node before its parents, Windows lines.
    text = "# tooth\r\nwet | rain  # below\r\n  no: no .9, yes .1\r\n\r\n  yes: yes 0.8, no 0.2\r\n"
    text += "rain: no 0.7, yes 0.3\r\n"
    wet = BayesianNetwork.from_text(text)["wet"]
    assert wet.variable.states == ("no", "yes")
    assert wet.table.tolist() == [[0.9, 0.1], [0.2, 0.8]]
    assert len(BayesianNetwork.from_text("")) == 0
    assert BayesianNetwork.from_text("\ufeffa: x 1").names == ("a",)


def test_truth_values_numbers_and_text_are_different_states() -> None:
    network = BayesianNetwork().add("m", table=[0.1, 0.2, 0.3, 0.4], states=[True, 2, "1", 0.5])
    text = network.to_text()
    assert text == 'm: True 0.1, 2 0.2, "1" 0.3, 0.5 0.4\n'
    assert BayesianNetwork.from_text(text) == network
    big = BayesianNetwork.from_text("a: 9007199254740993 1.0")
    assert big.variables[0].states == (9007199254740993,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: x 0.5, x 0.5", "Line 1 .* state twice"),
        ("a: x .5, y .5\nb | a\n y: u 1, v 0\n\n x: u .5, v .6", "Line 5 .* 'b' sum to 1.1, not"),
        ("a: x .5, y .5\nb | a\n y: u -1, v 2\n x: u 1, v 0", "Line 3 .* lie between 0 and 1"),
        ("\na: x 1e999, y 0", "Line 2 .* lie between 0 and 1"),
        ('\na: 1 0.5, "1" 0.5', "Line 2 .* '1' and 1 of 'a' are the same once"),
        ("\na: x 1_0, y 0.5", "Line 2 .* '1_0' is no probability"),
        ("a: x nan, y .5", "'nan' is no probability"),
        ('a: x 0.5, y "0.5"', "'0.5' is no probability"),
        ("a: x 0.5 y 0.5", "state number, state number"),
        ("a: x 0.5,, y 0.5", "state number, state number"),
        ("a", "a node is 'name"),
        ("a:", "a node is 'name"),
        (": x 1", "a node is 'name"),
        ("a | b", "has parents and no rows"),
        ("a | b\n  x: y 1", "Line 1 .* 'b' is no node"),
        ("  x", "belongs to no node"),
        ("a: x 0.5, y 0.5\n x: y 1", "Line 2 .* belongs to no node"),
        ("a: x 1\na: x 1", "Line 2 .* 'a' occurs twice"),
        ("a: x .5, y .5\nb | a\n x: y 1\n x: y 1", "Line 4 .* occurs twice"),
        ("a: x .5, y .5\nb | a\n x: u 1", "Line 2 .* 'b' has no row for a = y"),
        ("a: x .5, y .5\nb | a\n q: u 1\n y: u 1", "Line 3 .* no state q"),
        ("a: x .5, y .5\nb | a\n x: u .5, v .5\n y: u .5, w .5", "Line 4 .* no state w"),
        ("a: x .5, y .5\nb | a\n x: u .5, v .5\n y: u 1", "Line 4 .* each of its states once"),
        ("a: x .5, y .5\nb | a\n x, y: u 1", "Line 3 .* 2 states for 1 parents"),
        ("a: x .5, y .5\nb | a\n x u 1", "Line 3 .* a row is"),
        ('a: "x 1', "quote is not closed"),
        ("a | b c\n x: y 1", "separated by commas"),
        ("\x00", "is not expected; quote names"),
        (r'a: "\UFFFFFFFF" 1', "there is no character"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        parsed(text)


def test_what_is_wrong_with_the_network_is_said_as_everywhere() -> None:
    with pytest.raises(InputError, match=r"sum to 1\.1, not to 1"):
        BayesianNetwork.from_text("a: x 0.5, y 0.6")
    with pytest.raises(InputError, match="form a cycle: 'a' -> 'a'"):
        BayesianNetwork.from_text("a | a\n x: x 1")
    with pytest.raises(InputError, match="is text, got b'a'"):
        BayesianNetwork.from_text(b"a")  # type: ignore[arg-type]


@given(st.text(alphabet=' \n\t:|,#"\\abx01.-5', max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        network = BayesianNetwork.from_text(text)
    except InputError:
        return
    except UserWarning:  # zero cells
        return
    assert BayesianNetwork.from_text(network.to_text()) == network


@given(st.integers(0, len(ALARM_TEXT) - 1), st.characters())
def test_one_wrong_character_never_crashes(place: int, character: str) -> None:
    text = ALARM_TEXT[:place] + character + ALARM_TEXT[place + 1 :]
    with contextlib.suppress(InputError, UserWarning):
        BayesianNetwork.from_text(text)


# --- Compact nodes --------------------------------------------------------------------------------

COMPACT = """cold: yes 0.1, no 0.9
flu, ordered: none 0.7, mild 0.2, severe 0.1
fever | cold, flu = noisy or: no, yes
    leak: yes 0.01
    cold, no: yes 0.4
    flu, none: yes 0.8
both | cold, fever = function: 0, 1
    yes, no: 0
    yes, yes: 1
    no, no: 0
    no, yes: 0
fixed = function: a, b
    : b
"""


def test_compact_nodes_are_written_as_they_are() -> None:
    network = BayesianNetwork.from_text(COMPACT)
    assert network.to_text() == COMPACT
    fever, both, fixed = (network[name] for name in ("fever", "both", "fixed"))
    assert isinstance(fever, NoisyOr)
    assert (fever.strengths, fever.leak) == ((0.4, 0.8), 0.01)
    assert (fever.active, fever.inactive) == ({"fever": "yes"}, {"cold": "no", "flu": "none"})
    assert isinstance(both, Deterministic)
    assert both.table[0, 1].tolist() == [0.0, 1.0]
    assert isinstance(fixed, Deterministic)
    assert fixed.codes.tolist() == 1
    assert network.variables[1].ordered


def test_a_noisy_or_of_many_parents_is_no_table() -> None:
    names = [f"p{i}" for i in range(100)]
    network = BayesianNetwork()
    for name in names:
        network = network.add(name, table=[0.1, 0.9])
    network = network.add("x", names, noisy_or([0.1] * 100, leak=0.2))
    text = network.to_text()
    assert len(text.splitlines()) == 100 + 102
    assert BayesianNetwork.from_text(text) == network


@given(
    st.lists(STATES, min_size=2, max_size=2),
    st.floats(0.01, 0.99),
    st.text(min_size=1).filter(lambda name: name != "f"),
    st.booleans(),
)
def test_any_states_of_compact_nodes_come_back(
    states: list[object], share: float, name: str, ordered: bool
) -> None:
    try:
        own = StateAxis("own" + name, tuple(states), ordered)
        check_told_apart(own)
    except InputError:
        return
    parent = StateAxis(name, tuple(states))
    network = BayesianNetwork(
        [
            Tabular(parent, (), [0.5, 0.5]),
            NoisyOr(own, (parent,), [share], share, {own.name: states[1]}, {name: states[0]}),
            Deterministic(StateAxis("f", tuple(states)), (own,), list(reversed(states))),
        ]
    )
    again = BayesianNetwork.from_text(network.to_text())
    assert again == network
    assert again.variables == network.variables


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("noisy or: no, yes", "noisy and: no, yes", "Line 3 .* a compact node has"),
        ("noisy or: no, yes", "noisy or", "Line 3 .* a compact node has"),
        ("noisy or: no, yes", "noisy or: no, yes, so", "Line 3 .* has two states"),
        ("noisy or: no, yes", "noisy or: no, no", "Line 3 .* state twice"),
        ("    leak: yes 0.01\n", "", "Line 4 .* has a row 'leak: state probability'"),
        ("leak: yes 0.01", "leak: yes 1.01", "Line 3 .* probabilities between 0 and 1"),
        ("leak: yes 0.01", "leak: oui 0.01", "Line 5 .* no state oui"),
        ("leak: yes 0.01", "leak: yes", "Line 4 .* probabilities are"),
        ("cold, no: yes 0.4", "cold, no: no 0.4", "Line 5 .* that of the row of the leak"),
        ("cold, no: yes 0.4", "cold, non: yes 0.4", "Line 3 .* no state non"),
        ("cold, no: yes 0.4", "cold: yes 0.4", "Line 5 .* has a row 'leak"),
        ("cold, no: yes 0.4", "both, no: yes 0.4", "Line 5 .* has a row 'leak"),
        ("    cold, no: yes 0.4\n", "", "Line 3 .* 'fever' has no row for cold"),
        ("    cold, no: yes 0.4\n", "    flu, none: yes 0.8\n", "Line 6 .* of 'flu' occurs twice"),
        ("yes, no: 0", "yes, no: 2", "Line 8 .* no state 2"),
        ("yes, no: 0", "yes, no: 0 1.0", "Line 8 .* separated by commas"),
        ("yes, no: 0", "yes, no: 0, 1", "Line 8 .* a row of a function is"),
        ("yes, no: 0", "yes: 0", "Line 8 .* 1 states for 2 parents"),
        ("    yes, no: 0\n", "", "Line 7 .* 'both' has no row for cold = yes, fever = no"),
        (", ordered", ", sorted", "Line 2 .* a node is 'name"),
    ],
)
def test_what_is_wrong_with_compact_nodes(old: str, new: str, message: str) -> None:
    assert old in COMPACT
    with pytest.raises(FileFormatError, match=message):
        parsed(COMPACT.replace(old, new, 1))


def test_tables_that_no_text_fills_are_not_made() -> None:
    roots = "".join(f"p{i}: a .5, b .5\n" for i in range(70))
    head = "x | " + ", ".join(f"p{i}" for i in range(70))
    row = ", ".join(["a"] * 70)
    for text in (f"{head}\n  {row}: u 1\n", f"{head} = function: u\n  {row}: u\n"):
        with pytest.raises((InputError, MemoryLimitError), match="cells; the limit is"):
            parsed(roots + text)
    singles = "".join(f"p{i}: a 1\n" for i in range(70))
    with pytest.raises(FileFormatError, match="has more than 64 axes"):
        parsed(singles + f"{head}\n  {row}: u 1\n")


@given(st.integers(0, len(COMPACT) - 1), st.integers(0, 12), st.text(max_size=4))
def test_damaged_compact_nodes_never_crash(place: int, length: int, new: str) -> None:
    text = COMPACT[:place] + new + COMPACT[place + length :]
    with contextlib.suppress(InputError, UserWarning):
        BayesianNetwork.from_text(text)
