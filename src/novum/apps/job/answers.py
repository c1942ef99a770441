"""Answers for rows: of a fitted model, or of the models of the outer folds for what they left out.

Where there is a working point, classes and actions are those of least expected cost there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from novum.apps.job.outputs import Predictions
from novum.apps.job.table.partition import Parts
from novum.apps.job.table.task import Rows, Task, class_places
from novum.apps.job.trials import LearningRows, Trials
from novum.core.decisions import label_array, median_levels


def answers_of(
    model: Any, X: Any, positions: Any, source: str, target: Any, task: Task
) -> Predictions:
    """Answers of a model for rows at these positions of the table."""
    if not task.is_classification:
        return Predictions(positions, source, target, model.predict(X))
    assert task.classes is not None
    if task.point is None or len(model.classes_) < len(task.classes):
        probabilities = of_all(model.predict_proba(X), model.classes_, task.classes)
        return Predictions(positions, source, target, model.predict(X), probabilities)
    there = model.at(task.point)
    return Predictions(
        positions, source, target, there.predict(X), there.predict_proba(X), there.decide(X)
    )


def out_of_fold(
    family: str, trials: Trials, rows: LearningRows, task: Task
) -> Iterator[Predictions]:
    """Answers for training rows by models that had not seen them, of the first repeat."""
    for fold, run in zip(trials.splits.repeat(0), trials.runs[family], strict=False):
        positions, y = rows.positions[fold.test], rows.y[fold.test]
        if not task.is_classification:
            yield Predictions(positions, "out of fold", y, run.output)
            continue
        labels = np.unique(rows.y)
        priors = _training_priors(rows, fold.test, labels)
        yield _decided(positions, "out of fold", y, run.output, labels, priors, task)


def _training_priors(rows: LearningRows, tested: Any, labels: Any) -> Any:
    """Shares of the classes among the rows that a fold trained on, by weight."""
    weight = np.ones(len(rows.y)) if rows.weight is None else np.array(rows.weight, float)
    weight[tested] = 0.0
    counts = np.bincount(np.searchsorted(labels, rows.y), weight, len(labels))
    return counts / counts.sum()


def _decided(
    positions: Any, source: str, y: Any, posterior: Any, labels: Any, priors: Any, task: Task
) -> Predictions:
    """Classes, and actions where there is a working point, of posteriors under these priors."""
    assert task.classes is not None
    posteriors, before = np.zeros((len(positions), len(task.classes))), np.zeros(len(task.classes))
    at = class_places(labels, task.classes)
    posteriors[:, at], before[at] = posterior, priors
    if task.point is None or (before == 0).any():
        places = median_levels(posteriors) if task.levels else posteriors.argmax(axis=1)
        predicted = task.classes[places]
        return Predictions(positions, source, y, predicted, posteriors)
    moved = task.point.retarget(posteriors, before)
    actions = label_array(task.point.action_names)[task.point.actions_for(moved)]
    predicted = task.classes[task.point.classes_for(moved)]
    return Predictions(positions, source, y, predicted, moved, actions)


def all_answers(
    judged: Any,
    used: Any,
    aside: Rows | None,
    parts: Parts,
    task: Task,
    folds: Iterator[Predictions],
) -> Iterator[Predictions]:
    """Answers of the folds, of the judged model for rows set aside, of the last one for others."""
    yield from folds
    if aside is not None:
        source = "hold-out" if parts.test is None else "test file"
        yield answers_of(judged, aside.X, aside.positions, source, aside.y, task)
    if len(parts.unlabeled):
        X = task.X.take(pa.array(parts.unlabeled))
        yield answers_of(used, X, parts.unlabeled, "no target", None, task)


def of_all(probabilities: Any, known: Any, classes: Any) -> Any:
    """Probabilities of all classes of the task; one that the model never met has none."""
    full = np.zeros((len(probabilities), len(classes)))
    full[:, class_places(known, classes)] = probabilities
    return full
