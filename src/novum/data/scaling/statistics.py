"""Statistics of scalings: what is known of the numeric columns, with the schema of all columns.

What is known is a value with `+`, `-`, `*` and `isclose` of its own: moments, extremes or counted
values of each numeric column. Nominal and ordinal columns take no part, but their levels unite, so
that parts of a table with other levels fit together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.core.schema import Schema
from novum.core.validation import Sample

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScalingStatistics:
    """What a scaling knows of a weighted table.

    Attributes
    ----------
    schema : Schema
    rows : float
        Number of rows of positive weight.
    weight : float
        Sum of the weights.
    columns : ColumnMoments, Extremes or CountedValues
        Of the numeric columns.
    """

    schema: Schema
    rows: float
    weight: float
    columns: Any

    @classmethod
    def of(cls, sample: Sample, columns: Any) -> ScalingStatistics:
        """The statistics of a sample whose numeric columns are already summed."""
        weight = float(sample.n_rows) if sample.weight is None else float(sample.weight.sum())
        return cls(sample.schema, float(sample.n_rows), weight, columns)

    def __add__(self, other: ScalingStatistics) -> ScalingStatistics:
        return ScalingStatistics(
            self._united(other),
            self.rows + other.rows,
            self.weight + other.weight,
            self.columns + other.columns,
        )

    def __sub__(self, other: ScalingStatistics) -> ScalingStatistics:
        """The statistics without the rows of `other`, which must be among them."""
        schema, left = self._united(other), self.weight - other.weight
        if left < -1e-12 * self.weight:
            raise InputError(
                f"Cannot remove more rows than there are: a weight of {self.weight:g} would become "
                f"{left:g}."
            )
        try:
            columns = self.columns - other.columns
        except ValueError as error:
            raise InputError(str(error)) from error
        gone = left <= 1e-12 * self.weight
        rows = 0.0 if gone else max(self.rows - other.rows, 1.0)
        return ScalingStatistics(schema, rows, 0.0 if gone else left, columns)

    def __mul__(self, factor: float) -> ScalingStatistics:
        rows = self.rows if factor > 0 else 0.0
        return ScalingStatistics(self.schema, rows, factor * self.weight, factor * self.columns)

    __rmul__ = __mul__

    def zero(self) -> ScalingStatistics:
        return 0.0 * self

    def isclose(self, other: ScalingStatistics, rtol: float = 1e-10) -> bool:
        self._united(other)
        close = abs(self.weight - other.weight) <= rtol * max(self.weight, other.weight)
        return close and bool(self.columns.isclose(other.columns, rtol))

    def _united(self, other: ScalingStatistics) -> Schema:
        if not isinstance(other, ScalingStatistics) or type(self.columns) is not type(
            other.columns
        ):
            raise InputError(
                f"Statistics of {type(self.columns).__name__} combine with their like only. Sum "
                "all parts with the same scaling."
            )
        return self.schema.unite(other.schema)


def seen(weight: Floats) -> Any:
    """Weights of known cells as scikit-learn's `n_samples_seen_`: one number where all are equal.

    >>> seen(np.array([3.0, 3.0])), seen(np.array([3.0, 2.5])).tolist()
    (3, [3.0, 2.5])
    """
    if weight.size and (weight == weight[0]).all():
        first = float(weight[0])
        return int(first) if first.is_integer() else first
    return weight
