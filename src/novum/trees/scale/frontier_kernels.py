"""Rows of a chunk on their way to the open nodes of a tree, and the sums they add there.

Trees ask about codes here: code <= `code` goes to branch 0. A row whose code is missing goes down
both branches with the children's shares of its weight, unless the node has a branch for it.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import lean_kernel
from novum.trees.growth.column_kernels import is_divided, try_column
from novum.trees.growth.growing_columns import (
    BEST,
    COLUMNS,
    MAX_FEATURES,
    MISSING_CODE,
    RULES,
    SEARCH,
    TABLE,
    WORK,
)
from novum.trees.growth.search_kernels import draw

_LEAF = 0
_THRESHOLD = 1

# question, column, code, first child, missing branch and place of its branches of every node (one
# row each); share of every node; branches by level
NODES = "Tuple((int64[:, ::1], float64[::1], int8[:, ::1]))"
# rows, nodes and weights
ARRIVALS = "Tuple((int32[::1], int64[::1], float64[::1]))"
# histograms, sums, square, count, least, largest
SUMS = (
    "Tuple((float64[:, ::1], float64[:, ::1], float64[::1], int64[::1], float64[:, ::1], "
    "float64[:, ::1]))"
)


@lean_kernel(
    f"int64(uint8[:, ::1], float64[::1], {NODES}, boolean[::1], int64, {ARRIVALS}, "
    "Tuple((int64[::1], float64[::1])))"
)
def arrive(codes, weight, tree, wanted, missing, out, stack):
    """Lists (row, node, weight) of the rows that end in a wanted node; returns how many.

    Entries beyond the room of `out` are counted and not written.
    """
    nodes, share, branches = tree
    question, column, code, child, missing_branch, level_at = (
        nodes[0],
        nodes[1],
        nodes[2],
        nodes[3],
        nodes[4],
        nodes[5],
    )
    out_row, out_node, out_weight = out
    stack_node, stack_weight = stack
    count = 0
    for row in range(codes.shape[0]):
        if weight[row] == 0.0:
            continue
        stack_node[0] = 0
        stack_weight[0] = weight[row]
        depth = 1
        while depth > 0:
            depth -= 1
            node = stack_node[depth]
            part = stack_weight[depth]
            while question[node] != _LEAF:
                c = np.int64(codes[row, column[node]])
                side = missing_branch[node]
                if c != missing:
                    if question[node] == _THRESHOLD:
                        side = 0 if c <= code[node] else 1
                    else:
                        side = np.int64(branches[level_at[node], c])
                if side < 0:
                    # The right half waits, the left half goes on.
                    stack_node[depth] = child[node] + 1
                    stack_weight[depth] = part * share[child[node] + 1]
                    depth += 1
                    side = 0
                    part *= share[child[node]]
                node = child[node] + side
            if wanted[node]:
                if count < out_row.size:
                    out_row[count] = row
                    out_node[count] = node
                    out_weight[count] = part
                count += 1
    return count


@lean_kernel(f"void({TABLE}, {ARRIVALS}, int64[::1], int64[::1], int64[::1], int64[::1], {SUMS})")
def add_entries(table, arrivals, histogram_of, facts_of, offsets, n_codes, out):
    """Adds entries to the facts of their node and, if it has one, to its histograms.

    The sums of code c of column j stand at `(offsets[j] + c) * n_stats`; missing is the last code.
    """
    codes, labels, numbers = table
    rows, nodes, weight = arrivals
    out_histograms, out_sums, out_square, out_count, out_least, out_largest = out
    n_columns, n_stats = codes.shape[1], out_sums.shape[1]
    n_labels, n_numbers = labels.shape[1], numbers.shape[1]
    for i in range(rows.size):
        row, w = rows[i], weight[i]
        slot = facts_of[nodes[i]]
        if slot < 0:
            continue
        out_count[slot] += 1
        for t in range(n_labels):
            out_sums[slot, labels[row, t]] += w
        if n_numbers > 0:
            out_sums[slot, 0] += w
        for t in range(n_numbers):
            y = numbers[row, t]
            out_sums[slot, 1 + t] += w * y
            out_square[slot] += w * y * y
            out_least[slot, t] = min(out_least[slot, t], y)
            out_largest[slot, t] = max(out_largest[slot, t], y)
        place = histogram_of[nodes[i]]
        if place < 0:
            continue
        for j in range(n_columns):
            # The code of missing cells is above all others.
            c = min(np.int64(codes[row, j]), n_codes[j])
            base = (offsets[j] + c) * n_stats
            for t in range(n_labels):
                out_histograms[place, base + labels[row, t]] += w
            if n_numbers > 0:
                out_histograms[place, base] += w
                for t in range(n_numbers):
                    out_histograms[place, base + 1 + t] += w * numbers[row, t]


@lean_kernel(
    f"void(float64[::1], int64[::1], {COLUMNS}, {RULES}, {WORK}, {SEARCH}, float64[::1], "
    f"float64[::1], {BEST})"
)
def find_in_sums(histogram, offsets, columns, rules, work, search, sums, facts, best):
    """The best split of a node whose rows are known by their sums; see `find_split`.

    `sums` is scratch for one column, all zero before and after.
    """
    n_codes = columns[0]
    options = rules[1]
    permutation, chance, levels = work[0], work[2], search[0]
    best_number, best_integer = best[0], best[1]
    n_columns = n_codes.size
    n_stats = facts.size - 4
    wanted, missing = options[MAX_FEATURES], options[MISSING_CODE]
    best_number[0] = -1.0 - facts[0]
    best_integer[0] = n_columns
    for j in range(n_columns):
        permutation[j] = j
    tried, drawn = 0, 0
    while drawn < n_columns and (tried < wanted or best_number[0] < 0.0):
        if wanted < n_columns:
            other = drawn + draw(chance, n_columns - drawn)
            permutation[drawn], permutation[other] = permutation[other], permutation[drawn]
        column = permutation[drawn]
        drawn += 1
        n_levels = 0
        for c in range(n_codes[column] + 1):
            base = (offsets[column] + c) * n_stats
            is_missing = c == n_codes[column]
            place = (missing if is_missing else c) * n_stats
            met = False
            for s in range(n_stats):
                sums[place + s] = histogram[base + s]
                met |= histogram[base + s] != 0.0
            if met and not is_missing:
                levels[n_levels] = c
                n_levels += 1
        levels[n_levels] = missing
        if is_divided(sums, n_levels, rules, n_stats):
            tried += 1
            try_column(sums, n_levels, column, columns, rules, chance, search, facts, best)
        for c in range(n_codes[column]):
            for s in range(n_stats):
                sums[c * n_stats + s] = 0.0
        for s in range(n_stats):
            sums[missing * n_stats + s] = 0.0
