"""The charts of judged predictions: curves of ranking, calibration, thresholds, residuals.

They are data (`novum.display.Chart`), made from plain curves: the reports of this package draw
them into matplotlib figures and saved pages, the report of a run shows the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from novum.display import DASHES, DOTTED, Axis, Band, Bars, Chart, Cloud, Line, Rule, Words, number
from novum.evaluation.reports.residuals import autocorrelations
from novum.numerics import Floats

if TYPE_CHECKING:
    from novum.evaluation.reports.classification import ClassificationReport
    from novum.evaluation.reports.regression import RegressionReport

# More curves than this cannot be told apart, and bands of more than this hide each other.
_MOST_CURVES = 8
_MOST_BANDS = 2
_MOST_NUMBERS = 15
_MOST_LAGS = 20
# Text on the darkest cell keeps its contrast on light and on dark pages.
_DARKEST = 0.5
# Rates of 0 and 1 are infinitely far away on the axes of deviates; they are drawn at the edge.
_EDGE = 5e-4
_DET_TICKS = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95)
_UNIT = (-0.02, 1.02)
_SQUARE: dict[str, Any] = {"width": 400.0, "height": 350.0, "square": True}


class Series(NamedTuple):
    """A curve with its band and its marked points.

    Attributes
    ----------
    x, y : arrays
    label : str
    band : tuple of x, low and high, optional
    marks : tuples of x, y and words
    """

    x: Any
    y: Any
    label: str = ""
    band: tuple[Any, Any, Any] | None = None
    marks: Sequence[tuple[float, float, str]] = ()


def curve_marks(
    curves: Sequence[Series],
    *,
    steps: bool = False,
    bend: Callable[[Floats], Floats] = lambda values: values,
) -> list[Any]:
    """Lines with bands and marked points, each in its color and dash; `bend` changes the axes."""
    marks: list[Any] = []
    for color, curve in enumerate(curves[:_MOST_CURVES]):
        if curve.band is not None and len(curves) <= _MOST_BANDS:
            x, low, high = (bend(np.asarray(values, float)) for values in curve.band)
            marks.append(Band(x, low, high, color=color, steps=steps))
        x, y = bend(np.asarray(curve.x, float)), bend(np.asarray(curve.y, float))
        marks.append(Line(x, y, curve.label, color, DASHES[color], steps=steps))
        for a, b, words in curve.marks:
            a, b = bend(np.array([a, b], float)).tolist()
            marks.append(Words(a, b, words, ring=True))
    return marks


def roc_chart(curves: Sequence[Series], title: str = "ROC curve", description: str = "") -> Chart:
    """Recall against false positive rates, with the line of guessing."""
    marks = [*curve_marks(curves), Line([0, 1], [0, 1], color="muted", dash=DOTTED, width=0.9)]
    x = Axis("false positive rate", _UNIT)
    y = Axis("recall (true positive rate)", _UNIT)
    return Chart(x, y, marks, title, description, **_SQUARE)


def precision_recall_chart(
    curves: Sequence[Series],
    title: str = "Precision and recall",
    description: str = "",
    *,
    prevalences: Sequence[float] = (),
    steps: bool = False,
) -> Chart:
    """Precision against recall, and the shares of positives."""
    marks = curve_marks(curves, steps=steps)
    marks += [Rule(y=share, color=color) for color, share in enumerate(prevalences)]
    return Chart(
        Axis("recall", _UNIT), Axis("precision", _UNIT), marks, title, description, **_SQUARE
    )


def det_chart(
    curves: Sequence[Series], title: str = "Detection error trade-off", description: str = ""
) -> Chart:
    """Misses against false alarms, on axes of normal deviates.

    On these axes the curve of two normal laws of scores is a straight line, and rare errors get as
    much room as common ones.
    """
    low, high = deviates(np.array([_EDGE, 0.995])).tolist()
    places = deviates(np.array(_DET_TICKS)).tolist()
    ticks = [(at, f"{100 * rate:g} %") for at, rate in zip(places, _DET_TICKS, strict=True)]
    diagonal = Line([low, high], [low, high], color="muted", dash=DOTTED, width=0.9)
    x, y = (
        Axis(name, (low, high), ticks, turned=name == "false positive rate")
        for name in ("false positive rate", "miss rate")
    )
    marks = [*curve_marks(curves, bend=deviates), diagonal]
    return Chart(x, y, marks, title, description, **_SQUARE)


def calibration_chart(
    curves: Sequence[Series], title: str = "Calibration", description: str = ""
) -> Chart:
    """Observed shares against mean probabilities; intervals where they hide nothing."""
    marks: list[Any] = [Line([0, 1], [0, 1], color="muted", dash=DOTTED, width=0.9)]
    for color, (x, y, label, band, _) in enumerate(curves[:_MOST_CURVES]):
        if band is not None and len(curves) == 1:
            ends = zip(*(np.asarray(values, float).tolist() for values in band), strict=True)
            marks += [
                Line([at, at], [low, high], color=color, opacity=0.45) for at, low, high in ends
            ]
        marks.append(Line(x, y, label, color, DASHES[color], 1.2, dots=True))
    return Chart(
        Axis("mean predicted probability", _UNIT),
        Axis("observed share", _UNIT),
        marks,
        title,
        description,
        **_SQUARE,
    )


def threshold_chart(
    curves: Sequence[Series],
    name: str,
    title: str = "",
    description: str = "",
    *,
    best: float | None = None,
    steps: bool = False,
) -> Chart:
    """A measure or a cost against the threshold, with its best place."""
    x, y = (np.concatenate([np.asarray(curve[k], float) for curve in curves]) for k in (0, 1))
    tops = [np.asarray(curve.band[2], float) for curve in curves if curve.band is not None]
    high = np.concatenate([y, *tops])
    high = high[np.isfinite(high)]
    bottom = min(0.0, float(y.min(initial=0.0)))
    top = float(high.max(initial=bottom))
    marks = curve_marks(curves, steps=steps)
    marks += [Rule(x=best)] if best is not None and np.isfinite(best) else []
    return Chart(
        Axis(
            "threshold: rows with a larger score are called positive",
            (float(x.min()), float(x.max())) if x.size and x.max() > x.min() else None,
            most=9,
        ),
        Axis(name, (bottom, top + (0.08 * (top - bottom) or 1.0))),
        marks,
        title,
        description,
    )


def confusion_chart(
    counts: Floats,
    classes: Sequence[str],
    columns: Sequence[str] | None = None,
    title: str = "Confusion matrix",
    description: str = "",
) -> Chart:
    """Shades are shares of the true class; where there is room the counts are written in."""
    columns = classes if columns is None else columns
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts, float), where=totals > 0)
    is_square = counts.shape[0] == counts.shape[1]
    true, decided = np.nonzero(shares)
    # By the square root a share of a hundredth can still be seen.
    shades = _DARKEST * shares[true, decided] ** 0.5
    is_wrong = (true != decided) & is_square
    marks: list[Any] = [
        Bars(
            decided[kept] - 0.47,
            decided[kept] + 0.47,
            true[kept] - 0.47,
            true[kept] + 0.47,
            color=color,
            opacity=shades[kept],
        )
        for color, kept in enumerate((~is_wrong, is_wrong))
    ]
    if max(counts.shape) <= _MOST_NUMBERS:
        marks += [Words(j, i, number(float(n))) for (i, j), n in np.ndenumerate(counts)]
    side = min(46.0, 500.0 / max(counts.shape))
    turned = max(map(len, columns), default=0) > 4
    return Chart(
        Axis("decided", names=columns, turned=turned),
        Axis("true", names=classes),
        marks,
        title,
        description,
        width=170.0 + side * len(columns),
        height=(150.0 if turned else 60.0) + side * len(classes),
    )


def scatter_chart(
    curves: Sequence[Series], x: str, y: str, title: str, description: str = "", *marks: Any
) -> Chart:
    """The first curve as dots with its band, the others as lines, above further marks."""
    drawn = [*marks]
    for color, curve in enumerate(curves[:_MOST_CURVES]):
        if curve.band is not None:
            drawn.append(Band(*curve.band, color=color))
        if color == 0:
            drawn.append(Cloud(curve.x, curve.y, opacity=0.5))
        else:
            drawn.append(Line(curve.x, curve.y, curve.label, color))
    return Chart(
        Axis(x, most=5), Axis(y, most=5), drawn, title, description, width=400.0, height=330.0
    )


def observed_chart(
    curves: Sequence[Series], title: str = "Observed against predicted", description: str = ""
) -> Chart:
    """Observed against predicted numbers, and the line where both are equal."""
    predicted, observed = (np.asarray(values, float) for values in curves[0][:2])
    low = max(predicted.min(initial=np.inf), observed.min(initial=np.inf))
    high = min(predicted.max(initial=-np.inf), observed.max(initial=-np.inf))
    equal = [Line([low, high], [low, high], color="muted", dash=DOTTED, width=0.9)]
    return scatter_chart(
        curves, "predicted", "observed", title, description, *(equal if high > low else [])
    )


def residuals_chart(
    curves: Sequence[Series], title: str = "Residuals", description: str = ""
) -> Chart:
    """Residuals against predictions: a cone is heteroscedasticity, a bend a missing term."""
    names = ("predicted", "observed − predicted")
    return scatter_chart(curves, *names, title, description, Rule(y=0.0))


def quantiles_chart(
    curves: Sequence[Series], title: str = "Law of the residuals", description: str = ""
) -> Chart:
    """Residuals against normal quantiles, and the line through both quartiles."""
    x, y = (np.asarray(values, float) for values in curves[0][:2])
    (x25, x75), (y25, y75) = (np.quantile(values, [0.25, 0.75]) for values in (x, y))
    slope = (y75 - y25) / (x75 - x25) if x75 > x25 else 0.0
    ends = np.array([x.min(), x.max()])
    law = Line(ends, y25 + slope * (ends - x25), color="muted", dash=DOTTED, width=0.9)
    names = ("quantile of the normal law", "quantile of the residuals")
    return scatter_chart(curves, *names, title, description, law)


def deviates(rates: Floats) -> Floats:
    """Normal deviates of rates, held inside the picture."""
    return np.asarray(special.ndtri(np.clip(rates, _EDGE, 1 - _EDGE)))


# --- Charts of reports ----------------------------------------------------------------------------


def classification_charts(report: ClassificationReport) -> list[Chart]:
    """All charts that the report has numbers for.

    Examples
    --------
    >>> from novum.evaluation.reports.classification import ClassificationReport
    >>> report = ClassificationReport([0, 1, 1, 0], [0, 1, 0, 0])
    >>> [chart.title for chart in classification_charts(report)]
    ['Confusion matrix']
    """
    matrix = report.confusion
    charts = [confusion_chart(matrix.counts, [str(label) for label in matrix.classes])]
    curves = list(report.curves.items())[:_MOST_CURVES]
    if curves:
        roc, precision_recall, det = [], [], []
        for label, curves_of_class in curves:
            one = curves_of_class.roc
            name = f"{label}: {one.area!r}"
            roc.append(
                Series(one.false_positive_rate, one.true_positive_rate, name, _band(one.band))
            )
            two = curves_of_class.precision_recall
            recall = np.r_[0.0, two.recall]
            precision = np.r_[two.precision[0], two.precision]
            name = f"{label}: {two.area!r}"
            precision_recall.append(Series(recall, precision, name, _band(two.band)))
            three = curves_of_class.det
            name = f"{label}: {three.equal_error_rate!r}"
            rates = (three.false_positive_rate, three.false_negative_rate)
            det.append(Series(*rates, name, _band(three.band)))
        shares = [curves_of_class.precision_recall.prevalence for _, curves_of_class in curves]
        title = "Precision-recall curve and average"
        charts += [
            roc_chart(roc, "ROC curve and area"),
            precision_recall_chart(precision_recall, title, prevalences=shares, steps=True),
            det_chart(det, "DET curve and equal error rate"),
        ]
    if report.calibration is not None:
        bins = report.calibration
        limits = tuple(np.array([list(one)[:2] for one in bins.intervals]).T)
        band = (bins.probability, *limits) if limits else None
        points = Series(bins.probability, bins.frequency, band=band)
        charts.append(calibration_chart([points], "Calibration curve"))
    if report.threshold_curve is not None:
        curve = report.threshold_curve
        inside = np.isfinite(curve.thresholds)
        points = Series(curve.thresholds[inside], curve.values[inside])
        best, title = curve.best_threshold, f"Best {curve.name}: {curve.best!r}"
        charts.append(threshold_chart([points], curve.name, title, best=best, steps=True))
    return charts


def regression_charts(report: RegressionReport) -> list[Chart]:
    """Predictions, residuals, their law and their order.

    Examples
    --------
    >>> from novum.evaluation.reports.regression import RegressionReport
    >>> len(regression_charts(RegressionReport([1, 2, 3, 5], [1, 2, 4, 4.5])))
    4
    """
    predicted, residuals = report.predictions, report.residuals
    ranked = np.sort(residuals)
    expected = special.ndtri((np.arange(ranked.size) + 0.5) / ranked.size)
    lags = min(_MOST_LAGS, report.n_rows - 1)
    reach = special.ndtri((1 + report.level) / 2) / np.sqrt(report.n_rows)
    order: list[Any] = [Rule(y=0.0), Rule(y=-reach), Rule(y=reach)]
    if np.ptp(residuals) > 0:
        order.append(Bars.upright(np.arange(1, lags + 1), autocorrelations(residuals, lags), 0.4))
    return [
        observed_chart([Series(predicted, predicted + residuals)], f"R2 {report['r2']!r}"),
        residuals_chart([Series(predicted, residuals)], f"RMSE {report['rmse']!r}"),
        quantiles_chart([Series(expected, ranked)], "Normal quantiles"),
        Chart(
            Axis("lag", grid=False),
            Axis("correlation"),
            order,
            "Autocorrelation by order of rows",
            width=400.0,
            height=330.0,
        ),
    ]


def draw(charts: Sequence[Chart], figure: Any = None) -> Any:
    """Charts side by side on a matplotlib figure, a new one by default.

    Figures are made without pyplot, so that drawing many keeps none of them open.
    """
    columns = min(3 if len(charts) > 4 else 2, len(charts))
    lines = -(-len(charts) // columns)
    if figure is None:
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise ImportError(
                "Pictures need matplotlib, which is not installed. Install its extra: pip install "
                "'.[plot]' in a copy of the sources."
            ) from error
        figure = Figure(figsize=(4.6 * columns, 4.0 * lines), layout="constrained")
    for place, chart in enumerate(charts):
        chart.plot(figure.add_subplot(lines, columns, place + 1))
    return figure


def _band(band: Any) -> tuple[Any, Any, Any] | None:
    return None if band is None else (band.x, band.low, band.high)
