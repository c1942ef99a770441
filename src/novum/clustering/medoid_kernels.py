"""FasterPAM: exchanges of medoids from the two nearest medoids of every row."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import inner_kernel, kernel


@inner_kernel()
def two_medoids(D, medoids, i, nearest, distances):
    """The nearest two medoids of a row, by their places among the medoids."""
    first, second, a, b = -1, -1, np.inf, np.inf
    for m in range(medoids.size):
        d = D[medoids[m], i]
        if d < a:
            second, b = first, a
            first, a = m, d
        elif d < b:
            second, b = m, d
    nearest[0, i], nearest[1, i] = first, second
    distances[0, i], distances[1, i] = a, b


@inner_kernel()
def count_losses(weights, nearest, distances, losses):
    """What the sum rises by when a medoid goes and none comes."""
    for m in range(losses.size):
        losses[m] = 0.0
    for i in range(weights.size):
        losses[nearest[0, i]] += weights[i] * (distances[1, i] - distances[0, i])


@kernel(
    "void(float64[:, ::1], float64[::1], int64[::1], int64[:, ::1], float64[:, ::1], float64[::1])"
)
def look_up(D, weights, medoids, nearest, distances, losses):
    """The nearest two medoids of all rows, and the losses."""
    for i in range(weights.size):
        two_medoids(D, medoids, i, nearest, distances)
    count_losses(weights, nearest, distances, losses)


@kernel(
    "void(float64[:, ::1], float64[::1], int64, int64, int64[::1], int64[:, ::1], "
    "float64[:, ::1], float64[::1], int64[::1])"
)
def exchange(D, weights, start, stop, medoids, nearest, distances, losses, state):
    """Tries rows `start` to `stop` as medoids; `state` counts exchanges and rows since the last."""
    n, k = weights.size, medoids.size
    rises = np.empty(k)
    for c in range(start, stop):
        if state[1] >= n:
            return
        state[1] += 1
        is_medoid = False
        for m in range(k):
            is_medoid = is_medoid or medoids[m] == c
            rises[m] = losses[m]
        if is_medoid:
            continue
        row = D[c]
        gain, total = 0.0, 0.0
        for i in range(n):
            total += weights[i] * distances[0, i]
            d, near, second = row[i], distances[0, i], distances[1, i]
            if d < near:
                gain += weights[i] * (d - near)
                if k > 1:
                    rises[nearest[0, i]] += weights[i] * (near - second)
            elif d < second and k > 1:
                rises[nearest[0, i]] += weights[i] * (d - second)
        if k == 1:
            rises[0], gain = -total, 0.0
            for i in range(n):
                gain += weights[i] * row[i]
        best = 0
        for m in range(k):
            if rises[m] < rises[best]:
                best = m
        # Less than rounding is no gain, and could go on forever.
        if rises[best] + gain >= -1e-12 * total:
            continue
        # Differences of large distances may be rounding alone: the sum itself is not.
        cost = 0.0
        for i in range(n):
            other = distances[1, i] if nearest[0, i] == best else distances[0, i]
            cost += weights[i] * min(row[i], other)
        if cost >= (1.0 - 1e-12) * total:
            continue
        medoids[best] = c
        state[0] += 1
        state[1] = 0
        for i in range(n):
            d = row[i]
            if nearest[0, i] == best or nearest[1, i] == best or d < distances[1, i]:
                two_medoids(D, medoids, i, nearest, distances)
        count_losses(weights, nearest, distances, losses)
