"""Sums over all orders of the variables and the graphs that go with them, exactly.

    forward(S)   = sum over v in S of  forward(S without v) * inside(v, S without v)
    inside(v, S) = sum over sets of parents inside S of  exp(score of the family)

Every order adds up the graphs in which parents come before children; what a variable adds depends
only on the set of those before it. `forward` over all sets, and the same from the other end, give
the probability of every edge; drawing a last variable and its parents, again and again, gives
independent graphs (Koivisto and Sood 2004, Koivisto 2006).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from novum.core.runtime import time_sliced
from novum.graphical.learning import order_sums_kernels as kernels
from novum.graphical.learning.constraints import Rules
from novum.graphical.learning.scores import FamilyScores
from novum.numerics import Floats, Integers


def scored_sets(
    scores: FamilyScores, rules: Rules, child: int, candidates: Sequence[int]
) -> tuple[Integers, Floats]:
    """The sets of parents of a child that the rules allow, as bits of the candidates; scores."""
    allowed = [bit for bit, v in enumerate(candidates) if rules.allowed[child, v]]
    required = {*np.flatnonzero(rules.required[child]).tolist()}
    sets, logs = [], []
    for size in range(min(scores.max_parents, len(allowed)) + 1):
        for bits in itertools.combinations(allowed, size):
            parents = [candidates[bit] for bit in bits]
            if required.issubset(parents):
                log = scores.local(child, parents)
                if log > -math.inf:
                    sets.append(sum(1 << bit for bit in bits))
                    logs.append(log)
    return np.array(sets, np.int64), np.array(logs)


def subset_sums(values: Floats) -> Floats:
    """Logarithms of sums over all subsets of each set.

    Examples
    --------
    >>> np.exp(subset_sums(np.log([1.0, 2.0, 3.0, 4.0]))).round(9).tolist()
    [1.0, 3.0, 4.0, 10.0]
    """
    sums = values.copy()
    kernels.add_subsets(sums)
    return sums


class OrderSums:
    """Sums over all orders, in logarithms.

    `families[v]` are scores of sets of parents, `inside[v]` their sums over all subsets; sets of
    the others are bits, without the bit of v.
    """

    def __init__(self, scores: FamilyScores, rules: Rules) -> None:
        self.d = d = scores.table.n_variables
        self.sets: list[tuple[Integers, Floats]] = []
        self.inside = np.full((d, 1 << (d - 1)), -math.inf)
        for child in range(d):
            others = [v for v in range(d) if v != child]
            codes, logs = scored_sets(scores, rules, child, others)
            self.sets.append((codes, logs))
            self.inside[child, codes] = logs
            self.inside[child] = subset_sums(self.inside[child])
        self.forward = np.full(1 << d, -math.inf)
        self.forward[0] = 0.0
        for begin, end in time_sliced(1 << d, block=1 << min(d, 12)):
            kernels.sum_forward(max(begin, 1), end, self.inside, self.forward)

    @property
    def log_evidence(self) -> float:
        return float(self.forward[-1])

    def family_chances(self) -> list[Floats]:
        """The probability of every set of parents, in the order of `sets`."""
        d, backward = self.d, np.full(1 << self.d, -math.inf)
        backward[-1] = 0.0
        for begin, end in time_sliced(1 << d, block=1 << min(d, 12)):
            kernels.sum_backward(max(begin, 1), end, self.inside, backward)
        codes = np.arange(1 << (d - 1))
        answers = []
        for child, (sets, logs) in enumerate(self.sets):
            whole = (codes >> child << (child + 1)) | (codes & ((1 << child) - 1))
            around = self.forward[whole] + backward[whole | (1 << child)]
            # Of every set of parents: all sets before the child that hold it.
            holding = subset_sums(around[::-1].copy())[::-1]
            answers.append(np.exp(logs + holding[sets] - self.forward[-1]))
        return answers

    def edges(self) -> Floats:
        """P(parent -> child), of shape (parent, child)."""
        directed = np.zeros((self.d, self.d))
        for child, chances in enumerate(self.family_chances()):
            for parent in range(self.d):
                if parent != child:
                    bit = parent - (parent > child)
                    directed[parent, child] = chances[self.sets[child][0] >> bit & 1 == 1].sum()
        return np.clip(directed, 0.0, 1.0)

    def draw(self, size: int, rng: np.random.Generator) -> Any:
        """Independent graphs of random orders, int8 of shape (size, parent, child)."""
        graphs = np.zeros((size, self.d, self.d), np.int8)
        for graph in graphs:
            members = (1 << self.d) - 1
            while members:
                last = np.array([v for v in range(self.d) if members >> v & 1])
                before = members ^ (1 << last)
                places = (before & ((1 << last) - 1)) | (before >> (last + 1) << last)
                child = int(last[_drawn(self.forward[before] + self.inside[last, places], rng)])
                members ^= 1 << child
                sets, logs = self.sets[child]
                fitting = np.flatnonzero(sets & ~int(without(members, child)) == 0)
                code = int(sets[fitting[_drawn(logs[fitting], rng)]])
                for bit in range(self.d - 1):
                    if code >> bit & 1:
                        graph[bit + (bit >= child), child] = 1
        return graphs


def without(codes: Any, v: int) -> Any:
    """Sets that lack v, as bits of the others."""
    return (codes & ((1 << v) - 1)) | (codes >> (v + 1) << v)


def _drawn(logs: Floats, rng: np.random.Generator) -> int:
    chances = np.exp(logs - logs.max()).cumsum()
    return int(np.searchsorted(chances, rng.random() * chances[-1], side="right"))
