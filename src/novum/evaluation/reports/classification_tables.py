"""The tables that a classification report shows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from novum.display import Table
from novum.evaluation.measures.interval import Interval
from novum.evaluation.reports.classification_summary import SHARES, f_score_name

if TYPE_CHECKING:
    from novum.evaluation.reports.classification import ClassificationReport

# Wider matrices are no longer read from text.
_MOST_CLASSES = 12
_MOST_LISTED = 60


def classification_tables(report: ClassificationReport) -> list[Table]:
    """Tables in the order in which a reader wants them."""
    tables = [_named("All rows", report.overall), _confusion(report), _per_class(report)]
    if len(report.classes) > 2:
        tables.append(_averages(report))
    if report.curves:
        tables.append(_separation(report))
    if report.probability:
        tables.append(_named("Probabilities and ratios (less is better)", report.probability))
    if report.costs:
        tables.append(_costs(report))
    if report.threshold_curve is not None:
        tables.append(_threshold(report))
    return tables


def _named(caption: str, values: dict[str, Interval]) -> Table:
    rows = tuple(
        (name.replace("_", " "), shown(value), value.method) for name, value in values.items()
    )
    return Table.of_numbers(caption, ("measure", "estimate", "interval by"), rows)


def _confusion(report: ClassificationReport) -> Table:
    matrix = report.confusion
    if len(matrix.classes) > _MOST_CLASSES:
        return _mistakes(report)
    head = ("true \\ predicted", *(str(label) for label in matrix.classes), "rows")
    rows = tuple(
        (str(label), *(f"{count:.6g}" for count in line), f"{line.sum():.6g}")
        for label, line in zip(matrix.classes, matrix.counts, strict=True)
    )
    return Table.of_numbers("Confusion matrix", head, rows)


def _mistakes(report: ClassificationReport) -> Table:
    """The most frequent confusions, where the matrix is too wide."""
    matrix = report.confusion
    cells = [
        (float(matrix.counts[i, j]), true, predicted)
        for i, true in enumerate(matrix.classes)
        for j, predicted in enumerate(matrix.classes)
        if i != j and matrix.counts[i, j] > 0
    ]
    cells.sort(key=lambda cell: -cell[0])
    rows = tuple(
        (str(true), str(predicted), f"{count:.6g}") for count, true, predicted in cells[:20]
    )
    note = f"{len(matrix.classes)} classes: the whole matrix is in `confusion`."
    return Table.of_numbers("Most frequent confusions", ("true", "predicted", "rows"), rows, note)


def _per_class(report: ClassificationReport) -> Table:
    names = ("precision", "recall", f_score_name(report.beta), *SHARES[4:])
    head = ("class", *(name.replace("_", " ") for name in names), "rows")
    rows = tuple(
        (
            str(label),
            *(shown(report.per_class[label][name]) for name in names),
            f"{support:.6g}",
        )
        for label, support in zip(report.classes, report.confusion.support, strict=True)
    )
    note = ""
    if len(rows) > _MOST_LISTED:
        note = f"{len(rows) - _MOST_LISTED} further classes are in `per_class`."
    return Table.of_numbers("Each class against the rest", head, rows[:_MOST_LISTED], note)


def _averages(report: ClassificationReport) -> Table:
    names = list(report.averages["macro"])
    head = ("average", *(name.replace("_", " ") for name in names))
    rows = tuple(
        (average, *(shown(values[name]) for name in names))
        for average, values in report.averages.items()
    )
    return Table.of_numbers("Averages over classes", head, rows)


def _separation(report: ClassificationReport) -> Table:
    rows: list[tuple[str, ...]] = [
        (
            str(label),
            shown(curves.roc.area),
            shown(curves.precision_recall.area),
            shown(curves.det.equal_error_rate),
        )
        for label, curves in list(report.curves.items())[:_MOST_LISTED]
    ]
    if len(report.curves) > 1 and report.separation:
        rows.append(("mean", *(shown(value) for value in report.separation.values())))
    head = ("class", "ROC area", "average precision", "equal error rate")
    return Table.of_numbers("Separation by scores", head, tuple(rows))


def _costs(report: ClassificationReport) -> Table:
    values: dict[str, Any] = dict(report.costs)
    if report.minimum_cost is not None:
        values["minimum detection cost"] = report.minimum_cost.best
    return _named("Decisions at the working point (less is better)", values)


def _threshold(report: ClassificationReport) -> Table:
    curve = report.threshold_curve
    assert curve is not None
    row = (curve.name, shown(curve.best), f"{curve.best_threshold:.6g}")
    note = "Chosen on these rows: expect less on new ones."
    return Table.of_numbers("Best threshold", ("measure", "best", "at scores above"), (row,), note)


def shown(value: Interval) -> str:
    """An interval in a cell; what is undefined is said to be nan."""
    return "nan" if math.isnan(value.estimate) else repr(value)
