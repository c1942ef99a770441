"""Rows of the Gram matrix: computed in blocks, kept in single precision as far as memory allows.

`KernelRows` gives what the solver needs of the Gram matrix `K` of n objects: blocks and products in
double precision, computed when asked for. `RowCache` keeps whole rows in single precision, because
a variable that moves once usually moves again: the rows that were used longest ago give way.

The store is asked for as a whole, but the system gives memory page by page as rows are written:
a fit that needs few rows takes little. Rows are computed some at a time, so that what a kernel
returns stays in the processor's cache until it is copied.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.numerics import Floats, Integers, Positions, as_argument

# Called before each piece of rows; raises where no more may be computed.
Check = Callable[[], None]

# Entries of a piece of rows that is computed at once: some MB.
_PIECE_ENTRIES = 2**19
# A double-precision Gram matrix of so many rows is held as a whole.
WHOLE_ROWS = 512


def go_on() -> None:
    """The check that allows everything."""


class KernelRows:
    """Blocks and products of a Gram matrix in double precision.

    Parameters
    ----------
    prepared : Prepared
        The objects.
    whole_bytes : int
        Up to so many bytes the matrix is held as a whole, once a product was asked for.
    check : callable
        Called before each piece of a product; what it raises ends the product.
    """

    def __init__(self, prepared: Any, whole_bytes: int = 0, check: Check = go_on) -> None:
        self.prepared, self.check = prepared, check
        self.n_rows = len(prepared)
        self.diagonal = np.asarray(prepared.diagonal(), float)
        self._holds = self.n_rows <= WHOLE_ROWS or 8 * self.n_rows**2 <= whole_bytes
        self._gram: Floats | None = None

    def gram(self) -> Floats:
        """The whole matrix."""
        if self._gram is None:
            gram = np.asarray(self.prepared.gram(np.float64))
            if not self._holds:
                return gram
            self._gram = gram
        return self._gram

    def block(self, rows: Positions) -> Floats:
        """`K` of these rows, exactly symmetric."""
        if self._holds:
            return np.ascontiguousarray(self.gram()[np.ix_(rows, rows)])
        return np.asarray(self.prepared.take(rows).gram(np.float64))

    def product(self, rows: Positions, amounts: Floats) -> Floats:
        """`sum_r amounts_r K_r`, of shape (n_rows,)."""
        if self._holds:
            return np.asarray(amounts @ self.gram()[rows])
        total = np.zeros(self.n_rows)
        for piece in pieces(len(rows), self.n_rows):
            self.check()
            taken = self.prepared.take(rows[piece])
            total += amounts[piece] @ taken.cross(self.prepared, np.float64)
        return total

    def product_at(self, at: Positions, rows: Positions, amounts: Floats) -> Floats:
        """The same at the rows `at` only."""
        total = np.zeros(len(at))
        some = self.prepared.take(at)
        for piece in pieces(len(rows), len(at)):
            total += some.cross(self.prepared.take(rows[piece]), np.float64) @ amounts[piece]
        return total


class RowCache:
    """Rows of a Gram matrix in single precision, under a budget of memory.

    Parameters
    ----------
    prepared : Prepared
    budget : int
        Bytes; at least two blocks of `block` rows are held whatever it says.
    block : int
        Rows that are asked for at once, at most.
    check : callable
        Called before each piece of rows; what it raises leaves the rows held as they are.

    Attributes
    ----------
    rows : float32 array of shape (capacity, n_rows)
    computed : int
        Rows computed so far.
    """

    def __init__(self, prepared: Any, budget: int, block: int, check: Check = go_on) -> None:
        self.prepared, self._check = prepared, check
        n = len(prepared)
        self.capacity = min(n, max(2 * block, int(budget) // (4 * n)))
        # Memory that is touched for the first time costs as much as computing a kernel row. More of
        # it is used when rows that had to give way are wanted again.
        self._in_use = min(self.capacity, 2 * block)
        self._growth = block
        self._seen = np.zeros(n, bool)
        self.rows = _untouched(self.capacity, n)
        self.computed = 0
        self._slot_of = np.full(n, -1, np.int64)
        self._row_of = np.full(self.capacity, -1, np.int64)
        self._used = np.full(self.capacity, -1, np.int64)
        self._time = 0

    def slots(self, wanted: Positions) -> Integers:
        """Where in `rows` the rows `wanted` are, all at the same time; missing ones are computed.

        `wanted` may name a row twice.
        """
        self._time += 1
        present = self._slot_of[wanted]
        self._used[present[present >= 0]] = self._time
        missing = np.unique(wanted[present < 0])
        if missing.size:
            self._compute(missing)
        return np.asarray(self._slot_of[wanted])

    def _compute(self, missing: Positions) -> None:
        if 4 * self._seen[missing].sum() > missing.size:
            self._in_use = min(self.capacity, self._in_use + self._growth)
        self._seen[missing] = True
        free = np.argpartition(self._used[: self._in_use], missing.size - 1)[: missing.size]
        old = self._row_of[free]
        self._slot_of[old[old >= 0]] = -1
        # A row counts as held only when it is: Ctrl-C may come in between.
        self._row_of[free] = -1
        for piece in pieces(missing.size, self.rows.shape[1]):
            self._check()
            rows, places = missing[piece], free[piece]
            values = self.prepared.take(rows).cross(self.prepared, np.float32)
            self.rows[places] = values
            self._slot_of[rows] = places
            self._row_of[places] = rows
            self._used[places] = self._time
            self.computed += rows.size

    def add_product(self, slots: Integers, amounts: Floats, out: Floats) -> None:
        """`out += sum_r amounts_r K_r` over the rows in `slots`."""
        from novum.svm.solver.smo_kernels import add_rows

        add_rows(self.rows, slots, as_argument(amounts), out)


def rough_product(some: Any, prepared: Any, amounts: Floats, check: Check = go_on) -> Floats:
    """`sum_r amounts_r k(some_r, .)` at all `prepared`, from single-precision kernel values."""
    total = np.zeros(len(prepared))
    for piece in pieces(len(some), len(prepared)):
        check()
        values = some.take(piece).cross(prepared, np.float32)
        total += amounts[piece].astype(np.float32) @ values
    return total


def _untouched(n_rows: int, n_columns: int) -> NDArray[np.float32]:
    """An array of pages that the system provides one by one, as they are written.

    NumPy's own large arrays ask for pages of 2 MB, which cost several times as much to provide
    where memory is not idle, and more than is written.
    """
    size = 4 * n_rows * n_columns
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if os.name == "posix" else {}
    pages = mmap.mmap(-1, size, **private)
    return np.frombuffer(pages, np.float32).reshape(n_rows, n_columns)


def pieces(n_rows: int, n_columns: int) -> list[slice]:
    """Cuts of `n_rows` such that a piece of the matrix has a few MB."""
    size = max(1, _PIECE_ENTRIES // max(1, n_columns))
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
