"""Friedman: scipy, Demsar's worked example, permutations, degenerate tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from novum.evaluation.comparison.ranks.friedman import friedman_test, score_ranks
from tests.evaluation.comparison.definitions import friedman_permutation_p_value

# Demsar (2006), table 6: C4.5, C4.5+m, C4.5+cf, C4.5+m+cf on fourteen data sets. The paper prints
# 0.975 twice in the last row but one and ranks them 2 and 3 by digits it does not print.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9754, 0.9746],
        [0.957, 0.978, 0.946, 0.970],
    ]
)

tables = hnp.arrays(
    np.float64,
    st.tuples(st.integers(2, 8), st.integers(3, 5)),
    elements=st.integers(0, 5).map(float),
)


def test_demsars_worked_example() -> None:
    found = friedman_test(DEMSAR)
    assert found.mean_ranks == pytest.approx((3.143, 2.000, 2.893, 1.964), abs=5e-4)
    # The paper's 9.28 and 3.69 do not correct for ties; with the correction both are larger.
    n, k = DEMSAR.shape
    uncorrected = (
        12 * n / (k * (k + 1)) * (sum(r * r for r in found.mean_ranks) - k * (k + 1) ** 2 / 4)
    )
    assert uncorrected == pytest.approx(9.28, abs=5e-3)
    f = (n - 1) * uncorrected / (n * (k - 1) - uncorrected)
    assert f == pytest.approx(3.69, abs=5e-3)
    assert found.chi2 > uncorrected
    assert found.statistic > f
    assert found.significant


@given(tables)
def test_chi2_is_scipys_also_with_ties(scores: np.ndarray) -> None:
    if np.all(np.ptp(scores, axis=1) == 0):
        return
    theirs = stats.friedmanchisquare(*scores.T)
    found = friedman_test(scores)
    # scipy ranks the other way round, which changes nothing.
    assert found.chi2 == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-9)
    assert found.chi2_p_value == pytest.approx(theirs.pvalue, rel=1e-7, abs=1e-12)


@given(tables)
def test_the_f_form_is_a_two_way_analysis_of_ranks(scores: np.ndarray) -> None:
    """Iman and Davenport's F is the F of an analysis of variance of the ranks."""
    ranks = score_ranks(scores)
    n, k = ranks.shape
    total = ((ranks - ranks.mean()) ** 2).sum()
    between = n * ((ranks.mean(0) - ranks.mean()) ** 2).sum()
    rest = total - between
    if rest < 1e-9 or between < 1e-9:
        return
    expected = (between / (k - 1)) / (rest / ((k - 1) * (n - 1)))
    found = friedman_test(scores)
    assert found.statistic == pytest.approx(expected, rel=1e-8)
    assert found.p_value == pytest.approx(
        stats.f.sf(expected, k - 1, (k - 1) * (n - 1)), rel=1e-7, abs=1e-14
    )


def test_perfect_agreement_has_the_chance_of_permutations() -> None:
    scores = [[0.9, 0.8, 0.7]] * 4
    found = friedman_test(scores)
    assert found.statistic == math.inf
    assert found.p_value == pytest.approx(friedman_permutation_p_value(scores))
    assert found.p_value == pytest.approx(1 / 6**3)
    assert "rank the models alike" in found.note


@pytest.mark.slow
def test_level_by_simulation() -> None:
    # 2000 tables of 10 data sets: standard error 0.0049, and F is an approximation to ranks.
    rng = np.random.default_rng(0)
    rate = np.mean([friedman_test(rng.normal(size=(10, 4))).significant for _ in range(2000)])
    assert abs(rate - 0.05) < 4 * 0.0049


def test_all_tied_is_no_difference() -> None:
    with np.errstate(all="raise"):
        found = friedman_test(np.ones((4, 3)))
    assert (found.statistic, found.p_value, found.chi2_p_value) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[0.1, 0.2]], r"at least 2 data sets.*got shape \(1, 2\)"),
        ([[0.1], [0.2]], r"at least 2 models, got shape \(2, 1\)"),
        ([[0.1, np.nan], [0.1, 0.2]], "first is nan of model 1 on data set 0"),
    ],
)
def test_bad_input_is_named(scores: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        friedman_test(scores)


def test_scores_that_differ_by_rounding_share_a_rank() -> None:
    assert score_ranks([[0.3, 0.1 + 0.2, 0.1], [0.2, 0.3, 0.4]])[0].tolist() == [1.5, 1.5, 3.0]
