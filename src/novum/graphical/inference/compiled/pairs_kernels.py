"""The last two operations of a block at once, where the last one is a product cell by cell.

    T'[i, j] = T[i] * f[i, j] * g[i, j]     or     T[i, j] * f[i, j] * g[i, j]

Most large cliques are no more than this: neither the table between the two nor its derivative is
written down. Runs of the two end at the same axis, so the shorter one divides the longer. Sums may
be reordered (`fast_inner_kernel`): `benchmarks/graphical/inference` shows the gain.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.layout import (
    FIRST_BARRED,
    GROUPS,
    IS_EXPANSION,
    MAP_AT,
    MESSAGE,
    MESSAGE_BAR,
    N_OPS,
    N_OUTER,
    OP_BAR,
    OP_FIELDS,
    OP_VALUE,
    OPS,
    REPEATS,
    ROWS,
    RUN,
    SOURCE,
)
from novum.numerics.jit import fast_inner_kernel, inner_kernel


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
