"""Naive Bayes: Gaussian on numbers, Bernoulli on sparse word occurrences."""

from __future__ import annotations

from benchmarks.datasets import blobs, text
from benchmarks.peers import Peer, build, novum
from benchmarks.protocols import classify
from benchmarks.recipes import Recipe, rows
from benchmarks.registry import Quality, workload

workload(
    "bayes.naive_bayes.gaussian",
    Recipe(blobs, rows(200_000), 50, 10, test=rows(50_000), spread=6.0),
    classify,
    [Peer("sklearn", build("sklearn.naive_bayes:GaussianNB"))],
    novum=novum("novum.bayes:GaussianNB"),
    target=1.0,
    quality=Quality("accuracy", tolerance=1e-3),
    note="200k x 50, 10 classes, 50k queries",
)
workload(
    "bayes.naive_bayes.bernoulli",
    Recipe(text, rows(50_000), 20_000, 20, test=rows(10_000)),
    classify,
    [Peer("sklearn", build("sklearn.naive_bayes:BernoulliNB"))],
    novum=novum("novum.bayes:BernoulliNB"),
    target=1.0,
    quality=Quality("accuracy", tolerance=1e-3),
    note="50k x 20k sparse, 20 classes, 10k queries",
)
