"""What a classifier gave, read once: labels, scores or probabilities, and what follows from them.

Labels follow from probabilities (the likeliest class, the median of levels with an order, or the
class of least expected cost at a working point) and from scores (above 0, or above the point's
threshold; of K columns the largest). Costs at a point follow from the actions taken there, of which
rejecting may be one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.decisions import POSTERIOR_TOLERANCE, WorkingPoint, label_array, median_levels
from novum.core.errors import InputError
from novum.core.tables import check_classes, plain_target
from novum.evaluation.measures.reading import (
    ClassTable,
    LabelPair,
    ScoredRows,
    listed,
    place_of,
    plain_labels,
    read_class_scores,
    read_label_pair,
    read_probabilities,
    read_scored,
)
from novum.evaluation.measures.separation import one_vs_rest_rows
from novum.numerics import Array, Floats, Integers


@dataclass(frozen=True, eq=False)
class Judged:
    """Predictions in every form that could be had.

    Parameters
    ----------
    pair : LabelPair
    positive : label or None
        The positive one of two classes.
    scored : tuple of ScoredRows
        One for the positive of two classes, one for each class of more, none without scores.
    probabilities : ClassTable or None
    actions : array of shape (n,) or None
        Places among the point's `action_names`.
    read_as : str
        What was given, in words.
    threshold : float or None
        Score above which two classes are told apart.
    """

    pair: LabelPair
    positive: Any
    scored: tuple[ScoredRows, ...]
    probabilities: ClassTable | None
    actions: Integers | None
    read_as: str
    threshold: float | None = None


@dataclass(frozen=True, eq=False)
class Given:
    """The arguments of a report, before they are read."""

    y: Any
    predictions: Any = None
    scores: Any = None
    probabilities: Any = None
    classes: Sequence[Any] | None = None
    positive: Any = None
    point: WorkingPoint | None = None
    training_priors: Any = None
    sample_weight: Any = None
    ordered: bool = False


def read_given(given: Given) -> Judged:
    """Read labels, scores and probabilities, and derive what was not given.

    Examples
    --------
    >>> judged = read_given(Given(["no", "yes"], probabilities=[0.2, 0.7]))
    >>> judged.pair.predicted.tolist(), judged.read_as
    ([0, 1], "probabilities of 'yes'")
    """
    classes = _classes(given)
    point = None if given.point is None else given.point.ordered(classes)
    positive = _positive(given, classes)
    if given.probabilities is not None:
        table = read_probabilities(
            given.y, given.probabilities, classes, given.sample_weight, positive
        )
        return _from_probabilities(given, table, positive, point)
    if given.scores is not None:
        return _from_scores(given, classes, positive, point)
    pair = read_label_pair(given.y, given.predictions, classes, given.sample_weight)
    return Judged(pair, positive, (), None, _class_actions(pair.predicted, point), "labels")


def sort_out(y: Any, given: Any, classes: Sequence[Any] | None) -> str:
    """Whether `given` holds predictions, scores or probabilities.

    Labels of the classes are predictions. Columns whose rows are between 0 and 1 and sum to 1 are
    probabilities, as is one column of numbers between 0 and 1; other numbers are scores.

    Examples
    --------
    >>> sort_out([0, 1], [0, 1], None), sort_out([0, 1], [0.2, 0.7], None)
    ('predictions', 'probabilities')
    >>> sort_out([0, 1], [-1.5, 3.0], None)
    'scores'
    """
    array = plain_target(given)
    if array.dtype.kind not in "biuf":
        return "predictions"
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 1:
        known = set(plain_labels(classes)) if classes is not None else None
        met = set(np.unique(array).tolist())
        if known is None:
            known = set(np.unique(plain_target(y)).tolist()) if plain_target(y).size else set()
        # Whole numbers can only be labels; fractions that are no labels only scores.
        if met <= known or array.dtype.kind in "biu":
            return "predictions"
    # Written so that NaN is a score, about which the reader then complains.
    if not bool(((array >= 0) & (array <= 1)).all()):
        return "scores"
    if array.ndim == 2 and (np.abs(array.sum(axis=1) - 1) > POSTERIOR_TOLERANCE).any():
        return "scores"
    return "probabilities"


# --- Parts of the above ---------------------------------------------------------------------------


def _classes(given: Given) -> tuple[Any, ...]:
    if given.classes is not None:
        return plain_labels(given.classes)
    # Reading the labels as predictions of themselves checks y with its own messages.
    met = set(read_label_pair(given.y, given.y).classes)
    if given.point is not None:
        met |= set(given.point.classes)
    if given.predictions is not None:
        met |= set(read_label_pair(given.y, given.predictions).classes)
    return tuple(check_classes(label_array(list(met)), "ClassificationReport")[0].tolist())


def _positive(given: Given, classes: tuple[Any, ...]) -> Any:
    if given.positive is not None:
        return classes[place_of(given.positive, classes)]
    if len(classes) != 2:
        return None
    return classes[-1] if given.point is None else given.point.classes[-1]


def _from_probabilities(
    given: Given, table: ClassTable, positive: Any, point: WorkingPoint | None
) -> Judged:
    moved = table.table
    if point is not None and given.training_priors is not None:
        moved = point.retarget(moved, given.training_priors)
    if point is None:
        best, actions = median_levels(moved) if given.ordered else moved.argmax(axis=1), None
    else:
        best, actions = point.classes_for(moved), point.actions_for(moved)
    pair = _labelled(given, table.classes, table.true, best, table.weight)
    if given.predictions is not None:
        actions = _class_actions(pair.predicted, point)
    if len(table.classes) == 2:
        rows: tuple[ScoredRows, ...] = (one_vs_rest_rows(table, table.classes.index(positive)),)
        what = f"probabilities of {positive!r}"
    else:
        rows = tuple(one_vs_rest_rows(table, place) for place in range(len(table.classes)))
        what = f"probabilities of {len(table.classes)} classes"
    return Judged(pair, positive, _told_apart(rows), table, actions, what)


def _from_scores(
    given: Given, classes: tuple[Any, ...], positive: Any, point: WorkingPoint | None
) -> Judged:
    if len(classes) > 2 and given.positive is None:
        table = read_class_scores(given.y, given.scores, classes, given.sample_weight)
        best = table.table.argmax(axis=1)
        pair = _labelled(given, classes, table.true, best, table.weight)
        rows = tuple(one_vs_rest_rows(table, place) for place in range(len(classes)))
        what = f"scores of {len(classes)} classes"
        actions = _class_actions(pair.predicted, point)
        return Judged(pair, positive, _told_apart(rows), None, actions, what)
    if len(classes) > 2:
        raise InputError(
            f"A report is about all classes, y has {len(classes)} ({listed(classes)}) and there is "
            "one column of scores. Pass a column for each class, or labels that are positive or "
            "not."
        )
    scored = read_scored(given.y, given.scores, classes, positive, given.sample_weight)
    threshold = 0.0 if given.point is None else given.point.threshold
    place = classes.index(positive)
    best = np.where(scored.values > threshold, place, 1 - place)
    true = np.where(scored.positive, place, 1 - place)
    pair = _labelled(given, classes, true, best, scored.weight)
    actions = _class_actions(pair.predicted, point)
    what = f"scores for {positive!r}"
    return Judged(pair, positive, (scored,), None, actions, what, threshold)


def _labelled(
    given: Given,
    classes: tuple[Any, ...],
    true: Integers,
    derived: Array,
    weight: Floats | None,
) -> LabelPair:
    """The labels that were given, or those that follow from scores."""
    if given.predictions is not None:
        return read_label_pair(given.y, given.predictions, classes, given.sample_weight)
    return LabelPair(classes, true, derived.astype(np.int64), weight)


def _told_apart(rows: tuple[ScoredRows, ...]) -> tuple[ScoredRows, ...]:
    """The rows, if every class that is scored occurs and is not alone; none otherwise."""
    weights = [np.ones(len(one.values)) if one.weight is None else one.weight for one in rows]
    shares = [float(w @ one.positive / w.sum()) for w, one in zip(weights, rows, strict=True)]
    return rows if all(0 < share < 1 for share in shares) else ()


def _class_actions(predicted: Integers, point: WorkingPoint | None) -> Integers | None:
    """Naming a class as the action of that name; None where the point has no such actions."""
    if point is None:
        return None
    names = point.action_names
    if not set(point.classes) <= set(names):
        return None
    return np.array([names.index(label) for label in point.classes], np.int64)[predicted]
