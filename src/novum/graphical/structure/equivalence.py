"""Graphs that state the same independences, and the class they form.

Two graphs are I-equivalent iff they have the same skeleton and the same immoralities. A class is
shown by one partly directed graph, its *pattern* (CPDAG): an edge has a direction iff it has that
one in all members. It follows from the skeleton and the immoralities by Meek's rules:

    1  a -> b - c, a and c not joined                     gives  b -> c
    2  a -> b -> c, a - c                                 gives  a -> c
    3  a - b, a - c, a - d, c -> b, d -> b, c, d apart    gives  a -> b

What is left without direction falls apart into chordal graphs, each of which can be directed on
its own, in as many ways as it has orders without immoralities. They are counted and drawn by the
node that comes first (He, Jia, Yu 2015).

References
----------
Verma and Pearl (1990); Meek (1995); Chickering (2002).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from novum.core.errors import InputError
from novum.core.randomness import RandomSource, stream
from novum.core.text import listed
from novum.graphical.structure.dag import Dag

Near = dict[int, set[int]]


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

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def _components(self) -> list[frozenset[int]]:
        """Nodes joined by undirected edges, in parts of at least two."""
        return [part for part in _parts(self._near, set(self._near)) if len(part) > 1]

    @cached_property
    def _near(self) -> Near:
        near: Near = {place: set() for place in range(len(self.names))}
        for pair in self.undirected:
            a, b = (self._places[name] for name in pair)
            near[a].add(b)
            near[b].add(a)
        return near

    @cached_property
    def size(self) -> int:
        """How many graphs the class has."""
        counts: dict[frozenset[int], int] = {}
        total = 1
        for part in self._components:
            total *= _count(part, self._near, counts)
        return total

    def members(self, most: int = 10_000) -> Iterator[Dag]:
        """All graphs of the class, one after the other; refused where there are more than `most`.

        Examples
        --------
        >>> len(list(Dag.from_edges([("a", "b"), ("b", "c")]).pattern().members()))
        3
        """
        if self.size > most:
            raise InputError(
                f"The class has {self.size} members, more than most = {most}. Raise most, or draw "
                "some by sample."
            )
        yield from (self._with(edges) for edges in _all_directed(self._components, self._near))

    def sample(self, random_state: RandomSource = None) -> Dag:
        """A member of the class, each with the same probability."""
        rng = stream(random_state, "member of a class")
        counts: dict[frozenset[int], int] = {}
        edges: list[tuple[int, int]] = []
        for part in self._components:
            edges += _drawn(part, self._near, counts, rng)
        return self._with(edges)

    def _with(self, edges: list[tuple[int, int]]) -> Dag:
        found = [(self.names[a], self.names[b]) for a, b in edges]
        return Dag.from_edges(sorted({*self.directed, *found}), self.names)

    def __repr__(self) -> str:
        shown = [f"{a} -> {b}" for a, b in sorted(self.directed)]
        shown += [" - ".join(sorted(pair)) for pair in sorted(self.undirected, key=sorted)]
        return f"PartialDag of {listed(self.names)}: {', '.join(shown) or 'no edges'}"


def pattern_of(graph: Dag) -> PartialDag:
    """The pattern of the class of a graph.

    Examples
    --------
    >>> pattern_of(Dag.from_edges([("a", "c"), ("b", "c"), ("c", "d"), ("e", "f")]))
    PartialDag of 'a', 'c', 'b', 'd', 'e', 'f': a -> c, b -> c, c -> d, e - f
    """
    directed = {
        (graph.place(parent), graph.place(child))
        for pair, child in graph.immoralities
        for parent in pair
    }
    edges = {(graph.place(a), graph.place(b)) for a, b in graph.edges}
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
    free = {(a, b) for a in near for b in near[a] if a not in into[b] and b not in into[a]}
    waiting = set(free)
    while waiting:
        a, b = waiting.pop()
        if (a, b) in free and _is_compelled(a, b, near, into, free):
            free -= {(a, b), (b, a)}
            into[b].add(a)
            # Whatever touches either end may follow now.
            waiting |= {edge for edge in free if a in edge or b in edge or _touch(edge, a, b, near)}
    return PartialDag(
        names,
        frozenset((names[a], names[b]) for b in into for a in into[b]),
        frozenset(frozenset((names[a], names[b])) for a, b in free),
    )


def _touch(edge: tuple[int, int], a: int, b: int, near: Near) -> bool:
    return bool({a, b} & (near[edge[0]] | near[edge[1]]))


def _is_compelled(a: int, b: int, near: Near, into: Near, free: set[tuple[int, int]]) -> bool:
    """Whether one of the rules directs a - b as a -> b."""
    if any(c not in near[b] for c in into[a]):
        return True
    if any(a in into[c] for c in into[b]):
        return True
    between = [c for c in into[b] if (a, c) in free]
    return any(d not in near[c] for i, c in enumerate(between) for d in between[:i])


# --- Members --------------------------------------------------------------------------------------


def _parts(near: Near, nodes: set[int]) -> list[frozenset[int]]:
    left, parts = set(nodes), []
    while left:
        waiting = [min(left)]
        found = set(waiting)
        while waiting:
            for other in near[waiting.pop()] & nodes:
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        parts.append(frozenset(found))
        left -= found
    return parts


def _rooted(
    part: frozenset[int], root: int, near: Near
) -> tuple[list[tuple[int, int]], list[frozenset[int]]]:
    """What follows when one node comes first: directed edges, and the parts left undirected."""
    inside = {node: near[node] & part for node in part}
    layer, seen = {root}, {root}
    into: Near = {node: set() for node in part}
    edges: list[tuple[int, int]] = []
    parts: list[frozenset[int]] = []
    while layer:
        reachable = {other for node in layer for other in inside[node]} - seen
        for node in layer:
            for other in inside[node] & reachable:
                into[other].add(node)
                edges.append((node, other))
        edges += _within_layer(reachable, inside, into)
        free: Near = {
            a: {b for b in inside[a] & reachable if b not in into[a] and a not in into[b]}
            for a in reachable
        }
        parts += [found for found in _parts(free, reachable) if len(found) > 1]
        seen |= reachable
        layer = reachable
    return edges, parts


def _within_layer(layer: set[int], inside: Near, into: Near) -> list[tuple[int, int]]:
    """Edges between nodes of equal distance that rule 1 directs, until nothing changes."""
    edges = []
    changed = True
    while changed:
        changed = False
        for a in sorted(layer):
            for b in sorted(inside[a] & layer):
                if a in into[b] or b in into[a]:
                    continue
                if any(c not in inside[b] for c in into[a]):
                    into[b].add(a)
                    edges.append((a, b))
                    changed = True
    return edges


def _count(part: frozenset[int], near: Near, counts: dict[frozenset[int], int]) -> int:
    if part not in counts:
        counts[part] = sum(_count_rooted(part, root, near, counts) for root in part)
    return counts[part]


def _count_rooted(
    part: frozenset[int], root: int, near: Near, counts: dict[frozenset[int], int]
) -> int:
    total = 1
    for smaller in _rooted(part, root, near)[1]:
        total *= _count(smaller, near, counts)
    return total


def _drawn(
    part: frozenset[int], near: Near, counts: dict[frozenset[int], int], rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Directions of one part, each possible way with the same probability."""
    roots = sorted(part)
    sizes = [_count_rooted(part, root, near, counts) for root in roots]
    # Counts can exceed what floats hold exactly; a draw in Python's integers does not.
    draw = int(rng.integers(0, 2**62)) * sum(sizes) >> 62
    ends = list(accumulate(sizes))
    root = roots[bisect_right(ends, draw)]
    edges, parts = _rooted(part, root, near)
    for smaller in parts:
        edges += _drawn(smaller, near, counts, rng)
    return edges


def _all_directed(parts: list[frozenset[int]], near: Near) -> Iterator[list[tuple[int, int]]]:
    """All ways to direct several parts."""
    if not parts:
        yield []
        return
    first, *others = parts
    for root in sorted(first):
        edges, smaller = _rooted(first, root, near)
        for rest in _all_directed([*smaller, *others], near):
            yield [*edges, *rest]
