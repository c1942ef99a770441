"""Blobs with one start for every peer, so that iterations are comparable."""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import blobs
from benchmarks.recipes import Data


def blobs_with_start(
    n: int, p: int, k: int, seed: int = 0, spread: float = 1.0, starts: int | None = None
) -> Data:
    """Blobs, k rows (or `starts`) as starting centers, and the parameters of such a mixture."""
    data = blobs(n, p, k, seed=seed, spread=spread)
    k = k if starts is None else starts
    chosen = np.random.default_rng(seed + 1).choice(n, k, replace=False)
    variance = data.X.var(0)
    data.k = k
    data.start = data.X[chosen].copy()
    data.weights = np.full(k, 1 / k)
    data.precisions_tied = np.diag(1 / variance)
    data.precisions_diag = np.repeat((1 / variance)[None], k, 0)
    data.precisions_spherical = np.full(k, 1 / variance.mean())
    data.precisions = np.repeat(np.diag(1 / variance)[None], k, 0)
    data.covariances = np.repeat(np.diag(variance)[None], k, 0)
    return data
