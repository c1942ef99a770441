"""What reaches the terminal is text, never a command to it."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.text import label_text, meant, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("abc\u202edef", r"abc\u202edef"),
        ("x\u2028y", r"x\u2028y"),
        ("\x9b2J", r"\x9b2J"),
        ("Größe π 中", "Größe π 中"),
        ("\ud800", r"\ud800"),
        ("back\\slash", "back\\slash"),
    ],
)
def test_control_characters_are_shown_by_their_codes(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_a_limit_is_kept(text: str) -> None:
    assert len(printable(text, 12)) <= 12
    if len(printable(text)) <= 12:
        assert printable(text, 12) == printable(text)


@given(st.text())
def test_nothing_the_terminal_obeys_is_left(text: str) -> None:
    assert not {unicodedata.category(c) for c in printable(text)} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_an_array_is_shown_whole() -> None:
    assert label_text(np.array([1, 2])) == "array([1, 2])"


@pytest.mark.parametrize(
    ("name", "known", "end"),
    [
        ("alarm", ["Alarm", "Burglary"], "did you mean 'Alarm'?"),
        (True, [1, "true"], "did you mean 'true'?"),
        ("zzz", ["Alarm"], "there are 'Alarm'."),
        ("zzz", [], "there is none."),
        ("x" * 10_000, ["y" * 10_000], "there are"),
    ],
)
def test_a_name_that_was_meant(name: object, known: list[object], end: str) -> None:
    assert meant(name, known).startswith(end)
