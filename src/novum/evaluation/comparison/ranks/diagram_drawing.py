"""The critical-difference diagram as SVG and by matplotlib, from one layout.

The SVG has the color of the page around it (`currentColor`), carries its description as text for
those who cannot see it, and refers to nothing outside: no style sheet, no script, no font file.
"""

from __future__ import annotations

import html
from typing import Any

from novum.evaluation.comparison.ranks.diagram import (
    WIDTH,
    CriticalDifferenceDiagram,
    Label,
    Line,
    layout,
)

FONT_SIZE = 12.0
_POINTS_PER_INCH = 72.0
_FONT = "Helvetica, Arial, sans-serif"
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def diagram_svg(diagram: CriticalDifferenceDiagram) -> str:
    """The diagram as SVG source.

    Examples
    --------
    >>> from novum.evaluation.comparison.ranks.diagram import CriticalDifferenceDiagram
    >>> text = diagram_svg(CriticalDifferenceDiagram(("a", "b"), (1.0, 2.0), 0.5, 10))
    >>> text.startswith('<svg xmlns="http://www.w3.org/2000/svg" role="img"')
    True
    """
    height, lines, labels = layout(diagram)
    words = html.escape(diagram.description)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{words}" '
            f'width="{WIDTH:.0f}" height="{height:.0f}" viewBox="0 0 {WIDTH:.1f} {height:.1f}" '
            f'font-family="{_FONT}" font-size="{FONT_SIZE:g}" fill="currentColor">',
            "<title>Critical-difference diagram</title>",
            f"<desc>{words}</desc>",
            *map(_line, lines),
            *map(_label, labels),
            "</svg>",
        ]
    )


def plot_diagram(diagram: CriticalDifferenceDiagram, ax: Any = None) -> Any:
    """Draws the diagram into matplotlib axes.

    Parameters
    ----------
    diagram : CriticalDifferenceDiagram
    ax : matplotlib Axes, optional
        A new figure of fitting size by default.

    Returns
    -------
    matplotlib Axes
    """
    height, lines, labels = layout(diagram)
    if ax is None:
        ax = _new_axes(height)
    ax.set_axis_off()
    ax.set_xlim(0, WIDTH)
    ax.set_ylim(height, 0)
    for line in lines:
        ends = [line.x1, line.x2], [line.y1, line.y2]
        ax.plot(*ends, color="black", lw=line.width, solid_capstyle="butt")
    for label in labels:
        # A name may hold dollar signs, which matplotlib would read as mathematics.
        text = label.text.replace("$", r"\$")
        ax.text(label.x, label.y, text, ha=_ANCHORS[label.anchor], va="baseline", size=9)
    return ax


def _new_axes(height: float) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib, which is not installed. Install novum with its plot extra, "
            "or use svg(), which needs nothing."
        ) from error
    size = WIDTH / _POINTS_PER_INCH, height / _POINTS_PER_INCH
    return plt.subplots(figsize=size, layout="constrained")[1]


def _line(line: Line) -> str:
    return (
        f'<path d="M{line.x1:.1f} {line.y1:.1f}L{line.x2:.1f} {line.y2:.1f}" fill="none" '
        f'stroke="currentColor" stroke-width="{line.width:g}"/>'
    )


def _label(label: Label) -> str:
    return (
        f'<text x="{label.x:.1f}" y="{label.y:.1f}" text-anchor="{label.anchor}">'
        f"{html.escape(label.text)}</text>"
    )
