"""Compiled numbering of rows of integers, by a hash table with linear probing.

Hashes have 31 bits, so that no product overflows and uncompiled code computes the same.
"""

from __future__ import annotations

from novum.numerics import kernel

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
        match = -1
        while match < 0:
            code = int(out_slots[slot]) - 1
            if code < 0:
                out_slots[slot] = n + 1
                out_hashes[n] = h
                place = out_starts[n]
                for e in range(length):
                    out_values[place + e] = values[begin + e]
                out_starts[n + 1] = place + length
                match = n
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
                    match = code
            slot = (slot + 1) & mask
        out_codes[i] = match
    return n


# --- Counting -------------------------------------------------------------------------------------


@kernel(
    "int64(int32[:,::1], int64[::1], int64[::1], int32[::1], int64[::1], int32[::1], int64[::1])"
)
def count_codes(codes, starts, offsets, out_places, out_starts, out_columns, out_counts):  # type: ignore[no-untyped-def]
    """Counts of the codes of each object over all blocks, as compressed rows; their number.

    `out_places` begins with -1 for each feature: where it stands in the row of the last object
    that had it.
    """
    n = 0
    for g in range(starts.size - 1):
        row = n
        for t in range(codes.shape[0]):
            for v in range(starts[g], starts[g + 1]):
                c = offsets[t] + codes[t, v]
                place = out_places[c]
                if place >= row:
                    out_counts[place] += 1
                else:
                    out_places[c] = n
                    out_columns[n] = c
                    out_counts[n] = 1
                    n += 1
        out_starts[g + 1] = n
    return n


# --- Refinement -----------------------------------------------------------------------------------


@kernel(
    "void(int32[::1], int32[::1], int32[::1], int32[::1], int64[::1], int64[::1], int32[::1], "
    "int32[::1])"
)
def hand_out(color, node, neighbor, kind, out_places, out_ends, out_order, out_values):  # type: ignore[no-untyped-def]
    """Gives each node the colors of its neighbors in ascending order.

    `kind` ascends, and counting keeps the order of arcs of one color, so that the arcs of a node
    ascend by color and then by kind. `out_places` begins where the entries of each node do,
    `out_ends` with zeros.
    """
    for a in range(neighbor.size):
        out_ends[color[neighbor[a]] + 1] += 1
    for c in range(out_ends.size - 1):
        out_ends[c + 1] += out_ends[c]
    # Shifted by one, the ends of colors are the beginnings of the next.
    for a in range(neighbor.size):
        c = color[neighbor[a]]
        out_order[out_ends[c]] = a
        out_ends[c] += 1
    for k in range(out_order.size):
        a = out_order[k]
        v = node[a]
        place = out_places[v]
        if kind[a] != 0:
            out_values[place] = -kind[a]
            place += 1
        out_values[place] = color[neighbor[a]]
        out_places[v] = place + 1
