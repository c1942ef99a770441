"""DBSCAN: groups are what dense rows connect.

    dense (core)     at least `min_samples` rows, itself included, are within `eps`; a row of
                     weight 0 is absent, and connects nobody
    cluster          core rows that are connected by steps of at most `eps`, and all rows within
                     `eps` of one of them
    noise            rows within `eps` of no core row

A row at the border of several clusters belongs to the one that was numbered first, as scikit-learn
has it; clusters are numbered by their first core row. So the order of rows tells which cluster such
a border row is of, and nothing else. Infinitely far is never near. Of vectors a tree of boxes finds
who is near (`RadiusGraph`).

References
----------
Ester, Kriegel, Sander and Xu, A density-based algorithm for discovering clusters in large spatial
databases with noise, KDD 1996.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import ClusterMixin

from novum.clustering.comparing import Compared, are_vectors
from novum.core.learners import Certificate, Verdict, fitted, parameter
from novum.core.runtime import check_cancelled, fit_context, fitting
from novum.core.tables import Schema, checked_weight
from novum.distances import DistanceRows
from novum.numerics import Floats, Integers, Mask, RadiusGraph

# Distances in a block.
_BLOCK = 2_000_000
_LARGEST = float(np.finfo(np.float64).max)


class DBSCAN(ClusterMixin, Compared):
    """Density-based clustering, with noise.

    Parameters
    ----------
    eps : float
        How far rows that are near may be apart.
    min_samples : int
        Weight of the rows within `eps`, itself included, that makes a row a core row.
    metric : str, Distance or callable
        A value of `novum.distances`, one of their names, "precomputed", or a function of two rows.
        By default Euclidean; `Gower()` where the table has columns of levels.
    metric_params : dict, optional
        Settings of a metric given by name, or further arguments of a function.
    algorithm, leaf_size, n_jobs : without effect
        A tree of boxes for vectors, all distances for others.
    p : float, optional
        Of the Minkowski distance, where the metric is "minkowski".
    categorical_features : as everywhere

    Attributes
    ----------
    labels_ : int array (n_rows,)
        -1 is noise.
    core_sample_indices_ : int array
    components_ : array (n_core, n_columns)
        The core rows, of tables of numbers.
    certificate_, schema_, n_features_in_, feature_names_in_
        As everywhere.

    Notes
    -----
    O(n log n) operations for vectors of few columns and small `eps`, and O(n) memory. Missing cells
    take part as the distance says. Columns count by their units: scale them first. Which rows are
    core rows, how they are grouped, and what is noise does not depend on the order of rows; which
    cluster a row at the border of several is of does. A sparse precomputed matrix has the distances
    of neighbors alone.

    Examples
    --------
    >>> DBSCAN(eps=3, min_samples=2).fit_predict([[1, 2], [2, 2], [2, 3], [8, 7], [8, 8], [25, 80]])
    array([ 0,  0,  0,  1,  1, -1])
    """

    invariances = ("shift", "duplication")

    eps: float = parameter(default=0.5, above=0, kw_only=False)
    min_samples: int = parameter(default=5, at_least=1)
    metric_params: Any = parameter(dict, None, default=None)
    algorithm: str = parameter({"auto", "ball_tree", "kd_tree", "brute"}, default="auto")
    leaf_size: int = parameter(default=30, at_least=1)
    p: float | None = parameter(default=None, at_least=1)
    n_jobs: int | None = parameter(default=None)

    labels_: Integers = fitted()
    core_sample_indices_: Integers = fitted()
    components_: Floats = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Finds the clusters.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns), or (n_rows, n_rows)
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts; rows of weight 0 are labelled, but are no core rows.
        """
        del y
        with fitting(self):
            sample, rows = self._compared(X)
            given = checked_weight(sample_weight, len(rows))
            weights = np.ones(len(rows)) if given is None else given
            labels, core = density_labels(rows, float(self.eps), self.min_samples, weights)
            self.schema_, self.labels_ = sample.schema, labels
            self.core_sample_indices_ = np.flatnonzero(core)
            self.__dict__.pop("components_", None)
            if sample.schema.is_numeric and self.metric != "precomputed":
                self.components_ = sample.numeric[core]
            n_clusters = int(labels.max(initial=-1)) + 1
            self.certificate_ = Certificate(
                objective="components of dense rows",
                verdict=Verdict.PROVED,
                details={
                    "clusters": n_clusters,
                    "core_rows": int(core.sum()),
                    "noise": int((labels < 0).sum()),
                },
            )
        return self

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> Integers:
        """`fit(X).labels_`."""
        return self.fit(X, y, sample_weight).labels_

    def _settings(self) -> Any:
        if self.metric == "minkowski" and self.p is not None:
            return {"p": self.p} | (self.metric_params or {})
        return self.metric_params


def density_labels(
    rows: DistanceRows, eps: float, min_samples: float, weights: Floats
) -> tuple[Integers, Mask]:
    """Labels of all rows, -1 for noise, and which are core rows."""
    if are_vectors(rows):
        power = rows.terms.power  # type: ignore[attr-defined]
        graph = RadiusGraph.of(rows.numbers, power, largest_power(rows, eps))  # type: ignore[attr-defined]
        core = (graph.weights_near(weights) >= min_samples) & (weights > 0)
        roots = graph.components(core)
        labels = _numbered(roots, core)
        none = len(labels)
        reached = graph.least_near(~core, labels, none)
        return np.where(core, labels, np.where(reached < none, reached, -1)), core
    return _of_all_distances(rows, eps, min_samples, weights)


def largest_power(rows: DistanceRows, eps: float) -> float:
    """The largest sum of powers whose distance is at most `eps`, to the last bit."""
    terms = rows.terms  # type: ignore[attr-defined]
    value = np.float64(eps)
    with np.errstate(over="ignore"):
        if terms.finish == "half":
            value = 2.0 * value
        elif terms.finish == "arc":
            value = (2.0 * np.sin(np.minimum(0.5 * value, 0.5 * np.pi))) ** 2
        elif terms.finish == "root" and not np.isinf(terms.power):
            value = value**terms.power
    if rows.finish(np.array([_LARGEST]))[0] <= eps or value > _LARGEST:
        return _LARGEST
    while rows.finish(np.array([value]))[0] > eps:
        value = np.nextafter(value, -np.inf)
    while rows.finish(np.array([np.nextafter(value, np.inf)]))[0] <= eps:
        value = np.nextafter(value, np.inf)
    return float(value)


def _numbered(roots: Integers, core: Mask) -> Integers:
    """Labels of core rows by the first row of their component; -1 elsewhere."""
    first = np.unique(roots[core])
    return np.where(core, np.searchsorted(first, roots), -1)


def _of_all_distances(
    rows: DistanceRows, eps: float, min_samples: float, weights: Floats
) -> tuple[Integers, Mask]:
    n = len(rows)
    near, ends = [], [0]
    totals = np.empty(n)
    step = max(1, _BLOCK // max(n, 1))
    for start in range(0, n, step):
        check_cancelled()
        block = rows.take(slice(start, start + step)).cross(rows) <= min(eps, _LARGEST)
        totals[start : start + step] = block @ weights
        near.append(np.nonzero(block)[1].astype(np.int32))
        ends.extend((ends[-1] + np.cumsum(block.sum(axis=1))).tolist())
    columns = np.concatenate(near)
    graph = sparse.csr_matrix((np.ones(len(columns), np.int8), columns, ends), shape=(n, n))
    core = (totals >= min_samples) & (weights > 0)
    inside = graph[core][:, core]
    parts = connected_components(inside, directed=False)[1]
    labels = np.full(n, -1, np.int64)
    _, first = np.unique(parts, return_index=True)
    labels[core] = np.argsort(np.argsort(first))[parts] if core.any() else 0
    for i in np.flatnonzero(~core):
        around = columns[ends[i] : ends[i + 1]]
        reached = labels[around[core[around]]]
        labels[i] = reached.min() if len(reached) else -1
    return labels, core
