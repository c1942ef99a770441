"""Mean field: its bound, its fixed point, and what it cannot know."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.factor import Factor
from novum.graphical.inference.mean_field import MeanField
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.factor_graph import FactorGraph
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_bound_lies_below_the_log_evidence(seed: int) -> None:
    network = random_network(seed, zeros=0.5)
    known = random_evidence(network, seed)
    weights = random_likelihood(network, seed, known)
    log = network.log_evidence(known, weights)
    engine = MeanField(random_state=seed)
    if log == -math.inf:
        with pytest.raises(ImpossibleEvidence):
            network.marginals(known, weights, engine=engine)
        return
    found = network.marginals(known, weights, engine=engine)
    assert found.diagnosis is not None
    assert found.diagnosis.bound is not None
    assert found.diagnosis.bound <= log + 1e-9
    for name in network.names:
        assert found[name].values.sum() == pytest.approx(1.0)


def elbo(graph: FactorGraph, q: dict[str, np.ndarray]) -> float:
    """The bound as defined, summed over all joint states."""
    total = 0.0
    names = list(graph.names)
    for codes in np.ndindex(*[len(q[name]) for name in names]):
        chance = math.prod(q[name][c] for name, c in zip(names, codes, strict=True))
        if chance == 0:
            continue
        at = dict(zip(names, codes, strict=True))
        logs = sum(math.log(f.values[tuple(at[n] for n in f.names)]) for f in graph.factors)
        total += chance * (logs - math.log(chance))
    return total


def test_bound_is_that_of_the_answer_and_a_maximum() -> None:
    rng = np.random.default_rng(0)
    states = {"a": (0, 1, 2), "b": (0, 1), "c": (0, 1)}
    factors = [
        Factor(rng.random((3, 2)) + 0.2, {n: states[n] for n in "ab"}),
        Factor(rng.random((2, 2)) + 0.2, {n: states[n] for n in "bc"}),
        Factor(rng.random((2, 3)) + 0.2, {n: states[n] for n in "ca"}),
    ]
    graph = FactorGraph(factors)
    found = graph.marginals(engine=MeanField(random_state=0))
    q = {name: found[name].values for name in graph.names}
    assert found.diagnosis is not None
    bound = elbo(graph, q)
    assert found.diagnosis.bound == pytest.approx(bound, abs=1e-9)
    for name in graph.names:
        for _ in range(20):
            other = 0.99 * q[name] + 0.01 * rng.dirichlet(np.ones(len(q[name])))
            assert elbo(graph, {**q, name: other}) <= bound + 1e-9


def test_exact_where_variables_are_independent() -> None:
    network = BayesianNetwork().add("a", table=[0.2, 0.8]).add("b", table=[0.5, 0.5])
    found = network.marginals(likelihood={"a": [1.0, 0.5]}, engine=MeanField(random_state=0))
    np.testing.assert_allclose(found["a"].values, [1 / 3, 2 / 3], atol=1e-12)
    assert found.diagnosis is not None
    assert found.diagnosis.bound == pytest.approx(math.log(0.6))
    assert found.diagnosis.trusted


def test_ties_by_zeros_are_kept() -> None:
    # Two coins that agree are one block, in which the answer is exact.
    network = BayesianNetwork().add("a", table=[0.3, 0.7])
    network = network.add("b", ["a"], lambda a: a, states=["true", "false"])
    joint = network.query("a", "b", engine=MeanField(random_state=0))
    np.testing.assert_allclose(joint.values, [[0.3, 0.0], [0.0, 0.7]], atol=1e-12)


def test_starts_leave_the_saddle_between_two_modes() -> None:
    alike = Factor([[9.0, 1.0], [1.0, 9.0]], {"a": (0, 1), "b": (0, 1)})
    graph = FactorGraph([alike])
    one = graph.query("a", engine=MeanField(starts=1, random_state=0))
    several = graph.query("a", engine=MeanField(starts=4, random_state=0))
    assert one.values == pytest.approx([0.5, 0.5])
    assert several.diagnosis.bound > one.diagnosis.bound + 0.01
    assert several.diagnosis.bound <= math.log(20)


def test_strong_links_are_not_trusted() -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5])
    network = network.add("b", ["a"], [[0.99, 0.01], [0.01, 0.99]])
    found = network.query("a", engine=MeanField(random_state=0))
    assert not found.diagnosis.trusted
    assert "depend strongly" in found.diagnosis.sentence


def test_stopped_early_is_said() -> None:
    network = random_network(3, most=7, zeros=0.0, edges=0.8)
    found = network.marginals(engine=MeanField(max_iter=1, random_state=0))
    assert found.diagnosis is not None
    assert not found.diagnosis.trusted
    assert "did not settle after 1 rounds" in found.diagnosis.sentence
