"""Weights of the levels of nominal and ordinal columns, as a value that adds up.

    c_jl = sum_i w_i [x_ij = l],      m_j = sum_i w_i [x_ij is missing]

Two tables unite level by level, by label; rows come off again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.core.schema import MISSING, Column, Level, level_key
from novum.core.validation import Sample

Floats = NDArray[np.float64]

# A remaining weight below this share of the weight before is the rounding of a sum of weights.
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """Weights of levels and of missing cells of m columns.

    Attributes
    ----------
    columns : tuple of m Column
    counts : array (sum of the numbers of levels,)
        Column after column, in the order of the levels.
    missing : array (m,)

    Examples
    --------
    >>> from novum.core.schema import Kind
    >>> a = LevelCounts((Column("c", Kind.NOMINAL, ("x",)),), np.array([3.0]), np.array([1.0]))
    >>> b = LevelCounts((Column("c", Kind.NOMINAL, ("a",)),), np.array([2.0]), np.array([0.0]))
    >>> (a + b).columns[0].levels, (a + b).counts.tolist()
    (('a', 'x'), [2.0, 3.0])
    """

    columns: tuple[Column, ...]
    counts: Floats
    missing: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        n_levels = sum(column.n_levels for column in self.columns)
        if self.counts.shape != (n_levels,) or self.missing.shape != (len(self.columns),):
            raise InputError("The counts of levels do not fit the columns: wrong lengths.")

    @classmethod
    def of(cls, sample: Sample) -> LevelCounts:
        """The weights in a sample; levels that its schema does not know are not counted."""
        columns = sample.schema.categorical_columns
        parts, missing = [np.empty(0)], np.zeros(len(columns))
        for j, column in enumerate(columns):
            codes = sample.codes[:, j]
            known = codes >= 0
            weight = None if sample.weight is None else sample.weight[known]
            parts.append(np.bincount(codes[known], weight, column.n_levels).astype(float))
            missing[j] = float(sample.weights[codes == MISSING].sum())
        return cls(columns, np.concatenate(parts), missing)

    def column(self, j: int) -> Floats:
        """The weights of the levels of one column."""
        start = sum(column.n_levels for column in self.columns[:j])
        return self.counts[start : start + self.columns[j].n_levels]

    # Arithmetic

    def __add__(self, other: LevelCounts) -> LevelCounts:
        columns = self._united(other)
        counts = self._on(columns) + other._on(columns)
        return LevelCounts(columns, counts, self.missing + other.missing)

    def __sub__(self, other: LevelCounts) -> LevelCounts:
        """The weights without those of `other`, which must be among them."""
        columns = self._united(other)
        before, missing = self._on(columns), self.missing
        counts, gone = before - other._on(columns), missing - other.missing
        if (counts < -_NOTHING * np.maximum(before, 1.0)).any() or (
            gone < -_NOTHING * np.maximum(missing, 1.0)
        ).any():
            raise InputError(
                "Cannot remove rows that were never added: a level or missing cells would have a "
                "negative weight. Remove rows that were fitted."
            )
        return LevelCounts(
            columns,
            np.where(counts <= _NOTHING * before, 0.0, counts),
            np.where(gone <= _NOTHING * missing, 0.0, gone),
        )

    def __mul__(self, factor: float) -> LevelCounts:
        return replace(self, counts=factor * self.counts, missing=factor * self.missing)

    __rmul__ = __mul__

    def isclose(self, other: LevelCounts, rtol: float = 1e-10) -> bool:
        """Equal within `rtol`; levels without weight do not count."""
        columns = self._united(other)
        return bool(
            np.allclose(self._on(columns), other._on(columns), rtol=rtol, atol=0.0)
            and np.allclose(self.missing, other.missing, rtol=rtol, atol=0.0)
        )

    def _united(self, other: LevelCounts) -> tuple[Column, ...]:
        if len(self.columns) != len(other.columns):
            raise InputError(
                f"Counts of {len(self.columns)} and of {len(other.columns)} columns do not "
                "combine. Give every part the same columns."
            )
        # Columns of arrays have no names of their own; the schema has checked those that have.
        pairs = zip(self.columns, other.columns, strict=True)
        return tuple(a.unite(replace(b, name=a.name)) for a, b in pairs)

    def _on(self, columns: tuple[Column, ...]) -> Floats:
        """The same weights for more levels."""
        parts = [np.empty(0)]
        for j, (old, new) in enumerate(zip(self.columns, columns, strict=True)):
            part = np.zeros(new.n_levels)
            part[[new.positions[level_key(level)] for level in old.levels]] = self.column(j)
            parts.append(part)
        return np.concatenate(parts)

    # What is usual

    def most_frequent(self, j: int) -> Level | None:
        """The level of largest weight, the first of equal ones; None where none is known."""
        counts = self.column(j)
        return self.columns[j].levels[int(counts.argmax())] if counts.any() else None

    def median(self, j: int) -> Level | None:
        """The lowest level that half of the weight does not exceed; None where none is known."""
        ends = np.cumsum(self.column(j))
        if not ends.size or ends[-1] <= 0:
            return None
        half = ends[-1] / 2
        return self.columns[j].levels[int(np.argmax(ends >= half * (1 - _NOTHING)))]
