"""Relevance: what is left out changes nothing, and what could change something is kept."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novum.graphical import Evidence, FactorGraph
from novum.graphical.inference.plain_junction import PlainJunctionTree
from novum.graphical.inference.potentials import ancestors_of, needed_factors, relevant_factors
from tests.graphical.textbook_networks import alarm, brute_posterior, random_network


def evidence(n: int, **codes: int) -> Evidence:
    found = np.full(n, -1)
    for name, code in codes.items():
        found[int(name[1:])] = code
    return Evidence(found)


def test_barren_and_separated_nodes_are_left_out() -> None:
    model = alarm().arrays
    nothing = evidence(5)
    assert ancestors_of(model, [2]).tolist() == [True, True, True, False, False]
    assert needed_factors(model, nothing) == []
    assert needed_factors(model, evidence(5, v3=0)) == [0, 1, 2, 3]
    # Without evidence a root depends on its own table alone.
    assert relevant_factors(model, nothing, [0]) == ([0], [])
    # The alarm known, a call says nothing about the burglary any more.
    assert relevant_factors(model, evidence(5, v2=0, v3=0), [0]) == ([0, 1, 2], [])
    assert relevant_factors(model, evidence(5, v2=0, v3=0), [4]) == ([4], [])
    assert relevant_factors(model, evidence(5, v0=0), [0]) == ([], [])


def test_likelihoods_are_kept_where_they_count() -> None:
    model = alarm().arrays
    soft = Evidence(np.full(5, -1), {3: np.array([1.0, 2.0])})
    assert relevant_factors(model, soft, [0]) == ([0, 1, 2, 3], [3])
    known = Evidence(np.array([-1, -1, 0, -1, -1]), soft.likelihoods)
    assert relevant_factors(model, known, [0]) == ([0, 1, 2], [])
    assert needed_factors(model, soft) == [0, 1, 2, 3]


def test_undirected_models_have_no_barren_factors() -> None:
    graph = FactorGraph.of(alarm())
    assert needed_factors(graph.arrays, evidence(5)) == [0, 1, 2, 3, 4]
    factors, _ = relevant_factors(graph.arrays, evidence(5, v2=0), [0])
    assert factors == [0, 1, 2]


@given(st.integers(0, 3000))
def test_answers_do_not_change_by_leaving_out(seed: int) -> None:
    network = random_network(seed, 6)
    rng = np.random.default_rng(seed)
    known = {name: network[name].variable.states[0] for name in network.names if rng.random() < 0.4}
    codes = np.array([0 if name in known else -1 for name in network.names])
    target = int(rng.integers(6))
    found = PlainJunctionTree().marginals(network.arrays, Evidence(codes), [target]).tables[0]
    wanted, _ = brute_posterior(network, network.names[target], known)
    assert np.allclose(found, wanted, rtol=1e-12)
