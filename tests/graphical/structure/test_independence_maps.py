"""I-maps, minimal I-maps and perfect maps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.joint_table import JointTable
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.factor_graph import FactorGraph
from novum.graphical.structure.dag import Dag
from novum.graphical.structure.independence_maps import (
    is_independence_map,
    minimal_independence_map,
    oracle_of,
    perfect_map,
)

GRAPH = Dag.from_edges([("a", "c"), ("b", "c"), ("c", "d")])


def joint_of(graph: Dag, seed: int = 0) -> JointTable:
    rng = np.random.default_rng(seed)
    network = BayesianNetwork()
    for node in graph.order:
        above = [graph.names[p] for p in graph.parents[node]]
        table = rng.dirichlet([1, 1], [2] * len(above)).reshape([2] * (len(above) + 1))
        network = network.add(graph.names[node], above, table)
    return network.query(*graph.names)


def test_a_graph_is_a_map_of_its_own_distribution() -> None:
    assert is_independence_map(GRAPH, joint_of(GRAPH))
    without = Dag.from_edges([("a", "c"), ("b", "c")], GRAPH.names)
    verdict = is_independence_map(without, joint_of(GRAPH))
    assert not verdict
    assert "d" in str(verdict)


@pytest.mark.parametrize("order", list(itertools.permutations("abcd")))
def test_minimal_maps_are_maps_from_which_no_edge_can_go(order: tuple[str, ...]) -> None:
    joint = joint_of(GRAPH)
    found = minimal_independence_map(order, joint)
    assert is_independence_map(found, joint)
    place = {name: i for i, name in enumerate(order)}
    for gone in found.edges:
        assert place[gone[0]] < place[gone[1]]
        smaller = Dag.from_edges([edge for edge in found.edges if edge != gone], order)
        assert not is_independence_map(smaller, joint)


def test_in_the_causal_order_the_graph_comes_back() -> None:
    found = minimal_independence_map("abcd", GRAPH)
    assert set(found.edges) == set(GRAPH.edges)


@pytest.mark.parametrize("seed", range(5))
def test_perfect_maps_of_graphs_are_their_classes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = [pair for pair in itertools.combinations("abcde", 2) if rng.random() < 0.5]
    graph = Dag.from_edges(pairs, "abcde")
    found = perfect_map("abcde", graph)
    assert found.pattern == graph.pattern()


def test_no_perfect_map_of_exclusive_or_and_of_a_square() -> None:
    xor = JointTable.from_function(
        lambda a, b, c: 0.25 * (c == (a != b)), dict.fromkeys("abc", (False, True))
    )
    assert "which is not so" in str(perfect_map("abc", xor))

    # A cycle of four that only undirected graphs can state: a - b - c - d - a.
    def square(a: tuple[str, ...], b: tuple[str, ...], known: tuple[str, ...]) -> bool:
        sides = {frozenset("ac"): set("bd"), frozenset("bd"): set("ac")}
        return set(known) == sides.get(frozenset(a + b), {""})

    found = perfect_map("abcd", square)
    assert not found
    assert found.reason


def test_oracles() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 4000)
    b = np.where(rng.random(4000) < 0.9, a, 1 - a)
    c = np.where(rng.random(4000) < 0.9, b, 1 - b)
    rows = {"a": a, "b": b, "c": c}
    ask = oracle_of(rows)
    assert not ask(("a",), ("c",), ())
    assert ask(("a",), ("c",), ("b",))
    assert minimal_independence_map("abc", rows).edges == (("a", "b"), ("b", "c"))


def test_too_many_variables_are_refused() -> None:
    with pytest.raises(InputError, match="at most 12"):
        perfect_map([f"v{i}" for i in range(13)], lambda *_: True)


def test_models_are_asked_as_their_joint_tables() -> None:
    rng = np.random.default_rng(0)
    network = BayesianNetwork()
    for node in GRAPH.order:
        above = [GRAPH.names[p] for p in GRAPH.parents[node]]
        table = rng.dirichlet([1, 1], [2] * len(above)).reshape([2] * (len(above) + 1))
        network = network.add(GRAPH.names[node], above, table)
    for model in (network, FactorGraph.of(network)):
        assert perfect_map("abcd", model).pattern == GRAPH.pattern()
        assert minimal_independence_map("dcba", model) == minimal_independence_map(
            "dcba", joint_of(GRAPH)
        )
        assert is_independence_map(GRAPH, model)
        assert not is_independence_map(Dag.from_edges([("a", "c"), ("c", "d")], "abcd"), model)


def test_a_graph_of_any_size_is_a_perfect_map_of_itself() -> None:
    names = [f"v{i}" for i in range(40)]
    edges = [(names[i], names[j]) for i in range(40) for j in (i + 1, i + 3) if j < 40]
    graph = Dag.from_edges(edges)
    assert perfect_map(names, graph).pattern == graph.pattern()
    # A part that holds all ancestors of its nodes is a perfect map of these.
    first = names[:20]
    inside = [(a, b) for a, b in edges if b in first]
    assert perfect_map(first, graph).pattern == Dag.from_edges(inside, first).pattern()
    with pytest.raises(InputError, match="at most 12 variables"):
        perfect_map(names[1:], graph)
    # A common cause that is left out: asked pair by pair, as before.
    fork = Dag.from_edges([("h", "a"), ("h", "b")])
    assert repr(perfect_map("ab", fork).pattern) == "PartialDag of 'a', 'b': a - b"
