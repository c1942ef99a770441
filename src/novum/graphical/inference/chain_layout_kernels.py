"""Blankets of blocks, and how far each change of a block moves the rows of others."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics.jit import lean_kernel


@lean_kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64, int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"
)
def find_blankets(
    cards, scope_starts, scopes, block_of, cell_starts, link_starts, link_factors, most, marks,
    out_receivers, out_variables, out_strides, out_sizes,
):  # fmt: skip
    """Variables of each block's blanket with their strides in its rows, and how many in all.

    `out_sizes` has the cells of all rows of a block; 0 for blocks with more than `most`, whose
    blankets are left out.
    """
    n = 0
    for block in range(out_sizes.size):
        first = n
        size = cell_starts[block + 1] - cell_starts[block]
        for j in range(link_starts[block], link_starts[block + 1]):
            f = link_factors[j]
            for edge in range(scope_starts[f], scope_starts[f + 1]):
                v = scopes[edge]
                if size <= most and block_of[v] != block and marks[v] != block:
                    marks[v] = block
                    out_receivers[n], out_variables[n], out_strides[n] = block, v, size
                    size *= cards[v]
                    n += 1
        if size > most:
            n = first
            size = 0
        out_sizes[block] = size
    return n


@lean_kernel(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1])"
)
def add_moves(variables, strides, pairs, move_starts, code_starts, code_steps, states, out_moves):
    """For each pair of blocks and each cell of the first, its part in the place of the second."""
    for t in range(variables.size):
        v, pair = variables[t], pairs[t]
        for c in range(move_starts[pair + 1] - move_starts[pair]):
            code = states[code_starts[v] + code_steps[v] * c]
            out_moves[move_starts[pair] + c] += strides[t] * code
