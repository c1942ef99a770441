"""Rows for learners of learners: looked at, cut, never converted.

The inner learners read the table themselves, so it reaches them in the container it came in: a
frame stays a frame with its nominal and missing cells, a sparse matrix stays sparse. The outer one
needs to know only how many rows and columns there are, what the columns are called, which classes
there are, which rows count (a row of weight zero is absent) and the folds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import (
    BaseShuffleSplit,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    check_cv,
)
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_method_params, _num_samples, column_or_1d

from novum.core.errors import InputError
from novum.core.tables.frames import checked_rows, rows_of
from novum.core.tables.targets import (
    check_classes,
    check_numbers,
    check_partial_classes,
    plain_target,
)
from novum.core.tables.validation import checked_weight
from novum.numerics import Array, Floats, Positions

_DIVIDERS = (KFold, StratifiedKFold, GroupKFold, StratifiedGroupKFold, TimeSeriesSplit, LeaveOneOut,
             LeavePOut, LeaveOneGroupOut, LeavePGroupsOut, RepeatedKFold, RepeatedStratifiedKFold,
             BaseShuffleSplit)  # fmt: skip


def divides_rows(cv: Any) -> bool:
    """Whether `cv` divides the rows that it is shown, rather than naming rows of one table.

    A number of folds and scikit-learn's splitters divide; an iterable of (train, test), a
    `PredefinedSplit` and a splitter of somebody else name rows as given, absent ones included.

    Examples
    --------
    >>> divides_rows(5), divides_rows(KFold(5)), divides_rows([([0], [1])])
    (True, True, False)
    """
    return cv is None or isinstance(cv, (Integral, *_DIVIDERS))


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What a learner of learners is trained on.

    Attributes
    ----------
    table : container of n rows
    target : array of shape (n,) or (n, n_targets)
        Numbers, or codes into `classes`.
    classes : array of labels in sorted order, a list of such for several labels, or None
    weight : array of shape (n,), all positive, or None when every row counts once
    kept : array of n positions, or None
        Which of the given rows these are; None for all.
    given : pair of table and targets
        All rows, those of weight zero included.
    given_classes : as `classes`, of all given rows
    """

    table: Any
    target: Array
    classes: Any
    weight: Floats | None
    kept: Positions | None
    given: tuple[Any, Array]
    given_classes: Any

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        target: Literal[
            "classes", "partial classes", "labels", "numbers", "one number"
        ] = "numbers",
        reset: bool = True,
        least_classes: int = 1,
    ) -> TrainingRows:
        """Rows, targets and weights, checked.

        Sets `n_features_in_` and `feature_names_in_` of the model.

        Parameters
        ----------
        model : learner of learners
            Gives its name to messages.
        X, y, sample_weight
            As given to `fit`.
        target : {"classes", "partial classes", "labels", "numbers", "one number"}
            What `y` is: a label for each row, for some rows (-1 for the others), one or an
            indicator of several, numbers in one or more columns, or one number for each row.
        reset : bool
            Unless true, the columns must be those of the last fit.
        least_classes : 1 or 2
            How many classes rows that count must have.
        """
        name = type(model).__name__
        if y is None:
            raise InputError(f"{name} requires y to be passed, but the target y is None.")
        table = checked_rows(model, X, reset=reset)
        n_rows = _num_samples(table)
        weight = checked_weight(sample_weight, n_rows)
        classes: Any = None
        values: Array
        if target == "classes":
            classes, values = check_classes(y, name)
        elif target == "partial classes":
            classes, values = check_partial_classes(y, name)
        elif target == "labels":
            classes, values = _label_sets(y, name)
        else:
            values = check_numbers(y, name)
            if target == "one number" or (values.ndim == 2 and values.shape[1] == 1):
                values = column_or_1d(values, warn=True)
        if len(values) != n_rows:
            what = "label" if "classes" in target else "target"
            raise InputError(
                f"X has {n_rows} rows, but y has {len(values)}: found input variables with "
                f"inconsistent numbers of samples. Pass one {what} for each row."
            )
        given, given_classes, kept = (table, values), classes, None
        if weight is not None and not weight.all():
            kept = np.flatnonzero(weight > 0)
            table, values, weight = rows_of(table, kept), values[kept], weight[kept]
            if isinstance(classes, np.ndarray):
                met = np.unique(values[values >= 0])
                values = np.where(values >= 0, np.searchsorted(met, values), -1)
                classes = classes[met]
        if classes is not None and len(classes) == 0:
            raise InputError(f"{name} needs labelled rows of a weight above 0; y has none.")
        if classes is not None and len(classes) < least_classes:
            raise InputError(
                f"{name} needs at least two classes, but y has the one class "
                f"{classes.tolist()[0]!r} only. Pass rows of other classes too."
            )
        return cls(table, values, classes, weight, kept, given, given_classes)

    @property
    def n_rows(self) -> int:
        return len(self.target)

    @property
    def n_given(self) -> int:
        return len(self.given[1])

    @property
    def labels(self) -> Array:
        """The class of each row by its name."""
        labels: Array = self.classes[self.target]
        return labels

    @property
    def class_shares(self) -> Floats:
        """Share of the weight that each class has: the training priors."""
        counts = np.bincount(self.target, self.weight, len(self.classes)).astype(np.float64)
        return counts / counts.sum()

    def weight_of(self, rows: Positions) -> Floats | None:
        return None if self.weight is None else self.weight[rows]

    def cut(self, params: Mapping[str, Any], rows: Array | None = None) -> dict[str, Any]:
        """Arguments of `fit`; what has an entry for each given row is cut to these, or `rows`."""
        chosen = self.kept if rows is None else rows if self.kept is None else self.kept[rows]
        if chosen is None or not params:
            return dict(params)
        cut: dict[str, Any] = _check_method_params(np.empty(self.n_given), params, indices=chosen)
        return cut

    def folds(
        self, cv: Any, params: Mapping[str, Any] | None = None
    ) -> list[tuple[Positions, Positions]]:
        """Rows to train on and rows to test, of a splitter that may repeat or leave out rows.

        What divides rows divides those that count; other folds name given rows.
        """
        if self.kept is None or divides_rows(cv):
            splitter = check_cv(cv, self.labels, classifier=True)
            splits = splitter.split(self.table, self.labels, **self.cut(params or {}))
            return [(_positions(train), _positions(test)) for train, test in splits]
        table, labels = self.given[0], self.given_classes[self.given[1]]
        place = np.full(len(labels), -1)
        place[self.kept] = np.arange(self.n_rows)
        splits = check_cv(cv, labels, classifier=True).split(table, labels, **(params or {}))
        parts = [[place[_positions(rows)] for rows in split] for split in splits]
        folds = [(train[train >= 0], test[test >= 0]) for train, test in parts]
        return [fold for fold in folds if fold[1].size]


def _label_sets(y: Any, name: str) -> tuple[Any, Array]:
    """Classes and codes of one label for each row, or of each column of an indicator of labels."""
    values = plain_target(y)
    if values.ndim != 2 or type_of_target(values) != "multilabel-indicator":
        return check_classes(y, name)
    columns = [np.unique(column, return_inverse=True) for column in values.T]
    return [labels for labels, _ in columns], np.stack([codes for _, codes in columns], axis=1)


def _positions(rows: Any) -> Positions:
    positions = np.asarray(rows)
    return np.flatnonzero(positions) if positions.dtype == bool else positions.astype(np.intp)
