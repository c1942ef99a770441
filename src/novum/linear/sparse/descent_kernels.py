"""Compiled coordinate descent: on cross-products of a working set, and on the columns themselves.

A visit puts one coefficient at the minimum of the penalized loss along it,

    b_j <- S(A_j'r + |A_j|^2 b_j, l1_j) / (|A_j|^2 + l2_j),      S(z, l) = sign(z) max(|z| - l, 0).

On the cross-products `G = A'A` of a working set of k columns a move costs O(k) and no row is
touched: `q = A'r` moves along, and so do the squares of the residual, `|r|^2 = |t|^2 - b'(c + q)`
with `c = A't`. Coefficients and `q` are affine in each other, so that both are extrapolated with
the same factors (Anderson acceleration, Bertrand and Massias 2021).

Sums over a column of cells are reassociated: the passes over dense columns then take a third of
the time (`benchmarks/linear/bench_lasso.py`).
"""

from __future__ import annotations

import numpy as np

from novum.numerics import fast_kernel, inner_kernel, kernel

# Passes from which one extrapolation is made.
MEMORY = 5
# Conjugate gradients of one step.
ITERATIONS = 15


@inner_kernel()
def soft(z, level, positive):  # type: ignore[no-untyped-def]
    """Soft thresholding, from one side if coefficients are positive."""
    if z > level:
        return z - level
    if z < -level and not positive:
        return z + level
    return 0.0


@inner_kernel()
def gram_value(total, c, l1, l2, b, q):  # type: ignore[no-untyped-def]
    """`|r|^2 / 2` and the penalty."""
    inner = 0.0
    penalty = 0.0
    for j in range(b.size):
        inner += b[j] * (c[j] + q[j])
        penalty += l1[j] * abs(b[j]) + 0.5 * l2[j] * b[j] * b[j]
    return 0.5 * (total - inner) + penalty


@inner_kernel()
def gram_gap(total, c, l1, l2, positive, b, q):  # type: ignore[no-untyped-def]
    """A duality gap of the problem of the working set; see `objective.duality`."""
    inner = 0.0
    fit = 0.0
    for j in range(b.size):
        inner += b[j] * (c[j] + q[j])
        fit += b[j] * q[j]
    square = max(total - inner, 0.0)
    # With a square in every penalty no multiple of the residual is better than itself at the end.
    scale = 1.0
    for j in range(b.size):
        if l2[j] == 0.0 and square > 0.0:
            scale = max(0.0, 1.0 + fit / square)
            break
    for j in range(b.size):
        size = q[j] if positive else abs(q[j])
        if l2[j] == 0.0 and scale * size > l1[j]:
            scale = l1[j] / size
    gap = 0.5 * (1.0 - scale) * (1.0 - scale) * square
    for j in range(b.size):
        z = scale * q[j]
        gap += l1[j] * abs(b[j]) - b[j] * z + 0.5 * l2[j] * b[j] * b[j]
        over = (z if positive else abs(z)) - l1[j]
        if l2[j] > 0.0 and over > 0.0:
            gap += 0.5 * over * over / l2[j]
    return gap


@inner_kernel()
def extrapolation(steps, system, factors):  # type: ignore[no-untyped-def]
    """Factors that sum to one and make the combined step shortest; False if there are none."""
    m = factors.size
    trace = 0.0
    for a in range(m):
        for b in range(a + 1):
            s = 0.0
            for j in range(steps.shape[1]):
                s += (steps[a + 1, j] - steps[a, j]) * (steps[b + 1, j] - steps[b, j])
            system[a, b] = s
            system[b, a] = s
        trace += system[a, a]
        factors[a] = 1.0
    if not trace > 0.0:
        return False
    for a in range(m):
        system[a, a] += 1e-12 * trace
    # Elimination; the system is positive definite.
    for a in range(m):
        if not system[a, a] > 0.0:
            return False
        for i in range(a + 1, m):
            ratio = system[i, a] / system[a, a]
            for k in range(a, m):
                system[i, k] -= ratio * system[a, k]
            factors[i] -= ratio * factors[a]
    total = 0.0
    for a in range(m - 1, -1, -1):
        for k in range(a + 1, m):
            factors[a] -= system[a, k] * factors[k]
        factors[a] /= system[a, a]
        total += factors[a]
    if not abs(total) > 1e-30:
        return False
    for a in range(m):
        factors[a] /= total
    return True


@inner_kernel()
def accelerate(total, c, l1, l2, positive, steps, products, work, out_b, out_q):  # type: ignore[no-untyped-def]
    """Takes the extrapolated coefficients if they are better."""
    m = MEMORY
    system = work[: m * m].reshape((m, m))
    factors = work[m * m : m * m + m]
    if not extrapolation(steps, system, factors):
        return
    k = out_b.size
    b = work[m * m + m : m * m + m + k]
    q = work[m * m + m + k : m * m + m + 2 * k]
    for j in range(k):
        b[j] = 0.0
        q[j] = 0.0
    for a in range(m):
        for j in range(k):
            b[j] += factors[a] * steps[a + 1, j]
            q[j] += factors[a] * products[a + 1, j]
    if positive:
        for j in range(k):
            if b[j] < 0.0:
                return
    if gram_value(total, c, l1, l2, b, q) < gram_value(total, c, l1, l2, out_b, out_q):
        for j in range(k):
            out_b[j] = b[j]
            out_q[j] = q[j]


@kernel(
    "int64(float64[:, ::1], float64[::1], float64[::1], float64[::1], boolean, float64, float64, "
    "int64, float64[:, ::1], float64[:, ::1], float64[::1], float64[::1], float64[::1])"
)
def gram_descent(  # type: ignore[no-untyped-def]
    G, c, l1, l2, positive, total, target, rounds, steps, products, work, out_b, out_q
):
    """Rounds of `MEMORY` passes until the gap of the working set is at most `target`.

    Returns the number of passes, negative if the gap was not reached.
    """
    k = out_b.size
    for done in range(rounds):
        for passed in range(MEMORY + 1):
            for j in range(k):
                steps[passed, j] = out_b[j]
                products[passed, j] = out_q[j]
            if passed == MEMORY:
                break
            for j in range(k):
                curvature = G[j, j] + l2[j]
                if not curvature > 0.0:
                    continue
                old = out_b[j]
                new = soft(out_q[j] + G[j, j] * old, l1[j], positive) / curvature
                move = new - old
                if move != 0.0:
                    out_b[j] = new
                    for i in range(k):
                        out_q[i] -= move * G[j, i]
        accelerate(total, c, l1, l2, positive, steps, products, work, out_b, out_q)
        if gram_gap(total, c, l1, l2, positive, out_b, out_q) <= target:
            return (done + 1) * MEMORY
    return -rounds * MEMORY


# --- On the columns -------------------------------------------------------------------------------


@fast_kernel("void(float64[:, ::1], float64[::1], int64[::1], float64[::1])")
def dense_products(cells, r, chosen, out):  # type: ignore[no-untyped-def]
    """`A_j'r` of some columns."""
    for k in range(chosen.size):
        j = chosen[k]
        s = 0.0
        for i in range(r.size):
            s += cells[j, i] * r[i]
        out[k] = s


@fast_kernel(
    "void(float64[:, ::1], float64[::1], int64[::1], float64[::1], float64[::1], boolean, "
    "float64[::1], float64[::1])"
)
def dense_pass(cells, squares, chosen, l1, l2, positive, out_b, out_r):  # type: ignore[no-untyped-def]
    """One pass over some columns."""
    for k in range(chosen.size):
        j = chosen[k]
        curvature = squares[j] + l2[j]
        if not curvature > 0.0:
            continue
        s = 0.0
        for i in range(out_r.size):
            s += cells[j, i] * out_r[i]
        move = soft(s + squares[j] * out_b[j], l1[j], positive) / curvature - out_b[j]
        if move != 0.0:
            out_b[j] += move
            for i in range(out_r.size):
                out_r[i] -= move * cells[j, i]


@kernel("void(float64[::1], int32[::1], int64[::1], float64[::1], int64[::1], float64[::1])")
def sparse_products(data, indices, starts, r, chosen, out):  # type: ignore[no-untyped-def]
    """`V_j'r` of some columns."""
    for k in range(chosen.size):
        s = 0.0
        for e in range(starts[chosen[k]], starts[chosen[k] + 1]):
            s += data[e] * r[indices[e]]
        out[k] = s


@kernel("void(float64[::1], int32[::1], int64[::1], float64[::1], int64[::1], float64[::1])")
def sparse_scores(data, indices, starts, b, chosen, out):  # type: ignore[no-untyped-def]
    """Adds `V_j b_j` of some columns."""
    for k in range(chosen.size):
        j = chosen[k]
        if b[j] != 0.0:
            for e in range(starts[j], starts[j + 1]):
                out[indices[e]] += b[j] * data[e]


@kernel(
    "float64(float64[::1], int32[::1], int64[::1], float64[::1], float64[::1], int64[::1], "
    "float64[::1], float64[::1], boolean, float64[::1], float64[::1])"
)
def sparse_pass(  # type: ignore[no-untyped-def]
    data, indices, starts, inner, squares, chosen, l1, l2, positive, out_b, out_r
):
    """One pass over columns `V - v m'`; returns what is still to be added to `r` along `v`."""
    offset = 0.0
    for k in range(chosen.size):
        j = chosen[k]
        curvature = squares[j] + l2[j]
        if not curvature > 0.0:
            continue
        s = offset * inner[j]
        for e in range(starts[j], starts[j + 1]):
            s += data[e] * out_r[indices[e]]
        move = soft(s + squares[j] * out_b[j], l1[j], positive) / curvature - out_b[j]
        if move != 0.0:
            out_b[j] += move
            offset += move * inner[j]
            for e in range(starts[j], starts[j + 1]):
                out_r[indices[e]] -= move * data[e]
    return offset


@kernel("void(float64[::1], int32[::1], int64[::1], float64[::1], float64[::1])")
def sparse_squares(data, indices, starts, weight, out):  # type: ignore[no-untyped-def]
    """`sum_i w_i V_ij^2` of every column."""
    for j in range(out.size):
        s = 0.0
        for e in range(starts[j], starts[j + 1]):
            s += weight[indices[e]] * data[e] * data[e]
        out[j] = s


# --- Newton's step on the columns -----------------------------------------------------------------
#
# The quadratic function of a step has residuals `r - d (V x + x0)`. Descent alone is slow on it
# where columns have a direction in common, as counts of words have: a word of every text is an
# intercept in disguise. Conjugate gradients end such directions in a few steps, but know no
# corners. So passes over the columns find which coefficients are zero, and conjugate gradients the
# others (`benchmarks/linear/bench_logistic.py`: a seventh of the time of passes alone).


@inner_kernel()
def model_pass(data, indices, starts, d, chosen, l1, l2, positive, h, out_b, out_r):  # type: ignore[no-untyped-def]
    """One pass; writes the curvatures `h` (k,) too.

    Returns how many coefficients became or left zero, and the largest change of a slope, as a share
    of the penalty's.
    """
    changes = 0
    largest = 0.0
    for k in range(chosen.size):
        first, end = starts[chosen[k]], starts[chosen[k] + 1]
        s = 0.0
        curvature = 0.0
        for e in range(first, end):
            s += data[e] * out_r[indices[e]]
            curvature += d[indices[e]] * data[e] * data[e]
        h[k] = curvature + l2[k]
        if not h[k] > 0.0:
            continue
        old = out_b[k]
        new = soft(s + curvature * old, l1[k], positive) / h[k]
        move = new - old
        if move != 0.0:
            out_b[k] = new
            changes += (new == 0.0) != (old == 0.0)
            level = l1[k] + l2[k] * abs(new)
            if h[k] * abs(move) > largest * level:
                largest = h[k] * abs(move) / level
            for e in range(first, end):
                out_r[indices[e]] -= d[indices[e]] * data[e] * move
    return changes, largest


@inner_kernel()
def model_value(d, l1, l2, b, r):  # type: ignore[no-untyped-def]
    """The quadratic function and the penalty, up to a constant."""
    value = 0.0
    for i in range(r.size):
        value += r[i] * r[i] / d[i]
    value *= 0.5
    for k in range(b.size):
        value += l1[k] * abs(b[k]) + 0.5 * l2[k] * b[k] * b[k]
    return value


@inner_kernel()
def column_products(cells, columns, v, out):  # type: ignore[no-untyped-def]
    """`V_j'v` of some columns; four sums at a time, since each waits for its last addition."""
    data, indices, starts = cells
    for k in range(columns.size):
        e, end = starts[columns[k]], starts[columns[k] + 1]
        s0 = s1 = s2 = s3 = 0.0
        while e + 3 < end:
            s0 += data[e] * v[indices[e]]
            s1 += data[e + 1] * v[indices[e + 1]]
            s2 += data[e + 2] * v[indices[e + 2]]
            s3 += data[e + 3] * v[indices[e + 3]]
            e += 4
        while e < end:
            s0 += data[e] * v[indices[e]]
            e += 1
        out[k] = (s0 + s1) + (s2 + s3)


@inner_kernel(allocates=True)
def signed_step(  # type: ignore[no-untyped-def]
    cells, d, total, columns, b, penalties, h, target, out_step, out_along, out_r
):
    """Conjugate gradients over coefficients `b` as if their signs could not change.

    The diagonal `h` of the curvature is the preconditioner. Ends where no slope is more than
    `target` times that of the penalty, or a fiftieth of the first. Writes the steps of the
    coefficients, of the scores (`out_along`) and the residuals; returns the step of the intercept.
    """
    (data, indices, starts), (l1, l2) = cells, penalties
    direction, slope = np.empty(b.size), np.empty(b.size)
    image, v = np.empty(b.size), np.empty(out_r.size)
    column_products(cells, columns, out_r, slope)
    free = out_r.sum() if total > 0.0 else 0.0
    free_direction = free / total if total > 0.0 else 0.0
    product = free * free_direction
    first = 0.0
    for k in range(columns.size):
        slope[k] -= (l1[k] if b[k] > 0.0 else -l1[k]) + l2[k] * b[k]
        direction[k] = slope[k] / h[k]
        product += slope[k] * direction[k]
        out_step[k] = 0.0
        level = l1[k] + l2[k] * abs(b[k])
        if abs(slope[k]) > first * level:
            first = abs(slope[k]) / level
    out_along[:] = 0.0
    offset = 0.0
    for _ in range(ITERATIONS):
        v[:] = free_direction
        for k in range(columns.size):
            move = direction[k]
            for e in range(starts[columns[k]], starts[columns[k] + 1]):
                v[indices[e]] += move * data[e]
        curvature = 0.0
        for i in range(v.size):
            curvature += d[i] * v[i] * v[i]
        for k in range(columns.size):
            curvature += l2[k] * direction[k] * direction[k]
        if not (product > 0.0 and curvature > 0.0):
            break
        length = product / curvature
        mass = 0.0
        for i in range(v.size):
            out_along[i] += length * v[i]
            v[i] *= d[i]
            out_r[i] -= length * v[i]
            mass += v[i]
        column_products(cells, columns, v, image)
        offset += length * free_direction
        free = free - length * mass if total > 0.0 else 0.0
        before = product
        product = free * free / total if total > 0.0 else 0.0
        largest = 0.0
        for k in range(columns.size):
            out_step[k] += length * direction[k]
            slope[k] -= length * (image[k] + l2[k] * direction[k])
            product += slope[k] * slope[k] / h[k]
            level = l1[k] + l2[k] * abs(b[k])
            if abs(slope[k]) > largest * level:
                largest = abs(slope[k]) / level
        if largest <= max(target, 0.02 * first):
            break
        ratio = product / before
        free_direction = (free / total if total > 0.0 else 0.0) + ratio * free_direction
        for k in range(columns.size):
            direction[k] = slope[k] / h[k] + ratio * direction[k]
    return offset


@kernel(
    "float64(float64[::1], int32[::1], int64[::1], float64[::1], float64, int64[::1], "
    "float64[::1], float64[::1], boolean, int64, float64, float64[::1], float64[::1])"
)
def sparse_model_descent(  # type: ignore[no-untyped-def]
    data, indices, starts, d, total, chosen, l1, l2, positive, passes, target, out_b, out_r
):
    """Passes over columns `V` under weights `d`, each followed by a step of what is not zero.

    `out_r` are residuals of the quadratic function, `total` the sum of the weights, 0 without an
    intercept. Ends where a pass changes slopes by `target` times those of the penalty, or by a
    third of what the first did. Steps are left out while passes change many zeros. A coefficient
    whose sign a step would change stops at zero; where that is no gain the whole step stops at the
    first of them. Returns the move of the intercept.
    """
    n, h, cells = out_r.size, np.empty(chosen.size), (data, indices, starts)
    along, r = np.empty(n), np.empty(n)
    offset, first = 0.0, 0.0
    for done in range(passes):
        changes, largest = model_pass(
            data, indices, starts, d, chosen, l1, l2, positive, h, out_b, out_r
        )
        if total > 0.0:
            move = out_r.sum() / total
            offset += move
            for i in range(n):
                out_r[i] -= d[i] * move
        if done == 0:
            first = largest
        elif largest <= max(target, first / 3.0):
            break
        active = np.flatnonzero(out_b)
        m = active.size
        if m == 0 or 4 * changes > m:
            continue
        columns, b = chosen[active], out_b[active]
        before = model_value(d, l1, l2, out_b, out_r)
        r[:] = out_r
        step, penalties = np.empty(m), (l1[active], l2[active])
        free = signed_step(
            cells, d, total, columns, b, penalties, h[active], target, step, along, out_r
        )
        length = 1.0
        for a in range(m):
            end = b[a] + step[a]
            out_b[active[a]] = end
            if b[a] * end < 0.0:
                length = min(length, -b[a] / step[a])
                out_b[active[a]] = 0.0
                for e in range(starts[columns[a]], starts[columns[a] + 1]):
                    out_r[indices[e]] += d[indices[e]] * data[e] * end
        if length < 1.0 and model_value(d, l1, l2, out_b, out_r) > before:
            for a in range(m):
                out_b[active[a]] = b[a] + length * step[a]
            for i in range(n):
                out_r[i] = r[i] - length * d[i] * along[i]
            free *= length
        offset += free
    return offset
