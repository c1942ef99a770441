"""Nearest rows by a metric whose every distance is dear: who can be near follows from few rows.

For a vantage row v the triangle inequality gives

    d(x, z) >= |d(x, v) - d(z, v)|

The distances of all rows to some vantage rows are computed once. A query is compared with these,
and then with the other rows in the order of their bounds, until the bound exceeds the k-th nearest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from novum.distances import DistanceRows
from novum.numerics import Floats, Integers

# Vantage rows at most, and rows that a query is compared with at first.
_MOST = 32
_FIRST = 32


@dataclass(frozen=True, eq=False)
class VantageRows:
    """Rows and their distances to the vantage rows among them.

    Attributes
    ----------
    rows : DistanceRows
    vantage : int array (v,)
        Each as far as can be from those before it, so that they see the rows from all sides.
    table : array (v, n)
    """

    rows: DistanceRows
    vantage: Integers
    table: Floats

    @classmethod
    def of(cls, rows: DistanceRows) -> Self:
        n = len(rows)
        chosen, table = [0], [rows.take(np.array([0])).cross(rows)[0]]
        nearest = table[0].copy()
        for _ in range(min(_MOST, int(np.sqrt(n))) - 1):
            farthest = int(np.argmax(nearest))
            if nearest[farthest] <= 0:
                break
            chosen.append(farthest)
            table.append(rows.take(np.array([farthest])).cross(rows)[0])
            nearest = np.minimum(nearest, table[-1])
        return cls(rows, np.array(chosen), np.array(table))

    def nearest(self, queries: Any, k: int, own: Integers | None) -> tuple[Floats, Integers]:
        """Powers and row numbers of the k nearest rows, the nearest first."""
        seen = queries.cross(self.rows.take(self.vantage))
        m, n = len(queries), len(self.rows)
        near, places = np.empty((m, k)), np.empty((m, k), np.int64)
        for q in range(m):
            bounds = np.abs(seen[q][:, np.newaxis] - self.table).max(axis=0)
            if own is not None:
                bounds[own[q]] = np.inf
            order = np.argsort(bounds, kind="stable")[: n - (own is not None)]
            query = queries.take(slice(q, q + 1))
            powers, rows = np.empty(0), np.empty(0, np.int64)
            start, step = 0, max(k, _FIRST)
            while start < len(order):
                lines = order[start : start + step]
                powers = np.append(powers, query.cross_powers(self.rows.take(lines))[0])
                rows = np.append(rows, lines)
                best = np.lexsort((rows, powers))[:k]
                powers, rows = powers[best], rows[best]
                start, step = start + step, 2 * step
                worst = float(self.rows.finish(powers[-1:])[0])
                if start < len(order) and bounds[order[start]] > worst + self._room(seen[q], worst):
                    break
            near[q], places[q] = powers, rows
        return near, places

    def _room(self, seen: Floats, worst: float) -> float:
        """What rounding may add to a bound."""
        rounding = self.rows.rounding
        assert rounding is not None
        return rounding + 1e-9 * (worst + float(seen.max(initial=0.0)))
