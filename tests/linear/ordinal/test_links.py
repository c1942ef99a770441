"""Links: probabilities of intervals to all digits, slopes by differences, and their signs."""

from __future__ import annotations

from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from novum.linear.ordinal.links import LINKS, Logit, Probit

ends = st.tuples(st.floats(-30, 30), st.floats(0.01, 20)).map(lambda p: (p[0], p[0] + p[1]))


def exact_log_interval(lower: float, upper: float) -> float:
    """`log(F(u) - F(l))` of the logistic law in 400 digits."""
    getcontext().prec = 400

    def cdf(x: float) -> Decimal:
        if np.isinf(x):
            return Decimal(int(x > 0))
        return 1 / (1 + (-Decimal(x)).exp())

    return float((cdf(upper) - cdf(lower)).ln())


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(-1.0, 0.5), (-40.0, -39.5), (30.0, 30.001), (-600.0, -599.0), (500.0, 501.0),
     (-1e-9, 1e-9), (-np.inf, -35.0), (20.0, np.inf), (-np.inf, np.inf), (-300.0, 300.0)],
)  # fmt: skip
def test_logit_intervals_have_all_digits(lower: float, upper: float) -> None:
    found = float(Logit().log_interval(np.array([upper]), np.array([lower]))[0])
    assert found == pytest.approx(exact_log_interval(lower, upper), rel=1e-15, abs=1e-130)


# (lower, upper, log probability) of the normal law, by mpmath in 60 digits.
NORMAL = [
    (-1.0, 0.5, -0.62959563255286351),
    (-40.0, -39.5, -784.720879106624012),
    (30.0, 30.001, -457.841656477884776),
    (-np.inf, -35.0, -616.975101261922513),
    (20.0, np.inf, -203.917155371097264),
]


@pytest.mark.parametrize(("lower", "upper", "exact"), NORMAL)
def test_probit_intervals_have_all_digits(lower: float, upper: float, exact: float) -> None:
    found = float(Probit().log_interval(np.array([upper]), np.array([lower]))[0])
    assert found == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("name", sorted(LINKS))
@given(ends)
def test_slopes_are_differences(name: str, pair: tuple[float, float]) -> None:
    link = LINKS[name]
    lower, upper = np.array([pair[0]]), np.array([pair[1]])
    if name == "probit" and (abs(pair[0]) > 8 or abs(pair[1]) > 8):
        # The curvature of a normal tail is a difference of large numbers.
        return
    found, h = link.slopes(upper, lower), 1e-5
    value = link.log_interval
    by_upper = (value(upper + h, lower) - value(upper - h, lower)) / (2 * h)
    by_lower = (value(upper, lower + h) - value(upper, lower - h)) / (2 * h)
    scale = 1 + 1 / (pair[1] - pair[0]) ** 3
    np.testing.assert_allclose(found.upper, by_upper, rtol=1e-5, atol=1e-6 * scale)
    np.testing.assert_allclose(found.lower, by_lower, rtol=1e-5, atol=1e-6 * scale)
    after, before = link.slopes(upper + h, lower), link.slopes(upper - h, lower)
    bend = (after.upper - before.upper) / (2 * h)
    mixed = (after.lower - before.lower) / (2 * h)
    np.testing.assert_allclose(found.upper_upper, bend, rtol=1e-4, atol=1e-6 * scale)
    np.testing.assert_allclose(found.upper_lower, mixed, rtol=1e-4, atol=1e-6 * scale)
    after, before = link.slopes(upper, lower + h), link.slopes(upper, lower - h)
    bend = (after.lower - before.lower) / (2 * h)
    np.testing.assert_allclose(found.lower_lower, bend, rtol=1e-4, atol=1e-6 * scale)


@pytest.mark.parametrize("name", sorted(LINKS))
@given(ends)
def test_log_probabilities_are_concave(name: str, pair: tuple[float, float]) -> None:
    found = LINKS[name].slopes(np.array([pair[1]]), np.array([pair[0]]))
    matrix = np.array(
        [
            [found.upper_upper[0], found.upper_lower[0]],
            [found.upper_lower[0], found.lower_lower[0]],
        ]
    )
    assert np.linalg.eigvalsh(matrix)[-1] <= 1e-7 * np.abs(matrix).max()


@pytest.mark.parametrize("name", sorted(LINKS))
def test_infinite_ends_have_no_slope(name: str) -> None:
    link = LINKS[name]
    top = link.slopes(np.array([np.inf]), np.array([0.3]))
    assert top.upper[0] == top.upper_upper[0] == top.upper_lower[0] == 0
    bottom = link.slopes(np.array([0.3]), np.array([-np.inf]))
    assert bottom.lower[0] == bottom.lower_lower[0] == bottom.upper_lower[0] == 0
    assert bottom.value[0] == pytest.approx(np.log(link.cdf(np.array([0.3]))[0]))


@pytest.mark.parametrize("name", sorted(LINKS))
def test_laws_are_scipy_s(name: str) -> None:
    link, u = LINKS[name], np.linspace(-5, 5, 41)
    cdf = {"logit": special.expit, "probit": special.ndtr}[name]
    np.testing.assert_allclose(link.cdf(u), cdf(u), rtol=1e-15)
    np.testing.assert_allclose(link.quantile(link.cdf(u)), u, atol=1e-9)
    slope = (link.cdf(u + 1e-6) - link.cdf(u - 1e-6)) / 2e-6
    np.testing.assert_allclose(link.density(u), slope, rtol=1e-4)
    assert link.name == name


def test_ends_out_of_order_have_no_probability() -> None:
    found = Logit().log_interval(np.array([0.0, 1.0]), np.array([0.0, 2.0]))
    assert not np.isfinite(found).any()
