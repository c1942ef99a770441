"""Boxes do not touch, parents stand above, and symmetric graphs look symmetric."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given

from novum.graphical.drawing.placement import GAP, LAYER_GAP, placed
from tests.graphical.drawing.test_layers import graphs


@given(graphs())
def test_boxes_keep_their_distance_inside_the_sheet(parents: list[list[int]]) -> None:
    n = len(parents)
    sizes = [(40.0 + 13 * (v % 4), 20.0 + 17 * (v % 3)) for v in range(n)]
    found = placed(parents, range(n), sizes)
    boxes = [(x, y, x + w, y + h) for (x, y), (w, h) in zip(found.corners, sizes, strict=True)]
    # Isotonic regression is right up to rounding.
    slack = 1e-6
    for left, top, right, bottom in boxes:
        assert left >= -slack
        assert top >= -slack
        assert right <= found.width + slack
        assert bottom <= found.height + slack
    for a, b in itertools.combinations(boxes, 2):
        apart = max(a[0] - b[2], b[0] - a[2]), max(a[1] - b[3], b[1] - a[3])
        assert apart[0] >= GAP - slack or apart[1] >= LAYER_GAP / 2
    for v, up in enumerate(parents):
        assert all(boxes[p][3] + LAYER_GAP <= boxes[v][1] + slack for p in up)


@given(graphs())
def test_bends_run_downwards(parents: list[list[int]]) -> None:
    found = placed(parents, range(len(parents)), [(40.0, 20.0)] * len(parents))
    for (p, v), bends in found.bends.items():
        heights = [found.corners[p][1] + 20.0]
        heights += [y for _, top, bottom in bends for y in (top, bottom)]
        heights.append(found.corners[v][1])
        assert heights == sorted(heights)


def test_a_parent_stands_over_the_middle_of_its_children() -> None:
    found = placed([[], [0], [0]], range(3), [(40.0, 20.0)] * 3)
    x = [corner[0] for corner in found.corners]
    assert x[0] == pytest.approx((x[1] + x[2]) / 2, abs=1e-9)


def test_a_chain_is_a_straight_line() -> None:
    found = placed([[], [0], [1], [2]], range(4), [(40.0, 20.0)] * 4)
    assert len({round(x, 6) for x, _ in found.corners}) == 1


def test_parts_that_nothing_joins_stand_in_lines() -> None:
    n = 100
    found = placed([[]] * n, range(n), [(40.0, 40.0)] * n)
    assert len({y for _, y in found.corners}) > 5
    assert len(set(found.corners)) == n
