"""Tables that the tests of components share, and the registry they are saved by."""

from __future__ import annotations

from contextlib import AbstractContextManager
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from novum.core.files import registry
from novum.decomposition.component_choice import ByEvidence, ByLikelihood, ByVariance
from novum.decomposition.component_statistics import ComponentStatistics
from novum.decomposition.low_rank_normal import LowRankNormal
from novum.decomposition.pca import PCA
from novum.decomposition.probabilistic_pca import ProbabilisticPCA
from novum.numerics import Floats

_ESTIMATORS: dict[str, type] = {"PCA": PCA, "ProbabilisticPCA": ProbabilisticPCA}
_VALUES: dict[str, type] = {
    cls.__name__: cls
    for cls in (ByEvidence, ByLikelihood, ByVariance, ComponentStatistics, LowRankNormal)
}


def registered() -> AbstractContextManager[None]:
    """Registers what the package's tables do not list yet."""
    return registry.registered(
        {name: cls for name, cls in _ESTIMATORS.items() if name not in registry.ESTIMATORS},
        {name: cls for name, cls in _VALUES.items() if name not in registry.VALUES},
    )


def low_rank_table(n: int, d: int, q: int, noise: float = 0.3, seed: int = 0) -> Floats:
    """A signal of q dimensions with well separated variances, in noise, off the origin."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(d, q)))[0]
    signal = rng.normal(size=(n, q)) * np.linspace(4.0, 2.0, q)
    return np.asarray(signal @ axes.T + noise * rng.normal(size=(n, d)) + rng.normal(size=d))


def with_holes(X: Floats, share: float, seed: int = 0) -> Floats:
    """Cells missing completely at random."""
    gone = np.random.default_rng(seed).random(X.shape) < share
    return np.where(gone, np.nan, X)


def exact_axes(X: Any, count: int) -> tuple[Floats, Floats]:
    """Leading eigenvalues and axes of the covariance (n - 1), by rotations in 50 digits."""
    with localcontext() as context:
        context.prec = 50
        rows = [[Decimal(float(cell)) for cell in row] for row in np.asarray(X, float)]
        n, d = len(rows), len(rows[0])
        mean = [sum(row[j] for row in rows) / n for j in range(d)]
        about = [[row[j] - mean[j] for j in range(d)] for row in rows]
        S = [[sum(r[i] * r[j] for r in about) / (n - 1) for j in range(d)] for i in range(d)]
        V = [[Decimal(int(i == j)) for j in range(d)] for i in range(d)]
        for _ in range(12):
            for p in range(d):
                for q in range(p + 1, d):
                    _rotate(S, V, p, q)
        order = sorted(range(d), key=lambda j: -S[j][j])[:count]
        axes = np.array([[float(V[i][j]) for i in range(d)] for j in order])
        spread = np.array([float(S[j][j]) for j in order])
    signs = np.sign(axes[np.arange(count), np.abs(axes).argmax(axis=1)])
    return spread, axes * signs[:, None]


def _rotate(S: list[list[Decimal]], V: list[list[Decimal]], p: int, q: int) -> None:
    """One Jacobi rotation, which makes the entry (p, q) of S zero."""
    if S[p][q] == 0:
        return
    theta = (S[q][q] - S[p][p]) / (2 * S[p][q])
    sign = Decimal(1) if theta >= 0 else Decimal(-1)
    t = sign / (abs(theta) + (theta * theta + 1).sqrt())
    c = 1 / (t * t + 1).sqrt()
    s = t * c
    for k in range(len(S)):
        S[k][p], S[k][q] = c * S[k][p] - s * S[k][q], s * S[k][p] + c * S[k][q]
        V[k][p], V[k][q] = c * V[k][p] - s * V[k][q], s * V[k][p] + c * V[k][q]
    for k in range(len(S)):
        S[p][k], S[q][k] = c * S[p][k] - s * S[q][k], s * S[p][k] + c * S[q][k]
