"""Tables of normal classes that the tests of Gaussian classifiers share."""

from __future__ import annotations

import numpy as np

from novum.numerics import Array, Floats


def normal_classes(
    n_classes: int, n_columns: int, n_rows: int, seed: int = 0
) -> tuple[Floats, Array]:
    """`n_rows` rows of each class in turn, overlapping, each class with its own covariance."""
    rng = np.random.default_rng(seed)
    X = np.empty((n_rows, n_classes, n_columns))
    for k in range(n_classes):
        shape = np.eye(n_columns) + 0.4 * rng.normal(size=(n_columns, n_columns))
        center = 1.5 * rng.normal(size=n_columns)
        X[:, k] = center + rng.normal(size=(n_rows, n_columns)) @ shape
    return X.reshape(-1, n_columns), np.tile(np.arange(n_classes), n_rows)


def with_holes(X: Floats, share: float, seed: int = 1) -> Floats:
    """A copy with that share of its cells missing at random."""
    holes = np.random.default_rng(seed).random(X.shape) < share
    return np.where(holes, np.nan, X)
