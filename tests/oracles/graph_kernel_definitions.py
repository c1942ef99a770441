"""Graph kernels and isomorphism by their definitions, one item at a time: slow, for checking.

Labels are refined as nested tuples, without codes: two colors are the same if all that is in them
is the same.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterator
from itertools import permutations
from typing import Any

from novum.kernels.graphs.graph import Graph

Colors = list[Hashable]


def neighbors_of(graph: Graph, node: int) -> Iterator[tuple[int, tuple[str, Hashable]]]:
    """Neighbors of a node, and how the edge to each looks from there."""
    labels = graph.edge_labels or (None,) * graph.n_edges
    for (u, v), label in zip(graph.edges.tolist(), labels, strict=True):
        if graph.directed:
            if u == node:
                yield v, ("out", label)
            if v == node:
                yield u, ("in", label)
        elif node in (u, v):
            yield (v if u == node else u), ("edge", label)


def refined_colors(graph: Graph, iterations: int) -> list[Colors]:
    """Colors of iterations 0, 1, ..., each a tuple of the color before and the neighbors'."""
    colors: list[Colors] = [list(graph.labels)]
    for _ in range(iterations):
        before = colors[-1]
        colors.append(
            [
                (
                    before[v],
                    frozenset(Counter((before[u], e) for u, e in neighbors_of(graph, v)).items()),
                )
                for v in range(graph.n_nodes)
            ]
        )
    return colors


def vertex_counts(graph: Graph, colors: Colors) -> Counter[Any]:
    return Counter(colors[v] for v in range(graph.n_nodes))


def edge_counts(graph: Graph, colors: Colors) -> Counter[Any]:
    labels = graph.edge_labels or (None,) * graph.n_edges
    return Counter(
        (_ends(graph, colors, u, v), label, graph.directed)
        for (u, v), label in zip(graph.edges.tolist(), labels, strict=True)
    )


def path_counts(graph: Graph, colors: Colors) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for u in range(graph.n_nodes):
        for v, distance in _distances(graph, u).items():
            if u != v and (graph.directed or u < v):
                found[(_ends(graph, colors, u, v), distance, graph.directed)] += 1
    return found


def weisfeiler_lehman(G: Graph, H: Graph, iterations: int, counts: Any = vertex_counts) -> int:
    """The kernel's sum over iterations and features, term by term."""
    total = 0
    pairs = zip(refined_colors(G, iterations), refined_colors(H, iterations), strict=True)
    for of_G, of_H in pairs:
        in_G, in_H = counts(G, of_G), counts(H, of_H)
        total += sum(n * in_H[key] for key, n in in_G.items())
    return total


def are_isomorphic(G: Graph, H: Graph) -> bool:
    """Whether one of all ways to rename the nodes of G gives H."""
    if G.n_nodes != H.n_nodes or G.directed != H.directed:
        return False
    target = _edge_set(H, range(H.n_nodes))
    for names in permutations(range(G.n_nodes)):
        same = all(G.labels[v] == H.labels[names[v]] for v in range(G.n_nodes))
        if same and _edge_set(G, names) == target:
            return True
    return False


def _edge_set(graph: Graph, names: Any) -> Counter[Any]:
    labels = graph.edge_labels or (None,) * graph.n_edges
    renamed = [(names[u], names[v]) for u, v in graph.edges.tolist()]
    ends = [pair if graph.directed else tuple(sorted(pair)) for pair in renamed]
    return Counter(zip(ends, labels, strict=True))


def _ends(graph: Graph, colors: Colors, u: int, v: int) -> Hashable:
    if graph.directed:
        return (colors[u], colors[v])
    return frozenset(Counter([colors[u], colors[v]]).items())


def _distances(graph: Graph, source: int) -> dict[int, int]:
    """Number of steps to every node that can be reached, by breadth-first search."""
    found, waiting = {source: 0}, deque([source])
    while waiting:
        u = waiting.popleft()
        for v, seen in neighbors_of(graph, u):
            if seen[0] != "in" and v not in found:
                found[v] = found[u] + 1
                waiting.append(v)
    return found
