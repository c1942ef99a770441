"""Codes of numeric cells by a branch-free binary search over at most 255 edges."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics import kernel


@kernel(
    "void(float64[:, ::1], float64[:, ::1], boolean[::1], int64[::1], uint8, int64, int64, "
    "uint8[:, ::1])"
)
def narrow_codes(cells, edges, nominal, n_codes, missing, start, stop, out):
    """Codes of the rows `start` to `stop`; `edges` is padded with infinity to 256 a column.

    The code of x is the number of edges below it: the search halves a range of 256 in 8 steps.
    """
    n_columns = cells.shape[1]
    for row in range(start, stop):
        for j in range(n_columns):
            x = cells[row, j]
            if nominal[j]:
                known = 0.0 <= x < n_codes[j]
                out[row, j] = int(x) if known else missing
                continue
            place = 128 if edges[j, 127] < x else 0
            place += 64 if edges[j, place + 63] < x else 0
            place += 32 if edges[j, place + 31] < x else 0
            place += 16 if edges[j, place + 15] < x else 0
            place += 8 if edges[j, place + 7] < x else 0
            place += 4 if edges[j, place + 3] < x else 0
            place += 2 if edges[j, place + 1] < x else 0
            place += 1 if edges[j, place] < x else 0
            out[row, j] = place if x == x else missing


@kernel("void(uint8[:, ::1], float64[:, ::1], uint8, float64[:, ::1], float64[:, ::1])")
def code_ranges(codes, cells, missing, out_low, out_high):
    """The least and the largest cell of every code."""
    for row in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            c = codes[row, j]
            if c != missing:
                x = cells[row, j]
                out_low[j, c] = min(out_low[j, c], x)
                out_high[j, c] = max(out_high[j, c], x)
