"""Several targets at once: their columns, what is predicted of them, and tables with columns added.

    numbers    (n, T) finite numbers                                for regressors
    labels     (n, T) labels, each column with classes of its own   for classifiers
    indicator  (n, T) zeros and ones, or sets of labels             for classifiers

What is predicted has the form of what was learned from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.tables import (
    LabelTarget,
    as_rows,
    check_classes,
    check_numbers,
    frame_of,
    is_frame,
    labels_like,
    plain_target,
    read_labels,
    with_columns,
)
from novum.numerics import Array, Floats


@dataclass(frozen=True, eq=False)
class TargetColumns:
    """The columns of a target.

    Attributes
    ----------
    form : {"numbers", "labels", "indicator", "sparse indicator", "sets"}
    columns : tuple of T arrays of shape (n,)
        Numbers or labels; zeros and ones for indicators and sets.
    classes : tuple of T arrays, or None for numbers
        Labels of each column in sorted order.
    names : array of shape (T,), or None
        The labels that the columns of indicators and sets stand for.
    """

    form: str
    columns: tuple[Array, ...]
    classes: tuple[Array, ...] | None = None
    names: Array | None = None

    @property
    def n_rows(self) -> int:
        return len(self.columns[0])

    def rows(self, chosen: Array) -> TargetColumns:
        """Some of the rows; labels of a column that none of them has are gone."""
        columns = tuple(column[chosen] for column in self.columns)
        if self.form != "labels":
            return replace(self, columns=columns)
        return replace(self, columns=columns, classes=tuple(np.unique(c) for c in columns))


# --- Reading --------------------------------------------------------------------------------------


def read_number_columns(Y: Any, learner: str) -> TargetColumns:
    """Columns of numbers.

    Examples
    --------
    >>> [c.tolist() for c in read_number_columns([[1, 2.5], [3, 4]], "Learner").columns]
    [[1.0, 3.0], [2.5, 4.0]]
    """
    _require(Y, learner)
    table = check_numbers(Y, learner)
    if table.ndim == 1:
        raise _one_column(learner)
    return TargetColumns("numbers", tuple(np.ascontiguousarray(column) for column in table.T))


def read_label_columns(Y: Any, learner: str) -> TargetColumns:
    """Columns of labels, or an indicator, or sets of labels as columns of zeros and ones.

    Examples
    --------
    >>> found = read_label_columns([["a", "x"], ["b", "x"]], "Learner")
    >>> found.form, [c.tolist() for c in found.classes]
    ('labels', [['a', 'b'], ['x']])
    """
    _require(Y, learner)
    target = _multilabel(Y, learner)
    if target is not None:
        n_labels = len(target.classes)
        columns = tuple(target.column(k) for k in range(n_labels))
        both = (np.array([0, 1]),) * n_labels
        return TargetColumns(target.form, columns, both, target.classes)
    table = plain_target(Y)
    if table.ndim != 2 or 0 in table.shape:
        raise _one_column(learner)
    read = [check_classes(column, learner) for column in table.T]
    return TargetColumns(
        "labels",
        tuple(classes[codes] for classes, codes in read),
        tuple(classes for classes, _ in read),
    )


def _require(Y: Any, learner: str) -> None:
    if Y is None:
        raise InputError(f"{learner} requires y to be passed, but the target y is None.")


def _multilabel(Y: Any, learner: str) -> LabelTarget | None:
    """An indicator or sets; None where the columns hold other labels."""
    if not sparse.issparse(Y) and not (isinstance(Y, (list, tuple)) and _first_is_set(Y)):
        table = Y if isinstance(Y, np.ndarray) else np.asarray(plain_target(Y))
        sets = table.dtype.kind == "O" and table.ndim == 1 and _first_is_set(table)
        zeros_and_ones = table.ndim == 2 and table.dtype.kind in "biuf" and table.shape[1] > 1
        if not sets and not (zeros_and_ones and np.isin(table, (0, 1)).all()):
            return None
    return read_labels(Y, learner)


def _first_is_set(rows: Any) -> bool:
    return len(rows) > 0 and isinstance(rows[0], (set, frozenset))


def _one_column(learner: str) -> InputError:
    return InputError(
        f"y must have at least two dimensions for {learner}, which learns several targets, but it "
        "has only one. Give one column for each target, y.reshape(-1, 1) for a single one."
    )


# --- Predictions ----------------------------------------------------------------------------------


def joined(form: str, names: Any, columns: Sequence[Array]) -> Any:
    """Predicted columns as one target of that form."""
    table = np.column_stack(columns)
    return table if form in ("numbers", "labels") else labels_like(form, names, table == 1)


# --- Tables with columns added --------------------------------------------------------------------


def with_previous(X: Any, added: Floats) -> Any:
    """A table of any kind with columns of numbers behind its own.

    In frames they are called `previous_0`, `previous_1`, ..., with further underscores where a
    column has that name already.

    Examples
    --------
    >>> with_previous([[1.0], [2.0]], np.array([[0.0], [1.0]])).tolist()
    [[1.0, 0.0], [2.0, 1.0]]
    """
    if added.shape[1] == 0:
        return X
    names = [f"previous_{k}" for k in range(added.shape[1])]
    if is_frame(X):
        columns = frame_of(X).columns
        if all(isinstance(name, str) for name in columns):
            for k, name in enumerate(names):
                while name in columns:
                    name += "_"
                names[k] = name
            return with_columns(X, names, added)
        X = frame_of(X).to_numpy()
    return with_columns(as_rows(X), names, added)
