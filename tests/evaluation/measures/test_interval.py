"""The interval value: how it shows, unpacks and covers."""

import math
import pickle
from typing import Any

import pytest

from novum.evaluation.measures.interval import Interval


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        (Interval(0.83, 0.80, 0.86), "0.83 [0.80, 0.86]"),
        (Interval(0.8312, 0.8300, 0.8324), "0.831 [0.830, 0.832]"),
        (Interval(1234.5, 1200, 1270), "1234 [1200, 1270]"),
        (Interval(-0.0001, -0.03, 0.03), "0.00 [-0.03, 0.03]"),
        (Interval(0.5, math.nan, math.nan), "0.500"),
        (Interval(1.0, 1.0, 1.0), "1.000 [1.000, 1.000]"),
        (Interval(1.0, -math.inf, math.inf), "1.000 [-inf, inf]"),
    ],
)
def test_digits_follow_the_width(interval: Any, shown: Any) -> None:
    assert repr(interval) == shown


def test_unpacking_gives_the_limits() -> None:
    low, high = Interval(0.5, 0.4, 0.7, 0.9, "Wilson")
    assert (low, high) == (0.4, 0.7)
    assert Interval(0.5, 0.4, 0.7).half_width == pytest.approx(0.15)


def test_limits_are_covered() -> None:
    interval = Interval(0.5, 0.4, 0.7)
    assert interval.covers(0.4)
    assert interval.covers(0.7)
    assert not interval.covers(0.39)
    assert not Interval(0.5, math.nan, math.nan).covers(0.5)


def test_it_survives_a_pickle() -> None:
    interval = Interval(0.5, 0.4, 0.7, 0.9, "t")
    assert pickle.loads(pickle.dumps(interval)) == interval
