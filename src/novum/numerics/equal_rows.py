"""Rows without repetitions, in an order that depends on their cells alone.

A learner that works with one row of each kind, weighted by how often it occurs, gives the same bits
for any order of the table, and for a row that stands twice as for one of weight two. The kinds
stand in the order of their *digests*, 64 bits of a row: the sum of the mixed bits of its cells. Two
rows of one digest are compared cell by cell.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from novum.numerics.types import Array, Floats, Integers, Mask, Positions, Words
from novum.numerics.weighted_rows import blocks_of_rows


class DistinctRows(NamedTuple):
    """Rows without repetitions.

    Attributes
    ----------
    chosen : int array of shape (m,)
        One row of each kind.
    group : int array of shape (n,)
        The kind of every row, a place in `chosen`.
    """

    chosen: Positions
    group: Positions


def distinct_rows(cells: Any, target: Array | None = None) -> DistinctRows:
    """The kinds of rows, equal in all cells and in their targets.

    Parameters
    ----------
    cells : array of shape (n, n_columns) or CSR matrix
    target : array of shape (n,) or (n, n_targets), optional

    Examples
    --------
    >>> kinds = distinct_rows(np.array([[1.0], [2.0], [1.0]]))
    >>> len(kinds.chosen), bool(kinds.group[0] == kinds.group[2])
    (2, True)
    """
    digests = row_digests(cells)
    if target is not None:
        # Targets are shifted, since a digest of zeros is zero: it would leave the order to the
        # table.
        digests ^= row_digests(target.reshape(len(target), -1) + 3.0)
    order = np.argsort(digests, kind="stable")
    ordered = digests[order]
    alike = np.flatnonzero(ordered[1:] == ordered[:-1])
    starts = np.ones(len(order), bool)
    if len(alike):
        equal = _equal(cells, target, order[alike], order[alike + 1])
        starts[alike[equal] + 1] = False
    group = np.empty(len(order), np.intp)
    group[order] = np.cumsum(starts) - 1
    return DistinctRows(order[starts], group)


def row_digests(X: Any) -> Words:
    """64 bits of each row: the sum of the mixed bits of its cells; cells of zero add nothing."""
    if sparse.issparse(X):
        mixed = _cell_digests(X.data, _mixed(X.indices.astype(np.uint64) + np.uint64(1)))
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
        return np.asarray(sums[X.indptr[1:]] - sums[X.indptr[:-1]])
    n, d = X.shape
    digests, places = np.empty(n, np.uint64), _places(d)
    for start, stop in blocks_of_rows(n, d):
        block = _cell_digests(X[start:stop], places)
        block.sum(axis=1, dtype=np.uint64, out=digests[start:stop])
    return digests


def _cell_digests(values: Floats, places: Words) -> Words:
    cells = np.ascontiguousarray(values, np.float64)
    mixed = _mixed(cells.view(np.uint64) ^ places)
    mixed *= cells != 0
    return mixed


@lru_cache(maxsize=8)
def _places(n_columns: int) -> Words:
    return _mixed(np.arange(1, n_columns + 1, dtype=np.uint64))


def _mixed(bits: Words) -> Words:
    """The finalizer of splitmix64 (Steele, Lea and Flood 2014): every bit depends on all."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _equal(cells: Any, target: Array | None, first: Integers, second: Integers) -> Mask:
    if sparse.issparse(cells):
        same = np.asarray(abs(cells[first] - cells[second]).sum(axis=1)).ravel() == 0
    else:
        same = (cells[first] == cells[second]).all(axis=1)
    if target is None:
        return np.asarray(same)
    equal = target[first] == target[second]
    return np.asarray(same & (equal if equal.ndim == 1 else equal.all(axis=1)))
