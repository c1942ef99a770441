"""Covariances moved towards a multiple of the identity, by a given amount or by Ledoit and Wolf's.

    C(s) = (1 - s) C + s (tr C / d) I,        0 <= s <= 1

makes a covariance from few rows regular. The amount that is best in expected squared distance from
the truth needs fourth powers of the rows; with rows z in units of their deviations (so that units
do not matter), total weight n, `E = sum z z' / n` and `mu = tr E / d`,

    s = min(b, a) / a,   a = |E - mu I|^2 / d,   b = (sum_i |z_i|^4 / n - |E|^2) / (d n).

Each class has its own amount, and the classes are then averaged by their shares.

References
----------
Ledoit and Wolf, "A well-conditioned estimator for large-dimensional covariance matrices", 2004.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novum.core.validation import Sample

Floats = NDArray[np.float64]


def shrunk(matrix: Floats, amount: float) -> Floats:
    """The matrix moved by `amount` towards its mean variance times the identity.

    >>> shrunk(np.array([[3.0, 1.0], [1.0, 1.0]]), 0.5).tolist()
    [[2.5, 0.5], [0.5, 1.5]]
    """
    d = len(matrix)
    moved = (1 - amount) * matrix
    moved[np.diag_indices(d)] += amount * np.trace(matrix) / d
    return moved


def ledoit_wolf_within(sample: Sample, shares: Floats) -> Floats:
    """Average by `shares` of the covariances of the classes, each shrunk by its best amount.

    Parameters
    ----------
    sample : Sample with classes
    shares : array (K,)
    """
    d = sample.numeric.shape[1]
    total = np.zeros((d, d))
    for k in np.flatnonzero(shares):
        rows = sample.target == k
        weight = np.ones(int(rows.sum())) if sample.weight is None else sample.weight[rows]
        total += shares[k] * _ledoit_wolf(sample.numeric[rows], weight)
    return total


def _ledoit_wolf(X: Floats, weight: Floats) -> Floats:
    n = float(weight.sum())
    # About the first row first, so that an offset takes no digits.
    centered = X - X[0]
    centered -= weight @ centered / n
    unit = np.sqrt(weight @ centered**2 / n)
    unit = np.where(unit > 0, unit, 1.0)
    z = centered / unit
    E = (z * weight[:, None]).T @ z / n
    return shrunk(E, _best_amount(E, z, weight, n)) * unit[:, None] * unit


def _best_amount(E: Floats, z: Floats, weight: Floats, n: float) -> float:
    d = len(E)
    mu = float(np.trace(E)) / d
    fourth = float(weight @ np.einsum("ij,ij->i", z, z) ** 2) / n
    square = float((E**2).sum())
    a = (square - d * mu**2) / d
    b = (fourth - square) / (d * n)
    return min(b, a) / a if a > 0 and b > 0 else 0.0
