"""Metropolis-Hastings: stated errors, the trap of flipping coins, undirected models."""

from __future__ import annotations

import numpy as np
import pytest

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.factor import Factor
from novum.graphical.inference.chain_layout import ChainLayout
from novum.graphical.inference.gibbs import Gibbs, MetropolisHastings
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.factor_graph import FactorGraph
from tests.graphical.lattices import ising_grid
from tests.strategies.networks import random_evidence, random_network
from tests.strategies.stated_errors import check_stated_errors, sprinkler


@pytest.mark.parametrize("asked", [("rain",), ("rain", "cloudy")], ids=["one", "joint"])
def test_errors_are_as_stated(asked: tuple[str, ...]) -> None:
    def engine(seed: int) -> MetropolisHastings:
        return MetropolisHastings(2000, 200, chains=4, random_state=seed)

    check_stated_errors(sprinkler(), engine, {"wet": "true"}, asked, n_runs=150)


def test_fair_coins_do_not_flip_in_step() -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5]).add("b", table=[0.5, 0.5])
    network = network.add("c", ["a", "b"], [[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]])
    found = network.query("a", "b", given={"c": "true"}, engine=MetropolisHastings(random_state=0))
    assert (np.abs(found.values - 0.25) <= 5 * found.errors).all()


@pytest.mark.parametrize("seed", range(8))
def test_trusted_answers_are_right(seed: int) -> None:
    network = random_network(seed, most=5, zeros=0.4)
    known = random_evidence(network, seed)
    engine = MetropolisHastings(8000, 500, random_state=seed)
    try:
        exact = network.marginals(known)
    except ImpossibleEvidence:
        return
    found = network.marginals(known, engine=engine)
    for name in network.names:
        gap = np.abs(found[name].values - exact[name].values)
        assert not found.diagnosis.trusted or (gap <= 6 * found[name].errors + 1e-9).all(), name


def test_says_how_often_it_moved() -> None:
    found = sprinkler().query("rain", engine=MetropolisHastings(1000, 100, random_state=0))
    assert "% of the updates moved" in found.diagnosis.sentence
    assert found.diagnosis.iterations == 4000
    assert found.diagnosis.r_hat < 1.05


def test_undirected_models() -> None:
    graph = FactorGraph(
        [
            Factor([[2.0, 1.0], [1.0, 3.0]], {"a": (0, 1), "b": (0, 1)}),
            Factor([[1.0, 2.0], [4.0, 1.0]], {"b": (0, 1), "c": (0, 1)}),
            Factor([[1.0, 1.5], [2.0, 1.0]], {"c": (0, 1), "a": (0, 1)}),
        ]
    )
    found = graph.marginals(engine=MetropolisHastings(random_state=1))
    exact = graph.marginals()
    for name in graph.names:
        assert (np.abs(found[name].values - exact[name].values) <= 5 * found[name].errors).all()


def test_chains_that_stand_still_are_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ChainLayout, "can_jump", property(lambda _: False))
    graph = ising_grid(6, 1.2)
    for seed in range(3):
        found = graph.query("x35", engine=MetropolisHastings(random_state=seed))
        assert not found.diagnosis.trusted
        assert "of the updates changed anything" in found.diagnosis.sentence


def test_rare_moves_of_independent_variables_are_no_fault() -> None:
    fields = [Factor([1.0, 2000.0], {f"x{i}": (0, 1)}) for i in range(3)]
    found = FactorGraph(fields).query("x0", engine=MetropolisHastings(random_state=0))
    assert found.diagnosis.trusted
    assert "0% of the updates moved" in found.diagnosis.sentence
    # Probabilities given all others are counted, which here are the answer.
    assert found.values[0] == pytest.approx(1 / 2001, abs=1e-15)


def rare_side() -> FactorGraph:
    """Two variables of four states that agree mostly, one of them rare."""
    agree = 1.0 + 14.0 * np.eye(4)
    states = {"a": range(4), "b": range(4)}
    return FactorGraph([Factor([1.0, 1.0, 1.0, 2e-3], {"a": range(4)}), Factor(agree, states)])


def test_rare_states_lie_within_the_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ChainLayout, "can_jump", property(lambda _: False))
    graph = rare_side()
    exact, both = graph.query("a").values, graph.query("a", "b").values
    for seed in range(20):
        engine = MetropolisHastings(1000, 100, block_cells=1, random_state=seed)
        found, joint = graph.query("a", engine=engine), graph.query("a", "b", engine=engine)
        assert (np.abs(found.values - exact) <= 4 * found.errors).all()
        assert (np.abs(joint.values - both) <= 4 * joint.errors).all()
        # Of four states each is offered in one of four sweeps.
        assert (joint.errors >= np.sqrt(2) * 7 / 3600).all()


@pytest.mark.slow
@pytest.mark.parametrize("n_asked", [1, 2])
@pytest.mark.parametrize("engine", [Gibbs, MetropolisHastings])
def test_errors_are_seldom_exceeded_in_a_population(engine, n_asked: int) -> None:
    scores = []
    for seed in range(400):
        network = random_network(seed, most=9, zeros=0.1)
        known = random_evidence(network, seed)
        free = [name for name in network.names if name not in known][:n_asked]
        if not free:
            continue
        try:
            exact = network.query(*free, given=known)
        except ImpossibleEvidence:
            continue
        found = network.query(*free, given=known, engine=engine(random_state=seed))
        gap = np.abs(found.values - exact.values)
        scores += (gap / np.maximum(found.errors, 1e-12)).ravel().tolist()
    assert len(scores) > 700
    # Of a normal law 0.05 are beyond two errors and 0.00006 beyond four.
    assert np.mean(np.array(scores) > 2) < 0.06
    assert np.mean(np.array(scores) > 4) < 0.002
