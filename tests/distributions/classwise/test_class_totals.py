"""Totals by class and scores of counts: dense, sparse, compiled, and cell by cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from novum.core.errors import InputError, MissingValuesError
from novum.distributions.classwise import class_totals as module
from novum.distributions.classwise.class_totals import (
    class_totals,
    occurrences,
    refuse_negative,
    scores,
)


def by_loops(X: Any, y: Any, n_classes: int, weight: Any, threshold: float | None) -> Any:
    totals = np.zeros((n_classes, X.shape[1]))
    for i, j in np.ndindex(*X.shape):
        totals[y[i], j] += weight[i] * (X[i, j] if threshold is None else X[i, j] > threshold)
    return totals


@pytest.mark.parametrize("threshold", [None, 0.0, 1.0])
@pytest.mark.parametrize("compiled", [False, True])
def test_sparse_and_dense_are_the_sum_of_cells(
    threshold: float | None, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COMPILED_FROM_CELLS", 0 if compiled else 2**60)
    monkeypatch.setattr(module, "_CALL_CELLS", 40)
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.7, (50, 6)).astype(float), rng.integers(0, 3, 50)
    weight = rng.random(50) + 0.5
    expected = by_loops(X, y, 3, weight, threshold)
    for table in (X, sparse.csr_matrix(X)):
        totals, missing = class_totals(table, y, 3, weight, threshold)
        np.testing.assert_allclose(totals, expected, rtol=1e-13)
        assert missing is None
    B = rng.normal(size=(6, 3))
    cells = X if threshold is None else (threshold < X).astype(float)
    np.testing.assert_allclose(scores(sparse.csr_matrix(X), B, threshold), cells @ B, rtol=1e-12)


@pytest.mark.parametrize("compiled", [False, True])
def test_cells_stored_in_parts_are_compared_as_a_whole(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COMPILED_FROM_CELLS", 0 if compiled else 2**60)
    parts = sparse.csr_matrix((np.array([1.0, 1.0]), np.array([0, 0]), np.array([0, 2])), (1, 2))
    parts.has_canonical_format = False
    totals, _ = class_totals(parts, np.array([0]), 1, None, 1.5)
    assert totals.tolist() == [[1.0, 0.0]]
    assert parts.nnz == 2  # the user's matrix stays as it is


def test_an_impossible_event_counts_only_where_it_occurs() -> None:
    weights = np.array([[-np.inf, 0.0], [1.0, 2.0]])
    for X in (np.array([[0.0, 1], [2, 1]]), sparse.csr_matrix([[0.0, 1], [2, 1]])):
        assert scores(X, weights).tolist() == [[1.0, 2.0], [-np.inf, 2.0]]


@pytest.mark.parametrize("compiled", [False, True])
def test_what_cannot_be_counted_is_named(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMPILED_FROM_CELLS", 0 if compiled else 2**60)
    negative = np.array([[1.0, 0], [0, -2]])
    for X in (negative, sparse.csr_matrix(negative)):
        with pytest.raises(InputError, match=r"row 1, column 1 holds -2\.0 \(1 such"):
            class_totals(X, np.array([0, 1]), 2, None)
        with pytest.raises(InputError, match="Negative values in data"):
            scores(X, np.ones((2, 2)))
    holes = sparse.csr_matrix([[1.0, 0], [0, np.nan]])
    for threshold in (None, 0.5):
        with pytest.raises(MissingValuesError, match="row 1, column 1"):
            class_totals(holes, np.array([0, 1]), 2, None, threshold)
    with pytest.raises(InputError, match="threshold -1"):
        class_totals(sparse.csr_matrix(negative), np.array([0, 1]), 2, None, -1.0)


def test_occurrences_keep_missing_cells_missing() -> None:
    found = occurrences(np.array([[np.nan, 2.0, 0.5]]), 1.0)
    np.testing.assert_array_equal(found, [[np.nan, 1.0, 0.0]])
    refuse_negative(np.array([[np.nan, 0.0]]))
