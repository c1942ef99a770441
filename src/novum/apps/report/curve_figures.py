"""The figures of the report: charts of the record, each with its words and how to read it.

Many classes give many curves, and no reader follows more than a few: the hardest are drawn, and the
caption counts the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from novum.apps.job.record_model import Curve
from novum.apps.report.figures import figure
from novum.apps.report.names import in_words, label
from novum.display import (
    Axis,
    Chart,
    Figure,
    Line,
    Rule,
    Words,
    number,
)
from novum.evaluation import (
    Series,
    calibration_chart,
    confusion_chart,
    curve_marks,
    det_chart,
    observed_chart,
    precision_recall_chart,
    quantiles_chart,
    residuals_chart,
    roc_chart,
    threshold_chart,
)
from novum.numerics import Floats

MOST_CONFUSED = 40
_MOST_NUMBERS = 8
_MOST_CURVES = 5
_MOST_BANDS = 2
# Far from its calibration a model costs many times a blind decision; how many is no news.
_HIGHEST_COST = 2.0
_ALL = 10**9


# --- Curves ---------------------------------------------------------------------------------------


class Points(NamedTuple):
    """Coordinates of a curve, finite, and its band (empty where there is none)."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats


def points(curve: Curve, most: int) -> Points:
    """At most `most` points of a curve, ends included; points that are not finite are left out.

    Examples
    --------
    >>> points(Curve((0, 1, 2, 3, 4), (0, 1, 2, None, 4), (), ()), 3).x.tolist()
    [0.0, 2.0, 4.0]
    """
    n = min(len(curve.x), len(curve.y))
    x, y = (np.array(values[:n], float) for values in (curve.x, curve.y))
    has_band = len(curve.low) == len(curve.high) == n
    low, high = (np.array(v if has_band else [np.nan] * n, float) for v in (curve.low, curve.high))
    kept = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(kept) > most:
        kept = kept[np.unique(np.linspace(0, len(kept) - 1, max(most, 2)).round().astype(int))]
    if not has_band or not np.isfinite(low[kept]).any():
        return Points(x[kept], y[kept], np.empty(0), np.empty(0))
    return Points(x[kept], y[kept], low[kept], high[kept])


def is_drawable(curves: Sequence[Curve]) -> bool:
    """Whether any of the curves has two points or more."""
    return any(len(points(curve, _ALL).x) > 1 for curve in curves)


def hardest(curves: Sequence[Curve], badness: Callable[[Floats, Floats], float]) -> list[Curve]:
    """The curves of largest badness, in their order."""
    values = [badness(*points(curve, _ALL)[:2]) for curve in curves]
    order = sorted(range(len(curves)), key=lambda place: (-values[place], place))
    return [curves[place] for place in sorted(order[:_MOST_CURVES])]


def area_below(x: Floats, y: Floats) -> float:
    """Area between the curve and the axis, whichever way it is traversed."""
    return abs(float(np.trapezoid(y, x)))


def _series(curves: Sequence[Curve], most: int) -> list[Series]:
    """Curves as charts take them: few points, short names; one curve needs no name."""
    series = []
    for curve in curves:
        x, y, low, high = points(curve, most)
        name = label(curve.label) if curve.label.strip() and len(curves) > 1 else ""
        marks = [(a, b, label(words, 60) if words.strip() else "") for a, b, words in curve.marks]
        marks = [mark for mark in marks if None not in mark and np.isfinite(mark[:2]).all()]
        series.append(Series(x, y, name, (x, low, high) if len(low) else None, marks))
    return series


def marks_in_words(curves: Sequence[Curve]) -> str:
    """The marked points as sentences, for a reader who cannot see them."""
    return " ".join(
        f"{label(words, 60) if words.strip() else 'A mark'} at {number(x)}, {number(y)}."
        for curve in curves
        for x, y, words in curve.marks[:5]
    )


def further_words(shown: Sequence[Curve], curves: Sequence[Curve]) -> str:
    """Sentences on the band, where one is drawn, and on the curves that are not."""
    has_band = any(len(points(curve, _ALL).low) for curve in shown)
    words = ""
    if has_band and len(shown) <= _MOST_BANDS:
        words = " The band holds the curve at each place with the confidence of 95 %."
    if len(shown) < len(curves):
        words += f" Of {len(curves)} classes the {len(shown)} hardest are drawn."
    return words


# --- Ranking, calibration, decisions --------------------------------------------------------------


def roc_figure(curves: Sequence[Curve], most: int) -> Figure:
    """Curves with x the false positive rate and y the recall."""
    shown = hardest(curves, lambda x, y: -area_below(x, y))
    area = area_below(*points(shown[0], _ALL)[:2])
    alt = f"Recall against false positive rate. Area below the first curve {number(area, 3)}. "
    chart = roc_chart(_series(shown, most), description=alt + marks_in_words(shown))
    caption = (
        "How many positives are found for how many false alarms, at every threshold. The dotted "
        "diagonal is guessing; the closer to the upper left corner, the better."
    )
    return figure(chart, "roc", caption + further_words(shown, curves))


def precision_recall_figure(curves: Sequence[Curve], most: int) -> Figure:
    """Curves with x the recall and y the precision."""
    shown = hardest(curves, lambda x, y: -area_below(x, y))
    area = area_below(*points(shown[0], _ALL)[:2])
    alt = f"Precision against recall. Area below the first curve {number(area, 3)}. "
    chart = precision_recall_chart(_series(shown, most), description=alt + marks_in_words(shown))
    caption = (
        "Of the rows called positive, how many are (precision), against how many of the positives "
        "are found (recall). It tells more than the ROC curve where positives are rare."
    )
    return figure(chart, "precision-recall", caption + further_words(shown, curves))


def det_figure(curves: Sequence[Curve], most: int) -> Figure:
    """Curves with x the false positive rate and y the miss rate."""
    shown = hardest(curves, area_below)
    alt = "Miss rate against false positive rate on normal-deviate axes. "
    chart = det_chart(_series(shown, most), description=alt + marks_in_words(shown))
    caption = (
        "The two kinds of error against each other, on axes that stretch small rates. Lower is "
        "better. On the dotted diagonal both rates are equal."
    )
    return figure(chart, "det", caption + further_words(shown, curves))


def calibration_figure(curves: Sequence[Curve], most: int) -> Figure:
    """Curves with x the mean probability and y the observed share of each bin."""
    shown = hardest(curves, lambda x, y: float(np.abs(y - x).mean()) if len(x) else 0.0)
    gaps = (
        np.abs(curve_points.y - curve_points.x)
        for curve_points in (points(curve, _ALL) for curve in shown)
    )
    worst = max(float(gap.max(initial=0.0)) for gap in gaps)
    alt = (
        "Observed share against mean predicted probability. The largest distance from the "
        f"diagonal is {number(worst, 2)}."
    )
    caption = (
        "Rows with like probabilities are put together; a dot shows how often the class came true "
        "among them. On the diagonal a probability means what it says; below it probabilities are "
        "too high, above it too low."
    )
    if len(shown) < len(curves):
        caption += f" Of {len(curves)} classes the {len(shown)} hardest are drawn."
    chart = calibration_chart(_series(shown, most), description=alt)
    return figure(chart, "calibration", caption)


def threshold_figure(curves: Sequence[Curve], most: int) -> Figure:
    """Curves with x the threshold and y what it costs, or a measure that is to be large."""
    name = curves[0].label or "cost for each row"
    title, alt = f"{name} at every threshold", f"{name} against threshold. "
    caption = (
        "A low threshold gives false alarms, a high one misses. The ring is the best threshold on "
        "these rows; on others expect a little less. Give costs (--cost) to see what a decision "
        "costs instead."
    )
    if "cost" in name:
        x, y, *_ = points(curves[0], _ALL)
        best = int(np.argmin(y))
        title = "Cost of the decision at every threshold"
        alt = (
            f"Cost against threshold. The least of the first curve is {number(float(y[best]))} at "
            f"{number(float(x[best]))}. "
        )
        caption = (
            "A low threshold gives false alarms, a high one misses; the curve is what both cost "
            "together, on rows the model has not seen. The ring is where the model decides. A flat "
            "valley means that the choice is not critical."
        )
    chart = threshold_chart(_series(curves, most), name, title, alt + marks_in_words(curves))
    return figure(chart, "threshold", caption + further_words(curves, curves))


def bayes_error_figure(curves: Sequence[Curve], most: int) -> Figure:
    """Curves with x the log odds of the effective prior and y the cost."""
    series = _series(curves, most)
    top = max(float(curve.y.max(initial=0.0)) for curve in series)
    chart = Chart(
        Axis("log odds of the effective prior", most=9),
        Axis("normalized cost", (0.0, min(max(1.1, 1.05 * top), _HIGHEST_COST))),
        [Rule(y=1.0), *curve_marks(series)],
        "Cost at every working point",
        "Normalized detection cost against the log odds of the effective prior. "
        + marks_in_words(curves),
    )
    caption = (
        "Priors and costs together make one number, the effective prior; this is the cost at each "
        "of them. Where actual and minimum touch, the scores are well calibrated; above the dotted "
        "line a decision without looking at the row would be cheaper."
    )
    return figure(chart, "bayes-error", caption)


def confusion_figure(
    counts: Sequence[Sequence[float]], classes: Sequence[str], columns: Sequence[str]
) -> Figure:
    """`counts[true][predicted]`; shades are shares of the true class."""
    matrix = np.array(counts, float)
    right = float(np.trace(matrix)) if matrix.shape[0] == matrix.shape[1] else None
    hit = "" if right is None else f" {number(right)} of {number(float(matrix.sum()))} are right."
    chart = confusion_chart(
        matrix,
        [label(name) for name in classes],
        [label(name) for name in columns],
        "What is taken for what",
        f"Rows of {len(classes)} true classes by what was decided.{hit}",
    )
    has_numbers = max(matrix.shape) <= _MOST_NUMBERS
    if not has_numbers:
        chart = replace(chart, marks=[m for m in chart.marks if not isinstance(m, Words)])
    caption = (
        "Each row is a true class, each column what was decided; on the diagonal the decision is "
        "right. Shades are shares of the true class."
    )
    rest = "" if has_numbers else " The most frequent errors are listed below."
    return figure(chart, "confusion", caption + rest, min(150.0 + 30.0 * len(classes), 400.0))


# --- Residuals ------------------------------------------------------------------------------------


def _of_all(curves: Sequence[Curve], most: int) -> str:
    """A sentence on the dots that are not drawn."""
    n = len(points(curves[0], _ALL).x)
    return f" {most:,} of {n:,} rows are drawn, evenly taken." if n > most else ""


def observed_figure(curves: Sequence[Curve], most: int, key: str = "observed") -> Figure:
    """Points with x predicted and y observed."""
    alt = (
        "Scatter plot of observed against predicted values; the dotted line is where both are "
        "equal."
    )
    caption = (
        "Each dot is a row. On the dotted line prediction and truth agree; a cloud that leaves the "
        "line at the ends means that extremes are pulled to the middle."
    )
    chart = observed_chart(_series(curves, most), description=alt)
    return figure(chart, key, caption + _of_all(curves, most))


def residuals_figure(curves: Sequence[Curve], most: int) -> Figure:
    """Points with x predicted and y observed minus predicted."""
    low, high = np.quantile(points(curves[0], _ALL).y, [0.25, 0.75]).tolist()
    alt = (
        "Residuals against predicted values; half of them lie between "
        f"{number(low, 3)} and {number(high, 3)}."
    )
    caption = (
        "What is left when the prediction is taken away. An even band around zero is good; a bend "
        "means that the model misses a shape, a funnel that errors grow."
    )
    chart = residuals_chart(_series(curves, most), description=alt)
    return figure(chart, "residuals", caption + _of_all(curves, most))


def quantiles_figure(curves: Sequence[Curve], most: int) -> Figure:
    """Points with x normal quantiles and y ordered residuals."""
    alt = "Ordered residuals against normal quantiles, with the line through both quartiles."
    caption = (
        "Normal residuals lie on the dotted line, which goes through both quartiles. Ends that "
        "leave it upwards and downwards mean that large errors are more frequent than a normal law "
        "says."
    )
    chart = quantiles_chart(_series(curves, most), description=alt)
    return figure(chart, "quantiles", caption)


# --- Other curves ---------------------------------------------------------------------------------


def learning_figure(curve: Curve, metric: str, most: int) -> Figure:
    """A curve with x the number of training rows and y the score."""
    x, y, low, high = points(curve, most)
    name = in_words(metric)
    lowest, highest = (low, high) if len(low) else (y, y)
    room = 0.12 * float(np.nanmax(highest) - np.nanmin(lowest)) or 1.0
    dots = Line(x, y, dots=True)
    chart = Chart(
        Axis("training rows", (0.0, 1.04 * float(x.max())), most=8),
        Axis(name, (float(np.nanmin(lowest)) - room, float(np.nanmax(highest)) + room)),
        [*curve_marks(_series([curve], most)), dots],
        "Learning curve",
        f"The {name} goes from {number(float(y[0]), 3)} with {number(float(x[0]))} rows to "
        f"{number(float(y[-1]), 3)} with {number(float(x[-1]))}.",
    )
    caption = (
        "The score on rows left out, for models that learned from fewer rows. A curve that still "
        "gets better at its right end asks for more rows; a flat one asks for other columns or "
        "another model. The band is the interval of the mean."
    )
    return figure(chart, "learning-curve", caption)


def other_figure(name: str, curves: Sequence[Curve], most: int, place: int) -> Figure:
    """A curve that the report knows no picture for, drawn as it is; `place` tells them apart."""
    shown = curves[:6]
    title = label(in_words(name), 60)
    alt = f"Curve of {title}. " + marks_in_words(shown)
    chart = Chart(Axis(most=8), Axis(), curve_marks(_series(shown, most)), title, alt)
    rest = len(shown) < len(curves)
    caption = f"The first {len(shown)} of {len(curves)} curves." if rest else ""
    return figure(chart, f"other-{place}", caption)
