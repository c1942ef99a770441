"""Sums of a kernel over the rows of a tree of boxes, to a relative error that is kept.

With s = |q - x|^2 / h^2, a kernel is f(s), and all but the tophat are convex in s. Over a node of
weight W, whose s are between a and b with mean m, two theorems about convex functions give

    W f(m)  <=  sum of w f(s)  <=  W ((b - m) f(a) + (m - a) f(b)) / (b - a)

the inequality of Jensen and that of Edmundson and Madansky. The mean follows from the center and
the spread of the node, m = (|q - c|^2 + S) / h^2. Both bounds agree up to the square of b - a, so
that large boxes far away are settled at once.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics.exponential import exp_of_negative
from novum.numerics.jit import inner_kernel, kernel, lean_kernel
from novum.numerics.spatial.kd_tree_kernels import TREE, leaf_powers

GAUSSIAN, TOPHAT, EPANECHNIKOV, EXPONENTIAL, LINEAR, COSINE = range(6)

# weights, centers and spreads of nodes; weights of rows in the order of the leaves
MOMENTS = "Tuple((float64[::1], float64[:, ::1], float64[::1], float64[::1]))"


@inner_kernel()
def profile(s, base, code):
    """The kernel at squared distance s; over its value at `base` where it has no end."""
    if code == GAUSSIAN:
        return exp_of_negative(min(0.5 * (base - s), 0.0))
    if code == TOPHAT:
        return 1.0 if s <= 1.0 else 0.0
    if code == EPANECHNIKOV:
        return max(1.0 - s, 0.0)
    if code == EXPONENTIAL:
        return exp_of_negative(min(np.sqrt(base) - np.sqrt(s), 0.0))
    if code == LINEAR:
        return max(1.0 - np.sqrt(s), 0.0)
    return np.cos(0.5 * np.pi * np.sqrt(s)) if s < 1.0 else 0.0


@inner_kernel()
def profiles(squares, m, per_square, base, code):
    """The kernel at many squared distances, in their place: loops that become vectors."""
    if code == GAUSSIAN:
        for t in range(m):
            squares[t] = exp_of_negative(0.5 * (base - squares[t] * per_square))
    elif code == EPANECHNIKOV:
        for t in range(m):
            squares[t] = max(1.0 - squares[t] * per_square, 0.0)
    elif code == EXPONENTIAL:
        for t in range(m):
            squares[t] = exp_of_negative(np.sqrt(base) - np.sqrt(squares[t] * per_square))
    else:
        for t in range(m):
            squares[t] = profile(squares[t] * per_square, base, code)


@kernel(f"void({TREE}, int64, {MOMENTS})")
def node_moments(tree, n_levels, moments):
    """Weight, center and mean squared distance from the center, of every node."""
    cells, order, starts = tree[0], tree[1], tree[2]
    weights, centers, spreads, row_weights = moments
    n, p = order.size, centers.shape[1]
    first_leaf = 2 ** (n_levels - 1) - 1
    for node in range(2 * first_leaf, -1, -1):
        center = centers[node]
        center[:] = 0.0
        if node >= first_leaf:
            start = starts[node]
            stop = n if node == 2 * first_leaf else starts[node + 1]
            m = stop - start
            total, spread = row_weights[start:stop].sum(), 0.0
            for j in range(p):
                column = cells[start * p + j * m : start * p + (j + 1) * m]
                for t in range(m):
                    center[j] += row_weights[start + t] * column[t]
                center[j] /= total
                for t in range(m):
                    spread += row_weights[start + t] * (column[t] - center[j]) ** 2
            weights[node], spreads[node] = total, spread / total
            continue
        a, b = 2 * node + 1, 2 * node + 2
        total = weights[a] + weights[b]
        share = weights[b] / total
        spread = (1.0 - share) * spreads[a] + share * spreads[b]
        for j in range(p):
            center[j] = (1.0 - share) * centers[a, j] + share * centers[b, j]
            spread += share * (1.0 - share) * (centers[a, j] - centers[b, j]) ** 2
        weights[node], spreads[node] = total, spread


@inner_kernel()
def node_bounds(x, node, tree, moments, per_square, base, code):
    """Lower and upper bound of the sum over a node, and the least squared distance to its box."""
    low, high = tree[3], tree[4]
    weights, centers, spreads = moments[0], moments[1], moments[2]
    least, most, mean = 0.0, 0.0, spreads[node]
    for j in range(x.size):
        below, above = low[node, j] - x[j], x[j] - high[node, j]
        d = max(below, above, 0.0)
        least += d * d
        d = max(-below, -above)
        most += d * d
        mean += (x[j] - centers[node, j]) ** 2
    # No row is nearer than the base, which is 0 for kernels that have an end.
    a = max(least * per_square, base)
    b = max(most * per_square, a)
    weight = weights[node]
    at_least, at_most = profile(a, base, code), profile(b, base, code)
    if code == TOPHAT:
        return weight * at_most, weight * at_least, least
    # Rounding must not lead outside.
    m = min(max(mean * per_square, a), b)
    share = (m - a) / (b - a) if b > a else 0.0
    lower = profile(m, base, code)
    upper = max((1.0 - share) * at_least + share * at_most, lower)
    return weight * lower, weight * upper, least


# nodes to look at, bounds of their sums, and distances of the rows of a leaf
SUMS_SCRATCH = "Tuple((int64[::1], float64[::1], float64[::1], float64[::1]))"
SUMS = (
    f"void({TREE}, int64, {MOMENTS}, float64[:, ::1], int64[::1], float64[::1], int64, float64, "
    f"float64, float64[::1], {SUMS_SCRATCH}, float64[::1])"
)


@lean_kernel(SUMS)
def kernel_sums(
    tree, n_levels, moments, queries, own, bases, code, bandwidth, rtol, atol, scratch, out
):
    """Sums of weights times the kernel over its value at `bases`, without the row at `own`.

    What is settled by bounds has an error of half their gap. It is allowed as long as all errors
    so far stay below the tolerance times the share of the weight that is done: of the largest
    lower bound of the whole sum known by then, so at last of the sum.
    """
    cells, order, starts = tree[0], tree[1], tree[2]
    node_weights, row_weights = moments[0], moments[3]
    p, n = queries.shape[1], order.size
    first_leaf = 2 ** (n_levels - 1) - 1
    stack, lowers, uppers, squares = scratch
    per_square = 1.0 / (bandwidth * bandwidth)
    whole = node_weights[0]
    for q in range(queries.shape[0]):
        x, base, here = queries[q], bases[q], own[q]
        stack[0] = 0
        lowers[0], uppers[0], _ = node_bounds(x, 0, tree, moments, per_square, base, code)
        # A bound over the query's own row does not bound the sum over the others.
        lower = 0.0 if here >= 0 else lowers[0]
        total, spent, done = 0.0, 0.0, 0.0
        size = 1
        while size > 0:
            size -= 1
            node, node_lower, node_upper = stack[size], lowers[size], uppers[size]
            start = starts[node]
            # Nodes of a level lie one after the other, and the last ends with the rows.
            is_last = (node + 2) & (node + 1) == 0
            stop = n if is_last else starts[node + 1]
            holds_own = start <= here < stop
            error = 0.5 * (node_upper - node_lower)
            weight = node_weights[node]
            allowed = (rtol * lower + atol[q]) * (done + weight) / whole
            if not holds_own and (error == 0.0 or spent + error <= allowed):
                total += 0.5 * (node_lower + node_upper)
                spent += error
                done += weight
                continue
            if not holds_own:
                lower -= node_lower
            if node >= first_leaf:
                m = stop - start
                leaf_powers(x, cells[start * p : stop * p], m, 2.0, squares)
                profiles(squares, m, per_square, base, code)
                if holds_own:
                    squares[here - start] = 0.0
                leaf_sum = 0.0
                for t in range(m):
                    leaf_sum += row_weights[start + t] * squares[t]
                total += leaf_sum
                lower += leaf_sum
                done += weight
                continue
            a = 2 * node + 1
            a_lower, a_upper, a_least = node_bounds(x, a, tree, moments, per_square, base, code)
            b_lower, b_upper, b_least = node_bounds(x, a + 1, tree, moments, per_square, base, code)
            middle = starts[a + 1]
            if not (start <= here < middle):
                lower += a_lower
            if not (middle <= here < stop):
                lower += b_lower
            # The nearer child on top: what it adds makes room for errors of the farther one.
            at, other = (size, size + 1) if a_least > b_least else (size + 1, size)
            stack[at], lowers[at], uppers[at] = a, a_lower, a_upper
            stack[other], lowers[other], uppers[other] = a + 1, b_lower, b_upper
            size += 2
        out[q] = total
