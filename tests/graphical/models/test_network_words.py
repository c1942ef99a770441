"""Words of a network's text: what is written reads back as what it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import FileFormatError
from novum.graphical.models.network_words import (
    mark,
    pairs_of,
    parts_of,
    state_text,
    tokens_of,
    value_of,
)

STATES = st.one_of(
    st.text(),
    st.integers(),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
)


@given(st.lists(STATES, min_size=1))
def test_states_in_a_line_come_back(states: list[str | int | bool | float]) -> None:
    line = ", ".join(map(state_text, states)) + "  # a comment"
    found = [value_of(token) for token in parts_of(tokens_of(line, 1), 1)]
    assert found == states
    assert [type(one) for one in found] == [type(one) for one in states]


def test_marks_and_pairs() -> None:
    tokens = tokens_of("a | b = c: x 1, y .5", 1)
    assert [text for kind, text in tokens if kind == "mark"] == ["|", "=", ":", ","]
    split = tokens.index(mark(":"))
    assert pairs_of(tokens[split + 1 :], 1) == [("x", 1.0), ("y", 0.5)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a " + "9" * 5000, "Line 7 .* whole number of 5000 digits is too long"),
        ("a ?", "Line 7 .* is not expected; quote names"),
        ('a "b', "its quote is not closed"),
        (r'"\U00110000"', "there is no character U00110000"),
    ],
)
def test_what_is_no_word(line: str, words: str) -> None:
    with pytest.raises(FileFormatError, match=words) as caught:
        tokens_of(line, 7)
    assert caught.value.line == 7


def test_long_words_take_linear_time() -> None:
    # A pattern that can split digits in two ways would take minutes here.
    word = "9" * 300_000 + "x"
    assert value_of(tokens_of(word, 1)[0]) == word


def test_messages_stay_short() -> None:
    with pytest.raises(FileFormatError, match=r"'9{37}\.\.\.' is no probability") as caught:
        pairs_of(tokens_of("a " + "9" * 3000 + "x", 1), 1)
    assert len(str(caught.value)) < 200
