"""Compiled descent over groups of coefficients, on cross-products of a working set.

A visit puts the coefficients `b_g` of a group at the minimum along all of them. With
`z = q_g + G_gg b_g` that is zero if `|z| <= l1`, and else

    b_g = (G_gg + l2 I + (l1 / rho) I)^-1 z,        rho = |b_g|,

where in the eigenvectors of `G_gg` (values e, parts z_i) `rho` is the root of

    sum_i z_i^2 / ((e_i + l2) rho + l1)^2 = 1,

a falling convex function, so that Newton's method from zero never passes it.
"""

from __future__ import annotations

from novum.numerics import inner_kernel, kernel

_STEPS = 60


@inner_kernel()
def group_length(z, values, l1, l2):  # type: ignore[no-untyped-def]
    """`rho`, from the parts of `z` along the eigenvectors; its square sum is above `l1^2`."""
    rho = 0.0
    for _ in range(_STEPS):
        value = -1.0
        slope = 0.0
        for i in range(z.size):
            below = (values[i] + l2) * rho + l1
            term = z[i] * z[i] / (below * below)
            value += term
            slope -= 2.0 * term * (values[i] + l2) / below
        if not (value > 1e-15 and slope < 0.0):
            break
        rho -= value / slope
    return rho


@kernel(
    "float64(float64[:, ::1], int64[::1], float64[:, ::1], float64[::1], float64[::1], "
    "float64[::1], int64, float64, float64[::1], float64[::1], float64[::1])"
)
def group_descent(G, starts, vectors, values, l1, l2, passes, target, work, out_b, out_q):  # type: ignore[no-untyped-def]
    """Passes over groups, which stand one behind the other, until moves are below `target`.

    Row j of `vectors` holds the parts of coefficient j in the eigenvectors of its group. Returns
    the largest squared length of a move in the last pass, in the norm of `G`.
    """
    largest = 0.0
    k = out_b.size
    for _ in range(passes):
        largest = 0.0
        for g in range(starts.size - 1):
            first = starts[g]
            size = starts[g + 1] - first
            z = work[:size]
            for i in range(size):
                z[i] = 0.0
            square = 0.0
            for j in range(size):
                s = out_q[first + j]
                for i in range(size):
                    s += G[first + j, first + i] * out_b[first + i]
                square += s * s
                for i in range(size):
                    z[i] += vectors[first + j, i] * s
            level = l1[first]
            ridge = l2[first]
            e = values[first : first + size]
            if square > level * level:
                rho = group_length(z, e, level, ridge)
                for i in range(size):
                    below = (e[i] + ridge) * rho + level
                    z[i] = z[i] * rho / below if below > 0.0 else 0.0
            else:
                for i in range(size):
                    z[i] = 0.0
            moved = 0.0
            for j in range(size):
                new = 0.0
                for i in range(size):
                    new += vectors[first + j, i] * z[i]
                move = new - out_b[first + j]
                if move != 0.0:
                    out_b[first + j] = new
                    moved += move * move * (G[first + j, first + j] + ridge)
                    for i in range(k):
                        out_q[i] -= move * G[first + j, i]
            largest = max(largest, moved)
        if largest <= target:
            break
    return largest
