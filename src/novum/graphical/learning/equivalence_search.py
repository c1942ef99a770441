"""Greedy search over classes of equivalent graphs (GES).

Forward, the edge that gains most is added to the class until none gains; backward, removed. A class
is shown by its pattern (CPDAG). In the limit of many rows of a distribution that has a perfect map,
the class that is reached is the true one (Chickering 2002), which no search over single graphs can
promise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from novum.core.errors import InputError
from novum.graphical.learning import equivalence_kernels as kernels
from novum.graphical.learning.constraints import Matrix, Rules, parents_of
from novum.graphical.learning.search import GAIN, Search, SearchProblem


@dataclass(frozen=True)
class GreedyEquivalence(Search):
    """Forward and backward search over classes, until neither finds more.

    Notes
    -----
    The criterion must be equal for equivalent graphs, as BIC, AIC and BDeu are; with others the
    result is a start for another search. Constraints may keep pairs apart, not ask for directions.
    """

    def check(self, rules: Rules) -> None:
        if not rules.is_symmetric:
            raise InputError(
                "GreedyEquivalence searches over classes of graphs, which have no say in the "
                "direction of an edge: required edges, tiers, and edges forbidden one way only are "
                "not for it. Use Tabu(), or leave search out."
            )

    def run(self, problem: SearchProblem) -> None:
        self.check(problem.rules)
        classes = _Classes(problem)
        while True:
            before = problem.value
            inserted = classes.forward()
            deleted = classes.backward()
            # Usually one round; a deletion may open the way for another edge. A criterion that
            # differs within a class can gain and lose the same edge forever.
            if not (inserted and deleted and problem.value > before + GAIN):
                break


class _Classes:
    """A class on its way."""

    def __init__(self, problem: SearchProblem) -> None:
        self.problem = problem
        d = len(problem.adjacency)
        self.arrows: Matrix = np.empty((d, d), np.int8)
        kernels.class_of(np.ascontiguousarray(problem.adjacency), self.arrows)
        self.gains = np.full((d, d), -math.inf)
        self.chosen = np.zeros(d, np.int8)
        self._look(np.ones(d, np.int8), np.ones(d, np.int8))

    def forward(self) -> int:
        """Adds edges while one gains; how many."""
        steps = 0
        while True:
            pair = self._best_insert()
            if pair is None:
                return steps
            x, y = pair
            changed = self.arrows.copy()
            changed[y, x] = 1
            for t in np.flatnonzero(self.chosen).tolist():
                changed[t, y] = 0
            self._become(changed)
            steps += 1

    def _best_insert(self) -> tuple[int, int] | None:
        """The pair with the largest gain; paths are looked at only where a pair leads."""
        gains = self.gains.copy()
        context = self.problem.scores.context
        while True:
            y, x = np.unravel_index(int(gains.argmax()), gains.shape)
            if not gains[y, x] > GAIN:
                return None
            gain = kernels.checked_insert(*context, self.arrows, int(y), int(x), self.chosen)
            if gain >= gains[y, x] - GAIN:
                return int(x), int(y)
            gains[y, x] = gain

    def backward(self) -> int:
        """Removes edges while that gains; how many."""
        steps, pair = 0, np.zeros(2, np.int64)
        while True:
            context = self.problem.scores.context
            gain = kernels.best_delete(*context, self.arrows, pair, self.chosen)
            if not gain > GAIN:
                return steps
            x, y = pair.tolist()
            changed = self.arrows.copy()
            changed[x, y] = changed[y, x] = 0
            for h in np.flatnonzero(self.chosen).tolist():
                changed[y, h] = 0
                if changed[x, h] and changed[h, x]:
                    changed[x, h] = 0
            self._become(changed)
            steps += 1

    def _become(self, partly: Matrix) -> None:
        """The class of the graphs with these directions."""
        adjacency = np.empty_like(partly)
        if not kernels.directed_graph(partly, adjacency):
            raise RuntimeError("An operator of GES left a class without members.")
        before = self.arrows
        self.arrows = np.empty_like(partly)
        kernels.class_of(adjacency, self.arrows)
        self.problem.step(adjacency, self.problem.scores.total(parents_of(adjacency)))
        differs = before != self.arrows
        changed = (differs.any(axis=0) | differs.any(axis=1)).astype(np.int8)
        # A pair depends on the edges at its ends, and on those between neighbors of y.
        undirected = (self.arrows & self.arrows.T).astype(bool)
        whole = changed | (undirected & changed.astype(bool)[None, :]).any(axis=1)
        self._look(whole.astype(np.int8), changed)

    def _look(self, whole: Matrix, changed: Matrix) -> None:
        for y in range(len(self.arrows)):
            kernels.insert_gains(
                *self.problem.scores.context, self.arrows, self.problem.rules.allowed, y, whole,
                changed, self.gains,
            )  # fmt: skip
