"""Structure by tests of independence: the stable PC algorithm, with its reasons.

An edge is removed where some set of neighbors makes its ends independent, smaller sets first, and
the set is kept: it says why there is no edge. Neighbors are those at the beginning of a round, so
that the order of the columns does not matter (Colombo and Maathuis 2014). Two nodes that are not
joined collide at a common neighbor that did not separate them; Meek's rules direct the rest.

    G2 = 2 sum of N_xys log(N_xys N_s / (N_xs N_ys))

has about a chi-square distribution under independence, with one degree of freedom for each cell
that could have been filled otherwise. Of columns of numbers as they are, the partial correlation r
given s others is tested: atanh(r) sqrt(n - s - 3) is about standard normal (Fisher).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr, ndtri

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.distributions import StateAxis
from novum.graphical.learning import independence_kernels as kernels
from novum.graphical.learning.coded_table import CodedTable, read_numbers, read_table
from novum.graphical.learning.constraints import Rules
from novum.graphical.learning.discretization import EqualFrequency
from novum.graphical.learning.equivalence_kernels import directed_graph
from novum.graphical.learning.scores import FamilyScores, LogLikelihood
from novum.graphical.learning.search import Search, SearchProblem
from novum.graphical.structure.equivalence import PartialDag, completed
from novum.numerics import Floats

# Cells of a test, and degrees of freedom: beyond, a test has no power in any usual table.
MOST_CELLS = 2**16
MOST_FREEDOM = 4096


@dataclass(frozen=True)
class Independence:
    """One test: whether two variables are independent given others."""

    a: str
    b: str
    given: tuple[str, ...]
    statistic: float
    freedom: int
    p_value: float

    def __repr__(self) -> str:
        given = f" given {', '.join(self.given)}" if self.given else ""
        return (
            f"{self.a} and {self.b}{given}: {self.statistic:.4g} with {self.freedom} degrees of "
            f"freedom, p = {self.p_value:.3g}"
        )


def independence_test(
    table: Any,
    a: str,
    b: str,
    given: tuple[str, ...] | list[str] = (),
    *,
    statistic: Literal["g2", "chi2", "correlation"] = "g2",
    permutations: int = 0,
    random_state: Any = 0,
) -> Independence:
    """Tests whether two columns are independent given others.

    Parameters
    ----------
    table : data frame, mapping of columns or array
        Rows with a missing cell in one of the columns are left out of the test.
    a, b : str
    given : names
    statistic : {"g2", "chi2", "correlation"}
        The last is the partial correlation of columns of numbers, which are not cut.
    permutations : int
        Shuffles of `b` within the strata in place of the chi-square distribution, for small counts.
    random_state : None, int or generator
        For the shuffles.

    Examples
    --------
    >>> independence_test({"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5}, "a", "b").p_value
    1.0
    """
    from scipy.stats import chi2

    if a == b or {a, b} & {*given}:
        raise InputError("A test of independence takes two columns, given others than these.")
    if statistic == "correlation":
        return _correlation_test(table, a, b, tuple(given))
    _check_statistic(statistic)
    coded = read_table(table).select([*given, a, b])
    coded = _whole_rows(coded)
    if math.prod(coded.cards.tolist()) > MOST_CELLS * 64:
        raise InputError(
            f"The test of {label_text(a)} and {label_text(b)} given {len(given)} columns has "
            f"{math.prod(coded.cards.tolist()):,} cells. Condition on fewer columns."
        )
    value, freedom = _statistic(coded, statistic)
    p_value = float(chi2.sf(value, freedom)) if freedom else 1.0
    if permutations:
        p_value = _permuted(coded, statistic, value, permutations, random_state)
    return Independence(a, b, tuple(given), value, freedom, p_value)


def _correlation_test(table: Any, a: str, b: str, given: tuple[str, ...]) -> Independence:
    coded = _whole_rows(read_numbers(table).select([*given, a, b]))
    if not all(coded.is_numeric):
        name = coded.names[coded.is_numeric.index(False)]
        raise InputError(
            f"A correlation is one of numbers, and {label_text(name)} has states. Use 'g2'."
        )
    # The spread, and products of columns in units of it, are those of the scores.
    _, _, scatter, *_ = FamilyScores(coded, LogLikelihood()).data[5]
    size = len(given)
    z, freedom = fisher_score(scatter / coded.total, coded.total, size, size + 1, range(size))
    return Independence(a, b, given, z, freedom, 2 * float(ndtr(-abs(z))))


def fisher_score(
    correlation: Floats, rows: float, a: int, b: int, given: Sequence[int]
) -> tuple[float, int]:
    """Fisher's z of a partial correlation, and its degrees of freedom; 0 where there are none."""
    freedom = rows - len(given) - 3
    if not freedom > 0:
        return 0.0, 0
    members = [a, b, *given]
    inverse = np.linalg.pinv(correlation[np.ix_(members, members)], hermitian=True)
    scale = math.sqrt(max(inverse[0, 0] * inverse[1, 1], 1e-300))
    share = float(np.clip(-inverse[0, 1] / scale, -1 + 1e-15, 1 - 1e-15))
    return math.atanh(share) * math.sqrt(freedom), int(freedom)


def missing_dependence(table: Any, alpha: float = 0.05) -> tuple[Independence, ...]:
    """Whether cells go missing in step with what other columns say; the pairs where they do.

    Each column with missing cells is turned into "is it missing?" and tested against every other
    column; p-values are multiplied by the number of tests (Bonferroni). A pair listed here says
    that cells are not missing completely at random, which EM allows for. That a cell is missing
    because of what it would have said cannot be seen in any table.

    Examples
    --------
    >>> rows = {"ill": ["no"] * 20 + ["yes"] * 20, "test": [None] * 18 + ["-", "+"] * 11}
    >>> [(item.a, item.b) for item in missing_dependence(rows)]
    [('test is missing', 'ill')]
    """
    coded = read_table(table)
    if coded.numbers:
        coded = EqualFrequency().cut(coded)
    gaps = [i for i in range(coded.n_variables) if (coded.codes[i] < 0).any()]
    tests = []
    for i in gaps:
        name = f"{coded.names[i]} is missing"
        indicator = (coded.codes[i] < 0).astype(np.int32)
        for j in range(coded.n_variables):
            if j != i:
                pair = CodedTable(
                    (StateAxis(name, (False, True)), coded.variables[j]),
                    np.stack([indicator, coded.codes[j]]),
                    coded.weights,
                )
                tests.append(independence_test(pair, name, coded.names[j]))
    corrected = [replace(t, p_value=min(1.0, t.p_value * len(tests))) for t in tests]
    return tuple(sorted((t for t in corrected if t.p_value <= alpha), key=lambda t: t.p_value))


def _whole_rows(coded: CodedTable) -> CodedTable:
    whole = (coded.codes >= 0).all(axis=0)
    weights = None if coded.weights is None else coded.weights[whole]
    numbers = tuple(None if x is None else x[whole] for x in coded.numbers)
    codes = np.ascontiguousarray(coded.codes[:, whole])
    return CodedTable(coded.variables, codes, weights, (), numbers)


def _statistic(coded: CodedTable, statistic: str) -> tuple[float, int]:
    cells = math.prod(coded.cards.tolist())
    scores = FamilyScores(coded, LogLikelihood(), max_cells=cells)
    members = np.arange(coded.n_variables)
    value, freedom = kernels.independence_statistic(
        scores.data, scores.room, members, statistic == "chi2"
    )
    return max(float(value), 0.0), int(freedom)


def _permuted(
    coded: CodedTable, statistic: str, value: float, permutations: int, random_state: Any
) -> float:
    from novum.core.runtime import stream

    rng = stream(random_state, "permutations")
    strata = np.zeros(coded.n_rows, np.int64)
    for place in range(coded.n_variables - 2):
        strata = strata * int(coded.cards[place]) + coded.codes[place]
    at_least = 1
    for _ in range(permutations):
        order = np.lexsort((rng.random(coded.n_rows), strata))
        codes = coded.codes.copy()
        # Sorted by stratum both times, so that cells move within their stratum only.
        codes[-1, np.argsort(strata, kind="stable")] = coded.codes[-1, order]
        shuffled = CodedTable(coded.variables, codes, coded.weights)
        at_least += _statistic(shuffled, statistic)[0] >= value * (1 - 1e-12)
    return at_least / (permutations + 1)


def _check_statistic(statistic: str) -> None:
    if statistic not in ("g2", "chi2"):
        raise InputError(f"statistic is 'g2' or 'chi2', got {label_text(statistic)}.")


@dataclass(frozen=True)
class PC(Search):
    """The stable PC algorithm.

    Parameters
    ----------
    alpha : float
        Level of each test: an edge stays where every test rejects independence at it.
    statistic : {"g2", "chi2"}
    max_given : int, optional
        Largest set that is conditioned on; 4 by default, None for no limit.
    false_discovery : float, optional
        Share of the edges kept that may be false on average; the level of the tests follows from
        it, and `alpha` is not used.

    Notes
    -----
    An edge that is not there has a set given which its p-value is uniform, so that the largest of
    its p-values is a valid one. Of m pairs of which R are kept at level a, at most a m are false on
    average, and the largest a with `a m (1 + 1/2 + ... + 1/m) <= R false_discovery` keeps the share
    whatever the tests have to do with each other (Benjamini and Yekutieli 2001; Li and Wang 2009).

    The certificate's details have `separating_sets` as (a, b, given) and `conflicts`: triples whose
    tests ask for colliders that other tests contradict. The graph returned is a member of the
    pattern; where the tests contradict each other so that there is none, directions that close a
    cycle are turned.
    """

    alpha: float = 0.01
    statistic: Literal["g2", "chi2"] = "g2"
    max_given: int | None = 4
    false_discovery: float | None = None

    def __post_init__(self) -> None:
        _check_statistic(self.statistic)
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha is a level between 0 and 1, got {self.alpha!r}.")
        if self.false_discovery is not None and not 0 < self.false_discovery < 1:
            raise InputError(
                "false_discovery is a share of the edges between 0 and 1, or None, got "
                f"{self.false_discovery!r}."
            )

    def check(self, rules: Rules) -> None:
        if not rules.is_symmetric or rules.max_parents < len(rules.names) - 1:
            raise InputError(
                "PC takes only pairs that are kept apart, by forbidding both directions. Use "
                "Tabu() with other constraints."
            )

    def run(self, problem: SearchProblem) -> None:
        names = problem.scores.table.names
        level = self.alpha if self.false_discovery is None else self.false_discovery
        joined, sets = self._skeleton(problem, level)
        meaning = f"an absent edge has a separating set at level {level:g}"
        if self.false_discovery is not None:
            m = math.comb(len(names), 2)
            share = self.false_discovery / (m * sum(1 / i for i in range(1, m + 1)))
            # Fewer edges ask for a smaller level, until both agree.
            while joined.any() and level > (smaller := share * (int(joined.sum()) // 2)):
                level = smaller
                joined, sets = self._skeleton(problem, level)
            meaning = (
                f"of the edges at most {self.false_discovery:g} are false on average: an absent "
                f"one has a separating set at level {level:.3g}"
            )
        pattern, conflicts = _pattern(names, joined, sets)
        adjacency = _member(pattern)
        problem.adjacency = adjacency
        problem.value = problem.scores.total([np.flatnonzero(row).tolist() for row in adjacency])
        problem.trace.append(problem.value)
        problem.details.update(
            separating_sets=[
                (names[a], names[b], [names[v] for v in given])
                for (a, b), given in sorted(sets.items())
            ],
            conflicts=[tuple(names[v] for v in triple) for triple in conflicts],
            meaning=meaning,
        )

    def _skeleton(
        self, problem: SearchProblem, level: float
    ) -> tuple[np.ndarray, dict[tuple[int, int], tuple[int, ...]]]:
        from scipy.stats import chi2

        scores = problem.scores
        d = scores.table.n_variables
        numbers = bool(scores.table.numbers)
        scatter = scores.data[5][2] if numbers else np.empty((0, 0))
        correlation, limit = scatter / scores.table.total, float(-ndtri(level / 2))
        critical = np.concatenate([[math.inf], chi2.isf(level, np.arange(1, MOST_FREEDOM))])
        joined = problem.rules.allowed.astype(bool)
        sets: dict[tuple[int, int], tuple[int, ...]] = {}
        out = np.empty(d, np.int64)
        by_squares = self.statistic == "chi2"
        most = min(MOST_CELLS, scores.max_cells)
        largest = d - 2 if self.max_given is None else min(self.max_given, d - 2)
        for size in range(largest + 1):
            before = joined.copy()
            if before.sum(axis=1).max(initial=0) - 1 < size:
                break
            for a, b in itertools.combinations(range(d), 2):
                for x, y in ((a, b), (b, a)):
                    others = np.flatnonzero(before[x])
                    others = others[others != y]
                    # Without a condition both sides ask the same.
                    asked_before = size == 0 and x == b
                    if not joined[a, b] or len(others) < size or asked_before:
                        continue
                    if numbers:
                        chosen = _separating_numbers(
                            correlation, scores.table.total, a, b, others, size, limit
                        )
                        if chosen is not None:
                            joined[a, b] = joined[b, a] = False
                            sets[a, b] = chosen
                    elif kernels.separating_set(
                        scores.data, scores.room, a, b, others, size, critical, most, by_squares,
                        out,
                    ):  # fmt: skip
                        joined[a, b] = joined[b, a] = False
                        sets[a, b] = tuple(sorted(out[:size].tolist()))
            problem.steps += 1
            problem.progress.advance(note=f"sets of {size}: {int(joined.sum()) // 2} edges left")
        return joined, sets


def _separating_numbers(
    correlation: Floats, rows: float, a: int, b: int, others: Any, size: int, limit: float
) -> tuple[int, ...] | None:
    """A set of so many others given which two columns of numbers look independent."""
    for given in itertools.combinations(others.tolist(), size):
        if abs(fisher_score(correlation, rows, a, b, given)[0]) <= limit:
            return tuple(given)
    return None


def _pattern(
    names: tuple[str, ...], joined: np.ndarray, sets: dict[tuple[int, int], tuple[int, ...]]
) -> tuple[PartialDag, list[tuple[int, int, int]]]:
    """Colliders first, then Meek's rules; colliders that others contradict are conflicts."""
    directed: set[tuple[int, int]] = set()
    conflicts = []
    for a, b in itertools.combinations(range(len(names)), 2):
        if joined[a, b]:
            continue
        for c in np.flatnonzero(joined[a] & joined[b]).tolist():
            if c in sets.get((a, b), ()):
                continue
            if (c, a) in directed or (c, b) in directed:
                conflicts.append((a, c, b))
            else:
                directed |= {(a, c), (b, c)}
    edges = {(int(a), int(b)) for a, b in np.argwhere(np.triu(joined))}
    return completed(names, edges, directed), conflicts


def _member(pattern: PartialDag) -> np.ndarray:
    """A graph with the directions of a pattern, as far as they make no cycle."""
    places = {name: place for place, name in enumerate(pattern.names)}
    d = len(places)
    arrows, adjacency = np.zeros((d, d), np.int8), np.zeros((d, d), np.int8)
    for parent, child in pattern.directed:
        arrows[places[child], places[parent]] = 1
    for pair in pattern.undirected:
        a, b = (places[name] for name in pair)
        arrows[a, b] = arrows[b, a] = 1
    if directed_graph(arrows, adjacency):
        return adjacency
    adjacency[:] = 0
    above: list[set[int]] = [set() for _ in range(d)]
    edges = [(places[a], places[b]) for a, b in sorted(pattern.directed)]
    edges += [(places[a], places[b]) for a, b in sorted(map(sorted, pattern.undirected))]
    for first, second in edges:
        is_cyclic = second in above[first]
        tail, head = (second, first) if is_cyclic else (first, second)
        adjacency[head, tail] = 1
        for v in range(d):
            if v == head or head in above[v]:
                above[v] |= {tail, *above[tail]}
    return adjacency
