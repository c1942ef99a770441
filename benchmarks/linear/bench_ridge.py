"""Ridge regression on a million rows, and the choice of its strength by leave-one-out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.clock import Clock
from benchmarks.linear.bench_least_squares import EQUAL, coefficients
from benchmarks.linear.tables import regression_table
from benchmarks.peers import Make, Peer, build, novum
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

SKLEARN = "sklearn.linear_model:Ridge"
ALPHAS = np.logspace(-3, 6, 30)

workload(
    "linear.ridge",
    Recipe(regression_table, rows(1_000_000), 50),
    coefficients("ridge_coefficients"),
    [
        Peer("sklearn cholesky", build(SKLEARN, alpha=1.0, solver="cholesky")),
        Peer("sklearn svd", build(SKLEARN, alpha=1.0, solver="svd"), slow=True),
        Peer("intelex", build("sklearnex.linear_model:Ridge", alpha=1.0)),
    ],
    novum=novum("novum.linear:Ridge", alpha=1.0),
    target=1.0,
    against="sklearn cholesky",
    quality=EQUAL,
    note="1M x 50 float64, alpha 1; error: as in linear.least_squares",
)


def choose(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """Fit over the grid; the exact leave-one-out error at the strength chosen."""
    estimator = make(data)
    with clock("fit"):
        estimator.fit(data.X, data.y)

    def figures() -> Figures:
        alpha = float(np.ravel(estimator.alpha_)[0])
        return {"leave_one_out": leave_one_out(data.X, data.y, alpha), "alpha": alpha}

    return figures


def leave_one_out(X: np.ndarray, y: np.ndarray, alpha: float) -> float:
    """Mean squared error of the predictions without the row: `r_i / (1 - h_i)`.

    The leverage `h_i = 1/n + z_i' (Z'Z + alpha I)^-1 z_i` is that of the centered rows z.
    """
    Z, t = X - X.mean(0), y - y.mean()
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    shrunk = s**2 / (s**2 + alpha)
    residual = t - U @ (shrunk * (U.T @ t))
    leverage = 1 / len(X) + (U**2) @ shrunk
    return float(np.mean((residual / (1 - leverage)) ** 2))


workload(
    "linear.ridge.cross_validated",
    Recipe(regression_table, rows(20_000), 50, seed=3),
    choose,
    [Peer("sklearn", build("sklearn.linear_model:RidgeCV", alphas=ALPHAS))],
    novum=novum("novum.linear:RidgeCV", alphas=ALPHAS),
    target=1.0,
    quality=Quality("leave_one_out", "low", 1e-9),
    note="20k x 50, 30 strengths, leave-one-out",
)
