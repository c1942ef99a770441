"""Levels with an order: the median is the decision of least expected distance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

from novum.bayes import GaussianNB
from novum.core import OrderedClassifier, WorkingPoint, load, save
from novum.core.decisions import median_levels
from novum.core.errors import InputError
from novum.evaluation import GridSearchCV, cross_validate
from novum.linear import LogisticRegression

LEVELS = ("low", "mid", "high")


def rows(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 3, n)
    return (places + rng.normal(size=n))[:, np.newaxis], np.array(LEVELS)[places]


def test_the_median_minimizes_the_expected_distance() -> None:
    rng = np.random.default_rng(0)
    for n_levels in (2, 3, 7):
        p = rng.dirichlet(np.full(n_levels, 0.5), 200)
        distance = np.abs(np.subtract.outer(np.arange(n_levels), np.arange(n_levels)))
        enumerated = (p @ distance).argmin(axis=1)
        assert median_levels(p).tolist() == enumerated.tolist()


def test_of_two_medians_the_lower_one_is_taken() -> None:
    assert median_levels([[0.5, 0.5], [0.1 + 0.2 + 0.2, 0.5]]).tolist() == [0, 0]
    # Ten tenths do not add up to one half after five of them, but for rounding.
    assert median_levels(np.full((1, 10), 0.1)).tolist() == [4]


def test_columns_and_classes_are_in_the_order_of_the_levels() -> None:
    X, y = rows()
    plain = LogisticRegression().fit(X, y)
    model = OrderedClassifier(LogisticRegression(), LEVELS).fit(X, y)
    assert model.classes_.tolist() == list(LEVELS)
    order = [list(plain.classes_).index(label) for label in LEVELS]
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X)[:, order])
    assert np.array_equal(model.class_prior_, plain.class_prior_[order])
    decided = np.array(LEVELS)[median_levels(plain.predict_proba(X)[:, order])]
    assert model.predict(X).tolist() == decided.tolist()
    assert model.score(X, y) == np.mean(decided == y)
    assert is_classifier(model)
    # Fitted attributes are those of the model inside.
    assert model.coef_.shape == plain.coef_.shape


def test_a_level_without_rows_is_no_class() -> None:
    X, y = rows()
    kept = y != "mid"
    model = OrderedClassifier(GaussianNB(), LEVELS).fit(X[kept], y[kept])
    assert model.classes_.tolist() == ["low", "high"]


def test_it_is_searched_validated_and_cloned_like_any_other(tmp_path: Path) -> None:
    X, y = rows()
    model = OrderedClassifier(LogisticRegression(), LEVELS)
    search = GridSearchCV(model, {"model__C": [0.1, 10.0]}, cv=3).fit(X, y)
    assert search.best_estimator_.classes_.tolist() == list(LEVELS)
    assert len(cross_validate(model, X, y, cv=3)["test_score"]) == 3
    assert clone(search.best_estimator_).get_params()["model__C"] in (0.1, 10.0)
    save(search.best_estimator_, tmp_path / "m.novum")
    again = load(tmp_path / "m.novum")
    assert again.predict(X).tolist() == search.best_estimator_.predict(X).tolist()


def test_costs_take_the_place_of_distances() -> None:
    X, y = rows()
    model = OrderedClassifier(LogisticRegression(), LEVELS).fit(X, y)
    point = WorkingPoint(LEVELS, model.class_prior_, [[0, 9, 9], [9, 0, 9], [1, 1, 0]])
    there = model.at(point)
    expected = model.predict_proba(X) @ point.cost
    assert there.predict(X).tolist() == np.array(LEVELS)[expected.argmin(axis=1)].tolist()


def test_misuse_is_told() -> None:
    X, y = rows()
    with pytest.raises(InputError, match="level 'high' occurs, but the levels are 'low', 'mid'"):
        OrderedClassifier(GaussianNB(), ("low", "mid")).fit(X, y)
    with pytest.raises(InputError, match="List each of them once"):
        OrderedClassifier(GaussianNB(), ("low", "low", "mid", "high")).fit(X, y)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        OrderedClassifier(GaussianNB(), LEVELS).predict(X)
    with pytest.raises(AttributeError, match="ask its `model`"):
        _ = OrderedClassifier(GaussianNB(), LEVELS).decision_function
