"""Numbers: never more digits than known, never NaN, never certain by rounding; ticks."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.display import (
    counted,
    fixed,
    interval_texts,
    number,
    percent,
    probability,
    round_ticks,
    seconds,
    tick_texts,
)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([-0.5, 0.0, 0.5], ["−0.5", "0.0", "0.5"]),
        ([0.25, 0.5], ["0.25", "0.50"]),
        ([1e6, 2e6], ["1,000,000", "2,000,000"]),
        ([], []),
        ([0.1 + 0.2], ["0.3"]),
    ],
)
def test_ticks_have_equal_decimals(values: list[float], shown: list[str]) -> None:
    assert tick_texts(values) == shown


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=8, unique=True))
def test_different_ticks_look_different(places: list[int]) -> None:
    values = [place / 1000 for place in places]
    assert len(set(tick_texts(values))) == len(values)


@given(
    st.floats(-1e9, 1e9),
    st.floats(1e-6, 1e9),
    st.integers(3, 12),
)
def test_round_ticks_are_inside_few_and_evenly_apart(low: float, reach: float, most: int) -> None:
    high = low + reach
    ticks = round_ticks(low, high, most)
    assert 1 <= len(ticks) <= most
    slack = 1e-6 * max(reach, abs(low), 1e-9)
    assert all(low - slack <= tick <= high + slack for tick in ticks)
    steps = [b - a for a, b in itertools.pairwise(ticks)]
    assert all(math.isclose(step, steps[0], rel_tol=1e-3, abs_tol=slack) for step in steps)


def test_what_does_not_exist_is_a_dash() -> None:
    assert number(math.nan) == number(None) == percent(math.inf) == "–"
    assert round_ticks(math.nan, 1.0) == []
    assert interval_texts(0.5, math.nan, 1.0) == ("0.5", "[–, 1]")


anything = st.one_of(st.none(), st.floats())


def back(shown: str) -> float:
    return float(shown.replace("−", "-").replace(",", "").replace("∞", "inf"))


# Rounding up the largest of floats would overflow on the way back.
@given(st.floats(-1e300, 1e300))
def test_number_is_right_to_four_digits(value: float) -> None:
    assert back(number(value)) == pytest.approx(value, rel=6e-4)


@given(anything, anything, anything)
def test_no_estimate_shows_nan_or_none(value: float, low: float, high: float) -> None:
    for shown in interval_texts(value, low, high):
        assert "nan" not in shown.lower()
        assert "None" not in shown


@given(st.floats(-1e6, 1e6), st.floats(1e-4, 1e3))
def test_estimate_shows_two_digits_of_its_half_width(value: float, half: float) -> None:
    shown, limits = interval_texts(value, value - half, value + half)
    low, high = (back(part) for part in limits.strip("[]").split(", "))
    assert back(shown) == pytest.approx(value, abs=0.051 * half)
    assert low == pytest.approx(value - half, abs=0.051 * half)
    assert high == pytest.approx(value + half, abs=0.051 * half)


@pytest.mark.parametrize(
    ("given_", "shown"),
    [
        ((None,), ("–", "")),
        ((None, None, None), ("–", "")),
        ((0.5, 0.5, 0.5), ("0.5", "[0.5, 0.5]")),
        ((0.5, None, 0.7), ("0.5", "[–, 0.7]")),
        ((0.5, -math.inf, 0.7), ("0.5", "[−∞, 0.7]")),
        ((123456.0, 120000.0, 127000.0), ("123,456", "[120,000, 127,000]")),
    ],
)
def test_known_estimates(given_: tuple[float, ...], shown: tuple[str, str]) -> None:
    assert interval_texts(*given_) == shown


@given(st.floats(0, 1))
def test_probability_is_certain_only_if_it_is(value: float) -> None:
    shown = probability(value)
    assert (shown == "0.000") == (value == 0)
    assert (shown == "1.000") == (value == 1)


def test_times_percents_and_counts() -> None:
    assert seconds(120).replace("\u00a0", " ") == "2 min"
    assert seconds(3600).replace("\u00a0", " ") == "1 h"
    assert seconds(None) == percent(None) == percent(math.nan) == probability(None) == "–"
    assert percent(1.0).replace("\u00a0", " ") == "100 %"
    assert percent(0.0).replace("\u00a0", " ") == "0 %"
    assert counted(0, "row") == "0 rows"
    assert fixed(math.nan, 2) == "–"
    assert number(-0.0) == "0"
