"""Pairs of doubles against exact rational arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.numerics import double_double as dd

# Products of two such numbers and their low parts stay far from underflow and overflow.
numbers = st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100)
tails = st.floats(-1.0, 1.0)


@st.composite
def pairs(draw: st.DrawFn) -> dd.Pair:
    high = np.float64(draw(numbers))
    return dd.two_sum(high, np.float64(draw(tails)) * np.spacing(high) / 2)


def exact(x: dd.Pair) -> Fraction:
    return Fraction(float(x[0])) + Fraction(float(x[1]))


@given(numbers, numbers)
def test_sums_and_products_come_with_their_exact_error(a: float, b: float) -> None:
    x, y = np.float64(a), np.float64(b)
    assert exact(dd.two_sum(x, y)) == Fraction(a) + Fraction(b)
    assert exact(dd.two_product(x, y)) == Fraction(a) * Fraction(b)


# Bounds of the algorithms: 2^-104 for a sum of any signs with the accurate addition, a few more
# roundings for product and quotient.
@pytest.mark.parametrize(
    ("operation", "truth", "bound"),
    [
        (dd.add, Fraction.__add__, 2.0**-100),
        (dd.subtract, Fraction.__sub__, 2.0**-100),
        (dd.multiply, Fraction.__mul__, 2.0**-99),
        (dd.divide, Fraction.__truediv__, 2.0**-98),
    ],
)
def test_operations_keep_thirty_digits(
    operation: Callable[[dd.Pair, dd.Pair], dd.Pair],
    truth: Callable[[Fraction, Fraction], Fraction],
    bound: float,
) -> None:
    @given(pairs(), pairs())
    def check(x: dd.Pair, y: dd.Pair) -> None:
        if operation is dd.divide and y[0] == 0:
            return
        expected = truth(exact(x), exact(y))
        assert abs(exact(operation(x, y)) - expected) <= Fraction(bound) * abs(expected)

    check()


def test_numbers_near_the_largest_are_split_without_overflow() -> None:
    high, low = dd.two_product(np.float64(1.7e308), np.float64(1 - 2.0**-30))
    assert exact((high, low)) == Fraction(1.7e308) * (1 - Fraction(2) ** -30)


def test_pairs_of_arrays_work_element_by_element() -> None:
    x = dd.pair(np.array([1.0, 1e16]))
    high, low = dd.add(x, dd.pair(np.array([1e-20, 1.0])))
    np.testing.assert_array_equal(high, [1.0, 1e16])
    np.testing.assert_array_equal(low, [1e-20, 1.0])
