"""Sufficient statistics of least squares: the triangular factor of `[1  X  Y]`.

The factor has the accuracy of Householder QR on the whole table, whatever the number of parts it
was merged from (`novum.numerics.triangular`). Categorical columns enter with all their levels, so
that sums over tables with other levels unite by label.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from novum.core.coding import Coding
from novum.core.errors import InputError, LostDigitsWarning
from novum.core.schema import Kind, Schema
from novum.core.validation import Sample
from novum.numerics.triangular import (
    Floats,
    TriangularFactor,
    empty_factor,
    factor_of_rows,
    merge,
    remove,
)

# A double has 16 decimal digits; with fewer than 10 left, coefficients deserve a warning.
_DIGITS_TO_SPARE = 6.0

# Relative to its size before, a column smaller than this holds nothing but rounding errors.
_NOTHING = 1e-6


@dataclass(frozen=True, eq=False)
class LeastSquaresStatistics:
    """All that least squares and ridge need to know of a weighted table.

    Attributes
    ----------
    schema : Schema
        Of the columns of `X`.
    factor : TriangularFactor
        Of the full design of `X` (`core.coding`) followed by the targets.
    n_targets : int
    vector_target : bool
        Whether `y` came as a vector, so that coefficients are a vector too.
    """

    schema: Schema
    factor: TriangularFactor
    n_targets: int = 1
    vector_target: bool = True

    def __post_init__(self) -> None:
        expected = Coding(self.schema).full_width + self.n_targets
        if self.factor.n_columns != expected:
            raise InputError(
                f"A factor of {self.factor.n_columns} columns does not fit a schema and targets of "
                f"{expected} columns."
            )

    @classmethod
    def of(cls, sample: Sample) -> LeastSquaresStatistics:
        """The statistics of a checked sample, block by block, by QR."""
        coding, targets = Coding(sample.schema), sample.targets
        width, n_targets = coding.full_width, targets.shape[1]

        def fill(start: int, stop: int, out: Floats) -> None:
            coding.fill_full(sample, start, stop, out[:, :width])
            out[:, width:] = targets[start:stop]

        factor = factor_of_rows(sample.n_rows, width + n_targets, fill, sample.weight)
        return cls(sample.schema, factor, n_targets, sample.target.ndim == 1)

    @property
    def rows(self) -> float:
        """Number of rows of positive weight."""
        return self.factor.rows

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return self.factor.weight

    def __add__(self, other: LeastSquaresStatistics) -> LeastSquaresStatistics:
        if not isinstance(other, LeastSquaresStatistics):
            return NotImplemented
        schema = self._united(other)
        return self._with(schema, merge(self._on(schema), other._on(schema)))

    def __sub__(self, other: LeastSquaresStatistics) -> LeastSquaresStatistics:
        if not isinstance(other, LeastSquaresStatistics):
            return NotImplemented
        schema = self._united(other)
        before = self._on(schema)
        factor, digits_lost = remove(before, other._on(schema), _discrete(schema))
        if digits_lost > _DIGITS_TO_SPARE:
            warnings.warn(
                f"The removed rows carried almost all there was to know in one direction: about "
                f"{digits_lost:.0f} of 16 digits are lost there. Fit the remaining rows afresh "
                "where they are at hand.",
                LostDigitsWarning,
                stacklevel=3,
            )
        return self._with(schema, factor)._without_levels_of(before)

    def __mul__(self, factor: float) -> LeastSquaresStatistics:
        return factor * self

    def __rmul__(self, factor: float) -> LeastSquaresStatistics:
        return self._with(self.schema, self.factor.scaled(float(factor)))

    def zero(self) -> LeastSquaresStatistics:
        return self._with(self.schema, empty_factor(self.factor.n_columns))

    def isclose(self, other: LeastSquaresStatistics, rtol: float = 1e-10) -> bool:
        schema = self._united(other)
        return self._on(schema).isclose(other._on(schema), rtol)

    def _united(self, other: LeastSquaresStatistics) -> Schema:
        if self.n_targets != other.n_targets:
            raise InputError(
                f"Statistics of {self.n_targets} and {other.n_targets} targets do not fit "
                "together. Give every part the same targets."
            )
        return self.schema.unite(other.schema)

    def _on(self, schema: Schema) -> TriangularFactor:
        """The factor with the columns of a united schema."""
        if schema == self.schema:
            return self.factor
        moved = Coding(schema).moved_from(self.schema)
        targets = np.arange(self.factor.n_columns - self.n_targets, self.factor.n_columns)
        if moved.size + targets.size == self.factor.n_columns and (np.diff(moved) == 1).all():
            return self.factor
        return self.factor.columns(np.concatenate([moved, targets]))

    def _without_levels_of(self, before: TriangularFactor) -> LeastSquaresStatistics:
        """Without the nominal levels that only removed rows had, as if they had never been met."""
        if self.schema.is_numeric or self.rows == 0:
            return self
        sizes = np.linalg.norm(before.uncentered, axis=0)
        gone = (sizes > 0) & (np.linalg.norm(self.factor.uncentered, axis=0) <= _NOTHING * sizes)
        starts, columns = Coding(self.schema).starts, list(self.schema.columns)
        for i, column in enumerate(columns):
            if column.kind is Kind.NOMINAL:
                pairs = zip(column.levels, gone[starts[i] : starts[i + 1]], strict=True)
                columns[i] = replace(column, levels=tuple(level for level, no in pairs if not no))
        schema = Schema(tuple(columns), self.schema.named)
        return self._with(schema, self._on(schema))

    def _with(self, schema: Schema, factor: TriangularFactor) -> LeastSquaresStatistics:
        return LeastSquaresStatistics(schema, factor, self.n_targets, self.vector_target)


def _discrete(schema: Schema) -> NDArray[np.intp]:
    """Positions of the columns of zeros and ones in the full design."""
    coding = Coding(schema)
    return np.setdiff1d(np.arange(coding.full_width), coding.starts[schema.numeric])
