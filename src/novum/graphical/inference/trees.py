"""Sum-product and max-product on factor trees: exact where the factor graph has no cycle.

    variable to factor   m(x) = product of the messages from its other factors
    factor to variable   m(x) = sum (or max) over its other variables of table * their messages
    posterior            P(x | e) proportional to the product of all messages to x

Messages go from the leaves to a root and back. Each is divided by its largest entry, whose
logarithm is kept. Observed variables are gone before, so that they cut cycles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.graphical.inference.conditioning import joint_by_conditioning
from novum.graphical.inference.flat_factors import FlatFactors, flat_factors
from novum.graphical.inference.plain_junction import impossible, with_observed
from novum.graphical.inference.potentials import scaled
from novum.graphical.inference.protocol import Beliefs, ExactEngine
from novum.graphical.inference.relevance import needed_factors
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays, Positions
from novum.graphical.structure.dag import CyclicGraphError

NO_EDGE = -1


@dataclass(frozen=True)
class SumProduct(ExactEngine):
    """Exact posteriors by messages on a factor graph without cycles.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> network.query("rain", given={"wet": "true"}, engine=SumProduct())
    rain   probability
    true      0.692308
    false     0.307692
    """

    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        asked = range(model.n_variables - model.n_hidden) if variables is None else variables
        left = flat_factors(model, evidence)
        run = TreeMessages(left, np.add.reduce)
        log = run.collect()
        if log == -math.inf:
            raise impossible()
        run.distribute()
        place = {int(variable): at for at, variable in enumerate(left.variables)}
        tables = []
        for variable in asked:
            own = run.posterior(place[variable]) if variable in place else np.ones(())
            free = [variable] if variable in place else []
            tables.append(with_observed(model, evidence, [variable], free, own))
        return Beliefs(tuple(tables), log)

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        return joint_by_conditioning(self, model, evidence, variables)

    def log_evidence(self, model: ModelArrays, evidence: Evidence) -> float:
        from novum.distributions.joint_table import ImpossibleEvidence
        from novum.graphical.inference.flat_factors import flat_factors_of

        try:
            left = flat_factors_of(model, evidence, needed_factors(model, evidence))
        except ImpossibleEvidence:
            return -math.inf
        return TreeMessages(left, np.add.reduce).collect()

    def most_probable(self, model: ModelArrays, evidence: Evidence) -> tuple[Positions, float]:
        """States of all variables that are most probable together, and their log-probability."""
        left = flat_factors(model, evidence)
        run = TreeMessages(left, np.maximum.reduce)
        log = run.collect()
        if log == -math.inf:
            raise impossible()
        codes = evidence.codes.copy()
        codes[left.variables] = run.best_states()
        return codes, log


class TreeMessages:
    """Messages along one factor tree, or several.

    Parameters
    ----------
    left : FlatFactors
    over : numpy function
        `np.add.reduce` sums, `np.maximum.reduce` maximizes.

    Attributes
    ----------
    upward, downward : lists of arrays, one for each edge
        From the factor to the variable, and back.
    """

    def __init__(self, left: FlatFactors, over: Any) -> None:
        self.left = left
        self.over = over
        self.upward: list[Floats] = [np.ones(int(left.cards[v])) for v in left.scopes]
        self.downward: list[Floats] = [np.ones(int(left.cards[v])) for v in left.scopes]
        # Nodes from the roots outwards: (is factor, number, edge towards the root).
        self.order = outwards(left)

    def collect(self) -> float:
        """Messages towards the roots; the logarithm of the sum, or maximum, over all states."""
        log = self.left.log_constant
        for is_factor, number, edge in reversed(self.order):
            if is_factor:
                message, part = scaled(self._from_factor(number, edge))
                self.upward[edge] = message
            else:
                product, part = self._at_variable(number, edge)
                if edge == NO_EDGE:
                    part += math.log(float(self.over(product))) if product.any() else -math.inf
                else:
                    self.downward[edge] = product
            log += part
            if log == -math.inf:
                return log
        return log

    def distribute(self) -> None:
        """Messages away from the roots, after `collect`."""
        for is_factor, number, edge in self.order:
            if is_factor:
                for other in self._edges_of_factor(number):
                    if other != edge:
                        self.upward[other] = scaled(self._from_factor(number, other))[0]
            else:
                for other in self._edges_of_variable(number):
                    if other != edge:
                        self.downward[other] = self._at_variable(number, other)[0]

    def posterior(self, variable: int) -> Floats:
        """The product of all messages to a variable, summing to one."""
        product, _ = self._at_variable(variable, NO_EDGE)
        return product / product.sum()

    def best_states(self) -> Positions:
        """The states that reach the maximum, read off from the roots outwards."""
        codes = np.zeros(self.left.n_variables, np.int64)
        for is_factor, number, edge in self.order:
            if not is_factor and edge == NO_EDGE:
                codes[number] = int(self._at_variable(number, NO_EDGE)[0].argmax())
            elif is_factor:
                self._choose(number, edge, codes)
        return codes

    def _choose(self, factor: int, edge: int, codes: Positions) -> None:
        """Best states of the variables beyond a factor, given that of the variable before it."""
        edges = self._edges_of_factor(factor)
        table = self.left.table(factor)
        at = edges.index(edge)
        index: list[Any] = [slice(None)] * table.ndim
        index[at] = int(codes[self.left.scopes[edge]])
        rest = [other for other in edges if other != edge]
        cells = table[tuple(index)]
        for axis, other in enumerate(rest):
            cells = cells * _along(self.downward[other], axis, cells.ndim)
        best = np.unravel_index(int(cells.argmax()), cells.shape)
        for other, state in zip(rest, best, strict=True):
            codes[self.left.scopes[other]] = state

    def _edges_of_factor(self, factor: int) -> list[int]:
        return list(range(self.left.scope_starts[factor], self.left.scope_starts[factor + 1]))

    def _edges_of_variable(self, variable: int) -> list[int]:
        starts, edges = self.left.variable_edges
        return edges[starts[variable] : starts[variable + 1]].tolist()

    def _at_variable(self, variable: int, left_out: int) -> tuple[Floats, float]:
        """The product of messages to a variable over its largest entry, and the log of that."""
        product, log = np.ones(int(self.left.cards[variable])), 0.0
        for edge in self._edges_of_variable(variable):
            if edge != left_out:
                product, part = scaled(product * self.upward[edge])
                log += part
        return product, log

    def _from_factor(self, factor: int, edge: int) -> Floats:
        table = self.left.table(factor)
        edges = self._edges_of_factor(factor)
        for axis, other in enumerate(edges):
            if other != edge:
                table = table * _along(self.downward[other], axis, table.ndim)
        kept = edges.index(edge)
        return np.asarray(self.over(np.moveaxis(table, kept, 0).reshape(table.shape[kept], -1), 1))


def _along(message: Floats, axis: int, n_axes: int) -> Floats:
    return message.reshape([-1 if a == axis else 1 for a in range(n_axes)])


def outwards(left: FlatFactors) -> list[tuple[bool, int, int]]:
    """All nodes, each after the one it hangs on; a cycle is an error."""
    starts, of_variable = left.variable_edges
    factor_of = left.factor_of_edge
    seen_variables: dict[int, int] = {}
    parent_of_factor: dict[int, int] = {}
    order: list[tuple[bool, int, int]] = []
    for root in range(left.n_variables):
        if root in seen_variables:
            continue
        seen_variables[root] = NO_EDGE
        waiting = [(False, root, NO_EDGE)]
        for node in waiting:
            order.append(node)
            is_factor, number, edge = node
            if is_factor:
                for other in range(left.scope_starts[number], left.scope_starts[number + 1]):
                    variable = int(left.scopes[other])
                    if other == edge:
                        continue
                    if variable in seen_variables:
                        raise _cycle(left, number, variable, seen_variables, parent_of_factor)
                    seen_variables[variable] = other
                    waiting.append((False, variable, other))
            else:
                for other in of_variable[starts[number] : starts[number + 1]].tolist():
                    factor = int(factor_of[other])
                    if other == edge:
                        continue
                    if factor in parent_of_factor:
                        raise _cycle(left, factor, number, seen_variables, parent_of_factor)
                    parent_of_factor[factor] = other
                    waiting.append((True, factor, other))
    return order


def _cycle(
    left: FlatFactors,
    factor: int,
    variable: int,
    edge_of_variable: dict[int, int],
    parent_of_factor: dict[int, int],
) -> CyclicGraphError:
    """The cycle that a factor and a variable reached twice close."""

    def to_root(start: int) -> list[int]:
        path = [start]
        while (edge := edge_of_variable[path[-1]]) != NO_EDGE:
            path.append(int(left.scopes[parent_of_factor[int(left.factor_of_edge[edge])]]))
        return path

    first = to_root(int(left.scopes[parent_of_factor[factor]]))
    second = to_root(variable)
    while len(first) > 1 and len(second) > 1 and first[-2] == second[-2]:
        first.pop()
        second.pop()
    around = left.variables[[*first, *reversed(second[:-1])]].tolist()
    return CyclicGraphError(around, directed=False)
