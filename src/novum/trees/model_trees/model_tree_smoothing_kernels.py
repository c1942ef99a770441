"""Predictions of linear models along the way from a leaf to the root."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics.jit import kernel


@kernel(
    "float64(float64[:, ::1], int64, int64, int64, int64[::1], int32[::1], int32[::1], "
    "float64[:, ::1], float64[::1], float64[:, ::1])"
)
def model_value(cells, row, node, target, start, column, level, coefficient, center, base):
    """What the model of `node` says of a row; a missing cell or an unseen level adds nothing."""
    value = base[node, target]
    for term in range(start[node], start[node + 1]):
        x = cells[row, column[term]]
        code = level[term]
        if x != x or (code >= 0 and x < 0.0):
            continue
        if code >= 0:
            x = 1.0 if x == code else 0.0
        value += coefficient[term, target] * (x - center[term])
    return value


@kernel(
    "void(float64[:, ::1], int64[::1], int32[::1], float64[::1], int32[::1], float64[::1], "
    "float64, int64[::1], int32[::1], int32[::1], float64[:, ::1], float64[::1], "
    "float64[:, ::1], int64, int64, float64[:, ::1])"
)
def smoothed_values(
    cells,
    leaf_start,
    leaf,
    share,
    parent,
    weight,
    smoothing,
    start,
    column,
    level,
    coefficient,
    center,
    base,
    low,
    high,
    out,
):
    """Adds to rows `low` to `high` of `out` the smoothed values of their leaves, by shares."""
    for row in range(low, high):
        for e in range(leaf_start[row], leaf_start[row + 1]):
            for t in range(base.shape[1]):
                node = leaf[e]
                value = model_value(
                    cells, row, node, t, start, column, level, coefficient, center, base
                )
                while smoothing > 0.0 and parent[node] >= 0:
                    above = parent[node]
                    other = model_value(
                        cells, row, above, t, start, column, level, coefficient, center, base
                    )
                    n = weight[node]
                    value += smoothing / (n + smoothing) * (other - value)
                    node = above
                out[row, t] += share[e] * value
