"""Loopy belief propagation: the messages of trees, sent on graphs with cycles until they settle.

    factor to variable   m(x) = sum over its other variables of table * their messages
    variable to factor   m(x) = product of the messages from its other factors

On trees the fixed point is exact, and two passes at the end, to the roots and back, make sure that
it is reached, in logarithms where shares below 1e-260 may be multiplied back. With cycles evidence
is counted again each time it comes around: the messages may settle on a good approximation (a
stationary point of the Bethe free energy), or swing for ever, which damping and updating the most
changed message first make rarer.

    flooding   all messages at once
    residual   always those of the factor whose messages would change most (Elidan et al. 2006)
    damping    new message = (1 - d) * computed + d * old

Tables of a network without evidence below them send even messages to their parents. They wait
until all others have settled, and are passed once, parents first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import time_sliced
from novum.distributions import ImpossibleEvidence, check_cells
from novum.graphical.inference.blocks import check_possible
from novum.graphical.inference.flat_factors import FlatFactors, flat_factors, outwards, starts_of
from novum.graphical.inference.limits import check_count, check_positive, check_share
from novum.graphical.inference.protocol import (
    Beliefs,
    Diagnosis,
    Engine,
    Trust,
    impossible,
    table_of,
    with_observed,
)
from novum.graphical.models.arrays import Evidence, ModelArrays, read_only
from novum.graphical.structure.dag import CyclicGraphError
from novum.numerics import Floats, Integers, Mask

SCHEDULES = ("flooding", "residual")
# Changes of a message below this are rounding, whatever the tolerance.
ROUNDING = 2.0**-50
# Logarithms of entries of messages that are this far apart may leave double precision.
MOST_SPAN = 600.0
# Iterations made in one call at least.
ITERATIONS = 16
NO_FACTORS: Integers = np.empty(0, np.int64)


@dataclass(frozen=True)
class LoopyPropagation(Engine):
    """Approximate posteriors by messages on the factor graph, cycles or not.

    Parameters
    ----------
    schedule : {"flooding", "residual"}
    damping : float from 0 to below 1
        How much of the old message stays.
    max_iter : int
        Iterations; one of the residual schedule is as many updates as there are factors.
    tol : float
        Largest change of an entry of a message, as a share of it, that counts as settled.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> network.query("rain", given={"wet": "true"}, engine=LoopyPropagation())
    rain   probability
    true      0.692308
    false     0.307692
    Loopy propagation settled after 1 iteration; without cycles that is exact.
    """

    schedule: Literal["flooding", "residual"] = "flooding"
    damping: float = 0.0
    max_iter: int = 200
    tol: float = 1e-9

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            raise InputError(f"schedule is 'flooding' or 'residual', got {self.schedule!r}.")
        check_share("damping", self.damping)
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol)

    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        asked = list(range(model.n_variables - model.n_hidden) if variables is None else variables)
        if variables is not None:
            check_possible(model, evidence)
        left = flat_factors(model, evidence, None if variables is None else asked)
        run = LoopyMessages(left, self.damping, _barren(model, evidence, left))
        order = _forest(left)
        change, iterations = math.inf, 0
        try:
            change, iterations = self._settle(run)
            if order is not None:
                run.pass_tree(*order)
            beliefs = run.posteriors()
            is_lossy = order is not None and run.may_underflow()
        except ImpossibleEvidence:
            is_lossy = order is not None
            if not is_lossy:
                raise
        if order is not None and is_lossy:
            beliefs = tree_posteriors(left, *order)
        posteriors = dict(zip(left.variables.tolist(), beliefs, strict=True))
        tables = tuple([table_of(model, evidence, variable, posteriors) for variable in asked])
        return Beliefs(tables, None, self._diagnosis(order is not None, change, iterations))

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        return joint_by_conditioning(self, model, evidence, variables)

    def _settle(self, run: LoopyMessages) -> tuple[float, int]:
        change, iterations = 0.0, 0
        send = run.flood if self.schedule == "flooding" else run.follow_residuals
        for start, stop in time_sliced(self.max_iter, block=ITERATIONS):
            change, done = send(self._least, stop - start)
            iterations += done
            if change < 0:
                raise impossible()
            if change < self._least:
                break
        return change, iterations

    @property
    def _least(self) -> float:
        return max(self.tol, ROUNDING)

    def _diagnosis(self, exact: bool, change: float, iterations: int) -> Diagnosis:
        settled = change < self._least
        passes = f"{iterations} iteration{'s' * (iterations != 1)}"
        if settled and exact:
            said = f"Loopy propagation settled after {passes}; without cycles that is exact."
        elif settled:
            said = (
                f"Loopy propagation settled after {passes}; with cycles that is an "
                "approximation whose error is not known. Compare with JunctionTree()."
            )
        elif exact:
            said = (
                f"Loopy propagation did not settle in {passes}; without cycles two more passes, "
                "from the leaves and back, made it exact."
            )
        else:
            said = (
                f"Loopy propagation did not settle in {passes}: messages still "
                f"change by {change:.2g} of their size. Not to be trusted; try damping=0.5 or "
                "schedule='residual', or use JunctionTree()."
            )
        trust = Trust.PROVED if exact else Trust.FAULT_FOUND
        return Diagnosis("loopy propagation", trust, said, iterations)


class LoopyMessages:
    """Messages of one run, and the arrays that kernels work with.

    Parameters
    ----------
    left : FlatFactors
    damping : float
    barren : int64 array
        Factors whose messages to all but their last variable are even, parents first. Nothing
        depends on them, so they are left out until the others have settled.
    """

    def __init__(self, left: FlatFactors, damping: float, barren: Integers = NO_FACTORS) -> None:
        from novum.graphical.inference.belief_propagation_kernels import start_messages

        self.left = left
        self.damping = float(damping)
        self.barren = barren
        edge_starts = starts_of(left.cards[left.scopes])
        widths = np.diff(left.scope_starts)
        # What a factor of one variable sends does not change.
        self.moving = widths > 1
        self.moving[barren] = False
        touched = np.zeros(left.n_variables, np.bool_)
        self.up, down, new = np.empty((3, int(edge_starts[-1])))
        longest = max(widths.max(initial=1), left.cards.max(initial=1))
        # As kernels take them: the graph, and room to work.
        self.graph: tuple[Any, ...] = (
            *(left.scope_starts, left.scopes, left.table_starts, left.tables),
            *(left.cards, edge_starts, *left.variable_edges),
        )
        before, product = np.empty((2, longest))
        self.work = np.empty(longest, np.int64), before, new, down, product
        start_messages(self.graph, self.moving, touched, self.up)
        self.sending = np.flatnonzero(touched), np.flatnonzero(self.moving)
        self.residuals: Floats | None = None

    def flood(self, tol: float = 0.0, n_steps: int = 1) -> tuple[float, int]:
        """Iterations of all messages until the change is below `tol`.

        Returns the largest change, negative where all is impossible, and how many were made.
        """
        from novum.graphical.inference.belief_propagation_kernels import flood

        done = np.zeros(1, np.int64)
        change = flood(
            self.graph, self.work, *self.sending, self.damping, float(tol), n_steps, self.up, done
        )
        return float(change), int(done[0])

    def follow_residuals(self, tol: float, n_steps: int = 1) -> tuple[float, int]:
        """For each step as many updates as there are factors, each where the change is largest."""
        from novum.graphical.inference.belief_propagation_kernels import (
            first_residuals,
            follow_residuals,
        )

        if self.residuals is None:
            # A tree of the largest: leaves for all factors, and their maxima in pairs above.
            self.residuals = np.zeros(2 << max(0, self.left.n_factors - 1).bit_length())
            if not first_residuals(self.graph, self.work, *self.sending, self.up, self.residuals):
                return -1.0, 0
        change, done = float(self.residuals[1]), 0
        while done < n_steps and (done == 0 or change >= tol):
            change = follow_residuals(
                self.graph, self.work, self.moving, self.left.factor_of_edge, self.damping,
                float(tol), self.left.n_factors, self.up, self.residuals,
            )  # fmt: skip
            done += 1
        return float(change), done

    def pass_tree(self, is_factor: Mask, numbers: Integers, root_edges: Integers) -> None:
        """Sends each message of a forest once to the roots, and then back; without damping."""
        from novum.graphical.inference.belief_propagation_kernels import pass_tree

        for is_outward in (False, True):
            nodes = self.moving, is_factor, numbers, root_edges
            if not pass_tree(self.graph, self.work, *nodes, is_outward, self.up):
                raise impossible()

    def may_underflow(self) -> bool:
        """Whether a product of messages can have left the range of double precision.

        The entries of a product span at most what its factors span together, in logarithms.
        """
        left, (table_starts, tables), edge_starts = self.left, self.graph[2:4], self.graph[5]
        if not left.n_edges:
            return False
        lowest = min(self.up.min(), tables.min())
        if lowest > 0 and (left.n_edges + 1) * -math.log(lowest) < MOST_SPAN:
            return False
        spans = np.bincount(left.scopes, _spans(self.up, edge_starts), left.n_variables)
        for variable in np.flatnonzero(spans > MOST_SPAN):
            spans[variable] = self._span_of_products(int(variable))
        of_factors = np.bincount(left.factor_of_edge, spans[left.scopes], left.n_factors)
        return bool((of_factors + _spans(tables, table_starts)).max() > MOST_SPAN)

    def _span_of_products(self, variable: int) -> float:
        """What products of messages to a variable span, from either end as they are multiplied."""
        starts, edges = self.left.variable_edges
        first = self.graph[5][edges[starts[variable] : starts[variable + 1]]]
        messages = self.up[first[:, np.newaxis] + np.arange(self.left.cards[variable])]
        sums = np.cumsum(np.log(np.where(messages == 0.0, 1.0, messages)), axis=0)
        return float(sum(np.ptp(ends, axis=1).max() for ends in (sums, sums[-1] - sums)))

    def posteriors(self) -> list[Floats]:
        """The product of all messages to each variable, summing to one."""
        from novum.graphical.inference.belief_propagation_kernels import (
            multiply_messages,
            send_onwards,
        )

        left = self.left
        beliefs = np.empty(int(left.cell_starts[-1]))
        possible = send_onwards(self.graph, self.work, self.barren, self.up) and multiply_messages(
            self.graph, left.cell_starts, self.up, beliefs
        )
        if not possible:
            raise impossible()
        read_only(beliefs)
        return [beliefs[a:b] for a, b in itertools.pairwise(left.cell_starts.tolist())]


def _barren(model: ModelArrays, evidence: Evidence, left: FlatFactors) -> Integers:
    """Factors of variables that no evidence lies below, parents first."""
    from novum.graphical.inference.belief_propagation_kernels import find_barren

    if not model.is_directed:
        return NO_FACTORS
    needed = evidence.codes >= 0
    needed[list(evidence.likelihoods)] = True
    places, barren = np.empty((2, model.n_variables), np.int64)
    n = find_barren(
        model.scope_starts, model.scopes, model.order, left.sources, places, needed, barren
    )
    return barren[:n]


def _forest(left: FlatFactors) -> tuple[Mask, Integers, Integers] | None:
    """Variables and factors each after the one it hangs on; None where a cycle runs through them.

    For each whether it is a factor, its number, and its edge to the one that it hangs on.
    """
    if left.n_edges > 0 and left.n_edges >= left.n_factors + left.n_variables:
        return None
    try:
        order = outwards(left)
    except CyclicGraphError:
        return None
    nodes = np.array(order, np.int64).reshape(-1, 3)
    numbers, root_edges = np.ascontiguousarray(nodes[:, 1:].T)
    return nodes[:, 0] > 0, numbers, root_edges


def _spans(values: Floats, starts: Integers) -> Floats:
    """Logarithms of the largest over the smallest entry above 0, between the starts."""
    is_zero = values == 0.0
    logs = np.log(np.where(is_zero, 1.0, values))
    highest = np.maximum.reduceat(np.where(is_zero, -np.inf, logs), starts[:-1])
    lowest = np.minimum.reduceat(np.where(is_zero, np.inf, logs), starts[:-1])
    return np.maximum(highest - lowest, 0.0)


def tree_posteriors(
    left: FlatFactors, is_factor: Mask, numbers: Integers, root_edges: Integers
) -> list[Floats]:
    """Posteriors of all variables of a forest by messages in logarithms, which lose no share.

    Parameters
    ----------
    left : FlatFactors
    is_factor, numbers, root_edges : arrays of shape (n_nodes,)
        Nodes, each after the one it hangs on, and their edges to those (negative for roots).
    """
    starts, edges = left.variable_edges
    with np.errstate(divide="ignore"):
        tables = [np.log(left.table(f)) for f in range(left.n_factors)]
    up, down = ([np.zeros(n) for n in left.cards[left.scopes]] for _ in range(2))
    nodes = list(zip(is_factor.tolist(), numbers.tolist(), root_edges.tolist(), strict=True))

    def send(node: tuple[bool, int, int], *, to_root: bool) -> None:
        of_factor, number, root = node
        if of_factor:
            first, end = left.scope_starts[number : number + 2].tolist()
            for edge in range(first, end):
                if (edge == root) == to_root:
                    up[edge] = _log_message(tables[number], down[first:end], edge - first)
            return
        around = edges[starts[number] : starts[number + 1]].tolist()
        sums = [np.zeros((1, left.cards[number])), *(up[edge][None] for edge in around)]
        before = np.cumsum(np.concatenate(sums), axis=0)
        after = np.cumsum(np.concatenate(sums[:1] + sums[:0:-1]), axis=0)[::-1]
        for j, edge in enumerate(around):
            if (edge == root) == to_root:
                down[edge] = before[j] + after[j + 1]

    for node in reversed(nodes):
        send(node, to_root=True)
    for node in nodes:
        send(node, to_root=False)
    logs = [np.zeros(n) for n in left.cards]
    for edge, variable in enumerate(left.scopes.tolist()):
        logs[variable] = logs[variable] + up[edge]
    if any(np.isneginf(log.max()) for log in logs):
        raise impossible()
    beliefs = [np.exp(log - log.max()) for log in logs]
    return [read_only(belief / belief.sum()) for belief in beliefs]


def _log_message(table: Floats, down: list[Floats], axis: int) -> Floats:
    """What a factor sends to the variable of one axis."""
    for other, message in enumerate(down):
        if other != axis:
            table = table + message.reshape([-1 if k == other else 1 for k in range(table.ndim)])
    parts = np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1)
    return np.asarray(np.logaddexp.reduce(parts, axis=1))


# --- Joint tables ---------------------------------------------------------------------------------
# Joint tables from an engine that knows single posteriors only.
#
#     P(a, b, c | e) = P(a | e) P(b | a, e) P(c | a, b, e)
#
# One run of the engine for every joint state of all variables but the last.


MOST_RUNS = 4096


def joint_by_conditioning(
    engine: Engine, model: ModelArrays, evidence: Evidence, variables: Sequence[int]
) -> Beliefs:
    """The joint posterior of some variables, by observing one after the other."""
    shape = [int(model.cards[variable]) for variable in variables]
    check_cells(shape)
    free = [variable for variable in variables if evidence.codes[variable] < 0]
    runs = math.prod(int(model.cards[variable]) for variable in free[:-1])
    if runs > MOST_RUNS:
        raise InputError(
            f"A joint table over {len(free)} variables takes {runs} runs of "
            f"{type(engine).__name__}, one for each state of all but the last. Ask for fewer "
            "variables at once, or use JunctionTree()."
        )
    said: list[Diagnosis] = []
    if not free:
        # Whether the evidence is possible is still found out.
        said += _diagnosed(engine.marginals(model, evidence, variables[:1]))
        table = np.ones(())
    else:
        table = _conditioned(engine, model, evidence, free, said)
    whole = with_observed(model, evidence, variables, free, table)
    return Beliefs((whole,), None, _joint_diagnosis(said))


def _conditioned(
    engine: Engine,
    model: ModelArrays,
    evidence: Evidence,
    free: Sequence[int],
    said: list[Diagnosis],
) -> Floats:
    first, rest = free[0], free[1:]
    beliefs = engine.marginals(model, evidence, [first])
    said += _diagnosed(beliefs)
    chances = beliefs.tables[0]
    if not rest:
        return chances
    table = np.zeros([int(model.cards[variable]) for variable in free])
    weights = {v: values for v, values in evidence.likelihoods.items() if v != first}
    for state in np.flatnonzero(chances > 0):
        codes = evidence.codes.copy()
        codes[first] = state
        table[state] = chances[state] * _conditioned(
            engine, model, Evidence(codes, weights), rest, said
        )
    return table


def _diagnosed(beliefs: Beliefs) -> list[Diagnosis]:
    return [] if beliefs.diagnosis is None else [beliefs.diagnosis]


def _joint_diagnosis(said: Sequence[Diagnosis]) -> Diagnosis | None:
    """The first that is not proved, or the last, with all iterations."""
    if not said:
        return None
    chosen = next((one for one in said if one.trust is not Trust.PROVED), said[-1])
    return replace(chosen, iterations=sum(one.iterations for one in said), bound=None)
