"""Programs of every learner of the family, on a Gram matrix, for the tests of the solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.kernels.protocol import Prepared
from novum.numerics import Floats
from novum.svm.solver.problem import UNGROUPED, QuadraticProblem

MEMBERS = ("classes", "nu_classes", "regression", "nu_regression", "one_class", "sphere", "ranking")


class GramRows(Prepared):
    """Objects known by their Gram matrix only."""

    def __init__(self, K: Floats, rows: Any = None) -> None:
        self.K = K
        self.rows = np.arange(len(K)) if rows is None else rows

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: Any) -> GramRows:
        return GramRows(self.K, self.rows[rows])

    def diagonal(self) -> Floats:
        return np.diag(self.K)[self.rows].copy()

    def cross(self, other: Any, dtype: Any = np.float64) -> Any:
        return np.ascontiguousarray(self.K[np.ix_(self.rows, other.rows)], dtype)


def gaussian(X: Floats, width: float = 1.0) -> Floats:
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.asarray(np.exp(-squares / (2 * width**2)))


def cloud(n: int, seed: int = 0, columns: int = 2) -> tuple[Floats, Floats, Floats]:
    """Points, noisy labels of both signs, and noisy targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    y[0], y[-1] = 1.0, -1.0
    return X, y, np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n)


def classes(y: Floats, C: float) -> QuadraticProblem:
    n = len(y)
    lower, upper = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
    return QuadraticProblem(np.arange(n), -y, lower, upper, np.zeros(n, np.intp), np.zeros(1))


def member(name: str, y: Floats, t: Floats, C: float = 2.0, nu: float = 0.3) -> QuadraticProblem:
    """The program of a learner for labels `y` or targets `t`."""
    n = len(y)
    rows, one = np.arange(n), np.zeros(n, np.intp)
    if name == "classes":
        return classes(y, C)
    if name == "nu_classes":
        # No total may exceed what the smaller class can hold.
        total = nu * min((y > 0).sum(), (y < 0).sum()) / n
        lower, upper = np.where(y > 0, 0.0, -1 / n), np.where(y > 0, 1 / n, 0.0)
        totals = np.array([total, -total])
        return QuadraticProblem(rows, np.zeros(n), lower, upper, (y < 0).astype(np.intp), totals)
    if name in ("regression", "nu_regression"):
        epsilon = 0.1 if name == "regression" else 0.0
        linear = np.concatenate([epsilon - t, -epsilon - t])
        lower = np.concatenate([np.zeros(n), np.full(n, -C)])
        side = np.repeat([0, 1], n).astype(np.intp)
        groups, totals = np.zeros(2 * n, np.intp), np.zeros(1)
        if name == "nu_regression":
            groups, totals = side, np.array([1.0, -1.0]) * C * n * nu / 2
        return QuadraticProblem(np.tile(rows, 2), linear, lower, lower + C, groups, totals)
    if name == "ranking":
        groups = np.full(n, UNGROUPED)
        return QuadraticProblem(rows, -np.ones(n), np.zeros(n), np.full(n, C), groups, np.zeros(0))
    linear = np.zeros(n) if name == "one_class" else np.full(n, -0.5)
    return QuadraticProblem(rows, linear, np.zeros(n), np.full(n, 1 / (nu * n)), one, np.ones(1))
