"""Which way the nearest rows are found; all ways find the same rows at the same distances.

    kd_tree    rows of numbers without missing cells, by a Minkowski distance: a tree of boxes
    screened   the same by the Euclidean distance: a product of matrices tells who can be near
    vantage    a metric whose every distance is dear, as of strings and graphs: the triangle
               inequality over some rows tells who can be near
    brute      everything else: all distances, block by block

The choice is by cost. A tree pays where it leaves out boxes, which depends on the rows as much as
on the number of columns, so it is tried: 32 of the queries are asked, and how many rows they look
at is weighed against looking at all of them. Distances of mixed columns cost a nanosecond a cell,
less than any bound would, so they are all computed. Of equally distant rows the one of smaller
number comes first, and distances are computed alike, so the ways agree bit by bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from novum.distances import ColumnRows, DistanceRows
from novum.neighbors.vantage import VantageRows
from novum.numerics import (
    Floats,
    Integers,
    KDTree,
    NearestRows,
    ScreenedRows,
    cached_property,
    nearest_of_few,
)

Way = Literal["kd_tree", "screened", "vantage", "brute", "by trial"]

# Below, all distances are computed before a tree is built.
ENOUGH_ROWS = 1000
# Where no trial is made: a tree of few columns, and none of many.
FEW_COLUMNS = 3
MANY_COLUMNS = 64
# Queries of a trial, and from how many on there is one.
_TRIED, _MANY = 32, 256
# Rows of a block of the table, and distances of a block.
_WIDTH = 4096
_BLOCK = 2_000_000
# Cells that are looked at without more ado.
_LITTLE = 20_000
_FAR = np.finfo(np.float64).max


def way_for(rows: DistanceRows, algorithm: str) -> Way:
    """The way that is asked for where it can be gone, or the cheapest; "by trial" tries it out.

    Examples
    --------
    >>> from novum.distances import Euclidean, Manhattan
    >>> few, many = np.zeros((2000, 3)), np.zeros((2000, 80))
    >>> way_for(Euclidean().prepare(few), "auto"), way_for(Euclidean().prepare(many), "auto")
    ('kd_tree', 'screened')
    >>> way_for(Manhattan().prepare(many), "auto")
    'brute'
    """
    if algorithm == "brute":
        return "brute"
    if not _are_vectors(rows):
        asked = algorithm == "ball_tree" or (algorithm == "auto" and rows.is_dear)
        return "vantage" if asked and rows.rounding is not None else "brute"
    assert isinstance(rows, ColumnRows)
    n, p = rows.numbers.shape
    if algorithm in ("kd_tree", "ball_tree"):
        return "kd_tree"
    if n < ENOUGH_ROWS or p > MANY_COLUMNS:
        return "screened" if rows.terms.power == 2.0 and p >= 4 and n >= 100 else "brute"
    return "kd_tree" if p <= FEW_COLUMNS else "by trial"


def tree_pays(share: float, n: int, p: int, is_euclidean: bool) -> bool:
    """Whether looking at a share of the rows in a tree costs less than at all of them without one.

    The prices are nanoseconds for a row: in a leaf, in a product of matrices, in a block of
    distances. They were measured once; only their ratios matter.

    Examples
    --------
    >>> tree_pays(0.05, 50_000, 10, True), tree_pays(0.9, 50_000, 10, True)
    (True, False)
    """
    leaf = 0.8 + 0.1 * p
    all_rows = 0.35 + 0.017 * p + 3000.0 / n if is_euclidean else 0.7 + 0.1 * p
    return share * leaf <= all_rows


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

    @cached_property
    def _vantage(self) -> VantageRows:
        return VantageRows.of(self.rows)

    @cached_property
    def _blocks(self) -> list[DistanceRows]:
        n = len(self.rows)
        if n <= _WIDTH:
            return [self.rows]
        return [self.rows.take(slice(i, i + _WIDTH)) for i in range(0, n, _WIDTH)]

    def _way_of(self, queries: Any, k: int) -> Way:
        """The way for some queries; those with missing cells know no boxes."""
        if self.way in ("brute", "vantage") or not _are_vectors(queries):
            return self.way if self.way == "vantage" else "brute"
        if self.way != "by trial":
            return self.way
        m, p = queries.numbers.shape
        n, is_euclidean = len(self.rows), queries.terms.power == 2.0
        if m < _MANY:
            return "kd_tree" if p < 15 else "screened" if is_euclidean else "brute"
        tried = queries.numbers[np.linspace(0, m - 1, _TRIED).astype(np.intp)]
        share = self._tree.share_looked_at(tried, k, queries.terms.power)
        if tree_pays(share, n, p, is_euclidean):
            return "kd_tree"
        return "screened" if is_euclidean else "brute"

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
        if self.way != "vantage" and self._is_little(queries):
            power = queries.terms.power
            powers, rows = nearest_of_few(self.rows.numbers, queries.numbers, k, power, own)  # type: ignore[attr-defined]
            return self.rows.finish(powers), rows
        way = self._way_of(queries, k)
        if way == "kd_tree":
            powers, rows = self._tree.nearest(queries.numbers, k, queries.terms.power, own)
        elif way == "screened":
            powers, rows = self._screened.nearest(queries.numbers, k, own)
        elif way == "vantage":
            powers, rows = self._vantage.nearest(queries, k, own)
        else:
            powers, rows = self._by_brute_force(queries, k, own)
        return self.rows.finish(powers), rows

    def _is_little(self, queries: Any) -> bool:
        """Whether looking at every row costs less than getting ready for anything else."""
        return (
            isinstance(queries, ColumnRows)
            and queries.numbers.size * len(self.rows) <= _LITTLE
            and queries.are_vectors
            and self._are_vectors
        )

    @cached_property
    def _are_vectors(self) -> bool:
        return _are_vectors(self.rows)

    def _by_brute_force(
        self, queries: Any, k: int, own: Integers | None
    ) -> tuple[Floats, Integers]:
        m = len(queries)
        heaps = NearestRows(m, k, own)
        height = max(1, _BLOCK // max(min(len(self.rows), _WIDTH), 1))
        for start in range(0, m, height):
            asked = queries if m <= height else queries.take(slice(start, start + height))
            for first, block in zip(range(0, len(self.rows), _WIDTH), self._blocks, strict=True):
                powers = asked.cross_powers(block)
                # Infinitely far is far, but still a neighbor where there are no others.
                np.minimum(powers, _FAR, out=powers)
                heaps.add(powers, first, start)
        near, rows = heaps.sorted()
        near[near == _FAR] = np.inf
        return near, rows

    def within(
        self, queries: Any, radius: float | Floats, own: Integers | None = None
    ) -> tuple[list[Floats], list[Integers]]:
        """Distances and row numbers of all rows within a radius, row numbers rising.

        One radius is that of all queries.
        """
        # What is infinitely far is within no radius.
        radii = np.minimum(np.broadcast_to(radius, len(queries)), _FAR)
        distances: list[Floats] = []
        rows: list[Integers] = []
        step = max(1, _BLOCK // max(len(self.rows), 1))
        by_tree = self.way in ("kd_tree", "by trial") and _are_vectors(queries)
        for start in range(0, len(queries), step):
            asked = queries.take(slice(start, start + step))
            reach = radii[start : start + step]
            if by_tree:
                hits = self._within_tree(asked, reach)
            else:
                powers = np.concatenate([asked.cross_powers(b) for b in self._blocks], axis=1)
                hits = []
                for line, most in zip(self.rows.finish(powers), reach, strict=True):
                    near = np.flatnonzero(line <= most)
                    hits.append((line[near], near))
            for query, (apart, near) in enumerate(hits, start):
                others = slice(None) if own is None else near != own[query]
                distances.append(apart[others])
                rows.append(near[others])
        return distances, rows

    def _within_tree(self, queries: Any, radii: Floats) -> list[tuple[Floats, Integers]]:
        power = queries.terms.power
        # A little more than asked, so that roots rounded down to the radius are not lost.
        with np.errstate(over="ignore"):
            reach = radii if power == 1.0 or np.isinf(power) else radii**power
        if queries.terms.finish == "half":
            reach = 2.0 * radii
        elif queries.terms.finish == "arc":
            reach = (2.0 * np.sin(np.minimum(0.5 * radii, 0.5 * np.pi))) ** 2
        counts, rows, powers = self._tree.within(queries.numbers, reach * (1 + 1e-12), power)
        ends = np.cumsum(counts)[:-1]
        lines = zip(np.split(powers, ends), np.split(rows, ends), radii, strict=True)
        hits = []
        for sums, near, radius in lines:
            order = np.argsort(near)
            apart = self.rows.finish(sums[order])
            inside = apart <= radius
            hits.append((apart[inside], near[order][inside]))
        return hits


def _are_vectors(rows: Any) -> bool:
    return isinstance(rows, ColumnRows) and rows.are_vectors
