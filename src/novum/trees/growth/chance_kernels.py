"""Chance in kernels: draws of columns and cuts from an explicit state.

The state is that of a 64-bit xorshift generator (Vigna 2016, xorshift64*), set from a stream of
`novum.core.randomness`; a draw below n multiplies its upper 32 bits by n.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics.jit import lean_kernel
from novum.trees.growth.growing_columns import COLUMNS, MAX_CUTS, RANDOM_CUT, RULES, WORK


@lean_kernel("int64(uint64[::1], int64)")
def draw(state, n):
    """An integer from 0 to n - 1; `state` is that of a 64-bit xorshift generator."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    mixed = (x * np.uint64(2685821657736338717)) >> np.uint64(32)
    return np.int64((mixed * np.uint64(n)) >> np.uint64(32))


@lean_kernel("void(uint64[::1], int64, int64, boolean[::1])")
def close_all_but(state, n_places, n_open, out_closed):
    """Leaves `n_open` of the places open, each choice of them equally likely."""
    wanted = n_open
    for i in range(n_places):
        opened = draw(state, n_places - i) < wanted
        out_closed[i] = not opened
        wanted -= opened


@lean_kernel(f"int64({COLUMNS}, {RULES}, {WORK}, int64, int64, boolean)")
def choose_cuts(columns, rules, work, column, n_levels, single):
    """Closes the cuts that are not to be tried; returns 1 if it shuffled the levels.

    Single levels against the rest are one more than cuts of an order.
    """
    _, nominal, _, low, high = columns
    options = rules[1]
    levels, closed, chance = work[2], work[4], work[8]
    for i in range(n_levels + 1):
        closed[i] = False
    n_cuts = n_levels - 1
    if options[RANDOM_CUT] and n_cuts > 0:
        if nominal[column]:
            for i in range(n_levels - 1, 0, -1):
                j = draw(chance, i + 1)
                levels[i], levels[j] = levels[j], levels[i]
            close_all_but(chance, n_cuts, 1, closed)
            return 1
        least = low[column, levels[0]]
        largest = high[column, levels[n_cuts]]
        at = least + draw(chance, 1 << 30) / float(1 << 30) * (largest - least)
        place = 0
        while place < n_cuts - 1 and high[column, levels[place + 1]] <= at:
            place += 1
        for i in range(n_cuts):
            closed[i] = i != place
    elif 0 < options[MAX_CUTS] < n_cuts:
        close_all_but(chance, n_cuts + single, options[MAX_CUTS], closed)
    return 0
