"""Compiled visits to the columns of a machine with an L1 penalty.

A visit takes a Newton step in one coefficient of

    |u_j| + sum_i c_i max(0, 1 - s_i z_i'u)^2

and halves it until it keeps a part of the decrease it promises. `out_slack` holds `1 - s_i z_i'u`
and moves along. A coefficient at zero whose derivative is smaller than `1 - limit` stays there and
is marked by 0 in `out_keep`; `out_state` gathers the largest violation.
"""

from __future__ import annotations

from novum.numerics import kernel

_ARMIJO = 0.01
_HALVINGS = 30


@kernel("float64(float64, float64, float64)")
def penalized_step(w, gradient, curvature):  # type: ignore[no-untyped-def]
    """The step to the minimum of `|w + d| + gradient d + curvature d^2 / 2`."""
    if gradient + 1.0 <= curvature * w:
        return -(gradient + 1.0) / curvature
    if gradient - 1.0 >= curvature * w:
        return -(gradient - 1.0) / curvature
    return -w


@kernel("float64(float64, float64)")
def column_violation(w, gradient):  # type: ignore[no-untyped-def]
    """How far the derivative is from holding a coefficient where it is."""
    if w > 0.0:
        return abs(gradient + 1.0)
    if w < 0.0:
        return abs(gradient - 1.0)
    return max(abs(gradient) - 1.0, 0.0)


@kernel(
    "void(float64[::1], int32[::1], int64[::1], float64[::1], float64[::1], float64[::1], "
    "int64[::1], float64, float64[::1], float64[::1], uint8[::1], float64[::1])"
)
def column_visits(  # type: ignore[no-untyped-def]
    data,
    indices,
    starts,
    side,
    weight,
    curvatures,
    order,
    limit,
    out_u,
    out_slack,
    out_keep,
    out_state,
):
    """Visit columns in the order given; `curvatures` are those with all rows counted."""
    for k in range(order.size):
        j = order[k]
        w = out_u[j]
        gradient = 0.0
        curvature = 0.0
        for e in range(starts[j], starts[j + 1]):
            i = indices[e]
            r = out_slack[i]
            if r > 0.0:
                x = 2.0 * weight[i] * data[e]
                gradient -= x * side[i] * r
                curvature += x * data[e]
        out_keep[k] = 0 if w == 0.0 and abs(gradient) < 1.0 - limit else 1
        out_state[0] = max(out_state[0], column_violation(w, gradient))
        # Where no row counts the loss is flat, and the penalty alone would divide by zero.
        step = penalized_step(w, gradient, max(curvature, 1e-12 * curvatures[j]))
        if step == 0.0 or curvatures[j] == 0.0:
            continue
        promise = abs(w + step) - abs(w) + gradient * step
        length = 1.0
        for _ in range(_HALVINGS):
            d = length * step
            change = abs(w + d) - abs(w)
            for e in range(starts[j], starts[j + 1]):
                i = indices[e]
                r = out_slack[i]
                new = r - side[i] * data[e] * d
                if r > 0.0:
                    change -= weight[i] * r * r
                if new > 0.0:
                    change += weight[i] * new * new
            if change <= _ARMIJO * length * promise:
                out_u[j] = w + d
                for e in range(starts[j], starts[j + 1]):
                    out_slack[indices[e]] -= side[indices[e]] * data[e] * d
                break
            length *= 0.5
