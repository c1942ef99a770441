"""Multinomial naive Bayes on sparse word counts."""

from __future__ import annotations

from benchmarks.datasets import text
from benchmarks.peers import Peer, build, novum
from benchmarks.protocols import classify
from benchmarks.recipes import Recipe, rows
from benchmarks.registry import Quality, workload

workload(
    "bayes.multinomial",
    Recipe(text, rows(50_000), 20_000, 20, test=rows(10_000)),
    classify,
    [
        Peer("sklearn", build("sklearn.naive_bayes:MultinomialNB")),
        Peer("sklearn ComplementNB", build("sklearn.naive_bayes:ComplementNB"), other_method=True),
    ],
    novum=novum("novum.bayes:MultinomialNB"),
    target=1.5,
    quality=Quality("accuracy", tolerance=2e-3),
    note="50k x 20k sparse counts, 20 classes, 10k queries",
)
