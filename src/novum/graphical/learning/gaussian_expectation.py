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
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from novum.core.errors import InputError, MemoryLimitError
from novum.core.runtime import check_memory
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
from novum.graphical.learning.scores import (
    BGe,
    Criterion,
    FamilyScores,
    LogLikelihood,
    StructurePrior,
    check_families,
)
from novum.graphical.models.conditional import Conditional
from novum.graphical.models.gaussian_parts import Part, part_moments, parts_of
from novum.graphical.models.linear_gaussian import ConditionalGaussianNetwork
from novum.graphical.structure.dag import Dag
from novum.numerics import Floats, Integers, Moments, one_blas_thread

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
    graph: Dag,
    table: CodedTable,
    prior: Any = None,
    *,
    stop: StopRule | None = None,
    filled: CodedTable | None = None,
) -> FittedNetwork:
    """The network with numbers that explains the known cells best, as far as EM climbs.

    `filled` are whole rows whose network is the start.
    """
    if isinstance(prior, BGe):
        raise InputError(
            "BGe() is a prior for whole rows, and cells are missing. Fit by maximum likelihood, "
            "with a prior such as BDeu(1.0) of the tables alone, or leave such rows out."
        )
    check_families(graph, table.cards)
    problem = _Expectation(graph, table, prior, filled)
    with one_blas_thread():
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

    def __init__(
        self, graph: Dag, table: CodedTable, prior: Any, filled: CodedTable | None = None
    ) -> None:
        self.graph, self.table, self.prior, self.filled = graph, table, prior, filled

    def start(self, rng: np.random.Generator) -> ConditionalGaussianNetwork:
        del rng
        # No cell of a table may be zero at the start: it would stay so.
        filled = self._filled() if self.filled is None else self.filled
        return summed(self.graph, filled).network(Dirichlet(1.0))

    def _filled(self) -> CodedTable:
        """Rows filled with the means of their columns and the most frequent states."""
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
        return replace(self.table, codes=codes, numbers=tuple(numbers))

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


class _Block(NamedTuple):
    """Rows that know the same cells, each with all configurations of its missing states.

    Attributes
    ----------
    states : int array of shape (n, n_nodes)
    numbers : array of shape (n, n_nodes)
        Missing ones by their means given the states and the known numbers.
    weights : array of shape (n,)
        Of the row times the probability of the configuration given what is known.
    spreads : list of (part, rows, nodes, covariance)
        Of the missing numbers of a part, the same for all rows with these switches.
    log_likelihood : float
    """

    states: Integers
    numbers: Floats
    weights: Floats
    spreads: list[tuple[Part, Integers, list[int], Floats]]
    log_likelihood: float


def _blocks(network: ConditionalGaussianNetwork, table: CodedTable) -> Iterator[_Block]:
    """A table with its missing cells explained, pattern by pattern of what is known."""
    d = len(network.names)
    states = np.where(np.array(network.is_numeric), 0, table.codes.T).astype(np.int64)
    numbers = np.zeros((table.n_rows, d))
    for place, cells in enumerate(table.numbers):
        if cells is not None:
            numbers[:, place] = cells
    known = table.codes.T >= 0
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    patterns, which = np.unique(known, axis=0, return_inverse=True)
    expanded = 0
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(which.ravel() == number)
        gone = [i for i in range(d) if not pattern[i] and not network.is_numeric[i]]
        cards = [network.card(i) for i in gone]
        q = math.prod(cards)
        expanded += q * len(rows)
        check_memory(
            32 * d * expanded,
            f"{expanded:,} configurations of the missing states of the rows so far",
            "Leave out rows or columns with many missing states, or cut the numbers.",
        )
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
            yield _explained(
                network, pattern, full, np.repeat(numbers[block], q, axis=0), weights[block], q
            )


def _explained(
    network: ConditionalGaussianNetwork,
    pattern: Any,
    states: Integers,
    numbers: Floats,
    weights: Floats,
    q: int,
) -> _Block:
    """Weights of the q configurations of each row, and the law of its missing numbers."""
    numeric = [i for i, x in enumerate(network.is_numeric) if x]
    logs = np.zeros(len(states))
    for place, x in enumerate(network.is_numeric):
        if not x:
            with np.errstate(divide="ignore"):
                logs += np.log(_table(network, place).ravel())[_cells(network, place, states)]
    known = {i for i in numeric if pattern[i]}
    spreads = []
    for part in parts_of(network, set(numeric), known):
        groups = [np.arange(len(states))]
        if part.switches:
            _, group = np.unique(states[:, list(part.switches)], axis=0, return_inverse=True)
            order = np.argsort(group.ravel(), kind="stable")
            groups = np.split(order, np.flatnonzero(np.diff(group.ravel()[order])) + 1)
        for chosen in groups:
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
    weight = (weights[:, None] * shares / totals).ravel()
    return _Block(states, numbers, weight, spreads, float(weights @ (np.log(totals) + top)[:, 0]))


def _table(network: ConditionalGaussianNetwork, place: int) -> Floats:
    node = network.nodes[place]
    assert isinstance(node, Conditional)
    return node.table


def _cells(network: ConditionalGaussianNetwork, place: int, states: Integers) -> Integers:
    """Cells of a discrete family for states of all nodes."""
    return network.configuration(place, states) * network.card(place) + states[:, place]


def expected_moments(network: ConditionalGaussianNetwork, table: CodedTable) -> ExpectedMoments:
    """Expected sums of all families of a network's graph, and the log-likelihood of known cells."""
    discrete = [i for i, x in enumerate(network.is_numeric) if not x]
    numeric = [i for i, x in enumerate(network.is_numeric) if x]
    counts = {i: np.zeros(_table(network, i).size) for i in discrete}
    cells: dict[int, list[tuple[Integers, Floats, Floats]]] = {i: [] for i in numeric}
    spread = {
        i: np.zeros((len(network.tables[i][0]), *[len(network.numeric_parents[i]) + 1] * 2))
        for i in numeric
    }
    log_likelihood = 0.0
    for block in _blocks(network, table):
        log_likelihood += block.log_likelihood
        for place in discrete:
            row = _cells(network, place, block.states)
            counts[place] += np.bincount(row, block.weights, counts[place].size)
        for place in numeric:
            members = [*network.numeric_parents[place], place]
            row = network.configuration(place, block.states)
            cells[place].append((row, block.numbers[:, members], block.weights))
        for part, chosen, hidden, covariance in block.spreads:
            total = float(block.weights[chosen].sum())
            at = {node: position for position, node in enumerate(hidden)}
            for place in part.nodes:
                case = int(network.configuration(place, block.states[chosen[:1]])[0])
                members = [*network.numeric_parents[place], place]
                inside = [m for m, node in enumerate(members) if node in at]
                where = [at[members[m]] for m in inside]
                spread[place][case][np.ix_(inside, inside)] += (
                    total * covariance[np.ix_(where, where)]
                )
    made: list[Moments] = []
    for place in numeric:
        row, values, weight = (np.concatenate(x) for x in zip(*cells[place], strict=True))
        plain = moments_by_row(values, row, len(spread[place]), weight)
        for moments, more in zip(plain, spread[place], strict=True):
            made.append(replace(moments, scatter=moments.scatter + more))
    sums = FamilyMoments(
        table.variables,
        network.graph.parents,
        table.total,
        np.concatenate([np.empty(0), *counts.values()]),
        MomentsByRow(made),
    )
    return ExpectedMoments(sums, log_likelihood)


def completed_rows(network: ConditionalGaussianNetwork, table: CodedTable) -> CodedTable:
    """Whole rows with the expected sums of every family of every graph, exactly.

    A row becomes one for each configuration of its missing states, with its probability as weight.
    Missing numbers are their means; of all rows with the same states and gaps, of weight W, one of
    weight w is split into the 2 h points

        mean +- sqrt(h W / w) l_i,    weight w / 2h each,

    with l_i the columns of a root of the covariance C of the h missing numbers: its weight and mean
    stay, and W C is added to its squares.
    """
    numeric = [i for i, x in enumerate(network.is_numeric) if x]
    discrete = [i for i, x in enumerate(network.is_numeric) if not x]
    states, numbers, weights = [], [], []
    for block in _blocks(network, table):
        block_numbers, block_weights = block.numbers, block.weights
        nodes = [node for _, _, hidden, _ in block.spreads for node in hidden]
        if nodes:
            _, groups = np.unique(block.states[:, discrete], axis=0, return_inverse=True)
            order = np.argsort(groups.ravel(), kind="stable")
            ends = np.flatnonzero(np.diff(groups.ravel()[order])) + 1
            for chosen in np.split(order, ends):
                own = block.weights[chosen]
                row, total = int(chosen[own.argmax()]), float(own.sum())
                if not total > 0:
                    continue
                points = _points(block, row, total / float(own.max()))
                h = len(points)
                states.append(np.repeat(block.states[[row]], h, axis=0))
                numbers.append(points)
                weights.append(np.full(h, block.weights[row] / h))
                block_weights[row] = 0.0
        kept = block_weights > 0
        states.append(block.states[kept])
        numbers.append(block_numbers[kept])
        weights.append(block_weights[kept])
    codes = np.concatenate(states).T.astype(np.int32)
    codes[numeric] = 0
    columns = np.concatenate(numbers).T
    return CodedTable(
        table.variables,
        np.ascontiguousarray(codes),
        np.concatenate(weights),
        (),
        tuple(
            np.ascontiguousarray(columns[i]) if x else None
            for i, x in enumerate(network.is_numeric)
        ),
    )


def _points(block: _Block, row: int, scale: float) -> Floats:
    """Points about a row whose spread is that of its missing numbers times `scale`."""
    roots = []
    for _, chosen, hidden, covariance in block.spreads:
        if hidden and row in chosen:
            values, vectors = np.linalg.eigh(covariance)
            root = np.zeros((len(hidden), block.numbers.shape[1]))
            root[:, hidden] = (vectors * np.sqrt(np.maximum(values, 0.0))).T
            roots.append(root)
    steps = np.concatenate(roots)
    steps *= math.sqrt(len(steps) * scale)
    return np.concatenate([block.numbers[row] + steps, block.numbers[row] - steps])


def score_numbers_with_missing(
    graph: Dag,
    table: CodedTable,
    criterion: Criterion,
    prior: StructurePrior | None,
    filled: CodedTable | None = None,
) -> tuple[float, ConditionalGaussianNetwork]:
    """The score of a graph with numbers for rows with missing cells, and the network of EM.

    As of states (`score_with_missing`): score(N) - log P(N | t) + log P(known cells | t) at the
    parameters t of EM and their expected sums N.
    """
    fitted = fit_numbers_expectation(graph, table, filled=filled)
    rows = completed_rows(fitted.network, table)
    whole = FamilyScores(rows, criterion, prior=prior).total(graph.parents)
    likelihood = FamilyScores(rows, LogLikelihood()).total(graph.parents)
    return whole - likelihood + fitted.log_likelihood, fitted.network
