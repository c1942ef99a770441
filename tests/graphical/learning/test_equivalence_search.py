"""GES: the true class from whole distributions, and its steps against slow code."""

from __future__ import annotations

import numpy as np
import pytest

from novum.graphical import Dag
from novum.graphical.learning.constraints import adjacency_of, parents_of
from novum.graphical.learning.equivalence_kernels import class_of, directed_graph
from novum.graphical.learning.equivalence_search import GreedyEquivalence
from novum.graphical.learning.scores import BIC, BDeu, score
from novum.graphical.learning.search import learn_structure
from tests.graphical.learning.learning_tables import (
    random_graph,
    random_network,
    whole_distribution,
)
from tests.oracles.network_learning_definitions import all_graphs


@pytest.mark.parametrize("criterion", [BIC(), BDeu(1.0)], ids=str)
def test_the_class_of_a_faithful_distribution_is_reached(criterion: BIC) -> None:
    hits = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, 6, 0.4)
        network = random_network(rng, graph, tuple(int(c) for c in rng.integers(2, 4, 6)))
        table = whole_distribution(network, 1e7)
        learned = learn_structure(table, criterion, GreedyEquivalence())
        # An edge that is too weak even for so many rows may be absent: that scores better.
        assert learned.score >= score(graph, table, criterion) - 1e-3
        hits += learned.dag.is_equivalent(graph)
    assert hits >= 22


def test_patterns_and_their_members_equal_the_slow_code() -> None:
    for parents in all_graphs(4):
        graph = Dag(("a", "b", "c", "d"), parents)
        arrows = np.empty((4, 4), np.int8)
        class_of(adjacency_of(graph), arrows)
        pattern = graph.pattern()
        directed = {(graph.names[x], graph.names[y]) for y, x in np.argwhere(arrows & ~arrows.T)}
        both = {frozenset(graph.names[i] for i in p) for p in np.argwhere(arrows & arrows.T)}
        assert directed == pattern.directed
        assert both == pattern.undirected
        member = np.empty((4, 4), np.int8)
        assert directed_graph(arrows, member)
        assert Dag(graph.names, parents_of(member)).is_equivalent(graph)


def test_what_has_no_member_is_said() -> None:
    """A cycle of four nodes without directions cannot be directed."""
    arrows = np.zeros((4, 4), np.int8)
    for a, b in ((0, 1), (1, 2), (2, 3), (3, 0)):
        arrows[a, b] = arrows[b, a] = 1
    assert not directed_graph(arrows, np.empty((4, 4), np.int8))
