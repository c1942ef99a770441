"""Pairs of objects of which one stands above the other, and their differences as objects.

    phi(x_i) - phi(x_j)   for rows i, j of one group with y_i > y_j

    <phi_i - phi_j, phi_k - phi_l> = k(i, k) - k(i, l) - k(j, k) + k(j, l)

A ranking is a classifier of such differences. They need no vectors: a block of their inner products
comes from a block of the kernel matrix of the objects, by taking differences of its rows and then
of its columns. All pairs of a table are numbered without writing them down, so that some of them
can be drawn from more than memory would hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from novum.core.runtime import RandomSource, check_memory, stream
from novum.kernels import Prepared
from novum.numerics import Array, Floats, Integers, Positions, cached_property

# Positions, bounds, gradients and what the solver keeps besides.
_PAIR_BYTES = 160
# Similarities computed together for the diagonal.
_BLOCK_ENTRIES = 2**20


class Pairs(NamedTuple):
    """Pairs of positions.

    Attributes
    ----------
    above, below : int arrays of shape (n_pairs,)
    n_all : int
        Pairs that there are; more than these where they were drawn.
    """

    above: Positions
    below: Positions
    n_all: int

    def __len__(self) -> int:
        return len(self.above)


# --- Pairs of a table -----------------------------------------------------------------------------


class PairNumbers:
    """All pairs of one group with different targets, numbered from 0.

    Parameters
    ----------
    target : array of shape (n,)
    groups : int array of shape (n,)

    Examples
    --------
    >>> numbers = PairNumbers(np.array([1.0, 3.0, 2.0, 9.0]), np.array([0, 0, 0, 1]))
    >>> numbers.count
    3
    >>> above, below = numbers.pairs(np.arange(3))
    >>> sorted(zip(above.tolist(), below.tolist()))
    [(1, 0), (1, 2), (2, 0)]
    """

    def __init__(self, target: Floats, groups: Array) -> None:
        self.order = np.lexsort((target, groups))
        sorted_target, sorted_groups = target[self.order], groups[self.order]
        new_group = np.concatenate([[True], np.diff(sorted_groups) != 0])
        new_level = new_group | np.concatenate([[True], np.diff(sorted_target) != 0])
        places = np.arange(len(target))
        # Where the group of a place begins, and where its level does: all between are below it.
        self.group_start = np.maximum.accumulate(np.where(new_group, places, 0))
        level_start = np.maximum.accumulate(np.where(new_level, places, 0))
        self.ends = np.cumsum((level_start - self.group_start).astype(np.int64))

    @property
    def count(self) -> int:
        return int(self.ends[-1])

    def pairs(self, numbers: Integers) -> tuple[Positions, Positions]:
        """Positions above and below of the pairs with these numbers."""
        place = np.searchsorted(self.ends, numbers, side="right")
        first = self.ends[place] - np.diff(self.ends, prepend=0)[place]
        below = self.group_start[place] + (numbers - first)
        return self.order[place], self.order[below]


def ordered_pairs(
    target: Floats,
    groups: Array,
    max_pairs: int | None = None,
    random_state: RandomSource = 0,
) -> Pairs:
    """All pairs of a group with different targets, or some of them drawn with equal chances.

    Parameters
    ----------
    target : array of shape (n,)
        The larger, the better.
    groups : int array of shape (n,)
    max_pairs : int, optional
        Draws so many, without repetition, where there are more.
    random_state : int, generator or None
        Of the draw.

    Examples
    --------
    >>> found = ordered_pairs(np.array([2.0, 1.0, 1.0]), np.zeros(3, int))
    >>> found.above.tolist(), found.below.tolist()
    ([0, 0], [1, 2])
    """
    numbers = PairNumbers(target, groups)
    count = numbers.count
    taken = count if max_pairs is None else min(count, max_pairs)
    check_memory(
        _PAIR_BYTES * taken,
        f"A ranking by {taken:,} pairs of {len(target):,} rows",
        "Set max_pairs to learn from some of the pairs, or give smaller groups.",
    )
    if taken == count:
        chosen = np.arange(count)
    else:
        rng = stream(random_state, "pairs")
        chosen = np.sort(rng.choice(count, taken, replace=False, shuffle=False))
    return Pairs(*numbers.pairs(chosen), count)


# --- Differences as objects -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PairRows(Prepared):
    """Differences of prepared objects.

    Attributes
    ----------
    base : Prepared
        The objects.
    above, below : int arrays of shape (n_pairs,)
        Positions in `base`.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> base = Linear().prepare(np.array([[5.0], [2.0], [1.0]]))
    >>> rows = PairRows(base, np.array([0, 0]), np.array([1, 2]))
    >>> rows.gram(), rows.diagonal()
    (array([[ 9., 12.],
           [12., 16.]]), array([ 9., 16.]))
    """

    base: Any
    above: Positions
    below: Positions

    def __len__(self) -> int:
        return len(self.above)

    def take(self, rows: Any) -> PairRows:
        return PairRows(self.base, self.above[rows], self.below[rows])

    def diagonal(self) -> Floats:
        own = np.asarray(self.base.diagonal(), np.float64)
        lengths = own[self.above] + own[self.below]
        order = np.argsort(self.above, kind="stable")
        size = max(1, _BLOCK_ENTRIES // max(1, len(own)))
        ends = np.searchsorted(self.above[order], np.arange(0, len(own) + size, size))
        for start, stop in pairwise(ends):
            if start < stop:
                some = order[start:stop]
                rows, i = np.unique(self.above[some], return_inverse=True)
                columns, j = np.unique(self.below[some], return_inverse=True)
                block = self.base.take(rows).cross(self.base.take(columns), np.float64)
                lengths[some] -= 2 * block[i, j]
        return np.asarray(np.maximum(lengths, 0.0))

    def cross(self, other: PairRows, dtype: DTypeLike = np.float64) -> Array:
        rows, i, j = self._ends
        columns, k, m = other._ends
        block = self.base.take(rows).cross(other.base.take(columns), dtype)
        differences = block[i] - block[j]
        part = np.ascontiguousarray(differences[:, k])
        part -= differences[:, m]
        return part

    @cached_property
    def _ends(self) -> tuple[Positions, Positions, Positions]:
        """The objects that take part, and where the two of every pair are among them."""
        rows, places = np.unique(np.concatenate([self.above, self.below]), return_inverse=True)
        return rows, places[: len(self)], places[len(self) :]


def of_objects(pairs: Pairs, coefficients: Floats, n_objects: int) -> Floats:
    """Coefficients of the objects from those of the pairs: added above, taken away below.

    Examples
    --------
    >>> of_objects(Pairs(np.array([0, 0]), np.array([1, 2]), 2), np.array([1.0, 0.5]), 3).tolist()
    [1.5, -1.0, -0.5]
    """
    above = np.bincount(pairs.above, coefficients, n_objects)
    return np.asarray(above - np.bincount(pairs.below, coefficients, n_objects))


# --- How well a ranking does ----------------------------------------------------------------------


def pairwise_accuracy(
    scores: Floats, target: Floats, groups: Array, weight: Floats | None = None
) -> float:
    """Share of the pairs that the scores order as the target does; equal scores count half.

    It is `(1 + tau) / 2` for Kendall's tau over the pairs of different targets; NaN of none.

    Examples
    --------
    >>> pairwise_accuracy(np.array([3.0, 1.0, 2.0]), np.array([2.0, 1.0, 0.0]), np.zeros(3, int))
    0.6666666666666666
    """
    numbers = PairNumbers(target, groups)
    right, total, size = 0.0, 0.0, _BLOCK_ENTRIES
    for start in range(0, numbers.count, size):
        above, below = numbers.pairs(np.arange(start, min(start + size, numbers.count)))
        w = np.ones(len(above)) if weight is None else weight[above] * weight[below]
        right += float(w @ (0.5 + 0.5 * np.sign(scores[above] - scores[below])))
        total += float(w.sum())
    return right / total if total > 0 else float("nan")
