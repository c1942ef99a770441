"""Log tails: closed forms in the far tail, scipy where it is a number."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from novum.evaluation.selection.group_tests import log_chi_square_tail, log_f_tail


@given(st.floats(0.01, 100), st.integers(1, 30), st.integers(1, 300))
def test_f_tail_is_scipys(value: float, above: int, below: int) -> None:
    plain = stats.f.sf(value, above, below)
    if plain > 1e-280:
        assert log_f_tail(value, above, below) == pytest.approx(math.log(plain), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("value", "below"), [(1e5, 300), (5e3, 2000), (1e12, 147), (900.0, 10**6)])
def test_far_f_tail_with_two_degrees_has_a_closed_form(value: float, below: int) -> None:
    # With two degrees above, P(F > f) = (1 + 2 f / v)^(-v/2).
    expected = -below / 2 * math.log1p(2 * value / below)
    assert expected < -700
    assert log_f_tail(value, 2, below) == pytest.approx(expected, rel=1e-10)


def test_far_f_tail_by_quadrature() -> None:
    above, below, value = 5, 900, 700.0
    a, b, x = below / 2, above / 2, below / (below + above * value)
    # The integral of t^(a-1) (1-t)^(b-1) over [0, x], with t = x s, scaled to stay a number.
    scaled = integrate.quad(lambda s: s ** (a - 1) * (1 - x * s) ** (b - 1), 0, 1, limit=200)[0]
    expected = a * math.log(x) + math.log(scaled) - special.betaln(a, b)
    assert log_f_tail(value, above, below) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("value", [10.0, 1500.0, 1e5])
def test_chi_square_tails_of_even_degrees_have_closed_forms(value: float) -> None:
    half = value / 2
    assert log_chi_square_tail(value, 2) == pytest.approx(-half, rel=1e-12)
    four = -half + math.log1p(half)
    assert log_chi_square_tail(value, 4) == pytest.approx(four, rel=1e-12)
    ten = -half + math.log(sum(half**j / math.factorial(j) for j in range(5)))
    assert log_chi_square_tail(value, 10) == pytest.approx(ten, rel=1e-12)


@given(st.floats(0.01, 500), st.integers(1, 40))
def test_chi_square_tail_is_scipys(value: float, freedom: int) -> None:
    plain = stats.chi2.sf(value, freedom)
    assert log_chi_square_tail(value, freedom) == pytest.approx(math.log(plain), abs=1e-9, rel=1e-9)


def test_odd_degrees_meet_their_normal_law() -> None:
    # One degree is the square of a normal variable.
    expected = math.log(2) + stats.norm.logsf(math.sqrt(4000.0))
    assert log_chi_square_tail(4000.0, 1) == pytest.approx(expected, rel=1e-12)


def test_no_chance_at_all() -> None:
    assert log_f_tail(math.inf, 2, 10) == -math.inf
    assert log_chi_square_tail(math.inf, 3) == -math.inf
