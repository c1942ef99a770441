"""In how many orders a graph's nodes can stand, parents before children.

A graph of several components interleaves their orders, a multinomial coefficient of ways. A rooted
forest, in which every node has one parent at most, has n! / product of the sizes of all subtrees
(Knuth's hook formula), and so has one upside down. Any other component is the sum over its last
nodes of the orders without them; what is left falls into components again, and sets of nodes that
were counted are kept.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Sequence

from novum.core.errors import MemoryLimitError

# Sets of nodes that are counted before a graph is given up.
MOST_SETS = 1_000_000


def count_linear_extensions(parents: Sequence[Sequence[int]]) -> int:
    """The number of orders of the nodes with all parents before their children.

    Parameters
    ----------
    parents : sequence of sequences of int
        Of each node, by number.

    Examples
    --------
    >>> count_linear_extensions([(), (0,), (0,)]), count_linear_extensions([(), (), (), (0, 1)])
    (2, 8)
    """
    return counted_within(parents, MOST_SETS)[0]


def counted_within(parents: Sequence[Sequence[int]], most_sets: int) -> tuple[int, int]:
    """The same, and how many sets of nodes it took; the count is hard in general.

    Beyond `most_sets` a `MemoryLimitError` is raised.
    """
    n = len(parents)
    ancestors = [0] * n
    waiting, done = list(range(n)), 0
    while waiting:
        ready = [v for v in waiting if all(done >> p & 1 for p in parents[v])]
        for v in ready:
            for p in parents[v]:
                ancestors[v] |= ancestors[p] | 1 << p
        done |= sum(1 << v for v in ready)
        waiting = [v for v in waiting if not done >> v & 1]
    # Edges that no longer way replaces: only these decide whether a component is a forest.
    above = [
        sum(1 << p for p in own if not any(ancestors[q] >> p & 1 for q in own)) for own in parents
    ]
    below = [sum(1 << c for c in range(n) if above[c] >> v & 1) for v in range(n)]
    kept: dict[int, int] = {}

    def counted(nodes: int) -> int:
        if nodes & (nodes - 1) == 0:
            return 1
        if nodes in kept:
            return kept[nodes]
        if len(kept) >= most_sets:
            raise MemoryLimitError(
                f"The orders of a graph of {n} nodes go through more than {most_sets:,} sets of "
                "them. Take fewer variables."
            )
        parts = _components(nodes, above, below)
        total = math.factorial(nodes.bit_count())
        if len(parts) > 1:
            for part in parts:
                total = total * counted(part) // math.factorial(part.bit_count())
        elif all((above[v] & nodes).bit_count() <= 1 for v in _bits(nodes)):
            total //= math.prod(_reached(v, below, nodes) for v in _bits(nodes))
        elif all((below[v] & nodes).bit_count() <= 1 for v in _bits(nodes)):
            total //= math.prod(_reached(v, above, nodes) for v in _bits(nodes))
        else:
            last = [v for v in _bits(nodes) if not below[v] & nodes]
            first = [v for v in _bits(nodes) if not above[v] & nodes]
            ends = last if len(last) <= len(first) else first
            total = sum(counted(nodes & ~(1 << v)) for v in ends)
        kept[nodes] = total
        return total

    return counted((1 << n) - 1), len(kept)


def _bits(nodes: int) -> list[int]:
    return [v for v in range(nodes.bit_length()) if nodes >> v & 1]


def _components(nodes: int, above: Sequence[int], below: Sequence[int]) -> list[int]:
    """Nodes that hang together, as sets."""
    parts = []
    while nodes:
        part, new = 0, nodes & -nodes
        while new:
            part |= new
            new = _union(above[v] | below[v] for v in _bits(new)) & nodes & ~part
        parts.append(part)
        nodes &= ~part
    return parts


def _union(sets: Iterable[int]) -> int:
    return functools.reduce(operator.or_, sets, 0)


def _reached(v: int, next_of: Sequence[int], nodes: int) -> int:
    """Nodes of the subtree of a node."""
    seen, new = 0, 1 << v
    while new:
        seen |= new
        new = _union(next_of[u] for u in _bits(new)) & nodes & ~seen
    return seen.bit_count()
