"""The best graph of many variables: A* over sets, with a bound that is a certificate.

    score of a way to W  +  most that the other variables can add   >=   best graph through W

A way adds one variable after the other, each with its best parents among those before it. Sets are
taken in the order of this bound; when the set of all variables is taken, no graph is better. What
the others can add is bounded group by group: inside a group there may be no cycle, everything else
is free (a pattern database). Sets whose bound does not exceed the best graph of a search before are
not even kept. Where the room for sets ends, or Ctrl-C does, the largest bound that is left says how
far the best graph found can be from the best of all.

Families that cannot be in a best graph are left out before: those that a subset of their parents
beats, with all larger ones where a bound says so (`score_counts`).

References
----------
Yuan and Malone (2013) for A* and pattern databases. de Campos and Ji (2011) for families.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Verdict
from novum.core.runtime import check_memory, time_sliced
from novum.graphical.learning import best_first_kernels as kernels
from novum.graphical.learning.constraints import Rules
from novum.graphical.learning.scores import FamilyScores
from novum.graphical.learning.search import Search, SearchProblem, default_search
from novum.graphical.learning.trees import edge_gains
from novum.numerics import Floats

# Sets are words of so many bits.
MOST_VARIABLES = 63
# Variables of a group, whose sets are all bounded, and families of a child that are scored.
GROUP = 20
MOST_FAMILIES = 400_000
# Places for sets at the start, and sets that are expanded before Python looks up.
FIRST_STATES = 1 << 16
SLICE = 20_000


@dataclass(frozen=True)
class BestFirst(Search):
    """A* over sets of variables: the best graph, or how far from it.

    Parameters
    ----------
    max_states : int
        Sets that are kept, about 40 bytes each. Where more would be needed the best graph so far
        is returned, and the certificate's gap says how much better another one can be.
    """

    max_states: int = 5_000_000
    verdict = Verdict.PROVED

    def __post_init__(self) -> None:
        if isinstance(self.max_states, bool) or self.max_states < 1:
            raise InputError(f"max_states is a number of sets, got {self.max_states!r}.")

    def run(self, problem: SearchProblem) -> None:
        d, rules = len(problem.adjacency), problem.rules
        if d > MOST_VARIABLES:
            raise InputError(
                f"BestFirst() has room for {MOST_VARIABLES} variables, and the table has {d}. "
                "Leave out columns, or use the default search, which proves nothing but is good."
            )
        check_memory(
            40 * self.max_states, f"{self.max_states:,} sets of variables", "Keep fewer: max_states"
        )
        default_search(rules, None).run(problem)
        families, most = useful_families(problem)
        if most < d - 1:
            problem.details["among"] = f" with at most {most} parents"
        groups = self._groups(problem, families)
        self._search(problem, families, groups)

    def _groups(self, problem: SearchProblem, families: Any) -> Any:
        """Bounds of what groups of variables that hang together can add."""
        d = len(problem.adjacency)
        # Two variables of different groups may explain each other, both at once: what that adds
        # too much is about what the second gains by the first.
        gains = edge_gains(problem.scores, np.zeros(d, bool), None)
        parts = [np.array(members) for members in grouped(gains, GROUP)]
        everything = np.uint64((1 << d) - 1)
        bounds = []
        for members in parts:
            own = np.zeros(1 << len(members))
            for begin, end in time_sliced(len(own), block=1 << min(len(members), 10)):
                kernels.group_bounds(
                    families, members.astype(np.int64), everything, begin, end, own
                )
            bounds.append(own)
        sizes = [len(members) for members in parts]
        firsts = np.cumsum([0, *(len(own) for own in bounds)])[:-1]
        return (
            np.cumsum(sizes).astype(np.int64),
            np.concatenate(parts).astype(np.int64),
            firsts.astype(np.int64),
            np.concatenate(bounds),
        )

    def _search(self, problem: SearchProblem, families: Any, groups: Any) -> None:
        d = len(problem.adjacency)
        everything = np.uint64((1 << d) - 1)
        limit = float(sum(groups[3][first + (1 << size) - 1] for first, size in zip(
            groups[2], np.diff([0, *groups[0]]), strict=True
        )))  # fmt: skip
        states = _states(FIRST_STATES)
        heap: Any = (np.empty(FIRST_STATES), np.empty(FIRST_STATES, np.uint64))
        states[0][kernels.state_place(states[0], np.uint64(0))] = 1
        heap[0][0], heap[1][0] = limit, 0
        counters = np.array([1, 1, 0], np.int64)
        problem.details["upper_bound"] = max(limit, problem.value)
        while True:
            ended = kernels.expand(
                families, groups, states, heap, everything, problem.value, SLICE, counters
            )
            problem.details["states"] = int(counters[2])
            if ended in (kernels.EMPTY, kernels.REACHED):
                break
            problem.details["upper_bound"] = max(float(heap[0][0]), problem.value)
            problem.progress.advance(
                note=f"score {problem.value:.6g}, none above {problem.details['upper_bound']:.6g}"
            )
            if ended == kernels.FULL:
                if counters[0] >= self.max_states:
                    return
                larger = _states(2 * len(states[0]))
                kernels.move_states(states, larger)
                states = larger
                heap = tuple(np.concatenate([item, np.empty_like(item)]) for item in heap)
        if ended == kernels.REACHED:
            problem.step(*_graph_of(problem, families, states))
        problem.details["upper_bound"] = problem.value

    def upper_bound(self, problem: SearchProblem) -> float | None:
        return problem.details.get("upper_bound")


def _states(size: int) -> Any:
    return np.zeros(size, np.uint64), np.zeros(size), np.full(size, -1, np.int8)


def _graph_of(problem: SearchProblem, families: Any, states: Any) -> tuple[Any, float]:
    """The best way to the set of all variables, from its end."""
    d = len(problem.adjacency)
    adjacency = np.zeros_like(problem.adjacency)
    done = (1 << d) - 1
    while done:
        v = int(kernels.last_variable(states, np.uint64(done)))
        done &= ~(1 << v)
        parents = int(families[1][kernels.chosen_family(families, v, np.uint64(done))])
        adjacency[v, [u for u in range(d) if parents >> u & 1]] = 1
    value = problem.scores.total([np.flatnonzero(row).tolist() for row in adjacency])
    return adjacency, value


def grouped(weights: Floats, largest: int) -> list[list[int]]:
    """Groups of variables, the heaviest pairs together as far as sizes allow.

    Examples
    --------
    >>> weights = np.array([[0, 1, 9, 0], [1, 0, 0, 8], [9, 0, 0, 1], [0, 8, 1, 0.0]])
    >>> grouped(weights, 2)
    [[0, 2], [1, 3]]
    """
    d = len(weights)
    groups = {v: [v] for v in range(d)}
    owner = list(range(d))
    pairs = np.argwhere(np.triu(np.ones((d, d), bool), 1))
    order = np.argsort(-weights[tuple(pairs.T)], kind="stable")
    for u, v in pairs[order].tolist():
        a, b = owner[u], owner[v]
        if a != b and len(groups[a]) + len(groups[b]) <= largest:
            for member in groups.pop(b):
                groups[a].append(member)
                owner[member] = a
    return [sorted(members) for members in groups.values()]


# --- Families that may be in a best graph ---------------------------------------------------------


def useful_families(problem: SearchProblem) -> tuple[Any, int]:
    """Of every child the sets of parents that no subset beats, best first; parents at most.

    They are found level by level: a set is scored where its subsets leave it a chance. Where a
    level would be too large, larger sets are left out, and the number of parents says so.
    """
    scores, rules = problem.scores, problem.rules
    d = scores.table.n_variables
    cards = sorted(scores.table.cards.tolist(), reverse=True)
    cells = min(math.prod(cards[: scores.max_parents + 1]), 2**22)
    whole = FamilyScores(
        scores.table, scores.criterion, max_parents=scores.max_parents, max_cells=cells
    )
    rule = (whole.rule[0], whole.rule[1], whole.rule[2], scores.rule[3], scores.rule[4])
    from novum.graphical.learning.exact import prior_slack

    per_child, most, scored = [], scores.max_parents, 0
    for child in range(d):
        levels, own_most, n_scored = _levels(
            whole, rule, rules, child, prior_slack(rule, child, d), most
        )
        per_child.append(levels)
        most, scored = min(most, own_most), scored + n_scored
        problem.progress.advance(note=f"parents of {scores.table.names[child]}")
    problem.details["families_scored"] = scored
    starts, sets, values = [0], [], []
    for own_sets, own_scores in per_child:
        few = np.bitwise_count(own_sets) <= most
        own_sets, own_scores = own_sets[few], own_scores[few]
        order = np.argsort(-own_scores, kind="stable")
        sets.append(own_sets[order])
        values.append(own_scores[order])
        starts.append(starts[-1] + len(order))
    families = (np.array(starts, np.int64), np.concatenate(sets), np.concatenate(values))
    return families, most


def _levels(
    scores: FamilyScores, rule: Any, rules: Rules, child: int, slack: float, most: int
) -> tuple[tuple[Any, Floats], int, int]:
    """Useful sets of one child with their scores, the largest size, and families scored."""
    d = scores.table.n_variables
    required = sum(1 << int(u) for u in np.flatnonzero(rules.required[child]))
    free = [u for u in range(d) if rules.allowed[child, u] and not required >> u & 1]
    sets = np.array([required], np.uint64)
    tops, bounds = np.array([-math.inf]), np.array([math.inf])
    useful_sets, useful_scores, scored = [], [], 0
    size = required.bit_count()
    while True:
        values, limits = np.empty(len(sets)), np.empty(len(sets))
        for begin, end in time_sliced(len(sets), block=64):
            kernels.score_sets(
                scores.data, rule, scores.room, child, slack, sets, tops, bounds, begin, end,
                values, limits,
            )  # fmt: skip
        scored += int(np.isfinite(values).sum())
        better = values > tops
        useful_sets.append(sets[better])
        useful_scores.append(values[better])
        best = np.maximum(tops, values)
        alive = limits > best
        size += 1
        if size > most or not alive.any():
            return (np.concatenate(useful_sets), np.concatenate(useful_scores)), most, scored
        candidates = _next_level(sets[alive], best[alive], limits[alive], free)
        if scored + len(candidates[0]) > MOST_FAMILIES:
            return (
                (np.concatenate(useful_sets), np.concatenate(useful_scores)), size - 1, scored
            )  # fmt: skip
        sets, tops, bounds = candidates
        if not len(sets):
            return (np.concatenate(useful_sets), np.concatenate(useful_scores)), most, scored


def _next_level(
    alive: Any, best: Floats, limits: Floats, free: list[int]
) -> tuple[Any, Floats, Floats]:
    """Sets of one more parent all of whose subsets are alive: best score and bound of these."""
    order = np.argsort(alive)
    alive, best, limits = alive[order], best[order], limits[order]
    grown = []
    rank = np.array(free, np.uint64)
    for u in rank.tolist():
        bit = np.uint64(1 << u)
        # Each set once: grown by its largest member.
        smaller = alive[(alive & bit == 0)]
        above = np.uint64(sum(1 << w for w in free if w > u))
        grown.append(smaller[smaller & above == 0] | bit)
    sets = np.unique(np.concatenate(grown)) if grown else np.empty(0, np.uint64)
    tops, bounds = np.full(len(sets), -math.inf), np.full(len(sets), math.inf)
    whole = np.ones(len(sets), bool)
    for u in free:
        bit = np.uint64(1 << u)
        has = np.flatnonzero(sets & bit != 0)
        places = np.searchsorted(alive, sets[has] ^ bit)
        places = np.minimum(places, len(alive) - 1)
        there = alive[places] == sets[has] ^ bit
        whole[has[~there]] = False
        tops[has] = np.maximum(tops[has], best[places])
        bounds[has] = np.minimum(bounds[has], limits[places])
    whole &= bounds > tops
    return sets[whole], tops[whole], bounds[whole]
