"""Squared extrapolation: exact on one contracting direction, cheaper on many, capped and reset."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.numerics import Floats, SquaredExtrapolation


@given(st.floats(0.05, 0.95), st.floats(-5, 5), st.floats(0.1, 5))
def test_one_linear_direction_is_solved_exactly(rate: float, limit: float, away: float) -> None:
    method = SquaredExtrapolation(longest=1e6)
    x0 = np.array([limit + away])
    x1 = limit + rate * (x0 - limit)
    x2 = limit + rate * (x1 - limit)
    assert method.propose(x0, x1) is None
    found = method.propose(x1, x2)
    # Differences of points of size 10 are divided by 1 - rate >= 0.05, twice.
    if found is not None:
        np.testing.assert_allclose(found, limit, atol=1e-10)
    else:
        assert rate <= 1e-10


def distance_after(evaluations: int, accelerate: bool) -> float:
    """Distance to the fixed point of a linear map with rates from 0.5 to 0.99."""
    rates = np.array([0.5, 0.9, 0.99])
    x, method, spent = np.ones(3), SquaredExtrapolation(), 0
    while spent < evaluations:
        image = rates * x
        spent += 1
        found = method.propose(x, image) if accelerate else None
        x = image if found is None else found
        if found is not None:
            method.accepted()
    return float(np.linalg.norm(x))


def test_many_directions_need_fewer_passes() -> None:
    assert distance_after(100, accelerate=True) < 1e-3 * distance_after(100, accelerate=False)


def extrapolated(method: SquaredExtrapolation, rate: float = 0.99) -> float:
    """Length of one extrapolation of the map x -> rate x from 1, in units of its first step."""
    x0 = np.ones(1)
    method.propose(x0, rate * x0)
    found = method.propose(rate * x0, rate**2 * x0)
    assert found is not None
    return float(length(found, rate))


def length(found: Floats, rate: float) -> float:
    # x' = (1 - a (1 - rate))^2 for this map.
    return float((1 - np.sqrt(found[0])) / (1 - rate))


def test_the_length_is_capped_and_the_cap_learns() -> None:
    method = SquaredExtrapolation(longest=4.0)
    assert extrapolated(method) == pytest.approx(4.0)
    method.accepted()
    assert extrapolated(method) == pytest.approx(16.0)
    method.refused()
    assert extrapolated(method) == pytest.approx(4.0)
    method.refused()
    assert extrapolated(method) == pytest.approx(4.0)


def test_a_map_that_stands_still_gets_no_proposal() -> None:
    method, x = SquaredExtrapolation(), np.ones(2)
    assert method.propose(x, x) is None
    assert method.propose(x, x) is None


def test_overflow_gives_no_proposal() -> None:
    method = SquaredExtrapolation(longest=1e300)
    method.propose(np.array([0.0]), np.array([1e300]))
    with np.errstate(over="ignore", invalid="ignore"):
        assert method.propose(np.array([1e300]), np.array([2e300])) is None


def test_a_length_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at least 1, got 0\.5"):
        SquaredExtrapolation(longest=0.5)
