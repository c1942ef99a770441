"""Gaussian classifiers: one covariance for all classes, one for each."""

from __future__ import annotations

from benchmarks.datasets import blobs
from benchmarks.peers import Peer, build, novum
from benchmarks.protocols import classify
from benchmarks.recipes import Recipe, rows
from benchmarks.registry import Quality, workload

LINEAR = "sklearn.discriminant_analysis:LinearDiscriminantAnalysis"
QUADRATIC = "sklearn.discriminant_analysis:QuadraticDiscriminantAnalysis"
DATA = Recipe(blobs, rows(200_000), 50, 10, test=rows(50_000), spread=6.0)

workload(
    "bayes.gaussian.linear",
    DATA,
    classify,
    [
        Peer("sklearn svd", build(LINEAR, solver="svd")),
        Peer("sklearn lsqr", build(LINEAR, solver="lsqr")),
    ],
    novum=novum("novum.bayes:LinearDiscriminantAnalysis"),
    target=3.0,
    quality=Quality("accuracy", tolerance=1e-3),
    note="200k x 50, 10 classes, 50k queries",
)
workload(
    "bayes.gaussian.quadratic",
    DATA,
    classify,
    [
        Peer("sklearn svd", build(QUADRATIC, solver="svd")),
        Peer("sklearn eigen", build(QUADRATIC, solver="eigen")),
    ],
    novum=novum("novum.bayes:QuadraticDiscriminantAnalysis"),
    target=3.0,
    quality=Quality("accuracy", tolerance=1e-3),
    note="200k x 50, 10 classes, 50k queries; the target is for both phases together, and the fit "
    "alone stays below 3",
)
