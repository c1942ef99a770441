"""Searches by single edges: the next graph differs from the present one by an edge or a node.

HillClimbing   the best of all additions, removals and turns, while it gains
Tabu           the best that was not undone just now, also where it loses, for a while
Reinsertion    a node is taken out and given its best parents and children anew
Annealing      changes at random, worse ones ever more rarely
Successive     one search after the other
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.graphical.learning import search_kernels as kernels
from novum.graphical.learning.constraints import (
    Matrix,
    Rules,
    parents_of,
)
from novum.graphical.learning.counts_kernels import score_changes
from novum.graphical.learning.equivalence_search import GreedyEquivalence
from novum.graphical.learning.search import GAIN, Search, SearchProblem
from novum.numerics import Floats


class _Walk:
    """A graph on its way: its families with every edge changed, ancestors, and score."""

    def __init__(self, problem: SearchProblem, adjacency: Matrix) -> None:
        self.problem, self.adjacency = problem, adjacency.copy()
        d = len(adjacency)
        self.changed: Floats = np.empty((d, d))
        self.words = np.empty((d, -(-d // 64)), np.uint64)
        self.barred = np.zeros((d, d), np.int64)
        self.steps = 0
        self.move = np.zeros(3, np.int64)
        for child in range(d):
            self._refresh(child)
        kernels.ancestors(self.adjacency, self.words)

    @property
    def value(self) -> float:
        return math.fsum(np.diagonal(self.changed).tolist())

    def _refresh(self, child: int) -> None:
        context = self.problem.scores.context
        score_changes(*context, child, self.adjacency, self.problem.rules.allowed, self.changed)

    def best(self, wanted: float = math.inf) -> float:
        """The gain of the best change, which is left in `move`; barred ones only above `wanted`."""
        rules = self.problem.rules
        gain = kernels.best_change(
            self.changed, self.adjacency, rules.allowed, rules.required, self.words, self.barred,
            self.steps, wanted, self.move,
        )  # fmt: skip
        return float(gain)

    def take(self) -> None:
        """Makes the change in `move`."""
        kind, x, y = self.move.tolist()
        self.adjacency[y, x] = 1 if kind == 0 else 0
        self._refresh(y)
        if kind == 2:
            self.adjacency[x, y] = 1
            self._refresh(x)
        kernels.ancestors(self.adjacency, self.words)
        self.steps += 1

    def shake(self, changes: int, rng: np.random.Generator) -> None:
        """Random changes of single edges that the rules allow."""
        rules, d = self.problem.rules, len(self.adjacency)
        done = 0
        for _ in range(50 * changes):
            x, y = rng.integers(0, d, 2).tolist()
            if x == y or done == changes:
                continue
            present = bool(self.adjacency[y, x])
            blocked = present and rules.required[y, x]
            cyclic = bool(self.words[x, y >> 6] >> np.uint64(y & 63) & np.uint64(1))
            if blocked or (not present and (cyclic or not self.changed[y, x] > -math.inf)):
                continue
            self.move[:] = (1 if present else 0, x, y)
            self.take()
            done += 1


@dataclass(frozen=True)
class HillClimbing(Search):
    """The best change of one edge, added, removed or turned, until none improves.

    Both directions of an edge often score alike, and the one that is taken decides what later
    edges gain. So there are two climbs from the start, and the better counts: one of graphs, where
    equal changes are made in the order of columns, and one of classes of equivalent graphs
    (`GreedyEquivalence`), which leave directions open, and on from its end. Constraints that say
    something about directions allow the first alone.

    Parameters
    ----------
    restarts : int
        Further climbs, each from the best graph with some random changes.
    changes : int
        How many.
    random_state : None, int or generator
        For the restarts.
    """

    restarts: int = 0
    changes: int = 10
    random_state: RandomSource = 0

    def run(self, problem: SearchProblem) -> None:
        _with_restarts(self, problem, _climb)


def _climb(problem: SearchProblem, walk: _Walk) -> None:
    """The best change while it gains; equal ones in the order of columns."""
    while walk.best() > GAIN:
        walk.take()
        problem.step(walk.adjacency, walk.value)


@dataclass(frozen=True)
class Tabu(Search):
    """Hill climbing that goes on downhill, and leaves pairs that it just changed alone.

    From the start, and from where a climb of classes ends, as `HillClimbing`.

    Parameters
    ----------
    length : int
        Changes for which a pair rests, unless changing it gives the best graph so far.
    patience : int
        Changes without a new best graph before it ends.
    restarts, changes, random_state
        As in `HillClimbing`.
    """

    length: int = 30
    patience: int = 100
    restarts: int = 0
    changes: int = 10
    random_state: RandomSource = 0

    def run(self, problem: SearchProblem) -> None:
        _with_restarts(self, problem, self._roam)

    def _roam(self, problem: SearchProblem, walk: _Walk) -> None:
        since = 0
        while since < self.patience:
            # A pair that was changed rests, unless changing it gives the best graph so far.
            if walk.best(problem.value - walk.value + GAIN) == -math.inf:
                break
            walk.take()
            _, x, y = walk.move.tolist()
            walk.barred[x, y] = walk.barred[y, x] = walk.steps + self.length
            since = 0 if problem.step(walk.adjacency, walk.value) else since + 1


def _with_restarts(search: Any, problem: SearchProblem, run: Any) -> None:
    # Both from the start: what one reaches must not end the other early.
    classes = SearchProblem(problem.scores, problem.rules, problem.adjacency, problem.progress)
    if problem.rules.is_symmetric:
        GreedyEquivalence().run(classes)
    run(problem, _Walk(problem, problem.adjacency))
    if classes.steps:
        problem.step(classes.adjacency, classes.value)
        run(problem, _Walk(problem, classes.adjacency))
    for number in range(search.restarts):
        again = _Walk(problem, problem.adjacency)
        again.shake(search.changes, stream(search.random_state, "restart", number))
        run(problem, again)


@dataclass(frozen=True)
class Reinsertion(Search):
    """Takes each node out of the best graph and lets it find its edges again, then climbs.

    A way between two good graphs often turns all edges of one node, which no single change of an
    edge leads to. Rounds go on until no node gains. Best after another search.

    References
    ----------
    Moore and Wong (2003), *Optimal reinsertion*; here the edges return one by one.
    """

    def run(self, problem: SearchProblem) -> None:
        before = -math.inf
        while problem.value > before + GAIN:
            before = problem.value
            for node in range(len(problem.adjacency)):
                bare = problem.adjacency.copy()
                bare[node, :] = problem.rules.required[node, :]
                bare[:, node] = problem.rules.required[:, node]
                _climb(problem, _Walk(problem, bare))


@dataclass(frozen=True)
class Annealing(Search):
    """Random changes of single edges, worse ones ever more seldom, then hill climbing.

    Parameters
    ----------
    steps : int
        Changes that are tried.
    hot, cold : float
        Temperatures at the start and the end, in units of the score: a change that loses as much
        is made once in e times.
    random_state : None, int or generator
    """

    steps: int = 100_000
    hot: float = 100.0
    cold: float = 0.1
    random_state: RandomSource = 0

    def __post_init__(self) -> None:
        if not (0 < self.cold <= self.hot < math.inf and self.steps >= 1):
            raise InputError("Annealing takes steps >= 1 and temperatures hot >= cold > 0.")

    def run(self, problem: SearchProblem) -> None:
        rules, rng = problem.rules, stream(self.random_state, "annealing")
        adjacency, best = problem.adjacency.copy(), problem.adjacency.copy()
        values = np.array([problem.value, problem.value])
        cooling = (self.cold / self.hot) ** (1 / self.steps)
        hot, block = self.hot, 2000
        for begin in range(0, self.steps, block):
            draws = rng.random((min(block, self.steps - begin), 4))
            kernels.anneal(
                *problem.scores.context, adjacency, rules.allowed, rules.required, best, draws,
                hot, cooling, values,
            )  # fmt: skip
            hot *= cooling ** len(draws)
            problem.step(best, problem.scores.total(parents_of(best)))
        _climb(problem, _Walk(problem, problem.adjacency))


@dataclass(frozen=True)
class Successive(Search):
    """Searches one after the other, each from where the last one ended.

    Examples
    --------
    >>> Successive((HillClimbing(), Annealing(steps=1000)))  # doctest: +ELLIPSIS
    Successive(searches=(HillClimbing(...), Annealing(...)))
    """

    searches: tuple[Search, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "searches", tuple(self.searches))
        if not self.searches or not all(isinstance(s, Search) for s in self.searches):
            raise InputError("Successive takes a tuple of searches, at least one.")

    def check(self, rules: Rules) -> None:
        for search in self.searches:
            search.check(rules)

    def run(self, problem: SearchProblem) -> None:
        for search in self.searches:
            search.run(problem)
