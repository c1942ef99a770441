"""Sums of powers over columns: numbers by their difference, levels by a table, one row to many.

The columns of a row are added in their order, whoever asks, so that all searches see equal bits.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import inner_kernel, kernel

# numbers, expectations against a missing cell (empty: nothing is missing), places in tables
ROWS = "Tuple((float64[:, ::1], float64[:, ::1], int32[:, ::1]))"
# two missing cells of each column, tables of levels one after the other, where each starts, its
# width, weights of all columns
TERMS = "Tuple((float64[::1], float64[::1], int64[::1], int64[::1], float64[::1]))"


@inner_kernel()
def is_equal_or_not(table, own, n_levels):
    """Whether a level is as far from all other levels as from the first of them."""
    other = 1 if own == 0 else 0
    for level in range(n_levels):
        if level != own and table[level] != table[other]:
            return False
    return n_levels > 1


@kernel(f"void({ROWS}, {ROWS}, int32[::1], {TERMS}, float64, boolean, float64[:, ::1])")
def cross_powers(left, right, highest, terms, power, partial, out):
    """Powers of `left` rows against `right` rows, which are given column by column.

    `highest` are the highest places in the tables that the right rows have: beyond the levels are
    those of missing and unseen ones.

    With `partial`, a column counts where both cells are known, and the sum is scaled up by the
    weight of all columns over that of those; infinite where no column counts.
    """
    numbers, expected, places = left
    others, others_expected, others_places = right
    both, tables, starts, widths, weights = terms
    n, p = numbers.shape
    m, q = out.shape[1], places.shape[1]
    complete = expected.size == 0 and others_expected.size == 0
    counted = np.empty(m if partial else 0)
    total = weights.sum()
    for i in range(n):
        row = out[i]
        for t in range(m):
            row[t] = 0.0
        for t in range(counted.size):
            counted[t] = 0.0
        for j in range(p):
            x = numbers[i, j]
            column = others[j]
            if complete and not partial:
                if power == 2.0:
                    for t in range(m):
                        row[t] += (x - column[t]) * (x - column[t])
                elif power == 1.0:
                    for t in range(m):
                        row[t] += abs(x - column[t])
                elif np.isinf(power):
                    for t in range(m):
                        row[t] = max(row[t], abs(x - column[t]))
                else:
                    for t in range(m):
                        row[t] += abs(x - column[t]) ** power
                continue
            x_missing = np.isnan(x)
            for t in range(m):
                z = column[t]
                z_missing = np.isnan(z)
                if partial:
                    if x_missing or z_missing:
                        continue
                    counted[t] += weights[j]
                if x_missing and z_missing:
                    term = both[j]
                elif x_missing:
                    term = others_expected[j, t]
                elif z_missing:
                    term = expected[i, j]
                elif power == 2.0:
                    term = (x - z) * (x - z)
                elif power == 1.0 or np.isinf(power):
                    term = abs(x - z)
                else:
                    term = abs(x - z) ** power
                if np.isinf(power):
                    row[t] = max(row[t], term)
                else:
                    row[t] += term
        for j in range(q):
            width, level = widths[j], places[i, j]
            table = tables[starts[j] + level * width : starts[j] + (level + 1) * width]
            column_places = others_places[j]
            # The place before the last is that of missing cells.
            missing = width - 2
            plain = not partial and not np.isinf(power) and highest[j] < missing
            if plain and is_equal_or_not(table, level, missing):
                # Comparing places takes several at a time, looking them up in a table does not.
                same, other = table[level], table[1 if level == 0 else 0]
                for t in range(m):
                    row[t] += same if column_places[t] == level else other
                continue
            for t in range(m):
                if partial:
                    if level == missing or column_places[t] == missing:
                        continue
                    counted[t] += weights[p + j]
                if np.isinf(power):
                    row[t] = max(row[t], table[column_places[t]])
                else:
                    row[t] += table[column_places[t]]
        for t in range(counted.size):
            if counted[t] == 0.0:
                row[t] = np.inf
            elif not np.isinf(power):
                row[t] *= total / counted[t]
