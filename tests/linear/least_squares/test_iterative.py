"""Iterative solvers: descent that falls in every step, LSQR that never makes rows dense."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from novum.core.errors import InputError, NotAdditiveError
from novum.core.learners import ConvergenceWarning, Verdict
from novum.linear import LinearRegression, Ridge
from novum.linear.least_squares import model
from novum.numerics import Floats
from tests.linear.tables import normal_table
from tests.oracles.rational_least_squares import exact_least_squares


def wide_sparse(n: int = 40, p: int = 3000, seed: int = 0) -> tuple[sparse.csr_array, Floats]:
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, p), density=0.01, rng=rng, format="csr")
    return X, rng.normal(size=n) + 3.0


def kernel_ridge(X: sparse.csr_array, y: Floats, alpha: float) -> tuple[Floats, float]:
    """Ridge by its dual: a second way, whose cost is that of the rows."""
    dense = X.toarray()
    mean, offset = dense.mean(axis=0), y.mean()
    Z = dense - mean
    coef = Z.T @ np.linalg.solve(Z @ Z.T + alpha * np.eye(len(y)), y - offset)
    return coef, offset - mean @ coef


# --- Gradient descent -----------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 1.5])
@pytest.mark.parametrize("intercept", [True, False])
def test_descent_reaches_the_optimum(alpha: float, intercept: bool) -> None:
    X, y = normal_table(30, 3)
    descent = Ridge(alpha=alpha, solver="gradient", tol=1e-10, fit_intercept=intercept).fit(X, y)
    constant, coef = exact_least_squares(X.tolist(), y.tolist(), intercept=intercept, alpha=alpha)
    np.testing.assert_allclose(descent.coef_, np.array(coef, float), rtol=1e-8)
    assert descent.intercept_ == pytest.approx(float(constant), rel=1e-8)
    certificate = descent.certificate_
    assert certificate.verdict is Verdict.WITHIN_TOLERANCE
    assert certificate.distance_bound is not None
    away = np.linalg.norm(descent.coef_ - np.array(coef, float))
    assert away <= certificate.distance_bound < 1e-7


def test_every_step_descends_and_the_trace_shows_it() -> None:
    X, y = normal_table(30, 4)
    certificate = LinearRegression(solver="gradient").fit(X * [1, 2, 4, 8], y).certificate_
    trace = np.array(certificate.trace)
    assert len(trace) == certificate.iterations + 1 > 3
    assert (np.diff(trace) <= 1e-12 * trace[0]).all()
    # It starts at zero coefficients, whose objective is the total sum of squares.
    assert trace[0] == pytest.approx(((y - y.mean()) ** 2).sum(), rel=1e-12)
    assert trace[-1] == pytest.approx(certificate.value, rel=1e-12)
    assert certificate.details["stopped_by"] in ("tol", "rounding")


def test_stopping_early_is_announced_with_the_gap() -> None:
    X, y = normal_table(30, 4)
    close = np.column_stack([X, X[:, 0] + 0.01 * np.cos(y)])
    stopped = LinearRegression(solver="gradient", max_iter=3)
    with pytest.warns(ConvergenceWarning, match=r"stopped early after 3 iterations.*gap.*max_iter"):
        stopped.fit(close, y)
    certificate = stopped.certificate_
    assert not certificate.converged
    assert certificate.verdict is Verdict.STOPPED_EARLY
    assert stopped.n_iter_ == 3
    best = LinearRegression().fit(close, y).certificate_.value
    assert certificate.gap == pytest.approx(certificate.value - best, rel=1e-6)
    exact = LinearRegression().fit(close, y).coef_
    assert np.linalg.norm(stopped.coef_ - exact) <= certificate.distance_bound


def test_units_cost_no_steps() -> None:
    X, y = normal_table(30, 3)
    plain = LinearRegression(solver="gradient").fit(X, y)
    scaled = LinearRegression(solver="gradient").fit(X * [2.0**27, 1.0, 2.0**-27], y)
    assert scaled.n_iter_ == plain.n_iter_
    np.testing.assert_allclose(scaled.coef_ * [2.0**27, 1.0, 2.0**-27], plain.coef_, rtol=1e-12)


def test_descent_without_full_rank_and_without_columns() -> None:
    X, y = normal_table(30, 2)
    twice = np.column_stack([X, X[:, 0]])
    descent = LinearRegression(solver="gradient", tol=1e-10).fit(twice, y)
    np.testing.assert_allclose(
        descent.predict(twice), LinearRegression().fit(X, y).predict(X), rtol=1e-7
    )
    # From zero, equal columns stay equal: the solution of smallest norm.
    assert descent.coef_[0] == pytest.approx(descent.coef_[2], rel=1e-12)
    level = pd.DataFrame({"color": ["red"] * 4})
    assert LinearRegression(solver="gradient").fit(level, [1.0, 2.0, 3.0, 6.0]).intercept_ == 3.0
    one = LinearRegression(solver="gradient").fit([[1.0, 2.0]], [4.0])
    assert (one.coef_.tolist(), one.intercept_) == ([0.0, 0.0], 4.0)


def test_descent_on_several_targets_and_from_statistics() -> None:
    X, y = normal_table(30, 2)
    Y = np.column_stack([y, -y, np.cos(y)])
    whole = LinearRegression(solver="gradient", tol=1e-10)
    total = whole.statistics(X[:9], Y[:9]) + whole.statistics(X[9:], Y[9:])
    np.testing.assert_allclose(
        whole.fit_statistics(total).coef_, LinearRegression().fit(X, Y).coef_, atol=1e-8
    )


# --- LSQR -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_wide_sparse_ridge_is_its_dual(alpha: float) -> None:
    X, y = wide_sparse()
    fitted = Ridge(alpha=alpha, tol=1e-8).fit(X, y)
    coef, intercept = kernel_ridge(X, y, alpha)
    assert fitted.certificate_.details["solver"] == "lsqr"
    assert np.linalg.norm(fitted.coef_ - coef) <= fitted.certificate_.distance_bound
    np.testing.assert_allclose(fitted.coef_, coef, atol=1e-7 * np.abs(coef).max())
    assert fitted.intercept_ == pytest.approx(intercept, rel=1e-7)
    value = float(((y - X @ coef - intercept) ** 2).sum() + alpha * (coef**2).sum())
    assert fitted.certificate_.lower_bound <= value * (1 + 1e-12)
    assert fitted.certificate_.value >= value * (1 - 1e-12)


def test_wide_sparse_least_squares_interpolates_with_the_smallest_norm() -> None:
    X, y = wide_sparse()
    fitted = LinearRegression(tol=1e-8).fit(X, y)
    assert fitted.certificate_.verdict is Verdict.WITHIN_TOLERANCE
    np.testing.assert_allclose(fitted.predict(X), y, rtol=1e-6)
    dense = X.toarray()
    expected = np.linalg.pinv(dense - dense.mean(axis=0)) @ (y - y.mean())
    np.testing.assert_allclose(fitted.coef_, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_array], ids=str)
def test_lsqr_on_request(make: type) -> None:
    X, y = normal_table(40, 4)
    X = X + np.array([0.0, 10.0, -20.0, 5.0])  # centering must happen inside the products
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 40)
    Y = np.column_stack([y, np.sin(y)])
    for targets in (y, Y):
        fitted = Ridge(alpha=0.3, solver="lsqr", tol=1e-10).fit(make(X), targets, weight)
        direct = Ridge(alpha=0.3).fit(X, targets, weight)
        np.testing.assert_allclose(fitted.coef_, direct.coef_, rtol=1e-8)
        np.testing.assert_allclose(fitted.intercept_, direct.intercept_, rtol=1e-8)
        assert fitted.certificate_.value == pytest.approx(direct.certificate_.value, rel=1e-9)
    through_zero = LinearRegression(solver="lsqr", fit_intercept=False, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(through_zero.coef_, np.linalg.lstsq(X, y)[0], rtol=1e-8)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csr_matrix], ids=str)
@pytest.mark.parametrize("intercept", [True, False])
def test_lsqr_does_not_depend_on_units(make: type, intercept: bool) -> None:
    """Judged by its largest column alone, it would leave the coefficients of the others at 0."""
    X, y = normal_table(60, 3)
    units = np.array([1.0, 2.0**30, 2.0**-30])
    for fitted, direct in (
        (LinearRegression(solver="lsqr"), LinearRegression()),
        (Ridge(alpha=2.0, solver="lsqr"), Ridge(alpha=2.0)),
    ):
        fitted.set_params(fit_intercept=intercept).fit(make(X * units), y)
        direct.set_params(fit_intercept=intercept).fit(X * units, y)
        np.testing.assert_allclose(fitted.coef_, direct.coef_, rtol=1e-7)
        assert fitted.certificate_.converged


def test_lsqr_on_a_constant_column_far_from_zero() -> None:
    X, y = normal_table(60, 2)
    table = np.column_stack([X, np.full(60, 1e7 / 3)])
    fitted = LinearRegression(solver="lsqr").fit(table, y)
    np.testing.assert_allclose(fitted.coef_[:2], LinearRegression().fit(X, y).coef_, rtol=1e-6)
    np.testing.assert_allclose(
        fitted.predict(table), LinearRegression().fit(X, y).predict(X), rtol=1e-5
    )


def test_lsqr_that_stops_early_says_so() -> None:
    X, y = wide_sparse()
    with pytest.warns(ConvergenceWarning, match="stopped early after 2 iterations"):
        fitted = LinearRegression(max_iter=2).fit(X, y)
    assert not fitted.certificate_.converged


def test_width_decides_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = normal_table(40, 4)
    assert hasattr(Ridge().fit(sparse.csr_array(X), y), "statistics_")
    monkeypatch.setattr(model, "SPARSE_WIDTH", 3)
    assert not hasattr(Ridge().fit(sparse.csr_array(X), y), "statistics_")
    assert hasattr(Ridge().fit(X, y), "statistics_")
    assert hasattr(Ridge(positive=True).fit(sparse.csr_array(X), y), "statistics_")


def test_what_iteration_cannot_do_is_refused() -> None:
    X, y = normal_table(20, 2)
    for solver in ("lsqr", "gradient"):
        with pytest.raises(InputError, match=r"positive.* the solver to 'auto'"):
            LinearRegression(solver=solver, positive=True).fit(X, y)
    frame = pd.DataFrame({"color": ["red", "blue"] * 10})
    with pytest.raises(InputError, match=r"numeric columns only.*solver='auto'"):
        LinearRegression(solver="lsqr").fit(frame, y)
    with pytest.raises(NotAdditiveError, match="not fitted from sums"):
        LinearRegression(solver="lsqr").statistics(X, y)
    with pytest.raises(AttributeError, match="partial_fit") as error:
        LinearRegression(solver="lsqr").partial_fit(X, y)
    assert "Use solver='auto'" in str(error.value.__cause__)
    assert hasattr(LinearRegression(), "partial_fit")


def test_a_direct_fit_after_an_iterative_one_leaves_nothing_behind() -> None:
    X, y = normal_table(20, 2)
    fitted = LinearRegression().fit(X, y)
    fitted.set_params(solver="lsqr").fit(X, y)
    for name in ("statistics_", "rank_", "singular_"):
        assert not hasattr(fitted, name)
    fitted.set_params(solver="auto").fit(X, y)
    assert fitted.rank_ == 2
