"""How sure an edge is: its probability over all graphs, not whether one best graph has it.

    P(edge | table) = sum over graphs with the edge of P(graph | table)

**By orders, exactly.** Every graph goes with some orders of the variables, parents first. With a
prior in which each order counts alike, the sums over graphs fall apart by child and by the set of
variables before it, and two passes over all sets of variables give the probability of every edge
(Koivisto and Sood 2004, Koivisto 2006). A graph that goes with many orders counts as often, so this
prior is not the uniform one over graphs: it prefers graphs with few edges in a row. Draws of whole
graphs from the same passes answer every other question: paths, blankets, any function of a graph.

**By resampled tables.** The share of bootstrap samples whose best graph has the edge (Friedman,
Goldszmidt and Wyner 1999). It works for any number of variables, and measures how stable a search
is, which is not the same as a probability.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, check_memory, stream
from novum.core.text import label_text, meant
from novum.graphical.learning.coded_table import CodedTable, read_table
from novum.graphical.learning.constraints import Constraints, Rules
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
        return float(self.directed[self._place(parent), self._place(child)])

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

    def rows(self) -> list[tuple[str, str, float, float]]:
        """(a, b, P(joined), P(a -> b)) of all pairs, surest first, in the likelier direction."""
        answers = []
        for a, b in itertools.combinations(range(len(self.names)), 2):
            i, j = (a, b) if self.directed[a, b] >= self.directed[b, a] else (b, a)
            joined = float(self.directed[i, j] + self.directed[j, i])
            answers.append((self.names[i], self.names[j], joined, float(self.directed[i, j])))
        return sorted(answers, key=lambda row: -row[2])

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise InputError(f"There is no node {label_text(name)}: {meant(name, self.names)}")
        return self.names.index(name)

    def __repr__(self) -> str:
        width = max((len(f"{a} -> {b}") for a, b, _, _ in self.rows()), default=4)
        lines = [f"{'edge':{width}}  joined  this way   ({self.basis})"]
        for a, b, joined, this_way in self.rows()[:20]:
            if joined >= 0.01:
                lines.append(f"{f'{a} -> {b}':{width}}  {joined:6.3f}  {this_way:8.3f}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class GraphPosterior(EdgeProbabilities):
    """Edge probabilities over all orders of the variables, and draws of whole graphs.

    Attributes
    ----------
    log_evidence : float
        Logarithm of the sum over all orders and graphs.
    """

    log_evidence: float = math.nan
    passes: _Passes | None = field(default=None)

    def sample(self, size: int, random_state: RandomSource = None) -> list[Dag]:
        """Independent graphs from the posterior."""
        assert self.passes is not None
        rng = stream(random_state, "graphs")
        return [Dag(self.names, self.passes.draw(rng)) for _ in range(size)]

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
        answers = [bool(holds(graph)) for graph in self.sample(size, random_state)]
        mean = float(np.mean(answers))
        return mean, math.sqrt(max(mean * (1 - mean), 1 / size) / size)


def edge_probabilities(
    table: Any,
    criterion: Criterion | None = None,
    constraints: Constraints | None = None,
    *,
    sample_weight: Any = None,
    structure_prior: StructurePrior | None = None,
) -> GraphPosterior:
    """The exact probability of every edge, over all orders of up to 22 variables.

    Parameters
    ----------
    table : data frame, mapping of columns or array
        Without missing cells.
    criterion : Criterion
        A log marginal likelihood: `BDeu(1.0)` by default; `BIC()` approximates one.
    constraints : Constraints, optional
        At most 3 parents by default.
    sample_weight : array of shape (n_rows,), optional
    structure_prior : StructurePrior, optional

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
            "Exact edge probabilities need whole rows, and cells are missing. Use "
            "bootstrap_edges, which learns each graph by structural EM."
        )
    d = coded.n_variables
    limits = constraints or Constraints(max_parents=MAX_PARENTS)
    rules = limits.rules(coded.names)
    if d > MOST_VARIABLES:
        raise InputError(
            f"Exact edge probabilities pass over all sets of {d} variables; {MOST_VARIABLES} are "
            "the most. Use bootstrap_edges, or leave out columns."
        )
    check_memory(
        8 * (2 * d << (d - 1)) + 16 * (1 << d),
        f"Two passes over all sets of {d} variables",
        "Leave out columns, or use bootstrap_edges.",
    )
    rule = BDeu(1.0) if criterion is None else check_criterion(criterion)
    scores = FamilyScores(coded, rule, max_parents=rules.max_parents, prior=structure_prior)
    passes = _Passes(scores, rules)
    directed = passes.edges()
    basis = f"all orders of {d} variables, at most {scores.max_parents} parents"
    return GraphPosterior(coded.names, directed, basis, float(passes.forward[-1]), passes)


class _Passes:
    """Sums over all orders, in logarithms.

        forward(S)    orders of S and their graphs
        backward(S)   the same of what comes after S

    `families[v]` are scores of sets of parents, `inside[v]` their sums over all subsets; sets of
    the others are bits, without the bit of v.
    """

    def __init__(self, scores: FamilyScores, rules: Rules) -> None:
        self.d = d = scores.table.n_variables
        self.families = np.full((d, 1 << (d - 1)), -math.inf)
        for child in range(d):
            others = [v for v in range(d) if v != child and rules.allowed[child, v]]
            required = set(np.flatnonzero(rules.required[child]).tolist())
            for size in range(min(scores.max_parents, len(others)) + 1):
                for parents in itertools.combinations(others, size):
                    if required <= set(parents):
                        code = sum(1 << (v - (v > child)) for v in parents)
                        self.families[child, code] = scores.local(child, parents)
        self.inside = np.stack([_subset_sums(row) for row in self.families])
        codes = np.arange(1 << d)
        self.levels = [codes[np.bitwise_count(codes) == k] for k in range(d + 1)]
        self.forward = np.full(1 << d, -math.inf)
        self.forward[0] = 0.0
        for level in self.levels[1:]:
            for v in range(d):
                with_v = level[level >> v & 1 == 1]
                before = with_v ^ (1 << v)
                gained = self.forward[before] + self.inside[v, _without(before, v)]
                self.forward[with_v] = np.logaddexp(self.forward[with_v], gained)

    def edges(self) -> Floats:
        """P(parent -> child), of shape (parent, child)."""
        d, backward = self.d, np.full(1 << self.d, -math.inf)
        backward[-1] = 0.0
        for level in self.levels[-2::-1]:
            for v in range(d):
                before = level[level >> v & 1 == 0]
                gained = backward[before | (1 << v)] + self.inside[v, _without(before, v)]
                backward[before] = np.logaddexp(backward[before], gained)
        directed = np.zeros((d, d))
        codes = np.arange(1 << (d - 1))
        for child in range(d):
            whole = (codes >> child << (child + 1)) | (codes & ((1 << child) - 1))
            around = self.forward[whole] + backward[whole | (1 << child)]
            # Of every set of parents: all sets before the child that hold it.
            weights = self.families[child] + _superset_sums(around) - self.forward[-1]
            chances = np.exp(weights)
            for parent in range(d):
                if parent != child:
                    bit = parent - (parent > child)
                    directed[parent, child] = chances[codes >> bit & 1 == 1].sum()
        return np.clip(directed, 0.0, 1.0)

    def draw(self, rng: np.random.Generator) -> tuple[tuple[int, ...], ...]:
        """The parents of each variable in a graph of a random order."""
        parents: list[tuple[int, ...]] = [()] * self.d
        members = (1 << self.d) - 1
        while members:
            last = [v for v in range(self.d) if members >> v & 1]
            logs = np.array(
                [
                    self.forward[members ^ (1 << v)]
                    + self.inside[v, int(_without(np.array(members ^ (1 << v)), v))]
                    for v in last
                ]
            )
            child = last[_drawn(logs, rng)]
            members ^= 1 << child
            inside = int(_without(np.array(members), child))
            codes = np.flatnonzero(self.families[child] > -math.inf)
            codes = codes[codes & ~inside == 0]
            code = int(codes[_drawn(self.families[child, codes], rng)])
            parents[child] = tuple(
                bit + (bit >= child) for bit in range(self.d - 1) if code >> bit & 1
            )
        return tuple(parents)


def _drawn(logs: Floats, rng: np.random.Generator) -> int:
    chances = np.exp(logs - logs.max()).cumsum()
    return int(np.searchsorted(chances, rng.random() * chances[-1], side="right"))


def _without(codes: Any, v: int) -> Any:
    """Sets that lack v, as bits of the others."""
    return (codes & ((1 << v) - 1)) | (codes >> (v + 1) << v)


def _subset_sums(values: Floats) -> Floats:
    """Logarithms of sums over all subsets of each set."""
    sums = values.copy()
    for step in (1 << np.arange(len(values).bit_length() - 1)).tolist():
        halves = sums.reshape(-1, 2, step)
        halves[:, 1] = np.logaddexp(halves[:, 0], halves[:, 1])
    return sums


def _superset_sums(values: Floats) -> Floats:
    """Logarithms of sums over all sets that hold each set."""
    return _subset_sums(values[::-1].copy())[::-1]


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
