"""Divisive clustering: from one cluster of all rows down to single rows.

DIANA splits the cluster of largest diameter, those of infinite diameter first. The row that is
farthest from the others on average leaves it; then every row follows that is nearer to those that
left than to those that stayed.
Bisecting k-means splits the cluster of largest sum of squares into two by k-means.

References
----------
Kaufman and Rousseeuw, Finding Groups in Data, 1990, chapter 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin

from novum.clustering.agglomerative import TreeOfMerges
from novum.clustering.comparing import distance_matrix, with_finite
from novum.clustering.k_means import KMeans
from novum.clustering.merging import cut_tree
from novum.core.errors import InputError
from novum.core.learners import Certificate, Verdict, fitted, parameter
from novum.core.runtime import check_cancelled, fit_context, fitting, seed_sequence, stream
from novum.numerics import Floats, Positions

Split = Callable[[Positions, int], tuple[Positions, Positions]]


class DivisiveClustering(ClusterMixin, TreeOfMerges):
    """Divisive clustering: DIANA, or bisecting k-means.

    Parameters
    ----------
    n_clusters : int
    method : {"diana", "bisecting"}
        "diana" works on distances of any kind; "bisecting" on numbers, for larger tables.
    metric : str, Distance or callable
        Of "diana".
    n_init : int
        Restarts of every k-means of "bisecting".
    random_state : int, RandomState, Generator or None
        Of "bisecting".
    categorical_features : as everywhere

    Attributes
    ----------
    labels_ : int array (n_rows,)
        Numbered by the first row of each cluster.
    linkage_matrix_ : array (n_rows - 1, 4)
        The splits from the last to the first, as SciPy's `Z`: heights are diameters, or with
        "bisecting" sums of squares. "bisecting" splits into `n_clusters`; below, clusters are
        taken apart row by row at height 0.
    divisive_coefficient_ : float
        Of "diana": the mean over rows of 1 minus the diameter of the last cluster they leave over
        that of all; near 1 for clear groups.
    n_clusters_, n_leaves_, certificate_, schema_
        As of `AgglomerativeClustering`.

    Examples
    --------
    >>> model = DivisiveClustering(2).fit([[0.0], [1.0], [7.0], [9.0]])
    >>> model.labels_, model.distances_
    (array([0, 0, 1, 1]), array([1., 2., 9.]))
    """

    invariances = ("shift", "common_scale")

    method: str = parameter({"diana", "bisecting"}, default="diana")
    n_init: int = parameter(default=3, at_least=1)
    random_state: Any = parameter("random_state", np.random.Generator, default=None)

    divisive_coefficient_: float = fitted()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.sparse and self.method == "diana"
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Splits the rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
        y : ignored
        """
        del y
        with fitting(self):
            sample, rows = self._compared(X)
            n, k = len(rows), int(self.n_clusters or 1)
            if n < 2 or k > n:
                raise InputError(
                    f"{n} rows cannot be split into {k} clusters: n_samples={n} is too few. Give "
                    "at least 2 rows, and as many as clusters."
                )
            if self.method == "diana":
                splits = _diana(distance_matrix(rows))
            else:
                if not sample.schema.is_numeric or sample.is_sparse:
                    raise InputError(
                        "Bisecting k-means splits dense rows of numbers. Use method='diana' for "
                        "columns of different kinds and for sparse rows."
                    )
                splits = self._bisected(np.asarray(sample.numeric, np.float64), k)
            self.linkage_matrix_ = _tree_of_splits(splits, n)
            self.schema_, self.n_leaves_, self.n_clusters_ = sample.schema, n, k
            self.labels_ = cut_tree(self.linkage_matrix_, k)
            self.__dict__.pop("divisive_coefficient_", None)
            if self.method == "diana":
                self.divisive_coefficient_ = _coefficient(splits, n)
            self.certificate_ = Certificate(
                objective="splits in the order of their heights",
                verdict=Verdict.LOCAL,
                iterations=len(splits),
                details={"method": self.method},
            )
        return self

    def _bisected(self, X: Floats, k: int) -> list[_Split]:
        root = seed_sequence(self.random_state)
        splits: list[_Split] = []
        clusters = [np.arange(len(X))]
        costs = [_sum_of_squares(X)]
        while len(clusters) < k:
            check_cancelled()
            widest = int(np.argmax(costs))
            rows, cost = clusters.pop(widest), costs.pop(widest)
            if cost > 0 and len(np.unique(X[rows], axis=0)) > 1:
                rng = stream(root, len(splits))
                model = KMeans(2, n_init=self.n_init, random_state=rng).fit(X[rows])
                side = model.labels_ == 0
            else:
                side = np.arange(len(rows)) == 0
            halves = rows[side], rows[~side]
            parts = [_sum_of_squares(X[half]) for half in halves]
            splits.append((cost, *halves))
            clusters += halves
            costs += parts
        for rows in clusters:
            # What is not split is taken apart at height 0.
            splits += [(0.0, rows[i : i + 1], rows[i + 1 :]) for i in range(len(rows) - 1)]
        return splits


# A height and the two sides of a split.
_Split = tuple[float, Positions, Positions]


def _sum_of_squares(X: Floats) -> float:
    known = ~np.isnan(X)
    counts = np.maximum(known.sum(axis=0), 1)
    cells = np.where(known, X, 0.0)
    return float((np.where(known, cells - cells.sum(axis=0) / counts, 0.0) ** 2).sum())


def _diana(D: Floats) -> list[_Split]:
    """All splits, each of the cluster of largest diameter at its time."""
    finite = with_finite(D, np.ones(len(D)))
    clusters = [(float(D.max()), np.arange(len(D)))]
    splits: list[_Split] = []
    while clusters:
        check_cancelled()
        widest = max(range(len(clusters)), key=lambda i: clusters[i][0])
        height, rows = clusters.pop(widest)
        if len(rows) == 1:
            continue
        inside = D[np.ix_(rows, rows)]
        leaves = _splinter(inside if finite is D else finite[np.ix_(rows, rows)])
        halves = rows[leaves], rows[~leaves]
        splits.append((height, *halves))
        for half, mask in zip(halves, (leaves, ~leaves), strict=True):
            if len(half) > 1:
                clusters.append((float(inside[np.ix_(mask, mask)].max()), half))
    return splits


def _splinter(D: Floats) -> Any:
    """Which rows leave a cluster."""
    n = len(D)
    leaves = np.zeros(n, bool)
    first = int(np.argmax(D.sum(axis=1)))
    leaves[first] = True
    gone, stayed = D[first].copy(), D.sum(axis=1) - D[first]
    for m in range(1, n - 1):
        gains = np.where(leaves, -np.inf, stayed / (n - m - 1) - gone / m)
        best = int(np.argmax(gains))
        if not gains[best] > 0:
            break
        leaves[best] = True
        gone += D[best]
        stayed -= D[best]
    return leaves


def _tree_of_splits(splits: list[_Split], n: int) -> Floats:
    """Splits in the order of falling heights as merges in that of rising ones."""
    order = sorted(range(len(splits)), key=lambda i: (-splits[i][0], i), reverse=True)
    # A part is never merged after the whole: of equal heights the later split comes first.
    names = np.arange(n)
    sizes: dict[int, int] = {}
    Z = np.empty((n - 1, 4))
    for i, place in enumerate(order):
        height, left, right = splits[place]
        a, b = sorted((int(names[left[0]]), int(names[right[0]])))
        size = sizes.get(a, 1) + sizes.get(b, 1)
        Z[i] = a, b, height, size
        names[left], names[right], sizes[n + i] = n + i, n + i, size
    return Z


def _coefficient(splits: list[_Split], n: int) -> float:
    total = splits[0][0]
    if not total > 0:
        return 0.0
    last = np.zeros(n)
    for height, left, right in splits:
        for half in (left, right):
            if len(half) == 1:
                last[half[0]] = height
    # A part that is infinitely wide, as all rows are, is all of it.
    shares = np.divide(last, total, out=np.ones(n), where=last < total)
    return float((1.0 - shares).mean())
