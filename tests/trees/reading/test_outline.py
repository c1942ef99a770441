"""Outlines: every node once, and an honest count of what is not shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.trees.reading.outline import hover_text, outline
from novum.trees.tree import Tree
from tests.trees.reading.reading_trees import iris_tree, random_trees, weather_tree


@given(random_trees(), st.integers(0, 4))
def test_shown_and_hidden_nodes_are_all_nodes(tree: Tree, max_depth: int) -> None:
    entries = outline(tree, max_depth=max_depth).entries
    assert len(entries) + sum(entry.hidden for entry in entries) == tree.n_nodes
    assert max(entry.depth for entry in entries) <= max_depth
    for place, entry in enumerate(entries):
        assert all(entries[child].parent == place for child in entry.children)
        assert bool(entry.children) == (not entry.is_leaf and not entry.hidden)


def test_entries_say_what_the_nodes_say() -> None:
    drawing = outline(iris_tree())
    assert drawing.summary == "7 nodes, 4 leaves, depth 3"
    entry = drawing.entries[4]
    assert (entry.answer, entry.prediction) == ("> 1.75 or missing", "virginica")
    assert entry.condition == "petal width > 1.75 or missing"
    assert entry.counts == "virginica 45, versicolor 1"
    assert drawing.entries[2].asked == "petal width"


def test_the_rest_is_counted_in_words() -> None:
    tree = weather_tree()
    assert outline(tree, max_depth=0).entries[0].rest == "... 7 more nodes"
    assert outline(tree).entries[0].rest == ""


def test_pointing_at_a_node_tells_all() -> None:
    tree = weather_tree()
    shown = outline(tree, max_depth=1).entries[3]
    assert hover_text(shown, tree).splitlines() == [
        "node 3",
        "outlook = sunny",
        "no: no 3, yes 2",
        "asks humidity, gain 0",
        "... 2 more nodes",
    ]


def test_a_negative_depth_is_refused() -> None:
    with pytest.raises(InputError, match="max_depth is at least 0, got -1"):
        outline(weather_tree(), max_depth=-1)
