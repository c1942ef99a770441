"""Starts of chains: local maxima, opposite ones, and what is missed of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.factor import Factor
from novum.graphical.inference.blocks import Blocks, blocks_of, determined
from novum.graphical.inference.chain_layout import Starts, chain_layout, chain_starts
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.factor_graph import FactorGraph
from novum.graphical.models.questions import evidence_of
from tests.graphical.inference.test_chain_layout import states_of, weight_of
from tests.graphical.lattices import ising_grid, potts_grid
from tests.strategies.networks import random_evidence, random_network, seeds

KEYS = np.arange(4, dtype=np.uint64)


def started(graph: FactorGraph, block_cells: int = 1) -> tuple[Blocks, Starts]:
    left, _ = determined(graph.arrays, Evidence.none(len(graph.names)))
    blocks = blocks_of(left, block_cells)
    return blocks, chain_starts(blocks, chain_layout(blocks), KEYS)


@given(seeds)
def test_no_block_can_gain_alone_at_a_maximum(seed: int) -> None:
    network = random_network(seed, most=6, zeros=0.3)
    known = evidence_of(network, random_evidence(network, seed))
    try:
        blocks = blocks_of(determined(network.arrays, known)[0], 1 + seed % 8)
    except ImpossibleEvidence:
        return
    if blocks.n_blocks < 2:
        return
    starts = chain_starts(blocks, chain_layout(blocks), KEYS)
    heights = [weight_of(blocks, states_of(blocks, cells)) for cells in starts.cells[:2]]
    for cells, height in list(zip(starts.cells, heights, strict=False))[: 1 + (starts.drop < 30)]:
        for block, states in enumerate(blocks.states):
            for cell in range(len(states)):
                other = cells.copy()
                other[block] = cell
                assert weight_of(blocks, states_of(blocks, other)) <= height * (1 + 1e-8)
    if starts.drop < 30:
        assert abs(np.log(heights[0] / heights[1])) == pytest.approx(starts.drop, abs=1e-9)


def test_opposite_maxima_of_grids() -> None:
    blocks, starts = started(ising_grid(5, 0.6))
    grown, opposed = (states_of(blocks, cells) for cells in starts.cells[:2])
    assert grown.tolist() == [1] * 25
    assert opposed.tolist() == [0] * 25
    # All but the field of the first variable is alike.
    assert starts.drop == pytest.approx(np.log(1.5))
    # Neighbors that avoid each other: the two colorings of a chess board.
    blocks, starts = started(ising_grid(5, -0.6))
    grown, opposed = (states_of(blocks, cells) for cells in starts.cells[:2])
    places = np.array([int(name[1:]) for name in ising_grid(5, -0.6).names])
    np.testing.assert_array_equal(grown, 1 - places % 2)
    assert (grown + opposed == 1).all()


def test_opposites_of_several_states_and_of_blocks() -> None:
    blocks, starts = started(potts_grid(4, 1.0, 3))
    grown, opposed = (states_of(blocks, cells) for cells in starts.cells[:2])
    assert grown.tolist() == [2] * 16
    assert opposed.tolist() == [0] * 16
    blocks, starts = started(ising_grid(4, 1.6), block_cells=8)
    assert blocks.n_blocks < 8
    grown, opposed = (states_of(blocks, cells) for cells in starts.cells[:2])
    assert (grown + opposed == 1).all()


def test_a_maximum_far_below_is_no_start() -> None:
    grid = ising_grid(4, 0.8)
    fields = [Factor([1.0, 10.0], {name: (0, 1)}) for name in grid.names]
    _, starts = started(FactorGraph([*grid.factors, *fields]))
    assert starts.drop > 30
    assert 0 < starts.cells[1].sum() < 16


def test_share_missed() -> None:
    blocks, starts = started(ising_grid(4, 0.8))
    batches = np.zeros((2, 10, 32))
    batches[:, :, 1::2] = 1.0
    # The other side is lower by a factor of 1.5.
    assert starts.share_missed(blocks, batches) == pytest.approx(0.4)
    batches[1, 0] = batches[1, 0, ::-1]
    assert starts.share_missed(blocks, batches) == 0.0
    assert Starts(starts.cells, 6.0).share_missed(blocks, np.ones((2, 10, 32))) == 0.0
