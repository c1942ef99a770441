"""Messages on factor trees: exact on trees, refused on cycles, quick and stable on long chains."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.factor import Factor
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.inference.trees import CyclicGraphError, SumProduct
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.factor_graph import FactorGraph
from novum.graphical.models.questions import evidence_of
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds
from tests.strategies.stated_errors import sprinkler


def random_tree(seed: int) -> FactorGraph:
    """A tree of factors with one to three variables; some cells are zero."""
    rng = np.random.default_rng(seed)
    cards = {"x0": int(rng.integers(1, 4))}
    factors = []
    for _ in range(int(rng.integers(1, 5))):
        joined = [str(rng.choice(list(cards)))]
        for _ in range(int(rng.integers(0, 3))):
            joined.append(f"x{len(cards)}")
            cards[joined[-1]] = int(rng.integers(1, 4))
        values = rng.random([cards[name] for name in joined]) + 0.01
        values *= rng.random(values.shape) < 0.85
        order = rng.permutation(len(joined))
        names = [joined[i] for i in order]
        factors.append(
            Factor(values.transpose(order), {n: [f"s{k}" for k in range(cards[n])] for n in names})
        )
    return FactorGraph(factors)


@given(seeds)
@settings(max_examples=80, deadline=None)
def test_exact_on_trees(seed: int) -> None:
    graph = random_tree(seed)
    known = random_evidence(graph, seed)  # type: ignore[arg-type]
    weights = random_likelihood(graph, seed, known)  # type: ignore[arg-type]
    engine, oracle = SumProduct(), Enumeration()
    log = graph.log_evidence(known, weights, engine=oracle)
    assert graph.log_evidence(known, weights, engine=engine) == pytest.approx(log, abs=1e-11)
    if log == -math.inf:
        with pytest.raises(ImpossibleEvidence):
            graph.marginals(known, weights, engine=engine)
        return
    found = graph.marginals(known, weights, engine=engine)
    exact = graph.marginals(known, weights, engine=oracle)
    for name in graph.names:
        np.testing.assert_allclose(found[name].values, exact[name].values, atol=1e-12)
    assert found.log_evidence == pytest.approx(log, abs=1e-11)
    pair = list(graph.names)[:2]
    joint = graph.query(*pair, given=known, likelihood=weights, engine=engine)
    wanted = graph.query(*pair, given=known, likelihood=weights, engine=oracle)
    np.testing.assert_allclose(joint.values, wanted.values, atol=1e-12)


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_max_product_finds_the_largest_cell(seed: int) -> None:
    graph = random_tree(seed)
    known = random_evidence(graph, seed)  # type: ignore[arg-type]
    evidence = evidence_of(graph, known)
    model = graph.arrays
    largest = 0.0
    for codes in np.ndindex(*model.cards.tolist()):
        if all(e in (-1, c) for e, c in zip(evidence.codes, codes, strict=True)):
            largest = max(largest, product_at(model, codes))
    if largest == 0.0:
        with pytest.raises(ImpossibleEvidence):
            SumProduct().most_probable(model, evidence)
        return
    codes, log = SumProduct().most_probable(model, evidence)
    assert product_at(model, codes) == pytest.approx(largest, rel=1e-12)
    assert log == pytest.approx(math.log(largest), abs=1e-11)


def product_at(model: ModelArrays, codes) -> float:
    return math.prod(
        float(model.table(f)[tuple(codes[v] for v in model.scope(f))])
        for f in range(model.n_factors)
    )


def test_cycles_are_refused_and_named() -> None:
    network = sprinkler()
    model = network.arrays
    with pytest.raises(CyclicGraphError, match="by number from 0") as caught:
        SumProduct().marginals(model, Evidence.none(model.n_variables))
    named = caught.value.named(network.names)
    assert sorted(named.variables) == ["cloudy", "rain", "sprinkler"]
    around = " - ".join(map(repr, [*named.variables, named.variables[0]]))
    assert f"has a cycle: {around}; messages on trees" in str(named)
    again = pickle.loads(pickle.dumps(named))
    assert (str(again), again.variables) == (str(named), named.variables)
    with pytest.raises(CyclicGraphError, match=r"has a cycle: '[a-z]*' - '[a-z]*' - '[a-z]*' - '"):
        network.marginals(engine=SumProduct())
    # An observation cuts it.
    found = network.query("rain", given={"cloudy": "true"}, engine=SumProduct())
    exact = network.query("rain", given={"cloudy": "true"})
    np.testing.assert_allclose(found.values, exact.values, atol=1e-14)


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_refuses_exactly_what_has_cycles(seed: int) -> None:
    network = random_network(seed)
    is_tree = FactorGraph.of(network).is_tree
    try:
        found = SumProduct().marginals(network.arrays, Evidence.none(len(network)))
    except CyclicGraphError as error:
        assert not is_tree
        # Neighbors in the cycle share a factor.
        scopes = [set(network.arrays.scope(f).tolist()) for f in range(len(network))]
        around = [*error.variables, error.variables[0]]
        joined = [any({a, b} <= s for s in scopes) for a, b in itertools.pairwise(around)]
        assert all(joined)
        return
    assert is_tree
    exact = network.marginals(engine=Enumeration())
    for name, table in zip(network.names, found.tables, strict=True):
        np.testing.assert_allclose(table, exact[name].values, atol=1e-12)


def test_long_chain() -> None:
    n = 3000
    factors = [Factor([0.25, 0.75], {"x0": (0, 1)})]
    for i in range(1, n):
        factors.append(Factor([[1e-3, 2e-3], [3e-3, 1e-3]], {f"x{i - 1}": (0, 1), f"x{i}": (0, 1)}))
    graph = FactorGraph(factors)
    log = graph.log_evidence(engine=SumProduct())
    row, total = np.array([0.25, 0.75]), 0.0
    for _ in range(1, n):
        row = row @ np.array([[1e-3, 2e-3], [3e-3, 1e-3]])
        total += math.log(row.sum())
        row = row / row.sum()
    assert log == pytest.approx(total, rel=1e-12)


def test_isolated_and_single_state_nodes() -> None:
    network = BayesianNetwork().add("a", table=[1.0], states=["x"]).add("b", table=[0.25, 0.75])
    found = network.marginals(engine=SumProduct())
    assert found["a"].values.tolist() == [1.0]
    assert found["b"].values.tolist() == [0.25, 0.75]
