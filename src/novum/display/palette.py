"""The one palette: Okabe and Ito's colors, told apart by readers with any color vision.

A color of a picture is `"ink"`, `"muted"` or `"faint"` (the color of the page around it, in three
strengths), or the number of a series. In SVG a series has its color and a class beside it: a page
whose style sheet knows the class (`PAGE_COLORS`) paints it for light and for dark, anything else
shows the color itself. More series than eight get hues that turn by the golden angle.
"""

from __future__ import annotations

import colorsys

SERIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#808080")
# For what stands back behind the others.
GRAY = 7
# Told apart without color, too.
DASHES = ((), (5, 2), (1.5, 1.5), (6, 2, 1.5, 2), (), (5, 2), (1.5, 1.5), (6, 2, 1.5, 2))
DOTTED = (2.0, 2.0)
STRENGTHS = {"ink": 1.0, "muted": 0.72, "faint": 0.16}

_LIGHT = ("#0a6cab", "#b56a00", "#007d5b", "#a84f80", "#2d89bf", "#b04a00", "#7d7200", "#6e7680")
_DARK = ("#5aaee6", "#eda53a", "#35bf95", "#dd8db8", "#8fd0f5", "#f08a4b", "#d3c53c", "#9aa4ae")

Color = int | str


def series_color(number: int) -> str:
    """The color of a series, counted from 0.

    Examples
    --------
    >>> series_color(0), series_color(8)
    ('#0072b2', '#cc3366')
    """
    if number < len(SERIES):
        return SERIES[number]
    hue = (number * 0.618033988749895) % 1.0
    red, green, blue = colorsys.hls_to_rgb(hue, 0.5, 0.6)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def paint(kind: str, color: Color | None, opacity: float = 1.0) -> dict[str, str | float | None]:
    """Attributes of an SVG element whose `kind`, "fill" or "stroke", has a color.

    Examples
    --------
    >>> paint("fill", 1)
    {'class_': 'fill-series-2', 'fill': '#e69f00'}
    >>> paint("stroke", "muted"), paint("fill", None)
    ({'stroke': 'currentColor', 'stroke_opacity': 0.72}, {'fill': 'none'})
    """
    if color is None:
        return {kind: "none"}
    strength = opacity * (STRENGTHS[color] if isinstance(color, str) else 1.0)
    colors: dict[str, str | float | None] = {kind: "currentColor"}
    if not isinstance(color, str):
        colors = {kind: series_color(color)}
        if color < len(SERIES):
            colors = {"class_": f"{kind}-series-{color + 1}", **colors}
    if strength < 1:
        colors[f"{kind}_opacity"] = strength
    return colors


def variables(colors: tuple[str, ...]) -> str:
    """The colors of series as variables of a style sheet."""
    return "".join(f"--series-{n}:{color};" for n, color in enumerate(colors, 1))


# Rules that a page needs for its pictures to follow the reader's choice of light and dark.
PAGE_COLORS = (
    f":root{{{variables(_LIGHT)}}}"
    f"@media (prefers-color-scheme:dark){{:root{{{variables(_DARK)}}}}}"
    f"@media print{{:root{{{variables(_LIGHT)}}}}}"
    + "".join(
        f".{kind}-series-{n}{{{kind}:var(--series-{n})}}"
        for n in range(1, len(SERIES) + 1)
        for kind in ("fill", "stroke")
    )
)
