"""Mean field: the nearest distribution in which blocks of variables are independent.

    maximize over q = product of q_b :   E_q[log of the product of factors] + entropy(q)

which is at most log P(e), with equality where q is the posterior: a proved lower bound. One block
after the other is set to its best given the others, which never lowers the bound:

    q_b(c)  proportional to  inside(c) * exp(sum over links of E[log table | c])

Blocks are single variables, but those that zeros tie together stay together
(`novum.graphical.inference.blocks`); without that the bound would be minus infinity. Dependence
between blocks is lost, so single posteriors tend to be too sure of themselves, and where links are
strong q chooses one of several maxima. Only weak links bound the error (`largest_error`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from novum.core.runtime import RandomSource, stream, time_sliced
from novum.distributions import check_cells
from novum.graphical.inference.blocks import Blocks, blocks_of, determined
from novum.graphical.inference.flat_factors import starts_of
from novum.graphical.inference.limits import check_count, check_positive, check_seconds
from novum.graphical.inference.protocol import Beliefs, Diagnosis, Engine, Trust, with_observed
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.numerics import Floats

# Errors are proved up to this.
LARGEST_ERROR = 0.05
# Of a start, for each block, with a few rounds; on a reference machine.
SECONDS_PER_UPDATE = 1e-6
# Starts whose bounds are lower by less are compared with the best.
NEAR = 3.0


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
        check_seconds(
            SECONDS_PER_UPDATE * self.starts * blocks.n_blocks,
            f"Mean field from {self.starts:.3g} starts",
            "Give fewer starts.",
        )
        problem = _Problem(blocks)
        fits = [
            self._climb(problem, stream(self.random_state, "start", start) if start else None)
            for start in range(self.starts)
        ]
        best = max(fits, key=lambda one: one.bound)
        return blocks, known, problem.parted(best.q), _diagnosis(best, fits, blocks)

    def _climb(self, problem: _Problem, rng: np.random.Generator | None) -> _Maximum:
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
                    return _Maximum(bound, done, True, flat)
        return _Maximum(bound, done, False, flat)


@dataclass(frozen=True, eq=False)
class _Maximum:
    """Where a start ended: the bound, rounds, whether it settled, and q of all blocks."""

    bound: float
    rounds: int
    settled: bool
    q: Floats


def _diagnosis(best: _Maximum, maxima: Sequence[_Maximum], blocks: Blocks) -> Diagnosis:
    ends = "settled" if best.settled else "did not settle"
    said = (
        f"Mean field {ends} after {best.rounds} rounds; log-evidence is at least {best.bound:.6g}."
    )
    error = largest_error(blocks)
    if not best.settled:
        said += " Not to be trusted: raise max_iter, or use JunctionTree()."
    elif error > LARGEST_ERROR:
        said += (
            " Not to be trusted: variables that depend on each other were taken as independent, "
            f"{_apart(best, maxima)}. Use JunctionTree() or LikelihoodWeighting()."
        )
    elif error > 0:
        above = math.ceil(1000 * error) / 1000
        said += f" Links are so weak that no probability is off by more than {above:g}."
    is_proved = best.settled and error <= LARGEST_ERROR
    trust = Trust.PROVED if is_proved else Trust.FAULT_FOUND
    return Diagnosis("mean field", trust, said, best.rounds, bound=best.bound)


def _apart(best: _Maximum, maxima: Sequence[_Maximum]) -> str:
    """What is known about the error where it has no bound."""
    near = [one for one in maxima if one.settled and one.bound > best.bound - NEAR]
    apart = max(float(np.abs(one.q - best.q).max(initial=0.0)) for one in near)
    if apart > LARGEST_ERROR:
        return f"and starts ended at probabilities that differ by up to {apart:.1g}"
    return "and the error is not known"


def largest_error(blocks: Blocks) -> float:
    """No probability is off by more than this, proved; infinite where links are too strong.

    Let `h = log(ratio of a table) / 2`. By Taylor's formula of softmax around what q expects, the
    true probabilities of a block differ from q by at most

        sum of h * (error of the other block)  +  2 * (sum of h)^2

    over its links, the first term being linear in the other's probabilities alone. With `s` the
    largest sum, the largest error e satisfies `e <= s e + 2 s^2`. Of a link between three blocks or
    more their joint probabilities matter, whose error counts as 1.

    Examples
    --------
    >>> from novum.graphical.inference.blocks import determined
    >>> from novum.graphical.models.arrays import Evidence
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("a", table=[0.5, 0.5])
    >>> network = network.add("b", parents=["a"], table=[[0.52, 0.48], [0.48, 0.52]])
    >>> left, _ = determined(network.arrays, Evidence.none(2))
    >>> round(largest_error(blocks_of(left, 1)), 5)
    0.00334
    """
    halves = np.log(blocks.ratios) / 2
    is_pair = blocks.n_others == 1
    pairs = blocks.summed(np.where(is_pair, halves, 0.0))
    wide = blocks.summed(np.where(is_pair, 0.0, halves))
    largest = float(pairs.max(initial=0.0))
    if largest >= 1:
        return math.inf
    return float(np.max(2 * (pairs + wide) ** 2 + wide, initial=0.0)) / (1 - largest)


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
        places, of_cells = zip(*apart, strict=True) if apart else ((), ())
        # As kernels take them.
        self.axes = (
            *(blocks.cell_starts, starts_of(np.bincount(owners, minlength=blocks.n_blocks))),
            *(np.argsort(owners, kind="stable"), starts_of(sizes), sizes),
            *(starts_of([len(own) for own in of_cells]), np.concatenate([nothing, *of_cells])),
        )
        self.factors = (
            *(starts_of(counts), blocks.left.table_starts[factors], log_tables),
            *(np.concatenate([nothing, *places]), np.repeat(np.arange(len(factors)), counts)),
        )
        self.log_inside = log_inside
        self.work = (
            np.empty(int(counts.max(initial=1)), np.int64),
            np.empty(int(sizes.max(initial=1))),
        )
        self.mass = np.empty(int(sizes.sum()))

    def weigh(self, q: Floats) -> None:
        """Takes up the distributions of all blocks."""
        from novum.graphical.inference.mean_field_kernels import weigh_axes

        for block in range(self.blocks.n_blocks):
            weigh_axes(block, self.axes, q, self.mass)

    def climb(self, out_q: Floats) -> float:
        """Sets each block to its best given the others; the bound that is reached."""
        from novum.graphical.inference.mean_field_kernels import climb_round

        bound = climb_round(self.axes, self.factors, self.log_inside, self.work, self.mass, out_q)
        return self.blocks.log_constant + float(bound)

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
