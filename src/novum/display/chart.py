"""Charts: marks between two axes, as SVG, in matplotlib axes, or in words.

A chart is data: lines, bands, clouds of points, bars, rules and words, in the units of its axes.
Where it leaves limits and ticks open, they are found from the marks: all of them with a little
room, at round numbers. What is not finite is not drawn, and what lies outside limits that are
given is cut off at the frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from novum.display.drawing import literal, new_axes
from novum.display.markup import Markup, printable
from novum.display.numbers import number
from novum.display.page import Figure
from novum.display.palette import STRENGTHS, Color, series_color
from novum.numerics import Array, Floats

if TYPE_CHECKING:
    from novum.display.drawing import Drawing

Values = Sequence[float] | Array

_ROOM = 0.04


@dataclass(frozen=True)
class Axis:
    """One side of a chart.

    Attributes
    ----------
    title : str
    limits : pair of float, optional
    ticks : places with their names, optional
        Round numbers by default.
    names : names of places 0, 1, ..., optional
        The axis of categories; on the left side the first is at the top.
    most : int
        Round numbers at most.
    log, grid : bool
    turned : bool
        Whether names stand at an angle.
    """

    title: str = ""
    limits: tuple[float, float] | None = None
    ticks: Sequence[tuple[float, str]] | None = None
    names: Sequence[str] | None = None
    most: int = 6
    log: bool = False
    grid: bool = True
    turned: bool = False

    def span(self, values: Floats) -> tuple[float, float]:
        """Limits that hold all values, or those given."""
        if self.limits is not None:
            return self.limits
        if self.names is not None:
            return -0.6, max(len(self.names), 1) - 0.4
        kept = values[np.isfinite(values)]
        if self.log:
            kept = np.log(kept[kept > 0])
        low, high = (float(kept.min()), float(kept.max())) if kept.size else (0.0, 1.0)
        room = _ROOM * (high - low) or abs(low) * _ROOM or 0.5
        return (np.exp(low - room), np.exp(high + room)) if self.log else (low - room, high + room)


@dataclass(frozen=True, eq=False)
class Line:
    """A line through points, by steps that end at them or straight, with dots or without."""

    x: Values
    y: Values
    label: str = ""
    color: Color = 0
    dash: Sequence[float] = ()
    width: float = 1.8
    opacity: float = 1.0
    dots: bool = False
    steps: bool = False

    def _plot(self, ax: Any) -> None:
        ax.plot(
            self.x,
            self.y,
            marker="o" if self.dots else None,
            markersize=4,
            linestyle=(0, tuple(self.dash)) if self.dash else "-",
            linewidth=self.width,
            drawstyle="steps-pre" if self.steps else "default",
            **_paint(self.color, self.opacity, self.label),
        )


@dataclass(frozen=True, eq=False)
class Band:
    """The area between two limits."""

    x: Values
    low: Values
    high: Values
    label: str = ""
    color: Color = 0
    opacity: float = 0.18
    steps: bool = False

    def _plot(self, ax: Any) -> None:
        low, high = np.asarray(self.low, float), np.asarray(self.high, float)
        finite = np.isfinite(low) & np.isfinite(high)
        if finite.any():
            ax.fill_between(
                self.x,
                low,
                high,
                where=finite,
                step="pre" if self.steps else None,
                linewidth=0,
                **_paint(self.color, self.opacity, self.label),
            )


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points as dots, or as thin upright strokes."""

    x: Values
    y: Values
    label: str = ""
    color: Color = 0
    radius: float = 2.2
    opacity: float = 1.0
    strokes: bool = False

    def _plot(self, ax: Any) -> None:
        paint = _paint(self.color, self.opacity, self.label)
        if self.strokes:
            ax.plot(self.x, self.y, "|", markersize=8, **paint)
        else:
            ax.scatter(self.x, self.y, s=(2 * self.radius) ** 2, linewidth=0, **paint)


@dataclass(frozen=True, eq=False)
class Bars:
    """Rectangles by their sides, each with an opacity of its own or all with one."""

    left: Values
    right: Values
    bottom: Values
    top: Values
    label: str = ""
    color: Color = 0
    opacity: float | Values = 1.0

    @classmethod
    def upright(cls, places: Values, heights: Values, width: float = 0.7, **how: Any) -> Bars:
        """Bars that stand on zero."""
        places, heights = np.asarray(places, float), np.asarray(heights, float)
        zero = np.zeros_like(heights)
        return cls(places - width / 2, places + width / 2, zero, heights, **how)

    @classmethod
    def lying(cls, places: Values, lengths: Values, width: float = 0.7, **how: Any) -> Bars:
        """Bars that start at zero and go to the right."""
        places, lengths = np.asarray(places, float), np.asarray(lengths, float)
        zero = np.zeros_like(lengths)
        return cls(zero, lengths, places - width / 2, places + width / 2, **how)

    def sides(self) -> Iterator[tuple[float, float, float, float, float]]:
        """Left, right, bottom, top and opacity of each."""
        columns = (self.left, self.right, self.bottom, self.top, self.opacity)
        yield from zip(*(c.tolist() for c in np.broadcast_arrays(*columns)), strict=True)

    def _plot(self, ax: Any) -> None:
        label = self.label
        for left, right, bottom, top, opacity in self.sides():
            paint = _paint(self.color, opacity, label)
            # One of them stands for all in the legend.
            label = ""
            ax.bar(left, top - bottom, right - left, bottom, align="edge", linewidth=0, **paint)


@dataclass(frozen=True, eq=False)
class Rule:
    """A dotted line across the whole chart, at one x or at one y."""

    x: float | None = None
    y: float | None = None
    color: Color = "muted"
    label: str = ""

    def _plot(self, ax: Any) -> None:
        paint = _paint(self.color, 1.0, self.label)
        draw = ax.axhline if self.x is None else ax.axvline
        draw(self.y if self.x is None else self.x, linewidth=0.9, linestyle=":", **paint)


@dataclass(frozen=True, eq=False)
class Words:
    """Words at a point, `shift` points away from it; a `ring` marks the point itself."""

    x: float
    y: float
    text: str
    anchor: str = "middle"
    shift: tuple[float, float] = (0.0, 0.0)
    color: Color = "ink"
    ring: bool = False

    def _plot(self, ax: Any) -> None:
        paint = _paint(self.color)
        x, y = self.shift
        if self.ring:
            ax.plot([self.x], [self.y], "o", markersize=7, markerfacecolor="none", **paint)
            x, y = ring_shift(self, ax.get_xlim(), ax.get_ylim())
        sides = {"start": "left", "middle": "center", "end": "right"}
        ax.annotate(
            literal(self.text),
            (self.x, self.y),
            (x, -y),
            textcoords="offset points",
            ha=sides[("start" if x > 0 else "end") if self.ring else self.anchor],
            va="center",
            **paint,
        )


Mark = Line | Band | Cloud | Bars | Rule | Words


@dataclass(frozen=True, eq=False)
class Chart:
    """Marks between two axes.

    Attributes
    ----------
    x, y : Axis
    marks : sequence of marks
        Later ones lie above earlier ones.
    title, description : str
        What is shown, and the same in numbers for a reader who cannot see it.
    width, height : float
        Points.
    square : bool
        Whether both axes are equally long.

    Examples
    --------
    >>> chart = Chart(Axis("rows"), Axis("score"), [Line([1, 2, 3], [0.5, 0.7, 0.8])], "Learning")
    >>> chart.as_svg()[:4]
    '<svg'
    >>> print(chart.as_text())
    Learning
    rows from 1 to 3, score from 0.5 to 0.8
    """

    x: Axis
    y: Axis
    marks: Sequence[Mark]
    title: str = ""
    description: str = ""
    width: float = 720.0
    height: float = 300.0
    square: bool = False

    def extent(self, mark: Mark) -> tuple[Floats, Floats]:
        """All x and all y of a mark."""
        sides: tuple[Any, Any]
        if isinstance(mark, Band):
            sides = (mark.x, np.concatenate([np.asarray(v, float) for v in (mark.low, mark.high)]))
        elif isinstance(mark, Bars):
            sides = (
                np.concatenate([np.ravel(mark.left), np.ravel(mark.right)]),
                np.concatenate([np.ravel(mark.bottom), np.ravel(mark.top)]),
            )
        else:
            sides = ([] if mark.x is None else mark.x, [] if mark.y is None else mark.y)
        x, y = (np.asarray(side, float).ravel() for side in sides)
        return x, y

    @property
    def spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Limits of both axes."""
        extents = [self.extent(mark) for mark in self.marks] or [(np.empty(0), np.empty(0))]
        x, y = (np.concatenate(sides) for sides in zip(*extents, strict=True))
        return self.x.span(x), self.y.span(y)

    def as_text(self) -> str:
        """Title, description, and what the axes reach from and to."""
        reaches = []
        for axis, side in ((self.x, 0), (self.y, 1)):
            values = [self.extent(mark)[side] for mark in self.marks if not isinstance(mark, Words)]
            kept = np.concatenate(values) if values else np.empty(0)
            kept = kept[np.isfinite(kept)]
            if axis.names is not None:
                reaches.append(f"{axis.title or 'names'}: {', '.join(axis.names)}")
            elif kept.size:
                ends = f"{number(float(kept.min()))} to {number(float(kept.max()))}"
                reaches.append(f"{axis.title or 'xy'[side]} from {ends}")
        lines = (self.title, self.description, ", ".join(reaches))
        return "\n".join(printable(line) for line in lines if line)

    def drawing(self) -> Drawing:
        """The chart laid out on a sheet."""
        from novum.display.chart_layout import lay_out

        return lay_out(self)

    def as_svg(self, key: str = "") -> Markup:
        """SVG source; `key` as in `Drawing.as_svg`."""
        return self.drawing().as_svg(key)

    def as_html(self) -> Markup:
        return self.as_svg()

    def figure(self, key: str, caption: str) -> Figure:
        """The chart on a page, with how to read it."""
        return Figure(self.title, caption, self.as_svg(key))

    def plot(self, ax: Any = None) -> Any:
        """Draws into matplotlib axes, by default those of a new figure, and returns them."""
        ax = new_axes() if ax is None else ax
        for mark in sorted(self.marks, key=lambda mark: isinstance(mark, Words)):
            mark._plot(ax)
        _set_axis(self.x, ax.xaxis, ax.set_xlim, ax.set_xscale)
        _set_axis(self.y, ax.yaxis, ax.set_ylim, ax.set_yscale)
        if self.y.names is not None:
            low, high = self.y.span(np.empty(0))
            ax.set_ylim(high, low)
        if self.square:
            ax.set_box_aspect(1)
        if self.title:
            ax.set_title(literal(self.title, 80))
        if any(getattr(mark, "label", "") for mark in self.marks):
            ax.legend(frameon=False, fontsize="small")
        return ax


def interval_chart(
    names: Sequence[str],
    estimates: Sequence[tuple[float | None, float | None, float | None]],
    x: Axis,
    title: str = "",
    description: str = "",
    *,
    colors: Sequence[Color] | None = None,
    below: Sequence[Mark] = (),
) -> Chart:
    """Numbers with their intervals, one below the other.

    Parameters
    ----------
    names : sequence of str
        The first stands at the top.
    estimates : sequence of value, low and high
        What is None or not finite is not drawn.
    x : Axis
    title, description : str
    colors : sequence of colors, optional
        The first of the palette for all by default.
    below : sequence of marks
        What lies under the intervals.

    Examples
    --------
    >>> interval_chart(["a"], [(1.0, 0.5, 1.5)], Axis("effect")).as_text()
    'effect from 0.5 to 1.5, names: a'
    """
    marks: list[Mark] = [*below]
    for place, (value, low, high) in enumerate(estimates):
        color = 0 if colors is None else colors[place]
        if low is not None and high is not None and np.isfinite([low, high]).all():
            ends = ([low, high], [place, place])
            marks.append(Line(*ends, color=color, width=4.5, opacity=0.45))
        if value is not None and np.isfinite(value):
            marks.append(Cloud([value], [place], color=color, radius=3.6))
    height = 60.0 + 26.0 * max(len(names), 2)
    return Chart(x, Axis(names=names), marks, title, description, height=height)


def ring_shift(
    words: Words, x_span: tuple[float, float], y_span: tuple[float, float]
) -> tuple[float, float]:
    """Where words beside a ring have more room: to the right or left, above or below."""
    is_left = words.x <= sum(x_span) / 2
    is_low = words.y <= sum(y_span) / 2
    return 10.0 if is_left else -10.0, -10.0 if is_low else 14.0


def _set_axis(axis: Axis, drawn: Any, set_limits: Any, set_scale: Any) -> None:
    if axis.log:
        set_scale("log")
    drawn.set_label_text(literal(axis.title, 80))
    ticks = list(enumerate(axis.names)) if axis.names is not None else axis.ticks
    if ticks is not None:
        places, names = [place for place, _ in ticks], [literal(name) for _, name in ticks]
        how = {"rotation": 45, "ha": "right"} if axis.turned else {}
        drawn.set_ticks(places, names, **how)
    if axis.limits is not None or axis.names is not None:
        set_limits(*axis.span(np.empty(0)))


def _paint(color: Color, opacity: float = 1.0, label: str = "") -> dict[str, Any]:
    name = {"label": literal(label)} if label else {}
    if isinstance(color, str):
        return {"color": "black", "alpha": opacity * STRENGTHS[color], **name}
    return {"color": series_color(color), "alpha": opacity, **name}
