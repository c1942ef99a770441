"""Linear models of nodes: sums over a node's rows, and which columns its model keeps.

Rows of a node are read in blocks, each cell less the node's mean of its column and times the root
of its weight; a missing cell is the mean, hence 0. Their products `S` are brought to unit diagonal
and swept: after sweeping the columns A into the matrix

    G_AA = -C_AA^-1,   G_AB = C_AA^-1 C_AB,   G_BB = C_BB - C_BA C_AA^-1 C_AB,

and the targets' part B has the coefficients in its rows A. Sweeping is its own inverse but for a
sign, so one routine lets columns in and out (Goodnight, "A tutorial on the SWEEP operator", 1979).
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import inner_kernel, kernel

EPSILON = 2.0**-52
# A column whose part that others do not explain has less of its variance than this is left out.
COLLINEAR = 1e-10
# Scores that differ by less, relative to themselves, are equal: sums in another order.
TIE = 1e-9
# A squared error below this share of the target's squares counts as that share.
NEGLIGIBLE = 1e-12
BLOCK = 512
REFINEMENTS = 2

# cells, targets, weight; rows and shares of the entries of all nodes; owner and level of the
# columns of the design
TABLE = (
    "Tuple((float64[:, ::1], float64[:, ::1], float64[::1], int32[::1], float64[::1], int32[::1], "
    "int32[::1]))"
)
# size, deviation, error, base; column, center, coefficient
LINES = (
    "Tuple((int64[::1], float64[::1], float64[::1], float64[:, ::1], int32[::1], float64[::1], "
    "float64[:, ::1]))"
)
# start, column, level, coefficient, center, base
MODELS = (
    "Tuple((int64[::1], int32[::1], int32[::1], float64[:, ::1], float64[::1], float64[:, ::1]))"
)

# leaf_start, leaf, share: the leaves of rows as a sparse matrix
LEAVES = "Tuple((int64[::1], int32[::1], float64[::1]))"
# parent and weight of every node
WAYS = "Tuple((int32[::1], float64[::1]))"


# --- Sweeping -------------------------------------------------------------------------------------


@kernel("float64(float64[:, ::1], float64[:, ::1], int64, float64)")
def sweep(out_g, out_b, k, sign):
    """Lets column `k` in (`sign` 1) or out (-1); returns by how much the squared error falls."""
    pivot = out_g[k, k]
    fall = 0.0
    for t in range(out_b.shape[1]):
        fall += out_b[k, t] * out_b[k, t] / pivot
    for i in range(out_g.shape[0]):
        if i == k:
            continue
        factor = out_g[i, k] / pivot
        if factor != 0.0:
            for j in range(out_g.shape[1]):
                out_g[i, j] -= factor * out_g[k, j]
            for t in range(out_b.shape[1]):
                out_b[i, t] -= factor * out_b[k, t]
        out_g[i, k] = sign * factor
    for i in range(out_g.shape[0]):
        out_g[k, i] = out_g[i, k]
    for t in range(out_b.shape[1]):
        out_b[k, t] = sign * out_b[k, t] / pivot
    out_g[k, k] = -1.0 / pivot
    return fall


@inner_kernel()
def effect(g, b, k):
    """Squared error that column `k` removes if let in, or adds if let out."""
    total = 0.0
    for t in range(b.shape[1]):
        total += b[k, t] * b[k, t]
    return total / abs(g[k, k])


@inner_kernel()
def next_in(g, b, waiting, inside, by_effect):
    """The waiting column with the largest part of its own, or effect; -1 if none has a part."""
    best, top = -1, 0.0
    for k in range(g.shape[0]):
        if inside[k] or not waiting[k] or g[k, k] <= COLLINEAR:
            continue
        score = effect(g, b, k) if by_effect else g[k, k]
        if best < 0 or score > top * (1.0 + TIE):
            best, top = k, score
    return best


@inner_kernel()
def next_out(g, b, inside):
    """The column inside that is missed least, of equals the last; -1 if there is none."""
    best, least = -1, 0.0
    for k in range(g.shape[0]):
        if inside[k]:
            score = effect(g, b, k)
            if best < 0 or score <= least * (1.0 + TIE):
                best, least = k, score
    return best


@inner_kernel()
def pessimistic(squares, weight, parameters):
    """Root mean squared error times (n + v) / (n - v); infinite for n <= v."""
    if weight <= parameters:
        return np.inf
    return np.sqrt(squares / weight) * (weight + parameters) / (weight - parameters)


@kernel(
    "int64(float64[:, ::1], float64[:, ::1], float64, float64, boolean[::1], float64[:, ::1], "
    "float64[:, ::1])"
)
def simplified(c, cross, total, weight, out_inside, out_g, out_b):
    """Marks the columns of the model of least pessimistic error on a greedy way down.

    Parameters
    ----------
    c, cross : products of the columns at unit diagonal, and of columns and targets
    total : sum of squares of the targets
    weight : of the rows
    out_inside : marks of the columns that may be used, on return of those that are
    out_g, out_b : work space; on return the swept matrices of the chosen columns

    Returns the number of chosen columns.
    """
    d = c.shape[0]
    waiting = out_inside.copy()
    out_inside[:] = False
    out_g[:] = c
    out_b[:] = cross
    # Of few rows and many columns some fit by chance: a parameter needs the weight of two rows.
    most = max(int(0.5 * weight * (1.0 + TIE)) - 1, 0)
    by_effect = waiting.sum() > most
    squares, size = total, 0
    while size < most:
        k = next_in(out_g, out_b, waiting, out_inside, by_effect)
        if k < 0:
            break
        squares -= sweep(out_g, out_b, k, 1.0)
        out_inside[k] = True
        size += 1
    floor = NEGLIGIBLE * total
    order = np.empty(size, np.int64)
    best, least = size, pessimistic(max(squares, floor), weight, size + 1.0)
    while size > 0:
        k = next_out(out_g, out_b, out_inside)
        squares -= sweep(out_g, out_b, k, -1.0)
        out_inside[k] = False
        size -= 1
        order[size] = k
        error = pessimistic(max(squares, floor), weight, size + 1.0)
        if error <= least * (1.0 + TIE):
            best, least = size, error
    waiting[:] = False
    waiting[order[:best]] = True
    # Swept afresh: letting columns in and out again has left rounding errors behind.
    out_g[:] = c
    out_b[:] = cross
    size = 0
    for _ in range(d):
        k = next_in(out_g, out_b, waiting, out_inside, False)
        if k < 0:
            break
        sweep(out_g, out_b, k, 1.0)
        out_inside[k] = True
        size += 1
    return size


# --- Sums over rows -------------------------------------------------------------------------------


@inner_kernel(allocates=True)
def fill_block(table, first, last, columns, mean, out):
    """Design and targets of entries `first` to `last`, less their means, times root weights."""
    cells, targets, weight, rows, shares, owner, level = table
    n_targets, d = targets.shape[1], columns.size
    for e in range(last - first):
        row = rows[first + e]
        root = np.sqrt(weight[row] * shares[first + e])
        for k in range(d):
            x = cells[row, owner[columns[k]]]
            code = level[columns[k]]
            if x != x or (code >= 0 and x < 0.0):
                out[e, k] = 0.0
                continue
            if code >= 0:
                x = 1.0 if x == code else 0.0
            out[e, k] = root * (x - mean[k])
        for t in range(n_targets):
            out[e, d + t] = root * (targets[row, t] - mean[d + t])


@inner_kernel(allocates=True)
def node_means(table, first, last, columns, out_mean):
    """Weighted means of the known cells and of the targets; returns the weight."""
    cells, targets, weight, rows, shares, owner, level = table
    n_targets, d = targets.shape[1], columns.size
    known = np.zeros(d)
    total = 0.0
    out_mean[: d + n_targets] = 0.0
    # The second pass takes the rounding of the first away.
    for turn in range(2):
        moved = np.zeros(d + n_targets)
        for e in range(first, last):
            row = rows[e]
            w = weight[row] * shares[e]
            if turn == 0:
                total += w
            for k in range(d):
                x = cells[row, owner[columns[k]]]
                code = level[columns[k]]
                if x != x or (code >= 0 and x < 0.0):
                    continue
                if code >= 0:
                    x = 1.0 if x == code else 0.0
                if turn == 0:
                    known[k] += w
                moved[k] += w * (x - out_mean[k])
            for t in range(n_targets):
                moved[d + t] += w * (targets[row, t] - out_mean[d + t])
        for k in range(d):
            if known[k] > 0.0:
                out_mean[k] += moved[k] / known[k]
        for t in range(n_targets):
            out_mean[d + t] += moved[d + t] / total
    return total


@inner_kernel(allocates=True)
def node_products(table, first, last, columns, mean, out_products):
    """Sums of products of design and targets about their means."""
    q = columns.size + table[1].shape[1]
    out_products[:] = 0.0
    room = np.empty(min(BLOCK, last - first) * q)
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        block = room[: (stop - start) * q].reshape((stop - start, q))
        fill_block(table, start, stop, columns, mean, block)
        out_products += np.dot(block.T, block)


@inner_kernel(allocates=True)
def residual_products(table, first, last, columns, mean, coefficient, out_products, out_squares):
    """Products of the columns with the residuals, (d, n_targets), and the residuals' squares."""
    n_targets, d = table[1].shape[1], columns.size
    q = d + n_targets
    out_products[:] = 0.0
    out_squares[:] = 0.0
    room = np.empty(min(BLOCK, last - first) * q)
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        block = room[: (stop - start) * q].reshape((stop - start, q))
        fill_block(table, start, stop, columns, mean, block)
        for e in range(stop - start):
            for t in range(n_targets):
                left = block[e, d + t]
                for k in range(d):
                    left -= block[e, k] * coefficient[k, t]
                out_squares[t] += left * left
                for k in range(d):
                    out_products[k, t] += block[e, k] * left


# --- Models ---------------------------------------------------------------------------------------


@inner_kernel(allocates=True)
def refined(table, first, last, columns, mean, size, inverse, out_coefficient):
    """Corrects coefficients by the residuals of the rows; returns the squared error left.

    Products square the condition number. A step along `inverse` (of products at unit diagonal,
    columns of these sizes) that the residuals ask for gives the digits back.
    """
    n_targets, d = table[1].shape[1], columns.size
    products, squares = np.empty((d, n_targets)), np.empty(n_targets)
    for turn in range(REFINEMENTS + 1):
        residual_products(table, first, last, columns, mean, out_coefficient, products, squares)
        if turn == REFINEMENTS or d == 0:
            break
        for t in range(n_targets):
            for k in range(d):
                step = 0.0
                for j in range(d):
                    step += inverse[k, j] * products[j, t] / size[j]
                out_coefficient[k, t] += step / size[k]
    return squares.sum()


@kernel(f"int64({TABLE}, int64[::1], boolean[:, ::1], int64, int64, {LINES})")
def node_lines(table, start, used, low, high, out):
    """Linear models of nodes `low` to `high`, one after the other; returns how many terms.

    `start` says where the entries of each node begin, `used[node - low, column]` which columns of
    the table a model may have.
    """
    targets, owner = table[1], table[5]
    out_size, out_deviation, out_error, out_base, out_column, out_center, out_coefficient = out
    n_targets = targets.shape[1]
    count = 0
    columns = np.empty(owner.size, np.int64)
    mean = np.empty(owner.size + n_targets)
    for node in range(low, high):
        first, last = start[node], start[node + 1]
        d = 0
        for k in range(owner.size):
            if used[node - low, owner[k]]:
                columns[d] = k
                d += 1
        total = node_means(table, first, last, columns[:d], mean)
        products = np.empty((d + n_targets, d + n_targets))
        node_products(table, first, last, columns[:d], mean, products)
        squares = 0.0
        for t in range(n_targets):
            squares += products[d + t, d + t]
        size, inside = np.ones(d), np.zeros(d, np.bool_)
        for k in range(d):
            # A spread of a few units in the last place of the mean is none.
            inside[k] = products[k, k] > total * (8.0 * EPSILON * mean[k]) ** 2
            if inside[k]:
                size[k] = np.sqrt(products[k, k])
        c, cross = np.zeros((d, d)), np.zeros((d, n_targets))
        for i in range(d):
            for j in range(d):
                c[i, j] = products[i, j] / (size[i] * size[j])
            for t in range(n_targets):
                cross[i, t] = products[i, d + t] / size[i]
        g, b = np.empty((d, d)), np.empty((d, n_targets))
        kept = simplified(c, cross, squares, total, inside, g, b) if d > 0 else 0
        chosen = np.flatnonzero(inside)
        inverse, coefficient = np.empty((kept, kept)), np.empty((kept, n_targets))
        center = np.empty(kept + n_targets)
        for i in range(kept):
            for j in range(kept):
                inverse[i, j] = -g[chosen[i], chosen[j]]
            for t in range(n_targets):
                coefficient[i, t] = b[chosen[i], t] / size[chosen[i]]
            center[i] = mean[chosen[i]]
        center[kept:] = mean[d : d + n_targets]
        mine = columns[:d][chosen]
        left = refined(table, first, last, mine, center, size[chosen], inverse, coefficient)
        out_size[node - low] = kept
        out_deviation[node - low] = np.sqrt(squares / total)
        out_error[node - low] = np.sqrt(left / total)
        out_base[node - low] = mean[d : d + n_targets]
        out_column[count : count + kept] = mine
        out_center[count : count + kept] = center[:kept]
        out_coefficient[count : count + kept] = coefficient
        count += kept
    return count


# --- Smoothed predictions -------------------------------------------------------------------------


@inner_kernel()
def model_value(cells, row, node, target, models):
    """What the model of `node` says of a row; a missing cell or an unseen level adds nothing."""
    start, column, level, coefficient, center, base = models
    value = base[node, target]
    for term in range(start[node], start[node + 1]):
        x = cells[row, column[term]]
        code = level[term]
        if x != x or (code >= 0 and x < 0.0):
            continue
        if code >= 0:
            x = 1.0 if x == code else 0.0
        value += coefficient[term, target] * (x - center[term])
    return value


@kernel(
    f"void(float64[:, ::1], {LEAVES}, {WAYS}, float64, {MODELS}, int64, int64, float64[:, ::1])"
)
def smoothed_values(cells, leaves, ways, smoothing, models, low, high, out):
    """Adds to rows `low` to `high` of `out` the smoothed values of their leaves, by shares."""
    leaf_start, leaf, share = leaves
    parent, weight = ways
    for row in range(low, high):
        for e in range(leaf_start[row], leaf_start[row + 1]):
            for t in range(out.shape[1]):
                node = leaf[e]
                value = model_value(cells, row, node, t, models)
                while smoothing > 0.0 and parent[node] >= 0:
                    above = parent[node]
                    other = model_value(cells, row, above, t, models)
                    n = weight[node]
                    value += smoothing / (n + smoothing) * (other - value)
                    node = above
                out[row, t] += share[e] * value
