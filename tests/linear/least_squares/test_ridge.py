"""Ridge: its definition in rational arithmetic, its limits, its degrees of freedom."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge as OtherRidge

from novum.core.errors import InputError
from novum.linear import LinearRegression, Ridge
from novum.numerics import Floats
from tests.linear.tables import certified_table, integer_tables, normal_table
from tests.oracles.rational_least_squares import exact_least_squares


@given(integer_tables(), st.booleans(), st.floats(1e-3, 1e3))
def test_it_is_its_definition(
    table: tuple[Floats, Floats, Floats], intercept: bool, alpha: float
) -> None:
    X, y, weight = table
    model = Ridge(alpha=alpha, fit_intercept=intercept).fit(X, y, weight)
    constant, coef = exact_least_squares(
        X.tolist(), y.tolist(), weight.tolist(), intercept=intercept, alpha=alpha
    )
    exact = np.array(coef, float)
    size = 1e-11 * (1e-3 + np.abs(exact).max())
    np.testing.assert_allclose(model.coef_, exact, rtol=1e-11, atol=size)
    assert model.intercept_ == pytest.approx(float(constant), rel=1e-11, abs=20 * size)


@pytest.mark.parametrize("alpha", [1e-10, 1e-4])
def test_small_penalties_on_certified_tables(alpha: float) -> None:
    """Wampler's polynomial: cross-products would have lost a penalty of 1e-10 in 1e12."""
    X, y = certified_table("Wampler1")
    constant, coef = exact_least_squares(X.tolist(), y.tolist(), alpha=alpha)
    model = Ridge(alpha=alpha).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.array(coef, float), rtol=1e-9)
    assert model.intercept_ == pytest.approx(float(constant), rel=1e-9)


def test_limits_are_least_squares_and_the_mean() -> None:
    X, y = normal_table(30, 3)
    plain = LinearRegression().fit(X, y)
    np.testing.assert_allclose(Ridge(alpha=0.0).fit(X, y).coef_, plain.coef_, rtol=1e-13)
    np.testing.assert_allclose(Ridge(alpha=1e-12).fit(X, y).coef_, plain.coef_, rtol=1e-11)
    strong = Ridge(alpha=1e15).fit(X, y)
    np.testing.assert_allclose(strong.predict(X), np.full(30, y.mean()), rtol=1e-11)


def test_another_implementation_agrees() -> None:
    X, y = normal_table(60, 5)
    Y, weight = np.column_stack([y, y**2]), np.random.default_rng(0).uniform(0.5, 2, 60)
    alphas = [0.5, 20.0]
    ours = Ridge(alpha=alphas).fit(X, Y, weight)
    theirs = OtherRidge(alpha=alphas, solver="svd").fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-10)
    positive = Ridge(alpha=2.0, positive=True).fit(X * [1, -1, 1, 1, -1], y)
    other = OtherRidge(alpha=2.0, positive=True, tol=1e-12).fit(X * [1, -1, 1, 1, -1], y)
    np.testing.assert_allclose(positive.coef_, other.coef_, atol=1e-5)
    assert (positive.coef_ >= 0).all()


@pytest.mark.parametrize("model", [Ridge(alpha=2.0), Ridge(alpha=0.0)])
def test_weights_are_repetitions(model: Ridge) -> None:
    X, y = normal_table(30, 3)
    weight = np.random.default_rng(0).integers(0, 3, 30)
    weighted = model.fit(X, y, weight.astype(float)).coef_
    repeated = model.fit(np.repeat(X, weight, 0), np.repeat(y, weight)).coef_
    np.testing.assert_allclose(weighted, repeated, rtol=1e-12)


def test_degrees_of_freedom_are_the_trace_of_the_hat_matrix() -> None:
    X, y = normal_table(25, 3)
    for alpha in (0.0, 1.0, 50.0):
        model = Ridge(alpha=alpha).fit(X, y)
        Z = X - X.mean(axis=0)
        hat = Z @ np.linalg.solve(Z.T @ Z + alpha * np.eye(3), Z.T)
        assert model.degrees_of_freedom_ == pytest.approx(1 + np.trace(hat), rel=1e-12)
    assert Ridge(alpha=0.0, fit_intercept=False).fit(X, y).degrees_of_freedom_ == pytest.approx(3)
    several = Ridge(alpha=[0.0, 1e12]).fit(X, np.column_stack([y, y])).degrees_of_freedom_
    np.testing.assert_allclose(several, [4.0, 1.0], atol=1e-9)
    twice = np.column_stack([X, X[:, 0]])
    assert Ridge(alpha=0.0).fit(twice, y).degrees_of_freedom_ == pytest.approx(4.0)


def test_an_iterative_fit_knows_no_degrees_of_freedom() -> None:
    model = Ridge(solver="lsqr").fit(*normal_table(25, 2))
    assert not hasattr(model, "degrees_of_freedom_")
    with pytest.raises(NotFittedError, match=r"after a direct fit only.*solver='auto'"):
        _ = model.degrees_of_freedom_


def test_equal_columns_share() -> None:
    X, y = normal_table(25, 2)
    model = Ridge(alpha=1.0).fit(np.column_stack([X, X[:, 0]]), y)
    assert model.coef_[0] == pytest.approx(model.coef_[2], rel=1e-12)
    assert "solution" not in model.certificate_.details


@pytest.mark.parametrize("size", [1e150, 1e-150])
def test_extreme_columns(size: float) -> None:
    X, y = normal_table(25, 2)
    found = Ridge(alpha=1.0).fit(X * size, y).coef_
    expected = LinearRegression().fit(X, y).coef_ / size if size > 1 else np.zeros(2)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-140)


def test_levels_are_penalized_against_the_first() -> None:
    frame = pd.DataFrame({"color": ["a", "b", "c"] * 4})
    y = np.arange(12.0)
    levels = np.column_stack([(frame["color"] == level).to_numpy(float) for level in "bc"])
    np.testing.assert_allclose(
        Ridge().fit(frame, y).coef_, Ridge().fit(levels, y).coef_, rtol=1e-13
    )


def test_impossible_penalties_are_named() -> None:
    X, y = normal_table(10, 2)
    Y = np.column_stack([y, y])
    with pytest.raises(InputError, match=r"2 != 3\. Give one alpha, or one for each target"):
        Ridge(alpha=[1.0, 2.0, 3.0]).fit(X, Y)
    for bad in ([1.0, -1.0], [np.nan, 1.0], [np.inf, 1.0], ["a", 1.0], [None, 1.0]):
        with pytest.raises(InputError, match="alpha must be finite numbers of at least 0, got"):
            Ridge(alpha=bad).fit(X, Y)
    with pytest.raises(ValueError, match="alpha"):
        Ridge(alpha=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="solver"):
        Ridge(solver="newton").fit(X, y)


@pytest.mark.parametrize("solver", ["svd", "cholesky", "sparse_cg", "sag", "saga"])
def test_names_of_other_solvers_give_the_same_coefficients(solver: str) -> None:
    X, y = normal_table(40, 3)
    plain, named = Ridge().fit(X, y), Ridge(solver=solver).fit(X, y)
    assert named.coef_.tolist() == plain.coef_.tolist()
    named.partial_fit(X[:5], y[:5]).forget(X[:5], y[:5])
    np.testing.assert_allclose(named.coef_, plain.coef_, rtol=1e-12)
    with pytest.raises(InputError, match="does not support positive fitting"):
        Ridge(solver=solver, positive=True).fit(X, y)


def test_lbfgs_is_for_positive_coefficients() -> None:
    X, y = normal_table(40, 3)
    X[:, 0] *= -1
    named = Ridge(solver="lbfgs", positive=True).fit(X, y)
    assert (named.coef_ >= 0).all()
    assert named.coef_.tolist() == Ridge(positive=True).fit(X, y).coef_.tolist()
    with pytest.raises(InputError, match="only when positive=True"):
        Ridge(solver="lbfgs").fit(X, y)
