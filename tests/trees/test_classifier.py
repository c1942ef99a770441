"""Classification trees: scikit-learn's trees and numbers, weights, several targets, nasty input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import tree as other
from sklearn.base import clone

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.trees.classifier import DecisionTreeClassifier
from novum.trees.tree import Question
from tests.trees.mixed_tables import assert_nodes_of, mixed_table, numeric_table

# In smaller nodes several columns part the rows equally well.
LARGE = {"min_samples_leaf": 10}


def few_values(n: int = 400, n_classes: int = 3) -> tuple[Any, Any]:
    """As `numeric_table` with some forty distinct values in each column."""
    X, y = numeric_table(n, seed=5, n_classes=n_classes)
    return np.round(X * 8) / 8, y


def assert_same(ours: Any, theirs: Any, X: Any, *, alike: bool = True) -> None:
    """The same partition of the rows, probabilities, importances and sizes."""
    if not assert_nodes_of(ours, theirs, least=3):
        return
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert ours.get_depth() == theirs.get_depth()
    pairs = set(zip(ours.apply(X).tolist(), theirs.apply(X).tolist(), strict=True))
    assert len(pairs) == theirs.get_n_leaves()
    found, expected = ours.predict_proba(X), theirs.predict_proba(X)
    for a, b in zip(*([p] if alike else p for p in (found, expected)), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(
        ours.feature_importances_, theirs.feature_importances_, rtol=1e-6, atol=1e-9
    )
    path, expected = ours.decision_path(X), theirs.decision_path(X)
    assert path.shape == expected.shape
    np.testing.assert_array_equal(path.sum(axis=1), expected.sum(axis=1))


# --- scikit-learn's trees -------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("table", ["continuous", "few values"])
@pytest.mark.parametrize(
    "parameters",
    [
        LARGE,
        {**LARGE, "criterion": "entropy"},
        {**LARGE, "criterion": "log_loss"},
        {**LARGE, "max_depth": 3},
        {**LARGE, "max_leaf_nodes": 6},
        {**LARGE, "min_samples_split": 60},
        {"min_samples_split": 0.25, "min_samples_leaf": 0.04},
        {"min_weight_fraction_leaf": 0.06},
        {**LARGE, "min_impurity_decrease": 0.01},
        {**LARGE, "ccp_alpha": 0.008},
        {**LARGE, "class_weight": "balanced"},
        {**LARGE, "class_weight": {0: 3.0, 1: 0.5}},
    ],
    ids=str,
)
def test_the_same_tree(parameters: dict[str, Any], table: str, n_classes: int) -> None:
    X, y = few_values(n_classes=n_classes)
    bins: dict[str, Any] = {}
    if table == "continuous":
        X, y = numeric_table(400, seed=6, n_classes=n_classes)
        bins = {"max_bins": None}
    if parameters.get("class_weight") and n_classes == 2:
        y = np.where(y == 1, 1, 0)
    theirs = other.DecisionTreeClassifier(random_state=0, **parameters).fit(X, y)
    limits = dict(parameters)
    if "class_weight" in limits:
        # Limits count weight here and rows there.
        limits = {"class_weight": limits["class_weight"], "max_depth": 3}
        theirs = other.DecisionTreeClassifier(random_state=0, **limits).fit(X, y)
    ours = DecisionTreeClassifier(**limits, **bins).fit(X, y)
    assert ours.get_n_leaves() > 3
    assert_same(ours, theirs, X)


@pytest.mark.parametrize("sign", [-1, 1])
def test_monotone_columns_as_there(sign: int) -> None:
    X, y = numeric_table(400, seed=7, n_classes=2)
    parameters: dict[str, Any] = {"monotonic_cst": [sign, 0, 0, 0], "min_samples_leaf": 20}
    ours = DecisionTreeClassifier(max_bins=None, **parameters).fit(X, y)
    theirs = other.DecisionTreeClassifier(random_state=0, **parameters).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    rows = np.repeat(X[:10], 30, axis=0)
    rows[:, 0] = np.tile(np.linspace(-3, 3, 30), 10)
    along = ours.predict_proba(rows)[:, 1].reshape(10, 30)
    assert (np.diff(along, axis=1) * sign >= -1e-12).all()


def test_the_pruning_path_merges_equal_prices() -> None:
    X, y = few_values()
    ours = DecisionTreeClassifier(**LARGE).cost_complexity_pruning_path(X, y)
    theirs = other.DecisionTreeClassifier(random_state=0, **LARGE).cost_complexity_pruning_path(
        X, y
    )
    assert (np.diff(ours.ccp_alphas) > 0).all()
    assert (np.diff(ours.impurities) >= 0).all()
    for alpha, impurity in zip(ours.ccp_alphas, ours.impurities, strict=True):
        same = np.flatnonzero(np.isclose(theirs.ccp_alphas, alpha, rtol=1e-6, atol=1e-12))
        assert same.size
        # Theirs lists one cut after the other; the last of equal price is our step.
        assert theirs.impurities[same[-1]] == pytest.approx(impurity)


def test_several_targets_as_there() -> None:
    X, y = few_values()
    targets = np.column_stack([y, (X[:, 1] + 0.3 * X[:, 3] > 0).astype(int)])
    weights = [{0: 1.0, 1: 2.0, 2: 1.0}, {0: 1.0, 1: 3.0}]
    for class_weight in (None, "balanced", weights):
        more: dict[str, Any] = {"class_weight": class_weight, "max_depth": 3}
        ours = DecisionTreeClassifier(**more).fit(X, targets)
        theirs = other.DecisionTreeClassifier(random_state=0, **more).fit(X, targets)
        assert_same(ours, theirs, X, alike=False)
        for a, b in zip(ours.predict_log_proba(X), theirs.predict_proba(X), strict=True):
            np.testing.assert_allclose(np.exp(a), b, atol=1e-12)
    assert ours.n_outputs_ == 2
    assert ours.n_classes_ == [3, 2]
    assert ours.predict(X).shape == (400, 2)


def test_weights_as_there() -> None:
    X, y = few_values()
    weight = np.random.default_rng(0).integers(1, 5, 400).astype(float)
    more: dict[str, Any] = {"max_depth": 4, "min_weight_fraction_leaf": 0.05}
    ours = DecisionTreeClassifier(**more).fit(X, y, weight)
    theirs = other.DecisionTreeClassifier(random_state=0, **more).fit(X, y, weight)
    assert_same(ours, theirs, X)


# --- Weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio"])
@pytest.mark.parametrize("nominal", ["auto", "subset", "single", "multiway"])
def test_weight_two_is_the_row_twice(criterion: str, nominal: str) -> None:
    X, y = mixed_table()
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    model = DecisionTreeClassifier(criterion=criterion, nominal=nominal, min_samples_leaf=3)
    found = model.fit(X, y, weight).predict_proba(X)
    expected = model.fit(X.iloc[again], y[again]).predict_proba(X)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 0.1, 1e6, 1e12])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_the_unit_of_weights_does_not_matter(criterion: str, scale: float) -> None:
    """By gain ratio it does: there thresholds are paid for in bits for each row.

    So it does for nominal="auto", which asks for 50 rows of weight 1 for each level.
    """
    X, y = mixed_table(holes=0.0)
    weight = np.random.default_rng(2).integers(1, 4, len(y)).astype(float)
    for nominal in ("subset", "single"):
        model = DecisionTreeClassifier(criterion=criterion, nominal=nominal)
        first, second = (clone(model).fit(X, y, w) for w in (weight, weight * scale))
        np.testing.assert_array_equal(first.tree_.column, second.tree_.column)
        np.testing.assert_array_equal(first.tree_.threshold, second.tree_.threshold)
        np.testing.assert_allclose(first.predict_proba(X), second.predict_proba(X), atol=1e-9)


def test_weights_of_boosting_that_add_to_one() -> None:
    """Some rows a thousand times lighter; leaves are still pure, and shares are still shares."""
    X, y = numeric_table(n_classes=2)
    weight = np.random.default_rng(3).lognormal(0, 3, len(y))
    weight /= weight.sum()
    model = DecisionTreeClassifier().fit(X, y, weight)
    assert model.score(X, y) == 1.0
    assert model.tree_.weight[0] == pytest.approx(1.0)
    weight = np.random.default_rng(3).lognormal(0, 1, len(y))
    model = DecisionTreeClassifier(min_samples_leaf=0.2).fit(X, y, weight / weight.sum())
    leaves = model.tree_.question == Question.LEAF
    assert model.get_n_leaves() > 1
    assert model.tree_.weight[leaves].min() >= 0.2 - 1e-9


@pytest.mark.parametrize("scale", [1.0, 1e12, 1e20])
@pytest.mark.parametrize("nominal", ["subset", "single", "auto", "multiway"])
def test_exclusive_or_is_learned_at_any_weight(nominal: str, scale: float) -> None:
    """The first split gains nothing, and is taken all the same."""
    frame = pd.DataFrame({"a": list("0011"), "b": list("0101")})
    for X in (frame, frame.astype(float)):
        for criterion in ("gini", "entropy"):
            model = DecisionTreeClassifier(nominal=nominal, criterion=criterion)
            assert model.fit(X, [0, 1, 1, 0], np.full(4, scale)).get_n_leaves() == 4


# --- Chance ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {"splitter": "random"},
        {"max_features": "sqrt"},
        {"max_features": 0.5},
        {"max_thresholds": 2},
    ],
    ids=str,
)
def test_random_trees_are_pure_and_repeatable(parameters: dict[str, Any]) -> None:
    X, y = numeric_table()
    trees = [
        DecisionTreeClassifier(**parameters, random_state=seed).fit(X, y) for seed in (0, 0, 1)
    ]
    texts = [model.text() for model in trees]
    assert texts[0] == texts[1] != texts[2]
    assert all(model.score(X, y) == 1.0 for model in trees)


@given(st.integers(0, 10**6))
def test_one_cut_of_a_nominal_column_is_always_tried(seed: int) -> None:
    X, y = pd.DataFrame({"c": list("abcd") * 5}), np.array([0, 1, 0, 1] * 5)
    model = DecisionTreeClassifier(max_thresholds=1, random_state=seed).fit(X, y)
    assert model.get_n_leaves() > 1


# --- Decisions ------------------------------------------------------------------------------------


def test_another_working_point() -> None:
    X, y = mixed_table(200)
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    np.testing.assert_allclose(model.class_prior_, [(y == "no").mean(), (y == "yes").mean()])
    point = WorkingPoint.binary(prior=0.9, cost_fn=5, cost_fp=1, classes=("no", "yes"))
    moved = model.at(point)
    odds = model.predict_proba(X) / model.class_prior_ * [0.1, 0.9]
    expected = odds / odds.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(moved.predict_proba(X), expected, atol=1e-12)
    cheaper = np.where(5 * expected[:, 1] > expected[:, 0], "yes", "no")
    np.testing.assert_array_equal(moved.predict(X), cheaper)
    assert (moved.predict(X) == "yes").sum() > (model.predict(X) == "yes").sum()


def test_several_targets_have_no_working_point() -> None:
    X, y = few_values()
    model = DecisionTreeClassifier(max_depth=2).fit(X, np.column_stack([y, y > 0]))
    with pytest.raises(InputError, match="class_prior_"):
        model.at(WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=1))


# --- Nasty input ----------------------------------------------------------------------------------

SIX = np.arange(6.0)[:, None]
HALVES = np.array([0, 0, 0, 1, 1, 1])


def test_one_class_one_row_and_columns_that_never_change() -> None:
    assert DecisionTreeClassifier().fit(SIX, ["a"] * 6).predict_proba(SIX).tolist() == [[1.0]] * 6
    assert DecisionTreeClassifier().fit(SIX[:1], ["a"]).predict([[9.0]]).tolist() == ["a"]
    model = DecisionTreeClassifier().fit(np.ones((4, 2)), [0, 1, 1, 1])
    assert model.get_n_leaves() == 1
    np.testing.assert_allclose(model.predict_proba([[1.0, 5.0]]), [[0.25, 0.75]])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[np.inf], [1.0]], [0, 1], "infinity: column 'x0' has inf at row 0"),
        ([[-np.inf], [1.0]], [0, 1], "infinity"),
        (np.empty((0, 2)), [], "0 sample"),
        (np.empty((3, 0)), [0, 1, 1], "0 feature"),
        (SIX, [0, 1], "inconsistent|rows"),
        (SIX, [0.5, 1.5] * 3, "Unknown label type|classes"),
        (SIX, [0, 1, None] * 2, "missing"),
        (SIX, None, "requires y|y"),
        (SIX + 1j, HALVES, "Complex"),
        (pd.DataFrame({"d": pd.to_datetime(["2020-01-01"] * 2)}), [0, 1], "'d' holds dates"),
    ],
)
def test_bad_input_is_named(X: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DecisionTreeClassifier().fit(X, y)


@pytest.mark.parametrize("criterion", ["gini", "gain_ratio"])
@pytest.mark.parametrize("nominal", ["subset", "multiway"])
def test_an_identifier_is_no_column(criterion: str, nominal: str) -> None:
    frame = pd.DataFrame({"id": [f"k{i}" for i in range(2**16 + 1)]})
    model = DecisionTreeClassifier(criterion=criterion, nominal=nominal)
    with pytest.raises(InputError, match="'id' has 65537 levels, more than the 65536"):
        model.fit(frame, np.arange(2**16 + 1) % 2)


def test_as_many_levels_as_a_tree_takes() -> None:
    frame = pd.DataFrame({"id": [f"k{i}" for i in range(2**16)]})
    label = np.arange(2**16) % 2
    model = DecisionTreeClassifier(max_depth=2, nominal="subset").fit(frame, label)
    assert model.get_n_leaves() == 2
    np.testing.assert_array_equal(model.predict(frame[:9]), label[:9])


def test_other_columns_at_prediction() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    model = DecisionTreeClassifier().fit(frame, [0, 1])
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- c"):
        model.predict(frame.rename(columns={"b": "c"}))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(frame[["b", "a"]])
    with pytest.raises(ValueError, match="1 features, but"):
        DecisionTreeClassifier().fit(frame.to_numpy(), [0, 1]).predict([[1.0]])
    with pytest.raises(ValueError, match="'a'"):
        model.predict(frame.assign(a=["one", "two"]))


def test_numbers_at_the_ends_of_their_types() -> None:
    huge = np.array([[-1.7e308], [1.7e308], [1.6e308]])
    model = DecisionTreeClassifier().fit(huge, [0, 1, 0])
    assert model.predict(huge).tolist() == [0, 1, 0]
    near = np.array([[1.0], [np.nextafter(1.0, 2.0)], [5e-324], [0.0]])
    assert DecisionTreeClassifier().fit(near, [0, 1, 0, 1]).predict(near).tolist() == [0, 1, 0, 1]
    whole = np.array([[-(2**62)], [2**62]])
    assert DecisionTreeClassifier().fit(whole, [0, 1]).predict(whole).tolist() == [0, 1]
    small = np.array([[-128], [127]], np.int8)
    assert DecisionTreeClassifier().fit(small, [0, 1]).predict(small).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "squared_error"}, "criterion"),
        ({"max_depth": 0}, "max_depth"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"min_samples_split": 1}, "min_samples_split"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes"),
        ({"max_bins": 256}, "max_bins"),
        ({"missing": "drop"}, "missing"),
        ({"nominal": "onehot"}, "nominal"),
        ({"pruning": "yes"}, "pruning"),
        ({"class_weight": "heavy"}, "class_weight"),
        ({"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"The '{message}' parameter"):
        DecisionTreeClassifier(**parameters).fit(SIX, HALVES)
