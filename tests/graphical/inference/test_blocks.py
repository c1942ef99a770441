"""Blocks: positive between, all possible states inside, and refused where too large."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.inference.blocks import MixingError, blocks_of, determined
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.questions import evidence_of
from tests.graphical.lattices import ising_grid
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds


@given(seeds)
def test_product_over_blocks_is_the_joint(seed: int) -> None:
    network = random_network(seed, most=5, zeros=0.7)
    known = random_evidence(network, seed)
    evidence = evidence_of(network, known, random_likelihood(network, seed, known))
    wanted = Enumeration().log_evidence(network.arrays, evidence)
    try:
        left, settled = determined(network.arrays, evidence)
        blocks = blocks_of(left, 1 + seed % 12)
    except ImpossibleEvidence:
        assert wanted == -math.inf
        return
    total = 0.0
    for cells in np.ndindex(*[len(states) for states in blocks.states]):
        places = left.table_starts[:-1].copy()
        value = 1.0
        for block, cell in enumerate(cells):
            value *= blocks.inside[blocks.cell_starts[block] + cell]
            for link in range(blocks.link_starts[block], blocks.link_starts[block + 1]):
                places[blocks.link_factors[link]] += blocks.deltas[blocks.delta_starts[link] + cell]
        for factor in set(blocks.link_factors.tolist()):
            # What lies between blocks has no zero, so every combination is possible.
            assert left.tables[places[factor]] > 0
            value *= left.tables[places[factor]]
        assert value > 0
        total += value
    assert math.log(total) + blocks.log_constant == pytest.approx(wanted, abs=1e-10)
    exact = Enumeration().marginals(network.arrays, evidence).tables
    for variable in np.flatnonzero(settled.codes != evidence.codes):
        assert exact[variable][settled.codes[variable]] == pytest.approx(1.0)


def chain(n: int, strength: float) -> BayesianNetwork:
    network = BayesianNetwork().add("v0", table=[0.5, 0.5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(1, n):
            low = 1 - strength
            network = network.add(f"v{i}", [f"v{i - 1}"], [[strength, low], [low, strength]])
    return network


def test_strong_links_are_joined_while_small() -> None:
    model = chain(6, 0.99).arrays
    left, _ = determined(model, Evidence.none(6))
    assert blocks_of(left, 1).n_blocks == 6
    assert blocks_of(left, 8).n_blocks == 2
    assert blocks_of(left, 64).n_blocks == 1
    weak = determined(chain(6, 0.9).arrays, Evidence.none(6))[0]
    assert blocks_of(weak, 64).n_blocks == 6


def test_copies_add_no_states() -> None:
    # Thirty copies of one coin have two joint states, not a thousand million.
    blocks = blocks_of(determined(chain(30, 1.0).arrays, Evidence.none(30))[0], 1)
    assert blocks.n_blocks == 1
    assert [len(states) for states in blocks.states] == [2]


def test_too_many_tied_variables_are_refused() -> None:
    network = BayesianNetwork()
    for i in range(16):
        network = network.add(f"v{i}", table=[0.5, 0.5])
    parity = lambda *bits: "even" if sum(b == "true" for b in bits) % 2 == 0 else "odd"  # noqa: E731
    network = network.add("sum", [f"v{i}" for i in range(16)], parity, states=["even", "odd"])
    left, _ = determined(network.arrays, evidence_of(network, {"sum": "even"}))
    with pytest.raises(MixingError, match="tie 16 variables together"):
        blocks_of(left, 32)


def test_parity_of_three_needs_one_block() -> None:
    network = BayesianNetwork()
    for i in range(3):
        network = network.add(f"v{i}", table=[0.4, 0.6])
    parity = lambda *bits: "even" if sum(b == "true" for b in bits) % 2 == 0 else "odd"  # noqa: E731
    network = network.add("sum", ["v0", "v1", "v2"], parity, states=["even", "odd"])
    left, _ = determined(network.arrays, evidence_of(network, {"sum": "even"}))
    blocks = blocks_of(left, 1)
    assert blocks.n_blocks == 1
    assert len(blocks.states[0]) == 4


def test_influence_of_a_grid() -> None:
    left, _ = determined(ising_grid(4, 0.3).arrays, Evidence.none(16))
    blocks = blocks_of(left, 1)
    assert blocks.strongest == pytest.approx(math.exp(0.6))
    assert blocks.influence() == pytest.approx(4 * math.tanh(0.3))


@given(seeds)
def test_influence_bounds_what_a_neighbor_can_change(seed: int) -> None:
    network = random_network(seed, most=5, zeros=0.0)
    left, _ = determined(network.arrays, evidence_of(network, {}))
    blocks = blocks_of(left, 1)
    joint = np.ones(left.cards)
    for f in range(left.n_factors):
        scope = left.scope(f)
        order = np.argsort(scope)
        shape = [left.cards[v] if v in scope else 1 for v in range(left.n_variables)]
        joint = joint * np.transpose(left.table(f), order).reshape(shape)
    sums = np.zeros(left.n_variables)
    for one in range(left.n_variables):
        rows = joint / joint.sum(axis=one, keepdims=True)
        for other in set(range(left.n_variables)) - {one}:
            moved = np.abs(
                np.expand_dims(rows, -1) - np.expand_dims(np.moveaxis(rows, other, -1), other)
            )
            sums[one] += moved.sum(axis=one).max() / 2
    assert blocks.influence() >= sums.max() - 1e-12
