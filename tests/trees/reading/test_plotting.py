"""matplotlib drawings: the same boxes as the SVG, text inside them, no formulas from names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from novum.core.schema import Column, Schema
from novum.trees.reading.plotting import plot_tree
from tests.trees.reading.reading_trees import (
    below,
    build,
    iris_tree,
    leaf,
    number_tree,
    weather_tree,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from matplotlib.patches import FancyBboxPatch  # noqa: E402


@pytest.fixture(autouse=True)
def _no_figures_left() -> Iterator[None]:
    yield
    pyplot.close("all")


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
    frames = [box.get_window_extent() for box in boxes(ax)]
    inside = 0
    for text in ax.texts:
        extent = text.get_window_extent()
        center = ((extent.x0 + extent.x1) / 2, (extent.y0 + extent.y1) / 2)
        for frame in (f for f in frames if f.contains(*center)):
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
    assert "cost in $ and $x^{$" in said(ax)


def test_fonts_follow_the_size_of_the_axes() -> None:
    sizes = []
    for width in (4.0, 8.0):
        _, ax = pyplot.subplots(figsize=(width, width))
        plot_tree(weather_tree(), ax)
        sizes.append(ax.texts[0].get_fontsize())
    assert sizes[1] == pytest.approx(2 * sizes[0], rel=1e-6)


def test_without_matplotlib_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"novum\[plot\]"):
        plot_tree(weather_tree())


def test_many_nodes_make_no_endless_figure() -> None:
    root = leaf(1, 0)
    for threshold in np.arange(300.0):
        root = below(0, float(threshold), leaf(0, 1), root)
    ax = plot_tree(build(Schema.of_array(1), [["a", "b"]], root))
    assert max(ax.figure.get_size_inches()) <= 40.0
