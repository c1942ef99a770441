"""Tables from rows with missing cells, and of variables that are never seen: EM.

    E   expected counts   N_ijk = sum over rows of w * P(x_i = k, parents j | known cells, tables)
    M   tables            P(x_i = k | j) = (N_ijk + a_ijk) / (N_ij + a_ij)

Each round raises  log P(known cells) + sum of a_ijk log P(x_i = k | j),  which is the certificate's
trace. Equal rows are taken once. This is right where cells are missing at random: whether a cell is
missing may depend on what is known of its row, not on the cell itself. `missing_dependence` tests
what can be tested of that.

References
----------
Lauritzen (1995). Dempster, Laird and Rubin (1977). Varadhan and Roland (2008).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Certificate
from novum.core.runtime import RandomSource, time_sliced
from novum.core.sums import StopRule, SumProblem, fit_sums
from novum.core.text import label_text
from novum.distributions import StateAxis
from novum.graphical.inference.junction import JunctionTree
from novum.graphical.learning import expectation_kernels as kernels
from novum.graphical.learning.coded_table import CodedTable, read_table
from novum.graphical.learning.parameters import (
    FamilyCounts,
    TablePrior,
    counted,
    network_of,
    noisy_nodes,
    pseudo_counts,
    shares,
)
from novum.graphical.learning.scores import (
    Criterion,
    StructurePrior,
    check_families,
    family_shapes,
    graph_and_rows,
    keeps_numbers,
    score_of_counts,
)
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.compact import NoisyOr
from novum.graphical.models.linear_gaussian import ConditionalGaussianNetwork
from novum.graphical.structure.dag import Dag
from novum.numerics import Codes, Floats, SquaredExtrapolation, cached_property

if TYPE_CHECKING:
    from novum.graphical.learning.independence import Independence

# Restarts where a variable is never seen: its states have no names, and maxima are many.
RESTARTS = 10


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """Expected counts of all families and the log-likelihood of the known cells."""

    counts: Floats
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """What EM reached.

    Attributes
    ----------
    network : BayesianNetwork, or ConditionalGaussianNetwork
    log_likelihood : float
        Of the known cells.
    counts : FamilyCounts, or FamilyMoments
        Expected under the network.
    certificate : Certificate
    """

    network: Any
    log_likelihood: float
    counts: Any
    certificate: Certificate
    table: CodedTable = field(repr=False)

    @cached_property
    def missing_dependence(self) -> tuple[Independence, ...]:
        """Columns whose gaps go along with what other columns say, which EM allows for.

        None is found where cells are missing completely at random. What a cell would have said
        cannot be tested: that it is missing at random given its row is assumed.
        """
        from novum.graphical.learning.independence import missing_dependence

        seen = np.flatnonzero((self.table.codes >= 0).any(axis=1)).tolist()
        names = [self.table.names[place] for place in seen]
        return missing_dependence(self.table.select(names))


class RowFamilies:
    """The rows and families of one EM, as kernels take them."""

    def __init__(self, table: CodedTable, parents: Sequence[Sequence[int]]) -> None:
        once = table.distinct()
        self.table, self.parents = table, tuple(tuple(p) for p in parents)
        self.rows: Codes = np.ascontiguousarray(once.codes.T)
        self.weights: Floats = np.ones(len(self.rows)) if once.weights is None else once.weights
        starts, members, strides, firsts = [0], [], [], [0]
        for node, above in enumerate(self.parents):
            family = [*above, node]
            sizes = [int(table.cards[m]) for m in family]
            members += family
            strides += [math.prod(sizes[i + 1 :]) for i in range(len(family))]
            starts.append(len(members))
            firsts.append(firsts[-1] + math.prod(sizes))
        self.n_cells = firsts.pop()
        lists = (starts, members, strides, firsts, table.cards)
        self.families = tuple(np.array(item, np.int64) for item in lists)

    def normalized(self, cells: Floats) -> Floats:
        """Cells as shares of their rows, all families one after the other."""
        out = np.empty_like(cells)
        ends = [*self.families[3].tolist(), self.n_cells]
        for node, (begin, end) in enumerate(itertools.pairwise(ends)):
            size = int(self.table.cards[node])
            out[begin:end] = shares(cells[begin:end].reshape(-1, size)).ravel()
        return out

    def expected(self, tables: Floats) -> ExpectedCounts:
        """One E step."""
        counts, logs = np.zeros(self.n_cells), np.empty(len(self.rows))
        for begin, end in time_sliced(len(self.rows), block=64):
            kernels.add_expected(
                self.families, tables, self.rows, self.weights, begin, end, counts, logs
            )
        left = np.flatnonzero(np.isnan(logs))
        if left.size:
            self.add_by_trees(tables, left, counts, logs)
        return ExpectedCounts(counts, float(self.weights @ logs))

    def add_by_trees(self, tables: Floats, left: Any, counts: Floats, logs: Floats) -> None:
        """Rows whose missing cells hang together too much, one by one."""
        model = network_of(self.table.variables, self.parents, tables).arrays
        engine = JunctionTree()
        starts = self.families[3]
        for row in left.tolist():
            evidence = Evidence(self.rows[row].astype(np.int64))
            logs[row] = engine.log_evidence(model, evidence)
            if logs[row] == -math.inf:
                continue
            beliefs = engine.families(model, evidence)
            for node, table in enumerate(beliefs.tables[: len(starts)]):
                begin = int(starts[node])
                counts[begin : begin + table.size] += self.weights[row] * table.ravel()


class _Expectation(SumProblem[Floats, ExpectedCounts]):
    objective_name: ClassVar[str] = "log-likelihood of the known cells"
    direction: ClassVar[Any] = "maximize"

    def __init__(self, rows: RowFamilies, added: Floats, hidden: Sequence[int]) -> None:
        self.rows, self.added, self.hidden = rows, added, hidden

    def start(self, rng: np.random.Generator) -> Floats:
        """From the rows that know whole families; of hidden variables random."""
        cells = counted(self.rows.table, self.rows.parents) + self.added + 1.0
        starts = [*self.rows.families[3].tolist(), self.rows.n_cells]
        for node, above in enumerate(self.rows.parents):
            if {node, *above} & {*self.hidden}:
                size = starts[node + 1] - starts[node]
                cells[starts[node] : starts[node + 1]] = rng.gamma(1.0, size=size) + 0.1
        return self.rows.normalized(cells)

    def step(self, tables: Floats, rows: RowFamilies) -> ExpectedCounts:
        return rows.expected(tables)

    def objective(self, tables: Floats, statistics: ExpectedCounts) -> float:
        with np.errstate(divide="ignore"):
            logs = np.log(tables[self.added > 0])
        return statistics.log_likelihood + float(self.added[self.added > 0] @ logs)

    def update(self, tables: Floats, statistics: ExpectedCounts) -> Floats:
        del tables
        return self.rows.normalized(statistics.counts + self.added)

    def scale(self, tables: Floats, statistics: ExpectedCounts) -> float:
        del tables, statistics
        return float(self.rows.weights.sum())

    def to_vector(self, tables: Floats) -> Floats:
        return np.log(np.maximum(tables, 1e-300))

    def from_vector(self, vector: Floats) -> Floats:
        tables = np.exp(np.clip(vector, -690.0, 50.0))
        return self.rows.normalized(np.where(tables < 1e-290, 0.0, tables))


class _NoisyTables(NamedTuple):
    """Tables of all families, and the noisy ors that some of them are."""

    cells: Floats
    nodes: tuple[NoisyOr, ...]


class _NoisyExpectation(SumProblem[_NoisyTables, ExpectedCounts]):
    """The same where some nodes are noisy ors, whose M step is a concave problem of its own."""

    objective_name: ClassVar[str] = "log-likelihood of the known cells"
    direction: ClassVar[Any] = "maximize"

    def __init__(self, plain: _Expectation, noisy: Mapping[int, NoisyOr]) -> None:
        self.plain, self.noisy = plain, noisy

    def start(self, rng: np.random.Generator) -> _NoisyTables:
        return self._fitted(self.plain.start(rng), tuple(self.noisy.values()))

    def step(self, params: _NoisyTables, rows: RowFamilies) -> ExpectedCounts:
        return rows.expected(params.cells)

    def objective(self, params: _NoisyTables, statistics: ExpectedCounts) -> float:
        return self.plain.objective(params.cells, statistics)

    def update(self, params: _NoisyTables, statistics: ExpectedCounts) -> _NoisyTables:
        return self._fitted(statistics.counts + self.plain.added, params.nodes)

    def scale(self, params: _NoisyTables, statistics: ExpectedCounts) -> float:
        return self.plain.scale(params.cells, statistics)

    def _fitted(self, counts: Floats, nodes: tuple[NoisyOr, ...]) -> _NoisyTables:
        from novum.graphical.learning.noisy_or import noisy_or_of_counts

        cells, begins, fitted = self.plain.rows.normalized(counts), self.plain.rows.families[3], []
        for place, node in zip(self.noisy, nodes, strict=True):
            own = slice(int(begins[place]), int(begins[place]) + math.prod(node.shape))
            fitted.append(noisy_or_of_counts(node, counts[own]))
            cells[own] = fitted[-1].table.ravel()
        return _NoisyTables(cells, tuple(fitted))


def fit_expectation(
    dag: Dag | BayesianNetwork | ConditionalGaussianNetwork,
    table: Any,
    prior: TablePrior | None = None,
    *,
    hidden: Mapping[str, int | Sequence[Any]] | None = None,
    sample_weight: Any = None,
    stop: StopRule | None = None,
    n_init: int | None = None,
    random_state: RandomSource = 0,
    numbers: Any = None,
    noisy_or: Sequence[str] = (),
) -> FittedNetwork:
    """Tables of a given graph from rows with missing cells, with the certificate of EM.

    Parameters
    ----------
    dag : Dag, BayesianNetwork or ConditionalGaussianNetwork
    table : data frame, mapping of columns or array
    prior : TablePrior, optional
        As in `fit_parameters`.
    hidden : mapping from names to numbers of states or to states, optional
        Nodes of the graph that are no columns.
    sample_weight : array of shape (n_rows,), optional
    stop : StopRule, optional
        `StopRule(tol=1e-8, max_iter=500)` by default: the gain of a round for each row.
    n_init : int, optional
        Restarts; 10 with hidden variables, else 1.
    random_state : None, int or generator
        For the start of hidden variables.
    numbers : "normal" or a way to cut them, optional
        As in `fit_parameters`.
    noisy_or : sequence of names
        Nodes that become a noisy or; those of a given network stay ones.

    Examples
    --------
    >>> graph = Dag.from_edges([("rain", "wet")])
    >>> rows = {"rain": ["yes", "no", None, None], "wet": ["yes", "no", "yes", "no"]}
    >>> fitted = fit_expectation(graph, rows)
    >>> fitted.network["rain"].table.round(3).tolist(), fitted.certificate.verdict.value
    ([0.5, 0.5], 'local')
    """
    mixed = isinstance(dag, ConditionalGaussianNetwork)
    if mixed or keeps_numbers(numbers, prior):
        from novum.graphical.learning.gaussian_expectation import fit_numbers_expectation
        from novum.graphical.learning.gaussian_families import read_graph

        if hidden:
            raise InputError(
                "Hidden variables are learned beside columns of states. Cut the numbers into "
                "intervals, or leave out `hidden`."
            )
        graph, coded = read_graph(dag, table, None, sample_weight)
        return fit_numbers_expectation(graph, coded, prior, stop=stop)
    graph, coded = _with_hidden(dag, table, hidden or {}, sample_weight, numbers)
    return fit_tables_expectation(
        graph, coded, prior, noisy=noisy_nodes(dag, graph, coded, noisy_or), stop=stop,
        n_init=n_init, random_state=random_state,
    )  # fmt: skip


def fit_tables_expectation(
    graph: Dag,
    coded: CodedTable,
    prior: TablePrior | None = None,
    *,
    noisy: Mapping[int, NoisyOr] | None = None,
    stop: StopRule | None = None,
    n_init: int | None = None,
    random_state: RandomSource = 0,
) -> FittedNetwork:
    """The same of a table whose columns are the nodes; `noisy` are the nodes that are noisy ors."""
    check_families(graph, coded.cards)
    shapes = family_shapes(graph, coded.cards)
    added = pseudo_counts(prior, shapes, graph.names)
    rows = RowFamilies(coded, graph.parents)
    never_seen = np.flatnonzero((coded.codes < 0).all(axis=1)).tolist()
    plain = _Expectation(rows, added, never_seen)
    problem: Any = _NoisyExpectation(plain, noisy) if noisy else plain
    restarts = (RESTARTS if never_seen else 1) if n_init is None else n_init
    fitted = fit_sums(
        problem,
        lambda step: step(rows),
        stop=stop or StopRule(tol=1e-8, max_iter=500),
        n_init=restarts,
        random_state=random_state,
        acceleration=None if noisy else SquaredExtrapolation,
    )
    cells = fitted.params.cells if noisy else fitted.params
    nodes = list(network_of(coded.variables, graph.parents, cells).conditionals)
    if noisy:
        for place, node in zip(noisy, fitted.params.nodes, strict=True):
            nodes[place] = node
    counts = FamilyCounts(coded.variables, graph.parents, coded.total, fitted.statistics.counts)
    details = {
        **fitted.certificate.details,
        "missing_cells": int((coded.codes < 0).sum()),
        "assumes": "cells are missing at random, given what is known of their row",
    }
    return FittedNetwork(
        BayesianNetwork(nodes),
        fitted.statistics.log_likelihood,
        counts,
        replace(fitted.certificate, details=details),
        coded,
    )


def _with_hidden(
    dag: Any, table: Any, hidden: Mapping[str, Any], sample_weight: Any, numbers: Any = None
) -> tuple[Dag, CodedTable]:
    """The graph and its columns, with columns of unknown cells for hidden nodes."""
    if not hidden:
        return graph_and_rows(dag, table, sample_weight, numbers=numbers)
    axes = {}
    for name, states in hidden.items():
        if name not in dag.names:
            raise InputError(f"The hidden variable {label_text(name)} is no node of the graph.")
        if isinstance(states, int):
            states = [f"state {i + 1}" for i in range(states)]
        axes[name] = StateAxis(name, tuple(states))
    if isinstance(dag, BayesianNetwork):
        seen = [axis for axis in dag.variables if axis.name not in hidden]
        coded = read_table(table, seen, sample_weight)
        dag = dag.graph
    else:
        coded = read_table(table, None, sample_weight, numbers)
    known = coded.select([name for name in dag.names if name not in hidden])
    unknown = np.full((len(axes), known.n_rows), -1, np.int32)
    joined = CodedTable(
        (*known.variables, *axes.values()), np.concatenate([known.codes, unknown]), known.weights
    )
    return dag, joined.select(dag.names)


# --- Scores and draws -----------------------------------------------------------------------------


def score_with_missing(
    graph: Dag, coded: CodedTable, criterion: Criterion, prior: StructurePrior | None
) -> float:
    """The score of a graph for rows with missing cells.

    With expected counts N and the tables t of largest likelihood that EM finds,

        score(N) - log P(N | t) + log P(known cells | t),

    which is log P(known cells | t) minus the penalty for penalized scores, and the approximation
    of Cheeseman and Stutz for the others.
    """
    if not criterion.takes_fractions:
        raise InputError(
            f"{type(criterion).__name__} counts whole rows, and cells are missing. Use BIC(), "
            "AIC() or BDeu()."
        )
    if coded.numbers:
        from novum.graphical.learning.gaussian_expectation import score_numbers_with_missing

        return score_numbers_with_missing(graph, coded, criterion, prior)[0]
    fitted = fit_tables_expectation(graph, coded)
    total, begin = 0.0, 0
    for shape in family_shapes(graph, coded.cards):
        cells = fitted.counts.counts[begin : begin + math.prod(shape)].reshape(-1, shape[-1])
        begin += cells.size
        sums = np.broadcast_to(cells.sum(axis=1, keepdims=True), cells.shape)
        seen = cells > 0
        whole = float((cells[seen] * np.log(cells[seen] / sums[seen])).sum())
        total += score_of_counts(criterion, cells, coded.total) - whole
    if prior is not None:
        odds, by_number = prior.log_odds(graph.names), prior.log_by_number(len(graph.names))
        for child, parents in enumerate(graph.parents):
            total += float(odds[child, list(parents)].sum())
            total += float(by_number[len(parents)]) if by_number.size else 0.0
    return total + fitted.log_likelihood


def drawn_rows(
    network: BayesianNetwork, table: CodedTable, copies: int, random_state: RandomSource
) -> CodedTable:
    """Each row so many times, its missing cells drawn given the known ones.

    All copies of a row together have its weight.
    """
    from novum.core.runtime import stream

    rng = stream(random_state, "missing cells")
    families = RowFamilies(table, network.graph.parents).families
    cells = np.concatenate([c.table.ravel() for c in network.conditionals])
    rows = np.ascontiguousarray(np.tile(table.codes.T, (copies, 1)))
    left = np.zeros(len(rows), bool)
    for begin, end in time_sliced(len(rows), block=256):
        draws = rng.random((end - begin, table.n_variables))
        block = np.ascontiguousarray(rows[begin:end])
        block_left = np.zeros(end - begin, bool)
        kernels.fill_missing(families, cells, block, draws, 0, end - begin, block_left)
        rows[begin:end], left[begin:end] = block, block_left
    if left.any():
        _draw_one_by_one(network, rows, np.flatnonzero(left), rng)
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    return CodedTable(
        table.variables,
        np.ascontiguousarray(rows.T),
        np.tile(weights / copies, copies),
        table.intervals,
    )


def _draw_one_by_one(
    network: BayesianNetwork, rows: Codes, left: Any, rng: np.random.Generator
) -> None:
    """Missing cells of large components, each given those before it."""
    model, engine = network.arrays, JunctionTree()
    for row in left.tolist():
        for v in np.flatnonzero(rows[row] < 0).tolist():
            evidence = Evidence(rows[row].astype(np.int64))
            table = engine.marginals(model, evidence, [v]).tables[0]
            rows[row, v] = min(int((table.cumsum() <= rng.random()).sum()), len(table) - 1)
