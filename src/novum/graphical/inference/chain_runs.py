"""Several Markov chains over blocks of variables, and what they say: shared by the samplers.

Kept sweeps are averaged in batches as they come, so that memory does not grow with their number.
The means of batches are a chain themselves, and its autocorrelation gives the error of the mean.

    error of a cell     from the effective size of its batch means, all chains together
    effective size      p (1 - p) / error^2 of the worst cell
    R-hat               between and within chains, of the worst cell
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.interrupts import Pacer, time_sliced
from novum.core.memory import check_memory
from novum.core.randomness import RandomSource, stream
from novum.distributions.joint_table_states import check_cells
from novum.graphical.inference.blocks import Blocks, blocks_of, determined
from novum.graphical.inference.chain_diagnosis import monte_carlo_error, split_r_hat
from novum.graphical.inference.flat_factors import FlatFactors
from novum.graphical.inference.plain_junction import with_observed
from novum.graphical.inference.protocol import Beliefs, Diagnosis, Engine
from novum.graphical.inference.settings import check_count
from novum.graphical.inference.weighted_rows import HALF_A_ROW, impossible_cells, worst_size
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays

# Batches of a chain: enough to see how they depend on each other.
BATCHES = 128
# What the method's own checks accept.
HIGHEST_R_HAT = 1.05
LEAST_SIZE = 100
# A link this strong between blocks can hide a part of the states from all chains alike.
HIDING = 1e4


@dataclass(frozen=True, eq=False)
class Draws:
    """Means of batches, of shape (n_chains, n_batches, n_cells), and how many moves were made."""

    batches: Floats
    joint: Floats
    lengths: Floats
    moved: float


class ChainSampling(Engine):
    """An engine that runs several chains; subclasses say how a block is updated."""

    sweeps: int
    burn_in: int
    thin: int
    chains: int
    block_cells: int
    random_state: RandomSource
    method = ""
    is_metropolis = False

    def __post_init__(self) -> None:
        check_count("sweeps", self.sweeps)
        check_count("burn_in", self.burn_in, least=0)
        check_count("thin", self.thin)
        check_count("chains", self.chains)
        check_count("block_cells", self.block_cells)
        if self.burn_in >= self.sweeps:
            raise InputError(
                f"burn_in={self.burn_in} leaves nothing of sweeps={self.sweeps}: the sweeps of a "
                "chain include those thrown away at its start. Give more sweeps."
            )
        if self.kept < 8:
            raise InputError(
                f"Only {self.kept} sweeps of a chain are kept, by sweeps={self.sweeps}, "
                f"burn_in={self.burn_in} and thin={self.thin}; at least 8 are needed to judge them."
            )

    @property
    def kept(self) -> int:
        """Sweeps of a chain that count."""
        return (self.sweeps - self.burn_in) // self.thin

    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        asked = list(range(model.n_variables - model.n_hidden) if variables is None else variables)
        left, evidence = determined(model, evidence, None if variables is None else asked)
        blocks = blocks_of(left, self.block_cells)
        draws = self._run(blocks, ())
        place = {int(variable): at for at, variable in enumerate(left.variables)}
        columns = _by_variable(blocks, draws.batches)
        series = [
            columns[..., left.cell_starts[place[v]] : left.cell_starts[place[v] + 1]]
            if v in place
            else None
            for v in asked
        ]
        return self._beliefs(model, evidence, [(v,) for v in asked], series, draws, blocks, 0)

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        if len(variables) == 1:
            return self.marginals(model, evidence, variables)
        check_cells([int(model.cards[variable]) for variable in variables])
        left, evidence = determined(model, evidence, variables)
        blocks = blocks_of(left, self.block_cells)
        place = {int(variable): at for at, variable in enumerate(left.variables)}
        free = [place[v] for v in variables if evidence.codes[v] < 0]
        draws = self._run(blocks, free)
        counted = 1.0 / (self.kept * self.chains)
        return self._beliefs(
            model, evidence, [tuple(variables)], [draws.joint], draws, blocks, counted
        )

    # Running

    def _run(self, blocks: Blocks, free: Sequence[int]) -> Draws:
        from novum.graphical.inference.chain_runs_kernels import run_chain, start_chain

        arrays = _kernel_arrays(blocks)
        ends = np.linspace(0, self.kept, min(BATCHES, self.kept) + 1).astype(np.int64)[1:]
        asked_blocks, places, n_joint = _asked(blocks, free)
        n_cells = int(blocks.cell_starts[-1])
        check_memory(
            16 * self.chains * len(ends) * (n_cells + n_joint),
            f"{self.method} with {n_cells + n_joint} joint states to keep count of",
            "Ask for fewer variables at once, or run fewer chains.",
        )
        batches = np.zeros((self.chains, len(ends), n_cells))
        joint = np.zeros((self.chains, len(ends), n_joint))
        weights = np.empty(max(map(len, blocks.states), default=1))
        keys = stream(self.random_state, "chains").integers(
            0, 2**64, (self.chains, 2), dtype=np.uint64
        )
        moved, pacer = 0, Pacer()
        for chain, (start_key, key) in enumerate(keys):
            bases = np.empty(blocks.left.n_factors, np.int64)
            cells = np.empty(blocks.n_blocks, np.int64)
            start_chain(*arrays[1:6], blocks.left.table_starts, start_key, bases, cells)
            for start, stop in time_sliced(self.sweeps, block=16, pacer=pacer):
                moved += run_chain(
                    *arrays, bases, cells, key, self.is_metropolis, start, stop, self.burn_in,
                    self.thin, ends, asked_blocks, places, weights, batches[chain], joint[chain],
                )  # fmt: skip
        lengths = np.diff(ends, prepend=0).astype(np.float64)
        batches /= lengths[:, np.newaxis]
        joint /= lengths[:, np.newaxis]
        return Draws(batches, joint, lengths, moved / max(1, self._proposals(blocks)))

    def _proposals(self, blocks: Blocks) -> int:
        return self.sweeps * self.chains * sum(len(cells) > 1 for cells in blocks.states)

    # Judging

    def _beliefs(
        self,
        model: ModelArrays,
        evidence: Evidence,
        targets: Sequence[Sequence[int]],
        series: Sequence[Floats | None],
        draws: Draws,
        blocks: Blocks,
        counted: float,
    ) -> Beliefs:
        """Tables, errors and the verdict; `counted` is the weight of a sweep that is counted."""
        floor = HALF_A_ROW / (self.kept * self.chains) if counted or self.is_metropolis else 0.0
        moving = [part for part in series if part is not None]
        cells = np.concatenate(moving, axis=-1) if moving else np.zeros((1, 4, 0))
        means = np.average(cells, axis=1, weights=draws.lengths).mean(axis=0) if moving else cells
        # Whole halves of chains are needed.
        errors, r_hats = monte_carlo_error(cells), split_r_hat(cells)
        tables, stated, at = [], [], 0
        for target, part in zip(targets, series, strict=True):
            width = 0 if part is None else part.shape[-1]
            shape = [int(model.cards[v]) for v in target if evidence.codes[v] < 0]
            free = [v for v in target if evidence.codes[v] < 0]
            table = means[at : at + width].reshape(shape) if width else np.ones(())
            error = errors[at : at + width].reshape(shape) if width else np.zeros(())
            at += width
            table = table / table.sum()
            tables.append(with_observed(model, evidence, target, free, table))
            whole = with_observed(model, evidence, target, free, np.maximum(error, floor))
            fixed = impossible_cells(model, evidence, target)
            stated.append(np.where(fixed, 0.0, whole))
        size = worst_size(tables, stated, float(self.kept * self.chains))
        r_hat = float(np.max(r_hats, initial=1.0))
        diagnosis = self._diagnosis(tuple(stated), size, r_hat, draws, blocks)
        return Beliefs(tuple(tables), None, diagnosis)

    def _diagnosis(
        self,
        errors: tuple[Floats, ...],
        size: float,
        r_hat: float,
        draws: Draws,
        blocks: Blocks,
    ) -> Diagnosis:
        found = self._faults(size, r_hat, blocks)
        total = self.sweeps * self.chains
        said = (
            f"{self.method}: {self.chains} chain{'s' * (self.chains > 1)} of {self.sweeps} sweeps, "
            f"R-hat {r_hat:.3g}, worth about {size:.0f} independent rows."
        )
        if self.is_metropolis:
            said += f" {draws.moved:.0%} of the updates moved."
        if found:
            said += f" Not to be trusted: {'; '.join(found)}. Use JunctionTree() or more sweeps."
        return Diagnosis(self.method, not found, said, total, errors, size, r_hat)

    def _faults(self, size: float, r_hat: float, blocks: Blocks) -> list[str]:
        found = []
        if r_hat > HIGHEST_R_HAT:
            found.append("the chains, or their halves, do not agree with each other")
        if size < LEAST_SIZE:
            found.append(f"they are worth fewer than {LEAST_SIZE} independent rows")
        if self.chains == 1 and blocks.n_blocks > 1:
            found.append("one chain cannot show whether others would agree")
        if blocks.strongest > HIDING:
            found.append(
                f"probabilities that differ by a factor of {blocks.strongest:.1g} can keep all "
                "chains away from the same states"
            )
        return found


def _kernel_arrays(blocks: Blocks) -> tuple[Any, ...]:
    return (
        blocks.inside,
        blocks.cell_starts,
        blocks.link_starts,
        blocks.link_factors,
        blocks.delta_starts,
        blocks.deltas,
        blocks.left.tables,
    )


def _asked(blocks: Blocks, free: Sequence[int]) -> tuple[Any, Any, int]:
    """Blocks of the variables of a joint table, and each cell's part in the place of a state."""
    cards = [int(blocks.left.cards[variable]) for variable in free]
    places = np.zeros(int(blocks.cell_starts[-1]), np.int64)
    found = []
    for block, (own, states) in enumerate(zip(blocks.members, blocks.states, strict=True)):
        cells = slice(blocks.cell_starts[block], blocks.cell_starts[block + 1])
        inside = [(axis, v) for axis, v in enumerate(free) if v in own]
        if inside:
            found.append(block)
        for axis, variable in inside:
            stride = int(np.prod(cards[axis + 1 :], dtype=np.int64))
            places[cells] += stride * states[:, int(np.flatnonzero(own == variable)[0])]
    return np.array(found, np.int64), places, int(np.prod(cards, dtype=np.int64)) if free else 0


def _by_variable(blocks: Blocks, batches: Floats) -> Floats:
    """Sums over the cells of blocks that give each state of each variable."""
    from scipy.sparse import csr_array

    left: FlatFactors = blocks.left
    rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for block, (own, states) in enumerate(zip(blocks.members, blocks.states, strict=True)):
        rows.append((left.cell_starts[own] + states).ravel())
        cells = np.arange(blocks.cell_starts[block], blocks.cell_starts[block + 1])
        columns.append(np.repeat(cells, len(own)))
    places = np.concatenate(rows), np.concatenate(columns)
    shape = (int(left.cell_starts[-1]), batches.shape[-1])
    if not shape[0]:
        return batches
    sums = csr_array((np.ones(len(places[0])), places), shape=shape)
    flat = batches.reshape(-1, batches.shape[-1])
    return np.asarray((sums @ flat.T).T).reshape(*batches.shape[:2], shape[0])
