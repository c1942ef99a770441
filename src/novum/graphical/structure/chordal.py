"""Trees of cliques of chordal graphs, and their flowers.

A graph is chordal iff a search that always visits a node with most visited neighbors finds, for
each node, visited neighbors that are all joined (Tarjan and Yannakakis 1984). The cliques then form
a tree in which those that share a node are connected; the common nodes of two neighbors in the
tree are a *separator*.

A *flower* of a separator S is a largest set of cliques that contain S and hang together by
separators that contain S and more. Its *rest* is the graph of its cliques without S.

References
----------
Blair and Peyton (1993); Wienöbst, Bannach and Liśkiewicz (2023).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from novum.numerics.shared_state import cached_property

Nodes = frozenset[int]
# A step along an edge of the tree of cliques.
Step = tuple[int, int]


@dataclass(frozen=True)
class Flower:
    """Cliques that contain a separator and hang together by more than that.

    Attributes
    ----------
    separator : frozenset of int
        Nothing for the flower of all cliques.
    cliques : tuple of int
        In the order of the tree: the first is nearest to its root.
    steps : tuple of (int, int)
        Steps of the tree that lead out of the flower.
    """

    separator: Nodes
    cliques: tuple[int, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class ChordalTree:
    """The cliques of a connected chordal graph as a tree; the first is its root.

    Attributes
    ----------
    cliques : list of frozensets
    parents : list of int
        Of each clique, one before it; -1 for the root.
    separators : list of frozensets
        What each clique shares with its parent; nothing for the root.
    """

    cliques: list[Nodes]
    parents: list[int]
    separators: list[Nodes]

    @cached_property
    def near(self) -> list[list[tuple[int, Nodes]]]:
        """Of each clique, its neighbors in the tree with what they share."""
        found: list[list[tuple[int, Nodes]]] = [[] for _ in self.cliques]
        for clique in range(1, len(self.cliques)):
            parent, separator = self.parents[clique], self.separators[clique]
            found[parent].append((clique, separator))
            found[clique].append((parent, separator))
        return found

    def flowers(self) -> tuple[list[Flower], dict[Step, int]]:
        """All flowers, that of all cliques first, and which of them each step leads into."""
        found = [Flower(frozenset(), tuple(range(len(self.cliques))), ())]
        # The flower of a separator that a clique is in does not depend on where it is entered.
        place: dict[tuple[Nodes, int], int] = {}
        into: dict[Step, int] = {}
        for clique in range(1, len(self.cliques)):
            parent, separator = self.parents[clique], self.separators[clique]
            for start, end in ((parent, clique), (clique, parent)):
                if (separator, end) not in place:
                    flower = _flower(self.near, separator, end)
                    place.update(((separator, inside), len(found)) for inside in flower.cliques)
                    found.append(flower)
                into[start, end] = place[separator, end]
        return found, into


def _flower(near: Sequence[Sequence[tuple[int, Nodes]]], separator: Nodes, start: int) -> Flower:
    found, steps = [start], []
    seen = {start}
    for clique in found:
        for other, shared in near[clique]:
            if other in seen:
                continue
            if shared > separator:
                seen.add(other)
                found.append(other)
            else:
                steps.append((clique, other))
    return Flower(separator, tuple(sorted(found)), tuple(steps))


def chordal_tree(near: Mapping[int, Collection[int]], nodes: Collection[int]) -> ChordalTree | None:
    """The tree of cliques of a connected graph; None where it is not chordal.

    Parameters
    ----------
    near : neighbors of each node
    nodes : those of the graph

    Examples
    --------
    >>> tree = chordal_tree({0: {1, 2}, 1: {0, 2}, 2: {0, 1, 3}, 3: {2}}, range(4))
    >>> [sorted(clique) for clique in tree.cliques], [sorted(s) for s in tree.separators]
    ([[0, 1, 2], [2, 3]], [[], [2]])
    >>> chordal_tree({0: {1, 3}, 1: {0, 2}, 2: {1, 3}, 3: {0, 2}}, range(4)) is None
    True
    """
    cliques: list[set[int]] = []
    parents: list[int] = []
    separators: list[Nodes] = []
    clique_of: dict[int, int] = {}
    known: list[int] = []
    for node, visited in _search(near, nodes):
        last = visited[-1] if visited else -1
        if visited and not _joined_to_all(near[last], visited[:-1]):
            return None
        if len(visited) <= len(known) or not cliques:
            # Fewer visited neighbors than the node before would need: a new clique begins.
            parents.append(clique_of[last] if visited else -1)
            separators.append(frozenset(visited))
            cliques.append(set(visited))
        cliques[-1].add(node)
        clique_of[node] = len(cliques) - 1
        known = visited
    return ChordalTree([frozenset(clique) for clique in cliques], parents, separators)


def _joined_to_all(near: Collection[int], others: Sequence[int]) -> bool:
    """Whether a node is joined to all others."""
    return all(other in near for other in others)


def _search(
    near: Mapping[int, Collection[int]], nodes: Collection[int]
) -> list[tuple[int, list[int]]]:
    """Nodes by maximum cardinality search, each with its neighbors that were visited before."""
    visited: dict[int, list[int]] = {node: [] for node in nodes}
    # Nodes by how many visited neighbors they had when they were put there; entries go stale.
    buckets: list[list[int]] = [sorted(nodes, reverse=True)]
    done: set[int] = set()
    order = []
    while buckets:
        if not buckets[-1]:
            buckets.pop()
            continue
        node = buckets[-1].pop()
        if node in done or len(visited[node]) != len(buckets) - 1:
            continue
        done.add(node)
        order.append((node, visited[node]))
        for other in sorted(near[node]):
            if other not in done:
                visited[other].append(node)
                if len(visited[other]) == len(buckets):
                    buckets.append([])
                buckets[len(visited[other])].append(other)
    return order
