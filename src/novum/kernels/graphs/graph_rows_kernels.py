"""Compiled counting of the features of graphs."""

from __future__ import annotations

from novum.numerics.jit import kernel


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
