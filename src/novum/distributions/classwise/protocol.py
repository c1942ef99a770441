"""What the laws of all classes offer together, and the sums they are estimated from.

A *block* holds the laws of some columns in each of K classes, as arrays (class by class, column by
column) in place of K d single laws. That is what a classifier multiplies: columns of different
blocks are independent given the class. A missing cell is integrated out; in a block of independent
columns its factor is one.

A law that has no block of its own serves through `LawBlock`, one column at a time.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from novum.core.errors import ModelFileError
from novum.core.tables import Sample, Schema
from novum.numerics import Array, ColumnMoments, Floats, Positions


class ClassSums(Protocol):
    """Sums of a weighted table within its classes; columns are positions among the numeric ones."""

    @property
    def n_classes(self) -> int: ...
    @property
    def class_count(self) -> Floats:
        """Weight of each class (K,)."""
        ...

    def moments_of(self, columns: Positions) -> ColumnMoments:
        """Moments of the present cells, of all pairs (class, column), class by class."""
        ...

    def totals_of(self, columns: Positions) -> tuple[Floats, Floats | None]:
        """Totals (K, m) and weights of missing cells, None where no cell is missing."""
        ...

    def table(self, column: int) -> Floats:
        """Weights (levels, K) of the levels of a categorical column, by position among these."""
        ...

    def law_sums(self, column: int) -> tuple[Any, ...]:
        """The law's own statistics in each class; None where it has no cell."""
        ...


class Block(Protocol):
    """Laws of some columns in each of K classes."""

    def log_likelihood(self, sample: Sample, /) -> Floats:
        """`log p(cells | k)` of every row, of shape (n, K)."""
        ...

    def contributions(self, sample: Sample, /) -> Floats:
        """Each column's part of it, of shape (n, K, d)."""
        ...

    def draw(self, labels: Positions, rng: np.random.Generator, /) -> Array:
        """Cells, one row for each class code."""
        ...

    def check(self, schema: Schema, n_classes: int, /) -> None:
        """Refuses a block of a file that does not fit the model."""
        ...


class LeaveOneOutBlock(Block, Protocol):
    """A block that knows what a row's own class says of it without the row."""

    def leave_one_out(
        self, sample: Sample, sums: ClassSums, weight: Floats, /
    ) -> tuple[Floats, Floats]:
        """Scores (n,) of the rows by their own classes without them, and what is left of those.

        A row takes part only in the sums of its own class, so the other classes score it as before.
        Where little is left (a scatter that all but vanishes) or a law depends on all rows (a least
        variance), the remainder is zero, and the caller fits again.
        """
        ...


def check_shapes(columns: Positions, schema: Schema, n_classes: int, *arrays: Floats) -> None:
    """Refuses arrays that are not (n_classes, number of columns), or columns out of range."""
    n_numeric = schema.numeric.size
    if columns.ndim != 1 or ((columns < 0) | (columns >= n_numeric)).any():
        raise ModelFileError(f"The model names columns out of range: it has {n_numeric} numeric.")
    for array in arrays:
        if array.shape != (n_classes, columns.size) or np.isnan(array).any():
            raise ModelFileError(
                f"The model has a table of shape {array.shape} for {n_classes} classes and "
                f"{columns.size} columns, or one with NaN."
            )


def numeric_cells(sample: Sample, columns: Positions) -> Any:
    """Some of the numeric columns; the table itself where they are all."""
    X = sample.numeric
    return X if columns.size == X.shape[1] else X[:, columns]
