"""Explanations: what they print, sum to, and how they show hostile names."""

from __future__ import annotations

import numpy as np
import pytest

from novum.bayes.explanation import Explanation

FOUND = Explanation(
    label="spam",
    against="ham",
    columns=("free", "hello", "price"),
    values=(2.0, None, "high"),
    contributions=np.array([1.5, 0.0, -2.0]),
    prior=-0.25,
)


def test_log_odds_are_the_sum_of_the_parts() -> None:
    assert FOUND.log_odds == pytest.approx(-0.75)


def test_largest_parts_come_first() -> None:
    assert FOUND.largest(2) == [("price", "high", -2.0), ("free", 2.0, 1.5)]


def test_text_shows_classes_cells_and_parts() -> None:
    assert str(FOUND).splitlines() == [
        "spam against ham: log-odds -0.750",
        "  (prior)          -0.250",
        "  price = high     -2.000",
        "  free = 2         +1.500",
        "  hello = missing  +0.000",
    ]


def test_many_columns_are_summed_up_in_the_text() -> None:
    names = tuple(f"w{j}" for j in range(30))
    found = Explanation(1, 0, names, (1.0,) * 30, np.linspace(0, 1, 30), 0.0)
    lines = str(found).splitlines()
    assert len(lines) == 13
    assert "(20 others)" in lines[-1]
    shown = sum(float(line.split()[-1]) for line in lines[1:])
    assert shown == pytest.approx(found.log_odds, abs=0.01)


def test_hostile_names_are_inert() -> None:
    found = Explanation("\x1b[2J", "b", ("\x1b]0;x",), (1.0,), np.ones(1), 0.0)
    assert "\x1b" not in str(found)
