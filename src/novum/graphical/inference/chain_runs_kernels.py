"""Sweeps over blocks of variables: Gibbs updates and Metropolis steps.

    weight of cell c of a block  =  inside[c] * product over links j of table_j[base_j + delta_j[c]]

where `base_j` is the place in the table of factor j that the other blocks' states give. The
weights, over their sum, are a row of probabilities that depends on the blanket only: blocks with
small blankets keep their rows, each computed when it is first met, and know the place of the
present one, which moves when a block of the blanket changes.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.graphical.inference.chain_layout_kernels import MODEL, STATES
from novum.numerics import chance, chance_word, inner_kernel, lean_kernel

# sender_starts, receivers, move_starts, moves
SENDING = "UniTuple(int64[::1], 4)"
# row_starts, keeps_rows
ROWS = "Tuple((int64[::1], boolean[::1]))"
# cells, places of rows, bases of factors, whether rows are filled, and their chances
WORKING = "Tuple((int64[::1], int64[::1], int64[::1], boolean[::1], float64[::1]))"
# radixes, cell_keys; room for codes and keys
JUMPING = "UniTuple(int64[::1], 4)"
# split_cards, part_starts, context_starts, contexts, context_strides, logs, part_rows
SPLIT = (
    "Tuple((int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], int64[::1]))"
)
# states and their log-weights, one after the other, and the sweep of the first
OFFERS = "Tuple((int32[:,::1], float64[::1], int64))"
# burn-in, of how many sweeps one is kept, and of how many one begins with a jump; for each batch
# the number of kept sweeps up to its end
SCHEDULE = "Tuple((int64, int64, int64, int64[::1]))"
# blocks of a joint table, and the part of each cell in the place of a state
ASKED = "UniTuple(int64[::1], 2)"

# Below this the sum of weights has lost digits to underflow, and logarithms are used.
_LOW = 1e-280


@inner_kernel()
def fill_row(block, at, model, states, cells, bases, out_chances):
    """Probabilities of the cells of a block given all others, from `at` on."""
    inside, cell_starts, link_starts, link_factors, delta_starts, deltas = model[:6]
    scope_starts, scopes, strides, table_starts, tables = model[6:]
    block_of, code_starts, code_steps, codes = states
    first = cell_starts[block]
    n = cell_starts[block + 1] - first
    for c in range(n):
        out_chances[at + c] = inside[first + c]
    for j in range(link_starts[block], link_starts[block + 1]):
        f = link_factors[j]
        base = table_starts[f]
        for edge in range(scope_starts[f], scope_starts[f + 1]):
            v = scopes[edge]
            if block_of[v] != block:
                code = codes[code_starts[v] + code_steps[v] * cells[block_of[v]]]
                base += strides[edge] * code
        bases[f] = base
        for c in range(n):
            out_chances[at + c] *= tables[base + deltas[delta_starts[j] + c]]
    total = 0.0
    for c in range(n):
        total += out_chances[at + c]
    if total <= _LOW:
        top = -np.inf
        for c in range(n):
            log = math.log(inside[first + c])
            for j in range(link_starts[block], link_starts[block + 1]):
                log += math.log(tables[bases[link_factors[j]] + deltas[delta_starts[j] + c]])
            out_chances[at + c] = log
            top = max(top, log)
        total = 0.0
        for c in range(n):
            out_chances[at + c] = math.exp(out_chances[at + c] - top)
            total += out_chances[at + c]
    for c in range(n):
        out_chances[at + c] /= total


@inner_kernel()
def draw_cell(u, at, n, chances):
    """The cell that a number from 0 to 1 falls on."""
    chosen = 0
    while chosen < n - 1 and u >= chances[at + chosen]:
        u -= chances[at + chosen]
        chosen += 1
    # Rounding may lead past the last possible cell.
    while chances[at + chosen] == 0.0:
        chosen -= 1
    return chosen


@inner_kernel()
def sweep_blocks(model, states, sending, rows, working, key, sweep, metropolis, kept, out_sums):
    """Updates each block given all others, and counts moves; a kept sweep adds the probabilities.

    Gibbs draws from them. Metropolis proposes one of the cells, all alike, the present one too.
    """
    cell_starts = model[1]
    sender_starts, receivers, move_starts, moves = sending
    row_starts, keeps_rows = rows
    cells, places, bases, filled, chances = working
    n_blocks = cells.size
    moved = 0
    for block in range(n_blocks):
        first = cell_starts[block]
        n = cell_starts[block + 1] - first
        at = row_starts[block] + places[block]
        if not filled[at]:
            fill_row(block, at, model, states, cells, bases, chances)
            filled[at] = keeps_rows[block]
        old = cells[block]
        draw = sweep * np.uint64(n_blocks) + np.uint64(block)
        if metropolis:
            u = chance(key, draw * np.uint64(2)) * n
            chosen = np.int64(u)
            gain = chance(key, draw * np.uint64(2) + np.uint64(1)) * chances[at + old]
            if gain >= chances[at + chosen] and chances[at + old] > 0.0:
                chosen = old
        else:
            chosen = draw_cell(chance(key, draw), at, n, chances)
        if kept:
            for c in range(n):
                out_sums[first + c] += chances[at + c]
        if chosen != old:
            moved += 1
            cells[block] = chosen
            for pair in range(sender_starts[block], sender_starts[block + 1]):
                move = move_starts[pair]
                places[receivers[pair]] += moves[move + chosen] - moves[move + old]
    return moved


@lean_kernel(
    f"void({MODEL}, {STATES}, {SENDING}, {ROWS}, {WORKING}, {JUMPING}, {SPLIT}, {OFFERS},"
    f" uint64[::1], boolean, UniTuple(int64, 2), {SCHEDULE}, {ASKED}, float64[:,::1],"
    " float64[:,::1], int64[::1])"
)
def run_chain(
    model, states, sending, rows, working, jumping, split, offers, keys, metropolis, sweeps,
    schedule, asked, out_batches, out_joint, out_counts,
):  # fmt: skip
    """Sweeps of one chain from the first to before the second of `sweeps`.

    Kept ones are added to their batch. `keys` are those of draws and of jumps. `out_counts`: moves
    of blocks, and jumps accepted after the burn-in.
    """
    burn_in, thin, jump_every, ends = schedule
    offered_codes, offered_logs, first_offered = offers
    asked_blocks, asked_places = asked
    cells = working[0]
    batch = 0
    for sweep in range(sweeps[0], sweeps[1]):
        after = sweep - burn_in
        kept = after >= 0 and (after + 1) % thin == 0 and (after + 1) // thin <= ends[-1]
        if kept:
            while ends[batch] < (after + 1) // thin:
                batch += 1
        if jump_every > 0 and sweep % jump_every == 0:
            number = (sweep - first_offered) // jump_every
            u = chance(keys[1], np.uint64(sweep))
            offer = offered_codes[number]
            if jump(model, states, jumping, split, offer, offered_logs[number], u, cells):
                place_rows(sending, cells, working[1])
                out_counts[1] += after >= 0
        out_counts[0] += sweep_blocks(
            model, states, sending, rows, working, keys[0], np.uint64(sweep), metropolis, kept,
            out_batches[batch],
        )  # fmt: skip
        if kept and asked_blocks.size > 0:
            at = 0
            for block in asked_blocks:
                at += asked_places[model[1][block] + cells[block]]
            out_joint[batch, at] += 1.0


@lean_kernel("void(int64[::1], uint64, int64[::1])")
def start_chain(cell_starts, key, out_cells):
    """Every block at one of its cells, all alike: starts far from each other."""
    for block in range(out_cells.size):
        n = cell_starts[block + 1] - cell_starts[block]
        out_cells[block] = np.int64(chance_word(key, np.uint64(block)) % np.uint64(n))


@lean_kernel("void(float64[:,:,::1], int64[::1], int64[::1], float64[:,:,::1])")
def add_cells(batches, sources, targets, out_batches):
    """Adds cells `sources` of all batches of all chains to cells `targets`."""
    for chain in range(batches.shape[0]):
        for batch in range(batches.shape[1]):
            for i in range(sources.size):
                out_batches[chain, batch, targets[i]] += batches[chain, batch, sources[i]]


# --- Jumps ----------------------------------------------------------------------------------------
# Jumps of a chain to a state drawn anew, by bounded elimination (`mini_buckets`).
#
#     accept x' with probability  min(1, w(x') / w(x)),     w(x) = P(x, e) / q(x) / U  <=  1
#
# (the independence sampler of Tierney 1994). What is proposed does not depend on the present state,
# so an accepted jump forgets it, whatever lies between the two. From any state a jump is accepted
# with at least the mean of w: with m of it, after n jumps all but (1 - m)^n of the start is
# forgotten (Mengersen and Tweedie 1996).


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


@inner_kernel()
def proposal_weight(split, codes, bases):
    """Logarithm of the weight that a row of bounded elimination would have at a state.

    The sum over the buckets that were split of log G (`mini_buckets`); -inf where one is 0.
    """
    split_cards, part_starts, context_starts, contexts, context_strides, logs, part_rows = split
    total = 0.0
    for s in range(split_cards.size):
        first, n_parts = part_starts[s], part_starts[s + 1] - part_starts[s]
        for r in range(n_parts):
            at = part_rows[first + r]
            for axis in range(context_starts[first + r], context_starts[first + r + 1]):
                at += context_strides[axis] * codes[contexts[axis]]
            bases[r] = at
        top = -np.inf
        for k in range(split_cards[s]):
            log = 0.0
            for r in range(n_parts):
                log += logs[bases[r] + k]
            top = max(top, log)
        if top == -np.inf:
            return top
        part_sum = 0.0
        for k in range(split_cards[s]):
            log = 0.0
            for r in range(n_parts):
                log += logs[bases[r] + k]
            part_sum += math.exp(log - top)
        total += top + math.log(part_sum)
    return total


@inner_kernel()
def jump(model, states, jumping, split, offered_codes, offered, u, out_cells):
    """Offers a state drawn anew, of log-weight `offered`; whether it was accepted.

    `radixes` make one number of the states of a block's variables, by which `cell_keys` ascend.
    """
    if offered == -np.inf:
        return False
    cell_starts = model[1]
    block_of, code_starts, code_steps, flat = states
    radixes, cell_keys, codes, keys = jumping
    n_variables = codes.size
    for v in range(n_variables):
        codes[v] = flat[code_starts[v] + code_steps[v] * out_cells[block_of[v]]]
    present = proposal_weight(split, codes, keys)
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


@lean_kernel(f"void({SENDING}, int64[::1], int64[::1])")
def place_rows(sending, cells, out_places):
    """The place of each block's row of probabilities, from the cells of its blanket."""
    sender_starts, receivers, move_starts, moves = sending
    for block in range(out_places.size):
        out_places[block] = 0
    for block in range(cells.size):
        for pair in range(sender_starts[block], sender_starts[block + 1]):
            out_places[receivers[pair]] += moves[move_starts[pair] + cells[block]]
