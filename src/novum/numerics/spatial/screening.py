"""The nearest rows by squared Euclidean distance: a product of matrices screens, few are exact.

    |x - z|^2 = |x|^2 - 2 (x'z - |z|^2 / 2)

The bracket is one inner product in single precision, of `(x, 1)` and `(z, -|z|^2 / 2)`, which is
wrong by at most `(p + 4) 2^-24 (|x| |z| + |z|^2 / 2)`. A row whose bracket is too small for it to
be nearer than the worst of the k best so far is passed over; of all others the distance is
computed as everywhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from novum.numerics.jit import as_argument
from novum.numerics.spatial.nearest import NearestRows
from novum.numerics.types import Array, Floats, Integers

# Queries and rows of a tile of products, which stays in the cache; powers of two would make its
# lines fall into the same places of the cache.
_QUERIES = 1000
_ROWS = 1000
# Rows that are centered at a time.
_STEP = 4096


@dataclass(frozen=True, eq=False)
class ScreenedRows:
    """Rows with what screening needs of them.

    Attributes
    ----------
    rows : array (n, p)
    center : array (p,)
    scale : float
        The largest cell of the centered rows.
    coarse : float32 array (n, p + 1)
        Centered and scaled rows z with `-|z|^2 / 2` in the last column.
    longest : float
        The largest |z|.
    """

    rows: Floats
    center: Floats
    scale: float
    coarse: Array
    longest: float

    @classmethod
    def of(cls, rows: Floats) -> Self:
        rows = as_argument(rows)
        n, p = rows.shape
        center = rows.mean(axis=0) if n else np.zeros(p)
        low, high = (rows.min(axis=0), rows.max(axis=0)) if n else (center, center)
        scale = float(np.maximum(high - center, center - low).max(initial=0.0)) or 1.0
        coarse = np.empty((n, p + 1), np.float32)
        longest = 0.0
        for start in range(0, n, _STEP):
            lines = slice(start, start + _STEP)
            moved = (rows[lines] - center) / scale
            norms = np.einsum("ij,ij->i", moved, moved)
            coarse[lines, :p] = moved
            coarse[lines, p] = -0.5 * norms
            longest = max(longest, float(norms.max()))
        return cls(rows, center, scale, coarse, float(np.sqrt(longest)))

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
        nearest_rows = NearestRows(m, k, own)
        # One tile for all products: new memory for each would cost as much as comparing them.
        tile = np.empty(min(m, _QUERIES) * min(n, _ROWS), np.float32)
        for start in range(0, m, _QUERIES):
            lines = slice(start, start + _QUERIES)
            asked = as_argument(queries[lines])
            with np.errstate(over="ignore", invalid="ignore"):
                moved = (asked - self.center) / self.scale
                norms = np.einsum("ij,ij->i", moved, moved)
                lengths = np.sqrt(norms)
                # Twice the bound, for the rounding of the limits themselves.
                errors = 2.0 * (p + 4) * 2.0**-24 * self.longest * (lengths + self.longest)
                # Where single precision cannot reach, every row is looked at.
                is_extreme = not 1e-140 < self.scale < 1e140
                errors[~(lengths < 1e15) | is_extreme] = np.inf
                coarse = np.ones((len(asked), p + 1), np.float32)
                coarse[:, :p] = np.where(np.isinf(errors)[:, np.newaxis], 0.0, moved)
            heaps = nearest_rows.own[lines], nearest_rows.near[lines], nearest_rows.rows[lines]
            for first in range(0, n, _ROWS):
                block = self.coarse[first : first + _ROWS]
                products = tile[: len(asked) * len(block)].reshape(len(asked), len(block))
                np.matmul(coarse, block.T, out=products)
                bounds = norms, errors, self.scale**2
                kernels.screen_nearest(products, first, bounds, asked, self.rows, *heaps)
        return nearest_rows.sorted()
