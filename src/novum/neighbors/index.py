"""Which way the nearest rows are found; all ways find the same rows at the same distances.

    kd_tree    rows of numbers without missing cells, by a Minkowski distance: a tree of boxes
    screened   the same by the Euclidean distance: a product of matrices tells who can be near
    brute      everything else: all distances, block by block

The choice is by cost. A tree pays where columns are few, because it leaves out boxes: below 15
columns and from 1,000 rows on. With more columns the Euclidean distance is screened. Of equally
distant rows the one of smaller number comes first, so the ways agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from novum.distances import ColumnRows, DistanceRows
from novum.numerics import Floats, Integers, KDTree, NearestRows, ScreenedRows, cached_property

Way = Literal["kd_tree", "screened", "brute"]

# Where a tree pays.
FEW_COLUMNS = 15
ENOUGH_ROWS = 1000
# Distances in a block.
_BLOCK = 2_000_000
_FAR = np.finfo(np.float64).max


def way_for(rows: DistanceRows, algorithm: str) -> Way:
    """The way that is asked for where it can be gone, or the cheapest.

    Examples
    --------
    >>> from novum.distances import Euclidean, Manhattan
    >>> few, many = np.zeros((2000, 3)), np.zeros((2000, 50))
    >>> way_for(Euclidean().prepare(few), "auto"), way_for(Euclidean().prepare(many), "auto")
    ('kd_tree', 'screened')
    >>> way_for(Manhattan().prepare(many), "auto")
    'brute'
    """
    are_vectors = isinstance(rows, ColumnRows) and rows.are_vectors
    if algorithm == "brute" or not are_vectors:
        return "brute"
    assert isinstance(rows, ColumnRows)
    n, p = rows.numbers.shape
    if algorithm in ("kd_tree", "ball_tree"):
        return "kd_tree"
    if p < FEW_COLUMNS and n >= ENOUGH_ROWS:
        return "kd_tree"
    return "screened" if rows.terms.power == 2.0 and p >= 4 and n >= 100 else "brute"


@dataclass(frozen=True, eq=False)
class RowIndex:
    """Rows to be found, and the way to find them."""

    rows: DistanceRows
    way: Way

    @cached_property
    def _tree(self) -> KDTree:
        assert isinstance(self.rows, ColumnRows)
        return KDTree.of(self.rows.numbers)

    @cached_property
    def _screened(self) -> ScreenedRows:
        assert isinstance(self.rows, ColumnRows)
        return ScreenedRows.of(self.rows.numbers)

    def nearest(self, queries: Any, k: int, own: Integers | None = None) -> tuple[Floats, Integers]:
        """Distances and row numbers of the k nearest rows, the nearest first.

        Parameters
        ----------
        queries : DistanceRows
            Prepared like the rows.
        k : int, at most the number of rows
        own : int array, optional
            The row that each query is itself, and does not find.
        """
        way = self.way if _are_vectors(queries) else "brute"
        if way == "kd_tree":
            powers, rows = self._tree.nearest(queries.numbers, k, queries.terms.power, own)
        elif way == "screened":
            powers, rows = self._screened.nearest(queries.numbers, k, own)
        else:
            powers, rows = self._by_brute_force(queries, k, own)
        return self.rows.finish(powers), rows

    def _by_brute_force(
        self, queries: Any, k: int, own: Integers | None
    ) -> tuple[Floats, Integers]:
        m, n = len(queries), len(self.rows)
        found = NearestRows(m, k, own)
        width = min(n, 4096)
        height = max(1, _BLOCK // max(width, 1))
        for start in range(0, m, height):
            asked = queries.take(slice(start, start + height))
            for first in range(0, n, width):
                powers = asked.cross_powers(self.rows.take(slice(first, first + width)))
                # Infinitely far is far, but still a neighbor where there are no others.
                np.minimum(powers, _FAR, out=powers)
                found.add(powers, first, start)
        near, rows = found.sorted()
        near[near == _FAR] = np.inf
        return near, rows

    def within(
        self, queries: Any, radius: float, own: Integers | None = None
    ) -> tuple[list[Floats], list[Integers]]:
        """Distances and row numbers of all rows within a radius, row numbers rising."""
        distances: list[Floats] = []
        rows: list[Integers] = []
        step = max(1, _BLOCK // max(len(self.rows), 1))
        for start in range(0, len(queries), step):
            asked = queries.take(slice(start, start + step))
            if self.way == "kd_tree" and _are_vectors(queries):
                found = self._within_tree(asked, radius)
            else:
                found = []
                for line in self.rows.finish(asked.cross_powers(self.rows)):
                    near = np.flatnonzero(line <= radius)
                    found.append((line[near], near))
            for place, (apart, near) in enumerate(found, start):
                others = slice(None) if own is None else near != own[place]
                distances.append(apart[others])
                rows.append(near[others])
        return distances, rows

    def _within_tree(self, queries: Any, radius: float) -> list[tuple[Floats, Integers]]:
        power = queries.terms.power
        # A little more than asked, so that roots rounded down to the radius are not lost.
        reach = radius if power == 1.0 or np.isinf(power) else radius**power
        reach = 2.0 * radius if queries.terms.finish == "half" else reach
        counts, rows, powers = self._tree.within(queries.numbers, reach * (1 + 1e-12), power)
        ends = np.cumsum(counts)[:-1]
        pairs = zip(np.split(powers, ends), np.split(rows, ends), strict=True)
        found = []
        for part, near in pairs:
            order = np.argsort(near)
            apart = self.rows.finish(part[order])
            inside = apart <= radius
            found.append((apart[inside], near[order][inside]))
        return found


def _are_vectors(rows: Any) -> bool:
    return isinstance(rows, ColumnRows) and rows.are_vectors
