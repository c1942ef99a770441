"""The probability of rows under all orders at once, compiled; see `averaged_network`."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.graphical.learning.exact_kernels import without
from novum.numerics import kernel, trailing_zeros


@kernel(
    "void(int64[::1], int64[::1], int64[::1], float64[::1], int64[::1], float64[:, :, ::1], "
    "float64[:, ::1], int32[:, ::1], int64, int64, float64[::1])"
)
def averaged_rows(starts, sets, firsts, cells, cards, keeping, last, rows, begin, end, out_chances):
    """P(row | table) of whole rows.

    `keeping[v, bit, S]` is the weight of the sets of parents with `bit` among those inside S,
    `last[S, v]` that of v being the last of S.
    """
    d = cards.size
    half = 1 << (d - 1)
    inside, forward = np.empty((d, half)), np.empty(2 * half)
    for r in range(begin, end):
        row = rows[r]
        for v in range(d):
            own = inside[v]
            own[:] = 0.0
            for f in range(starts[v], starts[v + 1]):
                cell, word = 0, np.uint64(sets[f])
                while word != 0:
                    bit = trailing_zeros(word)
                    word &= word - np.uint64(1)
                    parent = bit if bit < v else bit + 1
                    cell = cell * cards[parent] + row[parent]
                own[sets[f]] = cells[firsts[f] + cell * cards[v] + row[v]]
            for bit in range(d - 1):
                step, shares = 1 << bit, keeping[v, bit]
                for block in range(step, half, 2 * step):
                    for place in range(block, block + step):
                        share = shares[place]
                        own[place] = share * own[place] + (1.0 - share) * own[place - step]
        forward[0] = 1.0
        for code in range(1, 2 * half):
            total = 0.0
            for v in range(d):
                if code >> v & 1:
                    total += last[code, v] * forward[code & ~(1 << v)] * inside[v, without(code, v)]
            forward[code] = total
        out_chances[r] = forward[2 * half - 1]
