"""Kernel ridge regression with a Gaussian kernel."""

from __future__ import annotations

from typing import Any

from benchmarks.datasets import rings
from benchmarks.peers import Peer, build, novum
from benchmarks.protocols import regress
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Quality, workload

SAME = {"kernel": "rbf", "gamma": "@gamma", "alpha": 0.1}


def gaussian_process(data: Data) -> Any:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    return GaussianProcessRegressor(RBF((2 * data.gamma) ** -0.5), alpha=0.1, optimizer=None)


workload(
    "svm.kernel_ridge",
    Recipe(rings, rows(4_000), 20, regression=True, noise=0.5),
    regress,
    [
        Peer("sklearn", build("sklearn.kernel_ridge:KernelRidge", **SAME)),
        Peer("sklearn GaussianProcess", gaussian_process),
    ],
    novum=novum("novum.svm:KernelRidge", **SAME),
    target=1.3,
    quality=Quality("r2", tolerance=1e-3),
    note="4k x 20, ridge 0.1, 5k queries",
)
