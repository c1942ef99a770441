"""Rules: the tree's predictions by enumeration, sums of coverage, and texts of textbooks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from novum.core.errors import InputError
from novum.core.tables import Schema, check_features
from novum.data import load
from novum.trees.presets import c45
from novum.trees.reading.rules import RuleSet, rules
from novum.trees.training import cells_of
from novum.trees.tree import Tree
from tests.trees.reading.reading_trees import (
    RANDOM_SCHEMA,
    WEATHER_ROWS,
    among,
    answer_of,
    below,
    build,
    grid_rows,
    iris_tree,
    leaf,
    number_tree,
    random_number_trees,
    random_trees,
    weather_tree,
)


def check_as_the_tree(found: RuleSet, tree: Tree) -> None:
    """Every complete row meets one rule, which predicts what the tree does."""
    rows = grid_rows()
    met = np.sum([rule.holds(rows) for rule in found], axis=0)
    answers = np.array([answer_of(tree, row) for row in rows])
    assert (met == 1).all()
    if tree.classes is None:
        np.testing.assert_array_equal(found.predict(rows), answers[:, 0])
    else:
        np.testing.assert_array_equal(found.predict(rows), tree.classes[0][answers.argmax(axis=1)])


@given(random_trees(missing=False))
def test_simplified_rules_classify_every_complete_row_as_the_tree(tree: Tree) -> None:
    check_as_the_tree(rules(tree), tree)


@given(random_trees(missing=False))
def test_rules_of_leaves_classify_every_complete_row_as_the_tree(tree: Tree) -> None:
    check_as_the_tree(rules(tree, simplify=False), tree)


@given(random_number_trees(missing=False))
def test_rules_of_a_regression_predict_as_the_tree(tree: Tree) -> None:
    check_as_the_tree(rules(tree), tree)


@given(random_trees())
def test_rows_that_meet_a_rule_are_predicted_as_by_the_tree_even_with_missing_cells(
    tree: Tree,
) -> None:
    rows = grid_rows()[::13]
    rng = np.random.default_rng(0)
    rows[rng.random(rows.shape) < 0.3] = np.nan
    found = rules(tree)
    met = found.matches(rows)
    assert tree.classes is not None
    for row, place in zip(rows, met, strict=True):
        if place >= 0:
            shares = answer_of(tree, row)
            code = tree.classes[0].tolist().index(found[place].prediction)
            # Mixtures of shares add up in another order here.
            assert shares[code] >= shares.max() - 1e-12


@given(random_trees())
def test_coverage_and_counts_add_up(tree: Tree) -> None:
    found = rules(tree)
    lost = 1 - math.fsum(rule.coverage for rule in found)
    # Leaves that no cell can reach have no rule; nothing else may be lost, nothing counted twice.
    nodes = [node for rule in found for node in rule.leaves]
    assert len(set(nodes)) == len(nodes)
    assert lost >= -1e-12
    for rule in found:
        assert rule.weight == pytest.approx(sum(rule.counts), rel=1e-12)
        assert rule.confidence == pytest.approx(max(rule.counts) / rule.weight, rel=1e-12)


@given(random_trees(missing=False))
def test_simplifying_never_makes_more_rules(tree: Tree) -> None:
    assert len(rules(tree)) <= len(rules(tree, simplify=False))


def test_the_rules_of_the_weather() -> None:
    found = rules(weather_tree())
    assert [rule.text for rule in found.of("yes")] == [
        "outlook = overcast",
        "outlook = rainy and windy = False",
        "outlook = sunny and humidity <= 77.5",
    ]
    assert [rule.coverage * 14 for rule in found.of("no")] == pytest.approx([3, 2], rel=1e-12)
    assert all(rule.confidence == 1 for rule in found)
    cells, play = WEATHER_ROWS[:, :4], WEATHER_ROWS[:, 4]
    assert found.predict(cells).tolist() == [["no", "yes"][int(code)] for code in play]


def test_answers_about_one_column_become_one_condition() -> None:
    (rule,) = rules(iris_tree()).of("versicolor")
    assert rule.words == ("0.8 < petal width <= 1.75", "size <= M")
    assert str(rule) == "versicolor if 0.8 < petal width <= 1.75 and size <= M"


def test_leaves_that_say_the_same_are_one_rule() -> None:
    tree = build(
        Schema.of_array(2),
        [["a", "b"]],
        below(0, 1.0, below(1, 5.0, leaf(3, 1), leaf(8, 0)), leaf(0, 4)),
    )
    assert [str(rule) for rule in rules(tree)] == ["a if x0 <= 1", "b if x0 > 1"]
    assert rules(tree)[0].confidence == 11 / 12
    assert len(rules(tree, simplify=False)) == 3


def test_a_single_leaf_always_holds() -> None:
    found = rules(build(Schema.of_array(1), [["a", "b"]], leaf(2, 1)))
    assert [str(rule) for rule in found] == ["a if always"]
    assert found.predict(np.array([[np.nan]])).tolist() == ["a"]


def test_rules_too_small_are_left_out_and_counted() -> None:
    found = rules(iris_tree(), min_coverage=0.1)
    assert len(found) == 3
    assert found.left_out == 1
    assert found.left_out_coverage == pytest.approx(5 / 150, rel=1e-12)
    assert "1 rule of smaller coverage left out; it covers 0.033" in found.text
    lost = np.array([[5.0, 1.0, 2.0], [5.0, 0.1, 2.0]])
    with pytest.raises(InputError, match="1 rows meet no rule, the first is row 0"):
        found.predict(lost)
    assert found.predict(lost, otherwise="unknown").tolist() == ["unknown", "setosa"]


def test_a_regression_has_deviations() -> None:
    tree = number_tree()
    tree.impurity[:] = [3.0, 4.0, 1.0, 9.0, 0.25]
    assert [rule.deviation for rule in rules(tree)] == [2.0, 3.0, 0.5]
    assert [r.deviation for r in rules(tree, criterion="absolute_error")] == [4.0, 9.0, 0.25]
    assert [rule.prediction for rule in rules(tree, target=1)] == [0.0, 10.0, 20.0]


def test_a_branch_that_takes_missing_cells_says_so() -> None:
    found = rules(iris_tree(), simplify=False)
    assert "petal width > 1.75" in [rule.text for rule in found]
    tree = build(
        RANDOM_SCHEMA, [["x", "y"]], below(0, 1.0, leaf(1, 0), leaf(0, 1), missing_branch=0)
    )
    assert [rule.text for rule in rules(tree)] == ["a <= 1 or missing", "a > 1"]
    assert rules(tree).predict(np.array([[np.nan, 0, 0, 0, 0]])).tolist() == ["x"]


def test_a_missing_cell_that_no_rule_takes_is_named() -> None:
    cells = np.array([[0, 70, 80, 0], [2, 70, np.nan, 0]])
    with pytest.raises(InputError, match="row 1, whose humidity is missing"):
        rules(weather_tree()).predict(cells)


def test_levels_without_a_branch_are_in_no_rule() -> None:
    tree = build(RANDOM_SCHEMA, [["x", "y"]], among(2, [0, -1, 1, 1], leaf(1, 0), leaf(0, 1)))
    assert [rule.text for rule in rules(tree)] == ["c = p", "c in {r, s}"]
    with pytest.raises(InputError, match="meet no rule"):
        rules(tree).predict(np.array([[0.0, 0, 1, 0, 0]]))


def test_branches_that_no_cell_can_reach_have_no_rule() -> None:
    root = below(0, 1.0, below(0, 2.0, leaf(3, 0), leaf(0, 1)), leaf(0, 4))
    found = rules(build(Schema.of_array(1), [["a", "b"]], root))
    assert [rule.text for rule in found] == ["x0 <= 1", "x0 > 1"]


def test_rules_of_a_fitted_tree_predict_as_the_model() -> None:
    """The votes of 1984, of which 232 have no missing cell."""
    table = load("vote").table
    votes, party = table.drop_columns(["Class"]), table.column("Class").to_pylist()
    model = c45().fit(votes, party)
    found = model.rules()
    complete = votes.drop_null()
    cells = cells_of(check_features(model, complete, allow_missing=True))
    assert len(cells) == 232
    assert found.predict(cells).tolist() == model.predict(complete).tolist()
    assert sum(rule.coverage for rule in found) == pytest.approx(1.0, rel=1e-9)


def test_records_are_plain() -> None:
    record = rules(weather_tree()).records()[0]
    assert record == {
        "prediction": "no",
        "rule": "outlook = sunny and humidity > 77.5",
        "n_conditions": 2,
        "coverage": 3 / 14,
        "weight": 3.0,
        "confidence": 1.0,
    }


@pytest.mark.parametrize("share", [-0.1, 1.5, math.nan])
def test_a_coverage_that_is_no_share_is_refused(share: float) -> None:
    with pytest.raises(InputError, match="min_coverage is a share from 0 to 1"):
        rules(weather_tree(), min_coverage=share)


def test_cells_of_another_width_are_refused() -> None:
    with pytest.raises(InputError, match="about 4 columns, the cells have 2"):
        rules(weather_tree()).predict(np.zeros((3, 2)))
