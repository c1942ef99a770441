"""Robust standard errors: the textbook's matrices, repetitions, the rows of the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.core.errors import InputError
from novum.core.tables import coding
from novum.linear import LinearRegression
from novum.numerics import Floats
from tests.linear.tables import normal_table
from tests.oracles.rational_least_squares import robust_standard_errors

KINDS = ["HC0", "HC1", "HC2", "HC3"]


def errors(kind: str, X: Any, y: Any, weight: Any = None, **params: bool) -> Floats:
    model = LinearRegression(**params).fit(X, y, weight)
    return model.inference(X, y, weight, covariance=kind).standard_errors  # type: ignore[arg-type]


def spread_table(n: int = 40) -> tuple[Floats, Floats]:
    """Errors whose size grows with the first column."""
    X, y = normal_table(n, 2, noise=0.0)
    return X, y + np.random.default_rng(9).normal(size=n) * (0.2 + X[:, 0] ** 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [True, False])
def test_they_are_the_textbook_matrices(
    kind: str, intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coding, "BLOCK_ROWS", 7)
    X, y = spread_table()
    Z = np.column_stack([np.ones(len(X)), X]) if intercept else X
    found = errors(kind, X, y, fit_intercept=intercept)
    np.testing.assert_allclose(found, robust_standard_errors(Z, y, kind), rtol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_repetitions(kind: str) -> None:
    X, y = spread_table()
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    repeated = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    Z = np.column_stack([np.ones(weight.sum()), repeated[0]])
    expected = robust_standard_errors(Z, repeated[1], kind)
    np.testing.assert_allclose(errors(kind, X, y, weight.astype(float)), expected, rtol=1e-11)
    np.testing.assert_allclose(errors(kind, *repeated), expected, rtol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_offsets_do_not_matter(kind: str) -> None:
    X, y = spread_table()
    moved, plain = errors(kind, X + 1e8, y), errors(kind, X, y)
    # Cells of 1e8 carry rounding errors of 1e-8.
    np.testing.assert_allclose(moved[1:], plain[1:], rtol=1e-6)


def test_categorical_columns_and_several_targets() -> None:
    X, y = spread_table()
    frame = pd.DataFrame({"x": X[:, 0], "color": np.where(X[:, 1] > 0, "red", "blue")})
    Z = np.column_stack([np.ones(len(X)), X[:, 0], X[:, 1] > 0])
    Y = np.column_stack([y, np.cos(y)])
    found = LinearRegression().fit(frame, Y).inference(frame, Y, covariance="HC3")
    assert found.covariance == "HC3"
    assert "HC3 covariance" in repr(found)
    for t in range(2):
        expected = robust_standard_errors(Z, Y[:, t], "HC3")
        np.testing.assert_allclose(found.standard_errors[t], expected, rtol=1e-11)


def test_a_row_of_leverage_one_adds_nothing() -> None:
    X, y = spread_table()
    Z = np.column_stack([X, np.eye(len(X))[:, 0]])
    found, rest = errors("HC3", Z, y), errors("HC3", X[1:], y[1:])
    # The row is fitted exactly; all other coefficients are those of the rows without it.
    np.testing.assert_allclose(found[:3], rest, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_determined_has_no_error(kind: str) -> None:
    X, y = spread_table()
    found = errors(kind, np.column_stack([X, X[:, 0]]), y)
    assert np.isnan(found).tolist() == [False, True, False, True]
    assert found[2] == pytest.approx(errors(kind, X, y)[2], rel=1e-9)


def test_they_see_what_the_classical_errors_do_not() -> None:
    """Recovery: spread over 2000 samples of the estimate, against the average HC3 error."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(60, 1))
    Y = rng.normal(size=(60, 2000)) * (0.2 + X**2)
    model = LinearRegression().fit(X, Y)
    truth = model.coef_.std()
    robust_mean = model.inference(X, Y, covariance="HC3").standard_errors[:, 1].mean()
    classical_mean = model.inference().standard_errors[:, 1].mean()
    assert robust_mean == pytest.approx(truth, rel=0.15)
    assert classical_mean < 0.75 * truth


def test_the_rows_must_be_given_and_be_those_of_the_fit() -> None:
    X, y = spread_table()
    model = LinearRegression().fit(X, y)
    with pytest.raises(InputError, match=r"needs the rows again: pass inference\(X, y"):
        model.inference(covariance="HC0")
    with pytest.raises(InputError, match=r"total weight 40; these, of weight 39, are"):
        model.inference(X[1:], y[1:], covariance="HC0")
    with pytest.raises(InputError, match="these, of weight 80, are other rows"):
        model.inference(X, y, np.full(40, 2.0), covariance="HC0")
    with pytest.raises(InputError, match="these, of weight 40, are other rows"):
        model.inference(X[::-1], y, covariance="HC0")
    with pytest.raises(ValueError, match=r"columns|features"):
        model.inference(X[:, :1], y, covariance="HC0")
    assert model.n_features_in_ == 2
