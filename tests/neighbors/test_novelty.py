"""Detectors by neighbors: scikit-learn's factors, definitions, and how often they are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import neighbors as theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core import load, save
from novum.core.errors import InputError
from novum.core.learners.contracts import Case, check_name, estimator_checks
from novum.neighbors import LocalOutlierFactor, NeighborDistance

MODELS = [
    NeighborDistance(),
    NeighborDistance(n_neighbors=3, aggregate="mean"),
    LocalOutlierFactor(n_neighbors=5),
    LocalOutlierFactor(n_neighbors=5, novelty=True),
]


@pytest.mark.filterwarnings("ignore:n_neighbors .* is greater than")
@parametrize_with_checks(MODELS, legacy=True)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("model", [MODELS[0], MODELS[3]], ids=["distance", "factor"])
def test_contracts(model: Any, check: Any) -> None:
    check(Case(model, np.random.default_rng(0).normal(size=(60, 3))))


@pytest.mark.parametrize("contamination", ["auto", 0.1])
def test_factors_are_scikit_learns(contamination: Any) -> None:
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(150, 3)), 2 * rng.normal(size=(40, 3))
    settings = {"n_neighbors": 12, "contamination": contamination}
    ours, other = LocalOutlierFactor(**settings), theirs.LocalOutlierFactor(**settings)
    assert np.array_equal(ours.fit_predict(X), other.fit_predict(X))
    np.testing.assert_allclose(
        ours.negative_outlier_factor_, other.negative_outlier_factor_, rtol=1e-8
    )
    ours = LocalOutlierFactor(novelty=True, **settings).fit(X)
    other = theirs.LocalOutlierFactor(novelty=True, **settings).fit(X)
    np.testing.assert_allclose(ours.score_samples(Z), other.score_samples(Z), rtol=1e-8)
    assert np.array_equal(ours.predict(Z), other.predict(Z))
    assert ours.offset_ == pytest.approx(other.offset_, rel=1e-8)


def test_factors_do_not_depend_on_units() -> None:
    X = np.repeat(np.random.default_rng(2).normal(size=(12, 2)), 4, axis=0)
    factors = LocalOutlierFactor(3).fit(X).negative_outlier_factor_
    np.testing.assert_allclose(LocalOutlierFactor(3).fit(1e6 * X).negative_outlier_factor_, factors)
    same = LocalOutlierFactor(3).fit(np.ones((9, 2)))
    assert np.allclose(same.negative_outlier_factor_, -1.0)


def test_distances_by_definition_and_the_offset() -> None:
    rng = np.random.default_rng(3)
    X, Z = rng.normal(size=(100, 2)), rng.normal(size=(20, 2))
    D = np.sort(np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)), axis=1)[:, 1:]
    new = np.sort(np.sqrt(((Z[:, None] - X) ** 2).sum(axis=2)), axis=1)
    for aggregate, of in (
        ("largest", lambda d: d[:, 3]),
        ("mean", lambda d: d[:, :4].mean(axis=1)),
    ):
        model = NeighborDistance(n_neighbors=4, aggregate=aggregate, false_alarms=0.1).fit(X)
        np.testing.assert_allclose(model.training_scores_, -of(D))
        np.testing.assert_allclose(model.score_samples(Z), -of(new))
        assert model.false_alarm_rate_ == pytest.approx(0.1)
        low, high = model.false_alarm_interval_
        assert low < 0.1 < high
        assert np.array_equal(model.predict(Z), np.where(-of(new) >= model.offset_, 1, -1))


@pytest.mark.parametrize(
    "model", [NeighborDistance(), LocalOutlierFactor(10, contamination=0.05, novelty=True)]
)
def test_the_interval_holds_the_rate_of_false_alarms(model: Any) -> None:
    rng = np.random.default_rng(4)
    held = []
    for _ in range(60):
        X, new = rng.normal(size=(2, 200, 2))
        more = rng.normal(size=(2000, 2))
        low, high = model.fit(X).false_alarm_interval_
        held.append(low <= (model.predict(np.vstack([new, more])) == -1).mean() <= high)
    # 95 % promised; of 60 tries fewer than 50 would happen once in 10,000 times.
    assert sum(held) >= 50


def test_tables_as_they_are_and_files(tmp_path: Any) -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.normal(size=80), "b": rng.choice(["x", "y"], 80)})
    frame.loc[3, "a"] = None
    for model in (NeighborDistance(), LocalOutlierFactor(5, novelty=True)):
        model.fit(frame)
        odd = pd.DataFrame({"a": [0.0, 90.0], "b": ["x", "y"]})
        assert model.predict(odd).tolist() == [1, -1]
        save(model, tmp_path / "m.novum")
        again = load(tmp_path / "m.novum")
        assert np.array_equal(again.score_samples(odd), model.score_samples(odd))
        assert again.false_alarm_interval_ == model.false_alarm_interval_


def test_rows_without_near_neighbors_are_unlike_all_others() -> None:
    rng = np.random.default_rng(6)
    X = np.c_[rng.normal(size=40), np.full(40, np.nan)]
    X[7] = [np.nan, 1.0]
    for model in (LocalOutlierFactor(5, metric="nan_euclidean"), NeighborDistance(5)):
        model.set_params(metric="nan_euclidean").fit(X)
        assert np.isneginf(model.training_scores_).tolist() == [i == 7 for i in range(40)]
    X[30:] = X[30:, ::-1]
    for model in (LocalOutlierFactor(12, contamination=0.2), NeighborDistance(12)):
        with pytest.raises(InputError, match="11 of 40 rows are infinitely far from one of their"):
            model.set_params(metric="nan_euclidean").fit(X)
    X[30:] = X[30:, ::-1]
    others = np.delete(X, 7, axis=0)
    factors = LocalOutlierFactor(5, metric="nan_euclidean").fit(X).negative_outlier_factor_
    alone = LocalOutlierFactor(5, metric="nan_euclidean").fit(others).negative_outlier_factor_
    np.testing.assert_allclose(np.delete(factors, 7), alone)


def test_what_is_wrong_is_said() -> None:
    for model in (NeighborDistance(2), LocalOutlierFactor(2, novelty=True)):
        with pytest.raises(InputError, match=r"as large as 1e.180, whose squares leave"):
            model.fit([[0.0], [1.0], [3.0], [1e180]])
        with pytest.raises(InputError, match=r"as large as 1e.180, whose squares leave"):
            model.fit([[0.0], [1.0], [3.0], [4.0]]).score_samples([[1e180]])
    with pytest.raises(InputError, match="needs at least 2 rows"):
        NeighborDistance().fit([[1.0]])
    with pytest.warns(UserWarning, match="greater than the number of other rows"):
        LocalOutlierFactor().fit([[1.0], [2.0], [4.0]])
    with pytest.raises(AttributeError) as told:
        LocalOutlierFactor().predict([[1.0]])
    assert "Use fit_predict" in str(told.value.__cause__)
    with pytest.raises(AttributeError) as told:
        LocalOutlierFactor(novelty=True).fit_predict([[1.0]])
    assert "Use predict" in str(told.value.__cause__)
