"""Many rows of evidence at once: every cell of a message is `width` numbers, one for each row.

The tables of the model are shared by all rows and stay single numbers; what a row observes is soft
evidence with a 1 at its state. The operations are those of `blocks_kernels`, with the rows as the
innermost loop, which a processor does many at a time whatever the shapes of the tables are. Cell c
of a message lies at `values[c * width]` and after.

The last operation of a clique is never written out: upward its cells are added to the message, and
downward their derivatives are those of the message's cells.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.blocks_kernels import enter_block, next_block
from novum.graphical.inference.compiled.layout import (
    BAR_FROM,
    BAR_TO,
    BLOCKS,
    CLIQUES_AT,
    COUNTED,
    FIRST_BARRED,
    FROM_BAR,
    FROM_VALUE,
    GROUPS,
    IS_EXPANSION,
    IS_ROOT,
    MAP_AT,
    MESSAGE,
    MESSAGE_BAR,
    MESSAGE_SIZE,
    N_CLIQUES,
    N_OPS,
    N_OUTER,
    N_PROJECTIONS,
    NEEDED,
    OP_BAR,
    OP_FIELDS,
    OP_LANES,
    OP_VALUE,
    OPS,
    PROJECTED_AXES,
    PROJECTION_FIELDS,
    PROJECTIONS,
    REPEATS,
    ROWS,
    RUN,
    SOURCE,
    TARGET,
    TO,
    TO_SIZE,
)
from novum.graphical.inference.compiled.messages_kernels import is_safe
from novum.numerics import inner_kernel, lean_kernel

SMALL, LARGE = 1e-100, 1e100

# --- Upward ---------------------------------------------------------------------------------------


@inner_kernel()
def lane_operation(width, code, op_at, base, maps, tables, values, block):
    """One operation in all lanes: its table is written behind the one it starts from."""
    source, target = (
        np.uint64(code[op_at + SOURCE]) * width,
        np.uint64(code[op_at + TARGET]) * width,
    )
    repeats, run = code[op_at + REPEATS], np.uint64(code[op_at + RUN])
    map_at = np.uint64(code[op_at + MAP_AT])
    is_expansion, in_lanes = code[op_at + IS_EXPANSION] != 0, code[op_at + OP_LANES] != 0
    step = np.uint64(0) if is_expansion else width
    done = 0
    for row in range(np.uint64(code[op_at + ROWS] * repeats)):
        o = np.uint64(base + maps[map_at + row])
        if in_lanes and not is_expansion:
            # All lanes of all cells of a run lie in one piece.
            o *= width
            for k in range(run * width):
                block[target + k] = block[source + k] * values[o + k]
            source += run * width
            target += run * width
            continue
        for j in range(run):
            set_cells(width, block, target, block, source, tables, values, o + j, in_lanes)
            source += step
            target += width
        done += 1
        if is_expansion and done == repeats:
            done = 0
            source += width


@inner_kernel()
def lane_forward(width, code, at, maps, tables, values, bases, block):
    """All operations of a block but the last."""
    op_at = code[at + OPS]
    for lane in range(width):
        block[lane] = 1.0
    for op in range(code[at + N_OPS] - 1):
        base = code[op_at + OP_VALUE] + bases[op]
        lane_operation(width, code, op_at, base, maps, tables, values, block)
        op_at += OP_FIELDS + code[at + N_OUTER]


@inner_kernel()
def lane_sum(width, code, at, maps, tables, values, bases, block):
    """Adds the last operation of a block to the message, summed over what is not in the latter."""
    n_ops = code[at + N_OPS]
    op_at = code[at + OPS] + (n_ops - 1) * (OP_FIELDS + code[at + N_OUTER])
    base = code[op_at + OP_VALUE] + bases[n_ops - 1]
    source, map_at = np.uint64(code[op_at + SOURCE]) * width, np.uint64(code[op_at + MAP_AT])
    repeats, run = code[op_at + REPEATS], np.uint64(code[op_at + RUN])
    is_expansion, in_lanes = code[op_at + IS_EXPANSION] != 0, code[op_at + OP_LANES] != 0
    step = np.uint64(0) if is_expansion else width
    rows = code[op_at + ROWS] * repeats
    each = rows * code[op_at + RUN] // code[at + GROUPS]
    to = np.uint64(code[at + MESSAGE] + bases[n_ops]) * width
    done = added = 0
    for row in range(np.uint64(rows)):
        o = np.uint64(base + maps[map_at + row])
        for j in range(run):
            add_cells(width, values, to, block, source, tables, values, o + j, in_lanes)
            source += step
            added += 1
            if added == each:
                added = 0
                to += width
        done += 1
        if is_expansion and done == repeats:
            done = 0
            source += width


@inner_kernel()
def lane_scale(width, values, at, size, counted, out_logs):
    """Divides a message by its largest entry in each lane; a lane without any is impossible.

    Rows of `out_logs`: logarithms, the product of scales not yet in them, and room for two. How
    many powers of two positive entries of the message are away from 1, in any lane.
    """
    top, low = out_logs[2], out_logs[3]
    for lane in range(width):
        top[lane] = 0.0
        low[lane] = np.inf
    begin = np.uint64(at) * width
    for cell in range(np.uint64(size)):
        v = begin + cell * width
        for lane in range(width):
            x = values[v + lane]
            top[lane] = max(top[lane], x)
            low[lane] = min(low[lane], x if x > 0.0 else np.inf)
    smallest = 1.0
    largest = 1.0
    widest = 1.0
    for lane in range(width):
        if not top[lane] > 0.0:
            out_logs[0, lane] = -np.inf
            top[lane] = 1.0
        smallest = min(smallest, out_logs[1, lane] * top[lane])
        largest = max(largest, out_logs[1, lane] * top[lane])
        widest = max(widest, top[lane] / low[lane])
    if counted != 0:
        # One logarithm for many messages: only before their product leaves the range of floats.
        if smallest < SMALL or largest > LARGE:
            take_logs(width, out_logs)
        for lane in range(width):
            out_logs[1, lane] *= top[lane]
    for cell in range(np.uint64(size)):
        v = begin + cell * width
        for lane in range(width):
            values[v + lane] /= top[lane]
    return np.log2(widest)


@inner_kernel()
def take_logs(width, out_logs):
    """Moves the products of scales to the logarithms."""
    for lane in range(width):
        out_logs[0, lane] += np.log(out_logs[1, lane])
        out_logs[1, lane] = 1.0


@lean_kernel(
    "int64(int64[::1], int32[::1], float64[::1], float64[::1], float64[::1], float64[::1],"
    " int64[::1], int64[::1], float64[:, ::1])"
)
def lane_collect(code, maps, tables, values, spans, block, digits, bases, out_logs):
    """Messages from the leaves to the roots in all lanes.

    Zero where some product might leave the range of floats, so that nothing could be trusted.
    """
    width = np.uint64(out_logs.shape[1])
    for place in range(code[N_CLIQUES] - 1, -1, -1):
        at = code[code[CLIQUES_AT] + place]
        if is_safe(code, at, spans) == 0:
            return 0
        if code[at + NEEDED] == 0:
            continue
        begin, size = code[at + MESSAGE], code[at + MESSAGE_SIZE]
        for k in range(np.uint64(begin) * width, np.uint64(begin + size) * width):
            values[k] = 0.0
        enter_block(code, at, np.int64(0), digits, bases)
        for _ in range(code[at + BLOCKS]):
            lane_forward(width, code, at, maps, tables, values, bases, block)
            lane_sum(width, code, at, maps, tables, values, bases, block)
            next_block(code, at, digits, bases)
        spans[begin] = lane_scale(width, values, begin, size, code[at + COUNTED], out_logs)
    take_logs(width, out_logs)
    return 1


# --- Downward -------------------------------------------------------------------------------------


@inner_kernel()
def sum_products(width, values, value, bars, bar, size, out_totals):
    """Sums of message times derivative in each lane; 1 where there is nothing."""
    for lane in range(width):
        out_totals[lane] = 0.0
    for cell in range(np.uint64(size)):
        v, b = (np.uint64(value) + cell) * width, (np.uint64(bar) + cell) * width
        for lane in range(width):
            out_totals[lane] += values[v + lane] * bars[b + lane]
    for lane in range(width):
        out_totals[lane] = out_totals[lane] if out_totals[lane] > 0.0 else 1.0


@inner_kernel()
def lane_receive(width, code, at, values, bars, totals):
    """The derivative by a clique's message, so that their product sums to one in each lane."""
    bar, size, message = code[at + MESSAGE_BAR], code[at + MESSAGE_SIZE], code[at + MESSAGE]
    if code[at + IS_ROOT] != 0:
        for k in range(np.uint64(bar) * width, np.uint64(bar + size) * width):
            bars[k] = 1.0
    sum_products(width, values, message, bars, bar, size, totals)
    for cell in range(np.uint64(size)):
        v, b = (np.uint64(message) + cell) * width, (np.uint64(bar) + cell) * width
        for lane in range(width):
            # Where a message is zero its derivative touches nothing; it must not grow.
            x = bars[b + lane] / totals[lane]
            bars[b + lane] = x if values[v + lane] > 0.0 else 0.0
    for k in range(np.uint64(code[at + BAR_FROM]) * width, np.uint64(code[at + BAR_TO]) * width):
        bars[k] = 0.0


@inner_kernel()
def lane_answer(width, code, at, values, bars, totals, logs, begin, end, n_rows, out_answers):
    """The posterior of one variable in all lanes, read off its evidence; NaN where impossible."""
    value, bar, size = code[at + FROM_VALUE], code[at + FROM_BAR], np.uint64(code[at + TO_SIZE])
    sum_products(width, values, value, bars, bar, code[at + TO_SIZE], totals)
    to = np.uint64(n_rows * code[at + TO]) + np.uint64(begin) * size
    for lane in range(np.uint64(end - begin)):
        total = totals[lane] if logs[0, lane] > -np.inf else np.nan
        v, b = np.uint64(value) * width + lane, np.uint64(bar) * width + lane
        for _ in range(size):
            out_answers[to] = values[v] * bars[b] / total
            to += np.uint64(1)
            v += width
            b += width


@lean_kernel(
    "void(int64[::1], int32[::1], float64[::1], float64[::1], float64[::1], float64[::1],"
    " float64[::1], int64[::1], int64[::1], float64[::1], float64[:, ::1], int64, int64, int64,"
    " float64[::1])"
)
def lane_distribute(
    code, maps, tables, values, bars, block, slope, digits, bases, totals, logs, begin, end,
    n_rows, out_answers,
):  # fmt: skip
    """Derivatives from the roots to the leaves in all lanes, and the posteriors.

    The lanes are rows `begin` to `end` of `n_rows`. Answers lie variable after variable, each row
    after row.
    """
    width = np.uint64(logs.shape[1])
    for place in range(code[N_CLIQUES]):
        at = code[code[CLIQUES_AT] + place]
        lane_receive(width, code, at, values, bars, totals)
        enter_block(code, at, np.int64(0), digits, bases)
        for _ in range(code[at + BLOCKS]):
            lane_forward(width, code, at, maps, tables, values, bases, block)
            lane_backward(width, code, at, maps, tables, values, bars, bases, block, slope)
            next_block(code, at, digits, bases)
        record = code[at + PROJECTIONS]
        for _ in range(code[at + N_PROJECTIONS]):
            lane_answer(
                width, code, record, values, bars, totals, logs, begin, end, n_rows, out_answers
            )
            record += PROJECTION_FIELDS + 2 * code[record + PROJECTED_AXES]


@lean_kernel("void(int64[::1], int64, int64[:, ::1], int64, int64[::1], float64[::1])")
def lane_evidence(code, at, rows, width, card_of, out_values):
    """What rows observe as ones and zeros: pairs of variable and place from `at` on."""
    for pair in range(card_of.size):
        variable, to = code[at + 2 * pair], code[at + 2 * pair + 1]
        for lane in range(width):
            # Lanes without a row repeat the first one.
            known = rows[lane if lane < rows.shape[0] else 0, variable]
            for state in range(card_of[pair]):
                cell = 1.0 if known < 0 or known == state else 0.0
                out_values[(to + state) * width + lane] = cell


# --- One cell -------------------------------------------------------------------------------------
# One cell of an item in all lanes: it is the same in all of them, or has a number in each.
#
# set    out = left * cell        add    out += left * cell


@inner_kernel()
def set_cells(width, out, to, left, source, tables, values, cell, in_lanes):
    """Products with a cell of `values`, which has lanes, or of `tables`, which has none."""
    if in_lanes:
        v = cell * width
        for lane in range(width):
            out[to + lane] = left[source + lane] * values[v + lane]
    else:
        x = tables[cell]
        for lane in range(width):
            out[to + lane] = left[source + lane] * x


@inner_kernel()
def add_cells(width, out, to, left, source, tables, values, cell, in_lanes):
    """The same, added to what there is."""
    if in_lanes:
        v = cell * width
        for lane in range(width):
            out[to + lane] += left[source + lane] * values[v + lane]
    else:
        x = tables[cell]
        for lane in range(width):
            out[to + lane] += left[source + lane] * x


# --- Derivatives of a block -----------------------------------------------------------------------
# Derivatives of one block of a clique in all lanes.
#
#     bar(f) += bar(T') * T        bar(T) = bar(T') * f, summed where f expands T
#
# All cells of the last table that go to one cell of the message have its derivative, which is kept
# once for `each` of them.


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
