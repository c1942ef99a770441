"""Enumeration against sums written out by hand; the other exact engines against enumeration."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from novum.core.errors import MemoryLimitError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.inference.plain_junction import PlainJunctionTree, VariableElimination
from novum.graphical.models.bayesian_network import BayesianNetwork
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds

OTHERS = [VariableElimination(), PlainJunctionTree()]


def joint_by_hand(network: BayesianNetwork) -> dict[tuple[int, ...], float]:
    """Every configuration and its probability, as a product of cells."""
    sizes = [range(len(axis.states)) for axis in network.variables]
    found = {}
    for codes in itertools.product(*sizes):
        cells = (
            item.table[(*(codes[network.places[p.name]] for p in item.parents), codes[i])]
            for i, item in enumerate(network.conditionals)
        )
        found[codes] = math.prod(float(cell) for cell in cells)
    return found


@given(seeds)
def test_equals_sums_over_configurations(seed: int) -> None:
    network = random_network(seed, most=5)
    known = random_evidence(network, seed)
    joint = joint_by_hand(network)
    codes = {network.places[n]: int(s[1:]) for n, s in known.items()}
    agreeing = {c: p for c, p in joint.items() if all(c[v] == s for v, s in codes.items())}
    total = math.fsum(agreeing.values())
    engine = Enumeration()
    if total == 0:
        assert network.log_evidence(known, engine=engine) == -math.inf
        with pytest.raises(ImpossibleEvidence, match="probability 0"):
            network.marginals(known, engine=engine)
        return
    assert network.log_evidence(known, engine=engine) == pytest.approx(math.log(total), abs=1e-12)
    found = network.marginals(known, engine=engine)
    for place, axis in enumerate(network.variables):
        wanted = np.zeros(len(axis.states))
        for configuration, p in agreeing.items():
            wanted[configuration[place]] += p / total
        np.testing.assert_allclose(found[axis.name].values, wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("engine", OTHERS, ids=lambda engine: type(engine).__name__)
@given(seeds)
@settings(max_examples=120, deadline=None)
def test_exact_engines_agree(engine: Any, seed: int) -> None:
    network = random_network(seed)
    known = random_evidence(network, seed)
    weights = random_likelihood(network, seed, known)
    rng = np.random.default_rng(seed)
    asked = [network.names[i] for i in rng.permutation(len(network))[: rng.integers(1, 4)]]

    def answers(chosen: Any) -> tuple[np.ndarray, np.ndarray, float] | None:
        log = network.log_evidence(known, weights, engine=chosen)
        try:
            joint = network.query(*asked, given=known, likelihood=weights, engine=chosen)
            found = network.marginals(known, weights, engine=chosen)
        except ImpossibleEvidence:
            assert log == -math.inf
            return None
        tables = [found[name].values for name in network.names]
        return joint.values, np.concatenate(tables), log

    wanted, got = answers(Enumeration()), answers(engine)
    if wanted is None or got is None:
        assert wanted is got is None
        return
    for a, b in zip(wanted, got, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


def test_large_models_are_refused_before_a_table_is_made() -> None:
    network = BayesianNetwork()
    for i in range(40):
        network = network.add(f"v{i}", table=[0.5, 0.5])
    with pytest.raises(MemoryLimitError, match="1099511627776 cells"):
        network.query("v0", engine=Enumeration())
