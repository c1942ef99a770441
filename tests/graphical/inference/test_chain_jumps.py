"""Jumps: they keep the posterior, and reach what single updates do not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from novum.graphical.factor import Factor
from novum.graphical.inference.blocks import blocks_of, determined
from novum.graphical.inference.chain_jumps_kernels import jump
from novum.graphical.inference.chain_layout import chain_layout
from novum.graphical.inference.gibbs import Gibbs
from novum.graphical.inference.metropolis import MetropolisHastings
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.factor_graph import FactorGraph
from novum.graphical.models.questions import evidence_of
from tests.strategies.stated_errors import sprinkler

STIFF = [[0.9999, 0.0001], [0.0001, 0.9999]]


def stiff_network(n: int = 10) -> BayesianNetwork:
    network = BayesianNetwork().add("x0", table=[0.3, 0.7])
    for i in range(1, n):
        network = network.add(f"x{i}", [f"x{i - 1}"], STIFF)
    return network


def test_jumps_alone_have_the_posterior_as_their_limit() -> None:
    network = sprinkler()
    known = evidence_of(network, {"wet": "true"}, {"cloudy": [0.2, 0.9]})
    left, _ = determined(network.arrays, known)
    blocks = blocks_of(left, 1)
    layout = chain_layout(network.arrays, blocks)
    cells = layout.working[0]
    cards, drawn, weighing, radixes, keys, codes, found = layout.jumping
    arguments = cards, blocks.cell_starts, *layout.sweeping[6:15], drawn, weighing, radixes, keys
    counts, accepted, n = np.zeros(2), 0, 20_000
    for number in range(n):
        accepted += jump(*arguments, np.uint64(5), np.uint64(number), cells, codes, found)
        counts[cells[0]] += 1
    exact = network.query("cloudy", given={"wet": "true"}, likelihood={"cloudy": [0.2, 0.9]})
    # At least half of the jumps are accepted, so ten rows hold more than one independent one.
    assert accepted > n / 2
    error = np.sqrt(exact.values[0] * exact.values[1] / (n / 10))
    assert abs(counts[0] / n - exact.values[0]) < stats.norm.isf(5e-7) * error


@pytest.mark.parametrize("engine", [Gibbs, MetropolisHastings])
def test_a_stiff_network_is_right_without_blocks(engine) -> None:
    network = stiff_network()
    found = network.marginals(engine=engine(8000, 500, block_cells=1, random_state=1))
    assert found.diagnosis.trusted
    exact = network.marginals()
    for name in network.names:
        gap = np.abs(found[name].values - exact[name].values)
        assert (gap <= 5 * found[name].errors).all(), name


def test_the_same_model_without_directions_is_not_trusted() -> None:
    pairs = [Factor(STIFF, {f"x{i}": (0, 1), f"x{i + 1}": (0, 1)}) for i in range(9)]
    graph = FactorGraph([Factor([0.3, 0.7], {"x0": (0, 1)}), *pairs])
    found = graph.query("x9", engine=Gibbs(block_cells=1, random_state=0))
    assert not found.diagnosis.trusted
    assert "can keep all chains away from the same states" in found.diagnosis.sentence
    assert "0 jumps were accepted" in found.diagnosis.sentence


def test_evidence_that_no_jump_meets_is_not_trusted() -> None:
    network = stiff_network(8)
    for i in range(8):
        network = network.add(f"y{i}", [f"x{i}"], [[1e-4, 1 - 1e-4], [2e-4, 1 - 2e-4]])
        network = network.add(f"z{i}", [f"y{i}"], [[0.99, 0.01], [1e-5, 1 - 1e-5]])
    known = {f"z{i}": "true" for i in range(8)}
    found = network.query("x0", given=known, engine=Gibbs(block_cells=1, random_state=0))
    assert not found.diagnosis.trusted
    assert "jumps were accepted" in found.diagnosis.sentence


def test_no_error_is_stated_below_what_jumps_can_show() -> None:
    engine = Gibbs(2000, 500, chains=4, block_cells=1, random_state=0)
    found = stiff_network().query("x9", engine=engine)
    # All of the jumps are accepted without evidence: one sweep in eight begins with one.
    assert (found.errors >= np.sqrt(2) / 752).all()
