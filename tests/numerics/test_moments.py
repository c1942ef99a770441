"""Moments: exact arithmetic, certified digits, merging and removing, extreme values."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal, getcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from novum.numerics import Floats, Moments, autocorrelation, moments_of
from tests.oracles.exact_numerics import exact_moments

CERTIFIED = json.loads(
    (Path(__file__).parents[1] / "oracles" / "nist_univariate.json").read_text()
)["sets"]

# Enough range to hurt, little enough that no square leaves the doubles.
cells = st.floats(-1e6, 1e6).map(lambda x: round(x, 6))


def tables(n_columns: int = 2, min_rows: int = 1) -> st.SearchStrategy[Floats]:
    shapes = st.integers(min_rows, 12).map(lambda n: (n, n_columns))
    return shapes.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=cells))


def assert_exact(statistics: Moments, X: Floats, weights: Floats | None = None) -> None:
    """Right to 1e-12 in each column's own units: the spread for means, its square for products."""
    weight, mean, scatter = exact_moments(X.tolist(), None if weights is None else weights.tolist())
    spread = np.sqrt([float(scatter[j][j]) for j in range(X.shape[1])])
    size = np.abs(X).max(axis=0)
    assert statistics.weight == pytest.approx(float(weight), rel=1e-14)
    np.testing.assert_array_less(
        np.abs(statistics.mean - np.array(mean, float)), 1e-12 * spread + 3e-16 * size + 1e-300
    )
    # The centered cells carry the rounding of the cells' own size.
    unit = spread + 1e-15 * math.sqrt(len(X)) * size
    np.testing.assert_array_less(
        np.abs(statistics.scatter - np.array(scatter, float)), 1e-12 * np.outer(unit, unit) + 1e-300
    )


# --- Truth ----------------------------------------------------------------------------------------


@given(tables(3))
def test_moments_are_the_definition(X: Floats) -> None:
    assert_exact(moments_of(X), X)


@given(tables(2), st.data())
def test_weighted_moments_are_the_definition(X: Floats, data: st.DataObject) -> None:
    weights = data.draw(hnp.arrays(np.float64, len(X), elements=st.floats(0.01, 100.0)))
    assert_exact(moments_of(X, weights), X, weights)


def test_many_blocks_agree_with_numpy() -> None:
    X = np.random.default_rng(0).normal(size=(20_000, 20)) @ np.diag(np.arange(1, 21)) + 1e4
    statistics = moments_of(X)
    # Four blocks; NumPy's own two-pass covariance is right to about 1e-13.
    np.testing.assert_allclose(statistics.covariance(ddof=1), np.cov(X.T), rtol=0, atol=4e-11)
    np.testing.assert_allclose(statistics.mean, X.mean(axis=0), rtol=1e-14)
    assert statistics.weight == 20_000


def certified_series(name: str) -> Floats:
    entry = CERTIFIED[name]
    if "data" in entry:
        return np.array([float(x) for x in entry["data"]])
    if "data_rle" in entry:
        first, pair = entry["data_rle"]["first"], entry["data_rle"]["then_alternating"]
        rest = [pair[i % 2] for i in range(entry["n"] - 1)]
        return np.array([float(x) for x in (first, *rest)])
    digits = pi_digits(entry["n"])
    digits[956] = 3
    return np.array(digits, float)


def pi_digits(n: int) -> list[int]:
    """Digits of pi by Machin's formula in integers."""
    unity = 10 ** (n + 10)

    def arctan_of_inverse(x: int) -> int:
        power = total = unity // x
        k, sign = 1, 1
        while power:
            power //= x * x
            k, sign = k + 2, -sign
            total += sign * (power // k)
        return total

    pi = 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))
    # Python refuses to print integers beyond 4300 digits, decimals it prints.
    getcontext().prec = n + 20
    return [int(c) for c in f"{Decimal(pi):f}"[:n]]


def digits_right(found: float, certified: str) -> float:
    """Number of correct digits, 15 at most, as NIST counts them."""
    truth = float(certified)
    return min(15.0, -math.log10(max(abs(found - truth) / abs(truth), 1e-15)))


def at_once(x: Floats) -> Moments:
    return moments_of(x[:, None])


def merged_halves(x: Floats) -> Moments:
    half = len(x) // 2
    return moments_of(x[:half, None]) + moments_of(x[half:, None])


def with_others_removed(x: Floats) -> Moments:
    others = moments_of(x.mean() + 1000 * np.random.default_rng(0).normal(size=(300, 1)))
    return (moments_of(x[:, None]) + others) - others


@pytest.mark.parametrize("name", sorted(CERTIFIED))
@pytest.mark.parametrize("way", [at_once, merged_halves, with_others_removed])
def test_certified_digits(name: str, way: Callable[[Floats], Moments]) -> None:
    statistics = way(certified_series(name))
    deviation = math.sqrt(statistics.variance(ddof=1)[0])
    certified = CERTIFIED[name]["certified"]
    assert digits_right(statistics.mean[0], certified["mean"]) >= 14
    # NumAcc4 keeps 8.3 digits when its decimals become doubles; see the next test.
    assert round(digits_right(deviation, certified["sd"]), 1) >= 8.3
    if not name.startswith("NumAcc"):
        assert digits_right(deviation, certified["sd"]) >= 12.5


@pytest.mark.parametrize("name", ["Mavro", "Michelso", "NumAcc2", "NumAcc3", "NumAcc4"])
@pytest.mark.parametrize("way", [at_once, merged_halves, with_others_removed])
def test_no_digit_is_lost_beyond_those_of_the_input(
    name: str, way: Callable[[Floats], Moments]
) -> None:
    x = certified_series(name)[:, None]
    [[exact]] = exact_moments(x.tolist())[2]
    # Other rows with squares 1e8 times larger (1e12 for Mavro) come and go in one of the ways.
    assert way(x[:, 0]).scatter[0, 0] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("name", sorted(CERTIFIED))
def test_certified_autocorrelation(name: str) -> None:
    found = autocorrelation(certified_series(name))
    assert digits_right(found, CERTIFIED[name]["certified"]["lag1_autocorrelation"]) >= 11


# --- Sums -----------------------------------------------------------------------------------------


@given(tables(), tables())
def test_sums_are_the_moments_of_all_rows(A: Floats, B: Floats) -> None:
    both = moments_of(A) + moments_of(B)
    assert_exact(both, np.vstack([A, B]))


@given(tables(), tables())
def test_what_was_added_comes_off_to_the_last_digit(A: Floats, B: Floats) -> None:
    left = (moments_of(A) + moments_of(B)) - moments_of(B)
    assert left.weight == len(A)
    # One unit in the last place, and far below the rounding of the sum itself, thanks to
    # the low parts.
    before, size = moments_of(A), np.abs(np.vstack([A, B])).max()
    np.testing.assert_allclose(left.mean, before.mean, rtol=5e-16, atol=1e-28 * size)
    np.testing.assert_allclose(left.scatter, before.scatter, rtol=5e-16, atol=1e-27 * size**2)


@given(tables(), tables(), tables())
def test_the_order_of_merging_does_not_matter(A: Floats, B: Floats, C: Floats) -> None:
    a, b, c = moments_of(A), moments_of(B), moments_of(C)
    left, right = (a + b) + c, c + (b + a)
    np.testing.assert_allclose(left.mean, right.mean, rtol=1e-15, atol=1e-20)
    assert left.isclose(right, rtol=1e-14)


@given(tables())
def test_weight_two_is_the_row_twice_and_zero_the_row_absent(X: Floats) -> None:
    assert moments_of(X, np.full(len(X), 2.0)).isclose(moments_of(np.vstack([X, X])), rtol=1e-12)
    extended = np.vstack([X, [np.nan, np.inf]])
    weights = np.append(np.ones(len(X)), 0.0)
    assert moments_of(extended, weights).isclose(moments_of(X), rtol=1e-12)
    assert (2 * moments_of(X)).isclose(moments_of(np.vstack([X, X])), rtol=1e-12)


@given(tables())
def test_zero_is_neutral(X: Floats) -> None:
    statistics, nothing = moments_of(X), Moments.zero(2)
    for same in (statistics + nothing, nothing + statistics, statistics - nothing):
        assert same is statistics
    assert (statistics - statistics).weight == 0
    assert (statistics - statistics).isclose(nothing, rtol=0)
    assert (0 * statistics).isclose(nothing, rtol=0)
    assert moments_of(np.empty((0, 2))).isclose(nothing, rtol=0)


@given(tables(min_rows=2), st.sampled_from(["weight", "mean", "scatter"]))
def test_isclose_notices_a_difference_in_every_part(X: Floats, part: str) -> None:
    statistics = moments_of(X)
    assume((statistics.variance() > 1e-3).all())
    changed = {
        "weight": statistics.weight,
        "mean": statistics.mean,
        "scatter": statistics.scatter,
    }
    changed[part] = changed[part] * (1 + 1e-6) + (1e-3 if part == "mean" else 0.0)
    assert not statistics.isclose(Moments(**changed), rtol=1e-10)
    assert not statistics.isclose(Moments.zero(3))


def test_fractional_weights_leave_nothing_behind() -> None:
    X = np.array([[1.0, 2.0], [4.0, 3.0], [0.0, 9.0]])
    a, b = moments_of(X, [0.1, 0.2, 0.3]), moments_of(10 * X, [0.7, 0.1, 0.1])
    assert ((a + b) - a - b).weight == 0
    assert (a + b - b).isclose(a, rtol=1e-15)


# --- Shape of the input ---------------------------------------------------------------------------


@given(tables(3))
def test_layout_dtype_and_flags_do_not_change_a_bit(X: Floats) -> None:
    expected = moments_of(X)
    frozen = X.copy()
    frozen.flags.writeable = False
    for same in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], frozen, X.tolist()):
        assert moments_of(same).scatter.tobytes() == expected.scatter.tobytes()
        assert moments_of(same).mean.tobytes() == expected.mean.tobytes()


def test_equal_rows_and_partition_give_equal_bits() -> None:
    X = np.random.default_rng(1).normal(size=(5000, 30))
    a, b = moments_of(X), moments_of(X.copy())
    assert a.scatter.tobytes() == b.scatter.tobytes()
    assert a.mean.tobytes() == b.mean.tobytes()


def test_a_constant_column_is_exactly_constant() -> None:
    X = np.column_stack([np.full(1000, 0.1), np.random.default_rng(0).normal(size=1000)])
    statistics = moments_of(X, np.random.default_rng(1).random(1000) + 0.1)
    assert statistics.mean[0] == 0.1
    assert statistics.scatter[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e100, 1e150])
def test_extreme_scales_keep_their_digits(scale: float) -> None:
    X = np.array([[1.0], [2.0], [6.0]])
    statistics = moments_of(scale * X) + moments_of(scale * X)
    assert statistics.variance()[0] == pytest.approx(14 / 3 * scale**2, rel=1e-14)


def test_an_offset_of_1e8_costs_nothing_but_the_input_digits() -> None:
    X = np.random.default_rng(0).integers(-1000, 1000, (100, 2)).astype(float)
    shifted = moments_of(X + 1e8)
    np.testing.assert_allclose(shifted.scatter, moments_of(X).scatter, rtol=1e-14)


# --- Refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0], [np.nan]], r"missing \(NaN\), the first at row 1, column 0\. column_moments"),
        ([[1.0, 2.0], [1.0, np.inf]], "infinite, the first at row 1, column 1"),
        ([[1e160], [-1e160]], "column 0 overflow"),
        ([[1e308], [-1e308]], "column 0 overflow"),
        ([[1e-170], [2e-170]], "column 0 underflow"),
    ],
)
def test_what_cannot_be_represented_is_refused(X: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        moments_of(X)


def test_sums_that_overflow_across_blocks_are_refused() -> None:
    X = np.full((300_000, 1), 1e152)
    X[::2] *= -1
    with pytest.raises(ValueError, match="column 0 overflow"):
        moments_of(X)


def test_rows_that_were_never_there_cannot_be_removed() -> None:
    statistics = moments_of([[1.0], [2.0], [3.0]])
    with pytest.raises(ValueError, match="a weight of 3 would become -1"):
        statistics - moments_of([[1.0]] * 4)
    with pytest.raises(ValueError, match="not among the rows: the scatter of column 0"):
        statistics - moments_of([[100.0], [-100.0]])


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="of 1 and of 2 columns"):
        moments_of([[1.0]]) + moments_of([[1.0, 2.0]])
    with pytest.raises(ValueError, match="at least 0, got -1"):
        -1 * moments_of([[1.0]])
    with pytest.raises(ValueError, match=r"ddof=1 needs a total weight above 1; it is 1\."):
        moments_of([[1.0]]).variance(ddof=1)
    with pytest.raises(ValueError, match=r"got \(2,\) and \(1, 1\)"):
        Moments(1.0, np.zeros(2), np.zeros((1, 1)))
    with pytest.raises(ValueError, match="not negative: -1"):
        Moments(-1.0, np.zeros(1), np.zeros((1, 1)))
    with pytest.raises(ValueError, match="has no lag 3"):
        autocorrelation([1.0, 2.0, 3.0], lag=3)
    with pytest.raises(ValueError, match="constant series"):
        autocorrelation([1.0, 1.0])
    with pytest.raises(TypeError):
        moments_of([[1.0]]) + 1  # type: ignore[operator]
