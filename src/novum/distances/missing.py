"""What a missing cell is apart from others: the mean over the values that its column has.

For Z drawn from the observed cells of a column, a known cell x and a missing one are

    E |x - Z|^p      and two missing ones      E |Z - Z'|^p

apart. For p = 2 these are (x - m)^2 + v and 2 v with mean m and variance v; for p = 1 they follow
from sums over the sorted cells; for other p they are means over all cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.numerics import Floats, cached_property

# Cells compared at a time where there is no closed form.
_BLOCK = 1024


@dataclass(frozen=True, eq=False)
class ObservedColumn:
    """A column with NaN for missing cells, for expectations over the others.

    Nothing is computed before a distance to a missing cell is asked for.
    """

    column: Floats
    power: float

    @cached_property
    def cells(self) -> Floats:
        """The observed cells, sorted."""
        return np.sort(self.column[~np.isnan(self.column)])

    def expected(self, x: Floats) -> Floats:
        """`E |x - Z|^power`; 0 where the column has no cell, of which nothing is known.

        Examples
        --------
        >>> ObservedColumn(np.array([0.0, np.nan, 4.0]), 1.0).expected(np.array([1.0, 6.0]))
        array([2., 4.])
        """
        cells, n = self.cells, len(self.cells)
        if n == 0:
            return np.zeros(len(x))
        if self.power == 2.0:
            return np.asarray((x - cells.mean()) ** 2 + cells.var())
        if self.power == 1.0 or np.isinf(self.power):
            below = np.searchsorted(cells, x, side="right")
            sums = np.concatenate([[0.0], np.cumsum(cells)])
            return np.asarray((x * (2.0 * below - n) + sums[n] - 2.0 * sums[below]) / n)
        means = np.empty(len(x))
        for start in range(0, len(x), _BLOCK):
            block = x[start : start + _BLOCK, np.newaxis]
            means[start : start + _BLOCK] = (np.abs(block - cells) ** self.power).mean(axis=1)
        return means

    @cached_property
    def both(self) -> float:
        """`E |Z - Z'|^power` of two missing cells."""
        return float(self.expected(self.cells).mean()) if len(self.cells) else 0.0
