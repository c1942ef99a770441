"""Targets: numbers to predict, or labels of classes and their codes.

Labels of one type (text, numbers, true/false) are sorted, and the code of a label is its place.
Texts, and integer labels within a small range, are counted in place of sorted, which is ten times
as fast and gives the same.
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from novum.core.errors import InputError, NoLabelsError
from novum.core.tables.columns import as_float
from novum.core.tables.missing import missing_mask, refuse_missing
from novum.core.tables.reading import unmasked
from novum.core.text import label_text
from novum.numerics import Array, Floats, Integers

Labels = tuple[Array, Integers]

# The code of a row without a label, as of a missing cell.
UNLABELLED = -1

# Labels that span more integers than this are sorted; fewer are counted.
_WIDEST = 2**16


def check_classes(y: Any, learner: str) -> Labels:
    """The distinct labels in sorted order and the code of each row's label.

    Examples
    --------
    >>> classes, codes = check_classes(["spam", "ham", "spam"], "Learner")
    >>> classes.tolist(), codes.tolist()
    (['ham', 'spam'], [1, 0, 1])
    """
    given = plain_target(y)
    counted = counted_labels(given)
    if counted is not None:
        return counted
    values = column_or_1d(given, warn=True)
    _refuse_missing_targets(values, learner)
    if values.dtype.kind == "O":
        values = _one_type(values)
    _refuse_infinite_labels(values)
    check_classification_targets(values)
    classes, codes = np.unique(values, return_inverse=True)
    return classes, codes.astype(np.int64)


def check_partial_classes(y: Any, learner: str) -> Labels:
    """As `check_classes`, but rows whose label is missing have the code `UNLABELLED`.

    Examples
    --------
    >>> classes, codes = check_partial_classes(["spam", None, "ham"], "Learner")
    >>> classes.tolist(), codes.tolist()
    (['ham', 'spam'], [1, -1, 0])
    """
    given = plain_target(y)
    counted = counted_labels(given)
    if counted is not None:
        return counted
    values = column_or_1d(given, warn=True)
    missing = missing_mask(values)
    if not missing.any():
        return check_classes(y, learner)
    if missing.all():
        raise NoLabelsError(
            f"None of the {len(values)} rows has a label, so {learner} does not know what classes "
            "there are. Give at least one row of each class its label, or look for groups with "
            "novum.clustering or novum.mixture."
        )
    classes, known = check_classes(values[~missing], learner)
    codes = np.full(len(values), UNLABELLED, np.int64)
    codes[~missing] = known
    return classes, codes


def check_numbers(y: Any, learner: str) -> Floats:
    """Finite numeric targets, of shape (n,) or (n, n_targets).

    Examples
    --------
    >>> check_numbers([1, 2.5], "Learner").tolist()
    [1.0, 2.5]
    """
    array = plain_target(y)
    if array.ndim not in (1, 2) or 0 in array.shape:
        raise InputError(
            f"y should be a 1d array or have one column for each target, got an array of shape "
            f"{array.shape} instead. Pass one target, or one row of targets, for each row of X."
        )
    if array.dtype.kind not in "biuf":
        _refuse_missing_targets(array, learner)
        _refuse_other_than_numbers(array, learner)
    # A number too large for float64 becomes infinite, and that is refused below.
    with np.errstate(over="ignore"):
        if array.dtype.kind == "O":
            values = np.array([as_float(cell) for cell in array.ravel()]).reshape(array.shape)
        else:
            values = array.astype(np.float64)
    # A sum is finite exactly when all are, unless it overflows: then we look closer.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return values
    _refuse_missing_targets(values, learner)
    infinite = np.argwhere(np.isinf(values))
    if infinite.size:
        where = f" of target {infinite[0][1]}" if values.ndim == 2 else ""
        raise InputError(
            "Input y contains infinity or a value too large for dtype('float64'). It has "
            f"{values[tuple(infinite[0])]} at row {infinite[0][0]}{where}, {len(infinite)} such in "
            "all. Select the rows whose target is a finite number."
        )
    return values


# --- Labels ---------------------------------------------------------------------------------------


def united_labels(a: Array, b: Array) -> Array:
    """All labels of either chunk, sorted; text and numbers do not mix.

    Examples
    --------
    >>> united_labels(np.array(["no"]), np.array(["maybe", "no"])).tolist()
    ['maybe', 'no']
    """
    if a.size and b.size and (a.dtype.kind in "OUST") != (b.dtype.kind in "OUST"):
        raise InputError(
            f"y holds {a.tolist()[0]!r} in one chunk and {b.tolist()[0]!r} in another. Convert all "
            "labels to one type, such as text."
        )
    return np.union1d(a, b)


def counted_labels(y: Array) -> Labels | None:
    """Classes and codes of texts, or of integers within a small range; None for all else.

    Labels that are missing, of several types, or more than half of which differ are left to a
    closer look.

    Examples
    --------
    >>> counted_labels(np.array(["b", "a", "b", "b"])), counted_labels(np.array([0.5, 0.5]))
    ((array(['a', 'b'], dtype='<U1'), array([1, 0, 1, 1])), None)
    """
    if y.ndim != 1 or y.size == 0:
        return None
    if y.dtype.kind in "iu":
        return _counted_integers(y)
    return _counted_texts(y) if y.dtype.kind in "UO" else None


def _counted_texts(y: Array) -> Labels | None:
    met: dict[Any, int] = {}
    try:
        first = np.fromiter((met.setdefault(label, len(met)) for label in y.tolist()), np.int64)
    except TypeError:  # Cells that have no hash are no labels.
        return None
    if 2 * len(met) > len(y) or not all(isinstance(label, str) for label in met):
        return None
    texts = sorted(met)
    places = np.empty(len(met), np.int64)
    places[[met[text] for text in texts]] = np.arange(len(met))
    return np.array(texts, y.dtype), places[first]


def _counted_integers(y: Array) -> Labels | None:
    low, high = int(y.min()), int(y.max())
    if high - low >= _WIDEST:
        return None
    # Large unsigned labels fit their own type only, short signed ones must leave it first.
    shifted = y - y.dtype.type(low) if y.dtype.kind == "u" else y.astype(np.int64) - low
    places = shifted.astype(np.int64)
    met = np.bincount(places, minlength=high - low + 1) > 0
    classes = np.array([low + int(place) for place in np.flatnonzero(met)], y.dtype)
    return classes, (np.cumsum(met) - 1)[places]


def _refuse_infinite_labels(labels: Array) -> None:
    """Says that a label is infinite before it is cast to an integer somewhere."""
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        row = int(np.isinf(labels).argmax())
        raise InputError(
            f"Input y contains infinity: {labels[row]} at row {row}. Labels are finite numbers or "
            "text."
        )


def plain_target(y: Any) -> Array:
    """Targets as an array; of lists, cells keep their types where NumPy would make them text."""
    if type(y) is np.ndarray:
        return y
    if sparse.issparse(y):
        raise InputError("Sparse data was passed for y, but dense data is required: y.toarray().")
    y = unmasked(y)
    if isinstance(y, pa.ChunkedArray) and pa.types.is_dictionary(y.type):
        # Arrow's own way to NumPy gives a missing cell the last label of the dictionary.
        y = y.cast(y.type.value_type)
    if nw.dependencies.is_into_dataframe(y) or nw.dependencies.is_into_series(y):
        return np.asarray(nw.from_native(y, allow_series=True).to_numpy())
    if isinstance(y, pa.Array):
        return np.asarray(y.to_numpy(zero_copy_only=False))
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise InputError(
            "The rows of y have an inhomogeneous shape. Give every row the same number of targets."
        ) from error
    if not isinstance(y, (list, tuple)) or array.ndim != 1 or array.dtype.kind in "biufcO":
        return array
    cells = np.empty(len(y), object)
    cells[:] = y
    return array if all(isinstance(cell, str) for cell in y) else cells


def _refuse_missing_targets(values: Array, learner: str) -> None:
    names = [f"y{j}" for j in range(values.shape[1])] if values.ndim == 2 else ["y"]
    refuse_missing(missing_mask(values), names, learner, what="y")


def _one_type(labels: Array) -> Array:
    """Labels that came as objects, as an array of their one type; several types have no order."""
    kinds = [_label_kind(label) for label in labels]
    other = next((row for row, kind in enumerate(kinds) if kind != kinds[0]), None)
    if other is not None:
        raise InputError(
            f"y mixes {kinds[0]} ({label_text(labels[0])} at row 0) and {kinds[other]} "
            f"({label_text(labels[other])} at row {other}). Convert all labels to one type, "
            "such as text."
        )
    return labels if kinds[0] == "text" else np.array(labels.tolist())


def _label_kind(label: object) -> str:
    if isinstance(label, (bool, np.bool_)):
        return "true/false"
    if isinstance(label, str):
        return "text"
    return "numbers" if isinstance(label, (Real, Decimal)) else type(label).__name__


def _refuse_other_than_numbers(array: Array, learner: str) -> None:
    if array.dtype.kind == "c":
        raise InputError(
            f"Complex data not supported: y has type {array.dtype}. Pass real numbers."
        )
    if array.dtype.kind == "O":
        cells = array.ravel()
        wrong = next((i for i, c in enumerate(cells) if not isinstance(c, (Real, Decimal))), None)
    else:
        cells, wrong = array.ravel(), 0
    if wrong is not None:
        row = wrong // (array.shape[1] if array.ndim == 2 else 1)
        raise InputError(
            f"{learner} predicts numbers, but y holds {label_text(cells[wrong])} at row {row}. "
            "Convert y to numbers, or use a classifier for labels."
        )
