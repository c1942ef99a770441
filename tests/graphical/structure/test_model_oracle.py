"""Independences asked of models: by their graphs, their tables, and by counterexamples."""

from __future__ import annotations

import itertools

import pytest

from novum.core.errors import InputError
from novum.distributions.independence import check_independence
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.factor_graph import FactorGraph
from novum.graphical.structure import independence_maps
from novum.graphical.structure.independence_maps import ModelOracle
from tests.strategies.networks import random_network


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("limit", ["kept", "asked"])
def test_answers_are_those_of_the_joint_table(
    seed: int, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if limit == "asked":
        monkeypatch.setattr(independence_maps, "MOST_KEPT", 0)
    network = random_network(seed, most=5)
    joint = network.query(*network.names)
    for model in (network, FactorGraph.of(network)):
        ask = ModelOracle(model)
        for a, b in itertools.combinations(network.names, 2):
            rest = [name for name in network.names if name not in (a, b)]
            for known in ((), tuple(rest[:1]), tuple(rest)):
                wanted = bool(check_independence(joint, a, b, given=known))
                assert ask((a,), (b,), known) == wanted


def long_chain(n: int) -> BayesianNetwork:
    network = BayesianNetwork().add("v0", table=[0.3, 0.7])
    for i in range(1, n):
        network = network.add(f"v{i}", parents=f"v{i - 1}", table=[[0.9, 0.1], [0.2, 0.8]])
    return network


def test_large_models_are_asked_by_their_graph_and_by_counterexamples() -> None:
    network = long_chain(40)
    ask = ModelOracle(network)
    names = network.names
    assert ask(names[:1], names[2:], names[1:2])
    assert not ask(names[:1], names[1:], ())
    assert not ask(names[:1], names[1:2], names[2:])
    assert ModelOracle(FactorGraph.of(network))(names[:1], names[2:], names[1:2])


def test_what_cannot_be_proved_is_refused() -> None:
    # The tables of the last node make it independent of its parent, which the graph does not say.
    network = long_chain(40).add("x", parents="v39", table=[[0.5, 0.5], [0.5, 0.5]])
    ask = ModelOracle(network)
    assert ask(("x",), ("v39",), ())
    with pytest.raises(InputError, match=r"cells; .* is the limit"):
        ask(("x",), network.names[:-1], ())
    undirected = ModelOracle(FactorGraph.of(network))
    with pytest.raises(InputError, match="Ask about fewer variables"):
        undirected(("x",), network.names[:-1], ())


def test_unknown_names_are_suggested() -> None:
    with pytest.raises(InputError, match="did you mean 'v1'"):
        ModelOracle(long_chain(2))(("v0",), ("v11",), ())
