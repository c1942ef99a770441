"""The whole fit in memory: the choice of a solver, and that the choice does not matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from novum.core.learners import ConvergenceWarning
from novum.linear.logistic import fit as fit_module
from novum.linear.logistic.fit import choose_solver
from novum.linear.logistic.objective import Shape
from novum.linear.logistic.regression import LogisticRegression
from novum.linear.logistic.rows import DenseRows
from tests.linear.logistic_tables import logistic_table, objective, rows_of

INF = float("inf")


def chosen(n: int, d: int, K: int = 2, penalty: float = 1.0) -> str:
    """The choice for a table of this size, without the table."""
    X, y = logistic_table(K + 1, 1, K)
    small = rows_of(X, y)
    assert isinstance(small, DenseRows)
    codes = np.broadcast_to(np.zeros(1, np.int64), (n,))
    rows = fit_module.replace(small, codes=codes, center=np.zeros(d), spread=np.ones(d))
    return choose_solver(rows, Shape(K, d, True, penalty))


def test_the_rule_chooses_by_cost() -> None:
    assert chosen(200, 5) == "newton-cholesky"
    assert chosen(200_000, 50) == "newton-cholesky"
    assert chosen(100_000, 50, 10) == "lbfgs"
    assert chosen(1_000_000, 500) == "lbfgs"
    assert chosen(1000, 6000) == "newton-cg"


@pytest.mark.parametrize("C", [1.0, INF])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("solver", ["newton-cholesky", "lbfgs", "newton-cg", "gradient"])
@pytest.mark.parametrize("thin", [False, True])
def test_all_solvers_find_the_same(C: float, K: int, solver: str, thin: bool) -> None:
    X, y = logistic_table(300, 3, K)
    best = LogisticRegression(C=C).fit(X, y)
    table = sparse.csr_array(X) if thin else X
    model = LogisticRegression(C=C, solver=solver, tol=1e-8, max_iter=20_000).fit(table, y)
    assert model.certificate_.details["solver"] == solver
    np.testing.assert_allclose(model.coef_, best.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, best.intercept_, atol=1e-6)
    assert objective(model, X, y, C) <= objective(best, X, y, C) * (1 + 1e-12)


def test_a_start_from_the_optimum_stays_there() -> None:
    X, y = logistic_table(500, 4, 3)
    model = LogisticRegression(warm_start=True).fit(X, y)
    first, steps = model.coef_, int(model.n_iter_[0])
    model.fit(X, y)
    np.testing.assert_allclose(model.coef_, first, rtol=1e-9)
    assert model.certificate_.iterations <= 1 < steps
    # Other columns or classes make an earlier fit useless, and it is not used.
    assert model.fit(X[:, :2], y).coef_.shape == (3, 2)
    assert model.fit(X[:, :2], y > 0).coef_.shape == (1, 2)


def test_stopping_early_warns_and_says_how_far() -> None:
    X, y = logistic_table(200, 3)
    with pytest.warns(ConvergenceWarning, match=r"stopped early after 1 iterations.*max_iter"):
        model = LogisticRegression(max_iter=1).fit(X, y)
    assert not model.certificate_.converged
    assert model.certificate_.gap > 0


def test_large_hessians_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = logistic_table(50, 30)
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "1")
    called: list[float] = []
    monkeypatch.setattr(fit_module, "check_memory", lambda size, *_: called.append(size))
    LogisticRegression(solver="newton-cholesky").fit(X, y)
    assert called == [4 * 8 * 31**2]


def test_wide_tables_without_a_hessian(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = logistic_table(80, 10)
    expected = LogisticRegression().fit(X, y)
    monkeypatch.setattr(fit_module, "WIDEST_HESSIAN", 5)
    for solver in ("auto", "lbfgs"):
        model = LogisticRegression(solver=solver, tol=1e-8).fit(X, y)
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-6)
    monkeypatch.setattr(fit_module, "WIDEST", 5)
    with pytest.warns(ConvergenceWarning, match="completely separated"):
        LogisticRegression(C=INF).fit(X[:9], y[:9])


def test_a_misleading_subsample_is_left_behind() -> None:
    # Every 10th row has the labels of another world.
    X, y = logistic_table(40_000, 2)
    y = np.where(np.arange(40_000) % 10 == 0, (X[:, 0] > 0) ^ (np.arange(40_000) % 20 > 0), y)
    model = LogisticRegression(C=INF).fit(X, y)
    shuffled = np.random.default_rng(0).permutation(40_000)
    other = LogisticRegression(C=INF).fit(X[shuffled], y[shuffled])
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-9)
    assert model.certificate_.converged
