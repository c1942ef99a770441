"""Tests of conditional independence on counts, compiled."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.graphical.learning.counts_kernels import DATA, ROOM, count_family
from novum.numerics import inner_kernel, kernel


@inner_kernel()
def statistic_of(counts, strata, n_x, n_y, by_squares, sums):
    """G2 = 2 sum N log(N N.. / (N_x N_y)), or chi-square, over strata, and its degrees of freedom.

    Rows and columns of a stratum that are empty have no freedom.
    """
    total, freedom = 0.0, 0
    for s in range(strata):
        at = s * n_x * n_y
        whole = 0.0
        for i in range(n_x + n_y):
            sums[i] = 0.0
        for i in range(n_x):
            for j in range(n_y):
                n = counts[at + i * n_y + j]
                whole += n
                sums[i] += n
                sums[n_x + j] += n
        if whole == 0.0:
            continue
        used_x, used_y = 0, 0
        for i in range(n_x):
            used_x += sums[i] > 0.0
        for j in range(n_y):
            used_y += sums[n_x + j] > 0.0
        freedom += (used_x - 1) * (used_y - 1)
        for i in range(n_x):
            for j in range(n_y):
                n, product = counts[at + i * n_y + j], sums[i] * sums[n_x + j]
                if product == 0.0:
                    continue
                if by_squares:
                    total += (n - product / whole) ** 2 / (product / whole)
                elif n > 0.0:
                    total += 2.0 * n * math.log(n * whole / product)
    return total, freedom


@kernel(f"UniTuple(float64, 2)({DATA}, {ROOM}, int64[::1], boolean)")
def independence_statistic(data, room, members, by_squares):
    """Statistic and degrees of freedom of the last two members given the others."""
    starts = data[1]
    cells = 1
    for i in range(members.size):
        cells *= starts[members[i] + 1] - starts[members[i]]
    x, y = members[members.size - 2], members[members.size - 1]
    n_x, n_y = starts[x + 1] - starts[x], starts[y + 1] - starts[y]
    count_family(data, members, members.size, cells, room)
    sums = np.empty(n_x + n_y)
    total, freedom = statistic_of(room[1], cells // (n_x * n_y), n_x, n_y, by_squares, sums)
    return total, float(freedom)


@kernel(
    f"int64({DATA}, {ROOM}, int64, int64, int64[::1], int64, float64[::1], int64, boolean, "
    "int64[::1])"
)
def separating_set(data, room, x, y, others, size, critical, most, by_squares, out):
    """Looks for `size` of the others that make x and y independent; whether there are.

    `critical[f]` is the largest statistic of f degrees of freedom that counts as independent; with
    more degrees than listed, or more than `most` cells, a test has no power and is not made.
    """
    starts = data[1]
    n_x, n_y = starts[x + 1] - starts[x], starts[y + 1] - starts[y]
    places = np.arange(size)
    members, sums = np.empty(size + 2, np.int64), np.empty(n_x + n_y)
    n = others.size
    while True:
        cells = n_x * n_y
        for i in range(size):
            v = others[places[i]]
            members[i] = v
            cells = min(cells * (starts[v + 1] - starts[v]), most + 1)
        if cells <= most:
            members[size], members[size + 1] = x, y
            count_family(data, members, size + 2, cells, room)
            total, freedom = statistic_of(room[1], cells // (n_x * n_y), n_x, n_y, by_squares, sums)
            if freedom < critical.size and total <= critical[freedom]:
                for i in range(size):
                    out[i] = others[places[i]]
                return 1
        at = size - 1
        while at >= 0 and places[at] == n - size + at:
            at -= 1
        if at < 0:
            return 0
        places[at] += 1
        for i in range(at + 1, size):
            places[i] = places[i - 1] + 1
