"""How sure an edge is: its probability over all graphs, not whether one best graph has it.

    P(edge | table) = sum over graphs with the edge of P(graph | table)

**By orders.** Every graph goes with some orders of the variables, parents first. With a prior in
which each order counts alike, the sums over graphs fall apart by child and by the set of variables
before it: exactly for up to 22 variables (`novum.graphical.learning.order_sums`), by chains of
orders beyond (`order_chains`). A graph that goes with many orders counts as often, so this prior is
not the uniform one over graphs: it prefers graphs with few edges in a row. Drawn graphs answer
every other question: paths, blankets, any function of a graph; weighted by one over the number of
their orders they are draws of the uniform prior (`GraphPosterior.equal_graphs`; Ellis and Wong
2008).

**By resampled tables.** The share of bootstrap samples whose best graph has the edge (Friedman,
Goldszmidt and Wyner 1999). It works for any number of variables, and measures how stable a search
is, which is not the same as a probability.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, check_memory, stream
from novum.core.text import label_text, meant
from novum.graphical.inference.chain_diagnosis import monte_carlo_error
from novum.graphical.learning.coded_table import CodedTable, read_table
from novum.graphical.learning.constraints import Constraints, parents_of
from novum.graphical.learning.order_chains import ChainReport, OrderChains, OrderWalks
from novum.graphical.learning.order_sums import OrderSums
from novum.graphical.learning.scores import (
    BDeu,
    Criterion,
    FamilyScores,
    StructurePrior,
    check_criterion,
)
from novum.graphical.learning.search import Search, learn_structure
from novum.graphical.structure.dag import Dag
from novum.numerics import Floats

if TYPE_CHECKING:
    from novum.core.svg_text import SvgText
    from novum.graphical.learning.equal_graphs import WeightedGraphProbabilities

# Variables whose sets fit the memory of two passes, and parents where nothing is said.
MOST_VARIABLES = 22
MAX_PARENTS = 3


@dataclass(frozen=True, eq=False)
class EdgeProbabilities:
    """The probability of every edge.

    Attributes
    ----------
    names : tuple of str
    directed : array of shape (n, n)
        `directed[a, b]` is the probability of a -> b.
    basis : str
        Where the numbers come from.

    Examples
    --------
    >>> sure = EdgeProbabilities(("a", "b"), np.array([[0.0, 0.6], [0.3, 0.0]]), "by hand")
    >>> round(sure.joined("a", "b"), 3), sure.consensus(0.5).edges
    (0.9, (('a', 'b'),))
    """

    names: tuple[str, ...]
    directed: Floats
    basis: str

    def probability(self, parent: str, child: str) -> float:
        """Of an edge in its direction."""
        return float(self.directed[number_of(parent, self.names), number_of(child, self.names)])

    def joined(self, a: str, b: str) -> float:
        """Of an edge in either direction."""
        return self.probability(a, b) + self.probability(b, a)

    def consensus(self, threshold: float = 0.5) -> Dag:
        """The graph of the pairs that are joined with at least this probability.

        Each has its likelier direction; edges come by their probability, and one that would close
        a cycle is turned, or left out where that closes one too.
        """
        if not 0 < threshold <= 1:
            raise InputError(f"threshold is a probability above 0, got {threshold!r}.")
        both = self.directed + self.directed.T
        pairs = [
            (a, b) for a, b in itertools.combinations(range(len(self.names)), 2)
            if both[a, b] >= threshold
        ]  # fmt: skip
        parents: list[set[int]] = [set() for _ in self.names]
        for a, b in sorted(pairs, key=lambda pair: -both[pair]):
            first, second = (a, b) if self.directed[a, b] >= self.directed[b, a] else (b, a)
            for parent, child in ((first, second), (second, first)):
                if not _descends(parents, parent, child):
                    parents[child].add(parent)
                    break
        return Dag(self.names, tuple(tuple(sorted(own)) for own in parents))

    def draw(self, threshold: float = 0.5) -> SvgText:
        """The consensus as an SVG picture, its edges as wide as their probability."""
        from novum.graphical.drawing.drawing import draw_strengths

        both = self.directed + self.directed.T
        graph = self.consensus(threshold)
        edges = {
            (parent, child): float(both[parent, child])
            for child, parents in enumerate(graph.parents)
            for parent in parents
        }
        return draw_strengths(self.names, edges)

    def rows(self) -> list[tuple[str, str, float, float]]:
        """(a, b, P(joined), P(a -> b)) of all pairs, surest first, in the likelier direction."""
        answers = []
        for a, b in itertools.combinations(range(len(self.names)), 2):
            i, j = (a, b) if self.directed[a, b] >= self.directed[b, a] else (b, a)
            joined = float(self.directed[i, j] + self.directed[j, i])
            answers.append((self.names[i], self.names[j], joined, float(self.directed[i, j])))
        return sorted(answers, key=lambda row: -row[2])

    def __repr__(self) -> str:
        width = max((len(f"{a} -> {b}") for a, b, _, _ in self.rows()), default=4)
        lines = [f"{'edge':{width}}  joined  this way   ({self.basis})"]
        for a, b, joined, this_way in self.rows()[:20]:
            if joined >= 0.01:
                lines.append(f"{f'{a} -> {b}':{width}}  {joined:6.3f}  {this_way:8.3f}")
        return "\n".join(lines)


def number_of(name: str, names: tuple[str, ...]) -> int:
    """Where a node is in a list of names."""
    if name not in names:
        raise InputError(f"There is no node {label_text(name)}: {meant(name, names)}")
    return names.index(name)


@dataclass(frozen=True, eq=False)
class PairProbabilities:
    """The probability of something of every ordered pair of variables, from drawn graphs.

    Attributes
    ----------
    names : tuple of str
    values, errors : arrays of shape (n, n)
        `values[a, b]` speaks of a and then b; standard errors of the draws.
    basis : str
    """

    names: tuple[str, ...]
    values: Floats
    errors: Floats
    basis: str

    def probability(self, a: str, b: str) -> float:
        return float(self.values[number_of(a, self.names), number_of(b, self.names)])

    def error(self, a: str, b: str) -> float:
        """Its standard error."""
        return float(self.errors[number_of(a, self.names), number_of(b, self.names)])

    def __repr__(self) -> str:
        places = np.argwhere(self.values >= 0.01)
        order = np.argsort(-self.values[tuple(places.T)], kind="stable")
        shown = [(self.names[a], self.names[b], a, b) for a, b in places[order[:20]]]
        width = max((len(f"{a}, {b}") for a, b, _, _ in shown), default=4)
        lines = [f"{'pair':{width}}  probability  error   ({self.basis})"]
        for a, b, i, j in shown:
            lines.append(
                f"{f'{a}, {b}':{width}}  {self.values[i, j]:11.3f}  {self.errors[i, j]:.3f}"
            )
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class GraphPosterior(EdgeProbabilities):
    """Edge probabilities over orders of the variables, and draws of whole graphs.

    Attributes
    ----------
    log_evidence : float
        Logarithm of the sum over all orders and graphs; NaN where orders were sampled.
    errors : array of shape (n, n), or None
        Standard errors of the edges where orders were sampled; None where the sums are exact.
    report : ChainReport or None
        Whether chains of orders have mixed.
    """

    log_evidence: float = math.nan
    errors: Floats | None = None
    source: OrderSums | OrderWalks | None = field(default=None)

    @property
    def report(self) -> ChainReport | None:
        return self.source.report if isinstance(self.source, OrderWalks) else None

    def graphs(self, size: int = 1000, random_state: RandomSource = 0) -> Any:
        """Graphs of the posterior, int8 of shape (chains, draws, parent, child).

        Of exact sums, so many independent ones, as one chain; of sampled orders those of the
        chains, whatever the size.
        """
        if isinstance(self.source, OrderWalks):
            return self.source.graphs
        assert self.source is not None
        if isinstance(size, bool) or int(size) != size or size < 1:
            raise InputError(f"size is a number of graphs of at least 1, got {size!r}.")
        return self.source.draw(size, stream(random_state, "graphs"))[None]

    def sample(self, size: int, random_state: RandomSource = None) -> list[Dag]:
        """Graphs from the posterior; independent where the sums are exact."""
        graphs = self.graphs(size, random_state)
        flat = graphs.reshape(-1, *graphs.shape[2:])
        if isinstance(self.source, OrderWalks):
            rng = stream(random_state, "graphs")
            flat = flat[rng.choice(len(flat), size, replace=size > len(flat))]
        return [Dag(self.names, parents_of(graph.T)) for graph in flat]

    def share(
        self, holds: Callable[[Dag], bool], size: int = 1000, random_state: RandomSource = 0
    ) -> tuple[float, float]:
        """The probability that something holds of the graph, and its standard error.

        Examples
        --------
        >>> rows = {"a": [0, 0, 1, 1] * 5, "b": [0, 0, 1, 1] * 5}
        >>> posterior = edge_probabilities(rows)
        >>> posterior.share(lambda graph: "b" in graph.markov_blanket("a"), 100)[0] > 0.9
        True
        """
        graphs = self.graphs(size, random_state)
        answers = np.array(
            [
                [bool(holds(Dag(self.names, parents_of(graph.T)))) for graph in chain]
                for chain in graphs
            ],
            np.float64,
        )
        return float(answers.mean()), float(_errors(answers[..., None])[0])

    def paths(self, size: int = 1000, random_state: RandomSource = 0) -> PairProbabilities:
        """The probability of a directed path from each variable to each other one.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> a = rng.integers(0, 2, 200)
        >>> rows = {"a": a, "b": a ^ (rng.random(200) < 0.1), "c": rng.integers(0, 2, 200)}
        >>> tiers = Constraints(tiers=["a", "b", "c"])
        >>> edge_probabilities(rows, constraints=tiers).paths(200).probability("a", "b") > 0.99
        True
        """
        reached = self.graphs(size, random_state).astype(np.float32)
        for _ in range(max(len(self.names) - 1, 1).bit_length()):
            reached = np.minimum(reached + reached @ reached, 1.0)
        return self._pairs(reached, "directed paths")

    def blankets(self, size: int = 1000, random_state: RandomSource = 0) -> PairProbabilities:
        """The probability that one variable is in the Markov blanket of another; symmetric."""
        graphs = self.graphs(size, random_state).astype(np.float32)
        turned = graphs.swapaxes(-1, -2)
        joined = np.minimum(graphs + turned + graphs @ turned, 1.0)
        joined[..., np.arange(len(self.names)), np.arange(len(self.names))] = 0.0
        return self._pairs(joined, "Markov blankets")

    def equal_graphs(
        self, size: int = 2000, random_state: RandomSource = 0
    ) -> WeightedGraphProbabilities:
        """Edge probabilities where every graph, not every order, counts alike before the table.

        Drawn graphs are weighted by one over the number of orders that they go with, which is exact
        in the limit of many draws. How much the draws are worth is `effective_size`.

        Parameters
        ----------
        size : int
            Graphs that are drawn; of sampled orders so many of the kept ones, evenly spaced.
        random_state : None, int or generator

        Notes
        -----
        The orders of a graph are counted exactly, which takes long where many variables hang
        together: of 37 variables about half a second for each graph.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> a = rng.integers(0, 2, 300)
        >>> b = a ^ (rng.random(300) < 0.2)
        >>> posterior = edge_probabilities({"a": a, "b": b, "c": b ^ (rng.random(300) < 0.2)})
        >>> round(posterior.probability("b", "a"), 2)
        0.75
        >>> abs(posterior.equal_graphs().probability("b", "a") - 2 / 3) < 0.1
        True
        """
        from novum.graphical.learning.equal_graphs import equal_graphs

        return equal_graphs(self, size, random_state)

    def _pairs(self, holds: Any, what: str) -> PairProbabilities:
        n_graphs = holds.shape[0] * holds.shape[1]
        basis = f"{what} in {n_graphs} graphs of {self.basis}"
        return PairProbabilities(
            self.names, holds.mean(axis=(0, 1), dtype=np.float64), _errors(holds), basis
        )

    def __repr__(self) -> str:
        report = "" if self.report is None else f"\n{self.report!r}"
        return super().__repr__() + report


def _errors(holds: Any) -> Floats:
    """Standard errors of shares: of independent draws in one chain, or of chains."""
    n = holds.shape[0] * holds.shape[1]
    shares = holds.mean(axis=(0, 1), dtype=np.float64)
    # One more draw might be the first of its kind.
    independent = np.sqrt(np.maximum(shares * (1 - shares), 1 / n) / n)
    if len(holds) == 1:
        return np.asarray(independent)
    return np.maximum(monte_carlo_error(holds), independent)


def edge_probabilities(
    table: Any,
    criterion: Criterion | None = None,
    constraints: Constraints | None = None,
    *,
    chains: OrderChains | None = None,
    sample_weight: Any = None,
    structure_prior: StructurePrior | None = None,
) -> GraphPosterior:
    """The probability of every edge over all orders: exact up to 22 variables, sampled beyond.

    Parameters
    ----------
    table : data frame, mapping of columns or array
        Without missing cells.
    criterion : Criterion
        A log marginal likelihood: `BDeu(1.0)` by default; `BIC()` approximates one.
    constraints : Constraints, optional
        At most 3 parents by default.
    chains : OrderChains, optional
        Samples orders in place of summing over all of them; with more than 22 variables
        `OrderChains()` is taken.
    sample_weight : array of shape (n_rows,), optional
    structure_prior : StructurePrior, optional

    Notes
    -----
    Every order counts alike before the table is seen, so a graph counts as often as there are
    orders that it goes with: a prior that is not uniform over graphs. `equal_graphs()` of the
    answer weighs that off.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(0, 2, 200)
    >>> b = np.where(rng.random(200) < 0.9, a, 1 - a)
    >>> rows = {"a": a, "b": b, "c": rng.integers(0, 2, 200)}
    >>> posterior = edge_probabilities(rows)
    >>> round(posterior.joined("a", "b"), 3), posterior.joined("a", "c") < 0.2
    (1.0, True)
    """
    coded = read_table(table, None, sample_weight)
    if coded.has_missing:
        raise InputError(
            "Edge probabilities need whole rows, and cells are missing. Use bootstrap_edges, "
            "which learns each graph by structural EM."
        )
    d = coded.n_variables
    limits = constraints or Constraints(max_parents=MAX_PARENTS)
    rules = limits.rules(coded.names)
    rule = BDeu(1.0) if criterion is None else check_criterion(criterion)
    scores = FamilyScores(coded, rule, max_parents=rules.max_parents, prior=structure_prior)
    if chains is None and d <= MOST_VARIABLES:
        check_memory(
            8 * (d << (d - 1)) + 32 * (1 << d),
            f"Sums over all sets of {d} variables",
            "Leave out columns, or sample orders: chains=OrderChains().",
        )
        sums = OrderSums(scores, rules)
        basis = f"all orders of {d} variables, at most {scores.max_parents} parents"
        return GraphPosterior(coded.names, sums.edges(), basis, sums.log_evidence, None, sums)
    how = chains or OrderChains()
    if not isinstance(how, OrderChains):
        raise InputError(f"chains is a value such as OrderChains(4), got {label_text(chains)}.")
    if d < 2:
        raise InputError("Orders of one variable need no chains. Leave out chains.")
    walks = OrderWalks(scores, rules, how)
    among = "" if how.candidates >= d - 1 else f" of {how.candidates} candidates"
    basis = (
        f"{how.chains} chains of orders of {d} variables, at most {scores.max_parents} "
        f"parents{among}"
    )
    if not walks.report.has_mixed:
        warnings.warn(
            f"The chains of orders disagree ({walks.report!r}). Give them more steps: "
            f"chains=OrderChains(steps={4 * how.steps}).",
            UserWarning,
            stacklevel=2,
        )
    return GraphPosterior(coded.names, walks.directed, basis, math.nan, walks.errors, walks)


def _descends(parents: Sequence[set[int]], node: int, ancestor: int) -> bool:
    waiting, seen = [node], {node}
    while waiting:
        for parent in parents[waiting.pop()]:
            if parent == ancestor:
                return True
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    return node == ancestor


def bootstrap_edges(
    table: Any,
    criterion: Criterion | None = None,
    search: Search | None = None,
    constraints: Constraints | None = None,
    *,
    samples: int = 100,
    sample_weight: Any = None,
    random_state: RandomSource = 0,
) -> EdgeProbabilities:
    """The share of resampled tables whose learned graph has an edge.

    Where a direction is the same in all equivalent graphs the edge counts in it; where both are
    possible, half each way.

    Examples
    --------
    >>> rows = {"a": [0, 0, 1, 1] * 10, "b": [0, 0, 1, 1] * 10, "c": [0, 1, 1, 0] * 10}
    >>> sure = bootstrap_edges(rows, samples=20)
    >>> sure.joined("a", "b"), sure.probability("a", "b")
    (1.0, 0.5)
    """
    if samples < 1:
        raise InputError(f"samples is a number of tables of at least 1, got {samples!r}.")
    coded = read_table(table, None, sample_weight)
    places = {name: place for place, name in enumerate(coded.names)}
    directed = np.zeros((coded.n_variables, coded.n_variables))
    shares = None if coded.weights is None else coded.weights / coded.weights.sum()
    for number in range(samples):
        rng = stream(random_state, "bootstrap", number)
        rows = rng.choice(coded.n_rows, coded.n_rows, p=shares)
        drawn = CodedTable(coded.variables, np.ascontiguousarray(coded.codes[:, rows]))
        pattern = learn_structure(drawn, criterion, search, constraints).dag.pattern()
        for a, b in pattern.directed:
            directed[places[a], places[b]] += 1 / samples
        for pair in pattern.undirected:
            a, b = sorted(pair)
            directed[places[a], places[b]] += 0.5 / samples
            directed[places[b], places[a]] += 0.5 / samples
    return EdgeProbabilities(coded.names, directed.round(12), f"{samples} resampled tables")
