"""d-separation: which variables a graph declares independent, and along which trails they are not.

A trail from a to b is open given C when each node inside it lets pass:

    chain  -> m ->   and fork  <- m ->      if m is not in C
    collider  -> m <-                       if m or a descendant of m is in C

A and B are d-separated given C when no trail is open; then they are independent given C in every
distribution that has the graph, whatever its tables are.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import combinations, islice

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.display import element
from novum.graphical.structure.dag import Dag, Names, html_table, reached

# Trails shown as explanation; there can be exponentially many.
MOST_TRAILS = 10
# Nodes of trails that the search for them goes through, after which it shows what it has.
MOST_STEPS = 500_000
# Questions that `global_independences` asks at most.
MOST_QUESTIONS = 200_000


@dataclass(frozen=True)
class Statement:
    """`a` is independent of `b` given `given`.

    Examples
    --------
    >>> print(Statement(("a",), ("b", "c"), ("d",)))
    a independent of b, c given d
    """

    a: tuple[str, ...]
    b: tuple[str, ...]
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        known = f" given {', '.join(self.given)}" if self.given else ""
        return f"{', '.join(self.a)} independent of {', '.join(self.b)}{known}"


@dataclass(frozen=True)
class Trail:
    """A trail, open if nothing blocks it.

    Attributes
    ----------
    nodes : tuple of str
    arrows : tuple of str
        "->" or "<-" between each two nodes.
    openers : tuple of (collider, observed node)
        Why its colliders let pass: themselves, or a descendant, is observed.
    blockers : tuple of (node, whether it is a collider)
        Nodes that do not let pass: observed ones of chains and forks, and colliders without
        observation at or below them.
    """

    nodes: tuple[str, ...]
    arrows: tuple[str, ...]
    openers: tuple[tuple[str, str], ...] = ()
    blockers: tuple[tuple[str, bool], ...] = ()

    def __str__(self) -> str:
        parts = [self.nodes[0]]
        for arrow, node in zip(self.arrows, self.nodes[1:], strict=True):
            parts += [arrow, node]
        reasons = [
            f"{collider} is observed" if collider == observed else f"{observed} below {collider} is"
            for collider, observed in self.openers
        ]
        blocks = [
            f"nothing at or below {node} is observed" if is_collider else f"{node} is observed"
            for node, is_collider in self.blockers
        ]
        if blocks:
            return f"{' '.join(parts)} (blocked: {'; '.join(blocks)})"
        return " ".join(parts) + (f" (open: {'; '.join(reasons)})" if reasons else "")


@dataclass(frozen=True, repr=False)
class Separation:
    """Whether two sets are d-separated, and the open trails if not; true if separated."""

    statement: Statement
    holds: bool
    trails: tuple[Trail, ...] = ()

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        if self.holds:
            return f"d-separated: {self.statement}"
        return "\n".join([f"{self._head}; open trails:", *(f"  {trail}" for trail in self.trails)])

    def _repr_html_(self) -> str:
        if self.holds:
            return element("p", repr(self))
        return html_table(self._head, ("open trails",), [(str(trail),) for trail in self.trails])

    @property
    def _head(self) -> str:
        known = f" given {', '.join(self.statement.given)}" if self.statement.given else ""
        left, right = ", ".join(self.statement.a), ", ".join(self.statement.b)
        return f"not d-separated: {left} and {right}{known}"


def separation(graph: Dag, a: Names, b: Names, given: Names = ()) -> Separation:
    """Whether two sets of nodes are d-separated given a third.

    Examples
    --------
    >>> graph = Dag.from_edges([("Burglary", "Alarm"), ("Earthquake", "Alarm"), ("Alarm", "Call")])
    >>> separation(graph, "Burglary", "Earthquake", given="Call")
    not d-separated: Burglary and Earthquake given Call; open trails:
      Burglary -> Alarm <- Earthquake (open: Call below Alarm is)
    """
    left, right, known = (set(graph.numbers(names)) for names in (a, b, given))
    _check_disjoint(graph, left, right, known)
    named = [tuple(graph.names[node] for node in sorted(part)) for part in (left, right, known)]
    statement = Statement(named[0], named[1], named[2])
    if not connected(graph, left, known) & right:
        return Separation(statement, True)
    # Long trails are beyond the search for several; the shortest is always found.
    trails = tuple(islice(_trails(graph, left, right, known, open_only=True), MOST_TRAILS))
    return Separation(statement, False, trails or (_shortest(graph, left, right, known),))


def trails(graph: Dag, a: str, b: str, given: Names = (), most: int = MOST_TRAILS) -> list[Trail]:
    """Trails between two nodes, open and blocked, shorter ones first, with what decides.

    Examples
    --------
    >>> graph = Dag.from_edges([("Burglary", "Alarm"), ("Earthquake", "Alarm"), ("Alarm", "Call")])
    >>> print(*trails(graph, "Burglary", "Earthquake"), sep="\\n")
    Burglary -> Alarm <- Earthquake (blocked: nothing at or below Alarm is observed)
    >>> print(*trails(graph, "Burglary", "Call", given="Alarm"), sep="\\n")
    Burglary -> Alarm -> Call (blocked: Alarm is observed)
    """
    left, right, known = (set(graph.numbers(names)) for names in (a, b, given))
    _check_disjoint(graph, left, right, known)
    return list(islice(_trails(graph, left, right, known, open_only=False), most))


def connected(graph: Dag, start: set[int], known: set[int]) -> set[int]:
    """All nodes with an open trail from one of `start`, in time linear in the graph."""
    above_known = reached(graph.parents, known)
    # A visit is (node, whether it was entered from a child); each happens once.
    waiting = [(node, True) for node in start]
    visited = set(waiting)
    joined = set()
    while waiting:
        node, from_child = waiting.pop()
        if node not in known:
            joined.add(node)
        onward: list[tuple[int, bool]] = []
        if from_child and node not in known:
            onward += [(parent, True) for parent in graph.parents[node]]
            onward += [(child, False) for child in graph.children[node]]
        if not from_child:
            if node not in known:
                onward += [(child, False) for child in graph.children[node]]
            if node in above_known:
                onward += [(parent, True) for parent in graph.parents[node]]
        for visit in onward:
            if visit not in visited:
                visited.add(visit)
                waiting.append(visit)
    return joined - start


def local_independences(graph: Dag) -> tuple[Statement, ...]:
    """Each node against its non-descendants that are not parents, given its parents."""
    statements = []
    for node, name in enumerate(graph.names):
        below = reached(graph.children, [node])
        parents = set(graph.parents[node])
        others = [n for n in range(len(graph.names)) if n not in below and n not in parents]
        if others:
            given = tuple(graph.names[parent] for parent in sorted(parents))
            statements.append(Statement((name,), tuple(graph.names[n] for n in others), given))
    return tuple(statements)


def global_independences(graph: Dag, most_given: int | None = None) -> tuple[Statement, ...]:
    """All pairs of nodes that are d-separated given a set of others, smaller sets first."""
    if most_given is not None and not (isinstance(most_given, int) and most_given >= 0):
        raise InputError(f"most_given is a number of nodes, at least 0; got {most_given!r}.")
    nodes = range(len(graph.names))
    others = max(len(nodes) - 2, 0)
    largest = others if most_given is None else min(most_given, others)
    # Nodes that an edge joins are never separated.
    near = [{*graph.parents[node], *graph.children[node]} for node in nodes]
    pairs = [(a, b) for a, b in combinations(nodes, 2) if b not in near[a]]
    questions = len(pairs) * sum(math.comb(others, size) for size in range(largest + 1))
    if questions > MOST_QUESTIONS:
        raise InputError(
            f"{len(pairs)} pairs of nodes given every set of up to {largest} others are "
            f"{questions:.3g} questions, and {MOST_QUESTIONS} is the limit. Give a smaller "
            "most_given=..., or ask d_separated about those of interest."
        )
    statements = []
    for size in range(largest + 1):
        for a, b in pairs:
            rest = [node for node in nodes if node not in (a, b)]
            for given in combinations(rest, size):
                if b not in connected(graph, {a}, set(given)):
                    known = tuple(graph.names[node] for node in given)
                    statements.append(Statement((graph.names[a],), (graph.names[b],), known))
    return tuple(statements)


# --- Trails ---------------------------------------------------------------------------------------


def _trails(
    graph: Dag, left: set[int], right: set[int], known: set[int], *, open_only: bool
) -> Iterator[Trail]:
    """Trails without repeated nodes, shorter ones first."""
    above_known = _observed_below(graph, known)
    paths: list[tuple[tuple[int, ...], tuple[bool, ...]]] = [((node,), ()) for node in sorted(left)]
    steps = 0
    for path, downs in paths:
        node = path[-1]
        if node in right:
            yield _trail(graph, path, downs, known, above_known)
            continue
        for down, near in ((False, graph.parents[node]), (True, graph.children[node])):
            is_blocked = len(path) > 1 and not _passes(node, downs[-1], down, known, above_known)
            if is_blocked and open_only:
                continue
            for other in near:
                if other not in path and other not in left:
                    steps += len(path)
                    paths.append(((*path, other), (*downs, down)))
        if steps > MOST_STEPS:
            return


def _shortest(graph: Dag, left: set[int], right: set[int], known: set[int]) -> Trail:
    """A shortest open trail, in time linear in the graph.

    A shortest open walk repeats no node: without the loop between two visits it would be open too.
    """
    above_known = _observed_below(graph, known)
    # A visit is (node, whether it was entered from a parent), with the visit before it.
    before: dict[tuple[int, bool], tuple[int, bool] | None] = {
        (node, down): None for node in sorted(left) for down in (False, True)
    }
    visits = list(before)
    for node, came_down in visits:
        if node in right:
            return _walked(graph, before, (node, came_down), above_known)
        for down, near in ((False, graph.parents[node]), (True, graph.children[node])):
            start = node in left
            if start or _passes(node, came_down, down, known, above_known):
                for other in near:
                    if (other, down) not in before:
                        before[other, down] = (node, came_down)
                        visits.append((other, down))
    raise AssertionError("no open trail between nodes that are connected")


def _walked(
    graph: Dag,
    before: dict[tuple[int, bool], tuple[int, bool] | None],
    last: tuple[int, bool],
    above_known: dict[int, int],
) -> Trail:
    """The trail that ends with a visit."""
    visits = [last]
    while (earlier := before[visits[-1]]) is not None:
        visits.append(earlier)
    visits.reverse()
    path = tuple(node for node, _ in visits)
    # An open trail meets no observed node that would matter.
    return _trail(graph, path, tuple(down for _, down in visits[1:]), set(), above_known)


def _observed_below(graph: Dag, known: set[int]) -> dict[int, int]:
    """For each node that is observed or above one that is: the first observed one there."""
    first_below: dict[int, int] = {}
    for observed in sorted(known):
        waiting = [observed]
        while waiting:
            node = waiting.pop()
            if node not in first_below:
                first_below[node] = observed
                waiting += graph.parents[node]
    # A node that is observed itself opens by itself.
    return first_below | {node: node for node in known}


def _passes(
    node: int, came_down: bool, goes_down: bool, known: set[int], above: Container[int]
) -> bool:
    if came_down and not goes_down:
        return node in above
    return node not in known


def _trail(
    graph: Dag,
    path: tuple[int, ...],
    downs: tuple[bool, ...],
    known: set[int],
    above_known: dict[int, int],
) -> Trail:
    openers, blockers = [], []
    for node, came_down, goes_down in zip(path[1:-1], downs, downs[1:], strict=False):
        name, is_collider = graph.names[node], came_down and not goes_down
        if not _passes(node, came_down, goes_down, known, above_known):
            blockers.append((name, is_collider))
        elif is_collider:
            openers.append((name, graph.names[above_known[node]]))
    arrows = tuple("->" if down else "<-" for down in downs)
    return Trail(tuple(graph.names[node] for node in path), arrows, tuple(openers), tuple(blockers))


def _check_disjoint(graph: Dag, left: set[int], right: set[int], known: set[int]) -> None:
    if not left or not right:
        raise InputError("Name at least one node on each side.")
    for one, other in ((left, right), (left, known), (right, known)):
        if one & other:
            name = label_text(graph.names[min(one & other)])
            raise InputError(f"Node {name} is in two of the sets. They must be disjoint.")
