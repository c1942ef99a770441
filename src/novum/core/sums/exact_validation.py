"""Exact cross-validation for the price of about one fit.

A learner with statistics needs each row once: the statistics of every fold are summed, and the
model of fold `k` is fitted to the sum of the *other* folds,

    S_1 + ... + S_(k-1) + S_(k+1) + ... + S_K,

from running sums from both ends. Nothing is subtracted, so no digits are lost. Leaving one row out
uses the learner's own formula where that is safe, and a sum without the row where it is not.
Every fold is read by the schema of the whole table, as the slow way must be too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv

from novum.core.errors import InputError, NotAdditiveError
from novum.core.sums.engine import sum_blocks
from novum.core.sums.statistics import StatisticsMixin, refuse_unlabelled
from novum.core.tables import Sample, Schema, divides_rows, rows_of, said_once
from novum.numerics import Array, Positions, one_blas_thread

# The leave-one-out formula divides by 1 - h; below this it would lose more than four digits.
SAFE_REMAINDER = 1e-4

# Up to this many cells summing the training rows of every fold takes less time than merging sums.
_SMALL_CELLS = 2**12


class Fold(NamedTuple):
    """Rows to train on, None for all that are not tested, and rows to test."""

    train: Positions | None
    test: Positions


def exact_cross_val_predict(
    model: Any,
    X: Any,
    y: Any,
    cv: Any = None,
    *,
    method: str = "predict",
    sample_weight: Any = None,
    groups: Any = None,
) -> Array:
    """Out-of-fold predictions, equal to refits on every fold that share the table's schema.

    Kinds, levels and labels are those of the whole table, as if they had been declared: a level
    that no training row of a fold has is known there all the same, with its pseudo-count or a
    coefficient of zero. Refits that learn a schema from each fold's rows count other levels, and
    differ where levels count, as in categorical naive Bayes.

    Parameters
    ----------
    model : estimator with statistics
    X, y, sample_weight, groups
        As for `fit` and the splitter.
    cv : int, splitter or iterable of (train, test), optional
        Test parts must share no row and cover all. Five folds by default.
    method : str
        Called on each fold's model.

    Raises
    ------
    NotAdditiveError
        If the model's fit is not a function of sums; use `cross_val_predict` then.

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> from sklearn.model_selection import LeaveOneOut
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 7.0]
    >>> exact_cross_val_predict(LinearRegression(), X, y, LeaveOneOut()).round(6).tolist()
    [-2.666667, 1.571429, 4.285714, 3.0]
    """
    _refuse_other_than_sums(model)
    whole = whole_sample(clone(model), X, y, sample_weight)
    splitter = check_cv(cv, y, classifier=is_classifier(model))
    splits = splitter.split(X, y, groups)
    folds = [fold_of(train, test, whole.n_rows) for train, test in splits]
    check_partition(folds, whole.n_rows)
    singles = all(fold.train is None and len(fold.test) == 1 for fold in folds)
    with one_blas_thread(), said_once():
        if method == "predict" and singles:
            quick = getattr(model, "_leave_one_out", None)
            if quick is not None:
                return left_out_predictions(model, whole, X, quick)
        return _folded(model, whole, X, folds, method)


def fold_statistics(model: Any, sample: Sample, folds: Sequence[Fold]) -> list[Any]:
    """For every fold the statistics of its training rows.

    Each row is summed once where the tested parts share no row and cover all, and every fold
    trains on all the others; else, and in small tables, fold by fold.
    """
    small = sample.n_rows * sample.schema.n_columns <= _SMALL_CELLS
    if (
        small
        or len(folds) < 2
        or not all(_is_complement(fold, sample.n_rows) for fold in folds)
        or not _is_partition(folds, sample.n_rows)
    ):
        trains = (_rows_but(fold, sample.n_rows) for fold in folds)
        return [_statistics(model, sample, train) for train in trains]
    parts = [_statistics(model, sample, fold.test) for fold in folds]
    before, after = _running(parts), _running(parts[::-1])[::-1]
    sums = []
    for k in range(len(parts)):
        sides = [side for side in (before[k], after[k + 1]) if side is not None]
        sums.append(sides[0] if len(sides) == 1 else sides[0] + sides[1])
    return sums


# --- The two ways ---------------------------------------------------------------------------------


def _folded(model: Any, whole: Sample, X: Any, folds: list[Fold], method: str) -> Array:
    answers = []
    sums = fold_statistics(model, whole, folds)
    for number, (fold, statistics) in enumerate(zip(folds, sums, strict=True)):
        try:
            fitted = clone(model).fit_statistics(statistics)
        except InputError as error:
            error.add_note(f"This happened in fold {number} (counted from 0).")
            raise
        answer = np.asarray(getattr(fitted, method)(rows_of(X, fold.test)))
        answers.append(_of_all_classes(answer, fitted, whole.classes, method))
    # Joined at the end, because labels of a later fold may need a longer text type.
    joined = np.concatenate(answers)
    predictions = np.empty_like(joined)
    predictions[np.concatenate([fold.test for fold in folds])] = joined
    return predictions


def _of_all_classes(answer: Array, fitted: Any, classes: Array | None, method: str) -> Array:
    """Columns of all classes: a fold that lacks one gives it no probability."""
    if classes is None or answer.ndim != 2 or answer.shape[1] == len(classes):
        return answer
    absent = {"predict_proba": 0.0, "predict_log_proba": -np.inf}.get(method)
    if absent is None or len(fitted.classes_) != answer.shape[1]:
        return answer
    full = np.full((len(answer), len(classes)), absent)
    full[:, np.searchsorted(classes, fitted.classes_)] = answer
    return full


def left_out_predictions(model: Any, whole: Sample, X: Any, quick: Any) -> Array:
    """Predictions of every row by the others, by the learner's own formula where it is safe."""
    predictions, remainder = quick(whole)
    risky = np.flatnonzero(~(remainder.reshape(whole.n_rows, -1) >= SAFE_REMAINDER).all(axis=1))
    everything = np.arange(whole.n_rows)
    for row in risky:
        train = np.delete(everything, row)
        fitted = clone(model).fit_statistics(_statistics(model, whole, train))
        predictions[row] = fitted.predict(rows_of(X, np.array([row])))[0]
    return predictions


# --- Sums of folds --------------------------------------------------------------------------------


def _refuse_other_than_sums(model: Any) -> None:
    if not isinstance(model, StatisticsMixin) or not model._is_additive():
        raise NotAdditiveError(
            f"{type(model).__name__} is not fitted from sums here, so its folds cannot be. Use "
            "sklearn.model_selection.cross_val_predict."
        )


def whole_sample(
    reader: Any, X: Any, y: Any, sample_weight: Any, schema: Schema | None = None
) -> Sample:
    """All rows, also those of weight zero, read by `schema` or else that of those that count.

    `reader` is an estimator that reads (`_read`); it learns the names of the columns.
    """
    counted = reader._read(X, y, sample_weight, schema)
    refuse_unlabelled(reader, counted)
    if sample_weight is None:
        return counted
    everything = reader._read(X, y, None, counted.schema)
    weight = np.asarray(sample_weight, np.float64)
    return replace(everything, weight=np.broadcast_to(weight, (everything.n_rows,)))


def divided_rows(cv: Any, sample: Sample) -> Positions:
    """The rows that `cv` divides: those that count, unless its folds name rows of the table."""
    return np.flatnonzero(sample.weights > 0) if divides_rows(cv) else np.arange(sample.n_rows)


def _statistics(model: Any, sample: Sample, rows: Positions) -> Any:
    part = sample.rows(rows)
    if part.weight is not None:
        part = part.rows(part.weight > 0)
    # A learner may have a faster way to the same sums, where it can trust it.
    quick = getattr(model, "_sum_quickly", None)
    statistics = None if quick is None else quick(part)
    return sum_blocks(model._sum, part) if statistics is None else statistics


def _running(parts: list[Any]) -> list[Any]:
    """Sums of the first 0, 1, ..., K parts; the sum of none is None."""
    sums: list[Any] = [None]
    for part in parts:
        sums.append(part if sums[-1] is None else sums[-1] + part)
    return sums


def fold_of(train: Any, test: Any, n_rows: int) -> Fold:
    """A fold of positions; complements are not kept, as leaving one out would hold n^2 of them."""
    parts = (np.asarray(train), np.asarray(test))
    fold = Fold(*(np.flatnonzero(part) if part.dtype == bool else part for part in parts))
    return Fold(None, fold.test) if _is_complement(fold, n_rows) else fold


def _is_complement(fold: Fold, n_rows: int) -> bool:
    if fold.train is None or len(fold.train) + len(fold.test) != n_rows:
        return fold.train is None
    both = np.concatenate([fold.train, fold.test])
    if both.min(initial=0) < 0 or both.max(initial=0) >= n_rows:
        return False
    # Counting instead of sorting: leaving one out comes here for every row.
    return bool((np.bincount(both.astype(np.intp), minlength=n_rows) == 1).all())


def _rows_but(fold: Fold, n_rows: int) -> Positions:
    return np.delete(np.arange(n_rows), fold.test) if fold.train is None else fold.train


def _is_partition(folds: Sequence[Fold], n_rows: int) -> bool:
    tested = np.concatenate([fold.test for fold in folds])
    return np.array_equal(np.sort(tested), np.arange(n_rows))


def check_partition(folds: list[Fold], n_rows: int) -> None:
    if not _is_partition(folds, n_rows):
        tested = np.concatenate([fold.test for fold in folds])
        raise InputError(
            f"Cross-validated predictions need test parts that share no row and cover all "
            f"{n_rows}; these hold {len(tested)} rows, {len(np.unique(tested))} different ones. "
            "Use a k-fold or leave-one-out splitter."
        )
