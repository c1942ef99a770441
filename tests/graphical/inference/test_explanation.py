"""Most probable configurations against the sorted list of all."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from novum.core.errors import InputError, MemoryLimitError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.inference.gibbs import Gibbs
from novum.graphical.inference.junction import JunctionTree
from novum.graphical.inference.within_limits import WithinLimits
from novum.graphical.models.bayesian_network import BayesianNetwork
from tests.graphical.inference.test_enumeration import joint_by_hand
from tests.strategies.networks import random_evidence, random_network, seeds


@given(seeds)
def test_the_k_best_are_the_first_of_the_sorted_list(seed: int) -> None:
    network = random_network(seed, most=5)
    known = random_evidence(network, seed)
    codes = {network.places[n]: int(s[1:]) for n, s in known.items()}
    agreeing = {
        c: p
        for c, p in joint_by_hand(network).items()
        if p > 0 and all(c[v] == s for v, s in codes.items())
    }
    if not agreeing:
        with pytest.raises(ImpossibleEvidence):
            network.most_probable(known)
        return
    k = 1 + seed % 6
    found = network.most_probable(known, k=k)
    found = [found] if k == 1 else found
    wanted = sorted(agreeing.values(), reverse=True)[:k]
    assert len(found) == len(wanted)
    np.testing.assert_allclose([one.probability for one in found], wanted, rtol=1e-11)
    assert len({tuple(one.items()) for one in found}) == len(found)
    for one in found:
        states = tuple(int(str(one[name])[1:]) for name in network.names)
        assert one.probability == pytest.approx(agreeing[states], rel=1e-11)

    # Maximum a posteriori over some variables, the others summed.
    rng = np.random.default_rng(seed)
    chosen = list(rng.permutation(len(network))[: rng.integers(1, len(network) + 1)])
    sums: dict[tuple[int, ...], float] = {}
    for configuration, p in agreeing.items():
        key = tuple(configuration[i] for i in chosen)
        sums[key] = sums.get(key, 0.0) + p
    best = network.most_probable(known, nodes=[network.names[i] for i in chosen])
    assert best.probability == pytest.approx(max(sums.values()), rel=1e-11)


def test_the_best_of_each_node_is_not_the_best_of_all() -> None:
    network = BayesianNetwork().add("a", table=[0.4, 0.6])
    network = network.add("b", ["a"], [[0.9, 0.1], [0.5, 0.5]])
    best = network.most_probable()
    assert dict(best) == {"a": "true", "b": "true"}
    assert best.log_probability == pytest.approx(math.log(0.36))
    assert network.marginals()["a"].mode == {"a": "false"}
    assert dict(network.most_probable(nodes=["a"])) == {"a": "false"}


@pytest.mark.slow
def test_long_chains_are_decoded() -> None:
    network = BayesianNetwork().add("x0", table=[0.9, 0.1])
    for i in range(1, 3000):
        network = network.add(f"x{i}", [f"x{i - 1}"], [[0.99, 0.01], [0.02, 0.98]])
    best = network.most_probable({"x2999": "false"})
    # One change somewhere: staying false is cheaper than staying true, so it comes first of all
    # but the start, which prefers true by far less than it costs.
    assert best["x2999"] == "false"
    assert best.log_probability < -30


def test_wrong_k() -> None:
    with pytest.raises(InputError, match="at least 1"):
        BayesianNetwork().add("a", table=[0.4, 0.6]).most_probable(k=0)


def test_engines_that_are_not_exact_are_refused() -> None:
    network = BayesianNetwork().add("a", table=[0.4, 0.6])
    for engine, name in ((Gibbs(), "Gibbs"), (WithinLimits(memory_limit=1), "WithinLimits")):
        for k, nodes in ((1, None), (2, None), (1, ["a"])):
            with pytest.raises(InputError, match=f"exactly or not at all, and {name} is no exact"):
                network.most_probable(k=k, nodes=nodes, engine=engine)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="and 'junction' is no exact engine"):
        network.most_probable(engine="junction")  # type: ignore[arg-type]


def test_beyond_the_memory_no_approximation_is_advised() -> None:
    network = BayesianNetwork().add("a", table=[0.4, 0.6])
    for nodes in (None, ["a"]):
        with pytest.raises(MemoryLimitError) as caught:
            network.most_probable(nodes=nodes, engine=JunctionTree(memory_limit=1))
        assert str(caught.value).endswith("Observe more variables.")
