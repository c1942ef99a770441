"""The one judgment on rows that nothing was learned from, as the report shows it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import special

from novum.apps.job.record_model import Curve, Estimate, HoldoutRecord
from novum.apps.job.table.task import class_places
from novum.core.decisions import WorkingPoint, median_levels
from novum.core.errors import InputError
from novum.display import about
from novum.evaluation import (
    ClassificationReport,
    Interval,
    RegressionReport,
    bayes_error_curve,
    proportion_interval,
)

# Points of a curve and of a scatter; more cannot be seen.
MOST_POINTS = 200
MOST_DOTS = 1000
# Classes that get a table row and curves of their own.
MOST_CLASSES = 30
_TINY = 1e-12
# Rows below which numbers are given without intervals and tests of residuals.
_FEWEST_NUMBERS = 4
# Draws of the bootstrap, fewer for many rows, where intervals are narrow anyway.
_RESAMPLES = (100, 1000)
_DRAWN_ROWS = 20_000_000

Marks = tuple[tuple[float, float, str], ...]

_TITLES = {
    "roc_auc": "area under the ROC curve",
    "average_precision": "average precision",
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
    "r2": "R2",
    "poisson_deviance": "Poisson deviance",
    "f1": "F1",
    "cllr": "Cllr",
    "mean_level_error": "mean error in levels",
    "quadratic_kappa": "quadratically weighted kappa",
}


# --- Classes --------------------------------------------------------------------------------------


def judge_classes(
    y: Any,
    probabilities: Any,
    classes: Any,
    *,
    positive: Any,
    point: WorkingPoint | None,
    training_priors: Any,
    weight: Any = None,
    ordered: bool = False,
) -> HoldoutRecord:
    """The record of a classifier's probabilities for rows of known class, or of ordered levels.

    Rows that allow no report, such as those of one class alone, get what can be counted.
    """
    best = median_levels if ordered else _likeliest
    decided = np.asarray(classes)[best(probabilities)]
    columns, matrix = _confusion(y, probabilities, decided, classes, point, training_priors, weight)
    try:
        report = ClassificationReport(
            y,
            probabilities=probabilities,
            classes=list(classes),
            ordered=ordered,
            positive=positive,
            working_point=point,
            training_priors=training_priors,
            sample_weight=weight,
            n_resamples=_resamples(len(y)),
        )
        separation = report.separation
    except InputError as error:
        return _counted(y, decided, columns, matrix, str(error))
    return HoldoutRecord(
        n_rows=report.n_rows,
        measures=_estimates({**report.overall, **separation, **report.probability, **report.costs}),
        confusion=matrix,
        confusion_columns=columns,
        class_measures=tuple(
            (str(label), _estimates(report.per_class[label]))
            for label in report.classes[:MOST_CLASSES]
        ),
        curves=_class_curves(report, y, probabilities, training_priors, weight),
        sentences=_class_sentences(report),
    )


def _likeliest(probabilities: Any) -> Any:
    return np.asarray(probabilities).argmax(axis=1)


def _confusion(
    y: Any,
    probabilities: Any,
    predicted: Any,
    classes: Any,
    point: WorkingPoint | None,
    priors: Any,
    weight: Any,
) -> tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]:
    """Weights of the rows by true class and by what is decided for them."""
    labels = list(classes)
    true, decided = class_places(y, classes), class_places(predicted, classes)
    names: tuple[Any, ...] = tuple(labels)
    if point is not None and (np.asarray(priors) > 0).all():
        there = point.ordered(labels)
        names = there.action_names
        decided = there.actions_for(there.retarget(probabilities, priors))
    counts = np.zeros((len(labels), len(names)))
    np.add.at(counts, (true, decided), 1.0 if weight is None else np.asarray(weight, float))
    columns = tuple(str(name) for name in names)
    return columns, tuple(tuple(float(count) for count in row) for row in counts)


def _counted(y: Any, decided: Any, columns: Any, matrix: Any, reason: str) -> HoldoutRecord:
    """What is left to say where a report is not possible."""
    right = decided == np.asarray(y)
    accuracy = estimate_of(proportion_interval(int(right.sum()), len(right)))
    return HoldoutRecord(
        n_rows=len(right),
        measures=(("accuracy", accuracy),),
        confusion=matrix,
        confusion_columns=columns,
        class_measures=(),
        curves={},
        sentences=(
            f"Of {_rows(len(right))} set aside, {100 * right.mean():.1f} % get the right class.",
            f"More cannot be said of these rows: {reason}",
        ),
    )


def _rows(n: int) -> str:
    return f"{n:,} row{'' if n == 1 else 's'}"


def _class_curves(
    report: ClassificationReport, y: Any, probabilities: Any, training_priors: Any, weight: Any
) -> dict[str, tuple[Curve, ...]]:
    by_kind: dict[str, list[Curve]] = {"roc": [], "precision_recall": [], "det": []}
    for label, curves in list(report.curves.items())[:MOST_CLASSES]:
        roc, precision, det = curves.roc, curves.precision_recall, curves.det
        of = str(label)
        by_kind["roc"].append(_curve(roc.false_positive_rate, roc.true_positive_rate, roc.band, of))
        by_kind["precision_recall"].append(
            _curve(precision.recall, precision.precision, precision.band, of)
        )
        by_kind["det"].append(
            _curve(det.false_positive_rate, det.false_negative_rate, det.band, of)
        )
    if report.calibration is not None:
        at = report.calibration
        by_kind["calibration"] = [
            Curve(
                _floats(at.probability),
                _floats(at.frequency),
                tuple(float(one.low) for one in at.intervals),
                tuple(float(one.high) for one in at.intervals),
            )
        ]
    if report.threshold_curve is not None:
        by_kind["threshold"] = _threshold(report)
    if len(report.classes) == 2 and len(np.unique(np.asarray(y))) == 2:
        by_kind["bayes_error"] = _bayes_error(report, y, probabilities, training_priors, weight)
    return {name: tuple(curves) for name, curves in by_kind.items() if curves}


def _threshold(report: ClassificationReport) -> list[Curve]:
    """The curve, or nothing where all rows score alike."""
    curve = report.threshold_curve
    assert curve is not None
    inner = np.isfinite(curve.thresholds)
    if not inner.any():
        return []
    x, y = _thinned(curve.thresholds[inner][::-1], curve.values[inner][::-1])
    mark: Marks = ()
    if math.isfinite(curve.best_threshold) and math.isfinite(curve.best.estimate):
        mark = ((float(curve.best_threshold), float(curve.best.estimate), "best"),)
    return [Curve(x, y, (), (), mark, curve.name.replace("_", " "))]


def _bayes_error(
    report: ClassificationReport, y: Any, probabilities: Any, training_priors: Any, weight: Any
) -> list[Curve]:
    """Actual and minimum cost over effective priors, of log-likelihood ratios."""
    place = report.classes.index(report.positive)
    p = np.clip(np.asarray(probabilities)[:, place], _TINY, 1 - _TINY)
    prior = float(np.clip(np.asarray(training_priors)[place], _TINY, 1 - _TINY))
    other = report.classes[1 - place]
    ratios = special.logit(p) - special.logit(prior)
    curve = bayes_error_curve(y, ratios, classes=(other, report.positive), sample_weight=weight)
    marks: Marks = ()
    point = report.working_point
    if point is not None and point.has_threshold and 0 < point.effective_prior < 1:
        odds = float(special.logit(point.effective_prior))
        at = float(np.interp(odds, curve.log_odds, curve.actual))
        marks = ((odds, at, "the working point"),)
    x = _floats(curve.log_odds)
    return [
        Curve(x, _floats(curve.actual), (), (), marks, "actual"),
        Curve(x, _floats(curve.minimum), (), (), (), "minimum"),
    ]


def _class_sentences(report: ClassificationReport) -> tuple[str, ...]:
    accuracy = report["accuracy"]
    sentences = [
        f"Of {_rows(report.n_rows)} set aside, {100 * accuracy.estimate:.1f} % get the right class "
        f"(between {100 * accuracy.low:.1f} and {100 * accuracy.high:.1f} % with 95 % confidence)."
    ]
    if "mean_level_error" in report.overall:
        off = report["mean_level_error"]
        sentences.insert(
            0,
            f"Predictions of {_rows(report.n_rows)} set aside are off by {about(off.estimate)} "
            f"levels on average (between {about(off.low)} and {about(off.high)} with 95 % "
            "confidence).",
        )
    if "bayes_risk" in report.costs:
        cost = report.costs["bayes_risk"]
        sentences.append(
            f"A decision costs {about(cost.estimate)} on average at the working point."
        )
    return (*sentences, *report.notes)


# --- Numbers --------------------------------------------------------------------------------------


def judge_numbers(y: Any, predicted: Any, *, weight: Any = None) -> HoldoutRecord:
    """The record of a regressor's predictions for rows of known number."""
    if len(y) < _FEWEST_NUMBERS:
        return _few_numbers(np.asarray(y, float), np.asarray(predicted, float))
    report = RegressionReport(y, predicted, sample_weight=weight, n_resamples=_resamples(len(y)))
    error = report["rmse"]
    sentences = [
        f"Predictions of {_rows(report.n_rows)} set aside are off by {about(error.estimate)} (root "
        f"mean square; between {about(error.low)} and {about(error.high)} with 95 % confidence)."
    ]
    sentences += [
        f"{one.name.capitalize()}: {one.detail}."
        for one in report.diagnostics
        if one.verdict() == "a pattern"
    ]
    return HoldoutRecord(
        n_rows=report.n_rows,
        measures=_estimates(report.overall),
        confusion=(),
        confusion_columns=(),
        class_measures=(),
        curves=_number_curves(report, np.asarray(y, np.float64)),
        sentences=(*sentences, *report.notes),
    )


def _few_numbers(y: Any, predicted: Any) -> HoldoutRecord:
    """So few rows have an error, and no interval."""
    error = float(np.sqrt(np.mean((y - predicted) ** 2)))
    return HoldoutRecord(
        n_rows=len(y),
        measures=((_TITLES["rmse"], Estimate(error, None, None)),),
        confusion=(),
        confusion_columns=(),
        class_measures=(),
        curves={},
        sentences=(f"The prediction of {_rows(len(y))} set aside is off by {about(error)}.",),
    )


def _number_curves(report: RegressionReport, y: Any) -> dict[str, tuple[Curve, ...]]:
    rows = _spread_rows(len(y))
    predicted, residuals = report.predictions[rows], report.residuals[rows]
    ordered = np.sort(report.residuals)
    places = (np.arange(len(ordered)) + 0.5) / len(ordered)
    normal, quantile = special.ndtri(places)[rows], ordered[rows]
    return {
        "predicted": (_dots(predicted, y[rows]),),
        "residuals": (_dots(predicted, residuals),),
        "quantiles": (_dots(normal, quantile),),
    }


# --- Plain values ---------------------------------------------------------------------------------


def measure_title(name: str) -> str:
    """The name of a measure in the record of a judgment.

    Examples
    --------
    >>> measure_title("rmse"), measure_title("log_loss")
    ('root mean squared error', 'log loss')
    """
    return _TITLES.get(name, name.replace("_", " "))


def estimate_of(interval: Interval) -> Estimate:
    """An interval as plain numbers; what is no number is None."""
    return Estimate(*map(_finite, (interval.estimate, interval.low, interval.high)))


def _estimates(intervals: Mapping[str, Interval]) -> tuple[tuple[str, Estimate], ...]:
    return tuple(
        (measure_title(name), estimate_of(value))
        for name, value in intervals.items()
        if math.isfinite(value.estimate)
    )


def _curve(x: Any, y: Any, band: Any, label: str) -> Curve:
    """A curve at evenly spread points, with its band at the same ones."""
    xs, ys = _thinned(x, y)
    if band is None:
        return Curve(xs, ys, (), (), (), label)
    low, high = (_floats(np.interp(xs, band.x, side)) for side in (band.low, band.high))
    return Curve(xs, ys, low, high, (), label)


def _thinned(x: Any, y: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    rows = np.unique(np.linspace(0, len(x) - 1, MOST_POINTS).round().astype(int))
    return _floats(np.asarray(x)[rows]), _floats(np.asarray(y)[rows])


def _resamples(n_rows: int) -> int:
    return int(np.clip(_DRAWN_ROWS // max(n_rows, 1), *_RESAMPLES))


def _spread_rows(n: int) -> Any:
    return np.unique(np.linspace(0, n - 1, MOST_DOTS).round().astype(int))


def _dots(x: Any, y: Any) -> Curve:
    return Curve(_floats(x), _floats(y), (), ())


def _floats(values: Iterable[Any]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _finite(value: Any) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None
