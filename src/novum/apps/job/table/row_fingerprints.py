"""Fingerprints of rows: 64 bits for each row, equal for rows with equal cells.

    f_i = sum_j  mix(cell_ij + salt_j)      modulo 2^64

with Stafford's mixing function, so rows are compared by sorting one array however many columns
there are. Rows that differ have equal fingerprints with probability 2^-64 a pair.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from novum.apps.job.table.column_cells import Cells

Words = NDArray[np.uint64]

_GOLDEN = 0x9E3779B97F4A7C15
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def fingerprints(columns: Iterable[Cells], n_rows: int) -> Words:
    """One fingerprint for each row of the columns.

    Examples
    --------
    >>> from novum.core.schema import Column
    >>> a, b, c = fingerprints([Cells(Column("x"), np.array([1.0, 1.0, 2.0]))], 3)
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    total = np.zeros(n_rows, np.uint64)
    for number, cells in enumerate(columns):
        total += column_part(cells, number)
    return total


def column_part(cells: Cells, number: int) -> Words:
    """What the column of that number adds to the fingerprints of its rows."""
    return mixed(words_of(cells) + salt(number))


def salt(number: int) -> np.uint64:
    """A word for each column, so that equal cells in two columns do not count alike."""
    return np.uint64((number + 1) * _GOLDEN % 2**64)


def words_of(cells: Cells) -> Words:
    """Cells as words: equal cells, and all missing ones, give equal words."""
    if not cells.is_numeric:
        return cells.values.astype(np.int64).view(np.uint64)
    # Adding zero turns -0.0 into 0.0, and NaN comes in many patterns of bits.
    numbers = np.where(cells.known, cells.values + 0.0, np.nan)
    return np.ascontiguousarray(numbers, np.float64).view(np.uint64)


def mixed(words: Words) -> Words:
    """Stafford's variant 13 of the finalizer of MurmurHash3: a permutation of 64-bit words."""
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return np.asarray(words ^ (words >> np.uint64(31)))


def n_repeated(prints: Words) -> int:
    """How many rows repeat an earlier one."""
    ordered = np.sort(prints)
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))
