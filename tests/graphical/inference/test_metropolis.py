"""Metropolis-Hastings: stated errors, the trap of flipping coins, undirected models."""

from __future__ import annotations

import numpy as np
import pytest

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.factor import Factor
from novum.graphical.inference.chain_layout import ChainLayout
from novum.graphical.inference.gibbs import MetropolisHastings
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
    assert abs(found.values[0] - 1 / 2001) <= 5 * found.errors[0]
