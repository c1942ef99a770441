"""Loopy belief propagation: the messages of trees, sent on graphs with cycles until they settle.

    factor to variable   m(x) = sum over its other variables of table * their messages
    variable to factor   m(x) = product of the messages from its other factors

On trees the fixed point is exact. With cycles evidence is counted again each time it comes around:
the messages may settle on a good approximation (a stationary point of the Bethe free energy), or
swing for ever, which damping and updating the most changed message first make rarer.

    flooding   all messages at once
    residual   always those of the factor whose messages would change most (Elidan et al. 2006)
    damping    new message = (1 - d) * computed + d * old
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from novum.core.errors import InputError
from novum.graphical.inference.conditioning import joint_by_conditioning
from novum.graphical.inference.flat_factors import FlatFactors, flat_factors, starts_of
from novum.graphical.inference.plain_junction import impossible, with_observed
from novum.graphical.inference.protocol import Beliefs, Diagnosis, Engine
from novum.graphical.inference.settings import check_count, check_positive, check_share
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays

SCHEDULES = ("flooding", "residual")


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
        Largest change of a message that counts as settled.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> network.query("rain", given={"wet": "true"}, engine=LoopyPropagation())
    rain   probability
    true      0.692308
    false     0.307692
    Loopy propagation settled after 2 iterations; without cycles that is exact.
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
        left = flat_factors(model, evidence, None if variables is None else asked)
        run = LoopyMessages(left, self.damping)
        change, iterations = self._settle(run)
        place = {int(variable): at for at, variable in enumerate(left.variables)}
        tables, found = [], run.posteriors()
        for variable in asked:
            own = found[place[variable]] if variable in place else np.ones(())
            free = [variable] if variable in place else []
            tables.append(with_observed(model, evidence, [variable], free, own))
        return Beliefs(tuple(tables), None, self._diagnosis(left, change, iterations))

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        return joint_by_conditioning(self, model, evidence, variables)

    def _settle(self, run: LoopyMessages) -> tuple[float, int]:
        change = 0.0
        for iteration in range(1, self.max_iter + 1):
            flooding = self.schedule == "flooding"
            change = run.flood() if flooding else run.follow_residuals(self.tol)
            if change < 0:
                raise impossible()
            if change < self.tol:
                return change, iteration
        return change, self.max_iter

    def _diagnosis(self, left: FlatFactors, change: float, iterations: int) -> Diagnosis:
        settled, exact = change < self.tol, _is_forest(left)
        passes = f"{iterations} iteration{'s' * (iterations != 1)}"
        if not settled:
            said = (
                f"Loopy propagation did not settle in {passes}: messages still "
                f"change by {change:.2g}. Not to be trusted; try damping=0.5 or "
                "schedule='residual', or use JunctionTree()."
            )
        elif exact:
            said = f"Loopy propagation settled after {passes}; without cycles that is exact."
        else:
            said = (
                f"Loopy propagation settled after {passes}; with cycles that is an "
                "approximation whose error is not known. Compare with JunctionTree()."
            )
        return Diagnosis("loopy propagation", settled and exact, said, iterations)


class LoopyMessages:
    """Messages of one run, and the arrays that kernels work with."""

    def __init__(self, left: FlatFactors, damping: float) -> None:
        self.left = left
        self.damping = float(damping)
        sizes = left.cards[left.scopes]
        self.edge_starts = starts_of(sizes)
        self.up = np.repeat(1.0 / sizes, sizes)
        widest = int(np.max(np.diff(left.scope_starts), initial=1))
        self.work: tuple[Any, ...] = (
            np.empty(widest, np.int64),
            np.empty(widest),
            np.empty(int(np.max(left.cards, initial=1))),
            np.empty_like(self.up),
            np.empty_like(self.up),
        )
        self.arrays = (
            left.cards,
            left.scope_starts,
            left.scopes,
            left.table_starts,
            self.edge_starts,
            *left.variable_edges,
            left.tables,
        )
        self.residuals: Floats | None = None

    def flood(self) -> float:
        """One iteration of all messages; the largest change, negative where all is impossible."""
        from novum.graphical.inference.belief_propagation_kernels import flood

        return float(flood(*self.arrays, self.damping, *self.work, self.up))

    def follow_residuals(self, tol: float) -> float:
        """As many updates as there are factors, each where the change is largest."""
        from novum.graphical.inference.belief_propagation_kernels import flood, follow_residuals

        if self.residuals is None:
            # One look at all messages that sends none of them.
            unchanged = self.up.copy()
            if flood(*self.arrays, 1.0, *self.work, unchanged) < 0:
                return -1.0
            changes = np.abs(self.work[4] - self.up)
            cells = self.edge_starts[self.left.scope_starts[:-1]]
            self.residuals = np.maximum.reduceat(changes, cells) if len(cells) else np.empty(0)
        if len(self.residuals) == 0:
            return 0.0
        return float(
            follow_residuals(
                *self.arrays, self.damping, *self.work, self.up, self.left.factor_of_edge,
                float(tol), self.left.n_factors, self.residuals,
            )
        )  # fmt: skip

    def posteriors(self) -> list[Floats]:
        """The product of all messages to each variable, summing to one."""
        from novum.graphical.inference.belief_propagation_kernels import multiply_messages

        left = self.left
        beliefs = np.empty(int(left.cell_starts[-1]))
        starts, edges = left.variable_edges
        possible = multiply_messages(
            left.cards, left.cell_starts, self.edge_starts, starts, edges, self.up, beliefs
        )
        if not possible:
            raise impossible()
        return np.split(beliefs, left.cell_starts[1:-1])


def _is_forest(left: FlatFactors) -> bool:
    """Whether no cycle runs through variables and factors."""
    from novum.graphical.inference.trees import CyclicGraphError, outwards

    if left.n_edges > 0 and left.n_edges >= left.n_factors + left.n_variables:
        return False
    try:
        outwards(left)
    except CyclicGraphError:
        return False
    return True
