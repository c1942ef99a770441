"""Mean field: the nearest distribution in which blocks of variables are independent.

    maximize over q = product of q_b :   E_q[log of the product of factors] + entropy(q)

which is at most log P(e), with equality where q is the posterior: a proved lower bound. One block
after the other is set to its best given the others, which never lowers the bound:

    q_b(c)  proportional to  inside(c) * exp(sum over links of E[log table | c])

Blocks are single variables, but those that zeros tie together stay together
(`novum.graphical.inference.blocks`); without that the bound would be minus infinity. Dependence
between blocks is lost, so single posteriors tend to be too sure of themselves.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from novum.core.interrupts import time_sliced
from novum.core.randomness import RandomSource, stream
from novum.distributions.joint_table_states import check_cells
from novum.graphical.inference.blocks import STRONG, Blocks, blocks_of, determined
from novum.graphical.inference.flat_factors import starts_of
from novum.graphical.inference.plain_junction import with_observed
from novum.graphical.inference.protocol import Beliefs, Diagnosis, Engine
from novum.graphical.inference.settings import check_count, check_positive
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays


@dataclass(frozen=True)
class MeanField(Engine):
    """Approximate posteriors of independent blocks, with a lower bound of the log-evidence.

    Parameters
    ----------
    max_iter : int
        Rounds over all blocks, for each start.
    tol : float
        Gain of the bound in a round that counts as settled.
    starts : int
        Random starts; the one with the highest bound is kept. The first start is even.
    random_state : int, generator or None

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> found = network.query("rain", given={"wet": "true"}, engine=MeanField(random_state=0))
    >>> found.values.round(6).tolist(), round(float(np.exp(found.diagnosis.bound)), 6)
    ([0.692308, 0.307692], 0.26)
    """

    max_iter: int = 500
    tol: float = 1e-9
    starts: int = 4
    random_state: RandomSource = None

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol)
        check_count("starts", self.starts)

    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        asked = list(range(model.n_variables - model.n_hidden) if variables is None else variables)
        blocks, evidence, q, diagnosis = self._fit(model, evidence)
        place = {variable: at for at, variable in enumerate(blocks.left.variables.tolist())}
        tables = []
        for variable in asked:
            free = [variable] if evidence.codes[variable] < 0 else []
            own = _marginal(blocks, q, [place[variable]]) if free else np.ones(())
            tables.append(with_observed(model, evidence, [variable], free, own))
        return Beliefs(tuple(tables), None, diagnosis)

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        check_cells([int(model.cards[variable]) for variable in variables])
        blocks, evidence, q, diagnosis = self._fit(model, evidence)
        free = [variable for variable in variables if evidence.codes[variable] < 0]
        place = {variable: at for at, variable in enumerate(blocks.left.variables.tolist())}
        table = _marginal(blocks, q, [place[variable] for variable in free])
        whole = with_observed(model, evidence, variables, free, table)
        return Beliefs((whole,), None, diagnosis)

    def _fit(
        self, model: ModelArrays, evidence: Evidence
    ) -> tuple[Blocks, Evidence, list[Floats], Diagnosis]:
        # All factors are used: a bound of a part would not be one of the evidence.
        left, known = determined(model, evidence)
        blocks = blocks_of(left, most_cells=1)
        problem = _Problem(blocks)
        best: tuple[float, int, bool, list[Floats]] | None = None
        for start in range(self.starts):
            rng = stream(self.random_state, "start", start) if start else None
            found = self._climb(problem, rng)
            if best is None or found[0] > best[0]:
                best = found
        assert best is not None
        bound, rounds, settled, q = best
        return blocks, known, q, _diagnosis(bound, rounds, settled, blocks)

    def _climb(
        self, problem: _Problem, rng: np.random.Generator | None
    ) -> tuple[float, int, bool, list[Floats]]:
        sizes = [len(cells) for cells in problem.blocks.states]
        q = [np.full(n, 1.0 / n) if rng is None else rng.dirichlet(np.ones(n)) for n in sizes]
        flat = np.concatenate([np.empty(0), *q])
        problem.weigh(flat)
        previous = bound = -math.inf
        done = 0
        for start, stop in time_sliced(self.max_iter):
            for done in range(start + 1, stop + 1):
                previous, bound = bound, problem.climb(flat)
                if bound - previous < self.tol * (1.0 + abs(bound)):
                    return bound, done, True, problem.parted(flat)
        return bound, done, False, problem.parted(flat)


def _diagnosis(bound: float, rounds: int, settled: bool, blocks: Blocks) -> Diagnosis:
    ends = "settled" if settled else "did not settle"
    said = f"Mean field {ends} after {rounds} rounds; log-evidence is at least {bound:.6g}."
    if not settled:
        said += " Not to be trusted: raise max_iter, or use JunctionTree()."
    elif blocks.strongest > STRONG:
        said += (
            " Not to be trusted: variables that depend strongly on each other were taken as "
            "independent. Use JunctionTree() or LikelihoodWeighting()."
        )
    elif blocks.n_blocks > 1:
        said += " Dependence is lost, so probabilities tend to be too near 0 or 1."
    trusted = settled and blocks.strongest <= STRONG
    return Diagnosis("mean field", trusted, said, rounds, bound=bound)


class _Problem:
    """Expected logarithms of the factors between blocks, laid out for kernels."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        links = np.argsort(blocks.link_factors, kind="stable")
        apart = [
            np.unique(blocks.deltas[a:b], return_inverse=True)
            for a, b in zip(
                blocks.delta_starts[links].tolist(),
                blocks.delta_starts[links + 1].tolist(),
                strict=True,
            )
        ]
        factors, counts = np.unique(blocks.link_factors, return_counts=True)
        owners = np.repeat(np.arange(blocks.n_blocks), np.diff(blocks.link_starts))[links]
        sizes = np.array([len(places) for places, _ in apart], np.int64)
        with np.errstate(divide="ignore"):
            log_inside, log_tables = np.log(blocks.inside), np.log(blocks.left.tables)
        nothing = np.empty(0, np.int64)
        axes = (
            starts_of(np.bincount(owners, minlength=blocks.n_blocks)),
            np.argsort(owners, kind="stable"),
        )
        which = starts_of([len(of_cell) for _, of_cell in apart])
        places = starts_of(sizes), np.concatenate([nothing, *(found for found, _ in apart)]), sizes
        of_cells = which, np.concatenate([nothing, *(of_cell for _, of_cell in apart)])
        self.weighing = blocks.cell_starts, *axes, places[0], *of_cells, sizes
        self.climbing = (
            *(log_inside, blocks.cell_starts, *axes),
            *(np.repeat(np.arange(len(factors)), counts), starts_of(counts), *places, *of_cells),
            *(blocks.left.table_starts[factors], log_tables),
            *(np.empty(int(counts.max(initial=1)), np.int64), np.empty(int(sizes.max(initial=1)))),
        )
        self.mass = np.empty(int(sizes.sum()))

    def weigh(self, q: Floats) -> None:
        """Takes up the distributions of all blocks."""
        from novum.graphical.inference.mean_field_kernels import weigh_axes

        for block in range(self.blocks.n_blocks):
            weigh_axes(block, *self.weighing, q, self.mass)

    def climb(self, out_q: Floats) -> float:
        """Sets each block to its best given the others; the bound that is reached."""
        from novum.graphical.inference.mean_field_kernels import climb_round

        return self.blocks.log_constant + float(climb_round(*self.climbing, self.mass, out_q))

    def parted(self, q: Floats) -> list[Floats]:
        """The distribution of each block."""
        return [q[a:b] for a, b in itertools.pairwise(self.blocks.cell_starts.tolist())]


def _marginal(blocks: Blocks, q: list[Floats], asked: Sequence[int]) -> Floats:
    """The joint table of some variables: blocks are independent, variables within one are not."""
    cards = [int(blocks.left.cards[variable]) for variable in asked]
    inside: dict[int, list[tuple[int, int]]] = {}
    for axis, variable in enumerate(asked):
        block, column = blocks.places[variable]
        inside.setdefault(block, []).append((axis, column))
    table = np.ones(cards)
    for block, pairs in inside.items():
        axes = [axis for axis, _ in pairs]
        part = np.zeros([cards[axis] for axis in axes])
        columns = [column for _, column in pairs]
        np.add.at(part, tuple(blocks.states[block][:, columns].T), q[block])
        table = table * part.reshape([cards[a] if a in axes else 1 for a in range(len(cards))])
    return table
