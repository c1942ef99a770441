"""Agglomerative merging: from rows to a tree of clusters.

Every row begins as a cluster, and the two nearest clusters are merged until one is left. How far
two clusters are apart is the linkage:

    single     the least distance of their rows         complete   the largest
    average    the mean over all pairs of rows          weighted   the mean over the two last parts
    centroid   the distance of their means              median     of the middles of their parts
    ward       sqrt(2 n m / (n + m)) times the distance of the means: what merging adds to the sum
               of squares, up to a factor

Single linkage is a minimum spanning tree (Prim's algorithm, O(n) memory). Complete, average,
weighted and Ward's linkage are reducible: merging two clusters brings them no nearer to a third. So
mutual nearest neighbors, found by following a chain of nearest neighbors, may be merged in any
order, and sorting the merges by height gives the same tree in O(n^2). Rows of numbers begin with
all pairs of mutual nearest neighbors at once, before there is a matrix. Ward's needs the means
alone, O(n p) memory. Centroid and median are not reducible and are merged in order. Single and
Ward's linkage of numbers ask in single precision first, and compute exactly what is in doubt.

Clusters that are infinitely far apart are never joined: their merges end the tree, at an infinite
height, and no cut goes through them.

References
----------
Müllner, Modern hierarchical, agglomerative clustering algorithms, 2011.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from novum.clustering.comparing import (
    are_vectors,
    check_matrix_memory,
    distance_matrix,
    prepared_rows,
)
from novum.core.errors import InputError
from novum.core.learners import Learner, parameter
from novum.core.runtime import check_cancelled
from novum.core.tables import Sample, check_sample
from novum.distances import DistanceRows, Euclidean, Precomputed
from novum.numerics import Array, Floats, Integers, minimum_spanning_tree

METHODS = ("single", "complete", "average", "weighted", "ward", "centroid", "median")
# Those that are made of squared Euclidean distances.
OF_MEANS = ("ward", "centroid", "median")
# Distances looked at in one call of a kernel, about a tenth of a second.
_BUDGET = 30_000_000
# Lines of a matrix that are filled at a time.
_LINES = 64
# Where a spanning tree is looked for by boxes.
_MANY_ROWS, _FEW_COLUMNS = 10_000, 6


class _Reader(Learner):
    """What `core.tables` wants to know of a learner; subclasses lend it a function's name."""

    categorical_features: Any = parameter(default="auto")


def reader_of(name: str) -> Learner:
    """What reads the rows that are given to a function of that name."""
    reader: Learner = type(name, (_Reader,), {})()
    return reader


def linkage(X: Any, method: str = "ward", metric: Any = "euclidean") -> Floats:
    """The tree of merges as SciPy's matrix.

    Parameters
    ----------
    X : table, or array (n (n - 1) / 2,)
        Rows; or the distances of all pairs, in SciPy's condensed form.
    method : {"ward", "single", "complete", "average", "weighted", "centroid", "median"}
    metric : str, Distance or callable
        A value of `novum.distances`, one of their names, "precomputed" for a square matrix, or a
        function of two rows. By default Euclidean; `Gower()` where the table has columns of levels.
        Ward, centroid and median are for the Euclidean distance.

    Returns
    -------
    Z : array (n - 1, 4)
        The numbers of two clusters, their distance, and how many rows they have together. Rows are
        clusters 0 to n - 1; merge i makes cluster n + i.

    Examples
    --------
    >>> linkage([[0.0], [1.0], [5.0]], "single")
    array([[0., 1., 1., 2.],
           [2., 3., 4., 3.]])
    """
    if isinstance(X, np.ndarray) and X.ndim == 1:
        rows: DistanceRows = Precomputed().prepare(_square(X))
    elif isinstance(metric, str) and metric == "precomputed":
        rows = Precomputed().prepare(X)
    else:
        sample = check_sample(
            reader_of("linkage"), X, target="none", allow_missing=True, accept_sparse=True
        )
        check_linkage(method, metric)
        check_means(method, sample)
        rows = prepared_rows(sample, metric)
    check_linkage(method, "euclidean")
    if len(rows) < 2:
        raise InputError(f"A tree of merges needs at least 2 rows, got {len(rows)}.")
    return merged_rows(rows, method)


def _square(condensed: Any) -> Floats:
    try:
        return np.asarray(squareform(np.asarray(condensed, np.float64)))
    except ValueError:
        raise InputError(
            f"Distances of all pairs of n rows are n (n - 1) / 2 numbers, got {len(condensed)}."
        ) from None


def check_linkage(method: Any, metric: Any) -> None:
    """Refuses a linkage that is none, or that does not go with the distance."""
    if method not in METHODS:
        raise InputError(f"{method!r} is no linkage. There are {', '.join(METHODS)}.")
    euclidean = isinstance(metric, Euclidean) or metric in ("euclidean", "l2", "precomputed")
    if method in OF_MEANS and not euclidean:
        name = metric if isinstance(metric, str) else type(metric).__name__
        raise InputError(
            f"{name} was provided as metric. {method.capitalize()} can only work with euclidean "
            "distances, whose means it merges. Use linkage='average' for other metrics."
        )


def check_means(method: Any, sample: Sample) -> None:
    """Refuses a linkage of means for columns that have none."""
    if method in OF_MEANS and sample.codes.shape[1]:
        column = sample.schema.categorical_columns[0]
        raise InputError(
            f"Linkage {method!r} merges means of numbers, but column {column.name!r} is "
            f"{column.kind.value}. Use linkage 'average', 'complete' or 'single', which take "
            "Gower's distance."
        )


def merged_rows(rows: DistanceRows, method: str) -> Floats:
    """The tree of prepared rows."""
    if method == "single":
        return sorted_tree(*spanning_tree(rows), len(rows))
    if method == "ward" and are_vectors(rows):
        merges, rises = _ward_of_centers(rows.numbers)  # type: ignore[attr-defined]
        return sorted_tree(merges, np.sqrt(2.0 * rises), len(rows))
    if method not in OF_MEANS and _are_plain(rows, method):
        return sorted_tree(*_by_pairs(rows, method), len(rows))
    matrix = distance_matrix(rows)
    if method in OF_MEANS:
        matrix **= 2
    merge = _in_order if method in ("centroid", "median") else _by_chain
    merges, heights = merge(matrix, method)
    if method in OF_MEANS:
        heights = np.sqrt(np.maximum(heights, 0.0))
    if method in ("centroid", "median"):
        return _tree(merges, heights, len(rows))
    return sorted_tree(merges, heights, len(rows))


def _are_plain(rows: Any, method: str) -> bool:
    """Whether the linkage of vectors follows from sums of powers, or from their square roots."""
    if not are_vectors(rows):
        return False
    power, finish = rows.terms.power, rows.terms.finish
    is_linear = finish in ("none", "half") or (finish == "root" and power in (1.0, 2.0, np.inf))
    return is_linear or method == "complete"


# --- Single ---------------------------------------------------------------------------------------


def spanning_tree(rows: DistanceRows) -> tuple[Integers, Floats]:
    """Edges (n - 1, 2) and lengths of a minimum spanning tree, in O(n) memory."""
    if are_vectors(rows):
        numbers, power = rows.numbers, rows.terms.power  # type: ignore[attr-defined]
        # A tree of boxes leaves out most pairs where columns are few.
        is_long = len(numbers) >= _MANY_ROWS and numbers.shape[1] <= _FEW_COLUMNS
        span = minimum_spanning_tree if is_long else vector_spanning_tree
        edges, powers = span(numbers, power)
        return edges, rows.finish(powers)
    edges, powers = grown_tree(
        len(rows), lambda i: rows.take(slice(i, i + 1)).cross_powers(rows)[0]
    )
    return edges, rows.finish(powers)


def grown_tree(n: int, lengths_from: Callable[[int], Floats]) -> tuple[Integers, Floats]:
    """A minimum spanning tree by Prim's algorithm, from the lengths of one row to all at a time."""
    edges, lengths = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    near, inside = np.full(n, np.inf), np.zeros(n, np.int64)
    outside, last = np.ones(n, bool), 0
    for edge in range(n - 1):
        outside[last] = False
        candidates = lengths_from(last)
        nearer = candidates < near
        near[nearer], inside[nearer] = candidates[nearer], last
        left = np.flatnonzero(outside)
        new = int(left[np.argmin(near[left])])
        edges[edge], lengths[edge] = (inside[new], new), near[new]
        last = new
    return edges, lengths


def vector_spanning_tree(X: Floats, power: float) -> tuple[Integers, Floats]:
    """Edges and their sums of powers, by Prim's algorithm on blocks of rows."""
    from novum.clustering import vector_merging_kernels as kernels

    n, p = X.shape
    blocks = _blocks(X[1:], X)
    cells, _, center, scale, _ = blocks
    n_slots = len(cells) * kernels.BLOCK
    rows, inside = np.zeros(n_slots, np.int64), np.zeros(n_slots, np.int64)
    rows[: n - 1] = np.arange(1, n)
    near, limits = np.full(n_slots, np.inf), np.full(n_slots, -1.0, np.float32)
    limits[: n - 1] = np.inf
    outside = rows, near, limits, inside, np.full(len(cells), np.inf)
    point, coarse_point, *powers = _scratch(p)
    point[:], coarse_point[:] = X[0], (X[0] - center) / scale
    scratch, state = (point, coarse_point, *powers), np.zeros(2, np.int64)
    edges, lengths = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    left = n - 1
    while left:
        steps = min(left, max(1, _BUDGET // (left * max(1, p))))
        kernels.span(blocks, outside, left, steps, power, scratch, state, edges, lengths)
        left -= steps
    return edges, lengths


def _blocks(rows: Floats, X: Floats) -> tuple[Floats, Array, Floats, float, float]:
    """Rows in blocks, exactly and coarsely; moved and scaled as all of `X`."""
    from novum.clustering.vector_merging_kernels import BLOCK

    m, p = rows.shape
    low, high = X.min(axis=0), X.max(axis=0)
    center = low / 2 + high / 2
    half = float((high / 2 - low / 2).max(initial=0.0))
    # A power of two, so that nothing is rounded twice.
    scale = float(np.ldexp(0.5, min(int(np.frexp(half)[1]), 1023) + 1))
    n_blocks = -(-m // BLOCK)
    padded = np.tile(center, (n_blocks * BLOCK, 1))
    padded[:m] = rows
    turned = padded.reshape(n_blocks, BLOCK, p).transpose(0, 2, 1)
    cells, coarse = _aligned(turned.shape), _aligned(turned.shape, np.float32)
    cells[:], coarse[:] = turned, (turned - center[:, np.newaxis]) / scale
    return cells, coarse, center, scale, p * 2.0**-21


def _aligned(shape: tuple[int, ...], dtype: Any = np.float64) -> Array:
    """Zeros of which no vector lies in two lines of the cache: a third of the time."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(shape)


def _scratch(p: int) -> tuple[Floats, Array, Floats, Array]:
    """A point and powers of a block, each exactly and coarsely."""
    from novum.clustering.vector_merging_kernels import BLOCK

    powers = _aligned((BLOCK,)), _aligned((BLOCK,), np.float32)
    return np.empty(p), np.empty(p, np.float32), *powers


# --- Chains ---------------------------------------------------------------------------------------


def _ward_of_centers(X: Floats) -> tuple[Integers, Floats]:
    """Merges, each by two of their rows, and the rises of the sum of squares."""
    from novum.clustering import vector_merging_kernels as kernels

    n, p = X.shape
    chain, state = np.empty(n + 1, np.int64), np.zeros(2, np.int64)
    merges, rises = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    blocks = _blocks(X, X)
    n_blocks, n_slots = len(blocks[0]), n
    sizes = np.zeros(n_blocks * kernels.BLOCK)
    sizes[:n] = 1.0
    clusters = sizes, sizes.astype(np.float32), np.arange(n)
    coarse_rises = _aligned((n_blocks, kernels.BLOCK), np.float32)
    scratch = *_scratch(p), coarse_rises, np.empty(n_blocks, np.float32)
    left, budget = n, _BUDGET // max(1, p)
    while left > 1:
        left = kernels.ward_chain(
            blocks, clusters, n_slots, left, budget, scratch, chain, state, merges, rises
        )
        if left > 64 and left <= (7 * n_slots) // 8:
            kernels.pack(blocks, clusters, n_slots, chain, state)
            n_slots = left
    return merges, rises


def _by_pairs(rows: Any, method: str) -> tuple[Integers, Floats]:
    """Merges of vectors: rows that are nearest to each other first, then a chain of what is left.

    Such pairs are merged whatever the order, so that the matrix is of fewer clusters, and time and
    memory go for its cells. Distances need no roots where the linkage only compares them.
    """
    from novum.clustering import merging_kernels as kernels

    power, finish = rows.terms.power, rows.terms.finish
    pairs = mutual_pairs(rows.numbers, power)
    n, k = len(rows), len(pairs)
    alone = np.ones(n, bool)
    alone[pairs] = False
    # Partners side by side, then the others.
    order = np.concatenate([pairs.ravel(), np.flatnonzero(alone)])
    columns = np.ascontiguousarray(rows.numbers[order].T)
    m = n - k
    check_matrix_memory(m)
    matrix, own = np.empty((m, m)), np.empty(k)
    code = METHODS.index(method) - 1
    is_root = finish == "root" and power == 2.0 and method != "complete"
    for start in range(0, m, _LINES):
        check_cancelled()
        stop = min(start + _LINES, m)
        kernels.pair_distances(columns, k, start, stop, code, power, is_root, matrix, own)
    sizes = np.concatenate([np.full(k, 2.0), np.ones(m - k)])
    merges, heights = _by_chain(
        matrix, method, sizes, np.concatenate([pairs[:, 0], order[2 * k :]])
    )
    heights = np.concatenate([own, heights])
    return np.concatenate([pairs, merges]), heights if is_root else rows.finish(heights)


def mutual_pairs(X: Floats, power: float) -> Integers:
    """Pairs (k, 2) of rows that are nearest to each other, no row in two of them.

    Examples
    --------
    >>> mutual_pairs(np.array([[0.0], [1.0], [1.5], [9.0]]), 2.0)
    array([[1, 2]])
    """
    from novum.clustering import merging_kernels as kernels

    n, p = X.shape
    columns = np.ascontiguousarray(X.T)
    later, ahead, nearest = np.zeros(n, np.int64), np.full(n, np.inf), np.full(n, np.inf)
    step = max(1, _BUDGET // (n * max(1, p)))
    for start in range(0, n, step):
        check_cancelled()
        stop = min(start + step, n)
        kernels.nearest_rows(columns, start, stop, power, later, ahead, nearest)
    mutual = (ahead == nearest) & (ahead == nearest[later]) & (ahead < np.inf)
    pairs: list[tuple[int, int]] = []
    taken = np.zeros(n, bool)
    # Of equally near rows the first two that are free.
    for i in np.flatnonzero(mutual).tolist():
        j = int(later[i])
        if not (taken[i] or taken[j]):
            taken[i] = taken[j] = True
            pairs.append((i, j))
    return np.array(pairs, np.int64).reshape(-1, 2)


def _by_chain(
    matrix: Floats, method: str, sizes: Floats | None = None, rows: Integers | None = None
) -> tuple[Integers, Floats]:
    """Merges of a matrix of distances, which is used up.

    `sizes` and `rows` are how many rows the clusters have, and one row of each.
    """
    from novum.clustering import merging_kernels as kernels

    n = len(matrix)
    D = matrix.ravel()
    sizes = np.ones(n) if sizes is None else sizes
    rows = np.arange(n) if rows is None else rows
    chain, state = np.empty(n + 1, np.int64), np.zeros(2, np.int64)
    times = np.zeros((2, n), np.int64)
    merges, heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    code = METHODS.index(method) - 1
    left = n
    while left > 1:
        m = len(sizes)
        left = kernels.matrix_chain(
            D, m, code, _BUDGET, sizes, rows, times, chain, state, merges, heights
        )
        if left > 64 and left <= (3 * m) // 5:
            kept = np.flatnonzero(sizes > 0)
            kernels.compact(D, m, kept, sizes, times)
            _renumber(chain, state, kept, m)
            sizes, rows = sizes[kept], rows[kept]
            times = np.zeros((2, len(kept)), np.int64)
            times[1] = state[1]
    return merges[: state[1]], heights[: state[1]]


def _renumber(chain: Integers, state: Integers, kept: Any, n_slots: int) -> None:
    """The chain in the numbers of the slots that are kept."""
    number = np.full(n_slots, -1, np.int64)
    number[kept] = np.arange(len(kept))
    chain[: state[0]] = number[chain[: state[0]]]


def _in_order(matrix: Floats, method: str) -> tuple[Integers, Floats]:
    """Merges of the nearest two clusters at each step, by their numbers."""
    from novum.clustering import merging_kernels as kernels

    n = len(matrix)
    np.fill_diagonal(matrix, np.inf)
    upper = np.where(np.tri(n, dtype=bool), np.inf, matrix)
    near, nearest = upper.argmin(axis=1), upper.min(axis=1)
    del upper
    sizes, rows, state = np.ones(n), np.arange(n), np.zeros(1, np.int64)
    merges, heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    code, steps = METHODS.index(method) - 1, max(1, _BUDGET // (8 * n))
    done, wanted = 0, min(n - 1, steps)
    while done < wanted:
        kernels.greedy_merges(
            matrix, code, wanted - done, sizes, near, nearest, rows, state, merges, heights
        )
        is_over = state[0] < wanted
        done = int(state[0])
        wanted = done if is_over else min(n - 1, done + steps)
    apart = rows[sizes > 0]
    for i, other in enumerate(apart[1:], done):
        merges[i], heights[i] = (apart[0] if i == done else n + i - 1, other), np.inf
    return merges, heights


# --- Trees ----------------------------------------------------------------------------------------


def _tree(merges: Integers, heights: Floats, n: int) -> Floats:
    """SciPy's matrix of merges that are in order and named by clusters."""
    Z = np.empty((n - 1, 4))
    Z[:, :2] = np.sort(merges, axis=1)
    Z[:, 2] = heights
    sizes = np.ones(2 * n - 1)
    for i, (a, b) in enumerate(Z[:, :2].astype(np.int64)):
        sizes[n + i] = sizes[a] + sizes[b]
    Z[:, 3] = sizes[n:]
    return Z


def sorted_tree(merges: Integers, heights: Floats, n: int) -> Floats:
    """SciPy's matrix of merges in any order, each named by two of its rows.

    What they do not connect is infinitely far apart, and merged at last.
    """
    from novum.clustering import merging_kernels as kernels

    if len(merges) < n - 1:
        graph = sparse.coo_array((np.ones(len(merges)), merges.T), shape=(n, n))
        first = np.unique(connected_components(graph, directed=False)[1], return_index=True)[1]
        last = np.stack([np.full(len(first) - 1, first.min()), np.sort(first)[1:]], axis=1)
        merges = np.concatenate([merges, last])
        heights = np.concatenate([heights, np.full(len(last), np.inf)])
    order = np.argsort(heights, kind="stable")
    Z = np.empty((n - 1, 4))
    Z[:, 2] = heights[order]
    kernels.name_clusters(np.ascontiguousarray(merges[order]), np.arange(n), np.arange(n), Z)
    return Z


def cut_tree(Z: Floats, n_clusters: int) -> Integers:
    """Labels of the rows when `n_clusters` are left, numbered by their first rows.

    Examples
    --------
    >>> cut_tree(linkage([[0.0], [5.0], [1.0]], "single"), 2)
    array([0, 1, 0])
    """
    n, fewest = len(Z) + 1, 1 + int(np.isinf(Z[:, 2]).sum())
    if n_clusters < fewest:
        labels = cut_tree(Z, fewest)
        raise InputError(
            f"The rows cannot be joined into {n_clusters} clusters: there are {fewest} that are "
            f"infinitely far apart, of row 0 and of row {int(np.argmax(labels == 1))} for example. "
            f"Ask for at least {fewest}, or take a distance that knows all pairs."
        )
    parent = np.arange(2 * n - 1)
    for i in range(n - n_clusters):
        a, b = int(Z[i, 0]), int(Z[i, 1])
        parent[a] = parent[b] = n + i
    # Parents have larger numbers, so from the last to the first all are known.
    for node in range(2 * n - 2, -1, -1):
        parent[node] = parent[parent[node]]
    _, first, labels = np.unique(parent[:n], return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[labels])
