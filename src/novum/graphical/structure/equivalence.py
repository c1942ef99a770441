"""Graphs that state the same independences, and the class they form.

Two graphs are I-equivalent iff they have the same skeleton and the same immoralities. A class is
shown by one partly directed graph, its *pattern* (CPDAG): an edge has a direction iff it has that
one in all members. It follows from the skeleton and the immoralities by Meek's rules. What is left
without direction falls apart into chordal graphs, each of which can be directed on its own
(`novum.graphical.structure.known_directions` counts and draws the ways, also where more directions
are known than a pattern has).

References
----------
Verma and Pearl (1990); Meek (1995); Chickering (2002).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from novum.core.errors import InputError
from novum.core.randomness import RandomSource, stream
from novum.core.text import listed
from novum.graphical.structure.dag import Dag, html_table
from novum.graphical.structure.known_directions import Directions, Near, close_by_rules
from novum.numerics.shared_state import cached_property


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
