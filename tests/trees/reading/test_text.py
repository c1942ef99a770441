"""Trees as text: exact drawings, one line for each node, and any depth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from novum.core.errors import InputError
from novum.core.tables import Schema
from novum.trees.reading.text import tree_text
from novum.trees.tree import Tree
from tests.trees.reading.reading_trees import (
    Node,
    below,
    build,
    iris_tree,
    leaf,
    random_trees,
    weather_tree,
)


def test_the_weather_as_text() -> None:
    assert tree_text(weather_tree()).splitlines() == [
        "all rows [yes 9, no 5]",
        "├─ outlook = overcast: yes [yes 4]",
        "├─ outlook = rainy [yes 3, no 2]",
        "│  ├─ windy = False: yes [yes 3]",
        "│  └─ windy = True: no [no 2]",
        "└─ outlook = sunny [no 3, yes 2]",
        "   ├─ humidity <= 77.5: yes [yes 2]",
        "   └─ humidity > 77.5: no [no 3]",
    ]


def test_what_is_too_deep_is_counted() -> None:
    assert tree_text(iris_tree(), max_depth=1, lines="ascii").splitlines() == [
        "all rows [setosa 50, versicolor 50, virginica 50]",
        "|- petal width <= 0.8: setosa [setosa 50]",
        "`- petal width > 0.8: versicolor [versicolor 50, virginica 50]",
        "   `- ... 4 more nodes",
    ]


@given(random_trees())
def test_one_line_for_each_node(tree: Tree) -> None:
    text = tree_text(tree, lines="ascii")
    assert text.isascii()
    assert len(text.splitlines()) == tree.n_nodes


def test_a_single_leaf() -> None:
    assert (
        tree_text(build(Schema.of_array(1), [["a", "b"]], leaf(1, 2))) == "all rows: b [b 2, a 1]"
    )


def test_a_tree_deeper_than_the_recursion_limit() -> None:
    root: Node = leaf(1, 0)
    for threshold in np.arange(1500.0):
        root = below(0, float(threshold), leaf(0, 1), root)
    assert len(tree_text(build(Schema.of_array(1), [["a", "b"]], root)).splitlines()) == 3001


def test_unknown_lines_are_refused() -> None:
    with pytest.raises(InputError, match="lines is 'unicode' or 'ascii', got 'dots'"):
        tree_text(weather_tree(), lines="dots")  # type: ignore[arg-type]
