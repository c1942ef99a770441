"""A tree as a drawing: SVG without Graphviz, or in matplotlib axes.

A node is a box of two lines, what it asks (a leaf: what it predicts) and its weights, over a bar of
its class shares; in a regression the bar reaches to where its mean lies between the least and the
largest. The answer that leads to a node stands above its box and counts as part of its width, so
that neither boxes nor answers overlap. Class colors are used for bars only, never under text.
Pointing at a node shows all its figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from novum.core.svg_text import SvgText
from novum.display import FONT_SIZE, Box, Drawing, Group, Label, Path, text_width
from novum.numerics import Floats
from novum.trees.reading.layout import tidy_centers
from novum.trees.reading.node_values import NodeValues
from novum.trees.reading.outline import Entry, Outline, hover_text, outline
from novum.trees.reading.questions import DIGITS
from novum.trees.tree import Tree

_LINE = 16.0
_PADDING = 8.0
_BAR = 6.0
_SWATCH = 10.0
_GAP = 12.0
_EDGE = 46.0
_MARGIN = 8.0
_LONGEST = 32
_SMALLEST = 44.0
_LEGEND = 18.0
_LEGEND_CLASSES = 20


def tree_svg(
    tree: Tree, *, max_depth: int | None = None, target: int = 0, digits: int = DIGITS
) -> SvgText:
    """The tree as an SVG picture.

    Parameters
    ----------
    tree : Tree
    max_depth : int, optional
        Questions from the root that are drawn; nodes that hide others say how many.
    target : int
        Which target, where there are several.
    digits : int
        Significant digits; more where thresholds of a column would look equal.

    Returns
    -------
    SvgText
        A str, which notebooks show as a picture.
    """
    return SvgText(tree_drawing(tree, max_depth, target, digits).as_svg())


def plot_tree(
    tree: Tree,
    ax: Any = None,
    *,
    max_depth: int | None = None,
    target: int = 0,
    digits: int = DIGITS,
) -> Any:
    """Draws the tree into matplotlib axes.

    Parameters
    ----------
    tree : Tree
    ax : matplotlib Axes, optional
        A new figure of fitting size by default.
    max_depth, target, digits
        As in `tree_svg`.

    Returns
    -------
    matplotlib Axes
    """
    return tree_drawing(tree, max_depth, target, digits).plot(ax)


def tree_drawing(
    tree: Tree, max_depth: int | None = None, target: int = 0, digits: int = DIGITS
) -> Drawing:
    """Edges, a group of shapes for each node, and the legend."""
    shown = outline(tree, max_depth=max_depth, target=target, digits=digits)
    entries = shown.entries
    lines = [_lines(entry) for entry in entries]
    answers = [shortened(entry.answer) for entry in entries]
    inner = [max(_SMALLEST, *map(text_width, words)) for words in lines]
    spans = [
        max(width + 2 * _PADDING, text_width(answer) + 4)
        for width, answer in zip(inner, answers, strict=True)
    ]
    centers = tidy_centers([entry.children for entry in entries], spans, _GAP) + _MARGIN
    height = max(map(len, lines)) * _LINE + _BAR + 2 * _PADDING
    tops = [_MARGIN + entry.depth * (height + _EDGE) for entry in entries]
    edges: list[Path | Label] = []
    nodes = []
    for i, (entry, shares) in enumerate(zip(entries, bar_shares(shown), strict=True)):
        center, top = float(centers[i]), tops[i]
        if entry.parent >= 0:
            above = float(centers[entry.parent]), tops[entry.parent] + height
            edges += _edge(above, (center, top), answers[i], entry.condition)
        frame = Box(
            center - inner[i] / 2 - _PADDING,
            top,
            inner[i] + 2 * _PADDING,
            height,
            "ink",
            0.05,
            frame="muted",
            radius=8 if entry.is_leaf else 2,
        )
        words = [
            Label(center, top + _PADDING + _LINE * rank + FONT_SIZE, line, "middle", rank == 0)
            for rank, line in enumerate(lines[i])
        ]
        bar = _bar(shares, center - inner[i] / 2, top + height - _PADDING - _BAR, inner[i])
        nodes.append(Group([frame, *words, *bar], hover_text(entry, tree, digits)))
    right = float(max(c + span / 2 for c, span in zip(centers, spans, strict=True))) + _MARGIN
    bottom = max(tops) + height + _MARGIN
    legend, end = _legend(shown.values, bottom)
    name = f"Decision tree: {shown.summary}"
    hidden = sum(entry.hidden for entry in entries)
    return Drawing(
        max(right, end),
        bottom + (_LEGEND if legend else 0.0),
        [*edges, *nodes, *legend],
        f"{name}; {hidden} nodes are not drawn" if hidden else name,
    )


def shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _lines(entry: Entry) -> list[str]:
    head = entry.prediction if entry.is_leaf or entry.hidden else entry.asked
    lines = [shortened(head), shortened(entry.counts)]
    return [*lines, entry.rest] if entry.hidden else lines


def _edge(
    above: tuple[float, float], below: tuple[float, float], answer: str, condition: str
) -> list[Path | Label]:
    """A line that turns down between the boxes, so that it meets the answer from above."""
    (x, top), (center, bottom) = above, below
    turn, stop = top + 0.35 * (bottom - top), bottom - FONT_SIZE - 7
    line = Path([(x, top), (center, turn), (center, stop)], "muted")
    return [line, Label(center, bottom - 5, answer, "middle", hover=condition)]


def bar_shares(drawing: Outline) -> list[Floats]:
    """Parts of each node's bar: class shares, or how far up its mean lies among all nodes'."""
    shares = [entry.answers for entry in drawing.entries]
    if drawing.values.labels is not None:
        return shares
    means = drawing.values.values[:, 0]
    low, high = float(means.min()), float(means.max())
    reach = high - low
    return [(mean - low) / reach if reach > 0 else np.array([0.5]) for mean in shares]


def _bar(shares: Floats, x: float, y: float, width: float) -> Iterator[Box]:
    yield Box(x, y, width, _BAR, "faint")
    for code, share in enumerate(map(float, shares)):
        if share > 0:
            yield Box(x, y, width * share, _BAR, code)
            x += width * share


def _legend(values: NodeValues, y: float) -> tuple[list[Box | Label], float]:
    """The classes in one line, after the first 20 the others only counted; and where it ends."""
    if values.labels is None:
        return [], 0.0
    shapes: list[Box | Label] = []
    x, n_classes = _MARGIN, len(values.labels)
    labels = [shortened(values.label_text(k)) for k in range(min(n_classes, _LEGEND_CLASSES))]
    for code, label in enumerate(labels):
        shapes.append(Box(x, y, _SWATCH, _SWATCH, code))
        shapes.append(Label(x + _SWATCH + 4, y + _SWATCH, label))
        x += _SWATCH + text_width(label) + 20
    if n_classes > _LEGEND_CLASSES:
        label = f"and {n_classes - _LEGEND_CLASSES} more classes"
        shapes.append(Label(x + _SWATCH + 4, y + _SWATCH, label))
        x += _SWATCH + text_width(label) + 20
    return shapes, x - 8
