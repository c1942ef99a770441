"""String kernels: spectrum kernels of one length and of several, and all common substrings.

A peer maps strings to a Gram matrix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from benchmarks.datasets import strings
from benchmarks.peers import Make, Peer, load
from benchmarks.protocols import apply
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Quality, workload

Gram = Callable[[list[str]], np.ndarray]


def novum_gram(path: str, **parameters: int) -> Peer:
    """Novum's side: the Gram matrix of the kernel at `path`."""

    def make(_data: Data) -> Gram:
        gram: Gram = load(path)(**parameters).gram
        return gram

    return Peer("novum", make, ours=True)


def count_vectors(shortest: int, longest: int, dense: bool) -> Make:
    """scikit-learn's counts and one product, sparse or dense."""

    def make(_data: Data) -> Gram:
        from sklearn.feature_extraction.text import CountVectorizer

        def gram(sample: list[str]) -> np.ndarray:
            vectorizer = CountVectorizer(
                analyzer="char",
                ngram_range=(shortest, longest),
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


def counters(shortest: int, longest: int) -> Make:
    """Plain Python: one Counter a string, products over shared k-mers."""

    def make(_data: Data) -> Gram:
        def gram(sample: list[str]) -> np.ndarray:
            counts = [Counter(_parts(text, shortest, longest)) for text in sample]
            K = np.zeros((len(sample), len(sample)))
            for i, a in enumerate(counts):
                for j, b in enumerate(counts[: i + 1]):
                    K[i, j] = K[j, i] = sum(n * b[part] for part, n in a.items() if part in b)
            return K

        return gram

    return make


def _parts(text: str, shortest: int, longest: int) -> list[str]:
    orders = range(shortest, longest + 1)
    return [text[i : i + k] for k in orders for i in range(len(text) - k + 1)]


SPARSE = "sklearn CountVectorizer, sparse product"
DENSE = "sklearn CountVectorizer, dense product"


def rivals(shortest: int, longest: int, *, dense: bool) -> list[Peer]:
    """Those who count k-grams; a dense product where all k-mers fit into memory."""
    peers = [Peer(SPARSE, count_vectors(shortest, longest, dense=False))]
    if dense:
        peers.append(Peer(DENSE, count_vectors(shortest, longest, dense=True)))
    return [*peers, Peer("Python counters", counters(shortest, longest), slow=True)]


GRAM = apply("gram", "strings", figure="trace", array="gram")
EXACT = Quality("trace", tolerance=1e-9)

for kind, alphabet in (("dna", "ACGT"), ("protein", "ACDEFGHIKLMNPQRSTVWY")):
    workload(
        f"kernels.strings.spectrum.{kind}",
        Recipe(strings, rows(2_000), 300, alphabet),
        GRAM,
        rivals(3, 6, dense=kind == "dna"),
        novum=novum_gram("novum.kernels.strings.spectrum:Spectrum", k=3, up_to=6),
        target=6.0,
        quality=EXACT,
        limit=120,
        note="2k strings of length 300, sum of the spectrum kernels k = 3..6",
    )

for k, target in ((3, 15.0), (4, 15.0), (5, 15.0), (6, 6.0)):
    workload(
        f"kernels.strings.spectrum.k{k}",
        Recipe(strings, rows(2_000), 300, "ACGT"),
        GRAM,
        rivals(k, k, dense=True),
        novum=novum_gram("novum.kernels.strings.spectrum:Spectrum", k=k),
        target=target,
        against=SPARSE,
        quality=EXACT,
        limit=120,
        note=f"2k DNA strings of length 300, k = {k}",
    )
