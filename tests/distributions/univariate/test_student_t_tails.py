"""Tails of Student's t: 60-digit values (mpmath), closed forms, the inverse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from novum.distributions.univariate.student_t import upper_tail, upper_tail_inverse

# t, degrees of freedom, P(T > t)
TAILS = [
    (1e-10, 1.0, 0.499999999968169),
    (0.5, 0.1, 0.44326011332299353),
    (1.5, 2.5, 0.12391822654314813),
    (30.0, 4.0, 3.6764280488306612e-06),
    (1e150, 1.0, 3.183098861837907e-151),
    (1e300, 1.0, 3.1830988618379065e-301),
    (1e200, 0.5, 3.207009754142229e-101),
    (10.0, 1e4, 9.816403714331914e-24),
    (35.0, 1e8, 1.1291456838795503e-268),
    (5.0, 1e12, 2.8665157192751227e-07),
]


@pytest.mark.parametrize(("t", "degrees", "expected"), TAILS)
def test_sixty_digit_values(t: float, degrees: float, expected: float) -> None:
    # A tail of size 10^-k has its relative error multiplied by k log 10.
    assert float(upper_tail(np.float64(t), degrees)) == pytest.approx(expected, rel=1e-12)
    if t > 1e-5:
        found = float(upper_tail_inverse(np.float64(expected), degrees))
        assert found == pytest.approx(t, rel=1e-12)


@given(st.floats(0, 1e6))
def test_one_and_two_degrees_are_elementary(t: float) -> None:
    cauchy = np.arctan2(1.0, t) / np.pi
    assert float(upper_tail(np.float64(t), 1.0)) == pytest.approx(cauchy, rel=1e-12)
    # (1 - t/sqrt(2 + t^2)) / 2 without the cancellation.
    root = np.sqrt(2 + t * t)
    two = 1 / (root * (root + t))
    assert float(upper_tail(np.float64(t), 2.0)) == pytest.approx(two, rel=1e-12)


@given(st.floats(0.05, 1e9), st.floats(1e-12, 0.499))
def test_inverse(degrees: float, p: float) -> None:
    t = upper_tail_inverse(np.float64(p), degrees)
    if np.isfinite(t):
        assert float(upper_tail(t, degrees)) == pytest.approx(p, rel=1e-9)


def test_many_degrees_are_the_normal_law() -> None:
    t = np.array([0.0, 0.1, 1.0, 10.0, 30.0])
    for degrees in (0.99e20, 1e20, 1e300, np.inf):
        np.testing.assert_allclose(upper_tail(t, degrees), special.ndtr(-t), rtol=1e-12)


def test_ends() -> None:
    for degrees in (0.5, 3.0, 1e9, np.inf):
        assert float(upper_tail(np.float64(0.0), degrees)) == 0.5
        assert float(upper_tail(np.float64(np.inf), degrees)) == 0
        assert float(upper_tail_inverse(np.float64(0.5), degrees)) == 0
        assert float(upper_tail_inverse(np.float64(0.0), degrees)) == np.inf
