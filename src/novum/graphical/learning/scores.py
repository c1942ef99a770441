"""How well a graph explains a table: scores that are sums over families.

A family's score depends on that family alone, so each is computed once and kept. Criteria are
values (`criteria`), counting and scoring are compiled (`counts_kernels`, `gaussian_kernels`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import check_memory
from novum.core.text import label_text, listed
from novum.distributions import StateAxis
from novum.graphical.learning import counts_kernels as kernels
from novum.graphical.learning.coded_table import (
    CodedTable,
    number_axis,
    read_numbers,
    read_table,
)

# Searches and parameters take criteria from here.
from novum.graphical.learning.criteria import AIC as AIC
from novum.graphical.learning.criteria import BIC as BIC
from novum.graphical.learning.criteria import K2 as K2
from novum.graphical.learning.criteria import NML as NML
from novum.graphical.learning.criteria import BDeu as BDeu
from novum.graphical.learning.criteria import BDs as BDs
from novum.graphical.learning.criteria import BGe as BGe
from novum.graphical.learning.criteria import Criterion as Criterion
from novum.graphical.learning.criteria import LogLikelihood as LogLikelihood
from novum.graphical.learning.criteria import StructurePrior as StructurePrior
from novum.graphical.learning.criteria import check_criterion as check_criterion
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.linear_gaussian import ConditionalGaussianNetwork
from novum.graphical.structure.dag import Dag
from novum.numerics import Floats, Integers, one_blas_thread

# Cells of a family's table that a search looks at; a larger table has fewer rows than cells.
MOST_CELLS = 2**16
# Entries of the memory of scores at the start.
FIRST_ENTRIES = 2**14
# Counts whose logarithms are kept in a table.
MOST_KEPT = 2**16


# --- Scores of families ---------------------------------------------------------------------------


class FamilyScores:
    """Scores of the families of one table, each computed once.

    Parameters
    ----------
    table : CodedTable
        Without missing cells.
    criterion : Criterion
    max_parents : int, optional
    prior : StructurePrior, optional
    max_cells : int
        Families with larger tables have the score minus infinity.

    Examples
    --------
    >>> scores = FamilyScores(read_table({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}), AIC())
    >>> round(scores.local(1, (0,)), 4), round(scores.local(1, ()), 4)
    (-2.0, -3.7726)
    """

    def __init__(
        self,
        table: CodedTable,
        criterion: Criterion,
        *,
        max_parents: int | None = None,
        prior: StructurePrior | None = None,
        max_cells: int = MOST_CELLS,
    ) -> None:
        self.table, self.criterion = table, criterion
        d = table.n_variables
        weighted = table.weights is not None
        if table.weights is not None and not criterion.takes_fractions:
            parts = np.flatnonzero(table.weights != np.round(table.weights))
            if parts.size:
                raise InputError(
                    f"{type(criterion).__name__} counts whole rows, and row {int(parts[0])} has "
                    f"the weight {table.weights[parts[0]]:g}. Use BIC() or BDeu() with such "
                    "weights."
                )
        self.max_parents = d - 1 if max_parents is None else min(max_parents, d - 1)
        total = table.total
        self.data = (*_data(table), _numbers(table, criterion))
        lookup = _lookup(criterion, total, plain=not weighted)
        odds = np.empty((0, 0)) if prior is None else prior.log_odds(table.names)
        by_number = np.empty(0) if prior is None else prior.log_by_number(d)
        largest = int(max(table.cards, default=1))
        self.max_cells = max(max_cells, largest)
        self.rule = (
            np.array([_kind(table, criterion), self.max_parents, self.max_cells], np.int64),
            np.array(
                [
                    criterion.prior_size,
                    criterion.penalty(total),
                    0.0 if weighted else 1.0,
                    *_wishart(table, criterion),
                ],
                np.float64,
            ),
            lookup,
            odds,
            by_number,
        )
        self.memory = _memory(FIRST_ENTRIES, d)
        self.room = _room(d, self.max_cells)

    @property
    def context(self) -> tuple[Any, ...]:
        """What kernels take first; with room for new scores."""
        used, size = int(self.memory[2][0]), len(self.memory[1])
        if used > size // 2:
            larger = _memory(4 * size, self.table.n_variables)
            kernels.move_entries(self.memory, larger)
            self.memory = larger
        return (self.data, self.rule, self.memory, self.room)

    def local(self, child: int, parents: Sequence[int]) -> float:
        """The score of one family."""
        members = np.array(sorted(parents), np.int64)
        return float(kernels.family_score(*self.context, child, members))

    def total(self, parents: Sequence[Sequence[int]]) -> float:
        """The score of a graph, given by the parents of each variable."""
        return math.fsum(self.local(child, above) for child, above in enumerate(parents))


def _kind(table: CodedTable, criterion: Criterion) -> kernels.Kind:
    """How the criterion is computed where a table has columns of numbers."""
    if not table.numbers:
        return criterion.kind
    if criterion.kind is kernels.Kind.PENALIZED:
        return kernels.Kind.PENALIZED_NORMAL
    if criterion.kind is not kernels.Kind.NORMAL_WISHART:
        raise InputError(
            f"{type(criterion).__name__} is a score of counts, and columns of numbers are kept as "
            "they are. Use BIC(), AIC() or BGe() for them, or cut them into intervals."
        )
    return criterion.kind


def _wishart(table: CodedTable, criterion: Criterion) -> tuple[float, float]:
    """Rows of the prior of means, and degrees of freedom less the number of columns."""
    if not (isinstance(criterion, BGe) and table.numbers):
        return 0.0, 0.0
    d = sum(table.is_numeric)
    return criterion.mean_rows, criterion.freedom(d) - d


def _numbers(table: CodedTable, criterion: Criterion) -> tuple[Any, ...] | None:
    """Columns of numbers as kernels take them, in units of their spread; None where are none."""
    if not table.numbers:
        return None
    places = np.flatnonzero(table.is_numeric)
    number_of = np.full(table.n_variables, -1, np.int64)
    number_of[places] = np.arange(len(places))
    columns = np.stack([x for x in table.numbers if x is not None])
    if np.isnan(columns).any():
        column, row = np.argwhere(np.isnan(columns))[0].tolist()
        raise InputError(
            f"Column {label_text(table.names[places[column]])} has a missing cell in row {row}, "
            "and scores of numbers as they are need whole rows. Leave such rows out, or cut the "
            "column into intervals, for which missing cells are expected."
        )
    total = table.total
    weights = np.full(table.n_rows, 1.0) if table.weights is None else table.weights
    with one_blas_thread():
        columns = columns - (columns @ weights / total)[:, None]
        spreads = np.sqrt(columns**2 @ weights / total)
    size = np.abs(np.stack([x for x in table.numbers if x is not None])).max(axis=1)
    constant = np.flatnonzero(~(spreads > 1e-14 * size))
    if constant.size:
        name = label_text(table.names[places[constant[0]]])
        raise InputError(
            f"Column {name} is constant: it has no density and no edge can gain by it. Leave the "
            "column out."
        )
    columns = np.ascontiguousarray(columns / spreads[:, None])
    with one_blas_thread():
        scatter = np.ascontiguousarray((columns * weights) @ columns.T)
    if not isinstance(criterion, BGe):
        from novum.graphical.learning.gaussian_kernels import LEAST_VARIANCE

        left = 1.0 - (scatter / total) ** 2 + np.eye(len(scatter))
        if (left <= LEAST_VARIANCE).any():
            one, other = np.argwhere(left <= LEAST_VARIANCE)[0].tolist()
            raise InputError(
                f"Column {label_text(table.names[places[other]])} is a linear function of "
                f"{label_text(table.names[places[one]])}, so given it, it has no density. Leave "
                "one of them out, or use BGe()."
            )
    prior = np.ones(len(places))
    if isinstance(criterion, BGe):
        prior *= criterion.scale(len(places))
        if criterion.variance is not None:
            prior *= criterion.variance / spreads**2
    limits = np.full(len(places), np.inf)
    if len(places) == table.n_variables:
        limits = _largest_log_likelihoods(scatter, total) - total * np.log(spreads)
    room = np.empty(2**20 + 64 * (len(places) + 1) ** 2)
    scales = np.ascontiguousarray(np.stack([np.log(spreads), prior, limits]))
    return number_of, columns, scatter, scales, room, np.empty(table.n_rows, np.int64)


def _largest_log_likelihoods(scatter: Floats, total: float) -> Floats:
    """Of each column given all others, which no family exceeds; infinite where nothing is left."""
    correlation = scatter / total
    if np.linalg.eigvalsh(correlation)[0] < 1e-9:
        return np.full(len(scatter), np.inf)
    left = 1.0 / np.diagonal(np.linalg.inv(correlation))
    # Up to rounding of the inverse.
    return -0.5 * total * (np.log(2 * np.pi * left * (1 - 1e-6)) + 1)


def _data(table: CodedTable) -> tuple[Any, ...]:
    """The table as kernels take it; bitmaps only where they are used."""
    starts = np.concatenate([[0], np.cumsum(table.cards)]).astype(np.int64)
    n = table.n_rows
    n_words = -(-n // 64)
    states = int(starts[-1])
    check_memory(
        states * n_words * 8,
        f"The table of {n} rows and {states} states as bitmaps",
        "Take a sample of the rows.",
    )
    bitmaps = np.zeros((states, n_words), np.uint64)
    if table.weights is None and n:
        padded = np.zeros(n_words * 64, bool)
        for place, card in enumerate(table.cards.tolist()):
            # A quarter of the bytes to compare with each state.
            column = table.codes[place].astype(np.int8) if card < 128 else table.codes[place]
            for state in range(card):
                np.equal(column, state, out=padded[:n])
                packed = np.packbits(padded, bitorder="little")
                bitmaps[starts[place] + state] = packed.view(np.uint64)
    weights = np.empty(0) if table.weights is None else np.ascontiguousarray(table.weights)
    gaps = np.count_nonzero(table.codes < 0, axis=1).astype(np.int64)
    return bitmaps, starts, table.codes, weights, gaps


def _lookup(criterion: Criterion, total: float, *, plain: bool) -> Floats:
    """x log x of whole counts, or complexities of two states."""
    size = min(int(total) + 1, MOST_KEPT)
    if criterion.kind == kernels.Kind.NORMALIZED:
        table = np.empty(size)
        kernels.binary_complexities(table)
        return table
    if criterion.kind != kernels.Kind.PENALIZED or not plain:
        return np.empty(0)
    counts = np.arange(size, dtype=np.float64)
    counts[1:] *= np.log(counts[1:])
    return counts


def _memory(entries: int, d: int) -> tuple[Any, ...]:
    words = -(-d // 64) + 1
    return np.zeros((entries, words), np.uint64), np.zeros(entries), np.zeros(1, np.int64)


def _room(d: int, cells: int) -> tuple[Any, ...]:
    return (
        np.empty((d + 1, kernels.BLOCK_WORDS), np.uint64),
        np.empty(cells),
        np.empty(4 * (d + 2), np.int64),
        np.empty(kernels.BLOCK_ROWS, np.int64),
        np.empty(-(-d // 64) + 1, np.uint64),
    )


def score_of_counts(criterion: Criterion, cells: Floats, total: float) -> float:
    """The score of a family with the given counts, of shape (configurations, states)."""
    weights, penalty = np.empty(0), criterion.penalty(total)
    rule = (
        np.array([criterion.kind, 0, 0], np.int64),
        np.array([criterion.prior_size, penalty, -1.0]),
        weights,
        np.empty((0, 0)),
        weights,
    )
    return float(kernels.score_cells(np.ascontiguousarray(cells).ravel(), cells.shape[1], rule))


# --- One graph ------------------------------------------------------------------------------------


def score(
    dag: Dag | BayesianNetwork | ConditionalGaussianNetwork,
    table: Any,
    criterion: Criterion | None = None,
    *,
    sample_weight: Any = None,
    structure_prior: StructurePrior | None = None,
    numbers: Any = None,
) -> float:
    """How well a graph explains a table; natural logarithms, more is better.

    Parameters
    ----------
    dag : Dag or BayesianNetwork
        Its nodes are columns. Of a network the graph and the states count, not the tables.
    table : data frame, mapping of columns or array
        Columns that are no nodes are left alone. With missing cells the score is that of the
        tables that EM finds: the log-likelihood of what was seen in place of that of whole rows
        (for Dirichlet scores, the approximation of Cheeseman and Stutz).
    criterion : Criterion
        `BIC()` by default.
    sample_weight : array of shape (n_rows,), optional
    structure_prior : StructurePrior, optional
    numbers : "normal" or a way to cut them, optional
        Whether columns of numbers stay as they are, normal given their parents; as in
        `learn_structure`.

    Examples
    --------
    >>> table = {"rain": ["no"] * 4 + ["yes"] * 4, "wet": ["no"] * 3 + ["yes"] * 5}
    >>> alone, joined = Dag(("rain", "wet"), ((), ())), Dag(("rain", "wet"), ((), (0,)))
    >>> round(score(alone, table, BDeu(4.0)), 4), round(score(joined, table, BDeu(4.0)), 4)
    (-12.0888, -10.7407)
    """
    rule = check_criterion(criterion)
    graph, coded = graph_and_rows(dag, table, sample_weight, keeps_numbers(numbers, rule), numbers)
    check_families(graph, coded.cards)
    if coded.has_missing:
        from novum.graphical.learning.expectation import score_with_missing

        return score_with_missing(graph, coded, rule, structure_prior)
    most = max((math.prod(s) for s in family_shapes(graph, coded.cards)), default=1)
    scores = FamilyScores(coded, rule, prior=structure_prior, max_cells=most)
    return scores.total(graph.parents)


def keeps_numbers(numbers: Any, criterion: Any) -> bool:
    """Whether columns of numbers stay as they are: where that is said, or the criterion is BGe."""
    if numbers is None or (isinstance(numbers, str) and numbers == "normal"):
        return numbers is not None or isinstance(criterion, BGe)
    if isinstance(criterion, BGe):
        raise InputError(
            "BGe() is for columns of numbers as they are, and numbers says how to cut them. Leave "
            "one of both out."
        )
    return False


def network_variables(network: ConditionalGaussianNetwork) -> tuple[StateAxis, ...]:
    """The variables of a network with numbers, as tables are read by."""
    return tuple(
        number_axis(name) if network.is_numeric[place] else network.axis(place)
        for place, name in enumerate(network.names)
    )


def graph_and_rows(
    dag: Any, table: Any, sample_weight: Any, keep: bool = False, numbers: Any = None
) -> tuple[Dag, CodedTable]:
    """A graph and the columns of its nodes, in its order."""
    if isinstance(dag, ConditionalGaussianNetwork):
        return dag.graph, read_numbers(table, network_variables(dag), sample_weight)
    if keep and isinstance(dag, Dag):
        return dag, read_numbers(table, None, sample_weight).select(dag.names)
    if isinstance(dag, BayesianNetwork):
        return dag.graph, read_table(table, dag.variables, sample_weight)
    if not isinstance(dag, Dag):
        raise InputError(
            "The structure is a Dag, such as Dag.from_edges([('rain', 'wet')]), or a network; got "
            f"{label_text(dag)}."
        )
    return dag, read_table(table, None, sample_weight, numbers).select(dag.names)


def family_shapes(graph: Dag, cards: Integers) -> list[tuple[int, ...]]:
    """The axes (parents ..., node) of every family's table."""
    return [
        (*(int(cards[p]) for p in parents), int(cards[node]))
        for node, parents in enumerate(graph.parents)
    ]


def check_families(graph: Dag, cards: Integers) -> None:
    """Refuses tables that are too large, with their price and the parents that make them so."""
    for name, parents, shape in zip(
        graph.names, graph.parents, family_shapes(graph, cards), strict=True
    ):
        if math.prod(shape) <= MOST_CELLS:
            continue
        check_memory(
            16 * math.prod(shape),
            f"The table of {label_text(name)} with its {len(parents)} parents "
            f"({listed([graph.names[p] for p in parents])}) has {math.prod(shape):,} cells and",
            "Leave out parents, or merge states.",
        )
