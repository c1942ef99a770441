"""Expected counts of families in rows with missing cells, compiled.

Given the known cells of a row, its missing ones fall apart: two of them depend on each other only
through families that hold both. Each such *component* is small in most tables, and its states are
enumerated: the product of the family entries that it touches is the probability of each state.

    families   starts, members (parents, then the node), strides of members, first cell of each
    room       per variable: root of its component, states; lists of members and of families of a
               component, and products of its states
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.numerics import inner_kernel, kernel

FAMILIES = "Tuple((int64[::1], int64[::1], int64[::1], int64[::1], int64[::1]))"
# States of a component that are enumerated; rows with larger ones go to a junction tree.
MOST_STATES = 1 << 14
# Products below this may have lost digits.
SMALLEST = 1e-250


@inner_kernel()
def root_of(roots, v):
    while roots[v] != v:
        roots[v] = roots[roots[v]]
        v = roots[v]
    return v


@inner_kernel()
def join_missing(families, row, roots):
    """Joins missing cells that share a family; known ones have the root -1."""
    starts, members, _, _, _ = families
    d = row.size
    for v in range(d):
        roots[v] = v if row[v] < 0 else -1
    for f in range(d):
        first = -1
        for i in range(starts[f], starts[f + 1]):
            v = members[i]
            if roots[v] >= 0:
                if first < 0:
                    first = root_of(roots, v)
                else:
                    other = root_of(roots, v)
                    if other != first:
                        roots[max(other, first)] = min(other, first)
                        first = min(other, first)


@inner_kernel()
def is_small(cards, row, roots, sizes):
    """Whether every component has few states."""
    for v in range(row.size):
        sizes[v] = 1
    for v in range(row.size):
        if row[v] < 0:
            root = root_of(roots, v)
            sizes[root] *= cards[v]
            if sizes[root] > MOST_STATES:
                return False
    return True


@inner_kernel()
def base_cell(families, row, f):
    """The cell of a family with missing members at their first state."""
    starts, members, strides, firsts, _ = families
    cell = firsts[f]
    for i in range(starts[f], starts[f + 1]):
        if row[members[i]] > 0:
            cell += row[members[i]] * strides[i]
    return cell


@inner_kernel()
def component_products(families, tables, row, roots, root, room, products):
    """Products of all states of a component, in `products`; their number and their sum."""
    starts, members, _, _, cards = families
    d = row.size
    variables, touched, cells, states = room[0], room[1], room[2], room[3]
    n_variables, n_touched, n_states = 0, 0, 1
    for v in range(d):
        if row[v] < 0 and root_of(roots, v) == root:
            variables[n_variables] = v
            n_variables += 1
            n_states *= cards[v]
            states[v] = 0
    for f in range(d):
        for i in range(starts[f], starts[f + 1]):
            v = members[i]
            if row[v] < 0 and root_of(roots, v) == root:
                touched[n_touched] = f
                cells[n_touched] = base_cell(families, row, f)
                n_touched += 1
                break
    room[4][0], room[4][1] = n_variables, n_touched
    total = 0.0
    for s in range(n_states):
        product = 1.0
        for t in range(n_touched):
            product *= tables[moved_cell(families, row, states, touched[t], cells[t])]
        products[s] = product
        total += product
        advance(cards, variables, n_variables, states)
    return n_states, total


@inner_kernel()
def moved_cell(families, row, states, f, cell):
    """A cell with the missing members of its family at their present states."""
    starts, members, strides, _, _ = families
    for i in range(starts[f], starts[f + 1]):
        if row[members[i]] < 0:
            cell += states[members[i]] * strides[i]
    return cell


@inner_kernel()
def advance(cards, variables, n, states):
    """The next states of some variables, the last running fastest; after the last the first."""
    for i in range(n - 1, -1, -1):
        v = variables[i]
        states[v] += 1
        if states[v] < cards[v]:
            return
        states[v] = 0


@kernel(
    f"void({FAMILIES}, float64[::1], int32[:, ::1], float64[::1], int64, int64, float64[::1], "
    "float64[::1])"
)
def add_expected(families, tables, rows, weights, begin, end, out_counts, out_logs):
    """Adds expected counts of the rows `begin` to `end`, and writes their log-probabilities.

    A row that is too large, or nearly impossible, adds nothing and has NaN.
    """
    starts, members, _, _, cards = families
    d = rows.shape[1]
    roots, sizes = np.empty(d, np.int64), np.empty(d, np.int64)
    room = np.empty((5, max(d, 2)), np.int64)
    products, sums = np.empty(MOST_STATES), np.empty(d)
    for r in range(begin, end):
        row = rows[r]
        join_missing(families, row, roots)
        out_logs[r] = np.nan
        if not is_small(cards, row, roots, sizes):
            continue
        log, is_safe = 0.0, True
        for v in range(d):
            if row[v] < 0 and roots[v] == v:
                _, total = component_products(families, tables, row, roots, v, room, products)
                sums[v] = total
                is_safe = is_safe and total > SMALLEST
                log += math.log(total) if total > 0.0 else 0.0
        if not is_safe:
            continue
        for f in range(d):
            known = True
            for i in range(starts[f], starts[f + 1]):
                known = known and row[members[i]] >= 0
            if known:
                cell = base_cell(families, row, f)
                log += math.log(tables[cell])
                out_counts[cell] += weights[r]
        out_logs[r] = log
        for v in range(d):
            if row[v] < 0 and roots[v] == v:
                n_states, total = component_products(
                    families, tables, row, roots, v, room, products
                )
                touched, cells, states = room[1], room[2], room[3]
                scale = weights[r] / total
                for s in range(n_states):
                    if products[s] > 0.0:
                        for t in range(room[4][1]):
                            cell = moved_cell(families, row, states, touched[t], cells[t])
                            out_counts[cell] += products[s] * scale
                    advance(cards, room[0], room[4][0], states)


@kernel(
    f"void({FAMILIES}, float64[::1], int32[:, ::1], float64[:, ::1], int64, int64, boolean[::1])"
)
def fill_missing(families, tables, rows, draws, begin, end, out_left):
    """Draws the missing cells of rows from their distribution given the known ones, in place.

    `draws` has a uniform number for each cell; a row that is too large is left as it is.
    """
    cards = families[4]
    d = rows.shape[1]
    roots, sizes = np.empty(d, np.int64), np.empty(d, np.int64)
    room, products = np.empty((5, max(d, 2)), np.int64), np.empty(MOST_STATES)
    filled = np.empty(d, np.int32)
    for r in range(begin, end):
        row = rows[r]
        join_missing(families, row, roots)
        if not is_small(cards, row, roots, sizes):
            out_left[r] = True
            continue
        filled[:] = row
        for v in range(d):
            if row[v] < 0 and roots[v] == v:
                n_states, total = component_products(
                    families, tables, row, roots, v, room, products
                )
                if not total > SMALLEST:
                    out_left[r] = True
                    break
                wanted, chosen = draws[r, v] * total, 0
                for s in range(n_states):
                    if products[s] > 0.0:
                        chosen = s
                        wanted -= products[s]
                        if wanted < 0.0:
                            break
                for i in range(room[4][0] - 1, -1, -1):
                    variable = room[0, i]
                    filled[variable] = chosen % cards[variable]
                    chosen //= cards[variable]
        if not out_left[r]:
            rows[r] = filled
