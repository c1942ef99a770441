"""Influence and prediction intervals: by refits without each row, coverage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.core.errors import InputError
from novum.linear import LinearRegression


def rows(n: int = 24, p: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10.0 ** np.arange(p) + 100.0
    X[3] += 20.0
    return X, X @ np.arange(1.0, p + 1) + rng.normal(size=n)


def coefficients(model: Any) -> Any:
    return model.coef_ if not model.fit_intercept else np.append(model.intercept_, model.coef_)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_influence_is_that_of_refits(fit_intercept: bool) -> None:
    X, y = rows()
    n = len(y)
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    found = model.influence(X, y)
    design = np.column_stack([np.ones(n), X]) if fit_intercept else X
    A = np.linalg.inv(design.T @ design)
    k = design.shape[1]
    np.testing.assert_allclose(found.leverage, np.diag(design @ A @ design.T), rtol=1e-8)
    deviation = np.sqrt(((y - model.predict(X)) ** 2).sum() / (n - k))
    for i in range(n):
        others = np.arange(n) != i
        without = LinearRegression(fit_intercept=fit_intercept).fit(X[others], y[others])
        s = np.sqrt(((y - without.predict(X))[others] ** 2).sum() / (n - 1 - k))
        moved = coefficients(model) - coefficients(without)
        np.testing.assert_allclose(found.dfbetas[i], moved / (s * np.sqrt(np.diag(A))), rtol=1e-6)
        shift = design @ moved
        cook = shift @ shift / (k * deviation**2)
        assert found.cooks_distance[i] == pytest.approx(cook, rel=1e-6)
        h = found.leverage[i]
        assert found.dffits[i] == pytest.approx(shift[i] / (s * np.sqrt(h)), rel=1e-6)
        assert found.deleted[i] == pytest.approx(
            found.residuals[i] / (s * np.sqrt(1 - h)), rel=1e-6
        )
    assert "3" in found.most(1).as_text().splitlines()[1]
    assert repr(found).startswith("Influence of 24 rows")


def test_weights_are_copies() -> None:
    X, y = rows(10)
    weight = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0])
    again = np.repeat(np.arange(10), weight.astype(int))
    found = LinearRegression().fit(X, y, weight).influence(X, y, weight)
    copied = LinearRegression().fit(X[again], y[again]).influence(X[again], y[again])
    np.testing.assert_allclose(found.cooks_distance[again], copied.cooks_distance, rtol=1e-8)
    np.testing.assert_allclose(found.dfbetas[again], copied.dfbetas, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rows_of_weight_zero_are_new_rows(fit_intercept: bool) -> None:
    X, y = rows(14)
    weight = np.ones(14)
    weight[[0, 6, 13]] = 0.0
    kept = weight > 0
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y, weight)
    influence, alone = model.influence(X, y, weight), model.influence(X[kept], y[kept])
    for name in ("leverage", "residuals", "studentized", "deleted", "cooks_distance", "dffits"):
        np.testing.assert_allclose(getattr(influence, name)[kept], getattr(alone, name), rtol=1e-9)
    np.testing.assert_allclose(influence.dfbetas[kept], alone.dfbetas, rtol=1e-9)
    for name in ("leverage", "cooks_distance", "dffits", "dfbetas"):
        assert not getattr(influence, name)[~kept].any()
    # With the row in it, the fit has that row as the one that is deleted.
    for i in np.flatnonzero(~kept):
        weight[i] = 1.0
        within = LinearRegression(fit_intercept=fit_intercept).fit(X, y, weight)
        deleted = within.influence(X, y, weight).deleted[i]
        assert influence.deleted[i] == pytest.approx(deleted, rel=1e-7)
        assert influence.studentized[i] == influence.deleted[i]
        weight[i] = 0.0


def test_a_row_that_is_fitted_whatever_its_target() -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [1.0, 5.0]])
    y = [0.0, 1.5, 1.8, 3.1, 9.0]
    found = LinearRegression().fit(X, y).influence(X, y)
    assert found.leverage[4] == pytest.approx(1.0)
    assert np.isnan(found.cooks_distance[4])
    assert np.isfinite(found.cooks_distance[:4]).all()


def test_intervals_by_the_textbook() -> None:
    X, y = rows(12, 2)
    model = LinearRegression().fit(X, y)
    new = np.array([[100.0, 90.0], [130.0, 60.0]])
    design, z = np.column_stack([np.ones(12), X]), np.column_stack([np.ones(2), new])
    A = np.linalg.inv(design.T @ design)
    s = np.sqrt(((y - model.predict(X)) ** 2).sum() / 9)
    t = 2.2621571627409915  # 0.975 quantile with 9 degrees of freedom
    spread = np.diag(z @ A @ z.T)
    for half, found in (
        (t * s * np.sqrt(1 + spread), model.predict_interval(new)),
        (t * s * np.sqrt(spread), model.mean_interval(new)),
    ):
        ends = np.stack([model.predict(new) - half, model.predict(new) + half], axis=1)
        np.testing.assert_allclose(found, ends, rtol=1e-9)
    two = LinearRegression().fit(X, np.column_stack([y, 2 * y])).predict_interval(new)
    np.testing.assert_allclose(two[:, 1], 2 * two[:, 0], rtol=1e-9)


@pytest.mark.slow
def test_intervals_cover() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        X, z = rng.normal(size=(8, 2)), rng.normal(size=(1, 2))
        beta = rng.normal(size=2)
        y, new = X @ beta + rng.normal(size=8), z @ beta + rng.normal()
        low, high = LinearRegression().fit(X, y).predict_interval(z, 0.8)[0]
        covered += low <= new[0] <= high
    # Four standard deviations of a binomial count of 1,000 at 0.8.
    assert abs(covered - 800) <= 4 * np.sqrt(1000 * 0.8 * 0.2)


def test_what_the_rows_leave_open_is_infinite() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [2.0, 4.0, 6.0, 8.0]})
    model = LinearRegression().fit(frame, [1.0, 2.1, 2.9, 4.2])
    inside, outside = model.predict_interval(pd.DataFrame({"a": [2.5, 2.5], "b": [5.0, 9.0]}))
    assert np.isfinite(inside).all()
    assert np.isinf(outside).all()


def test_criteria_are_those_of_normal_errors() -> None:
    X, y = rows(15, 2)
    found = LinearRegression().fit(X, y).inference()
    residual = y - LinearRegression().fit(X, y).predict(X)
    variance = (residual**2).mean()
    by_hand = -0.5 * (15 * np.log(2 * np.pi * variance) + (residual**2).sum() / variance)
    assert found.log_likelihood == pytest.approx(by_hand, rel=1e-10)
    assert found.aic == pytest.approx(-2 * by_hand + 2 * 3, rel=1e-10)
    assert found.bic == pytest.approx(-2 * by_hand + np.log(15) * 3, rel=1e-10)


def test_bad_input() -> None:
    X, y = rows()
    model = LinearRegression().fit(X, y)
    with pytest.raises(InputError, match="Influence needs the rows of the fit"):
        model.influence(X[:5], y[:5])
    both = np.column_stack([y, y])
    of_two = LinearRegression().fit(X, both)
    with pytest.raises(InputError, match="one target, but y has 2"):
        of_two.influence(X, both)
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.predict_interval(X, 95)
