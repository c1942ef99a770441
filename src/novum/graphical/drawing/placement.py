"""Where the nodes of a layered graph stand.

Across, each layer minimizes the squared distances to the mean of its neighbors,

    sum over i of  w_i (x_i - mean_i)^2      with x_{i+1} - x_i at least the room of both,

which is isotonic regression after the rooms to the left are subtracted; layers take turns, down
and up. Bends weigh more than nodes, so that long edges run straight. Parts of the graph that
nothing joins are placed one beside the other, in lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from novum.graphical.drawing.layers import Layers, layered

GAP = 22.0
BEND_ROOM = 8.0
LAYER_GAP = 46.0
_ROUNDS = 12
_BEND_WEIGHT = 4.0


@dataclass(frozen=True, eq=False)
class Placement:
    """Upper left corners of all nodes, and the points that edges pass.

    Attributes
    ----------
    corners : list of (x, y)
    bends : mapping from (parent, child) to list of (x, top, bottom)
        Where an edge crosses the layers between its ends.
    width, height : float
        Of the whole.
    """

    corners: list[tuple[float, float]]
    bends: dict[tuple[int, int], list[tuple[float, float, float]]]
    width: float
    height: float


def placed(
    parents: Sequence[Sequence[int]], order: Sequence[int], sizes: Sequence[tuple[float, float]]
) -> Placement:
    """Places boxes of given sizes (width, height), parents above children."""
    parts = [_part(nodes, parents, sizes) for nodes in _connected(parents, order)]
    parts.sort(key=lambda part: -part[1].height)
    area = sum(p.width * p.height for _, p in parts)
    widest = max([1.5 * area**0.5, *(p.width for _, p in parts)], default=0.0)
    corners = [(0.0, 0.0)] * len(parents)
    bends: dict[tuple[int, int], list[tuple[float, float, float]]] = {}
    x = y = right = line = 0.0
    for nodes, part in parts:
        if x and x + part.width > widest:
            x, y, line = 0.0, y + line + LAYER_GAP, 0.0
        for node, (left, top) in zip(nodes, part.corners, strict=True):
            corners[node] = (left + x, top + y)
        for (p, v), points in part.bends.items():
            moved = [(a + x, top + y, bottom + y) for a, top, bottom in points]
            bends[nodes[p], nodes[v]] = moved
        line, right = max(line, part.height), max(right, x + part.width)
        x += part.width + GAP
    return Placement(corners, bends, right, y + line)


def _connected(parents: Sequence[Sequence[int]], order: Sequence[int]) -> list[list[int]]:
    """The nodes of each connected part, in the order given."""
    root = list(range(len(parents)))

    def find(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    for v, up in enumerate(parents):
        for p in up:
            root[find(p)] = find(v)
    parts: dict[int, list[int]] = {}
    for node in order:
        parts.setdefault(find(node), []).append(node)
    return list(parts.values())


def _part(
    nodes: list[int], parents: Sequence[Sequence[int]], sizes: Sequence[tuple[float, float]]
) -> tuple[list[int], Placement]:
    """One connected part, its nodes numbered anew from 0 in their order."""
    number = {node: place for place, node in enumerate(nodes)}
    layers = layered([[number[p] for p in parents[v]] for v in nodes], range(len(nodes)))
    n = layers.n_nodes
    widths = np.full(len(layers.above), BEND_ROOM)
    widths[:n] = [sizes[v][0] + GAP for v in nodes]
    centers = _centers(layers, widths)
    tops, bottoms = _heights(layers, [sizes[v][1] for v in nodes])
    left = min(float(centers[v] - widths[v] / 2) for v in range(len(widths))) + GAP / 2
    rank = {node: place for place, row in enumerate(layers.rows) for node in row}
    corners = []
    for place, v in enumerate(nodes):
        width, height = sizes[v]
        top, bottom = tops[rank[place]], bottoms[rank[place]]
        corners.append((float(centers[place]) - width / 2 - left, (top + bottom - height) / 2))
    bends = {
        edge: [(float(centers[b]) - left, tops[rank[b]], bottoms[rank[b]]) for b in path]
        for edge, path in layers.paths.items()
    }
    right = max(float(centers[v] + widths[v] / 2) for v in range(len(widths))) - GAP / 2
    return nodes, Placement(corners, bends, right - left, bottoms[-1])


def _heights(layers: Layers, heights: Sequence[float]) -> tuple[list[float], list[float]]:
    """Where each layer begins and ends; more room where many edges cross."""
    tops, bottoms, y = [], [], 0.0
    for row in layers.rows:
        height = max((heights[v] for v in row if v < layers.n_nodes), default=0.0)
        tops.append(y)
        bottoms.append(y + height)
        edges = sum(len(layers.below[v]) for v in row)
        y += height + LAYER_GAP + min(60.0, 1.5 * edges)
    return tops, bottoms


def _centers(layers: Layers, widths: np.ndarray) -> np.ndarray:
    weights = np.ones(len(widths))
    weights[layers.n_nodes :] = _BEND_WEIGHT
    x = np.zeros(len(widths))
    rooms = []
    for row in layers.rows:
        room = widths[row]
        rooms.append(np.concatenate([[0.0], np.cumsum((room[1:] + room[:-1]) / 2)]))
        x[row] = rooms[-1] - rooms[-1][-1] / 2
    places = range(len(layers.rows))
    for turn in range(_ROUNDS):
        neighbors = (layers.above, layers.below)[turn % 2]
        # The last turns look both ways.
        both = turn >= _ROUNDS - 4
        for place in places if turn % 2 == 0 else reversed(places):
            row = layers.rows[place]
            aims = [_aim(v, x, neighbors, layers, both) for v in row]
            centers = isotonic_regression(np.array(aims) - rooms[place], weights=weights[row])
            x[row] = centers.x + rooms[place]
    return x


def _aim(v: int, x: np.ndarray, neighbors: list[list[int]], layers: Layers, both: bool) -> float:
    others = [*layers.above[v], *layers.below[v]] if both else neighbors[v]
    if not others:
        return float(x[v])
    ends = sorted(float(x[other]) for other in others)
    middle = len(ends) // 2
    return ends[middle] if len(ends) % 2 else (ends[middle - 1] + ends[middle]) / 2
