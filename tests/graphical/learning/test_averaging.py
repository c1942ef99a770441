"""Edge probabilities against sums over all orders and graphs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.graphical import Dag, OrderChains, learn_structure
from novum.graphical.learning.averaging import (
    EdgeProbabilities,
    bootstrap_edges,
    edge_probabilities,
)
from novum.graphical.learning.constraints import Constraints
from novum.graphical.learning.scores import BIC, BDeu, FamilyScores, StructurePrior
from tests.graphical.learning.learning_tables import random_graph, random_network, sampled
from tests.oracles.network_learning_definitions import all_graphs


def table_of(seed: int, d: int = 4, n: int = 40):
    rng = np.random.default_rng(seed)
    return sampled(random_network(rng, random_graph(rng, d, 0.5), (2,) * d), n, seed)


def by_enumeration(scores: FamilyScores, d: int, most: int) -> tuple[np.ndarray, float]:
    """Every order, and every graph that goes with it."""
    directed, total = np.zeros((d, d)), 0.0
    for parents in all_graphs(d):
        if max(map(len, parents)) > most:
            continue
        orders = sum(
            all(order.index(p) < order.index(v) for v in range(d) for p in parents[v])
            for order in itertools.permutations(range(d))
        )
        weight = orders * math.exp(scores.total(parents))
        total += weight
        for child in range(d):
            directed[list(parents[child]), child] += weight
    return directed / total, math.log(total)


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("prior", [None, StructurePrior(edge=0.3, edges={("v0", "v1"): 0.9})])
def test_edges_equal_enumeration(most: int, prior: StructurePrior | None) -> None:
    for seed in range(3):
        table = table_of(seed)
        scores = FamilyScores(table, BDeu(1.0), prior=prior)
        expected, log_total = by_enumeration(scores, 4, most)
        posterior = edge_probabilities(
            table, BDeu(1.0), Constraints(max_parents=most), structure_prior=prior
        )
        np.testing.assert_allclose(posterior.directed, expected, atol=1e-10)
        assert posterior.log_evidence == pytest.approx(log_total, rel=1e-12)


@pytest.mark.parametrize(("d", "chains"), [(4, False), (4, True), (5, False)])
def test_graphs_can_count_alike(d: int, chains: bool) -> None:
    """Against the list of all graphs, each with its own weight and no number of orders."""
    table = table_of(2, d, 30)
    scores, total = FamilyScores(table, BDeu(1.0)), 0.0
    expected, largest = np.zeros((d, d)), max(scores.total(p) for p in all_graphs(d))
    for parents in all_graphs(d):
        if max(map(len, parents)) <= 2:
            weight = math.exp(scores.total(parents) - largest)
            total += weight
            for child in range(d):
                expected[list(parents[child]), child] += weight
    expected /= total
    how = OrderChains(steps=20_000, kept=1000) if chains else None
    posterior = edge_probabilities(table, BDeu(1.0), Constraints(max_parents=2), chains=how)
    equal = posterior.equal_graphs(6000)
    assert (np.abs(equal.directed - expected) <= 4.5 * equal.errors).all()
    assert equal.errors.max() < 0.03
    assert 500 < equal.effective_size < 6000
    assert "effective size" in repr(equal)
    # The prior over orders says something else, by more than the errors.
    assert (np.abs(posterior.directed - expected) / equal.errors).max() > 6


def test_few_weights_warn() -> None:
    posterior = edge_probabilities(table_of(2, 4, 30))
    with pytest.warns(UserWarning, match=r"The 20 graphs are worth \d+ of equal weight"):
        posterior.equal_graphs(20)


def test_draws_have_the_edges_as_often() -> None:
    posterior = edge_probabilities(table_of(3), BIC())
    graphs = posterior.sample(2000, random_state=0)
    shares = np.zeros((4, 4))
    for graph in graphs:
        for child, parents in enumerate(graph.parents):
            shares[list(parents), child] += 1 / len(graphs)
    assert np.abs(shares - posterior.directed).max() < 6 * 0.5 / math.sqrt(2000)
    mean, error = posterior.share(lambda graph: "v1" in graph.markov_blanket("v0"), 200)
    assert 0 <= mean <= 1
    assert error > 0


def test_long_tables_do_not_leave_the_range_of_floats() -> None:
    posterior = edge_probabilities(table_of(1, 5, 20_000))
    assert np.isfinite(posterior.directed).all()
    assert (posterior.directed + posterior.directed.T <= 1 + 1e-9).all()


def test_constraints_are_certain() -> None:
    rules = Constraints(required=[("v0", "v1")], forbidden=[("v2", "v3"), ("v3", "v2")])
    posterior = edge_probabilities(table_of(2), constraints=rules)
    assert posterior.probability("v0", "v1") == pytest.approx(1.0)
    assert posterior.joined("v2", "v3") == 0.0


def test_consensus_has_no_cycle() -> None:
    directed = np.array([[0, 0.8, 0.1], [0.1, 0, 0.7], [0.6, 0.1, 0]])
    graph = EdgeProbabilities(("a", "b", "c"), directed, "by hand").consensus(0.5)
    assert set(graph.edges) == {("a", "b"), ("b", "c"), ("a", "c")}


def test_bootstrap_finds_stable_edges_and_says_how_stable() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 300)
    rows = {"a": a, "b": a ^ (rng.random(300) < 0.1), "c": rng.integers(0, 2, 300)}
    sure = bootstrap_edges(rows, samples=30)
    assert sure.joined("a", "b") == 1.0
    assert sure.joined("a", "c") < 0.3
    assert "30 resampled tables" in repr(sure)
    weighted = bootstrap_edges(rows, samples=5, sample_weight=np.ones(300))
    assert weighted.joined("a", "b") == 1.0


def test_bad_input_is_one_sentence() -> None:
    with pytest.raises(InputError, match="need whole rows"):
        edge_probabilities({"a": ["x", None, "y"]})
    with pytest.raises(InputError, match="at least 1"):
        bootstrap_edges({"a": [0, 1]}, samples=0)
    with pytest.raises(InputError, match="no node 'z'"):
        edge_probabilities({"a": [0, 1]}).probability("a", "z")
    with pytest.raises(InputError, match="above 0"):
        edge_probabilities({"a": [0, 1]}).consensus(0.0)


# --- Paths, blankets and chains of orders ---------------------------------------------------------


def enumerated_pairs(scores: FamilyScores, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Paths and blankets, summed over every order and graph."""
    names = tuple(f"v{i}" for i in range(d))
    paths, blankets, total = np.zeros((d, d)), np.zeros((d, d)), 0.0
    for parents in all_graphs(d):
        orders = sum(
            all(order.index(p) < order.index(v) for v in range(d) for p in parents[v])
            for order in itertools.permutations(range(d))
        )
        weight, graph = orders * math.exp(scores.total(parents)), Dag(names, parents)
        total += weight
        for a, b in itertools.permutations(range(d), 2):
            paths[a, b] += weight * (names[b] in graph.descendants(names[a]))
            blankets[a, b] += weight * (names[b] in graph.markov_blanket(names[a]))
    return paths / total, blankets / total


def test_paths_and_blankets_are_within_their_errors_of_enumeration() -> None:
    table = table_of(1)
    paths, blankets = enumerated_pairs(FamilyScores(table, BDeu(1.0)), 4)
    posterior = edge_probabilities(table)
    for found, wanted in ((posterior.paths(4000), paths), (posterior.blankets(4000), blankets)):
        assert (np.abs(found.values - wanted) < 5 * found.errors).all()
        assert found.errors.max() < 0.01
        assert np.diagonal(found.values).max() == 0.0
    assert posterior.paths(50).probability("v0", "v1") == posterior.paths(50).values[0, 1]
    assert "directed paths in 50 graphs" in repr(posterior.paths(50))
    assert posterior.blankets(50).error("v0", "v1") > 0


@pytest.mark.parametrize(
    "constraints", [None, Constraints(required=[("v5", "v0"), ("v0", "v3")], max_parents=3)]
)
def test_chains_of_orders_have_the_exact_probabilities(constraints: Constraints | None) -> None:
    table = table_of(4, 7, 60)
    exact = edge_probabilities(table, constraints=constraints)
    sampled_orders = edge_probabilities(table, constraints=constraints, chains=OrderChains())
    assert sampled_orders.errors is not None
    difference = np.abs(sampled_orders.directed - exact.directed)
    assert (difference < 5 * sampled_orders.errors + 1e-3).all()
    assert sampled_orders.report is not None
    assert sampled_orders.report.has_mixed
    assert sampled_orders.report.effective_size > 200
    assert 0 < sampled_orders.report.exchanged < sampled_orders.report.moved
    assert "R-hat" in repr(sampled_orders)
    # Graphs that are drawn from the orders have the edges as often.
    graphs = sampled_orders.graphs()
    assert np.abs(graphs.mean(axis=(0, 1)) - exact.directed).max() < 0.06
    paths = exact.paths(3000)
    assert np.abs(sampled_orders.paths().values - paths.values).max() < 0.07
    same = edge_probabilities(table, constraints=constraints, chains=OrderChains())
    assert np.array_equal(same.directed, sampled_orders.directed)
    assert sum(len(graph.edges) for graph in sampled_orders.sample(10, 0)) > 0


def test_many_variables_are_sampled_among_candidates() -> None:
    rng = np.random.default_rng(0)
    network = random_network(rng, random_graph(rng, 26, 0.06), (2,) * 26)
    chains = OrderChains(steps=4000, kept=100, candidates=8)
    table = sampled(network, 2000, 0)
    posterior = edge_probabilities(table, chains=chains)
    assert "8 candidates" in posterior.basis
    assert posterior.report is not None
    joined = {frozenset(edge) for edge in posterior.consensus(0.5).edges}
    best = learn_structure(table, BDeu(1.0)).dag.skeleton
    assert len(joined ^ best) <= 2
    picture = posterior.draw(0.3)
    assert picture.startswith("<svg")
    assert "stroke-width" in picture


def test_chains_that_disagree_say_so() -> None:
    table = table_of(5, 12, 3000)
    short = OrderChains(chains=4, steps=20, kept=10)
    with pytest.warns(UserWarning, match=r"disagree \(R-hat .*steps=80"):
        edge_probabilities(table, chains=short)
    with pytest.raises(InputError, match="candidates 1 to 20"):
        OrderChains(candidates=30)
    with pytest.raises(InputError, match="at least twice"):
        OrderChains(steps=10)
    with pytest.raises(InputError, match=r"such as OrderChains\(4\)"):
        edge_probabilities(table, chains=4)
