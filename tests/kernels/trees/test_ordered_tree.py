"""Ordered trees: the forms they are read from agree, deep ones work, wrong ones are named."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from novum.core.errors import InputError
from novum.kernels.trees.ordered_tree import OrderedTree
from tests.kernels.trees.random_trees import nested_trees, ordered_trees

DEEP = 100_000


class Parsed(list[Any]):
    """A tree as NLTK has it: a list of children that knows its label."""

    def __init__(self, label: str, children: list[Any]) -> None:
        super().__init__(children)
        self._label = label

    def label(self) -> str:
        return self._label


def direct(nested: Any) -> tuple[list[Any], list[int]]:
    """Preorder by recursion."""
    if not isinstance(nested, tuple):
        return [nested], [0]
    labels, arities = [nested[0]], [len(nested) - 1]
    for child in nested[1:]:
        below = direct(child)
        labels += below[0]
        arities += below[1]
    return labels, arities


@given(nested_trees)
def test_preorder_is_the_recursive_one(nested: Any) -> None:
    tree = OrderedTree.from_nested(nested)
    assert (list(tree.labels), list(tree.arities)) == direct(nested)


@given(ordered_trees)
def test_text_comes_back(tree: OrderedTree) -> None:
    written = OrderedTree(tuple(f"n{label}" for label in tree.labels), tree.arities)
    assert OrderedTree.from_text(written.text) == written
    assert hash(OrderedTree.from_text(written.text)) == hash(written)
    assert pickle.loads(pickle.dumps(tree)) == tree


@given(ordered_trees)
def test_parents_and_height_are_those_of_the_nested_form(tree: OrderedTree) -> None:
    parents = tree.parents
    assert parents[0] == -1
    assert np.bincount(parents[1:], minlength=len(tree)).tolist() == list(tree.arities)
    depth = [0]
    for parent in parents[1:].tolist():
        depth.append(depth[parent] + 1)
    assert tree.height == max(depth)


@pytest.mark.parametrize("text", ["(S(NP a)(VP b))", " ( S\n(NP a) ( VP (b) ) ) "])
def test_spaces_between_brackets_do_not_matter(text: str) -> None:
    assert OrderedTree.from_text(text) == OrderedTree.of(["S", ["NP", "a"], ("VP", "b")])


def test_trees_of_other_libraries_are_read() -> None:
    other = Parsed("S", [Parsed("NP", ["a"]), Parsed("VP", ["b"])])
    assert OrderedTree.of(other) == OrderedTree.of("(S (NP a) (VP b))")


def test_numpy_labels_become_plain() -> None:
    tree = OrderedTree.from_nested((np.str_("a"), np.int64(3)))
    assert [type(label) for label in tree.labels] == [str, int]


@pytest.mark.slow
def test_deep_trees_do_not_overflow_the_stack() -> None:
    text = "(a " * DEEP + "b" + ")" * DEEP
    tree = OrderedTree.from_text(text)
    nested: Any = "b"
    for _ in range(DEEP):
        nested = ["a", nested]
    assert OrderedTree.from_nested(nested) == tree
    assert tree.height == DEEP
    assert tree.text == text
    assert len(repr(tree)) < 100


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no tree"),
        ("   ", "holds no tree"),
        ("()", r"position 0: a bracket opens without a label"),
        ("((a) b)", r"position 0: a bracket opens without a label"),
        ("(a b", r"position 0: 1 brackets are not closed"),
        ("(a (b c)", r"position 0: 1 brackets are not closed"),
        ("(a (b c", r"position 3: 2 brackets are not closed"),
        ("(a (", r"position 3: a bracket opens without a label"),
        ("(a b))", r"position 5: '\)' follows the end of the tree"),
        (")", r"position 0: a bracket closes that was not opened"),
        ("(a b) (c d)", r"position 6: '\(' follows the end"),
        ("a b", r"position 2: 'b' follows the end"),
    ],
)
def test_wrong_text_is_named_with_its_position(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        OrderedTree.from_text(text)


def test_a_tree_that_contains_itself_is_refused() -> None:
    loop: list[Any] = ["a"]
    loop.append(loop)
    with pytest.raises(InputError, match="contains itself"):
        OrderedTree.from_nested(loop)


def test_a_part_may_be_used_twice() -> None:
    part = ("b", "c")
    assert len(OrderedTree.from_nested(("a", part, part))) == 5


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        (3.5, "3.5 of type float is not a tree"),
        (None, "not a tree"),
        (("a", ()), "Node 1 of the nested tree is empty"),
        (("a", True), "Labels of nodes are text or whole numbers, got True"),
        (("a", {"b": 1}), r"of type dict is not a tree \(node 1\)"),
        ((("a",), "b"), r"Labels of nodes are text or whole numbers, got \('a',\)"),
        (np.zeros(2), "of type ndarray is not a tree"),
    ],
)
def test_what_is_not_a_tree_is_named(given_: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        OrderedTree.of(given_)


@pytest.mark.parametrize(
    ("labels", "arities", "message"),
    [
        ((), (), "at least one node"),
        (("a",), (0, 0), "one arity for each label"),
        (("a", "b"), (0, 1), "not one tree"),
        (("a", "b"), (2, 0), "not one tree"),
        (("a", "b", "c"), (0, 2, 0), "not one tree"),
        (("a",), (-1,), "number of children, got -1"),
        (("a",), (0.5,), r"number of children, got 0\.5"),
    ],
)
def test_impossible_fields_are_refused(labels: Any, arities: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        OrderedTree(labels, arities)


@pytest.mark.parametrize("label", ["a b", "(", "", 3])
def test_labels_that_text_cannot_hold_are_refused(label: Any) -> None:
    with pytest.raises(InputError, match="cannot be written between brackets"):
        _ = OrderedTree((label,), (0,)).text


def test_text_is_no_bracketed_text_unless_it_is_a_string() -> None:
    with pytest.raises(InputError, match="got bytes"):
        OrderedTree.from_text(b"(a b)")  # type: ignore[arg-type]
