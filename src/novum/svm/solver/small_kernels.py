"""Compiled steps of sequential minimal optimization on whole programs, in double precision.

The same steps as `novum.svm.solver.small.plain_steps`, in the same order of operations, so that
both give the same bits: which of them runs is a question of time only. Extremes are those of
integers in the order of the numbers, which become vector instructions (`smo_kernels`).
"""

from __future__ import annotations

import numpy as np

from novum.numerics import inner_kernel, lean_kernel


@lean_kernel(
    "void(float64[:,::1], int64[::1], float64[:,::1], float64[:,::1], int64[::1], int64, "
    "float64[::1], int64, float64[:,::1], float64[:,::1], int64[::1])"
)
def program_steps(  # type: ignore[no-untyped-def]
    K, objects, terms, out_point, starts, n_groups, tols, max_steps, out_Q, out_work, out_taken
):
    """Steps of each program until no pair of a group violates by more than its tolerance.

    `terms` has the rows linear, lower and upper, `out_point` the coefficients and the gradient,
    which is computed anew from the coefficients before and after the steps. Group `g` lies between
    `starts[g]` and `starts[g + 1]`, and each program has the next `n_groups` of them. Programs
    with a tolerance below zero are left as they are. `out_Q` holds rows of kernel values of a
    program, `out_work` five rows of scratch.
    """
    for program in range(tols.size):
        out_taken[program] = 0
        if tols[program] < 0.0:
            continue
        own = starts[program * n_groups : (program + 1) * n_groups + 1]
        begin, end = own[0], own[n_groups]
        at = objects[begin:end]
        linear, bounds = terms[0, begin:end], (terms[1, begin:end], terms[2, begin:end])
        b, g = out_point[0, begin:end], out_point[1, begin:end]
        # Most rows of kernel values are never asked for.
        is_there = out_work[0]
        for k in range(b.size):
            is_there[k] = 0.0
            out_work[1, k] = K[at[k], at[k]]
            _mark(bounds, b, k, out_work)
        Q = (K, at, out_Q, is_there)
        _refresh(Q, linear, b, g)
        out_taken[program] = _steps(Q, bounds, own, tols[program], max_steps, out_work, b, g)
        _refresh(Q, linear, b, g)


@inner_kernel()
def _gather(Q, i):  # type: ignore[no-untyped-def]
    """Kernel values of a variable with all of its program, when they are first needed."""
    K, at, rows, is_there = Q
    if is_there[i] > 0.0:
        return
    row, source = rows[i], K[at[i]]
    for k in range(at.size):
        row[k] = source[np.uint64(at[k])]
    is_there[i] = 1.0


@inner_kernel()
def _refresh(Q, linear, b, out_g):  # type: ignore[no-untyped-def]
    """The gradient from the coefficients, added up in the order of the variables."""
    for k in range(b.size):
        out_g[k] = linear[k]
    for j in range(b.size):
        if b[j] != 0.0:
            _gather(Q, j)
            row = Q[2][j]
            for k in range(b.size):
                out_g[k] += b[j] * row[k]


@inner_kernel()
def _mark(bounds, b, k, out_work):  # type: ignore[no-untyped-def]
    """Takes a variable that cannot rise out of the search for those, and likewise for falling."""
    out_work[2, k] = 0.0 if b[k] < bounds[1][k] else np.inf
    out_work[3, k] = 0.0 if b[k] > bounds[0][k] else -np.inf


@inner_kernel()
def _key(value):  # type: ignore[no-untyped-def]
    """An integer in the order of the numbers."""
    bits = np.float64(value).view(np.int64)
    return bits ^ ((bits >> np.int64(63)) & np.int64(0x7FFFFFFFFFFFFFFF))


@inner_kernel()
def _of_key(key):  # type: ignore[no-untyped-def]
    bits = key ^ ((key >> np.int64(63)) & np.int64(0x7FFFFFFFFFFFFFFF))
    return np.int64(bits).view(np.float64)


@inner_kernel()
def _steps(Q, bounds, starts, tol, max_steps, out_work, out_b, out_g):  # type: ignore[no-untyped-def]
    """Steps of one program; how many there were."""
    b, g, rows = out_b, out_g, Q[2]
    diagonal, up, low, gains = out_work[1], out_work[2], out_work[3], out_work[4]
    i, j, move = 0, 0, 0.0
    _gather(Q, 0)
    for step in range(max_steps + 1):
        row_i, row_j = rows[i], rows[j]
        worst, worst_key, group = tol, np.int64(0), -1
        for s in range(starts.size - 1):
            least, largest = _key(np.inf), _key(-np.inf)
            o = np.uint64(starts[s] - starts[0])
            for t in range(starts[s + 1] - starts[s]):
                k = o + np.uint64(t)
                value = g[k] + move * (row_i[k] - row_j[k])
                g[k] = value
                rising, falling = _key(value + up[k]), _key(value + low[k])
                least = rising if rising < least else least
                largest = falling if falling > largest else largest
            violation = _of_key(largest) - _of_key(least)
            if violation > worst:
                worst, worst_key, group = violation, least, s
        if group < 0 or step == max_steps:
            return step
        first, size = starts[group] - starts[0], starts[group + 1] - starts[group]
        o, g_i = np.uint64(first), _of_key(worst_key)
        place = size
        for t in range(size):
            k = o + np.uint64(t)
            there = t if g[k] + up[k] == g_i else size
            place = there if there < place else place
        i = first + place
        _gather(Q, i)
        row_i, k_i, best = rows[i], diagonal[i], np.int64(-1)
        for t in range(size):
            k = o + np.uint64(t)
            excess = (g[k] + low[k]) - g_i
            total = k_i + diagonal[k]
            curvature = max(total - 2.0 * row_i[k], 1e-13 * total + 1e-300)
            gain = excess * (excess / curvature)
            gain = gain if excess > 0.0 else 0.0
            gains[k] = gain
            bits = np.float64(gain).view(np.int64)
            best = bits if bits > best else best
        top = np.int64(best).view(np.float64)
        place = size
        for t in range(size):
            k = o + np.uint64(t)
            there = t if gains[k] == top else size
            place = there if there < place else place
        j = first + place
        _gather(Q, j)
        total = k_i + diagonal[j]
        curvature = max(total - 2.0 * row_i[j], 1e-13 * total + 1e-300)
        rise = bounds[1][i] - b[i]
        fall = b[j] - bounds[0][j]
        move = min((g[j] - g_i) / curvature, rise, fall)
        # A bound that is reached is met exactly.
        b[i] = bounds[1][i] if move >= rise else b[i] + move
        b[j] = bounds[0][j] if move >= fall else b[j] - move
        _mark(bounds, b, i, out_work)
        _mark(bounds, b, j, out_work)
    return max_steps
