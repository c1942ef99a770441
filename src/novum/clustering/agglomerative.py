"""Agglomerative clustering as an estimator: a tree of merges, cut into clusters."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import squareform
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from novum.clustering.comparing import Compared, distance_matrix
from novum.clustering.dendrogram import Dendrogram, cophenetic_distances
from novum.clustering.merging import (
    METHODS,
    check_linkage,
    check_means,
    cut_tree,
    merged_rows,
)
from novum.clustering.stepwise import StepwiseOptimal, connected, constrained_tree, stepwise_tree
from novum.core.errors import InputError
from novum.core.learners import Certificate, Verdict, fitted, parameter
from novum.core.runtime import fit_context, fitting
from novum.core.tables import Schema
from novum.numerics import Floats, Integers


class TreeOfMerges(Compared):
    """What a fitted tree of merges can be asked."""

    n_clusters: int | None = parameter(default=2, at_least=1, kw_only=False)

    linkage_matrix_: Floats = fitted()
    labels_: Integers = fitted()
    n_clusters_: int = fitted()
    n_leaves_: int = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()

    @property
    def children_(self) -> Integers:
        """The two clusters of every merge, (n_rows - 1, 2)."""
        return np.asarray(self.linkage_matrix_[:, :2].astype(np.int64))

    @property
    def distances_(self) -> Floats:
        """The height of every merge, (n_rows - 1,)."""
        return np.asarray(self.linkage_matrix_[:, 2])

    def dendrogram(self, names: Sequence[str] | None = None, most: int = 30) -> Dendrogram:
        """The tree as a picture: `.as_text()`, `.as_svg()`, `.plot()`.

        Parameters
        ----------
        names : sequence of str, optional
            Of the rows.
        most : int
            Leaves at most.
        """
        check_is_fitted(self, "linkage_matrix_")
        heights, k = np.sort(self.distances_), self.n_clusters_
        cut = float(heights[-k : len(heights) - k + 2].mean()) if 1 < k <= len(heights) else None
        return Dendrogram(self.linkage_matrix_, names, most, cut)

    def cophenetic_correlation(self, X: Any) -> float:
        """How well the tree keeps the distances of its rows: the correlation over all pairs.

        Parameters
        ----------
        X : the rows of the fit
        """
        check_is_fitted(self, "linkage_matrix_")
        _, rows = self._compared(X)
        if len(rows) != self.n_leaves_:
            raise InputError(f"The tree is of {self.n_leaves_} rows, got {len(rows)}.")
        D = distance_matrix(rows)
        if np.isinf(D).any():
            i, j = np.argwhere(np.isinf(D))[0]
            raise InputError(
                f"Rows {i} and {j} are infinitely far apart, so there is no correlation."
            )
        between = squareform((D + D.T) / 2, checks=False)
        kept = cophenetic_distances(self.linkage_matrix_)
        if between.std() == 0 or kept.std() == 0:
            raise InputError("All distances are the same, so there is no correlation.")
        return float(np.corrcoef(kept, between)[0, 1])

    def _check_state(self) -> None:
        Z, n = np.asarray(self.linkage_matrix_), int(self.n_leaves_)
        if Z.shape != (max(n - 1, 0), 4) or np.shape(self.labels_) != (n,):
            raise InputError("The tree and the labels of this model are of different rows.")


class AgglomerativeClustering(ClusterMixin, TreeOfMerges):
    """Agglomerative clustering: the two nearest clusters are merged until enough are left.

    Parameters
    ----------
    n_clusters : int or None
        None where `distance_threshold` is given.
    metric : str, Distance or callable
        A value of `novum.distances`, one of their names, "precomputed", or a function of two rows.
        By default Euclidean; `Gower()` where the table has columns of levels, which goes with
        linkages "average", "complete", "single" and "weighted".
    memory : without effect
    connectivity : sparse matrix (n_rows, n_rows) or callable, optional
        Which rows are neighbors; only clusters with neighbors in each other are merged. A callable
        makes it of `X`.
    compute_full_tree, compute_distances : without effect
        The tree is always complete, with its heights.
    linkage : {"ward", "complete", "average", "single", "weighted", "centroid", "median"} or \
StepwiseOptimal
        How far two clusters are apart. `StepwiseOptimal(cost)` merges by the least rise of a cost
        of the rows of clusters.
    distance_threshold : float, optional
        Clusters this far apart or farther are not merged.
    categorical_features : as everywhere

    Attributes
    ----------
    labels_ : int array (n_rows,)
        Numbered by the first row of each cluster.
    linkage_matrix_ : array (n_rows - 1, 4)
        SciPy's `Z`.
    children_, distances_ : arrays
        Its first columns.
    n_clusters_, n_leaves_, n_connected_components_ : int
    certificate_, schema_, n_features_in_, feature_names_in_
        As everywhere.

    Notes
    -----
    Memory is O(n) for single linkage and O(n p) for Ward's on numbers; the others hold the matrix
    of distances. Missing cells take part as the distance says. With a graph that is not connected,
    its components are merged by distance at the end. With `connectivity` the distance of clusters
    is that of the linkage over all pairs of rows, not over neighbors alone. Clusters that are
    infinitely far apart are never joined: to ask for so few is refused. Of equally near clusters
    the first are merged, so the order of rows matters where distances are equal.

    Examples
    --------
    >>> X = [[0.0], [1.0], [7.0], [9.0]]
    >>> model = AgglomerativeClustering(2, linkage="average").fit(X)
    >>> model.labels_, model.distances_
    (array([0, 0, 1, 1]), array([1. , 2. , 7.5]))
    """

    invariances = ("shift", "common_scale")

    memory: Any = parameter(default=None)
    connectivity: Any = parameter("array-like", "sparse matrix", callable, None, default=None)
    compute_full_tree: Any = parameter({"auto"}, "boolean", default="auto")
    linkage: Any = parameter(set(METHODS), StepwiseOptimal, default="ward")
    distance_threshold: float | None = parameter(default=None, at_least=0)
    compute_distances: bool = parameter(default=False)

    n_connected_components_: int = fitted()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.sparse and isinstance(self.linkage, str)
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Merges the rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns), or (n_rows, n_rows)
        y : ignored
        """
        del y
        with fitting(self):
            if (self.n_clusters is None) == (self.distance_threshold is None):
                raise InputError(
                    "Exactly one of n_clusters and distance_threshold has to be set, and the other "
                    f"needs to be None; got n_clusters={self.n_clusters!r} and "
                    f"distance_threshold={self.distance_threshold!r}."
                )
            if isinstance(self.linkage, str):
                check_linkage(self.linkage, self.metric)
            sample, rows = self._compared(X)
            check_means(self.linkage, sample)
            n = len(rows)
            if n < 2:
                raise InputError(f"A tree of merges needs at least 2 rows, got n_samples={n}.")
            if (self.n_clusters or 1) > n:
                raise InputError(
                    f"Cannot extract more clusters than samples: {self.n_clusters} clusters were "
                    f"given for a tree with {n} leaves. Ask for fewer clusters."
                )
            Z = self._tree(X, sample, rows)
            self.linkage_matrix_, self.n_leaves_ = Z, n
            self.schema_ = sample.schema
            limit = self.distance_threshold
            self.n_clusters_ = (
                int(self.n_clusters or 1)
                if limit is None
                else int(np.count_nonzero(Z[:, 2] >= limit)) + 1
            )
            self.labels_ = cut_tree(Z, self.n_clusters_)
            self.certificate_ = Certificate(
                objective="merges in the order of their heights",
                verdict=Verdict.PROVED,
                iterations=n - 1,
                details={"linkage": str(self.linkage), "largest_height": float(Z[:, 2].max())},
            )
        return self

    def _tree(self, X: Any, sample: Any, rows: Any) -> Floats:
        graph, self.n_connected_components_ = None, 1
        if self.connectivity is not None:
            graph, self.n_connected_components_ = connected(self.connectivity, X, len(rows))
            if self.n_connected_components_ > 1:
                warnings.warn(
                    "The number of connected components of the connectivity matrix is "
                    f"{self.n_connected_components_} > 1. They are merged by distance at the end.",
                    UserWarning,
                    stacklevel=4,
                )
        if isinstance(self.linkage, StepwiseOptimal):
            is_numeric = sample.schema.is_numeric and not sample.is_sparse
            if not is_numeric or np.isnan(np.sum(sample.numeric)):
                raise InputError(
                    "StepwiseOptimal computes costs of dense rows of numbers without missing "
                    "cells. Leave other columns out, fill missing cells, and pass X.toarray()."
                )
            return stepwise_tree(np.asarray(sample.numeric), self.linkage, graph)
        if graph is not None:
            return constrained_tree(rows, self.linkage, graph)
        return merged_rows(rows, self.linkage)
