"""How clearly groups are apart, from the rows and their labels alone.

    silhouette         s_i = (b_i - a_i) / max(a_i, b_i), with the mean distance a_i to the other
                       rows of the own group and b_i to those of the nearest other group; 0 for a
                       group of one row
    Calinski-Harabasz  (between / (k - 1)) / (within / (n - k)), sums of squares
    Davies-Bouldin     mean over groups of the worst (r_i + r_j) / |c_i - c_j|, with the mean
                       distance r_i of rows to their center; smaller is better

References
----------
Rousseeuw, Silhouettes, 1987. Caliński and Harabasz, A dendrite method for cluster analysis, 1974.
Davies and Bouldin, A cluster separation measure, 1979.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.clustering.comparing import (
    MatrixRows,
    are_vectors,
    check_matrix,
    prepared_rows,
)
from novum.clustering.merging import reader_of
from novum.core.errors import InputError
from novum.core.runtime import check_cancelled, stream, time_sliced
from novum.core.tables import check_sample
from novum.distances import DistanceRows
from novum.numerics import Array, Floats, Integers

_BLOCK = 2_000_000


def silhouette_samples(X: Any, labels: Any, *, metric: Any = "euclidean") -> Floats:
    """The silhouette of every row, from -1 (in the wrong group) to 1 (clearly in the right one).

    Parameters
    ----------
    X : table, or square matrix of distances with `metric="precomputed"`
    labels : array-like of shape (n_rows,)
    metric : str, Distance or callable

    Examples
    --------
    >>> silhouette_samples([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]).round(3)
    array([0.895, 0.882, 0.882, 0.895])
    """
    rows = _rows(X, metric)
    codes = _codes(labels, len(rows))
    sums, sizes = distance_sums(rows, codes), np.bincount(codes)
    n = np.arange(len(codes))
    own = sizes[codes] - 1
    inside = sums[n, codes] / np.maximum(own, 1)
    means = sums / sizes
    means[n, codes] = np.inf
    outside = means.min(axis=1)
    most = np.maximum(inside, outside)
    silhouettes = np.where(most > 0, (outside - inside) / np.where(most > 0, most, 1.0), 0.0)
    return np.where(own > 0, silhouettes, 0.0)


def silhouette_score(
    X: Any,
    labels: Any,
    *,
    metric: Any = "euclidean",
    sample_size: int | None = None,
    random_state: Any = None,
) -> float:
    """The mean silhouette; of `sample_size` rows drawn at random, if given.

    Examples
    --------
    >>> round(silhouette_score([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 3)
    0.889
    """
    if sample_size is not None:
        rows = np.sort(stream(random_state, "silhouette").permutation(len(labels))[:sample_size])
        X = np.asarray(X)[np.ix_(rows, rows)] if metric == "precomputed" else _taken(X, rows)
        labels = np.asarray(labels)[rows]
    return float(silhouette_samples(X, labels, metric=metric).mean())


def calinski_harabasz_score(X: Any, labels: Any) -> float:
    """Sums of squares between groups over those within, each over its degrees of freedom.

    Examples
    --------
    >>> calinski_harabasz_score([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
    162.0
    """
    rows, codes = _numbers(X, labels)
    n, k = len(rows), int(codes.max()) + 1
    centers, sizes = _centers(rows, codes)
    within = float(((rows - centers[codes]) ** 2).sum())
    between = float(sizes @ ((centers - rows.mean(axis=0)) ** 2).sum(axis=1))
    return between * (n - k) / (within * (k - 1.0)) if within > 0 else 1.0


def davies_bouldin_score(X: Any, labels: Any) -> float:
    """The mean over groups of how much the nearest group overlaps; smaller is better.

    Examples
    --------
    >>> round(davies_bouldin_score([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 3)
    0.111
    """
    rows, codes = _numbers(X, labels)
    centers, sizes = _centers(rows, codes)
    lengths = np.sqrt(((rows - centers[codes]) ** 2).sum(axis=1))
    radius = np.bincount(codes, lengths) / sizes
    apart = np.sqrt(((centers[:, np.newaxis] - centers) ** 2).sum(axis=2))
    if not apart.any() or not radius.any():
        return 0.0
    apart[apart == 0] = np.inf
    return float(((radius[:, np.newaxis] + radius) / apart).max(axis=1).mean())


# --- Sums of distances ----------------------------------------------------------------------------


def distance_sums(rows: DistanceRows, codes: Integers) -> Floats:
    """Sums of the distances of every row (axis 0) to the rows of every group (axis 1)."""
    n, k = len(rows), int(codes.max()) + 1
    out = np.empty((n, k))
    if are_vectors(rows) and rows.terms.finish == "root" and rows.terms.power == 2.0:  # type: ignore[attr-defined]
        from novum.clustering import separation_kernels as kernels

        X: Floats = rows.numbers  # type: ignore[attr-defined]
        order = np.argsort(codes, kind="stable")
        columns = np.ascontiguousarray(X[order].T)
        ends = np.concatenate([[0], np.cumsum(np.bincount(codes))])
        for start, stop in time_sliced(n, block=16):
            kernels.euclidean_sums(X[start:stop], columns, ends, out[start:stop])
        return out
    groups = np.zeros((n, k))
    groups[np.arange(n), codes] = 1.0
    step = max(1, _BLOCK // max(n, 1))
    for start in range(0, n, step):
        check_cancelled()
        part = slice(start, min(start + step, n))
        block = rows.take(part).cross(rows)
        # A row with missing cells is apart from itself on average, but takes no part here.
        block[np.arange(len(block)), np.arange(part.start, part.stop)] = 0.0
        out[part] = block @ groups
    return out


def _rows(X: Any, metric: Any) -> DistanceRows:
    if isinstance(metric, str) and metric == "precomputed":
        matrix = np.asarray(X, np.float64)
        check_matrix(matrix)
        return MatrixRows(matrix)
    sample = check_sample(
        reader_of("silhouette"), X, target="none", allow_missing=True, accept_sparse=True
    )
    return prepared_rows(sample, metric)


def _taken(X: Any, rows: Array) -> Any:
    from novum.core.tables import rows_of

    return rows_of(X, rows) if not isinstance(X, list) else [X[i] for i in rows]


def _numbers(X: Any, labels: Any) -> tuple[Floats, Integers]:
    sample = check_sample(reader_of("index"), X, target="none")
    if not sample.schema.is_numeric:
        raise InputError(
            "This index is made of means, so it is for columns of numbers. Use "
            "silhouette_score(X, labels, metric='gower') for others."
        )
    rows = np.asarray(sample.numeric, np.float64)
    return rows, _codes(labels, len(rows))


def _codes(labels: Any, n: int) -> Integers:
    """Labels as codes from 0 on, of at least 2 groups and fewer than rows."""
    given = np.asarray(labels)
    if given.shape != (n,):
        raise InputError(f"{n} rows need a label each, got labels of shape {given.shape}.")
    names, codes = np.unique(given, return_inverse=True)
    if not 2 <= len(names) <= n - 1:
        raise InputError(
            f"Number of labels is {len(names)}. Valid values are 2 to n_samples - 1 (inclusive), "
            f"here {n - 1}: one group, or groups of one row, are not apart."
        )
    return np.asarray(codes, np.int64)


def _centers(rows: Floats, codes: Integers) -> tuple[Floats, Floats]:
    sizes = np.bincount(codes).astype(np.float64)
    origin = rows.mean(axis=0)
    sums = np.zeros((len(sizes), rows.shape[1]))
    np.add.at(sums, codes, rows - origin)
    return origin + sums / sizes[:, np.newaxis], sizes
