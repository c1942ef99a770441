"""Targets of one label or of many: classes, 0/1 indicators, sets of labels.

    ["a", "c", "b"]                     one label for each row
    [[1, 0, 1], [0, 0, 1]]              an indicator: row i has label j where y[i, j] is 1
    [{"a", "c"}, {"c"}, set()]          the set of labels of each row

An indicator may be sparse; its labels are 0, 1, ..., the numbers of its columns. What is predicted
has the form of what was learned from.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.tables.missing import missing_mask, refuse_missing
from novum.core.tables.targets import check_classes, plain_target
from novum.core.tables.validation import checked_weight
from novum.numerics import Array, Floats, Integers, Mask

FORMS = ("classes", "indicator", "sparse indicator", "sets")


@dataclass(frozen=True, eq=False)
class LabelTarget:
    """Checked labels of all rows.

    Attributes
    ----------
    form : {"classes", "indicator", "sparse indicator", "sets"}
        How the target came.
    classes : array of shape (K,)
        Labels in sorted order.
    codes : array of shape (n,), or None
        Place of each row's only label.
    indicator : array or CSC matrix of shape (n, K), or None
        Which labels each row has, for targets of many labels.
    """

    form: str
    classes: Array
    codes: Integers | None = None
    indicator: Any = None

    @property
    def is_multilabel(self) -> bool:
        return self.form != "classes"

    @property
    def n_rows(self) -> int:
        return len(self.codes) if self.codes is not None else int(self.indicator.shape[0])

    def column(self, label: int) -> Integers:
        """1 in the rows that have this label, else 0."""
        if self.codes is not None:
            return (self.codes == label).astype(np.int64)
        column = self.indicator[:, [label]]
        dense = column.toarray() if sparse.issparse(column) else column
        return np.asarray(dense, np.int64).ravel()

    def counts(self, weight: Floats | None = None) -> Floats:
        """Total weight of the rows of each label, of shape (K,)."""
        if self.codes is not None:
            return np.bincount(self.codes, weight, len(self.classes)).astype(float)
        rows = np.ones(self.n_rows) if weight is None else weight
        return np.asarray(rows @ self.indicator, float).ravel()

    def rows(self, chosen: Array) -> LabelTarget:
        """The labels of some of the rows; classes that none of them has are gone."""
        if self.codes is None:
            return replace(self, indicator=_csr(self.indicator)[chosen])
        met, codes = np.unique(self.codes[chosen], return_inverse=True)
        return replace(self, classes=self.classes[met], codes=codes.astype(np.int64))


def read_labels(y: Any, learner: str) -> LabelTarget:
    """The labels of all rows, from any of the three forms.

    Parameters
    ----------
    y : labels, 0/1 indicator (array, frame or sparse matrix), or a sequence of sets
    learner : str
        Its name, for messages.

    Examples
    --------
    >>> target = read_labels([{"a", "c"}, {"b"}, set()], "Learner")
    >>> target.classes.tolist(), target.indicator.toarray().tolist()
    (['a', 'b', 'c'], [[1, 0, 1], [0, 1, 0], [0, 0, 0]])
    >>> read_labels([[1, 0], [1, 1]], "Learner").classes.tolist()
    [0, 1]
    """
    if y is None:
        raise InputError(f"{learner} requires y to be passed, but the target y is None.")
    if sparse.issparse(y):
        return _indicator(y.tocsc(), learner)
    if _holds_sets(y):
        return _of_sets(list(y), learner)
    array = _as_array(y)
    if array.ndim == 2 and array.shape[1] > 1:
        return _indicator(array, learner)
    classes, codes = check_classes(y, learner)
    return LabelTarget("classes", classes, codes=codes)


def labels_like(form: str, classes: Array, hits: Mask) -> Any:
    """Labels of rows, given as truths of shape (n, K), in the form of a multilabel target."""
    if form == "sets":
        labels = np.empty(len(hits), object)
        labels[:] = [frozenset(classes[row].tolist()) for row in hits]
        return labels
    table = hits.astype(np.int64)
    return sparse.csr_matrix(table) if form == "sparse indicator" else table


def share_of_equal_rows(form: str, y: Any, predicted: Any, weight: Any = None) -> float:
    """Share of rows whose labels are all right: the subset accuracy of multilabel learners."""
    if form == "sets":
        equal = np.array([set(a) == set(b) for a, b in zip(y, predicted, strict=True)])
    else:
        dense = [a.toarray() if sparse.issparse(a) else _as_array(a) for a in (y, predicted)]
        equal = (dense[0] == dense[1]).all(axis=1)
    return float(np.average(equal, weights=checked_weight(weight, len(equal))))


# --- The forms ------------------------------------------------------------------------------------


def _csr(indicator: Any) -> Any:
    return indicator.tocsr() if sparse.issparse(indicator) else indicator


def _as_array(y: Any) -> Array:
    try:
        return plain_target(y)
    except InputError as error:
        raise InputError(
            f"{error} Labels of rows that have several are given as sets, or as a 0/1 indicator."
        ) from error


def _holds_sets(y: Any) -> bool:
    if nw.dependencies.is_into_series(y):
        y = nw.from_native(y, series_only=True).to_list()
    if not isinstance(y, (list, tuple, np.ndarray)) or len(y) == 0:
        return False
    return isinstance(y[0], Set)


def _of_sets(rows: list[Any], learner: str) -> LabelTarget:
    for i, row in enumerate(rows):
        if not isinstance(row, Set):
            raise InputError(
                f"y holds sets of labels, but row {i} is {row!r}. Give every row a set, an empty "
                "one where it has no label."
            )
    labels = [label for row in rows for label in row]
    if not labels:
        raise InputError(
            f"None of the {len(rows)} sets in y holds a label, so {learner} has nothing to learn."
        )
    classes, codes = check_classes(labels, learner)
    starts = np.cumsum([0, *(len(row) for row in rows)])
    table = sparse.csr_matrix(
        (np.ones(len(codes), np.int64), codes, starts), shape=(len(rows), len(classes))
    )
    return LabelTarget("sets", classes, indicator=table.tocsc())


def _indicator(table: Any, learner: str) -> LabelTarget:
    cells = table.data if sparse.issparse(table) else table
    if cells.dtype.kind in "Of" and not sparse.issparse(table):
        names = [f"y{j}" for j in range(table.shape[1])]
        refuse_missing(missing_mask(cells), names, learner, what="y")
    allowed = cells.dtype.kind in "biuf" and bool(np.isin(cells, (0, 1)).all())
    if not allowed:
        odd = cells.ravel()
        wrong = odd[~np.isin(odd, (0, 1))][:1].tolist()[0] if odd.dtype.kind in "biuf" else odd[0]
        raise InputError(
            f"y has {table.shape[1]} columns, which {learner} reads as an indicator of labels, but "
            f"it holds {wrong!r} where only 0 and 1 may stand (Unknown label type). Give an "
            "indicator, sets of labels, or, for several targets of classes, use ClassifierChain or "
            "MultiOutputClassifier."
        )
    form = "sparse indicator" if sparse.issparse(table) else "indicator"
    small = table.astype(np.int8) if form == "indicator" else table.astype(np.int64)
    return LabelTarget(form, np.arange(table.shape[1]), indicator=small)
