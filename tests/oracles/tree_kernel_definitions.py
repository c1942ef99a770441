"""Tree kernels by listing: every shared part is written out and counted.

Oracles for small trees; the number of fragments grows exponentially with the nodes.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

from novum.kernels.trees.ordered_tree import OrderedTree

# A label and the parts below it; of fragments, a child that is not expanded is its label alone.
Part = Any


def nested(tree: OrderedTree) -> Part:
    """The tree as `(label, children)` at every node.

    >>> nested(OrderedTree.from_text("(a b)"))
    ('a', (('b', ()),))
    """
    finished: list[Part] = []
    for label, arity in zip(reversed(tree.labels), reversed(tree.arities), strict=True):
        children = tuple(finished.pop() for _ in range(arity))
        finished.append((label, children))
    return finished[0]


def nodes(part: Part) -> list[Part]:
    """The parts at all nodes, root first."""
    return [part, *(node for child in part[1] for node in nodes(child))]


def subtree_counts(tree: OrderedTree) -> Counter[Part]:
    """How often every complete subtree occurs."""
    return Counter(nodes(nested(tree)))


def subtree_similarity(one: OrderedTree, other: OrderedTree, decay: float = 1.0) -> float:
    """`sum over s of decay^|s| n_s n'_s`, subtree by subtree."""
    first, second = subtree_counts(one), subtree_counts(other)
    return sum(
        decay ** len(nodes(part)) * count * second[part]
        for part, count in first.items()
        if part in second
    )


def fragments_at(part: Part) -> list[Part]:
    """All fragments rooted at a node: it is expanded, each inner child may be."""
    label, children = part
    if not children:
        return []
    choices = [[child[0], *fragments_at(child)] for child in children]
    return [(label, chosen) for chosen in product(*choices)]


def expanded_nodes(fragment: Part) -> int:
    if not isinstance(fragment, tuple):
        return 0
    return 1 + sum(expanded_nodes(child) for child in fragment[1])


def fragment_counts(tree: OrderedTree) -> Counter[Part]:
    """How often every fragment occurs."""
    return Counter(fragment for part in nodes(nested(tree)) for fragment in fragments_at(part))


def subset_tree_similarity(one: OrderedTree, other: OrderedTree, decay: float = 1.0) -> float:
    """`sum over fragments f of decay^(expanded nodes) n_f n'_f`, fragment by fragment."""
    first, second = fragment_counts(one), fragment_counts(other)
    return sum(
        decay ** expanded_nodes(fragment) * count * second[fragment]
        for fragment, count in first.items()
        if fragment in second
    )
