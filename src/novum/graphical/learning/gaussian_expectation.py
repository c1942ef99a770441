"""Networks with numbers from rows with missing cells: EM with exact expectations.

Given a row's missing states, its missing numbers are normal given the known ones. So an E step goes
through the configurations of the missing states of each row, weighs them by how well they explain
it, and fills missing numbers by their conditional means; what is missing of a square is added as
the conditional covariance. The M step is that of whole rows (`gaussian_families`).

The log-likelihood of the known cells does not fall, except where a configuration loses the rows
for a regression of its own and shares that of all rows; the certificate has the largest such fall.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from novum.core.errors import InputError, MemoryLimitError
from novum.core.sums import StopRule, SumProblem, fit_sums
from novum.core.text import listed
from novum.graphical.learning.coded_table import CodedTable
from novum.graphical.learning.expectation import FittedNetwork
from novum.graphical.learning.gaussian_families import (
    FamilyMoments,
    MomentsByRow,
    moments_by_row,
    summed,
)
from novum.graphical.learning.parameters import Dirichlet, pseudo_counts
from novum.graphical.learning.scores import BGe, check_families
from novum.graphical.models.conditional import Conditional
from novum.graphical.models.gaussian_parts import part_moments, parts_of
from novum.graphical.models.linear_gaussian import ConditionalGaussianNetwork
from novum.graphical.structure.dag import Dag
from novum.numerics import Floats, Integers, Moments

# Configurations of a row's missing states.
MOST_CASES = 4096
# Rows times configurations that are expanded together.
BLOCK = 2**17


@dataclass(frozen=True, eq=False)
class ExpectedMoments:
    """Expected sums of all families and the log-likelihood of the known cells."""

    sums: FamilyMoments
    log_likelihood: float


def fit_numbers_expectation(
    graph: Dag, table: CodedTable, prior: Any = None, *, stop: StopRule | None = None
) -> FittedNetwork:
    """The network with numbers that explains the known cells best, as far as EM climbs."""
    if isinstance(prior, BGe):
        raise InputError(
            "BGe() is a prior for whole rows, and cells are missing. Fit by maximum likelihood, "
            "with a prior such as BDeu(1.0) of the tables alone, or leave such rows out."
        )
    check_families(graph, table.cards)
    problem = _Expectation(graph, table, prior)
    fitted = fit_sums(
        problem,
        lambda step: step(table),
        stop=stop or StopRule(tol=1e-8, max_iter=500),
        on_fall="record",
    )
    details = {
        **fitted.certificate.details,
        "missing_cells": int((table.codes < 0).sum()),
        "assumes": "cells are missing at random, given what is known of their row",
    }
    return FittedNetwork(
        fitted.params,
        fitted.statistics.log_likelihood,
        fitted.statistics.sums,
        replace(fitted.certificate, details=details),
        table,
    )


class _Expectation(SumProblem[ConditionalGaussianNetwork, ExpectedMoments]):
    objective_name: ClassVar[str] = "log-likelihood of the known cells"
    direction: ClassVar[Any] = "maximize"

    def __init__(self, graph: Dag, table: CodedTable, prior: Any) -> None:
        self.graph, self.table, self.prior = graph, table, prior

    def start(self, rng: np.random.Generator) -> ConditionalGaussianNetwork:
        """From rows filled with the means of their columns and the most frequent states."""
        del rng
        codes, numbers = self.table.codes.copy(), list(self.table.numbers)
        weights = np.ones(self.table.n_rows) if self.table.weights is None else self.table.weights
        for place, cells in enumerate(numbers):
            known = codes[place] >= 0
            if cells is not None:
                numbers[place] = np.where(
                    known, cells, np.average(cells[known], weights=weights[known])
                )
            else:
                codes[place, ~known] = np.bincount(codes[place, known], weights[known]).argmax()
        codes[list(self.table.is_numeric)] = 0
        filled = replace(self.table, codes=codes, numbers=tuple(numbers))
        # No cell of a table may be zero at the start: it would stay so.
        return summed(self.graph, filled).network(Dirichlet(1.0))

    def step(self, network: ConditionalGaussianNetwork, table: CodedTable) -> ExpectedMoments:
        return expected_moments(network, table)

    def objective(self, network: ConditionalGaussianNetwork, statistics: ExpectedMoments) -> float:
        tables = [node for node in network.nodes if isinstance(node, Conditional)]
        shapes = [node.shape for node in tables]
        added = pseudo_counts(self.prior, shapes, [node.name for node in tables])
        cells = np.concatenate([np.empty(0), *(node.table.ravel() for node in tables)])
        with np.errstate(divide="ignore"):
            logs = np.log(cells[added > 0])
        return statistics.log_likelihood + float(added[added > 0] @ logs)

    def update(
        self, network: ConditionalGaussianNetwork, statistics: ExpectedMoments
    ) -> ConditionalGaussianNetwork:
        del network
        return statistics.sums.network(self.prior)

    def scale(self, network: ConditionalGaussianNetwork, statistics: ExpectedMoments) -> float:
        del network, statistics
        return self.table.total


# --- One E step -----------------------------------------------------------------------------------


def expected_moments(network: ConditionalGaussianNetwork, table: CodedTable) -> ExpectedMoments:
    """Expected sums of all families of a network's graph, and the log-likelihood of known cells."""
    d = len(network.names)
    states = np.where(np.array(network.is_numeric), 0, table.codes.T).astype(np.int64)
    numbers = np.zeros((table.n_rows, d))
    for place, cells in enumerate(table.numbers):
        if cells is not None:
            numbers[:, place] = cells
    known = table.codes.T >= 0
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    sums = _Accumulated(network)
    patterns, which = np.unique(known, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(which.ravel() == number)
        gone = [i for i in range(d) if not pattern[i] and not network.is_numeric[i]]
        cards = [network.card(i) for i in gone]
        q = math.prod(cards)
        if q > MOST_CASES:
            names = listed([network.names[i] for i in gone])
            raise MemoryLimitError(
                f"Row {int(rows[0])} lacks the states of {names}, {q:,} configurations together; "
                f"the limit is {MOST_CASES:,}. Leave such rows or some of these columns out."
            )
        cases = np.stack(np.unravel_index(np.arange(q), cards or (1,)), axis=1)[:, : len(gone)]
        for begin in range(0, len(rows), max(1, BLOCK // q)):
            block = rows[begin : begin + max(1, BLOCK // q)]
            full = np.repeat(states[block], q, axis=0)
            full[:, gone] = np.tile(cases, (len(block), 1))
            sums.add(pattern, full, np.repeat(numbers[block], q, axis=0), weights[block], q)
    moments = FamilyMoments(
        table.variables, network.graph.parents, table.total, sums.counts, sums.moments()
    )
    return ExpectedMoments(moments, sums.log_likelihood)


class _Accumulated:
    """Sums over weighted configurations of rows, collected pattern by pattern."""

    def __init__(self, network: ConditionalGaussianNetwork) -> None:
        self.network = network
        self.log_likelihood = 0.0
        self.discrete = [i for i, x in enumerate(network.is_numeric) if not x]
        self.numeric = [i for i, x in enumerate(network.is_numeric) if x]
        sizes = [math.prod(self._node(i).shape) for i in self.discrete]
        self.begins = np.cumsum([0, *sizes])
        self.counts = np.zeros(int(self.begins[-1]))
        self.cells: dict[int, list[tuple[Integers, Floats, Floats]]] = {i: [] for i in self.numeric}
        self.spread = {
            i: np.zeros((len(network.tables[i][0]), *[len(network.numeric_parents[i]) + 1] * 2))
            for i in self.numeric
        }

    def _node(self, place: int) -> Conditional:
        node = self.network.nodes[place]
        assert isinstance(node, Conditional)
        return node

    def add(self, pattern: Any, states: Integers, numbers: Floats, weights: Floats, q: int) -> None:
        """Rows that know the same cells, each with its q configurations of missing states."""
        network = self.network
        logs, rows = np.zeros(len(states)), []
        for place in self.discrete:
            row = network.configuration(place, states) * network.card(place) + states[:, place]
            with np.errstate(divide="ignore"):
                logs += np.log(self._node(place).table.ravel())[row]
            rows.append(row)
        known = {i for i in self.numeric if pattern[i]}
        spreads = []
        for part in parts_of(network, set(self.numeric), known):
            switches = states[:, list(part.switches)]
            different, group = np.unique(switches, axis=0, return_inverse=True)
            group = group.ravel()
            for number in range(len(different)):
                chosen = np.flatnonzero(group == number)
                moments = part_moments(network, part, states[chosen[:1]], numbers[chosen])
                logs[chosen] += moments.log_likelihood[:, 0]
                hidden = [part.nodes[h] for h in part.hidden]
                numbers[chosen[:, None], hidden] = moments.means[:, 0]
                spreads.append((part, chosen, hidden, moments.covariances[0]))
        by_row = logs.reshape(-1, q)
        top = by_row.max(axis=1, keepdims=True)
        if not np.isfinite(top).all():
            raise InputError("A row is impossible under the tables that the other rows give.")
        shares = np.exp(by_row - top)
        totals = shares.sum(axis=1, keepdims=True)
        self.log_likelihood += float(weights @ (np.log(totals) + top)[:, 0])
        weight = (weights[:, None] * shares / totals).ravel()
        for number, row in enumerate(rows):
            begin, end = self.begins[number], self.begins[number + 1]
            self.counts[begin:end] += np.bincount(row, weight, end - begin)
        for place in self.numeric:
            members = [*network.numeric_parents[place], place]
            self.cells[place].append(
                (network.configuration(place, states), numbers[:, members], weight)
            )
        for part, chosen, hidden, covariance in spreads:
            total = float(weight[chosen].sum())
            at = {node: position for position, node in enumerate(hidden)}
            for place in part.nodes:
                case = int(network.configuration(place, states[chosen[:1]])[0])
                members = [*network.numeric_parents[place], place]
                inside = [m for m, node in enumerate(members) if node in at]
                where = [at[members[m]] for m in inside]
                self.spread[place][case][np.ix_(inside, inside)] += (
                    total * covariance[np.ix_(where, where)]
                )

    def moments(self) -> MomentsByRow:
        """Of every configuration, with what is missing of the squares."""
        made: list[Moments] = []
        for place in self.numeric:
            row, cells, weight = (np.concatenate(x) for x in zip(*self.cells[place], strict=True))
            plain = moments_by_row(cells, row, len(self.spread[place]), weight)
            for moments, more in zip(plain, self.spread[place], strict=True):
                made.append(
                    Moments(
                        moments.weight,
                        moments.mean,
                        moments.scatter + more,
                        moments.weight_low,
                        moments.mean_low,
                        moments.scatter_low,
                    )
                )
        return MomentsByRow(made)
