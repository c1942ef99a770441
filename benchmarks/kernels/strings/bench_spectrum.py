"""String kernels: the sum of the spectrum kernels k = 3..6.

A peer maps strings to a Gram matrix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from benchmarks.datasets import strings
from benchmarks.peers import Make, Peer
from benchmarks.protocols import apply
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Quality, workload

SHORTEST, LONGEST = 3, 6
Gram = Callable[[list[str]], np.ndarray]


def count_vectors(dense: bool) -> Make:
    """scikit-learn's counts and one product, sparse or dense."""

    def make(_data: Data) -> Gram:
        from sklearn.feature_extraction.text import CountVectorizer

        def gram(sample: list[str]) -> np.ndarray:
            vectorizer = CountVectorizer(
                analyzer="char",
                ngram_range=(SHORTEST, LONGEST),
                lowercase=False,
                dtype=np.float64,
            )
            X = vectorizer.fit_transform(sample)
            if dense:
                X = X.toarray()
            K = X @ X.T
            return K if dense else K.toarray()

        return gram

    return make


def counters(_data: Data) -> Gram:
    """Plain Python: one Counter a string, products over shared k-mers."""

    def gram(sample: list[str]) -> np.ndarray:
        counts = [Counter(_parts(text)) for text in sample]
        K = np.zeros((len(sample), len(sample)))
        for i, a in enumerate(counts):
            for j, b in enumerate(counts[: i + 1]):
                K[i, j] = K[j, i] = sum(n * b[part] for part, n in a.items() if part in b)
        return K

    return gram


def _parts(text: str) -> list[str]:
    orders = range(SHORTEST, LONGEST + 1)
    return [text[i : i + k] for k in orders for i in range(len(text) - k + 1)]


SPARSE = Peer("sklearn CountVectorizer, sparse product", count_vectors(dense=False))
DENSE = Peer("sklearn CountVectorizer, dense product", count_vectors(dense=True))
PLAIN = Peer("Python counters", counters, slow=True)

for kind, alphabet, rivals in (
    ("dna", "ACGT", [SPARSE, DENSE, PLAIN]),
    ("protein", "ACDEFGHIKLMNPQRSTVWY", [SPARSE, PLAIN]),
):
    workload(
        f"kernels.strings.spectrum.{kind}",
        Recipe(strings, rows(2_000), 300, alphabet),
        apply("gram", "strings", figure="trace", array="gram"),
        rivals,
        target=6.0,
        quality=Quality("trace", tolerance=1e-9),
        limit=120,
        note="2k strings of length 300, sum of the spectrum kernels k = 3..6",
    )
