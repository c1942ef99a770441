"""Boosting on codes: the trees that fits of the same weights find, and estimators made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.core.runtime import seed_sequence, stream
from novum.core.tables import Schema
from novum.ensemble.adaboost import AdaBoostClassifier
from novum.ensemble.adaboost_learners import (
    CodedTrees,
    DrawnTrees,
    TreeLearning,
    fitted_tree,
    grows_on_codes,
)
from novum.ensemble.adaboost_regressor import AdaBoostRegressor
from novum.numerics import Floats, Integers
from novum.trees.classifier import DecisionTreeClassifier
from novum.trees.regressor import DecisionTreeRegressor
from novum.trees.training import CellRows
from tests.strategies.tree_tables import assert_same_tree


def table(n: int = 120) -> tuple[Floats, Integers, Floats]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    score = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) ** 2
    return X, np.digitize(score, [0.5, 1.5]), score + 0.1 * rng.normal(size=n)


def class_rows() -> CellRows:
    X, y, _ = table()
    return CellRows(Schema.of_array(4), X, y[:, None], np.ones(len(y)), (np.arange(3),))


# --- Trees ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {"max_depth": 3},
        {"max_depth": 2, "criterion": "entropy"},
        {"max_leaf_nodes": 5},
        {"min_samples_leaf": 6},
        {"missing": "direction", "max_depth": 3},
    ],
    ids=str,
)
def test_a_tree_of_a_round_is_that_of_a_fit(params: dict[str, Any]) -> None:
    X, y, _ = table()
    weight = np.random.default_rng(1).integers(1, 5, len(y)).astype(float)
    base = DecisionTreeClassifier(**params)
    grown = CodedTrees(base, class_rows()).grow(weight, stream(0, "any"))
    assert_same_tree(grown, base.fit(X, y, weight).tree_)


def test_a_tree_of_drawn_rows_is_that_of_the_rows_repeated() -> None:
    X, _, y = table()
    drawn = np.sort(np.random.default_rng(2).integers(0, len(y), len(y)))
    rows = CellRows(Schema.of_array(4), X, y[:, None], np.ones(len(y)), None)
    trees = DrawnTrees(DecisionTreeRegressor(max_depth=3), rows, seed_sequence(0))
    tree = trees.taught(drawn, 0)
    fitted = DecisionTreeRegressor(max_depth=3).fit(X[drawn], y[drawn])
    # How many rows reach a node differs: repeated rows are one row of the same weight.
    for name in ("column", "threshold", "value", "weight", "share", "gain"):
        np.testing.assert_allclose(
            getattr(tree, name), getattr(fitted.tree_, name), rtol=1e-9, atol=1e-9, err_msg=name
        )
    np.testing.assert_allclose(trees.asked(tree), fitted.predict(X), rtol=1e-9, atol=1e-9)


def test_rounds_are_those_of_fitted_trees() -> None:
    X, y, _ = table()
    codes = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=6).fit(X, y)
    # A rule that cuts nothing keeps the trees off the codes.
    base = DecisionTreeClassifier(max_depth=2, ccp_alpha=1e-300)
    assert not grows_on_codes(base)
    fits = AdaBoostClassifier(base, n_estimators=6).fit(X, y)
    np.testing.assert_allclose(codes.estimator_errors_, fits.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(codes.predict_proba(X), fits.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(codes.feature_importances_, fits.feature_importances_, rtol=1e-9)


def test_deeper_trees_need_fewer_rounds() -> None:
    X, y, _ = table()
    shallow = AdaBoostClassifier(n_estimators=10).fit(X, y)
    deep = AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=10).fit(X, y)
    assert deep.certificate_.value < shallow.certificate_.value


def test_held_out_rows_are_scored_without_being_taught() -> None:
    rows = class_rows()
    others = np.arange(0, 120, 3)
    kept = np.setdiff1d(np.arange(120), others)
    base = DecisionTreeClassifier(max_depth=2)
    weak = TreeLearning(base, rows, kept, others, seed_sequence(0))
    weak.learn()
    weak.keep(1.0)
    alone = base.fit(rows.cells[kept], rows.targets[kept, 0])
    expected = (alone.predict(rows.cells[others]) == rows.targets[others, 0]).mean()
    assert weak.score() == pytest.approx(expected)


# --- Estimators -----------------------------------------------------------------------------------


def test_estimators_made_of_trees_predict_and_explain() -> None:
    X, y, z = table()
    frame = pd.DataFrame(X, columns=list("abcd"))
    labels = np.array(["low", "middle", "high"])[y]
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3)
    first = model.fit(frame, labels).estimators_[0]
    alone = DecisionTreeClassifier(max_depth=2).fit(frame, labels)
    np.testing.assert_array_equal(first.predict(frame), alone.predict(frame))
    assert first.text() == alone.text()
    assert first.feature_names_in_.tolist() == list("abcd")
    numbers = AdaBoostRegressor(n_estimators=3, random_state=0).fit(frame, z)
    tree = numbers.estimators_[0]
    assert isinstance(tree, DecisionTreeRegressor)
    np.testing.assert_allclose(next(numbers.staged_predict(frame)), tree.predict(frame))


def test_a_stump_becomes_a_tree_of_its_base() -> None:
    X, y, _ = table()
    base = DecisionTreeClassifier(max_depth=1, criterion="entropy")
    model = AdaBoostClassifier(base, n_estimators=2).fit(X, y)
    made, fitted = model.estimators_[0], base.fit(X, y)
    assert made.get_params() == fitted.get_params()
    assert set(vars(fitted)) <= set(vars(made))
    np.testing.assert_allclose(made.predict_proba(X), fitted.predict_proba(X), rtol=1e-9)
    assert fitted_tree(base, fitted.tree_, model).get_depth() == 1


@pytest.mark.parametrize(
    ("base", "on_codes"),
    [
        (DecisionTreeClassifier(), True),
        (DecisionTreeRegressor(max_depth=3), True),
        (DecisionTreeClassifier(nominal="multiway"), False),
        (DecisionTreeClassifier(criterion="gain_ratio"), False),
        (DecisionTreeClassifier(ccp_alpha=0.1), False),
        (DecisionTreeClassifier(missing="most_common"), False),
        (DecisionTreeClassifier(class_weight="balanced"), False),
        (DecisionTreeRegressor(criterion="absolute_error"), False),
    ],
    ids=str,
)
def test_which_trees_grow_on_codes(base: Any, on_codes: bool) -> None:
    assert grows_on_codes(base) == on_codes


@pytest.mark.parametrize("params", [{"nominal": "multiway"}, {"criterion": "gain_ratio"}], ids=str)
def test_other_trees_are_fitted_in_each_round(params: dict[str, Any]) -> None:
    X, y, _ = table()
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["e"] = np.random.default_rng(0).choice(["u", "v", "w"], len(y))
    base = DecisionTreeClassifier(max_depth=2, **params)
    model = AdaBoostClassifier(base, n_estimators=4).fit(frame, y)
    assert len(model.estimators_) == 4
    assert model.score(frame, y) > 0.6
