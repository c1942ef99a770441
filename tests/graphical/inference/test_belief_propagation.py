"""Loopy propagation: exact on trees, its fixed point elsewhere, and honest about not settling."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.factor import Factor
from novum.graphical.inference.belief_propagation import LoopyMessages, LoopyPropagation
from novum.graphical.inference.flat_factors import flat_factors
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.factor_graph import FactorGraph
from tests.graphical.inference.test_sum_product import random_tree
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds
from tests.strategies.stated_errors import sprinkler

ENGINES = [
    LoopyPropagation(),
    LoopyPropagation(damping=0.3, max_iter=400),
    LoopyPropagation("residual"),
    LoopyPropagation("residual", damping=0.2, max_iter=400),
]


def ring(strength: float, field: float = 1.5, n: int = 3) -> FactorGraph:
    factors = [Factor([1.0, field], {"x0": (0, 1)})]
    for i in range(n):
        pair = {f"x{i}": (0, 1), f"x{(i + 1) % n}": (0, 1)}
        factors.append(Factor([[strength, 1.0], [1.0, strength]], pair))
    return FactorGraph(factors)


@pytest.mark.parametrize("engine", ENGINES, ids=str)
@given(seeds)
@settings(max_examples=30, deadline=None)
def test_exact_on_trees(engine: LoopyPropagation, seed: int) -> None:
    graph = random_tree(seed)
    known = random_evidence(graph, seed)  # type: ignore[arg-type]
    weights = random_likelihood(graph, seed, known)  # type: ignore[arg-type]
    try:
        exact = graph.marginals(known, weights)
    except ImpossibleEvidence:
        with pytest.raises(ImpossibleEvidence):
            graph.marginals(known, weights, engine=engine)
        return
    found = graph.marginals(known, weights, engine=engine)
    assert found.diagnosis is not None
    assert found.diagnosis.trusted
    assert "exact" in found.diagnosis.sentence
    for name in graph.names:
        # Messages are settled to 1e-9, and damping leaves a few times that.
        np.testing.assert_allclose(found[name].values, exact[name].values, atol=1e-7)


def by_dictionaries(network: BayesianNetwork, n_iterations: int) -> list[np.ndarray]:
    """Flooding as defined, cell by cell."""
    model = network.arrays
    n = model.n_variables
    edges = [(f, v) for f in range(n) for v in model.scope(f).tolist()]
    up = {e: np.full(model.cards[e[1]], 1 / model.cards[e[1]]) for e in edges}
    # A factor of one variable sends the same in all iterations, and from the start.
    up |= {(f, v): model.table(f) for f, v in edges if len(model.scope(f)) == 1}
    for _ in range(n_iterations):
        down = {}
        for f, v in edges:
            m = np.ones(model.cards[v])
            for g, w in edges:
                if w == v and g != f:
                    m = m * up[g, v]
            down[f, v] = m / m.sum()
        new = {}
        for f, v in edges:
            scope = model.scope(f).tolist()
            m = np.zeros(model.cards[v])
            for codes in itertools.product(*[range(model.cards[w]) for w in scope]):
                value = model.table(f)[codes]
                for w, code in zip(scope, codes, strict=True):
                    if w != v:
                        value *= down[f, w][code]
                m[codes[scope.index(v)]] += value
            new[f, v] = m / m.sum()
        up = new
    beliefs = []
    for v in range(n):
        m = np.ones(model.cards[v])
        for f, w in edges:
            if w == v:
                m = m * up[f, v]
        beliefs.append(m / m.sum())
    return beliefs


@given(seeds)
@settings(max_examples=25, deadline=None)
def test_iterations_as_defined(seed: int) -> None:
    network = random_network(seed, most=5)
    model = network.arrays
    run = LoopyMessages(flat_factors(model, Evidence.none(model.n_variables)), 0.0)
    for _ in range(3):
        run.flood()
    for found, wanted in zip(run.posteriors(), by_dictionaries(network, 3), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-14)


def test_schedules_find_the_same_fixed_point() -> None:
    network = sprinkler()
    answers = [network.marginals({"wet": "true"}, engine=engine) for engine in ENGINES]
    for name in network.names:
        for other in answers[1:]:
            np.testing.assert_allclose(other[name].values, answers[0][name].values, atol=1e-6)
    said = answers[0].diagnosis
    assert said is not None
    assert "error is not known" in said.sentence


def test_near_the_truth_where_links_are_weak() -> None:
    graph = ring(1.2)
    found, exact = graph.marginals(engine=LoopyPropagation()), graph.marginals()
    for name in graph.names:
        np.testing.assert_allclose(found[name].values, exact[name].values, atol=0.01)


def test_swinging_messages_are_not_trusted() -> None:
    # Strong disagreement around a ring of three cannot be satisfied: flooding swings.
    graph = ring(0.001, 3.0)
    found = graph.query("x1", engine=LoopyPropagation(max_iter=20))
    assert not found.diagnosis.trusted
    assert "did not settle in 20 iterations" in found.diagnosis.sentence
    assert "damping=0.5" in found.diagnosis.sentence


def test_joint_is_consistent() -> None:
    network = sprinkler()
    joint = network.query("rain", "sprinkler", given={"wet": "true"}, engine=LoopyPropagation())
    exact = network.query("rain", "sprinkler", given={"wet": "true"})
    assert joint.values.sum() == pytest.approx(1.0)
    # Observing rain leaves no cycle through it, so only the first factor of the product errs.
    np.testing.assert_allclose(joint.values, exact.values, atol=0.05)


def test_a_thousand_children_do_not_underflow() -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5])
    for i in range(1000):
        network = network.add(f"b{i}", ["a"], [[0.01, 0.99], [0.0101, 0.9899]])
    known = {f"b{i}": "true" for i in range(1000)}
    found = network.query("a", given=known, engine=LoopyPropagation())
    odds = (0.01 / 0.0101) ** 1000
    assert found.values[0] == pytest.approx(odds / (1 + odds), rel=1e-9)


def test_nothing_left_to_do() -> None:
    network = sprinkler()
    known = dict.fromkeys(network.names, "true")
    for engine in ENGINES:
        found = network.marginals(known, engine=engine)
        assert found["rain"].values.tolist() == [1.0, 0.0]
    alone = BayesianNetwork().add("only", table=[1.0], states=["x"]).add("b", table=[0.2, 0.8])
    for engine in ENGINES:
        assert alone.marginals(engine=engine)["b"].values == pytest.approx([0.2, 0.8])


def test_a_settled_answer_with_cycles_is_an_approximation_and_not_trusted() -> None:
    network = BayesianNetwork().add("a", table=[0.3, 0.7])
    network = network.add("b", ["a"], [[0.9, 0.1], [0.2, 0.8]])
    network = network.add("c", ["a", "b"], [[[0.9, 0.1], [0.3, 0.7]], [[0.4, 0.6], [0.1, 0.9]]])
    network = network.add("d", ["c", "a"], [[[0.8, 0.2], [0.5, 0.5]], [[0.6, 0.4], [0.1, 0.9]]])
    found = network.query("a", given={"d": "true"}, engine=LoopyPropagation())
    assert found.diagnosis is not None
    assert "error is not known" in found.diagnosis.sentence
    assert not found.diagnosis.trusted


def rare_causes() -> BayesianNetwork:
    """A chain whose messages have entries of very different sizes."""
    seldom = [[0.999, 0.001], [1e-9, 1 - 1e-9]]
    network = BayesianNetwork().add("a", table=[1e-8, 1 - 1e-8])
    return network.add("b", ["a"], seldom).add("c", ["b"], seldom)


@pytest.mark.parametrize("schedule", ["flooding", "residual"])
@pytest.mark.parametrize("damping", [0.0, 0.5, 0.99])
def test_small_entries_of_messages_on_trees(schedule: str, damping: float) -> None:
    engine = LoopyPropagation(schedule, damping)
    found = rare_causes().query("a", given={"c": "true"}, engine=engine)
    exact = rare_causes().query("a", given={"c": "true"})
    assert found.diagnosis.trusted
    np.testing.assert_allclose(found.values, exact.values, rtol=1e-12)


@pytest.mark.parametrize("schedule", ["flooding", "residual"])
def test_small_entries_of_messages_with_cycles(schedule: str) -> None:
    # Whether a state weighs nothing is decided by all messages together, so none may be cut off.
    network = rare_causes().add("d", ["a", "b"], np.full((2, 2, 2), 0.5))
    network = network.add("e", ["d", "c"], [[[0.5, 0.5], [0.4, 0.6]], [[0.6, 0.4], [0.5, 0.5]]])
    known = {"c": "true", "e": "true"}
    still = network.query("a", given=known, engine=LoopyPropagation(schedule))
    damped = network.query("a", given=known, engine=LoopyPropagation(schedule, 0.5, 400))
    np.testing.assert_allclose(damped.values, still.values, rtol=1e-6)


def tiny_tree(seed: int) -> tuple[FactorGraph, dict[str, np.ndarray]]:
    """A tree of cells between 1e-200 and 1, some of them zero, and its posteriors by definition."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    scopes = [(int(rng.integers(0, k)), k) for k in range(1, n)]
    scopes += [(int(v),) for v in rng.integers(0, n, int(rng.integers(0, 4)))]
    factors, total = [], np.zeros((2,) * n)
    for scope in scopes:
        logs = -200 * np.log(10) * rng.random((2,) * len(scope))
        values = np.exp(logs) * (rng.random(logs.shape) < 0.9)
        values.flat[rng.integers(0, values.size)] = 1.0
        factors.append(Factor(values, {f"x{v}": (0, 1) for v in scope}))
        with np.errstate(divide="ignore"):
            total += np.log(values).reshape([2 if v in scope else 1 for v in range(n)])
    posteriors = {}
    for v in range(n):
        logs = np.logaddexp.reduce(np.moveaxis(total, v, 0).reshape(2, -1), axis=1)
        posteriors[f"x{v}"] = np.exp(logs - max(np.logaddexp.reduce(logs), -1e300))
    return FactorGraph(factors), posteriors


@pytest.mark.parametrize("engine", ENGINES, ids=str)
@given(seeds)
@settings(max_examples=40, deadline=None)
def test_shares_beyond_double_precision_are_kept_on_trees(
    engine: LoopyPropagation, seed: int
) -> None:
    graph, posteriors = tiny_tree(seed)
    if not posteriors["x0"].any():
        with pytest.raises(ImpossibleEvidence):
            graph.marginals(engine=engine)
        return
    found = graph.marginals(engine=engine)
    assert found.diagnosis is not None
    assert found.diagnosis.trusted
    for name, posterior in posteriors.items():
        np.testing.assert_allclose(found[name].values, posterior, rtol=1e-10, atol=1e-300)


def test_opposite_messages_that_each_leave_double_precision_balance() -> None:
    # Three factors say 1e-150 of a state and three of the other: what is left decides.
    tables = [[1.0, 1e-150]] * 3 + [[1e-150, 1.0]] * 3 + [[0.25, 0.75]]
    graph = FactorGraph([Factor(table, {"side": (0, 1)}) for table in tables])
    found = graph.marginals(engine=LoopyPropagation())["side"].values
    np.testing.assert_allclose(found, [0.25, 0.75], rtol=1e-10)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_trees_are_exact_when_iterations_run_out(seed: int) -> None:
    graph = random_tree(seed)
    try:
        exact = graph.marginals()
    except ImpossibleEvidence:
        return
    found = graph.marginals(engine=LoopyPropagation(damping=0.9, max_iter=1))
    assert found.diagnosis is not None
    assert found.diagnosis.trusted
    assert "exact" in found.diagnosis.sentence
    for name in graph.names:
        np.testing.assert_allclose(found[name].values, exact[name].values, rtol=1e-11, atol=1e-14)


def test_says_that_two_passes_made_it_exact() -> None:
    found = rare_causes().query(
        "a", given={"c": "true"}, engine=LoopyPropagation(damping=0.99, max_iter=3)
    )
    assert "did not settle in 3 iterations; without cycles two more" in found.diagnosis.sentence
