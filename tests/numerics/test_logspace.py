"""Log-space sums: 60 digits, SciPy, and the limits at infinity."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special

from novum.numerics import log_add, log_mean, log_normalize, log_subtract, log_sum_exp
from tests.oracles import exact_numerics as definitions

logs = st.lists(st.one_of(st.floats(-2000, 2000), st.just(-math.inf)), min_size=1, max_size=8)


@given(logs)
def test_sum_is_the_definition(a: list[float]) -> None:
    expected = definitions.log_sum_exp(a)
    # The terms a - max are rounded at the size of a; the result carries that rounding.
    assert float(log_sum_exp(a)) == pytest.approx(expected, rel=1e-14, abs=1e-14)


@given(logs, st.data())
def test_weighted_sum_is_the_definition(a: list[float], data: st.DataObject) -> None:
    w = data.draw(st.lists(st.floats(0, 1e3), min_size=len(a), max_size=len(a)))
    # Weights so small that they alone underflow are not what the shift is for.
    assume(all(x == 0 or x > 1e-100 for x in w))
    top = max((x for x, f in zip(a, w, strict=True) if f > 0), default=-math.inf)
    expected = definitions.log_sum_exp(a, w)
    assume(not math.isfinite(top) or expected > top - 200)
    assert float(log_sum_exp(a, weight=w)) == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_axes_agree_with_scipy() -> None:
    a = np.random.default_rng(0).normal(size=(3, 4, 5)) * 300
    for axis in (None, 0, 1, -1, (0, 2)):
        for keepdims in (False, True):
            ours = log_sum_exp(a, axis=axis, keepdims=keepdims)
            theirs = special.logsumexp(a, axis=axis, keepdims=keepdims)
            assert ours.shape == np.shape(theirs)
            np.testing.assert_allclose(ours, theirs, rtol=1e-14)


def test_limits_are_those_of_the_numbers() -> None:
    inf, nan = np.inf, np.nan
    assert log_sum_exp([]) == -inf
    assert log_sum_exp(np.zeros((0, 2)), axis=0).tolist() == [-inf, -inf]
    assert log_sum_exp([-inf, -inf]) == -inf
    assert log_sum_exp([inf, 1.0, -inf]) == inf
    assert np.isnan(log_sum_exp([nan, inf]))
    assert log_sum_exp([inf, 2.0], weight=[0.0, 1.0]) == 2.0
    assert log_sum_exp([3.0], weight=[0.0]) == -inf


@given(logs)
def test_shares_sum_to_one(a: list[float]) -> None:
    shares, total = log_normalize(a)
    if total == -np.inf:
        assert np.all(shares == -np.inf)
    else:
        # Each log share is rounded at the size of its terms, up to 2000.
        assert np.exp(shares).sum() == pytest.approx(1.0, rel=1e-11)
        np.testing.assert_allclose(shares + total, a, rtol=1e-12, atol=1e-11)


@given(st.lists(st.integers(-40, 40), min_size=1, max_size=8), st.floats(-1e300, 1e300))
def test_shares_survive_normalizers_that_swallow_them(gaps: list[int], offset: float) -> None:
    moved = offset + np.array(gaps, float)
    # What the terms themselves keep of their differences is kept.
    kept = moved - moved.max()
    shares, _ = log_normalize(moved)
    assert np.exp(shares).sum() == pytest.approx(1.0, rel=1e-14)
    np.testing.assert_allclose(shares, kept - np.log(np.exp(kept).sum()), atol=1e-13)


def test_normalizing_at_infinity() -> None:
    shares, total = log_normalize([[np.inf, 0.0, np.inf], [-np.inf] * 3, [0.0, np.nan, 0.0]])
    np.testing.assert_allclose(shares[0], [-np.log(2), -np.inf, -np.log(2)])
    assert np.all(shares[1] == -np.inf)
    assert np.all(np.isnan(shares[2]))
    np.testing.assert_array_equal(total, [np.inf, -np.inf, np.nan])
    by_column, _ = log_normalize(np.zeros((4, 2)), axis=0)
    np.testing.assert_allclose(by_column, np.log(0.25))


@given(st.floats(-700, 700), st.floats(-700, 700))
def test_adding_is_the_sum_of_two(a: float, b: float) -> None:
    assert log_add(a, b) == pytest.approx(definitions.log_sum_exp([a, b]), rel=1e-14, abs=1e-14)


@given(st.floats(-300, 300), st.floats(1e-9, 300))
def test_subtracting_undoes_adding(b: float, gap: float) -> None:
    a = b + gap
    difference = log_subtract(a, b)
    # log(1 - exp(-gap)) in full: expm1 is right to the last digit, the gap itself is rounded.
    expected = a + math.log(-math.expm1(-(a - b)))
    assert float(difference) == pytest.approx(expected, rel=1e-13, abs=1e-13)
    # Adding back is right up to the rounding of exponents near 300.
    assert float(log_add(difference, b)) == pytest.approx(a, rel=1e-12, abs=1e-12)


def test_subtracting_at_the_ends() -> None:
    inf = np.inf
    np.testing.assert_array_equal(
        log_subtract([1.0, -inf, inf, 5.0], [1.0, -inf, 2.0, -inf]), [-inf, -inf, inf, 5.0]
    )
    assert np.isnan(log_subtract(inf, inf))
    with pytest.raises(ValueError, match=r"at position \(1,\) a is 1\.0 and b is 2\.0"):
        log_subtract([3.0, 1.0], 2.0)


@given(logs)
def test_the_mean_lies_between_and_weights_repeat(a: list[float]) -> None:
    mean = float(log_mean(a))
    assert min(a) - 1e-9 <= mean <= max(a) + 1e-9
    weights = [float(i % 3) for i in range(1, len(a) + 1)]
    repeated = [x for x, w in zip(a, weights, strict=True) for _ in range(int(w))]
    assert float(log_mean(a, weight=weights)) == pytest.approx(
        float(log_mean(repeated)), rel=1e-13, abs=1e-12
    )


def test_a_mean_over_nothing_is_nan_without_a_warning() -> None:
    assert np.isnan(log_mean([]))
    assert np.isnan(log_mean([1.0], weight=[0.0]))
    assert log_mean(np.zeros((2, 3)), axis=1).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("bad", [-1.0, np.nan])
def test_negative_weights_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match=f"at least 0; one is {bad}"):
        log_sum_exp([0.0, 0.0], weight=[1.0, bad])
