"""R-hat and effective sizes against processes whose values are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from novum.core.errors import InputError
from novum.graphical.inference import chain_diagnosis
from novum.graphical.inference.chain_diagnosis import (
    effective_size,
    judged,
    monte_carlo_error,
    rank_r_hat,
    split_r_hat,
)


def autoregressive(rho: float, chains: int, n: int, seed: int, cells: int = 1) -> np.ndarray:
    """x_t = rho x_{t-1} + noise, started in its limit: variance 1, correlation rho^lag."""
    rng = np.random.default_rng(seed)
    x = np.empty((chains, n, cells))
    x[:, 0] = rng.normal(size=(chains, cells))
    for t in range(1, n):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * rng.normal(size=(chains, cells))
    return x


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.5, 0.9])
def test_effective_size_of_autoregression(rho: float) -> None:
    draws = autoregressive(rho, 4, 2000, seed=1, cells=50)
    wanted = 8000 * (1 - rho) / (1 + rho)
    # The mean of 50 estimates, each known to about a tenth.
    assert effective_size(draws).mean() == pytest.approx(wanted, rel=0.1)


def test_errors_of_means_are_as_stated() -> None:
    draws = autoregressive(0.8, 4, 500, seed=2, cells=400)
    scores = draws.mean(axis=(0, 1)) / monte_carlo_error(draws)
    # False alarm with probability 1e-6.
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], 400)
    assert low < np.sum(scores**2) < high


@pytest.mark.parametrize("rho", [-0.3, 0.0, 0.95])
def test_lag_by_lag_is_as_by_fourier_transform(rho: float, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = autoregressive(rho, 3, 90, seed=4, cells=12).reshape(3, 90, 4, 3)
    by_lag = effective_size(draws)
    monkeypatch.setattr(chain_diagnosis, "SHORT", 0)
    np.testing.assert_allclose(effective_size(draws), by_lag, rtol=1e-9)


def test_both_at_once() -> None:
    draws = autoregressive(0.5, 4, 60, seed=5, cells=7)
    errors, r_hats = judged(draws)
    np.testing.assert_array_equal(errors, monte_carlo_error(draws))
    np.testing.assert_array_equal(r_hats, split_r_hat(draws))


def test_errors_of_rare_events_count_one_more() -> None:
    # One event in 40 draws: the next may be missing or double, so the error is larger by sqrt(2).
    draws = np.zeros((2, 20))
    draws[0, 3] = 1.0
    variance = np.var(draws[0, :10]) / 4 + np.var([0.1, 0, 0, 0], ddof=1)
    size = effective_size(draws)
    share = 0.81 / (0.81 + 9 * 0.01)
    assert monte_carlo_error(draws) == pytest.approx(np.sqrt(variance * (1 + share) / size))


def test_r_hat_by_its_formula() -> None:
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(3, 40)) + np.array([0, 0.5, 1])[:, None]
    halves = np.concatenate([draws[:, :20], draws[:, 20:]])
    within = np.mean([np.var(half, ddof=1) for half in halves])
    between = 20 * np.var([half.mean() for half in halves], ddof=1)
    wanted = np.sqrt((19 / 20 * within + between / 20) / within)
    assert split_r_hat(draws) == pytest.approx(wanted, rel=1e-12)


def test_rank_r_hat_does_not_change_under_monotone_maps() -> None:
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(4, 100)) + np.arange(4)[:, None] / 2
    scores = stats.norm.ppf((stats.rankdata(draws).reshape(draws.shape) - 0.375) / 400.25)
    assert rank_r_hat(draws) >= split_r_hat(scores) - 1e-12
    heavy = rng.standard_cauchy(size=(4, 200))
    assert rank_r_hat(heavy) < 1.05


def test_drift_and_stuck_chains_show() -> None:
    rng = np.random.default_rng(0)
    drift = rng.normal(size=(4, 200)) + np.linspace(0, 4, 200)
    assert split_r_hat(drift) > 1.3
    stuck = np.broadcast_to(np.array([0.0, 1.0])[:, None], (2, 50))
    assert split_r_hat(stuck) == np.inf


def test_constant_draws_are_exact() -> None:
    # A mean of equal numbers that is not the number itself in floating point.
    draws = np.full((4, 37, 2), 0.1)
    assert split_r_hat(draws).tolist() == [1.0, 1.0]
    assert monte_carlo_error(draws).tolist() == [0.0, 0.0]
    assert effective_size(draws).tolist() == [144.0, 144.0]


@pytest.mark.parametrize("bad", [np.zeros(10), np.zeros((2, 3)), np.zeros((0, 10))])
def test_shapes(bad: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"shape \(chains, draws, ...\)"):
        split_r_hat(bad)


def test_not_finite() -> None:
    with pytest.raises(InputError, match="finite"):
        effective_size(np.full((2, 10), np.nan))
