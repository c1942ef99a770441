"""Warnings are counted and shown once for each kind; none is lost and none gets out."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.apps.job.attempts import Warnings

KINDS = [UserWarning, RuntimeWarning, DeprecationWarning]


def test_silence_says_nothing() -> None:
    heard = Warnings()
    with heard:
        pass
    assert heard.sentences() == ()


@given(given_=st.lists(st.sampled_from(KINDS), max_size=8))
def test_every_warning_is_counted(given_: list[type[Warning]]) -> None:
    heard = Warnings()
    with heard:
        for number, kind in enumerate(given_):
            warnings.warn(f"text {number}", kind, stacklevel=1)
    sentences = heard.sentences()
    assert len(sentences) == len(set(given_))
    for sentence, kind in zip(sentences, dict.fromkeys(given_), strict=True):
        count = given_.count(kind)
        assert sentence.startswith(f"{count} warning{'s' if count > 1 else ''} ({kind.__name__})")
        assert sentence.endswith(f"the first: text {given_.index(kind)}")


def test_blocks_add_up() -> None:
    heard = Warnings()
    for _ in range(2):
        with heard:
            warnings.warn("again", UserWarning, stacklevel=1)
    assert heard.sentences()[0].startswith("2 warnings")


def test_nothing_gets_out_and_the_old_filters_come_back() -> None:
    heard = Warnings()
    with warnings.catch_warnings(record=True) as outside:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        with heard:
            warnings.warn("inside", UserWarning, stacklevel=1)
        assert outside == []
        assert warnings.filters == before
        warnings.warn("outside", UserWarning, stacklevel=1)
        assert [str(one.message) for one in outside] == ["outside"]


def test_what_was_heard_before_an_error_is_kept() -> None:
    heard = Warnings()

    def fails() -> None:
        with heard:
            warnings.warn("first", UserWarning, stacklevel=1)
            raise KeyError("x")

    with pytest.raises(KeyError):
        fails()
    assert heard.sentences()[0].endswith("first")


def test_texts_are_cut_and_printable() -> None:
    heard = Warnings()
    with heard:
        warnings.warn("a\x1b[31m" + "b" * 1000, UserWarning, stacklevel=1)
    assert "\x1b" not in heard.sentences()[0]
    assert len(heard.sentences()[0]) < 450
