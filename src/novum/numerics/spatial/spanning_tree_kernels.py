"""Rounds of Borůvka's algorithm over a tree of boxes; rows are in the order of the leaves."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics.jit import kernel
from novum.numerics.spatial.kd_tree_kernels import SLACK, box_power, leaf_powers
from novum.numerics.spatial.radius_graph_kernels import TREE, leaf_bounds, root_of

# component of every node (-1: several), least length of its rows
NODES = "Tuple((int64[::1], float64[::1]))"
# shortest length that leaves each component, and its two rows
BEST = "Tuple((float64[::1], int64[:, ::1]))"


@kernel(f"void({TREE}, float64[::1], int64[::1], int64[::1], float64[::1])", vectorize=False)
def prepare_round(tree, floor, parent, component, least):
    """Which component every row and node is of, and the least length of the rows of a node."""
    n_levels = tree[5]
    for i in range(parent.size):
        parent[i] = root_of(parent, i)
    n_inner = 2 ** (n_levels - 1) - 1
    for node in range(2 * n_inner, -1, -1):
        if node >= n_inner:
            start, stop, _ = leaf_bounds(tree, node - n_inner)
            component[node], least[node] = (parent[start] if stop > start else -2), np.inf
            for i in range(start, stop):
                least[node] = min(least[node], floor[i])
                if parent[i] != component[node]:
                    component[node] = -1
        else:
            a, b = 2 * node + 1, 2 * node + 2
            same = component[a] == component[b] or component[b] == -2
            component[node] = component[a] if same else -1
            least[node] = min(least[a], least[b])


@kernel(
    f"void(Tuple((int64[:, ::1], float64[:, ::1])), float64[::1], float64, int64[::1], {BEST})",
    vectorize=False,
)
def first_bounds(lists, floor, scale, parent, best):
    """The shortest edges that leave components, among the nearest few rows of each."""
    near, powers = lists
    shortest, ends = best
    for i in range(parent.size):
        mine = parent[i]
        for t in range(near.shape[1]):
            j = near[i, t]
            if parent[j] == mine:
                continue
            length = max(powers[i, t] / scale, floor[i], floor[j])
            if length < shortest[mine]:
                shortest[mine], ends[mine, 0], ends[mine, 1] = length, i, j
            # The rows of the list are in order, but their least lengths are not.
            if powers[i, t] / scale >= shortest[mine]:
                break


@kernel(f"void({TREE}, int64, int64, float64, float64, float64[::1], int64[::1], {NODES}, {BEST})")
def shorten(tree, first, last, power, scale, floor, parent, nodes, best):
    """Searches shorter edges of rows `first` to `last`."""
    rows, cells, _, low, high, n_levels = tree
    component, least = nodes
    shortest, ends = best
    p = rows.shape[1]
    n_inner = 2 ** (n_levels - 1) - 1
    stack, bounds = np.empty(2 * n_levels + 2, np.int64), np.empty(2 * n_levels + 2)
    powers = np.empty(rows.shape[0] // (n_inner + 1) + 2)
    for i in range(first, last):
        mine, own = parent[i], floor[i]
        if own >= shortest[mine]:
            continue
        stack[0], bounds[0] = 0, 0.0
        size = 1
        while size > 0:
            size -= 1
            node = stack[size]
            if bounds[size] >= shortest[mine] or component[node] == mine:
                continue
            if node < n_inner:
                left = 2 * node + 1
                a = box_power(rows[i], low[left], high[left], power) * SLACK / scale
                b = box_power(rows[i], low[left + 1], high[left + 1], power) * SLACK / scale
                a, b = max(a, least[left]), max(b, least[left + 1])
                nearer = left if a <= b else left + 1
                stack[size], bounds[size] = 2 * left + 1 - nearer, max(a, b)
                stack[size + 1], bounds[size + 1] = nearer, min(a, b)
                size += 2
                continue
            c, d, _ = leaf_bounds(tree, node - n_inner)
            leaf_powers(rows[i], cells[c * p : d * p], d - c, power, powers)
            for t in range(d - c):
                length = powers[t] / scale
                if length < shortest[mine] and parent[c + t] != mine:
                    length = max(length, own, floor[c + t])
                    if length < shortest[mine]:
                        shortest[mine], ends[mine, 0], ends[mine, 1] = length, i, c + t


@kernel(f"int64(int64[::1], {BEST}, int64[:, ::1], float64[::1], int64)", vectorize=False)
def join(parent, best, edges, lengths, n_edges):
    """Adds the edges that were found; of a cycle, whose edges are equally long, one is left out."""
    shortest, ends = best
    for component in range(parent.size):
        if ends[component, 0] < 0:
            continue
        a, b = root_of(parent, ends[component, 0]), root_of(parent, ends[component, 1])
        if a != b:
            parent[max(a, b)] = min(a, b)
            edges[n_edges, 0], edges[n_edges, 1] = ends[component, 0], ends[component, 1]
            lengths[n_edges] = shortest[component]
            n_edges += 1
    return n_edges
