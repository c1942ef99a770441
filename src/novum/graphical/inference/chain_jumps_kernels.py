"""Jumps of a chain to a state drawn anew, parents first, with the evidence set.

    accept x' with probability  min(1, w(x') / w(x)),     w(x) = product of P(observed | parents)

(the independence sampler of Tierney 1994). What is proposed does not depend on the present state,
so an accepted jump forgets it, whatever lies between the two.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.graphical.inference.chance_kernels import uniform
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
    "void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1],"
    " uint64, uint64, int64[::1])"
)
def draw_state(
    drawn, cards, scope_starts, scopes, strides, table_starts, tables, key, counter, out_codes
):
    """Draws the last variable of each factor given the others, which come first."""
    for place in range(drawn.size):
        f = drawn[place]
        last = scope_starts[f + 1] - 1
        at = table_starts[f]
        for edge in range(scope_starts[f], last):
            at += strides[edge] * out_codes[scopes[edge]]
        n = cards[scopes[last]]
        total = 0.0
        for k in range(n):
            total += tables[at + k]
        u = uniform(key, counter + np.uint64(place)) * total
        state = 0
        while state < n - 1 and u >= tables[at + state]:
            u -= tables[at + state]
            state += 1
        while tables[at + state] == 0.0:
            state -= 1
        out_codes[scopes[last]] = state


@lean_kernel(
    "boolean(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], uint64, uint64, int64[::1], int64[::1], int64[::1])"
)
def jump(
    cards, cell_starts, scope_starts, scopes, strides, table_starts, tables, block_of,
    code_starts, code_steps, states, drawn, weighing, radixes, cell_keys, key, number, out_cells,
    codes, keys,
):  # fmt: skip
    """Offers a state drawn anew; whether it was accepted.

    `radixes` make one number of the states of a block's variables, by which `cell_keys` ascend.
    """
    n_variables = codes.size
    for v in range(n_variables):
        codes[v] = states[code_starts[v] + code_steps[v] * out_cells[block_of[v]]]
    present = log_weight(weighing, scope_starts, scopes, strides, table_starts, tables, codes)
    counter = number * np.uint64(n_variables + 1)
    draw_state(
        drawn, cards, scope_starts, scopes, strides, table_starts, tables, key, counter, codes
    )
    offered = log_weight(weighing, scope_starts, scopes, strides, table_starts, tables, codes)
    if offered == -np.inf:
        return False
    u = uniform(key, counter + np.uint64(n_variables))
    if u >= math.exp(min(offered - present, 0.0)):
        return False
    for block in range(keys.size):
        keys[block] = 0
    for v in range(n_variables):
        keys[block_of[v]] += radixes[v] * codes[v]
    for block in range(keys.size):
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
