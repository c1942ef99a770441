"""Levels of detail: each shows less than the one before, and all but the first say so."""

from __future__ import annotations

from itertools import pairwise

from novum.apps.report.detail import LEVELS, first_of, sentences
from novum.display import Bullets, Paragraph


def test_levels_fall_and_say_so() -> None:
    for fuller, simpler in pairwise(LEVELS):
        assert simpler.columns < fuller.columns
        assert simpler.rows < fuller.rows
        assert simpler.points < fuller.points
        assert simpler.drawing < fuller.drawing
        assert simpler.pictures <= fuller.pictures
        assert "run.json has everything" in simpler.note
    assert LEVELS[0].note == ""
    assert not LEVELS[-1].pictures


def test_what_is_left_out_is_counted() -> None:
    shown, words = first_of(range(5000), 100, "classes")
    assert len(shown) == 100
    assert words.startswith("The first 100 of 5,000 classes")
    assert first_of((), 3, "classes") == ((), "")
    assert first_of((1, 2, 3), 3, "classes") == ((1, 2, 3), "")


def test_sentences_beyond_the_limit_are_counted() -> None:
    assert sentences((), 3) == []
    assert sentences(("a", "b"), 2) == [Bullets(("a", "b"))]
    assert sentences(("a", "b", "c"), 1) == [
        Bullets(("a",)),
        Paragraph("2 more are in run.json.", "quiet"),
    ]
