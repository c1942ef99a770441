"""How much of the target one column alone explains.

    classes:  [ I(B; Y) - (b - 1)(k - 1) / (2 n) ] / H(Y)          share of the entropy
    numbers:  1 - (SSW / (n - b)) / (SST / (n - 1))                share of the variance

of n rows, where B is the column cut into b bins: quantiles of numbers, the most frequent levels,
missing cells a bin of their own. The terms in b are the bias of chance: a column without any
relation has an expected share of about zero, however many levels it has. Shares are cut to [0, 1].

References
----------
Miller (1955) on the bias of entropies; Kelley (1935), epsilon squared, for numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.apps.job.table.column_cells import Cells

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

# Bins of a column at most, and rows for each of them at least.
MOST_BINS = 32
ROWS_PER_BIN = 10


@dataclass(frozen=True, eq=False)
class TargetValues:
    """The target of the rows that have one.

    Attributes
    ----------
    rows : bool array (n,)
        Which rows of the table have a target.
    values : array (number of such rows,)
        Codes of classes, or numbers.
    n_classes : int
        0 for numbers.
    """

    rows: NDArray[np.bool_]
    values: NDArray[Any]
    n_classes: int


def bins_of(cells: Cells, most: int = MOST_BINS) -> tuple[Codes, int]:
    """A bin for every row, and the number of bins.

    Examples
    --------
    >>> from novum.core.schema import Column
    >>> codes, count = bins_of(Cells(Column("x"), np.array([1.0, 2.0, np.nan, 9.0])), most=3)
    >>> codes.tolist(), count
    ([0, 1, 2, 1], 3)
    """
    n_known = len(cells.values) - cells.n_missing
    room = max(2, min(most - 1, n_known // ROWS_PER_BIN))
    if not cells.is_numeric:
        codes, count = _frequent_levels(cells, room)
    elif n_known == 0:
        codes, count = np.zeros(len(cells.values), np.int64), 0
    else:
        edges = quantile_edges(cells.values[cells.known], room)
        codes, count = np.searchsorted(edges, cells.values, side="right"), len(edges) + 1
    if cells.n_missing:
        codes = np.where(cells.known, codes, count)
        count += 1
    return codes.astype(np.int64, copy=False), count


def quantile_edges(known: Floats, n_bins: int) -> Floats:
    """Values that cut numbers into bins of about equal size; a value is never divided."""
    order = np.linspace(0, len(known) - 1, n_bins + 1)[1:-1].round().astype(np.int64)
    edges = np.unique(np.partition(known, np.unique(order))[order])
    # The least value cannot be a bin's lower edge: nothing lies below it.
    return np.asarray(edges[edges > known.min()])


def _frequent_levels(cells: Cells, room: int) -> tuple[Codes, int]:
    """The most frequent levels on their own, all others together."""
    counts = cells.level_counts
    kept = np.argsort(-counts, kind="stable")[:room]
    kept = kept[counts[kept] > 0]
    table = np.full(len(counts) + 1, len(kept), np.int64)
    table[kept] = np.arange(len(kept))
    others = bool(counts.sum() > counts[kept].sum())
    return table[cells.values], len(kept) + others


def association(cells: Cells, target: TargetValues) -> float | None:
    """The share of the target that the column explains; None where the target does not vary."""
    if target.values.size < 2:
        return None
    codes, n_bins = bins_of(cells)
    binned = codes[target.rows]
    if target.n_classes:
        return _share_of_entropy(binned, n_bins, target)
    return _share_of_variance(binned, n_bins, np.asarray(target.values, float))


def _share_of_entropy(codes: Codes, n_bins: int, target: TargetValues) -> float | None:
    joint = np.bincount(
        codes * target.n_classes + target.values, minlength=n_bins * target.n_classes
    ).reshape(n_bins, target.n_classes)
    return entropy_share(joint)


def entropy_share(joint: NDArray[np.int64]) -> float | None:
    """The corrected share of entropy of a table of counts (bins, classes).

    Examples
    --------
    >>> entropy_share(np.array([[50, 0], [0, 50]]))  # 1 - (1 / 200) / log 2
    0.99278...
    """
    total = joint.sum()
    rows, classes = joint.sum(axis=1), joint.sum(axis=0)
    whole = _entropy(classes, total)
    if whole <= 0:
        return None
    information = _entropy(rows, total) + whole - _entropy(joint.ravel(), total)
    chance = (np.count_nonzero(rows) - 1) * (np.count_nonzero(classes) - 1) / (2 * total)
    return float(np.clip((information - chance) / whole, 0.0, 1.0))


def _entropy(counts: NDArray[np.int64], total: float) -> float:
    shares = counts[counts > 0] / total
    return float(-(shares * np.log(shares)).sum())


def _share_of_variance(codes: Codes, n_bins: int, y: Floats) -> float | None:
    centered = y - y.mean()
    # Units near one, so that squares can neither overflow nor vanish.
    size = float(np.abs(centered).max())
    if size == 0:
        return None
    centered = centered / size
    whole = float(centered @ centered)
    counts = np.bincount(codes, minlength=n_bins)
    sums = np.bincount(codes, centered, minlength=n_bins)
    met = counts > 0
    n, b = len(y), int(met.sum())
    if n <= b:
        return 0.0
    within = whole - float((sums[met] ** 2 / counts[met]).sum())
    return float(np.clip(1.0 - (within / (n - b)) / (whole / (n - 1)), 0.0, 1.0))
