"""Weights, groups and times: what they become, and what is refused with its row."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest

from novum.apps.job.table.target_column import read_groups, read_order, read_weights
from novum.core.errors import InputError
from novum.core.tables import Kind
from tests.apps.job.table.tables import numbers, words


def test_weights_are_the_numbers() -> None:
    assert read_weights(numbers(0, 2.5, 1)).tolist() == [0.0, 2.5, 1.0]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (numbers(1, -2, -3, name="w"), "'w' is -2 in data row 2, 2 such in all"),
        (numbers(1, None, name="w"), "'w' is missing in data row 2"),
        (numbers(1, np.inf, name="w"), "'w' is inf in data row 2"),
        (numbers(0, 0, name="w"), "All weights in 'w' are 0"),
        (words("a", "b", name="w"), "'w' holds 'a' and is no column of numbers"),
    ],
)
def test_weights_that_are_none(cells: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_weights(cells)  # type: ignore[arg-type]


def test_groups_are_coded() -> None:
    assert read_groups(words("b", "a", "b")).tolist() == [1, 0, 1]
    assert read_groups(numbers(7, 3, 7)).tolist() == [1, 0, 1]
    with pytest.raises(InputError, match="'c' has one group only"):
        read_groups(words("a", "a"))
    with pytest.raises(InputError, match=r"group column 'c' has no value in data row 2.*own"):
        read_groups(words("a", None))


def test_times_are_ranked() -> None:
    assert read_order(numbers(2020, 1999, 2020)).tolist() == [1, 0, 1]
    assert read_order(words("early", "late", "early", kind=Kind.ORDINAL)).tolist() == [0, 1, 0]
    with pytest.raises(InputError, match="time column 'x' has no value in data row 1"):
        read_order(numbers(None, 1))


@pytest.mark.parametrize(
    "form", ["%Y-%m-%d", "%Y/%m/%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S,5"]
)
def test_dates_are_ranked_as_the_calendar_does(form: str) -> None:
    rng = np.random.default_rng(0)
    start = datetime(2019, 1, 1)
    times = [start + timedelta(minutes=int(m)) for m in rng.integers(0, 3_000_000, 60)]
    texts = [time.strftime(form) for time in times]
    # Written with zeros in front, such texts sort as their times do.
    expected = np.unique(texts, return_inverse=True)[1]
    assert read_order(words(*texts)).tolist() == expected.tolist()


def test_zones_and_short_numbers() -> None:
    zoned = words("2024-01-01T12:00:00+02:00", "2024-01-01T11:00:00Z", "2024-01-01 09:30:00Z")
    assert read_order(zoned).tolist() == [1, 2, 0]
    assert read_order(words("2024-2-10", "2024-12-1", "2024-2-9 9:05")).tolist() == [1, 2, 0]


@pytest.mark.parametrize("text", ["03/04/2024", "2024-13-01", "soon"])
def test_unclear_dates_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=rf"holds '{text}'.*not clear. Write dates as 2024-01-31"):
        read_order(words(text, "2024-01-01"))
