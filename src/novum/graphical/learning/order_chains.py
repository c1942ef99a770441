"""Orders of many variables by Markov chains: edge probabilities beyond what can be summed over.

    P(order | table)  proportional to  product over v of  sum over parents of v that come before it

A chain moves one variable to a place drawn from its distribution given the order of the others, and
exchanges two by the rule of Metropolis. What an order gives every variable is read from a table:
the sums over all sets of parents inside every set of a few *candidates*. Given an order, every edge
has its probability in closed form, and means over orders estimate it with less noise than graphs
would; graphs are drawn as well, for every other question.

Candidates of a variable are those next to it in a graph that a search finds, and then those that
explain it best alone. With as many variables as fit, all others are candidates, and the chains have
the distribution that `OrderSums` sums exactly.

References
----------
Friedman and Koller (2003). Kuipers, Suter and Moffa (2022) for tables over candidates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, check_memory, stream, time_sliced
from novum.graphical.inference.chain_diagnosis import effective_size, judged
from novum.graphical.learning import order_chains_kernels as kernels
from novum.graphical.learning.constraints import Rules
from novum.graphical.learning.order_sums import scored_sets, subset_sums
from novum.graphical.learning.scores import FamilyScores
from novum.graphical.learning.search import SearchProblem, default_search
from novum.numerics import Floats, Integers

# R-hat from which chains are said to disagree.
LARGEST_R_HAT = 1.1


@dataclass(frozen=True)
class OrderChains:
    """How orders are sampled.

    Parameters
    ----------
    chains : int
        Each from an order of its own, drawn at random.
    steps : int
        Of each chain. The first half is not counted.
    kept : int
        Orders of each chain that are kept, evenly spaced; one graph is drawn from each.
    candidates : int
        Parents that are considered for each variable, at most 20: sums over all their sets are
        kept.
    random_state : None, int or generator
    """

    chains: int = 4
    steps: int = 20_000
    kept: int = 500
    candidates: int = 14
    random_state: RandomSource = 0

    def __post_init__(self) -> None:
        if self.chains < 1 or not 1 <= self.candidates <= 20:
            raise InputError(
                f"chains are at least 1 and candidates 1 to 20; got {self.chains} and "
                f"{self.candidates}."
            )
        if self.kept < 8 or self.steps < 2 * self.kept:
            raise InputError(
                f"kept is at least 8 and steps at least twice as many; got kept={self.kept}, "
                f"steps={self.steps}."
            )


@dataclass(frozen=True, eq=False)
class ChainReport:
    """How far the chains can be trusted.

    Attributes
    ----------
    r_hat : float
        Largest of all edges and of the logarithm of the order's weight.
    effective_size : float
        Smallest of the same: independent orders whose means are as exact.
    moved, exchanged : float
        Shares of the steps that moved a variable, and of exchanges that were accepted.
    """

    r_hat: float
    effective_size: float
    moved: float
    exchanged: float

    @property
    def has_mixed(self) -> bool:
        return self.r_hat <= LARGEST_R_HAT

    def __repr__(self) -> str:
        return (
            f"R-hat {self.r_hat:.3f}, effective size {self.effective_size:.0f}, moved "
            f"{self.moved:.0%}, exchanged {self.exchanged:.0%}"
        )


class OrderWalks:
    """Chains of orders of one table.

    Attributes
    ----------
    directed, errors : arrays (parent, child)
        Probabilities of edges and their standard errors.
    graphs : int8 array (chains, kept, parent, child)
    report : ChainReport
    """

    def __init__(self, scores: FamilyScores, rules: Rules, how: OrderChains) -> None:
        d = scores.table.n_variables
        size = min(how.candidates, d - 1)
        check_memory(
            8 * (d << size) + 9 * how.chains * how.kept * d * d,
            f"Chains of orders of {d} variables with {size} candidates each",
            "Take fewer candidates, or keep fewer orders: OrderChains(candidates=10).",
        )
        self.members = _candidates(scores, rules, size)
        bits = np.full((d, d), -1, np.int64)
        sums, starts, sets, logs = np.full((d, 1 << size), -math.inf), [0], [], []
        for child, own in enumerate(self.members.tolist()):
            bits[child, own] = np.arange(size)
            codes, values = scored_sets(scores, rules, child, own)
            sums[child, codes] = values
            sums[child] = subset_sums(sums[child])
            sets.append(codes)
            logs.append(values)
            starts.append(starts[-1] + len(codes))
        runs = [self._walk(number, sums, bits, rules, how) for number in range(how.chains)]
        orders = np.stack([run[0] for run in runs])
        chances = np.empty((how.chains, how.kept, d, d))
        self.graphs = np.zeros((how.chains, how.kept, d, d), np.int8)
        families = (np.array(starts, np.int64), np.concatenate(sets), np.concatenate(logs))
        for number in range(how.chains):
            rng = stream(how.random_state, "graphs of orders", number)
            kernels.edge_chances(sums, bits, orders[number], chances[number])
            kernels.draw_graphs(
                sums, bits, self.members, orders[number], *families, rng.random((how.kept, d)),
                self.graphs[number],
            )  # fmt: skip
        self.directed = chances.mean(axis=(0, 1))
        error, r_hat = judged(chances)
        self.errors: Floats = error
        order_logs = np.stack([run[1] for run in runs])
        # Chances next to 0 and 1 hardly vary, and their spread says nothing of the chains.
        varied = chances.std(axis=(0, 1)) > 0.01
        sizes = [float(effective_size(order_logs))]
        if varied.any():
            sizes.append(float(effective_size(chances[:, :, varied]).min()))
        self.report = ChainReport(
            max(float(judged(order_logs)[1]), float(r_hat[varied].max(initial=1.0))),
            min(sizes),
            float(np.mean([run[2][0] / how.steps for run in runs])),
            float(np.mean([run[2][1] / how.steps for run in runs])),
        )

    def _walk(
        self, number: int, sums: Floats, bits: Integers, rules: Rules, how: OrderChains
    ) -> tuple[Integers, Floats, Integers]:
        rng = stream(how.random_state, "orders", number)
        order = _first_order(rules, rng)
        half = how.steps - how.steps // 2
        thin = (how.steps - half) // how.kept
        length = how.kept * thin
        counters = np.zeros(2, np.int64)
        logs, orders = np.empty(how.kept), np.empty((how.kept, len(order)), np.int64)
        for n_steps, spacing in ((how.steps - length, how.steps + 1), (length, thin)):
            chances, powers = rng.random((n_steps, 5)), np.ones(n_steps)
            if spacing > n_steps:
                # At first hot and then cooler, so that no chain stays where it happened to start.
                hot = n_steps * 3 // 4
                powers[:hot] = np.geomspace(0.02, 1.0, hot)
            for begin, end in time_sliced(n_steps, block=256):
                kernels.walk_orders(
                    sums, bits, order, chances, powers, begin, end, spacing, logs, orders, counters
                )
        return orders, logs, counters


def _first_order(rules: Rules, rng: np.random.Generator) -> Integers:
    """A random order with required parents first."""
    order: list[int] = []
    while len(order) < len(rules.required):
        ready = [
            v for v in range(len(rules.required))
            if v not in order and all(p in order for p in np.flatnonzero(rules.required[v]))
        ]  # fmt: skip
        order.append(int(rng.choice(ready)))
    return np.array(order, np.int64)


def _candidates(scores: FamilyScores, rules: Rules, size: int) -> Any:
    """Of each variable the parents that are considered, of shape (variables, size)."""
    d = scores.table.n_variables
    if size == d - 1:
        return np.array([[v for v in range(d) if v != child] for child in range(d)], np.int64)
    problem = SearchProblem(scores, rules, rules.required.copy())
    default_search(rules, None).run(problem)
    graph = problem.adjacency.astype(bool)
    blanket = graph | graph.T | (graph.T.astype(int) @ graph > 0)
    chosen = np.empty((d, size), np.int64)
    for child in range(d):
        alone = scores.local(child, ())
        gains = np.array([scores.local(child, (v,)) - alone for v in range(d) if v != child])
        others = np.array([v for v in range(d) if v != child])
        wish = gains + 1e9 * blanket[child, others]
        wish[(graph | graph.T)[child, others]] += 1e10
        wish[rules.required[child, others] == 1] += 1e11
        wish[rules.allowed[child, others] == 0] = -math.inf
        chosen[child] = np.sort(others[np.argsort(-wish, kind="stable")[:size]])
    return chosen
