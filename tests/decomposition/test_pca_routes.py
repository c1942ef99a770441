"""Routes: chosen by size, and all exact ones equal to the singular values of the table."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from novum.core.errors import InputError, MemoryLimitError
from novum.decomposition.numeric_rows import numeric_sample
from novum.decomposition.pca import PCA
from novum.decomposition.pca_routes import (
    Iteration,
    chosen_route,
    exact_budget,
    exact_spectrum,
    gram_spectrum,
    krylov_spectrum,
)
from tests.decomposition.component_tables import low_rank_table


@pytest.mark.parametrize(
    ("n", "d", "count", "solver", "is_sparse", "route"),
    [
        (200_000, 50, 10, "auto", False, "sums"),
        (500, 20_000, 20, "auto", False, "gram"),
        (10, 200, 3, "auto", False, "sums"),
        (30_000, 30_000, 20, "auto", False, "krylov"),
        (30_000, 30_000, 20_000, "auto", False, "sums"),
        (30_000, 30_000, None, "auto", False, "sums"),
        (3_000, 50_000, 100, "auto", False, "gram"),
        (3_000, 50_000, 100, "auto", True, "krylov"),
        (30_000, 30_000, 20, "full", False, "sums"),
        (20, 5, 2, "arpack", False, "krylov"),
    ],
)
def test_a_route_is_chosen_by_size(
    n: int, d: int, count: int | None, solver: str, is_sparse: bool, route: str
) -> None:
    assert chosen_route(n, d, count, solver, is_sparse) == route


def test_the_budget_is_the_price_of_the_exact_route() -> None:
    assert exact_budget(3000, 3000, 30) == (3000**3 + 5 * 3000**3) // (4 * 3000**2 * 30)
    assert exact_budget(10, 10, 30) == 12


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(30, 400), (60, 20)], ids=str)
def test_routes_agree_with_singular_values(shape: tuple[int, int], weighted: bool) -> None:
    X = low_rank_table(*shape, 5)
    weight = np.random.default_rng(0).integers(1, 4, shape[0]) * 1.0 if weighted else None
    sample = numeric_sample(PCA(), X, weight, None)
    w = sample.weights
    A = np.sqrt(w)[:, None] * (X - w @ X / w.sum())
    expected = np.linalg.svd(A)[1] ** 2
    k = min(shape)
    for found in (gram_spectrum(sample, None), exact_spectrum(sample)):
        np.testing.assert_allclose(found.squares[: k - 1], expected[: k - 1], rtol=1e-9)
        np.testing.assert_allclose(found.axes @ found.axes.T, np.eye(len(found.axes)), atol=1e-12)
        assert found.total == pytest.approx(expected.sum(), rel=1e-12)
    few = krylov_spectrum(sample, 4, Iteration())
    assert len(few.squares) == 4
    np.testing.assert_allclose(few.squares, expected[:4], rtol=1e-9)
    np.testing.assert_allclose(few.axes, gram_spectrum(sample, 4).axes[:4], atol=1e-7)


def test_a_gram_matrix_gives_axes_of_unit_length_however_weak() -> None:
    rng = np.random.default_rng(0)
    left = np.linalg.qr(rng.normal(size=(20, 6)))[0]
    right = np.linalg.qr(rng.normal(size=(500, 6)))[0]
    X = left * 10.0 ** -np.arange(6) @ right.T
    found = gram_spectrum(numeric_sample(PCA(), X, None, None), None)
    np.testing.assert_allclose(found.axes @ found.axes.T, np.eye(len(found.axes)), atol=1e-12)
    rebuilt = (X - X.mean(axis=0)) @ found.axes[:6].T @ found.axes[:6]
    np.testing.assert_allclose(rebuilt, X - X.mean(axis=0), atol=1e-12)


def test_sparse_rows_stay_sparse_in_the_iteration() -> None:
    X = sparse.random(300, 200, 0.05, "csr", rng=np.random.default_rng(0))
    found = krylov_spectrum(numeric_sample(PCA(), X, None, None), 3, Iteration())
    dense = X.toarray() - X.toarray().mean(axis=0)
    np.testing.assert_allclose(found.squares, np.linalg.svd(dense)[1][:3] ** 2, rtol=1e-9)


def test_what_cannot_be_done_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = numeric_sample(PCA(), low_rank_table(30, 400, 3), None, None)
    with pytest.raises(InputError, match="must be between 1 and"):
        krylov_spectrum(sample, 31, Iteration())
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "10kB")
    with pytest.raises(MemoryLimitError, match="The Gram matrix of 30 rows"):
        gram_spectrum(sample, 3)
