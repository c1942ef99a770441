"""Contributions of columns to what trees say, by sums over nodes and points of a quadrature.

See `contributions` for the formulas. A block of rows goes through a tree together: downwards every
node gets the product of the factors on its way, upwards the sums over the leaves below it. What is
zero is not visited: nodes that neither a row nor what stands for it reaches, and subtrees whose
leaves say nothing of an output.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import inner_kernel, kernel, lean_kernel
from novum.trees.routing_kernels import TREE, branch_of

# Rows of a block.
BLOCK = 16

# parent, edge above with the same column, points and weights of the quadrature
WAYS = "Tuple((int32[::1], int32[::1], float64[::1], float64[::1]))"
# chances without and with the row (last axis: rows), products, reciprocal factors, sums, the nodes
# that are reached, parents first, and whether a node says something
WORK = (
    "Tuple((float64[::1], float64[:, ::1], float64[:, :, ::1], float64[:, :, ::1], "
    "float64[:, :, ::1], int64[::1], boolean[::1]))"
)


@lean_kernel(f"int64({TREE}, int64[::1], int32[::1], int32[::1])")
def find_ways(tree, tree_start, out_parent, out_before):
    """Parents, and for every node the edge above it that asks about the same column.

    An edge is named by the node it leads to. Returns the most columns that meet on one way.
    """
    column, first_child, n_children = tree[1], tree[3], tree[4]
    most = np.int64(0)
    for t in range(tree_start.size - 1):
        root = tree_start[t]
        out_parent[root] = out_before[root] = -1
        for at in range(root, tree_start[t + 1]):
            for child in range(first_child[at], first_child[at] + n_children[at]):
                out_parent[child] = at
                above = at
                while above != root and column[out_parent[above]] != column[at]:
                    above = out_parent[above]
                out_before[child] = above if above != root else -1
        # Of leaves only, since ways grow downwards.
        for at in range(root, tree_start[t + 1]):
            if n_children[at] == 0:
                met = np.int64(0)
                node = at
                while node != root:
                    met += out_before[node] < 0
                    node = out_parent[node]
                most = max(most, met)
    return most


@inner_kernel()
def chances_of_row(tree, ways, root, end, cells, row, out):
    """For every edge the chance that a row passes all edges of its column down to it."""
    column, first_child, n_children, share = tree[1], tree[3], tree[4], tree[5]
    before = ways[1]
    for at in range(root, end):
        if n_children[at] == 0:
            continue
        branch = branch_of(tree, at, cells[row, column[at]])
        for number in range(n_children[at]):
            child = first_child[at] + number
            passed = share[child] if branch < 0 else np.float64(number == branch)
            above = before[child]
            out[child - root] = passed * (out[above - root] if above >= 0 else 1.0)


@inner_kernel()
def chances_without(tree, ways, root, end, background, which, out):
    """The chances without a row: those of a row of the background, or of the training rows."""
    share, before = tree[5], ways[1]
    if which >= 0:
        chances_of_row(tree, ways, root, end, background, which, out)
        return
    for node in range(root + 1, end):
        above = before[node]
        out[node - root] = share[node] * (out[above - root] if above >= 0 else 1.0)


@inner_kernel()
def go_down(tree, ways, root, cells, start, n_rows, work):
    """Products of factors on the way to every node, and reciprocals of the factors of edges.

    Returns how many nodes are reached.
    """
    column, first_child, n_children, share = tree[1], tree[3], tree[4], tree[5]
    _, before, point, quadrature = ways
    without, with_row, product, reciprocal, _, reached, says = work
    for q in range(point.size):
        for r in range(n_rows):
            product[0, q, r] = quadrature[q]
    reached[0], n_reached, looked_at = root, 1, 0
    while looked_at < n_reached:
        at = reached[looked_at]
        looked_at += 1
        for r in range(n_rows if n_children[at] else 0):
            branch = branch_of(tree, at, cells[start + r, column[at]])
            for number in range(n_children[at]):
                child = first_child[at] + number
                passed = share[child] if branch < 0 else np.float64(number == branch)
                above = before[child]
                with_row[child - root, r] = passed * (
                    with_row[above - root, r] if above >= 0 else 1.0
                )
        for number in range(n_children[at]):
            child = first_child[at] + number
            here = child - root
            above = before[child] - root
            z = without[here]
            passes = z > 0.0
            for r in range(n_rows):
                passes = passes or with_row[here, r] > 0.0
            if not passes:
                says[here] = False
                continue
            reached[n_reached] = child
            n_reached += 1
            for q in range(point.size):
                t = point[q]
                base = z * (1.0 - t)
                for r in range(n_rows):
                    factor = base + with_row[here, r] * t
                    grown = product[at - root, q, r] * factor
                    if before[child] >= 0:
                        grown *= reciprocal[above, q, r]
                    product[here, q, r] = grown
                    reciprocal[here, q, r] = 1.0 / factor if factor > 0.0 else 0.0
    return n_reached


@inner_kernel()
def come_up(tree, ways, root, n_reached, value, output, start, n_rows, work, out):
    """Adds what the edges contribute to their columns, from the sums over leaves below them."""
    column, first_child, n_children = tree[1], tree[3], tree[4]
    parent, before, point, _ = ways
    without, with_row, product, reciprocal, below, reached, says = work
    for place in range(n_reached - 1, 0, -1):
        node = reached[place]
        here = node - root
        says[here] = False
        if n_children[node] == 0:
            said = value[node, output]
            if said == 0.0:
                continue
            says[here] = True
            for q in range(point.size):
                for r in range(n_rows):
                    below[here, q, r] = said * product[here, q, r]
        else:
            first = first_child[node] - root
            for child in range(first, first + n_children[node]):
                if not says[child]:
                    continue
                for q in range(point.size):
                    for r in range(n_rows):
                        so_far = below[here, q, r] if says[here] else 0.0
                        below[here, q, r] = so_far + below[child, q, r]
                says[here] = True
            if not says[here]:
                continue
        j = column[parent[node]]
        above = before[node] - root
        for q in range(point.size):
            for r in range(n_rows):
                part = (with_row[here, r] - without[here]) * reciprocal[here, q, r]
                if before[node] >= 0:
                    part -= (with_row[above, r] - without[above]) * reciprocal[above, q, r]
                out[start + r, j, output] += part * below[here, q, r]


@kernel(
    f"void({TREE}, int64[::1], int64, int64, {WAYS}, float64[:, ::1], float64[:, ::1], "
    f"float64[:, ::1], int64, {WORK}, float64[:, :, ::1], float64[::1])"
)
def add_contributions(
    tree, tree_start, first, last, ways, value, cells, background, which, work, out, out_base
):
    """Adds the contributions of trees `first` to `last - 1` to rows.

    `which` is the row of the background that stands for what is not known, or -1 for the shares of
    the training rows. `out_base` gets what the trees say when nothing is known.
    """
    n_children = tree[4]
    parent, before = ways[0], ways[1]
    without, below = work[0], work[4]
    for t in range(first, last):
        root, end = tree_start[t], tree_start[t + 1]
        chances_without(tree, ways, root, end, background, which, without)
        # What is said without any cell: the product over all edges, in the first row's room.
        below[0, 0, 0] = 1.0
        for node in range(root, end):
            here = node - root
            if node > root:
                above = before[node]
                passed = without[here]
                if above >= 0:
                    over = without[above - root]
                    passed = passed / over if over > 0.0 else 0.0
                below[here, 0, 0] = below[parent[node] - root, 0, 0] * passed
            if n_children[node] == 0 and below[here, 0, 0] != 0.0:
                for k in range(value.shape[1]):
                    out_base[k] += below[here, 0, 0] * value[node, k]
        for start in range(0, cells.shape[0], BLOCK):
            n_rows = min(BLOCK, cells.shape[0] - start)
            n_reached = go_down(tree, ways, root, cells, start, n_rows, work)
            for k in range(value.shape[1]):
                come_up(tree, ways, root, n_reached, value, k, start, n_rows, work, out)


@kernel(
    f"void({TREE}, int64[::1], int64, int64, {WAYS}, float64[:, ::1], float64[:, ::1], "
    f"float64[:, ::1], int64, {WORK}, int32[::1], float64[:, :, :, ::1])"
)
def add_interactions(
    tree, tree_start, first, last, ways, value, cells, background, which, work, met, out
):
    """Adds the interactions of pairs of columns, half of each on either side of the diagonal."""
    column, n_children = tree[1], tree[4]
    parent, _, point, _ = ways
    without, with_row, product, reciprocal, _, reached, _ = work
    for t in range(first, last):
        root, end = tree_start[t], tree_start[t + 1]
        chances_without(tree, ways, root, end, background, which, without)
        for start in range(0, cells.shape[0], BLOCK):
            n_rows = min(BLOCK, cells.shape[0] - start)
            for leaf in reached[: go_down(tree, ways, root, cells, start, n_rows, work)]:
                if n_children[leaf] != 0:
                    continue
                # The last edge of every column on the way.
                n_met, node = 0, leaf
                while node != root:
                    is_new = True
                    for k in range(n_met):
                        is_new = is_new and column[parent[met[k]]] != column[parent[node]]
                    if is_new:
                        met[n_met] = node
                        n_met += 1
                    node = parent[node]
                for a in range(n_met):
                    for b in range(a):
                        i, j = column[parent[met[a]]], column[parent[met[b]]]
                        one, other = met[a] - root, met[b] - root
                        for r in range(n_rows):
                            total = 0.0
                            for q in range(point.size):
                                total += (
                                    product[leaf - root, q, r]
                                    * reciprocal[one, q, r]
                                    * reciprocal[other, q, r]
                                )
                            total *= 0.5 * (with_row[one, r] - without[one])
                            total *= with_row[other, r] - without[other]
                            for k in range(value.shape[1]):
                                out[start + r, i, j, k] += total * value[leaf, k]
                                out[start + r, j, i, k] += total * value[leaf, k]
