"""Absolute error: medians, and the cost of a branch around its own.

    cost = sum_i w_i |y_i - median|,      impurity = cost / W, averaged over the targets

The median is the middle of all values with at most half of the weight on either side. Unlike sums,
medians of groups do not follow from medians of parts, so thresholds are searched by a Fenwick tree
(`growing_kernels`) and groups of levels are costed one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from novum.numerics import Floats, Integers, Mask

# Sums of weights that differ by less, relatively, are equal.
TIE = 1e-10


def sorted_median(values: Floats, weight: Floats) -> float:
    """The weighted median of values in rising order.

    Examples
    --------
    >>> sorted_median(np.array([1.0, 2.0, 5.0]), np.array([1.0, 1.0, 2.0]))
    3.5
    """
    cumulated = np.cumsum(weight)
    half = cumulated[-1] / 2
    low = int(np.searchsorted(cumulated, half * (1 - TIE)))
    high = int(np.searchsorted(cumulated, half * (1 + TIE), side="right"))
    high = min(high, len(values) - 1)
    return float(values[low] + (values[high] - values[low]) / 2)


def sorted_cost(values: Floats, weight: Floats) -> float:
    """`sum w |y - median|` of values in rising order; 0 for none."""
    if not len(values):
        return 0.0
    return float(weight @ np.abs(values - sorted_median(values, weight)))


@dataclass(frozen=True, eq=False)
class DeviationScores:
    """Scores of groups of levels by absolute error: minus the cost of their rows.

    Attributes
    ----------
    values, entry_weight : arrays (n_targets, m), the targets of a node in rising order
    level : int64 array (n_targets, m), in the same order; the number of levels where missing
    n_levels : int
    """

    values: Floats
    entry_weight: Floats
    level: Integers
    n_levels: int
    # A group costs a pass over the rows, so fewer levels than of sums.
    exhaustive: ClassVar[int] = 4

    @property
    def n_targets(self) -> int:
        return len(self.values)

    @property
    def weight(self) -> Floats:
        counts = np.bincount(self.level[0], self.entry_weight[0], self.n_levels + 1)
        return np.asarray(counts, np.float64)

    def scores(self, groups: Mask) -> Floats:
        scores = np.zeros(len(groups))
        for place, group in enumerate(groups):
            for y, w, level in zip(self.values, self.entry_weight, self.level, strict=True):
                chosen = group[level]
                scores[place] -= sorted_cost(y[chosen], w[chosen])
        return scores

    def axis(self, levels: Integers) -> Floats:
        """Medians, added over the targets; a cut in their order is good, not always the best."""
        medians = []
        for code in levels:
            parts = zip(self.values, self.entry_weight, self.level, strict=True)
            medians.append(sum(sorted_median(y[at == code], w[at == code]) for y, w, at in parts))
        return np.array(medians)
