"""Signed ranks: enumeration of signs, scipy, exact coverage, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.evaluation.comparison.pairs.outcome import Alternative
from novum.evaluation.comparison.ranks.signed_rank import signed_rank_test, walsh_means
from tests.evaluation.comparison.definitions import signed_rank_p_value


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_ties_and_zeros_by_enumeration(differences: list[int]) -> None:
    found = signed_rank_test(differences)
    assert found.p_value == pytest.approx(signed_rank_p_value(differences), rel=1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("n", [1, 5, 12, 40])
def test_without_ties_it_is_scipys_exact_test(alternative: Alternative, n: int) -> None:
    differences = np.random.default_rng(n).normal(0.3, 1, n)
    theirs = stats.wilcoxon(differences, alternative=alternative, method="exact")
    found = signed_rank_test(differences, alternative=alternative)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-10)
    if n > 10:
        assert (found.statistic in found.critical_region) == found.significant


def test_many_differences_go_over_to_the_normal_law() -> None:
    differences = np.random.default_rng(4).normal(0.05, 1, 301)
    exact = stats.wilcoxon(differences, method="exact").pvalue
    found = signed_rank_test(differences)
    # The normal law errs by about 1 / n in the tail.
    assert found.p_value == pytest.approx(exact, rel=0.02)
    assert (found.statistic in found.critical_region) == found.significant


@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=30, unique_by=abs),
    st.sampled_from([0.8, 0.95]),
)
def test_the_critical_region_rejects_when_the_p_value_does(
    differences: list[float], level: float
) -> None:
    found = signed_rank_test(differences, level=level)
    assert (found.statistic in found.critical_region) == found.significant


def test_the_interval_holds_what_is_not_rejected() -> None:
    differences = np.random.default_rng(6).normal(0.4, 1, 15)
    found = signed_rank_test(differences)
    assert found.interval is not None
    low, high = found.interval
    for shift in (low - 1e-6, high + 1e-6):
        assert signed_rank_test(differences - shift).significant
    for shift in (low + 1e-6, high - 1e-6, found.interval.estimate):
        assert not signed_rank_test(differences - shift).significant


def test_coverage_is_at_least_the_level() -> None:
    # The discrete law with n = 12 covers 0.9575 exactly; 1500 draws, four standard errors.
    rng = np.random.default_rng(9)
    found = [signed_rank_test(row).interval for row in rng.normal(0.7, 1, (1500, 12))]
    covered = np.mean([interval.covers(0.7) for interval in found])  # type: ignore[union-attr]
    assert abs(covered - 0.9575) < 4 * math.sqrt(0.9575 * 0.0425 / 1500)


def test_walsh_means_by_hand() -> None:
    assert walsh_means(np.array([1.0, 2.0, 6.0])).tolist() == [1.0, 1.5, 2.0, 3.5, 4.0, 6.0]


def test_few_data_sets_cannot_reject() -> None:
    found = signed_rank_test([0.1, 0.2, 0.3])
    assert found.p_value == 0.25
    assert str(found.critical_region) == "empty"
    assert found.interval is not None
    assert tuple(found.interval) == (-math.inf, math.inf)


def test_all_zero_says_so() -> None:
    with np.errstate(all="raise"):
        found = signed_rank_test([0.0] * 8)
    assert (found.statistic, found.p_value) == (0.0, 1.0)
    assert "nothing to test" in found.note


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="first is nan at position 1"):
        signed_rank_test([0.1, np.nan])
    with pytest.raises(ValueError, match="hold 0 numbers"):
        signed_rank_test([])


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=2, max_size=12))
def test_decimal_scores_are_tied_as_their_integers_are(pairs: list[tuple[int, int]]) -> None:
    whole = signed_rank_test([a - b for a, b in pairs])
    found = signed_rank_test([a / 100 - b / 100 for a, b in pairs])
    assert (found.statistic, found.p_value) == (whole.statistic, whole.p_value)


def test_ties_are_not_broken_by_rounding() -> None:
    # 3, 3, -2 and 2 hundredths: the two ties share the ranks 3.5 and 1.5.
    found = signed_rank_test([0.86 - 0.83, 0.53 - 0.50, 0.18 - 0.20, 0.92 - 0.90])
    assert found.statistic == 8.5
