"""Junction tree propagation in NumPy: against enumeration, and where products underflow."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import MemoryLimitError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.distributions.joint_table_states import StateAxis
from novum.graphical import (
    BayesianNetwork,
    Enumeration,
    Factor,
    FactorGraph,
    PlainJunctionTree,
    Tabular,
    VariableElimination,
)
from tests.graphical.textbook_networks import random_network

PLAIN = PlainJunctionTree()


@given(st.integers(0, 5000), st.booleans())
def test_posteriors_equal_enumeration(seed: int, zeros: bool) -> None:
    network = random_network(seed, 6, zeros)
    rng = np.random.default_rng(seed)
    known = {
        name: rng.choice(network[name].variable.states).item()
        for name in network.names
        if rng.random() < 0.4
    }
    soft = {
        name: rng.random(len(network[name].variable.states)) + 0.01
        for name in network.names
        if name not in known and rng.random() < 0.3
    }
    try:
        wanted = network.marginals(known, soft, engine=Enumeration())
    except ImpossibleEvidence:
        with pytest.raises(ImpossibleEvidence):
            network.marginals(known, soft, engine=PLAIN)
        assert network.log_evidence(known, soft, engine=PLAIN) == -math.inf
        return
    found = network.marginals(known, soft, engine=PLAIN)
    for name in network.names:
        assert np.allclose(found[name].values, wanted[name].values, rtol=1e-11, atol=1e-15)
    assert found.log_evidence == pytest.approx(wanted.log_evidence, rel=1e-10, abs=1e-12)
    log = network.log_evidence(known, soft, engine=PLAIN)
    assert log == pytest.approx(found.log_evidence, rel=1e-10, abs=1e-12)
    asked = rng.permutation(network.names)[:3].tolist()
    mine = network.query(*asked, given=known, likelihood=soft, engine=PLAIN)
    theirs = network.query(*asked, given=known, likelihood=soft, engine=Enumeration())
    assert np.allclose(mine.values, theirs.values, rtol=1e-11, atol=1e-15)


def hub(n: int) -> BayesianNetwork:
    """A class and n features of it: half speak for the one state, half for the other."""
    root = StateAxis("r", ("a", "b"))
    tables = [[[0.03, 0.97], [0.04, 0.96]], [[0.04, 0.96], [0.03, 0.97]]]
    return BayesianNetwork(
        [
            Tabular(root, (), [0.25, 0.75]),
            *(
                Tabular(StateAxis(f"k{i}", ("x", "y")), (root,), tables[2 * i // n])
                for i in range(n)
            ),
        ]
    )


@pytest.mark.parametrize("engine", [PLAIN, VariableElimination()])
def test_a_thousand_findings_at_one_clique_do_not_underflow(engine: PlainJunctionTree) -> None:
    n = 1000
    network = hub(n)
    known = {f"k{i}": "x" for i in range(n)}
    # The findings speak for both sides alike, so the prior is left; their product is 1e-1460.
    assert np.allclose(network.query("r", given=known, engine=engine).values, [0.25, 0.75])
    wanted = n / 2 * (math.log(0.03) + math.log(0.04))
    assert network.log_evidence(known, engine=engine) == pytest.approx(wanted, rel=1e-12)
    del known["k0"]
    posterior = network.query("r", given=known, engine=engine).values
    assert posterior[0] == pytest.approx(0.25 / 0.03 / (0.25 / 0.03 + 0.75 / 0.04), rel=1e-9)


def test_a_thousand_messages_at_one_clique_do_not_underflow() -> None:
    n = 1000
    network = hub(n)
    leaves = [
        Tabular(StateAxis(f"g{i}", ("x", "y")), (item.variable,), [[0.999, 0.001], [0.001, 0.999]])
        for i, item in enumerate(network.conditionals[1:])
    ]
    deeper = BayesianNetwork([*network.conditionals, *leaves])
    known = {f"g{i}": "x" for i in range(n)}
    found = deeper.marginals(known, engine=PLAIN)
    assert np.allclose(found["r"].values, [0.25, 0.75], rtol=1e-9)
    # Posterior of a feature by hand: over the two states of the class, whose odds without the
    # feature's own finding are those of the prior over its likelihoods.
    seen = [p * 0.999 + (1 - p) * 0.001 for p in (0.03, 0.04)]
    weights = [0.25 / seen[0], 0.75 / seen[1]]
    on = sum(w * p * 0.999 for w, p in zip(weights, (0.03, 0.04), strict=True))
    whole = sum(w * s for w, s in zip(weights, seen, strict=True))
    assert found["k0"].values[0] == pytest.approx(on / whole, rel=1e-9)


def test_tables_beyond_the_memory_are_refused_before_they_are_made() -> None:
    rng = np.random.default_rng(0)
    names = [f"v{i}" for i in range(40)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    graph = FactorGraph(Factor(rng.random((2, 2)), {a: (0, 1), b: (0, 1)}) for a, b in pairs)
    with pytest.raises(MemoryLimitError, match="cliques of up to 40 variables"):
        graph.marginals(engine=PLAIN)
    small = PlainJunctionTree(memory_limit=100)
    with pytest.raises(MemoryLimitError, match="WithinLimits"):
        FactorGraph([Factor(rng.random((8, 8)), {"a": range(8), "b": range(8)})]).query(
            "a", engine=small
        )


def test_isolated_nodes_and_separate_parts() -> None:
    network = BayesianNetwork()
    for i in range(4):
        network = network.add(f"n{i}", table=[0.1 * (i + 1), 1 - 0.1 * (i + 1)])
    found = network.query("n0", "n3", engine=PLAIN).values
    assert np.allclose(found, np.outer([0.1, 0.9], [0.4, 0.6]))
    assert network.log_evidence({"n1": "true", "n2": "true"}, engine=PLAIN) == pytest.approx(
        math.log(0.2 * 0.3)
    )
    assert BayesianNetwork().marginals(engine=PLAIN).log_evidence == 0.0
