"""Weighted contingency tables over integer-coded columns.

    counts[a, b, ...] = sum_i w_i [x_i1 = a] [x_i2 = b] ...

A code is the position of a level, 0 to size - 1. Two codes are reserved: `MISSING` for a cell
without a value and `UNSEEN` for a level that the coding does not know. They belong to no level:
their weight is counted apart, so that nothing disappears. Without weights the counts are exact
integers; with weights they are summed over blocks of rows first, then over blocks.

The number of cells is computed with Python's integers before anything is allocated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novum.numerics.jit import as_argument
from novum.numerics.types import Codes, Floats, Integers
from novum.numerics.weighted_rows import checked_weights

Counts = Integers | Floats

MISSING = -1
UNSEEN = -2

MAX_CELLS = 2**28

# Rows whose sums are formed before they join the total; 2 ms of work, so Ctrl-C is never far.
BLOCK_ROWS = 2**16

# Below this many cells one call of `bincount` per column is quicker than loading a kernel.
COMPILED_FROM_CELLS = 2**18


# --- Results --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CountTable:
    """Counts over one or several columns.

    Parameters
    ----------
    counts : array (size_1, ..., size_m)
        int64 without weights, float64 with.
    missing : int or float
        Weight of the rows with a missing cell.
    unseen : int or float
        Weight of the rows without a missing cell but with an unseen level.
    """

    counts: Counts
    missing: float
    unseen: float

    @property
    def total(self) -> float:
        """Weight of all rows, counted or not."""
        return self.counts.sum().item() + self.missing + self.unseen


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Counts of every column's levels within every class.

    Parameters
    ----------
    tables : tuple of arrays (size_j, n_classes)
        One for each column.
    missing, unseen : arrays (d, n_classes)
        Weight of the cells that belong to no level.
    """

    tables: tuple[Counts, ...]
    missing: Counts
    unseen: Counts


# --- Counting -------------------------------------------------------------------------------------


def count_levels(codes: ArrayLike, size: int, weight: ArrayLike | None = None) -> CountTable:
    """Counts of the levels of one column.

    >>> table = count_levels([0, 2, 2, MISSING], 3)
    >>> table.counts.tolist(), table.missing
    ([1, 0, 2], 1)
    """
    column = np.asarray(codes).reshape(-1, 1)
    return count_jointly(column, [size], weight)


def count_jointly(
    codes: ArrayLike,
    sizes: Sequence[int],
    weight: ArrayLike | None = None,
    max_cells: int = MAX_CELLS,
) -> CountTable:
    """Joint table over all columns of `codes`; rows with a reserved code are counted apart.

    Parameters
    ----------
    codes : array (n, m) of integers
    sizes : m integers
        Number of levels of each column.
    weight : array (n,), optional
        Repetitions of each row.
    max_cells : int
        Tables with more cells are refused.

    Examples
    --------
    >>> count_jointly([[0, 1], [0, 1], [1, 0]], [2, 2]).counts.tolist()
    [[0, 2], [1, 0]]
    """
    table, sizes = _checked_codes(codes, sizes)
    cells = checked_cells(sizes, max_cells)
    weights = None if weight is None else checked_weights(weight, len(table))
    missing = (table == MISSING).any(axis=1)
    unseen = (table == UNSEEN).any(axis=1) & ~missing
    # Two cells beyond the table take the rows that have no place in it.
    cell = np.zeros(len(table), np.int64)
    for column, size in zip(table.T, sizes, strict=True):
        cell = cell * size + column
    cell[missing], cell[unseen] = cells, cells + 1
    flat = _bincount(cell, weights, cells + 2)
    return CountTable(flat[:cells].reshape(tuple(sizes)), flat[cells].item(), flat[-1].item())


def count_by_class(
    codes: ArrayLike,
    sizes: Sequence[int],
    classes: ArrayLike,
    n_classes: int,
    weight: ArrayLike | None = None,
    max_cells: int = MAX_CELLS,
) -> ClassCounts:
    """Table of levels against classes for each column, in one pass over the rows.

    Parameters
    ----------
    codes : array (n, d) of integers
    sizes : d integers
        Number of levels of each column.
    classes : array (n,) of integers
        Class of each row, 0 to `n_classes - 1`; rows without a class must be left out.
    weight : array (n,), optional
    max_cells : int
        Refuse when all tables together have more cells.

    Examples
    --------
    >>> counts = count_by_class([[0, 1], [1, MISSING], [1, 1]], [2, 2], [0, 1, 1], 2)
    >>> [table.tolist() for table in counts.tables]
    [[[1, 0], [0, 2]], [[0, 0], [1, 1]]]
    >>> counts.missing.tolist()
    [[0, 0], [0, 1]]
    """
    table, sizes = _checked_codes(codes, sizes)
    labels = _checked_classes(classes, len(table), n_classes)
    # Each column takes two more rows, for its reserved codes.
    offsets = np.concatenate([[0], np.cumsum([size + 2 for size in sizes])]).astype(np.int64)
    checked_cells([sum(sizes) + 2 * len(sizes), n_classes], max_cells)
    weights = None if weight is None else checked_weights(weight, len(table))
    counted = _count_compiled if table.size >= COMPILED_FROM_CELLS else _count_by_column
    stacked = counted(table, offsets, labels, n_classes, weights)
    if weights is None:
        stacked = stacked.astype(np.int64)
    first = offsets[:-1]
    return ClassCounts(
        tuple(stacked[a + 2 : b] for a, b in zip(first, offsets[1:], strict=True)),
        stacked[first + 2 + MISSING],
        stacked[first + 2 + UNSEEN],
    )


def _count_by_column(
    table: Codes, offsets: Integers, labels: Codes, n_classes: int, weights: Floats | None
) -> Floats:
    out = np.zeros((int(offsets[-1]), n_classes))
    for column, start, stop in zip(table.T, offsets[:-1], offsets[1:], strict=True):
        cell = (column.astype(np.int64) + 2) * n_classes + labels
        out[start:stop] = _bincount(cell, weights, (stop - start) * n_classes).reshape(
            -1, n_classes
        )
    return out


def _count_compiled(
    table: Codes, offsets: Integers, labels: Codes, n_classes: int, weights: Floats | None
) -> Floats:
    from novum.numerics.counting_kernels import add_class_counts

    out = np.zeros((int(offsets[-1]), n_classes))
    # A sum of block sums rounds far less than one long sum, but a table larger than the block would
    # cost more than the counting.
    direct = out.size > BLOCK_ROWS * table.shape[1]
    block = out if direct else np.empty_like(out)
    unit = np.ones(min(BLOCK_ROWS, len(table)))
    for start in range(0, len(table), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        part = as_argument(table[rows], np.int32)
        weight = unit[: len(part)] if weights is None else as_argument(weights[rows])
        if not direct:
            block[:] = 0.0
        add_class_counts(part, offsets, as_argument(labels[rows], np.int32), weight, block)
        if not direct:
            out += block
    return out


def _bincount(cell: Integers, weights: Floats | None, n_cells: int) -> Counts:
    if weights is None:
        return np.bincount(cell, minlength=n_cells).astype(np.int64)
    if n_cells > BLOCK_ROWS:
        return np.bincount(cell, weights, minlength=n_cells)
    total = np.zeros(n_cells)
    for start in range(0, len(cell), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        total += np.bincount(cell[rows], weights[rows], minlength=n_cells)
    return total


# --- Checks ---------------------------------------------------------------------------------------


def checked_cells(sizes: Sequence[int], max_cells: int = MAX_CELLS) -> int:
    """Number of cells of a table, refused beyond the limit.

    >>> checked_cells([2] * 64)
    Traceback (most recent call last):
    ValueError: A table of 2 x 2 x 2 x ... (64 columns) has 18446744073709551616 cells \
(147573952589.7 GB); the limit is 268435456. Use fewer columns or levels, or raise max_cells.
    """
    cells = math.prod(int(size) for size in sizes)
    if cells > max_cells:
        shape = " x ".join(str(size) for size in sizes[:3])
        if len(sizes) > 3:
            shape += f" x ... ({len(sizes)} columns)"
        raise ValueError(
            f"A table of {shape} has {cells} cells ({8 * cells / 1e9:.1f} GB); the limit is "
            f"{max_cells}. Use fewer columns or levels, or raise max_cells."
        )
    return cells


def _checked_codes(codes: ArrayLike, sizes: Sequence[int]) -> tuple[Codes, list[int]]:
    table = np.asarray(codes)
    if table.ndim != 2 or table.shape[1] != len(sizes):
        raise ValueError(
            f"Codes must have one column for each of the {len(sizes)} sizes, got shape "
            f"{table.shape}."
        )
    if table.size and not np.issubdtype(table.dtype, np.integer):
        raise ValueError(
            f"Codes must be integers, got {table.dtype}. Missing cells have the code {MISSING}."
        )
    levels = [int(size) for size in sizes]
    if any(not 0 <= size < 2**31 for size in levels):
        raise ValueError(f"Sizes must be between 0 and 2**31 - 1, got {levels}.")
    if len(table):
        # Reducing along the rows reads the memory in order, 5 times faster than by column.
        inside = (table.min(axis=0) >= UNSEEN) & (table.max(axis=0) < np.array(levels))
        for column in np.flatnonzero(~inside):
            _check_range(table[:, column], UNSEEN, levels[column], f"column {column}")
    return table.astype(np.int32, copy=False), levels


def _checked_classes(classes: ArrayLike, n_rows: int, n_classes: int) -> Codes:
    labels = np.asarray(classes)
    if labels.shape != (n_rows,):
        raise ValueError(f"Expected one class for each of {n_rows} rows, got {labels.shape}.")
    if labels.size and not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(f"Class codes must be integers, got {labels.dtype}.")
    _check_range(labels, 0, n_classes, "the classes")
    return labels.astype(np.int32, copy=False)


def _check_range(codes: NDArray[np.integer], low: int, size: int, place: str) -> None:
    """Kernels do not check indices, so nothing out of range may pass here."""
    if not codes.size or (codes.min() >= low and codes.max() < size):
        return
    bad = np.flatnonzero((codes < low) | (codes >= size))
    reserved = f"; {MISSING} is missing and {UNSEEN} unseen" if low < 0 else ""
    raise ValueError(
        f"In {place} the code {codes[bad[0]]} at row {bad[0]} ({bad.size} in all) is out of range: "
        f"codes of {size} levels are 0 to {size - 1}{reserved}."
    )
