"""The conformal quantile: ranks, weights, infinity."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.evaluation.conformal.quantiles import (
    check_coverage,
    conformal_quantile,
    is_reachable,
    proved_coverage,
    rows_needed,
)


@given(st.integers(1, 60), st.integers(1, 99))
def test_the_rank_is_that_of_whole_numbers(n: int, percent: int) -> None:
    scores = np.random.default_rng(n).permutation(np.arange(1.0, n + 1))
    rank = -(-(n + 1) * percent // 100)
    expected = rank if rank <= n else math.inf
    assert conformal_quantile(scores, np.ones(n), percent / 100) == expected
    assert (n >= rows_needed(percent / 100)) == is_reachable(np.ones(n), percent / 100)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=30))
def test_a_weight_of_two_is_the_score_twice(rows: list[tuple[int, int]]) -> None:
    scores, weight = np.array(rows, float).T
    repeated = np.repeat(scores, weight.astype(int))
    for coverage in (0.5, 0.8, 0.9):
        found = conformal_quantile(scores, weight, coverage)
        assert found == conformal_quantile(repeated, np.ones(len(repeated)), coverage)


def test_a_new_row_of_weight_needs_more() -> None:
    scores = np.arange(1.0, 11.0)
    assert conformal_quantile(scores, np.ones(10), 0.5, own=1.0) == 6
    assert conformal_quantile(scores, np.ones(10), 0.5, own=4.0) == 7
    assert conformal_quantile(scores, np.ones(10), 0.5, own=11.0) == math.inf


def test_the_last_axis_is_that_of_rows() -> None:
    scores = np.random.default_rng(0).normal(size=(3, 4, 19))
    for weight in (np.ones(19), np.linspace(0.5, 1.5, 19)):
        found = conformal_quantile(scores, weight, 0.8)
        alone = [[conformal_quantile(row, weight, 0.8) for row in block] for block in scores]
        np.testing.assert_array_equal(found, alone)


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 90, math.nan, "0.9", True, None])
def test_a_coverage_outside_is_refused(coverage: Any) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        check_coverage(coverage)


def test_the_coverage_that_is_proved() -> None:
    """Twice a weighted mean of p-values: `1 - 2t` with all folds just at the edge."""
    one, folds, group = np.ones(60), np.repeat(np.arange(6), 10), np.zeros(60, int)

    def proved(column: Any, method: str = "cross", coverage: float = 0.9, weight: Any = one) -> Any:
        return proved_coverage(method, coverage, weight, column, group)

    assert proved(folds, "split") == 0.9
    assert proved(np.arange(60), "jackknife+") == pytest.approx(0.8)
    assert proved(np.arange(60), "jackknife+", 0.4) == 0
    # The p-value of a fold of m rows is (d + 1) / (m + 1); the mean by m + 1 counts all d.
    missed = 0.1 * 61 - 1
    mean = (missed + 6) / (60 + 6)
    equal = 1 - 0.2 - (1 - 6 / 60) / 7
    assert proved(folds) == pytest.approx(max(1 - 2 * mean, equal))
    folds[0] = 5
    assert proved(folds) == pytest.approx(1 - 2 * mean)
    # Folds of one row are the jackknife+.
    assert proved(np.arange(60)) == pytest.approx(0.8)
    assert proved(folds, weight=2 * one) > proved(folds)


def test_the_coverage_that_is_proved_of_groups() -> None:
    """Each against its own rows; equal folds prove more only if they are equal in every group."""
    one, folds, group = np.ones(60), np.tile(np.arange(6), 10), np.repeat([0, 1], [36, 24])

    def p_values(n: int) -> float:
        return 1 - 2 * (0.1 * (n + 1) + 5) / (n + 6)

    def equal(n: int) -> float:
        return 0.8 - (1 - 6 / n) / 7

    both = [max(p_values(n), equal(n)) for n in (36, 24)]
    assert proved_coverage("cross", 0.9, one, folds, group) == pytest.approx(min(both))
    folds[0] = 5
    alone = min(p_values(36), p_values(24))
    assert proved_coverage("cross", 0.9, one, folds, group) == pytest.approx(alone)
    assert alone < equal(24)
