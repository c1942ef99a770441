"""Distance between a learned structure and the true one: both as patterns of equivalence.

A DAG is turned into its completed pattern: v-structures first, then Meek's rules until nothing
changes (Meek, "Causal inference and causal explanation with background knowledge", 1995).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from benchmarks.clock import Clock
from benchmarks.peers import Make
from benchmarks.recipes import Data
from benchmarks.registry import Figures

Edge = tuple[str, str]
Pattern = dict[frozenset[str], str]


def structure(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """The structural Hamming distance to the true pattern, and that of the skeletons."""
    adapter = make(data)
    with clock("search"):
        directed, undirected = adapter.structure(data)

    def figures() -> Figures:
        true, found = pattern(data.edges), pattern(directed, undirected)
        pairs = true.keys() | found.keys()
        return {
            "distance": sum(true.get(pair) != found.get(pair) for pair in pairs),
            "skeleton": len(true.keys() ^ found.keys()),
            "edges": len(found),
        }

    return figures


def pattern(directed: Iterable[Edge], undirected: Iterable[Edge] | None = None) -> Pattern:
    """`{pair: '-' or the arrow's head}`; a DAG (`undirected` None) becomes its pattern.

    Examples
    --------
    >>> sorted(pattern([("a", "c"), ("b", "c")]).values()), list(pattern([("a", "b")]).values())
    (['c', 'c'], ['-'])
    """
    arrows = {(a, b) for a, b in directed}
    if undirected is not None:
        heads = {frozenset(edge): edge[1] for edge in arrows}
        return heads | {frozenset(edge): "-" for edge in undirected}
    near = _neighbors(arrows)
    fixed = _v_structures(arrows, near)
    changed = True
    while changed:
        forced = {edge for edge in arrows - fixed if _is_forced(edge, fixed, near)}
        fixed |= forced
        changed = bool(forced)
    return {frozenset(edge): edge[1] if edge in fixed else "-" for edge in arrows}


def _neighbors(arrows: set[Edge]) -> dict[str, set[str]]:
    near: dict[str, set[str]] = {}
    for a, b in arrows:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    return near


def _v_structures(arrows: set[Edge], near: dict[str, set[str]]) -> set[Edge]:
    parents: dict[str, set[str]] = {}
    for a, b in arrows:
        parents.setdefault(b, set()).add(a)
    return {
        (a, child)
        for child, group in parents.items()
        for a in group
        if any(b != a and b not in near[a] for b in group)
    }


def _is_forced(edge: Edge, fixed: set[Edge], near: dict[str, set[str]]) -> bool:
    a, b = edge
    into_a = {x for x, y in fixed if y == a}
    into_b = {x for x, y in fixed if y == b}
    new_collider = bool(into_a - near[b] - {b})
    cycle = bool({y for x, y in fixed if x == a} & into_b)
    # Meek's third rule speaks of neighbors whose edge with a is still without direction.
    common = {x for x in near[a] & into_b if not {(a, x), (x, a)} & fixed}
    two_paths = any(d not in near[c] for c in common for d in common if c != d)
    return new_collider or cycle or two_paths
