"""Graphs that state the same independences, and the class they form.

Two graphs are I-equivalent iff they have the same skeleton and the same immoralities. A class is
shown by one partly directed graph, its *pattern* (CPDAG): an edge has a direction iff it has that
one in all members. It follows from the skeleton and the immoralities by Meek's rules:

    1  a -> b - c, a and c not joined                     gives  b -> c
    2  a -> b -> c, a - c                                 gives  a -> c
    3  a - b, a - c, a - d, c -> b, d -> b, c, d apart    gives  a -> b

What is left without direction falls apart into chordal graphs, each of which can be directed on
its own (`novum.graphical.structure.orientations` counts and draws the ways).

References
----------
Verma and Pearl (1990); Meek (1995); Chickering (2002).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from novum.core.errors import InputError
from novum.core.randomness import RandomSource, stream
from novum.core.text import listed
from novum.graphical.structure.dag import Dag, html_table, reached
from novum.graphical.structure.orientations import Orientations

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
    def _parts(self) -> list[Orientations]:
        """The ways to direct each part that undirected edges join."""
        near = _neighbors(self.undirected, self._places)
        seen: set[int] = set()
        parts = []
        for node in sorted(near):
            if node not in seen:
                part = reached(near, [node])
                seen |= part
                parts.append(Orientations(near, part))
        return parts

    @cached_property
    def size(self) -> int:
        """How many graphs the class has; none where the undirected edges are not chordal."""
        return math.prod(part.size for part in self._parts)

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
        yield from (self._directed_by(orders) for orders in _all_orders(self._parts))

    def sample(self, random_state: RandomSource = None) -> Dag:
        """A member of the class, each with the same probability."""
        rng = stream(random_state, "member of a class")
        if self.size == 0:
            raise InputError(
                "The undirected edges have a cycle of four or more nodes that no edge shortens, so "
                "they cannot be directed without a new immorality."
            )
        return self._directed_by(part.draw(rng) for part in self._parts)

    def _directed_by(self, orders: Iterable[list[int]]) -> Dag:
        """The member whose undirected edges point onwards in the orders of their parts."""
        rank = {self.names[node]: at for order in orders for at, node in enumerate(order)}
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
    free = {(a, b) for a in near for b in near[a] if a not in into[b] and b not in into[a]}
    waiting = set(free)
    while waiting:
        a, b = waiting.pop()
        if (a, b) in free and _is_compelled(a, b, near, into, free):
            free -= {(a, b), (b, a)}
            into[b].add(a)
            # Only edges at either end can follow now.
            for end in (a, b):
                for other in near[end]:
                    waiting |= {(end, other), (other, end)} & free
    return PartialDag(
        names,
        frozenset((names[a], names[b]) for b in into for a in into[b]),
        frozenset(frozenset((names[a], names[b])) for a, b in free),
    )


def _is_compelled(a: int, b: int, near: Near, into: Near, free: set[tuple[int, int]]) -> bool:
    """Whether one of the rules directs a - b as a -> b."""
    if any(c not in near[b] for c in into[a]):
        return True
    if any(a in into[c] for c in into[b]):
        return True
    between = [c for c in into[b] if (a, c) in free]
    return any(d not in near[c] for i, c in enumerate(between) for d in between[:i])


def _all_orders(parts: list[Orientations]) -> Iterator[list[list[int]]]:
    """All ways to direct several parts, each as an order of its nodes."""
    if not parts:
        yield []
        return
    for first in parts[0]:
        yield from ([first, *others] for others in _all_orders(parts[1:]))


def _neighbors(pairs: Iterable[frozenset[str]], places: dict[str, int]) -> Near:
    """Of each node with an undirected edge, those at its other ends."""
    near: Near = {}
    for pair in pairs:
        a, b = (places[name] for name in pair)
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    return near


def _number(count: int) -> str:
    """A count in digits, or about its size where there are too many of these."""
    digits = count.bit_length() * math.log10(2)
    return str(count) if digits < 30 else f"about 10^{digits:.0f}"
