"""The bootstrap by weights: multinomial counts, agreement with resampled rows, coverage."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from novum.evaluation.measures.bootstrap import (
    Bootstrap,
    group_numbers,
    resampled_counts,
    resampled_positions,
    weight_bootstrap,
)


def _mean(x: Any) -> Any:
    return lambda weights: (weights @ x / weights.sum(axis=1))[:, None]


def test_counts_are_multinomial() -> None:
    counts = np.concatenate(list(resampled_counts(5, 20_000, np.random.default_rng(0))))
    assert counts.shape == (20_000, 5)
    assert (counts.sum(axis=1) == 5).all()
    # A count is binomial(5, 1/5): mean 1, variance 0.8; covariances are -0.2.
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=0.03)
    np.testing.assert_allclose(np.cov(counts.T), np.eye(5) - 0.2, atol=0.04)


def test_strata_keep_their_sizes() -> None:
    strata = np.array(["a", "b", "a", "b", "b"])
    for counts in resampled_counts(5, 50, np.random.default_rng(1), strata):
        assert (counts[:, strata == "a"].sum(axis=1) == 2).all()
    for rows in resampled_positions(5, 5, np.random.default_rng(1), strata):
        assert (strata[rows] == strata).all()


def test_groups_are_even_and_at_most_200() -> None:
    sizes = np.bincount(group_numbers(1000, np.random.default_rng(2)))
    assert sizes.tolist() == [5] * 200
    assert np.bincount(group_numbers(7, np.random.default_rng(2))).tolist() == [1] * 7


def test_the_spread_of_a_mean_is_its_standard_error() -> None:
    x = np.random.default_rng(3).normal(size=100)
    found = weight_bootstrap(_mean(x), 100, rng=np.random.default_rng(4), n_resamples=4000)
    assert found.estimates[0] == pytest.approx(x.mean(), rel=1e-12)
    assert found.replicates.std() == pytest.approx(x.std() / 10, rel=0.05)


def test_the_jackknife_of_a_skewed_mean_gives_the_textbook_acceleration() -> None:
    """Of a mean, the acceleration is the skewness over 6 sqrt(n) (Efron 1987)."""
    x = np.random.default_rng(5).exponential(size=100)
    found = weight_bootstrap(_mean(x), 100, rng=np.random.default_rng(6), n_resamples=10)
    pulls = found.left_out.mean() - found.left_out[:, 0]
    acceleration = (pulls**3).sum() / (6 * (pulls**2).sum() ** 1.5)
    centered = x - x.mean()
    skewness = (centered**3).mean() / (centered**2).mean() ** 1.5
    assert acceleration == pytest.approx(skewness / 60, rel=1e-6)


def test_row_weights_multiply_the_counts_and_zero_is_absent() -> None:
    x = np.arange(6.0)
    weight = np.array([1.0, 0, 2, 0, 1, 1])
    kept = weight > 0
    found = weight_bootstrap(_mean(x), 6, sample_weight=weight, rng=np.random.default_rng(7))
    absent = weight_bootstrap(
        _mean(x[kept]), 4, sample_weight=weight[kept], rng=np.random.default_rng(7)
    )
    assert found.estimates[0] == pytest.approx(np.average(x, weights=weight))
    np.testing.assert_allclose(found.replicates, absent.replicates, rtol=1e-14)
    np.testing.assert_allclose(found.left_out, absent.left_out, rtol=1e-14)


def test_basic_limits_mirror_percentile_limits() -> None:
    found = Bootstrap(
        np.array([1.0]), np.random.default_rng(8).normal(1.5, 1, (500, 1)), np.empty((0, 1)), 50
    )
    (percentile,) = found.intervals(0.9, "percentile")
    (basic,) = found.intervals(0.9, "basic")
    assert basic.low == pytest.approx(2 - percentile.high)
    assert basic.high == pytest.approx(2 - percentile.low)


def test_parts_and_bands() -> None:
    replicates = np.arange(12.0).reshape(3, 4)
    found = Bootstrap(np.arange(4.0), replicates, replicates[:2], 10**6)
    assert found.part(slice(1, 3)).estimates.tolist() == [1, 2]
    low, high = found.band(0.5)
    np.testing.assert_allclose(low, [2, 3, 4, 5], atol=1e-3)
    np.testing.assert_allclose(high, [6, 7, 8, 9], atol=1e-3)


def test_tails_of_few_rows_are_those_of_student() -> None:
    """Hesterberg (2015): replicates of a mean of n normal values give nearly Student's interval."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=8)
    found = weight_bootstrap(
        lambda weights: (weights @ x / weights.sum(axis=1))[:, None],
        8,
        n_resamples=200_000,
        rng=rng,
    )
    reach = stats.t.ppf(0.975, 7) * x.std(ddof=1) / np.sqrt(8)
    (percentile,) = found.intervals(0.95, "percentile")
    assert percentile.half_width == pytest.approx(reach, rel=0.05)
    assert found.n_rows == 8


def test_one_row_of_a_stratum_leaves_all_that_replicates_reach() -> None:
    values = np.array([0.0, 1.0, 1.5, 2.5, 7.0])
    found = Bootstrap(np.array([1.5]), values[:, None], np.array([[0.2], [1.0], [4.0]]), 1)
    for method in ("BCa", "percentile"):
        (interval,) = found.intervals(0.95, method)
        assert (interval.low, interval.high) == (0.0, 7.0)


def test_undefined_replicates_leave_the_limits_out() -> None:
    (found,) = Bootstrap(np.array([1.0]), np.full((10, 1), np.nan), np.empty((0, 1)), 9).intervals()
    assert np.isnan(found.low)
    assert "undefined" in found.method
