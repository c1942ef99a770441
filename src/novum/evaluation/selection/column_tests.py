"""Tests as scores of columns: ANOVA's F, chi-square, correlation, Kruskal-Wallis, or by kind.

| score             | column            | target  | the name scikit-learn has for it |
|-------------------|-------------------|---------|----------------------------------|
| `AnovaF`          | numeric           | classes | `f_classif`                      |
| `ChiSquare`       | nominal, counts   | classes | `chi2`                           |
| `Correlation`     | numeric           | numbers | `f_regression`                   |
| `KruskalWallis`   | numeric, ordinal  | classes |                                  |
| `AssociationTest` | any               | any     |                                  |

Statistics of different tests, or of one test on different numbers of known cells, are no common
scale. `AssociationTest`, which takes the test that fits each column, therefore scores by
`-log10(p)`, computed so that it does not end where floats do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Kind, Sample
from novum.evaluation.selection import group_tests
from novum.evaluation.selection.column_scores import (
    ColumnScore,
    OneColumn,
    TargetKind,
)
from novum.evaluation.selection.group_tests import GroupTest


@dataclass(frozen=True)
class AnovaF(ColumnScore):
    """F of the analysis of variance of numeric columns between classes.

    Examples
    --------
    >>> scores, p_values = f_classif([[1.0, 5], [2, 5.5], [3, 5], [4, 5.5]], ["a", "a", "b", "b"])
    >>> scores.tolist()
    [8.0, 0.0]
    """

    @property
    def target(self) -> TargetKind:  # type: ignore[override]
        return "classes"

    def _one(self, column: OneColumn, classes: bool) -> GroupTest:
        del classes
        _refuse_categories(column, "AnovaF compares means of numbers")
        return group_tests.anova(column.values, column.target)


@dataclass(frozen=True)
class Correlation(ColumnScore):
    """F of the correlation of numeric columns with numbers: `r^2 (n - 2) / (1 - r^2)`.

    Examples
    --------
    >>> scores, _ = f_regression([[1.0], [2], [3], [4]], [1.0, 3, 2, 4])
    >>> scores.round(4).tolist()
    [3.5556]
    """

    @property
    def target(self) -> TargetKind:  # type: ignore[override]
        return "numbers"

    def _one(self, column: OneColumn, classes: bool) -> GroupTest:
        del classes
        _refuse_categories(column, "Correlation is between numbers")
        return group_tests.correlation(column.values, column.target)


@dataclass(frozen=True)
class ChiSquare(ColumnScore):
    """Chi-square of nominal columns, or of columns of counts, against classes.

    Nominal and ordinal columns are cross-tabulated with the classes. Numeric ones must be counts or
    other amounts of at least 0 (words of a text): their sums by class are compared with the share
    of rows that each class has, as in scikit-learn.

    Examples
    --------
    >>> scores, _ = chi2([["x"], ["x"], ["y"], ["y"]], [0, 0, 1, 1])
    >>> scores.tolist()
    [4.0]
    """

    @property
    def target(self) -> TargetKind:  # type: ignore[override]
        return "classes"

    def of(self, sample: Sample) -> Any:
        cells = sample.numeric.data if sample.is_sparse else sample.numeric
        if (cells < 0).any():
            dense = sample.numeric.toarray() if sample.is_sparse else sample.numeric
            row, j = np.argwhere(dense < 0)[0]
            name = sample.schema.columns[sample.schema.numeric[j]].name
            raise InputError(
                f"Negative values in data passed to ChiSquare: column {name!r} has {dense[row, j]} "
                f"at row {row}. It tests counts or nominal columns; take AnovaF for measurements."
            )
        return super().of(sample)

    def _one(self, column: OneColumn, classes: bool) -> GroupTest:
        del classes
        if column.is_numeric:
            return group_tests.count_test(column.values, column.target)
        return group_tests.contingency(column.values, column.target)

    def _constant(self, column: OneColumn) -> GroupTest:
        # A constant count is still distributed among the classes.
        return self._one(column, True) if column.values.size else super()._constant(column)


@dataclass(frozen=True)
class KruskalWallis(ColumnScore):
    """Kruskal and Wallis' H: whether the classes differ in the ranks of a column.

    Needs an order only, so it takes ordinal columns, and long tails do not disturb it.

    Examples
    --------
    >>> scores, _ = KruskalWallis()([[1.0], [2], [3], [400]], ["a", "a", "b", "b"])
    >>> scores.round(4).tolist()
    [2.4]
    """

    @property
    def target(self) -> TargetKind:  # type: ignore[override]
        return "classes"

    def _one(self, column: OneColumn, classes: bool) -> GroupTest:
        del classes
        if column.kind is Kind.NOMINAL:
            _refuse_categories(column, "KruskalWallis compares ranks")
        return group_tests.kruskal_wallis(column.values, column.target)


@dataclass(frozen=True)
class AssociationTest(ColumnScore):
    """For each column the test that fits its kind and the target's; scored by `-log10(p)`.

    Parameters
    ----------
    numbers : {"means", "ranks"}
        How numbers are compared: ANOVA and Pearson's correlation, or Kruskal-Wallis and Spearman's,
        which long tails do not disturb. With "ranks" ordinal columns count as ordered.
    target : {"auto", "classes", "numbers"}
        Auto takes fractional numbers for numbers, all else for classes.

    Examples
    --------
    >>> X = [[1.0, "red"], [2.0, "red"], [3.0, "blue"], [4.5, "red"]]
    >>> scores, p_values = AssociationTest()(X, [1.5, 2.0, 3.0, 4.0])
    >>> p_values.round(4).tolist()
    [0.0057, 0.7745]
    """

    numbers: Literal["means", "ranks"] = "means"
    target: TargetKind = "auto"

    def __post_init__(self) -> None:
        if self.numbers not in ("means", "ranks"):
            raise InputError(f"numbers is 'means' or 'ranks', got {self.numbers!r}.")
        if self.target not in ("auto", "classes", "numbers"):
            raise InputError(f"target is 'auto', 'classes' or 'numbers', got {self.target!r}.")

    def _one(self, column: OneColumn, classes: bool) -> GroupTest:
        ranks = self.numbers == "ranks"
        by_groups = group_tests.kruskal_wallis if ranks else group_tests.anova
        ordered = column.is_numeric or (ranks and column.kind is Kind.ORDINAL)
        values: Any = column.values.astype(np.float64) if ordered else column.values
        if classes and not ordered:
            return group_tests.contingency(values, column.target)
        if classes:
            return by_groups(values, column.target)
        if not ordered:
            return by_groups(column.target, values)
        paired = group_tests.rank_correlation if ranks else group_tests.correlation
        return paired(values, column.target)

    def _score(self, test: GroupTest) -> float:
        # A test that cannot be more significant has p = 0 exactly; a finite score keeps order.
        return min(-test.log_p / math.log(10), np.finfo(np.float64).max)


f_classif = AnovaF()
f_regression = Correlation()
chi2 = ChiSquare()


def _refuse_categories(column: OneColumn, what: str) -> None:
    if not column.is_numeric:
        raise InputError(
            f"{what}, but column {column.name!r} is {column.kind.value}. Take "
            "score_func=AssociationTest() or MutualInformation(), which know all kinds."
        )
