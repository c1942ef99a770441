"""Gaussian mixtures by 20 iterations of EM from one start, for four kinds of covariances; with
missing cells; and the best of 20 starts against moves out of poor optima."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.clustering.starts import blobs_with_start
from benchmarks.peers import Make, Peer, build, novum, threads
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

ITERATIONS = 20
SAME: dict[str, Any] = {
    "n_components": 8,
    "weights_init": "@weights",
    "means_init": "@start",
    "precisions_init": "@precisions",
    "max_iter": ITERATIONS,
    "tol": 0.0,
}


def mixture(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """Fit; the mean log-likelihood, computed here from the parameters."""
    estimator = make(data)
    with clock("fit"):
        estimator.fit(data.X)

    def figures() -> Figures:
        return {
            "log_likelihood": log_likelihood(data.X, estimator),
            "iterations": estimator.n_iter_,
        }

    return figures


def log_likelihood(X: np.ndarray, estimator: Any) -> float:
    parts = []
    for weight, mean, covariance in zip(
        np.asarray(estimator.weights_, float),
        np.asarray(estimator.means_, float),
        whole_covariances(np.asarray(estimator.covariances_, float), *np.shape(estimator.means_)),
        strict=True,
    ):
        L = np.linalg.cholesky(covariance)
        z = np.linalg.solve(L, (X - mean).T)
        parts.append(np.log(weight) - np.log(np.diag(L)).sum() - 0.5 * (z**2).sum(0))
    constant = 0.5 * X.shape[1] * np.log(2 * np.pi)
    return float(np.mean(np.logaddexp.reduce(parts, axis=0)) - constant)


def whole_covariances(given: np.ndarray, k: int, p: int) -> np.ndarray:
    """Matrices (k, p, p) of covariances in scikit-learn's shapes."""
    if given.shape == (k, p):
        return given[:, :, None] * np.eye(p)
    if given.shape == (k,):
        return given[:, None, None] * np.eye(p)
    return np.broadcast_to(given, (k, p, p))


class Daal:
    """oneDAL's EM, which scikit-learn-intelex does not offer under scikit-learn's name."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.n_iter_ = ITERATIONS

    def fit(self, X: np.ndarray) -> None:
        import daal4py

        daal4py.daalinit(threads())
        data = self.data
        algorithm = daal4py.em_gmm(data.k, maxIterations=ITERATIONS, accuracyThreshold=0.0)
        result = algorithm.compute(X, data.weights[None], data.start, list(data.covariances))
        self.weights_ = result.weights.ravel()
        self.means_ = result.means
        self.covariances_ = np.array(result.covariances)


class Pomegranate:
    """pomegranate on torch."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.n_iter_ = ITERATIONS

    def fit(self, X: np.ndarray) -> None:
        import torch
        from pomegranate.distributions import Normal
        from pomegranate.gmm import GeneralMixtureModel

        torch.set_num_threads(threads())
        start = zip(self.data.start, self.data.covariances, strict=True)
        normals = [Normal(torch.tensor(mean), torch.tensor(spread)) for mean, spread in start]
        priors = torch.tensor(self.data.weights)
        # A tolerance below every difference: the number of iterations decides.
        model = GeneralMixtureModel(normals, priors=priors, max_iter=ITERATIONS, tol=-1e18)
        model.fit(torch.tensor(X))
        parts = model.distributions
        self.weights_ = model.priors.detach().numpy()
        self.means_ = np.array([part.means.detach().numpy() for part in parts])
        self.covariances_ = np.array([part.covs.detach().numpy() for part in parts])


workload(
    "mixture.gaussian_mixture.full",
    Recipe(blobs_with_start, rows(50_000), 16, 8, seed=3, spread=2.0),
    mixture,
    [
        Peer(
            "sklearn",
            build("sklearn.mixture:GaussianMixture", init_params="random_from_data", **SAME),
        ),
        Peer("daal4py em_gmm", Daal),
        Peer("pomegranate (torch)", Pomegranate),
    ],
    novum=novum("novum.mixture:GaussianMixture", **SAME),
    target=8.0,
    quality=Quality("log_likelihood", tolerance=1e-3),
    note="50k x 16, 8 full covariances, the same start, 20 iterations",
)


def same(kind: str) -> dict[str, Any]:
    return {**SAME, "covariance_type": kind, "precisions_init": f"@precisions_{kind}"}


for kind in ("tied", "diag", "spherical"):
    workload(
        f"mixture.gaussian_mixture.{kind}",
        Recipe(blobs_with_start, rows(50_000), 16, 8, seed=3, spread=2.0),
        mixture,
        [
            Peer(
                "sklearn",
                build(
                    "sklearn.mixture:GaussianMixture",
                    init_params="random_from_data",
                    **same(kind),
                ),
            ),
        ],
        novum=novum("novum.mixture:GaussianMixture", **same(kind)),
        target=6.0,
        quality=Quality("log_likelihood", tolerance=1e-3),
        note=f"50k x 16, 8 {kind} covariances, the same start, 20 iterations",
    )


def with_holes(n: int, p: int, k: int, seed: int, spread: float) -> Data:
    """The same rows with a tenth of the cells missing, and as they were."""
    data = blobs_with_start(n, p, k, seed=seed, spread=spread)
    data.complete = data.X
    data.X = data.X.copy()
    data.X[np.random.default_rng(seed).random(data.X.shape) < 0.1] = np.nan
    return data


def timed_fit(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """Fit alone: the two sides have different rows, and the same number of steps."""
    estimator = make(data)
    with clock("fit"):
        estimator.fit(data.X)
    return lambda: {"iterations": estimator.n_iter_}


class WithoutHoles:
    """Novum on the complete rows: its own speed where no cell is missing."""

    def __init__(self, data: Data) -> None:
        self.model = build("novum.mixture:GaussianMixture", **SAME)(data)
        self.rows = data.complete

    def fit(self, X: np.ndarray) -> None:
        del X
        self.model.fit(self.rows)
        self.n_iter_ = self.model.n_iter_


workload(
    "mixture.gaussian_mixture.missing",
    Recipe(with_holes, rows(50_000), 16, 8, seed=3, spread=2.0),
    timed_fit,
    [Peer("novum, complete rows", WithoutHoles)],
    novum=novum("novum.mixture:GaussianMixture", **SAME),
    target=0.2,
    quality=Quality("iterations", tolerance=0.0),
    note="50k x 16, 8 full covariances, a tenth of the cells missing, 20 iterations",
)


def pairs_of_groups(n: int, seed: int) -> Data:
    """Groups two by two close together: starts that share a pair badly end in a poor optimum."""
    rng = np.random.default_rng(seed)
    centers = np.array([[x, y] for x in (0.0, 20.0, 40.0) for y in (0.0, 7.0)])
    group = rng.integers(len(centers), size=n)
    shapes = rng.normal(size=(len(centers), 2, 2)) * 0.4 + np.eye(2)
    X = centers[group] + np.einsum("nij,nj->ni", shapes[group], rng.normal(size=(n, 2)))
    return Data(X=X, k=len(centers))


RESTARTED: dict[str, Any] = {"n_components": "@k", "tol": 1e-5, "max_iter": 500, "random_state": 0}

workload(
    "mixture.gaussian_mixture.restarts",
    Recipe(pairs_of_groups, rows(5_000), 3),
    mixture,
    [
        Peer(
            "sklearn, 20 starts",
            build(
                "sklearn.mixture:GaussianMixture",
                n_init=20,
                init_params="random_from_data",
                **RESTARTED,
            ),
        ),
    ],
    novum=novum("novum.mixture:GaussianMixture", **RESTARTED),
    target=3.0,
    quality=Quality("log_likelihood", tolerance=1e-6),
    note="5k x 2, six groups in pairs: one start with moves against the best of 20 starts",
)
