"""The nearest rows by squared Euclidean distance: one product of matrices screens, few are exact.

    |x - z|^2 = |x|^2 + |z|^2 - 2 x'z

Inner products in single precision are wrong by at most `(p + 3) 2^-24 |x| |z|`, so the rows that
can be among the k nearest are known; their distances are computed as everywhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from novum.numerics.spatial.nearest import NearestRows
from novum.numerics.types import Array, Floats, Integers

# Cells of a block of products.
_BLOCK = 4_000_000


@dataclass(frozen=True, eq=False)
class ScreenedRows:
    """Rows with what screening needs of them: centered and scaled cells in single precision."""

    rows: Floats
    center: Floats
    scale: float
    coarse: Array
    norms: Floats

    @classmethod
    def of(cls, rows: Floats) -> Self:
        center = rows.mean(axis=0)
        moved = rows - center
        scale = float(np.abs(moved).max(initial=0.0)) or 1.0
        moved /= scale
        return cls(rows, center, scale, moved.astype(np.float32), (moved**2).sum(axis=1))

    def nearest(
        self, queries: Floats, k: int, own: Integers | None = None
    ) -> tuple[Floats, Integers]:
        """Squared distances and row numbers of the k nearest rows, the nearest first.

        Examples
        --------
        >>> ScreenedRows.of(np.array([[0.0], [5.0], [2.0]])).nearest(np.array([[3.0]]), 2)
        (array([[1., 4.]]), array([[2, 1]]))
        """
        from novum.numerics.spatial import nearest_kernels as kernels

        (n, p), m = self.rows.shape, len(queries)
        found = NearestRows(m, k, own)
        longest = float(np.sqrt(self.norms.max(initial=0.0)))
        step = max(1, _BLOCK // max(n, 1))
        for start in range(0, m, step):
            part = slice(start, start + step)
            asked = np.ascontiguousarray(queries[part])
            moved = (asked - self.center) / self.scale
            length = float(np.sqrt((moved**2).sum(axis=1).max(initial=0.0)))
            error = 2.0 * (p + 3) * 2.0**-24 * longest * length + 2.0**-100
            if not np.isfinite(error * 4.0) or length > 1e15:
                # Too far away for single precision: every row is looked at.
                products, error = np.zeros((len(asked), n), np.float32), np.inf
            else:
                products = moved.astype(np.float32) @ self.coarse.T
            heaps = found.own[part], found.near[part], found.rows[part]
            kernels.screen_nearest(products, self.norms, error, asked, self.rows, *heaps)
        return found.sorted()
