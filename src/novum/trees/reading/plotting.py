"""A tree drawn with matplotlib, from the same boxes as the SVG drawing."""

from __future__ import annotations

from typing import Any

from novum.trees.reading.boxes import BAR, FONT_SIZE, LINE, PADDING, SWATCH, Box, Picture, picture
from novum.trees.reading.outline import outline
from novum.trees.reading.questions import DIGITS
from novum.trees.tree import Tree

_POINTS_PER_INCH = 72.0
_LARGEST_FIGURE = 40.0
_SMALLEST_FIGURE = 2.0


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
    max_depth : int, optional
        Questions from the root that are drawn; nodes that hide others say how many.
    target : int
        Which target, where there are several.
    digits : int
        Significant digits; more where thresholds of a column would look equal.

    Returns
    -------
    matplotlib Axes
    """
    sheet = picture(outline(tree, max_depth=max_depth, target=target, digits=digits))
    if ax is None:
        ax = _new_axes(sheet)
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(0, sheet.width)
    ax.set_ylim(sheet.height, 0)
    font = FONT_SIZE * _scale(ax, sheet)
    for box in sheet.boxes:
        if box.entry.parent >= 0:
            _draw_edge(ax, sheet.boxes[box.entry.parent], box, font)
        _draw_box(ax, box, font)
    _draw_legend(ax, sheet, font)
    return ax


def _new_axes(sheet: Picture) -> Any:
    """Axes of a new figure, one point for each unit of the picture as far as that is sensible."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "Drawing into a figure needs matplotlib. Install novum[plot], or use the SVG drawing, "
            "which needs nothing."
        ) from error
    size = [
        min(max(length / _POINTS_PER_INCH, _SMALLEST_FIGURE), _LARGEST_FIGURE)
        for length in (sheet.width, sheet.height)
    ]
    figure = pyplot.figure(figsize=tuple(size))
    return figure.add_axes((0.0, 0.0, 1.0, 1.0))


def _scale(ax: Any, sheet: Picture) -> float:
    """Points on paper for one unit of the picture, so that text keeps to its box."""
    size = ax.get_window_extent().size * _POINTS_PER_INCH / ax.figure.dpi
    return float(min(size[0] / sheet.width, size[1] / sheet.height))


def _draw_box(ax: Any, box: Box, font: float) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    rounding = 8 if box.entry.is_leaf else 2
    style = f"round,pad=0,rounding_size={rounding}"
    frame = FancyBboxPatch(
        (box.x, box.y), box.width, box.height, boxstyle=style, fc="none", ec="0.5", lw=0.8
    )
    ax.add_patch(frame)
    for rank, line in enumerate(box.lines):
        y = box.y + PADDING + LINE * (rank + 0.5)
        weight = "bold" if rank == 0 else "normal"
        _write(ax, box.center, y, line, font, fontweight=weight, va="center")
    y = box.y + box.height - PADDING - BAR
    corner = (box.x + PADDING, y)
    ax.add_patch(Rectangle(corner, box.width - 2 * PADDING, BAR, fc="0.85", ec="none"))
    for part in box.bar:
        ax.add_patch(Rectangle((part.x, y), part.width, BAR, fc=part.color, ec="none"))


def _draw_edge(ax: Any, above: Box, box: Box, font: float) -> None:
    top, bottom = above.y + above.height, box.y
    turn, stop = top + 0.35 * (bottom - top), bottom - FONT_SIZE - 7
    ax.plot(
        [above.center, box.center, box.center], [top, turn, stop], color="0.5", lw=0.8, zorder=0
    )
    _write(ax, box.center, bottom - 5, box.answer, font, va="baseline")


def _draw_legend(ax: Any, sheet: Picture, font: float) -> None:
    from matplotlib.patches import Rectangle

    for key in sheet.legend:
        if key.color:
            ax.add_patch(Rectangle((key.x, key.y), SWATCH, SWATCH, fc=key.color, ec="none"))
        _write(ax, key.x + SWATCH + 4, key.y + SWATCH / 2, key.label, font, ha="left", va="center")


def _write(ax: Any, x: float, y: float, text: str, font: float, **how: Any) -> None:
    # Names may hold dollar signs, which matplotlib would read as formulas.
    how = {"ha": "center", "parse_math": False, "clip_on": True, **how}
    ax.text(x, y, text, fontsize=font, **how)
