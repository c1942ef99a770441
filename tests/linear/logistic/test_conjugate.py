"""Newton by conjugate gradients: the same optimum, from products alone, on wide sparse tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from novum.linear.logistic.newton import newton, newton_conjugate
from tests.linear.logistic_tables import logistic_table, loss_of


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("thin", [True, False])
def test_it_finds_newtons_optimum(K: int, thin: bool) -> None:
    X, y = logistic_table(500, 6, K)
    X[np.random.default_rng(0).random(X.shape) < 0.6] = 0.0
    loss = loss_of(sparse.csr_array(X) if thin else X, y)
    found = newton_conjugate(loss, loss.start(), tol=1e-9, max_iter=50)
    dense = loss_of(X, y)
    expected = newton(dense, dense.start(), tol=1e-6, max_iter=50)
    assert found.stopped_by in ("tol", "rounding")
    assert found.evaluation.value == pytest.approx(expected.evaluation.value, rel=1e-13)
    a, b = (m.reshape(K - 1, -1)[:, :-1] for m in (found.vector, expected.vector))
    np.testing.assert_allclose(a, b, atol=1e-7)


def test_units_of_columns_cost_nothing() -> None:
    X, y = logistic_table(300, 4)
    units = np.array([1e8, 1.0, 1e-8, 1e4])
    plain, scaled = loss_of(X, y, penalty=0.0), loss_of(X * units, y, penalty=0.0)
    a = newton_conjugate(plain, plain.start(), tol=1e-8, max_iter=50)
    b = newton_conjugate(scaled, scaled.start(), tol=1e-8, max_iter=50)
    assert a.iterations == b.iterations
    np.testing.assert_allclose(b.vector[:4] * units, a.vector[:4], rtol=1e-6)


def test_columns_without_cells_keep_a_coefficient_of_zero() -> None:
    X, y = logistic_table(100, 3)
    X[:, 1] = 0.0
    loss = loss_of(sparse.csr_array(X), y, penalty=0.0)
    found = newton_conjugate(loss, loss.start(), tol=1e-6, max_iter=50)
    assert found.stopped_by == "tol"
    assert found.vector[1] == 0.0


def test_the_limit_ends_it() -> None:
    X, y = logistic_table(100, 3)
    loss = loss_of(X, y)
    assert newton_conjugate(loss, loss.start(), tol=1e-8, max_iter=1).stopped_by == "max_iter"
