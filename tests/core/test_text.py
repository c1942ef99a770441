"""What reaches the terminal is text, never a command to it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.text import printable


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
