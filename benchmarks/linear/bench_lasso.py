"""Paths of the lasso, dense and compressed; the objectives reached are the quality."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import text
from benchmarks.peers import Make, Peer, function, novum_function
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

NUMBER = 100
TOL = 1e-6


def factor_table(n: int, p: int, active: int, seed: int = 0) -> Data:
    """Columns with 20 common factors, centered; `active` of them make the target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 0.5 * rng.normal(size=(n, 20)) @ rng.normal(size=(20, p))
    b = np.zeros(p)
    b[rng.choice(p, active, replace=False)] = rng.normal(size=active)
    y = X @ b + 5 * rng.normal(size=n)
    # Fortran order is what the rivals compute in.
    return _with_penalties(np.asfortranarray(X - X.mean(axis=0)), y - y.mean(), 1e-3)


def text_target(n: int, p: int, active: int, seed: int = 0) -> Data:
    """Word counts as tf-idf of length one, and a target of some frequent words with noise."""
    data = text(n, p, 2, seed=seed, weighted=True)
    rng = np.random.default_rng(seed)
    X = data.X.tocsc().astype(np.float64)
    b = np.zeros(X.shape[1])
    frequent = np.argsort(-np.diff(X.indptr))[: 10 * active]
    b[rng.choice(frequent, active, replace=False)] = 4 * rng.normal(size=active)
    y = X @ b + 0.5 * rng.normal(size=X.shape[0])
    return _with_penalties(X, y - y.mean(), 1e-2)


def _with_penalties(X: Any, y: np.ndarray, eps: float) -> Data:
    top = np.abs(X.T @ y).max() / len(y)
    return Data(X=X, y=y, alphas=top * np.geomspace(1.0, eps, NUMBER))


def paths(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """A path of 100 penalties without an intercept; the mean objective over the path."""
    solve = make(data)
    with clock("fit"):
        found = solve(data.X, data.y)

    def figures() -> Figures:
        coefs = np.asarray(found[1])
        residuals = data.y[:, np.newaxis] - data.X @ coefs
        norms = np.abs(coefs).sum(axis=0)
        values = (residuals**2).sum(axis=0) / (2 * len(data.y)) + data.alphas * norms
        return {"objective": float(values.mean()), "active": float(np.count_nonzero(coefs[:, -1]))}

    return figures


def _skglm(data: Data) -> Any:
    from skglm.datafits import Quadratic
    from skglm.penalties import L1
    from skglm.solvers import AndersonCD

    def solve(X: Any, y: Any) -> Any:
        solver = AndersonCD(fit_intercept=False, tol=1e-5, warm_start=True)
        return solver.path(X, y, Quadratic(), L1(1.0), alphas=data.alphas)

    return solve


RIVALS = [
    Peer("celer", function("celer:celer_path", pb="lasso", alphas="@alphas", tol=TOL)),
    Peer("skglm", _skglm),
    Peer("sklearn", function("sklearn.linear_model:lasso_path", alphas="@alphas", tol=TOL)),
]

for _name, _recipe, _note in (
    ("dense", Recipe(factor_table, rows(10_000), 1000, 100), "10k x 1k with common factors"),
    ("text", Recipe(text_target, rows(10_000), 50_000, 200), "10k documents, 50k words"),
):
    workload(
        f"linear.lasso.path.{_name}",
        _recipe,
        paths,
        RIVALS,
        novum=novum_function(
            "novum.linear.sparse.path:path", alphas="@alphas", l1_ratio=1.0, tol=TOL
        ),
        target=1.0,
        quality=Quality("objective", "low", 1e-6),
        note=f"{_note}, {NUMBER} penalties, relative gap {TOL}",
    )
