"""Layers of a directed graph, and the order of nodes in each (Sugiyama's method).

    rank(v) = 1 + max over parents of rank        then nodes are pulled towards their children

An edge over several layers passes a *bend* in each layer between, so that edges join neighboring
layers only. The order in a layer follows the mean position of the neighbors in the layer before,
in sweeps down and up; the order with the fewest crossings is kept.

References: Sugiyama, Tagawa, Toda (1981), Methods for visual understanding of hierarchical system
structures. Barth, Juenger, Mutzel (2002), Simple and efficient bilayer cross counting.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

# Sweeps over all layers, fewer in large graphs.
_SWEEPS = 24
_SWEEP_WORK = 400_000
# Beyond it long edges are drawn straight, without bends.
MAX_BENDS = 30_000


@dataclass(frozen=True, eq=False)
class Layers:
    """Nodes and bends in layers from top to bottom.

    Attributes
    ----------
    rows : list of list of int
        Each layer from left to right; numbers from `n_nodes` on are bends.
    above, below : list of list of int
        Neighbors of each node or bend in the layers next to it.
    paths : mapping from (parent, child) to list of int
        The bends of each edge from top to bottom.
    """

    n_nodes: int
    rows: list[list[int]]
    above: list[list[int]]
    below: list[list[int]]
    paths: dict[tuple[int, int], list[int]]

    @property
    def n_crossings(self) -> int:
        """Pairs of edges that cross between layers."""
        return _crossings(self.rows, self.below)


def layered(parents: Sequence[Sequence[int]], order: Sequence[int]) -> Layers:
    """Layers of a graph.

    Parameters
    ----------
    parents : sequence of sequences of int
    order : sequence of int
        Parents before children.
    """
    ranks = ranks_of(parents, order)
    n = len(parents)
    rows: list[list[int]] = [[] for _ in range(max(ranks, default=-1) + 1)]
    for node in order:
        rows[ranks[node]].append(node)
    above: list[list[int]] = [[] for _ in range(n)]
    below: list[list[int]] = [[] for _ in range(n)]
    edges = [(p, v) for v in order for p in parents[v]]
    bent = sum(ranks[v] - ranks[p] - 1 for p, v in edges) <= MAX_BENDS
    paths: dict[tuple[int, int], list[int]] = {}
    for p, v in edges:
        bends = range(ranks[p] + 1, ranks[v]) if bent else range(0)
        chain = [p]
        for rank in bends:
            chain.append(len(above))
            rows[rank].append(len(above))
            above.append([])
            below.append([])
        chain.append(v)
        for upper, lower in itertools.pairwise(chain):
            below[upper].append(lower)
            above[lower].append(upper)
        paths[p, v] = chain[1:-1]
    return Layers(n, _untangled(rows, above, below), above, below, paths)


def ranks_of(parents: Sequence[Sequence[int]], order: Sequence[int]) -> list[int]:
    """The layer of each node, counted from the top."""
    ranks = [0] * len(parents)
    children: list[list[int]] = [[] for _ in parents]
    for v in order:
        ranks[v] = max((ranks[p] + 1 for p in parents[v]), default=0)
        for p in parents[v]:
            children[p].append(v)
    # A node with more children than parents makes its edges shorter by going down.
    for v in reversed(order):
        if len(children[v]) > len(parents[v]):
            ranks[v] = min(ranks[c] for c in children[v]) - 1
    return ranks


# --- Crossings ------------------------------------------------------------------------------------


def _untangled(
    rows: list[list[int]], above: list[list[int]], below: list[list[int]]
) -> list[list[int]]:
    best, fewest = [list(row) for row in rows], _crossings(rows, below)
    rows = [list(row) for row in rows]
    work = sum(map(len, rows)) + sum(map(len, below))
    sweeps = min(_SWEEPS, max(4, _SWEEP_WORK // max(work, 1)))
    for sweep in range(sweeps):
        if fewest == 0:
            break
        downwards = sweep % 2 == 0
        places = range(1, len(rows)) if downwards else range(len(rows) - 2, -1, -1)
        neighbors = above if downwards else below
        for place in places:
            fixed = rows[place - 1 if downwards else place + 1]
            _sort_by_means(rows[place], fixed, neighbors)
        crossings = _crossings(rows, below)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _sort_by_means(row: list[int], fixed: Sequence[int], neighbors: list[list[int]]) -> None:
    """Orders a layer by the mean place of its neighbors; those without keep their place."""
    position = {node: place for place, node in enumerate(fixed)}
    means = {}
    for node in row:
        positions = [position[other] for other in neighbors[node] if other in position]
        if positions:
            means[node] = sum(positions) / len(positions)
    moving = iter(sorted((node for node in row if node in means), key=means.__getitem__))
    row[:] = [next(moving) if node in means else node for node in row]


def _crossings(rows: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> int:
    total = 0
    for upper, lower in itertools.pairwise(rows):
        position = {node: place for place, node in enumerate(lower)}
        ends = [
            place
            for node in upper
            for place in sorted(position[other] for other in below[node] if other in position)
        ]
        total += _inversions(ends, len(lower))
    return total


def _inversions(ends: Sequence[int], size: int) -> int:
    """Pairs in the wrong order, by a tree of counts."""
    counts, total = [0] * (size + 1), 0
    for seen, end in enumerate(ends):
        place, not_beyond = end + 1, 0
        while place:
            not_beyond += counts[place]
            place &= place - 1
        total += seen - not_beyond
        place = end + 1
        while place <= size:
            counts[place] += 1
            place += place & -place
    return total
