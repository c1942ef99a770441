"""Messages on factor trees: exact on trees, refused on cycles, quick and stable on long chains."""

from __future__ import annotations

import itertools
import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.factor import Factor
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.inference.plain_junction import SumProduct
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.conditional import NetworkWarning
from novum.graphical.models.factor_graph import FactorGraph
from novum.graphical.models.questions import evidence_of
from novum.graphical.structure.dag import CyclicGraphError
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


@pytest.mark.slow
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


def test_a_state_far_below_another_decides_when_that_is_ruled_out() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)
        network = BayesianNetwork().add("c", table=[0.9, 0.05, 0.05], states=["m", "p", "q"])
        for i in range(12):
            network = network.add(f"x{i}", "c", [[1.0, 0.0], [1e-30, 1.0], [2e-30, 1.0]])
        network = network.add("y", "c", [[0.0, 1.0], [0.5, 0.5], [0.5, 0.5]])
    known = dict.fromkeys(network.names[1:], "true")
    found = network.query("c", given=known, engine=SumProduct())
    share = 1 / (1 + 2.0**12)
    np.testing.assert_allclose(found.values, [0.0, share, 1 - share], rtol=1e-12)
    log = network.log_evidence(known, engine=SumProduct())
    assert log == pytest.approx(math.log(0.025 * (1 + 2**12)) - 360 * math.log(10), rel=1e-13)
    evidence = evidence_of(network, known)
    codes, best = SumProduct().most_probable(network.arrays, evidence)
    assert codes[0] == 2
    assert best == pytest.approx(math.log(0.025 * 2**12) - 360 * math.log(10), rel=1e-13)


def test_numbers_of_states_alone_can_leave_the_range() -> None:
    # One state of x allows one state of each y, the other one both: 1 against 2^1500.
    pairs = [Factor([[1, 0], [1, 1]], {"x": (0, 1), f"y{i}": (0, 1)}) for i in range(1500)]
    graph = FactorGraph([*pairs, Factor([1, 0], {"x": (0, 1)})])
    assert graph.query("x", engine=SumProduct()).values.tolist() == [1.0, 0.0]
    assert graph.log_evidence(engine=SumProduct()) == pytest.approx(0.0, abs=1e-10)
    assert FactorGraph(pairs).log_evidence(engine=SumProduct()) == pytest.approx(
        1500 * math.log(2), rel=1e-12
    )


def test_hubs_of_many_children() -> None:
    network = BayesianNetwork().add("c", table=[0.3, 0.7])
    for i in range(500):
        high = 0.5 + 0.3 * math.sin(i)
        network = network.add(f"x{i}", "c", [[high, 1 - high], [0.5, 0.5]])
    known = {f"x{i}": "true" for i in range(0, 500, 2)}
    found = network.marginals(known, engine=SumProduct())
    odds = math.log(3 / 7) + sum(math.log(1 + 0.6 * math.sin(i)) for i in range(0, 500, 2))
    share = 1 / (1 + math.exp(-odds))
    assert found["c"].values[0] == pytest.approx(share, rel=1e-11)
    for i in (1, 3, 499):
        wanted = share * (0.5 + 0.3 * math.sin(i)) + (1 - share) * 0.5
        assert found[f"x{i}"].values[0] == pytest.approx(wanted, rel=1e-11)
