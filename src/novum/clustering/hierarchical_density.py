"""HDBSCAN: the groups of all densities at once, of which the most stable are taken.

Rows are as far apart as the mutual reachability

    max(c_i, c_j, d(i, j) / alpha),      c_i the distance to the `min_samples`-th row, itself first

whose single-linkage tree is that of DBSCAN for every `eps`. With the density lambda = 1 / eps
rising, clusters lose rows, or split into two of at least `min_cluster_size` rows. The stability of
a cluster is the sum over its rows of lambda where they leave less lambda where it began; of a
cluster and its parts, those of larger stability are taken.

References
----------
Campello, Moulavi and Sander, Density-based clustering based on hierarchical density estimates,
PAKDD 2013. McInnes and Healy, Accelerated hierarchical density based clustering, 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from novum.clustering.comparing import Compared, are_vectors
from novum.clustering.merging import cut_tree, grown_tree, sorted_tree
from novum.core.errors import InputError
from novum.core.learners import Certificate, Verdict, fitted, parameter
from novum.core.runtime import check_cancelled, fit_context, fitting
from novum.core.tables import Schema
from novum.distances import DistanceRows
from novum.numerics import Floats, Integers, KDTree, NearestRows, minimum_spanning_tree

_BLOCK = 2_000_000


class HDBSCAN(ClusterMixin, Compared):
    """Hierarchical density-based clustering, with noise.

    Parameters
    ----------
    min_cluster_size : int
        Rows of the smallest group.
    min_samples : int, optional
        Neighbors, itself included, that density is measured by; `min_cluster_size` by default.
    cluster_selection_epsilon : float
        Clusters that split below this distance are not split.
    max_cluster_size : int, optional
        Larger clusters are split, with method "eom".
    metric : str, Distance or callable
        A value of `novum.distances`, one of their names, "precomputed", or a function of two rows.
    metric_params : dict, optional
        Settings of a metric given by name, or further arguments of a function.
    alpha : float
        Distances are divided by this against those to neighbors.
    algorithm, leaf_size, n_jobs, copy : without effect
        A tree of boxes for vectors, all distances for others.
    cluster_selection_method : {"eom", "leaf"}
        The most stable clusters, or the finest.
    allow_single_cluster : bool
        Whether all rows may be one cluster.
    store_centers : {"centroid", "medoid", "both"}, optional
        What to keep of each cluster, of tables of numbers.
    categorical_features : as everywhere

    Attributes
    ----------
    labels_ : int array (n_rows,)
        -1 is noise; clusters are numbered by their first rows.
    probabilities_ : array (n_rows,)
        How far inside its cluster a row is: 1 in the densest part, 0 for noise.
    cluster_persistence_ : array (n_clusters,)
        The stability of each cluster over its number of rows.
    linkage_matrix_ : array (n_rows - 1, 4)
        The single-linkage tree of mutual reachability, as SciPy's `Z`.
    centroids_, medoids_ : arrays (n_clusters, n_columns)
        Means weighted by the probabilities, and the rows nearest to all others so weighted.
    certificate_, schema_, n_features_in_, feature_names_in_
        As everywhere.

    Notes
    -----
    Missing cells take part as the distance says. Columns count by their units: scale them first.
    Infinitely far rows come together at density 0, of which no group is made; of a sparse
    precomputed matrix these are the pairs that it does not hold.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [20.0]]
    >>> HDBSCAN(min_cluster_size=3, min_samples=2).fit_predict(X)
    array([ 0,  0,  0,  1,  1,  1, -1])
    """

    invariances = ("shift", "common_scale", "row_order")

    min_cluster_size: int = parameter(default=5, at_least=2, kw_only=False)
    min_samples: int | None = parameter(default=None, at_least=1, kw_only=False)
    cluster_selection_epsilon: float = parameter(default=0.0, at_least=0)
    max_cluster_size: int | None = parameter(default=None, at_least=1)
    metric_params: Any = parameter(dict, None, default=None)
    alpha: float = parameter(default=1.0, above=0)
    algorithm: str = parameter({"auto", "brute", "kd_tree", "ball_tree"}, default="auto")
    leaf_size: int = parameter(default=40, at_least=1)
    n_jobs: int | None = parameter(default=None)
    cluster_selection_method: str = parameter({"eom", "leaf"}, default="eom")
    allow_single_cluster: bool = parameter(default=False)
    store_centers: Any = parameter({"centroid", "medoid", "both"}, None, default=None)
    copy: bool = parameter(default=True)

    labels_: Integers = fitted()
    probabilities_: Floats = fitted()
    cluster_persistence_: Floats = fitted()
    linkage_matrix_: Floats = fitted()
    centroids_: Floats = fitted()
    medoids_: Floats = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Finds the clusters.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns), or (n_rows, n_rows)
        y : ignored
        """
        del y
        with fitting(self):
            sample, rows = self._compared(X)
            n = len(rows)
            k = self.min_cluster_size if self.min_samples is None else self.min_samples
            if n < 2:
                raise InputError(f"n_samples={n} while HDBSCAN requires more than one sample.")
            if k > n:
                raise InputError(
                    f"min_samples ({k}) must be at most the number of samples in X ({n}). Measure "
                    "density by fewer neighbors."
                )
            Z = sorted_tree(*reachability_tree(rows, k, float(self.alpha)), n)
            tree = CondensedTree.of(Z, self.min_cluster_size)
            chosen = self._chosen(tree)
            labels, strengths = tree.labels(
                chosen, self.allow_single_cluster, float(self.cluster_selection_epsilon)
            )
            self._store(Z, tree, chosen, labels, strengths)
            self.schema_ = sample.schema
            self._store_centers(sample, rows)
        return self

    def dbscan_clustering(self, cut_distance: float, min_cluster_size: int = 5) -> Integers:
        """Labels of the clusters of one density, as DBSCAN without border rows would find them.

        Parameters
        ----------
        cut_distance : float
            Rows whose mutual reachability is at most this are connected: DBSCAN's `eps`.
        min_cluster_size : int
            Clusters of fewer rows are noise.

        Examples
        --------
        >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [20.0]]
        >>> HDBSCAN(min_cluster_size=3, min_samples=2).fit(X).dbscan_clustering(0.3, 2)
        array([ 0,  0,  0,  1,  1,  1, -1])
        """
        check_is_fitted(self, "linkage_matrix_")
        Z = self.linkage_matrix_
        near = (Z[:, 2] <= cut_distance) & (Z[:, 2] < np.inf)
        labels = cut_tree(Z, len(Z) + 1 - int(near.sum()))
        large = np.bincount(labels) >= min_cluster_size
        return np.where(large, np.cumsum(large) - 1, -1)[labels]

    def _settings(self) -> Any:
        return self.metric_params

    def _chosen(self, tree: CondensedTree) -> list[int]:
        eps = float(self.cluster_selection_epsilon)
        if self.cluster_selection_method == "leaf":
            chosen = tree.leaves()
            if not chosen:
                chosen = [0] if self.allow_single_cluster else []
            return tree.not_below(chosen, eps, self.allow_single_cluster) if eps else chosen
        chosen = tree.most_stable(self.allow_single_cluster, self.max_cluster_size)
        if eps and len(tree.parent) > 1 and chosen != [0]:
            return tree.not_below(chosen, eps, self.allow_single_cluster)
        return chosen

    def _store(
        self, Z: Floats, tree: CondensedTree, chosen: list[int], labels: Integers, strengths: Floats
    ) -> None:
        present = np.unique(labels[labels >= 0])
        first = [int(np.flatnonzero(labels == c)[0]) for c in present]
        rank = np.full(int(labels.max(initial=-1)) + 2, -1, np.int64)
        rank[present[np.argsort(first)]] = np.arange(len(present))
        self.linkage_matrix_, self.probabilities_ = Z, strengths
        self.labels_ = rank[labels]
        stability = np.array([tree.stability[c] / tree.size[c] for c in chosen])
        self.cluster_persistence_ = stability[present[np.argsort(first)]] if chosen else stability
        self.certificate_ = Certificate(
            objective="stability of clusters over all densities",
            verdict=Verdict.PROVED,
            value=float(sum(tree.stability[c] for c in chosen if np.isfinite(tree.stability[c]))),
            details={
                "clusters": len(present),
                "noise": int((labels < 0).sum()),
                "clusters_of_all_densities": len(tree.parent),
            },
        )

    def _store_centers(self, sample: Any, rows: DistanceRows) -> None:
        for name in ("centroids_", "medoids_"):
            self.__dict__.pop(name, None)
        if self.store_centers is None:
            return
        if self.metric == "precomputed" or not sample.schema.is_numeric or sample.is_sparse:
            raise InputError(
                "Cannot store centers when using a precomputed distance matrix, columns of "
                "categories or sparse rows: centers are means of dense rows of numbers. Leave "
                "store_centers out."
            )
        X = np.asarray(sample.numeric)
        groups = [np.flatnonzero(self.labels_ == c) for c in range(int(self.labels_.max()) + 1)]
        shares = [self.probabilities_[g] for g in groups]
        if self.store_centers in ("centroid", "both"):
            means = [
                np.average(X[g], axis=0, weights=w) for g, w in zip(groups, shares, strict=True)
            ]
            self.centroids_ = np.array(means).reshape(len(groups), X.shape[1])
        if self.store_centers in ("medoid", "both"):
            middle = []
            for g, w in zip(groups, shares, strict=True):
                inside = rows.take(g)
                middle.append(g[np.argmin((inside.cross(inside) * w) @ w)])
            self.medoids_ = X[np.array(middle, np.intp)].reshape(len(groups), X.shape[1])


# --- The tree of mutual reachability --------------------------------------------------------------


def reachability_tree(rows: DistanceRows, k: int, alpha: float) -> tuple[Integers, Floats]:
    """Edges and lengths of a minimum spanning tree of mutual reachability."""
    # The angles of places on a sphere are no multiples of sums of powers.
    if are_vectors(rows) and (alpha == 1.0 or rows.terms.finish != "arc"):  # type: ignore[attr-defined]
        numbers, terms = rows.numbers, rows.terms  # type: ignore[attr-defined]
        near, _ = KDTree.of(numbers).nearest(numbers, k, terms.power)
        is_root = terms.finish == "root" and not np.isinf(terms.power)
        scale = alpha**terms.power if is_root else alpha
        edges, powers = minimum_spanning_tree(
            numbers, terms.power, np.ascontiguousarray(near[:, -1]), scale
        )
        return edges, rows.finish(powers)
    core = _core_distances(rows, k)

    def reachability(i: int) -> Floats:
        apart = rows.take(slice(i, i + 1)).cross(rows)[0] / alpha
        return np.maximum(np.maximum(apart, core), core[i])

    return grown_tree(len(rows), reachability)


def _core_distances(rows: DistanceRows, k: int) -> Floats:
    n = len(rows)
    nearest = NearestRows(n, k)
    step = max(1, _BLOCK // max(n, 1))
    for start in range(0, n, step):
        check_cancelled()
        powers = np.ascontiguousarray(rows.take(slice(start, start + step)).cross_powers(rows))
        nearest.add(powers, 0, start)
    return rows.finish(nearest.sorted()[0][:, -1])


@dataclass(frozen=True, eq=False)
class CondensedTree:
    """Clusters of all densities, each with the part of the range that it lives through.

    Attributes
    ----------
    parent : int array (m,)
        Of every cluster; cluster 0 is all rows, parents come before their parts.
    birth : array (m,)
        The density at which it begins.
    size : int array (m,)
    stability : array (m,)
    last : array (m,)
        The largest density at which a row or a part leaves it.
    row_cluster : int array (n,)
        The smallest cluster that each row belongs to.
    row_density : array (n,)
        Where it leaves that.
    """

    parent: Integers
    birth: Floats
    size: Integers
    stability: Floats
    last: Floats
    row_cluster: Integers
    row_density: Floats

    @classmethod
    def of(cls, Z: Floats, least: int) -> CondensedTree:
        """The tree of clusters of at least so many rows."""
        from novum.clustering import density_kernels as kernels

        n = len(Z) + 1
        parent, size = np.full(n, -1, np.int64), np.full(n, n, np.int64)
        birth, stability, last = np.zeros(n), np.zeros(n), np.zeros(n)
        home, density = np.zeros(2 * n - 1, np.int64), np.full(2 * n - 1, -1.0)
        m = kernels.condense(
            np.ascontiguousarray(Z), least, parent, birth, size, stability, last, home, density
        )
        return cls(parent[:m], birth[:m], size[:m], stability[:m], last[:m], home[:n], density[:n])

    def _parts(self) -> list[list[int]]:
        parts: list[list[int]] = [[] for _ in self.parent]
        for c, above in enumerate(self.parent.tolist()):
            if above >= 0:
                parts[above].append(c)
        return parts

    def leaves(self) -> list[int]:
        """Clusters without parts, but for all rows."""
        parts = self._parts()
        return [c for c in range(1, len(parts)) if not parts[c]]

    def most_stable(self, single: bool, most: int | None) -> list[int]:
        """Clusters that are more stable than their parts together."""
        parts, total = self._parts(), self.stability.copy()
        taken = np.zeros(len(parts), bool)
        for c in range(len(parts) - 1, -1 if single else 0, -1):
            below = float(sum(total[part] for part in parts[c]))
            if below > total[c] or (most is not None and self.size[c] > most):
                total[c] = below
            else:
                taken[c] = True
        chosen, hidden = [], np.zeros(len(parts), bool)
        for c in range(len(parts)):
            above = self.parent[c]
            hidden[c] = above >= 0 and (hidden[above] or taken[above])
            if taken[c] and not hidden[c]:
                chosen.append(c)
        return chosen

    def not_below(self, chosen: list[int], eps: float, single: bool) -> list[int]:
        """Clusters that begin below a distance are replaced by those that do not."""
        candidates: list[int] = []
        for c in chosen:
            above = c
            while self.birth[above] > 0 and 1.0 / self.birth[above] < eps:
                up = int(self.parent[above])
                if up == 0:
                    above = 0 if single else above
                    break
                above = up
            if above not in candidates:
                candidates.append(above)
        # A cluster inside another that was taken goes with it.
        return sorted(
            c for c in candidates if not any(self._is_inside(c, other) for other in candidates)
        )

    def _is_inside(self, c: int, other: int) -> bool:
        above = int(self.parent[c])
        while above >= 0:
            if above == other:
                return True
            above = int(self.parent[above])
        return False

    def labels(self, chosen: list[int], single: bool, eps: float) -> tuple[Integers, Floats]:
        """The place in `chosen` of the cluster of each row, -1 for noise, and how far inside."""
        place = np.full(len(self.parent), -1, np.int64)
        place[chosen] = np.arange(len(chosen))
        for c in range(1, len(place)):
            if place[c] < 0:
                place[c] = place[self.parent[c]]
        labels = place[self.row_cluster]
        if chosen == [0]:
            limit = 1.0 / eps if eps > 0 else self.last[0]
            loose = (self.row_cluster == 0) & (self.row_density < limit)
            labels = np.where(loose, -1, labels) if single else np.full(len(labels), -1)
        strengths = np.zeros(len(labels))
        for number, c in enumerate(chosen):
            mine = labels == number
            most, density = self.last[c], self.row_density[mine]
            if most > 0 and np.isfinite(most):
                strengths[mine] = np.minimum(density, most) / most
            else:
                strengths[mine] = 1.0
        return labels, strengths
