"""How much one column alone says about the target: what every score of columns has in common.

A score is a value object that is called like scikit-learn's score functions, `score(X, y)`, and
gives one number for each *original* column, whatever its kind, with a p-value where it is a test.
It looks at one column at a time, on the rows where that column is known; how many there are is part
of the result, and a column that is never known or constant has score 0, p-value 1 and a warning.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.multiclass import type_of_target

from novum.core.errors import InputError
from novum.core.learners import Learner
from novum.core.tables import Kind, Sample, check_sample, plain_target
from novum.distributions import SmallCountsWarning
from novum.evaluation.selection.group_tests import UNTESTABLE, GroupTest
from novum.numerics import Array, Floats, Mask, Positions

TargetKind = Literal["auto", "classes", "numbers"]

# So many names are listed in a message.
_SHOWN = 5


class ConstantColumnsWarning(UserWarning):
    """Columns that cannot be scored: constant, or not known in any row."""


@dataclass(frozen=True, eq=False)
class OneColumn:
    """The known cells of a column, and the target of their rows.

    Attributes
    ----------
    name : str
    kind : Kind
    values : array of shape (n_known,)
        Numbers, or codes of levels.
    target : array of shape (n_known,)
        Codes of classes, or numbers.
    known : bool array of shape (n,)
    """

    name: str
    kind: Kind
    values: Array
    target: Array
    known: Mask

    @property
    def is_numeric(self) -> bool:
        return self.kind is Kind.NUMERIC

    @property
    def is_constant(self) -> bool:
        return self.values.size == 0 or bool((self.values == self.values[0]).all())


@dataclass(frozen=True, eq=False)
class ColumnScores:
    """Scores of all columns; unpacks as scikit-learn's `scores, pvalues`.

    Attributes
    ----------
    scores : array of shape (n_columns,)
    p_values : array of shape (n_columns,), or None
    n_known : int array of shape (n_columns,)
        Rows in which each column is known.
    """

    scores: Floats
    p_values: Floats | None
    n_known: Positions

    def __iter__(self) -> Iterator[Any]:
        return iter((self.scores, self.p_values))


class ColumnScore(ABC):
    """A score of columns; subclasses are frozen dataclasses, so that model files can hold them."""

    # What the target is; "auto" takes labels and whole numbers for classes.
    target: TargetKind
    tests: ClassVar[bool] = True

    @abstractmethod
    def _one(self, column: OneColumn, classes: bool) -> GroupTest:
        """The score of a column that is not constant."""

    def __call__(self, X: Any, y: Any) -> Any:
        """Scores of the columns of `X`, and p-values where this is a test, as scikit-learn does."""
        scores = self.of(read_columns(ColumnReader(), X, y, self.target))
        return (scores.scores, scores.p_values) if self.tests else scores.scores

    def of(self, sample: Sample) -> ColumnScores:
        """Scores of the columns of a checked sample."""
        classes = sample.classes is not None
        if classes:
            _refuse_one_class(sample)
        tested, dead = [], []
        counts = np.zeros(sample.schema.n_columns, np.intp)
        for j, column in enumerate(_columns(sample)):
            counts[j] = column.values.size
            if column.is_constant:
                dead.append(column.name)
            tested.append(self._constant(column) if column.is_constant else
                          self._one(column, classes))  # fmt: skip
        _warn_of_constant(dead, sample.schema.n_columns)
        self._warn_of(tested, sample)
        scores = np.array([self._score(test) for test in tested])
        p_values = np.array([test.p_value for test in tested]) if self.tests else None
        return ColumnScores(scores, p_values, counts)

    def _score(self, test: GroupTest) -> float:
        return test.value

    def _constant(self, column: OneColumn) -> GroupTest:
        """The score of a column whose known cells are all equal."""
        del column
        return UNTESTABLE

    def _warn_of(self, tests: list[GroupTest], sample: Sample) -> None:
        """Says for which columns the p-value is rough, if for any."""
        names = [
            name
            for name, test in zip(sample.schema.names, tests, strict=True)
            if test.smallest_expected < 1
        ]
        if names:
            warnings.warn(
                f"Expected counts below 1 make the chi-square p-values of {len(names)} columns "
                f"rough: {listed(names)}. Merge rare levels, or collect more rows.",
                SmallCountsWarning,
                stacklevel=3,
            )


def read_columns(reader: Any, X: Any, y: Any, target: TargetKind) -> Sample:
    """The checked sample that a score looks at.

    Parameters
    ----------
    reader : estimator
        Gives its name to messages, and its `categorical_features`.
    X, y
        Any table, and one target for each row.
    target : {"auto", "classes", "numbers"}
    """
    if y is not None and target == "auto":
        # A missing target is refused below, by name.
        with np.errstate(invalid="ignore"):
            kind = type_of_target(np.asarray(plain_target(y)))
        target = "numbers" if kind.startswith("continuous") else "classes"
    sample = check_sample(
        reader,
        X,
        y,
        target="classes" if target == "auto" else target,
        allow_missing=True,
        accept_sparse=True,
    )
    if sample.target.ndim == 2:
        if sample.target.shape[1] > 1:
            raise InputError(
                f"y should be a 1d array, got {sample.target.shape[1]} targets. Select columns for "
                "each target by itself."
            )
        sample = check_sample(reader, X, sample.target[:, 0], target="numbers",
                              allow_missing=True, accept_sparse=True)  # fmt: skip
    return sample


class ColumnReader(Learner):
    """Reads a table for a score that is called by itself."""

    def __init__(self, categorical_features: Any = "auto") -> None:
        self.categorical_features = categorical_features


def _columns(sample: Sample) -> Iterator[OneColumn]:
    numeric = sample.numeric.tocsc() if sample.is_sparse else sample.numeric
    places: dict[int, int] = {int(i): j for j, i in enumerate(sample.schema.numeric)}
    coded: dict[int, int] = {int(i): j for j, i in enumerate(sample.schema.categorical)}
    for i, column in enumerate(sample.schema.columns):
        values: Array
        if i in places:
            part = numeric[:, [places[i]]]
            values = (part.toarray() if sample.is_sparse else part).ravel()
            known = ~np.isnan(values)
        else:
            values = sample.codes[:, coded[i]]
            known = values >= 0
        yield OneColumn(column.name, column.kind, values[known], sample.target[known], known)


# --- Messages -------------------------------------------------------------------------------------


def listed(names: list[str]) -> str:
    """Some names of columns, for a message."""
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _refuse_one_class(sample: Sample) -> None:
    if sample.classes is not None and len(sample.classes) < 2:
        label = sample.classes.tolist()[0]
        raise InputError(
            f"y has one class only, {label!r}, so no column can tell classes apart. Pass rows of "
            "at least two classes."
        )


def _warn_of_constant(names: list[str], n_columns: int) -> None:
    if names:
        warnings.warn(
            f"{len(names)} of {n_columns} columns are constant where they are known, and say "
            f"nothing about y: {listed(names)}. They have the lowest score. Leave them out.",
            ConstantColumnsWarning,
            stacklevel=2,
        )
