"""Compiled numbering of rows of integers, by a hash table with linear probing.

Hashes have 31 bits, so that no product overflows and uncompiled code computes the same.
"""

from __future__ import annotations

from novum.numerics.jit import kernel

_FACTOR = 0x9E3779B1
_LOW = 0x7FFFFFFF


@kernel("int64(int32[::1], int64, int64)")
def hash_of(values, begin, end):  # type: ignore[no-untyped-def]
    h = 0x12345 + (end - begin)
    for e in range(begin, end):
        product = ((h ^ int(values[e])) & _LOW) * _FACTOR
        h = (product ^ (product >> 31)) & _LOW
    return h


@kernel("void(int32[::1], int32[::1])")
def enter(hashes, out_slots):  # type: ignore[no-untyped-def]
    """Enters distinct rows, known by their hashes, under the codes 0, 1, 2, ..."""
    mask = out_slots.size - 1
    for code in range(hashes.size):
        slot = int(hashes[code]) & mask
        while out_slots[slot] != 0:
            slot = (slot + 1) & mask
        out_slots[slot] = code + 1


@kernel(
    "int64(int64[::1], int32[::1], int64, int32[::1], int32[::1], int64[::1], int32[::1], "
    "int32[::1])"
)
def number(  # type: ignore[no-untyped-def]
    starts, values, n_known, out_slots, out_hashes, out_starts, out_values, out_codes
):
    """Codes of all rows; `out_*` hold the known rows and get the new ones. Returns their number."""
    mask = out_slots.size - 1
    n = n_known
    for i in range(starts.size - 1):
        begin = starts[i]
        length = starts[i + 1] - begin
        h = hash_of(values, begin, begin + length)
        slot = h & mask
        found = -1
        while found < 0:
            code = int(out_slots[slot]) - 1
            if code < 0:
                out_slots[slot] = n + 1
                out_hashes[n] = h
                place = out_starts[n]
                for e in range(length):
                    out_values[place + e] = values[begin + e]
                out_starts[n + 1] = place + length
                found = n
                n += 1
            elif out_hashes[code] == h:
                place = out_starts[code]
                same = out_starts[code + 1] - place == length
                if same:
                    for e in range(length):
                        if out_values[place + e] != values[begin + e]:
                            same = False
                            break
                if same:
                    found = code
            slot = (slot + 1) & mask
        out_codes[i] = found
    return n
