"""Checks of splits: each says what is wrong with which fold, and what to do.

A fold that cannot be learned from or judged would show itself later, as an error inside a learner
or as a score that is no number. Here it is named before any work is done.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from novum.core.errors import InputError
from novum.core.learners import SharedFolds
from novum.core.sums import Fold, fold_of
from novum.core.tables import check_partial_classes, missing_mask, plain_target
from novum.numerics import Array, Integers, Positions

# --- Before folds are drawn -----------------------------------------------------------------------


def check_groups(splitter: Any, groups: Any, n_rows: int) -> None:
    """Groups are there where the splitter needs them, one for each row, and enough of them."""
    name = type(splitter).__name__
    if groups is None:
        if "Group" in name:
            raise InputError(
                f"The 'groups' parameter should not be None. {name} divides groups: pass one label "
                "for each row."
            )
        return
    labels = plain_target(groups)
    if labels.shape != (n_rows,):
        what = "is empty" if labels.size == 0 else f"has shape {labels.shape}"
        raise InputError(
            f"groups {what}, but X has {n_rows} rows. Pass one group label for each row."
        )
    absent = np.flatnonzero(missing_mask(labels))
    if absent.size:
        raise InputError(
            f"groups has no label at row {absent[0]}, {absent.size} such rows in all. Give every "
            "row its group; rows that belong to none can be groups of their own."
        )
    needed = _groups_needed(splitter)
    n_groups = len(set(labels.tolist()))
    if n_groups < needed:
        few = f"{n_groups} group" + ("s" if n_groups != 1 else "")
        raise InputError(
            f"{name} needs at least {needed} groups, but groups has {few}. Use fewer folds, or "
            "finer groups."
        )


def _groups_needed(splitter: Any) -> int:
    name = type(splitter).__name__
    if name in ("GroupKFold", "StratifiedGroupKFold"):
        return int(splitter.n_splits)
    if name == "LeavePGroupsOut":
        return int(splitter.n_groups) + 1
    return 2 if "Group" in name else 0


def check_number_of_folds(
    splitter: Any, n_rows: int, labels: tuple[Array, Integers] | None
) -> None:
    """A number of folds that the rows, or the rows of some class, suffice for."""
    kind = type(splitter).__name__
    given = getattr(splitter, "n_splits", None) or getattr(splitter, "cvargs", {}).get("n_splits")
    if kind == "LeaveOneOut" and n_rows < 2:
        raise InputError(f"Leaving one out needs at least 2 rows, but X has {n_rows}.")
    if given is None or "Shuffle" in kind:
        return
    if n_rows < given + (kind == "TimeSeriesSplit"):
        raise InputError(
            f"Cannot have number of splits n_splits={given} greater than the number of samples: "
            f"n_samples={n_rows}. Use fewer folds, or more rows."
        )
    stratifies = isinstance(splitter, StratifiedKFold) or kind == "RepeatedStratifiedKFold"
    if labels is None or not stratifies:
        return
    classes, counts = labels[0], np.bincount(labels[1])
    if counts.max() < given:
        raise InputError(
            f"n_splits={given} cannot be greater than the number of members in each class: the "
            f"largest class, {classes.tolist()[counts.argmax()]!r}, has {counts.max()} rows. Use "
            "fewer folds, leave_one_out(), or more rows."
        )


# --- Folds as they come ---------------------------------------------------------------------------


def checked_parts(pairs: Iterable[Any], n_rows: int) -> tuple[Fold, ...]:
    """Folds of positions; empty, overlapping and out of range ones are refused."""
    with warnings.catch_warnings():
        # Said better, with the class and the folds, once the folds are known.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return tuple(
            fold_of(*_checked_pair(pair, number, n_rows), n_rows)
            for number, pair in enumerate(pairs)
        )


def _checked_pair(pair: Any, number: int, n_rows: int) -> tuple[Positions, Positions]:
    try:
        given_train, given_test = pair
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Fold {number} (counted from 0) of cv is {pair!r}; a fold is a pair (train, test) of "
            "positions of rows."
        ) from error
    train = _positions(given_train, "train", number, n_rows)
    test = _positions(given_test, "test", number, n_rows)
    tested = np.zeros(n_rows, bool)
    tested[test] = True
    both = train[tested[train]]
    if both.size:
        raise InputError(
            f"Fold {number} (counted from 0) tests {len(np.unique(both))} rows that it trains on, "
            f"row {both[0]} among them. What a model says of its training rows is too good; give "
            "training parts without the tested rows."
        )
    return train, test


def _positions(rows: Any, side: str, number: int, n_rows: int) -> Positions:
    where = f"The {side} part of fold {number} (counted from 0)"
    if isinstance(rows, slice):
        rows = np.arange(n_rows)[rows]
    positions = np.asarray(rows)
    if positions.dtype == bool:
        if positions.shape != (n_rows,):
            raise InputError(
                f"{where} is a mask of shape {positions.shape}, but X has {n_rows} rows. Give one "
                "entry for each row."
            )
        positions = np.flatnonzero(positions)
    if positions.size == 0:
        raise InputError(f"{where} is empty. Every fold trains on and tests at least one row.")
    if positions.ndim != 1 or positions.dtype.kind not in "iu":
        raise InputError(
            f"{where} has shape {positions.shape} and type {positions.dtype}; give positions of "
            "rows, integers from 0."
        )
    if positions.min() < 0 or positions.max() >= n_rows:
        worst = positions.min() if positions.min() < 0 else positions.max()
        raise InputError(
            f"{where} names row {worst}, but X has rows 0 to {n_rows - 1}. Draw the folds for "
            "this table."
        )
    return positions.astype(np.intp)


# --- Classes --------------------------------------------------------------------------------------


def checked_labels(y: Array) -> Array:
    """Labels of one type; infinite and continuous ones are refused, missing ones stay."""
    if y.ndim != 1 or y.dtype.kind not in "Of":
        return y
    classes, codes = check_partial_classes(y, "A classifier")
    if (codes >= 0).all():
        return classes[codes]
    # Whether a label may be missing is for the folds and the learner to say.
    if classes.dtype.kind in "iuf":
        return np.where(codes >= 0, classes[np.maximum(codes, 0)].astype(np.float64), np.nan)
    labels = np.full(len(y), None, object)
    labels[codes >= 0] = classes[codes[codes >= 0]]
    return labels


def check_classes_of_folds(
    parts: Sequence[Fold], n_rows: int, classes: Array, codes: Integers
) -> None:
    """Refuses folds that train on one class only; warns of those that lack some class."""
    labels = classes.tolist()
    if len(labels) < 2:
        return
    whole = np.bincount(codes, minlength=len(labels))
    for number, fold in enumerate(parts):
        rows = fold.test if fold.train is None else fold.train
        part = np.bincount(codes[rows], minlength=len(labels))
        counts = whole - part if fold.train is None else part
        if np.count_nonzero(counts) == 1:
            only, other = labels[counts.argmax()], labels[(counts == 0).argmax()]
            raise InputError(
                f"Fold {number} (counted from 0) trains on class {only!r} only: all its "
                f"{counts.sum()} training rows have it and none has {other!r}. Shuffle or stratify "
                "the folds, use fewer of them, or get more rows of the other classes."
            )
    present = SharedFolds(tuple(parts), n_rows)
    present.warn_of_absent_classes(codes, np.array(labels, object))
