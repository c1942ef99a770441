"""Shrinking a covariance towards a multiple of the identity.

    C(s) = (1 - s) C + s (tr C / d) I,        0 <= s <= 1.

Ledoit and Wolf choose s to minimize the expected squared distance of `C(s)` from the true
covariance. With rows z in units of their deviations (so that units do not matter), and with
`E = sum z z' / W`, `mu = tr E / d`,

    s = min(b, a) / a,   a = |E - mu I|^2 / d,   b = (sum_i |z_i|^4 / W - |E|^2) / (d W).

The sum of fourth powers is about means that are known only at the end, so this s is a function of
the rows and not of their moments.

References
----------
Ledoit and Wolf, "A well-conditioned estimator for large-dimensional covariance matrices", 2004.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def shrunk(matrix: Floats, amount: float) -> Floats:
    """The matrix moved by `amount` towards its mean variance times the identity.

    >>> shrunk(np.array([[3.0, 1.0], [1.0, 1.0]]), 0.5).tolist()
    [[2.5, 0.5], [0.5, 1.5]]
    """
    d = len(matrix)
    result = (1 - amount) * matrix
    result[np.diag_indices(d)] += amount * np.trace(matrix) / d
    return result


def mixed_with_identity(matrix: Floats, amount: float) -> Floats:
    """`(1 - amount) C + amount I`, in the units that the columns have.

    >>> mixed_with_identity(np.array([[3.0]]), 0.5).tolist()
    [[2.0]]
    """
    result = (1 - amount) * matrix
    result[np.diag_indices(len(matrix))] += amount
    return result


def ledoit_wolf(X: Floats, weight: Floats | None = None) -> Floats:
    """Covariance of rows, shrunk by the amount of Ledoit and Wolf in units of the deviations.

    Parameters
    ----------
    X : array (n, d)
        Complete rows.
    weight : array (n,), optional
        Repetitions of each row.
    """
    w = np.ones(len(X)) if weight is None else weight
    total = float(w.sum())
    centered = X - X[0]
    centered -= w @ centered / total
    unit = np.sqrt(w @ centered**2 / total)
    unit = np.where(unit > 0, unit, 1.0)
    z = centered / unit
    E = (z * w[:, None]).T @ z / total
    amount = _best_amount(E, z, w, total)
    return shrunk(E, amount) * unit[:, None] * unit[None, :]


def _best_amount(E: Floats, z: Floats, w: Floats, total: float) -> float:
    d = len(E)
    mu = float(np.trace(E)) / d
    fourth = float(w @ np.einsum("ij,ij->i", z, z) ** 2) / total
    square = float((E**2).sum())
    a = (square - d * mu**2) / d
    b = (fourth - square) / (d * total)
    return float(min(b, a) / a) if a > 0 and b > 0 else 0.0
