"""Building and asking a tree of boxes over rows of numbers.

Rows are parted at the median of the widest column until a leaf has few; leaves are halves of
halves, so nodes need no pointers: the children of node i are 2 i + 1 and 2 i + 2. The cells of a
leaf lie column by column. Distances are added column after column, as everywhere.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics.jit import fast_inner_kernel, inner_kernel, kernel

# Sums of powers of distances to a box are rounded differently from those of rows in it.
SLACK = 1.0 - 1e-13


@inner_kernel()
def part_below(values, order, low, high, pivot):
    """Moves values below a pivot to the front, without a branch that nobody foresees; their end."""
    i = low
    for j in range(low, high):
        x, row = values[j], order[j]
        values[j], order[j] = values[i], order[i]
        values[i], order[i] = x, row
        i += x < pivot
    return i


@inner_kernel()
def select_median(values, order, middle):
    """Parts `values`, and `order` with them, so that the middle one is where sorting puts it."""
    low, high = 0, values.size
    while high - low > 1:
        # The median of three keeps sorted columns from costing a square.
        a, b, c = values[low], values[(low + high) // 2], values[high - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        end = part_below(values, order, low, high, pivot)
        if end == low:
            # The pivot is the least; its equals go to the front.
            end = part_below(values, order, low, high, np.nextafter(pivot, np.inf))
            if middle < end:
                return
        if middle < end:
            high = end
        else:
            low = end


BUILD = "void(float64[:, ::1], int64, int64[::1], int64[::1], float64[::1])"
# Rows of a node that tell in which column it spreads most.
SAMPLE = 128


@kernel(BUILD, vectorize=False)
def part_level(rows, level, order, starts, values):
    """Parts the rows of every node of a level at the median of a column in which they spread.

    Nodes of level l are `2^l - 1` to `2^(l+1) - 2`; `starts` has the first row of every node.
    """
    n, p = rows.shape
    least, most = np.empty(p), np.empty(p)
    first = 2**level - 1
    for node in range(first, 2 * first + 1):
        start = starts[node]
        stop = n if node == 2 * first else starts[node + 1]
        for j in range(p):
            least[j], most[j] = np.inf, -np.inf
        for t in range(start, stop, max(1, (stop - start) // SAMPLE)):
            row = rows[order[t]]
            for j in range(p):
                x = row[j]
                least[j] = x if x < least[j] else least[j]
                most[j] = x if x > most[j] else most[j]
        widest = 0
        for j in range(1, p):
            if most[j] - least[j] > most[widest] - least[widest]:
                widest = j
        for t in range(start, stop):
            values[t] = rows[order[t], widest]
        middle = (stop - start) // 2
        select_median(values[start:stop], order[start:stop], middle)
        starts[2 * node + 1] = start
        starts[2 * node + 2] = start + middle


LEAVES = (
    "void(float64[:, ::1], int64[::1], int64[::1], int64, float64[:, ::1], float64[:, ::1], "
    "float64[::1])"
)


@kernel(LEAVES, vectorize=False)
def fill_leaves(rows, order, starts, n_levels, low, high, cells):
    """Cells leaf by leaf, column by column within a leaf; corners of the boxes of all nodes."""
    n, p = rows.shape
    first_leaf = 2 ** (n_levels - 1) - 1
    for node in range(2 * first_leaf, -1, -1):
        least, most = low[node], high[node]
        if node < first_leaf:
            a, b = 2 * node + 1, 2 * node + 2
            for j in range(p):
                least[j] = low[a, j] if low[a, j] < low[b, j] else low[b, j]
                most[j] = high[a, j] if high[a, j] > high[b, j] else high[b, j]
            continue
        for j in range(p):
            least[j], most[j] = np.inf, -np.inf
        start = starts[node]
        stop = n if node == 2 * first_leaf else starts[node + 1]
        m = stop - start
        for t in range(m):
            row = rows[order[start + t]]
            for j in range(p):
                x = row[j]
                cells[start * p + j * m + t] = x
                least[j] = x if x < least[j] else least[j]
                most[j] = x if x > most[j] else most[j]


@fast_inner_kernel()
def box_square(x, low, high):
    """The squared distance of a point to a box; its bound has room for any order of the sum."""
    total = 0.0
    for j in range(x.size):
        below, above = low[j] - x[j], x[j] - high[j]
        d = below if below > above else above
        d = d if d > 0.0 else 0.0
        total += d * d
    return total


@inner_kernel()
def power_with(total, apart, power):
    """The sum of powers, or the largest for an infinite one, after one more column."""
    if power == 2.0:
        return total + apart * apart
    if power == 1.0:
        return total + apart
    return max(total, apart) if np.isinf(power) else total + apart**power


@inner_kernel()
def box_power(x, low, high, power):
    """The power of the distance of a point to a box."""
    if power == 2.0:
        return box_square(x, low, high)
    total = 0.0
    for j in range(x.size):
        total = power_with(total, max(low[j] - x[j], x[j] - high[j], 0.0), power)
    return total


@inner_kernel()
def leaf_powers(x, cells, n, power, out):
    """Powers of the distances of a point to the rows of a leaf, given column by column."""
    for t in range(n):
        out[t] = 0.0
    for j in range(x.size):
        a = x[j]
        column = cells[j * n : (j + 1) * n]
        if power == 2.0:
            for t in range(n):
                out[t] += (a - column[t]) * (a - column[t])
        elif power == 1.0:
            for t in range(n):
                out[t] += abs(a - column[t])
        elif np.isinf(power):
            for t in range(n):
                out[t] = max(out[t], abs(a - column[t]))
        else:
            for t in range(n):
                out[t] += abs(a - column[t]) ** power


# cells leaf by leaf, order of rows, starts of nodes, corners of boxes
TREE = "Tuple((float64[::1], int64[::1], int64[::1], float64[:, ::1], float64[:, ::1]))"


@kernel(
    f"int64({TREE}, int64, float64[:, ::1], float64, float64[::1], int64[::1], int64[::1],"
    " float64[::1])"
)
def within(tree, n_levels, queries, power, radii, counts, out_rows, out_powers):
    """Rows whose power is at most the query's radius, query after query; how many in all.

    Where the arrays are too short, rows are only counted.
    """
    cells, order, starts, low, high = tree
    p, n = queries.shape[1], order.size
    first_leaf = 2 ** (n_levels - 1) - 1
    stack = np.empty(2 * n_levels + 2, np.int64)
    out = np.empty(n // (first_leaf + 1) + 2)
    total = 0
    for q in range(queries.shape[0]):
        x, radius = queries[q], radii[q]
        before = total
        stack[0] = 0
        size = 1
        while size > 0:
            size -= 1
            node = stack[size]
            if box_power(x, low[node], high[node], power) * SLACK > radius:
                continue
            if node < first_leaf:
                stack[size], stack[size + 1] = 2 * node + 2, 2 * node + 1
                size += 2
                continue
            start = starts[node]
            stop = n if node == 2 * first_leaf else starts[node + 1]
            m = stop - start
            leaf_powers(x, cells[start * p : stop * p], m, power, out)
            for t in range(m):
                if out[t] <= radius:
                    if total < out_rows.size:
                        out_rows[total], out_powers[total] = order[start + t], out[t]
                    total += 1
        counts[q] = total - before
    return total
