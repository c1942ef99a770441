"""Rows for classifiers around a classifier: looked at, cut, never converted.

The inner classifier reads the table itself, so it reaches it in the container it came in. The outer
one needs to know the classes, which rows count (a row of weight zero is absent) and the folds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils.validation import _check_method_params, _num_samples

from novum.core.errors import InputError
from novum.core.exact_validation import rows_of
from novum.core.member_rows import checked_rows
from novum.core.targets import check_classes
from novum.core.validation import checked_weight

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What a classifier around a classifier is trained on.

    Attributes
    ----------
    table : container of n rows
    codes : int array of shape (n,)
        Into `classes`.
    classes : array of K labels, sorted
    weight : array of shape (n,), all positive, or None
    kept : array of n positions, or None
        Which of the given rows these are; None for all.
    given : pair of table and labels
        All rows, those of weight zero included.
    """

    table: Any
    codes: NDArray[np.int64]
    classes: NDArray[Any]
    weight: Floats | None
    kept: Rows | None
    given: tuple[Any, NDArray[Any]]

    @property
    def n_rows(self) -> int:
        return len(self.codes)

    @property
    def labels(self) -> NDArray[Any]:
        return self.classes[self.codes]

    @property
    def class_shares(self) -> Floats:
        """Share of the weight that each class has: the training priors."""
        counts = np.bincount(self.codes, self.weight, len(self.classes)).astype(np.float64)
        return counts / counts.sum()

    def weight_of(self, rows: Rows) -> Floats | None:
        return None if self.weight is None else self.weight[rows]

    def cut(self, params: Mapping[str, Any], rows: Rows | None = None) -> dict[str, Any]:
        """Arguments of `fit`; what has an entry for each given row is cut to these, or `rows`."""
        chosen = self.kept if rows is None else rows if self.kept is None else self.kept[rows]
        if chosen is None or not params:
            return dict(params)
        n_given = len(self.given[1])
        cut: dict[str, Any] = _check_method_params(np.empty(n_given), params, indices=chosen)
        return cut

    def folds(self, cv: Any, params: Mapping[str, Any] | None = None) -> list[tuple[Rows, Rows]]:
        """Rows to train on and rows to test, of a splitter that may repeat or leave out rows.

        A number of folds is drawn among the rows that count; other folds name given rows.
        """
        if self.kept is None or cv is None or isinstance(cv, Integral):
            splitter = check_cv(cv, self.labels, classifier=True)
            splits = splitter.split(self.table, self.labels, **self.cut(params or {}))
            return [(_positions(train), _positions(test)) for train, test in splits]
        table, labels = self.given
        place = np.full(len(labels), -1)
        place[self.kept] = np.arange(self.n_rows)
        splits = check_cv(cv, labels, classifier=True).split(table, labels, **(params or {}))
        parts = [[place[_positions(rows)] for rows in split] for split in splits]
        folds = [(train[train >= 0], test[test >= 0]) for train, test in parts]
        return [fold for fold in folds if fold[1].size]


def training_rows(model: Any, X: Any, y: Any, sample_weight: Any = None) -> TrainingRows:
    """Checks rows, labels and weights; sets `n_features_in_` and `feature_names_in_`."""
    name = type(model).__name__
    if y is None:
        raise InputError(f"{name} requires y to be passed, but the target y is None.")
    table = checked_rows(model, X, reset=True)
    classes, codes = check_classes(y, name)
    n_rows = _num_samples(table)
    if len(codes) != n_rows:
        raise InputError(
            f"X has {n_rows} rows, but y has {len(codes)}: found input variables with "
            "inconsistent numbers of samples. Pass one label for each row."
        )
    weight = checked_weight(sample_weight, n_rows)
    given = (table, classes[codes])
    if weight is None or weight.all():
        return _with_several_classes(TrainingRows(table, codes, classes, weight, None, given), name)
    kept = np.flatnonzero(weight > 0)
    met, codes = np.unique(codes[kept], return_inverse=True)
    rows = TrainingRows(
        rows_of(table, kept), codes.astype(np.int64), classes[met], weight[kept], kept, given
    )
    return _with_several_classes(rows, name)


def _with_several_classes(rows: TrainingRows, name: str) -> TrainingRows:
    if len(rows.classes) < 2:
        raise InputError(
            f"{name} needs at least two classes, but y has the one class "
            f"{rows.classes.tolist()[0]!r} only. Pass rows of other classes too."
        )
    return rows


def _positions(rows: Any) -> Rows:
    found = np.asarray(rows)
    return np.flatnonzero(found) if found.dtype == bool else found.astype(np.intp)
