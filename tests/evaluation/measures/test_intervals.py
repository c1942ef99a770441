"""Closed-form and bootstrap intervals: scipy, coverage by simulation, bad input."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from novum.core.errors import InputError
from novum.evaluation.measures.intervals import (
    bootstrap_interval,
    correlation_interval,
    logit_interval,
    mean_interval,
    proportion_interval,
)


@pytest.mark.parametrize("method", ["Wilson", "Clopper-Pearson"])
@pytest.mark.parametrize(("successes", "trials"), [(0, 7), (3, 10), (10, 10), (512, 1000)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_proportions_are_scipys(method: Any, successes: Any, trials: Any, level: Any) -> None:
    theirs = stats.binomtest(successes, trials).proportion_ci(
        level, method="wilson" if method == "Wilson" else "exact"
    )
    mine = proportion_interval(successes, trials, level, method=method)
    np.testing.assert_allclose([*mine], [*theirs], rtol=1e-9, atol=1e-12)
    assert (mine.estimate, mine.method) == (successes / trials, method)


def _binomial_coverage(method: Any, p: Any, n: Any, level: float = 0.95) -> Any:
    """Exact: the probability of the counts whose interval covers p."""
    counts = np.arange(n + 1)
    covers = [proportion_interval(k, n, level, method=method).covers(p) for k in counts]
    return float(stats.binom.pmf(counts, n, p)[covers].sum())


def test_wilson_covers_on_average_and_clopper_pearson_always() -> None:
    shares = np.linspace(0.02, 0.98, 97)
    wilson = [_binomial_coverage("Wilson", p, 40) for p in shares]
    assert abs(np.mean(wilson) - 0.95) < 0.01
    # Wilson's coverage oscillates; below 0.88 it never falls here (Brown, Cai & DasGupta).
    assert min(wilson) > 0.88
    assert min(_binomial_coverage("Clopper-Pearson", p, 40) for p in shares) >= 0.95


def test_means_are_scipys() -> None:
    values = np.random.default_rng(0).normal(size=12)
    theirs = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    np.testing.assert_allclose([*mean_interval(values, 0.9)], [*theirs], rtol=1e-12)
    equal = mean_interval(values, 0.9, sample_weight=np.full(12, 3.0))
    np.testing.assert_allclose([*equal], [*theirs], rtol=1e-12)
    dropped = mean_interval(np.r_[values, 99.0], 0.9, sample_weight=np.r_[np.ones(12), 0.0])
    np.testing.assert_allclose([*dropped], [*theirs], rtol=1e-12)


def test_weighted_means_cover() -> None:
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.2, 2, 60)
    trials = 2000
    hits = sum(
        mean_interval(rng.exponential(size=60), sample_weight=weight).covers(1.0)
        for _ in range(trials)
    )
    # Skewed rows cost t intervals of 60 rows about two points; four standard errors are 0.02.
    assert 0.91 < hits / trials < 0.97


def test_correlations_are_scipys() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=30)
    y = x + rng.normal(size=30)
    theirs = stats.pearsonr(x, y)
    mine = correlation_interval(float(theirs.statistic), 30, 0.9)
    np.testing.assert_allclose([*mine], [*theirs.confidence_interval(0.9)], rtol=1e-9)


def test_extreme_correlations_stay_in_range() -> None:
    assert [*correlation_interval(1.0, 10)] == [1.0, 1.0]
    assert np.isnan(correlation_interval(0.5, 3).low)
    assert np.isnan(correlation_interval(np.nan, 30).low)


def test_the_logit_interval_is_the_delta_method() -> None:
    found = logit_interval(0.5, 1e-4, 0.95, "x")
    assert found.high - 0.5 == pytest.approx(1.959964e-4, rel=1e-4)
    assert np.isnan(logit_interval(1.0, 0.1, 0.95, "x").low)


def test_the_bootstrap_agrees_with_scipys() -> None:
    x = np.random.default_rng(3).exponential(size=80)
    theirs = stats.bootstrap((x,), np.mean, n_resamples=4000, method="BCa", rng=0)
    mine = bootstrap_interval(np.mean, [x], n_resamples=4000)
    # Limits of 4000 resamples scatter by about 2 % of the width.
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    np.testing.assert_allclose([*mine], [*theirs.confidence_interval], atol=0.06 * width)
    assert mine.method == "bootstrap BCa"


def test_the_bootstrap_resamples_rows_together_and_within_strata() -> None:
    x, y = np.arange(20.0), np.arange(20.0) * 2
    pair = bootstrap_interval(lambda a, b: float(np.max(np.abs(b - 2 * a))), [x, y])
    assert [*pair] == [0.0, 0.0]
    groups = np.repeat([0, 1], 10)
    share = bootstrap_interval(lambda g: float(np.mean(g)), [groups], strata=groups)
    assert [*share] == [0.5, 0.5]


def test_the_same_seed_gives_the_same_limits() -> None:
    x = np.random.default_rng(4).normal(size=300)
    assert bootstrap_interval(np.median, [x]) == bootstrap_interval(np.median, [x])
    other = bootstrap_interval(np.median, [x], random_state=1)
    assert [*other] != [*bootstrap_interval(np.median, [x])]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: proportion_interval(3, 2), "0 <= successes <= trials, got 3 of 2"),
        (lambda: proportion_interval(1, 2, 95), "level is the confidence, between 0 and 1"),
        (lambda: proportion_interval(1, 2, method="Wald"), "method is 'Wilson' or"),
        (lambda: mean_interval([1, np.nan]), "a list of finite numbers"),
        (lambda: bootstrap_interval(np.mean, [[1, 2], [1]]), r"have \[1, 2\] rows"),
        (lambda: bootstrap_interval(np.mean, [[1, 2]], n_resamples=0), "n_resamples is at least"),
        (lambda: bootstrap_interval(np.mean, [[1, 2]], method="t"), "method is 'BCa'"),
        (lambda: bootstrap_interval(np.mean, [[1, 2]], strata=[1]), "strata has shape"),
    ],
)
def test_bad_input_is_named(call: Any, message: Any) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_no_trials_and_one_row_have_no_interval() -> None:
    assert np.isnan(proportion_interval(0, 0).estimate)
    assert np.isnan(mean_interval([2.0]).low)
