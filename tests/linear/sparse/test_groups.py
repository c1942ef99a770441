"""Groups of coefficients: a nominal column enters or leaves as a whole; gap and conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize as other_minimize

from novum.core.errors import InputError
from novum.core.files import load, save
from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.linear import (
    L1,
    L2,
    AdaptiveL1,
    ElasticNet,
    ElasticNetPenalty,
    Groups,
    Lasso,
    LogisticRegression,
    PenalizedRegression,
    Ridge,
)
from novum.numerics import Floats
from tests.linear.sparse.test_models import mixed_table


def levels_table(n: int = 200) -> tuple[pd.DataFrame, Floats]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=n),
            "weight": rng.normal(size=n),
            "city": rng.choice(list("abcdef"), n, p=[0.3, 0.3, 0.2, 0.1, 0.05, 0.05]),
            "color": rng.choice(["blue", "green", "red"], n),
            "noise": rng.choice(list("uvwxyz"), n),
        }
    )
    effect = frame["city"].map(dict(zip("abcdef", [0, 1, -1, 2, 0.5, -2], strict=True)))
    return frame, (effect + frame["age"] + 0.5 * rng.normal(size=n)).to_numpy(float)


@pytest.mark.parametrize("strength", [0.03, 0.1, 0.3])
def test_columns_enter_or_leave_as_a_whole(strength: float) -> None:
    X, y = levels_table()
    model = PenalizedRegression(Groups(strength), tol=1e-9).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-9
    by_column: dict[str, list[bool]] = {}
    for name, b in zip(model.coef_names_, model.coef_, strict=True):
        by_column.setdefault(name.split("=")[0], []).append(bool(b))
    assert all(len(set(active)) == 1 for active in by_column.values())
    if strength == 0.1:
        assert all(by_column["city"])
        assert not any(by_column["noise"])


def test_it_is_the_minimum() -> None:
    """Another minimizer, on a smooth majorant of the corner, comes no lower."""
    X, y = levels_table(80)
    model = PenalizedRegression(Groups(0.05), tol=1e-10).fit(X, y)
    penalty = Groups(0.05).of(model.schema_)
    Z = pd.get_dummies(X, drop_first=True, dtype=float).to_numpy()
    assert Z.shape[1] == len(model.coef_)

    def value(parameters: Floats) -> float:
        b0, b = parameters[0], parameters[1:]
        return 0.5 * float(np.mean((y - b0 - Z @ b) ** 2)) + penalty.value(b)

    ours = np.concatenate([[model.intercept_], model.coef_])
    assert value(ours) == pytest.approx(model.certificate_.primal, rel=1e-10)
    found = other_minimize(value, ours + 0.01, method="Powell", options={"maxiter": 20})
    assert value(ours) <= found.fun * (1 + 1e-9)


def test_groups_of_one_are_the_lasso() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6))
    y = X @ [1.0, -1.0, 0, 0, 0.5, 0] + 0.1 * rng.normal(size=50)
    grouped = PenalizedRegression(Groups(0.2), tol=1e-12).fit(X, y)
    np.testing.assert_allclose(grouped.coef_, Lasso(0.2, tol=1e-12).fit(X, y).coef_, atol=1e-6)
    logistic = LogisticRegression(Groups(2.0), tol=1e-10).fit(X, y > 0)
    single = LogisticRegression(L1(2.0), tol=1e-10).fit(X, y > 0)
    np.testing.assert_allclose(logistic.coef_, single.coef_, atol=1e-4)


def test_named_groups_and_logistic_groups() -> None:
    X, y = levels_table()
    both = Groups(0.05, (("age", "weight"),))
    model = PenalizedRegression(both).fit(X, y)
    assert model.coef_[:2].all()
    classifier = LogisticRegression(Groups(4.0), tol=1e-8).fit(X, y > 0)
    assert classifier.certificate_.relative_gap <= 1e-8
    active = zip(classifier.coef_names_, classifier.coef_[0], strict=True)
    names = [name.split("=")[0] for name, b in active if b]
    assert names.count("city") == 5
    assert "noise" not in names
    with pytest.raises(InputError, match="'size' is no column"):
        PenalizedRegression(Groups(1.0, (("size",),))).fit(X, y)
    with pytest.raises(InputError, match="in two groups"):
        PenalizedRegression(Groups(1.0, (("age",), ("age",)))).fit(X, y)
    with pytest.raises(InputError, match="positive"):
        PenalizedRegression(Groups(1.0), positive=True).fit(X, y)


def test_the_other_values() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = X @ [2.0, -1.0, 0.1, 0, 0] + 0.3 * rng.normal(size=60)
    pairs: list[tuple[Any, Any]] = [
        (L1(0.1), Lasso(0.1)),
        (ElasticNetPenalty(0.1, 0.7), ElasticNet(0.1, l1_ratio=0.7)),
        (L2(0.1), Ridge(0.1 * 60)),
    ]
    for value, model in pairs:
        coef = PenalizedRegression(value, tol=1e-12).fit(X, y).coef_
        if isinstance(model, (Lasso, ElasticNet)):
            model.set_params(tol=1e-12)
        np.testing.assert_allclose(coef, model.fit(X, y).coef_, rtol=1e-8, atol=1e-10)
    adaptive = PenalizedRegression(AdaptiveL1(0.1)).fit(X, y)
    assert np.flatnonzero(adaptive.coef_).tolist() == [0, 1]
    weights = (
        0.1
        * np.abs(Ridge(1e-3 * 60).fit(X, y).coef_).max()
        / np.abs(Ridge(1e-3 * 60).fit(X, y).coef_)
    )
    # The adaptive lasso is the lasso on columns divided by their weights.
    scaled = Lasso(1.0, tol=1e-12).fit(X / weights, y).coef_ / weights
    np.testing.assert_allclose(
        PenalizedRegression(AdaptiveL1(0.1), tol=1e-12).fit(X, y).coef_, scaled, atol=1e-6
    )
    several = PenalizedRegression(Groups(0.1)).fit(X, np.column_stack([y, 2 * y + 1]))
    assert several.coef_.shape == (2, 5)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("penalty", [Groups(0.05), AdaptiveL1(0.05)], ids=repr)
def test_contract(penalty: Any, check: Check) -> None:
    check(Case(PenalizedRegression(penalty, tol=1e-10), *mixed_table()))


def test_files(tmp_path: Any) -> None:
    X, y = levels_table()
    model = PenalizedRegression(Groups(0.1)).fit(X, y)
    save(model, tmp_path / "model.novum")
    assert (load(tmp_path / "model.novum").predict(X) == model.predict(X)).all()


def test_without_a_penalty_it_is_a_hundredth_of_what_leaves_no_column() -> None:
    rng = np.random.default_rng(8)
    X, noise = rng.normal(size=(60, 4)), 0.1 * rng.normal(size=60)
    y = X @ [3.0, 0.0, -1.0, 0.0] + noise
    strength = 0.01 * np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / 60
    wanted = PenalizedRegression(L1(strength), tol=1e-12).fit(X, y).coef_
    for unit in (1.0, 1e-60, 1e6):
        coef = PenalizedRegression(tol=1e-12).fit(X, unit * y).coef_
        np.testing.assert_allclose(coef / unit, wanted, rtol=1e-9)
    assert not PenalizedRegression().fit(X, np.ones(60)).coef_.any()
