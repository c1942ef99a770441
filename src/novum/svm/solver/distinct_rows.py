"""Rows that are equal, found by digests of 64 bits and then compared.

    rows, targets  ->  which rows are the first of their kind, and which kind each row is

The kinds stand in the order of their digests, which depends on the cells alone. A learner that
works with one object of each kind, weighted by how often it occurs, therefore gives the same bits
for any order of the table, and for a row that stands twice as for one of weight two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from novum.core.validation import Sample
from novum.linear.perceptron_visits import row_digests

Positions = NDArray[np.intp]


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


def distinct_rows(objects: Any, target: Any = None) -> DistinctRows:
    """The kinds of rows, equal in all cells and in their targets.

    Parameters
    ----------
    objects : array of shape (n, n_columns), CSR matrix or Sample
    target : array of shape (n,) or (n, n_targets), optional

    Examples
    --------
    >>> found = distinct_rows(np.array([[1.0], [2.0], [1.0]]))
    >>> len(found.chosen), bool(found.group[0] == found.group[2])
    (2, True)
    """
    cells = _cells(objects)
    targets = np.zeros(cells.shape[0]) if target is None else np.asarray(target)
    # Targets are shifted, since a digest of zeros is zero: it would leave the order to the table.
    digests = row_digests(cells) ^ row_digests(targets.reshape(len(targets), -1) + 3.0)
    order = np.argsort(digests, kind="stable")
    first, second = order[:-1], order[1:]
    alike = np.flatnonzero(digests[first] == digests[second])
    equal = _equal(cells, targets, first[alike], second[alike])
    starts = np.ones(len(order), bool)
    starts[alike[equal] + 1] = False
    group = np.empty(len(order), np.intp)
    group[order] = np.cumsum(starts) - 1
    return DistinctRows(order[starts], group)


def _cells(objects: Any) -> Any:
    if isinstance(objects, Sample):
        return np.column_stack([objects.numeric, objects.codes.astype(np.float64)])
    return objects


def _equal(cells: Any, targets: Any, first: Positions, second: Positions) -> NDArray[np.bool_]:
    if not len(first):
        return np.zeros(0, bool)
    if sparse.issparse(cells):
        same = np.asarray(abs(cells[first] - cells[second]).sum(axis=1)).ravel() == 0
    else:
        same = (cells[first] == cells[second]).all(axis=1)
    equal = targets[first] == targets[second]
    return np.asarray(same & (equal if equal.ndim == 1 else equal.all(axis=1)))
