"""Values of nodes: one target of several, shares that add up, and their words."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.core.tables import Schema
from novum.trees.reading.node_values import NodeValues
from novum.trees.tree import Tree
from tests.trees.reading.reading_trees import below, build, iris_tree, leaf, number_tree


def two_targets() -> Tree:
    classes = [["no", "yes"], [10, 20, 30]]
    root = below(0, 1.0, leaf(3, 1, 0, 4, 0), leaf(1, 1, 1, 0, 1))
    return build(Schema.of_array(1), classes, root)


def test_targets_are_told_apart() -> None:
    first, second = NodeValues.of(two_targets(), 0), NodeValues.of(two_targets(), 1)
    assert [first.prediction(node) for node in (1, 2)] == ["no", "no"]
    assert [second.prediction(node) for node in (1, 2)] == [20, 10]
    np.testing.assert_allclose(second.answer(2), [0.5, 0.0, 0.5], rtol=1e-15)


def test_a_tie_goes_to_the_first_class() -> None:
    assert NodeValues.of(iris_tree()).prediction(0) == "setosa"


def test_labels_are_plain_values() -> None:
    assert type(NodeValues.of(two_targets(), 1).prediction(1)) is int
    assert type(NodeValues.of(iris_tree()).prediction(1)) is str


def test_means_of_numbers() -> None:
    values = NodeValues.of(number_tree(), 1)
    assert values.prediction(1) == 10.0
    assert values.answers([1, 3], [0.25, 0.75])[0] == 0.25 * 10 + 0.75 * 20
    assert values.prediction_text(3) == "20"


def test_a_node_without_weight_has_equal_shares() -> None:
    tree = build(Schema.of_array(1), [["a", "b"]], below(0, 1.0, leaf(1, 0), leaf(0, 0)))
    values = NodeValues.of(tree)
    np.testing.assert_array_equal(values.answer(2), [0.5, 0.5])
    assert values.counts_text(2) == "no weight"


def test_weights_are_listed_from_the_largest_and_the_rest_is_counted() -> None:
    tree = build(Schema.of_array(1), [list("abcdefg")], leaf(1, 5, 0, 2.5, 3, 0.25, 0.5))
    text = NodeValues.of(tree).counts_text(0)
    assert text == "b 5, e 3, d 2.5, a 1, 2 other classes 0.75"


@pytest.mark.parametrize(("target", "message"), [(2, "targets 0 to 1"), (-1, "target=-1")])
def test_a_target_that_is_not_there_is_named(target: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        NodeValues.of(two_targets(), target)
