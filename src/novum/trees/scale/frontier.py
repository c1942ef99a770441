"""The step of a pass: from a chunk to what its rows add to the open nodes of growing trees.

A chunk is read, coded, and its rows are sent down the trees as far as they have grown. With
`bootstrap` a row of weight w counts in tree t as often as a Poisson number of mean `rate` w says,
drawn from the stream of (t, chunk number): every engine that has the same chunks draws the same
numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.runtime import stream
from novum.numerics import Array, Codes, Floats, Integers
from novum.trees.growth.coding import TableCoding
from novum.trees.growth.conversion import TargetScale
from novum.trees.scale.chunks import ChunkReader, Labels, with_classes
from novum.trees.scale.level_statistics import CodeRanges, LevelStatistics, PassTotals, RowPart
from novum.trees.training import CellRows


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """How often rows count in each tree.

    A bootstrap sample draws N rows with replacement, so a row of weight w is drawn Binomial(N, w/W)
    times. Without knowing the other rows it can be drawn Poisson(N w/W) times, the limit of that
    for large N; the size of a sample is then N up to a few times sqrt(N).

    Attributes
    ----------
    root : SeedSequence
    rate : float
        Draws for each unit of weight.
    """

    root: np.random.SeedSequence
    rate: float = 1.0

    def counts(self, tree: int, chunk: int, weight: Floats) -> Floats:
        """Of the rows of a chunk, by their weights, in a tree."""
        rng = stream(self.root, "rows", tree, chunk)
        return rng.poisson(self.rate * weight).astype(np.float64)


@dataclass(frozen=True, eq=False)
class ChunkCoding:
    """From a chunk to the codes, targets and weights of its rows.

    Attributes
    ----------
    reader : ChunkReader
    coding : TableCoding
    classes : tuple of label arrays, one for each target; None for numbers
    factors : tuple of arrays, class weights by target; None where all are 1
    scale : TargetScale; None for classes
    replacements : array (n_columns,) of what missing cells are replaced by; None to leave them
    """

    reader: ChunkReader
    coding: TableCoding
    classes: Labels | None
    factors: tuple[Floats, ...] | None
    scale: TargetScale | None
    replacements: Floats | None

    @property
    def target_start(self) -> Integers:
        """Where the classes of each target begin; zeros for numbers."""
        if self.classes is None:
            assert self.scale is not None
            return np.zeros(self.scale.offset.size + 1, np.int64)
        return np.concatenate([[0], np.cumsum([len(c) for c in self.classes])]).astype(np.int64)

    @property
    def n_stats(self) -> int:
        """How many sums describe a set of rows."""
        start = self.target_start
        return int(start[-1]) if self.classes is not None else start.size

    @property
    def n_numbers(self) -> int:
        return 0 if self.scale is None else self.scale.offset.size

    @property
    def offsets(self) -> Integers:
        """Where the codes of each column begin in a histogram; the last is their number."""
        return np.concatenate([[0], np.cumsum(self.coding.n_codes + 1)]).astype(np.int64)

    @property
    def n_cells(self) -> int:
        """Numbers in the histograms of one node."""
        return int(self.offsets[-1]) * self.n_stats

    def coded(self, chunk: Any) -> CodedChunk | None:
        """The rows of a chunk; None if none counts."""
        rows = self.reader(chunk)
        if rows is None:
            return None
        rows = self._weighted(with_classes(rows, self.classes))
        if rows.n_rows == 0:
            return None
        cells = rows.cells
        if self.replacements is not None:
            cells = np.where(np.isnan(cells), self.replacements, cells)
        none = np.empty((rows.n_rows, 0))
        if self.scale is None:
            labels = np.ascontiguousarray(rows.targets + self.target_start[:-1], np.int32)
            return CodedChunk(cells, self.coding.codes(cells), labels, none, rows.weight)
        numbers = self.scale.numbers(rows.targets)
        labels = none.astype(np.int32)
        return CodedChunk(cells, self.coding.codes(cells), labels, numbers, rows.weight)

    def _weighted(self, rows: CellRows) -> CellRows:
        """The rows with class weights, without those that have none."""
        if self.factors is None:
            return rows
        weight = rows.weight.copy()
        for t, factors in enumerate(self.factors):
            weight *= factors[rows.targets[:, t]]
        return replace(rows, weight=weight).rows(weight > 0)


@dataclass(frozen=True, eq=False)
class CodedChunk:
    """Rows as the engine reads them; `cells` are the values that the codes stand for."""

    cells: Floats
    codes: Array
    labels: Codes
    numbers: Floats
    weight: Floats

    def part(self, number: int, rows: Any, weight: Floats, slot: Codes) -> RowPart:
        """Some of the rows, to be sent to where the trees grow."""
        chosen = (self.codes[rows], self.labels[rows], self.numbers[rows])
        return RowPart(number, *chosen, weight, slot)


@dataclass(frozen=True, eq=False)
class TreeFront:
    """A tree as far as it has grown, and which of its open nodes want what.

    Attributes
    ----------
    number : int
        Of the tree in its forest.
    nodes : int64 array (6, n_nodes)
        Question, column, code, first child, missing branch and place of the branches of each.
    share : float64 array (n_nodes,)
    branches : int8 array (n_nominal, n_levels)
    histogram_of, facts_of, rows_of : int64 arrays (n_nodes,)
        Where the sums of the node's rows by code, its facts and its rows go; -1 for nowhere.
    """

    number: int
    nodes: Integers
    share: Floats
    branches: NDArray[np.int8]
    histogram_of: Integers
    facts_of: Integers
    rows_of: Integers

    def entries(self, codes: Array, weight: Floats, missing: int) -> tuple[Codes, Integers, Floats]:
        """Rows, nodes and weights of all that arrives in a node that wants something."""
        from novum.trees.scale.frontier_kernels import arrive

        wanted = (self.facts_of >= 0) | (self.rows_of >= 0)
        # No row waits at more nodes than there are.
        stack = np.empty(wanted.size + 1, np.int64), np.empty(wanted.size + 1)
        tree, room = (self.nodes, self.share, self.branches), len(codes)
        while True:
            out = np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room)
            count = arrive(codes, weight, tree, wanted, missing, out, stack)
            if count <= room:
                return out[0][:count], out[1][:count], out[2][:count]
            room = count


@dataclass(frozen=True, eq=False)
class LevelStep:
    """The step `(number, chunk) -> PassTotals`; a value that workers can be sent.

    Attributes
    ----------
    coding : ChunkCoding
    fronts : tuple of TreeFront
    n_histograms, n_facts : int
    bootstrap : Bootstrap, optional
    whole_table : bool
        All rows are wanted, once for all trees.
    with_ranges : bool
        The first pass also finds the range of every code.
    """

    coding: ChunkCoding
    fronts: tuple[TreeFront, ...] = ()
    n_histograms: int = 0
    n_facts: int = 0
    bootstrap: Bootstrap | None = None
    whole_table: bool = False
    with_ranges: bool = False

    def __call__(self, numbered: tuple[int, Any]) -> PassTotals | None:
        number, chunk = numbered
        rows = self.coding.coded(chunk)
        if rows is None:
            return None
        coding = self.coding
        level = LevelStatistics.empty(
            coding.coding.schema,
            (self.n_histograms, coding.n_cells),
            self.n_facts,
            coding.n_stats,
            coding.n_numbers,
        )
        parts = []
        for front in self.fronts:
            weight = rows.weight
            if self.bootstrap is not None:
                weight = self.bootstrap.counts(front.number, number, weight)
            entries = front.entries(rows.codes, weight, coding.coding.missing)
            self._add(rows, front, entries, level)
            slots = front.rows_of[entries[1]]
            chosen = slots >= 0
            if chosen.any():
                nodes = slots[chosen].astype(np.int32)
                parts.append(rows.part(number, entries[0][chosen], entries[2][chosen], nodes))
        if self.whole_table:
            slot = np.zeros(len(rows.codes), np.int32)
            parts.append(rows.part(number, slice(None), rows.weight, slot))
        level = replace(level, rows=float(len(rows.codes)))
        ranges = self._ranges(rows) if self.with_ranges else None
        return PassTotals(level, tuple(parts), ranges)

    def _add(
        self, rows: CodedChunk, front: TreeFront, entries: tuple[Any, ...], level: LevelStatistics
    ) -> None:
        """Adds entries to sums that nobody else has yet."""
        from novum.trees.scale.frontier_kernels import add_entries

        add_entries(
            (rows.codes, rows.labels, rows.numbers),
            entries,
            front.histogram_of,
            front.facts_of,
            self.coding.offsets,
            self.coding.coding.n_codes,
            (level.histograms, level.sums, level.square, level.count, level.least, level.largest),
        )

    def _ranges(self, rows: CodedChunk) -> CodeRanges:
        low, high = self.coding.coding.ranges(rows.codes, rows.cells)
        weight = rows.weight
        return CodeRanges(
            low,
            high,
            float(weight.sum()),
            float(weight.min()),
            bool((weight == np.floor(weight)).all()),
            bool((weight == 1.0).all()),
        )
