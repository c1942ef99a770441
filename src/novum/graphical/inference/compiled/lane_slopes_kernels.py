"""Derivatives of one block of a clique in all lanes (`lanes_kernels`).

    bar(f) += bar(T') * T        bar(T) = bar(T') * f, summed where f expands T

All cells of the last table that go to one cell of the message have its derivative, which is kept
once for `each` of them.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.lane_cells_kernels import add_cells, set_cells
from novum.graphical.inference.compiled.layout import (
    FIRST_BARRED,
    GROUPS,
    IS_EXPANSION,
    MAP_AT,
    MESSAGE_BAR,
    N_OPS,
    N_OUTER,
    OP_BAR,
    OP_FIELDS,
    OP_LANES,
    OP_VALUE,
    OPS,
    REPEATS,
    ROWS,
    RUN,
    SOURCE,
    TARGET,
)
from novum.numerics.jit import inner_kernel


@inner_kernel()
def lane_bars(width, code, op_at, bar, each, maps, bars, block, slope):
    """Adds the derivatives by an operation's item; `each` cells have one slope."""
    source, target = (
        np.uint64(code[op_at + SOURCE]) * width,
        np.uint64(code[op_at + TARGET]) * width,
    )
    repeats, run = code[op_at + REPEATS], np.uint64(code[op_at + RUN])
    map_at = np.uint64(code[op_at + MAP_AT])
    is_expansion = code[op_at + IS_EXPANSION] != 0
    step = np.uint64(0) if is_expansion else width
    done = used = 0
    for row in range(np.uint64(code[op_at + ROWS] * repeats)):
        b = np.uint64(bar + maps[map_at + row]) * width
        if each == 1 and not is_expansion:
            for k in range(run * width):
                bars[b + k] += slope[target + k] * block[source + k]
            source += run * width
            target += run * width
            continue
        for _ in range(run):
            for lane in range(width):
                bars[b + lane] += slope[target + lane] * block[source + lane]
            b += width
            source += step
            used += 1
            if used == each:
                used = 0
                target += width
        done += 1
        if is_expansion and done == repeats:
            done = 0
            source += width


@inner_kernel()
def lane_product_slope(width, code, op_at, base, each, maps, tables, values, slope):
    """The derivatives by the table that an operation multiplies; `each` cells have one slope."""
    source, target = (
        np.uint64(code[op_at + SOURCE]) * width,
        np.uint64(code[op_at + TARGET]) * width,
    )
    run, map_at = np.uint64(code[op_at + RUN]), np.uint64(code[op_at + MAP_AT])
    in_lanes = code[op_at + OP_LANES] != 0
    used = 0
    for row in range(np.uint64(code[op_at + ROWS])):
        o = np.uint64(base + maps[map_at + row])
        if in_lanes and each == 1:
            o *= width
            for k in range(run * width):
                slope[source + k] = slope[target + k] * values[o + k]
            source += run * width
            target += run * width
            continue
        for j in range(run):
            set_cells(width, slope, source, slope, target, tables, values, o + j, in_lanes)
            source += width
            used += 1
            if used == each:
                used = 0
                target += width


@inner_kernel()
def lane_expansion_slope(width, code, op_at, base, each, maps, tables, values, slope):
    """The derivatives by the table that an operation expands; `each` cells have one slope."""
    source, target = (
        np.uint64(code[op_at + SOURCE]) * width,
        np.uint64(code[op_at + TARGET]) * width,
    )
    run, map_at = np.uint64(code[op_at + RUN]), np.uint64(code[op_at + MAP_AT])
    in_lanes = code[op_at + OP_LANES] != 0
    used = 0
    for _ in range(code[op_at + ROWS]):
        for lane in range(width):
            slope[source + lane] = 0.0
        for _ in range(code[op_at + REPEATS]):
            o = np.uint64(base + maps[map_at])
            map_at += np.uint64(1)
            for j in range(run):
                add_cells(width, slope, source, slope, target, tables, values, o + j, in_lanes)
                used += 1
                if used == each:
                    used = 0
                    target += width
        source += width


@inner_kernel()
def lane_backward(width, code, at, maps, tables, values, bars, bases, block, slope):
    """Derivatives of all operations of a block down to the first whose bar is wanted."""
    n_ops, first = code[at + N_OPS], code[at + FIRST_BARRED]
    fields = OP_FIELDS + code[at + N_OUTER]
    op_at = code[at + OPS] + (n_ops - 1) * fields
    each = code[op_at + ROWS] * code[op_at + REPEATS] * code[op_at + RUN] // code[at + GROUPS]
    target = np.uint64(code[op_at + TARGET]) * width
    message = np.uint64(code[at + MESSAGE_BAR] + bases[n_ops]) * width
    for k in range(np.uint64(code[at + GROUPS]) * width):
        slope[target + k] = bars[message + k]
    for op in range(n_ops - 1, first - 1, -1):
        base, bar = code[op_at + OP_VALUE] + bases[op], code[op_at + OP_BAR]
        if bar >= 0:
            lane_bars(width, code, op_at, bar + bases[op], each, maps, bars, block, slope)
        # What the first one starts from has no bars before it.
        if op > first and code[op_at + IS_EXPANSION] != 0:
            lane_expansion_slope(width, code, op_at, base, each, maps, tables, values, slope)
        elif op > first:
            lane_product_slope(width, code, op_at, base, each, maps, tables, values, slope)
        op_at -= fields
        each = 1
