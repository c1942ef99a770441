"""Noisy ors by their likelihood."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload


def causes(n: int, d: int, seed: int = 0) -> Data:
    rng = np.random.default_rng(seed)
    active = rng.random((n, d)) < 0.2
    silent = 0.97 * np.where(active, 1 - rng.uniform(0.05, 0.9, d), 1.0).prod(axis=1)
    return Data(active=active, effect=rng.random(n) > silent)


class Novum:
    def fitted(self, data: Data) -> tuple[Any, float]:
        import pandas as pd

        from novum.graphical import Dag, fit_noisy_or

        frame = pd.DataFrame(data.active, columns=[f"c{i}" for i in range(data.active.shape[1])])
        graph = Dag.from_edges([(name, "effect") for name in frame.columns])
        node = fit_noisy_or(graph, frame.assign(effect=data.effect), "effect").conditional
        return np.array(node.strengths), node.leak


class Solver:
    """SciPy's L-BFGS-B on the same likelihood, with its gradient."""

    def fitted(self, data: Data) -> tuple[Any, float]:
        from scipy.optimize import minimize

        X = np.column_stack([np.ones(len(data.active)), data.active]).astype(float)
        y = data.effect

        def loss(t: Any) -> tuple[float, Any]:
            h = X @ t
            odds = 1.0 / np.expm1(np.maximum(h, 1e-12))
            value = h[~y].sum() - np.log(-np.expm1(-np.maximum(h[y], 1e-12))).sum()
            return float(value), X.T @ np.where(y, -odds, 1.0)

        bounds = [(1e-9, None)] * X.shape[1]
        t = minimize(loss, np.full(X.shape[1], 0.1), jac=True, bounds=bounds, tol=1e-12).x
        strengths = -np.expm1(-t)
        return strengths[1:], float(strengths[0])


def fit(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    adapter = make(data)
    with clock("learn"):
        strengths, leak = adapter.fitted(data)

    def judged() -> Figures:
        silent = (1 - leak) * np.where(data.active, 1 - strengths, 1.0).prod(axis=1)
        logs = np.log(np.where(data.effect, 1 - silent, silent))
        return {"log_likelihood": float(logs.mean())}

    return judged


workload(
    "graphical.learning.noisy_or.causes20",
    Recipe(causes, rows(20_000), 20),
    fit,
    [Peer("scipy L-BFGS-B", lambda _: Solver())],
    novum=Peer("novum", lambda _: Novum(), ours=True),
    target=0.5,
    quality=Quality("log_likelihood", tolerance=1e-6),
    note="20 causes, 20k rows; the maximum is proved by a dual bound, and the table is read",
)
