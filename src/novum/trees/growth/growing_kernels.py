"""Growing one tree, node by node, in slices that can be continued.

A node's rows are entries (row, weight) of one arena; a row that goes both ways has an entry in both
children, with parts of its weight. A split writes the entries of its right child over those of the
node and the left child's behind them, so the node that is next lies at the end of the arena, and
rows that go both ways find room there. Subtrees of up to `LOCAL_ROWS` rows copy their codes first,
so that they stay in the nearest cache.

`state` holds what continues, `integers` and `numbers` are the nodes; `growing_columns` names their
places. Where an array is too small, or `budget` is used up, the kernel returns and is called again.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import inner_kernel, lean_kernel
from novum.trees.growth.column_kernels import find_split
from novum.trees.growth.growing_columns import (
    ANY_MISSING,
    ARENA,
    CHILD,
    CODE,
    COLUMN,
    CRITERION,
    DEPTH,
    DONE,
    ENTRIES,
    ENTROPY,
    GAIN,
    GINI,
    GROWING,
    IMPURITY,
    LEAVES,
    LEVEL_AT,
    LEVELS,
    LOCAL_AT,
    LOWER,
    MAX_DEPTH,
    MAX_LEAVES,
    MIN_GAIN,
    MIN_LEAF,
    MIN_SPLIT,
    MISSING_BRANCH,
    MISSING_CODE,
    NEEDS_ENTRIES,
    NEEDS_NODES,
    NEXT_CODE,
    NODES,
    PARENT,
    QUESTION,
    ROWS,
    SHARE,
    SLICED,
    START,
    STATUS,
    STOP,
    TABLE,
    UPPER,
    WAITING,
    WEIGHT,
)
from novum.trees.growth.search_kernels import quality, weight_of

LOCAL_ROWS = 1024

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


# --- Rows -----------------------------------------------------------------------------------------


@lean_kernel(f"float64({TABLE}, {ENTRIES}, int64, int64, int64[::1], int64, float64[::1])")
def sum_rows(table, entries, start, stop, target_start, criterion, out):
    """Sums of the rows `start` to `stop`; returns their impurity, exactly 0 if all are alike."""
    _, labels, numbers = table
    rows, weight = entries
    for s in range(out.size):
        out[s] = 0.0
    total = 0.0
    if criterion <= ENTROPY:
        for step in range(stop - start):
            at = np.uint64(start) + np.uint64(step)
            row = np.uint64(rows[at])
            total += weight[at]
            for t in range(labels.shape[1]):
                out[np.uint64(labels[row, np.uint64(t)])] += weight[at]
        alike = True
        for t in range(labels.shape[1]):
            alike &= out[labels[rows[start], t]] == total
        if alike:
            return 0.0
        impurity = quality(out, target_start, criterion) / total
        return 1.0 - impurity if criterion == GINI else -impurity
    square = 0.0
    alike = True
    for i in range(start, stop):
        w = weight[i]
        out[0] += w
        for t in range(numbers.shape[1]):
            y = numbers[rows[i], t]
            out[1 + t] += w * y
            square += w * y * y
            alike &= y == numbers[rows[start], t]
    if alike:
        return 0.0
    impurity = square / numbers.shape[1] - quality(out, target_start, criterion)
    return max(impurity / out[0], 0.0)


@inner_kernel()
def partition(codes, entries, start, stop, base, question, missing, missing_branch, spare):
    """Writes the right child's entries from `base` on, the left child's behind them.

    `question` is (kind, column, code, branches). Returns where the left child's entries begin and
    end; the last of `spare` gets the shares (left, right) of the known weight. Entries keep their
    order; parts of rows come after whole ones.
    """
    rows, weight = entries
    kind, column, code, branch = question
    spare_rows, spare_weight, out_shares = spare
    n_left, n_missing, right = _ZERO, _ZERO, np.uint64(base)
    left_weight, right_weight = 0.0, 0.0
    both = np.int64(2)
    gap = missing_branch if missing_branch >= 0 else both
    j = np.uint64(column)
    # Without branches: every entry is written to all sides, and one of them moves on. Indices are
    # unsigned, because signed ones are checked for counting from behind.
    for step in range(stop - start):
        i = np.uint64(start) + np.uint64(step)
        entry = rows[i]
        w = weight[i]
        c = np.int64(codes[np.uint64(entry), j])
        known = c != missing
        if kind == 1:
            side = np.int64(c > code)
        else:
            side = np.int64(branch[np.uint64(c if known else 0)])
        side = side if known else gap
        spare_rows[_ZERO, n_left] = entry
        spare_weight[_ZERO, n_left] = w
        rows[right] = entry
        weight[right] = w
        spare_rows[_ONE, n_missing] = entry
        spare_weight[_ONE, n_missing] = w
        n_left += np.uint64(side == 0)
        right += np.uint64(side == 1)
        n_missing += np.uint64(side == both)
        left_weight += w if known and side == 0 else 0.0
        right_weight += w if known and side == 1 else 0.0
    out_shares[0] = left_weight / (left_weight + right_weight)
    out_shares[1] = right_weight / (left_weight + right_weight)
    for step in range(np.int64(n_missing)):
        i = np.uint64(step)
        rows[right] = spare_rows[_ONE, i]
        weight[right] = spare_weight[_ONE, i] * out_shares[1]
        right += _ONE
    left = right
    for step in range(np.int64(n_left)):
        i = np.uint64(step)
        rows[left] = spare_rows[_ZERO, i]
        weight[left] = spare_weight[_ZERO, i]
        left += _ONE
    for step in range(np.int64(n_missing)):
        i = np.uint64(step)
        rows[left] = spare_rows[_ONE, i]
        weight[left] = spare_weight[_ONE, i] * out_shares[0]
        left += _ONE
    return np.int64(right), np.int64(left)


@inner_kernel()
def copy_rows(table, rows, start, stop, out):
    """Copies the rows of a subtree and numbers its entries by the copies."""
    codes, labels, targets = table
    out_codes, out_labels, out_targets = out
    for step in range(stop - start):
        place = np.uint64(step)
        row = np.uint64(rows[np.uint64(start) + place])
        for column in range(codes.shape[1]):
            j = np.uint64(column)
            out_codes[place, j] = codes[row, j]
        for target in range(labels.shape[1]):
            t = np.uint64(target)
            out_labels[place, t] = labels[row, t]
        for target in range(targets.shape[1]):
            t = np.uint64(target)
            out_targets[place, t] = targets[row, t]
        rows[np.uint64(start) + place] = step


# --- Nodes ----------------------------------------------------------------------------------------


@inner_kernel()
def begin_tree(node, permutation, chance):
    """Where the node is a root: columns in their order, and chance as the tree begins with it.

    `chance` is the state of the tree that grows, then the first ones of all trees; roots are the
    first nodes.
    """
    if node < chance.size - 1:
        chance[0] = chance[1 + node]
        for column in range(permutation.size):
            permutation[column] = column


@inner_kernel()
def examine(node, table, entries, columns, rules, work, search, best, nodes, state):
    """Sums the node's rows and finds its split; without one it stays a leaf.

    Returns how many cells were read. The branches of a nominal split are kept as the next row of
    the tree's table of branches.
    """
    target_start, options, limits = rules
    integers, numbers, sums, level_branch = nodes
    facts = work[7]
    start, stop = integers[node, START], integers[node, STOP]
    impurity = sum_rows(table, entries, start, stop, target_start, options[CRITERION], sums[node])
    amount = weight_of(sums[node], target_start, options[CRITERION] <= ENTROPY)
    numbers[node, WEIGHT] = amount
    numbers[node, IMPURITY] = impurity
    integers[node, ROWS] = stop - start
    if (
        impurity <= 0.0
        or integers[node, DEPTH] >= options[MAX_DEPTH]
        or amount < limits[MIN_SPLIT]
        or amount < 2.0 * limits[MIN_LEAF]
    ):
        return stop - start
    facts[0] = 1e-10 * amount * impurity + 1e-15 * amount
    facts[1] = numbers[node, LOWER]
    facts[2] = numbers[node, UPPER]
    facts[3] = amount
    for s in range(sums.shape[1]):
        facts[4 + s] = sums[node, s]
    read = find_split(table, entries, start, stop, columns, rules, work, search, best)
    best_number, best_integer, best_branch = best
    gain = best_number[0]
    if gain < -0.5 or gain + facts[0] < limits[MIN_GAIN]:
        return read
    integers[node, QUESTION] = best_integer[1]
    integers[node, COLUMN] = best_integer[0]
    integers[node, MISSING_BRANCH] = best_integer[4]
    numbers[node, GAIN] = max(gain, 0.0)
    if best_integer[1] == 1:
        integers[node, CODE] = best_integer[2]
        integers[node, NEXT_CODE] = best_integer[3]
    else:
        integers[node, LEVEL_AT] = state[LEVELS]
        for code in range(columns[0][best_integer[0]]):
            level_branch[state[LEVELS], code] = best_branch[code]
        state[LEVELS] += 1
    return read


@inner_kernel()
def add_children(node, base, middle, end, nodes, state):
    """Two nodes for the entries `middle..end` (left) and `base..middle` (right)."""
    integers, numbers = nodes[0], nodes[1]
    left = state[NODES]
    integers[node, CHILD] = left
    for branch in range(2):
        child = left + branch
        for place in range(integers.shape[1]):
            integers[child, place] = -1
        integers[child, QUESTION] = 0
        integers[child, PARENT] = node
        integers[child, DEPTH] = integers[node, DEPTH] + 1
        integers[child, START] = middle if branch == 0 else base
        integers[child, STOP] = end if branch == 0 else middle
        numbers[child, GAIN] = 0.0
        numbers[child, LOWER] = numbers[node, LOWER]
        numbers[child, UPPER] = numbers[node, UPPER]
    state[NODES] += 2


@inner_kernel()
def bound_children(node, sign, table, entries, nodes, classes):
    """Bounds of the children of a monotone split: the middle of their means parts them."""
    _, labels, targets = table
    rows, weight = entries
    integers, numbers = nodes[0], nodes[1]
    left = integers[node, CHILD]
    means = 0.0
    for child in range(left, left + 2):
        total = 0.0
        moment = 0.0
        for i in range(integers[child, START], integers[child, STOP]):
            total += weight[i]
            moment += weight[i] * (labels[rows[i], 0] if classes else targets[rows[i], 0])
        means += moment / total
    middle = 0.5 * means
    lower, upper = (left, left + 1) if sign > 0 else (left + 1, left)
    numbers[lower, UPPER] = middle
    numbers[upper, LOWER] = middle


@inner_kernel()
def lack(rules, start, stop, room, nodes, state, budget):
    """What keeps the next node from being divided: time, or room for its entries or children."""
    if budget <= 0:
        return SLICED
    if rules[1][ANY_MISSING] and start + 2 * (stop - start) > room:
        return NEEDS_ENTRIES
    if state[NODES] + 2 > nodes[0].shape[0] or state[LEVELS] + 2 > nodes[3].shape[0]:
        return NEEDS_NODES
    return DONE


@inner_kernel()
def divide_rows(node, base, table, entries, columns, rules, spare, nodes, state):
    """Makes the children of a node that has found its split."""
    integers, numbers, _, level_branch = nodes
    options, shares = rules[1], spare[2]
    start, stop = integers[node, START], integers[node, STOP]
    column = integers[node, COLUMN]
    branch = level_branch[max(integers[node, LEVEL_AT], 0)]
    question = (integers[node, QUESTION], column, integers[node, CODE], branch)
    gap = integers[node, MISSING_BRANCH]
    middle, end = partition(
        table[0], entries, start, stop, base, question, options[MISSING_CODE], gap, spare
    )
    add_children(node, base, middle, end, nodes, state)
    for side in range(2):
        numbers[integers[node, CHILD] + side, SHARE] = shares[side]
    sign = columns[2][column]
    # Missing cells in a branch of their own stand in no order to the others.
    if sign != 0 and integers[node, NEXT_CODE] >= 0:
        bound_children(node, sign, table, entries, nodes, options[CRITERION] <= ENTROPY)
    state[ARENA] = max(end, state[ARENA])


# --- Trees ----------------------------------------------------------------------------------------


@lean_kernel(f"void({GROWING})")
def grow_depth_first(
    near_table,
    table,
    entries,
    columns,
    rules,
    work,
    search,
    best,
    spare,
    nodes,
    waiting,
    state,
    budget,
):
    """Goes on growing until no node waits, or about `budget` cells have been read."""
    integers, rows = nodes[0], entries[0]
    state[STATUS] = DONE
    while state[WAITING] > 0:
        node = waiting[state[WAITING] - 1]
        start, stop = integers[node, START], integers[node, STOP]
        state[STATUS] = lack(rules, start, stop, rows.size, nodes, state, budget)
        if state[STATUS] != DONE:
            return
        state[WAITING] -= 1
        state[ARENA] = stop
        begin_tree(node, work[0], work[2])
        near = state[LOCAL_AT] >= 0
        if not near and stop - start <= near_table[0].shape[0]:
            copy_rows(table, rows, start, stop, near_table)
            state[LOCAL_AT] = state[WAITING]
            near = True
        here = near_table if near else table
        budget -= examine(node, here, entries, columns, rules, work, search, best, nodes, state)
        if integers[node, QUESTION] != 0:
            divide_rows(node, start, here, entries, columns, rules, spare, nodes, state)
            waiting[state[WAITING]] = integers[node, CHILD] + 1
            waiting[state[WAITING] + 1] = integers[node, CHILD]
            state[WAITING] += 2
        elif state[WAITING] == state[LOCAL_AT]:
            state[LOCAL_AT] = -1


@inner_kernel()
def most_gain(numbers, waiting, n_waiting):
    """The place in `waiting` of the node with the largest gain; the earliest node of equals."""
    best = 0
    for i in range(1, n_waiting):
        a, b = waiting[i], waiting[best]
        if numbers[a, GAIN] > numbers[b, GAIN] or (numbers[a, GAIN] == numbers[b, GAIN] and a < b):
            best = i
    return best


@lean_kernel(f"void({GROWING})")
def grow_best_first(
    _near,
    table,
    entries,
    columns,
    rules,
    work,
    search,
    best,
    spare,
    nodes,
    waiting,
    state,
    budget,
):
    """As `grow_depth_first`, but always divides the node of most gain, up to `MAX_LEAVES`.

    Nodes that wait have found their split; only the root comes unexamined.
    """
    integers, options = nodes[0], rules[1]
    state[STATUS] = DONE
    while state[WAITING] > 0 and state[LEAVES] < options[MAX_LEAVES]:
        place = most_gain(nodes[1], waiting, state[WAITING])
        node = waiting[place]
        start, stop = integers[node, START], integers[node, STOP]
        # Children of a node with parts of rows lie behind all others.
        base = state[ARENA] if options[ANY_MISSING] else start
        end = base + stop - start
        state[STATUS] = lack(rules, base, end, entries[0].size, nodes, state, budget)
        if state[STATUS] != DONE:
            return
        state[WAITING] -= 1
        waiting[place] = waiting[state[WAITING]]
        first, last = node, node
        if integers[node, ROWS] < 0:
            begin_tree(node, work[0], work[2])
        else:
            divide_rows(node, base, table, entries, columns, rules, spare, nodes, state)
            state[LEAVES] += 1
            first, last = integers[node, CHILD], integers[node, CHILD] + 1
        for child in range(first, last + 1):
            how = (table, entries, columns, rules, work, search, best, nodes, state)
            budget -= examine(child, *how)
            if integers[child, QUESTION] != 0:
                waiting[state[WAITING]] = child
                state[WAITING] += 1
