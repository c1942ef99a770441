"""Drawings: lines, boxes, dots and words at their places, as SVG or in matplotlib axes.

Coordinates are in points, from the left upper corner. Text and lines have the color of the page
around them (`currentColor`) and the sheet is transparent, so that a drawing reads on light and on
dark pages. Everything is set by attributes, without style sheets, scripts or references, so the
strictest content policy of a page does not change it. The same drawing gives the same text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from novum.display.markup import Markup, element, printable, rounded
from novum.display.palette import STRENGTHS, Color, paint, series_color

if TYPE_CHECKING:
    from novum.numerics import Floats

FONT_SIZE = 12.0
_FONT = "Helvetica, Arial, sans-serif"
# Widths of letters in ems, on the wide side of common sans-serif fonts: nobody knows which one the
# reader's page has.
_NARROW, _LETTER, _CAPITAL, _WIDE = 0.38, 0.63, 0.74, 1.0
_POINTS_PER_INCH = 72.0
_FIGURE_INCHES = (2.0, 40.0)
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}

Point = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Path:
    """A line through points, a filled area, or (`bends`) curves that leave and arrive upright."""

    points: Sequence[Point]
    color: Color | None = "ink"
    width: float = 1.0
    opacity: float = 1.0
    dash: Sequence[float] = ()
    fill: Color | None = None
    bends: bool = False

    def _svg(self) -> Markup:
        (x, y), *others = self.points
        commands = [f"M{rounded(x)} {rounded(y)}"]
        for a, b in others:
            if self.bends and abs(a - x) >= 0.05:
                half = rounded((y + b) / 2)
                commands.append(
                    f"C{rounded(x)} {half} {rounded(a)} {half} {rounded(a)} {rounded(b)}"
                )
            else:
                commands.append(f"L{rounded(a)} {rounded(b)}")
            x, y = a, b
        if self.fill is not None:
            return element(
                "path", d="".join(commands) + "Z", **paint("fill", self.fill, self.opacity)
            )
        return element(
            "path",
            d="".join(commands),
            fill="none",
            **paint("stroke", self.color, self.opacity),
            stroke_width=None if self.width == 1 else self.width,
            stroke_dasharray=" ".join(map(rounded, self.dash)) or None,
        )

    def _plot(self, ax: Any, scale: float) -> None:
        x, y = zip(*self.points, strict=True)
        if self.fill is not None:
            ax.fill(x, y, **_mpl(self.fill, self.opacity), lw=0)
            return
        style = (0, tuple(self.dash)) if self.dash else "-"
        ax.plot(x, y, ls=style, lw=self.width * scale, zorder=1, **_mpl(self.color, self.opacity))


@dataclass(frozen=True, eq=False)
class Box:
    """A rectangle by its left upper corner, filled and framed or either."""

    x: float
    y: float
    width: float
    height: float
    fill: Color | None = None
    opacity: float = 1.0
    frame: Color | None = None
    frame_width: float = 1.0
    radius: float = 0.0

    def _svg(self) -> Markup:
        painted = paint("fill", self.fill, self.opacity)
        if self.frame is not None:
            classes = painted.pop("class_", None)
            painted |= paint("stroke", self.frame)
            words = [str(c) for c in (classes, painted.get("class_")) if c]
            painted["class_"] = " ".join(words) or None
            painted["stroke_width"] = None if self.frame_width == 1 else self.frame_width
        return element(
            "rect",
            x=self.x,
            y=self.y,
            width=self.width,
            height=self.height,
            rx=self.radius or None,
            **painted,
        )

    def _plot(self, ax: Any, scale: float) -> None:
        from matplotlib.patches import FancyBboxPatch, Rectangle

        face = _mpl(self.fill, self.opacity) if self.fill is not None else {"color": "none"}
        edge = _mpl(self.frame)["color"] if self.frame is not None else "none"
        paints: dict[str, Any] = {
            "fc": face["color"],
            "ec": edge,
            "alpha": face.get("alpha"),
            "lw": self.frame_width * scale,
        }
        corner = (self.x, self.y)
        if self.radius:
            style = f"round,pad=0,rounding_size={self.radius}"
            ax.add_patch(FancyBboxPatch(corner, self.width, self.height, boxstyle=style, **paints))
        else:
            ax.add_patch(Rectangle(corner, self.width, self.height, **paints))


@dataclass(frozen=True, eq=False)
class Dots:
    """Dots of one size and color; hollow ones are rings."""

    x: Sequence[float] | Floats
    y: Sequence[float] | Floats
    radius: float
    color: Color = 0
    opacity: float = 1.0
    hollow: bool = False

    def _svg(self) -> Markup:
        painted = paint("stroke" if self.hollow else "fill", self.color, self.opacity)
        hole = {"fill": "none"} if self.hollow else {}
        dots = (
            element("circle", cx=x, cy=y, r=self.radius)
            for x, y in zip(self.x, self.y, strict=True)
        )
        return element("g", dots, **painted, **hole)

    def _plot(self, ax: Any, scale: float) -> None:
        color = _mpl(self.color, self.opacity)
        face = {"markerfacecolor": "none"} if self.hollow else {}
        ax.plot(self.x, self.y, "o", ms=2 * self.radius * scale, zorder=2, **color, **face)


@dataclass(frozen=True, eq=False)
class Label:
    """Words whose base line starts, ends or has its middle at a place; `turn` is in degrees."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    bold: bool = False
    color: Color = "ink"
    size: float = FONT_SIZE
    turn: float = 0.0
    hover: str = ""

    def _svg(self) -> Markup:
        painted = {} if self.color == "ink" else paint("fill", self.color)
        turn = f"rotate({self.turn:g} {rounded(self.x)} {rounded(self.y)})"
        return element(
            "text",
            element("title", self.hover) if self.hover else None,
            self.text,
            x=self.x,
            y=self.y,
            text_anchor=None if self.anchor == "start" else self.anchor,
            font_weight="bold" if self.bold else None,
            font_size=None if self.size == FONT_SIZE else self.size,
            transform=turn if self.turn else None,
            **painted,
        )

    def _plot(self, ax: Any, scale: float) -> None:
        ax.text(
            self.x,
            self.y,
            literal(self.text),
            fontsize=self.size * scale,
            fontweight="bold" if self.bold else "normal",
            rotation=-self.turn,
            rotation_mode="anchor",
            ha=_ANCHORS[self.anchor],
            va="baseline",
            clip_on=True,
            **_mpl(self.color),
        )


@dataclass(frozen=True, eq=False)
class Group:
    """Shapes that belong together; pointing at them shows `hover`."""

    shapes: Sequence[Shape]
    hover: str = ""

    def _svg(self) -> Markup:
        hover = element("title", self.hover) if self.hover else None
        return element("g", hover, (shape._svg() for shape in self.shapes))

    def _plot(self, ax: Any, scale: float) -> None:
        for shape in self.shapes:
            shape._plot(ax, scale)


Shape = Path | Box | Dots | Label | Group


@dataclass(frozen=True, eq=False)
class Drawing:
    """Shapes on a sheet, with what a reader hears who cannot see them.

    Examples
    --------
    >>> sheet = Drawing(20, 10, [Path([(0, 5), (20, 5)])], "A line")
    >>> print(sheet.as_svg().split("</title>")[1])
    <path d="M0 5L20 5" fill="none" stroke="currentColor"/></svg>
    """

    width: float
    height: float
    shapes: Sequence[Shape]
    title: str
    description: str = ""

    def as_text(self) -> str:
        """The words alone."""
        return printable(f"{self.title}. {self.description}" if self.description else self.title)

    def as_svg(self, key: str = "") -> Markup:
        """SVG source for a file, or with a key for the inside of a page.

        Parameters
        ----------
        key : str
            Start of the ids of title and description; one of its own for every drawing of a page.
        """
        title = {"id": f"{key}-title"} if key else {}
        words = {"id": f"{key}-text"} if key else {}
        names = f"{key}-title {key}-text" if self.description else f"{key}-title"
        about: dict[str, str | None] = {
            "xmlns": "http://www.w3.org/2000/svg",
            "role": "img",
            "aria_label": self.description or self.title,
            "font_family": _FONT,
        }
        if key:
            about = {"role": "img", "aria_labelledby": names, "class_": "plot"}
        return element(
            "svg",
            element("title", self.title, **title),
            element("desc", self.description, **words) if self.description else None,
            (shape._svg() for shape in self.shapes),
            **about,
            width=f"{self.width:.0f}",
            height=f"{self.height:.0f}",
            viewBox=f"0 0 {rounded(self.width)} {rounded(self.height)}",
            font_size=FONT_SIZE,
            fill="currentColor",
        )

    def as_html(self) -> Markup:
        return self.as_svg()

    def plot(self, ax: Any = None) -> Any:
        """Draws into matplotlib axes, by default those of a new figure of fitting size."""
        if ax is None:
            least, most = _FIGURE_INCHES
            sides = (self.width / _POINTS_PER_INCH, self.height / _POINTS_PER_INCH)
            ax = new_axes(tuple(min(max(side, least), most) for side in sides), whole=True)
        ax.set_axis_off()
        ax.set_aspect("equal")
        ax.set_xlim(0, self.width)
        ax.set_ylim(self.height, 0)
        # Points on paper for one unit, so that text keeps to its box.
        size = ax.get_window_extent().size * _POINTS_PER_INCH / ax.figure.dpi
        scale = float(min(size[0] / self.width, size[1] / self.height))
        for shape in self.shapes:
            shape._plot(ax, scale)
        return ax


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Room for a text in a sans-serif font; wide signs of East Asia take an em."""
    return size * sum(map(_ems, text))


def fitting(text: str, room: float, size: float = FONT_SIZE) -> tuple[str, str]:
    """A text cut to the room there is, and the whole of it to point at where it is cut.

    Examples
    --------
    >>> fitting("short", 100.0), fitting("a long name of a column", 100.0)
    (('short', ''), ('a long name …', 'a long name of a column'))
    """
    if text_width(text, size) <= room:
        return text, ""
    left, kept = room - _WIDE * size, 0
    while kept < len(text) and (left := left - size * _ems(text[kept])) >= 0:
        kept += 1
    return f"{text[: max(kept, 1)]}…", text


def _ems(sign: str) -> float:
    if sign in "iljtfrI.,:;'|!()[] ":
        return _NARROW
    if sign in "mMwW%@…−" or unicodedata.east_asian_width(sign) in "WF":
        return _WIDE
    return _CAPITAL if sign.isupper() or sign in "<>=+" else _LETTER


def new_axes(size: Iterable[float] | None = None, *, whole: bool = False) -> Any:
    """Axes of a new matplotlib figure; `whole` ones fill it."""
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib, which is not installed. Install its extra: pip install "
            "'.[plot]' in a copy of the sources; SVG drawings, where there are some, need nothing."
        ) from error
    figsize = None if size is None else tuple(size)
    if whole:
        return pyplot.figure(figsize=figsize).add_axes((0.0, 0.0, 1.0, 1.0))
    return pyplot.subplots(figsize=figsize, layout="constrained")[1]


def literal(text: object, limit: int = 60) -> str:
    """A text as matplotlib shall show it: no formula between dollar signs.

    Examples
    --------
    >>> print(literal("$x$"))
    \\$x\\$
    """
    return printable(str(text), limit).replace("$", r"\$")


def _mpl(color: Color | None, opacity: float = 1.0) -> dict[str, Any]:
    if color is None:
        return {"color": "none"}
    if isinstance(color, str):
        return {"color": "black", "alpha": opacity * STRENGTHS[color]}
    return {"color": series_color(color), "alpha": opacity}
