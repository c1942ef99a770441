"""McNemar's test: fractions, scipy's binomial test, coverage of the interval, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.evaluation.comparison.pairs.mcnemar import mcnemar_from_counts, mcnemar_test
from novum.evaluation.comparison.pairs.outcome import Alternative
from tests.evaluation.comparison.definitions import exact_mcnemar, mid_p_mcnemar

counts = st.integers(0, 60)


@given(counts, counts)
def test_p_values_are_the_fractions(b: int, c: int) -> None:
    exact = mcnemar_from_counts(b, c, b + c + 5, method="exact")
    middle = mcnemar_from_counts(b, c, b + c + 5)
    assert exact.p_value == pytest.approx(float(exact_mcnemar(b, c)), rel=1e-10)
    assert middle.p_value == pytest.approx(float(mid_p_mcnemar(b, c)), rel=1e-10)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize(("b", "c"), [(0, 7), (9, 3), (400, 350), (5, 5)])
def test_the_exact_test_is_scipys_binomial(alternative: Alternative, b: int, c: int) -> None:
    found = mcnemar_from_counts(b, c, 1000, method="exact", alternative=alternative)
    theirs = stats.binomtest(b, b + c, 0.5, alternative=alternative).pvalue
    assert found.p_value == pytest.approx(theirs, rel=1e-9)


@given(
    counts,
    counts,
    st.sampled_from(["mid-p", "exact"]),
    st.sampled_from(["two-sided", "less", "greater"]),
)
def test_the_critical_region_rejects_when_the_p_value_does(
    b: int, c: int, method: str, alternative: Alternative
) -> None:
    found = mcnemar_from_counts(
        b,
        c,
        b + c + 1,
        method=method,  # type: ignore[arg-type]
        alternative=alternative,
    )
    assert (found.statistic in found.critical_region) == found.significant


def test_predictions_are_counted() -> None:
    y = np.array(["a", "b", "a", "b", "a"])
    first, second = ["a", "b", "a", "a", "b"], ["a", "a", "b", "b", "b"]
    found = mcnemar_test(y, first, second)
    assert (found.only_first, found.only_second, found.n_rows) == (2, 1, 5)
    assert found.estimate == pytest.approx(1 / 5)
    swapped = mcnemar_test(y, second, first)
    assert swapped.p_value == found.p_value
    assert found.interval is not None
    assert swapped.interval is not None
    assert swapped.interval.low == pytest.approx(-found.interval.high)


@pytest.mark.slow
def test_level_and_coverage() -> None:
    """Mid-p stays near its size, the exact test below it (4 standard errors of 4000 draws)."""
    rng = np.random.default_rng(2)
    n, shares = 120, [0.12, 0.12, 0.76]
    draws = rng.multinomial(n, shares, 4000)
    rates = {
        method: np.mean(
            [mcnemar_from_counts(int(b), int(c), n, method=method).significant for b, c, _ in draws]  # type: ignore[arg-type]
        )
        for method in ("mid-p", "exact")
    }
    assert rates["exact"] <= rates["mid-p"]
    assert rates["exact"] < 0.05
    assert abs(rates["mid-p"] - 0.05) < 4 * 0.0034
    better = rng.multinomial(n, [0.2, 0.08, 0.72], 4000)
    covered = np.mean(
        [mcnemar_from_counts(int(b), int(c), n).interval.covers(0.12) for b, c, _ in better]  # type: ignore[union-attr]
    )
    assert abs(covered - 0.95) < 0.02


def test_the_interval_is_bonett_and_prices() -> None:
    found = mcnemar_from_counts(12, 4, 100)
    p, q = 13 / 102, 5 / 102
    half = stats.norm.isf(0.025) * math.sqrt((p + q - (p - q) ** 2) / 102)
    assert found.interval is not None
    assert tuple(found.interval) == pytest.approx((p - q - half, p - q + half))


def test_nothing_apart_says_so() -> None:
    found = mcnemar_test([1, 0, 1], [1, 1, 1], [1, 1, 1])
    assert found.p_value == 1.0
    assert "nothing to test" in found.note


def test_many_rows_neither_overflow_nor_turn_to_nan() -> None:
    found = mcnemar_from_counts(50_500, 49_500, 10**6)
    z = 1000 / math.sqrt(100_000)
    # The normal law is within 1e-5 of so many coins.
    assert found.p_value == pytest.approx(2 * stats.norm.sf(z), abs=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mcnemar_test([1, 0], [1, 0, 1], [1, 0]), r"first predictions have shape \(3,\)"),
        (lambda: mcnemar_from_counts(3, 4, 5), "do not fit into 5 rows"),
        (lambda: mcnemar_from_counts(-1, 4, 5), "at least 0, got -1"),
        (lambda: mcnemar_from_counts(0, 0, 0), "do not fit into 0 rows"),
        (lambda: mcnemar_from_counts(1, 2, 5, method="chi2"), "'mid-p' or 'exact'"),
    ],
)
def test_bad_input_is_named(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
