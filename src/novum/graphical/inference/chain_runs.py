"""Several Markov chains over blocks of variables, and what they say: shared by the samplers.

Kept sweeps are averaged in batches as they come, so that memory does not grow with their number.
The means of batches are a chain themselves, and its autocorrelation gives the error of the mean.

    error of a cell     from the effective size of its batch means, all chains together
    effective size      p (1 - p) / error^2 of the worst cell
    R-hat               between and within chains, of the worst cell

None of these can notice states that no chain has met. Chains therefore begin some sweeps with a
*jump* to a state drawn anew by bounded elimination (`mini_buckets`, `chain_runs_kernels`). Its
weights are at most 1, so from wherever a chain is, a jump is accepted with at least their mean:
the sum of the weights offered is a number of jumps that no hidden state can make a lie of. If it
is large enough, answers are proved, and no error is stated below what so many jumps can show. So
are Gibbs' where all links at a block add up to clearly less than 1 (Dobrushin). Zeros that tie too
many variables together stay between blocks; chains then begin in states that were drawn, and only
jumps connect them.

Without a proof, all variables must agree between chains from opposite maxima (`chain_layout`). For
pairs these show most of what there is to find; links of three variables and more can hide a state
without any slope that leads there, so where they add up nothing but a proof will do.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import Pacer, RandomSource, check_memory, stream, time_sliced
from novum.distributions import check_cells
from novum.graphical.inference.blocks import (
    STRONG,
    Blocks,
    MixingError,
    blocks_of,
    check_possible,
    determined,
)
from novum.graphical.inference.chain_diagnosis import LEAST_DRAWS, judged
from novum.graphical.inference.chain_layout import ChainLayout, Starts, chain_layout, chain_starts
from novum.graphical.inference.flat_factors import FlatFactors
from novum.graphical.inference.limits import check_count, check_seconds
from novum.graphical.inference.mini_buckets import MiniBuckets, mini_buckets
from novum.graphical.inference.protocol import Beliefs, Diagnosis, Engine, Trust, with_observed
from novum.graphical.inference.weighted_rows import TWO_ROWS, worst_size
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.numerics import Floats, Integers

# Batches of a chain: enough to see how they depend on each other.
BATCHES = 128
# What the method's own checks accept: R-hat, and independent rows for each chain (Vehtari et al.).
HIGHEST_R_HAT = 1.05
LEAST_SIZE = 100
# Of how many sweeps one begins with a jump, and jumps that show what links between blocks can hide.
JUMP_EVERY = 8
LEAST_JUMPS = 100
# Sweeps whose jumps are drawn together, a multiple of those between jumps.
OFFERED_SWEEPS = 4096
# Cells of a table that jumps are drawn from.
PROPOSAL_CELLS = 2**12
# Joint states that zeros may tie together where they cannot be had all, and states drawn to begin.
MOST_TIED = 256
STARTS_DRAWN = 256
# Of updating one block, on a reference machine.
SECONDS_PER_UPDATE = 4e-8
# The share of updates that must change something, where nothing else shows that chains move.
LEAST_MOVED = 0.005


@dataclass(frozen=True, eq=False)
class Draws:
    """Means of batches, of shape (n_chains, n_batches, n_cells), and how the chains moved.

    Attributes
    ----------
    states, joint : float64 arrays
        Of the states of all variables, and of a joint table.
    lengths : float64 array
        Sweeps of each batch.
    moved : float
        Share of the updates that changed a block.
    jumps : int
        Whole states drawn anew that were accepted, no more than are certain to be.
    contracts : bool
        Whether updates alone are proved to leave where they began.
    missed : float
        Without any proof the probability that a maximum should have that chains hardly came near.
    """

    states: Floats
    joint: Floats
    lengths: Floats
    moved: float
    jumps: int
    contracts: bool
    missed: float

    @property
    def forgets(self) -> bool:
        """Whether chains are proved to leave where they began."""
        return self.contracts or self.jumps >= LEAST_JUMPS


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

    @property
    def rows(self) -> float:
        """Kept sweeps of all chains."""
        return float(self.kept * self.chains)

    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        asked = list(range(model.n_variables - model.n_hidden) if variables is None else variables)
        if variables is not None:
            check_possible(model, evidence)
        left, evidence = determined(model, evidence, None if variables is None else asked)
        blocks = self._blocks(left)
        draws = self._run(blocks, ())
        place = {variable: at for at, variable in enumerate(left.variables.tolist())}
        bounds = itertools.pairwise(left.cell_starts.tolist())
        of_variable = zip(place, bounds, strict=True)
        samples = {variable: draws.states[..., a:b] for variable, (a, b) in of_variable}
        series = [samples.get(variable) for variable in asked]
        targets = [(variable,) for variable in asked]
        linked = np.diff(blocks.link_starts) > 0
        # A block without links has the same probabilities in every sweep.
        rows = [
            self.rows if v in samples and linked[blocks.places[place[v]][0]] else math.inf
            for v in asked
        ]
        return self._beliefs(model, evidence, targets, series, draws, blocks, rows)

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        if len(variables) == 1:
            return self.marginals(model, evidence, variables)
        check_cells([int(model.cards[variable]) for variable in variables])
        check_possible(model, evidence)
        left, evidence = determined(model, evidence, variables)
        blocks = self._blocks(left)
        place = {int(variable): at for at, variable in enumerate(left.variables)}
        free = [place[v] for v in variables if evidence.codes[v] < 0]
        draws = self._run(blocks, free)
        rows = self.rows
        if self.is_metropolis:
            # Of n cells each is offered in one of n sweeps, so a state lasts as long.
            n_cells = [len(blocks.states[blocks.places[v][0]]) for v in free]
            rows /= 2 * max(n_cells, default=1) - 1
        targets = [tuple(variables)]
        return self._beliefs(model, evidence, targets, [draws.joint], draws, blocks, [rows])

    # Running

    def _blocks(self, left: FlatFactors) -> Blocks:
        """All that zeros tie together in one block, or where that is too much, some of it."""
        try:
            return blocks_of(left, self.block_cells)
        except MixingError:
            return blocks_of(left, self.block_cells, MOST_TIED)

    def _run(self, blocks: Blocks, free: Sequence[int]) -> Draws:
        from novum.graphical.inference.chain_runs_kernels import add_cells, place_rows, run_chain

        buckets = mini_buckets(blocks.left, PROPOSAL_CELLS)
        split = buckets.split_arrays()
        layout = chain_layout(blocks, int(np.diff(split[1]).max(initial=0)))
        ends = np.linspace(0, self.kept, min(BATCHES, self.kept) + 1).astype(np.int64)[1:]
        asked, n_joint = _asked(blocks, free)
        shape = self.chains, len(ends)
        check_seconds(
            SECONDS_PER_UPDATE * self.sweeps * self.chains * blocks.n_blocks,
            f"{self.method} with {self.chains} chains of {self.sweeps:.3g} sweeps",
            "Give fewer sweeps.",
        )
        batches, joint = self._empty(shape, len(blocks.inside), n_joint)
        states = np.zeros((*shape, int(blocks.left.cell_starts[-1])))
        keys = stream(self.random_state, "chains").integers(0, 2**64, (shape[0], 3), np.uint64)
        cells, places = layout.working[:2]
        counts, pacer = np.zeros(2, np.int64), Pacer()
        if math.isinf(blocks.strongest):
            starts = self._drawn_starts(blocks, layout, buckets)
        else:
            starts = chain_starts(blocks, layout, keys[:, 0])
        schedule = self.burn_in, self.thin, JUMP_EVERY if layout.can_jump else 0, ends
        weight = 0.0
        for chain, own_keys in enumerate(keys[:, 1:]):
            cells[:] = starts.cells[chain]
            place_rows(layout.sending, cells, places)
            for first in range(0, self.sweeps, OFFERED_SWEEPS):
                n = min(OFFERED_SWEEPS, self.sweeps - first)
                rng = stream(self.random_state, "jumps", chain, first)
                offered, logs = buckets.draw(rng, -(-n // JUMP_EVERY) if layout.can_jump else 0)
                after = np.arange(first, first + n, JUMP_EVERY)[: len(logs)] >= self.burn_in
                weight += float(np.exp(logs[after]).sum())
                offers = np.ascontiguousarray(offered.T), logs, first
                for start, stop in time_sliced(n, block=16, pacer=pacer):
                    run_chain(
                        layout.model, layout.states, layout.sending, layout.rows, layout.working,
                        layout.jumping, split, offers, own_keys, self.is_metropolis,
                        (first + start, first + stop), schedule, asked, batches[chain],
                        joint[chain], counts,
                    )  # fmt: skip
        add_cells(batches, layout.sources, layout.targets, states)
        lengths = np.diff(ends, prepend=0).astype(np.float64)
        states /= lengths[:, np.newaxis]
        joint /= lengths[:, np.newaxis]
        n_moving = sum(len(cells) > 1 for cells in blocks.states)
        moved = int(counts[0]) / max(1, self.sweeps * self.chains * n_moving)
        # Each offer is accepted with at least the mean weight, wherever the chain is.
        jumps = min(int(counts[1]), int(weight))
        # A sweep keeps no more of where it began than the influence; Metropolis steps keep more.
        forgotten = (self.sweeps - self.burn_in) * (1 - blocks.influence())
        contracts = not self.is_metropolis and forgotten >= LEAST_SIZE
        draws = Draws(states, joint, lengths, moved, jumps, contracts, 0.0)
        if draws.forgets:
            return draws
        return replace(draws, missed=starts.share_missed(blocks, batches))

    def _drawn_starts(self, blocks: Blocks, layout: ChainLayout, buckets: MiniBuckets) -> Starts:
        """Possible states, where zeros between blocks exclude most."""
        rng = stream(self.random_state, "starts")
        codes, logs = buckets.draw(rng, STARTS_DRAWN)
        weights = np.exp(logs)
        if not layout.can_jump or not weights.any():
            raise MixingError(
                "Zero probabilities leave no way between the blocks of variables, and none of "
                f"{STARTS_DRAWN} states drawn to begin with was possible. Use JunctionTree() or "
                "ImportanceSampling(size=...)."
            )
        chosen = rng.choice(STARTS_DRAWN, self.chains, p=weights / weights.sum())
        starts = [layout.cells_at(blocks.cell_starts, codes[:, row]) for row in chosen]
        return Starts(tuple(starts), math.inf)

    def _empty(self, shape: tuple[int, int], n_cells: int, n_joint: int) -> tuple[Floats, Floats]:
        """Room for sums of cells and of joint states, for all batches of all chains."""
        check_memory(
            16 * math.prod(shape) * (n_cells + n_joint),
            f"{self.method} with {n_cells + n_joint} joint states to keep count of",
            "Ask for fewer variables at once, or run fewer chains.",
        )
        return np.zeros((*shape, n_cells)), np.zeros((*shape, n_joint))

    # Judging

    def _beliefs(
        self,
        model: ModelArrays,
        evidence: Evidence,
        targets: Sequence[Sequence[int]],
        series: Sequence[Floats | None],
        draws: Draws,
        blocks: Blocks,
        most_rows: Sequence[float],
    ) -> Beliefs:
        """Tables, errors and the verdict; no target is known better than by its `most_rows`."""
        parts = [part for part in series if part is not None]
        cells = np.concatenate(parts, axis=-1) if parts else np.zeros((1, 2 * LEAST_DRAWS, 0))
        means = (draws.lengths / self.kept) @ cells.mean(axis=0) if parts else np.empty(0)
        errors, r_hats = judged(cells)
        size = worst_size(means, errors, min(self.rows, *most_rows))
        most = np.repeat(most_rows, [0 if part is None else part.shape[-1] for part in series])
        r_hat, rows = float(np.max(r_hats, initial=1.0)), self.rows
        if not draws.forgets:
            # What is asked may seem settled while variables it depends on are held in place, and
            # what these hide is not known better than they are.
            r_hat, rows = _slowest(draws, r_hat, rows)
        elif not draws.contracts:
            # What updates may not reach, only jumps can have met.
            rows = draws.jumps
        shown = np.where(np.isinf(most), most, np.minimum(most, rows))
        errors = np.sqrt(errors**2 + TWO_ROWS / shown**2)
        tables, stated, at = [], [], 0
        for target, part in zip(targets, series, strict=True):
            free = [v for v in target if evidence.codes[v] < 0]
            shape = model.cards[free]
            own = slice(at, at + (0 if part is None else part.shape[-1]))
            at = own.stop
            is_known = own.stop - own.start < 2
            table = np.ones(shape) if is_known else means[own].reshape(shape)
            error = np.zeros(shape) if is_known else errors[own].reshape(shape)
            tables.append(with_observed(model, evidence, target, free, table / table.sum()))
            stated.append(with_observed(model, evidence, target, free, error))
        diagnosis = self._diagnosis(tuple(stated), size, r_hat, draws, blocks)
        return Beliefs(tuple(tables), None, diagnosis)

    def _diagnosis(
        self, errors: tuple[Floats, ...], size: float, r_hat: float, draws: Draws, blocks: Blocks
    ) -> Diagnosis:
        faults = self._faults(size, r_hat, draws, blocks)
        total = self.sweeps * self.chains
        said = (
            f"{self.method}: {self.chains} chain{'s' * (self.chains > 1)} of {self.sweeps} sweeps, "
            f"R-hat {r_hat:.3g}, worth about {size:.0f} independent rows."
        )
        if self.is_metropolis:
            said += f" {draws.moved:.0%} of the updates moved."
        if faults:
            trust = Trust.FAULT_FOUND
            said += f" Not to be trusted: {'; '.join(faults)}. Use JunctionTree() or more sweeps."
        elif draws.contracts:
            trust = Trust.PROVED
            said += " Proved: links are so weak that no state keeps a chain."
        elif draws.forgets:
            trust = Trust.PROVED
            said += f" Proved: {draws.jumps} jumps to states drawn anew are certain."
        else:
            trust = Trust.NO_FAULT_FOUND
            said += (
                " No fault found, but nothing proves that the chains did not all miss a part of "
                "the states. Compare with JunctionTree() or ImportanceSampling()."
            )
        return Diagnosis(self.method, trust, said, total, errors, size, r_hat)

    def _faults(self, size: float, r_hat: float, draws: Draws, blocks: Blocks) -> list[str]:
        faults = []
        if r_hat > HIGHEST_R_HAT and draws.forgets:
            faults.append("the chains, or their halves, do not agree with each other")
        elif r_hat > HIGHEST_R_HAT:
            faults.append(
                "chains that began far apart, or their halves, do not agree with each other; links "
                "that add up may hold many variables in place together"
            )
        if size < LEAST_SIZE * self.chains:
            faults.append(f"they are worth fewer than {LEAST_SIZE} independent rows for each chain")
        if self.chains == 1 and blocks.n_blocks > 1:
            faults.append("one chain cannot show whether others would agree")
        if draws.missed:
            faults.append(
                f"a maximum elsewhere should have a probability of about {draws.missed:.1g} by its "
                "height, and the chains hardly came near it"
            )
        if draws.moved < LEAST_MOVED and not draws.forgets:
            faults.append(
                f"only {draws.moved:.1%} of the updates changed anything, so that the chains show "
                "little more than where they began"
            )
        wide = blocks.influence(least_others=2)
        if wide >= 1 and not draws.forgets:
            faults.append(
                f"links of three variables and more, which add up to an influence of {wide:.2g}, "
                "can hide a state that nothing leads to"
            )
        if blocks.strongest > STRONG and draws.jumps < LEAST_JUMPS:
            cause = f"probabilities that differ by a factor of {blocks.strongest:.1g}"
            if math.isinf(blocks.strongest):
                cause = "zeros"
            faults.append(
                f"{cause} can keep all chains away from the same states, and "
                f"{draws.jumps} jumps to states drawn anew are certain"
            )
        return faults


def _slowest(draws: Draws, r_hat: float, rows: float) -> tuple[float, float]:
    """R-hat and the effective size of the worst of all variables, asked for or not."""
    errors, r_hats = judged(draws.states)
    means = np.average(draws.states.mean(axis=0), axis=0, weights=draws.lengths)
    return float(np.max(r_hats, initial=r_hat)), worst_size(means, errors, rows)


def _asked(blocks: Blocks, free: Sequence[int]) -> tuple[tuple[Integers, Integers], int]:
    """Blocks of the variables of a joint table, and each cell's part in the place of a state."""
    cards = [int(blocks.left.cards[variable]) for variable in free]
    parts = np.zeros(len(blocks.inside), np.int64)
    for axis, variable in enumerate(free):
        block, column = blocks.places[variable]
        cells = slice(blocks.cell_starts[block], blocks.cell_starts[block + 1])
        parts[cells] += math.prod(cards[axis + 1 :]) * blocks.states[block][:, column]
    numbers = sorted({blocks.places[variable][0] for variable in free})
    return (np.array(numbers, np.int64), parts), math.prod(cards) if free else 0
