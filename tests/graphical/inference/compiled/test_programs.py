"""Loops of a clique: maps of offsets, blocks, and the order of axes."""

from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.programs_kernels import (
    block_split,
    product_of,
    sort_axes,
    write_map,
)


def test_a_map_has_the_offset_of_every_prefix() -> None:
    sizes, strides = np.array([2, 3, 4]), np.array([12, 0, 1])
    maps = np.full(30, -1, np.int32)
    assert write_map(maps, 3, strides, sizes, 0, 3) == 24
    wanted = [12 * i + k for i in range(2) for _ in range(3) for k in range(4)]
    assert maps[3:27].tolist() == wanted
    assert write_map(maps, 0, strides, sizes, 1, 1) == 1
    assert maps[0] == 0


def test_blocks_take_in_axes_from_the_last() -> None:
    sizes = np.array([5, 4, 3, 2])
    assert [block_split(sizes, 4, block) for block in (1, 2, 6, 23, 24, 1000)] == [3, 3, 2, 2, 1, 0]


def test_axes_are_sorted_with_their_strides() -> None:
    starts, axes, strides = np.array([0, 3]), np.array([0, 1, 2]), np.array([6, 2, 1])
    sizes = np.empty(1, np.int64)
    sort_axes(starts, axes, strides, np.array([2, 0, 1]), np.array([2, 3, 2]), sizes, 1)
    assert axes.tolist() == [1, 2, 0]
    assert strides.tolist() == [2, 1, 6]
    assert sizes[0] == product_of(np.array([2, 3, 2]), axes, 0, 3) == 12
