"""Small ordered trees with few labels, so that parts are often shared."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from novum.kernels.trees.ordered_tree import OrderedTree

LABELS = ("a", "b", 7)

nested_trees: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from(LABELS),
    lambda child: st.tuples(st.sampled_from(LABELS), st.lists(child, min_size=1, max_size=3)).map(
        lambda node: (node[0], *node[1])
    ),
    max_leaves=6,
)
ordered_trees: st.SearchStrategy[OrderedTree] = nested_trees.map(OrderedTree.from_nested)


def random_trees(n_trees: int, n_nodes: int, seed: int = 0) -> list[OrderedTree]:
    """Trees grown by hanging each further node under a random earlier one."""
    rng = np.random.default_rng(seed)
    trees = []
    for _ in range(n_trees):
        nodes: list[Any] = [[str(rng.choice(["S", "N", "V"]))]]
        for _ in range(n_nodes - 1):
            child = [str(rng.choice(["S", "N", "V"]))]
            nodes[rng.integers(len(nodes))].append(child)
            nodes.append(child)
        trees.append(OrderedTree.from_nested(nodes[0]))
    return trees
