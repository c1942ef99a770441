"""What one pass over the chunks sums up for the open nodes of a level.

For every open node: the sums of its rows by code of every column (its histograms), their sums in
all, their number, and for numbers the sum of squares and the range of the targets. Small nodes ask
for their rows instead, as codes: then the rest of their subtree is grown in memory.

All of it is additive over chunks, and histograms also over siblings: of two children of a node only
the lighter one is summed where weights are whole numbers, and the other is the difference.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from novum.core.errors import InputError
from novum.core.sums import Additive
from novum.core.tables import Schema
from novum.numerics import Array, Codes, Floats, Integers


@dataclass(frozen=True, eq=False)
class LevelStatistics(Additive):
    """Sums over rows, for each of some nodes.

    Attributes
    ----------
    schema : Schema
    rows : float
        Rows that were read, wherever they went.
    histograms : float64 array (n_histograms, n_cells)
        Of the nodes that have one; sums of the codes of all columns one after the other.
    sums : float64 array (n_nodes, n_stats)
        Class weights; or the weight and the moments `sum w y_t` of numbers.
    square : float64 array (n_nodes,), `sum w y^2` over all numeric targets
    count : int64 array (n_nodes,), rows in whole or in part
    least, largest : float64 arrays (n_nodes, n_numbers)
        Range of the targets; a difference keeps the range of what it was taken from.
    """

    schema: Schema
    rows: float
    histograms: Floats
    sums: Floats
    square: Floats
    count: Integers
    least: Floats
    largest: Floats

    _fixed: ClassVar = ("schema",)
    _combined: ClassVar = {"least": np.minimum, "largest": np.maximum}

    @classmethod
    def empty(
        cls, schema: Schema, shape: tuple[int, ...], n_nodes: int, n_stats: int, n_numbers: int
    ) -> LevelStatistics:
        """Of no rows; `shape` is that of the histograms, `n_numbers` that of numeric targets."""
        return cls(
            schema,
            0.0,
            np.zeros(shape),
            np.zeros((n_nodes, n_stats)),
            np.zeros(n_nodes),
            np.zeros(n_nodes, np.int64),
            np.full((n_nodes, n_numbers), np.inf),
            np.full((n_nodes, n_numbers), -np.inf),
        )

    def node(self, facts_at: int, histogram_at: int) -> LevelStatistics:
        """Of one node alone; without histograms where `histogram_at` is negative."""
        here = slice(facts_at, facts_at + 1)
        histograms = self.histograms[histogram_at : histogram_at + 1]
        return LevelStatistics(
            self.schema,
            float(self.count[facts_at]),
            histograms if histogram_at >= 0 else self.histograms[:0],
            self.sums[here],
            self.square[here],
            self.count[here],
            self.least[here],
            self.largest[here],
        )

    def __sub__(self, other: LevelStatistics) -> LevelStatistics:
        self._check_fits(other)
        return LevelStatistics(
            self.schema,
            self.rows - other.rows,
            self.histograms - other.histograms,
            self.sums - other.sums,
            self.square - other.square,
            self.count - other.count,
            self.least,
            self.largest,
        )

    def __rmul__(self, factor: float) -> LevelStatistics:
        return LevelStatistics(
            self.schema,
            self.rows,
            factor * self.histograms,
            factor * self.sums,
            factor * self.square,
            self.count,
            self.least,
            self.largest,
        )

    def zero(self) -> LevelStatistics:
        """The sum over no rows."""
        sizes = (len(self.sums), self.sums.shape[1], self.least.shape[1])
        return LevelStatistics.empty(self.schema, self.histograms.shape, *sizes)

    def isclose(self, other: LevelStatistics, rtol: float = 1e-10) -> bool:
        """Whether all sums agree up to rounding."""
        self._check_fits(other)
        size = rtol * max(float(np.abs(self.sums).sum()), float(self.square.sum()))
        pairs = [
            (self.histograms, other.histograms),
            (self.sums, other.sums),
            (self.square, other.square),
        ]
        return bool((self.count == other.count).all()) and all(
            np.allclose(a, b, rtol=rtol, atol=size) for a, b in pairs
        )

    def _check_fits(self, other: LevelStatistics) -> None:
        if self.histograms.shape != other.histograms.shape or self.sums.shape != other.sums.shape:
            raise InputError("Sums of different nodes or columns do not add up.")


@dataclass(frozen=True, eq=False)
class RowPart:
    """Rows of one chunk that were asked for.

    Attributes
    ----------
    number : int
        Of the chunk.
    codes, labels, numbers : as in `CodedTable`
    weight : float64 array (n,), with the share of the row in its node
    slot : int32 array (n,), which of the asking nodes the row is in
    """

    number: int
    codes: Array
    labels: Codes
    numbers: Floats
    weight: Floats
    slot: Codes


@dataclass(frozen=True, eq=False)
class CodeRanges(Additive):
    """What is known of all rows once they have codes and their final weights.

    Attributes
    ----------
    low, high : arrays (n_columns, n_codes), least and largest cell of every code
    weight, lightest : float
        Of all rows, and of the lightest of them.
    is_whole, is_unit : bool
        Whether all weights are whole numbers, and all 1.
    """

    low: Floats
    high: Floats
    weight: float
    lightest: float
    is_whole: bool
    is_unit: bool

    _combined: ClassVar = {
        "low": np.minimum,
        "high": np.maximum,
        "lightest": min,
        "is_whole": operator.and_,
        "is_unit": operator.and_,
    }


@dataclass(frozen=True, eq=False)
class PassTotals:
    """What a pass brings: sums of nodes, rows of small nodes, and in the first pass code ranges."""

    level: LevelStatistics
    parts: tuple[RowPart, ...] = ()
    ranges: CodeRanges | None = None

    def __add__(self, other: PassTotals) -> PassTotals:
        ranges = None
        if self.ranges is not None and other.ranges is not None:
            ranges = self.ranges + other.ranges
        return PassTotals(self.level + other.level, self.parts + other.parts, ranges)
