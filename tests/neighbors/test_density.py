"""Kernel densities against the direct sum, scikit-learn's, and what integrates to one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest
from sklearn import neighbors as theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core import load, save
from novum.core.errors import InputError
from novum.core.learners.contracts import Case, check_name, estimator_checks
from novum.neighbors import KernelDensity
from novum.neighbors.density import log_constant
from novum.numerics import PROFILES, KernelSums


@parametrize_with_checks([KernelDensity(), KernelDensity(bandwidth="silverman")], legacy=True)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contracts(check: Any) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    check(Case(KernelDensity(bandwidth="silverman"), X))


def direct(kernel: str, h: float, X: Any, weights: Any, Z: Any) -> Any:
    """The sum as it is written."""
    r = np.sqrt(((Z[:, None] - X) ** 2).sum(axis=2)) / h
    K = {
        "gaussian": np.exp(-0.5 * r**2),
        "tophat": (r <= 1).astype(float),
        "epanechnikov": np.maximum(1 - r**2, 0),
        "exponential": np.exp(-r),
        "linear": np.maximum(1 - r, 0),
        "cosine": np.where(r < 1, np.cos(np.pi * np.minimum(r, 1) / 2), 0),
    }[kernel]
    return K @ weights


@given(
    st.integers(0, 10_000),
    st.sampled_from(PROFILES),
    st.sampled_from([0.0, 1e-8, 1e-4, 0.05]),
    st.sampled_from([0.2, 1.0, 5.0]),
    st.integers(1, 4),
    st.booleans(),
)
def test_sums_are_direct_ones_within_the_bound(
    seed: int, kernel: str, rtol: float, h: float, p: int, clustered: bool
) -> None:
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(1500, p)), rng.normal(size=(30, p))
    if clustered:
        X, Z = X + 4 * rng.integers(0, 3, (1500, 1)), 2 * Z
    weights = rng.integers(1, 4, 1500).astype(float)
    sums = KernelSums.of(X, weights)
    found = np.exp(sums.log_sums(Z, kernel, h, rtol))
    expected = direct(kernel, h, X, weights, Z)
    assert (np.abs(found - expected) <= (rtol + 1e-9) * expected + 1e-300).all()
    # Without a row itself.
    own = np.arange(10)
    found = np.exp(sums.log_sums(X[:10], kernel, h, rtol, own=own))
    expected = np.array(
        [direct(kernel, h, np.delete(X, i, 0), np.delete(weights, i), X[[i]])[0] for i in range(10)]
    )
    assert (np.abs(found - expected) <= (rtol + 1e-9) * expected + 1e-300).all()


def test_an_absolute_error_is_kept() -> None:
    rng = np.random.default_rng(3)
    X, Z = rng.normal(size=(3000, 3)), 2 * rng.normal(size=(50, 3))
    exact = np.exp(KernelDensity(bandwidth=0.5).fit(X).score_samples(Z))
    for atol in (1e-6, 1e-3):
        rough = np.exp(KernelDensity(bandwidth=0.5, atol=atol).fit(X).score_samples(Z))
        assert np.abs(rough - exact).max() <= atol * (1 + 1e-9)


@pytest.mark.parametrize("kernel", PROFILES)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_densities_are_scikit_learns(kernel: str, d: int) -> None:
    if (kernel, d) == ("cosine", 2):
        # Theirs does not integrate to one there: the integral of cos(pi r / 2) r is 2/pi - 4/pi^2.
        constant = math.exp(log_constant("cosine", 2))
        assert constant == pytest.approx(1 / (2 * math.pi * (2 / math.pi - 4 / math.pi**2)))
        return
    rng = np.random.default_rng(1)
    X, Z, weights = rng.normal(size=(200, d)), rng.normal(size=(20, d)), rng.random(200) + 0.1
    ours = KernelDensity(bandwidth=0.8, kernel=kernel).fit(X, sample_weight=weights)
    other = theirs.KernelDensity(bandwidth=0.8, kernel=kernel).fit(X, sample_weight=weights)
    np.testing.assert_allclose(
        np.exp(ours.score_samples(Z)), np.exp(other.score_samples(Z)), rtol=1e-7, atol=1e-300
    )
    assert ours.score(X) == pytest.approx(ours.score_samples(X).sum())


@pytest.mark.parametrize("kernel", PROFILES)
def test_kernels_integrate_to_one_and_draws_follow_them(kernel: str) -> None:
    grid = np.linspace(-40, 40, 200_001)[:, None]
    model = KernelDensity(bandwidth=1.5, kernel=kernel).fit([[0.0], [3.0]])
    density = np.exp(model.score_samples(grid))
    assert np.trapezoid(density, grid[:, 0]) == pytest.approx(1.0, abs=3e-4)
    draws = model.sample(4000, random_state=0)
    below = np.concatenate([[0.0], np.cumsum(density[1:] * np.diff(grid[:, 0]))])
    assert kstest(draws[:, 0], lambda x: np.interp(x, grid[:, 0], below)).pvalue > 1e-3
    # In three columns the mean of the radius tells a wrong power of it.
    far = np.linalg.norm(
        KernelDensity(bandwidth=1.0, kernel=kernel).fit([[0.0] * 3]).sample(20_000, 1), axis=1
    )
    r = np.linspace(0, 60, 400_001)
    shape = direct(kernel, 1.0, np.zeros((1, 1)), np.ones(1), r[:, None]) * r**2
    mean = np.trapezoid(shape * r, r) / np.trapezoid(shape, r)
    assert far.mean() == pytest.approx(mean, rel=0.02)
    total = math.exp(log_constant(kernel, 3)) * 4 * math.pi * np.trapezoid(shape, r)
    assert total == pytest.approx(1.0, abs=3e-4)


def test_rows_far_away_keep_a_logarithm() -> None:
    model = KernelDensity(bandwidth=1.0).fit([[0.0], [1.0]])
    expected = -0.5 * 999.0**2 - 0.5 * math.log(2 * math.pi) - math.log(2)
    assert model.score_samples([[1000.0]])[0] == pytest.approx(expected, rel=1e-12)
    assert KernelDensity(kernel="tophat").fit([[0.0]]).score_samples([[9.0]])[0] == -math.inf


def test_rules_follow_the_spread_and_are_scikit_learns_for_standardized_rows() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for rule in ("scott", "silverman"):
        ours = KernelDensity(bandwidth=rule).fit(X)
        other = theirs.KernelDensity(bandwidth=rule).fit(X)
        assert ours.bandwidth_ == pytest.approx(other.bandwidth_)
        larger = KernelDensity(bandwidth=rule).fit(7 * X)
        assert larger.bandwidth_ == pytest.approx(7 * ours.bandwidth_)


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_the_bandwidth_is_the_best_by_leaving_out(kernel: str) -> None:
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.normal(size=(60, 1)), 4 + 0.5 * rng.normal(size=(40, 1))])
    model = KernelDensity(bandwidth="cv", kernel=kernel).fit(X)

    def left_out(h: float) -> float:
        logs = []
        for i in range(len(X)):
            one = KernelDensity(bandwidth=h, kernel=kernel).fit(np.delete(X, i, 0))
            logs.append(one.score_samples(X[[i]])[0])
        return float(np.mean(logs))

    best = left_out(model.bandwidth_)
    assert model.leave_one_out_ == pytest.approx(best, rel=1e-6)
    assert best >= max(left_out(model.bandwidth_ * f) for f in (0.8, 0.98, 1.02, 1.25))
    # A weight is a repetition.
    weights = rng.integers(1, 3, len(X))
    twice = np.repeat(X, weights, axis=0)
    h = 0.4
    once = KernelDensity(bandwidth=h, kernel=kernel).fit(X, sample_weight=weights)
    again = KernelDensity(bandwidth=h, kernel=kernel).fit(twice)
    assert once._left_out(h, 0.0) == pytest.approx(again._left_out(h, 0.0), rel=1e-9)


def test_files_keep_densities(tmp_path: Any) -> None:
    X = np.random.default_rng(5).normal(size=(50, 2))
    model = KernelDensity(bandwidth="cv", rtol=1e-6).fit(X)
    save(model, tmp_path / "d.novum")
    again = load(tmp_path / "d.novum")
    assert np.array_equal(again.score_samples(X), model.score_samples(X))
    assert np.array_equal(again.sample(5, 0), model.sample(5, 0))


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda: KernelDensity(bandwidth=0.0).fit([[1.0]]), "bandwidth"),
        (lambda: KernelDensity(bandwidth="scott").fit([[1.0], [1.0]]), "all rows are equal"),
        (lambda: KernelDensity(bandwidth="cv").fit([[1.0]]), "n_samples = 1"),
        (lambda: KernelDensity(bandwidth="cv").fit([[0.0], [0.0], [1.0], [1.0]]), "rows repeat"),
        (lambda: KernelDensity().fit([["a"]]), "'x0' is numeric, but holds text"),
        (lambda: KernelDensity().fit([[1.0], [math.nan]]), "missing|NaN"),
        (lambda: KernelDensity().fit([[1.0], [math.inf]]), "infinity"),
        (lambda: KernelDensity().fit([[1.0], [1e170]]), "squares leave the range"),
        (lambda: KernelDensity().fit([[1.0]]).score_samples([[1e170]]), "squares leave the range"),
    ],
)
def test_what_is_wrong_is_said(step: Any, words: str) -> None:
    with pytest.raises((InputError, ValueError), match=words):
        step()
