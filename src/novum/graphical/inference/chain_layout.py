"""What a chain over blocks works with: rows of probabilities, places in them, and jumps.

The probabilities of a block's cells depend on the states of its *blanket*, the other variables of
its factors. A block whose blanket has few joint states keeps a row for each of them,

    place of the row = sum over blanket variables of stride * state

and each block that holds a variable of the blanket is a *sender*, which moves that place when it
changes. A *jump* goes to a whole state drawn anew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.graphical.inference.blocks import Blocks
from novum.graphical.inference.flat_factors import starts_of
from novum.numerics import Floats, Integers

# Cells of all rows that one block keeps, and that all keep together.
MOST_KEPT = 2**12
MOST_IN_ALL = 2**21
NOTHING: Integers = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class ChainLayout:
    """Arrays of a chain, in the tuples that kernels take.

    Attributes
    ----------
    model : tuple
        Blocks, links and tables, which give the weights of cells.
    states : tuple
        Which state a variable has in a cell of its block.
    sending : tuple
        Which rows a block moves, and by how much.
    rows : tuple
        Where the rows of a block start, and whether it keeps them.
    working : tuple
        Cells, places of rows, and rows: what a sweep writes.
    jumping : tuple
        How a jump finds cells by their states, and room to work; the first is empty without jumps.
    sources, targets : int64 arrays
        Cells of blocks, and the states of variables that they are part of.
    """

    model: tuple[Any, ...]
    states: tuple[Integers, ...]
    sending: tuple[Integers, ...]
    rows: tuple[Any, ...]
    working: tuple[Any, ...]
    jumping: tuple[Any, ...]
    sources: Integers
    targets: Integers

    @property
    def can_jump(self) -> bool:
        return len(self.jumping[0]) > 0

    def cells_at(self, cell_starts: Integers, codes: Integers) -> Integers:
        """The cell of each block at states of all variables that are possible together."""
        radixes, keys = self.jumping[:2]
        block_of = self.states[0]
        own = np.zeros(len(cell_starts) - 1, np.int64)
        np.add.at(own, block_of, radixes * codes)
        ends = zip(own, cell_starts[:-1], cell_starts[1:], strict=True)
        return np.array([np.searchsorted(keys[a:b], key) for key, a, b in ends], np.int64)


def chain_layout(blocks: Blocks, n_bases: int = 0) -> ChainLayout:
    """Lays out the blocks of a model for its chains.

    Parameters
    ----------
    blocks : Blocks
    n_bases : int
        Parts of a bucket of the proposal, at most.
    """
    left = blocks.left
    members = np.concatenate([NOTHING, *blocks.members])
    counts = np.array([len(own) for own in blocks.members], np.int64)
    n_cells = np.diff(blocks.cell_starts)
    flat = np.concatenate([NOTHING, *(states.ravel() for states in blocks.states)])
    state_starts, member_starts = starts_of(counts * n_cells), starts_of(counts)
    block_of, code_starts, code_steps = np.zeros((3, left.n_variables), np.int64)
    block_of[members] = owners = np.repeat(np.arange(blocks.n_blocks), counts)
    within = np.arange(len(members)) - member_starts[owners]
    code_starts[members] = state_starts[owners] + within
    code_steps[members] = counts[owners]
    states = block_of, code_starts, code_steps, flat
    sending, row_starts, row_sizes = _senders(blocks, states)
    n_rows = int(row_starts[-1]) + int(n_cells.max(initial=1))
    model = (
        *(blocks.inside, blocks.cell_starts, blocks.link_starts, blocks.link_factors),
        *(blocks.delta_starts, blocks.deltas),
        *(left.scope_starts, left.scopes, left.strides, left.table_starts, left.tables),
    )
    # Those that keep no rows share one, at the end.
    rows = np.where(row_sizes > 0, row_starts[:-1], row_starts[-1]), row_sizes > 0
    working = (
        *np.zeros((2, blocks.n_blocks), np.int64),
        np.empty(left.n_factors, np.int64),
        np.zeros(n_rows, np.bool_),
        np.empty(n_rows),
    )
    cell_of = np.repeat(np.arange(len(blocks.inside)), np.repeat(counts, n_cells))
    owners = np.repeat(np.arange(blocks.n_blocks), counts * n_cells)
    within = (np.arange(len(flat)) - state_starts[owners]) % counts[owners]
    targets = left.cell_starts[members[member_starts[owners] + within]] + flat
    jumping = _jumping(blocks, n_bases)
    return ChainLayout(model, states, sending, rows, working, jumping, cell_of, targets)


def _senders(
    blocks: Blocks, states: tuple[Integers, ...]
) -> tuple[tuple[Integers, ...], Integers, Integers]:
    """For each block those whose rows it moves and by how much; where rows start; their cells."""
    from novum.graphical.inference.chain_layout_kernels import add_moves, find_blankets

    left, n_blocks = blocks.left, blocks.n_blocks
    block_of = states[0]
    widths = np.diff(left.scope_starts)
    most = min(MOST_KEPT, MOST_IN_ALL // max(1, n_blocks))
    receiver, variable, stride = np.empty((3, int(widths[blocks.link_factors].sum())), np.int64)
    sizes = np.zeros(n_blocks, np.int64)
    n = find_blankets(
        left.cards, left.scope_starts, left.scopes, block_of, blocks.cell_starts,
        blocks.link_starts, blocks.link_factors, most, np.full(left.n_variables, -1),
        receiver, variable, stride, sizes,
    )  # fmt: skip
    receiver, variable, stride = receiver[:n], variable[:n], stride[:n]
    sender = block_of[variable]
    order = np.lexsort((receiver, sender))
    receiver, variable, stride, sender = (a[order] for a in (receiver, variable, stride, sender))
    is_new = np.ones(n, np.bool_)
    is_new[1:] = (sender[1:] != sender[:-1]) | (receiver[1:] != receiver[:-1])
    senders = sender[is_new]
    sender_starts = np.searchsorted(senders, np.arange(n_blocks + 1))
    move_starts = starts_of(np.diff(blocks.cell_starts)[senders])
    moves = np.zeros(int(move_starts[-1]), np.int64)
    add_moves(variable, stride, np.cumsum(is_new) - 1, move_starts, states, moves)
    return (sender_starts, receiver[is_new], move_starts, moves), starts_of(sizes), sizes


def _jumping(blocks: Blocks, n_bases: int) -> tuple[Integers, ...]:
    """How cells are found by their states; without it where the states of a block are too many."""
    left = blocks.left
    work = np.empty(left.n_variables, np.int64), np.empty(max(blocks.n_blocks, n_bases), np.int64)
    products = [math.prod(left.cards[own].tolist()) for own in blocks.members]
    if max(products, default=1) >= 2**62:
        return (NOTHING, NOTHING, *work)
    radixes = np.ones(left.n_variables, np.int64)
    keys = [NOTHING]
    for own, cells in zip(blocks.members, blocks.states, strict=True):
        radixes[own[:-1]] = np.cumprod(left.cards[own[:0:-1]])[::-1]
        keys.append(cells @ radixes[own])
    return (radixes, np.concatenate(keys), *work)


# --- Starts ---------------------------------------------------------------------------------------
# Where chains begin: in likely states far from each other, and in states drawn at random.
#
# The first chain begins in a state that is grown along the links, the second in its opposite; both
# then climb to a local maximum (`chain_layout_kernels`). These find narrow and deep maxima. Further
# chains begin anywhere, all states alike, which finds broad ones.
#
#     height(x) = log of the product of all factors at x
#
# An opposite that lies far below is no start: it would show nothing but how long a chain can stay
# in a state that does not matter. If it lies as high, chains should come near both.


# Rounds of climbing at most; most states have settled after a few.
ROUNDS = 32
# Maxima lower by this are left alone (in logarithms).
NEGLIGIBLE = 30.0
# Probabilities of a maximum that are too small to be looked for.
LEAST_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class Starts:
    """Cells of all blocks at which chains begin, and two of them to compare.

    Attributes
    ----------
    cells : tuple of int64 arrays
        One for each chain; the first two are the grown state and its opposite, if there is one.
    drop : float
        How much lower the lower of these two is; infinite where there is no opposite.
    """

    cells: tuple[Integers, ...]
    drop: float

    def share_missed(self, blocks: Blocks, batches: Floats) -> float:
        """Probability that a maximum should have though chains hardly came near; 0 where they did.

        Heights leave open how broad a maximum is, so a tenth of the share that they promise is
        enough.

        Parameters
        ----------
        batches : float64 array (n_chains, n_batches, n_cells)
            Sums of probabilities of the cells of all blocks.
        """
        share = 1.0 / (1.0 + math.exp(min(self.drop, NEGLIGIBLE)))
        if share < LEAST_SHARE:
            return 0.0
        grown, opposed = self.cells[:2]
        apart = np.flatnonzero(grown != opposed)
        first = blocks.cell_starts[apart]
        sums = batches[..., first + grown[apart]] - batches[..., first + opposed[apart]]
        nearer = sums.sum(axis=-1)
        seen = min(np.mean(nearer > 0), np.mean(nearer < 0))
        return share if seen < share / 10 else 0.0


def chain_starts(blocks: Blocks, layout: ChainLayout, keys: Any) -> Starts:
    """Where each chain begins.

    Parameters
    ----------
    keys : sequence of uint64
        One for each chain.
    """
    from novum.graphical.inference.chain_runs_kernels import start_chain

    starts = [np.empty(blocks.n_blocks, np.int64) for _ in keys]
    for key, cells in zip(keys, starts, strict=True):
        start_chain(blocks.cell_starts, key, cells)
    drop = math.inf
    if blocks.n_blocks > 1 and len(keys) > 1:
        starts[0], opposed, drop = _maxima(blocks, layout)
        if drop < NEGLIGIBLE:
            starts[1] = opposed
    return Starts(tuple(starts), drop)


def _maxima(blocks: Blocks, layout: ChainLayout) -> tuple[Integers, Integers, float]:
    """A grown state and its opposite, both after climbing, and how far apart their heights are."""
    from novum.graphical.inference.chain_layout_kernels import climb_state, grow_state, oppose_state

    cell_starts, states = blocks.cell_starts, layout.states
    with np.errstate(divide="ignore"):
        log_inside, log_tables = np.log(blocks.inside), np.log(blocks.left.tables)
    log_model = log_inside, *layout.model[1:10], log_tables
    logs = np.empty(int(np.diff(cell_starts).max()))
    grown, queue = np.empty((2, blocks.n_blocks), np.int64)
    grow_state(log_model, states, queue, logs, grown)
    climb_state(log_model, states, ROUNDS, logs, grown)
    opposed = grown.copy()
    oppose_state(cell_starts, states, np.empty(len(log_inside), np.int64), opposed)
    climb_state(log_model, states, ROUNDS, logs, opposed)
    if (grown == opposed).all():
        return grown, opposed, math.inf
    return grown, opposed, abs(_height(blocks, states, opposed) - _height(blocks, states, grown))


def _height(blocks: Blocks, states: tuple[Integers, ...], cells: Integers) -> float:
    from novum.graphical.inference.chain_runs_kernels import log_weight

    left = blocks.left
    block_of, code_starts, code_steps, flat = states
    codes = flat[code_starts + code_steps * cells[block_of]]
    tables = left.scope_starts, left.scopes, left.strides, left.table_starts, left.tables
    return float(log_weight(np.arange(left.n_factors), *tables, codes))
