"""Shapes of a drawn tree: nothing overlaps, bars add up, matplotlib shows the same words."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.tables import Column, Schema
from novum.display import Box, Drawing, Group, Label, text_width
from novum.trees.reading.drawing import plot_tree, shortened, tree_drawing
from novum.trees.tree import Tree
from tests.trees.reading.reading_trees import (
    below,
    build,
    iris_tree,
    leaf,
    number_tree,
    random_trees,
    weather_tree,
)

PADDING = 8.0

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from matplotlib.patches import FancyBboxPatch  # noqa: E402


@pytest.fixture(autouse=True, scope="module")
def _no_figures_left() -> Iterator[None]:
    yield
    pyplot.close("all")


def nodes(drawing: Drawing) -> list[list[Any]]:
    return [list(shape.shapes) for shape in drawing.shapes if isinstance(shape, Group)]


def frames(drawing: Drawing) -> list[Box]:
    return [shapes[0] for shapes in nodes(drawing)]


def bars(drawing: Drawing) -> list[list[Box]]:
    """The colored pieces below the words of each node."""
    return [
        [shape for shape in shapes if isinstance(shape, Box) and isinstance(shape.fill, int)]
        for shapes in nodes(drawing)
    ]


def legend(drawing: Drawing) -> list[str]:
    """Words without an answer's title, outside of nodes."""
    return [s.text for s in drawing.shapes if isinstance(s, Label) and s.anchor == "start"]


# --- Shapes ---------------------------------------------------------------------------------------


@given(random_trees(), st.sampled_from([None, 1, 2]))
def test_boxes_and_answers_do_not_overlap(tree: Tree, max_depth: int | None) -> None:
    drawing = tree_drawing(tree, max_depth)
    boxes = frames(drawing)
    answers = [s for s in drawing.shapes if isinstance(s, Label) and s.anchor == "middle"]
    assert len(answers) == len(boxes) - 1
    spans = [(box.x, box.x + box.width) for box in boxes]
    for k, answer in enumerate(answers, 1):
        half = text_width(answer.text) / 2
        spans[k] = (min(spans[k][0], answer.x - half), max(spans[k][1], answer.x + half))
    for i, (left, right) in enumerate(spans):
        assert left >= 0
        assert right <= drawing.width
        assert boxes[i].y + boxes[i].height <= drawing.height
        for j in range(i + 1, len(boxes)):
            apart_x = spans[j][0] >= right or spans[j][1] <= left
            # The answer stands within the edge above a box.
            assert apart_x or abs(boxes[j].y - boxes[i].y) > boxes[i].height


@given(random_trees())
def test_bars_fill_the_box(tree: Tree) -> None:
    drawing = tree_drawing(tree)
    for box, bar in zip(frames(drawing), bars(drawing), strict=True):
        assert sum(part.width for part in bar) == pytest.approx(box.width - 2 * PADDING)
        assert bar[0].x == pytest.approx(box.x + PADDING)


def test_bars_of_numbers_reach_to_the_mean() -> None:
    drawing = tree_drawing(number_tree())
    shares = [
        sum(part.width for part in bar) / (box.width - 2 * PADDING)
        for box, bar in zip(frames(drawing), bars(drawing), strict=True)
    ]
    expected = [(mean - 1.5) / 2.5 for mean in (8 / 3, 1.5, 3.25, 2.5, 4.0)]
    assert shares == pytest.approx(expected, abs=1e-12)


def test_equal_means_fill_half_the_bar() -> None:
    drawing = tree_drawing(build(Schema.of_array(1), None, leaf(7.0)))
    (box,), ((bar,),) = frames(drawing), bars(drawing)
    assert bar.width == pytest.approx((box.width - 2 * PADDING) / 2)


def test_the_legend_names_twenty_classes_and_counts_the_others() -> None:
    assert legend(tree_drawing(iris_tree())) == ["setosa", "versicolor", "virginica"]
    many = build(Schema.of_array(1), [[f"c{i:02}" for i in range(23)]], leaf(*range(23)))
    names = legend(tree_drawing(many))
    assert len(names) == 21
    assert names[-1] == "and 3 more classes"


def test_long_texts_are_cut() -> None:
    assert shortened("x" * 50) == "x" * 29 + "..."


def test_a_node_that_hides_others_says_so() -> None:
    tree = build(Schema.of_array(1), [["a", "b"]], below(0, 1.0, leaf(1, 0), leaf(0, 1)))
    (shapes,) = nodes(tree_drawing(tree, 0))
    words = [shape.text for shape in shapes if isinstance(shape, Label)]
    assert words == ["a", "a 1, b 1", "... 2 more nodes"]


# --- matplotlib -----------------------------------------------------------------------------------


def boxes(ax: Any) -> list[Any]:
    return [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]


def said(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_every_node_is_drawn() -> None:
    ax = plot_tree(weather_tree())
    assert len(boxes(ax)) == 8
    assert {"outlook", "= sunny", "<= 77.5", "yes 9, no 5"} <= set(said(ax))


def test_text_stays_within_its_box() -> None:
    ax = plot_tree(iris_tree())
    ax.figure.canvas.draw()
    extents = [box.get_window_extent() for box in boxes(ax)]
    inside = 0
    for text in ax.texts:
        extent = text.get_window_extent()
        center = ((extent.x0 + extent.x1) / 2, (extent.y0 + extent.y1) / 2)
        for frame in (f for f in extents if f.contains(*center)):
            inside += 1
            # Letters of the default font are a little wider than the average allows for.
            assert extent.width <= frame.width * 1.05
    assert inside == 14


def test_it_draws_into_given_axes() -> None:
    figure, axes = pyplot.subplots(1, 2)
    assert plot_tree(number_tree(), axes[1], target=1) is axes[1]
    assert not axes[0].patches
    assert "10" in said(axes[1])
    figure.canvas.draw()


def test_what_is_not_drawn_is_counted() -> None:
    assert "... 4 more nodes" in said(plot_tree(iris_tree(), max_depth=1))


def test_dollar_signs_are_no_formulas() -> None:
    schema = Schema((Column("cost in $ and $x^{$"),))
    ax = plot_tree(build(schema, [["$a$", "b"]], below(0, 1.0, leaf(1, 0), leaf(0, 1))))
    ax.figure.canvas.draw()
    assert r"cost in \$ and \$x^{\$" in said(ax)


def test_fonts_follow_the_size_of_the_axes() -> None:
    sizes = []
    for width in (4.0, 8.0):
        _, ax = pyplot.subplots(figsize=(width, width))
        plot_tree(weather_tree(), ax)
        sizes.append(ax.texts[0].get_fontsize())
    assert sizes[1] == pytest.approx(2 * sizes[0], rel=1e-6)


def test_without_matplotlib_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"\.\[plot\]"):
        plot_tree(weather_tree())


@pytest.mark.slow
def test_many_nodes_make_no_endless_figure() -> None:
    root = leaf(1, 0)
    for threshold in np.arange(300.0):
        root = below(0, float(threshold), leaf(0, 1), root)
    ax = plot_tree(build(Schema.of_array(1), [["a", "b"]], root))
    assert max(ax.figure.get_size_inches()) <= 40.0
