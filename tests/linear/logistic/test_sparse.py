"""Sparse rows: all sums are those of the dense table, and nothing is made dense."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from novum.linear.logistic.rows import SparseRows, middle_and_spread, sparse_middle
from novum.numerics import Floats
from tests.linear.logistic_tables import logistic_table, rows_of


def sparse_table(n: int = 200, d: int = 6, K: int = 2) -> tuple[Floats, Floats]:
    X, y = logistic_table(n, d, K)
    X[np.random.default_rng(3).random(X.shape) < 0.7] = 0.0
    X[:, 2] = 0.0
    return X, y


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("intercept", [True, False])
def test_sums_are_those_of_dense_rows(K: int, intercept: bool) -> None:
    X, y = sparse_table(K=K)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    thin = rows_of(sparse.csr_array(X), y, weight, fit_intercept=intercept)
    thick = rows_of(X, y, weight, fit_intercept=intercept)
    assert isinstance(thin, SparseRows)
    W = np.random.default_rng(1).normal(size=(thin.n_scores, 7))
    # The centers are means of all rows and of some: compare at the same scores.
    moved = W.copy()
    moved[:, -1] += W[:, :-1] @ (thick.center - thin.center)
    a, b = thin.sums(W, hessian=False), thick.sums(moved, hessian=False)
    assert a.value == pytest.approx(b.value, rel=1e-13)
    np.testing.assert_allclose(a.gradient[:, -1], b.gradient[:, -1], atol=1e-12)
    np.testing.assert_allclose(a.mixed, b.mixed, atol=1e-12)
    shift = np.outer(a.gradient[:, -1], thin.center - thick.center)
    np.testing.assert_allclose(a.gradient[:, :-1] + shift, b.gradient[:, :-1], atol=1e-11)


@pytest.mark.parametrize("K", [2, 3])
def test_products_are_those_of_the_hessian(K: int) -> None:
    X, y = sparse_table(K=K)
    rows = rows_of(sparse.csr_array(X), y)
    W = np.random.default_rng(1).normal(size=(rows.n_scores, 7))
    V = np.random.default_rng(2).normal(size=W.shape)
    sums, curvature = rows.curvature(W)
    whole = rows.sums(W, hessian=True)
    assert whole.hessian is not None
    m = rows.n_scores
    expected = np.zeros_like(W)
    for block, (k, other) in zip(whole.hessian, zip(*np.triu_indices(m), strict=True), strict=True):
        expected[k] += block @ V[other]
        if k != other:
            expected[other] += block @ V[k]
    np.testing.assert_allclose(curvature.product(V), expected, rtol=1e-11, atol=1e-11)
    own = [k * (2 * m - k + 1) // 2 for k in range(m)]
    diagonal = np.array([np.diagonal(whole.hessian[at]) for at in own])
    np.testing.assert_allclose(curvature.diagonal(), diagonal, rtol=1e-11, atol=1e-12)
    assert sums.value == pytest.approx(whole.value, rel=1e-13)


def test_the_middle_is_the_mean_of_all_rows() -> None:
    X, y = sparse_table()
    center, spread = sparse_middle(sparse.csr_array(X), np.ones(len(y)), centered=True)
    np.testing.assert_allclose(center, X.mean(axis=0), atol=1e-15)
    np.testing.assert_allclose(spread, X.std(axis=0), atol=1e-14)
    dense = rows_of(X, y)
    known = middle_and_spread(dense.sample, np.ones(len(y)), centered=False)  # type: ignore[attr-defined]
    plain = sparse_middle(sparse.csr_array(X), np.ones(len(y)), centered=False)
    np.testing.assert_allclose(plain[1], known[1], atol=1e-14)


def test_subsamples_columns_and_sizes() -> None:
    X, y = sparse_table()
    rows = rows_of(sparse.csr_array(X), y)
    np.testing.assert_array_equal(next(rows.strided(7).blocks())[1], X[::7])
    kept = rows.with_columns(np.array([0, 5]))
    np.testing.assert_array_equal(next(kept.blocks())[1], X[:, [0, 5]])
    exact = np.linalg.norm(X - rows.center, axis=1).max()
    bound = rows.largest_norm(np.ones(6))
    assert exact <= bound <= exact + 2 * np.linalg.norm(rows.center)
    assert rows.cells == pytest.approx(np.count_nonzero(X) / len(X))
