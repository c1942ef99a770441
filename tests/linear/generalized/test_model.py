"""Generalized linear models: the numbers of statsmodels, scikit-learn's checks, odd input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special
from sklearn.linear_model import GammaRegressor as OtherGamma
from sklearn.linear_model import PoissonRegressor as OtherPoisson
from sklearn.linear_model import TweedieRegressor as OtherTweedie
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError
from novum.core.files import load, save
from novum.core.learners import Case, Check, Verdict
from novum.core.learners.contracts import check_name, estimator_checks
from novum.linear import (
    GammaRegressor,
    GeneralizedLinearModel,
    LinearRegression,
    NegativeBinomial,
    PoissonRegressor,
    Tweedie,
    TweedieRegressor,
)
from tests.oracles import make_generalized_linear

KNOWN = json.loads(
    Path(make_generalized_linear.__file__).with_name("generalized_linear.json").read_text()
)
LAWS: dict[str, tuple[Any, str | None]] = {
    "gaussian": ("gaussian", None),
    "bernoulli": ("bernoulli", None),
    "poisson": ("poisson", None),
    "gamma": ("gamma", "log"),
    "gamma inverse": ("gamma", "inverse"),
    "negative binomial": (NegativeBinomial(0.5), None),
    "tweedie": (Tweedie(1.5), None),
}


@parametrize_with_checks(
    [
        GeneralizedLinearModel(),
        PoissonRegressor(),
        GammaRegressor(),
        TweedieRegressor(power=1.5),
    ],
    legacy=True,
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("law", ["gaussian", "poisson", "gamma"])
def test_contract(law: str, check: Check) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(size=60), "color": rng.choice(["blue", "red"], 60)})
    y = rng.poisson(3.0, 60) + 1.0
    check(Case(GeneralizedLinearModel(law), X, y))


@pytest.mark.parametrize("name", LAWS)
def test_the_numbers_of_statsmodels(name: str) -> None:
    known, (law, link) = KNOWN[name], LAWS[name]
    X, y, offset, weight = (np.array(known[k]) for k in ("X", "y", "offset", "weight"))
    model = GeneralizedLinearModel(law, link=link).fit(X, y, weight, offset=offset)
    assert model.certificate_.converged
    found = model.inference()
    np.testing.assert_allclose(found.estimates, known["params"], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.standard_errors, known["bse"], rtol=1e-8)
    np.testing.assert_allclose(found.p_values, known["p_values"], rtol=1e-8)
    numbers = ("deviance", "null_deviance", "pearson", "scale", "log_likelihood", "aic", "bic")
    for number in numbers:
        if known[number] is not None:
            assert getattr(found, number) == pytest.approx(known[number], rel=1e-8), number
    robust = model.inference(X, y, weight, offset=offset, covariance="HC0")
    np.testing.assert_allclose(robust.standard_errors, known["robust"], rtol=1e-8)
    wider = model.inference(X, y, weight, offset=offset, covariance="HC1")
    factor = np.sqrt(weight.sum() / (weight.sum() - 3))
    np.testing.assert_allclose(wider.standard_errors, robust.standard_errors * factor, rtol=1e-12)
    small = GeneralizedLinearModel(law, link=link).fit(X[:, :1], y, weight, offset=offset)
    test = model.compare(small)
    assert test.degrees_of_freedom == 1
    difference = (known["small_deviance"] - known["deviance"]) / known["scale"]
    assert test.statistic == pytest.approx(difference, rel=1e-8)
    assert test.p_value == pytest.approx(special.chdtrc(1, difference), rel=1e-8)
    assert "AIC" in repr(found)
    assert (np.diff(found.intervals(0.9), axis=1) > 0).all()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (PoissonRegressor(alpha=0.3), OtherPoisson(alpha=0.3)),
        (GammaRegressor(alpha=0.3), OtherGamma(alpha=0.3)),
        (TweedieRegressor(power=1.3, alpha=0.3), OtherTweedie(power=1.3, alpha=0.3)),
        (TweedieRegressor(alpha=0.3), OtherTweedie(alpha=0.3)),
    ],
)
def test_penalties_are_those_of_scikit_learn(ours: Any, theirs: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = rng.poisson(np.exp(0.5 * X[:, 0])) + 0.5
    ours.fit(X, y)
    theirs.set_params(tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-6)
    with pytest.raises(InputError, match="Fit with alpha=0"):
        ours.inference()


def test_gaussian_is_least_squares_and_exposure_is_an_offset() -> None:
    rng = np.random.default_rng(0)
    X, exposure = rng.normal(size=(50, 3)) + 1e6, rng.uniform(0.5, 2, 50)
    y = rng.poisson(exposure * 3.0).astype(float)
    plain = GeneralizedLinearModel().fit(X, y)
    np.testing.assert_allclose(plain.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-8)
    first = GeneralizedLinearModel("poisson").fit(X, y, exposure=exposure)
    second = GeneralizedLinearModel("poisson").fit(X, y, offset=np.log(exposure))
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=1e-12)
    ratio = first.predict(X, exposure=2 * exposure) / first.predict(X, exposure=exposure)
    np.testing.assert_allclose(ratio, 2.0)
    weight = rng.integers(0, 3, 50)
    weighted = GeneralizedLinearModel("poisson").fit(X, y, weight, exposure=exposure)
    rows = np.repeat(np.arange(50), weight)
    repeated = GeneralizedLinearModel("poisson").fit(X[rows], y[rows], exposure=exposure[rows])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8, atol=1e-12)


def test_columns_that_say_nothing_new() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 1))
    y = rng.poisson(np.exp(x[:, 0])).astype(float)
    single = GeneralizedLinearModel("poisson").fit(x, y)
    double = GeneralizedLinearModel("poisson").fit(np.column_stack([x, x, np.ones(40)]), y)
    np.testing.assert_allclose(double.coef_, [single.coef_[0] / 2] * 2 + [0.0], atol=1e-8)
    assert double.summary_.rank == 2


@pytest.mark.parametrize(
    ("law", "y"),
    [
        ("poisson", [0.0] * 6),
        ("poisson", [0.0, 0.0, 0.0, 4.0, 2.0, 3.0]),
        (NegativeBinomial(1.0), [0.0, 0.0, 0.0, 4.0, 2.0, 3.0]),
        ("bernoulli", [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]),
        ("bernoulli", [1.0] * 6),
    ],
)
def test_no_optimum_is_told(law: Any, y: list[float]) -> None:
    X = np.repeat([[0.0], [1.0]], 3, axis=0)
    with pytest.warns(UserWarning, match="no minimum"):
        model = GeneralizedLinearModel(law).fit(X, y)
    assert model.certificate_.verdict is Verdict.UNBOUNDED
    assert (
        GeneralizedLinearModel(law, alpha=0.1, fit_intercept=False).fit(X, y).certificate_.converged
    )


def test_one_row_and_constant_targets() -> None:
    assert GeneralizedLinearModel("gamma").fit([[1.0]], [2.0]).predict([[1.0]]) == pytest.approx(2)
    for law in ("gaussian", "poisson", "gamma"):
        model = GeneralizedLinearModel(law).fit([[0.0], [1.0], [3.0]], [2.0, 2.0, 2.0])
        np.testing.assert_allclose(model.coef_, 0.0, atol=1e-12)
        assert model.certificate_.converged


@pytest.mark.parametrize(
    ("law", "y", "options", "message"),
    [
        ("poisson", [1.0, -1.0], {}, "poisson law: -1 at row 1"),
        ("gamma", [1.0, 0.0], {}, "gamma law: 0 at row 1"),
        ("bernoulli", [1.0, 2.0], {}, "bernoulli law: 2 at row 1"),
        ("poisson", [1.0, 2.0], {"exposure": [1.0, 0.0]}, "exposure must be .* 0 at row 1"),
        ("gaussian", [1.0, 2.0], {"exposure": [1.0, 1.0]}, "exposure is for the log link"),
        ("poisson", [1.0, 2.0], {"offset": [1.0]}, "offset has 1 values for 2 rows"),
        ("poisson", [[1.0, 2.0], [1.0, 2.0]], {}, "Fit one model for each"),
    ],
)
def test_messages(law: str, y: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        GeneralizedLinearModel(law).fit([[0.0], [1.0]], y, **options)


def test_values_that_are_no_laws() -> None:
    with pytest.raises(InputError, match="above 0"):
        NegativeBinomial(0.0)
    with pytest.raises(InputError, match="0 or at least 1"):
        Tweedie(0.5)


def test_only_nested_models_are_compared() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "c"])
    y = rng.poisson(3.0, 30).astype(float)
    model = GeneralizedLinearModel("poisson").fit(X[["a", "b"]], y)
    with pytest.raises(InputError, match=r"'c'.*not nested"):
        model.compare(GeneralizedLinearModel("poisson").fit(X[["c"]], y))
    with pytest.raises(InputError, match="law or link"):
        model.compare(GeneralizedLinearModel().fit(X[["a"]], y))
    with pytest.raises(InputError, match="same rows"):
        model.compare(GeneralizedLinearModel("poisson").fit(X[["a"]][:20], y[:20]))
    with pytest.raises(InputError, match="nothing to test"):
        model.compare(model)


def test_files(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.poisson(3.0, 30).astype(float)
    model = GeneralizedLinearModel(NegativeBinomial(0.5)).fit(X, y)
    save(model, tmp_path / "model.novum")
    again = load(tmp_path / "model.novum")
    assert (again.predict(X) == model.predict(X)).all()
    assert again.inference().aic == model.inference().aic


def test_many_rows_reach_the_optimum_from_a_part_of_them() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(45_000, 4)) + 50.0
    y = rng.poisson(np.exp((X - 50.0) @ [0.5, -0.3, 0.2, 0.0] + 0.3)).astype(float)
    weight = rng.integers(0, 3, len(y)).astype(float)
    model = GeneralizedLinearModel("poisson", tol=1e-9).fit(X, y, weight)
    residual = weight * (y - model.predict(X))
    # The score equations: of the intercept, and of columns in their standard deviations.
    scores = np.append(residual.sum(), residual @ (X - X.mean(axis=0)))
    assert np.abs(scores).max() < 1e-7 * weight.sum()
