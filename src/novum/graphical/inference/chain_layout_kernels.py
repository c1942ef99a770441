"""Blankets of blocks, and how far each change of a block moves the rows of others."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics import inner_kernel, lean_kernel

# inside, cell_starts, link_starts, link_factors, delta_starts, deltas of blocks; scope_starts,
# scopes, strides, table_starts, tables of factors: what the weights of cells are computed from
MODEL = (
    "Tuple((float64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], float64[::1]))"
)
# block_of, code_starts, code_steps, codes: the state of a variable in a cell of its block
STATES = "UniTuple(int64[::1], 4)"


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


@lean_kernel(f"void(int64[::1], int64[::1], int64[::1], int64[::1], {STATES}, int64[::1])")
def add_moves(variables, strides, pairs, move_starts, states, out_moves):
    """For each pair of blocks and each cell of the first, its part in the place of the second."""
    _, code_starts, code_steps, codes = states
    for t in range(variables.size):
        v, pair = variables[t], pairs[t]
        for c in range(move_starts[pair + 1] - move_starts[pair]):
            code = codes[code_starts[v] + code_steps[v] * c]
            out_moves[move_starts[pair] + c] += strides[t] * code


# --- Starts ---------------------------------------------------------------------------------------
# States in which chains begin: likely ones that lie far from each other.
#
#     grown     one block after the other, neighbors first, is set to its best cell given those set
#     opposed   every block leaves that cell, with as many of its variables as possible
#     climbed   each block goes to its best cell given all others, until none moves
#
# Where links hold many variables in place together, grown and opposed states climb to different
# maxima, between which single updates hardly lead; chains that begin there and meet have mixed.


# No block has a cell yet.
UNSET = -1
# Gains below this are rounding.
_ROUNDING = 1e-9


@inner_kernel()
def best_cell(block, log_model, states, cells, logs):
    """The likeliest cell given the others; its own where none is likelier, else the first.

    Links to blocks that are not set are left out.
    """
    log_inside, cell_starts, link_starts, link_factors, delta_starts, deltas = log_model[:6]
    scope_starts, scopes, strides, table_starts, log_tables = log_model[6:]
    block_of, code_starts, code_steps, codes = states
    first = cell_starts[block]
    n = cell_starts[block + 1] - first
    for c in range(n):
        logs[c] = log_inside[first + c]
    for j in range(link_starts[block], link_starts[block + 1]):
        f = link_factors[j]
        base = table_starts[f]
        for edge in range(scope_starts[f], scope_starts[f + 1]):
            v = scopes[edge]
            if block_of[v] == block:
                continue
            if cells[block_of[v]] == UNSET:
                base = -1
                break
            code = codes[code_starts[v] + code_steps[v] * cells[block_of[v]]]
            base += strides[edge] * code
        if base >= 0:
            for c in range(n):
                logs[c] += log_tables[base + deltas[delta_starts[j] + c]]
    best = max(cells[block], 0)
    for c in range(n):
        if logs[c] > logs[best] + _ROUNDING:
            best = c
    return best


@lean_kernel(f"void({MODEL}, {STATES}, int64[::1], float64[::1], int64[::1])")
def grow_state(log_model, states, queue, logs, out_cells):
    """Sets the blocks one after the other, neighbors of those set first, each to its best cell."""
    link_starts, link_factors, scope_starts, scopes = log_model[2:4] + log_model[6:8]
    block_of = states[0]
    n_blocks = out_cells.size
    for block in range(n_blocks):
        out_cells[block] = UNSET
        queue[block] = -1
    for root in range(n_blocks):
        if out_cells[root] != UNSET:
            continue
        head, tail = 0, 1
        queue[0] = root
        out_cells[root] = best_cell(root, log_model, states, out_cells, logs)
        while head < tail:
            block = queue[head]
            head += 1
            for j in range(link_starts[block], link_starts[block + 1]):
                f = link_factors[j]
                for edge in range(scope_starts[f], scope_starts[f + 1]):
                    other = block_of[scopes[edge]]
                    if out_cells[other] == UNSET:
                        out_cells[other] = best_cell(other, log_model, states, out_cells, logs)
                        queue[tail] = other
                        tail += 1


@lean_kernel(f"void(int64[::1], {STATES}, int64[::1], int64[::1])")
def oppose_state(cell_starts, states, counts, out_cells):
    """Moves every block to the next cell that differs from its own in most variables."""
    block_of, code_starts, code_steps, codes = states
    for cell in range(counts.size):
        counts[cell] = 0
    for v in range(block_of.size):
        block = block_of[v]
        own = codes[code_starts[v] + code_steps[v] * out_cells[block]]
        for c in range(cell_starts[block + 1] - cell_starts[block]):
            counts[cell_starts[block] + c] += codes[code_starts[v] + code_steps[v] * c] != own
    for block in range(out_cells.size):
        first = cell_starts[block]
        n = cell_starts[block + 1] - first
        best = out_cells[block]
        for step in range(1, n):
            c = (out_cells[block] + step) % n
            if counts[first + c] > counts[first + best]:
                best = c
        out_cells[block] = best


@lean_kernel(f"void({MODEL}, {STATES}, int64, float64[::1], int64[::1])")
def climb_state(log_model, states, n_rounds, logs, out_cells):
    """Moves each block to its best cell given all others, until none moves, or `n_rounds` times."""
    for _ in range(n_rounds):
        moved = False
        for block in range(out_cells.size):
            best = best_cell(block, log_model, states, out_cells, logs)
            moved = moved or best != out_cells[block]
            out_cells[block] = best
        if not moved:
            break
