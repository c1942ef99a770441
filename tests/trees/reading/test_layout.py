"""Tidy layouts: no overlap, parents in the middle, mirror images, and a tight packing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.trees.reading.layout import tidy_centers

Shape = list[range]


@st.composite
def shapes(draw: Any) -> Shape:
    """Trees of up to about 60 nodes, numbered level by level."""
    children: Shape = []
    following = 1
    while len(children) < following:
        count = draw(st.sampled_from([0, 0, 1, 2, 3, 6])) if following < 60 else 0
        children.append(range(following, following + count))
        following += count
    return children


def levels(children: Shape) -> list[list[int]]:
    found = [[0]]
    while found[-1]:
        found.append([child for node in found[-1] for child in children[node]])
    return found[:-1]


def widths_of(children: Shape, seed: int) -> list[float]:
    return np.random.default_rng(seed).uniform(0.5, 20.0, len(children)).tolist()


@given(shapes(), st.integers(0, 5))
def test_nothing_overlaps_and_parents_stand_in_the_middle(children: Shape, seed: int) -> None:
    widths = widths_of(children, seed)
    centers = tidy_centers(children, widths, gap=1.0)
    for line in levels(children):
        for a, b in pairwise(line):
            assert centers[b] - centers[a] >= (widths[a] + widths[b]) / 2 + 1.0 - 1e-9
    for node, below in enumerate(children):
        if below:
            middle = (centers[below[0]] + centers[below[-1]]) / 2
            assert centers[node] == pytest.approx(middle, abs=1e-9)
    assert (centers - np.array(widths) / 2).min() == pytest.approx(0.0, abs=1e-9)


@given(shapes())
def test_a_mirrored_tree_is_drawn_mirrored_where_no_room_is_left_to_spread(children: Shape) -> None:
    """With at most two children nothing lies between subtrees, so both ways must agree."""
    kept = _binary(children)
    order = _mirrored(kept)
    centers = tidy_centers(kept, [3.0] * len(kept), 1.0)
    flipped = tidy_centers(order[0], [3.0] * len(kept), 1.0)
    mirror = np.array([flipped[order[1][node]] for node in range(len(kept))])
    np.testing.assert_allclose(centers - centers[0], -(mirror - mirror[0]), atol=1e-9)


def _binary(children: Shape) -> Shape:
    """The tree without third children and all below them."""
    first_two = [below[:2] for below in children]
    alive = [node for line in levels(first_two) for node in line]
    place = {node: i for i, node in enumerate(alive)}
    return [range(place[b[0]], place[b[-1]] + 1) if b else b for b in (first_two[n] for n in alive)]


def _mirrored(children: Shape) -> tuple[Shape, dict[int, int]]:
    place, found = {0: 0}, []
    queue, following = [0], 1
    for node in queue:
        below = list(reversed(children[node]))
        found.append(range(following, following + len(below)))
        for child in below:
            place[child] = following
            following += 1
        queue.extend(below)
    return found, place


def test_a_complete_tree_is_as_narrow_as_its_leaves() -> None:
    n = 2**7 - 1
    children = [range(2 * i + 1, 2 * i + 3) if 2 * i + 2 < n else range(0) for i in range(n)]
    centers = tidy_centers(children, [2.0] * n, gap=1.0)
    assert centers.max() + 1.0 == pytest.approx(64 * 3.0 - 1.0, abs=1e-9)


def test_room_is_spread_over_the_small_subtrees_between() -> None:
    """Two wide subtrees with three leaves between them, which stand at equal distances."""
    children = [range(1, 6), range(6, 12), range(0), range(0), range(0), range(12, 18)]
    children += [range(0)] * 12
    centers = tidy_centers(children, [1.0] * 18, gap=1.0)
    np.testing.assert_allclose(np.diff(centers[1:6]), np.diff(centers[1:6])[0], rtol=1e-12)


def test_depth_is_not_limited_by_recursion() -> None:
    depth = 5000
    children = [range(0)] * (2 * depth + 1)
    children[0] = range(1, 3)
    for level in range(1, depth):
        children[2 * level] = range(2 * level + 1, 2 * level + 3)
    centers = tidy_centers(children, [1.0] * len(children), 1.0)
    assert centers.max() - centers.min() == pytest.approx(depth + 1.0, rel=1e-12)
