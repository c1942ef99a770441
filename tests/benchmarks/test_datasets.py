"""Data sets: the same every time, of the stated shape, and learnable."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import datasets
from benchmarks.recipes import Data

CASES: list[tuple[Callable[..., Data], tuple[Any, ...], dict[str, Any]]] = [
    (datasets.table, (200, 8, 3), {"nominal": 2, "test": 50}),
    (datasets.table, (200, 8, 0), {"regression": True, "test": 50}),
    (datasets.blobs, (200, 4, 5), {"test": 50, "classes": 2, "decay": 0.5}),
    (datasets.linear, (200, 6, 3), {"test": 50}),
    (datasets.text, (200, 500, 2), {"test": 50, "weighted": True}),
    (datasets.rings, (200, 10), {"test": 50}),
    (datasets.rings, (200, 10), {"test": 50, "regression": True}),
]


def dense(X: Any) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else np.asarray(X)


@pytest.mark.parametrize(("generator", "arguments", "options"), CASES)
def test_data_are_deterministic_and_shaped(
    generator: Callable[..., Data], arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    first, second = generator(*arguments, **options), generator(*arguments, **options)
    assert (first.X.shape[0], first.X_test.shape[0]) == (200, 50)
    assert (len(first.y), len(first.y_test)) == (200, 50)
    np.testing.assert_array_equal(dense(first.X), dense(second.X))
    np.testing.assert_array_equal(first.y, second.y)
    assert len(np.unique(first.y)) > 1


def test_nominal_columns_hold_codes() -> None:
    data = datasets.table(300, 5, 2, nominal=3, test=10)
    codes = data.X[:, data.nominal]
    assert data.nominal == [5, 6, 7]
    assert (codes == codes.astype(int)).all()
    assert codes.min() == 0


def test_weighted_text_has_rows_of_length_one() -> None:
    X = datasets.text(100, 300, 2, test=10, weighted=True).X
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(1)), 1.0, rtol=1e-12)


def test_low_rank_data_have_few_strong_directions() -> None:
    X = datasets.low_rank(2_000, 30, 5).X
    values = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    # Noise of variance 0.09 in all directions, signals far above it in five.
    assert values[4] > 3 * values[5]


def test_graphs_are_simple_and_connected() -> None:
    for edges, labels in datasets.graphs(20).graphs:
        assert len(set(edges)) == len(edges)
        assert all(0 <= a < b < len(labels) for a, b in edges)
        reached = {0}
        for a, b in sorted(edges, key=lambda edge: edge[1]):
            if a in reached:
                reached.add(b)
        assert len(reached) == len(labels)


def test_strings_share_motifs() -> None:
    strings = datasets.strings(50, 40, "ACGT").strings
    assert all(len(text) == 40 and set(text) <= set("ACGT") for text in strings)
