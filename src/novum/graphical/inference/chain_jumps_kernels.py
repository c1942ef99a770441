"""Jumps of a chain to a state drawn anew, by bounded elimination (`mini_buckets`).

    accept x' with probability  min(1, w(x') / w(x)),     w(x) = P(x, e) / q(x) / U  <=  1

(the independence sampler of Tierney 1994). What is proposed does not depend on the present state,
so an accepted jump forgets it, whatever lies between the two. From any state a jump is accepted
with at least the mean of w: with m of it, after n jumps all but (1 - m)^n of the start is forgotten
(Mengersen and Tweedie 1996).
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.numerics.jit import lean_kernel


@lean_kernel(
    "float64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], int64[::1])"
)
def log_weight(weighing, scope_starts, scopes, strides, table_starts, tables, codes):
    """Logarithm of the product of some factors at a state."""
    total = 0.0
    for f in weighing:
        at = table_starts[f]
        for edge in range(scope_starts[f], scope_starts[f + 1]):
            at += strides[edge] * codes[scopes[edge]]
        if tables[at] == 0.0:
            return -np.inf
        total += math.log(tables[at])
    return total


@lean_kernel(
    "float64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1],"
    " int64[::1], int64[::1])"
)
def proposal_weight(
    split_cards, part_starts, context_starts, contexts, context_strides, part_rows, logs, codes,
    bases,
):  # fmt: skip
    """Logarithm of the weight that a row of bounded elimination would have at a state.

    The sum over the buckets that were split of log G (`mini_buckets`); -inf where one is 0.
    """
    total = 0.0
    for split in range(split_cards.size):
        first, n_parts = part_starts[split], part_starts[split + 1] - part_starts[split]
        for r in range(n_parts):
            at = part_rows[first + r]
            for axis in range(context_starts[first + r], context_starts[first + r + 1]):
                at += context_strides[axis] * codes[contexts[axis]]
            bases[r] = at
        top = -np.inf
        for k in range(split_cards[split]):
            log = 0.0
            for r in range(n_parts):
                log += logs[bases[r] + k]
            top = max(top, log)
        if top == -np.inf:
            return top
        part_sum = 0.0
        for k in range(split_cards[split]):
            log = 0.0
            for r in range(n_parts):
                log += logs[bases[r] + k]
            part_sum += math.exp(log - top)
        total += top + math.log(part_sum)
    return total


@lean_kernel(
    "boolean(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], int64[::1],"
    " int32[::1], float64, float64, int64[::1], int64[::1], int64[::1])"
)
def jump(
    cell_starts, block_of, code_starts, code_steps, states, radixes, cell_keys,
    split_cards, part_starts, context_starts, contexts, context_strides, logs, part_rows,
    offered_codes, offered, u, out_cells, codes, keys,
):  # fmt: skip
    """Offers a state drawn anew, of log-weight `offered`; whether it was accepted.

    `radixes` make one number of the states of a block's variables, by which `cell_keys` ascend.
    """
    if offered == -np.inf:
        return False
    n_variables = codes.size
    for v in range(n_variables):
        codes[v] = states[code_starts[v] + code_steps[v] * out_cells[block_of[v]]]
    present = proposal_weight(
        split_cards, part_starts, context_starts, contexts, context_strides, part_rows, logs,
        codes, keys,
    )  # fmt: skip
    if u >= math.exp(min(offered - present, 0.0)):
        return False
    for block in range(out_cells.size):
        keys[block] = 0
    for v in range(n_variables):
        keys[block_of[v]] += radixes[v] * offered_codes[v]
    for block in range(out_cells.size):
        low, high = cell_starts[block], cell_starts[block + 1] - 1
        while low < high:
            middle = (low + high) // 2
            if cell_keys[middle] < keys[block]:
                low = middle + 1
            else:
                high = middle
        out_cells[block] = low - cell_starts[block]
    return True


@lean_kernel("void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def place_rows(sender_starts, receivers, move_starts, moves, cells, out_places):
    """The place of each block's row of probabilities, from the cells of its blanket."""
    for block in range(out_places.size):
        out_places[block] = 0
    for block in range(cells.size):
        for pair in range(sender_starts[block], sender_starts[block + 1]):
            out_places[receivers[pair]] += moves[move_starts[pair] + cells[block]]
