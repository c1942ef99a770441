"""Compiled products of rows by the bits they share and by the lists of the rows with a feature.

A sparse product in general builds the rows of its result by a hash or a sort; here the row of the
result is dense and stays in the cache, so that each shared feature is one addition.
"""

from __future__ import annotations

import numpy as np

from novum.numerics import kernel

_PAIRS = np.uint64(0x5555555555555555)
_FOURS = np.uint64(0x3333333333333333)
_EIGHTS = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)
# Columns of a block that are turned at once: one line of the cache in each of its rows.
_TURNED = 16


@kernel("uint64(uint64)")
def number_of_ones(word):  # type: ignore[no-untyped-def]
    """Bits of a word that are set; compilers know this form and use the processor's own."""
    word = word - ((word >> np.uint64(1)) & _PAIRS)
    word = (word & _FOURS) + ((word >> np.uint64(2)) & _FOURS)
    word = (word + (word >> np.uint64(4))) & _EIGHTS
    return (word * _BYTES) >> np.uint64(56)


@kernel(
    "void(int64[::1], int32[::1], float32[::1], int8[::1], int64, int64[::1], int32[::1], "
    "float32[::1], int64[::1], int32[::1], float32[::1], float32[::1], float32[:,::1])"
)
def add_listed(  # type: ignore[no-untyped-def]
    starts,
    columns,
    counts,
    kinds,
    first,
    list_starts,
    members,
    member_counts,
    high_starts,
    high_members,
    high_counts,
    levels,
    out,
):
    """Add `high_i(u) count_j(u) + low_i(u) high_j(u)` of the rows from `first` on.

    Partners are as many as `out` has columns; lists ascend. `levels` are 0 to 3 in the precision of
    the counts, in which all products are formed.
    """
    width = np.uint64(out.shape[1])
    for i in range(out.shape[0]):
        for e in range(starts[first + i], starts[first + i + 1]):
            u = columns[e]
            if u >= kinds.size or kinds[u] == 3:
                continue
            low = levels[low_part(kinds[u], counts[e])]
            high = counts[e] - low
            if high > 0:
                for m in range(list_starts[u], list_starts[u + 1]):
                    # Unsigned positions need no check for counting from the end.
                    j = np.uint64(members[m])
                    if j >= width:
                        break
                    out[i, j] += high * member_counts[m]
            if low > 0:
                for m in range(high_starts[u], high_starts[u + 1]):
                    j = np.uint64(high_members[m])
                    if j >= width:
                        break
                    out[i, j] += low * high_counts[m]


@kernel("void(uint64[:,::1], uint64[:,::1], uint64[::1], uint64[::1], float32[:,::1])")
def add_shared_bits(bits, partner_words, shifts, shared, out):  # type: ignore[no-untyped-def]
    """Add `2^shift` for every bit that two rows share; words come in fours with one shift.

    Word by word for `shared.size` partners, so that sums stand side by side and none is taken
    across, and the words of these partners stay in the cache for all rows.
    """
    for start in range(0, out.shape[1], shared.size):
        stop = min(start + shared.size, out.shape[1])
        for i in range(out.shape[0]):
            for j in range(stop - start):
                shared[j] = 0
            for four in range(shifts.size):
                w = 4 * four
                shift = shifts[four]
                a, b, c, d = bits[i, w], bits[i, w + 1], bits[i, w + 2], bits[i, w + 3]
                of_a, of_b = partner_words[w, start:stop], partner_words[w + 1, start:stop]
                of_c, of_d = partner_words[w + 2, start:stop], partner_words[w + 3, start:stop]
                for j in range(stop - start):
                    first = number_of_ones(a & of_a[j]) + number_of_ones(b & of_b[j])
                    second = number_of_ones(c & of_c[j]) + number_of_ones(d & of_d[j])
                    shared[j] += (first + second) << shift
            row = out[i, start:stop]
            for j in range(stop - start):
                row[j] += np.float32(np.int64(shared[j]))


@kernel("void(float32[:,::1], int64, float64[:,::1])")
def place_mirrored(block, first, out):  # type: ignore[no-untyped-def]
    """The block, rows from `first` on and columns up to their end, into a symmetric matrix."""
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            out[first + i, j] = block[i, j]
    for start in range(0, first, _TURNED):
        for j in range(start, min(start + _TURNED, first)):
            for i in range(block.shape[0]):
                out[j, first + i] = block[i, j]


# --- Parting --------------------------------------------------------------------------------------


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
