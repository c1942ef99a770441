"""Uniting rules: chains of intervals, sets of levels, and what must stay apart."""

from __future__ import annotations

from novum.core.tables import Schema
from novum.trees.reading.conditions import Interval, LevelSet
from novum.trees.reading.node_values import NodeValues
from novum.trees.reading.rules import Draft, rules, united
from tests.trees.reading.reading_trees import (
    RANDOM_SCHEMA,
    among,
    below,
    build,
    every,
    leaf,
    weather_tree,
)


def test_touching_intervals_become_one() -> None:
    drafts = [
        Draft(0.0, {0: Interval(1.0, 2.0), 1: Interval(high=5.0)}, (3,)),
        Draft(0.0, {0: Interval(high=1.0), 1: Interval(high=5.0)}, (4,)),
        Draft(1.0, {0: Interval(2.0, 3.0), 1: Interval(high=5.0)}, (5,)),
        Draft(0.0, {0: Interval(3.0, 4.0), 1: Interval(high=5.0)}, (6,)),
    ]
    tree = weather_tree()
    found = united(drafts, tree, NodeValues.of(tree))
    assert [(draft.outcome, draft.box[0], draft.nodes) for draft in found] == [
        (0.0, Interval(high=2.0), (3, 4)),
        (1.0, Interval(2.0, 3.0), (5,)),
        (0.0, Interval(3.0, 4.0), (6,)),
    ]


def test_rules_that_differ_in_two_conditions_stay_apart() -> None:
    tree = weather_tree()
    drafts = [
        Draft(0.0, {0: LevelSet((0,), 3), 1: Interval(high=5.0)}, (1,)),
        Draft(0.0, {0: LevelSet((1,), 3), 1: Interval(low=5.0)}, (2,)),
    ]
    assert len(united(drafts, tree, NodeValues.of(tree))) == 2


def test_levels_with_the_same_class_are_one_set() -> None:
    tree = build(
        RANDOM_SCHEMA, [["x", "y"]], every(2, leaf(2, 0), leaf(0, 3), leaf(1, 0), leaf(0, 1))
    )
    assert [rule.text for rule in rules(tree)] == ["c in {p, r}", "c in {q, s}"]
    assert rules(tree)[0].weight == 3.0


def test_a_question_that_changes_nothing_disappears() -> None:
    """x1 alone decides, though the tree asks x0 first."""
    both = below(1, 5.0, leaf(2, 0), leaf(0, 1))
    other = below(1, 5.0, leaf(1, 0), leaf(0, 4))
    tree = build(Schema.of_array(2), [["a", "b"]], below(0, 1.0, both, other))
    assert [rule.text for rule in rules(tree)] == ["x1 <= 5", "x1 > 5"]


def test_known_stays_where_a_missing_cell_is_predicted_otherwise() -> None:
    """A missing x0 goes to an inner node whose own rows say b, so x0 has to be known."""
    deep = below(0, 0.5, leaf(0, 9), leaf(1, 0))
    left = below(1, 5.0, deep, leaf(0, 1))
    right = below(1, 5.0, leaf(2, 0), leaf(0, 4))
    # x0 > 1 and then x0 <= 0.5: no cell can do both, but a missing one gets there.
    tree = build(Schema.of_array(2), [["a", "b"]], below(0, 1.0, right, left))
    assert "x0 known and x1 <= 5" in [rule.text for rule in rules(tree)]


def test_unions_go_on_until_none_is_left() -> None:
    """The four quarters of one class: two unions make halves, the third the whole."""
    a, b = leaf(1, 0), leaf(0, 1)
    quarter = among(4, [0, 1], below(0, 1.0, a, b), below(0, 1.0, a, b))
    tree = build(RANDOM_SCHEMA, [["x", "y"]], below(1, 2.0, quarter, quarter))
    assert [rule.text for rule in rules(tree)] == ["a <= 1", "a > 1"]
