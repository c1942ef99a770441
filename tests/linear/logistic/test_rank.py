"""Columns that say nothing new: found exactly, and the smallest of equal solutions given."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from novum.linear.logistic.fit import independent_columns, independent_of, triangle
from novum.linear.logistic.regression import LogisticRegression
from tests.linear.logistic_tables import logistic_table, objective, rows_of

INF = float("inf")


def dependent(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    X, y = logistic_table(n, 3)
    return np.column_stack([X, X[:, 0] + X[:, 1], np.full(n, 0.1)]), y


@pytest.mark.parametrize("thin", [False, True])
def test_dependent_and_constant_columns_are_found(thin: bool) -> None:
    X, y = dependent()
    table = sparse.csr_array(X) if thin else X
    sample = LogisticRegression()._read(table, y, None, None)
    found = independent_columns(rows_of(table, y), sample, fit_intercept=True)
    assert found is not None
    assert len(found.kept) == 3
    assert found.null_space.shape == (5, 2)
    assert np.abs((X - X.mean(axis=0)) @ found.null_space).max() < 1e-12
    without = independent_of(triangle(sample), fit_intercept=False)
    assert without is not None
    assert len(without.kept) == 4


def test_full_rank_needs_nothing_even_if_columns_are_close() -> None:
    X, y = logistic_table(200, 2)
    close = np.column_stack([X, X[:, 0] + 1e-9 * X[:, 1] ** 3])
    for table in (X, close):
        sample = LogisticRegression()._read(table, y, None, None)
        assert independent_columns(rows_of(table, y), sample, fit_intercept=True) is None


@pytest.mark.parametrize("K", [2, 3])
def test_the_solution_is_the_smallest_of_the_best(K: int) -> None:
    X, _ = dependent()
    y = logistic_table(200, 3, K)[1]
    model = LogisticRegression(C=INF).fit(X, y)
    plain = LogisticRegression(C=INF).fit(X[:, :3], y)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X[:, :3]), rtol=1e-9)
    assert objective(model, X, y, INF) == pytest.approx(objective(plain, X[:, :3], y, INF))
    # Orthogonal to what the rows leave open: x3 - x0 - x1, and the constant column.
    np.testing.assert_allclose(model.coef_ @ [1, 1, 0, -1, 0], 0, atol=1e-10)
    np.testing.assert_array_equal(model.coef_[:, 4], 0)
    assert model.certificate_.details["independent_columns"] == 3
    # A vanishing penalty leads to the same solution.
    limit = LogisticRegression(C=1e7).fit(X, y)
    np.testing.assert_allclose(model.coef_, limit.coef_, atol=1e-4)


def test_no_column_at_all_leaves_the_log_odds() -> None:
    model = LogisticRegression(C=INF).fit(np.full((8, 2), 3.0), [0, 1, 1, 1] * 2)
    np.testing.assert_array_equal(model.coef_, 0)
    assert model.intercept_[0] == pytest.approx(np.log(3), rel=1e-12)
