"""Trees, and classifiers that are trees beside a class.

    Chow-Liu   the tree of largest likelihood is the spanning tree of largest mutual information
    TAN        the same given the class, which is a further parent of every column
    forest     edges only where they gain by the criterion: some columns stay alone
    naive      the class alone

The score of a tree is a constant plus the sum over its edges of what the second node gains by the
first, so the best one is a spanning tree of largest weight. It is equal for both directions of an
edge where the criterion is equal for equivalent graphs.

References
----------
Chow and Liu (1968). Friedman, Geiger and Goldszmidt (1997). Lucas (2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Verdict
from novum.core.text import label_text, meant
from novum.graphical.learning.constraints import Matrix, Rules
from novum.graphical.learning.scores import FamilyScores
from novum.graphical.learning.search import Search, SearchProblem
from novum.numerics import Floats

Between = Literal["tree", "forest", "nothing"]


@dataclass(frozen=True)
class ChowLiu(Search):
    """The best tree or forest over all variables.

    Parameters
    ----------
    root : str, optional
        Edges point away from it; the first variable by default. Other parts of a forest begin at
        their first variable.

    Notes
    -----
    Edges that do not gain by the criterion are left out. With `LogLikelihood()` all of them gain,
    and the tree is that of Chow and Liu.
    """

    root: str | None = None
    verdict = Verdict.PROVED

    def check(self, rules: Rules) -> None:
        _refuse_constraints(rules, "ChowLiu")

    def run(self, problem: SearchProblem) -> None:
        names = problem.scores.table.names
        root = _number(self.root, names) if self.root is not None else 0
        gains = edge_gains(problem.scores, np.zeros(len(names), bool), None)
        adjacency = _directed_forest(gains, root)
        _leave(problem, adjacency, "among forests")


@dataclass(frozen=True)
class AroundClass(Search):
    """Structures of classifiers: the class is a parent of every column.

    Parameters
    ----------
    target : str
        The class.
    between : {"tree", "forest", "nothing"}
        What joins the columns: a tree (TAN), a forest of edges that gain, or nothing (naive).
    """

    target: str
    between: Between = "tree"
    verdict = Verdict.PROVED

    def __post_init__(self) -> None:
        if self.between not in ("tree", "forest", "nothing"):
            raise InputError(
                f"between is 'tree', 'forest' or 'nothing', got {label_text(self.between)}."
            )

    def check(self, rules: Rules) -> None:
        _refuse_constraints(rules, "AroundClass")

    def plainest(self, names: tuple[str, ...]) -> Matrix:
        adjacency = np.zeros((len(names), len(names)), np.int8)
        self._put_class_above(adjacency, _number(self.target, names))
        return adjacency

    def run(self, problem: SearchProblem) -> None:
        names = problem.scores.table.names
        target = _number(self.target, names)
        adjacency = np.zeros_like(problem.adjacency)
        if self.between != "nothing":
            left_out = np.zeros(len(names), bool)
            left_out[target] = True
            gains = edge_gains(problem.scores, left_out, target)
            if self.between == "tree":
                # A tree joins all columns, whatever each edge gains: only the order counts.
                gains = gains - min(float(gains[np.isfinite(gains)].min(initial=0.0)), 0.0) + 1.0
            adjacency = _directed_forest(gains, 0 if target else min(1, len(names) - 1))
        self._put_class_above(adjacency, target)
        _leave(problem, adjacency, "among such structures")

    @staticmethod
    def _put_class_above(adjacency: Matrix, target: int) -> None:
        adjacency[:, target] = 1
        adjacency[target, :] = 0


def edge_gains(scores: FamilyScores, left_out: Floats | np.ndarray, given: int | None) -> Floats:
    """What a gains by b as a further parent, symmetric; minus infinity for pairs left out."""
    d = scores.table.n_variables
    base = () if given is None else (given,)
    gains = np.full((d, d), -np.inf)
    for a in range(d):
        if left_out[a]:
            continue
        alone = scores.local(a, base)
        for b in range(a):
            if not left_out[b]:
                gains[a, b] = gains[b, a] = scores.local(a, (*base, b)) - alone
    return gains


def _directed_forest(gains: Floats, root: int) -> Matrix:
    """The spanning forest of the positive gains with the largest sum (Prim), away from the root."""
    d = len(gains)
    adjacency = np.zeros((d, d), np.int8)
    reached = np.zeros(d, bool)
    nearest, weight = np.full(d, -1), np.full(d, -np.inf)
    following = root
    for _ in range(d):
        reached[following] = True
        if nearest[following] >= 0:
            adjacency[following, nearest[following]] = 1
        closer = (gains[following] > weight) & ~reached
        nearest[closer] = following
        weight[closer] = gains[following][closer]
        open_weights = np.where(reached, -np.inf, weight)
        best = int(open_weights.argmax())
        if not open_weights[best] > 0:
            # Another part of the forest.
            unreached = np.flatnonzero(~reached)
            if not unreached.size:
                break
            best = int(unreached[0])
            nearest[best] = -1
        following = best
    return adjacency


def _leave(problem: SearchProblem, adjacency: Matrix, among: str) -> None:
    """The structure is the answer whatever the start scored: it is the best of its kind."""
    value = problem.scores.total([np.flatnonzero(row).tolist() for row in adjacency])
    problem.adjacency, problem.value = adjacency, value
    problem.trace.append(value)
    problem.steps += 1
    problem.details["among"] = f" {among}"


def _number(name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise InputError(f"The table has no column {label_text(name)}: {meant(name, names)}")
    return names.index(name)


def _refuse_constraints(rules: Rules, search: str) -> None:
    d = len(rules.names)
    if rules.required.any() or rules.allowed.sum() < d * (d - 1) or rules.max_parents < d - 1:
        raise InputError(
            f"{search} has a fixed form and takes no constraints. Use Tabu() with them."
        )
