"""Numbering rows of integers: equal rows get equal codes, in the order of first occurrence.

    rows    [5, 1, 1]  [5, 1]  [5, 1, 1]  [2]
    codes       0        1         0       2

Rows may be of any length. They are found by a hash and then compared number by number with the
first row of their code, so the codes are exact. A `RowTable` remembers the rows of a numbering;
a later one that starts from it gives known rows their old codes and new rows further ones. Small
numberings run in a Python dict, with the same codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from novum.numerics import Codes, Integers, as_argument, cached_property

# Below this many integers a dict is quicker than loading the kernel.
COMPILED_FROM = 2**15


@dataclass(frozen=True, eq=False)
class Rows:
    """Row i is `values[starts[i]:starts[i + 1]]`."""

    starts: Integers
    values: Codes

    def __len__(self) -> int:
        return len(self.starts) - 1


class _Slots(NamedTuple):
    """Hash table of a numbering: code + 1 in each slot, 0 in free ones; the hash of each code."""

    slots: Codes
    hashes: Codes


@dataclass(frozen=True, eq=False)
class RowTable:
    """The distinct rows of a numbering, in the order of their codes."""

    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def codes(self) -> dict[bytes, int]:
        starts, content = self.rows.starts.tolist(), self.rows.values.tobytes()
        # Four bytes a number.
        return {content[4 * a : 4 * b]: i for i, (a, b) in enumerate(pairwise(starts))}

    @cached_property
    def slots(self) -> _Slots:
        return _compiled(self.rows, EMPTY)[2]


EMPTY = RowTable(Rows(np.zeros(1, np.int64), np.empty(0, np.int32)))


def rows_of(matrix: Codes) -> Rows:
    """The rows of a matrix."""
    n, width = matrix.shape
    return Rows(np.arange(n + 1, dtype=np.int64) * width, np.ascontiguousarray(matrix).ravel())


def numbered(rows: Rows, known: RowTable = EMPTY, work: int = 0) -> tuple[Codes, RowTable]:
    """The code of each row, and the table of all rows that have a code now.

    Parameters
    ----------
    rows : Rows
    known : RowTable
        Rows that have codes already.
    work : int
        Size of the work that this is a small part of, if any: the kernel is loaded once for all.

    Examples
    --------
    >>> codes, table = numbered(rows_of(np.array([[3, 1], [2, 2], [3, 1]], np.int32)))
    >>> codes.tolist(), len(table)
    ([0, 1, 0], 2)
    >>> numbered(rows_of(np.array([[4, 4], [2, 2]], np.int32)), table)[0].tolist()
    [2, 1]
    """
    if max(len(rows.values), work) < COMPILED_FROM:
        return _by_dict(rows, known)
    codes, table, _ = _compiled(rows, known)
    return codes, table


def _by_dict(rows: Rows, known: RowTable) -> tuple[Codes, RowTable]:
    old, new = known.codes, dict[bytes, int]()
    content, starts = rows.values.tobytes(), rows.starts.tolist()
    codes = np.empty(len(rows), np.int32)
    for i in range(len(rows)):
        key = content[4 * starts[i] : 4 * starts[i + 1]]
        code = old.get(key)
        codes[i] = new.setdefault(key, len(old) + len(new)) if code is None else code
    lengths = np.fromiter((len(key) // 4 for key in new), np.int64, len(new))
    more = Rows(known.rows.starts[-1] + np.cumsum(lengths), np.frombuffer(b"".join(new), np.int32))
    return codes, RowTable(
        Rows(
            np.concatenate([known.rows.starts, more.starts]),
            np.concatenate([known.rows.values, more.values]),
        )
    )


def _compiled(rows: Rows, known: RowTable) -> tuple[Codes, RowTable, _Slots]:
    from novum.kernels.graphs.numbering_kernels import number

    n_known, n_most = len(known), len(known) + len(rows)
    # At most half of the slots are taken, so that a search ends after a few steps.
    n_slots = 1 << max(4, (2 * n_most - 1).bit_length())
    slots, hashes = np.zeros(n_slots, np.int32), np.empty(n_most, np.int32)
    starts = np.empty(n_most + 1, np.int64)
    starts[0] = 0
    values = np.empty(len(known.rows.values) + len(rows.values), np.int32)
    if n_known:
        hashes[:n_known] = known.slots.hashes
        starts[: n_known + 1] = known.rows.starts
        values[: len(known.rows.values)] = known.rows.values
        _enter(known.slots, slots)
    codes = np.empty(len(rows), np.int32)
    given = as_argument(rows.starts, np.int64), as_argument(rows.values, np.int32)
    n = int(number(*given, n_known, slots, hashes, starts, values, codes))
    table = Rows(starts[: n + 1], values[: starts[n]])
    if 2 * n < n_most:
        # What is kept shall not hold the room for rows that were not new.
        table = Rows(table.starts.copy(), table.values.copy())
    return codes, RowTable(table), _Slots(slots, hashes[:n].copy())


def _enter(known: _Slots, out_slots: Codes) -> None:
    """Take known codes into a hash table of another size."""
    from novum.kernels.graphs.numbering_kernels import enter

    if len(known.slots) == len(out_slots):
        out_slots[:] = known.slots
    else:
        enter(as_argument(known.hashes, np.int32), out_slots)
