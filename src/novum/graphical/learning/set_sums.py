"""Scores of all families of few variables, from sums over sets (`set_sums_kernels`).

Where bounds cut nearly all families it is quicker to score the few that are left; Dirichlet scores
have weak bounds, and large families need no tables here. The price is 2^d sets, each with the rows
that some other row still agrees with.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from novum.core.runtime import time_sliced
from novum.graphical.learning import set_sums_kernels as kernels
from novum.graphical.learning.counts_kernels import Kind
from novum.graphical.learning.scores import FamilyScores
from novum.graphical.learning.search import SearchProblem
from novum.numerics import Floats

# Steps of a walk between two looks for Ctrl-C, of about a nanosecond each.
BUDGET = 100_000_000


def are_sums_quicker(scores: FamilyScores, problem: SearchProblem) -> bool:
    """Whether the families that bounds may leave are more than all sets; both cost about alike."""
    table, d = scores.table, scores.table.n_variables
    if table.numbers or d < 2:
        return False
    most = min(scores.max_parents, d - 1)
    families = d * sum(math.comb(d - 1, k) for k in range(most + 1))
    if scores.criterion.kind == Kind.PENALIZED:
        families = min(families, _families_that_pay(scores, problem))
    return families > (1 << d)


def _families_that_pay(scores: FamilyScores, problem: SearchProblem) -> int:
    """Families whose price is less than what the graph so far loses at their child."""
    cards, n_families = scores.table.cards.tolist(), 0
    for child, above in enumerate(problem.adjacency):
        score = scores.local(child, np.flatnonzero(above).tolist())
        price = scores.criterion.penalty(scores.table.total) * (cards[child] - 1)
        limit = -score / price if price > 0 else math.inf
        # Sets of parents by the number of their configurations.
        numbers = {1: 1}
        for card in cards[:child] + cards[child + 1 :]:
            for q, n in list(numbers.items()):
                if q * card < limit:
                    numbers[q * card] = numbers.get(q * card, 0) + n
        n_families += sum(numbers.values())
    return n_families


def best_parents_by_sums(
    scores: FamilyScores, problem: SearchProblem
) -> tuple[np.ndarray, np.ndarray]:
    """The best score of each child inside every set of the others, and the parents that have it."""
    best = all_family_scores(scores, problem)
    d, rules = scores.table.n_variables, problem.rules
    choice = np.empty(best.shape, np.uint32)
    for child in range(d):
        for begin, end in time_sliced(best.shape[1], block=1 << min(d, 16)):
            kernels.best_of_subsets(
                scores.rule, child, rules.allowed, rules.required, begin, end, best[child],
                choice[child],
            )  # fmt: skip
        problem.progress.advance(note=f"parents of {scores.table.names[child]}")
    problem.details["families_scored"] = best.size
    return best, choice


def all_family_scores(scores: FamilyScores, problem: SearchProblem) -> Floats:
    """Of each child with every set of parents, without priors of edges; of shape (d, 2^(d-1)).

    Sets are bits of the other variables.
    """
    d, kind, rows = scores.table.n_variables, scores.criterion.kind, _rows(scores)
    answers = np.zeros((d, 1 << (d - 1)))
    children = rows[6].tolist() if kind in (Kind.DIRICHLET_ONES, Kind.NORMALIZED) else []
    sums = np.empty((1 + len(children), 1 << d))
    _walk(scores, rows, sums, np.empty((0, 0)), problem)
    if kind is Kind.DIRICHLET_SPARSE:
        _walk(scores, rows, sums, answers, problem)
        return answers
    cards = rows[4]
    for child in range(d):
        above = 1 + children.index(int(cards[child])) if children else 0
        kernels.family_scores(cards, scores.rule, child, above, sums, answers[child])
    return answers


def _rows(scores: FamilyScores) -> tuple[Any, ...]:
    """Different rows as kernels take them, variables that tell most rows apart first."""
    once = scores.table.distinct()
    weights = np.ones(once.n_rows) if once.weights is None else once.weights
    class_weights, classes = np.unique(weights, return_inverse=True)
    shares = [np.bincount(column, weights) / weights.sum() for column in once.codes]
    alike = np.array([float(share @ share) for share in shares])
    return (
        np.ascontiguousarray(once.codes),
        np.ascontiguousarray(weights),
        classes.ravel().astype(np.int64),
        class_weights,
        once.cards,
        np.argsort(alike, kind="stable").astype(np.int64),
        np.unique(once.cards),
    )


def _walk(
    scores: FamilyScores, rows: Any, sums: Floats, families: Floats, problem: SearchProblem
) -> None:
    """Through all sets, a slice at a time."""
    d, n = len(rows[5]), rows[0].shape[1]
    members, ends = np.empty((d + 1, n), np.int32), np.empty((d + 1, n + 1), np.int32)
    alone, sizes = np.zeros((d + 1, len(rows[3])), np.int64), np.zeros((d + 1, 2), np.int64)
    members[0], ends[0, 0], sizes[0] = np.arange(n), n, (1, -1)
    if n == 1:
        alone[0], sizes[0, 0] = 1, 0
    depths = (
        members, ends, alone, sizes, np.zeros(d + 1, np.int64), np.ones(d + 1),
        np.zeros(1, np.int64),
    )  # fmt: skip
    room = (
        np.empty(n + len(rows[3])), np.empty(n + len(rows[3])),
        np.zeros(int(scores.table.total) + 2, np.int64), np.empty(n + 1, np.int64),
    )  # fmt: skip
    while not kernels.walk_sets(rows, depths, scores.rule, room, BUDGET, sums, families):
        problem.progress.advance(note="sums over sets of variables")
