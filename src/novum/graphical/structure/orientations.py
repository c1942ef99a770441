"""Directions of a chordal graph without cycles and immoralities: counted, drawn, listed.

Every such orientation begins with an order of some clique K; what follows from it leaves certain
parts undirected, each of them the rest of a flower (`novum.graphical.structure.orientations`), and
these are directed on their own. Many cliques begin the same orientation. It is counted for the
first of them in the tree of cliques, that is, for orders of K none of whose beginnings is one of
the separators inside K on the way from the root, S_1 < ... < S_m in size:

    count(G)  =  sum over K of  phi_0(K) * product over the parts that K leaves of count(part)
    phi_i(K)  =  (|K| - |S_i|)!  -  sum over j > i of  (|S_j| - |S_i|)! * phi_j(K),     |S_0| = 0

Parts of parts are again rests of flowers of the same tree, so each flower is counted once, those
of the largest separators first: the time is polynomial, and a draw takes linear time after it.

References
----------
Wienöbst, Bannach and Liśkiewicz (2021), *Polynomial-time algorithms for counting and sampling
Markov equivalent DAGs*; (2023), the same with applications.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from novum.numerics import cached_property

Nodes = frozenset[int]
# A step along an edge of the tree of cliques.
Step = tuple[int, int]
# For each clique that can begin: itself, the separators that must not, and how many orientations.
Beginning = tuple[int, list[Nodes], int]


class Orientations:
    """The orientations of one connected graph.

    An orientation is given as an order of the nodes, in which edges point onwards. A graph that is
    not chordal has none.

    Parameters
    ----------
    near : neighbors of each node
    nodes : those of the graph

    Examples
    --------
    >>> path = Orientations({0: {1}, 1: {0, 2}, 2: {1}}, range(3))
    >>> path.size, list(path)
    (3, [[0, 1, 2], [1, 0, 2], [2, 1, 0]])
    """

    def __init__(self, near: Mapping[int, Collection[int]], nodes: Collection[int]) -> None:
        tree = chordal_tree(near, nodes)
        self.size = 0
        if tree is None:
            return
        self.tree: ChordalTree = tree
        self.flowers, self.into = tree.flowers()
        self.counts = [0] * len(self.flowers)
        self.beginnings: list[list[Beginning]] = [[] for _ in self.flowers]
        largest_first = sorted(
            range(len(self.flowers)), key=lambda place: -len(self.flowers[place].separator)
        )
        for place in largest_first:
            self.beginnings[place] = self._begin(self.flowers[place])
            self.counts[place] = sum(count for _, _, count in self.beginnings[place])
        self.size = self.counts[0]

    def draw(self, rng: np.random.Generator) -> list[int]:
        """One of all orientations, each with the same probability."""
        order: list[int] = []
        waiting = [0]
        while waiting:
            place = waiting.pop()
            flower, choices = self.flowers[place], self.beginnings[place]
            ends = list(itertools.accumulate(count for _, _, count in choices))
            clique, barred, _ = choices[bisect_right(ends, below(ends[-1], rng))]
            inside = sorted(self.tree.cliques[clique] - flower.separator)
            # About half of all orders are good at the least, so few draws are thrown away.
            while True:
                drawn = [inside[i] for i in rng.permutation(len(inside)).tolist()]
                if not _begins_with_any(drawn, barred):
                    break
            order += drawn
            waiting += reversed(self._left_by(flower, clique))
        return order

    def __iter__(self) -> Iterator[list[int]]:
        return self._orders([0]) if self.size else iter(())

    def _orders(self, waiting: list[int]) -> Iterator[list[int]]:
        """All ways to direct several parts that follow each other."""
        decided = list(itertools.takewhile(lambda place: self.counts[place] == 1, waiting))
        known = [node for place in decided for node in self._only_order(place)]
        if len(decided) == len(waiting):
            yield known
            return
        place, *others = waiting[len(decided) :]
        flower = self.flowers[place]
        for clique, barred, _ in self.beginnings[place]:
            parts = [*self._left_by(flower, clique), *others]
            inside = sorted(self.tree.cliques[clique] - flower.separator)
            for chosen in itertools.permutations(inside):
                if not _begins_with_any(chosen, barred):
                    yield from ([*known, *chosen, *rest] for rest in self._orders(parts))

    def _only_order(self, place: int) -> Nodes:
        """The node of a part that has no edges, and so nothing to choose."""
        flower = self.flowers[place]
        return self.tree.cliques[flower.cliques[0]] - flower.separator

    def _begin(self, flower: Flower) -> list[Beginning]:
        """How many orientations of the rest of a flower each of its cliques begins."""
        products = self._products(flower)
        beginnings = []
        for clique in flower.cliques:
            barred = self._barred(flower, clique)
            sizes = [len(separator) for separator in barred]
            size = len(self.tree.cliques[clique]) - len(flower.separator)
            beginnings.append((clique, barred, orders_without(size, sizes) * products[clique]))
        return beginnings

    def _products(self, flower: Flower) -> dict[int, int]:
        """For each clique the number of ways to direct all parts that it leaves.

        Along a step of the tree, `ways` counts those of all parts beyond it. Down from the root
        they are multiplied; up, what lies beyond a flower is divided by what the step comes from.
        """
        inside = set(flower.cliques)
        top = flower.cliques[0]
        ways: dict[Step, int] = {}
        products = dict.fromkeys(flower.cliques, 1)
        for clique in reversed(flower.cliques):
            if clique != top:
                step = (self.tree.parents[clique], clique)
                ways[step] = self._beyond(step, inside, ways)
                products[step[0]] *= ways[step]
        around: dict[int, int] = {}
        for clique in flower.cliques:
            if clique != top:
                back = (self.tree.parents[clique], clique)
                step = back[::-1]
                place = self.into[step]
                if place not in around:
                    around[place] = self._beyond(step, inside, ways) * ways[back]
                ways[step] = around[place] // ways[back]
                products[clique] *= ways[step]
        return products

    def _beyond(self, step: Step, inside: set[int], ways: Mapping[Step, int]) -> int:
        """Ways to direct the part that a step leads into and all that hang on it."""
        place = self.into[step]
        total = self.counts[place]
        for onward in self.flowers[place].steps:
            if onward[1] in inside and onward != step[::-1]:
                total *= ways[onward]
        return total

    def _barred(self, flower: Flower, clique: int) -> list[Nodes]:
        """Separators in a clique on its way to the top, less that of the flower; largest last."""
        separators: list[Nodes] = []
        shared, outside = self.tree.cliques[clique], len(flower.separator)
        while clique != flower.cliques[0] and len(shared) > outside:
            separator = self.tree.separators[clique]
            clique = self.tree.parents[clique]
            shared = shared & self.tree.cliques[clique]
            # Neighbors share at least what a clique beyond one of them shares with the other.
            if len(separator) == len(shared) and not (
                separators and len(separators[-1]) == len(shared)
            ):
                separators.append(separator)
        return [separator - flower.separator for separator in reversed(separators)]

    def _left_by(self, flower: Flower, clique: int) -> list[int]:
        """The parts of a flower that are left when a clique begins, each after what it hangs on."""
        inside = set(flower.cliques)
        steps = [(clique, other) for other, _ in self.tree.near[clique] if other in inside]
        for step in steps:
            onward = self.flowers[self.into[step]].steps
            steps += [out for out in onward if out[1] in inside and out != step[::-1]]
        return [self.into[step] for step in steps]


def orders_without(size: int, barred: Sequence[int]) -> int:
    """How many orders of so many things have none of a chain of sets as their beginning.

    Parameters
    ----------
    size : int
    barred : sequence of int
        Sizes of the sets, each of which is part of the next.

    Examples
    --------
    >>> orders_without(3, []), orders_without(3, [1]), orders_without(3, [1, 2])
    (6, 4, 3)
    """
    ends = [0, *barred]
    good = [0] * len(ends)
    for i in range(len(ends) - 1, -1, -1):
        # Orders that begin with set i, less those that begin with a larger one, by the largest.
        good[i] = math.factorial(size - ends[i]) - sum(
            math.factorial(ends[j] - ends[i]) * good[j] for j in range(i + 1, len(ends))
        )
    return good[0]


def below(end: int, rng: np.random.Generator) -> int:
    """A whole number from 0 to end - 1, each with the same probability, however large."""
    bits = end.bit_length()
    while True:
        drawn = int.from_bytes(rng.bytes((bits + 7) // 8), "little") >> (-bits % 8)
        if drawn < end:
            return drawn


def _begins_with_any(order: Sequence[int], barred: Sequence[Nodes]) -> bool:
    return any(separator.issuperset(order[: len(separator)]) for separator in barred)


# --- Chordal graphs -------------------------------------------------------------------------------
# Trees of cliques of chordal graphs, and their flowers.
#
# A graph is chordal iff a search that always visits a node with most visited neighbors finds, for
# each node, visited neighbors that are all joined (Tarjan and Yannakakis 1984). The cliques then
# form a tree in which those that share a node are connected; the common nodes of two neighbors in
# the tree are a *separator*.
#
# A *flower* of a separator S is a largest set of cliques that contain S and hang together by
# separators that contain S and more. Its *rest* is the graph of its cliques without S.
#
# References ---------- Blair and Peyton (1993); Wienöbst, Bannach and Liśkiewicz (2023).


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
        neighbors: list[list[tuple[int, Nodes]]] = [[] for _ in self.cliques]
        for clique in range(1, len(self.cliques)):
            parent, separator = self.parents[clique], self.separators[clique]
            neighbors[parent].append((clique, separator))
            neighbors[clique].append((parent, separator))
        return neighbors

    def flowers(self) -> tuple[list[Flower], dict[Step, int]]:
        """All flowers, that of all cliques first, and which of them each step leads into."""
        flowers = [Flower(frozenset(), tuple(range(len(self.cliques))), ())]
        # The flower of a separator that a clique is in does not depend on where it is entered.
        place: dict[tuple[Nodes, int], int] = {}
        into: dict[Step, int] = {}
        for clique in range(1, len(self.cliques)):
            parent, separator = self.parents[clique], self.separators[clique]
            for start, end in ((parent, clique), (clique, parent)):
                if (separator, end) not in place:
                    flower = _flower(self.near, separator, end)
                    place.update(((separator, inside), len(flowers)) for inside in flower.cliques)
                    flowers.append(flower)
                into[start, end] = place[separator, end]
        return flowers, into


def _flower(near: Sequence[Sequence[tuple[int, Nodes]]], separator: Nodes, start: int) -> Flower:
    cliques, steps = [start], []
    seen = {start}
    for clique in cliques:
        for other, shared in near[clique]:
            if other in seen:
                continue
            if shared > separator:
                seen.add(other)
                cliques.append(other)
            else:
                steps.append((clique, other))
    return Flower(separator, tuple(sorted(cliques)), tuple(steps))


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
        if visited and not all(other in near[last] for other in visited[:-1]):
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
