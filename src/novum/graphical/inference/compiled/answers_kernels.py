"""Whole runs: load, collect, distribute and hand out, in slices that go on where they were.

`state` holds the clique and the block that are next, the step of the run, and whether posteriors
are wanted.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.blocks_kernels import enter_block, forward, next_block
from novum.graphical.inference.compiled.layout import (
    AXES,
    BLOCKS,
    CLIQUES_AT,
    GROUPS,
    IS_EXPANSION,
    LOCAL_AT,
    MAP_AT,
    MESSAGE,
    MESSAGE_BAR,
    MESSAGE_SIZE,
    N_AXES,
    N_CLIQUES,
    N_LOCAL,
    N_OPS,
    N_OUTER,
    N_SOFT,
    OP_FIELDS,
    OP_VALUE,
    OPS,
    REPEATS,
    ROWS,
    RUN,
    SOURCE,
)
from novum.graphical.inference.compiled.loads_kernels import load_values, load_weights
from novum.graphical.inference.compiled.messages_kernels import (
    collect,
    distribute,
    is_safe,
    scale_message,
)
from novum.numerics import inner_kernel, lean_kernel

# tables, further, table_spans, known, starts, cards, weights: what a run loads
READING = (
    "Tuple((float64[::1], float64[::1], float64[::1], int64[::1], int64[::1], int64[::1],"
    " float64[::1]))"
)
# values, spans, block, digits, bases, state: what a run fills
ROOM = "Tuple((float64[::1], float64[::1], float64[::1], int64[::1], int64[::1], int64[::1]))"
# bars, slope, answers, tables: what posteriors take
POSTERIORS = "UniTuple(float64[::1], 4)"
# Steps of a run.
LOAD = 0
COLLECT = 1
DISTRIBUTE = 2
DONE = 3


@inner_kernel()
def load(code, reading, out_values, out_spans, digits):
    """Tables and weights of a program; the logarithm of what are but numbers."""
    tables, further, table_spans, known, starts, cards, weights = reading
    log = load_values(code, tables, further, table_spans, known, out_values, out_spans, digits)
    if code[N_SOFT] > 0:
        log += load_weights(code, starts, cards, weights, out_values, out_spans)
    return log


@inner_kernel()
def spread(code, answers, known, starts, cards, states, out_tables):
    """Answers at the states that are left, zeros at the others; known variables have a one."""
    for cell in range(out_tables.size):
        out_tables[cell] = 0.0
    for variable in range(known.size):
        if known[variable] >= 0:
            out_tables[starts[variable] + states[starts[variable] + known[variable]]] = 1.0
    at = 0
    for local in range(code[N_LOCAL]):
        variable = code[code[LOCAL_AT] + local]
        start = starts[variable]
        for place in range(start, start + cards[variable]):
            out_tables[start + states[place]] = answers[at]
            at += 1


@inner_kernel()
def begin(code, reading, room):
    """Loads what a run that has not begun works with; the logarithm of what became numbers."""
    values, spans, _, digits, _, state = room
    if state[2] != LOAD:
        return 0.0
    log = load(code, reading, values, spans, digits)
    state[0], state[1], state[2] = code[N_CLIQUES] - 1, 0, COLLECT
    if log == -np.inf:
        state[2] = DONE
    return log


@lean_kernel(
    f"float64(int64[::1], int32[::1], {READING}, {ROOM}, int64[::1], {POSTERIORS}, int64)",
    short_loops=True,
)
def run_sums(code, maps, reading, room, states, out_posteriors, budget):
    """Goes on for `budget` blocks; the logarithms that were found, see `collect`."""
    values, spans, block, digits, bases, state = room
    bars, slope, answers, out_tables = out_posteriors
    log = begin(code, reading, room)
    if state[2] == COLLECT:
        sums_roots = 1 if state[3] == 0 else 0
        log += collect(code, maps, values, spans, block, digits, bases, state, budget, sums_roots)
        if state[0] >= 0:
            return log
        state[0], state[1], state[2] = 0, 0, DONE
        if log > -np.inf and state[3] != 0:
            state[2] = DISTRIBUTE
    if state[2] == DISTRIBUTE:
        log += distribute(
            code, maps, values, bars, block, slope, digits, bases, state, budget, answers
        )
        if log == -np.inf:
            state[2] = DONE
        elif state[0] == code[N_CLIQUES]:
            spread(code, answers, reading[3], reading[4], reading[5], states, out_tables)
            state[2] = DONE
    return log


@lean_kernel(
    f"float64(int64[::1], int32[::1], {READING}, {ROOM}, int64[::1], int64[::1], int64)",
    short_loops=True,
)
def run_maxima(code, maps, reading, room, choices, out_codes, budget):
    """The same with maxima; `out_codes` become the states of all variables that take part."""
    values, spans, block, digits, bases, state = room
    log = begin(code, reading, room)
    if state[2] == COLLECT:
        log += collect_maxima(
            code, maps, values, spans, block, digits, bases, state, budget, choices
        )
        if state[0] < 0:
            state[2] = DONE
            if log > -np.inf:
                read_choices(code, maps, values, block, digits, bases, choices, out_codes)
    return log


# --- Maxima ---------------------------------------------------------------------------------------
# The most probable configuration: the same program with maxima, and its choices read back.
#
#     message[g] = max over the rows of group g        choice[g] = the row that has it
#
# From the roots down every clique knows the states of its separator, hence its group; the chosen
# row gives the states of all but the last run, whose largest cell is looked up in the block itself.
# Of equal maxima the first is taken. Messages of ones are not ones here, so all are computed.


@inner_kernel()
def last_operation(code, at):
    """Where the last operation of a clique stands."""
    return code[at + OPS] + (code[at + N_OPS] - 1) * (OP_FIELDS + code[at + N_OUTER])


@inner_kernel()
def row_cell(code, op_at, row, offset, values, block, j):
    """Cell j of a row of the last operation, `offset` being its item's."""
    source = code[op_at + SOURCE]
    if code[op_at + IS_EXPANSION] != 0:
        return block[source + row // code[op_at + REPEATS]] * values[offset + j]
    return block[source + row * code[op_at + RUN] + j] * values[offset + j]


@inner_kernel()
def maximize_block(code, at, number, maps, values, bases, block, out_choices):
    """Raises the message to the rows of a block, and notes the rows that did it."""
    op_at = last_operation(code, at)
    n_ops = code[at + N_OPS]
    base = code[op_at + OP_VALUE] + bases[n_ops - 1]
    rows = code[op_at + ROWS] * code[op_at + REPEATS]
    each = rows // code[at + GROUPS]
    to, choice = code[at + MESSAGE] + bases[n_ops], code[at + MESSAGE_BAR] + bases[n_ops]
    run = code[op_at + RUN]
    for row in range(rows):
        offset = base + maps[code[op_at + MAP_AT] + row]
        top = row_cell(code, op_at, row, offset, values, block, np.int64(0))
        for j in range(1, run):
            top = max(top, row_cell(code, op_at, row, offset, values, block, j))
        g = row // each
        if top > values[to + g]:
            values[to + g] = top
            out_choices[choice + g] = number * rows + row


@inner_kernel()
def collect_maxima(code, maps, values, spans, block, digits, bases, state, budget, out_choices):
    """Maxima from the leaves to the roots; the logarithm of their scales so far, as `collect`."""
    log = 0.0
    while state[0] >= 0 and budget > 0:
        at = code[code[CLIQUES_AT] + state[0]]
        if state[1] == 0:
            if is_safe(code, at, spans) == 0:
                state[0] = -1
                return np.nan
            for cell in range(code[at + MESSAGE_SIZE]):
                values[code[at + MESSAGE] + cell] = 0.0
                out_choices[code[at + MESSAGE_BAR] + cell] = 0
        enter_block(code, at, state[1], digits, bases)
        while state[1] < code[at + BLOCKS] and budget > 0:
            forward(code, at, code[at + N_OPS] - 1, maps, values, bases, block)
            maximize_block(code, at, state[1], maps, values, bases, block, out_choices)
            next_block(code, at, digits, bases)
            state[1] += 1
            budget -= 1
        if state[1] < code[at + BLOCKS]:
            return log
        log += scale_message(values, code[at + MESSAGE], code[at + MESSAGE_SIZE], spans)
        if log == -np.inf:
            state[0] = -1
            return log
        state[0] -= 1
        state[1] = 0
    return log


@inner_kernel()
def read_choices(code, maps, values, block, digits, bases, choices, out_codes):
    """States of all variables of the model that take part, from the roots down."""
    local = code[LOCAL_AT]
    for place in range(code[N_CLIQUES]):
        at = code[code[CLIQUES_AT] + place]
        axes, n_axes = code[at + AXES], code[at + N_AXES]
        # The separator's states give the cell of the message: its axes come first.
        cell = 0
        size = 1
        axis = 0
        while size < code[at + MESSAGE_SIZE]:
            card = code[axes + n_axes + axis]
            cell = cell * card + out_codes[code[local + code[axes + axis]]]
            size *= card
            axis += 1
        op_at = last_operation(code, at)
        rows, run = code[op_at + ROWS] * code[op_at + REPEATS], code[op_at + RUN]
        chosen = choices[code[at + MESSAGE_BAR] + cell]
        number, row = chosen // rows, chosen % rows
        enter_block(code, at, number, digits, bases)
        forward(code, at, code[at + N_OPS] - 1, maps, values, bases, block)
        offset = code[op_at + OP_VALUE] + bases[code[at + N_OPS] - 1]
        offset += maps[code[op_at + MAP_AT] + row]
        best = 0
        top = row_cell(code, op_at, row, offset, values, block, np.int64(0))
        for j in range(1, run):
            value = row_cell(code, op_at, row, offset, values, block, j)
            if value > top:
                top = value
                best = j
        inside = row * run + best
        for axis in range(n_axes - 1, code[at + N_OUTER] - 1, -1):
            card = code[axes + n_axes + axis]
            out_codes[code[local + code[axes + axis]]] = inside % card
            inside //= card
        for axis in range(code[at + N_OUTER]):
            out_codes[code[local + code[axes + axis]]] = digits[axis]
