"""Boxes of a drawing: geometry, bars that add up, colors that differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.schema import Schema
from novum.trees.reading.boxes import PADDING, Box, class_color, picture, shortened, text_width
from novum.trees.reading.outline import outline
from novum.trees.tree import Tree
from tests.trees.reading.reading_trees import (
    below,
    build,
    iris_tree,
    leaf,
    number_tree,
    random_trees,
)


def span(box: Box) -> tuple[float, float]:
    """From left to right, the answer above the box included."""
    half = max(box.width, text_width(box.answer)) / 2
    return box.center - half, box.center + half


@given(random_trees(), st.sampled_from([None, 1, 2]))
def test_boxes_and_answers_do_not_overlap(tree: Tree, max_depth: int | None) -> None:
    sheet = picture(outline(tree, max_depth=max_depth))
    for i, one in enumerate(sheet.boxes):
        left, right = span(one)
        assert left >= 0
        assert right <= sheet.width
        assert one.y + one.height <= sheet.height
        for other in sheet.boxes[i + 1 :]:
            apart_x = span(other)[0] >= right or span(other)[1] <= left
            # The answer stands within the edge above a box.
            apart_y = abs(other.y - one.y) > one.height
            assert apart_x or apart_y


@given(random_trees())
def test_bars_fill_the_box(tree: Tree) -> None:
    for box in picture(outline(tree)).boxes:
        assert sum(part.width for part in box.bar) == pytest.approx(box.width - 2 * PADDING)
        assert box.bar[0].x == pytest.approx(box.x + PADDING)


def test_bars_of_numbers_reach_to_the_mean() -> None:
    boxes = picture(outline(number_tree())).boxes
    inner = [box.width - 2 * PADDING for box in boxes]
    reach = [sum(part.width for part in box.bar) for box in boxes]
    shares = [r / w for r, w in zip(reach, inner, strict=True)]
    expected = [(mean - 1.5) / 2.5 for mean in (8 / 3, 1.5, 3.25, 2.5, 4.0)]
    assert shares == pytest.approx(expected, abs=1e-12)


def test_equal_means_fill_half_the_bar() -> None:
    boxes = picture(outline(build(Schema.of_array(1), None, leaf(7.0)))).boxes
    assert boxes[0].bar[0].width == pytest.approx((boxes[0].width - 2 * PADDING) / 2)


def test_a_hundred_classes_have_a_hundred_colors() -> None:
    colors = [class_color(code) for code in range(100)]
    assert len(set(colors)) == 100
    assert all(len(color) == 7 and color.startswith("#") for color in colors)


def test_the_legend_names_twenty_classes_and_counts_the_others() -> None:
    assert [key.label for key in picture(outline(iris_tree())).legend] == [
        "setosa",
        "versicolor",
        "virginica",
    ]
    many = build(Schema.of_array(1), [[f"c{i:02}" for i in range(23)]], leaf(*range(23)))
    legend = picture(outline(many)).legend
    assert len(legend) == 21
    assert (legend[-1].label, legend[-1].color) == ("and 3 more classes", None)


def test_long_texts_are_cut_and_wide_signs_take_more_room() -> None:
    assert shortened("x" * 50) == "x" * 29 + "..."
    assert text_width("木") == 2 * text_width("a")


def test_a_node_that_hides_others_says_so() -> None:
    tree = build(Schema.of_array(1), [["a", "b"]], below(0, 1.0, leaf(1, 0), leaf(0, 1)))
    (box,) = picture(outline(tree, max_depth=0)).boxes
    assert box.lines == ("a", "a 1, b 1", "... 2 more nodes")
