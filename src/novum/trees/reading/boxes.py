"""Boxes, labels and colors of a drawn tree: plain figures that SVG and matplotlib both paint.

A node is a box of two lines, what it asks (a leaf: what it predicts) and its weights, over a bar of
its class shares; in a regression the bar reaches to where its mean lies between the least and the
largest. The answer that leads to a node stands above its box and counts as part of its width, so
that neither boxes nor answers overlap.
"""

from __future__ import annotations

import colorsys
import unicodedata
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novum.trees.reading.layout import tidy_centers
from novum.trees.reading.node_values import NodeValues
from novum.trees.reading.outline import Entry, Outline

Floats = NDArray[np.float64]

FONT_SIZE = 12.0
LINE = 16.0
PADDING = 8.0
BAR = 6.0
SWATCH = 10.0
# The widest letters of common sans-serif fonts are rare; text is on average half an em wide.
_LETTER = 0.56 * FONT_SIZE
_GAP = 12.0
_EDGE = 46.0
_MARGIN = 8.0
_LONGEST = 32
_SMALLEST = 44.0
_LEGEND = 18.0
_LEGEND_CLASSES = 20

# Okabe and Ito's colors, told apart by readers with any color vision, on white and on black.
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#808080")
NUMBER_COLOR = _COLORS[0]


@dataclass(frozen=True)
class Segment:
    """A piece of the bar of a box: where it starts, how wide it is, and its color."""

    x: float
    width: float
    color: str


@dataclass(frozen=True, eq=False)
class Box:
    """A node as it is painted; `x` and `y` are the left upper corner.

    Attributes
    ----------
    lines : tuple of str
        What stands in the box.
    answer : str
        What stands above it; empty at the root.
    bar : tuple of Segment
    """

    entry: Entry
    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    answer: str
    bar: tuple[Segment, ...]

    @property
    def center(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True)
class Key:
    """A class and its color below the tree; `x`, `y` are the left upper corner of the swatch."""

    x: float
    y: float
    label: str
    color: str | None


@dataclass(frozen=True, eq=False)
class Picture:
    """All boxes, the legend, and the size of the sheet they stand on."""

    boxes: tuple[Box, ...]
    legend: tuple[Key, ...]
    width: float
    height: float


def picture(drawing: Outline) -> Picture:
    """Places the boxes of an outline."""
    entries = drawing.entries
    lines = [_lines(entry) for entry in entries]
    answers = [shortened(entry.answer) for entry in entries]
    inner = [max(_SMALLEST, *(text_width(line) for line in found)) for found in lines]
    widths = [width + 2 * PADDING for width in inner]
    spans = [max(w, text_width(a) + 4) for w, a in zip(widths, answers, strict=True)]
    centers = tidy_centers([entry.children for entry in entries], spans, _GAP) + _MARGIN
    tallest = max(map(len, lines))
    height = tallest * LINE + BAR + 2 * PADDING
    bars = bar_shares(drawing)
    boxes = tuple(
        Box(
            entry,
            float(centers[i]) - widths[i] / 2,
            _MARGIN + entry.depth * (height + _EDGE),
            widths[i],
            height,
            lines[i],
            answers[i],
            _bar(bars[i], float(centers[i]) - inner[i] / 2, inner[i], drawing.values),
        )
        for i, entry in enumerate(entries)
    )
    right = max(c + span / 2 for c, span in zip(centers, spans, strict=True)) + _MARGIN
    bottom = max(box.y + box.height for box in boxes) + _MARGIN
    legend = _legend(drawing.values, bottom)
    right = max([float(right), *(key.x + SWATCH + text_width(key.label) + 12 for key in legend)])
    return Picture(boxes, legend, right, bottom + (_LEGEND if legend else 0.0))


# --- Text -----------------------------------------------------------------------------------------


def text_width(text: str) -> float:
    """Room for a text in the font of the drawing; wide signs of East Asia take two letters."""
    letters = sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)
    return _LETTER * letters


def shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _lines(entry: Entry) -> tuple[str, ...]:
    head = entry.prediction if entry.is_leaf or entry.hidden else entry.asked
    found = [shortened(head), shortened(entry.counts)]
    return tuple([*found, entry.rest] if entry.hidden else found)


# --- Colors and bars ------------------------------------------------------------------------------


def class_color(code: int) -> str:
    """The color of a class; after the eighth, hues that turn by the golden angle."""
    if code < len(_COLORS):
        return _COLORS[code]
    hue = (code * 0.618033988749895) % 1.0
    red, green, blue = colorsys.hls_to_rgb(hue, 0.5, 0.6)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def bar_shares(drawing: Outline) -> list[Floats]:
    """Parts of each node's bar: class shares, or how far up its mean lies among all nodes'."""
    shares = [entry.answers for entry in drawing.entries]
    if drawing.values.labels is not None:
        return shares
    means = drawing.values.values[:, 0]
    low, high = float(means.min()), float(means.max())
    reach = high - low
    return [(mean - low) / reach if reach > 0 else np.array([0.5]) for mean in shares]


def _bar(shares: Floats, x: float, width: float, values: NodeValues) -> tuple[Segment, ...]:
    found = []
    for code, share in enumerate(map(float, shares)):
        color = NUMBER_COLOR if values.labels is None else class_color(code)
        if share > 0:
            found.append(Segment(x, width * share, color))
            x += width * share
    return tuple(found)


def _legend(values: NodeValues, y: float) -> tuple[Key, ...]:
    """The classes in one line; after the first 20 the others are only counted."""
    if values.labels is None:
        return ()
    found: list[Key] = []
    x, n_classes = _MARGIN, len(values.labels)
    for code in range(min(n_classes, _LEGEND_CLASSES)):
        found.append(Key(x, y, shortened(values.label_text(code)), class_color(code)))
        x += SWATCH + text_width(found[-1].label) + 20
    if n_classes > _LEGEND_CLASSES:
        found.append(Key(x, y, f"and {n_classes - _LEGEND_CLASSES} more classes", None))
    return tuple(found)
