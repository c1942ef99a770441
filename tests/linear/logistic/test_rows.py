"""Rows in memory: blocks, threads and products agree with whole matrices."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from novum.linear.logistic import rows as rows_module
from novum.linear.logistic.loss import links
from novum.linear.logistic.rows import DenseRows, middle_and_spread
from tests.linear.logistic_tables import logistic_table, rows_of


@pytest.mark.parametrize("K", [2, 3])
def test_products_are_those_of_the_hessian(K: int) -> None:
    X, y = logistic_table(60, 3, K)
    rows = rows_of(X, y, np.random.default_rng(0).uniform(0.5, 2, 60))
    W = np.random.default_rng(1).normal(size=(rows.n_scores, 4))
    V = np.random.default_rng(2).normal(size=W.shape)
    sums, curvature = rows.curvature(W)
    h = 1e-6
    up, down = rows.sums(W + h * V, hessian=False), rows.sums(W - h * V, hessian=False)
    expected = (up.gradient - down.gradient) / (2 * h)
    np.testing.assert_allclose(curvature.product(V), expected, rtol=1e-6, atol=1e-6)
    whole = rows.sums(W, hessian=True)
    assert sums.value == whole.value
    own = [k * (2 * rows.n_scores - k + 1) // 2 for k in range(rows.n_scores)]
    assert whole.hessian is not None
    diagonal = np.array([np.diagonal(whole.hessian[at]) for at in own])
    np.testing.assert_allclose(curvature.diagonal(), diagonal, rtol=1e-12)


@pytest.mark.parametrize("jobs", [1, 3])
def test_blocks_and_threads_do_not_matter(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = logistic_table(2000, 4)
    rows = rows_of(X, y)
    assert isinstance(rows, DenseRows)
    W = np.random.default_rng(1).normal(size=(1, 5))
    whole = rows.sums(W, hessian=True)
    monkeypatch.setattr(rows_module, "BLOCK_WORK", 1.0)
    alone = rows.sums(W, hessian=True)
    threads = rows_module.replace(rows, n_jobs=jobs).sums(W, hessian=True)
    assert alone.value == threads.value
    np.testing.assert_array_equal(alone.hessian, threads.hessian)
    assert alone.value == pytest.approx(whole.value, rel=1e-13)


def test_a_subsample_stands_for_all_rows() -> None:
    X, y = logistic_table(1000, 2)
    rows = rows_of(X, y)
    part = rows.strided(10)
    assert part.n_rows == 100
    assert part.weight.sum() == rows.weight.sum()
    np.testing.assert_array_equal(next(part.blocks())[1], X[::10])


def test_columns_can_be_left_out() -> None:
    X, y = logistic_table(30, 4)
    rows = rows_of(X, y).with_columns(np.array([1, 3])).with_columns(np.array([1]))
    np.testing.assert_array_equal(next(rows.blocks())[1], X[:, [3]])
    assert rows.n_columns == 1


def test_the_largest_row_is_found() -> None:
    X, y = logistic_table(700, 3)
    rows, scale = rows_of(X, y), np.array([1.0, 2.0, 0.5])
    expected = np.linalg.norm((X - rows.center) * scale, axis=1).max()
    assert rows.largest_norm(scale) == pytest.approx(expected, rel=1e-14)


def test_nominal_columns_are_coded_block_by_block() -> None:
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": ["x", "y", "z", "x"]})
    rows = rows_of(frame, np.array([0, 1, 0, 1]))
    expected = [[1, 0, 0], [2, 1, 0], [3, 0, 1], [4, 0, 0]]
    np.testing.assert_array_equal(next(rows.blocks())[1], expected)


def test_the_middle_of_a_constant_column_is_exact() -> None:
    X = np.column_stack([np.full(1000, 0.1), np.arange(1000.0) + 1e12])
    model_sample = rows_of(X, np.arange(1000) % 2)
    assert isinstance(model_sample, DenseRows)
    center, spread = middle_and_spread(model_sample.sample, np.ones(1000), centered=True)
    assert center[0] == 0.1
    assert spread[0] == 0.0
    assert center[1] == pytest.approx(1e12 + 499.5, rel=1e-15)
    assert spread[1] == pytest.approx(X[:, 1].std(), rel=1e-12)
    plain = middle_and_spread(model_sample.sample, np.ones(1000), centered=False)
    assert not plain[0].any()


def test_curvature_of_rows_matches_probabilities() -> None:
    X, y = logistic_table(50, 2, 3)
    W = np.random.default_rng(0).normal(size=(3, 3))
    rows = rows_of(X, y)
    share = links((X - rows.center) @ W[:, :-1].T + W[:, -1], y)[1]
    mixed = np.diag(share.sum(axis=0)) - share.T @ share
    np.testing.assert_allclose(rows.sums(W, hessian=False).mixed, mixed, atol=1e-12)
