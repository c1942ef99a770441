"""Rows whose distance is a sum over columns: numbers by |x - z|^p, levels by a table.

    d(x, z) = ( sum_j |x_j - z_j|^p + sum_l T_l[x_l, z_l] )^(1/p)

Weights and ranges are in the numbers and the tables already. The tables have two places more than
there are levels: for a missing cell, and for a level that training never met.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Learner, parameter
from novum.core.tables import MISSING, UNSEEN, Sample, Schema, check_sample
from novum.distances.missing import ObservedColumn
from novum.distances.protocol import DistanceRows, Missing
from novum.numerics import Codes, Floats, cached_property

_NONE = np.empty((0, 0))
_LARGEST_POWER = 1e280
# A sum of squares that leaves no doubt.
_MODERATE = 1e200
# How distances follow from sums of powers.
Finish = Literal["root", "none", "half", "arc"]


@dataclass(frozen=True, eq=False)
class ColumnTerms:
    """What all rows that are prepared alike share.

    Attributes
    ----------
    schema : Schema
    power : float
    missing : {"expected", "partial"}
    finish : {"root", "none", "half", "arc"}
        "half" is half of the sum, which of rows of length 1 is one minus the cosine; "arc" the
        angle between them.
    tables : tuple of square arrays, one for each column of levels
    weights : array (n_columns,)
        Of numbers first, then of levels.
    observed : tuple of ObservedColumn
        The cells of the training rows.
    factor : array or None
        What rows were multiplied with: one number for each column, or the inverse of a matrix.
    values : tuple of arrays
        Of numbers that count as levels.
    """

    schema: Schema
    power: float
    missing: Missing
    finish: Finish
    tables: tuple[Floats, ...]
    weights: Floats
    observed: tuple[ObservedColumn, ...]
    factor: Floats | None = None
    values: tuple[Floats, ...] = ()

    @cached_property
    def arrays_of_complete(self) -> tuple[Any, ...]:
        """The tables one after the other, as kernels take them where no number is missing."""
        widths = np.array([len(table) for table in self.tables], np.int64)
        starts = np.concatenate([[0], np.cumsum(widths**2)[:-1]]) if len(widths) else widths
        flat = np.concatenate([np.empty(0), *(table.ravel() for table in self.tables)])
        weights = np.asarray(self.weights, np.float64)
        return np.empty(0), flat, starts.astype(np.int64), widths, weights

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """The same, with what two missing numbers of each column are apart."""
        both = np.array([column.both for column in self.observed])
        return both, *self.arrays_of_complete[1:]


@dataclass(frozen=True, eq=False)
class ColumnRows(DistanceRows):
    """Prepared rows: numbers (NaN where missing) and the places of their levels in the tables."""

    terms: ColumnTerms
    numbers: Floats
    places: Codes

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, rows: Any) -> Self:
        numbers, places = self.numbers[rows], self.places[rows]
        return replace(
            self, numbers=np.ascontiguousarray(numbers), places=np.ascontiguousarray(places)
        )

    @cached_property
    def is_complete(self) -> bool:
        """Whether no number is missing."""
        return not np.isnan(self.numbers).any()

    @property
    def are_vectors(self) -> bool:
        """Whether rows are numbers alone, none missing: what trees of boxes can index."""
        return self.is_complete and self.places.shape[1] == 0

    @cached_property
    def _expected(self) -> Floats:
        columns = zip(self.terms.observed, self.numbers.T, strict=True)
        expectations = [observed.expected(np.nan_to_num(column)) for observed, column in columns]
        return np.ascontiguousarray(np.array(expectations).reshape(-1, len(self)).T)

    @cached_property
    def _columns(self) -> tuple[Floats, Floats, Codes, Codes]:
        """Column by column, as the kernel takes the rows that others are compared with.

        The last are the highest places that the columns of levels have.
        """
        expected = _NONE if self.is_complete else np.ascontiguousarray(self._expected.T)
        numbers = np.ascontiguousarray(self.numbers.T)
        highest = self.places.max(axis=0, initial=0).astype(np.int32)
        return numbers, expected, np.ascontiguousarray(self.places.T), highest

    def cross_powers(self, other: Self) -> Floats:
        from novum.distances import column_kernels as kernels

        is_complete = self.is_complete and other.is_complete
        numbers, expected, places, highest = other._columns
        if not is_complete and other.is_complete:
            expected = np.ascontiguousarray(other._expected.T)
        out = np.empty((len(self), len(other)))
        kernels.cross_powers(
            (self.numbers, _NONE if is_complete else self._expected, self.places),
            (numbers, _NONE if is_complete else expected, places),
            highest,
            self.terms.arrays_of_complete if is_complete else self.terms.arrays,
            self.terms.power,
            # Without a missing cell all columns count, and nothing is scaled.
            self.terms.missing == "partial"
            and not (is_complete and self._has_levels and other._has_levels),
            out,
        )
        return out

    @cached_property
    def _has_levels(self) -> bool:
        """Whether no level is missing."""
        widths = np.array([len(table) for table in self.terms.tables])
        return not (self.places == widths - 2).any() if len(widths) else True

    def finish(self, powers: Floats) -> Floats:
        return finish_powers(self.terms, powers)


def finish_powers(terms: ColumnTerms, powers: Floats) -> Floats:
    """Distances from sums of powers."""
    power, how = terms.power, terms.finish
    if how == "half":
        return np.asarray(powers / 2.0)
    if how == "arc":
        return np.asarray(2.0 * np.arcsin(np.minimum(0.5 * np.sqrt(powers), 1.0)))
    if how == "none" or power == 1.0 or np.isinf(power):
        return powers
    return np.asarray(np.sqrt(powers) if power == 2.0 else powers ** (1.0 / power))


class _RowReader(Learner):
    """What `core.tables` wants to know of a learner; subclasses lend it a distance's name."""

    categorical_features: Any = parameter(default="auto")


def read_rows(
    X: Any, distance: str, schema: Schema | None = None, y: Any = None, sample_weight: Any = None
) -> Sample:
    """The table as a checked sample, by the schema of the training where there is one.

    Examples
    --------
    >>> read_rows([[1.5, "a"], [None, "b"]], "Gower").numeric.ravel()
    array([1.5, nan])
    """
    if isinstance(X, Sample):
        return X
    reader = type(distance, (_RowReader,), {})()
    return check_sample(
        reader,
        X,
        y,
        sample_weight,
        target="none" if y is None else "classes",
        schema=schema,
        allow_missing=True,
        accept_sparse=True,
    )


def places_of(sample: Sample, tables: tuple[Floats, ...]) -> Codes:
    """Codes of levels as places in tables, where missing and unseen ones come last."""
    places = np.array(sample.codes, np.int32, order="C")
    for j, table in enumerate(tables):
        codes = sample.codes[:, j]
        places[codes == MISSING, j] = len(table) - 2
        places[(codes == UNSEEN) | (codes >= len(table) - 2), j] = len(table) - 1
    return places


def level_table(apart: Floats, counts: Floats, unseen: Floats | float, stranger: float) -> Floats:
    """A table of levels with the places of missing and unseen ones.

    Parameters
    ----------
    apart : array (k, k)
        Of levels from each other.
    counts : array (k,)
        How often they occur: a missing cell is any of them with these chances.
    unseen : array (k,) or float
        Of a level that training never met from each.
    stranger : float
        Of two such levels from each other.

    Examples
    --------
    >>> level_table(1.0 - np.eye(2), np.array([3.0, 1.0]), 1.0, 1.0)[2]
    array([0.25 , 0.75 , 0.375, 1.   ])
    """
    k = len(counts)
    shares = counts / counts.sum() if counts.sum() > 0 else counts
    far = np.broadcast_to(np.asarray(unseen, np.float64), (k,))
    table = np.zeros((k + 2, k + 2))
    table[:k, :k] = apart
    table[:k, k] = table[k, :k] = apart @ shares
    table[k, k] = shares @ apart @ shares
    table[:k, k + 1] = table[k + 1, :k] = far
    table[k, k + 1] = table[k + 1, k] = far @ shares
    table[k + 1, k + 1] = stranger
    return table


def refuse_overflow(cells: Floats, power: float = 2.0) -> None:
    """Refuses numbers whose differences, raised to a power and added up, are no doubles.

    Examples
    --------
    >>> refuse_overflow(np.array([1e139, np.nan])), refuse_overflow(np.array([1e200]), 1.0)
    (None, None)
    """
    if power <= 2.0 and _sum_of_squares(cells) < _MODERATE:
        return
    size, largest = _size(cells), _largest(power)
    if size > largest:
        what = {1.0: "sums", 2.0: "squares", np.inf: "sums"}.get(power, f"powers of {power:g}")
        raise InputError(
            f"The table has values as large as {size:.3g}, whose {what} leave the range of double "
            "precision. Divide all columns by a power of ten."
        )


def refuse_underflow(cells: Floats, power: float = 2.0) -> None:
    """Refuses a whole table whose differences, raised to a power, are all 0.

    Examples
    --------
    >>> refuse_underflow(np.array([0.0, 1e-130])), refuse_underflow(np.array([1e-200]), 1.0)
    (None, None)
    """
    if power <= 2.0 and _sum_of_squares(cells) > 1.0 / _MODERATE:
        return
    size = _size(cells)
    if not (power == 1.0 or np.isinf(power)) and 0.0 < size < 1.0 / _largest(power):
        what = "squares" if power == 2.0 else f"powers of {power:g}"
        raise InputError(
            f"The table has no value larger than {size:.3g}, whose {what} are too small for double "
            "precision. Multiply all columns by a power of ten."
        )


def _sum_of_squares(cells: Floats) -> float:
    """Quickly told; not a number where a cell is missing, infinite where it is too large."""
    flat = np.asarray(cells, np.float64).ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.dot(flat, flat))


def _size(cells: Floats) -> float:
    """The largest cell, missing ones left out."""
    return float(np.fmax.reduce(np.abs(cells), axis=None, initial=0.0))


def _largest(power: float) -> float:
    """Cells up to which powers of differences can be added up, over columns and rows."""
    exponent = 1.0 if np.isinf(power) else 1.0 / power
    return float(0.5 * _LARGEST_POWER**exponent)


def refuse_sparse(sample: Sample, distance: str) -> None:
    """Says which distances sparse rows have."""
    if sample.is_sparse:
        raise InputError(
            f"{distance} is not for sparse rows. Use a Minkowski distance such as 'euclidean' or "
            "'manhattan', 'cosine', or X.toarray()."
        )


def refuse_levels(sample: Sample, distance: str) -> None:
    """Says which column is no number."""
    if sample.codes.shape[1]:
        column = next(c for c in sample.schema.columns if c.levels or c.kind.value != "numeric")
        raise InputError(
            f"{distance} is between numbers, but column {column.name!r} is {column.kind.value}. "
            "Use Gower() for columns of different kinds, or encode the column."
        )
