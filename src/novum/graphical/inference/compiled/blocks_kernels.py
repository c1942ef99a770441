"""One block of a clique: operations forward, sums into the message, and their derivatives.

    forward     T' = T * f                            (`programs_kernels` has the loops)
    sum         message[g] += sum over the rows of group g
    derivative  bar(f) += bar(T') * T        bar(T) = sum over j of bar(T') * f

Runs of two, three and four cells, which most networks have, are written out. Sums may be reordered
(`fast_inner_kernel`): `benchmarks/graphical/inference` shows the gain.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.layout import (
    AXES,
    FIRST_BARRED,
    GROUPS,
    IS_EXPANSION,
    MAP_AT,
    MESSAGE,
    MESSAGE_BAR,
    N_AXES,
    N_OPS,
    N_OUTER,
    OP_BAR,
    OP_FIELDS,
    OP_VALUE,
    OPS,
    OUTER,
    REPEATS,
    ROWS,
    RUN,
    SOURCE,
    TARGET,
)
from novum.numerics import fast_inner_kernel, inner_kernel

# --- Outer loops ----------------------------------------------------------------------------------


@inner_kernel()
def enter_block(code, at, number, digits, bases):
    """Digits of the outer axes at a block's number, and with them the offsets of all items."""
    n_outer, n_ops = code[at + N_OUTER], code[at + N_OPS]
    cards, outer = code[at + AXES] + code[at + N_AXES], code[at + OUTER]
    width = OP_FIELDS + n_outer
    for op in range(n_ops + 1):
        bases[op] = 0
    for axis in range(n_outer - 1, -1, -1):
        digit = number % code[cards + axis]
        number //= code[cards + axis]
        digits[axis] = digit
        for op in range(n_ops):
            bases[op] += digit * code[code[at + OPS] + op * width + OP_FIELDS + axis]
        bases[n_ops] += digit * code[outer + axis]


@inner_kernel()
def next_block(code, at, digits, bases):
    """Moves the digits and offsets to the block after this one."""
    n_outer, n_ops = code[at + N_OUTER], code[at + N_OPS]
    cards, outer = code[at + AXES] + code[at + N_AXES], code[at + OUTER]
    width = OP_FIELDS + n_outer
    axis = n_outer - 1
    while axis >= 0:
        digits[axis] += 1
        step = 1
        if digits[axis] == code[cards + axis]:
            step = 1 - digits[axis]
            digits[axis] = 0
        for op in range(n_ops):
            bases[op] += step * code[code[at + OPS] + op * width + OP_FIELDS + axis]
        bases[n_ops] += step * code[outer + axis]
        if digits[axis] > 0:
            return
        axis -= 1


# --- Forward --------------------------------------------------------------------------------------


@inner_kernel()
def expand(block, source, target, values, base, maps, at, rows, repeats, run):
    """T'[i, a, j] = T[i] * f[offset(i, a) + j]."""
    to, one, two, three = target, np.uint64(1), np.uint64(2), np.uint64(3)
    for i in range(np.uint64(rows)):
        t = block[source + i]
        for _ in range(repeats):
            o = np.uint64(base + maps[at])
            at += one
            if run == 2:
                block[to] = t * values[o]
                block[to + one] = t * values[o + one]
            elif run == 3:
                block[to] = t * values[o]
                block[to + one] = t * values[o + one]
                block[to + two] = t * values[o + two]
            elif run == 4:
                block[to] = t * values[o]
                block[to + one] = t * values[o + one]
                block[to + two] = t * values[o + two]
                block[to + three] = t * values[o + three]
            else:
                for j in range(np.uint64(run)):
                    block[to + j] = t * values[o + j]
            to += np.uint64(run)


@inner_kernel()
def multiply(block, source, target, values, base, maps, at, rows, run):
    """T'[i, j] = T[i, j] * f[offset(i) + j]."""
    one = np.uint64(1)
    for i in range(np.uint64(rows)):
        o = np.uint64(base + maps[at + i])
        if run == 1:
            block[target] = block[source] * values[o]
        elif run == 2:
            block[target] = block[source] * values[o]
            block[target + one] = block[source + one] * values[o + one]
        else:
            for j in range(np.uint64(run)):
                block[target + j] = block[source + j] * values[o + j]
        source += np.uint64(run)
        target += np.uint64(run)


@inner_kernel()
def forward(code, at, n_ops, maps, values, bases, block):
    """The first operations of a block."""
    block[0] = 1.0
    op_at = code[at + OPS]
    for op in range(n_ops):
        base = code[op_at + OP_VALUE] + bases[op]
        source, target = np.uint64(code[op_at + SOURCE]), np.uint64(code[op_at + TARGET])
        map_at, rows, run = np.uint64(code[op_at + MAP_AT]), code[op_at + ROWS], code[op_at + RUN]
        if code[op_at + IS_EXPANSION] != 0:
            repeats = code[op_at + REPEATS]
            expand(block, source, target, values, base, maps, map_at, rows, repeats, run)
        else:
            multiply(block, source, target, values, base, maps, map_at, rows, run)
        op_at += OP_FIELDS + code[at + N_OUTER]


# --- Sums -----------------------------------------------------------------------------------------


@fast_inner_kernel()
def run_sum(values, at, run):
    """Sum of some cells in a row."""
    if run == np.uint64(2):
        return values[at] + values[at + np.uint64(1)]
    total = 0.0
    for j in range(run):
        total += values[at + j]
    return total


@fast_inner_kernel()
def run_dot(block, source, values, at, run):
    """Sum of products of some cells in a row."""
    total = 0.0
    for j in range(run):
        total += block[source + j] * values[at + j]
    return total


@inner_kernel()
def sum_block(code, at, maps, values, bases, block):
    """Adds an expansion at the end of a block, summed over what is not in the separator."""
    n_ops = code[at + N_OPS]
    op_at = code[at + OPS] + (n_ops - 1) * (OP_FIELDS + code[at + N_OUTER])
    base = code[op_at + OP_VALUE] + bases[n_ops - 1]
    source, map_at = np.uint64(code[op_at + SOURCE]), np.uint64(code[op_at + MAP_AT])
    run, repeats = np.uint64(code[op_at + RUN]), code[op_at + REPEATS]
    groups = code[at + GROUPS]
    to = np.uint64(code[at + MESSAGE] + bases[n_ops])
    each = code[op_at + ROWS] * repeats // groups
    done = 0
    for _ in range(groups):
        total = 0.0
        for _ in range(each):
            o = np.uint64(base + maps[map_at])
            map_at += np.uint64(1)
            total += block[source] * run_sum(values, o, run)
            done += 1
            if done == repeats:
                done = 0
                source += np.uint64(1)
        values[to] += total
        to += np.uint64(1)


# --- Derivatives ----------------------------------------------------------------------------------


@fast_inner_kernel()
def last_derivative(code, at, op_at, maps, values, bars, base, bar_base, bases, block, slope):
    """Of an expansion at the end; `bar_base` is where the item's bar begins, or below 0."""
    n_ops = code[at + N_OPS]
    source, map_at = np.uint64(code[op_at + SOURCE]), np.uint64(code[op_at + MAP_AT])
    run, repeats = np.uint64(code[op_at + RUN]), code[op_at + REPEATS]
    each = code[op_at + ROWS] * repeats // code[at + GROUPS]
    message = np.uint64(code[at + MESSAGE_BAR] + bases[n_ops])
    one = np.uint64(1)
    goes_on = code[at + FIRST_BARRED] < n_ops - 1
    done = 0
    total = 0.0
    for _ in range(code[at + GROUPS]):
        weight = bars[message]
        message += one
        for _ in range(each):
            offset = np.int64(maps[map_at])
            map_at += one
            o, b = np.uint64(base + offset), np.uint64(bar_base + offset)
            if goes_on:
                total += weight * run_sum(values, o, run)
            own = weight * block[source]
            if bar_base >= 0 and own != 0.0:
                for j in range(run):
                    bars[b + j] += own
            done += 1
            if done == repeats:
                done = 0
                slope[source] = total
                total = 0.0
                source += one


@fast_inner_kernel()
def derivative(code, op_at, maps, values, bars, base, bar_base, block, slope):
    """Of an operation whose result has the derivative `slope`."""
    source, map_at = np.uint64(code[op_at + SOURCE]), np.uint64(code[op_at + MAP_AT])
    run, repeats = np.uint64(code[op_at + RUN]), code[op_at + REPEATS]
    target = np.uint64(code[op_at + TARGET])
    rows = np.uint64(code[op_at + ROWS])
    if code[op_at + IS_EXPANSION] == 0:
        for row in range(rows):
            offset = np.int64(maps[map_at + row])
            o, b = np.uint64(base + offset), np.uint64(bar_base + offset)
            for j in range(run):
                slope[source + j] = slope[target + j] * values[o + j]
            if bar_base >= 0:
                for j in range(run):
                    bars[b + j] += slope[target + j] * block[source + j]
            source += run
            target += run
        return
    for i in range(rows):
        t = block[source + i]
        total = 0.0
        for _ in range(repeats):
            offset = np.int64(maps[map_at])
            map_at += np.uint64(1)
            o, b = np.uint64(base + offset), np.uint64(bar_base + offset)
            total += run_dot(slope, target, values, o, run)
            if bar_base >= 0 and t != 0.0:
                for j in range(run):
                    bars[b + j] += t * slope[target + j]
            target += run
        slope[source + i] = total


@inner_kernel()
def backward(code, at, maps, values, bars, bases, block, slope):
    """Derivatives of all operations of a block down to the first whose bar is wanted."""
    n_ops, first = code[at + N_OPS], code[at + FIRST_BARRED]
    width = OP_FIELDS + code[at + N_OUTER]
    op_at = code[at + OPS] + (n_ops - 1) * width
    if ends_in_pair(code, at) != 0:
        pair_derivative(code, at, maps, values, bars, bases, block, slope)
        n_ops -= 2
        op_at -= 2 * width
    elif first < n_ops:
        base, bar = code[op_at + OP_VALUE] + bases[n_ops - 1], code[op_at + OP_BAR]
        if bar >= 0:
            bar += bases[n_ops - 1]
        last_derivative(code, at, op_at, maps, values, bars, base, bar, bases, block, slope)
        n_ops -= 1
        op_at -= width
    for op in range(n_ops - 1, first - 1, -1):
        base, bar = code[op_at + OP_VALUE] + bases[op], code[op_at + OP_BAR]
        if bar >= 0:
            bar += bases[op]
        derivative(code, op_at, maps, values, bars, base, bar, block, slope)
        op_at -= width


# --- The last two operations at once --------------------------------------------------------------
# The last two operations of a block at once, where the last one is a product cell by cell.
#
#     T'[i, j] = T[i] * f[i, j] * g[i, j]     or     T[i, j] * f[i, j] * g[i, j]
#
# Most large cliques are no more than this: neither the table between the two nor its derivative is
# written down. Runs of the two end at the same axis, so the shorter one divides the longer. Sums
# may be reordered (`fast_inner_kernel`): `benchmarks/graphical/inference` shows the gain.


@inner_kernel()
def ends_in_pair(code, at):
    """Whether the last operation of a clique is a product cell by cell; the first never is."""
    last = code[at + OPS] + (code[at + N_OPS] - 1) * (OP_FIELDS + code[at + N_OUTER])
    return 1 - code[last + IS_EXPANSION]


@fast_inner_kernel()
def dot(values, a, b, run):
    """Sum of products of two tables."""
    total = 0.0
    for j in range(run):
        total += values[a + j] * values[b + j]
    return total


@fast_inner_kernel()
def triple_dot(block, t, values, a, b, run):
    """Sum of products of three tables."""
    total = 0.0
    for j in range(run):
        total += block[t + j] * values[a + j] * values[b + j]
    return total


@inner_kernel()
def sum_even_pair(values, a, b, maps, map_a, map_b, scale, rows, run, to):
    """Adds a pair whose rows go to one message cell each, and begin where the maps say."""
    for row in range(rows):
        first = np.uint64(a + maps[map_a + row])
        second = np.uint64(b + maps[map_b + row])
        values[to + row] += scale * dot(values, first, second, run)


@inner_kernel()
def sum_pair(code, at, maps, values, bases, block):
    """Adds the last two operations of a block, summed over what is not in the separator."""
    n_ops, width = code[at + N_OPS], OP_FIELDS + code[at + N_OUTER]
    last = code[at + OPS] + (n_ops - 1) * width
    before = last - width
    base_a = code[before + OP_VALUE] + bases[n_ops - 2]
    base_b = code[last + OP_VALUE] + bases[n_ops - 1]
    map_a, map_b = np.uint64(code[before + MAP_AT]), np.uint64(code[last + MAP_AT])
    run = min(code[before + RUN], code[last + RUN])
    parts_a, parts_b = code[before + RUN] // run, code[last + RUN] // run
    rows = code[last + ROWS] * parts_b
    each = rows // code[at + GROUPS]
    is_expansion = code[before + IS_EXPANSION] != 0
    repeats = code[before + REPEATS] * parts_a
    source, size, one = np.uint64(code[before + SOURCE]), np.uint64(run), np.uint64(1)
    to = np.uint64(code[at + MESSAGE] + bases[n_ops])
    if is_expansion and parts_a == 1 and parts_b == 1 and each == 1 and repeats == rows:
        scale, n_rows = block[source], np.uint64(rows)
        sum_even_pair(values, base_a, base_b, maps, map_a, map_b, scale, n_rows, size, to)
        return
    part_a, part_b, done = 0, 0, 0
    for _ in range(code[at + GROUPS]):
        total = 0.0
        for _ in range(each):
            a = np.uint64(base_a + maps[map_a] + part_a * run)
            b = np.uint64(base_b + maps[map_b] + part_b * run)
            if is_expansion:
                total += block[source] * dot(values, a, b, size)
                done += 1
                if done == repeats:
                    done = 0
                    source += one
            else:
                total += triple_dot(block, source, values, a, b, size)
                source += size
            part_a += 1
            if part_a == parts_a:
                part_a = 0
                map_a += one
            part_b += 1
            if part_b == parts_b:
                part_b = 0
                map_b += one
        values[to] += total
        to += one


# --- Derivatives ----------------------------------------------------------------------------------


@fast_inner_kernel()
def pair_derivative(code, at, maps, values, bars, bases, block, slope):
    """Of the last two operations of a block, by both items and by the table before them."""
    n_ops, width = code[at + N_OPS], OP_FIELDS + code[at + N_OUTER]
    last = code[at + OPS] + (n_ops - 1) * width
    before = last - width
    base_a = code[before + OP_VALUE] + bases[n_ops - 2]
    base_b = code[last + OP_VALUE] + bases[n_ops - 1]
    bar_a, bar_b = code[before + OP_BAR], code[last + OP_BAR]
    # From an item's value to its bar is one step, wherever in it.
    step_a = bar_a - code[before + OP_VALUE] if bar_a >= 0 else 0
    step_b = bar_b - code[last + OP_VALUE] if bar_b >= 0 else 0
    map_a, map_b = np.uint64(code[before + MAP_AT]), np.uint64(code[last + MAP_AT])
    run = min(code[before + RUN], code[last + RUN])
    parts_a, parts_b = code[before + RUN] // run, code[last + RUN] // run
    rows = code[last + ROWS] * parts_b
    each = rows // code[at + GROUPS]
    is_expansion = code[before + IS_EXPANSION] != 0
    goes_on = code[at + FIRST_BARRED] < n_ops - 2
    repeats = code[before + REPEATS] * parts_a
    source, size, one = np.uint64(code[before + SOURCE]), np.uint64(run), np.uint64(1)
    message = np.uint64(code[at + MESSAGE_BAR] + bases[n_ops])
    part_a, part_b, done = 0, 0, 0
    total = 0.0
    for _ in range(code[at + GROUPS]):
        weight = bars[message]
        message += one
        for _ in range(each):
            at_a = base_a + maps[map_a] + part_a * run
            at_b = base_b + maps[map_b] + part_b * run
            a, b = np.uint64(at_a), np.uint64(at_b)
            to_a, to_b = np.uint64(at_a + step_a), np.uint64(at_b + step_b)
            if is_expansion:
                own = weight * block[source]
                if goes_on:
                    for j in range(size):
                        total += weight * values[a + j] * values[b + j]
                if own != 0.0:
                    if bar_a >= 0:
                        for j in range(size):
                            bars[to_a + j] += own * values[b + j]
                    if bar_b >= 0:
                        for j in range(size):
                            bars[to_b + j] += own * values[a + j]
                done += 1
                if done == repeats:
                    done = 0
                    slope[source] = total
                    total = 0.0
                    source += one
            else:
                if goes_on:
                    for j in range(size):
                        slope[source + j] = weight * values[a + j] * values[b + j]
                if weight != 0.0:
                    if bar_a >= 0:
                        for j in range(size):
                            bars[to_a + j] += weight * block[source + j] * values[b + j]
                    if bar_b >= 0:
                        for j in range(size):
                            bars[to_b + j] += weight * block[source + j] * values[a + j]
                source += size
            part_a += 1
            if part_a == parts_a:
                part_a = 0
                map_a += one
            part_b += 1
            if part_b == parts_b:
                part_b = 0
                map_b += one
