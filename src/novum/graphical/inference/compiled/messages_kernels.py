"""Runs of a program: collect to the roots, distribute back to the leaves.

Every message is divided by its largest entry, whose logarithm is kept. Downward, what multiplies a
message is its derivative, brought to  sum of message * derivative = 1; where a message is zero its
derivative touches nothing and is set to zero, so that it cannot grow. The sum over a root, which is
often the largest clique, is found on the way down where there is one:

    sum of item * derivative = sum over the root, for each of its items

A run stops after `budget` blocks and goes on where it was: `state` holds the clique and the block
that are next.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.blocks_kernels import (
    backward,
    ends_in_pair,
    enter_block,
    forward,
    next_block,
    sum_block,
    sum_pair,
)
from novum.graphical.inference.compiled.layout import (
    BAR_FROM,
    BAR_TO,
    BLOCKS,
    CLIQUES_AT,
    COUNTED,
    FROM_BAR,
    FROM_VALUE,
    INCOMING,
    IS_LEAF,
    IS_ROOT,
    MESSAGE,
    MESSAGE_BAR,
    MESSAGE_SIZE,
    N_CLIQUES,
    N_OPS,
    N_OUTER,
    N_PROJECTIONS,
    NEEDED,
    OP_FIELDS,
    OP_VALUE,
    OPS,
    PROJECTED_AXES,
    PROJECTION_FIELDS,
    PROJECTIONS,
    TO,
    TO_SIZE,
)
from novum.numerics import inner_kernel

# Numbers within so many powers of two of 1: sums of them are still far from the limits of floats.
MOST_SPAN = 900.0


@inner_kernel()
def scale_message(values, at, size, out_spans):
    """Divides a message by its largest entry; the logarithm of that. Notes its span."""
    top = 0.0
    low = np.inf
    for cell in range(at, at + size):
        x = values[cell]
        top = max(top, x)
        low = min(low, x if x > 0.0 else np.inf)
    if not top > 0.0:
        return -np.inf
    for cell in range(at, at + size):
        values[cell] /= top
    out_spans[at] = np.log2(top / low)
    return np.log(top)


@inner_kernel()
def is_safe(code, at, spans):
    """Whether no product of cells of a clique's items can leave the range of floats."""
    total = 0.0
    op_at = code[at + OPS]
    for _ in range(code[at + N_OPS]):
        total += spans[code[op_at + OP_VALUE]]
        op_at += OP_FIELDS + code[at + N_OUTER]
    return 1 if total < MOST_SPAN else 0


@inner_kernel()
def collect(code, maps, values, spans, block, digits, bases, state, budget, sums_roots):
    """Messages from the leaves to the roots; the logarithm of their scales so far.

    Unless `sums_roots` the roots are left to `distribute`.
    Minus infinity where nothing is possible; NaN where some product might leave the range of
    floats, so that neither this nor any number could be trusted.
    """
    log = 0.0
    while state[0] >= 0 and budget > 0:
        at = code[code[CLIQUES_AT] + state[0]]
        if state[1] == 0 and is_safe(code, at, spans) == 0:
            state[0] = -1
            return np.nan
        if code[at + NEEDED] != 0 and (sums_roots != 0 or code[at + IS_ROOT] == 0):
            if state[1] == 0:
                for cell in range(code[at + MESSAGE], code[at + MESSAGE] + code[at + MESSAGE_SIZE]):
                    values[cell] = 0.0
            enter_block(code, at, state[1], digits, bases)
            is_pair = ends_in_pair(code, at)
            n_ops = code[at + N_OPS] - 1 - is_pair
            while state[1] < code[at + BLOCKS] and budget > 0:
                forward(code, at, n_ops, maps, values, bases, block)
                if is_pair != 0:
                    sum_pair(code, at, maps, values, bases, block)
                else:
                    sum_block(code, at, maps, values, bases, block)
                next_block(code, at, digits, bases)
                state[1] += 1
                budget -= 1
            if state[1] < code[at + BLOCKS]:
                return log
            part = scale_message(values, code[at + MESSAGE], code[at + MESSAGE_SIZE], spans)
            if part == -np.inf:
                state[0] = -1
                return part
            if code[at + COUNTED] != 0:
                log += part
        state[0] -= 1
        state[1] = 0
    return log


# --- Downward -------------------------------------------------------------------------------------


@inner_kernel()
def project_rows(values, value, bars, bar, rows, run, out, cell, row_stride, stride):
    """Adds value times bar of some rows, where a run goes to one cell or to as many as it has."""
    for _ in range(rows):
        if stride == 0:
            total = 0.0
            for j in range(run):
                total += values[value + j] * bars[bar + j]
            out[cell] += total
        else:
            for j in range(run):
                out[cell + j * stride] += values[value + j] * bars[bar + j]
        value += run
        bar += run
        cell += row_stride


@inner_kernel()
def project(code, at, values, bars, out, digits):
    """Sums value times bar of an item over some axes, to a table brought to sum to one; the sum."""
    n_axes, to, size = code[at + PROJECTED_AXES], code[at + TO], code[at + TO_SIZE]
    value, bar = code[at + FROM_VALUE], code[at + FROM_BAR]
    cards = at + PROJECTION_FIELDS
    strides = cards + n_axes
    for cell in range(to, to + size):
        out[cell] = 0.0
    for axis in range(n_axes):
        digits[axis] = 0
    run, stride = code[strides - 1], code[strides + n_axes - 1]
    rows = code[strides - 2] if n_axes > 1 else 1
    row_stride = code[strides + n_axes - 2] if n_axes > 1 else 0
    cell = to
    axis = 0
    while axis >= 0:
        project_rows(values, value, bars, bar, rows, run, out, cell, row_stride, stride)
        value += rows * run
        bar += rows * run
        axis = n_axes - 3
        while axis >= 0:
            digits[axis] += 1
            cell += code[strides + axis]
            if digits[axis] < code[cards + axis]:
                break
            cell -= digits[axis] * code[strides + axis]
            digits[axis] = 0
            axis -= 1
    total = 0.0
    for cell in range(to, to + size):
        total += out[cell]
    for cell in range(to, to + size):
        out[cell] /= total
    return total


@inner_kernel()
def receive(code, at, values, bars, digits):
    """Prepares the derivative by a clique's message, and zero bars for its items."""
    bar, size = code[at + MESSAGE_BAR], code[at + MESSAGE_SIZE]
    if code[at + IS_ROOT] != 0:
        for cell in range(bar, bar + size):
            bars[cell] = 1.0
    if code[at + INCOMING] >= 0:
        project(code, code[at + INCOMING], values, bars, bars, digits)
    elif code[at + IS_ROOT] == 0 and code[at + NEEDED] != 0:
        message = code[at + MESSAGE]
        total = 0.0
        for cell in range(size):
            if values[message + cell] > 0.0:
                total += values[message + cell] * bars[bar + cell]
            else:
                bars[bar + cell] = 0.0
        for cell in range(size):
            bars[bar + cell] /= total
    if code[at + IS_LEAF] == 0:
        for cell in range(code[at + BAR_FROM], code[at + BAR_TO]):
            bars[cell] = 0.0


@inner_kernel()
def read_leaf(code, at, values, bars, out_answers):
    """The posterior of a leaf's variable: rows of its table, weighted by the message down."""
    place = code[at + PROJECTIONS]
    to, card = code[place + TO], code[place + TO_SIZE]
    row, bar = code[place + FROM_VALUE], code[at + MESSAGE_BAR]
    for state in range(card):
        out_answers[to + state] = 0.0
    for cell in range(bar, bar + code[at + MESSAGE_SIZE]):
        weight = bars[cell]
        for state in range(card):
            out_answers[to + state] += weight * values[row + state]
        row += card
    total = 0.0
    for state in range(card):
        total += out_answers[to + state]
    for state in range(card):
        out_answers[to + state] /= total


@inner_kernel()
def distribute(code, maps, values, bars, block, slope, digits, bases, state, budget, out_answers):
    """Derivatives from the roots to the leaves, and the posterior of every variable.

    The logarithm of the sums over roots so far; minus infinity where nothing is possible.
    """
    log = 0.0
    while state[0] < code[N_CLIQUES] and budget > 0:
        at = code[code[CLIQUES_AT] + state[0]]
        if state[1] == 0:
            receive(code, at, values, bars, digits)
        if code[at + IS_LEAF] != 0:
            read_leaf(code, at, values, bars, out_answers)
            state[0] += 1
            budget -= 1
            continue
        enter_block(code, at, state[1], digits, bases)
        n_ops = code[at + N_OPS] - 1 - ends_in_pair(code, at)
        while state[1] < code[at + BLOCKS] and budget > 0:
            forward(code, at, n_ops, maps, values, bases, block)
            backward(code, at, maps, values, bars, bases, block, slope)
            next_block(code, at, digits, bases)
            state[1] += 1
            budget -= 1
        if state[1] < code[at + BLOCKS]:
            return log
        place = code[at + PROJECTIONS]
        total = 1.0
        for _ in range(code[at + N_PROJECTIONS]):
            total = project(code, place, values, bars, out_answers, digits)
            place += PROJECTION_FIELDS + 2 * code[place + PROJECTED_AXES]
        if code[at + IS_ROOT] != 0 and code[at + NEEDED] != 0:
            if not total > 0.0:
                return -np.inf
            if code[at + COUNTED] != 0:
                log += np.log(total)
        state[0] += 1
        state[1] = 0
    return log
