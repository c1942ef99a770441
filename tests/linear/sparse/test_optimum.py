"""The optimum itself: gaps, conditions, another implementation, screening, paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import ElasticNet as OtherNet
from sklearn.linear_model import Lasso as OtherLasso

from novum.core.learners import Verdict
from novum.core.tables import check_sample
from novum.linear import ElasticNet, Lasso, RegularizationPath
from novum.linear.sparse.columns import centered_target, columns_of
from novum.linear.sparse.objective import Penalty
from novum.linear.sparse.solver import Problem, Products
from novum.numerics import Floats

TABLES = ["tall", "wide", "like", "compressed", "shifted"]


def table(name: str) -> tuple[Any, Floats]:
    rng = np.random.default_rng(3)
    n, p = (60, 300) if name in ("wide", "compressed") else (150, 30)
    X = rng.normal(size=(n, p))
    if name == "like":
        X = 0.2 * X + rng.normal(size=(n, 1))
    if name == "shifted":
        X = X * rng.uniform(0.1, 10, p) + 1e6
    if name == "compressed":
        X = X * (rng.random((n, p)) < 0.2)
    b = np.zeros(p)
    b[:6] = [3, -2, 1, 0.5, -0.3, 0.2]
    y = (X - X.mean(axis=0)) @ b + rng.normal(size=n) + 4
    return (sparse.csr_matrix(X) if name == "compressed" else X), y


def objective(X: Any, y: Floats, model: Any, alpha: float, ratio: float, weight: Any = None) -> Any:
    weight = np.ones(len(y)) if weight is None else weight
    r, b = y - model.predict(X), model.coef_
    loss = weight @ r**2 / (2 * weight.sum())
    return loss + alpha * (ratio * np.abs(b).sum() + (1 - ratio) / 2 * b @ b)


def problem_of(X: Any, y: Floats, wanted: bool | None = None) -> Problem:
    sample = check_sample(Lasso(), X, y, accept_sparse=True)
    columns = columns_of(sample, centered=True)
    t, _ = centered_target(sample.target, columns.root, centered=True)
    return Problem(Products.over(columns, 6, wanted), t)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("ratio", [1.0, 0.5, 0.02])
@pytest.mark.parametrize("share", [0.5, 0.03])
def test_gap_conditions_and_another_implementation(name: str, ratio: float, share: float) -> None:
    X, y = table(name)
    problem = problem_of(X, y)
    alpha = share * float(np.abs(problem.fits).max()) / max(ratio, 0.1)
    model = ElasticNet(alpha, l1_ratio=ratio, tol=1e-10).fit(X, y)
    proof = model.certificate_
    assert proof.converged
    assert proof.relative_gap <= 1e-10
    value = objective(X, y, model, alpha, ratio)
    assert proof.primal == pytest.approx(value, rel=1e-9)
    other = OtherNet(alpha=alpha, l1_ratio=ratio, tol=1e-12, max_iter=100_000).fit(X, y)
    assert proof.primal <= objective(X, y, other, alpha, ratio) * (1 + 2e-10)
    # Karush, Kuhn and Tucker: the pull of the loss is the slope of the penalty.
    r = y - model.predict(X)
    pull = np.asarray((X - X.mean(axis=0)).T @ r).ravel() / len(y)
    pull = pull - alpha * (1 - ratio) * model.coef_
    active = model.coef_ != 0
    level = alpha * ratio
    tiny = 1e-6 * (level + np.abs(problem.fits).max())
    np.testing.assert_allclose(pull[active], level * np.sign(model.coef_[active]), atol=tiny)
    assert (np.abs(pull) <= level + tiny).all()


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("name", TABLES)
def test_screening_removes_no_active_column(name: str, wanted: bool) -> None:
    X, y = table(name)
    for share in (0.6, 0.1, 0.01):
        problem = problem_of(X, y, wanted)
        p = problem.columns.shape[1]
        penalty = Penalty.of(share * float(np.abs(problem.fits).max()), 1.0, p)
        options: dict[str, Any] = {"tol": 1e-12, "max_iter": 100_000, "finish": True}
        with_it = problem.solve(penalty, **options)
        without = problem.solve(penalty, screening=False, **options)
        assert without.screened == int((problem.columns.squares == 0).sum())
        assert with_it.known.relative <= 1e-12
        np.testing.assert_allclose(with_it.coef, without.coef, atol=1e-6)
        assert with_it.known.primal == pytest.approx(without.known.primal, rel=1e-11)


def test_screening_removes_most_columns_of_a_strong_penalty() -> None:
    X, y = table("wide")
    problem = problem_of(X, y, wanted=False)
    penalty = Penalty.of(0.5 * float(np.abs(problem.fits).max()), 1.0, X.shape[1])
    found = problem.solve(penalty, tol=1e-3, max_iter=1000, start=None)
    again = problem.solve(penalty, tol=1e-12, max_iter=1000, start=found.coef)
    assert again.known.relative <= 1e-12


@pytest.mark.parametrize("name", TABLES)
def test_paths_are_monotone(name: str) -> None:
    X, y = table(name)
    found = Lasso.path(X, y, alphas=30, tol=1e-9, fit_intercept=True)
    assert isinstance(found, RegularizationPath)
    assert (np.diff(found.alphas) < 0).all()
    # Norms grow and residuals fall as the penalty falls.
    norms = np.abs(found.coefs).sum(axis=0)
    Z = X.toarray() if sparse.issparse(X) else X
    r = (y - y.mean())[:, np.newaxis] - (Z - Z.mean(axis=0)) @ found.coefs
    losses = (r**2).sum(axis=0)
    assert (np.diff(norms) >= -1e-6 * norms.max()).all()
    assert (np.diff(losses) <= 1e-6 * losses.max()).all()
    assert not found.coefs[:, 0].any()
    size = losses / (2 * len(y)) + found.alphas * norms
    assert (found.dual_gaps <= 1e-9 * size * 1.0001).all()
    middle = Lasso(found.alphas[15], tol=1e-10).fit(X, y)
    np.testing.assert_allclose(found.coefs[:, 15], middle.coef_, atol=1e-3)


def test_a_path_is_scikit_learn_s() -> None:
    X, y = table("tall")
    alphas, coefs, gaps = ElasticNet.path(X, y, l1_ratio=0.7, alphas=5, tol=1e-12)
    theirs = OtherNet.path(X, y, l1_ratio=0.7, alphas=5, tol=1e-12)
    np.testing.assert_allclose(alphas, theirs[0], rtol=1e-12)
    np.testing.assert_allclose(coefs, theirs[1], atol=1e-6)
    assert gaps.shape == (5,)
    *_, passes = ElasticNet.path(X, y, alphas=[1.0, 0.1], return_n_iter=True)
    assert len(passes) == 2
    chart = ElasticNet.path(X, y, alphas=5).chart()
    assert chart.as_svg().startswith("<svg")


@pytest.mark.parametrize("name", ["tall", "wide", "compressed"])
def test_positive_coefficients(name: str) -> None:
    X, y = table(name)
    model = Lasso(0.1, positive=True, tol=1e-10).fit(X, y)
    other = OtherLasso(0.1, positive=True, tol=1e-12, max_iter=100_000).fit(X, y)
    assert (model.coef_ >= 0).all()
    assert model.certificate_.relative_gap <= 1e-10
    assert objective(X, y, model, 0.1, 1.0) <= objective(X, y, other, 0.1, 1.0) * (1 + 2e-10)


def test_working_sets_too_wide_for_cross_products(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tall", "compressed"):
        X, y = table(name)
        narrow = ElasticNet(0.05, l1_ratio=0.3, tol=1e-10).fit(X, y)
        with monkeypatch.context() as patch:
            patch.setattr("novum.linear.sparse.solver.WIDEST_GRAM", 2)
            for positive in (False, True):
                broad = ElasticNet(0.05, l1_ratio=0.3, tol=1e-10, positive=positive).fit(X, y)
                assert broad.certificate_.relative_gap <= 1e-10
                if not positive:
                    np.testing.assert_allclose(broad.coef_, narrow.coef_, atol=1e-4)


def test_weights_are_repetitions() -> None:
    X, y = table("tall")
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    for rows in (X, sparse.csr_matrix(X)):
        weighted = Lasso(0.1).fit(rows, y, weight.astype(float))
        repeated = Lasso(0.1).fit(np.repeat(X, weight, 0), np.repeat(y, weight))
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-9)
    other = OtherLasso(0.1, tol=1e-12).fit(X, y, weight)
    np.testing.assert_allclose(weighted.coef_, other.coef_, atol=1e-6)


def test_several_targets_warm_starts_and_orders() -> None:
    X, y = table("tall")
    Y = np.column_stack([y, -2 * y, np.ones(len(y))])
    model = Lasso(0.1).fit(X, Y)
    single = Lasso(0.1).fit(X, y)
    assert model.coef_.shape == (3, X.shape[1])
    assert model.intercept_.shape == model.dual_gap_.shape == model.n_iter_.shape == (3,)
    np.testing.assert_allclose(model.coef_[0], single.coef_, atol=1e-9)
    assert not model.coef_[2].any()
    assert (model.sparse_coef_.toarray() == model.coef_).all()
    again = Lasso(0.1, warm_start=True).fit(X, y).fit(X, y)
    assert again.n_iter_ <= 5
    np.testing.assert_allclose(again.coef_, single.coef_, atol=1e-9)
    mixed = Lasso(0.1, selection="random", random_state=1, precompute=True).fit(X, y)
    np.testing.assert_allclose(mixed.coef_, single.coef_, atol=1e-9)
    assert np.isclose(Lasso(0.1, fit_intercept=False).fit(X, y).intercept_, 0.0)


def test_without_a_penalty_it_is_least_squares() -> None:
    from novum.linear import LinearRegression, Ridge

    X, y = table("tall")
    plain = LinearRegression().fit(X, y)
    np.testing.assert_allclose(Lasso(0.0).fit(X, y).coef_, plain.coef_, rtol=1e-12)
    ridge = Ridge(0.3 * len(y)).fit(X, y)
    net = ElasticNet(0.3, l1_ratio=0.0, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(net.coef_, ridge.coef_, rtol=1e-8)


def test_a_fit_that_ends_early_says_so() -> None:
    X, y = table("like")
    with pytest.warns(UserWarning, match="stopped early"):
        model = Lasso(1e-3, max_iter=1, tol=1e-12).fit(X, y)
    assert model.certificate_.verdict is Verdict.STOPPED_EARLY
