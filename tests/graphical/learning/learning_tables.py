"""Tables drawn from networks, and whole distributions as weighted tables, for tests of learning."""

from __future__ import annotations

import itertools
import math

import numpy as np

from novum.distributions import StateAxis
from novum.graphical import BayesianNetwork, Dag
from novum.graphical.learning.coded_table import CodedTable, read_table
from novum.graphical.learning.parameters import network_of


def random_graph(rng: np.random.Generator, d: int, share: float = 0.4) -> Dag:
    order = rng.permutation(d)
    parents: list[list[int]] = [[] for _ in range(d)]
    for i, j in itertools.combinations(range(d), 2):
        if rng.random() < share:
            parents[order[j]].append(int(order[i]))
    return Dag(tuple(f"v{i}" for i in range(d)), tuple(tuple(sorted(p)) for p in parents))


def random_network(rng: np.random.Generator, graph: Dag, cards: tuple[int, ...]) -> BayesianNetwork:
    """Tables far from independence, so that every edge can be seen."""
    axes = tuple(
        StateAxis(name, tuple(range(card))) for name, card in zip(graph.names, cards, strict=True)
    )
    sizes = [math.prod(cards[m] for m in (*p, v)) for v, p in enumerate(graph.parents)]
    cells = np.concatenate([rng.gamma(0.5, size=size) + 0.02 for size in sizes])
    return network_of(axes, graph.parents, cells)


def sampled(network: BayesianNetwork, n: int, seed: int) -> CodedTable:
    return read_table(network.sample(n, random_state=seed), network.variables)


def whole_distribution(network: BayesianNetwork, rows: float) -> CodedTable:
    """Every joint state once, weighted by its probability times `rows`."""
    states = list(itertools.product(*(range(len(a.states)) for a in network.variables)))
    codes = np.array(states, np.int32).T.copy()
    frame = dict(zip(network.names, codes, strict=True))
    weights = rows * np.exp(network.log_probabilities(frame))
    return CodedTable(network.variables, codes, weights)
