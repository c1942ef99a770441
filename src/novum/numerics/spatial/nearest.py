"""The k nearest rows of every query, gathered block by block."""

from __future__ import annotations

import numpy as np

from novum.numerics.types import Floats, Integers

# The row that one query is, which is none.
_NOBODY = np.full(1, -1, np.int64)


class NearestRows:
    """The k nearest so far; of equally near rows those of smaller number.

    Examples
    --------
    >>> heaps = NearestRows(1, 2)
    >>> heaps.add(np.array([[3.0, 1.0]]), 0)
    >>> heaps.add(np.array([[2.0, 9.0]]), 2)
    >>> heaps.sorted()
    (array([[1., 2.]]), array([[1, 2]]))
    """

    def __init__(self, n_queries: int, k: int, own: Integers | None = None) -> None:
        self.near = np.full((n_queries, k), np.inf)
        self.rows = np.full((n_queries, k), np.iinfo(np.int64).max, np.int64)
        # The row that a query is itself, and does not find.
        if own is None:
            own = _NOBODY if n_queries == 1 else np.full(n_queries, -1, np.int64)
        self.own = own

    def add(self, powers: Floats, first: int, start: int = 0) -> None:
        """Takes distances of the queries from `start` on to the rows from `first` on."""
        from novum.numerics.spatial import nearest_kernels as kernels

        lines = slice(start, start + len(powers))
        kernels.keep_nearest(powers, first, self.own[lines], self.near[lines], self.rows[lines])

    def sorted(self) -> tuple[Floats, Integers]:
        """Distances and row numbers, the nearest first."""
        from novum.numerics.spatial import nearest_kernels as kernels

        kernels.sort_nearest(self.near, self.rows)
        return self.near, self.rows


def nearest_of_few(
    rows: Floats, queries: Floats, k: int, power: float = 2.0, own: Integers | None = None
) -> tuple[Floats, Integers]:
    """Sums of powers and row numbers of the k nearest, without any index: for little work.

    Examples
    --------
    >>> nearest_of_few(np.array([[0.0], [5.0], [2.0]]), np.array([[3.0]]), 2)
    (array([[1., 4.]]), array([[2, 1]]))
    """
    from novum.numerics.spatial import nearest_kernels as kernels

    heaps = NearestRows(len(queries), k, own)
    kernels.nearest_of_few(rows, queries, heaps.own, power, heaps.near, heaps.rows)
    return heaps.near, heaps.rows
