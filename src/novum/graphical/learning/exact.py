"""The best graph of all, with a proof.

    best(W) = max over v in W of  best(W without v) + best parents of v inside W without v

over all sets W of variables: every acyclic graph has a sink, and what is left without it is again
such a graph. Of many variables A* looks at fewer sets (`best_first`). The time is about d * 2^d
steps plus the families that must be scored; a family is
not where a subset of it beats everything that it or a larger one could reach. Scores whose bounds
are weak come from sums over all sets instead (`set_sums`).

References
----------
Silander and Myllymäki (2006). de Campos and Ji (2011) for the bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Verdict
from novum.core.runtime import check_memory, time_sliced
from novum.graphical.learning import exact_kernels as kernels
from novum.graphical.learning.constraints import Matrix
from novum.graphical.learning.scores import FamilyScores
from novum.graphical.learning.search import Search, SearchProblem, default_search
from novum.graphical.learning.set_sums import are_sums_quicker, best_parents_by_sums

# Variables whose sets are all looked at, and those for which that takes no time.
MOST_VARIABLES = 22
FEW_VARIABLES = 14


@dataclass(frozen=True)
class Exact(Search):
    """The best of all graphs, proved: by dynamic programming, or by A* where sets are too many.

    Parameters
    ----------
    max_states : int
        Sets that A* keeps (`BestFirst`); beyond them the best graph so far is returned with a bound
        of how far it is from the best.

    Notes
    -----
    Up to 22 variables dynamic programming looks at every set: time and memory double with each
    variable, and 20 take a second or so, with Dirichlet scores some seconds. Beyond, up to 63, it
    is A*, whose time depends on the table. With `Constraints(max_parents=3)` the proof is among
    graphs of so few parents, and quicker; beyond 22 variables Dirichlet scores, whose bounds are
    weak, need it.
    """

    max_states: int = 5_000_000
    verdict = Verdict.PROVED

    def run(self, problem: SearchProblem) -> None:
        d = len(problem.adjacency)
        if d > MOST_VARIABLES:
            from novum.graphical.learning.best_first import BestFirst

            BestFirst(self.max_states).run(problem)
            return
        if d > FEW_VARIABLES:
            # What Ctrl-C leaves.
            default_search(problem.rules, None).run(problem)
        best, choice = all_best_parents(problem.scores, problem)
        values, sinks = np.zeros(1 << d), np.full(1 << d, -1, np.int8)
        # No graph has more than the best parents of every child together.
        problem.details["upper_bound"] = float(best[:, -1].sum())
        for begin, end in time_sliced(1 << d, block=1 << min(d, 12)):
            kernels.best_sinks(max(begin, 1), end, best, values, sinks)
        adjacency = np.zeros_like(problem.adjacency)
        members = (1 << d) - 1
        while members:
            sink = int(sinks[members])
            members &= ~(1 << sink)
            low = members & ((1 << sink) - 1)
            inside = low | (members >> (sink + 1)) << sink
            _set_parents(adjacency, sink, int(choice[sink, inside]))
        parents = [np.flatnonzero(row).tolist() for row in adjacency]
        value = problem.scores.total(parents)
        # Tables too large to lay out have scores by sums only.
        problem.step(adjacency, value if value > -math.inf else float(values[-1]))
        problem.details["upper_bound"] = problem.value
        most = problem.rules.max_parents
        if most < d - 1:
            problem.details["among"] = f" with at most {most} parents"

    def upper_bound(self, problem: SearchProblem) -> float | None:
        return problem.details.get("upper_bound")


def _set_parents(adjacency: Matrix, child: int, code: int) -> None:
    for bit in range(len(adjacency) - 1):
        if code >> bit & 1:
            adjacency[child, bit if bit < child else bit + 1] = 1


def all_best_parents(scores: FamilyScores, problem: SearchProblem) -> tuple[np.ndarray, np.ndarray]:
    """The best score of each child inside every set of the others, and the parents that have it."""
    d = scores.table.n_variables
    sets = 1 << (d - 1)
    _check_size(d, sets)
    if are_sums_quicker(scores, problem):
        return best_parents_by_sums(scores, problem)
    # Without a limit of cells: what is too large is cut by its bound, or by max_parents.
    whole = FamilyScores(
        scores.table,
        scores.criterion,
        max_parents=scores.max_parents,
        max_cells=_most_cells(scores),
    )
    rule = (whole.rule[0], whole.rule[1], whole.rule[2], scores.rule[3], scores.rule[4])
    best, choice = np.empty((d, sets)), np.empty((d, sets), np.uint32)
    bounds = np.empty(sets)
    counters = np.zeros(2, np.int64)
    rules = problem.rules
    for child in range(d):
        begin = 0
        slack = prior_slack(rule, child, d)
        while begin < sets:
            begin = kernels.best_parents(
                whole.data, rule, whole.room, child, rules.allowed, rules.required, slack, begin,
                min(sets, begin + (1 << 20)), bounds, best[child], choice[child], counters,
            )  # fmt: skip
        problem.progress.advance(note=f"parents of {scores.table.names[child]}")
    problem.details["families_scored"] = int(counters[0])
    if counters[1]:
        raise InputError(
            f"{int(counters[1])} families have tables of more than {whole.max_cells:,} cells and "
            "no bound rules them out. Set Constraints(max_parents=...), or use BIC()."
        )
    return best, choice


def prior_slack(rule: tuple[np.ndarray, ...], child: int, d: int) -> float:
    """What priors of edges and numbers of parents can add to a larger family, at most."""
    odds, by_number = rule[3], rule[4]
    slack = 0.0
    if odds.size:
        slack += float(np.clip(np.delete(odds[child], child), 0, None).sum())
        # The prior is inside a bound that holds without it.
        slack += float(np.clip(-np.delete(odds[child], child), 0, None).sum())
    if by_number.size:
        slack += 2 * float(np.abs(by_number[:d]).max())
    return slack


def _most_cells(scores: FamilyScores) -> int:
    """Cells of the largest family that may have to be counted, up to 2^22."""
    cards = sorted(scores.table.cards.tolist(), reverse=True)
    largest = math.prod(cards[: scores.max_parents + 1])
    return min(largest, 2**22)


def _check_size(d: int, sets: int) -> None:
    check_memory(
        12 * d * sets + 9 * (2 * sets) + 8 * sets,
        f"The best parents of {d} variables in all sets of the others",
        "Leave out columns, or use Tabu(), which proves nothing but is good.",
    )
