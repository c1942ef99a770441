"""What all trees share: scikit-learn's checks, the contracts, missing cells, pruning, files."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, UnseenLevelWarning
from novum.core.files import load, save
from novum.core.learners import Case, Check, Verdict
from novum.core.learners.contracts import (
    check_bits_in_new_processes,
    check_interrupted_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.trees import (
    CostComplexity,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Pessimistic,
    ReducedError,
    cart,
)
from novum.trees.model import certify
from tests.trees.forest_tables import baskets, gaps_by_class
from tests.trees.mixed_tables import as_polars, mixed_table, numeric_table

MODELS = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(criterion="entropy", missing="direction", max_bins=None),
    DecisionTreeClassifier(splitter="random", max_features=2, random_state=0),
    DecisionTreeClassifier(pruning=ReducedError(0.3), random_state=0),
    DecisionTreeClassifier(criterion="gain_ratio", nominal="multiway", pruning=Pessimistic()),
    DecisionTreeRegressor(),
    DecisionTreeRegressor(criterion="absolute_error", missing="most_common"),
    DecisionTreeRegressor(max_leaf_nodes=8, ccp_alpha=0.01),
]
DRAWN = {
    f"check_sample_weight_equivalence_on_{kind}_data": "rows are drawn at random"
    for kind in ("dense", "sparse")
}


def draws(model: Any) -> bool:
    """Whether rows are held out by chance."""
    return isinstance(model.pruning, ReducedError)


# --- scikit-learn's checks and the contracts ------------------------------------------------------


@parametrize_with_checks(
    MODELS, legacy=True, expected_failed_checks=lambda m: DRAWN if draws(m) else {}
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks(
    [
        DecisionTreeClassifier(categorical_features="all"),
        DecisionTreeRegressor(categorical_features="all", nominal="single"),
    ],
    legacy=True,
)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


DETERMINISTIC = [model for model in MODELS if not draws(model) and model.splitter == "best"]


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("model", DETERMINISTIC, ids=repr)
def test_contract_on_numbers(model: Any, check: Check) -> None:
    X, y = numeric_table()
    check(Case(model, X, y))


@pytest.mark.parametrize("frame", ["pandas", "polars"])
@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("model", DETERMINISTIC, ids=repr)
def test_contract_on_levels_and_missing_cells(model: Any, check: Check, frame: str) -> None:
    X, y = mixed_table()
    target = (y == "yes") * 1.5 if isinstance(model, DecisionTreeRegressor) else y
    check(Case(model, as_polars(X) if frame == "polars" else X, target))


def test_frames_give_the_same_tree() -> None:
    X, y = mixed_table()
    first = DecisionTreeClassifier().fit(X, y)
    second = DecisionTreeClassifier().fit(as_polars(X), y)
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(as_polars(X)))
    assert first.text() == second.text()


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), DecisionTreeRegressor()], ids=repr)
def test_ctrl_c_leaves_a_fitted_model_as_it_was(model: Any) -> None:
    X, y = numeric_table(2000, n_classes=2)
    check_interrupted_fit_changes_nothing(Case(model, X, y), rows=300_000)


@pytest.mark.slow
def test_same_bits_in_new_processes() -> None:
    X, y = mixed_table()
    model = DecisionTreeClassifier(max_features=2, random_state=3, missing="direction")
    check_bits_in_new_processes(Case(model, X, y))


def test_nothing_works_before_a_fit() -> None:
    model = DecisionTreeClassifier()
    for call in (
        model.predict,
        model.predict_proba,
        model.predict_log_proba,
        model.apply,
        model.decision_path,
        model.leaf_shares,
    ):
        with pytest.raises(NotFittedError):
            call([[1.0]])
    with pytest.raises(NotFittedError):
        model.get_depth()
    with pytest.raises(NotFittedError):
        model.get_n_leaves()
    assert not hasattr(model, "feature_importances_")


# --- Missing cells --------------------------------------------------------------------------------

HOLES = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, np.nan], "c": ["a", "a", "b", "b", "b"]})
SIDES = np.array(["n", "n", "y", "y", "y"])


def test_fractions_by_hand() -> None:
    """x <= 2.5 has half of the known weight; a missing cell goes down both."""
    model = DecisionTreeClassifier().fit(HOLES[["x"]], SIDES)
    tree = model.tree_
    assert tree.threshold[0] == 2.5
    np.testing.assert_allclose(tree.share[1:3], [0.5, 0.5])
    np.testing.assert_allclose(tree.value[1:3], [[2.0, 0.5], [0.0, 2.5]])
    np.testing.assert_allclose(tree.weight[1:3], [2.5, 2.5])
    found = model.predict_proba(pd.DataFrame({"x": [np.nan]}))
    np.testing.assert_allclose(found, [[0.5 * 2 / 2.5, 0.5 * 0.5 / 2.5 + 0.5]])


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
def test_a_level_that_is_new_goes_down_in_fractions() -> None:
    """Two rows of a, three of b: shares 0.4 and 0.6."""
    model = DecisionTreeClassifier().fit(HOLES[["c"]], SIDES)
    new = pd.DataFrame({"c": ["z", "a", None]})
    np.testing.assert_allclose(model.predict_proba(new), [[0.4, 0.6], [1.0, 0.0], [0.4, 0.6]])
    np.testing.assert_allclose(model.leaf_shares(new)[0].data, [0.4, 0.6])
    assert model.apply(new).tolist() == [2, 1, 2]
    assert model.decision_path(new).toarray().tolist() == [[1, 1, 1], [1, 1, 0], [1, 1, 1]]


def test_direction_learns_the_side() -> None:
    model = DecisionTreeClassifier(missing="direction").fit(HOLES[["x"]], SIDES)
    assert model.tree_.missing_branch[0] == 1
    assert model.predict_proba(HOLES[["x"]][4:]).tolist() == [[0.0, 1.0]]
    assert model.certificate_.verdict is Verdict.PROVED


def test_direction_where_training_had_none_missing() -> None:
    """Nothing was learned about missing cells: they go down as fractions."""
    model = DecisionTreeClassifier(missing="direction").fit(HOLES[["x"]][:4], SIDES[:4])
    assert model.tree_.missing_branch.max() == -1
    assert model.predict_proba(HOLES[["x"]][4:]).tolist() == [[0.5, 0.5]]


def test_missing_cells_have_a_branch_where_that_gains_more() -> None:
    """x is known or missing, and that decides; its value says nothing."""
    x = np.array([[1.0], [2.0], [1.0], [2.0], [np.nan], [np.nan], [np.nan]])
    y = np.array(["n", "n", "n", "n", "y", "y", "y"])
    model = DecisionTreeClassifier(missing="auto").fit(x, y)
    tree = model.tree_
    assert tree.threshold[0] == np.inf
    assert tree.missing_branch[0] == 1
    # 7 (1 - (4/7)^2 - (3/7)^2), all of it.
    assert tree.gain[0] == pytest.approx(24 / 7)
    np.testing.assert_array_equal(tree.value[1:], [[4.0, 0.0], [0.0, 3.0]])
    np.testing.assert_array_equal(tree.share[1:], [1.0, 0.0])
    assert model.predict([[9e9], [-9e9], [np.nan]]).tolist() == ["n", "n", "y"]
    assert model.text().splitlines()[1:] == ["├─ x0 known: n [n 4]", "└─ x0 missing: y [y 3]"]
    # The fractional rule sees four rows, which are alike.
    assert DecisionTreeClassifier().fit(x, y).get_n_leaves() == 2
    assert DecisionTreeClassifier().fit(x, y).score(x, y) == pytest.approx(4 / 7)


def test_missing_cells_go_with_the_side_that_they_are_like() -> None:
    model = DecisionTreeClassifier(missing="auto").fit(HOLES[["x"]], SIDES)
    assert model.tree_.missing_branch[0] == 1
    assert model.get_n_leaves() == 2


def test_missing_cells_that_say_nothing_go_down_in_parts() -> None:
    """Half of either class is missing: a side gains 2 (1 - 1/9), less than 2 of the known four."""
    x = np.array([[1.0], [1.0], [2.0], [2.0], [np.nan], [np.nan]])
    model = DecisionTreeClassifier(missing="auto", max_depth=1).fit(x, [0, 0, 1, 1, 0, 1])
    assert model.tree_.missing_branch[0] == -1
    np.testing.assert_allclose(model.tree_.value[1:], [[2.5, 0.5], [0.5, 2.5]])


@pytest.mark.parametrize("nominal", ["subset", "single", "auto", "multiway"])
@pytest.mark.parametrize("criterion", ["gini", "gain_ratio"])
def test_a_level_or_none_is_a_question(nominal: str, criterion: str, tmp_path: Path) -> None:
    """Market baskets: `t` where the thing was bought, missing where not."""
    table, y = baskets(300)
    model = DecisionTreeClassifier(criterion=criterion, nominal=nominal, missing="auto")
    model.fit(table, y)
    assert model.score(table, y) > 0.95
    assert "item5 missing" in model.text()
    assert "item5 missing" in str(model.rules())
    bought = table.notna().all(axis=1).idxmax()
    assert "item" in str(model.explain(table.loc[[bought]]))
    assert "goes with" not in str(model.explain(table[:1]))
    trace = str(model.trace(table, y))
    assert "not among these" not in trace
    assert "item5" in trace.splitlines()[0]
    # A thing of another kind was bought all the same.
    other = table.mask(table == "t", "u")
    with pytest.warns(UnseenLevelWarning):
        found = model.predict_proba(other)
    np.testing.assert_allclose(found, model.predict_proba(table))
    save(model, tmp_path / "tree.novum")
    loaded = load(tmp_path / "tree.novum")
    np.testing.assert_array_equal(loaded.predict_proba(table), model.predict_proba(table))
    fixed = DecisionTreeClassifier(criterion=criterion, nominal=nominal).fit(table, y)
    assert fixed.get_n_leaves() == 1


@pytest.mark.parametrize("pruning", [Pessimistic(), ReducedError(0.3), CostComplexity(0.01)])
def test_pruned_trees_keep_the_branch_of_missing_cells(pruning: Any) -> None:
    table, y = baskets(600)
    model = DecisionTreeClassifier(
        nominal="multiway", missing="auto", pruning=pruning, random_state=0
    )
    model.fit(table, y)
    model.tree_.check()
    assert 3 < model.get_n_leaves() < 100
    assert model.score(table, y) > 0.84


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_numbers_learn_from_missing_cells(criterion: str) -> None:
    X, _ = gaps_by_class(200)
    y = 2.0 * np.isnan(X[:, 7]) - np.isnan(X[:, 6])
    fixed = DecisionTreeRegressor(criterion=criterion, max_depth=2).fit(X, y)
    model = DecisionTreeRegressor(criterion=criterion, max_depth=2, missing="auto").fit(X, y)
    assert model.score(X, y) == 1.0
    assert fixed.score(X, y) < 0.5
    assert set(model.tree_.column) == {-1, 6, 7}


def test_a_monotone_column_may_have_a_branch_of_missing_cells() -> None:
    """The order binds known cells; missing ones stand in none."""
    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, np.nan, np.nan, np.nan])[:, np.newaxis]
    y = np.array([1.0, 2.0, 1.0, 3.0, 2.0, 4.0, 20.0, 21.0, 20.0])
    model = DecisionTreeRegressor(monotonic_cst=[1], missing="auto").fit(x, y)
    assert np.isinf(model.tree_.threshold[0])
    assert (np.diff(model.predict(x[:6])) >= 0).all()
    assert model.predict([[np.nan]])[0] == pytest.approx(61 / 3)
    # Nothing else can be asked about x = missing, and the known cells keep their own means.
    assert model.predict([[6.0]])[0] == 4.0


@pytest.mark.parametrize("rule", ["most_common", "most_common_of_class"])
def test_replaced_cells_are_counted_and_used(rule: str) -> None:
    frame = HOLES.assign(c=["a", "a", None, "b", "b"])
    model = DecisionTreeClassifier(missing=rule).fit(frame, SIDES)
    assert model.replaced_ == {"x": 1, "c": 1}
    # The median of 1, 2, 3, 4 is their lower middle; a and b are as common, a comes first.
    np.testing.assert_array_equal(model.common_values_, [2.0, 0.0])
    assert not np.isnan(model._cells(frame)).any()
    known = pd.DataFrame({"x": [2.0], "c": ["a"]})
    nothing = pd.DataFrame({"x": [np.nan], "c": [None]})
    np.testing.assert_array_equal(model.predict_proba(nothing), model.predict_proba(known))
    if rule == "most_common_of_class":
        # Of class y: x is 3 and c is b, which makes the training rows pure.
        assert model.score(frame.fillna({"x": 3.0, "c": "b"}), SIDES) == 1.0


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
def test_replaced_rows_do_not_know_new_levels_either() -> None:
    model = DecisionTreeClassifier(missing="most_common").fit(HOLES[["c"]], SIDES)
    np.testing.assert_allclose(model.predict_proba(pd.DataFrame({"c": ["z"]})), [[0.4, 0.6]])


@pytest.mark.parametrize(
    "rule", ["fractional", "direction", "auto", "most_common", "most_common_of_class"]
)
def test_columns_and_rows_without_any_cell(rule: str) -> None:
    frame = HOLES.assign(nothing=np.nan)
    frame.loc[5] = [np.nan, None, np.nan]
    labels = np.append(SIDES, "n")
    model = DecisionTreeClassifier(missing=rule).fit(frame, labels)
    assert "nothing" not in model.replaced_
    assert 2 not in model.tree_.column
    assert model.feature_importances_[2] == 0.0
    found = model.predict_proba(frame)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert model.predict(frame[:4]).tolist() == labels[:4].tolist()
    # A cell where training had none says nothing.
    np.testing.assert_array_equal(model.predict_proba(frame.assign(nothing=3.0)), found)


def test_a_table_without_any_cell_is_a_leaf() -> None:
    model = DecisionTreeClassifier().fit(np.full((3, 2), np.nan), [0, 1, 1])
    assert model.get_n_leaves() == 1
    np.testing.assert_allclose(model.predict_proba([[np.nan, 5.0]]), [[1 / 3, 2 / 3]])


def test_classes_are_needed_for_the_most_common_of_class() -> None:
    with pytest.raises(InputError, match=r"needs classes.*Use missing='most_common'"):
        DecisionTreeRegressor(missing="most_common_of_class").fit([[1.0], [2.0]], [0.0, 1.0])


# --- Pruning --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [ReducedError(0.3), CostComplexity(0.02), Pessimistic(0.25)])
def test_pruned_trees_are_smaller(rule: Any) -> None:
    X, y = mixed_table(200)
    whole = DecisionTreeClassifier().fit(X, y)
    pruned = DecisionTreeClassifier(pruning=rule, random_state=0).fit(X, y)
    assert 1 < pruned.get_n_leaves() < whole.get_n_leaves()
    pruned.tree_.check()
    assert pruned.certificate_.details["leaves"] == pruned.get_n_leaves()


def test_reduced_error_on_a_given_part() -> None:
    """No cut of the pruned tree makes fewer errors on the validation part."""
    X, y = mixed_table(200, holes=0.0)
    part = mixed_table(80, seed=1, holes=0.0)
    model = DecisionTreeClassifier(pruning=ReducedError(validation=part)).fit(X, y)
    whole = DecisionTreeClassifier().fit(X, y)
    assert model.get_n_leaves() < whole.get_n_leaves()
    assert model.score(*part) >= whole.score(*part)
    for node in np.flatnonzero(model.tree_.question):
        other = copy.copy(model)
        other.tree_ = model.tree_.cut(np.arange(model.tree_.n_nodes) == node)
        assert other.score(*part) <= model.score(*part)


def test_the_price_of_a_leaf_is_a_pruning_rule() -> None:
    X, y = numeric_table()
    first = DecisionTreeClassifier(ccp_alpha=0.02).fit(X, y)
    second = DecisionTreeClassifier(pruning=CostComplexity(0.02)).fit(X, y)
    assert first.text() == second.text()
    with pytest.raises(InputError, match="Both ccp_alpha and pruning are given"):
        DecisionTreeClassifier(ccp_alpha=0.1, pruning=ReducedError(0.3)).fit(X, y)


def test_nothing_to_prune_needs_no_folds() -> None:
    assert cart().fit([[1.0]], ["a"]).get_n_leaves() == 1
    assert cart().fit([[1.0], [2.0], [3.0]], ["a"] * 3).get_n_leaves() == 1


# --- Certificate and importances ------------------------------------------------------------------


def test_the_certificate_is_the_impurity_that_is_left() -> None:
    X, y = numeric_table()
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    tree, leaves = model.tree_, model.apply(X)
    impurity = 0.0
    for leaf in np.unique(leaves):
        share = np.bincount(y[leaves == leaf], minlength=3) / (leaves == leaf).sum()
        impurity += (leaves == leaf).mean() * (1 - (share**2).sum())
    assert model.certificate_.value == pytest.approx(impurity)
    assert model.certificate_.verdict is Verdict.LOCAL
    assert model.certificate_.iterations == tree.n_nodes - tree.n_leaves
    whole = DecisionTreeClassifier().fit(X, y).certificate_
    assert (whole.verdict, whole.value, whole.lower_bound) == (Verdict.PROVED, 0.0, 0.0)


def test_importances_are_shares_of_the_gain() -> None:
    X, y = numeric_table()
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    tree = model.tree_
    by_column = [tree.gain[tree.column == j].sum() for j in range(4)]
    np.testing.assert_allclose(model.feature_importances_, np.array(by_column) / sum(by_column))
    leaf = DecisionTreeClassifier().fit(X[:1], y[:1])
    assert leaf.feature_importances_.tolist() == [0.0] * 4
    assert leaf.tree_.compute_feature_importances().sum() == 0.0
    assert certify(leaf.tree_).verdict is Verdict.PROVED


# --- Files ----------------------------------------------------------------------------------------


def test_files_keep_several_targets_and_replacements(tmp_path: Path) -> None:
    X, y = mixed_table()
    several = np.column_stack([y, np.where(X["x"].fillna(0) > 1, "u", "v")])
    for model, target in (
        (DecisionTreeClassifier(missing="most_common", criterion="gini"), several),
        (DecisionTreeRegressor(pruning=CostComplexity(0.001)), several == "yes"),
        (DecisionTreeClassifier(pruning=ReducedError(0.2), random_state=1), y),
    ):
        numbers = target.astype(float) if isinstance(model, DecisionTreeRegressor) else target
        model.fit(X, numbers)
        save(model, tmp_path / "tree.novum")
        for other in (load(tmp_path / "tree.novum"), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(other.predict(X), model.predict(X))
            assert other.replaced_ == model.replaced_
            assert other.get_params() == model.get_params()
        assert not hasattr(clone(model), "tree_")


TAMPERED: dict[str, tuple[str, Any, Any]] = {
    "a child beyond the end": ("first_child", 0, 999),
    "a cycle": ("first_child", 2, 0),
    "no children": ("n_children", 0, 0),
    "one branch of a threshold": ("n_children", "threshold", 1),
    "a third branch": ("n_children", 0, 3),
    "another parent": ("parent", 1, 3),
    "a parent beyond the end": ("parent", 1, 10**6),
    "a column beyond the end": ("column", 0, 99),
    "a negative column": ("column", 0, -2),
    "an unknown question": ("question", 0, 7),
    "levels of a number": ("question", "threshold", 2),
    "a threshold of levels": ("question", "subset", 1),
    "a threshold that is no number": ("threshold", "threshold", np.nan),
    "a branch beyond the end": ("missing_branch", 0, 2),
    "a branch below -1": ("missing_branch", 0, -5),
    "levels beyond the end": ("level_start", "subset", 10**6),
    "a branch of a level": ("level_branch", 0, 2),
    "a negative branch of a level": ("level_branch", 0, -7),
    "a share that is no number": ("share", 1, np.nan),
    "a negative share": ("share", 1, -0.5),
    "shares that do not add to 1": ("share", 1, 5.0),
    "an infinite weight": ("weight", 1, np.inf),
    "a negative class weight": ("value", 1, -1.0),
    "a class weight that is no number": ("value", 1, np.nan),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_tampered_trees_are_refused(what: str, tmp_path: Path) -> None:
    name, place, new = TAMPERED[what]
    model = DecisionTreeClassifier(max_depth=4).fit(*mixed_table())
    tree = model.tree_
    assert not tree.is_leaf(2)
    if isinstance(place, str):
        place = int(np.flatnonzero(tree.question == {"threshold": 1, "subset": 2}[place])[0])
    array = getattr(tree, name).copy()
    array[place] = new
    model.tree_ = replace(tree, **{name: array})
    with pytest.raises(InputError, match="do not fit together"):
        model.tree_.check()
    save(model, tmp_path / "bad.novum")
    with pytest.raises(ValueError, match="do not fit together"):
        load(tmp_path / "bad.novum")


def test_other_shapes_and_parts_are_refused() -> None:
    X, y = mixed_table()
    model = DecisionTreeClassifier(missing="most_common").fit(X, y)
    tree = model.tree_
    for changes in (
        {"value": np.zeros((tree.n_nodes, 5))},
        {"value": np.zeros(tree.n_nodes)},
        {"gain": np.zeros(2)},
        {"classes": (np.arange(3),)},
        {"column": tree.column + 0.5},
        {"question": tree.question[:0]},
    ):
        with pytest.raises(InputError, match="do not fit together"):
            replace(tree, **changes).check()
    for name, value, message in (
        ("classes_", np.array(["a", "b"]), "different classes"),
        ("common_values_", np.zeros(2), "no replacement"),
        ("schema_", DecisionTreeClassifier().fit([[1.0]], [0]).schema_, "different columns"),
    ):
        other = copy.copy(model)
        setattr(other, name, value)
        with pytest.raises(InputError, match=message):
            other._check_state()
    of_numbers = DecisionTreeRegressor().fit([[1.0], [2.0]], [0.0, 1.0])
    of_numbers.n_outputs_ = 2
    with pytest.raises(InputError, match="other targets"):
        of_numbers._check_state()
