"""Subtree kernel: counting by hand and by listing, new trees, deep trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.trees.ordered_tree import OrderedTree
from novum.kernels.trees.subtree import SubtreeKernel
from tests.kernels.trees.random_trees import ordered_trees, random_trees
from tests.oracles.tree_kernel_definitions import subtree_similarity

tree_lists = st.lists(ordered_trees, min_size=1, max_size=4)


@given(tree_lists, tree_lists, st.sampled_from([1.0, 0.5, 0.3]))
def test_similarities_are_those_of_the_definition(
    X: list[OrderedTree], Z: list[OrderedTree], decay: float
) -> None:
    expected = [[subtree_similarity(x, z, decay) for z in Z] for x in X]
    np.testing.assert_allclose(SubtreeKernel(decay).cross(X, Z), expected, rtol=1e-13)


def test_contract() -> None:
    check_kernel_contract(SubtreeKernel(0.7), random_trees(8, 12))
    check_kernel_contract(SubtreeKernel(), ["(a b)", "a", "(a b)", ("a", ("b", "c"))])


def test_unseen_subtrees_count_only_among_new_trees() -> None:
    kernel = SubtreeKernel()
    training = kernel.prepare(["(S a b)"])
    new = kernel.prepare(["(S a z)"], like=training)
    assert new.cross(training).tolist() == [[1.0]]
    assert new.diagonal().tolist() == [3.0]
    with pytest.raises(InputError, match="prepared apart"):
        new.cross(kernel.prepare(["(S a z)"], like=training))


def test_order_of_children_matters() -> None:
    assert SubtreeKernel().cross(["(S a b)"], ["(S b a)"]).tolist() == [[2.0]]


def test_deep_trees() -> None:
    depth = 100_000
    tree = OrderedTree(("a",) * (depth + 1), (1,) * depth + (0,))
    assert SubtreeKernel().gram([tree]).tolist() == [[depth + 1.0]]
    # 0.5^n over all sizes n sums to 1.
    assert SubtreeKernel(0.5).diagonal([tree])[0] == pytest.approx(1.0, rel=1e-12)


def test_bad_decay_is_refused() -> None:
    with pytest.raises(InputError, match="decay of SubtreeKernel"):
        SubtreeKernel(0.0)
