"""Moments of columns: text against Python's own reading, orders of day and month, odd cells."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.tables import are_dates, moments_of


@given(st.lists(st.datetimes(dt.datetime(1000, 1, 1), dt.datetime(9999, 12, 31)), min_size=1))
def test_iso_text_is_what_python_writes(moments: list[dt.datetime]) -> None:
    found = moments_of(pa.array([moment.isoformat() for moment in moments]), "d")
    assert found.wall.tolist() == moments


@given(st.lists(st.dates(dt.date(1970, 1, 1), dt.date(2060, 1, 1)), min_size=1))
def test_orders_of_day_and_month(days: list[dt.date]) -> None:
    written = {
        True: [f"{day.day}/{day.month}/{day.year}" for day in days],
        False: [f"{day.month}/{day.day}/{day.year}" for day in days],
    }
    for day_first, texts in written.items():
        found = moments_of(pa.array(texts), "d", day_first)
        assert found.wall.astype("M8[D]").tolist() == days
        settled = any(day.day > 12 for day in days)
        guessed = moments_of(pa.array(texts), "d")
        assert guessed.is_doubtful is not settled
        assert not settled or guessed.day_first is day_first


def test_offsets_from_utc() -> None:
    texts = ["2024-01-01T00:30:00+01:00", "2023-12-31T18:00-0530", "2024-01-01T00:00Z"]
    found = moments_of(pa.array(texts), "d")
    assert [moment.hour for moment in found.utc.tolist()] == [23, 23, 0]
    assert [moment.hour for moment in found.wall.tolist()] == [0, 18, 0]


def test_fractions_of_seconds_and_short_years() -> None:
    found = moments_of(pa.array(["2024-01-01 10:00:00,25", "2024-01-01 10:00:00.1234567"]), "d")
    assert [moment.microsecond for moment in found.wall.tolist()] == [250_000, 123_456]
    years = moments_of(pa.array(["1.1.68", "1.1.69"]), "d").wall.astype("M8[Y]").astype(int)
    assert (years + 1970).tolist() == [2068, 1969]


def test_unused_levels_do_not_matter() -> None:
    codes = pa.array([1, None, 1], pa.int32())
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["tomorrow", "2024-05-01"]))
    assert np.isnat(moments_of(column, "d").wall).tolist() == [False, True, False]


@pytest.mark.parametrize("text", ["2024-13-01", "2024-00-10", "32.1.2024", "24:00", "today", ""])
def test_no_date_is_named_with_its_row(text: str) -> None:
    with pytest.raises(InputError, match=r"at row 1, which is no date\. Write dates as 2024-01-31"):
        moments_of(pa.array([None, text], pa.string()), "d")
    assert not are_dates(pa.array([text]))
