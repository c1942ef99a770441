"""Sparse rows of numbers under Minkowski distances: two rows are merged by their columns.

Cells that both rows lack differ by nothing, and the others are added in the order of the columns,
so that distances have the bits of dense rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from novum.core.errors import InputError
from novum.distances.column_rows import ColumnTerms, finish_powers
from novum.distances.protocol import DistanceRows
from novum.numerics import Floats, kernel


@dataclass(frozen=True, eq=False)
class SparseRows(DistanceRows):
    """Rows as a sparse matrix with sorted columns, none missing."""

    terms: ColumnTerms
    cells: Any

    @classmethod
    def of(cls, terms: ColumnTerms, table: Any) -> Self:
        """Of a sparse table, which keeps its cells."""
        return cls(terms, complete_sparse(table))

    def __len__(self) -> int:
        return int(self.cells.shape[0])

    def take(self, rows: Any) -> Self:
        return replace(self, cells=self.cells[rows])

    def cross_powers(self, other: Self) -> Floats:
        out = np.empty((len(self), len(other)))
        merge_powers(_arrays(self.cells), _arrays(other.cells), self.terms.power, out)
        return out

    def finish(self, powers: Floats) -> Floats:
        return finish_powers(self.terms, powers)


def complete_sparse(table: Any) -> Any:
    """A sparse table as rows of doubles with sorted columns, none of them missing."""
    cells = table.tocsr().astype(np.float64)
    cells.sum_duplicates()
    if np.isnan(cells.data).any():
        row = int(np.searchsorted(cells.indptr, np.argmax(np.isnan(cells.data)), "right")) - 1
        raise InputError(
            f"Row {row} of the sparse table misses a cell. Distances of sparse rows need all "
            "cells: fill them, or pass X.toarray()."
        )
    return cells


def _arrays(cells: Any) -> tuple[Floats, Any, Any]:
    return cells.data, cells.indices.astype(np.int64), cells.indptr.astype(np.int64)


_SPARSE = "Tuple((float64[::1], int64[::1], int64[::1]))"


@kernel(f"void({_SPARSE}, {_SPARSE}, float64, float64[:, ::1])")
def merge_powers(left, right, power, out):  # type: ignore[no-untyped-def]
    """Powers of all pairs; cells, their columns in order, and where each row starts."""
    cells, columns, starts = left
    others, others_columns, others_starts = right
    for i in range(out.shape[0]):
        for t in range(out.shape[1]):
            a, a_stop = starts[i], starts[i + 1]
            b, b_stop = others_starts[t], others_starts[t + 1]
            total = 0.0
            while a < a_stop or b < b_stop:
                if b == b_stop or (a < a_stop and columns[a] < others_columns[b]):
                    d = abs(cells[a])
                    a += 1
                elif a == a_stop or others_columns[b] < columns[a]:
                    d = abs(others[b])
                    b += 1
                else:
                    d = abs(cells[a] - others[b])
                    a += 1
                    b += 1
                if power == 2.0:
                    total += d * d
                elif power == 1.0:
                    total += d
                elif np.isinf(power):
                    total = max(total, d)
                else:
                    total += d**power
            out[i, t] = total
