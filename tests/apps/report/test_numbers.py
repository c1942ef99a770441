"""Numbers: never more digits than known, never NaN, never certain by rounding."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.apps.job.record import Estimate
from novum.apps.report.numbers import (
    counted,
    estimate,
    fixed,
    number,
    percent,
    probability,
    seconds,
)

anything = st.one_of(st.none(), st.floats())


def back(shown: str) -> float:
    return float(shown.replace("−", "-").replace(",", "").replace("∞", "inf"))


# Rounding up the largest of floats would overflow on the way back.
@given(st.floats(-1e300, 1e300))
def test_number_is_right_to_four_digits(value: float) -> None:
    assert back(number(value)) == pytest.approx(value, rel=6e-4)


@given(anything, anything, anything)
def test_no_estimate_shows_nan_or_none(value: float, low: float, high: float) -> None:
    for shown in estimate(Estimate(value, low, high)):
        assert "nan" not in shown.lower()
        assert "None" not in shown


@given(st.floats(-1e6, 1e6), st.floats(1e-4, 1e3))
def test_estimate_shows_two_digits_of_its_half_width(value: float, half: float) -> None:
    given_ = Estimate(value, value - half, value + half)
    shown, limits = estimate(given_)
    low, high = (back(part) for part in limits.strip("[]").split(", "))
    assert back(shown) == pytest.approx(value, abs=0.051 * half)
    assert low == pytest.approx(value - half, abs=0.051 * half)
    assert high == pytest.approx(value + half, abs=0.051 * half)


@pytest.mark.parametrize(
    ("given_", "shown"),
    [
        (None, ("–", "")),
        (Estimate(None, None, None), ("–", "")),
        (Estimate(0.5, 0.5, 0.5), ("0.5", "[0.5, 0.5]")),
        (Estimate(0.5, None, 0.7), ("0.5", "[–, 0.7]")),
        (Estimate(0.5, -math.inf, 0.7), ("0.5", "[−∞, 0.7]")),
        (Estimate(123456.0, 120000.0, 127000.0), ("123,456", "[120,000, 127,000]")),
    ],
)
def test_known_estimates(given_: Estimate | None, shown: tuple[str, str]) -> None:
    assert estimate(given_) == shown


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
