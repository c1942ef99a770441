"""Sufficient statistics of least squares: the triangular factor of `[1  X  Y]`.

The factor has the accuracy of Householder QR on the whole table, whatever the number of parts it
was merged from (`novum.numerics.triangular`). Categorical columns enter with all their levels, so
that sums over tables with other levels unite by label.

A large table in memory has a faster route: one pass computes `G = [1  Z]'W[1  Z]` by BLAS and
Cholesky gives its factor. That squares the condition number `kappa`: the factor's relative error is
about `eps kappa^2`. The route is therefore taken only when `kappa` of the scaled, centered design
is seen to be small, so that at least ten digits are certain; a correction from the rows
(`least_squares.solution`) gives the solution the rest. Every other table goes through QR.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from novum.core.errors import InputError, LostDigitsWarning
from novum.core.tables import Coding, Kind, Sample, Schema
from novum.numerics import (
    Floats,
    Positions,
    TriangularFactor,
    empty_factor,
    factor_of_gram,
    factor_of_rows,
    merge,
    remove,
)

# A double has 16 decimal digits; with fewer than 10 left, coefficients deserve a warning.
_DIGITS_TO_SPARE = 6.0

# Relative to its size before, a column smaller than this holds nothing but rounding errors.
_NOTHING = 1e-6

# kappa^2 eps stays below 1e-11, so that the factor agrees with that of QR to ten digits.
LARGEST_CONDITION = 200.0
SMALLEST_CELLS = 2**18
_BLOCK_ROWS = 2048


@dataclass(frozen=True, eq=False)
class LeastSquaresStatistics:
    """All that least squares and ridge need to know of a weighted table.

    Attributes
    ----------
    schema : Schema
        Of the columns of `X`.
    factor : TriangularFactor
        Of the full design of `X` (`core.tables.coding`) followed by the targets.
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


def _discrete(schema: Schema) -> Positions:
    """Positions of the columns of zeros and ones in the full design."""
    coding = Coding(schema)
    return np.setdiff1d(np.arange(coding.full_width), coding.starts[schema.numeric])


# --- By cross-products ----------------------------------------------------------------------------


def gram_statistics(sample: Sample) -> LeastSquaresStatistics | None:
    """The statistics by way of cross-products, or None where QR must be used."""
    coding = Coding(sample.schema)
    targets = sample.targets
    width = coding.full_width + targets.shape[1]
    if sample.n_rows * width < SMALLEST_CELLS or sample.n_rows < 4 * width:
        return None
    if not sample.schema.is_numeric or sample.is_sparse:
        return None
    center = _center(sample.numeric, targets)
    with np.errstate(over="ignore", invalid="ignore"):
        if not center.any() and sample.weight is None and sample.numeric.flags.c_contiguous:
            gram = _plain_gram(sample.numeric, targets)
        else:
            gram = _centered_gram(sample, targets, center)
    factor = _trusted_factor(gram, center, sample, targets.shape[1])
    if factor is None:
        return None
    return LeastSquaresStatistics(sample.schema, factor, targets.shape[1], sample.target.ndim == 1)


def _center(X: Floats, targets: Floats) -> Floats:
    """Zero where the offset is no larger than a few standard deviations, else the offset."""
    head = np.column_stack([X[:_BLOCK_ROWS], targets[:_BLOCK_ROWS]])
    with np.errstate(over="ignore", invalid="ignore"):
        mean, spread = head.mean(axis=0), head.std(axis=0)
    return np.zeros_like(mean) if (np.abs(mean) <= 8 * spread).all() else mean


def _plain_gram(X: Floats, targets: Floats) -> Floats:
    n, p = X.shape
    width = 1 + p + targets.shape[1]
    gram, inner = np.zeros((width, width)), np.zeros((p, p), order="F")
    for start in range(0, n, _BLOCK_ROWS):
        rows = X[start : start + _BLOCK_ROWS]
        others = np.column_stack([np.ones(len(rows)), targets[start : start + _BLOCK_ROWS]])
        inner = blas.dsyrk(1.0, rows.T, beta=1.0, c=inner, overwrite_c=1)
        cross, corner = others.T @ rows, others.T @ others
        gram[0, 1 : 1 + p] += cross[0]
        gram[1 : 1 + p, 1 + p :] += cross[1:].T
        gram[0, 0] += corner[0, 0]
        gram[0, 1 + p :] += corner[0, 1:]
        gram[1 + p :, 1 + p :] += corner[1:, 1:]
    gram[1 : 1 + p, 1 : 1 + p] = inner
    return np.triu(gram) + np.triu(gram, 1).T


def _centered_gram(sample: Sample, targets: Floats, center: Floats) -> Floats:
    n, p = sample.numeric.shape
    scratch = np.empty((_BLOCK_ROWS, 1 + center.size))
    gram = np.zeros((1 + center.size, 1 + center.size), order="F")
    for start in range(0, n, _BLOCK_ROWS):
        stop = min(start + _BLOCK_ROWS, n)
        rows = scratch[: stop - start]
        rows[:, 0] = 1.0
        np.subtract(sample.numeric[start:stop], center[:p], out=rows[:, 1 : 1 + p])
        np.subtract(targets[start:stop], center[p:], out=rows[:, 1 + p :])
        if sample.weight is not None:
            rows *= np.sqrt(sample.weight[start:stop])[:, np.newaxis]
        gram = blas.dsyrk(1.0, rows.T, beta=1.0, c=gram, overwrite_c=1)
    return np.triu(gram) + np.triu(gram, 1).T


def _trusted_factor(
    gram: Floats, center: Floats, sample: Sample, n_targets: int
) -> TriangularFactor | None:
    diagonal = np.diagonal(gram)
    if not (np.isfinite(gram).all() and (diagonal > 0).all()):
        return None
    # Scaling to a unit diagonal decides nothing but keeps Cholesky's pivots comparable.
    size = np.sqrt(diagonal)
    if not (np.isfinite(size).all() and (size > 0).all()):
        return None
    weight = sample.weight
    total = float(sample.n_rows) if weight is None else float(weight.sum())
    rows = float(sample.n_rows) if weight is None else float(np.count_nonzero(weight))
    try:
        unit = factor_of_gram(gram / np.outer(size, size), center, total, rows)
    except linalg.LinAlgError:
        return None
    # Columns, offset included, lose kappa^2 of the whole; the targets only follow.
    design = unit.factor[: gram.shape[0] - n_targets, : gram.shape[0] - n_targets]
    s = np.linalg.svd(design, compute_uv=False)
    if not s[0] <= LARGEST_CONDITION * s[-1]:
        return None
    return TriangularFactor(unit.factor * size, center, total, rows)
