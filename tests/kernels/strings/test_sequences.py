"""Strings as codes: which symbols are the same, how alphabets grow, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.kernels.strings.sequences import CodedStrings, coded_strings

# Characters of every plane, lone halves of surrogate pairs included.
texts = st.lists(st.text(st.characters(exclude_categories=()), max_size=8), max_size=6)


def symbols(strings: CodedStrings) -> list[list[Any]]:
    """The strings again, from their codes."""
    known = list(strings.alphabet.codes)
    bounds = zip(strings.starts[:-1], strings.starts[1:], strict=True)
    return [[known[code] for code in strings.codes[a:b]] for a, b in bounds]


@given(texts)
def test_codes_give_the_text_back(X: list[str]) -> None:
    assert symbols(coded_strings(X, "Spectrum")) == [list(text) for text in X]


@given(texts, texts)
def test_new_symbols_extend_the_alphabet_and_known_ones_keep_their_codes(
    X: list[str], Z: list[str]
) -> None:
    first = coded_strings(X, "Spectrum")
    second = coded_strings(Z, "Spectrum", first.alphabet)
    assert symbols(second) == [list(text) for text in Z]
    assert second.alphabet.extends(first.alphabet)
    assert list(second.alphabet.codes)[: len(first.alphabet)] == list(first.alphabet.codes)
    unseen = set("".join(Z)) - set("".join(X))
    assert (second.alphabet is first.alphabet) == (not unseen)


@given(st.lists(st.binary(max_size=8), max_size=6))
def test_bytes_are_numbers(X: list[bytes]) -> None:
    assert symbols(coded_strings(X, "Spectrum")) == [list(octets) for octets in X]


def test_text_is_the_sequence_of_its_characters() -> None:
    strings = coded_strings(["ab", ["b", "a"], ("a",), b"a", [97, 1.0, True]], "Spectrum")
    assert symbols(strings) == [["a", "b"], ["b", "a"], ["a"], [97], [97, 1, 1]]


@pytest.mark.parametrize(
    "X",
    [
        ("ab", "c"),
        np.array(["ab", "c"]),
        np.array(["ab", "c"], object),
        pd.Series(["ab", "c"], index=[7, 7]),
        pd.Series(["ab", "c"], dtype="string"),
        pl.Series(["ab", "c"]),
        pa.chunked_array([["ab"], ["c"]]),
        (text for text in ("ab", "c")),
    ],
)
def test_any_column_of_text_is_read(X: Any) -> None:
    assert symbols(coded_strings(X, "Spectrum")) == [["a", "b"], ["c"]]


def test_rows_of_integers_are_sequences() -> None:
    assert symbols(coded_strings(np.array([[3, 1], [1, 1]]), "Spectrum")) == [[3, 1], [1, 1]]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("abc", r"the one string 'abc'. Pass a list of strings, such as \['abc'\]"),
        (b"abc", r"the one string b'abc'"),
        (3, "got int. Pass a list of strings"),
        (["a", None], "got None at position 1. Drop missing strings"),
        (["a", float("nan")], "got nan at position 1. Drop missing strings"),
        (pd.Series(["a", pd.NA], dtype="string"), "at position 1. Drop missing strings"),
        (["a", 3.5], "got 3.5 at position 1. Write a number as text"),
        (np.array([1.5, 2.0]), "got 1.5 at position 0. Write a number as text"),
        ([{"a"}], "at position 0. Give it an order"),
        ([{"a": 1}], "at position 0. Give it an order"),
        ([object], "at position 0. Make it a list of hashable symbols"),
        (
            [["a"], ["b", []]],
            r"symbol 1 of the string at position 1 is \[\], which is not",
        ),
        (
            [[1.0, float("nan")]],
            "symbol 1 of the string at position 0 is nan, which equals",
        ),
        ([["a", pd.NA]], "symbol 1 of the string at position 0 is <NA>, which equals nothing"),
        (pd.DataFrame({"name": ["a"]}), r"of shape \(1, 1\) with the columns 'name'"),
        (np.array([["a"], ["b"]]), r"of shape \(2, 1\). Pass one of its columns"),
        (np.ones((2, 2)), r"of shape \(2, 2\). Pass one of its columns, or rows as lists"),
    ],
)
def test_what_is_no_string_is_named(X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        coded_strings(X, "Spectrum")


def test_the_kernel_that_asks_is_named() -> None:
    with pytest.raises(InputError, match=r"^Substrings compares strings"):
        coded_strings([1], "Substrings")
