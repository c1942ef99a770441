"""Powers of transition matrices against fractions and closed forms, far beyond small steps."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.graphical.models.markov_chain import MarkovChain
from novum.graphical.models.markov_chain_structure import distance, mixing_time, power


def pair(leave: float, back: float) -> np.ndarray:
    return np.array([[1 - leave, leave], [back, 1 - back]])


@pytest.mark.parametrize("steps", [0, 1, 2, 7, 13])
def test_small_powers_in_fractions(steps: int) -> None:
    exact = [[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 8), Fraction(7, 8)]]
    wanted = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]
    for _ in range(steps):
        wanted = [[sum(row[k] * exact[k][j] for k in range(2)) for j in range(2)] for row in wanted]
    found = power(np.array(exact, float), steps)
    np.testing.assert_allclose(found, np.array(wanted, float), rtol=1e-14)


def test_rows_do_not_drift_over_many_steps() -> None:
    chain = MarkovChain([[0.9, 0.1], [0.5, 0.5]])
    # Sums of rows that are off by rounding alone would be raised to that power.
    assert chain.after(0, 10**40).values == pytest.approx([5 / 6, 1 / 6], rel=1e-14)
    assert chain.distance(10**40) < 1e-15


@pytest.mark.parametrize("leave", [1e-3, 1e-8, 1e-17, 1e-100, 1e-300])
@pytest.mark.parametrize("tolerance", [0.25, 1e-6])
def test_time_of_two_states_in_closed_form(leave: float, tolerance: float) -> None:
    # From the second state the distance is 2/3 * (1 - 3 * leave)^t.
    found = MarkovChain(pair(leave, 2 * leave)).time_to_mix(tolerance)
    wanted = math.log(1.5 * tolerance) / math.log1p(-3 * leave)
    # The distance is a difference of numbers near 1, known to some 1e-16 and no better.
    room = 1e-12 + 1e-15 / tolerance
    assert found >= wanted * (1 - room)
    assert found <= (wanted + 1) * (1 + room)


def test_times_beyond_floats_are_whole_numbers() -> None:
    tiny = 5e-324
    found = mixing_time(pair(tiny, tiny), np.array([0.5, 0.5]), 0.25)
    assert isinstance(found, int)
    # Halves of the distance 1/2 by (1 - 2 * tiny)^t; the smallest number has few digits itself.
    assert math.log2(found) == pytest.approx(1074 + math.log2(math.log(2) / 2), abs=1e-6)


def test_what_is_below_rounding_is_refused() -> None:
    chain = MarkovChain([[0.5, 0.5], [0.3, 0.7]])
    with pytest.raises(InputError, match=r"stays at .* above tolerance = 1e-30\. Raise"):
        chain.time_to_mix(1e-30)


def test_distance_is_that_of_the_worst_row() -> None:
    assert distance(np.eye(2), np.array([0.75, 0.25])) == 0.75
