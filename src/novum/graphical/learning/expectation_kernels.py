"""Expected counts of families in rows with missing cells, compiled.

Given the known cells of a row, its missing ones fall apart: two of them depend on each other only
through families that hold both. Each such *component* is small in most tables, and its states are
enumerated: the product of the family entries that it touches is the probability of each state. A
larger one is often a tree, where no family holds more than two missing cells and none of them go
round: there messages to a root and back give the shares of every pair.

    families   starts, members (parents, then the node), strides of members, first cell of each
    room       per variable: root of its component, states; lists of members and of families of a
               component, and products of its states
    branches   of a tree: its variables from the root on, what each hangs on, and of each family
               that is touched the places of its missing members
    shares     of a tree, per variable and state: weights from below, messages up, both together
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.numerics import inner_kernel, kernel

FAMILIES = "Tuple((int64[::1], int64[::1], int64[::1], int64[::1], int64[::1]))"
# States of a component that are enumerated where it is no tree; rows with larger ones go to a
# junction tree.
MOST_STATES = 1 << 14
# States below which a tree is enumerated, too.
FEW_STATES = 16
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
def count_states(cards, row, roots, out_sizes):
    """The states of each component, at its root, as far as they can be enumerated; the most."""
    most = 0
    for v in range(row.size):
        out_sizes[v] = 1
    for v in range(row.size):
        if row[v] < 0:
            root = root_of(roots, v)
            out_sizes[root] = min(out_sizes[root] * cards[v], MOST_STATES + 1)
            most = max(most, out_sizes[root])
    return most


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
def list_component(families, row, roots, root, room):
    """Lists the variables of a component and the families that it touches, in `room`."""
    starts, members, _, _, _ = families
    d = row.size
    variables, touched, cells = room[0], room[1], room[2]
    n_variables, n_touched = 0, 0
    for v in range(d):
        if row[v] < 0 and root_of(roots, v) == root:
            variables[n_variables] = v
            n_variables += 1
    for f in range(d):
        for i in range(starts[f], starts[f + 1]):
            v = members[i]
            if row[v] < 0 and root_of(roots, v) == root:
                touched[n_touched] = f
                cells[n_touched] = base_cell(families, row, f)
                n_touched += 1
                break
    room[4][0], room[4][1] = n_variables, n_touched


@inner_kernel()
def component_products(families, tables, row, room, products):
    """Products of all states of the component in `room`; their number and their sum."""
    cards = families[4]
    variables, touched, cells, states = room[0], room[1], room[2], room[3]
    n_variables, n_touched, n_states = room[4][0], room[4][1], 1
    for v in variables[:n_variables]:
        n_states *= cards[v]
        states[v] = 0
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


# --- Components that are trees --------------------------------------------------------------------


@inner_kernel()
def is_tree(families, row, room, branches):
    """Whether the component in `room` is a tree; `branches` get its order and its pairs."""
    starts, members, _, _, _ = families
    order, up, first, second = branches[0], branches[1], branches[2], branches[3]
    n_variables, n_touched = room[4][0], room[4][1]
    for t in range(n_touched):
        f, n_missing = room[1, t], 0
        first[t], second[t] = -1, -1
        for i in range(starts[f], starts[f + 1]):
            if row[members[i]] < 0:
                n_missing += 1
                if n_missing > 2:
                    return False
                if n_missing == 1:
                    first[t] = i
                else:
                    second[t] = i
    for v in room[0, :n_variables]:
        up[v] = -2
    order[0], n_found = room[0, 0], 1
    up[order[0]] = -1
    at = 0
    while at < n_found:
        v = order[at]
        at += 1
        for t in range(n_touched):
            if second[t] < 0:
                continue
            a, b = members[first[t]], members[second[t]]
            if v != a and v != b:
                continue
            other = b if v == a else a
            if up[other] == -2:
                up[other] = v
                order[n_found] = other
                n_found += 1
            elif up[v] != other and up[other] != v:
                return False
    return True


@inner_kernel()
def pair_product(families, tables, room, branches, v, state, above):
    """The product of the families that hold a variable and the one that it hangs on."""
    _, members, strides, _, _ = families
    first, second, up = branches[2], branches[3], branches[1, v]
    product = 1.0
    for t in range(room[4][1]):
        if second[t] >= 0:
            a, b = members[first[t]], members[second[t]]
            if a == v and b == up:
                cell = room[2, t] + state * strides[first[t]] + above * strides[second[t]]
                product *= tables[cell]
            elif a == up and b == v:
                cell = room[2, t] + above * strides[first[t]] + state * strides[second[t]]
                product *= tables[cell]
    return product


@inner_kernel()
def tree_total(families, tables, room, branches, shares):
    """Sends messages to the root of the tree in `room`: the sum over all its states."""
    _, members, strides, _, cards = families
    weights, messages = shares[0], shares[1]
    order, up, first, second = branches[0], branches[1], branches[2], branches[3]
    n_variables, n_touched = room[4][0], room[4][1]
    for v in room[0, :n_variables]:
        for s in range(cards[v]):
            weights[v, s] = 1.0
    for t in range(n_touched):
        if second[t] < 0:
            v, stride = members[first[t]], strides[first[t]]
            for s in range(cards[v]):
                weights[v, s] *= tables[room[2, t] + s * stride]
    for k in range(n_variables - 1, 0, -1):
        v, above = order[k], up[order[k]]
        for a in range(cards[above]):
            message = 0.0
            for s in range(cards[v]):
                if weights[v, s] > 0.0:
                    product = pair_product(families, tables, room, branches, v, s, a)
                    message += weights[v, s] * product
            messages[v, a] = message
            weights[above, a] *= message
    total = 0.0
    for s in range(cards[order[0]]):
        total += weights[order[0], s]
    return total


@inner_kernel()
def add_tree(families, tables, room, branches, shares, scale, out_counts):
    """Adds the shares of all states and pairs, after `tree_total`, times `scale`."""
    _, members, strides, _, cards = families
    weights, messages, beliefs = shares[0], shares[1], shares[2]
    order, up, first, second = branches[0], branches[1], branches[2], branches[3]
    for s in range(cards[order[0]]):
        beliefs[order[0], s] = weights[order[0], s]
    for k in range(1, room[4][0]):
        v, above = order[k], up[order[k]]
        for s in range(cards[v]):
            beliefs[v, s] = 0.0
        for a in range(cards[above]):
            if beliefs[above, a] > 0.0:
                # What all others say of this state of the variable above.
                rest = beliefs[above, a] / messages[v, a]
                for s in range(cards[v]):
                    if weights[v, s] > 0.0:
                        product = pair_product(families, tables, room, branches, v, s, a)
                        beliefs[v, s] += rest * product * weights[v, s]
    for t in range(room[4][1]):
        v, stride = members[first[t]], strides[first[t]]
        if second[t] < 0:
            for s in range(cards[v]):
                out_counts[room[2, t] + s * stride] += scale * beliefs[v, s]
            continue
        other, other_stride = members[second[t]], strides[second[t]]
        below, below_stride = (v, stride) if up[v] == other else (other, other_stride)
        above, above_stride = (other, other_stride) if up[v] == other else (v, stride)
        for a in range(cards[above]):
            if beliefs[above, a] > 0.0:
                rest = scale * beliefs[above, a] / messages[below, a]
                for s in range(cards[below]):
                    if weights[below, s] > 0.0:
                        product = pair_product(families, tables, room, branches, below, s, a)
                        cell = room[2, t] + s * below_stride + a * above_stride
                        out_counts[cell] += rest * product * weights[below, s]


# --- Rows -----------------------------------------------------------------------------------------


@inner_kernel()
def add_states(families, row, room, products, n_states, scale, out_counts):
    """Adds the shares of all states of the component in `room`, times `scale`."""
    touched, cells, states = room[1], room[2], room[3]
    for s in range(n_states):
        if products[s] > 0.0:
            for t in range(room[4][1]):
                cell = moved_cell(families, row, states, touched[t], cells[t])
                out_counts[cell] += products[s] * scale
        advance(families[4], room[0], room[4][0], states)


@kernel(
    f"void({FAMILIES}, float64[::1], int32[:, ::1], float64[::1], int64, int64, float64[::1], "
    "float64[::1])"
)
def add_expected(families, tables, rows, weights, begin, end, out_counts, out_logs):
    """Adds expected counts of the rows `begin` to `end`, and writes their log-probabilities.

    A row that is too large, or nearly impossible, adds nothing and has NaN.
    """
    starts, members, _, _, cards = families
    d, most_states = rows.shape[1], 1
    for card in cards:
        most_states = max(most_states, card)
    roots, sizes = np.empty(d, np.int64), np.empty(d, np.int64)
    room, branches = np.empty((5, max(d, 2)), np.int64), np.empty((4, d), np.int64)
    products, shares = np.empty(MOST_STATES), np.empty((3, d, most_states))
    for r in range(begin, end):
        row = rows[r]
        join_missing(families, row, roots)
        count_states(cards, row, roots, sizes)
        out_logs[r] = np.nan
        log, is_safe = 0.0, True
        for v in range(d):
            if is_safe and row[v] < 0 and roots[v] == v:
                list_component(families, row, roots, v, room)
                if sizes[v] > FEW_STATES and is_tree(families, row, room, branches):
                    total = tree_total(families, tables, room, branches, shares)
                elif sizes[v] <= MOST_STATES:
                    _, total = component_products(families, tables, row, room, products)
                else:
                    total = 0.0
                is_safe = total > SMALLEST
                log += math.log(total) if is_safe else 0.0
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
                list_component(families, row, roots, v, room)
                if sizes[v] > FEW_STATES and is_tree(families, row, room, branches):
                    total = tree_total(families, tables, room, branches, shares)
                    scale = weights[r] / total
                    add_tree(families, tables, room, branches, shares, scale, out_counts)
                else:
                    n_states, total = component_products(families, tables, row, room, products)
                    scale = weights[r] / total
                    add_states(families, row, room, products, n_states, scale, out_counts)


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
        if count_states(cards, row, roots, sizes) > MOST_STATES:
            out_left[r] = True
            continue
        filled[:] = row
        for v in range(d):
            if row[v] < 0 and roots[v] == v:
                list_component(families, row, roots, v, room)
                n_states, total = component_products(families, tables, row, room, products)
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
