"""Subset-tree kernel: counting by hand, by listing all fragments and by plain recursion."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError, MemoryLimitError
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.trees import subset_tree
from novum.kernels.trees.ordered_tree import OrderedTree
from novum.kernels.trees.subset_tree import SubsetTreeKernel
from tests.kernels.trees.random_trees import ordered_trees, random_trees
from tests.oracles.tree_kernel_definitions import nested, nodes, subset_tree_similarity

tree_lists = st.lists(ordered_trees, min_size=1, max_size=4)


def recursive(one: OrderedTree, other: OrderedTree, decay: float) -> float:
    """Collins and Duffy's recursion as it is printed."""

    @cache
    def common(t: Any, u: Any) -> float:
        same = t[0] == u[0] and [c[0] for c in t[1]] == [c[0] for c in u[1]]
        if not t[1] or not u[1] or not same:
            return 0.0
        value = decay
        for below, beside in zip(t[1], u[1], strict=True):
            value *= 1 + common(below, beside)
        return value

    return sum(common(t, u) for t in nodes(nested(one)) for u in nodes(nested(other)))


@given(tree_lists, tree_lists, st.sampled_from([1.0, 0.4]))
def test_similarities_are_those_of_the_definition(
    X: list[OrderedTree], Z: list[OrderedTree], decay: float
) -> None:
    expected = [[subset_tree_similarity(x, z, decay) for z in Z] for x in X]
    np.testing.assert_allclose(SubsetTreeKernel(decay).cross(X, Z), expected, rtol=1e-12)


def test_larger_trees_agree_with_the_recursion() -> None:
    trees = random_trees(6, 60)
    expected = [[recursive(x, z, 0.4) for z in trees] for x in trees]
    np.testing.assert_allclose(SubsetTreeKernel().gram(trees), expected, rtol=1e-12)


def test_the_example_of_the_paper() -> None:
    # Collins and Duffy, figure 2: the noun phrase "the apple" has six fragments.
    phrase = "(NP (D the) (N apple))"
    assert SubsetTreeKernel(1.0).gram([phrase]).tolist() == [[6.0]]


def test_contract() -> None:
    check_kernel_contract(SubsetTreeKernel(), random_trees(8, 12))
    check_kernel_contract(SubsetTreeKernel(1.0), ["(a b)", "a", "(a b)", ("a", ("b", "c"))])


def test_the_exact_stack_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    trees = random_trees(6, 40, seed=1)
    expected = SubsetTreeKernel().gram(trees)
    monkeypatch.setattr(subset_tree, "UNCHECKED_BYTES", -1)
    np.testing.assert_array_equal(SubsetTreeKernel().gram(trees), expected)
    rows = SubsetTreeKernel().prepare(trees)
    loose = int(rows.productions.peaks.max() * rows.productions.widths.max())
    assert 0 < subset_tree._stack_cells(rows, rows) <= loose


@pytest.mark.slow
def test_deep_trees() -> None:
    depth = 100_000
    chain = OrderedTree(tuple(range(depth + 1)), (1,) * depth + (0,))
    # Fragments of a chain of different labels: one for each start and each end below it.
    assert SubsetTreeKernel(1.0).gram([chain])[0, 0] == depth * (depth + 1) / 2
    # All nodes above the leaf are alike, and nodes m and n edges above it share min(m, n).
    edges = np.arange(1, 2001)
    alike = OrderedTree(("a",) * 2001, (1,) * 2000 + (0,))
    assert SubsetTreeKernel(1.0).gram([alike])[0, 0] == np.minimum.outer(edges, edges).sum()


def test_overflow_names_the_trees() -> None:
    text = "a"
    for _ in range(12):
        text = f"(a {text} {text})"
    with pytest.raises(InputError, match=r"tree 1 and tree 1 is beyond the largest float64.*Lower"):
        SubsetTreeKernel(1.0).gram(["(b c)", text])
    rows = SubsetTreeKernel(0.6).prepare([text])
    with pytest.raises(InputError, match="tree 0 and tree 0 is beyond the largest float32"):
        rows.gram(np.float32)


def test_too_many_like_nodes_are_refused_before_the_memory_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "100MB")
    star = OrderedTree(("S", *("N", "w") * 4000), (4000, *(1, 0) * 4000))
    with pytest.raises(MemoryLimitError, match=r"subset-tree similarity .* SubtreeKernel"):
        SubsetTreeKernel().gram([star])


def test_single_nodes_have_no_fragment() -> None:
    assert SubsetTreeKernel().gram(["a", "(a b)"]).tolist() == [[0.0, 0.0], [0.0, 0.4]]
