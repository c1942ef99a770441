"""A tree as SVG, drawn without Graphviz.

Text and lines have the color of the page around them (`currentColor`) and the sheet is transparent,
so that the drawing reads on light and on dark pages; class colors are used for bars only, never
under text. Everything is set by attributes, without style sheets, scripts or references, so the
strictest content policy of a page does not change it. Pointing at a node shows all its figures.
"""

from __future__ import annotations

import html

from novum.core.svg_text import SvgText
from novum.trees.reading.boxes import BAR, FONT_SIZE, LINE, PADDING, SWATCH, Box, Key, picture
from novum.trees.reading.outline import Outline, hover_text, outline
from novum.trees.reading.questions import DIGITS
from novum.trees.tree import Tree

_FONT = "Helvetica, Arial, sans-serif"


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
    drawing = outline(tree, max_depth=max_depth, target=target, digits=digits)
    sheet = picture(drawing)
    width, height = sheet.width, sheet.height
    name = f"Decision tree: {drawing.summary}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{_safe(name)}" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.1f} {height:.1f}" '
        f'font-family="{_FONT}" font-size="{FONT_SIZE:g}" fill="currentColor">',
        f"<title>{_safe(_title(drawing, name))}</title>",
        *(_edge(sheet.boxes[box.entry.parent], box) for box in sheet.boxes[1:]),
        *(_node(box, tree, digits) for box in sheet.boxes),
        *map(_key, sheet.legend),
        "</svg>",
    ]
    return SvgText("\n".join(parts))


def _title(drawing: Outline, name: str) -> str:
    hidden = sum(entry.hidden for entry in drawing.entries)
    return f"{name}; {hidden} nodes are not drawn" if hidden else name


def _node(box: Box, tree: Tree, digits: int) -> str:
    rounding = 8 if box.entry.is_leaf else 2
    middle = f"{box.center:.1f}"
    texts = "".join(
        f'<text x="{middle}" y="{box.y + PADDING + LINE * rank + FONT_SIZE:.1f}" '
        f'text-anchor="middle"{_weight(rank)}>{_safe(line)}</text>'
        for rank, line in enumerate(box.lines)
    )
    return (
        f"<g><title>{_safe(hover_text(box.entry, tree, digits))}</title>"
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="{rounding}" fill="currentColor" fill-opacity="0.05" stroke="currentColor" '
        f'stroke-opacity="0.6"/>{texts}{_bar(box)}</g>'
    )


def _weight(rank: int) -> str:
    return ' font-weight="bold"' if rank == 0 else ' fill-opacity="0.8"'


def _bar(box: Box) -> str:
    y = box.y + box.height - PADDING - BAR
    frame = (
        f'<rect x="{box.x + PADDING:.1f}" y="{y:.1f}" width="{box.width - 2 * PADDING:.1f}" '
        f'height="{BAR:g}" fill="currentColor" fill-opacity="0.15"/>'
    )
    return frame + "".join(
        f'<rect x="{part.x:.1f}" y="{y:.1f}" width="{part.width:.2f}" height="{BAR:g}" '
        f'fill="{part.color}"/>'
        for part in box.bar
    )


def _edge(above: Box, box: Box) -> str:
    """A line that turns down between the boxes, so that it meets the answer from above."""
    top, bottom = above.y + above.height, box.y
    turn = top + 0.35 * (bottom - top)
    stop = bottom - FONT_SIZE - 7
    return (
        f'<path d="M{above.center:.1f} {top:.1f}L{box.center:.1f} {turn:.1f}V{stop:.1f}" '
        'fill="none" stroke="currentColor" stroke-opacity="0.6"/>'
        f'<text x="{box.center:.1f}" y="{bottom - 5:.1f}" text-anchor="middle">'
        f"<title>{_safe(box.entry.condition)}</title>{_safe(box.answer)}</text>"
    )


def _key(key: Key) -> str:
    swatch = (
        f'<rect x="{key.x:.1f}" y="{key.y:.1f}" width="{SWATCH:g}" height="{SWATCH:g}" '
        f'fill="{key.color}"/>'
    )
    return (
        f"{swatch if key.color else ''}"
        f'<text x="{key.x + SWATCH + 4:.1f}" y="{key.y + SWATCH:.1f}">{_safe(key.label)}</text>'
    )


def _safe(text: str) -> str:
    return html.escape(text)
