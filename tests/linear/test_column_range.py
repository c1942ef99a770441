"""Columns beyond the range of squares: refused by name in every fit that needs squares."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from novum.core.errors import InputError
from novum.linear import (
    GammaRegressor,
    GeneralizedLinearModel,
    Lasso,
    LassoCV,
    LinearRegression,
    PoissonRegressor,
    RidgeCV,
    TweedieRegressor,
)
from novum.linear.column_range import check_range
from novum.linear.descent.regression import GradientDescent, StochasticGradientDescent
from novum.linear.logistic.regression import LogisticRegression
from novum.linear.ordinal.regression import OrdinalRegression
from novum.numerics import LogisticLoss


def test_what_is_in_range() -> None:
    check_range(
        np.array([1e100, 0.0, -1.0]), np.array([1e-100, 1e119, 0.0]), lambda: ["a", "b", "c"]
    )


@pytest.mark.parametrize(
    ("center", "spread"), [(1e121, 1.0), (-1e121, 0.0), (0.0, 1e-121), (0.0, np.inf), (np.nan, 1.0)]
)
def test_what_is_not(center: float, spread: float) -> None:
    with pytest.raises(
        InputError, match=r"Column 'b' has a size of .* Rescale it by a power of ten"
    ):
        check_range(np.array([0.0, center]), np.array([1.0, spread]), lambda: ["a", "b"])


@pytest.mark.parametrize("scale", [1e200, 1e-200])
@pytest.mark.parametrize("model", [LogisticRegression(), OrdinalRegression()])
@pytest.mark.parametrize("way", ["frame", "sparse", "stream"])
def test_fits_name_the_column(model: Any, scale: float, way: str) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2)) * [1.0, scale]
    y = np.arange(30) % 2
    fits = {
        "frame": partial(model.fit, pd.DataFrame(X, columns=["length", "mass"]), y),
        "sparse": partial(model.fit, sparse.csr_matrix(X), y),
        "stream": partial(model.fit_stream, [(X[:15], y[:15]), (X[15:], y[15:])]),
    }
    name = "mass" if way == "frame" else "x1"
    with pytest.raises(InputError, match=rf"Column '{name}' has a size of .* power of ten"):
        fits[way]()


@pytest.mark.parametrize("scale", [1e200, 1e-200])
@pytest.mark.parametrize("method", [GradientDescent(), StochasticGradientDescent()])
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix])
def test_descents_refuse_them_too(method: Any, scale: float, wrap: Any) -> None:
    X = np.array([[1.0, scale], [2.0, -scale]])
    with pytest.raises(InputError, match=r"Column 'x1' has a size of .* power of ten"):
        method.minimize(LogisticLoss(), wrap(X), [-1.0, 1.0])


IN_ANY_UNIT = [
    LinearRegression(solver="lsqr"),
    LinearRegression(solver="gradient"),
    RidgeCV(),
    Lasso(0.1),
    LassoCV(alphas=5),
    GeneralizedLinearModel("gaussian"),
    PoissonRegressor(alpha=0.0),
    GammaRegressor(alpha=0.1),
    TweedieRegressor(power=1.3, alpha=0.0),
    TweedieRegressor(power=3, alpha=0.0),
]


@pytest.mark.parametrize("model", IN_ANY_UNIT, ids=str)
def test_targets_in_any_unit_or_refused(model: Any) -> None:
    """Predictions are proportional to the targets until a power of them is no number."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(25, 2))
    y = np.exp(0.4 * X[:, 0] + 0.3 * rng.normal(size=25))
    plain, largest = model.fit(X, y).predict(X), 2.0 / getattr(model, "power", 2.0)
    for exponent in (-440, -210, 95, 430):
        unit = 2.0 ** (exponent * min(1.0, largest))
        scaled = Lasso(0.1 * unit) if isinstance(model, Lasso) else model
        np.testing.assert_allclose(scaled.fit(X, unit * y).predict(X) / unit, plain, rtol=1e-6)
    with pytest.raises(InputError, match=r"leaves? the range of double"):
        model.fit(X, 1e280 * y)


@pytest.mark.parametrize("model", [RidgeCV(), Lasso(), LassoCV(), GammaRegressor()])
def test_targets_whose_squares_vanish_are_refused(model: Any) -> None:
    with pytest.raises(InputError, match=r"no value larger than 3e-180 in size, whose square"):
        model.fit(np.eye(6), 1e-180 * np.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0]))


def test_leaving_rows_out_refuses_columns_without_squares() -> None:
    X = np.random.default_rng(0).normal(size=(9, 2))
    with pytest.raises(InputError, match="Column 'x1' has a size of"):
        RidgeCV().fit(X * [1.0, 1e250], X[:, 0])
    assert RidgeCV().fit(X * [1.0, 1e-250], X[:, 0]).coef_[0] > 0.5
