"""Tokens, their places, and quotes."""

from __future__ import annotations

import contextlib
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import FileFormatError
from novum.graphical.formats.scanning import Scanner, numbers_text, quoted, token_pattern

PATTERN = token_pattern("{},;", r"%[^\n]*", "%")


def tokens(text: str) -> list[tuple[str, str]]:
    scanner, found = Scanner(text, "file", PATTERN), []
    while scanner.kind != "end":
        found.append((scanner.kind, scanner.value))
        scanner.advance()
    return found


def test_marks_words_quotes_and_comments() -> None:
    text = 'ab%comment {"\n{"c d";e-1}'
    expected = [("word", "ab"), ("mark", "{"), ("quoted", "c d"), ("mark", ";"), ("word", "e-1")]
    assert tokens(text) == [*expected, ("mark", "}")]


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_quotes_keep_every_text(text: str) -> None:
    assert tokens(quoted(text)) == [("quoted", text)]


@given(st.text(max_size=50))
def test_every_text_ends_in_tokens_or_a_message(text: str) -> None:
    if '"' in text:
        with contextlib.suppress(FileFormatError):
            tokens(text)
    else:
        # Without quotes nothing but white space and comments is lost.
        bare = re.sub(r"%[^\n]*|\s", "", text)
        assert "".join(value for _, value in tokens(text)) == bare


def test_places_count_lines_and_columns_from_one() -> None:
    scanner = Scanner("a\n  {", "file", PATTERN)
    scanner.advance()
    with pytest.raises(FileFormatError, match=r"line 2, column 3: expected ';', found '{'"):
        scanner.expect(";")


@pytest.mark.parametrize("word", ["1_0", "nan", "inf", "0x1", "", "1e", "٣"])
def test_numbers_are_those_of_ascii_digits(word: str) -> None:
    with pytest.raises(FileFormatError, match="expected a number"):
        Scanner(f"{word} {{", "file", PATTERN).number()


def test_counts_have_at_most_nine_digits() -> None:
    assert Scanner("000000012", "file", PATTERN).count("n") == 12
    with pytest.raises(FileFormatError, match="expected n, found '1111111111'"):
        Scanner("1" * 10, "file", PATTERN).count("n")


@given(st.lists(st.floats(allow_nan=False)))
def test_numbers_are_written_to_the_bit(numbers: list[float]) -> None:
    assert [float(text) for text in numbers_text(np.array(numbers))] == numbers


def test_long_words_take_linear_time() -> None:
    # A pattern that can split digits in two ways would take minutes here.
    scanner = Scanner("9" * 300_000 + "x", "file", PATTERN)
    with pytest.raises(FileFormatError, match="expected a number"):
        scanner.number()
