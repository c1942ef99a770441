"""First centers: drawn far from each other (k-means++), at random, or given.

k-means++ draws the next center among the rows with chances proportional to w_i D_i^2, the squared
distance to the nearest center so far, which makes the expected sum at most 8 (ln k + 2) times the
best. The greedy form draws several candidates and takes the one that lowers the sum most.

Rows are drawn by the inverse of their cumulated chances in an order that depends on their cells
alone, so that neither the order of rows nor repeated rows in place of weights matter.

Reference: Arthur and Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.numerics import Array, Floats, Positions

# Rows of a stream that first centers are drawn from.
KEPT_ROWS = 20_000


def order_of_cells(X: Floats) -> Positions:
    """An order of rows that depends on what they hold, by one fixed direction."""
    heights = np.zeros(len(X))
    # Column by column: equal rows have equal bits, wherever they stand.
    for j, factor in enumerate(_direction(X.shape[1])):
        heights += factor * X[:, j]
    return np.argsort(heights, kind="stable")


def order_of_heights(X: Any, origin: Floats) -> Positions:
    """The same order for sparse rows, whose cells are added in the order of the columns."""
    direction = _direction(X.shape[1])
    return np.argsort(np.asarray(X @ direction) - origin @ direction, kind="stable")


def _direction(n_columns: int) -> Floats:
    direction: Floats = np.random.default_rng(0).normal(size=(n_columns,))
    return direction


@dataclass(frozen=True, eq=False)
class Starts:
    """Rows that first centers are drawn from, in an order of their own.

    Attributes
    ----------
    rows : array (n, p)
        Without missing cells.
    weights : array (n,)
    power : float
        Chances rise with this power of the distance: 2 for means, 1 for medians.
    """

    rows: Floats
    weights: Floats
    power: float = 2.0

    @classmethod
    def of(cls, X: Floats, weights: Floats, origin: Floats, power: float = 2.0) -> Starts:
        """Of a table; missing cells count as the mean of their column."""
        if np.isnan(np.sum(X)):
            X = np.where(np.isnan(X), origin, X)
        order = order_of_cells(X - origin)
        return cls(X[order], weights[order], power)

    def at_random(self, k: int, rng: np.random.Generator) -> Floats:
        """k rows, different ones where there are as many, with chances by weight."""
        chosen: list[int] = []
        weights = self.weights.copy()
        for _ in range(k):
            row = _drawn(weights if weights.any() else self.weights, rng, 1)[0]
            chosen.append(int(row))
            weights[row] = 0.0
        return self._points(chosen)

    def spread(self, k: int, rng: np.random.Generator) -> Floats:
        """k rows by greedy k-means++.

        Examples
        --------
        >>> starts = Starts.of(np.array([[0.0], [0.1], [9.0]]), np.ones(3), np.array([3.0]))
        >>> np.sort(starts.spread(2, np.random.default_rng(0)).ravel())[1]
        np.float64(9.0)
        """
        n_candidates = 2 + int(np.log(k))
        first = _drawn(self.weights, rng, 1)
        chosen = [int(first[0])]
        costs = self._costs(first)[0]
        for _ in range(1, k):
            chances = self.weights * costs
            candidates = _drawn(chances if chances.any() else self.weights, rng, n_candidates)
            lowered = np.minimum(self._costs(candidates), costs)
            best = int(np.argmin(lowered @ self.weights))
            chosen.append(int(candidates[best]))
            costs = lowered[best]
        return self._points(chosen)

    def _points(self, chosen: Any) -> Floats:
        return np.asarray(self.rows[chosen])

    def _costs(self, rows: Positions) -> Floats:
        """Powers of distances of the given rows (axis 0) to all."""
        points = self.rows[rows]
        if self.power == 2.0:
            center = points[0]
            moved = self.rows - center
            squares = np.einsum("ij,ij->i", moved, moved)
            ends = points - center
            costs = squares - 2.0 * (ends @ moved.T) + (ends**2).sum(axis=1)[:, np.newaxis]
            return np.maximum(costs, 0.0)
        return np.array([np.abs(self.rows - point).sum(axis=1) for point in points])


def _drawn(chances: Floats, rng: np.random.Generator, size: int) -> Positions:
    ends = np.cumsum(chances)
    places = np.searchsorted(ends, rng.random(size) * ends[-1], side="right")
    last = int(np.flatnonzero(chances)[-1])
    return np.minimum(places, last)


# --- Rows kept of a stream ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows drawn from a stream without regard to order and chunks: those of smallest keys.

    Keys are pseudo-random numbers of what a row holds, so that the same rows are kept however they
    are parted.
    """

    rows: Floats
    weights: Floats
    keys: Array

    @classmethod
    def of(cls, X: Floats, weights: Floats) -> KeptRows:
        keys = np.zeros(len(X), np.uint64)
        for column in X.T:
            bits = np.ascontiguousarray(column + 0.0).view(np.uint64)
            keys = _mixed(keys ^ bits)
        return cls(X, weights, keys)._smallest()

    def __add__(self, other: KeptRows) -> KeptRows:
        return KeptRows(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.weights, other.weights]),
            np.concatenate([self.keys, other.keys]),
        )._smallest()

    def _smallest(self) -> KeptRows:
        if len(self.keys) <= KEPT_ROWS:
            return self
        kept = np.argsort(self.keys, kind="stable")[:KEPT_ROWS]
        return KeptRows(self.rows[kept], self.weights[kept], self.keys[kept])


def _mixed(words: Array) -> Array:
    """The finalizer of SplitMix64, whose bits all depend on all bits."""
    with np.errstate(over="ignore"):
        words = (words + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(words ^ (words >> np.uint64(31)))
