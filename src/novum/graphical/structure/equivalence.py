"""Graphs that state the same independences, and the class they form.

Two graphs are I-equivalent iff they have the same skeleton and the same immoralities. A class is
shown by one partly directed graph, its *pattern* (CPDAG): an edge has a direction iff it has that
one in all members. It follows from the skeleton and the immoralities by Meek's rules. What is left
without direction falls apart into chordal graphs, each of which can be directed on its own
(`novum.graphical.structure.equivalence` counts and draws the ways, also where more directions
are known than a pattern has).

References
----------
Verma and Pearl (1990); Meek (1995); Chickering (2002).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.text import listed
from novum.graphical.structure.dag import Dag, html_table, reached
from novum.graphical.structure.orientations import Orientations, below
from novum.numerics import cached_property


def are_equivalent(one: Dag, other: Dag) -> bool:
    """Whether two graphs state the same independences.

    Examples
    --------
    >>> chain = Dag.from_edges([("a", "b"), ("b", "c")])
    >>> fork, collider = (
    ...     Dag.from_edges([("b", "a"), ("b", "c")]), Dag.from_edges([("a", "b"), ("c", "b")])
    ... )
    >>> are_equivalent(chain, fork), are_equivalent(chain, collider)
    (True, False)
    """
    return (
        set(one.names) == set(other.names)
        and one.skeleton == other.skeleton
        and one.immoralities == other.immoralities
    )


@dataclass(frozen=True, repr=False)
class PartialDag:
    """A graph with directed and undirected edges.

    Attributes
    ----------
    names : tuple of str
    directed : frozenset of (from, to)
    undirected : frozenset of pairs
    """

    names: tuple[str, ...]
    directed: frozenset[tuple[str, str]]
    undirected: frozenset[frozenset[str]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartialDag) and (
            set(self.names),
            self.directed,
            self.undirected,
        ) == (set(other.names), other.directed, other.undirected)

    def __hash__(self) -> int:
        return hash((frozenset(self.names), self.directed, self.undirected))

    def __post_init__(self) -> None:
        known = set(self.names)
        for pair in itertools.chain(self.directed, self.undirected):
            if len(set(pair)) != 2 or not known.issuperset(pair):
                raise InputError(
                    f"An edge of a partly directed graph joins two of its nodes, got "
                    f"{listed([str(end) for end in pair])}."
                )

    @cached_property
    def _members(self) -> Directions:
        """The ways to direct what is left undirected."""
        places = {name: place for place, name in enumerate(self.names)}
        near: Near = {place: set() for place in places.values()}
        into: Near = {place: set() for place in places.values()}
        for pair in itertools.chain(self.directed, self.undirected):
            a, b = (places[name] for name in pair)
            near[a].add(b)
            near[b].add(a)
        for parent, child in self.directed:
            into[places[child]].add(places[parent])
        return Directions(near, into)

    @property
    def size(self) -> int:
        """How many graphs have these edges and directions, and no immoralities but theirs.

        Where Meek's rules direct further edges, these count as directed.
        """
        return self._members.size

    def members(self, most: int = 10_000) -> Iterator[Dag]:
        """All graphs of the class, one after the other; refused where there are more than `most`.

        Examples
        --------
        >>> len(list(Dag.from_edges([("a", "b"), ("b", "c")]).pattern().members()))
        3
        """
        if self.size > most:
            raise InputError(
                f"The class has {_number(self.size)} members, more than most = {most}. Raise most, "
                "or draw some by sample."
            )
        yield from (self._directed_by(order) for order in self._members)

    def sample(self, random_state: RandomSource = None) -> Dag:
        """A member of the class, each with the same probability."""
        rng = stream(random_state, "member of a class")
        if self.size == 0:
            raise InputError(
                "The class has no members: the undirected edges have a cycle of four or more nodes "
                "that no edge shortens, or the directions lead to a cycle, so they cannot be "
                "directed without a new immorality or a cycle."
            )
        return self._directed_by(self._members.draw(rng))

    def _directed_by(self, order: list[int]) -> Dag:
        """The member whose undirected edges point onwards in an order of the nodes."""
        rank = {self.names[node]: at for at, node in enumerate(order)}
        turned = [tuple(sorted(pair, key=rank.__getitem__)) for pair in self.undirected]
        return Dag.from_edges(sorted([*self.directed, *((a, b) for a, b in turned)]), self.names)

    def _shown(self) -> list[str]:
        """All edges in words."""
        shown = [f"{a} -> {b}" for a, b in sorted(self.directed)]
        return shown + [" - ".join(sorted(pair)) for pair in sorted(self.undirected, key=sorted)]

    def __repr__(self) -> str:
        return f"PartialDag of {listed(self.names)}: {', '.join(self._shown()) or 'no edges'}"

    def _repr_html_(self) -> str:
        head = f"PartialDag of {len(self.names)} nodes; {_number(self.size)} members"
        return html_table(head, ("edges",), [(edge,) for edge in self._shown()])


def pattern_of(graph: Dag) -> PartialDag:
    """The pattern of the class of a graph.

    Examples
    --------
    >>> pattern_of(Dag.from_edges([("a", "c"), ("b", "c"), ("c", "d"), ("e", "f")]))
    PartialDag of 'a', 'c', 'b', 'd', 'e', 'f': a -> c, b -> c, c -> d, e - f
    """
    near: Near = {
        node: {*graph.parents[node], *graph.children[node]} for node in range(len(graph.names))
    }
    edges: set[tuple[int, int]] = set()
    directed: set[tuple[int, int]] = set()
    for child, parents in enumerate(graph.parents):
        edges.update((parent, child) for parent in parents)
        # A parent that is not joined to all others is in an immorality.
        directed.update(
            (parent, child)
            for parent in parents
            if any(other != parent and other not in near[parent] for other in parents)
        )
    return completed(graph.names, edges, directed)


def completed(
    names: tuple[str, ...], edges: set[tuple[int, int]], directed: set[tuple[int, int]]
) -> PartialDag:
    """Meek's rules applied to a skeleton with some directions until nothing changes."""
    near: Near = {node: set() for node in range(len(names))}
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    into: Near = {node: set() for node in near}
    for a, b in directed:
        into[b].add(a)
    free = close_by_rules(near, into)
    return PartialDag(
        names,
        frozenset((names[a], names[b]) for b in into for a in into[b]),
        frozenset(frozenset((names[a], names[b])) for a, b in free),
    )


def _number(count: int) -> str:
    """A count in digits, or about its size where there are too many of these."""
    digits = count.bit_length() * math.log10(2)
    return str(count) if digits < 30 else f"about 10^{digits:.0f}"


# --- Known directions -----------------------------------------------------------------------------
# Meek's rules, and the ways to direct a graph of which some directions are known.
#
# Given a skeleton and directions that some acyclic graph without further immoralities has, edges
# are compelled by
#
#     1  a -> b - c, a and c not joined                     gives  b -> c
#     2  a -> b -> c, a - c                                 gives  a -> c
#     3  a - b, a - c, a - d, c -> b, d -> b, c, d apart    gives  a -> b
#     4  a - b, a - c, a - d, c -> d -> b, c, b apart       gives  a -> b
#
# (4 only where directions are known that no immorality gives). What is left falls apart into
# *parts* joined by undirected edges. All nodes of a part have the same parents outside of it, by
# rules 1 and 2, so that each part is directed on its own:
#
#     count(graph) = product over its parts of count(part)
#
# A part without directions inside is counted in polynomial time (`orientations`). One with some is
# split at an edge, count = count(a -> b) + count(b -> a), each closed by the rules again. There is
# no quick way in general (the problem is #P-hard), so the number of splits has a limit.
#
# References ---------- Meek (1995). Wienöbst, Bannach and Liśkiewicz (2021, 2023).


Near = dict[int, set[int]]
# Splits of all parts of a graph together: some seconds of work.
MOST_SPLITS = 20_000


def close_by_rules(near: Near, into: Near) -> set[tuple[int, int]]:
    """Adds to `into` the parents that the rules compel; edges left undirected, both ways."""
    free = {(a, b) for a in near for b in near[a] if a not in into[b] and b not in into[a]}
    waiting = set(free)
    while waiting:
        a, b = waiting.pop()
        if (a, b) in free and _is_compelled(a, b, near, into, free):
            free -= {(a, b), (b, a)}
            into[b].add(a)
            # Only edges at either end, and by rule 4 at their neighbors, can follow now.
            for end in (a, b, *(near[a] & near[b])):
                for other in near[end]:
                    waiting |= {(end, other), (other, end)} & free
    return free


def _is_compelled(a: int, b: int, near: Near, into: Near, free: set[tuple[int, int]]) -> bool:
    """Whether one of the rules directs a - b as a -> b."""
    if any(c not in near[b] for c in into[a]):
        return True
    if any(a in into[c] for c in into[b]):
        return True
    between = [c for c in into[b] if (a, c) in free]
    if any(d not in near[c] for i, c in enumerate(between) for d in between[:i]):
        return True
    return any((a, c) in free and c not in near[b] for d in between for c in into[d])


class Directions:
    """All acyclic graphs of a skeleton with some directions and no immoralities but theirs.

    Parameters
    ----------
    near : neighbors of each node
    into : known parents of each node

    Attributes
    ----------
    size : int
        How many graphs there are.

    Examples
    --------
    >>> triangle = Directions({0: {1, 2}, 1: {0, 2}, 2: {0, 1}}, {0: set(), 1: {0}, 2: set()})
    >>> triangle.size, list(triangle)
    (3, [[0, 1, 2], [0, 2, 1], [2, 0, 1]])
    """

    def __init__(self, near: Near, into: Near, splits: Iterator[int] | None = None) -> None:
        splits = itertools.count(1) if splits is None else splits
        self.near = near
        self.into: Near = {node: set(parents) for node, parents in into.items()}
        free = close_by_rules(near, self.into)
        self.parts: list[Orientations | _SplitPart] = []
        self.size = 0
        if _has_new_immorality(near, into, self.into) or len(_order(self.into)) < len(near):
            return
        undirected: Near = {}
        for a, b in free:
            undirected.setdefault(a, set()).add(b)
        seen: set[int] = set()
        for node in sorted(undirected):
            if node not in seen:
                nodes = reached(undirected, [node])
                seen |= nodes
                if any(self.into[inner] & nodes for inner in nodes):
                    self.parts.append(_SplitPart(near, self.into, undirected, nodes, splits))
                else:
                    self.parts.append(Orientations(undirected, nodes))
        self.size = math.prod(part.size for part in self.parts)

    def draw(self, rng: np.random.Generator) -> list[int]:
        """One of all graphs, each with the same probability, as an order of its nodes."""
        return self._ordered(part.draw(rng) for part in self.parts)

    def __iter__(self) -> Iterator[list[int]]:
        if self.size:
            yield from (self._ordered(orders) for orders in _all_orders(self.parts))

    def _ordered(self, orders: Iterable[list[int]]) -> list[int]:
        """All nodes, such that edges point onwards, from orders of the parts."""
        into = {node: set(parents) for node, parents in self.into.items()}
        for order in orders:
            rank = {node: at for at, node in enumerate(order)}
            for node in order:
                into[node] |= {
                    other for other in self.near[node] if rank.get(other, math.inf) < rank[node]
                }
        return _order(into)


class _SplitPart:
    """A part with directions inside: those with an edge one way, and those with it the other."""

    def __init__(
        self, near: Near, into: Near, undirected: Near, nodes: set[int], splits: Iterator[int]
    ) -> None:
        if next(splits) > MOST_SPLITS:
            raise InputError(
                f"To count the graphs with these directions takes more than {MOST_SPLITS} cases: "
                "known directions run through parts that are otherwise undirected. Direct more "
                "edges, or ask for the pattern of a single graph."
            )
        own_near = {node: near[node] & nodes for node in nodes}
        own_into = {node: into[node] & nodes for node in nodes}
        # Next to a known direction a further one compels most.
        a = max(sorted(nodes), key=lambda node: len(own_into[node]))
        b = min(undirected[a])
        self.ways = []
        for parent, child in ((a, b), (b, a)):
            directed = {node: set(parents) for node, parents in own_into.items()}
            directed[child].add(parent)
            self.ways.append(Directions(own_near, directed, splits))
        self.size = sum(way.size for way in self.ways)

    def draw(self, rng: np.random.Generator) -> list[int]:
        first, second = self.ways
        return (first if below(self.size, rng) < first.size else second).draw(rng)

    def __iter__(self) -> Iterator[list[int]]:
        return itertools.chain(*self.ways)


def _has_new_immorality(near: Near, before: Near, after: Near) -> bool:
    """Whether a parent that was added is not joined to another parent."""
    return any(
        after[child] - near[parent] - {parent}
        for child in after
        for parent in after[child] - before[child]
    )


def _order(into: Near) -> list[int]:
    """Nodes with parents before children; fewer than all where there is a cycle."""
    waiting = {node: len(parents) for node, parents in into.items()}
    children: dict[int, list[int]] = {}
    for node, parents in into.items():
        for parent in parents:
            children.setdefault(parent, []).append(node)
    order = [node for node, count in waiting.items() if count == 0]
    for node in order:
        for child in children.get(node, ()):
            waiting[child] -= 1
            if waiting[child] == 0:
                order.append(child)
    return order


def _all_orders(parts: list[Orientations | _SplitPart]) -> Iterator[list[list[int]]]:
    """All ways to direct several parts, each as an order of its nodes."""
    if not parts:
        yield []
        return
    for first in parts[0]:
        yield from ([first, *others] for others in _all_orders(parts[1:]))
