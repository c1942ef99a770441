"""What chains share: order, folds, weights, metadata, files, tables of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import GaussianNB, NaiveBayes
from novum.core.errors import InputError, ModelFileError
from novum.core.files import load, registry, save
from novum.core.learners import Case, ConstantPredictor
from novum.core.learners.contracts import check_name, estimator_checks
from novum.ensemble.chains import ClassifierChain, RegressorChain
from novum.linear import LinearRegression, Ridge

RNG = np.random.default_rng(4)
X = RNG.normal(size=(80, 3))
NUMBERS = np.column_stack((X @ [1.0, 2.0, 0.0], X[:, 0] ** 2, X @ [0.5, 0.0, 1.0]))
NUMBERS += 0.3 * RNG.normal(size=(80, 3))
LABELS = (NUMBERS.mean(axis=0) < NUMBERS).astype(int)
CLASSES = (ClassifierChain, RegressorChain, ConstantPredictor)


@pytest.fixture(autouse=True)
def registered_here() -> Iterator[None]:
    """Model files know these classes, whether the registry lists them already or not."""
    new = {c.__name__: c for c in CLASSES if c.__name__ not in registry.ESTIMATORS}
    with registry.registered(estimators=new):
        yield


def frame() -> pd.DataFrame:
    """A frame with a nominal column and missing cells."""
    table = pd.DataFrame({"size": X[:, 0], "color": np.where(X[:, 1] > 0, "red", "blue")})
    table.loc[::9, "size"] = np.nan
    return table


@parametrize_with_checks(
    [RegressorChain(Ridge()), RegressorChain(LinearRegression(), cv=3)], legacy=True
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize(
    "case",
    [
        Case(RegressorChain(Ridge()), X, NUMBERS),
        Case(RegressorChain(LinearRegression(), cv=4, order="random", random_state=0), X, NUMBERS),
        Case(ClassifierChain(GaussianNB()), X, LABELS),
        Case(ClassifierChain(GaussianNB(), cv=3, chain_method="predict_proba"), X, LABELS),
        Case(ClassifierChain(NaiveBayes(), order=[2, 0, 1]), frame(), LABELS),
    ],
    ids=["ridge", "folds", "labels", "probabilities", "nominal"],
)
def test_contract(case: Case, check: Any) -> None:
    check(case)


def test_each_member_sees_the_targets_before_it() -> None:
    model = RegressorChain(LinearRegression(), order=[2, 0, 1]).fit(X, NUMBERS)
    first = LinearRegression().fit(X, NUMBERS[:, 2])
    second = LinearRegression().fit(np.column_stack((X, NUMBERS[:, 2])), NUMBERS[:, 0])
    third = LinearRegression().fit(np.column_stack((X, NUMBERS[:, [2, 0]])), NUMBERS[:, 1])
    a = first.predict(X)
    b = second.predict(np.column_stack((X, a)))
    c = third.predict(np.column_stack((X, a, b)))
    np.testing.assert_allclose(model.predict(X), np.column_stack((b, c, a)), rtol=1e-10)


def test_with_folds_members_see_what_prediction_will_offer() -> None:
    folds = KFold(4)
    model = RegressorChain(LinearRegression(), cv=folds).fit(X, NUMBERS[:, :2])
    out = np.empty(80)
    for train, test in folds.split(X):
        out[test] = LinearRegression().fit(X[train], NUMBERS[train, 0]).predict(X[test])
    second = LinearRegression().fit(np.column_stack((X, out)), NUMBERS[:, 1])
    np.testing.assert_allclose(model.estimators_[1].coef_, second.coef_, rtol=1e-8)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (None, [0, 1, 2]),
        ([1, 2, 0], [1, 2, 0]),
        ((2, 1, 0), [2, 1, 0]),
        (np.array([0, 2, 1]), [0, 2, 1]),
    ],
)
def test_orders(order: Any, expected: list[int]) -> None:
    assert RegressorChain(Ridge(), order=order).fit(X, NUMBERS).order_.tolist() == expected


def test_a_random_order_is_the_seeds() -> None:
    many = np.tile(NUMBERS, 4)
    orders = [
        RegressorChain(Ridge(), order="random", random_state=s).fit(X, many).order_.tolist()
        for s in (0, 0, 1)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[2]) == list(range(12))


@pytest.mark.parametrize("order", [[0, 1], [0, 0, 1], [[0, 1, 2]]])
def test_impossible_orders_are_refused(order: Any) -> None:
    with pytest.raises(InputError, match="invalid order"):
        RegressorChain(Ridge(), order=order).fit(X, NUMBERS)


def test_seeds_of_members() -> None:
    base = RandomForestRegressor(n_estimators=3)
    a, b = (RegressorChain(base, random_state=0).fit(X, NUMBERS) for _ in range(2))
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    assert len({m.random_state for m in a.estimators_}) == 3


def test_weights_are_repetitions() -> None:
    weight = RNG.integers(0, 3, 80)
    times = np.repeat(np.arange(80), weight)
    for model, y in ((RegressorChain(Ridge()), NUMBERS), (ClassifierChain(GaussianNB()), LABELS)):
        a = clone(model).fit(X, y, sample_weight=weight.astype(float))
        b = clone(model).fit(X[times], y[times])
        np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-8)
    with pytest.raises(InputError, match="does not support sample weights"):
        RegressorChain(KNeighborsRegressor()).fit(X, NUMBERS, np.ones(80))


def test_weights_reach_the_folds() -> None:
    weight = np.where(np.arange(80) < 60, 1.0, 0.0)
    folds = [(np.arange(20, 60), np.arange(20)), (np.arange(20), np.arange(20, 60))]
    a = RegressorChain(Ridge(), cv=folds).fit(X, NUMBERS, sample_weight=weight)
    b = RegressorChain(Ridge(), cv=folds).fit(X[:60], NUMBERS[:60])
    np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-9)


def test_metadata_are_routed() -> None:
    weight = RNG.uniform(0.5, 2, 80)
    plain = RegressorChain(Ridge()).fit(X, NUMBERS, weight).predict(X)
    with config_context(enable_metadata_routing=True):
        asked = Ridge().set_fit_request(sample_weight=True)
        found = RegressorChain(asked).fit(X, NUMBERS, sample_weight=weight).predict(X)
    np.testing.assert_array_equal(found, plain)


def test_names_and_numbers_of_columns_are_those_of_the_table() -> None:
    model = ClassifierChain(NaiveBayes()).fit(frame(), LABELS)
    assert model.feature_names_in_.tolist() == ["size", "color"]
    assert model.n_features_in_ == 2
    assert model.estimators_[2].feature_names_in_.tolist() == [
        "size",
        "color",
        "previous_0",
        "previous_1",
    ]
    with pytest.raises(ValueError, match="feature"):
        RegressorChain(Ridge()).fit(X, NUMBERS).predict(X[:, :2])


def test_rows_of_targets_must_fit() -> None:
    with pytest.raises(InputError, match="X has 80 rows, but y has 3"):
        RegressorChain(Ridge()).fit(X, NUMBERS[:3])
    with pytest.raises(ValueError, match="infinity") as caught:
        RegressorChain(Ridge()).fit(np.full((80, 1), np.inf), NUMBERS)
    assert "target 0" in caught.value.__notes__[0]


def test_files_choose_no_method(tmp_path: Any) -> None:
    model = ClassifierChain(NaiveBayes()).fit(X, LABELS)
    model.chain_method_ = "fit"
    save(model, tmp_path / "chain.novum")
    with pytest.raises(ModelFileError, match="no prediction"):
        load(tmp_path / "chain.novum")


def test_files_refuse_an_order_that_is_none(tmp_path: Any) -> None:
    model = RegressorChain(Ridge()).fit(X, NUMBERS)
    model.order_ = np.array([0, 0, 1])
    save(model, tmp_path / "chain.novum")
    with pytest.raises(ModelFileError, match=r"3 members in the order \[0, 0, 1\]"):
        load(tmp_path / "chain.novum")
