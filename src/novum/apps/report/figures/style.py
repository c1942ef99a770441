"""The one visual style of the report's pictures.

A picture is drawn by matplotlib with the colors of a small palette and no background. On the way
into the page each color becomes a class, and the page's style sheet gives it a value for light and
one for dark; text is text in the page's font. The same values give the same bytes: ids are numbered
anew, the date is left out, and text is measured with the font that matplotlib brings along.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from novum.apps.report.blocks import Figure
from novum.apps.report.numbers import fixed, number
from novum.apps.report.svg import inline_svg

INK = "#000000"
MUTED = "#5b6570"
FAINT = "#d7dce1"
# Told apart by readers with any color vision; the style sheet has the values that are seen.
SERIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#808080")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)), "-", (0, (5, 2)))
PAINTS = {
    INK: "ink",
    MUTED: "muted",
    FAINT: "faint",
    **{color: f"series-{place}" for place, color in enumerate(SERIES, start=1)},
}

WIDE = (7.4, 3.1)
HALF = (4.1, 3.4)
# Pixels of the page for a point of a picture: its text gets the size of the page's small text.
_SCALE = 1.36

_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "novum",
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    # A name may hold dollar signs; it is not a formula.
    "text.parse_math": False,
    "axes.formatter.use_mathtext": False,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.xmargin": 0.02,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.major.size": 0.0,
    "ytick.major.size": 0.0,
    "xtick.major.pad": 5.0,
    "ytick.major.pad": 5.0,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "legend.fontsize": 9.0,
}


def picture(
    draw: Callable[[Any], None],
    *,
    key: str,
    title: str,
    alt: str,
    caption: str,
    size: tuple[float, float] = WIDE,
) -> Figure:
    """A figure of the page.

    Parameters
    ----------
    draw : callable
        Draws into the axes it is given.
    key : str
        Unique on the page.
    title : str
        What is shown.
    alt : str
        The same for a reader who cannot see it: the numbers that matter.
    caption : str
        How to read it.
    size : pair of float
        Inches.
    """
    source = io.StringIO()
    import matplotlib
    from matplotlib.figure import Figure as Sheet

    with matplotlib.rc_context(_settings()), warnings.catch_warnings():
        # Text is drawn by the reader's browser, which has more letters than the font that
        # measures it here.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from", category=UserWarning)
        sheet = Sheet(figsize=size, layout="constrained")
        draw(sheet.subplots())
        sheet.savefig(source, format="svg", metadata={"Date": None}, transparent=True)
    text = source.getvalue()
    drawing = inline_svg(
        text[text.index("<svg") :],
        key=key,
        title=title,
        description=alt,
        paints=PAINTS,
        scale=_SCALE,
    )
    return Figure(title, caption, drawing)


@cache
def _settings() -> Any:
    """Matplotlib's own defaults and ours above them; a user's settings change no report."""
    import matplotlib

    kept = (
        *("axes.", "figure.", "font.", "grid.", "legend.", "lines.", "patch.", "path."),
        *("savefig.", "svg.", "text.", "xaxis.", "xtick.", "yaxis.", "ytick."),
    )
    defaults = {n: v for n, v in matplotlib.rcParamsDefault.items() if n.startswith(kept)}
    return {**defaults, **_SETTINGS}


def plain_ticks(axis: Any, most: int = 6) -> None:
    """Round places, written out with equal decimals; powers of ten would be formulas."""
    from matplotlib.ticker import Formatter, MaxNLocator

    class Plain(Formatter):
        def format_ticks(self, values: Any) -> list[str]:
            return tick_texts([float(value) for value in values])

        def __call__(self, value: float, *_: Any) -> str:
            return tick_texts([float(value)])[0]

    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(Plain())


def tick_texts(values: list[float]) -> list[str]:
    """Numbers with the fewest decimals that tell all of them exactly, the same for each.

    Examples
    --------
    >>> tick_texts([0.8, 0.85, 0.9]), tick_texts([0.0, 2000.0]), tick_texts([0.0, 1e-9])
    (['0.80', '0.85', '0.90'], ['0', '2,000'], ['0', '1e-09'])
    """
    size = max((abs(value) for value in values), default=0.0)
    for decimals in range(6):
        # Places are multiples of a step, up to rounding.
        if all(abs(value - round(value, decimals)) <= 1e-9 * size for value in values):
            return [fixed(value, decimals) for value in values]
    return [number(value) for value in values]


def name_rows(ax: Any, names: list[str]) -> None:
    """Names down the left side, the first at the top, without lines between them."""
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", labelcolor=INK)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.grid(visible=False, axis="y")
    ax.spines["left"].set_visible(False)
