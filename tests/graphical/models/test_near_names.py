"""Names that were probably meant to be others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.graphical.models.row_codes import near_names


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("C", "c"),
        ("john calls", "JohnCalls"),
        ("John_Calls", "JohnCalls"),
        ("Alram", "Alarm"),
        ("Alarrm", "Alarm"),
        ("Alrm", "Alarm"),
        ("Alarn", "Alarm"),
        ("node 12 on", "node12_on"),
    ],
)
def test_near(name: str, known: str) -> None:
    assert near_names([name], ["other", known]) == [(name, known)]


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("x2", "x1"),
        ("node12", "node13"),
        ("node1", "node11"),
        ("ab", "ac"),
        ("abc", "abcd"),
        ("Alarm", "Alarm"),
        ("weight", "height" * 20),
        ("Mary", "John"),
    ],
)
def test_not_near(name: str, known: str) -> None:
    assert near_names([name], [known]) == []


@given(st.text("abcde", min_size=5, max_size=9), st.data())
def test_one_change_of_a_letter_is_near(name: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(name) - 1))
    letter = data.draw(st.sampled_from("vwxyz"))
    changed = [
        name[:place] + letter + name[place:],
        name[:place] + letter + name[place + 1 :],
        name[:place] + name[place + 1 :],
    ]
    for one in changed:
        assert near_names([one], [name]) == [(one, name)]
