"""Products with centered rows: the dense definition, weights, sparse tables, offsets."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from novum.core.tables import Sample, Schema
from novum.decomposition.centered_rows import CenteredRows, dense_blocks, projected, row_blocks
from novum.numerics import Floats
from tests.decomposition.component_tables import low_rank_table


def sample_of(X: Any, weight: Floats | None = None) -> Sample:
    n, d = X.shape
    return Sample(Schema.of_array(d), X, np.empty((n, 0), np.int32), weight=weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(300, 7), (9, 4000)], ids=str)
@pytest.mark.parametrize("kind", ["near", "far", "sparse"])
def test_products_are_those_of_the_centered_table(
    kind: str, shape: tuple[int, int], weighted: bool
) -> None:
    rng = np.random.default_rng(0)
    X = low_rank_table(*shape, 3)
    X = {"near": X - X.mean(axis=0), "far": X + 2.0**20, "sparse": X * (rng.random(shape) < 0.3)}[
        kind
    ]
    weight = rng.integers(1, 4, shape[0]).astype(float) if weighted else None
    rows = CenteredRows(sample_of(sparse.csr_matrix(X) if kind == "sparse" else X, weight))
    w = np.ones(shape[0]) if weight is None else weight
    mean = w @ (X - X[0]) / w.sum() + X[0]
    A = np.sqrt(w)[:, None] * (X - mean)
    np.testing.assert_allclose(rows.mean, mean, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(rows.gram(), A @ A.T, atol=1e-8)
    assert rows.total == pytest.approx(np.sum(A * A), rel=1e-10)
    V, U = rng.normal(size=(shape[1], 3)), rng.normal(size=(shape[0], 2))
    np.testing.assert_allclose(rows.times(V), A @ V, atol=1e-8)
    np.testing.assert_allclose(rows.transposed_times(U), A.T @ U, atol=1e-8)


@pytest.mark.parametrize("is_near", [False, True])
def test_projection_of_many_rows(is_near: bool) -> None:
    X, center = low_rank_table(3000, 60, 3), np.arange(60.0) / 60
    matrix = np.random.default_rng(0).normal(size=(60, 4))
    found = projected(X, center, matrix, is_near=is_near)
    np.testing.assert_allclose(found, (X - center) @ matrix, atol=1e-11)
    np.testing.assert_allclose(projected(sparse.csr_matrix(X), center, matrix), found, atol=1e-11)


def test_blocks_cover_all_rows_once() -> None:
    for n, d in ((1, 1), (5000, 64), (40, 100_000)):
        bounds = list(row_blocks(n, d))
        assert bounds[0][0] == 0
        assert bounds[-1][1] == n
        assert all(a[1] == b[0] for a, b in pairwise(bounds))
    X = sparse.random(3000, 50, 0.1, "csr", rng=np.random.default_rng(0))
    whole = np.vstack([block for _, _, block in dense_blocks(X)])
    np.testing.assert_array_equal(whole, X.toarray())
