"""The picture of a classification report: confusion matrix, curves, calibration, threshold.

Matplotlib is imported when a picture is drawn (`pip install novum[plot]`). Figures are made without
pyplot, so that drawing many keeps none of them open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from novum.core.text import printable
from novum.evaluation.measures.calibration_curve import CalibrationCurve
from novum.evaluation.measures.confusion import ConfusionMatrix
from novum.evaluation.measures.curves import Curves
from novum.evaluation.measures.thresholds import ThresholdCurve

if TYPE_CHECKING:
    from novum.evaluation.reports.classification import ClassificationReport

# More curves than this cannot be told apart.
_MOST_CURVES = 10
_MOST_NUMBERS = 12
_DET_TICKS = np.array([0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999])


def draw_report(report: ClassificationReport, figure: Any = None) -> Any:
    """All pictures that the report has numbers for, on one figure.

    Examples
    --------
    >>> from novum.evaluation.reports.classification import ClassificationReport
    >>> figure = draw_report(ClassificationReport([0, 1, 1, 0], [0, 1, 0, 0]))
    >>> [axes.get_title() for axes in figure.axes]
    ['Confusion matrix']
    """
    panels: list[Any] = [lambda ax: draw_confusion(ax, report.confusion)]
    curves = dict(list(report.curves.items())[:_MOST_CURVES])
    if curves:
        panels.append(lambda ax: draw_roc(ax, curves))
        panels.append(lambda ax: draw_precision_recall(ax, curves))
        panels.append(lambda ax: draw_det(ax, curves))
    if report.calibration is not None:
        calibration = report.calibration
        panels.append(lambda ax: draw_calibration(ax, calibration))
    if report.threshold_curve is not None:
        threshold = report.threshold_curve
        panels.append(lambda ax: draw_threshold(ax, threshold))
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    figure = new_figure(figure, (4.6 * columns, 4.0 * lines))
    for place, panel in enumerate(panels):
        panel(figure.add_subplot(lines, columns, place + 1))
    return figure


def new_figure(figure: Any, size: tuple[float, float]) -> Any:
    """The figure given, or an empty one."""
    if figure is not None:
        return figure
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib, which is not installed. Install novum with its plot extra."
        ) from error
    return Figure(figsize=size, layout="constrained")


# --- Panels ---------------------------------------------------------------------------------------


def draw_confusion(ax: Any, matrix: ConfusionMatrix) -> None:
    """Shares of each true class, with the counts written in."""
    shares = np.nan_to_num(matrix.shares())
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    places = np.arange(len(matrix.classes))
    if len(places) <= _MOST_NUMBERS:
        names = [literal(label) for label in matrix.classes]
        ax.set_xticks(places, names, rotation=45, ha="right")
        ax.set_yticks(places, names)
        for (i, j), count in np.ndenumerate(matrix.counts):
            color = "white" if shares[i, j] > 0.5 else "black"
            ax.text(j, i, f"{count:.4g}", ha="center", va="center", color=color)
    ax.set_xlabel("predicted")
    ax.set_ylabel("true")
    ax.set_title("Confusion matrix")


def draw_roc(ax: Any, curves: dict[Any, Curves]) -> None:
    """True against false positive rates, with bands."""
    for label, found in curves.items():
        roc = found.roc
        (line,) = ax.plot(
            roc.false_positive_rate,
            roc.true_positive_rate,
            label=f"{literal(label)}: {roc.area!r}",
        )
        if roc.band is not None and len(curves) <= 3:
            ax.fill_between(
                roc.band.x, roc.band.low, roc.band.high, color=line.get_color(), alpha=0.2, lw=0
            )
    ax.plot([0, 1], [0, 1], color="0.6", lw=0.8, ls="--")
    _finish(ax, "ROC curve and area", "false positive rate", "true positive rate", "lower right")


def draw_precision_recall(ax: Any, curves: dict[Any, Curves]) -> None:
    """Precision against recall as steps, with bands and the share of positives."""
    for label, found in curves.items():
        curve = found.precision_recall
        recall = np.r_[0.0, curve.recall]
        precision = np.r_[curve.precision[0], curve.precision]
        text = f"{literal(label)}: {curve.area!r}"
        (line,) = ax.plot(recall, precision, drawstyle="steps-pre", label=text)
        ax.axhline(curve.prevalence, color=line.get_color(), lw=0.8, ls="--")
        if curve.band is not None and len(curves) <= 3:
            band = curve.band
            ax.fill_between(
                band.x, band.low, band.high, color=line.get_color(), alpha=0.2, lw=0, step="pre"
            )
    ax.set_ylim(0, 1.03)
    _finish(ax, "Precision-recall curve and average", "recall", "precision", "lower left")


def draw_det(ax: Any, curves: dict[Any, Curves]) -> None:
    """Miss against false alarm rates on normal-deviate axes."""
    for label, found in curves.items():
        det = found.det
        inside = (det.false_positive_rate > 0) & (det.false_negative_rate > 0)
        inside &= (det.false_positive_rate < 1) & (det.false_negative_rate < 1)
        text = f"{literal(label)}: {det.equal_error_rate!r}"
        x, y = det.false_positive_rate[inside], det.false_negative_rate[inside]
        (line,) = ax.plot(special.ndtri(x), special.ndtri(y), label=text)
        if det.band is not None and len(curves) <= 3:
            # A deviate of rate 0 or 1 is infinite: held at the edge of the picture.
            edge = 1e-4
            low, high = (np.clip(limit, edge, 1 - edge) for limit in (det.band.low, det.band.high))
            kept = (det.band.x > 0) & (det.band.x < 1)
            x = special.ndtri(det.band.x[kept])
            low, high = special.ndtri(low[kept]), special.ndtri(high[kept])
            ax.fill_between(x, low, high, color=line.get_color(), alpha=0.2, lw=0)
    ticks, names = special.ndtri(_DET_TICKS), [f"{100 * tick:g} %" for tick in _DET_TICKS]
    ax.set_xticks(ticks, names, rotation=45)
    ax.set_yticks(ticks, names)
    ax.set_xlim(-3.2, 3.2)
    ax.set_ylim(-3.2, 3.2)
    ax.plot([-3.2, 3.2], [-3.2, 3.2], color="0.6", lw=0.8, ls="--")
    _finish(ax, "DET curve and equal error rate", "false positive rate", "miss rate", "upper right")


def draw_calibration(ax: Any, curve: CalibrationCurve) -> None:
    """Observed frequencies against mean probabilities, with intervals."""
    low = np.array([limits.low for limits in curve.intervals])
    high = np.array([limits.high for limits in curve.intervals])
    error = np.maximum(np.stack([curve.frequency - low, high - curve.frequency]), 0)
    ax.plot([0, 1], [0, 1], color="0.6", lw=0.8, ls="--")
    ax.errorbar(curve.probability, curve.frequency, yerr=error, fmt="o-", capsize=2)
    _finish(ax, "Calibration curve", "mean probability", "observed frequency", None)


def draw_threshold(ax: Any, curve: ThresholdCurve) -> None:
    """A measure against the threshold, with its best place."""
    inside = np.isfinite(curve.thresholds)
    ax.plot(curve.thresholds[inside], curve.values[inside], drawstyle="steps-pre")
    if np.isfinite(curve.best_threshold):
        ax.axvline(curve.best_threshold, color="tab:red", lw=0.8, ls="--")
    title = f"Best {curve.name}: {curve.best!r}"
    _finish(ax, title, "threshold of the score", curve.name, None)


def _finish(ax: Any, title: str, x: str, y: str, legend: str | None) -> None:
    ax.set_title(title)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if legend is not None:
        ax.legend(loc=legend, frameon=False, fontsize="small")


def literal(label: Any) -> str:
    """A label as matplotlib shall show it: no formula between dollar signs."""
    return printable(str(label), 24).replace("$", r"\$")
