"""Splits: which rows train and which rows test, drawn once and shared by all learners.

    rows = train_k + test_k (+ rows that fold k leaves out),   train_k and test_k share no row

A plan of splits is a value. It is drawn once, checked once (no empty part, no row on both sides,
at least two classes to learn from), and has a fingerprint, so that results stored under one plan
are never taken for those of another. Folds that train on all rows they do not test keep the tested
rows only: leaving one out of n rows would otherwise hold n^2 positions.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    check_cv,
)
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_method_params, _num_samples

from novum.core.errors import InputError
from novum.core.learners import SharedFolds
from novum.core.sums import Fold
from novum.core.tables import check_classes, checked_weight, divides_rows, plain_target, rows_of
from novum.evaluation.validation.labelled_folds import LabelledFolds
from novum.evaluation.validation.split_checks import (
    check_classes_of_folds,
    check_groups,
    check_number_of_folds,
    checked_parts,
)
from novum.numerics import Positions, cached_property

Pair = tuple[Positions, Positions]

# Repeats are shuffled by this seed unless one is given: a run can then be repeated and resumed.
DEFAULT_SEED = 0


@dataclass(frozen=True, eq=False)
class Splits:
    """Folds of a table, as positions of rows; also a splitter that scikit-learn's tools accept.

    Attributes
    ----------
    parts : tuple of Fold
        Rows to train on (None for all that are not tested) and rows to test, repeat by repeat.
    n_rows : int
    n_repeats, n_folds : int
        `n_repeats * n_folds` folds in all; every repeat divides the rows anew.
    name : str
        In words, such as "10 x 5 stratified folds".

    Examples
    --------
    >>> splits = plan_splits([[0], [1], [2], [3]], [0.0, 1.0, 2.0, 3.0], 2, classifier=False)
    >>> [(train.tolist(), test.tolist()) for train, test in splits.folds]
    [([2, 3], [0, 1]), ([0, 1], [2, 3])]
    >>> splits.name, len(splits), splits.test_train_ratio
    ('2 folds', 2, 1.0)
    """

    parts: tuple[Fold, ...]
    n_rows: int
    n_repeats: int
    n_folds: int
    name: str

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def folds(self) -> tuple[Pair, ...]:
        """All pairs of rows to train on and rows to test; `split` gives them one at a time."""
        return tuple(self.split())

    def train(self, number: int) -> Positions:
        """The rows that a fold trains on."""
        fold = self.parts[number]
        if fold.train is not None:
            return fold.train
        kept = np.ones(self.n_rows, bool)
        kept[fold.test] = False
        return np.flatnonzero(kept)

    def test(self, number: int) -> Positions:
        """The rows that a fold tests."""
        return self.parts[number].test

    def n_train(self, number: int) -> int:
        """How many rows a fold trains on."""
        fold = self.parts[number]
        return self.n_rows - len(fold.test) if fold.train is None else len(fold.train)

    @property
    def test_train_ratio(self) -> float:
        """Rows tested over rows trained on, averaged over the folds."""
        return self.weighted_ratio()

    def weighted_ratio(self, weight: Any = None) -> float:
        """Weight tested over weight trained on, averaged over the folds; a row counts its weight.

        Folds without weight on either side are left out.
        """
        if weight is None:
            ratios = [len(fold.test) / self.n_train(k) for k, fold in enumerate(self.parts)]
            return float(np.mean(ratios))
        counts = np.asarray(weight, np.float64)
        tested = np.array([counts[fold.test].sum() for fold in self.parts])
        trained = np.array(
            [
                counts.sum() - tested[k] if fold.train is None else counts[fold.train].sum()
                for k, fold in enumerate(self.parts)
            ]
        )
        counted = (tested > 0) & (trained > 0)
        if not counted.any():
            return self.weighted_ratio()
        return float(np.mean(tested[counted] / trained[counted]))

    @property
    def in_time(self) -> bool:
        """Whether there are several folds, and each trains on rows before those that it tests."""
        return len(self.parts) > 1 and all(
            fold.train is not None and fold.train.max() < fold.test.min() for fold in self.parts
        )

    @property
    def is_leave_one_out(self) -> bool:
        """Whether every row is tested once, alone, by all others."""
        return len(self.parts) == self.n_rows and all(
            fold.train is None and len(fold.test) == 1 for fold in self.parts
        )

    @property
    def covers_once(self) -> bool:
        """Whether every row is tested exactly once in every repeat."""
        repeats = [self.repeat(number) for number in range(self.n_repeats)]
        tested = [np.concatenate([fold.test for fold in folds]) for folds in repeats]
        return all(np.array_equal(np.sort(rows), np.arange(self.n_rows)) for rows in tested)

    def repeat(self, number: int) -> tuple[Fold, ...]:
        """The folds of one repeat."""
        return self.parts[number * self.n_folds : (number + 1) * self.n_folds]

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all positions: equal for equal folds, however they were drawn."""
        digest = hashlib.sha256(f"{self.n_rows} {self.n_repeats} {self.n_folds}".encode())
        for fold in self.parts:
            for rows in fold:
                digest.update(b"complement" if rows is None else np.asarray(rows, "<i8").tobytes())
                digest.update(b"|")
        return digest.hexdigest()

    # A splitter in scikit-learn's sense

    def split(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[Positions, Positions]]:
        """Pairs of rows to train on and rows to test; the arguments are not needed."""
        del X, y, groups
        return ((self.train(k), self.test(k)) for k in range(len(self.parts)))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds there are."""
        del X, y, groups
        return len(self.parts)


def plan_splits(
    X: Any,
    y: Any = None,
    cv: Any = None,
    *,
    groups: Any = None,
    classifier: bool = False,
    random_state: int | None = None,
    params: Mapping[str, Any] | None = None,
    sample_weight: Any = None,
) -> Splits:
    """Draws and checks the folds of a table.

    Parameters
    ----------
    X, y
        The table and its targets.
    cv : int, text, splitter, iterable of (train, test), Splits, RepeatedFolds, NestedFolds or \
LabelledFolds
        Five folds by default. Text "10x5" is 10 repeats of 5 folds. Numbers and text give folds
        with equal shares of the classes for a classifier. Of nested folds the outer ones. Labels
        may be missing with `LabelledFolds`, whose unlabelled rows are in every training part.
    groups : array-like of shape (n_rows,), optional
        Rows of one group are never on both sides; for splitters that use groups.
    classifier : bool
        Whether `y` are classes: then folds are checked for classes they cannot learn.
    random_state : int, optional
        Shuffles the rows before they are divided by a number of folds; repeats are always
        shuffled, by 0 unless said otherwise.
    params : mapping, optional
        More arguments for the `split` of a splitter of your own.
    sample_weight : array-like of shape (n_rows,), optional
        Rows of weight 0 are absent: what divides rows divides the others only, as if those were
        not there, and a fold that is to test them tests them besides.

    Examples
    --------
    >>> X, y = [[i] for i in range(8)], ["no", "yes"] * 4
    >>> plan_splits(X, y, "3x2", classifier=True).name
    '3 x 2 stratified folds'
    """
    n_rows = _num_samples(X)
    weight = checked_weight(sample_weight, n_rows)
    cv = cv.outer if isinstance(cv, NestedFolds) else cv
    divides = isinstance(cv, (str, RepeatedFolds)) or divides_rows(cv)
    if weight is not None and not weight.all() and divides:
        counted = weight > 0
        rows = np.flatnonzero(counted)
        own = _check_method_params(X, params={"groups": groups, **(params or {})}, indices=rows)
        drawn = plan_splits(
            rows_of(X, rows),
            None if y is None else plain_target(y)[rows],
            cv,
            groups=own.pop("groups"),
            classifier=classifier,
            random_state=random_state,
            params=own,
        )
        return _with_absent(drawn, rows, np.flatnonzero(~counted))
    if isinstance(cv, Splits):
        if cv.n_rows != n_rows:
            raise InputError(
                f"These splits were drawn for {cv.n_rows} rows, but X has {n_rows}. Draw them anew "
                "with plan_splits."
            )
        return cv
    if isinstance(cv, SharedFolds):
        return Splits(cv.folds, n_rows, 1, len(cv.folds), f"{len(cv.folds)} folds")
    if isinstance(cv, LabelledFolds):
        parts = checked_parts(cv.split(X, y, groups), n_rows)
        n_folds = len(parts) // cv.n_repeats
        name = _name(cv, cv.n_repeats, n_folds)
        return Splits(parts, n_rows, cv.n_repeats, n_folds, name)
    target = None if y is None else plain_target(y)
    labels = None
    if classifier and target is not None and target.ndim == 1:
        classes, codes = labels = check_classes(target, "A classifier")
        # Objects get their type.
        target = classes[codes] if target.dtype.kind in "Of" else target
    splitter = _splitter(cv, target, classifier, random_state)
    check_groups(splitter, groups, n_rows)
    check_number_of_folds(splitter, n_rows, labels)
    if isinstance(splitter, LeaveOneOut):
        # Its own split would write down n^2 positions only for them to be taken back.
        parts = tuple(Fold(None, row) for row in np.arange(n_rows)[:, np.newaxis])
    elif (
        groups is None
        and _keeps_order(splitter, labels)
        and (target is None or len(target) == n_rows)
    ):
        numbers = _folds_in_order(splitter, n_rows, labels)
        parts = tuple(Fold(None, np.flatnonzero(numbers == k)) for k in range(splitter.n_splits))
    else:
        given = type(splitter).__name__ == "_CVIterableWrapper"
        more = params or {}
        pairs = splitter.cv if given else splitter.split(X, target, groups=groups, **more)
        parts = checked_parts(pairs, n_rows)
    if not parts:
        raise InputError(
            "No fits were performed. Was the CV iterator empty? Were there no candidates? cv gives "
            "no folds: give at least one pair (train, test) of positions."
        )
    if labels is not None:
        check_classes_of_folds(parts, n_rows, *labels)
    n_repeats = int(getattr(splitter, "n_repeats", 1) or 1)
    n_repeats = n_repeats if len(parts) % n_repeats == 0 else 1
    n_folds = len(parts) // n_repeats
    return Splits(parts, n_rows, n_repeats, n_folds, _name(splitter, n_repeats, n_folds))


def _with_absent(drawn: Splits, rows: Positions, absent: Positions) -> Splits:
    """Folds of some of the rows in positions of all; absent ones are tested if all others are."""
    n_folds = drawn.n_folds if drawn.covers_once else 0
    parts = tuple(
        Fold(
            None if fold.train is None else rows[fold.train],
            np.append(rows[fold.test], absent[k % n_folds :: n_folds] if n_folds else absent[:0]),
        )
        for k, fold in enumerate(drawn.parts)
    )
    if n_folds:
        # What is not tested is trained on, where rows of weight 0 do not count.
        parts = tuple(Fold(None, fold.test) for fold in parts)
    n_rows = len(rows) + len(absent)
    return Splits(parts, n_rows, drawn.n_repeats, drawn.n_folds, drawn.name)


# --- Plans as values ------------------------------------------------------------------------------


@dataclass(frozen=True)
class RepeatedFolds:
    """Shuffled folds, several times over; with equal shares of the classes where `y` has classes.

    Examples
    --------
    >>> RepeatedFolds(n_folds=2, n_repeats=3).get_n_splits()
    6
    """

    n_folds: int = 5
    n_repeats: int = 10
    random_state: int | None = DEFAULT_SEED

    def splitter(self, *, stratified: bool) -> Any:
        """scikit-learn's splitter of this plan."""
        kind = RepeatedStratifiedKFold if stratified else RepeatedKFold
        return kind(n_splits=self.n_folds, n_repeats=self.n_repeats, random_state=self.random_state)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Pairs of positions, as of any splitter."""
        discrete = y is not None and type_of_target(y) in ("binary", "multiclass")
        return self.splitter(stratified=discrete).split(X, y, groups)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds there are in all."""
        del X, y, groups
        return self.n_folds * self.n_repeats


@dataclass(frozen=True)
class NestedFolds:
    """Outer folds that judge, and inner folds that choose within each outer training part.

    Attributes
    ----------
    outer, inner : whatever `plan_splits` takes
    """

    outer: Any = 5
    inner: Any = 5


def repeated(
    n_folds: int = 5, n_repeats: int = 10, *, random_state: int | None = DEFAULT_SEED
) -> RepeatedFolds:
    """`n_repeats` divisions into `n_folds` folds, stratified for classes."""
    return RepeatedFolds(n_folds, n_repeats, random_state)


def stratified(n_folds: int = 5, *, random_state: int | None = DEFAULT_SEED) -> StratifiedKFold:
    """Shuffled folds with equal shares of the classes."""
    return StratifiedKFold(n_folds, shuffle=True, random_state=random_state)


def grouped(n_folds: int = 5) -> GroupKFold:
    """Folds that never divide a group; pass `groups` along."""
    return GroupKFold(n_folds)


def time_ordered(
    n_folds: int = 5, *, gap: int = 0, max_train_size: int | None = None
) -> TimeSeriesSplit:
    """Folds that train on the past and test on what follows, `gap` rows later."""
    return TimeSeriesSplit(n_folds, gap=gap, max_train_size=max_train_size)


def leave_one_out() -> LeaveOneOut:
    """Every row tested alone by all the others."""
    return LeaveOneOut()


def nested(outer: Any = 5, inner: Any = 5) -> NestedFolds:
    """Folds within folds: the inner ones choose, the outer ones judge."""
    return NestedFolds(outer, inner)


# --- Reading cv -----------------------------------------------------------------------------------

_TEXT = re.compile(r"\s*(\d+)\s*[x\u00d7*]\s*(\d+)\s*")


def _splitter(cv: Any, y: Any, classifier: bool, random_state: int | None) -> Any:
    if isinstance(cv, str):
        match = _TEXT.fullmatch(cv)
        if match is None:
            raise InputError(
                f"cv={cv!r} is no plan of folds. As text give REPEATSxFOLDS, such as '10x5' for 10 "
                "repeats of 5 folds."
            )
        seed = DEFAULT_SEED if random_state is None else random_state
        n_repeats, n_folds = int(match[1]), int(match[2])
        if n_repeats < 1 or n_folds < 2:
            raise InputError(f"cv={cv!r} needs at least 1 repeat of at least 2 folds.")
        cv = RepeatedFolds(n_folds, n_repeats, seed)
    discrete = classifier and y is not None and _holds_classes(y)
    if isinstance(cv, RepeatedFolds):
        return cv.splitter(stratified=discrete)
    if isinstance(cv, bool):
        raise InputError(f"cv={cv!r} is no number of folds. Give an integer of at least 2.")
    if cv is None and random_state is None:
        return StratifiedKFold(5) if discrete else KFold(5)
    if type(cv) is int and cv >= 2 and random_state is None:
        return StratifiedKFold(cv) if discrete else KFold(cv)
    try:
        splitter = check_cv(cv, y, classifier=classifier)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"cv={cv!r} is no plan of folds ({error}). Give a number of folds of at least 2, text "
            "such as '10x5', a splitter, or a list of (train, test) positions."
        ) from error
    if random_state is not None and (cv is None or isinstance(cv, Integral)):
        return type(splitter)(splitter.n_splits, shuffle=True, random_state=random_state)
    return splitter


def _holds_classes(y: Any) -> bool:
    """Whether the targets of a classifier, which were checked, are of one label each."""
    if y.ndim == 1 and y.dtype.kind in "biufUO":
        return True
    return type_of_target(y) in ("binary", "multiclass")


def _keeps_order(splitter: Any, labels: Any) -> bool:
    """Whether a splitter is scikit-learn's plain one, whose folds `_folds_in_order` gives."""
    kind = type(splitter)
    known = kind is KFold or (kind is StratifiedKFold and labels is not None)
    return known and not splitter.shuffle


def _folds_in_order(splitter: Any, n_rows: int, labels: Any) -> Positions:
    """The fold that tests each row: scikit-learn's, without checks that have been made.

    Plain folds are consecutive. Stratified ones deal out the rows sorted by class, so that the
    sizes of folds and of their classes differ by one at most; the rows of a class then go to the
    folds in their order. Classes count in the order they are met.
    """
    k = splitter.n_splits
    if labels is None or type(splitter) is KFold:
        return np.arange(k).repeat(n_rows // k + (np.arange(k) < n_rows % k))
    _, first, codes = np.unique(labels[1], return_index=True, return_inverse=True)
    codes = np.argsort(np.argsort(first))[codes]
    rows = np.argsort(codes, kind="stable")
    dealt = np.arange(n_rows) % k
    numbers = np.empty(n_rows, np.intp)
    numbers[rows] = dealt[np.lexsort((dealt, codes[rows]))]
    return numbers


def _name(splitter: Any, n_repeats: int, n_folds: int) -> str:
    if isinstance(splitter, LeaveOneOut):
        return "leave one out"
    kinds = {
        "KFold": "folds",
        "RepeatedKFold": "folds",
        "StratifiedKFold": "stratified folds",
        "RepeatedStratifiedKFold": "stratified folds",
        "GroupKFold": "grouped folds",
        "LabelledFolds": "stratified folds of labelled rows",
        "StratifiedGroupKFold": "stratified grouped folds",
        "TimeSeriesSplit": "time-ordered folds",
    }
    kind = kinds.get(type(splitter).__name__)
    if kind is None:
        given = type(splitter).__name__
        kind = "given folds" if given == "_CVIterableWrapper" else f"folds of {given}"
    return f"{n_repeats} x {n_folds} {kind}" if n_repeats > 1 else f"{n_folds} {kind}"
