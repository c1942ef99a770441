"""Principal components by their definitions, term by term: slow oracles for tests and audits."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from novum.numerics import Floats


def scatter(X: Floats, weight: Floats | None = None) -> Floats:
    """`sum_i w_i (x_i - m)(x_i - m)'`, row by row in extended precision.

    >>> scatter(np.array([[1.0], [3.0]])).tolist()
    [[2.0]]
    """
    rows = np.asarray(X, np.longdouble)
    weights = np.ones(len(rows), np.longdouble) if weight is None else np.asarray(weight)
    mean = sum(w * x for w, x in zip(weights, rows, strict=True)) / sum(weights)
    parts = (w * np.outer(x - mean, x - mean) for w, x in zip(weights, rows, strict=True))
    return np.asarray(sum(parts), np.float64)


def captured(X: Floats, axes: Floats) -> float:
    """Sum of squares of the coordinates of centered rows along orthonormal axes (k, d).

    >>> captured(np.array([[0.0, 0.0], [2.0, 5.0]]), np.array([[1.0, 0.0]]))
    2.0
    """
    about = np.asarray(X, float) - np.mean(X, axis=0)
    return float(sum((row @ axis) ** 2 for row in about for axis in axes))


def log_evidence(values: Floats, n: float, k: int) -> float:
    """Minka's log-evidence of k components, pair by pair, for variances that all differ.

    >>> round(log_evidence(np.array([2.0, 1.0]), 10, 1), 6)
    -5.421747
    """
    d = len(values)
    noise = float(np.mean(values[k:]))
    hat = [*values[:k], *[noise] * (d - k)]
    prior = -k * math.log(2)
    for i in range(1, k + 1):
        prior += math.lgamma((d - i + 1) / 2) - (d - i + 1) / 2 * math.log(math.pi)
    angles = sum(
        math.log((1 / hat[j] - 1 / hat[i]) * (values[i] - values[j]) * n)
        for i, j in combinations(range(d), 2)
        if i < k
    )
    free = d * k - k * (k + 1) / 2
    fit = -n / 2 * sum(math.log(value) for value in values[:k])
    fit -= n * (d - k) / 2 * math.log(noise)
    return prior + fit + (free + k) / 2 * math.log(2 * math.pi) - angles / 2 - k / 2 * math.log(n)
