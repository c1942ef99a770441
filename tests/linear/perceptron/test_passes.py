"""Training: the rule step by step, compiled code against the readable one, and the pocket."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novum.core.runtime import Pacer
from novum.linear.perceptron.training import (
    Run,
    Start,
    State,
    Training,
    Visits,
    compiled_visits,
    plain_visits,
    train,
    visits_of,
)
from novum.numerics import Array, Floats


def table(n: int, d: int, seed: int, noise: float = 1.0) -> tuple[Floats, Array]:
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (n, d)).astype(float)
    return X, (X @ np.arange(1, d + 1) + noise * rng.normal(size=n) > 0.5).astype(int)


def trained(visits: Visits, rule: str = "stochastic", passes: int = 50, **more: Any) -> Run:
    return train(visits, Training(rule, 1.0, passes, None, 20, **more), 0)


# --- Visits ---------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.booleans(), st.booleans(), st.floats(0.1, 2.0))
def test_compiled_visits_are_the_plain_ones(
    seed: int, intercept: bool, as_sparse: bool, rate: float
) -> None:
    X, y = table(40, 3, seed, noise=3.0)
    weight = np.random.default_rng(seed).choice([0.25, 1.0, 2.0, 3.5], 40)
    visits = visits_of(sparse.csr_matrix(X) if as_sparse else X, y, weight, intercept, True)
    order = np.random.default_rng(seed).permutation(len(visits.rows)).astype(np.int64)
    # A power of two: then all sums of whole numbers and quarters are exact in any order.
    rate = 2.0 ** round(np.log2(rate))
    plain, compiled = (State(visits, Start.zero(3)) for _ in range(2))
    for _ in range(3):
        plain_visits(visits, rate, order, plain, Pacer())
        compiled_visits(visits)(visits, rate, order, compiled, Pacer())
        np.testing.assert_array_equal(compiled.w, plain.w)
        np.testing.assert_allclose(compiled.lag, plain.lag, rtol=1e-12, atol=1e-9)
        np.testing.assert_array_equal(compiled.pocket, plain.pocket)
        np.testing.assert_allclose(compiled.numbers, plain.numbers, rtol=1e-12)


def test_rows_longer_than_four_cells_are_summed_whole() -> None:
    for d in range(1, 11):
        X, y = table(30, d, d)
        visits = visits_of(X, y, None, True, True)
        order = np.arange(len(visits.rows))
        plain, compiled = (State(visits, Start.zero(d)) for _ in range(2))
        plain_visits(visits, 1.0, order, plain, Pacer())
        compiled_visits(visits)(visits, 1.0, order, compiled, Pacer())
        np.testing.assert_array_equal(compiled.w, plain.w)


def test_a_weight_is_so_many_visits_in_a_row() -> None:
    """A mistake of weight 3.5 by three visits and a half, each only if the row is still wrong."""
    for first in (0.0, -5.0, -30.0, 2.0):
        rows, weight = np.array([[2.0]]), 3.5
        visits = visits_of(rows, np.array([1]), np.array([weight]), False, False)
        state = State(visits, Start(np.array([first, 0.0]), np.zeros(2), 0.0))
        plain_visits(visits, 1.0, np.array([0]), state, Pacer())
        w, steps = first, 0.0
        for part in (1.0, 1.0, 1.0, 0.5):
            if 2.0 * w <= 0:
                w, steps = w + part * 2.0, steps + part
        assert state.w[0] == w
        assert state.mistakes == steps


def test_a_row_of_zeros_without_intercept_ends_all_the_same() -> None:
    visits = visits_of(np.array([[0.0], [1.0]]), np.array([0, 1]), None, False, True)
    run = trained(visits)
    assert run.stopped_by == "max_iter"
    assert run.error == 1.0


# --- Rules ----------------------------------------------------------------------------------------


def test_batch_steps_add_all_mistakes() -> None:
    X, y = table(30, 2, 1, noise=4.0)
    visits = visits_of(X, y, None, True, True)
    run = trained(visits, "batch", passes=5)
    rows, t = np.column_stack([X, np.ones(30)]), np.where(y == 1, 1.0, -1.0)
    w, mistakes, met = np.zeros(3), 0, []
    for _ in range(5):
        wrong = t * (rows @ w) <= 0
        mistakes += wrong.sum()
        w = w + (t[wrong, np.newaxis] * rows[wrong]).sum(axis=0)
        met.append(w)
    np.testing.assert_allclose(run.last, w, rtol=1e-12)
    np.testing.assert_allclose(run.mean, np.mean(met, axis=0), rtol=1e-12)
    assert run.mistakes == mistakes


def test_the_mean_goes_on_until_it_separates() -> None:
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 0, 0, 1])
    run = trained(visits_of(X, y, None, True, True), "averaged", passes=1000)
    assert run.stopped_by == "separated"
    assert run.error == 0
    np.testing.assert_array_equal(run.weights, run.mean)
    assert run.visited % 4 == 0


def test_the_pocket_is_never_worse_than_the_end() -> None:
    for seed in range(10):
        X, y = table(60, 2, seed, noise=6.0)
        visits = visits_of(X, y, None, True, True)
        run = trained(visits, passes=20)
        assert run.error <= visits.error(run.last)
        assert run.error == visits.error(run.weights)
        assert (np.diff(run.trace) <= 0).all()
        assert run.trace[-1] == pytest.approx(run.error / 60)
        online = trained(visits, passes=20, pocket=False)
        np.testing.assert_array_equal(online.weights, run.last)


def test_the_best_of_a_small_table_is_found() -> None:
    """By brute force over the boundaries through pairs of points, moved a little."""
    X, y = table(14, 2, 3, noise=5.0)
    sign, best = np.where(y == 1, 1, -1), 14
    for i in range(14):
        for j in range(i):
            normal = np.array([X[i, 1] - X[j, 1], X[j, 0] - X[i, 0]])
            for side in (1, -1):
                for tilt in np.linspace(-0.01, 0.01, 5):
                    turned = normal + tilt * np.array([-normal[1], normal[0]])
                    for move in (-1e-3, 1e-3):
                        score = side * ((X - X[i]) @ turned + move)
                        best = min(best, int((sign * score <= 0).sum()))
    run = trained(visits_of(X, y, None, True, True), passes=2000)
    assert run.error == best


# --- Ends -----------------------------------------------------------------------------------------


def test_patience_counts_passes_without_a_gain() -> None:
    X, y = np.array([[1.0], [1.0]]), np.array([0, 1])
    visits = visits_of(X, y, None, True, True)
    run = train(visits, Training("stochastic", 1.0, 1000, 1e-3, 7), 0)
    assert run.stopped_by == "no_gain"
    assert len(run.trace) == 8
    unlimited = train(visits, Training("stochastic", 1.0, 30, None, 7), 0)
    assert unlimited.stopped_by == "max_iter"
    assert len(unlimited.trace) == 30


def test_training_goes_on_from_where_it_was() -> None:
    X, y = table(40, 2, 5, noise=5.0)
    visits = visits_of(X, y, None, True, False)
    settings_ = Training("averaged", 1.0, 6, None, 20, shuffle=False)
    whole = train(visits, settings_, 0)
    half = train(visits, Training("averaged", 1.0, 3, None, 20, shuffle=False), 0)
    start = Start(half.last, half.mean, half.visited)
    rest = train(visits, Training("averaged", 1.0, 3, None, 20, shuffle=False), 0, start)
    np.testing.assert_allclose(rest.last, whole.last, rtol=1e-12)
    np.testing.assert_allclose(rest.mean, whole.mean, rtol=1e-12)
    assert rest.visited == whole.visited == 240


def test_orders_differ_between_passes_and_seeds() -> None:
    X, y = table(200, 2, 5, noise=5.0)
    visits = visits_of(X, y, None, True, True)
    found = [train(visits, Training("stochastic", 1.0, 3, None, 20), seed).last for seed in (0, 1)]
    assert not np.array_equal(*found)
    again = train(visits, Training("stochastic", 1.0, 3, None, 20), 0).last
    np.testing.assert_array_equal(again, found[0])
