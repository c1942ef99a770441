"""Deterministic data sets (fixed seeds), each with the difficulty its learners care about."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks.recipes import Data


def table(
    n: int,
    p: int,
    classes: int,
    nominal: int = 0,
    test: int = 10_000,
    seed: int = 0,
    regression: bool = False,
    missing: float = 0.0,
) -> Data:
    """Numeric columns, then nominal columns coded 0..levels-1; labels or targets carry noise.

    `missing` is the share of numeric cells that are NaN, after they have had their effect.

    A third of the numeric columns is informative, through smooth non-linear scores; each level of a
    nominal column has an effect of its own.
    """
    rng = np.random.default_rng(seed)
    m, informative, outputs = n + test, max(4, p // 3), 1 if regression else classes
    X = rng.standard_normal((m, p))
    score = np.zeros((m, outputs))
    for _ in range(12):
        a, b = rng.choice(informative, 2, replace=False)
        w = rng.standard_normal((2, outputs))
        score += np.sin(X[:, [a]] * 1.5 + X[:, [b]] * w[:1]) * w[1:]
    levels = rng.integers(3, 31, nominal)
    for count in levels:
        level = rng.choice(count, m, p=rng.dirichlet(np.full(count, 2.0)))
        score += rng.standard_normal((count, outputs))[level] * 0.6
        X = np.column_stack([X, level])
    if regression:
        y = score[:, 0] + 0.3 * score.std() * rng.standard_normal(m)
    else:
        y = np.argmax(score + rng.gumbel(size=score.shape) * 0.5, axis=1)
    if missing:
        X[:, :p][rng.random((m, p)) < missing] = np.nan
    return _split(np.ascontiguousarray(X), y, n, nominal=list(range(p, p + nominal)))


def blobs(
    n: int,
    p: int,
    centers: int,
    test: int = 0,
    spread: float = 1.0,
    seed: int = 0,
    classes: int = 0,
    decay: float = 0.0,
) -> Data:
    """Gaussian clusters of unequal size and random covariance; `y` is the cluster.

    `classes` folds the clusters into fewer labels; `decay` above 0 leaves fewer effective
    dimensions.
    """
    rng = np.random.default_rng(seed)
    m = n + test
    mean = rng.standard_normal((centers, p)) * 2.0
    cluster = rng.choice(centers, m, p=rng.dirichlet(np.full(centers, 3.0)))
    X = np.empty((m, p))
    for c in range(centers):
        A = rng.standard_normal((p, p)) * spread / np.sqrt(p) + np.eye(p) * 0.3 * spread
        A *= np.arange(1, p + 1)[:, None] ** -decay
        chosen = cluster == c
        X[chosen] = rng.standard_normal((chosen.sum(), p)) @ A + mean[c]
    return _split(X, cluster % classes if classes else cluster, n)


def linear(
    n: int, p: int, classes: int, test: int = 20_000, seed: int = 0, noise: float = 1.0
) -> Data:
    """A linear teacher with correlated columns of unequal scale and noisy labels."""
    rng = np.random.default_rng(seed)
    m = n + test
    X = rng.standard_normal((m, p)) @ (np.eye(p) + 0.5 * rng.standard_normal((p, p)) / np.sqrt(p))
    X *= np.exp(rng.uniform(-1, 1, p))
    W = rng.standard_normal((p, classes)) / X.std(0)[:, None] / np.sqrt(p) * 2.0
    y = np.argmax(X @ W + noise * rng.gumbel(size=(m, classes)), axis=1)
    return _split(np.ascontiguousarray(X), y, n, rate=1.0 / n)


def text(
    n: int,
    vocabulary: int,
    classes: int,
    length: int = 80,
    test: int = 10_000,
    seed: int = 0,
    weighted: bool = False,
) -> Data:
    """Word counts (CSR): a Zipf background and topic words for each class.

    `weighted` gives tf-idf rows of length one in place of counts.
    """
    rng = np.random.default_rng(seed)
    m = n + test
    y = rng.integers(0, classes, m)
    lengths = rng.poisson(length, m) + 5
    total = lengths.sum()
    zipf = 1.0 / np.arange(1, vocabulary + 1) ** 1.05
    words = np.searchsorted(np.cumsum(zipf / zipf.sum()), rng.random(total))
    words = words.clip(max=vocabulary - 1)
    row = np.repeat(np.arange(m), lengths)
    topical = rng.random(total) < 0.025
    topics = rng.integers(50, vocabulary, (classes, 400))
    words[topical] = topics[y[row[topical]], rng.integers(0, 400, topical.sum())]
    X = sp.csr_matrix((np.ones(total), (row, words)), shape=(m, vocabulary))
    X.sum_duplicates()
    if weighted:
        X = _tf_idf(X)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return _split(X, y, n, rate=1.0 / n)


def _tf_idf(X: sp.csr_matrix) -> sp.csr_matrix:
    m, vocabulary = X.shape
    idf = np.log((1 + m) / (1 + np.bincount(X.indices, minlength=vocabulary))) + 1
    scaled = X.multiply(idf[None, :]).tocsr()
    norms = np.sqrt(np.asarray(scaled.multiply(scaled).sum(1)).ravel())
    return (sp.diags(1 / norms) @ scaled).tocsr()


def rings(
    n: int,
    p: int,
    test: int = 5_000,
    noise: float = 0.15,
    seed: int = 0,
    regression: bool = False,
) -> Data:
    """A smooth non-linear boundary in p dimensions with a part of the labels turned over."""
    rng = np.random.default_rng(seed)
    m = n + test
    X = rng.standard_normal((m, p))
    surface = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5
    surface += 0.3 * X[:, 4:8].sum(1)
    y: np.ndarray
    if regression:
        y = surface + noise * rng.standard_normal(m)
    else:
        y = (surface > 0).astype(int) ^ (rng.random(m) < noise)
    return _split(X, y, n, gamma=1.0 / p)


def low_rank(n: int, p: int, rank: int, seed: int = 0, test: int = 0) -> Data:
    """A few directions of decaying strength, an offset, and noise in all directions."""
    rng = np.random.default_rng(seed)
    scale = 3.0 / np.sqrt(1.0 + np.arange(rank))
    directions = rng.standard_normal((rank, p)) / np.sqrt(rank)
    X = (rng.standard_normal((n + test, rank)) * scale) @ directions
    X += 0.3 * rng.standard_normal(X.shape) + rng.standard_normal(p)
    return Data(X=X[:n], X_test=X[n:])


def strings(n: int, length: int, alphabet: str, seed: int = 0) -> Data:
    """Strings that share mutated motifs, so that longer k-mers meet as well."""
    rng = np.random.default_rng(seed)
    motifs = rng.integers(0, len(alphabet), (20, length))
    codes = motifs[rng.integers(0, 20, n)]
    changed = rng.random(codes.shape) < 0.4
    codes = np.where(changed, rng.integers(0, len(alphabet), codes.shape), codes)
    letters = np.array(list(alphabet))
    return Data(strings=["".join(letters[code]) for code in codes])


def graphs(n: int, labels: int = 8, seed: int = 0) -> Data:
    """Random labelled graphs of 20-60 nodes, mean degree about 3: (edges, node labels) each."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        nodes = int(rng.integers(20, 61))
        edges = {(int(rng.integers(0, i)), i) for i in range(1, nodes)}
        for _ in range(nodes // 2):
            a, b = sorted(map(int, rng.choice(nodes, 2, replace=False)))
            edges.add((a, b))
        made.append((sorted(edges), rng.integers(0, labels, nodes).tolist()))
    return Data(graphs=made)


def _split(X: np.ndarray | sp.csr_matrix, y: np.ndarray, n: int, **more: object) -> Data:
    return Data(X=X[:n], y=y[:n], X_test=X[n:], y_test=y[n:], **more)
