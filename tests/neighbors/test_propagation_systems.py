"""Systems of labels that spread: elimination by its definition, and errors that are proved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from novum.neighbors.propagation_systems import by_gradients, eliminated, solve


def ring(n: int, seed: int = 0, digits: float = 2.0) -> tuple[Any, Any, Any]:
    """A ring with chords, whose weights differ by so many digits, and few ends of two kinds."""
    rng = np.random.default_rng(seed)
    i = np.arange(n)
    W = sparse.coo_array(
        (
            10 ** rng.uniform(-digits, 0, 2 * n),
            (np.r_[i, i], np.r_[(i + 1) % n, rng.permutation(n)]),
        ),
        (n, n),
    ).tolil()
    W.setdiag(0.0)
    W = (W + W.T).tocsr()
    target = np.zeros((n, 2))
    target[rng.choice(n, 6, replace=False), np.arange(6) % 2] = rng.uniform(0.1, 1.0, 6)
    return W, target.sum(axis=1), target


@pytest.mark.parametrize("n", [1, 2, 64, 65, 600])
def test_elimination_is_the_solution(n: int) -> None:
    rng = np.random.default_rng(n)
    W = rng.uniform(0.5, 1.0, (n, n))
    W = W + W.T
    np.fill_diagonal(W, 0.0)
    target = rng.uniform(0.1, 1.0, (n, 3))
    ends = target.sum(axis=1) + rng.uniform(0.0, 1.0, n)
    F = np.linalg.solve(np.diag(W.sum(axis=1) + ends) - W, target)
    np.testing.assert_allclose(eliminated(W.copy(), ends, target), F, rtol=1e-10)
    # The diagonal takes no part, and units cancel.
    np.fill_diagonal(W, 7.0)
    scaled = eliminated(1e-200 * W, 1e-200 * ends, 1e-200 * target)
    np.testing.assert_allclose(scaled, F, rtol=1e-10)


@pytest.mark.parametrize("tol", [1e-2, 1e-5, 1e-9])
@pytest.mark.parametrize("digits", [0.0, 3.0])
def test_errors_of_steps_are_below_what_is_proved(tol: float, digits: float) -> None:
    W, ends, target = ring(300, digits=digits)
    # Some walks end without a label, so that rows far from labels have little.
    ends = ends + np.where(np.arange(300) % 3 == 0, 1e-3, 0.0)
    exact = eliminated(W.toarray(), ends, target)
    found = by_gradients(W, ends, target, tol, 10_000)
    assert found.error <= tol
    apart = np.abs(found.values - exact)
    assert 0 < (apart / exact.sum(axis=1, keepdims=True)).max() <= found.error
    assert np.linalg.norm(apart) <= found.distance


def test_large_graphs_are_eliminated_where_steps_prove_nothing() -> None:
    W, ends, target = ring(1200)
    easy = solve(W, ends, target, 1e-8, 1000)
    assert easy.steps > 0
    assert easy.error <= 1e-8
    # A group of 40 rows, with one link of 1e-17 to either kind.
    W = sparse.block_diag([W, sparse.csr_array(np.ones((40, 40)) - np.eye(40))]).tocsr()
    weak = np.zeros((40, 2))
    weak[[3, 17], [0, 1]] = 1e-17, 3e-17
    target = np.vstack([target, weak])
    ends = np.concatenate([ends, weak.sum(axis=1)])
    whole = solve(W, ends, target, 1e-8, 300)
    assert whole.steps == 0
    np.testing.assert_allclose(whole.values[:1200], easy.values, atol=2e-8)
    np.testing.assert_allclose(whole.values[1200:], [[0.25, 0.75]] * 40, rtol=1e-12)
    # Without the memory it says that it does not know.
    rough = by_gradients(W, ends, target, 1e-8, 300)
    assert rough.error > 1e-8
