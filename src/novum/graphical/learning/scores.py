"""How well a graph explains a table: criteria that are sums over families.

With N_ijk the weight of the rows in which node i has state k and its parents configuration j,

    log L    sum over i, j, k of N_ijk log(N_ijk / N_ij)
    AIC      log L - parameters
    BIC      log L - log(n) / 2 * parameters
    K2       log of the marginal likelihood under Dirichlet(1, ..., 1)
    BDeu     the same under Dirichlet(s / (q_i r_i)): equal for equivalent graphs
    BDs      s spread over the configurations that the table has
    NML      log L - sum over i, j of log C(N_ij, r_i), the factorized normalized likelihood

in natural logarithms; more is better. Every declared state counts, in `r_i` and in `q_i`, whether a
row has it or not. A family's score depends on that family alone, so each is computed once.

References
----------
Heckerman, Geiger and Chickering (1995). Schwarz (1978). Scutari (2016) for BDs. Silander, Roos,
Kontkanen and Myllymäki (2008) for the factorized NML.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import check_memory
from novum.core.text import label_text, listed, meant
from novum.graphical.learning import counts_kernels as kernels
from novum.graphical.learning.coded_table import CodedTable, read_table
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.structure.dag import Dag
from novum.numerics import Floats, Integers

# Cells of a family's table that a search looks at; a larger table has fewer rows than cells.
MOST_CELLS = 2**16
# Entries of the memory of scores at the start.
FIRST_ENTRIES = 2**14
# Counts whose logarithms are kept in a table.
MOST_KEPT = 2**16


# --- Criteria -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Criterion:
    """What a search maximizes; a value. Use one of its subclasses."""

    kind: ClassVar[kernels.Kind] = kernels.Kind.PENALIZED
    takes_fractions: ClassVar[bool] = True

    def penalty(self, total: float) -> float:
        """What one free parameter costs in a table of this weight."""
        del total
        return 0.0

    @property
    def prior_size(self) -> float:
        """Rows that a prior is worth, where its size is one number."""
        return 0.0


@dataclass(frozen=True)
class LogLikelihood(Criterion):
    """The largest log-likelihood. It grows with every edge: only for comparisons of equal size."""


@dataclass(frozen=True)
class AIC(Criterion):
    """Log-likelihood minus the number of free parameters: for prediction, with many edges."""

    def penalty(self, total: float) -> float:
        del total
        return 1.0


@dataclass(frozen=True)
class BIC(Criterion):
    """Log-likelihood minus log(n) / 2 for each free parameter: for finding the true graph."""

    def penalty(self, total: float) -> float:
        return 0.5 * math.log(total) if total > 0 else 0.0


@dataclass(frozen=True)
class _Dirichlet(Criterion):
    equivalent_sample_size: float = 10.0

    def __post_init__(self) -> None:
        size = self.equivalent_sample_size
        if isinstance(size, bool) or not (isinstance(size, (int, float)) and 0 < size < math.inf):
            raise InputError(
                f"equivalent_sample_size is a number of rows above 0, got {label_text(size)}."
            )

    @property
    def prior_size(self) -> float:
        return float(self.equivalent_sample_size)


@dataclass(frozen=True)
class BDeu(_Dirichlet):
    """Marginal likelihood under a uniform prior that is worth `equivalent_sample_size` rows.

    As a prior of tables it adds s / cells to each count.

    Examples
    --------
    >>> BDeu(8.0).pseudo_counts((2, 2)).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """

    kind: ClassVar[kernels.Kind] = kernels.Kind.DIRICHLET_EQUIVALENT

    def pseudo_counts(self, shape: tuple[int, ...], name: str = "") -> Floats:
        """What the prior adds to the counts of a family with axes (parents ..., node)."""
        del name
        return np.full(shape, self.equivalent_sample_size / math.prod(shape))


@dataclass(frozen=True)
class BDs(_Dirichlet):
    """BDeu with its prior on those configurations of parents that the table has."""

    kind: ClassVar[kernels.Kind] = kernels.Kind.DIRICHLET_SPARSE


@dataclass(frozen=True)
class K2(Criterion):
    """Marginal likelihood under uniform priors of every row of every table: one more count each."""

    kind: ClassVar[kernels.Kind] = kernels.Kind.DIRICHLET_ONES

    def pseudo_counts(self, shape: tuple[int, ...], name: str = "") -> Floats:
        """What the prior adds to the counts of a family."""
        del name
        return np.ones(shape)


@dataclass(frozen=True)
class NML(Criterion):
    """Normalized maximum likelihood of each row of each table: no prior to choose."""

    kind: ClassVar[kernels.Kind] = kernels.Kind.NORMALIZED
    takes_fractions: ClassVar[bool] = False


@dataclass(frozen=True)
class StructurePrior:
    """What is believed of edges before the table is seen.

    Parameters
    ----------
    edge : float
        Probability of any edge, before acyclicity; 0.5 prefers nothing.
    edges : mapping from (parent, child) to probability
        Of single edges.
    parents : sequence of float, optional
        Weight of having 0, 1, 2, ... parents; the last holds for all larger numbers.

    Examples
    --------
    >>> StructurePrior(edge=0.1, edges={("smoke", "cancer"): 0.9}).edge
    0.1
    """

    edge: float = 0.5
    edges: Mapping[tuple[str, str], float] = field(default_factory=dict)
    parents: Sequence[float] | None = None

    def __post_init__(self) -> None:
        for what, share in (("edge", self.edge), *self.edges.items()):
            if not 0 < share < 1:
                raise InputError(
                    f"The prior probability of {label_text(what)} is {share!r}; it lies between 0 "
                    "and 1. Use Constraints to require or forbid an edge."
                )
        if self.parents is not None and not (
            len(self.parents) and all(weight > 0 for weight in self.parents)
        ):
            raise InputError("parents are weights above 0 of having 0, 1, 2, ... parents.")

    def log_odds(self, names: Sequence[str]) -> Floats:
        """Of each (child, parent)."""
        places = {name: place for place, name in enumerate(names)}
        odds = np.full((len(names), len(names)), math.log(self.edge / (1 - self.edge)))
        for (parent, child), share in self.edges.items():
            for name in (parent, child):
                if name not in places:
                    raise InputError(
                        f"The prior speaks of {label_text(name)}, which is no column: "
                        f"{meant(name, names)}"
                    )
            odds[places[child], places[parent]] = math.log(share / (1 - share))
        return odds

    def log_by_number(self, most: int) -> Floats:
        """Of 0, 1, ..., `most` parents."""
        if self.parents is None:
            return np.empty(0)
        weights = np.array([*self.parents, *[self.parents[-1]] * most], np.float64)
        return np.log(weights[: most + 1])


def check_criterion(criterion: Any) -> Criterion:
    """The criterion given, BIC by default."""
    if criterion is None:
        return BIC()
    if not isinstance(criterion, Criterion):
        raise InputError(
            "criterion is a value such as BIC(), AIC(), BDeu(10.0), K2(), BDs() or NML(); got "
            f"{label_text(criterion)}."
        )
    return criterion


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
        self.data = _data(table)
        lookup = _lookup(criterion, total, plain=not weighted)
        odds = np.empty((0, 0)) if prior is None else prior.log_odds(table.names)
        by_number = np.empty(0) if prior is None else prior.log_by_number(d)
        largest = int(max(table.cards, default=1))
        self.max_cells = max(max_cells, largest)
        self.rule = (
            np.array([criterion.kind, self.max_parents, self.max_cells], np.int64),
            np.array(
                [criterion.prior_size, criterion.penalty(total), 0.0 if weighted else 1.0],
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
            for state in range(card):
                np.equal(table.codes[place], state, out=padded[:n])
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
    dag: Dag | BayesianNetwork,
    table: Any,
    criterion: Criterion | None = None,
    *,
    sample_weight: Any = None,
    structure_prior: StructurePrior | None = None,
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

    Examples
    --------
    >>> table = {"rain": ["no"] * 4 + ["yes"] * 4, "wet": ["no"] * 3 + ["yes"] * 5}
    >>> alone, joined = Dag(("rain", "wet"), ((), ())), Dag(("rain", "wet"), ((), (0,)))
    >>> round(score(alone, table, BDeu(4.0)), 4), round(score(joined, table, BDeu(4.0)), 4)
    (-12.0888, -10.7407)
    """
    graph, coded = graph_and_rows(dag, table, sample_weight)
    rule = check_criterion(criterion)
    check_families(graph, coded.cards)
    if coded.has_missing:
        from novum.graphical.learning.expectation import score_with_missing

        return score_with_missing(graph, coded, rule, structure_prior)
    most = max((math.prod(s) for s in family_shapes(graph, coded.cards)), default=1)
    scores = FamilyScores(coded, rule, prior=structure_prior, max_cells=most)
    return scores.total(graph.parents)


def graph_and_rows(dag: Any, table: Any, sample_weight: Any) -> tuple[Dag, CodedTable]:
    """A graph and the columns of its nodes, in its order."""
    if isinstance(dag, BayesianNetwork):
        return dag.graph, read_table(table, dag.variables, sample_weight)
    if not isinstance(dag, Dag):
        raise InputError(
            "The structure is a Dag, such as Dag.from_edges([('rain', 'wet')]), or a network; got "
            f"{label_text(dag)}."
        )
    return dag, read_table(table, None, sample_weight).select(dag.names)


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
        check_memory(
            16 * math.prod(shape),
            f"The table of {label_text(name)} with its {len(parents)} parents "
            f"({listed([graph.names[p] for p in parents])}) has {math.prod(shape):,} cells and",
            "Leave out parents, or merge states.",
        )
