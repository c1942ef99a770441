"""Compiled counting of grams, in one pass over the strings."""

from __future__ import annotations

from novum.numerics import kernel


@kernel(
    "void(int32[::1], int64[::1], int64, int64, int64, int64[::1], int64[::1], int32[::1], "
    "int64[::1], int32[::1], int32[::1])"
)
def count_windows(  # type: ignore[no-untyped-def]
    codes, starts, first, last, base, lengths, offsets, places, out_starts, out_keys, out_counts
):
    """Keys and counts of the grams in strings `first` to `last`, in the order they are met.

    Keys of each length begin at its offset. `places` has a zero for every key, and has it again
    afterwards; while a string is read it says where the count of a key stands.
    """
    for i in range(first, last):
        begin = out_starts[i]
        at = begin
        for number in range(lengths.size):
            length, offset = lengths[number], offsets[number]
            highest = 1
            for _ in range(length - 1):
                highest *= base
            key = 0
            for p in range(starts[i], starts[i + 1]):
                if p - starts[i] >= length:
                    key -= codes[p - length] * highest
                key = key * base + codes[p]
                if p - starts[i] < length - 1:
                    continue
                place = places[offset + key]
                if place == 0:
                    out_keys[at] = offset + key
                    out_counts[at] = 1
                    at += 1
                    places[offset + key] = at - begin
                else:
                    out_counts[begin + place - 1] += 1
        for e in range(begin, at):
            places[out_keys[e]] = 0
        out_starts[i + 1] = at
