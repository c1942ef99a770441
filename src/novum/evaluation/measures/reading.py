"""Reading what measures are given, once, with one clear message for whatever cannot be judged.

Labels may be text, numbers or true/false in any container; they become codes into `classes`, a
tuple of plain values. The positive class of two is the last of `classes` unless said otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.decisions import POSTERIOR_TOLERANCE
from novum.core.errors import InputError
from novum.core.tables import (
    check_classes,
    check_numbers,
    checked_weight,
    counted_labels,
    missing_mask,
    plain_target,
)
from novum.core.text import printable
from novum.numerics import Floats, Integers, Mask


@dataclass(frozen=True)
class LabelPair:
    """True and predicted classes of n rows."""

    classes: tuple[Any, ...]
    true: Integers
    predicted: Integers
    weight: Floats | None


@dataclass(frozen=True)
class ScoredRows:
    """Scores of n rows, of which some are positive.

    `values` has shape (n,): the larger, the more for the positive class.
    """

    classes: tuple[Any, ...]
    positive: Mask
    values: Floats
    weight: Floats | None


@dataclass(frozen=True)
class ClassTable:
    """Probabilities or scores of K classes, `table` of shape (n, K)."""

    classes: tuple[Any, ...]
    true: Integers
    table: Floats
    weight: Floats | None


@dataclass(frozen=True)
class NumberPair:
    """True and predicted numbers, of shape (n, n_targets)."""

    true: Floats
    predicted: Floats
    weight: Floats | None


# --- Readers --------------------------------------------------------------------------------------


def read_label_pair(
    y: Any, predictions: Any, classes: Sequence[Any] | None = None, sample_weight: Any = None
) -> LabelPair:
    """Codes of true and predicted labels.

    Examples
    --------
    >>> pair = read_label_pair(["a", "b"], ["b", "c"])
    >>> pair.classes, pair.true.tolist(), pair.predicted.tolist()
    (('a', 'b', 'c'), [0, 1], [1, 2])
    """
    met, true = _labels(y, "y")
    named, predicted = _labels(predictions, "predictions")
    _same_length(len(true), len(predicted), "predictions")
    known = _union(met, named) if classes is None else plain_labels(classes)
    return LabelPair(
        known,
        _recoded(met, true, known, "y"),
        _recoded(named, predicted, known, "predictions"),
        read_weight(sample_weight, len(true)),
    )


def read_scored(
    y: Any,
    scores: Any,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    sample_weight: Any = None,
) -> ScoredRows:
    """Rows with one score each, or a column of scores for each class of which one is positive."""
    met, true = _labels(y, "y")
    known = met if classes is None else plain_labels(classes)
    codes = _recoded(met, true, known, "y")
    values = read_score_array(scores, len(codes))
    if values.ndim == 1 and len(known) > 2 and positive is None:
        raise InputError(
            f"y has {len(known)} classes ({listed(known)}), but there is one score for each row. "
            "Pass a column of scores for each class, or name the class they favor as `positive`."
        )
    place = place_of(positive, known)
    if values.ndim == 2:
        _columns_fit(values, known, "scores")
        values = values[:, place]
    is_positive = codes == place
    weight = read_weight(sample_weight, len(codes))
    counted = is_positive if weight is None else is_positive[weight > 0]
    if counted.all() or not counted.any():
        missing = "negative" if counted.any() else "positive"
        raise InputError(
            f"All {counted.size} rows of y are {'positive' if counted.any() else 'negative'} "
            f"({known[place]!r} is the positive class), so there is no {missing} row to tell "
            "them from. Judge more rows, or stratify the folds."
        )
    return ScoredRows(known, is_positive, values, weight)


def read_probabilities(
    y: Any,
    probabilities: Any,
    classes: Sequence[Any] | None = None,
    sample_weight: Any = None,
    positive: Any = None,
) -> ClassTable:
    """Probabilities of all classes; one column is read as that of the positive class."""
    met, true = _labels(y, "y")
    known = met if classes is None else plain_labels(classes)
    table = read_score_array(probabilities, len(true), "probabilities")
    if table.ndim == 1:
        table = _both_columns(table, known, positive)
    _columns_fit(table, known, "probabilities")
    _refuse_no_probabilities(table)
    codes = _recoded(met, true, known, "y")
    return ClassTable(known, codes, table, read_weight(sample_weight, len(codes)))


def read_class_scores(
    y: Any, scores: Any, classes: Sequence[Any] | None = None, sample_weight: Any = None
) -> ClassTable:
    """A column of scores for each class."""
    met, true = _labels(y, "y")
    known = met if classes is None else plain_labels(classes)
    table = read_score_array(scores, len(true))
    _columns_fit(table, known, "scores")
    codes = _recoded(met, true, known, "y")
    return ClassTable(known, codes, table, read_weight(sample_weight, len(codes)))


def read_number_pair(y: Any, predictions: Any, sample_weight: Any = None) -> NumberPair:
    """True and predicted numbers as float64 columns."""
    true = _numbers(y, "y")
    predicted = _numbers(predictions, "predictions")
    _same_length(len(true), len(predicted), "predictions")
    if true.shape != predicted.shape:
        raise InputError(
            f"y has {true.shape[1]} targets, the predictions {predicted.shape[1]}. Pass one "
            "predicted number for each true one."
        )
    return NumberPair(true, predicted, read_weight(sample_weight, len(true)))


def read_score_array(scores: Any, n_rows: int, what: str = "scores") -> Floats:
    """Numbers of shape (n,) or (n, k) without NaN; infinite scores are allowed."""
    array = plain_target(scores)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2):
        raise InputError(
            f"{what} has shape {array.shape}; pass one number, or one for each class, for each row."
        )
    _same_length(n_rows, len(array), what)
    try:
        values = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{what} holds {_plain(array.ravel()[0])!r}, which is no number. Pass labels as "
            "predictions."
        ) from error
    wrong = np.argwhere(np.isnan(values))
    if wrong.size:
        raise InputError(
            f"{what} has NaN at row {wrong[0][0]}, {len(wrong)} such in all. Find out why the "
            "model gave no number there; a row cannot be ranked without one."
        )
    return values


def read_weight(sample_weight: Any, n_rows: int) -> Floats | None:
    """Checked weights, or None."""
    return checked_weight(sample_weight, n_rows)


# --- Classes --------------------------------------------------------------------------------------


def plain_labels(labels: Iterable[Any]) -> tuple[Any, ...]:
    """Labels as a tuple of plain values, all different.

    Examples
    --------
    >>> import numpy as np
    >>> plain_labels(np.array(["no", "yes"]))
    ('no', 'yes')
    """
    plain = tuple(_plain(label) for label in labels)
    if len(set(plain)) != len(plain) or not plain:
        raise InputError(f"classes are different labels, at least one, got {listed(plain)}.")
    return plain


def place_of(positive: Any, classes: Sequence[Any]) -> int:
    """Where the positive class stands; by default last."""
    if positive is None:
        return len(classes) - 1
    if _plain(positive) not in classes:
        raise InputError(
            f"positive={_plain(positive)!r} is none of the classes {listed(classes)}. Name one of "
            "them."
        )
    return list(classes).index(_plain(positive))


def two_classes_of(met: Sequence[Any], positive: Any = None) -> tuple[Any, ...]:
    """Both classes of a rate, where perhaps one alone occurs.

    `True`, or 1, is positive and `False`, 0 or -1 negative, also where the other does not occur. Of
    any other single label nobody knows which side it is, unless `positive` says so.

    Examples
    --------
    >>> two_classes_of([0]), two_classes_of(["well"], positive="ill")
    ((0, 1), ('well', 'ill'))
    """
    if len(met) != 1:
        return tuple(met)
    (label,) = met
    if positive is not None:
        return (label,) if label == _plain(positive) else (label, _plain(positive))
    pairs = [(False, True)] if isinstance(label, bool) else [(0, 1), (-1, 1)]
    for pair in pairs:
        if not isinstance(label, str) and label in pair:
            return pair
    raise InputError(
        f"y and predictions hold {listed(met)} alone, which could be the positive or the negative "
        "class. Pass both as `classes`, negative first, or name the `positive` one."
    )


def listed(labels: Sequence[Any], most: int = 8) -> str:
    """Labels for a message: safe to print and not too many.

    Examples
    --------
    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    shown = ", ".join(printable(repr(label), 40) for label in list(labels)[:most])
    return shown if len(labels) <= most else f"{shown}, ... ({len(labels)} in all)"


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _labels(values: Any, what: str) -> tuple[tuple[Any, ...], Integers]:
    """The distinct labels in order, and each row's code."""
    array = plain_target(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or array.size == 0:
        raise InputError(
            f"{what} has shape {array.shape}; pass one label for each row, and at least one row."
        )
    counted = counted_labels(array)
    if counted is not None:
        return tuple(counted[0].tolist()), counted[1]
    absent = np.flatnonzero(missing_mask(array))
    if absent.size:
        raise InputError(
            f"{what} is missing at row {absent[0]}, {absent.size} such in all. Select the rows "
            "that have a label."
        )
    if array.dtype.kind == "f" and (array != np.floor(array)).any():
        row = int(np.flatnonzero(array != np.floor(array))[0])
        raise InputError(
            f"{what} holds {_plain(array[row])!r} at row {row}, which is a number and no label. "
            "Pass scores or probabilities as such, or use a measure of numbers."
        )
    classes, codes = check_classes(array, what)
    return tuple(classes.tolist()), codes


def _union(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    if isinstance(first[0], str) != isinstance(second[0], str):
        raise InputError(
            f"y holds labels such as {first[0]!r}, the predictions such as {second[0]!r}. Convert "
            "both to one type."
        )
    return first if set(second) <= set(first) else tuple(sorted(set(first) | set(second)))


def _recoded(met: tuple[Any, ...], codes: Integers, known: tuple[Any, ...], what: str) -> Integers:
    """Codes into `known` of rows coded into `met`."""
    if met == known:
        return codes
    places = {label: place for place, label in enumerate(known)}
    unseen = [code for code, label in enumerate(met) if label not in places]
    if unseen:
        row = int(np.flatnonzero(np.isin(codes, unseen))[0])
        raise InputError(
            f"{what} holds {printable(repr(met[codes[row]]), 60)} at row {row}, which is none of "
            f"the classes {listed(known)}. Add it to `classes`, or leave such rows out."
        )
    return np.array([places[label] for label in met], np.int64)[codes]


# --- Checks ---------------------------------------------------------------------------------------


def _same_length(n_true: int, n_given: int, what: str) -> None:
    if n_true != n_given:
        raise InputError(f"y has {n_true} rows, {what} {n_given}. Pass {what} for the same rows.")


def _columns_fit(table: Floats, classes: tuple[Any, ...], what: str) -> None:
    if table.ndim != 2 or table.shape[1] != len(classes):
        columns = table.shape[1] if table.ndim == 2 else 1
        raise InputError(
            f"{what} has {columns} columns for the {len(classes)} classes {listed(classes)}. Pass "
            "a column for each class, and all of them as `classes` if some do not occur in y."
        )


def _both_columns(positive: Floats, classes: tuple[Any, ...], label: Any) -> Floats:
    if len(classes) != 2:
        raise InputError(
            f"probabilities has one column for the {len(classes)} classes {listed(classes)}, which "
            "is enough for two. Pass a column for each class, and all of them as `classes` if some "
            "do not occur in y."
        )
    columns = [1 - positive, positive]
    return np.column_stack(columns if place_of(label, classes) == 1 else columns[::-1])


def _refuse_no_probabilities(table: Floats) -> None:
    outside = np.argwhere((table < -POSTERIOR_TOLERANCE) | (table > 1 + POSTERIOR_TOLERANCE))
    if outside.size:
        row, column = outside[0]
        raise InputError(
            f"probabilities lie between 0 and 1; row {row} has {table[row, column]:.6g} in column "
            f"{column}, {len(outside)} such in all. Pass scores as scores, or calibrate them."
        )
    sums = table.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1) > POSTERIOR_TOLERANCE)
    if off.size:
        raise InputError(
            f"The probabilities of a row sum to 1; those of row {off[0]} sum to "
            f"{sums[off[0]]:.6g}, {off.size} such rows in all. Divide each row by its sum if that "
            "is what the model means, or pass them as scores."
        )


def _numbers(values: Any, what: str) -> Floats:
    try:
        numbers = check_numbers(values, what)
    except InputError as error:
        raise InputError(re.sub(r"\by\b", what, str(error))) from error
    return numbers[:, None] if numbers.ndim == 1 else numbers
