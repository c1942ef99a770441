"""Mean field: its bound, its fixed point, and what it cannot know."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.factor import Factor
from novum.graphical.inference.blocks import blocks_of, determined
from novum.graphical.inference.mean_field import MeanField, largest_error
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.factor_graph import FactorGraph
from tests.graphical.lattices import ising_grid
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds


@given(seeds)
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
    assert "depend on each other" in found.diagnosis.sentence
    assert "starts ended at probabilities that differ by up to 0.5" in found.diagnosis.sentence


@pytest.mark.parametrize("strength", [0.2, 0.6, 1.2])
def test_links_that_add_up_are_not_trusted(strength: float) -> None:
    # Each link is moderate; together they let all variables take sides.
    graph = ising_grid(5, strength)
    found, exact = graph.query("x24", engine=MeanField(random_state=0)), graph.query("x24")
    assert not found.diagnosis.trusted
    assert "taken as independent" in found.diagnosis.sentence
    if strength > 0.5:
        assert abs(found.values[0] - exact.values[0]) > 0.3
    # Starts may all have ended on the same side.
    assert ("the error is not known" in found.diagnosis.sentence) == (strength != 0.6)


def weakly_linked(seed: int) -> FactorGraph:
    """Two to four variables with links of all kinds, some too strong for a bound, and fields."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    states = {f"x{i}": tuple(range(rng.integers(2, 4))) for i in range(n)}
    names = list(states)
    scopes = [names[i : i + 2] for i in range(n - 1)] + [names[:3]] * (n > 2) + [[v] for v in names]
    strength = rng.choice([0.02, 0.05, 0.2])
    factors = []
    for scope in scopes:
        shape = [len(states[v]) for v in scope]
        scale = {1: 2.0, 2: strength, 3: 0.1 * strength}[len(scope)]
        signs = rng.choice([-1.0, 1.0], size=shape) if len(scope) > 1 else rng.normal(size=shape)
        factors.append(Factor(np.exp(scale * signs), {v: states[v] for v in scope}))
    return FactorGraph(factors)


@given(seeds)
def test_errors_are_below_their_bound(seed: int) -> None:
    graph = weakly_linked(seed)
    left, _ = determined(graph.arrays, Evidence.none(len(graph.names)))
    bound = largest_error(blocks_of(left, 1))
    found = graph.marginals(engine=MeanField(tol=1e-14, random_state=seed))
    exact = graph.marginals()
    assert found.diagnosis is not None
    assert found.diagnosis.trusted == (bound <= 0.05)
    for name in graph.names:
        assert np.abs(found[name].values - exact[name].values).max() <= bound + 1e-7
    if 0 < bound <= 0.05:
        said = float(found.diagnosis.sentence.split("more than ")[1].rstrip("."))
        assert bound <= said <= bound + 0.001


def test_no_bound_of_the_error_where_links_add_up() -> None:
    left, _ = determined(ising_grid(3, 0.3).arrays, Evidence.none(9))
    assert largest_error(blocks_of(left, 1)) == math.inf
    # One link with h = log(ratio) / 2 = 0.1 at each of two variables: 2 h^2 / (1 - h).
    pair = FactorGraph([Factor(np.exp([[0.2, 0.0], [0.0, 0.2]]), {"a": (0, 1), "b": (0, 1)})])
    left, _ = determined(pair.arrays, Evidence.none(2))
    assert largest_error(blocks_of(left, 1)) == pytest.approx(0.02 / 0.9)


def test_stopped_early_is_said() -> None:
    network = random_network(3, most=7, zeros=0.0, edges=0.8)
    found = network.marginals(engine=MeanField(max_iter=1, random_state=0))
    assert found.diagnosis is not None
    assert not found.diagnosis.trusted
    assert "did not settle after 1 rounds" in found.diagnosis.sentence
