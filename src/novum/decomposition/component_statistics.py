"""Sufficient statistics of principal components: weight, mean and scatter of the columns.

    W = sum_i w_i,    m = sum_i w_i x_i / W,    S = sum_i w_i (x_i - m)(x_i - m)'

They are kept in one of two forms, which are never mixed. `Moments` hold S itself, d x d numbers,
quickly summed. A `TriangularFactor` R with R'R = S is what `svd_solver="full"` uses: its singular
values are those of the centered table without being squared, so that directions 1e-12 as wide as
the widest are still seen, and while there are fewer rows than columns it holds no more than the
rows. Both are centered before anything is squared: an offset of 1e8 costs nothing.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from novum.core.errors import InputError, LostDigitsWarning
from novum.core.runtime import check_memory
from novum.core.tables import Sample, Schema
from novum.decomposition.numeric_rows import check_squares
from novum.numerics import (
    Floats,
    Mask,
    Moments,
    TriangularFactor,
    blocks_of_rows,
    empty_factor,
    factor_of_rows,
    merge,
    moments_of,
    one_blas_thread,
    remove,
)
from novum.numerics import double_double as dd

Table = Moments | TriangularFactor

# From this many cells on all rows are summed about one center; the choice looks at the size only.
_ONE_CENTER_FROM = 2**19

# A center is good enough when squares about it are at most this many times those about the mean.
# Five binary digits of 53 are what that can cost.
_EXCESS = 32.0

# Rows whose mean is the center.
_FIRST = 256

# A double has 16 decimal digits; with fewer than 10 left, components deserve a warning.
_DIGITS_TO_SPARE = 6.0


@dataclass(frozen=True, eq=False)
class ComponentStatistics:
    """All that principal components need to know of a weighted table.

    Attributes
    ----------
    schema : Schema
        Of numeric columns.
    table : Moments or TriangularFactor
    rows : float
        Number of rows of positive weight.

    Examples
    --------
    >>> from novum.decomposition.pca import PCA
    >>> a = PCA().statistics([[1.0, 0.0], [3.0, 4.0]])
    >>> both = a + PCA().statistics([[2.0, 2.0]])
    >>> both.weight, both.mean.tolist(), both.rows
    (3.0, [2.0, 2.0], 3.0)
    """

    schema: Schema
    table: Table
    rows: float

    def __post_init__(self) -> None:
        if self.table.n_columns != self.schema.n_columns:
            raise InputError(
                f"Sums of {self.table.n_columns} columns do not fit a schema of "
                f"{self.schema.n_columns}."
            )

    @classmethod
    def of(cls, sample: Sample, *, as_factor: bool) -> ComponentStatistics:
        """The statistics of a checked sample of numeric columns."""
        n, d = sample.numeric.shape
        if as_factor:
            check_squares(sample)
            table: Table = _factor_of_sample(sample)
        else:
            check_memory(
                4 * 8 * d * d,
                f"The scatter of {d} columns",
                "Use svd_solver='full', which holds no more than the rows while they are fewer "
                "than the columns, or fit all rows at once.",
            )
            try:
                table = _moments_of_sample(sample)
            except ValueError as error:
                raise InputError(str(error)) from None
        return cls(sample.schema, table, float(n))

    # Views

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return self.table.weight

    @property
    def mean(self) -> Floats:
        """Weighted mean of every column (d,)."""
        return self.table.mean

    @property
    def moments(self) -> Moments:
        """The same rows as moments; of a factor these are its squares."""
        if isinstance(self.table, Moments):
            return self.table
        R = self.table.centered
        return Moments(self.table.weight, self.table.mean, R.T @ R)

    # Arithmetic

    def __add__(self, other: ComponentStatistics) -> ComponentStatistics:
        if not isinstance(other, ComponentStatistics):
            return NotImplemented
        schema, rows = self.schema.unite(other.schema), self.rows + other.rows
        if isinstance(self.table, Moments) and isinstance(other.table, Moments):
            return ComponentStatistics(schema, self.table + other.table, rows)
        if isinstance(self.table, TriangularFactor) and isinstance(other.table, TriangularFactor):
            return ComponentStatistics(schema, merge(self.table, other.table), rows)
        raise _mixed()

    def __sub__(self, other: ComponentStatistics) -> ComponentStatistics:
        if not isinstance(other, ComponentStatistics):
            return NotImplemented
        schema, rows = self.schema.unite(other.schema), self.rows - other.rows
        if isinstance(self.table, Moments) and isinstance(other.table, Moments):
            try:
                table: Table = self.table - other.table
            except ValueError as error:
                raise InputError(str(error)) from None
        elif isinstance(self.table, TriangularFactor) and isinstance(other.table, TriangularFactor):
            table = _removed(self.table, other.table)
        else:
            raise _mixed()
        # Weight that is left without rows is left on rows of which only a part was removed.
        return ComponentStatistics(schema, table, max(rows, 1.0) if table.weight > 0 else 0.0)

    def __mul__(self, factor: float) -> ComponentStatistics:
        if isinstance(self.table, Moments):
            table: Table = self.table * factor
        else:
            table = self.table.scaled(float(factor))
        return replace(self, table=table, rows=self.rows if factor > 0 else 0.0)

    __rmul__ = __mul__

    def zero(self) -> ComponentStatistics:
        return 0.0 * self

    def isclose(self, other: ComponentStatistics, rtol: float = 1e-10) -> bool:
        """Equal within `rtol`, measured in each column's own units."""
        if isinstance(self.table, Moments) and isinstance(other.table, Moments):
            return self.table.isclose(other.table, rtol)
        if isinstance(self.table, TriangularFactor) and isinstance(other.table, TriangularFactor):
            return self.table.isclose(other.table, rtol)
        return False


def _mixed() -> InputError:
    return InputError(
        "Sums of svd_solver='full' and of other solvers are kept in two forms and do not add up. "
        "Compute all parts with the same svd_solver."
    )


def _removed(table: TriangularFactor, part: TriangularFactor) -> TriangularFactor:
    try:
        left, digits_lost = remove(table, part)
    except ValueError as error:
        raise InputError(str(error)) from None
    if digits_lost > _DIGITS_TO_SPARE:
        warnings.warn(
            "The removed rows carried almost all there was to know in one direction: about "
            f"{digits_lost:.0f} of 16 digits are lost there. Fit the remaining rows afresh where "
            "they are at hand.",
            LostDigitsWarning,
            stacklevel=4,
        )
    return left if left.weight > 0 else empty_factor(table.n_columns)


# --- Sums of rows ---------------------------------------------------------------------------------


def _factor_of_sample(sample: Sample) -> TriangularFactor:
    n, d = sample.numeric.shape

    def fill(start: int, stop: int, out: Floats) -> None:
        block = sample.numeric[start:stop]
        out[...] = block.toarray() if sample.is_sparse else block

    try:
        return factor_of_rows(n, d, fill, sample.weight)
    except ValueError as error:
        raise InputError(str(error)) from None


def _moments_of_sample(sample: Sample) -> Moments:
    rows, weight = sample.numeric, sample.weight
    if not sample.is_sparse:
        quick = _about_one_center(rows, weight) if rows.size >= _ONE_CENTER_FROM else None
        return moments_of(rows, weight) if quick is None else quick
    total = Moments.zero(rows.shape[1])
    for start, stop in blocks_of_rows(*rows.shape):
        part = None if weight is None else weight[start:stop]
        total = total + moments_of(rows[start:stop].toarray(), part)
    return total


def _about_one_center(rows: Floats, weight: Floats | None) -> Moments | None:
    """Moments of many rows about the mean of the first of them, corrected at the end.

    None where the correction would cost digits, because the rows drift away from their beginning,
    or where a spread is too small or too large to be squared.
    """
    blocks = list(blocks_of_rows(*rows.shape))
    first = rows[:_FIRST]
    center = first[0] + (first - first[0]).mean(axis=0)
    if weight is None and (center * center <= _EXCESS / 2 * first.var(axis=0)).all():
        # Little is gained by moving rows that already lie about zero.
        center = np.zeros_like(center)
    moves = bool(center.any()) or weight is not None
    scratch, d = np.empty((blocks[0][1], rows.shape[1])), rows.shape[1]
    total, sums, scatter = 0.0, np.zeros(d), np.zeros((d, d))
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for start, stop in blocks:
            about = rows[start:stop]
            if moves:
                about = np.subtract(about, center, out=scratch[: stop - start])
            unit = np.ones(stop - start) if weight is None else weight[start:stop]
            total += float(unit.sum())
            sums += unit @ about
            if weight is not None:
                about *= np.sqrt(unit)[:, None]
            scatter += about.T @ about
        rest = sums / total
        before = np.diagonal(scatter).copy()
        scatter -= total * np.outer(rest, rest)
    after = np.diagonal(scatter)
    constant = (before == 0) & (rows[0] == center)
    known = after >= len(rows) * float(np.finfo(np.float64).tiny)
    good = (known & (before <= _EXCESS * after)) | constant
    if not (np.isfinite(scatter).all() and good.all()) or not _is_constant(rows, constant):
        return None
    high, low = dd.two_sum(center, rest)
    return Moments(total, high, scatter, 0.0, low)


def _is_constant(rows: Floats, columns: Mask) -> bool:
    return all(bool((rows[:, j] == rows[0, j]).all()) for j in np.flatnonzero(columns))
