"""Columns of numbers as intervals: by frequency, by a target, or by the score of the graph.

Cutting a column X into k intervals X* changes a penalized score by what its families say. So that
different cuts can be compared, the numbers themselves are described too, given their interval
(n H(X) - n H(X*) nats, Friedman and Goldszmidt), and so are the cuts, k - 1 of the m - 1 gaps
between different numbers:

    score(graph, cuts) = score(graph) + sum over X of  n H(X*) - log choose(m - 1, k - 1)

up to a constant. Given the graph, and the cuts of all other columns, this is a sum over the
intervals of X for each k: of its own family, of those of its children, and of the entropy. The best
cuts among all candidates are found by dynamic programming. `ByScore` takes turns with the search,
and no turn lowers the score.

References
----------
Friedman and Goldszmidt (1996), *Discretizing continuous attributes while learning Bayesian
networks*. Fayyad and Irani (1993) for the cuts by a target.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln, xlogy

from novum.core.errors import InputError
from novum.core.text import label_text, meant
from novum.data import mdl_cuts
from novum.graphical.learning.coded_table import CodedTable
from novum.graphical.learning.scores import Criterion
from novum.graphical.models.arrays import UNKNOWN
from novum.graphical.naive_network import (
    INTERVALS,
    MOST_NUMBERS,
    ColumnStates,
    frequent_ends,
    intervals_after,
)
from novum.graphical.structure.dag import Dag
from novum.numerics import Floats, Integers

if TYPE_CHECKING:
    from novum.graphical.learning.search import LearnedStructure

# Gaps between numbers at which a cut may be.
MOST_CANDIDATES = 64
# Gains below this are rounding.
LEAST_GAIN = 1e-7


class Discretization(ABC):
    """How columns of numbers become intervals; a value."""

    @abstractmethod
    def states(self, table: CodedTable, place: int) -> ColumnStates:
        """The intervals of one column of numbers."""

    def cut(self, table: CodedTable) -> CodedTable:
        """A table with numbers as one whose columns all have states."""
        items = [
            self.states(table, place) if is_number else None
            for place, is_number in enumerate(table.is_numeric)
        ]
        return with_intervals(table, items)


@dataclass(frozen=True)
class EqualFrequency(Discretization):
    """Intervals with about as many rows each.

    Parameters
    ----------
    intervals : int
    most_numbers : int
        A column of up to so many different numbers has each as a state.

    Examples
    --------
    >>> from novum.graphical.learning import read_numbers
    >>> table = read_numbers({"x": [1.0, 2.0, 3.0, 10.0, 20.0, 40.0]})
    >>> EqualFrequency(2, most_numbers=3).cut(table).variables[0].states
    ('up to 6.5', 'above 6.5')
    """

    intervals: int = INTERVALS
    most_numbers: int = MOST_NUMBERS

    def __post_init__(self) -> None:
        if not (isinstance(self.intervals, int) and self.intervals >= 2):
            raise InputError(f"intervals is a number of at least 2, got {self.intervals!r}.")

    def states(self, table: CodedTable, place: int) -> ColumnStates:
        values, weights, _ = _counted(table, place)
        ends = frequent_ends(weights, self.intervals, self.most_numbers)
        return intervals_after(table.names[place], values, ends)


@dataclass(frozen=True)
class MinimumDescription(Discretization):
    """Cuts where the states of a target change, as long as that pays for naming the cut.

    Parameters
    ----------
    target : str
        A column. One of numbers is cut by frequency first, and stays so.

    Notes
    -----
    A column that says nothing about the target has one state, "all numbers".
    """

    target: str

    def states(self, table: CodedTable, place: int) -> ColumnStates:
        if self.target not in table.names:
            raise InputError(
                f"The target {label_text(self.target)} is no column: "
                f"{meant(self.target, table.names)}"
            )
        target = table.names.index(self.target)
        if target == place:
            return EqualFrequency().states(table, place)
        classes = table.codes[target]
        if table.is_numeric[target]:
            item = EqualFrequency().states(table, target)
            classes = item.codes(_cells(table, target))
        known = (table.codes[place] >= 0) & (classes >= 0)
        cells, rows = _cells(table, place), classes[known]
        values, inverse = np.unique(cells[known], return_inverse=True)
        weights = np.ones(table.n_rows) if table.weights is None else table.weights
        counts = np.zeros((len(values), int(classes.max(initial=0)) + 1))
        np.add.at(counts, (inverse.ravel(), rows), weights[known])
        ends = np.searchsorted(values, mdl_cuts(values, counts), side="right") - 1
        return intervals_after(table.names[place], values, ends.astype(np.int64))


@dataclass(frozen=True)
class ByScore(Discretization):
    """Cuts that are chosen together with the graph, by its score.

    Parameters
    ----------
    start : Discretization
        The first cuts; also those of columns without any edge.
    max_intervals : int
        Of a column.
    rounds : int
        Turns of search and cuts, at most.

    Notes
    -----
    For penalized scores (`BIC()`, `AIC()`) of whole rows.
    """

    start: Discretization = field(default_factory=EqualFrequency)
    max_intervals: int = 12
    rounds: int = 10

    def __post_init__(self) -> None:
        if not isinstance(self.start, Discretization) or isinstance(self.start, ByScore):
            raise InputError("The start of ByScore is EqualFrequency() or MinimumDescription(...).")
        if self.max_intervals < 2 or self.rounds < 1:
            raise InputError("ByScore takes max_intervals of at least 2 and at least 1 round.")

    def states(self, table: CodedTable, place: int) -> ColumnStates:
        return self.start.states(table, place)

    def given_graph(
        self, raw: CodedTable, coded: CodedTable, graph: Dag, penalty: float
    ) -> tuple[CodedTable, float]:
        """The best cuts of one column after the other, until none changes; and what is gained."""
        total = 0.0
        for _ in range(self.rounds):
            gained = 0.0
            for place in np.flatnonzero(raw.is_numeric).tolist():
                item, gain = _best_cuts(raw, coded, graph, place, penalty, self.max_intervals)
                if gain > LEAST_GAIN:
                    items = list(coded.intervals)
                    items[place] = item
                    coded, gained = with_intervals(raw, items), gained + gain
            total += gained
            if not gained:
                break
        return coded, total


def check_discretization(numbers: Any, target: str | None = None) -> Discretization:
    """What `numbers` says, equal frequencies by default; "mdl" cuts where `target` changes."""
    if isinstance(numbers, Discretization):
        return numbers
    if numbers is None or (isinstance(numbers, str) and numbers == "frequency"):
        return EqualFrequency()
    if isinstance(numbers, str) and numbers == "score":
        return ByScore()
    if isinstance(numbers, str) and numbers == "mdl":
        if target is None:
            raise InputError(
                "numbers='mdl' cuts where a target changes, and none is named. Name the column: "
                "numbers=MinimumDescription('target')."
            )
        return MinimumDescription(target)
    keeps = isinstance(numbers, str) and numbers == "normal"
    raise InputError(
        "numbers is 'frequency', 'mdl', 'score', or a value such as EqualFrequency(6), "
        "MinimumDescription('target') or ByScore()"
        + (
            "; 'normal' keeps numbers as they are, which learn_structure and fit_parameters do."
            if keeps
            else f", or 'normal' where numbers stay as they are; got {label_text(numbers)}."
        )
    )


def with_intervals(table: CodedTable, items: Sequence[ColumnStates | None]) -> CodedTable:
    """A table whose numbers are read as these intervals; None of columns that have states."""
    codes = table.codes.copy()
    variables = list(table.variables)
    for place, item in enumerate(items):
        if item is not None:
            codes[place] = item.codes(_cells(table, place))
            variables[place] = item.axis
    return CodedTable(tuple(variables), codes, table.weights, tuple(items))


def _counted(table: CodedTable, place: int) -> tuple[Floats, Floats, Integers]:
    """Different numbers of a column, their weights, and the number of each known row's."""
    cells = _cells(table, place)
    known = ~np.isnan(cells)
    values, inverse = np.unique(cells[known], return_inverse=True)
    weights = None if table.weights is None else table.weights[known]
    totals = np.bincount(inverse.ravel(), weights, len(values)).astype(np.float64)
    return values, totals, inverse.ravel().astype(np.int64)


def _cells(table: CodedTable, place: int) -> Floats:
    cells = table.numbers[place]
    assert cells is not None
    return cells


# --- The best cuts of one column ------------------------------------------------------------------


def _best_cuts(
    raw: CodedTable, coded: CodedTable, graph: Dag, place: int, penalty: float, most: int
) -> tuple[ColumnStates, float]:
    """Cuts of a column with the best score given all else, and what they gain over the present."""
    present = coded.intervals[place]
    assert present is not None
    own, children = graph.parents[place], graph.children[place]
    values, weights, rows = _counted(raw, place)
    if len(values) < 3 or not (own or children):
        return present, 0.0
    assert present.cuts is not None
    now = np.searchsorted(values, present.cuts, side="right") - 1
    few = frequent_ends(weights, MOST_CANDIDATES, MOST_CANDIDATES + 1)
    ends = np.unique(np.concatenate([now, few]))
    group = np.searchsorted(ends, rows, side="left")
    n_groups = len(ends) + 1
    # Tables of the families that hold the column, with its groups as rows.
    above, q = _configuration(coded, own)
    tables = [(_table(group, above, n_groups, q, coded), 1)]
    price = float(q)
    for child in children:
        others = [p for p in graph.parents[child] if p != place]
        case, q_others = _configuration(coded, others)
        size = int(coded.cards[child])
        cells = case * size + coded.codes[child]
        tables.append((_table(group, cells, n_groups, q_others * size, coded), size))
        price += q_others * (size - 1)
    gains = _interval_scores(tables, n_groups)
    best, chosen = _best_partition(gains, min(most, n_groups))
    n_present = len(now) + 1
    number = np.arange(1, len(best) + 1)
    gaps = len(values) - 1
    costs = penalty * price * number + _log_choose(gaps, number - 1)
    worth = best - costs
    # A column of one interval has no edges: it keeps two at least.
    k = int(np.argmax(worth[1:])) + 2 if len(worth) > 1 else 1
    bounds = [-1, *np.searchsorted(ends, now).tolist(), n_groups - 1]
    before = sum(gains[a + 1, b] for a, b in itertools.pairwise(bounds))
    before -= penalty * price * n_present + _log_choose(gaps, n_present - 1)
    gain = float(worth[k - 1] - before)
    if not gain > LEAST_GAIN:
        return present, 0.0
    cuts, stop = [], n_groups - 1
    for size in range(k, 1, -1):
        stop = int(chosen[size - 1, stop]) - 1
        cuts.append(int(ends[stop]))
    return intervals_after(raw.names[place], values, np.array(sorted(cuts), np.int64)), gain


def _configuration(coded: CodedTable, members: Sequence[int]) -> tuple[Integers, int]:
    case, q = np.zeros(coded.n_rows, np.int64), 1
    for member in members:
        card = int(coded.cards[member])
        case, q = case * card + coded.codes[member], q * card
    return case, q


def _table(group: Any, cells: Any, n_groups: int, size: int, coded: CodedTable) -> Floats:
    """Cumulated counts of shape (n_groups + 1, size)."""
    counts = np.bincount(group * size + cells, coded.weights, n_groups * size)
    table = np.zeros((n_groups + 1, size))
    np.cumsum(counts.reshape(n_groups, size), axis=0, out=table[1:])
    return table


def _interval_scores(tables: Sequence[tuple[Floats, int]], n_groups: int) -> Floats:
    """What an interval of groups a to b adds: its families' log-likelihood and its entropy.

    The first table is that of the column itself given its parents, where n log n of the
    configurations is the same for all cuts; the entropy n H(X*) takes n log n of the interval off.
    """
    scores = np.full((n_groups, n_groups), -np.inf)
    for b in range(n_groups):
        total = np.zeros(b + 1)
        for number, (table, size) in enumerate(tables):
            cells = table[b + 1] - table[: b + 1]
            total += xlogy(cells, cells).sum(axis=1)
            if number == 0:
                n = cells.sum(axis=1)
                total -= xlogy(n, n)
            else:
                rows = cells.reshape(b + 1, -1, size).sum(axis=2)
                total -= xlogy(rows, rows).sum(axis=1)
        scores[: b + 1, b] = total
    return scores


def _best_partition(scores: Floats, most: int) -> tuple[Floats, Integers]:
    """The best sum over 1, 2, ..., `most` intervals, and where the last of each begins."""
    n = len(scores)
    values, begins = scores[0].copy(), [np.zeros(n, np.int64)]
    best = [values[-1]]
    for _ in range(1, most):
        # The last interval begins at a, those before end at a - 1.
        sums = np.concatenate([[-np.inf], values[:-1]])[:, None] + scores
        first = sums.argmax(axis=0)
        values = sums[first, np.arange(n)]
        begins.append(first)
        best.append(values[-1])
    return np.array(best), np.stack(begins)


def _log_choose(n: Any, k: Any) -> Any:
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


# --- Cuts and graph in turns ----------------------------------------------------------------------


def cuts_score(raw: CodedTable, coded: CodedTable) -> float:
    """What the cuts themselves add to the score of a graph: n H(X*) - log choose(m - 1, k - 1)."""
    total = 0.0
    for place, item in enumerate(coded.intervals):
        if item is None:
            continue
        values, _, _ = _counted(raw, place)
        counts = np.bincount(coded.codes[place], coded.weights, int(coded.cards[place]))
        total -= float(xlogy(counts, counts / counts.sum()).sum())
        total -= float(_log_choose(len(values) - 1, len(item.axis.states) - 1))
    return total


def check_penalized(criterion: Criterion, raw: CodedTable) -> None:
    """Cuts by score need a score that is a sum over intervals, and whole rows."""
    from novum.graphical.learning.counts_kernels import Kind

    if criterion.kind is not Kind.PENALIZED:
        raise InputError(
            f"ByScore() cuts columns for penalized scores, and {type(criterion).__name__} is none. "
            "Use BIC() or AIC(), or cut by EqualFrequency()."
        )
    if (raw.codes == UNKNOWN).any():
        column = int(np.argwhere(raw.codes == UNKNOWN)[0][0])
        raise InputError(
            f"ByScore() cuts columns of whole rows, and {label_text(raw.names[column])} has "
            "missing cells. Cut by EqualFrequency(), for which missing cells are expected."
        )


def learn_with_cuts(
    rule: ByScore, raw: CodedTable, criterion: Criterion, learn: Any, start: Dag | None
) -> LearnedStructure:
    """Search and cuts in turns, from the first cuts on; `learn(table, start)` is the search."""
    check_penalized(criterion, raw)
    penalty = criterion.penalty(raw.total)
    coded = rule.cut(raw)
    learned = learn(coded, start)
    trace = [learned.score + cuts_score(raw, coded)]
    for _ in range(rule.rounds):
        better, gain = rule.given_graph(raw, coded, learned.dag, penalty)
        if not gain > LEAST_GAIN:
            break
        coded = better
        learned = learn(coded, learned.dag)
        trace.append(learned.score + cuts_score(raw, coded))
    details = {**(learned.certificate.details or {}), "scores_with_cuts": tuple(trace)}
    return replace(learned, certificate=replace(learned.certificate, details=details))


def cut_for_graph(rule: ByScore, raw: CodedTable, graph: Dag, criterion: Criterion) -> CodedTable:
    """The table with the best cuts for one graph."""
    check_penalized(criterion, raw)
    coded, _ = rule.given_graph(raw, rule.cut(raw), graph, criterion.penalty(raw.total))
    return coded
