"""Sum-product and max-product on factor trees: exact where the factor graph has no cycle.

    variable to factor   m(x) = product of the messages from its other factors
    factor to variable   m(x) = sum (or max) over its other variables of table * their messages
    posterior            P(x | e) proportional to the product of all messages to x

Messages go from the leaves to a root and back. Each is divided by its largest entry, whose
logarithm is kept. Observed variables are gone before, so that they cut cycles. Where products might
leave the range of floating-point numbers, messages are logarithms, so that a state far below
another one keeps its digits and can decide when later messages rule the other one out.
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
from novum.graphical.inference.potentials import MOST_POWERS, scaled
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
        run = TreeMessages(left, np.add)
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
        return TreeMessages(left, np.add).collect()

    def most_probable(self, model: ModelArrays, evidence: Evidence) -> tuple[Positions, float]:
        """States of all variables that are most probable together, and their log-probability."""
        left = flat_factors(model, evidence)
        run = TreeMessages(left, np.maximum)
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
        `np.add` sums, `np.maximum` maximizes.

    Attributes
    ----------
    in_logs : bool
        Whether tables and messages are logarithms.
    upward, downward : lists of arrays, one for each edge
        From the factor to the variable, and back.
    """

    def __init__(self, left: FlatFactors, over: np.ufunc) -> None:
        self.left = left
        self.in_logs = powers_of(left) > MOST_POWERS
        self.times = np.add if self.in_logs else np.multiply
        self.over = np.logaddexp if self.in_logs and over is np.add else over
        with np.errstate(divide="ignore"):
            self.cells = np.log(left.tables) if self.in_logs else left.tables
        one = 0.0 if self.in_logs else 1.0
        self.upward: list[Floats] = [np.full(int(left.cards[v]), one) for v in left.scopes]
        self.downward: list[Floats] = list(self.upward)
        # Nodes from the roots outwards: (is factor, number, edge towards the root).
        self.order = outwards(left)

    def collect(self) -> float:
        """Messages towards the roots; the logarithm of the sum, or maximum, over all states."""
        log = self.left.log_constant
        for is_factor, number, edge in reversed(self.order):
            if is_factor:
                self.upward[edge], part = self._scaled(self._from_factor(number, edge))
            else:
                edges = [other for other in self._edges_of_variable(number) if other != edge]
                message, part = self._scaled(self._product(number, edges))
                if edge == NO_EDGE:
                    part += self._scaled(np.atleast_1d(self.over.reduce(message)))[1]
                else:
                    self.downward[edge] = message
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
                        self.upward[other] = self._scaled(self._from_factor(number, other))[0]
            else:
                self._send_all_but_one(number)

    def _send_all_but_one(self, variable: int) -> None:
        """To each factor of a variable the product of what the others sent.

        Products of the first and of the last messages leave one out in a single pass.
        """
        edges = self._edges_of_variable(variable)
        messages = np.array([self.upward[edge] for edge in edges])
        first = self.times.accumulate(messages, axis=0)
        last = self.times.accumulate(messages[::-1], axis=0)[::-1]
        for i, edge in enumerate(edges[1:-1], 1):
            self.downward[edge] = self._scaled(self.times(first[i - 1], last[i + 1]))[0]
        if len(edges) > 1:
            self.downward[edges[0]] = self._scaled(last[1])[0]
            self.downward[edges[-1]] = self._scaled(first[-2])[0]

    def posterior(self, variable: int) -> Floats:
        """The product of all messages to a variable, summing to one."""
        table = np.exp(self.logs_at(variable)) if self.in_logs else self._at(variable)
        return table / table.sum()

    def logs_at(self, variable: int, edges: Sequence[int] | None = None) -> Floats:
        """Logarithms of the product of messages along some edges, or all; the largest is 0."""
        message = self._at(variable, edges)
        with np.errstate(divide="ignore"):
            return message if self.in_logs else np.log(message)

    def _at(self, variable: int, edges: Sequence[int] | None = None) -> Floats:
        chosen = self._edges_of_variable(variable) if edges is None else edges
        return self._scaled(self._product(variable, chosen))[0]

    def best_states(self) -> Positions:
        """The states that reach the maximum, read off from the roots outwards."""
        codes = np.zeros(self.left.n_variables, np.int64)
        for is_factor, number, edge in self.order:
            if not is_factor and edge == NO_EDGE:
                codes[number] = int(self._at(number).argmax())
            elif is_factor:
                self._choose(number, edge, codes)
        return codes

    def _choose(self, factor: int, edge: int, codes: Positions) -> None:
        """Best states of the variables beyond a factor, given that of the variable before it."""
        edges = self._edges_of_factor(factor)
        table = self._table(factor)
        at = edges.index(edge)
        index: list[Any] = [slice(None)] * table.ndim
        index[at] = int(codes[self.left.scopes[edge]])
        rest = [other for other in edges if other != edge]
        cells = table[tuple(index)]
        for axis, other in enumerate(rest):
            cells = self.times(cells, _along(self.downward[other], axis, cells.ndim))
        best = np.unravel_index(int(cells.argmax()), cells.shape)
        for other, state in zip(rest, best, strict=True):
            codes[self.left.scopes[other]] = state

    def _edges_of_factor(self, factor: int) -> list[int]:
        return list(range(self.left.scope_starts[factor], self.left.scope_starts[factor + 1]))

    def _edges_of_variable(self, variable: int) -> list[int]:
        starts, edges = self.left.variable_edges
        return edges[starts[variable] : starts[variable + 1]].tolist()

    def _product(self, variable: int, edges: Sequence[int]) -> Floats:
        """The product of messages to a variable along some edges."""
        if not edges:
            return np.full(int(self.left.cards[variable]), self.times.identity, np.float64)
        return np.asarray(self.times.reduce([self.upward[edge] for edge in edges], axis=0))

    def _from_factor(self, factor: int, edge: int) -> Floats:
        table = self._table(factor)
        edges = self._edges_of_factor(factor)
        for axis, other in enumerate(edges):
            if other != edge:
                table = self.times(table, _along(self.downward[other], axis, table.ndim))
        kept = edges.index(edge)
        wide = np.moveaxis(table, kept, 0).reshape(table.shape[kept], -1)
        return np.asarray(self.over.reduce(wide, axis=1))

    def _table(self, factor: int) -> Floats:
        starts = self.left.table_starts
        cells = self.cells[starts[factor] : starts[factor + 1]]
        return cells.reshape(self.left.cards[self.left.scope(factor)])

    def _scaled(self, message: Floats) -> tuple[Floats, float]:
        """A message with a largest entry of one, and the logarithm of what it was."""
        if not self.in_logs:
            return scaled(message)
        top = float(message.max())
        return (message, top) if top == -math.inf else (message - top, top)


def powers_of(left: FlatFactors) -> float:
    """How many powers of two two entries of a message may be apart.

    An entry is a sum of products of cells, each table once, over states of other variables.
    """
    positive = np.where(left.tables > 0, left.tables, 1.0)
    powers = np.append(np.abs(np.log2(positive)), 0.0)
    of_tables = np.maximum.reduceat(powers, left.table_starts[:-1]) if left.n_factors else powers
    return float(of_tables.sum() + np.log2(left.cards).sum())


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
