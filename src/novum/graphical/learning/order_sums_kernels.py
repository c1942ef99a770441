"""Sums over subsets and over orders in logarithms, compiled."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.graphical.learning.exact_kernels import without
from novum.numerics import inner_kernel, kernel

# Logarithms below this change no digit of a sum.
NOTHING = -37.5


@inner_kernel()
def add_logs(a, b):
    """log(exp(a) + exp(b)); most pairs differ so much that the larger is the sum."""
    high, low = (a, b) if a > b else (b, a)
    difference = low - high
    # Also where both are minus infinity.
    if not difference > NOTHING:
        return high
    return high + math.log1p(math.exp(difference))


@kernel("void(float64[::1])", vectorize=False)
def add_subsets(out_sums):
    """Adds the values of all subsets to every set."""
    step = 1
    while step < out_sums.size:
        for begin in range(0, out_sums.size, 2 * step):
            for place in range(begin + step, begin + 2 * step):
                out_sums[place] = add_logs(out_sums[place - step], out_sums[place])
        step *= 2


@kernel("void(int64, int64, float64[:, ::1], float64[::1])", vectorize=False)
def sum_forward(begin, end, inside, out_forward):
    """Orders of the sets `begin` to `end`: every variable as the last one."""
    for code in range(begin, end):
        total = -np.inf
        for v in range(inside.shape[0]):
            if code >> v & 1:
                before = code & ~(1 << v)
                total = add_logs(total, out_forward[before] + inside[v, without(code, v)])
        out_forward[code] = total


@kernel("void(int64, int64, float64[:, ::1], float64[::1])", vectorize=False)
def sum_backward(begin, end, inside, out_backward):
    """What comes after a set: every other variable as the next; the largest sets first."""
    for number in range(begin, end):
        code = out_backward.size - 1 - number
        total = -np.inf
        for v in range(inside.shape[0]):
            if not code >> v & 1:
                total = add_logs(total, out_backward[code | 1 << v] + inside[v, without(code, v)])
        out_backward[code] = total
