"""Many rows of evidence at once: every cell of a message is `LANES` numbers, one for each row.

The tables of the model are shared by all rows and stay single numbers; what a row observes is soft
evidence with a 1 at its state. The operations are those of `blocks_kernels`, with the rows as the
innermost loop, which a processor does many at a time whatever the shapes of the tables are.
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
from novum.numerics.jit import inner_kernel, lean_kernel

LANES = 32
WIDTH = np.uint64(LANES)
SMALL = 1e-100


@inner_kernel()
def times_number(block, source, target, x):
    """A cell of a table times one number, in all lanes."""
    width = np.uint64(block.shape[1])
    for lane in range(width):
        block[target, lane] = block[source, lane] * x


@inner_kernel()
def times_lanes(block, source, target, values, at):
    """A cell of a table times a cell of a message, in all lanes."""
    width = np.uint64(block.shape[1])
    for lane in range(width):
        block[target, lane] = block[source, lane] * values[at, lane]


@inner_kernel()
def lane_operation(code, op_at, base, maps, tables, values, block):
    """One operation in all lanes: its table is written behind the one it starts from."""
    source, target = np.uint64(code[op_at + SOURCE]), np.uint64(code[op_at + TARGET])
    repeats, run = code[op_at + REPEATS], np.uint64(code[op_at + RUN])
    is_expansion, in_lanes = code[op_at + IS_EXPANSION] != 0, code[op_at + OP_LANES] != 0
    step = np.uint64(0 if is_expansion else 1)
    done = 0
    for row in range(code[op_at + ROWS] * repeats):
        o = np.uint64(base + maps[code[op_at + MAP_AT] + row])
        for j in range(run):
            if in_lanes:
                times_lanes(block, source, target, values, o + j)
            else:
                times_number(block, source, target, tables[o + j])
            source += step
            target += np.uint64(1)
        done += 1
        if is_expansion and done == repeats:
            done = 0
            source += np.uint64(1)


@inner_kernel()
def lane_forward(code, at, maps, tables, values, bases, block):
    """All operations of a block."""
    op_at = code[at + OPS]
    for lane in range(WIDTH):
        block[0, lane] = 1.0
    for op in range(code[at + N_OPS]):
        base = code[op_at + OP_VALUE] + bases[op]
        lane_operation(code, op_at, base, maps, tables, values, block)
        op_at += OP_FIELDS + code[at + N_OUTER]


@inner_kernel()
def lane_sum(code, at, bases, values, block):
    """Adds the table of a block to the message, summed over what is not in the separator."""
    width = np.uint64(block.shape[1])
    n_ops, groups = code[at + N_OPS], code[at + GROUPS]
    op_at = code[at + OPS] + (n_ops - 1) * (OP_FIELDS + code[at + N_OUTER])
    each = code[op_at + ROWS] * code[op_at + REPEATS] * code[op_at + RUN] // groups
    cell = code[op_at + TARGET]
    for g in range(groups):
        to = values[code[at + MESSAGE] + bases[n_ops] + g]
        for _ in range(each):
            t = block[cell]
            cell += 1
            for lane in range(width):
                to[lane] += t[lane]


@inner_kernel()
def lane_scale(values, at, size, counted, out_logs):
    """Divides a message by its largest entry in each lane; a lane without any is impossible.

    Rows of `out_logs`: logarithms, the product of scales not yet in them, and room for two. How
    many powers of two positive entries of the message are away from 1, in any lane.
    """
    width = np.uint64(values.shape[1])
    top, low = out_logs[2], out_logs[3]
    for lane in range(width):
        top[lane] = 0.0
        low[lane] = np.inf
    for cell in range(at, at + size):
        for lane in range(width):
            x = values[cell, lane]
            top[lane] = max(top[lane], x)
            low[lane] = min(low[lane], x if x > 0.0 else np.inf)
    smallest = 1.0
    widest = 1.0
    for lane in range(width):
        if not top[lane] > 0.0:
            out_logs[0, lane] = -np.inf
            top[lane] = 1.0
        if counted != 0:
            out_logs[1, lane] *= top[lane]
        smallest = min(smallest, out_logs[1, lane])
        widest = max(widest, top[lane] / low[lane])
    for cell in range(at, at + size):
        for lane in range(width):
            values[cell, lane] /= top[lane]
    # One logarithm for many messages: only when their product becomes small.
    if smallest < SMALL:
        take_logs(out_logs)
    return np.log2(widest)


@inner_kernel()
def take_logs(out_logs):
    """Moves the products of scales to the logarithms."""
    for lane in range(WIDTH):
        out_logs[0, lane] += np.log(out_logs[1, lane])
        out_logs[1, lane] = 1.0


@lean_kernel(
    "int64(int64[::1], int32[::1], float64[::1], float64[:, ::1], float64[::1], float64[:, ::1],"
    " int64[::1], int64[::1], float64[:, ::1])"
)
def lane_collect(code, maps, tables, values, spans, block, digits, bases, out_logs):
    """Messages from the leaves to the roots in all lanes.

    Zero where some product might leave the range of floats, so that nothing could be trusted.
    """
    width = np.uint64(values.shape[1])
    for place in range(code[N_CLIQUES] - 1, -1, -1):
        at = code[code[CLIQUES_AT] + place]
        if is_safe(code, at, spans) == 0:
            return 0
        if code[at + NEEDED] == 0:
            continue
        begin, size = code[at + MESSAGE], code[at + MESSAGE_SIZE]
        for cell in range(begin, begin + size):
            for lane in range(width):
                values[cell, lane] = 0.0
        enter_block(code, at, np.int64(0), digits, bases)
        for _ in range(code[at + BLOCKS]):
            lane_forward(code, at, maps, tables, values, bases, block)
            lane_sum(code, at, bases, values, block)
            next_block(code, at, digits, bases)
        spans[begin] = lane_scale(values, begin, size, code[at + COUNTED], out_logs)
    take_logs(out_logs)
    return 1


# --- Downward -------------------------------------------------------------------------------------


@inner_kernel()
def sum_products(values, value, bars, bar, size, out_totals):
    """Sums of message times derivative in each lane; 1 where there is nothing."""
    width = np.uint64(values.shape[1])
    for lane in range(width):
        out_totals[lane] = 0.0
    for cell in range(size):
        for lane in range(width):
            out_totals[lane] += values[value + cell, lane] * bars[bar + cell, lane]
    for lane in range(width):
        out_totals[lane] = out_totals[lane] if out_totals[lane] > 0.0 else 1.0


@inner_kernel()
def lane_receive(code, at, values, bars, totals):
    """The derivative by a clique's message, so that their product sums to one in each lane."""
    width = np.uint64(values.shape[1])
    bar, size, message = code[at + MESSAGE_BAR], code[at + MESSAGE_SIZE], code[at + MESSAGE]
    if code[at + IS_ROOT] != 0:
        for cell in range(bar, bar + size):
            for lane in range(width):
                bars[cell, lane] = 1.0
    sum_products(values, message, bars, bar, size, totals)
    for cell in range(size):
        for lane in range(width):
            # Where a message is zero its derivative touches nothing; it must not grow.
            x = bars[bar + cell, lane] / totals[lane]
            bars[bar + cell, lane] = x if values[message + cell, lane] > 0.0 else 0.0
    for cell in range(code[at + BAR_FROM], code[at + BAR_TO]):
        for lane in range(width):
            bars[cell, lane] = 0.0


@inner_kernel()
def lane_derivative(code, op_at, base, bar, maps, tables, values, bars, block, slope):
    """Of one operation in all lanes; `bar` is where its item's bar begins, or below 0."""
    width = np.uint64(block.shape[1])
    source, target, run = code[op_at + SOURCE], code[op_at + TARGET], code[op_at + RUN]
    repeats = code[op_at + REPEATS]
    is_expansion, in_lanes = code[op_at + IS_EXPANSION] != 0, code[op_at + OP_LANES] != 0
    n_source = code[op_at + ROWS] if is_expansion else code[op_at + ROWS] * run
    for cell in range(source, source + n_source):
        for lane in range(width):
            slope[cell, lane] = 0.0
    for row in range(code[op_at + ROWS] * repeats):
        offset = np.int64(maps[code[op_at + MAP_AT] + row])
        for j in range(run):
            before = source + row // repeats if is_expansion else source + row * run + j
            s, t, d = slope[target + row * run + j], block[before], slope[before]
            if in_lanes:
                f = values[base + offset + j]
                for lane in range(width):
                    d[lane] += s[lane] * f[lane]
            else:
                x = tables[base + offset + j]
                for lane in range(width):
                    d[lane] += s[lane] * x
            if bar >= 0:
                b = bars[bar + offset + j]
                for lane in range(width):
                    b[lane] += s[lane] * t[lane]


@inner_kernel()
def lane_backward(code, at, maps, tables, values, bars, bases, block, slope):
    """Derivatives of all operations of a block down to the first whose bar is wanted."""
    width = np.uint64(block.shape[1])
    n_ops, groups = code[at + N_OPS], code[at + GROUPS]
    fields = OP_FIELDS + code[at + N_OUTER]
    op_at = code[at + OPS] + (n_ops - 1) * fields
    cell = code[op_at + TARGET]
    each = code[op_at + ROWS] * code[op_at + REPEATS] * code[op_at + RUN] // groups
    for g in range(groups):
        message = bars[code[at + MESSAGE_BAR] + bases[n_ops] + g]
        for _ in range(each):
            for lane in range(width):
                slope[cell, lane] = message[lane]
            cell += 1
    for op in range(n_ops - 1, code[at + FIRST_BARRED] - 1, -1):
        bar = code[op_at + OP_BAR]
        lane_derivative(
            code,
            op_at,
            code[op_at + OP_VALUE] + bases[op],
            bar + bases[op] if bar >= 0 else bar,
            maps,
            tables,
            values,
            bars,
            block,
            slope,
        )
        op_at -= fields


@inner_kernel()
def lane_answer(code, at, values, bars, totals, out_answers):
    """The posterior of one variable, read off its evidence, in all lanes."""
    width = np.uint64(values.shape[1])
    value, bar, to = code[at + FROM_VALUE], code[at + FROM_BAR], code[at + TO]
    sum_products(values, value, bars, bar, code[at + TO_SIZE], totals)
    for state in range(code[at + TO_SIZE]):
        for lane in range(width):
            cell = values[value + state, lane] * bars[bar + state, lane]
            out_answers[to + state, lane] = cell / totals[lane]


@lean_kernel(
    "void(int64[::1], int32[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1],"
    " float64[:, ::1], int64[::1], int64[::1], float64[::1], float64[:, ::1])"
)
def lane_distribute(
    code, maps, tables, values, bars, block, slope, digits, bases, totals, out_answers
):
    """Derivatives from the roots to the leaves in all lanes, and the posteriors."""
    for place in range(code[N_CLIQUES]):
        at = code[code[CLIQUES_AT] + place]
        lane_receive(code, at, values, bars, totals)
        enter_block(code, at, np.int64(0), digits, bases)
        for _ in range(code[at + BLOCKS]):
            lane_forward(code, at, maps, tables, values, bases, block)
            lane_backward(code, at, maps, tables, values, bars, bases, block, slope)
            next_block(code, at, digits, bases)
        record = code[at + PROJECTIONS]
        for _ in range(code[at + N_PROJECTIONS]):
            lane_answer(code, record, values, bars, totals, out_answers)
            record += PROJECTION_FIELDS + 2 * code[record + PROJECTED_AXES]


@lean_kernel("void(int64[::1], int64, int64[:, ::1], int64[::1], float64[:, ::1])")
def lane_evidence(code, at, rows, card_of, out_values):
    """What rows observe as ones and zeros: pairs of variable and place from `at` on."""
    for pair in range(card_of.size):
        variable, to = code[at + 2 * pair], code[at + 2 * pair + 1]
        for lane in range(WIDTH):
            # Lanes without a row repeat the first one.
            row = lane if lane < np.uint64(rows.shape[0]) else np.uint64(0)
            known = rows[row, variable]
            for state in range(card_of[pair]):
                out_values[to + state, lane] = 1.0 if known < 0 or known == state else 0.0
