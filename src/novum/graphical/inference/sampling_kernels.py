"""Rows drawn variable by variable, parents first, and weighed by the evidence.

Rows are made in blocks, column after column: within a block the parents of all rows are added up
to offsets of table rows first, then all states are drawn. The counter of a draw is made of its row
and its variable, so blocks may be cut anywhere. Draws and cumulative probabilities are compared as
whole numbers of 53 bits.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.numerics import chance as uniform
from novum.numerics import chance_bits, fast_kernel, kernel, lean_kernel

BLOCK = 1024
# Above every draw of 53 bits.
PAST = 2**62
# Up to this number of states, comparing with all of them beats stopping at the right one.
_FEW = 4


@lean_kernel(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], int64[::1], int64[::1])"
)
def cumulate_tables(cards, scope_starts, scopes, table_starts, tables, out_strides, out_cumulative):
    """Strides of all axes, and for each state the draws of 53 bits that stay below its end.

    From the last possible state on nothing is compared: rounding must not lead past it.
    """
    for f in range(scope_starts.size - 1):
        stride = 1
        for edge in range(scope_starts[f + 1] - 1, scope_starts[f] - 1, -1):
            out_strides[edge] = stride
            stride *= cards[scopes[edge]]
        n = cards[scopes[scope_starts[f + 1] - 1]]
        for row in range(table_starts[f], table_starts[f + 1], n):
            last = n - 1
            while last > 0 and tables[row + last] == 0.0:
                last -= 1
            total = 0.0
            for k in range(n):
                total += tables[row + k]
                # u < p  is  b < ceil(p 2^53)  for u = b / 2^53.
                whole = np.int64(math.ceil(min(total, 1.0) * 9007199254740992.0))
                out_cumulative[row + k] = whole if k < last else PAST


@lean_kernel(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], uint64, int64, int64, int64, int64[::1], int32[:,::1])"
)
def draw_block(
    cards, scope_starts, scopes, strides, table_starts, cumulative, order,
    known, key, first, n_rows, column, offsets, out_codes,
):  # fmt: skip
    """States of rows `first ... first + n_rows` at `out_codes[:, column ... column + n_rows]`."""
    n_all = np.uint64(cards.size)
    for place in range(order.size):
        v = order[place]
        if known[v] >= 0:
            for r in range(n_rows):
                out_codes[v, column + r] = known[v]
            continue
        for r in range(n_rows):
            offsets[r] = table_starts[v]
        for axis in range(scope_starts[v], scope_starts[v + 1] - 1):
            parent, stride = scopes[axis], strides[axis]
            for r in range(n_rows):
                offsets[r] += stride * out_codes[parent, column + r]
        # Row by row the counter grows by the number of variables.
        counter = np.uint64(first) * n_all + np.uint64(v)
        if cards[v] == 2:
            for r in range(n_rows):
                u = chance_bits(key, counter + np.uint64(r) * n_all)
                out_codes[v, column + r] = u >= cumulative[offsets[r]]
        elif cards[v] <= _FEW:
            last = cards[v] - 1
            for r in range(n_rows):
                u = chance_bits(key, counter + np.uint64(r) * n_all)
                state = 0
                for k in range(last):
                    state += u >= cumulative[offsets[r] + k]
                out_codes[v, column + r] = state
        else:
            for r in range(n_rows):
                u = chance_bits(key, counter + np.uint64(r) * n_all)
                state = 0
                while u >= cumulative[offsets[r] + state]:
                    state += 1
                out_codes[v, column + r] = state


@lean_kernel(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], uint64, int64, int64, int64[::1], int32[:,::1])"
)
def draw_columns(
    cards, scope_starts, scopes, strides, table_starts, cumulative, order,
    known, key, start, stop, offsets, out_codes,
):  # fmt: skip
    """Rows `start ... stop`, each at its own column of `out_codes`."""
    for first in range(start, stop, BLOCK):
        draw_block(
            cards, scope_starts, scopes, strides, table_starts, cumulative, order,
            known, key, first, min(BLOCK, stop - first), first, offsets, out_codes,
        )  # fmt: skip


@lean_kernel(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], int64[::1], int64[::1],"
    " int64[::1], float64[::1], int64, int64[::1], int32[:,::1], float64[::1])"
)
def weigh_by_tables(
    scope_starts, scopes, strides, table_starts, log_tables, observed, soft, soft_starts,
    soft_logs, n_rows, offsets, codes, out_logs,
):  # fmt: skip
    """Log-weights: how likely the observed states are given their parents."""
    for r in range(n_rows):
        out_logs[r] = 0.0
    for place in range(observed.size):
        v = observed[place]
        for r in range(n_rows):
            offsets[r] = table_starts[v]
        for axis in range(scope_starts[v], scope_starts[v + 1]):
            other, stride = scopes[axis], strides[axis]
            for r in range(n_rows):
                offsets[r] += stride * codes[other, r]
        for r in range(n_rows):
            out_logs[r] += log_tables[offsets[r]]
    for place in range(soft.size):
        for r in range(n_rows):
            out_logs[r] += soft_logs[soft_starts[place] + codes[soft[place], r]]


@lean_kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], uint64, int64, int64,"
    " int64, int32[:,::1], float64[::1])"
)
def weigh_by_agreement(
    known, observed, soft, soft_starts, soft_logs, key, first, n_rows, left, codes, out_logs
):
    """0 for rows that are accepted and `-inf` for others; at most `left`, whose number returns."""
    accepted = 0
    width = np.uint64(soft.size + 1)
    for r in range(n_rows):
        agrees = accepted < left
        for v in observed:
            agrees = agrees and codes[v, r] == known[v]
        for place in range(soft.size):
            chance = math.exp(soft_logs[soft_starts[place] + codes[soft[place], r]])
            u = uniform(key, np.uint64(first + r) * width + np.uint64(place))
            agrees = agrees and u < chance
        out_logs[r] = 0.0 if agrees else -np.inf
        accepted += agrees
    return accepted


# Sums over the rows of a block in any order, several at once: `benchmarks/graphical/inference`.
@fast_kernel("void(int32, int64, int32[::1], float64[::1], float64[::1], float64[::1])")
def add_state(state, n_rows, codes, weights, squares, out_sums):
    """Sums of weights and of their squares over the rows that have a state."""
    total = 0.0
    squared = 0.0
    for r in range(n_rows):
        inside = codes[r] == state
        total += weights[r] if inside else 0.0
        squared += squares[r] if inside else 0.0
    out_sums[0] = total
    out_sums[1] = squared


@kernel(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], int64, int32[:,::1], float64[::1],"
    " float64[::1], int64[::1], float64[::1], float64[::1], float64[::1])"
)
def add_weights(
    target_starts, target_variables, target_strides, cell_starts, n_rows, codes, logs, squares,
    offsets, out_sums, out_squares, out_totals,
):  # fmt: skip
    """Adds weights and their squares to the cells of the targets.

    `out_totals`: sum of weights, sum of squares, rows of positive weight, and the logarithm of
    what all weights so far were divided by, the largest of them.
    """
    top = out_totals[3]
    for r in range(n_rows):
        top = max(top, logs[r])
    if top == -np.inf:
        return
    if top > out_totals[3]:
        shrink = math.exp(out_totals[3] - top)
        for c in range(out_sums.size):
            out_sums[c] *= shrink
            out_squares[c] *= shrink * shrink
        out_totals[0] *= shrink
        out_totals[1] *= shrink * shrink
        out_totals[3] = top
    for r in range(n_rows):
        weight = math.exp(logs[r] - top)
        logs[r] = weight
        squares[r] = weight * weight
        out_totals[0] += weight
        out_totals[1] += squares[r]
        out_totals[2] += weight > 0
    both = np.empty(2)
    for t in range(target_starts.size - 1):
        first = cell_starts[t]
        n_cells = cell_starts[t + 1] - first
        if target_starts[t + 1] - target_starts[t] == 1 and n_cells <= _FEW:
            for k in range(n_cells):
                own = codes[target_variables[target_starts[t]]]
                add_state(np.int32(k), n_rows, own, logs, squares, both)
                out_sums[first + k] += both[0]
                out_squares[first + k] += both[1]
            continue
        for r in range(n_rows):
            offsets[r] = first
        for axis in range(target_starts[t], target_starts[t + 1]):
            v, stride = target_variables[axis], target_strides[axis]
            for r in range(n_rows):
                offsets[r] += stride * codes[v, r]
        for r in range(n_rows):
            out_sums[offsets[r]] += logs[r]
            out_squares[offsets[r]] += squares[r]
