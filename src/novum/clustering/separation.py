"""How clearly groups are apart: silhouettes by any distance, and scikit-learn's two indices.

    s_i = (b_i - a_i) / max(a_i, b_i)

with the mean distance a_i to the other rows of the own group and b_i to those of the nearest other
group; 0 for a group of one row. An infinite distance makes a mean infinite: such a row is 1 where
only b_i is, -1 where only a_i is, and 0 where both are.

Reference: Rousseeuw, Silhouettes, 1987.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn import metrics

from novum.clustering.agreement import refuse_missing_labels
from novum.clustering.comparing import are_vectors, prepared_rows
from novum.clustering.merging import reader_of
from novum.core.errors import InputError
from novum.core.runtime import check_cancelled, stream, time_sliced
from novum.core.tables import check_sample, plain_target
from novum.distances import DistanceRows, Precomputed
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
    far = np.isinf(inside).astype(float), np.isinf(outside).astype(float)
    if np.any(far):
        infinite = np.maximum(*far) > 0
        inside, outside = (
            np.where(infinite, *pair) for pair in zip(far, (inside, outside), strict=True)
        )
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
        infinite = np.isinf(block)
        block[infinite] = 0.0
        out[part] = block @ groups
        if infinite.any():
            out[part][infinite @ groups > 0] = np.inf
    return out


def _rows(X: Any, metric: Any) -> DistanceRows:
    if isinstance(metric, str) and metric == "precomputed":
        if sparse.issparse(X):
            raise InputError(
                "A silhouette needs all distances, and a sparse matrix has those of neighbors "
                "alone. Pass the whole matrix."
            )
        rows = Precomputed().prepare(X)
        own = np.flatnonzero(np.diagonal(rows.cells))
        if len(own):
            raise InputError(
                "The precomputed distance matrix contains non-zero elements on the diagonal: row "
                f"{own[0]} is {rows.cells[own[0], own[0]]:g} apart from itself. Use "
                "np.fill_diagonal(X, 0)."
            )
        return rows
    sample = check_sample(
        reader_of("silhouette"), X, target="none", allow_missing=True, accept_sparse=True
    )
    return prepared_rows(sample, metric)


def _taken(X: Any, rows: Array) -> Any:
    from novum.core.tables import rows_of

    return rows_of(X, rows) if not isinstance(X, list) else [X[i] for i in rows]


def _codes(labels: Any, n: int) -> Integers:
    """Labels as codes from 0 on, of at least 2 groups and fewer than rows."""
    given = np.asarray(labels)
    if given.shape != (n,):
        raise InputError(f"{n} rows need a label each, got labels of shape {given.shape}.")
    refuse_missing_labels(given)
    names, codes = np.unique(given, return_inverse=True)
    if not 2 <= len(names) <= n - 1:
        raise InputError(
            f"Number of labels is {len(names)}. Valid values are 2 to n_samples - 1 (inclusive), "
            f"here {n - 1}: one group, or groups of one row, are not apart."
        )
    return np.asarray(codes, np.int64)


def calinski_harabasz_score(X: Any, labels: Any) -> float:
    """The variance between groups over that within, each by its degrees of freedom.

    Examples
    --------
    >>> calinski_harabasz_score([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
    162.0
    """
    refuse_missing_labels(plain_target(labels))
    return float(metrics.calinski_harabasz_score(X, labels))


def davies_bouldin_score(X: Any, labels: Any) -> float:
    """The mean over groups of their likeness to the most similar other group; lower is better.

    Examples
    --------
    >>> davies_bouldin_score([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]).__round__(6)
    0.111111
    """
    refuse_missing_labels(plain_target(labels))
    return float(metrics.davies_bouldin_score(X, labels))
