"""Similarities as they come: reading, accuracy, asymmetry, and what cannot be read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError, MemoryLimitError
from novum.kernels.similarity_matrix import (
    asymmetry_of,
    checked_accuracy,
    entry_accuracy,
    is_crooked,
    rows_of,
    similarities,
)
from novum.kernels.vectors.linear import Linear

EPSILON = float(np.finfo(float).eps)


def test_kernels_and_matrices_give_the_same() -> None:
    X = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]])
    rows, promised = rows_of(Linear(), X)
    K, precision = similarities(rows, np.array([2, 0]))
    assert promised == "Linear()"
    assert precision is None
    other, nothing = rows_of(X @ X.T, None)
    again, known = similarities(other, np.array([2, 0]))
    np.testing.assert_array_equal(K, again)
    assert (nothing, known) == (None, EPSILON)


def test_accuracy_is_that_of_the_numbers() -> None:
    K = np.array([[0.1, 0.2], [0.2, 0.3]])
    single = K.astype(np.float32).astype(float)
    assert entry_accuracy(K) == 16 * EPSILON
    assert entry_accuracy(single) == 16 * float(np.finfo(np.float32).eps)
    # Whole numbers are single-precision numbers without having been computed as such.
    assert entry_accuracy(np.round(10 * K)) == 16 * EPSILON
    _, exact = similarities(rows_of(np.eye(2, dtype=int), None)[0], np.arange(2))
    assert entry_accuracy(np.eye(2), exact) == 0.0
    assert checked_accuracy(1e-6) == 1e-6


def test_asymmetry_is_found_where_it_is() -> None:
    K = np.eye(4)
    assert asymmetry_of(K) == (0.0, None)
    K[1, 3] = 1e-3
    size, at = asymmetry_of(K)
    assert size == 1e-3
    assert at in ((1, 3), (3, 1))
    assert is_crooked(K, size, 1e-15)
    assert not is_crooked(K, size, 1e-3)
    huge = np.array([[0.0, 1.5e308], [-1.5e308, 0.0]])
    with np.errstate(over="ignore"):
        assert asymmetry_of(huge)[1] is not None


@pytest.mark.parametrize(
    ("kernel", "X", "message"),
    [
        (Linear(), None, r"needs objects to compare: check_kernel\(Linear\(\), X\)"),
        (np.eye(2), np.eye(2), "or a matrix alone, got ndarray and objects"),
        ("rbf", None, "got str.*Turn a name or a function into a kernel"),
        (np.dot, None, "Turn a name or a function into a kernel"),
        (np.ones((2, 3)), None, r"square .* got shape \(2, 3\)"),
        ([["a"]], None, "real numbers"),
    ],
)
def test_what_is_no_similarity_is_refused(kernel: Any, X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rows_of(kernel, X)


def test_similarities_must_be_finite_and_some() -> None:
    K = np.eye(3)
    K[0, 2] = np.nan
    with pytest.raises(InputError, match=r"similarity of objects 0 and 2 is nan \(1 such"):
        similarities(rows_of(K, None)[0], np.arange(3))
    with pytest.raises(InputError, match="no objects"):
        similarities(rows_of(np.empty((0, 0)), None)[0], np.arange(0))


@pytest.mark.parametrize("accuracy", [-1e-3, 1.0, np.nan, "good"])
def test_impossible_accuracies_are_refused(accuracy: Any) -> None:
    with pytest.raises(InputError, match="relative error of an entry"):
        checked_accuracy(accuracy)


def test_memory_is_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "1MB")
    rows, _ = rows_of(Linear(), np.ones((400, 1)))
    with pytest.raises(MemoryLimitError, match=r"400 objects needs 5\.1 MB.*Lower max_rows"):
        similarities(rows, np.arange(400))
