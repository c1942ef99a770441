"""Where chains begin: in likely states far from each other, and in states drawn at random.

The first chain begins in a state that is grown along the links, the second in its opposite; both
then climb to a local maximum (`chain_starts_kernels`). These find narrow and deep maxima. Further
chains begin anywhere, all states alike, which finds broad ones.

    height(x) = log of the product of all factors at x

An opposite that lies far below is no start: it would show nothing but how long a chain can stay in
a state that does not matter. If it lies as high, chains should come near both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.graphical.inference.blocks import Blocks
from novum.graphical.inference.chain_layout import ChainLayout
from novum.graphical.models.arrays import Floats, Positions

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

    cells: tuple[Positions, ...]
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


def _maxima(blocks: Blocks, layout: ChainLayout) -> tuple[Positions, Positions, float]:
    """A grown state and its opposite, both after climbing, and how far apart their heights are."""
    from novum.graphical.inference.chain_starts_kernels import (
        climb_state,
        grow_state,
        oppose_state,
    )

    cell_starts, states = blocks.cell_starts, layout.states
    with np.errstate(divide="ignore"):
        log_inside, log_tables = np.log(blocks.inside), np.log(blocks.left.tables)
    reading = log_inside, *layout.sweeping[1:10], log_tables, *states
    logs = np.empty(int(np.diff(cell_starts).max()))
    grown, queue = np.empty((2, blocks.n_blocks), np.int64)
    grow_state(*reading, queue, logs, grown)
    climb_state(*reading, ROUNDS, logs, grown)
    opposed = grown.copy()
    oppose_state(cell_starts, *states, np.empty(len(log_inside), np.int64), opposed)
    climb_state(*reading, ROUNDS, logs, opposed)
    if (grown == opposed).all():
        return grown, opposed, math.inf
    return grown, opposed, abs(_height(blocks, states, opposed) - _height(blocks, states, grown))


def _height(blocks: Blocks, states: tuple[Positions, ...], cells: Positions) -> float:
    from novum.graphical.inference.chain_jumps_kernels import log_weight

    left = blocks.left
    block_of, code_starts, code_steps, flat = states
    codes = flat[code_starts + code_steps * cells[block_of]]
    tables = left.scope_starts, left.scopes, left.strides, left.table_starts, left.tables
    return float(log_weight(np.arange(left.n_factors), *tables, codes))
