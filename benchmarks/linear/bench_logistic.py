"""Logistic regression, dense and sparse; the objective reached is the quality."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import entr, expit

from benchmarks.clock import Clock
from benchmarks.datasets import linear, text
from benchmarks.peers import Make, Peer, build, novum
from benchmarks.protocols import accuracy, fit_and_predict
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload


def logistic(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """Sum of log losses + |w|^2 / 2 (C = 1, intercept free), over n."""
    estimator, predicted = fit_and_predict(make, data, clock)

    def figures() -> Figures:
        W = np.asarray(estimator.coef_)
        S = np.asarray(data.X @ W.T) + np.ravel(estimator.intercept_)
        if S.shape[1] == 1:
            S = np.column_stack([np.zeros(len(S)), S[:, 0]])
        loss = np.logaddexp.reduce(S, axis=1) - S[np.arange(len(S)), data.y]
        return {
            "objective": (loss.sum() + (W**2).sum() / 2) / len(S),
            "accuracy": accuracy(predicted, data),
            "iterations": np.max(getattr(estimator, "n_iter_", 0)),
        }

    return figures


def peer(library: str, solver: str, slow: bool = False) -> Peer:
    package = {"sklearn": "sklearn", "intelex": "sklearnex"}[library]
    path = f"{package}.linear_model:LogisticRegression"
    return Peer(f"{library} {solver}", build(path, solver=solver, C=1.0, max_iter=500), slow=slow)


OURS = novum("novum.linear:LogisticRegression", C=1.0)

workload(
    "linear.logistic.binary",
    Recipe(linear, rows(200_000), 50, 2),
    logistic,
    [
        peer("sklearn", "lbfgs"),
        peer("sklearn", "newton-cholesky"),
        peer("sklearn", "newton-cg"),
        peer("sklearn", "liblinear", slow=True),
        peer("intelex", "lbfgs"),
        peer("intelex", "newton-cg"),
    ],
    novum=OURS,
    target=4.0,
    quality=Quality("objective", "low", 1e-5),
    note="200k x 50, L2, C = 1; liblinear penalizes the intercept too",
)
workload(
    "linear.logistic.multinomial",
    Recipe(linear, rows(100_000), 50, 10, seed=1),
    logistic,
    [
        peer("sklearn", "lbfgs"),
        peer("sklearn", "newton-cg"),
        peer("sklearn", "newton-cholesky", slow=True),
        peer("intelex", "lbfgs"),
    ],
    novum=OURS,
    target=2.0,
    quality=Quality("objective", "low", 1e-5),
    note="100k x 50, 10 classes, softmax, L2, C = 1",
)
workload(
    "linear.logistic.sparse",
    Recipe(text, rows(50_000), 20_000, 2, weighted=True),
    logistic,
    [peer("sklearn", solver) for solver in ("lbfgs", "newton-cg", "liblinear")],
    novum=OURS,
    target=1.5,
    quality=Quality("objective", "low", 1e-4),
    note="50k x 20k sparse tf-idf, 2 classes",
)


def sparse_logistic(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """Sum of log losses + |w|_1 / C without an intercept, over n, and its relative duality gap.

    The gap is that of the multiple of the residuals that the dual allows, the same for every peer.
    """
    estimator, predicted = fit_and_predict(make, data, clock)

    def figures() -> Figures:
        w = np.ravel(estimator.coef_)
        margins = np.where(data.y == 1, 1.0, -1.0) * np.ravel(data.X @ w)
        loss = np.logaddexp(0.0, -margins).sum() + np.abs(w).sum() / estimator.C
        wrong = expit(-margins)
        pull = np.abs(data.X.T @ np.where(data.y == 1, wrong, -wrong)).max() * estimator.C
        wrong *= min(1.0, 1.0 / pull)
        dual = (entr(wrong) - (1.0 - wrong) * np.log1p(-wrong)).sum()
        return {
            "objective": loss / len(margins),
            "gap": (loss - dual) / loss,
            "accuracy": accuracy(predicted, data),
            "active": float(np.count_nonzero(w)),
        }

    return figures


# Tolerances of rivals are no gaps: these are the largest (of 1, 2, 5 times a power of ten) by which
# they reach `GAP` here.
GAP = 1e-3
for _C, _liblinear, _celer in ((0.3, 1e-5, 1e-3), (3.0, 2e-7, 1e-3)):
    _same = {"C": _C, "fit_intercept": False}
    workload(
        f"linear.logistic.l1.C{_C:g}",
        Recipe(text, rows(50_000), 20_000, 2, weighted=True),
        sparse_logistic,
        [
            Peer(
                "LIBLINEAR",
                build("sklearn.linear_model:LogisticRegression", l1_ratio=1.0, tol=_liblinear,
                      solver="liblinear", max_iter=1000, random_state=0, **_same),
            ),
            Peer("celer", build("celer:LogisticRegression", tol=_celer, max_iter=100, **_same)),
        ],
        novum=novum("novum.linear:LogisticRegression", penalty="l1", tol=GAP, **_same),
        target=1.5,
        quality=Quality("gap", "low", required=GAP),
        note=f"50k documents, 20k words, L1, C = {_C:g}, no intercept, gap {GAP:g}",
    )  # fmt: skip
