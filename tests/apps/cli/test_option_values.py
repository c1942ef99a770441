"""Short forms of times, cross-validations and lists."""

from __future__ import annotations

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from novum.apps.cli.run_options import cross_validation_of, jobs_of, names_of, seconds_of


@given(hours=st.integers(0, 50), minutes=st.integers(0, 200), seconds=st.integers(1, 200))
def test_a_time_is_the_sum_of_its_parts(hours: int, minutes: int, seconds: int) -> None:
    expected = 3600 * hours + 60 * minutes + seconds
    assert seconds_of(f"{hours}h{minutes}m{seconds}s") == expected
    assert seconds_of(f"{hours} h {minutes} min {seconds}") == expected


@pytest.mark.parametrize("text", ["", "soon", "0", "-5s", "2 days", "1e400", "0m", "inf", "m"])
def test_what_is_no_time_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="Write it like 90s, 2m or 1h30m"):
        seconds_of(text)


@given(repeats=st.integers(1, 999), folds=st.integers(2, 999))
def test_repeats_and_folds(repeats: int, folds: int) -> None:
    assert cross_validation_of(f"{repeats}x{folds}") == (repeats, folds)
    assert cross_validation_of(f" {folds} ") == (None, folds)


@pytest.mark.parametrize("text", ["", "x5", "0x5", "2x1", "1", "2x", "2*5", "-2x5", "99999x5"])
def test_what_is_no_cross_validation_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="repeats and folds like 2x5"):
        cross_validation_of(text)


def test_names_and_jobs() -> None:
    assert names_of(" tree ,, forest ") == ("tree", "forest")
    assert (jobs_of(3), jobs_of(-1)) == (3, -1)
    for wrong in (0, -2):
        with pytest.raises(typer.BadParameter, match="-1 for all cores"):
            jobs_of(wrong)
