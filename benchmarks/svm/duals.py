"""Reading the dual objective off a fitted machine with a Gaussian kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

# What every kernel machine is given: the same kernel, cost and cache.
SAME = {"kernel": "rbf", "C": 1.0, "gamma": "@gamma", "cache_size": 500}


def dual_parts(estimator: Any) -> tuple[np.ndarray, np.ndarray]:
    """Support vectors and their signed coefficients."""
    vectors = np.asarray(estimator.support_vectors_)
    return vectors, np.asarray(estimator.dual_coef_).ravel()


def quadratic_form(vectors: np.ndarray, coefficients: np.ndarray, gamma: float) -> float:
    """`a' K a` in blocks of 1000 rows."""
    squares = (vectors**2).sum(1)
    total = 0.0
    for start in range(0, len(vectors), 1000):
        part = slice(start, start + 1000)
        distances = squares[part, None] + squares - 2 * vectors[part] @ vectors.T
        kernel = np.exp(-gamma * np.maximum(distances, 0))
        total += float(coefficients[part] @ (kernel @ coefficients))
    return total
