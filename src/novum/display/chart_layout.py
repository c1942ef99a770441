"""A chart laid out on a sheet: frame, ticks, grid and legend around the marks.

The legend stands above the frame, where it hides nothing. Room for words is estimated from their
letters, so no font is needed. No word stands over another or beyond the sheet: numbers at an axis
become fewer, titles go on to a second line, crowded names become smaller, names that are too long
are cut and show themselves whole when pointed at, and words beside marks go where there is room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from novum.display.chart import Axis, Band, Bars, Chart, Cloud, Line, Mark, Rule, Words, ring_shift
from novum.display.drawing import (
    FONT_SIZE,
    Box,
    Dots,
    Drawing,
    Group,
    Label,
    Path,
    Point,
    Shape,
    fitting,
    text_width,
)
from novum.display.numbers import round_ticks, tick_texts
from novum.display.palette import DOTTED
from novum.numerics import Floats, Mask

_PAD = 6.0
_LINE = 18.0
_SWATCH = 18.0
# Names at an angle of 40 degrees: their room below the axis for a unit of their length.
_TURN, _SLANT = -40.0, 0.65
_LONGEST_TURNED = 84.0
# Of the width: what names at the left take at most.
_NAMES = 0.47
_SMALLEST = 6.0
_GAP = 8.0


@dataclass(frozen=True, eq=False)
class _Frame:
    """Where the marks are drawn, and which place a value has."""

    left: float
    right: float
    top: float
    bottom: float
    x: Callable[[Floats], Floats]
    y: Callable[[Floats], Floats]


def lay_out(chart: Chart) -> Drawing:
    """All shapes of a chart."""
    x_span, y_span = chart.spans
    y_ticks = _ticks(chart.y, y_span, chart.y.most)
    legend, legend_height = _legend(chart)
    widest = max((text_width(name) for _, name in y_ticks), default=0.0)
    name_room = min(widest, _NAMES * chart.width)
    left = name_room + 2 * _PAD + (_LINE if chart.y.title else 0.0)
    top, right = legend_height + _PAD + 2, chart.width - 3 * _PAD
    below, title = _LINE + 8, _lines(chart.x.title, right - left)
    if chart.x.turned:
        names = [name for _, name in _ticks(chart.x, x_span, chart.x.most)] or [""]
        longest = min(max(map(text_width, names)), _LONGEST_TURNED)
        below = _SLANT * longest + _LINE
        left = max(left, 0.77 * min(text_width(names[0]), _LONGEST_TURNED))
    bottom = chart.height - below - _LINE * len(title) - _PAD
    if chart.square:
        side = min(right - left, bottom - top)
        right, bottom = left + side, top + side
    down = chart.y.names is not None
    frame = _Frame(
        left,
        right,
        top,
        bottom,
        _scale(chart.x, x_span, left, right),
        _scale(chart.y, y_span, *((top, bottom) if down else (bottom, top))),
    )
    width, height = right + 3 * _PAD, bottom + below + _LINE * len(title) + _PAD
    shapes: list[Shape] = [
        *_x_axis(chart.x, x_span, frame, title, bottom + below + 0.75 * FONT_SIZE),
        *_y_axis(chart.y, y_ticks, frame, name_room),
        *legend,
    ]
    for mark in chart.marks:
        if not isinstance(mark, Words):
            shapes += _shapes(mark, frame)
    words = [mark for mark in chart.marks if isinstance(mark, Words)]
    shapes += _words(words, frame, width, x_span, y_span)
    return Drawing(width, height, shapes, chart.title, chart.description)


# --- Axes -----------------------------------------------------------------------------------------


def _scale(
    axis: Axis, span: tuple[float, float], start: float, stop: float
) -> Callable[[Floats], Floats]:
    low, high = np.log(span) if axis.log else span

    def place(values: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.log(values) if axis.log else np.asarray(values, float)
            return start + (at - low) * ((stop - start) / ((high - low) or 1.0))

    return place


def _lines(title: str, room: float) -> list[str]:
    """A title in as many lines as it needs."""
    lines: list[str] = []
    for word in title.split():
        if lines and text_width(f"{lines[-1]} {word}") <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines[:3]


def _ticks(axis: Axis, span: tuple[float, float], most: int) -> list[tuple[float, str]]:
    if axis.names is not None:
        return list(enumerate(axis.names))
    low, high = sorted(span)
    if axis.ticks is not None:
        return [tick for tick in axis.ticks if low <= tick[0] <= high]
    if axis.log:
        powers = np.arange(np.ceil(np.log10(span[0])), np.floor(np.log10(span[1])) + 1)
        places = (10.0 ** powers[:: -(-len(powers) // most) or 1]).tolist()
        return [(place, f"{place:g}") for place in places]
    places = round_ticks(low, high, most)
    return list(zip(places, tick_texts(places), strict=True))


def _x_axis(
    axis: Axis, span: tuple[float, float], frame: _Frame, title: list[str], title_base: float
) -> Iterator[Shape]:
    ticks = _ticks(axis, span, axis.most)
    places = frame.x(np.array([value for value, _ in ticks], float))
    for most in range(axis.most - 1, 1, -1):
        rooms = np.array([text_width(name) for _, name in ticks])
        if axis.names is not None or axis.ticks is not None or len(ticks) < 2:
            break
        if (np.diff(places) >= (rooms[1:] + rooms[:-1]) / 2 + _GAP).all():
            break
        ticks = _ticks(axis, span, most)
        places = frame.x(np.array([value for value, _ in ticks], float))
    apart = float(np.diff(places).min()) if len(ticks) > 1 else frame.right - frame.left
    base = frame.bottom + _PAD + 0.75 * FONT_SIZE + 3
    color = "muted" if axis.names is None else "ink"
    for x, (_, name) in zip(places.tolist(), ticks, strict=True):
        if axis.grid and axis.names is None:
            yield Path([(x, frame.top), (x, frame.bottom)], "faint", 0.8)
        if axis.turned:
            size = min(FONT_SIZE, max(0.85 * apart, _SMALLEST))
            shown, whole = fitting(name, _LONGEST_TURNED, size)
            yield Label(x + 4, base, shown, "end", color=color, size=size, turn=_TURN, hover=whole)
        else:
            shown, whole = fitting(name, apart) if axis.names is not None else (name, "")
            yield Label(x, base, shown, "middle", color=color, hover=whole)
    yield Path([(frame.left, frame.bottom), (frame.right, frame.bottom)], "muted", 0.8)
    middle = (frame.left + frame.right) / 2
    for place, line in enumerate(title):
        shown, whole = fitting(line, 2 * min(middle, frame.right + 3 * _PAD - middle))
        yield Label(middle, title_base + _LINE * place, shown, "middle", color="muted", hover=whole)


def _y_axis(
    axis: Axis, ticks: list[tuple[float, str]], frame: _Frame, name_room: float
) -> Iterator[Shape]:
    places = frame.y(np.array([value for value, _ in ticks], float)).tolist()
    apart = abs(places[1] - places[0]) if len(places) > 1 else frame.bottom - frame.top
    size = min(FONT_SIZE, max(0.85 * apart, _SMALLEST)) if axis.names is not None else FONT_SIZE
    for y, (_, name) in zip(places, ticks, strict=True):
        if axis.grid and axis.names is None:
            yield Path([(frame.left, y), (frame.right, y)], "faint", 0.8)
        color = "muted" if axis.names is None else "ink"
        shown, whole = fitting(name, name_room + 0.1, size)
        at = (frame.left - _PAD, y + 0.35 * size)
        yield Label(*at, shown, "end", color=color, size=size, hover=whole)
    if axis.names is None:
        yield Path([(frame.left, frame.top), (frame.left, frame.bottom)], "muted", 0.8)
    if axis.title:
        middle = (frame.top + frame.bottom) / 2
        shown, whole = fitting(axis.title, frame.bottom - frame.top + 2 * _PAD)
        at = (frame.left - name_room - 2 * _PAD - 3, middle)
        yield Label(*at, shown, "middle", color="muted", turn=-90.0, hover=whole)


def _legend(chart: Chart) -> tuple[list[Shape], float]:
    """Labels of marks with a piece of each, in lines of the chart's width; and their height."""
    shapes: list[Shape] = []
    x, y = 2 * _PAD, 0.0
    for mark in chart.marks:
        label = getattr(mark, "label", "")
        if not label:
            continue
        y = y or _LINE
        label, whole = fitting(label, chart.width - _SWATCH - 5 * _PAD)
        room = _SWATCH + _PAD + text_width(label) + 2 * _PAD
        if x > 2 * _PAD and x + room > chart.width:
            x, y = 2 * _PAD, y + _LINE
        middle = y - 0.35 * FONT_SIZE
        if isinstance(mark, (Line, Rule)):
            dash = mark.dash if isinstance(mark, Line) else DOTTED
            shapes.append(Path([(x, middle), (x + _SWATCH, middle)], mark.color, 1.8, dash=dash))
        elif isinstance(mark, Cloud):
            shapes.append(Dots([x + _SWATCH / 2], [middle], 4.0, mark.color))
        elif isinstance(mark, (Band, Bars)):
            opacity = mark.opacity if isinstance(mark.opacity, float) else 1.0
            shapes.append(Box(x, middle - 5, _SWATCH, 10, mark.color, opacity))
        shapes.append(Label(x + _SWATCH + _PAD, y, label, hover=whole))
        x += room
    return shapes, y


# --- Marks ----------------------------------------------------------------------------------------


def _shapes(mark: Mark, frame: _Frame) -> Iterator[Shape]:
    if isinstance(mark, Line):
        x, y = frame.x(np.asarray(mark.x, float)), frame.y(np.asarray(mark.y, float))
        if mark.steps:
            x, y = np.repeat(x, 2)[:-1], np.repeat(y, 2)[1:]
        for piece in _clipped(x, y, frame):
            yield Path(piece, mark.color, mark.width, mark.opacity, mark.dash)
        if mark.dots:
            yield from _dots(x, y, frame, 3.0, mark)
    elif isinstance(mark, Cloud):
        x, y = frame.x(np.asarray(mark.x, float)), frame.y(np.asarray(mark.y, float))
        if mark.strokes:
            inside = _inside(x, y, frame)
            for a, b in zip(x[inside].tolist(), y[inside].tolist(), strict=True):
                yield Path([(a, b - 5), (a, b + 5)], mark.color, 1.0, mark.opacity)
        else:
            yield from _dots(x, y, frame, mark.radius, mark)
    elif isinstance(mark, Band):
        yield from _band(mark, frame)
    elif isinstance(mark, Bars):
        for left, right, bottom, top, opacity in mark.sides():
            xs = np.clip(frame.x(np.array([left, right])), frame.left, frame.right)
            ys = np.clip(frame.y(np.array([bottom, top])), frame.top, frame.bottom)
            if np.isfinite(xs).all() and np.isfinite(ys).all():
                (x, x_end), (y, y_end) = sorted(xs.tolist()), sorted(ys.tolist())
                yield Box(x, y, x_end - x, y_end - y, mark.color, opacity)
    elif isinstance(mark, Rule):
        if mark.x is None:
            at = float(frame.y(mark.y))  # type: ignore[arg-type]
            ends = [(frame.left, at), (frame.right, at)]
        else:
            at = float(frame.x(mark.x))  # type: ignore[arg-type]
            ends = [(at, frame.top), (at, frame.bottom)]
        middle = np.array(ends).mean(axis=0)
        if _inside(middle[:1], middle[1:], frame).all():
            yield Path(ends, mark.color, 0.9, dash=DOTTED)


def _dots(
    x: Floats, y: Floats, frame: _Frame, radius: float, mark: Line | Cloud
) -> Iterator[Shape]:
    inside = _inside(x, y, frame)
    if inside.any():
        yield Dots(x[inside].tolist(), y[inside].tolist(), radius, mark.color, mark.opacity)


def _band(mark: Band, frame: _Frame) -> Iterator[Shape]:
    x, low, high = (np.asarray(values, float) for values in (mark.x, mark.low, mark.high))
    if mark.steps:
        x, low, high = np.repeat(x, 2)[:-1], np.repeat(low, 2)[1:], np.repeat(high, 2)[1:]
    x = np.clip(frame.x(x), frame.left, frame.right)
    low, high = (np.clip(frame.y(v), frame.top, frame.bottom) for v in (low, high))
    finite = np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
    for start, stop in _runs(finite):
        piece = slice(start, stop)
        there = list(zip(x[piece].tolist(), low[piece].tolist(), strict=True))
        back = list(zip(x[piece].tolist(), high[piece].tolist(), strict=True))[::-1]
        if len(there) > 1:
            yield Path([*there, *back], None, opacity=mark.opacity, fill=mark.color)


def _words(
    marks: list[Words],
    frame: _Frame,
    width: float,
    x_span: tuple[float, float],
    y_span: tuple[float, float],
) -> Iterator[Shape]:
    """Words at their points; those beside a ring stand where they hide no others."""
    taken: list[tuple[float, float, float, float]] = []
    for mark in marks:
        x, y = float(frame.x(mark.x)), float(frame.y(mark.y))  # type: ignore[arg-type]
        if not np.isfinite([x, y]).all():
            continue
        shapes: list[Shape] = []
        if not mark.ring:
            (right, down), anchor = mark.shift, mark.anchor
            places = [(x + right, y + down + 0.35 * FONT_SIZE, anchor, width)]
        else:
            shapes.append(Dots([x], [y], 4.5, mark.color, hollow=True))
            right, down = ring_shift(mark, x_span, y_span)
            places = []
            for side in (right, -right):
                anchor, room = ("start", width - x - 12) if side > 0 else ("end", x - 12)
                lower = (down, 4.0 - down, down - _LINE, down + _LINE)
                places += [(x + side, y + drop, anchor, room) for drop in lower]
            places.sort(key=lambda place: place[3] < text_width(mark.text))
        if mark.text:
            # Where all places are taken, the first is as good as the others.
            boxes = [(_box(mark.text, *place), place) for place in places]
            free = [place for box, place in boxes if not _hits(box, taken, frame)]
            at_x, at_y, anchor, room = free[0] if free else places[0]
            shown, whole = fitting(mark.text, room)
            taken.append(_box(shown, at_x, at_y, anchor, room))
            label = Label(at_x, at_y, shown, anchor, color=mark.color, hover=whole)
            shapes.append(label)
        yield Group(shapes)


def _box(
    text: str, x: float, y: float, anchor: str, room: float
) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of words."""
    size = min(text_width(text), room)
    left = x - {"start": 0.0, "middle": size / 2, "end": size}[anchor]
    return left, left + size, y - FONT_SIZE, y + 0.3 * FONT_SIZE


def _hits(
    box: tuple[float, float, float, float],
    taken: list[tuple[float, float, float, float]],
    frame: _Frame,
) -> bool:
    left, right, top, bottom = box
    over = any(left < b and a < right and top < d and c < bottom for a, b, c, d in taken)
    return over or top < frame.top - _PAD or bottom > frame.bottom


def _inside(x: Floats, y: Floats, frame: _Frame) -> Mask:
    slack = 0.01
    inside: Mask = (
        (x >= frame.left - slack)
        & (x <= frame.right + slack)
        & (y >= frame.top - slack)
        & (y <= frame.bottom + slack)
    )
    return inside


def _runs(kept: Mask) -> Iterator[tuple[int, int]]:
    """Starts and stops of stretches where `kept` is true."""
    edges = np.flatnonzero(np.diff(np.r_[False, kept, False].astype(int)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _clipped(x: Floats, y: Floats, frame: _Frame) -> Iterator[list[Point]]:
    """The pieces of a line that lie inside the frame (Liang and Barsky's way, by segments)."""
    piece: list[Point] = []
    points = list(zip(x.tolist(), y.tolist(), strict=True))
    for (x0, y0), (x1, y1) in pairwise(points):
        start, stop = 0.0, 1.0
        sides = (
            (x0 - x1, x0 - frame.left),
            (x1 - x0, frame.right - x0),
            (y0 - y1, y0 - frame.top),
            (y1 - y0, frame.bottom - y0),
        )
        for out, room in sides:
            if not np.isfinite(out) or not np.isfinite(room) or (out == 0 and room < -0.01):
                start = 2.0
            elif out > 0:
                stop = min(stop, room / out)
            elif out < 0:
                start = max(start, room / out)
        if start > stop:
            if len(piece) > 1:
                yield piece
            piece = []
            continue
        if start > 0 or not piece:
            if len(piece) > 1:
                yield piece
            piece = [(x0 + start * (x1 - x0), y0 + start * (y1 - y0))]
        piece.append((x0 + stop * (x1 - x0), y0 + stop * (y1 - y0)))
        if stop < 1:
            yield piece
            piece = []
    if len(piece) > 1:
        yield piece
