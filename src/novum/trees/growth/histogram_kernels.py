"""Sums of a node's rows by the code of a column.

A row adds its weight w to the sum of its class, or (w, w y_1, w y_2, ...) for numbers; the sums of
code c stand at `c * n_stats`. Small nodes touch few codes: they are marked in a bitmap, and only
they are visited and cleared. Wide columns, with more than 256 codes, have a bitmap of the words of
their bitmap, and one of the words of that.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics.jit import lean_kernel
from novum.numerics.jit_bits import trailing_zeros

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_SIX = np.uint64(6)
_LOW = np.uint64(63)


@lean_kernel(
    "void(uint8[:, ::1], int32[:, ::1], float64[:, ::1], int32[::1], float64[::1], int64, int64, "
    "int64[::1], int64, int64, boolean, float64[:, ::1])"
)
def fill(
    codes, labels, numbers, rows, weight, start, stop, chosen, n_chosen, n_stats, classes, out
):
    """Adds the rows `start` to `stop` to the histograms of the chosen columns.

    Indices are unsigned, because signed ones are checked for counting from behind.
    """
    width = np.uint64(n_stats)
    n_targets = labels.shape[1] if classes else numbers.shape[1]
    for step in range(stop - start):
        i = np.uint64(start) + np.uint64(step)
        row = np.uint64(rows[i])
        w = weight[i]
        if classes:
            for t in range(n_targets):
                k = np.uint64(labels[row, np.uint64(t)])
                for f in range(n_chosen):
                    slot = np.uint64(f)
                    code = np.uint64(codes[row, np.uint64(chosen[slot])])
                    out[slot, code * width + k] += w
        elif n_targets == 1:
            moment = w * numbers[row, _ZERO]
            for f in range(n_chosen):
                slot = np.uint64(f)
                at = np.uint64(codes[row, np.uint64(chosen[slot])]) * width
                out[slot, at] += w
                out[slot, at + _ONE] += moment
        else:
            for f in range(n_chosen):
                slot = np.uint64(f)
                at = np.uint64(codes[row, np.uint64(chosen[slot])]) * width
                out[slot, at] += w
                for t in range(n_targets):
                    out[slot, at + np.uint64(t + 1)] += w * numbers[row, np.uint64(t)]


@lean_kernel("int64(float64[::1], int64, int64, int64[::1])")
def occupied_by_scan(sums, n_codes, n_stats, out_codes):
    """The codes with rows, ascending, of a histogram that is nearly full; returns how many."""
    count = 0
    for code in range(n_codes):
        base = code * n_stats
        met = False
        for s in range(n_stats):
            met |= sums[base + s] != 0.0
        out_codes[count] = code
        count += met
    return count


@lean_kernel(
    "int64(uint8[:, ::1], int32[::1], int64, int64, int64, int64, uint64[::1], int64[::1])"
)
def occupied_by_bits(codes, rows, start, stop, column, missing, bits, out_codes):
    """The codes that the rows have, ascending, without `missing`; leaves the bitmap empty."""
    j = np.uint64(column)
    for step in range(stop - start):
        i = np.uint64(start) + np.uint64(step)
        code = np.uint64(codes[np.uint64(rows[i]), j])
        bits[code >> _SIX] |= _ONE << (code & _LOW)
    return marked_codes(bits, missing, out_codes)


@lean_kernel("int64(uint64[::1], int64, int64[::1])")
def marked_codes(bits, missing, out_codes):
    """The marked codes, ascending, without `missing`; leaves the bitmap empty."""
    count = 0
    for place in range(4):
        word = bits[place]
        bits[place] = _ZERO
        while word != _ZERO:
            out_codes[count] = place * 64 + trailing_zeros(word)
            count += 1
            word &= word - _ONE
    if count > 0 and out_codes[count - 1] == missing:
        count -= 1
    return count


@lean_kernel(
    "int64(int32[:, ::1], int32[::1], int64, int64, int64, int64, uint64[::1], int64[::1])"
)
def occupied_wide(codes, rows, start, stop, column, missing, bits, out_codes):
    """As `occupied_by_bits` for any number of codes: bitmaps of bitmaps, three deep.

    `bits` holds the bitmap of codes, then from `words` on that of its words, and so on.
    """
    words = (missing >> 6) + 1
    upper = (words >> 6) + 1
    top = words + upper
    tops = (upper >> 6) + 1
    for i in range(start, stop):
        code = np.uint64(codes[rows[i], column])
        word = code >> _SIX
        high = word >> _SIX
        bits[word] |= _ONE << (code & _LOW)
        bits[np.uint64(words) + high] |= _ONE << (word & _LOW)
        bits[np.uint64(top) + (high >> _SIX)] |= _ONE << (high & _LOW)
    count = 0
    for a in range(tops):
        first = bits[top + a]
        bits[top + a] = _ZERO
        while first != _ZERO:
            b = a * 64 + trailing_zeros(first)
            first &= first - _ONE
            second = bits[words + b]
            bits[words + b] = _ZERO
            while second != _ZERO:
                c = b * 64 + trailing_zeros(second)
                second &= second - _ONE
                third = bits[c]
                bits[c] = _ZERO
                while third != _ZERO:
                    out_codes[count] = c * 64 + trailing_zeros(third)
                    count += 1
                    third &= third - _ONE
    if count > 0 and out_codes[count - 1] == missing:
        count -= 1
    return count
