"""Productions as arrays: groups, ranks, children and the peak of the walk, against lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novum.kernels.trees.ordered_tree import OrderedTree
from novum.kernels.trees.production_rows import Productions
from tests.kernels.trees.random_trees import ordered_trees

tree_lists = st.lists(ordered_trees, min_size=0, max_size=4)


@given(tree_lists)
def test_groups_are_the_inner_nodes_by_production(trees: list[OrderedTree]) -> None:
    rows = Productions.of(trees)
    assert len(rows) == len(trees)
    for t, tree in enumerate(trees):
        own = range(rows.starts[t], rows.starts[t + 1])
        codes, sizes = rows.groups(t)
        assert codes.tolist() == sorted({int(rows.production[i]) for i in own} - {-1})
        assert rows.widths[t] == max(sizes, default=0)
        for code, g in zip(codes, range(rows.tree_groups[t], rows.tree_groups[t + 1]), strict=True):
            members = rows.ordered[rows.group_starts[g] : rows.group_starts[g + 1]]
            assert members.tolist() == [i for i in own if rows.production[i] == code]
            assert rows.rank[members].tolist() == list(range(len(members)))
        for i in own:
            first = rows.first_child[i]
            below = rows.children[first : first + rows.arity[i]] - rows.starts[t]
            assert below.tolist() == np.flatnonzero(tree.parents == i - rows.starts[t]).tolist()


@given(tree_lists, tree_lists)
def test_equal_productions_have_equal_numbers(
    first: list[OrderedTree], second: list[OrderedTree]
) -> None:
    training = Productions.of(first)
    new = Productions.of(second, training.vocabulary)
    seen: dict[object, int] = {}
    for rows, trees in ((training, first), (new, second)):
        for t, tree in enumerate(trees):
            for i, label in enumerate(tree.labels):
                below = tuple(tree.labels[j] for j in np.flatnonzero(tree.parents == i))
                number = int(rows.production[rows.starts[t] + i])
                assert number == (seen.setdefault((label, below), number) if below else -1)
    assert len(set(seen.values())) == len(seen)


@given(tree_lists, tree_lists)
def test_shared_nodes_are_counted(first: list[OrderedTree], second: list[OrderedTree]) -> None:
    one = Productions.of(first)
    other = Productions.of(second, one.vocabulary)
    found = other.shared_nodes(np.arange(len(other)), one.totals(np.arange(len(one))))
    inner = one.production[one.production >= 0]
    for t in range(len(other)):
        own = other.production[other.starts[t] : other.starts[t + 1]]
        assert found[t] == sum(int((inner == code).sum()) for code in own if code >= 0)


def test_peaks() -> None:
    chain = OrderedTree.of("(a (a (a (a b))))")
    star = OrderedTree.of("(a (b c) (b c) (b c))")
    # A chain has one row below the one that is made; a star those of all its children.
    assert Productions.of([chain, star, OrderedTree.of("a")]).peaks.tolist() == [2, 4, 0]
