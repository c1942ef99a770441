"""Tables of a network with a given graph, from counts of its families.

    P(x_i = k | parents j) = (N_ijk + a_ijk) / (N_ij + a_ij)

`N_ijk` is the weight of the rows; `a_ijk` is what a Dirichlet prior adds, nothing for maximum
likelihood. The posterior of each row of a table is Dirichlet(N_ij1 + a_ij1, ...), so every entry
has a Beta distribution, and an interval. A configuration of the parents that no row has, and to
which the prior adds nothing, gets equal probabilities: the table says nothing about it.

Counts add: those of two tables are the counts of both, rows can be taken away again, and a stream
or a cluster sums them block by block.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from novum.core.errors import InputError
from novum.core.sums import Sums
from novum.core.text import label_text, listed
from novum.distributions import StateAxis
from novum.graphical.learning import counts_kernels as kernels
from novum.graphical.learning.coded_table import CodedTable, read_numbers, read_table
from novum.graphical.learning.discretization import ByScore, cut_for_graph
from novum.graphical.learning.scores import (
    BIC,
    FamilyScores,
    LogLikelihood,
    check_families,
    family_shapes,
    graph_and_rows,
    keeps_numbers,
)
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.compact import NoisyOr
from novum.graphical.models.conditional import Tabular
from novum.graphical.models.linear_gaussian import ConditionalGaussianNetwork
from novum.graphical.models.states import names_in_order
from novum.graphical.structure.dag import Dag
from novum.numerics import Floats, cached_property

# --- Priors ---------------------------------------------------------------------------------------


@runtime_checkable
class TablePrior(Protocol):
    """What a prior adds to the counts; `BDeu(10.0)`, `K2()`, `Dirichlet(...)`, `MEstimate(m)`."""

    def pseudo_counts(self, shape: tuple[int, ...], name: str = "") -> Floats:
        """Of a family with axes (parents ..., node)."""


@dataclass(frozen=True)
class Dirichlet:
    """Pseudo-counts as given.

    Parameters
    ----------
    counts : float, or mapping from nodes to arrays or numbers
        One number is added to every cell. An array has the axes (parents ..., node); nodes that a
        mapping leaves out get nothing.

    Examples
    --------
    >>> Dirichlet({"rain": [1.0, 9.0]}).pseudo_counts((2,), "rain").tolist()
    [1.0, 9.0]
    """

    counts: float | Mapping[str, Any] = 1.0

    def pseudo_counts(self, shape: tuple[int, ...], name: str = "") -> Floats:
        """What is added to the counts of a family."""
        given = self.counts.get(name, 0.0) if isinstance(self.counts, Mapping) else self.counts
        cells = np.asarray(given, np.float64)
        if cells.shape not in ((), shape) or not np.all(np.isfinite(cells) & (cells >= 0)):
            raise InputError(
                f"The pseudo-counts of {label_text(name)} are numbers of at least 0, one for all "
                f"cells or an array of shape {shape}; got shape {cells.shape}."
            )
        return np.broadcast_to(cells, shape).astype(np.float64)


@dataclass(frozen=True)
class MEstimate:
    """`m` rows in every configuration of the parents, spread evenly over the states of the node.

    Examples
    --------
    >>> MEstimate(3.0).pseudo_counts((2, 3)).tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """

    m: float = 2.0

    def __post_init__(self) -> None:
        if not 0 <= self.m < math.inf:
            raise InputError(f"m is a number of rows of at least 0, got {self.m!r}.")

    def pseudo_counts(self, shape: tuple[int, ...], name: str = "") -> Floats:
        """What is added to the counts of a family."""
        del name
        return np.full(shape, self.m / shape[-1])


def pseudo_counts(prior: Any, shapes: Sequence[tuple[int, ...]], names: Sequence[str]) -> Floats:
    """What a prior adds to all families, one after the other; zeros without one."""
    if prior is None:
        return np.zeros(sum(math.prod(shape) for shape in shapes))
    if not isinstance(prior, TablePrior):
        raise InputError(
            "prior is a value such as BDeu(10.0), K2(), MEstimate(2.0) or Dirichlet(1.0), or None "
            f"for maximum likelihood; got {label_text(prior)}."
        )
    if isinstance(prior, Dirichlet) and isinstance(prior.counts, Mapping):
        strange = [name for name in prior.counts if name not in names]
        if strange:
            raise InputError(
                f"The prior has pseudo-counts of {listed(strange)}, which are no nodes; the nodes "
                f"are {listed(names)}."
            )
    cells = [
        prior.pseudo_counts(shape, name).ravel() for shape, name in zip(shapes, names, strict=True)
    ]
    return np.concatenate(cells) if cells else np.zeros(0)


# --- Counts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FamilyCounts(Sums):
    """Counts of the families of one graph.

    Attributes
    ----------
    variables : tuple of StateAxis
    parents : tuple of tuples of int
        Of each variable, by number.
    weight : float
        Of all rows.
    counts : array
        Tables with axes (parents ..., node) in C order, one after the other.

    Examples
    --------
    >>> graph = Dag.from_edges([("rain", "wet")])
    >>> first = family_counts(graph, {"rain": ["no", "yes"], "wet": ["no", "yes"]})
    >>> again = family_counts(graph, {"rain": ["no"], "wet": ["no"]}, first.variables)
    >>> (first + again).table("wet").tolist(), (first + again - first).weight
    ([[2.0, 0.0], [0.0, 1.0]], 1.0)
    """

    _fixed: ClassVar[tuple[str, ...]] = ("variables", "parents")
    _never_negative: ClassVar[tuple[str, ...]] = ("weight", "counts")

    variables: tuple[StateAxis, ...]
    parents: tuple[tuple[int, ...], ...]
    weight: float
    counts: Floats

    @cached_property
    def graph(self) -> Dag:
        return Dag(tuple(axis.name for axis in self.variables), self.parents)

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        return family_shapes(self.graph, np.array([len(a.states) for a in self.variables]))

    @cached_property
    def ends(self) -> list[int]:
        """Where the table of each variable begins; the last is where all end."""
        return np.cumsum([0, *(math.prod(shape) for shape in self.shapes)]).tolist()

    def table(self, name: str) -> Floats:
        """The counts of one node with axes (parents ..., node)."""
        place = self.graph.place(name)
        return self.counts[self.ends[place] : self.ends[place + 1]].reshape(self.shapes[place])

    def network(self, prior: TablePrior | None = None) -> BayesianNetwork:
        """The network with the expected tables under a prior, or those of largest likelihood."""
        return network_of(self.variables, self.parents, self._posterior(prior))

    def intervals(self, prior: TablePrior | None = None, level: float = 0.95) -> dict[str, Floats]:
        """Central posterior intervals of every entry, arrays of shape (parents ..., node, 2).

        Without a prior each cell counts as if half a row more were seen (Jeffreys), since nothing
        seen and no prior would leave no distribution at all.
        """
        from scipy.special import betaincinv

        if not 0 < level < 1:
            raise InputError(f"level is a share between 0 and 1, got {level!r}.")
        cells = self._posterior(Dirichlet(0.5) if prior is None else prior)
        tails = np.array([(1 - level) / 2, (1 + level) / 2])
        answers = {}
        for place, name in enumerate(self.graph.names):
            a = cells[self.ends[place] : self.ends[place + 1]].reshape(-1, self.shapes[place][-1])
            rest = a.sum(axis=1, keepdims=True) - a
            # A state that cannot be has no interval but zero, one that must be none but one.
            ends = np.where(a > 0, 1.0, 0.0)[..., None] * np.ones(2)
            inner = (a > 0) & (rest > 0)
            ends[inner] = betaincinv(a[inner][:, None], rest[inner][:, None], tails)
            answers[name] = ends.reshape(*self.shapes[place], 2)
        return answers

    def _posterior(self, prior: TablePrior | None) -> Floats:
        return self.counts + pseudo_counts(prior, self.shapes, self.graph.names)


def network_of(
    variables: Sequence[StateAxis], parents: Sequence[Sequence[int]], cells: Floats
) -> BayesianNetwork:
    """The network whose tables are the shares of these cells in their rows."""
    made, begin = [], 0
    for axis, above in zip(variables, parents, strict=True):
        axes = tuple(variables[p] for p in above)
        shape = (*(len(a.states) for a in axes), len(axis.states))
        end = begin + math.prod(shape)
        table = shares(cells[begin:end].reshape(-1, shape[-1])).reshape(shape)
        table.flags.writeable = False
        made.append(Tabular.trusted(axis, axes, table))
        begin = end
    return BayesianNetwork(made)


def shares(rows: Floats) -> Floats:
    """Each row divided by its sum; equal shares where that is zero."""
    sums = rows.sum(axis=1, keepdims=True)
    return np.where(sums > 0, rows / np.where(sums > 0, sums, 1.0), 1.0 / rows.shape[1])


def family_counts(
    dag: Dag,
    table: Any,
    variables: Sequence[StateAxis] | None = None,
    *,
    sample_weight: Any = None,
) -> FamilyCounts:
    """Counts of the families of a graph in a table.

    Parameters
    ----------
    dag : Dag or BayesianNetwork
    table : data frame, mapping of columns or array
        A row with a missing cell counts in the families that have all theirs.
    variables : sequence of StateAxis, optional
        States of the nodes, in the order of the graph; needed for pieces of a stream, so that all
        have the same. By default those of the table.
    sample_weight : array of shape (n_rows,), optional
    """
    if variables is None:
        graph, coded = graph_and_rows(dag, table, sample_weight)
    else:
        graph = dag.graph if isinstance(dag, BayesianNetwork) else dag
        coded = read_table(table, variables, sample_weight).select(graph.names)
    check_families(graph, coded.cards)
    cells = counted(coded, graph.parents)
    return FamilyCounts(coded.variables, graph.parents, coded.total, cells)


def counted(coded: CodedTable, parents: Sequence[Sequence[int]]) -> Floats:
    """The tables of all families, one after the other."""
    shapes = [
        math.prod([int(coded.cards[m]) for m in (*above, node)])
        for node, above in enumerate(parents)
    ]
    scores = FamilyScores(coded, LogLikelihood(), max_cells=max(shapes, default=1))
    pieces = [np.empty(0)]
    for node, (above, cells) in enumerate(zip(parents, shapes, strict=True)):
        members = np.array([*above, node], np.int64)
        kernels.count_table(scores.data, members, cells, scores.room)
        pieces.append(scores.room[1][:cells].copy())
    return np.concatenate(pieces)


def fit_parameters(
    dag: Dag | BayesianNetwork | ConditionalGaussianNetwork,
    table: Any,
    prior: TablePrior | None = None,
    *,
    sample_weight: Any = None,
    numbers: Any = None,
    noisy_or: Sequence[str] = (),
) -> Any:
    """The network with a given graph whose tables fit a table best.

    Parameters
    ----------
    dag : Dag, BayesianNetwork or ConditionalGaussianNetwork
        Of a network its graph and its states are kept, and its tables estimated anew; a noisy or
        stays one.
    table : data frame, mapping of columns or array
        Columns are nodes. Missing cells are expected under the network itself, by EM
        (`fit_expectation`, which also says how that went): they are taken as missing at random.
    prior : TablePrior, optional
        `BDeu(10.0)`, `K2()`, `MEstimate(2.0)`, `Dirichlet(...)`; maximum likelihood without.
        `BGe()` is a prior of columns of numbers too.
    sample_weight : array of shape (n_rows,), optional
    numbers : "normal" or a way to cut them, optional
        "normal" keeps columns of numbers as they are, each normal with a mean that is linear in its
        numeric parents, in each configuration of its discrete ones. By default they are cut at
        quantiles; see `learn_structure`.
    noisy_or : sequence of names
        Nodes that become a noisy or (`fit_noisy_or`, which also proves its maximum, and takes
        active states whose names do not tell).

    Returns
    -------
    BayesianNetwork, or with numbers a ConditionalGaussianNetwork or LinearGaussianNetwork

    Examples
    --------
    >>> from novum.graphical import Dag
    >>> from novum.graphical.learning.scores import K2
    >>> table = {"rain": ["no", "no", "yes", "yes"], "wet": ["no", "no", "yes", "no"]}
    >>> graph = Dag.from_edges([("rain", "wet")])
    >>> fit_parameters(graph, table)["wet"].table.tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    >>> fit_parameters(graph, table, K2())["wet"].table.tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    has_numbers = isinstance(table, CodedTable) and bool(table.numbers)
    mixed = isinstance(dag, ConditionalGaussianNetwork)
    if mixed or has_numbers or keeps_numbers(numbers, prior):
        if noisy_or:
            raise InputError(
                "A noisy or is fitted among columns with states. Leave noisy_or out, or cut the "
                "numbers into intervals: numbers=EqualFrequency()."
            )
        from novum.graphical.learning.gaussian_expectation import fit_numbers_expectation
        from novum.graphical.learning.gaussian_families import read_graph, summed

        graph, coded = read_graph(dag, table, None, sample_weight)
        if coded.has_missing:
            return fit_numbers_expectation(graph, coded, prior).network
        return summed(graph, coded).network(prior)
    if isinstance(numbers, str) and numbers == "score":
        numbers = ByScore()
    graph, coded = graph_and_rows(dag, table, sample_weight, numbers=numbers)
    if isinstance(numbers, ByScore) and isinstance(dag, Dag):
        raw = read_numbers(table, None, sample_weight).select(graph.names)
        coded = cut_for_graph(numbers, raw, graph, BIC())
    compact = noisy_nodes(dag, graph, coded, noisy_or)
    if coded.has_missing:
        from novum.graphical.learning.expectation import fit_tables_expectation

        return fit_tables_expectation(graph, coded, prior, noisy=compact).network
    if compact:
        return _with_noisy_or(graph, coded, prior, compact)
    check_families(graph, coded.cards)
    cells = counted(coded, graph.parents)
    return FamilyCounts(coded.variables, graph.parents, coded.total, cells).network(prior)


def noisy_nodes(
    dag: Any, graph: Dag, coded: CodedTable, names: Sequence[str]
) -> dict[int, NoisyOr]:
    """Nodes that are fitted as a noisy or, each with the one that a network has there."""
    from novum.graphical.learning.noisy_or import blank_noisy_or

    chosen: dict[int, NoisyOr] = {}
    for place, name in enumerate(graph.names):
        node = dag[name] if isinstance(dag, BayesianNetwork) else None
        if isinstance(node, NoisyOr):
            chosen[place] = node
    for name in names_in_order(names, "noisy_or"):
        place = graph.place(name)
        if place not in chosen:
            axes = tuple(coded.variables[p] for p in graph.parents[place])
            chosen[place] = blank_noisy_or(coded.variables[place], axes)
    return chosen


def _with_noisy_or(
    graph: Dag, coded: CodedTable, prior: Any, compact: Mapping[int, NoisyOr]
) -> BayesianNetwork:
    """A network some of whose nodes are noisy ors; the others have tables."""
    from novum.graphical.learning.noisy_or import noisy_or_of

    # A noisy or of many parents has no table to count.
    parents = [() if place in compact else above for place, above in enumerate(graph.parents)]
    bare = Dag(graph.names, tuple(parents))
    check_families(bare, coded.cards)
    tables = FamilyCounts(coded.variables, bare.parents, coded.total, counted(coded, parents))
    others = prior
    if isinstance(prior, Dirichlet) and isinstance(prior.counts, Mapping):
        left_out = {graph.names[place] for place in compact}
        others = Dirichlet({n: cells for n, cells in prior.counts.items() if n not in left_out})
    nodes = list(tables.network(others).conditionals)
    for place, node in compact.items():
        nodes[place] = noisy_or_of(graph, coded, place, node, prior).conditional
    return BayesianNetwork(nodes)
