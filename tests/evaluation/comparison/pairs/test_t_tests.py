"""Student's tests: scipy's numbers, exact level and coverage by simulation, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.evaluation.comparison.pairs.outcome import Alternative, Outcome
from novum.evaluation.comparison.pairs.t_tests import (
    one_sample_t_test,
    paired_t_test,
    unpaired_t_test,
)

ALTERNATIVES: list[Alternative] = ["two-sided", "less", "greater"]
RNG = np.random.default_rng(3)
FIRST, SECOND = RNG.normal(1, 2, 12), RNG.normal(0.5, 1, 12)


def agrees(found: Outcome, theirs: object, level: float) -> None:
    assert found.statistic == pytest.approx(theirs.statistic, rel=1e-10)  # type: ignore[attr-defined]
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-10)  # type: ignore[attr-defined]
    assert found.degrees_of_freedom[0] == pytest.approx(theirs.df, rel=1e-10)  # type: ignore[attr-defined]
    low, high = theirs.confidence_interval(level)  # type: ignore[attr-defined]
    assert found.interval is not None
    assert tuple(found.interval) == pytest.approx((low, high), rel=1e-9)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_all_four_are_scipys(alternative: Alternative, level: float) -> None:
    one = stats.ttest_1samp(FIRST, 0.7, alternative=alternative)
    agrees(one_sample_t_test(FIRST, 0.7, alternative=alternative, level=level), one, level)
    pairs = stats.ttest_rel(FIRST, SECOND, alternative=alternative)
    agrees(paired_t_test(FIRST, SECOND, alternative=alternative, level=level), pairs, level)
    for variances in ("equal", "unequal"):
        theirs = stats.ttest_ind(
            FIRST, SECOND[:7], equal_var=variances == "equal", alternative=alternative
        )
        ours = unpaired_t_test(
            FIRST,
            SECOND[:7],
            variances=variances,  # type: ignore[arg-type]
            alternative=alternative,
            level=level,
        )
        agrees(ours, theirs, level)


def test_numbers_that_can_be_checked_by_hand() -> None:
    found = one_sample_t_test([1.0, 2.0, 3.0])
    assert found.statistic == pytest.approx(2 / (1 / math.sqrt(3)))
    # Student's law with two degrees of freedom has P(T > t) = (1 - t / sqrt(2 + t^2)) / 2.
    t = found.statistic
    assert found.p_value == pytest.approx(1 - t / math.sqrt(2 + t * t))


@given(st.lists(st.floats(-100, 100), min_size=3, max_size=20), st.floats(0.1, 50))
def test_units_do_not_matter(values: list[float], unit: float) -> None:
    plain, scaled = one_sample_t_test(values), one_sample_t_test([unit * v for v in values])
    if np.ptp(values) > 1e-6:
        assert scaled.p_value == pytest.approx(plain.p_value, rel=1e-6, abs=1e-12)


def test_swapping_the_samples_turns_the_sign() -> None:
    for test in (paired_t_test, unpaired_t_test):
        forward, back = test(FIRST, SECOND), test(SECOND, FIRST)
        assert forward.statistic == pytest.approx(-back.statistic)
        assert forward.p_value == pytest.approx(back.p_value)


@pytest.mark.slow
def test_level_and_coverage_for_independent_values() -> None:
    # 4000 samples: a rate of 0.05 has a standard error of 0.0034, and four of them are allowed.
    rng = np.random.default_rng(0)
    samples = rng.normal(0.3, 1.0, (4000, 8))
    found = [one_sample_t_test(row, 0.3) for row in samples]
    assert abs(np.mean([test.significant for test in found]) - 0.05) < 4 * 0.0034
    covered = np.mean([test.interval.covers(0.3) for test in found])  # type: ignore[union-attr]
    assert abs(covered - 0.95) < 4 * 0.0034


@pytest.mark.slow
def test_welch_holds_its_level_where_the_pooled_test_does_not() -> None:
    rng = np.random.default_rng(1)
    small, large = rng.normal(0, 4, (2000, 5)), rng.normal(0, 1, (2000, 30))
    rates = {
        variances: np.mean(
            [
                unpaired_t_test(a, b, variances=variances).significant  # type: ignore[arg-type]
                for a, b in zip(small, large, strict=True)
            ]
        )
        for variances in ("equal", "unequal")
    }
    # Standard error 0.005; Welch's degrees of freedom are themselves an approximation.
    assert rates["unequal"] < 0.05 + 0.025
    assert rates["equal"] > 0.25


def test_constant_values_divide_by_nothing() -> None:
    with np.errstate(all="raise"):
        assert one_sample_t_test([2.0, 2.0, 2.0], 2.0).p_value == 1.0
        assert math.isnan(one_sample_t_test([0.1] * 3, 0.0).p_value)
        assert unpaired_t_test([1.0, 1.0], [3.0, 3.0]).statistic == -math.inf
        assert "nothing to test" in paired_t_test([0.1, 0.7], [0.1, 0.7]).note


def test_differences_that_are_rounding_are_none() -> None:
    first = np.array([0.1 + 0.2, 0.7, 0.1 * 3])
    second = np.array([0.3, 0.7, 0.3])
    assert np.any(first != second)
    assert paired_t_test(first, second).p_value == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_t_test([1, 2, 3], [1, 2]), "got 3 and 2.*unpaired_t_test"),
        (lambda: paired_t_test([1, np.nan], [1, 2]), "first is nan at position 1"),
        (
            lambda: one_sample_t_test([1, 2], alternative="bigger"),
            "alternative is one of two-sided",
        ),
        (lambda: one_sample_t_test([1, 2], level=95), "between 0 and 1"),
        (lambda: one_sample_t_test([1, 2], mean=np.nan), "mean is a finite number"),
        (lambda: unpaired_t_test([1, 2], [1, 2], variances="yes"), "'unequal' or 'equal'"),
    ],
)
def test_bad_input_is_named(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
