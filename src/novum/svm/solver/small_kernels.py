"""Compiled steps of sequential minimal optimization on whole programs, in double precision.

The same steps as `novum.svm.solver.small.plain_steps`, in the same order of operations, so that
both give the same bits: which of them runs is a question of time only.
"""

from __future__ import annotations

import numpy as np

from novum.numerics import inner_kernel, lean_kernel


@lean_kernel(
    "void(float64[:,::1], int64[::1], float64[:,::1], float64[:,::1], int64[::1], int64, "
    "float64[::1], int64, float64[:,::1], int64[::1])"
)
def program_steps(  # type: ignore[no-untyped-def]
    K, objects, terms, out_point, starts, n_groups, tols, max_steps, out_Q, out_taken
):
    """Steps of each program until no pair of a group violates by more than its tolerance.

    `terms` has the rows linear, lower and upper, `out_point` the coefficients and the gradient,
    which is computed anew from the coefficients before and after the steps. Group `g` lies between
    `starts[g]` and `starts[g + 1]`, and each program has the next `n_groups` of them. Programs
    with a tolerance below zero are left as they are. `out_Q` holds the kernel values of a program.
    """
    for program in range(tols.size):
        out_taken[program] = 0
        if tols[program] < 0.0:
            continue
        own = starts[program * n_groups : (program + 1) * n_groups + 1]
        begin, end = own[0], own[n_groups]
        n = end - begin
        at = objects[begin:end]
        for i in range(n):
            row, source = out_Q[i], K[at[i]]
            for k in range(n):
                row[k] = source[np.uint64(at[k])]
        linear, lower, upper = terms[0, begin:end], terms[1, begin:end], terms[2, begin:end]
        b, g = out_point[0, begin:end], out_point[1, begin:end]
        _refresh(out_Q, linear, b, g)
        tol = tols[program]
        out_taken[program] = _steps(out_Q, lower, upper, own, begin, tol, max_steps, b, g)
        _refresh(out_Q, linear, b, g)


@inner_kernel()
def _refresh(Q, linear, b, out_g):  # type: ignore[no-untyped-def]
    """The gradient from the coefficients, added up in the order of the variables."""
    for k in range(b.size):
        out_g[k] = linear[k]
    for j in range(b.size):
        if b[j] != 0.0:
            row = Q[j]
            for k in range(b.size):
                out_g[k] += b[j] * row[k]


@inner_kernel()
def _steps(Q, lower, upper, starts, begin, tol, max_steps, out_b, out_g):  # type: ignore[no-untyped-def]
    """Steps of one program; how many there were."""
    b, g = out_b, out_g
    for step in range(max_steps):
        worst = tol
        i = -1
        group = 0
        for s in range(starts.size - 1):
            least, largest, place = np.inf, -np.inf, -1
            for k in range(starts[s] - begin, starts[s + 1] - begin):
                value = g[np.uint64(k)]
                if value < least and b[np.uint64(k)] < upper[np.uint64(k)]:
                    least = value
                    place = k
                if value > largest and b[np.uint64(k)] > lower[np.uint64(k)]:
                    largest = value
            if largest - least > worst:
                worst = largest - least
                i = place
                group = s
        if i < 0:
            return step
        row_i = Q[i]
        k_i, g_i = row_i[i], g[i]
        best, j, steepest = -1.0, -1, 1.0
        for k in range(starts[group] - begin, starts[group + 1] - begin):
            c = np.uint64(k)
            excess = g[c] - g_i
            if excess > 0.0 and b[c] > lower[c]:
                total = k_i + Q[c, c]
                curvature = max(total - 2.0 * row_i[c], 1e-13 * total + 1e-300)
                gain = excess * (excess / curvature)
                if gain > best:
                    best = gain
                    j = k
                    steepest = curvature
        rise = upper[i] - b[i]
        fall = b[j] - lower[j]
        move = min((g[j] - g_i) / steepest, rise, fall)
        # A bound that is reached is met exactly.
        b[i] = upper[i] if move >= rise else b[i] + move
        b[j] = lower[j] if move >= fall else b[j] - move
        row_j = Q[j]
        for k in range(b.size):
            g[k] += move * (row_i[k] - row_j[k])
    return max_steps
