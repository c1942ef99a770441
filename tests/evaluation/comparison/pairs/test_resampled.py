"""Corrected tests: formulas, exact laws under their model, simulation on overlapping folds.

The simulated learners fit a slope to one of two columns that tell equally much about y, each to
its own, so they are equally good by symmetry. They share folds as real learners do, and a thousand
experiments are a few array operations.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.evaluation.comparison.pairs.t_tests import (
    corrected_t_test,
    five_by_two_f_test,
    five_by_two_t_test,
    one_sample_t_test,
)
from novum.numerics import Floats

HALVES = [[0.04, 0.06], [0.05, 0.03], [0.02, 0.05], [0.06, 0.04], [0.05, 0.05]]


def fold_differences(
    n_experiments: int, n_rows: int, n_folds: int, n_repeats: int, seed: int
) -> Floats:
    """Differences of two equally good learners on shared folds, experiments x all folds.

    One learner sees column a of the rows, the other column b; both predict y = a + b + noise by
    least squares on their column alone.
    """
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n_experiments, n_rows))
    y = a + b + rng.normal(size=(n_experiments, n_rows))
    found = []
    for _ in range(n_repeats):
        order = rng.permuted(np.tile(np.arange(n_rows), (n_experiments, 1)), axis=1)
        sides = [np.take_along_axis(column, order, axis=1) for column in (a, b, y)]
        for fold in np.array_split(np.arange(n_rows), n_folds):
            train = np.setdiff1d(np.arange(n_rows), fold)
            errors = []
            for column in sides[:2]:
                x, t = column[:, train], sides[2][:, train]
                slope = (x * t).sum(1) / (x * x).sum(1)
                missed = sides[2][:, fold] - slope[:, None] * column[:, fold]
                errors.append((missed**2).mean(1))
            found.append(errors[1] - errors[0])
    return np.array(found).T


# --- Formulas -------------------------------------------------------------------------------------


@given(
    st.lists(st.floats(-1, 1), min_size=2, max_size=30).filter(lambda d: np.ptp(d) > 1e-3),
    st.floats(0, 2),
)
def test_the_formula_of_nadeau_and_bengio(differences: list[float], ratio: float) -> None:
    n = len(differences)
    mean = math.fsum(differences) / n
    variance = math.fsum((d - mean) ** 2 for d in differences) / (n - 1)
    t = mean / math.sqrt((1 / n + ratio) * variance)
    found = corrected_t_test(differences, ratio)
    assert found.statistic == pytest.approx(t, rel=1e-9, abs=1e-12)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), n - 1), rel=1e-9)


def test_without_test_rows_it_is_the_plain_test() -> None:
    differences = [0.1, 0.3, -0.2, 0.4]
    ours, plain = corrected_t_test(differences, 0.0), one_sample_t_test(differences)
    assert ours.statistic == pytest.approx(plain.statistic)
    assert ours.p_value == pytest.approx(plain.p_value)


@given(st.permutations(range(5)), st.lists(st.booleans(), min_size=5, max_size=5))
def test_the_f_test_does_not_depend_on_order(order: list[int], swaps: list[bool]) -> None:
    shuffled = [
        HALVES[j][::-1] if swap else HALVES[j] for j, swap in zip(order, swaps, strict=True)
    ]
    assert five_by_two_f_test(shuffled).p_value == pytest.approx(five_by_two_f_test(HALVES).p_value)


def test_five_by_two_term_by_term() -> None:
    squares = []
    for first, second in HALVES:
        middle = (first + second) / 2
        squares.append((first - middle) ** 2 + (second - middle) ** 2)
    t = HALVES[0][0] / math.sqrt(sum(squares) / 5)
    found = five_by_two_t_test(HALVES)
    assert found.statistic == pytest.approx(t)
    assert found.p_value == pytest.approx(2 * stats.t.sf(t, 5))
    f = sum(d * d for pair in HALVES for d in pair) / (2 * sum(squares))
    combined = five_by_two_f_test(HALVES)
    assert combined.statistic == pytest.approx(f)
    assert combined.p_value == pytest.approx(stats.f.sf(f, 10, 5))
    assert (combined.statistic in combined.critical_region) == combined.significant
    assert combined.critical_region.high == pytest.approx(stats.f.isf(0.05, 10, 5))


def test_flat_and_square_halves_are_the_same() -> None:
    flat = np.ravel(HALVES)
    assert five_by_two_f_test(flat) == five_by_two_f_test(HALVES)


# --- Laws -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_exact_level_and_coverage_under_its_own_model() -> None:
    # Equally correlated normal differences: t has exactly Student's law. 4000 draws have a standard
    # error of 0.0034; four of them are allowed.
    rng = np.random.default_rng(5)
    n, ratio, truth = 20, 0.25, 0.4
    correlation = ratio / (1 + ratio)
    shared, own = rng.normal(size=(4000, 1)), rng.normal(size=(4000, n))
    draws = truth + math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own
    found = [corrected_t_test(row, ratio, difference=truth) for row in draws]
    assert abs(np.mean([test.significant for test in found]) - 0.05) < 4 * 0.0034
    covered = np.mean([test.interval.covers(truth) for test in found])  # type: ignore[union-attr]
    assert abs(covered - 0.95) < 4 * 0.0034


def test_type_one_error_on_overlapping_folds() -> None:
    """The plain test rejects far too often; the corrected one does not (error level 1e-4)."""
    differences = fold_differences(1000, n_rows=60, n_folds=10, n_repeats=5, seed=7)
    plain = np.mean([one_sample_t_test(row).significant for row in differences])
    corrected = [corrected_t_test(row, 1 / 9) for row in differences]
    rate = np.mean([test.significant for test in corrected])
    # A true rate of 0.05 exceeds 0.05 + 3.72 standard errors with probability 1e-4.
    assert rate < 0.05 + 3.72 * math.sqrt(0.05 * 0.95 / 1000)
    assert plain > 0.3
    covered = np.mean([test.interval.covers(0.0) for test in corrected])  # type: ignore[union-attr]
    assert covered > 0.95 - 3.72 * math.sqrt(0.05 * 0.95 / 1000)


def test_type_one_error_of_five_by_two() -> None:
    differences = fold_differences(1000, n_rows=60, n_folds=2, n_repeats=5, seed=8)
    limit = 0.05 + 3.72 * math.sqrt(0.05 * 0.95 / 1000)
    assert np.mean([five_by_two_t_test(row).significant for row in differences]) < limit
    assert np.mean([five_by_two_f_test(row).significant for row in differences]) < limit


@pytest.mark.slow
def test_type_one_error_over_many_plans() -> None:
    """The quick test's claim for other sizes, with five times the experiments."""
    for n_rows, n_folds, n_repeats in ((40, 5, 10), (100, 10, 10), (200, 10, 3)):
        differences = fold_differences(5000, n_rows, n_folds, n_repeats, seed=n_rows)
        rate = np.mean(
            [corrected_t_test(row, 1 / (n_folds - 1)).significant for row in differences]
        )
        plain = np.mean([one_sample_t_test(row).significant for row in differences])
        assert rate < 0.05 + 3.72 * math.sqrt(0.05 * 0.95 / 5000)
        assert plain > 0.15


# --- Degenerate and bad input ---------------------------------------------------------------------


def test_equal_differences_divide_by_nothing() -> None:
    with np.errstate(all="raise"):
        found = corrected_t_test([0.1] * 10, 1 / 9)
        assert found.statistic == math.inf
        assert math.isnan(found.p_value)
        assert "no spread" in found.note
        assert found.interval is not None
        assert math.isnan(found.interval.low)
        assert corrected_t_test([0.0] * 10, 1 / 9).p_value == 1.0
        assert five_by_two_t_test(np.zeros(10)).p_value == 1.0
        assert five_by_two_f_test(np.zeros((5, 2))).p_value == 1.0
        assert five_by_two_f_test(np.full(10, 0.2)).statistic == math.inf
        assert math.isnan(five_by_two_f_test(np.full(10, 0.2)).p_value)
        assert "no spread" in five_by_two_f_test(np.full(10, 0.2)).note


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: corrected_t_test([0.1, 0.2], -1), "test_train_ratio.*got -1"),
        (lambda: corrected_t_test([0.1, np.nan], 0.1), "first is nan at position 1"),
        (lambda: corrected_t_test([0.1], 0.1), "hold 1 number"),
        (lambda: corrected_t_test([0.1, 0.2], 0.1, difference=np.inf), "null hypothesis must be"),
        (lambda: five_by_two_t_test([0.1, 0.2]), r"shape \(5, 2\), got shape \(2,\)"),
        (lambda: five_by_two_f_test(np.full(10, np.nan)), "10 of 10 are not"),
    ],
)
def test_bad_input_is_named(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
