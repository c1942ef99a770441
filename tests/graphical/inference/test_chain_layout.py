"""Rows of probabilities and their places, against the product of all factors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.inference import chain_layout as layouts
from novum.graphical.inference.blocks import Blocks, blocks_of, determined
from novum.graphical.inference.chain_layout import ChainLayout, chain_layout
from novum.graphical.inference.chain_runs_kernels import fill_row, place_rows, start_chain
from novum.graphical.models.questions import evidence_of
from tests.strategies.networks import random_evidence, random_network, seeds


def states_of(blocks: Blocks, cells: np.ndarray) -> np.ndarray:
    codes = np.empty(blocks.left.n_variables, np.int64)
    for own, states, cell in zip(blocks.members, blocks.states, cells, strict=True):
        codes[own] = states[cell]
    return codes


def weight_of(blocks: Blocks, codes: np.ndarray) -> float:
    left = blocks.left
    cells = [left.table(f)[tuple(codes[left.scope(f)])] for f in range(left.n_factors)]
    return float(np.prod(cells))


def row_of(blocks: Blocks, layout: ChainLayout, block: int) -> np.ndarray:
    cells, places, bases, _, chances = layout.working
    at = int(layout.rows[0][block] + places[block])
    fill_row(block, at, layout.model, layout.states, cells, bases, chances)
    return chances[at : at + len(blocks.states[block])]


@pytest.mark.parametrize("most_kept", [2**12, 0], ids=["kept", "not kept"])
@given(seeds)
@settings(max_examples=25, deadline=None)
def test_rows_are_conditional_probabilities(most_kept: int, seed: int) -> None:
    network = random_network(seed, most=6, zeros=0.3)
    known = evidence_of(network, random_evidence(network, seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layouts, "MOST_KEPT", most_kept)
        try:
            blocks = blocks_of(determined(network.arrays, known)[0], 8)
        except ImpossibleEvidence:
            return
        layout = chain_layout(blocks)
    cells, places = layout.working[:2]
    for key in range(3):
        start_chain(blocks.cell_starts, np.uint64(seed + key), cells)
        place_rows(layout.sending, cells, places)
        for block, states in enumerate(blocks.states):
            others = cells.copy()
            weights = []
            for cell in range(len(states)):
                others[block] = cell
                weights.append(weight_of(blocks, states_of(blocks, others)))
            found = row_of(blocks, layout, block)
            np.testing.assert_allclose(found, np.array(weights) / np.sum(weights), atol=1e-12)


@given(seeds)
@settings(max_examples=25, deadline=None)
def test_a_row_belongs_to_one_state_of_the_blanket(seed: int) -> None:
    network = random_network(seed, most=6)
    blocks = blocks_of(determined(network.arrays, evidence_of(network, {}))[0], 1)
    layout = chain_layout(blocks)
    cells, places = layout.working[:2]
    met: dict[tuple[int, int], np.ndarray] = {}
    for key in range(40):
        start_chain(blocks.cell_starts, np.uint64(key), cells)
        place_rows(layout.sending, cells, places)
        for block in range(blocks.n_blocks):
            place = block, int(places[block])
            row = row_of(blocks, layout, block).copy()
            np.testing.assert_array_equal(met.setdefault(place, row), row)


def test_cells_are_part_of_the_states_of_their_variables() -> None:
    network = random_network(8, most=6, zeros=0.5)
    left, _ = determined(network.arrays, evidence_of(network, {}))
    blocks = blocks_of(left, 8)
    layout = chain_layout(blocks)
    found = np.zeros((len(blocks.inside), int(left.cell_starts[-1])))
    np.add.at(found, (layout.sources, layout.targets), 1)
    cell = 0
    for own, states in zip(blocks.members, blocks.states, strict=True):
        for codes in states:
            assert np.flatnonzero(found[cell]).tolist() == (left.cell_starts[own] + codes).tolist()
            cell += 1
