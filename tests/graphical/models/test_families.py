"""Families: nodes with their parents, from one propagation."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical import (
    BayesianNetwork,
    Enumeration,
    JunctionTree,
    LikelihoodWeighting,
    PlainJunctionTree,
    VariableElimination,
    noisy_or,
)
from tests.graphical.textbook_networks import alarm, random_network


def test_families_of_the_alarm_are_what_queries_say() -> None:
    network = alarm()
    given = {"JohnCalls": "true", "Earthquake": "false"}
    for engine in (None, PlainJunctionTree(), VariableElimination(), Enumeration()):
        found = network.families(given=given, engine=engine)
        assert tuple(found) == network.names
        for name, table in found.items():
            parents = [parent.name for parent in network[name].parents]
            assert table.names == (*parents, name)
            asked = network.query(*parents, name, given=given)
            assert np.allclose(table.values, asked.values, rtol=0, atol=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_families_equal_enumeration_on_random_networks(seed: int) -> None:
    network = random_network(seed, n=9)
    rng = np.random.default_rng(seed)
    row = network.sample(1, random_state=seed).to_pylist()[0]
    seen = {name: row[name] for name in rng.choice(network.names, 2, replace=False)}
    weighed = next(name for name in network.names if name not in seen)
    weights = {weighed: rng.uniform(0.1, 2.0, len(network[weighed].variable.states))}
    expected = network.families(given=seen, likelihood=weights, engine=Enumeration())
    for engine in (JunctionTree(), PlainJunctionTree()):
        found = network.families(given=seen, likelihood=weights, engine=engine)
        for name in network.names:
            assert np.allclose(found[name].values, expected[name].values, rtol=0, atol=1e-12)
            assert float(found[name].values.sum()) == pytest.approx(1.0, abs=1e-12)


def test_compact_nodes_and_cut_ones_are_families_too() -> None:
    network = BayesianNetwork()
    for i in range(6):
        network = network.add(f"cause{i}", table=[0.1 * (i + 1), 1 - 0.1 * (i + 1)])
    causes = [f"cause{i}" for i in range(6)]
    network = network.add("effect", parents=causes, table=noisy_or([0.8] * 6, leak=0.1))
    seen = {"cause0": "true"}
    found = network.families(given=seen)
    assert found["effect"].names == (*causes, "effect")
    expected = network.query(*causes, "effect", given=seen, engine=Enumeration()).values
    assert np.allclose(found["effect"].values, expected, rtol=0, atol=1e-13)
    after = network.families("effect", do={"effect": "true"})["effect"]
    prior = network.query(*causes).values
    assert np.allclose(after.values[..., 0], prior, rtol=0, atol=1e-13)


def test_what_cannot_be_answered_is_said() -> None:
    network = alarm().add("Siren", parents="Alarm", table=lambda a: a, states=["true", "false"])
    with pytest.raises(ImpossibleEvidence, match="'Alarm' = 'false', 'Siren' = 'true'"):
        network.families(given={"Alarm": "false", "Siren": "true"})
    with pytest.raises(InputError, match="exact engines such as JunctionTree"):
        network.families(engine=LikelihoodWeighting())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="did you mean 'Alarm'"):
        network.families("Alram")
