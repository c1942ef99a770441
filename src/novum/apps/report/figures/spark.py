"""Small histograms that stand in the cells of a table.

A table has one for each column, so they are a single path each, written directly: a sheet of
matplotlib with its axes would make the page many times larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

_WIDTH = 96.0
_HEIGHT = 24.0
_MOST_BARS = 32


def spark_bars(counts: Sequence[float], words: str) -> Markup | None:
    """Bars of the given heights, or None without any; `words` say what they show.

    Examples
    --------
    >>> print(spark_bars([1, 2], "two bars").split("path ")[1])
    d="M0.5 24V12.0H47.5V24ZM48.5 24V0.0H95.5V24Z"/></svg>
    """
    from markupsafe import Markup, escape

    bars = _merged([max(float(count), 0.0) for count in counts])
    highest = max(bars, default=0.0)
    if not highest > 0:
        return None
    width = _WIDTH / len(bars)
    path = "".join(
        f"M{place * width + 0.5:g} 24V{_HEIGHT * (1 - bar / highest):.1f}"
        f"H{(place + 1) * width - 0.5:g}V24Z"
        for place, bar in enumerate(bars)
        if bar > 0
    )
    return Markup(
        f'<svg class="spark" role="img" aria-label="{escape(words)}" viewBox="0 0 96 24" '
        f'width="96" height="24"><path d="{path}"/></svg>'
    )


def share_bar(share: float, words: str) -> Markup:
    """A bar that fills `share` of its frame."""
    from markupsafe import Markup, escape

    filled = round(64 * min(max(share, 0.0), 1.0), 1)
    return Markup(
        f'<svg class="share" role="img" aria-label="{escape(words)}" viewBox="0 0 64 6" width="64" '
        f'height="6"><rect class="frame" width="64" height="6" rx="3"/>'
        f'<rect width="{filled:g}" height="6" rx="3"/></svg>'
    )


def _merged(counts: list[float]) -> list[float]:
    """Neighbors added up until there are few enough bars to see."""
    step = -(-len(counts) // _MOST_BARS) or 1
    return [sum(counts[start : start + step]) for start in range(0, len(counts), step)]
