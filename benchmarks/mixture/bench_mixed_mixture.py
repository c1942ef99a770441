"""Latent classes of nominal answers, each peer from its own first groups to one tolerance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

# Change of the mean log-likelihood by a step, at which a fit ends.
TOLERANCE = 1e-7


def answers(n: int, p: int, k: int, levels: int, seed: int = 0) -> Data:
    """Rows of k classes, each with its own probabilities of the levels of p columns."""
    rng = np.random.default_rng(seed)
    tables = rng.dirichlet(np.full(levels, 4.0), size=(k, p))
    group = rng.integers(k, size=n)
    ends = np.cumsum(tables[group], axis=2)[:, :, :-1]
    X = (rng.random((n, p, 1)) > ends).sum(axis=2)
    return Data(X=X.astype(np.int64), k=k, levels=levels)


def latent_classes(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """Fit; the mean log-likelihood, computed here from the parameters."""
    estimator = make(data)
    with clock("fit"):
        estimator.fit(data.X)

    def figures() -> Figures:
        weights, tables = estimator.weights_and_tables()
        logs = np.log(weights) + np.zeros((len(data.X), 1))
        for j in range(data.X.shape[1]):
            logs += np.log(np.maximum(tables[:, j], 1e-300)).T[data.X[:, j]]
        return {"log_likelihood": float(np.logaddexp.reduce(logs, axis=1).mean())}

    return figures


class Ours:
    """Novum's, with the tables of its columns as one array."""

    def __init__(self, data: Data) -> None:
        from novum.mixture import MixedMixture

        options: dict[str, Any] = {
            "tol": TOLERANCE,
            "max_iter": 1000,
            "n_init": 1,
            "random_state": 0,
        }
        self.model = MixedMixture(data.k, categorical_features="all", **options)

    def fit(self, X: np.ndarray) -> None:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model.fit(X)

    def weights_and_tables(self) -> tuple[Any, Any]:
        tables = list(self.model.level_probabilities_.values())
        return self.model.weights_, np.stack(tables, axis=1)


class Step:
    """StepMix: 'categorical' measurements are latent classes."""

    def __init__(self, data: Data) -> None:
        from stepmix.stepmix import StepMix

        self.data = data
        options: dict[str, Any] = {"abs_tol": TOLERANCE, "rel_tol": 0.0, "random_state": 0}
        quiet = {"progress_bar": 0, "verbose": 0}
        self.model = StepMix(
            data.k,
            measurement="categorical",
            max_iter=1000,
            init_params="kmeans",
            **options,
            **quiet,
        )

    def fit(self, X: np.ndarray) -> None:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model.fit(X)

    def weights_and_tables(self) -> tuple[Any, Any]:
        params = self.model.get_parameters()
        shape = (self.data.k, self.data.X.shape[1], self.data.levels)
        return np.asarray(params["weights"]), np.asarray(params["measurement"]["pis"]).reshape(
            shape
        )


workload(
    "mixture.mixed_mixture.latent_classes",
    Recipe(answers, rows(50_000), 20, 5, 4, seed=1),
    latent_classes,
    [Peer("stepmix", Step)],
    novum=Peer("novum", Ours, ours=True),
    target=20.0,
    quality=Quality("log_likelihood", tolerance=1e-3),
    note="50k x 20 nominal columns of 4 levels, 5 classes that overlap, to a change of 1e-7 a row",
)
