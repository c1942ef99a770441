"""Rounds of mean field: one block after the other is set to its best given the others.

A factor between blocks has an *axis* for each of them: the distinct places in its table that the
block's cells lead to. `mass` holds, for each axis, the probability of each of its places.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.numerics import inner_kernel, lean_kernel

# cell_starts of blocks, block_axis_starts, block_axes; place_starts and sizes of axes, which_starts
# and which, the place on an axis that each cell leads to
AXES = "UniTuple(int64[::1], 7)"
# axis_starts, table_starts, log_tables; places on axes, factor_of_axis
FACTORS = "Tuple((int64[::1], int64[::1], float64[::1], int64[::1], int64[::1]))"
# digits, logs
WORK = "Tuple((int64[::1], float64[::1]))"


@lean_kernel(f"void(int64, {AXES}, float64[::1], float64[::1])")
def weigh_axes(block, axes, q, out_mass):
    """The probability of each place on the axes of a block."""
    cell_starts, block_axis_starts, block_axes, place_starts, sizes, which_starts, which = axes
    for j in range(block_axis_starts[block], block_axis_starts[block + 1]):
        axis = block_axes[j]
        for k in range(sizes[axis]):
            out_mass[place_starts[axis] + k] = 0.0
        for c in range(cell_starts[block + 1] - cell_starts[block]):
            place = which[which_starts[axis] + c]
            out_mass[place_starts[axis] + place] += q[cell_starts[block] + c]


@inner_kernel()
def expect(factor, kept, factors, place_starts, sizes, mass, work):
    """The log-table of a factor averaged over all axes but one."""
    axis_starts, table_starts, log_tables, places, _ = factors
    digits, out_logs = work
    first, last = axis_starts[factor], axis_starts[factor + 1]
    for k in range(sizes[kept]):
        out_logs[k] = 0.0
    for axis in range(first, last):
        digits[axis - first] = 0
    axis = first
    while axis < last:
        weight = 1.0
        base = table_starts[factor]
        for a in range(first, last):
            if a != kept:
                weight *= mass[place_starts[a] + digits[a - first]]
                base += places[place_starts[a] + digits[a - first]]
        for k in range(sizes[kept]):
            out_logs[k] += weight * log_tables[base + places[place_starts[kept] + k]]
        axis = first
        while axis < last:
            if axis != kept:
                digits[axis - first] += 1
                if digits[axis - first] < sizes[axis]:
                    break
                digits[axis - first] = 0
            axis += 1


@lean_kernel(f"float64({AXES}, {FACTORS}, float64[::1], {WORK}, float64[::1], float64[::1])")
def climb_round(axes, factors, log_inside, work, mass, out_q):
    """Sets every block to its best; returns the bound without constants."""
    cell_starts, block_axis_starts, block_axes, place_starts, sizes, which_starts, which = axes
    axis_starts, factor_of_axis, logs = factors[0], factors[4], work[1]
    for block in range(cell_starts.size - 1):
        first = cell_starts[block]
        n = cell_starts[block + 1] - first
        for c in range(n):
            out_q[first + c] = log_inside[first + c]
        for j in range(block_axis_starts[block], block_axis_starts[block + 1]):
            axis = block_axes[j]
            expect(factor_of_axis[axis], axis, factors, place_starts, sizes, mass, work)
            for c in range(n):
                out_q[first + c] += logs[which[which_starts[axis] + c]]
        top = -np.inf
        for c in range(n):
            top = max(top, out_q[first + c])
        total = 0.0
        for c in range(n):
            out_q[first + c] = math.exp(out_q[first + c] - top)
            total += out_q[first + c]
        for c in range(n):
            out_q[first + c] /= total
        weigh_axes(block, axes, out_q, mass)
    bound = 0.0
    for c in range(out_q.size):
        if out_q[c] > 0.0:
            bound += out_q[c] * (log_inside[c] - math.log(out_q[c]))
    for factor in range(axis_starts.size - 1):
        axis = axis_starts[factor]
        expect(factor, axis, factors, place_starts, sizes, mass, work)
        for k in range(sizes[axis]):
            bound += mass[place_starts[axis] + k] * logs[k]
    return bound
