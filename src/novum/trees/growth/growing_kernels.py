"""Growing one tree, node by node, in slices that can be continued.

A node's rows are entries (row, weight) of one arena. A split writes the entries of its right child
over those of the node and the left child's behind them, so the node that is next lies at the end of
the arena, and rows that go both ways with parts of their weight find room there. Subtrees of up to
`LOCAL_ROWS` rows copy their codes first, so that they stay in the nearest cache.

`state` holds what continues, `integers` and `numbers` are the nodes; `growing_columns` names their
places. Where an array is too small, or `budget` is used up, the kernel returns and is called again.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics.jit import lean_kernel
from novum.trees.growth.column_kernels import find_split
from novum.trees.growth.entry_kernels import copy_rows, partition, sum_rows
from novum.trees.growth.growing_columns import (
    ANY_MISSING,
    ARENA,
    BEST,
    CHILD,
    CODE,
    COLUMN,
    COLUMNS,
    CRITERION,
    DEPTH,
    DONE,
    ENTRIES,
    ENTROPY,
    GAIN,
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
    NODES_OF_TREE,
    PARENT,
    QUESTION,
    ROWS,
    RULES,
    SHARE,
    SLICED,
    SPARE,
    START,
    STATUS,
    STOP,
    TABLE,
    UPPER,
    WAITING,
    WEIGHT,
    WORK,
)
from novum.trees.growth.split_kernels import weight_of

LOCAL_ROWS = 1024


@lean_kernel("int64(float64[:, ::1], int64[::1], int64)")
def most_gain(numbers, waiting, n_waiting):
    """The place in `waiting` of the node with the largest gain; the earliest node of equals."""
    best = 0
    for i in range(1, n_waiting):
        a, b = waiting[i], waiting[best]
        if numbers[a, GAIN] > numbers[b, GAIN] or (numbers[a, GAIN] == numbers[b, GAIN] and a < b):
            best = i
    return best


@lean_kernel(
    f"int64(int64, {TABLE}, {ENTRIES}, {COLUMNS}, {RULES}, {WORK}, float64[:, ::1], uint64[::1], "
    f"float64[::1], {BEST}, {NODES_OF_TREE}, int64[::1])"
)
def examine(
    node, table, entries, columns, rules, work, histograms, bits, facts, best, nodes, state
):
    """Sums the node's rows and finds its split; without one it stays a leaf.

    Returns how many cells were read. The branches of a nominal split are kept as the next row of
    the tree's table of branches.
    """
    target_start, options, limits = rules
    integers, numbers, sums, level_branch = nodes
    rows, weight = entries
    start, stop = integers[node, START], integers[node, STOP]
    impurity = sum_rows(
        table[1],
        table[2],
        rows,
        weight,
        start,
        stop,
        target_start,
        options[CRITERION],
        sums[node],
    )
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
    read = find_split(
        table, entries, start, stop, columns, rules, work, histograms, bits, facts, best
    )
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


@lean_kernel(
    "void(int64, int64, int64, int64, float64[::1], int64[:, ::1], float64[:, ::1], int64[::1])"
)
def add_children(node, base, middle, end, shares, integers, numbers, state):
    """Two nodes for the entries `middle..end` (left) and `base..middle` (right)."""
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
        numbers[child, SHARE] = shares[branch]
        numbers[child, GAIN] = 0.0
        numbers[child, LOWER] = numbers[node, LOWER]
        numbers[child, UPPER] = numbers[node, UPPER]
    state[NODES] += 2


@lean_kernel(
    "void(int64, int64, float64[::1], int64[:, ::1], float64[:, ::1], int32[:, ::1], "
    "float64[:, ::1], int32[::1], float64[::1], boolean)"
)
def bound_children(node, sign, means, integers, numbers, labels, targets, rows, weight, classes):
    """Bounds of the children of a monotone split: the middle of their means parts them."""
    for branch in range(2):
        child = integers[node, CHILD] + branch
        total = 0.0
        moment = 0.0
        for i in range(integers[child, START], integers[child, STOP]):
            total += weight[i]
            moment += weight[i] * (labels[rows[i], 0] if classes else targets[rows[i], 0])
        means[branch] = moment / total
    middle = 0.5 * (means[0] + means[1])
    left = integers[node, CHILD]
    if sign > 0:
        numbers[left, UPPER] = middle
        numbers[left + 1, LOWER] = middle
    else:
        numbers[left, LOWER] = middle
        numbers[left + 1, UPPER] = middle


@lean_kernel(f"int64({RULES}, int64, int64, int64, int64[:, ::1], int8[:, ::1], int64[::1], int64)")
def lack(rules, start, stop, room, integers, level_branch, state, budget):
    """What keeps the next node from being divided: time, or room for its entries or children."""
    if budget <= 0:
        return SLICED
    if rules[1][ANY_MISSING] and start + 2 * (stop - start) > room:
        return NEEDS_ENTRIES
    if state[NODES] + 2 > integers.shape[0] or state[LEVELS] + 2 > level_branch.shape[0]:
        return NEEDS_NODES
    return DONE


@lean_kernel(
    f"void(int64, int64, {TABLE}, {ENTRIES}, {COLUMNS}, {RULES}, {SPARE}, {NODES_OF_TREE}, "
    "int64[::1])"
)
def divide(node, base, table, entries, columns, rules, spare, nodes, state):
    """Makes the children of a node that has found its split."""
    integers, numbers, _, level_branch = nodes
    spare_rows, spare_weight, shares = spare
    options = rules[1]
    middle, end = partition(
        table[0],
        entries[0],
        entries[1],
        integers[node, START],
        integers[node, STOP],
        base,
        integers[node, QUESTION],
        integers[node, COLUMN],
        integers[node, CODE],
        level_branch[max(integers[node, LEVEL_AT], 0)],
        options[MISSING_CODE],
        integers[node, MISSING_BRANCH],
        spare_rows,
        spare_weight,
        shares,
    )
    add_children(node, base, middle, end, shares, integers, numbers, state)
    sign = columns[2][integers[node, COLUMN]]
    # Missing cells in a branch of their own stand in no order to the others.
    if sign != 0 and integers[node, NEXT_CODE] >= 0:
        classes = options[CRITERION] <= ENTROPY
        bound_children(
            node,
            sign,
            shares,
            integers,
            numbers,
            table[1],
            table[2],
            entries[0],
            entries[1],
            classes,
        )
    state[ARENA] = max(end, state[ARENA])


_GROWING = (
    f"{TABLE}, {ENTRIES}, {COLUMNS}, {RULES}, {WORK}, float64[:, ::1], uint64[::1], "
    f"float64[::1], {BEST}, {SPARE}, {NODES_OF_TREE}, int64[::1], int64[::1], int64"
)


@lean_kernel(f"void({TABLE}, {_GROWING})")
def grow_depth_first(
    near_table,
    table,
    entries,
    columns,
    rules,
    work,
    histograms,
    bits,
    facts,
    best,
    spare,
    nodes,
    waiting,
    state,
    budget,
):
    """Goes on growing until no node waits, or about `budget` cells have been read."""
    integers, level_branch = nodes[0], nodes[3]
    rows = entries[0]
    state[STATUS] = DONE
    while state[WAITING] > 0:
        node = waiting[state[WAITING] - 1]
        start, stop = integers[node, START], integers[node, STOP]
        state[STATUS] = lack(rules, start, stop, rows.size, integers, level_branch, state, budget)
        if state[STATUS] != DONE:
            return
        state[WAITING] -= 1
        state[ARENA] = stop
        near = state[LOCAL_AT] >= 0
        if not near and stop - start <= near_table[0].shape[0]:
            copy_rows(table, rows, start, stop, near_table)
            state[LOCAL_AT] = state[WAITING]
            near = True
        here = near_table if near else table
        budget -= examine(
            node, here, entries, columns, rules, work, histograms, bits, facts, best, nodes, state
        )
        if integers[node, QUESTION] != 0:
            divide(node, start, here, entries, columns, rules, spare, nodes, state)
            waiting[state[WAITING]] = integers[node, CHILD] + 1
            waiting[state[WAITING] + 1] = integers[node, CHILD]
            state[WAITING] += 2
        elif state[WAITING] == state[LOCAL_AT]:
            state[LOCAL_AT] = -1


@lean_kernel(f"void({_GROWING})")
def grow_best_first(
    table,
    entries,
    columns,
    rules,
    work,
    histograms,
    bits,
    facts,
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
    integers, numbers, level_branch = nodes[0], nodes[1], nodes[3]
    options = rules[1]
    state[STATUS] = DONE
    while state[WAITING] > 0 and state[LEAVES] < options[MAX_LEAVES]:
        place = most_gain(numbers, waiting, state[WAITING])
        node = waiting[place]
        start, stop = integers[node, START], integers[node, STOP]
        # Children of a node with parts of rows lie behind all others.
        base = state[ARENA] if options[ANY_MISSING] else start
        state[STATUS] = lack(
            rules, base, base + stop - start, entries[0].size, integers, level_branch, state, budget
        )
        if state[STATUS] != DONE:
            return
        state[WAITING] -= 1
        waiting[place] = waiting[state[WAITING]]
        first, last = node, node
        if integers[node, ROWS] >= 0:
            divide(node, base, table, entries, columns, rules, spare, nodes, state)
            state[LEAVES] += 1
            first, last = integers[node, CHILD], integers[node, CHILD] + 1
        for child in range(first, last + 1):
            budget -= examine(
                child,
                table,
                entries,
                columns,
                rules,
                work,
                histograms,
                bits,
                facts,
                best,
                nodes,
                state,
            )
            if integers[child, QUESTION] != 0:
                waiting[state[WAITING]] = child
                state[WAITING] += 1
