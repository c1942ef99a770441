"""Compiled parting of counts into dense columns, bits and lists; kinds are those of `Kind`."""

from __future__ import annotations

import numpy as np

from novum.numerics.jit import kernel


@kernel("int64(int64, float32)")
def low_part(kind, count):  # type: ignore[no-untyped-def]
    """What the bits of a feature hold of a count."""
    if kind == 1:
        return 1
    if kind == 2:
        return np.int64(count) & 3
    return 0


@kernel(
    "void(int64[::1], int32[::1], float32[::1], int8[::1], int32[::1], int64, int64, "
    "float32[:,::1], uint64[:,::1], int64[::1])"
)
def fill_parts(  # type: ignore[no-untyped-def]
    starts, columns, counts, kinds, places, one, two, out_dense, out_bits, out_exceeding
):
    """Fill the parts of `SplitRows`, which begin with zeros.

    `one` words are for the features of one bit, before those of the features of two, of which each
    bit has `two` words, twice.
    """
    for i in range(starts.size - 1):
        for e in range(starts[i], starts[i + 1]):
            u = columns[e]
            if u >= kinds.size:
                continue
            kind, place, count = kinds[u], places[u], counts[e]
            if kind == 0:
                continue
            if kind == 3:
                out_dense[i, place] = count
                continue
            low = low_part(kind, count)
            bit = np.uint64(1) << np.uint64(place & 63)
            word = place >> 6
            if kind == 1:
                out_bits[i, word] |= bit
            else:
                word += one
                if low & 1:
                    out_bits[i, word] |= bit
                    out_bits[i, word + two] |= bit
                if low & 2:
                    out_bits[i, word + 2 * two] |= bit
                    out_bits[i, word + 3 * two] |= bit
            if count > low:
                out_exceeding[u] += 1


@kernel(
    "void(int64[::1], int32[::1], float32[::1], int8[::1], int64[::1], int32[::1], float32[::1], "
    "int64[::1], int32[::1], float32[::1])"
)
def fill_lists(  # type: ignore[no-untyped-def]
    starts,
    columns,
    counts,
    kinds,
    out_ends,
    out_members,
    out_counts,
    out_high_ends,
    out_high_members,
    out_high_counts,
):
    """Put every row into the lists of its features; the ends begin where the lists begin."""
    for i in range(starts.size - 1):
        for e in range(starts[i], starts[i + 1]):
            u = columns[e]
            kind, count = kinds[u], counts[e]
            if kind == 3:
                continue
            end = out_ends[u]
            out_members[end] = i
            out_counts[end] = count
            out_ends[u] = end + 1
            if kind == 0:
                continue
            low = low_part(kind, count)
            if count > low:
                end = out_high_ends[u]
                out_high_members[end] = i
                out_high_counts[end] = count - low
                out_high_ends[u] = end + 1
