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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from novum.core.randomness import RandomSource, stream
from novum.distributions.joint_table_states import check_cells
from novum.graphical.inference.blocks import STRONG, Blocks, blocks_of, determined
from novum.graphical.inference.plain_junction import with_observed
from novum.graphical.inference.protocol import Beliefs, Diagnosis, Engine
from novum.graphical.inference.settings import check_count, check_positive
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays, Positions


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
        tables = []
        for variable in asked:
            free = [variable] if evidence.codes[variable] < 0 else []
            own = _marginal(blocks, q, free) if free else np.ones(())
            tables.append(with_observed(model, evidence, [variable], free, own))
        return Beliefs(tuple(tables), None, diagnosis)

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        check_cells([int(model.cards[variable]) for variable in variables])
        blocks, evidence, q, diagnosis = self._fit(model, evidence)
        free = [variable for variable in variables if evidence.codes[variable] < 0]
        table = _marginal(blocks, q, free)
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
        bound = -np.inf
        for done in range(1, self.max_iter + 1):
            for block in range(len(q)):
                q[block] = problem.best(block, q)
            previous, bound = bound, problem.bound(q)
            if bound - previous < self.tol * (1.0 + abs(bound)):
                return bound, done, True, q
        return bound, self.max_iter, False, q


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
    """Expected logarithms of the factors between blocks."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        with np.errstate(divide="ignore"):
            logs = np.log(blocks.inside)
            log_tables = np.log(blocks.left.tables)
        self.log_inside = [logs[a:b] for a, b in itertools.pairwise(blocks.cell_starts)]
        self.links: list[list[tuple[int, int]]] = [[] for _ in blocks.members]
        self.parts: dict[int, list[tuple[int, Positions]]] = {}
        places: dict[int, list[Positions]] = {}
        for block in range(blocks.n_blocks):
            for link in range(blocks.link_starts[block], blocks.link_starts[block + 1]):
                factor = int(blocks.link_factors[link])
                cells = slice(blocks.delta_starts[link], blocks.delta_starts[link + 1])
                apart, which = np.unique(blocks.deltas[cells], return_inverse=True)
                self.links[block].append((factor, len(self.parts.setdefault(factor, []))))
                self.parts[factor].append((block, which))
                places.setdefault(factor, []).append(apart)
        self.logs = {
            factor: log_tables[blocks.left.table_starts[factor] + reduce(np.add, np.ix_(*apart))]
            for factor, apart in places.items()
        }

    def best(self, block: int, q: list[Floats]) -> Floats:
        """The distribution of a block that is best given those of the others."""
        logs = self.log_inside[block].copy()
        for factor, axis in self.links[block]:
            which = self.parts[factor][axis][1]
            logs += self._expected(factor, q, axis)[which]
        weights = np.exp(logs - logs.max())
        return weights / weights.sum()

    def bound(self, q: list[Floats]) -> float:
        """Expected logarithm of all factors and entropy."""
        total = self.blocks.log_constant
        for chances, logs in zip(q, self.log_inside, strict=True):
            inside = chances > 0
            total += float(np.sum(chances[inside] * (logs[inside] - np.log(chances[inside]))))
        for factor, parts in self.parts.items():
            block, which = parts[0]
            weights = np.bincount(which, q[block], minlength=self.logs[factor].shape[0])
            total += float(weights @ self._expected(factor, q, 0))
        return total

    def _expected(self, factor: int, q: list[Floats], kept: int) -> Floats:
        """The log-table averaged over all blocks but one."""
        table = self.logs[factor]
        for axis in reversed(range(table.ndim)):
            if axis != kept:
                block, which = self.parts[factor][axis]
                weights = np.bincount(which, q[block], minlength=table.shape[axis])
                table = np.tensordot(table, weights, axes=(axis, 0))
        return table


def _marginal(blocks: Blocks, q: list[Floats], free: Sequence[int]) -> Floats:
    """The joint table of some variables: blocks are independent, variables within one are not."""
    place = {int(variable): at for at, variable in enumerate(blocks.left.variables)}
    asked = [place[variable] for variable in free]
    cards = [int(blocks.left.cards[variable]) for variable in asked]
    table = np.ones(cards)
    for own, states, chances in zip(blocks.members, blocks.states, q, strict=True):
        axes = [axis for axis, variable in enumerate(asked) if variable in own]
        if not axes:
            continue
        columns = [int(np.flatnonzero(own == asked[axis])[0]) for axis in axes]
        part = np.zeros([cards[axis] for axis in axes])
        np.add.at(part, tuple(states[:, columns].T), chances)
        table = table * part.reshape([cards[a] if a in axes else 1 for a in range(len(cards))])
    return table
