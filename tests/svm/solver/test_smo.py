"""Compiled steps: the same as steps written out, gathers that are right, groups kept apart."""

from __future__ import annotations

import numpy as np
import pytest

from novum.svm.solver.smo_kernels import add_rows, block_steps, gather_block
from tests.svm.quadratic_problems import classes, cloud, gaussian


def arguments(n: int, C: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y, _ = cloud(n, seed=1)
    K = gaussian(X).astype(np.float32)
    problem = classes(y, C)
    bounds = np.stack([np.zeros(n), problem.lower, problem.upper])
    work = np.zeros((5, n), np.float32)
    work[0] = problem.linear
    work[1] = np.where(bounds[2] > 0, 0, np.inf)
    work[2] = np.where(bounds[1] < 0, 0, -np.inf)
    work[3] = np.diag(K)
    return K, work, bounds


def second_order_step(K: np.ndarray, f: np.ndarray, bounds: np.ndarray) -> None:
    """One step by the formulas, in double precision."""
    b, lower, upper = bounds
    i = int(np.argmin(np.where(b < upper, f, np.inf)))
    curvature = K[i, i] + np.diag(K) - 2 * K[i]
    excess = np.where(b > lower, f - f[i], 0.0)
    gain = np.where(excess > 0, excess**2 / np.maximum(curvature, 1e-6), 0.0)
    j = int(np.argmax(gain))
    move = min((f[j] - f[i]) / curvature[j], upper[i] - b[i], b[j] - lower[j])
    b[i] += move
    b[j] -= move
    f += move * (K[i] - K[j])


@pytest.mark.parametrize("steps", [1, 2, 5, 12])
def test_steps_are_the_formulas(steps: int) -> None:
    K, work, bounds = arguments(37, 1.0)
    expected, f = bounds.copy(), work[0].astype(float)
    taken = block_steps(K, work, bounds, np.array([0, 37]), 1e-6, 0.0, steps)
    for _ in range(steps):
        second_order_step(K.astype(float), f, expected)
    assert taken == steps
    np.testing.assert_allclose(bounds[0], expected[0], atol=1e-5)
    np.testing.assert_allclose(work[0], f, atol=1e-5)


def test_steps_end_when_no_pair_violates() -> None:
    K, work, bounds = arguments(60, 10.0)
    taken = block_steps(K, work, bounds, np.array([0, 60]), 1e-6, 1e-3, 10**5)
    assert 0 < taken < 10**5
    rises, falls = bounds[0] < bounds[2], bounds[0] > bounds[1]
    assert work[0][falls].max() - work[0][rises].min() <= 1e-3
    assert bounds[0].sum() == pytest.approx(0.0, abs=1e-12)


def test_groups_keep_their_sums() -> None:
    K, work, bounds = arguments(60, 10.0)
    bounds[0] = (bounds[1] + bounds[2]) / 4
    work[0] += K @ bounds[0]
    work[1] = work[2] = 0
    before = bounds[0][:20].sum(), bounds[0][20:].sum()
    block_steps(K, work, bounds, np.array([0, 20, 60]), 1e-6, 1e-3, 10**5)
    assert bounds[0][:20].sum() == pytest.approx(before[0], abs=1e-12)
    assert bounds[0][20:].sum() == pytest.approx(before[1], abs=1e-12)
    for part in (slice(0, 20), slice(20, 60)):
        rises, falls = bounds[0][part] < bounds[2][part], bounds[0][part] > bounds[1][part]
        assert work[0][part][falls].max() - work[0][part][rises].min() <= 1e-3


def test_a_block_is_gathered_from_rows_and_from_the_block_before() -> None:
    K = gaussian(cloud(30)[0]).astype(np.float32)
    old, new = np.array([1, 4, 9, 20]), np.array([4, 5, 20, 29])
    before = np.zeros((4, 6), np.float32)
    before[:, :4] = 2 * K[np.ix_(old, old)]
    out = np.zeros((4, 6), np.float32)
    places = np.array([1, -1, 3, -1])
    gather_block(K, new, new, np.float32(2), before, places, out)
    np.testing.assert_array_equal(out[:, :4], 2 * K[np.ix_(new, new)])


@pytest.mark.parametrize("count", [0, 1, 4, 7])
def test_rows_are_added_over_all_columns(count: int) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(8, 5000)).astype(np.float32)
    slots, amounts = rng.integers(0, 8, count), rng.normal(size=count)
    out = np.zeros(5000)
    add_rows(rows, slots, amounts, out)
    np.testing.assert_allclose(out, amounts @ rows[slots].astype(float), atol=1e-13)
