"""Blocks: forward operations against broadcasting, derivatives against finite differences."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from novum.graphical.inference.compiled.blocks_kernels import (
    enter_block,
    expand,
    multiply,
    next_block,
)
from novum.graphical.inference.compiled.layout import (
    BLOCKS,
    CLIQUES_AT,
    EVERYTHING,
    MARGINALS,
    MOST_AXES,
    MOST_OPS,
    N_CLIQUES,
    N_OUTER,
)
from novum.graphical.inference.compiled.planning import program_of
from novum.graphical.models.arrays import Evidence
from tests.strategies.networks import random_network, seeds


def test_expansion_is_an_outer_product() -> None:
    for run in (1, 2, 3, 4, 7):
        f = np.random.default_rng(run).random((6, run))
        block = np.zeros(2 + 6 * run)
        block[:2] = [2.0, 5.0]
        maps = (run * np.arange(6)).astype(np.int32)
        source, target, at = np.uint64(0), np.uint64(2), np.uint64(0)
        expand(block, source, target, f.ravel(), 0, maps, at, 2, 3, run)
        wanted = np.repeat([2.0, 5.0], 3)[:, None] * f
        np.testing.assert_array_equal(block[2:].reshape(6, run), wanted)


def test_product_is_cell_by_cell() -> None:
    for run in (1, 2, 5):
        rng = np.random.default_rng(run)
        block, f = np.r_[rng.random(4 * run), np.zeros(4 * run)], rng.random((3, run))
        maps = (run * np.array([2, 0, 1, 1])).astype(np.int32)
        zero = np.uint64(0)
        multiply(block, zero, np.uint64(4 * run), f.ravel(), 0, maps, zero, 4, run)
        wanted = block[: 4 * run].reshape(4, run) * f[[2, 0, 1, 1]]
        np.testing.assert_array_equal(block[4 * run :].reshape(4, run), wanted)


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_stepping_is_entering_the_next_block(seed: int) -> None:
    model = random_network(seed, most=8).arrays
    nothing = Evidence.none(model.n_variables)
    # Blocks of two cells leave nearly all axes to the outer loops.
    code = program_of(model, nothing, (), EVERYTHING, MARGINALS, block=2).code
    digits, stepped = np.zeros((2, int(code[MOST_AXES]) + 1), np.int64)
    bases, moved = np.zeros((2, int(code[MOST_OPS]) + 1), np.int64)
    for place in range(int(code[N_CLIQUES])):
        at = int(code[int(code[CLIQUES_AT]) + place])
        enter_block(code, at, 0, stepped, moved)
        for number in range(int(code[at + BLOCKS])):
            enter_block(code, at, number, digits, bases)
            outer = int(code[at + N_OUTER])
            np.testing.assert_array_equal(digits[:outer], stepped[:outer])
            np.testing.assert_array_equal(bases, moved)
            next_block(code, at, stepped, moved)
        bases[:] = moved[:] = 0
