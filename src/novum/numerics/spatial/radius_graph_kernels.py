"""Pairs of leaves within a radius: counts of near rows, and components of those that are chosen.

Boxes that are farther apart than the radius are left out, and boxes whose farthest corners are
nearer count whole. Rows are in the order of the leaves; nodes are numbered as in `kd_tree_kernels`.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics.jit import inner_kernel, kernel
from novum.numerics.spatial.kd_tree_kernels import SLACK, box_power, leaf_powers

# rows, cells leaf by leaf, starts of nodes, corners of boxes, levels
TREE = "Tuple((float64[:, ::1], float64[::1], int64[::1], float64[:, ::1], float64[:, ::1], int64))"


@inner_kernel()
def boxes_apart(low, high, other_low, other_high, power):
    """The least and the largest power of the distance of points of two boxes."""
    least, most = 0.0, 0.0
    for j in range(low.size):
        near = max(other_low[j] - high[j], low[j] - other_high[j], 0.0)
        far = max(other_high[j] - low[j], high[j] - other_low[j])
        if power == 2.0:
            least += near * near
            most += far * far
        elif power == 1.0:
            least += near
            most += far
        elif np.isinf(power):
            least, most = max(least, near), max(most, far)
        else:
            least += near**power
            most += far**power
    return least, most


@inner_kernel()
def leaf_bounds(tree, leaf):
    """First row and end of a leaf, and its node."""
    rows, _, starts, _, _, n_levels = tree
    first_leaf = 2 ** (n_levels - 1) - 1
    node = first_leaf + leaf
    stop = rows.shape[0] if node == 2 * first_leaf else starts[node + 1]
    return starts[node], stop, node


@kernel(f"void({TREE}, int64, int64, float64, float64, float64[::1], float64[::1])")
def count_near(tree, first, last, power, radius, weights, out):
    """Adds the weights of rows near to each other, of leaves `first` to `last` and those after."""
    rows, cells, _, low, high, n_levels = tree
    p = rows.shape[1]
    n_inner = 2 ** (n_levels - 1) - 1
    stack = np.empty(2 * n_levels + 2, np.int64)
    powers = np.empty(rows.shape[0] // (n_inner + 1) + 2)
    for leaf in range(first, last):
        a, b, home = leaf_bounds(tree, leaf)
        total = 0.0
        for i in range(a, b):
            total += weights[i]
        stack[0] = 0
        size = 1
        while size > 0:
            size -= 1
            node = stack[size]
            least, most = boxes_apart(low[home], high[home], low[node], high[node], power)
            if least * SLACK > radius:
                continue
            if node < n_inner:
                stack[size], stack[size + 1] = 2 * node + 2, 2 * node + 1
                size += 2
                continue
            if node < home:
                continue
            c, d, _ = leaf_bounds(tree, node - n_inner)
            m = d - c
            if most <= radius * SLACK:
                other = 0.0
                for t in range(c, d):
                    other += weights[t]
                    if node > home:
                        out[t] += total
                for i in range(a, b):
                    out[i] += other
                continue
            for i in range(a, b):
                leaf_powers(rows[i], cells[c * p : d * p], m, power, powers)
                near = 0.0
                w = weights[i]
                for t in range(m):
                    near += weights[c + t] if powers[t] <= radius else 0.0
                out[i] += near
                if node > home:
                    for t in range(m):
                        out[c + t] += w if powers[t] <= radius else 0.0


@inner_kernel()
def root_of(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@inner_kernel()
def common_root(parent, chosen, start, stop):
    """The root of all chosen rows of a leaf; -1 where there are several, -2 where there is none."""
    common = -2
    for i in range(start, stop):
        if chosen[i]:
            root = root_of(parent, i)
            if common >= 0 and root != common:
                return -1
            common = root
    return common


@kernel(f"void({TREE}, int64, int64, float64, float64, boolean[::1], int64[::1])")
def connect_near(tree, first, last, power, radius, chosen, parent):
    """Joins chosen rows that are near to each other, of leaves `first` to `last` and those after.

    `parent` is a forest whose roots stand for components.
    """
    rows, cells, _, low, high, n_levels = tree
    p = rows.shape[1]
    n_inner = 2 ** (n_levels - 1) - 1
    stack = np.empty(2 * n_levels + 2, np.int64)
    powers = np.empty(rows.shape[0] // (n_inner + 1) + 2)
    for leaf in range(first, last):
        a, b, home = leaf_bounds(tree, leaf)
        mine = common_root(parent, chosen, a, b)
        if mine == -2:
            continue
        stack[0] = 0
        size = 1
        while size > 0:
            size -= 1
            node = stack[size]
            least, _ = boxes_apart(low[home], high[home], low[node], high[node], power)
            if least * SLACK > radius:
                continue
            if node < n_inner:
                stack[size], stack[size + 1] = 2 * node + 2, 2 * node + 1
                size += 2
                continue
            if node < home:
                continue
            c, d, _ = leaf_bounds(tree, node - n_inner)
            theirs = common_root(parent, chosen, c, d)
            if theirs == -2:
                continue
            mine = common_root(parent, chosen, a, b)
            if mine >= 0 and mine == theirs:
                continue
            for i in range(a, b):
                if not chosen[i]:
                    continue
                # All are one already: nothing here can join more.
                root = root_of(parent, i)
                if theirs >= 0 and root == root_of(parent, theirs):
                    continue
                leaf_powers(rows[i], cells[c * p : d * p], d - c, power, powers)
                for t in range(d - c):
                    if powers[t] <= radius and chosen[c + t]:
                        other = root_of(parent, c + t)
                        if other != root:
                            parent[max(root, other)] = min(root, other)
                            root = min(root, other)


@kernel("void(int64[::1])", vectorize=False)
def flatten(parent):
    """Every row points to its root."""
    for i in range(parent.size):
        parent[i] = root_of(parent, i)


@kernel(f"void({TREE}, int64[::1], float64, float64, int64[::1], int64[::1])")
def least_near(tree, queries, power, radius, values, out):
    """The least value, of those not negative, of the rows near to each query."""
    rows, cells, _, low, high, n_levels = tree
    p = rows.shape[1]
    n_inner = 2 ** (n_levels - 1) - 1
    stack = np.empty(2 * n_levels + 2, np.int64)
    powers = np.empty(rows.shape[0] // (n_inner + 1) + 2)
    for q in queries:
        stack[0] = 0
        size = 1
        while size > 0:
            size -= 1
            node = stack[size]
            if box_power(rows[q], low[node], high[node], power) * SLACK > radius:
                continue
            if node < n_inner:
                stack[size], stack[size + 1] = 2 * node + 2, 2 * node + 1
                size += 2
                continue
            c, d, _ = leaf_bounds(tree, node - n_inner)
            leaf_powers(rows[q], cells[c * p : d * p], d - c, power, powers)
            for t in range(d - c):
                if powers[t] <= radius and 0 <= values[c + t] < out[q]:
                    out[q] = values[c + t]
