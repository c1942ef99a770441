"""Every answer with an interval or a set of classes, whose coverage is measured on rows set aside.

The outer folds have answered for every training row by models that had not seen it. The sizes of
their errors, `|y - prediction|` or `1 - p(y)`, are what an answer for a new row is compared with:
it gets all targets whose error would be no larger than the conformal quantile of these. No further
fit is needed. That folds and the last fit are other models is why the coverage is also measured,
once, on the rows set aside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from novum.apps.job.outputs import COVERAGE, Predictions
from novum.apps.job.record_json import read_record, write_record
from novum.apps.job.record_model import CoverageRecord, CoveredPart, Estimate
from novum.apps.job.table.task import Task, class_places
from novum.core.errors import InputError
from novum.core.runtime import stream
from novum.evaluation import (
    ConformalClassifier,
    ConformalRegressor,
    conformal_quantile,
    proportion_interval,
)
from novum.numerics import Floats

# More errors than these would make no difference that anybody sees.
MOST_SCORES = 10_000
BETWEEN_CLASSES = "; "
OUT_OF_FOLD = "out of fold"


@dataclass(frozen=True)
class Calibration:
    """Sizes of errors on rows that a model had not seen, kept beside it.

    Attributes
    ----------
    coverage : float
        What was asked of the run; any other can be asked of predictions.
    is_of_classes : bool
    scores : tuple of float
        In rising order.
    weights : tuple of float
        What each counts; empty if all count once.
    least : float or None
        What no number can be below, as counts are never below 0.
    """

    coverage: float
    is_of_classes: bool
    scores: tuple[float, ...]
    weights: tuple[float, ...] = ()
    least: float | None = None

    def reach(self, coverage: float | None = None) -> float:
        """The largest error that is still covered; infinite where there are too few rows."""
        weight = np.array(self.weights) if self.weights else np.ones(len(self.scores))
        asked = self.coverage if coverage is None else coverage
        return float(conformal_quantile(np.array(self.scores), weight, asked))


def calibrate(
    answers: Sequence[Predictions], task: Task, coverage: float, seed: int
) -> Calibration | None:
    """The errors of the outer folds; None where they answered for no row."""
    parts = [part for part in answers if part.source == OUT_OF_FOLD and len(part.rows)]
    if not parts:
        return None
    scores = np.concatenate([_errors(part, task) for part in parts])
    rows = np.concatenate([part.rows for part in parts])
    kept = np.flatnonzero(np.isfinite(scores))
    if len(kept) > MOST_SCORES:
        kept = stream(seed, "errors that are kept").permutation(kept)[:MOST_SCORES]
    kept = kept[np.argsort(scores[kept], kind="stable")]
    weights: tuple[float, ...] = ()
    if task.weight is not None:
        kept = kept[task.weight[rows[kept]] > 0]
        weights = tuple(task.weight[rows[kept]].tolist())
    if not len(kept):
        return None
    least = 0.0 if task.kind == "counts" else None
    ranks = tuple(scores[kept].tolist())
    return Calibration(coverage, task.is_classification, ranks, weights, least)


def with_coverage(
    answers: list[Predictions], task: Task, coverage: float, seed: int, path: Path
) -> tuple[Calibration | None, list[Predictions]]:
    """The errors of the outer folds, written to a file, and all answers with what they give."""
    calibration = calibrate(answers, task, coverage, seed)
    if calibration is None:
        return None, answers
    write_record(calibration, path)
    classes = None if task.classes is None else [str(label) for label in task.classes]
    return calibration, [bounded(part, calibration, classes) for part in answers]


def bounded(
    part: Predictions,
    calibration: Calibration,
    classes: Sequence[str] | None,
    coverage: float | None = None,
) -> Predictions:
    """Answers with their intervals or sets; an end that is infinite is NaN."""
    reach = calibration.reach(coverage)
    if not calibration.is_of_classes:
        middle = np.asarray(part.predicted, np.float64)
        ends = np.stack([middle - reach, middle + reach], axis=1)
        ends = ends if calibration.least is None else np.maximum(ends, calibration.least)
        return replace(part, limits=np.where(np.isfinite(ends), ends, np.nan))
    assert classes is not None
    return replace(part, sets=_sets(1.0 - part.probabilities <= reach, classes))


def covers(model: Any) -> bool:
    """Whether a model has intervals or sets of its own, of rows without groups."""
    is_conformal = isinstance(model, (ConformalClassifier, ConformalRegressor))
    return is_conformal and model.group_labels_ is None


def covered_by(model: Any, X: Any, part: Predictions, coverage: float | None) -> Predictions:
    """Answers with the intervals or sets of the model itself."""
    if isinstance(model, ConformalClassifier):
        names = [str(label) for label in model.classes_]
        return replace(part, sets=_sets(model.predict_set(X, coverage), names))
    limits = model.predict_interval(X, coverage)
    return replace(part, limits=np.where(np.isfinite(limits), limits, np.nan))


def _sets(inside: Any, classes: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        BETWEEN_CLASSES.join(name for name, is_in in zip(classes, row, strict=True) if is_in)
        for row in inside
    )


def calibration_beside(folder: Path, coverage: float | None) -> Calibration | None:
    """What a run kept beside its model; None if there is nothing and nothing is asked."""
    path = folder / COVERAGE
    if path.exists():
        calibration = read_record(path, Calibration)
        return calibration if coverage is None else replace(calibration, coverage=coverage)
    if coverage is not None:
        raise InputError(
            "--coverage needs the errors that a run keeps beside its model, but there is no "
            f"{path}. Keep the files of a run together, or run it again with this version."
        )
    return None


# --- Measuring ------------------------------------------------------------------------------------


def measured(part: Predictions, calibration: Calibration, task: Task) -> CoverageRecord:
    """Measured against promised coverage on rows with a target, in all and by class."""
    reach = calibration.reach()
    covered = _errors(part, task) <= reach
    sizes = np.full(len(covered), 2 * reach)
    parts = [("all", np.ones(len(covered), bool))]
    if task.classes is not None:
        sizes = (1.0 - part.probabilities <= reach).sum(axis=1).astype(float)
        target = np.asarray(part.target)
        parts += [(str(label), target == label) for label in task.classes.tolist()]
    return CoverageRecord(
        promised=calibration.coverage,
        n_calibration=len(calibration.scores),
        is_of_classes=task.is_classification,
        parts=tuple(_measured(name, covered[rows], sizes[rows]) for name, rows in parts),
    )


def _measured(name: str, covered: Any, sizes: Floats) -> CoveredPart:
    if not len(covered):
        return CoveredPart(name, 0, Estimate(None, None, None), None)
    interval = proportion_interval(int(covered.sum()), len(covered), method="Clopper-Pearson")
    size = float(sizes.mean())
    return CoveredPart(
        name,
        len(covered),
        Estimate(interval.estimate, interval.low, interval.high),
        size if math.isfinite(size) else None,
    )


def _errors(part: Predictions, task: Task) -> Floats:
    """Size of the error of every answer with a target."""
    if task.classes is None:
        return np.abs(np.asarray(part.target, np.float64) - np.asarray(part.predicted, np.float64))
    places = class_places(part.target, task.classes)
    return np.asarray(1.0 - part.probabilities[np.arange(len(places)), places])
