"""k-medoids: k rows that minimize the sum of distances of all rows to the nearest of them.

    f(m_1, ..., m_k) = sum_i w_i min_j d(x_i, m_j)

The centers are rows, so any distance will do, between columns of any kind. FasterPAM looks at every
row as a medoid in the place of any other at once, from the distances to the nearest and the second
nearest medoid, and exchanges as soon as that lowers the sum; it ends when no exchange does.

References
----------
Schubert and Rousseeuw, Fast and eager k-medoids clustering, Information Systems 101, 2021.
Kaufman and Rousseeuw, Finding Groups in Data, 1990, chapter 2 (BUILD and SWAP).
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from novum.clustering.comparing import (
    Compared,
    compared_by,
    distance_matrix,
    with_finite,
)
from novum.clustering.numeric_table import counted
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import (
    Certificate,
    ConvergenceWarning,
    Verdict,
    fitted,
    parameter,
    warn_if_stopped,
)
from novum.core.runtime import fit_context, fitting, seed_sequence, stream
from novum.core.tables import Sample, Schema, check_features
from novum.distances import Distance, Precomputed
from novum.numerics import Codes, Floats, Integers, cached_property

# Distances looked at in one call of a kernel.
_BUDGET = 50_000_000


class KMedoids(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Compared):
    """k-medoids clustering, for any distance and columns of any kind.

    Parameters
    ----------
    n_clusters : int
    metric : str, Distance or callable
        A value of `novum.distances`, one of their names, "precomputed", or a function of two rows.
        By default Euclidean; `Gower()` where the table has columns of levels.
    init : {"build", "k-medoids++", "random"} or array of n_clusters row numbers
        First medoids: "build" takes the row that lowers the sum most, again and again.
    n_init : int
        Restarts of "k-medoids++" and "random".
    max_iter : int
        Passes over all rows.
    random_state : int, RandomState, Generator or None
    categorical_features : as everywhere

    Attributes
    ----------
    medoid_indices_ : int array (n_clusters,)
        Rows of the table.
    cluster_centers_ : array (n_clusters, n_columns)
        The medoids, of tables of numbers.
    labels_ : int array (n_rows,)
    inertia_ : float
        The sum of distances.
    n_iter_ : int
    numbers_, codes_ : arrays
        The rows of positive weight, which the distance is learned from.
    counted_rows_ : int array
        Their numbers in the table.
    certificate_, schema_, n_features_in_, feature_names_in_
        As everywhere.

    Notes
    -----
    The matrix of distances is held in memory. Missing cells take part as the distance says. No row
    is in the group of a medoid that is infinitely far: where one is so far from all that were
    reached, the fit says so. Rows of weight 0 have the label of their nearest medoid, and are none.

    Examples
    --------
    >>> table = [[1.0, "a"], [1.1, "a"], [1.2, "a"], [9.0, "b"], [9.5, "b"]]
    >>> model = KMedoids(2).fit(table)
    >>> model.labels_, model.medoid_indices_
    (array([0, 0, 0, 1, 1], dtype=int32), array([1, 3]))
    """

    invariances = ("shift", "common_scale", "duplication")
    _holds_training_rows = True

    n_clusters: int = parameter(default=8, at_least=1, kw_only=False)
    init: Any = parameter({"build", "k-medoids++", "random"}, "array-like", default="build")
    n_init: int = parameter(default=1, at_least=1)
    max_iter: int = parameter(default=300, at_least=1)
    random_state: Any = parameter("random_state", np.random.Generator, default=None)

    medoid_indices_: Integers = fitted()
    cluster_centers_: Floats = fitted()
    labels_: Codes = fitted()
    inertia_: float = fitted()
    n_iter_: int = fitted()
    numbers_: Any = fitted()
    codes_: Codes = fitted()
    counted_rows_: Integers = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Finds the medoids.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns), or (n_rows, n_rows)
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.
        """
        del y
        with fitting(self):
            sample, rows = self._compared(X, sample_weight)
            n, k = len(rows), self.n_clusters
            if n < k:
                raise InputError(
                    f"n_samples={n} should be >= n_clusters={k}: there are fewer rows than "
                    "clusters. Ask for fewer clusters."
                )
            D, weights = distance_matrix(rows), sample.weights
            rows_of_weight = counted(sample_weight)
            self.counted_rows_ = np.arange(n) if rows_of_weight is None else rows_of_weight
            best = min(self._runs(D, weights), key=lambda run: run.cost)
            self.medoid_indices_, self.inertia_ = self.counted_rows_[best.medoids], best.cost
            self.labels_ = _nearest(D[:, best.medoids], self.counted_rows_)
            self.n_iter_, self.schema_ = best.passes, sample.schema
            self.numbers_, self.codes_ = sample.numeric, sample.codes
            for name in ("cluster_centers_", "_prepared"):
                self.__dict__.pop(name, None)
            if sample.schema.is_numeric and self.metric != "precomputed":
                self.cluster_centers_ = self.numbers_[best.medoids]
            if isinstance(self.metric, Distance) or not (
                callable(self.metric) or self.metric == "precomputed"
            ):
                # Once, in the fit: predictions change nothing.
                assert len(self._prepared[2]) == k
            if rows_of_weight is not None:
                self.labels_ = self.predict(X)
            self._certify(best)
        return self

    def _certify(self, best: _Run) -> None:
        ended = "tol" if best.is_done else "max_iter"
        self.certificate_ = Certificate(
            objective="sum of distances to the nearest medoid",
            verdict=Verdict.LOCAL if best.is_done else Verdict.STOPPED_EARLY,
            value=best.cost,
            iterations=best.passes,
            trace=best.trace,
            details={"exchanges": best.exchanges, "stopped_by": ended}
            | ({"statement": "no exchange of a medoid lowers the sum"} if best.is_done else {}),
        )
        warn_if_stopped(self.certificate_, type(self).__name__, stacklevel=5)
        n_different = len(np.unique(self.labels_))
        if n_different < self.n_clusters:
            warnings.warn(
                f"Number of distinct clusters ({n_different}) found smaller than n_clusters "
                f"({self.n_clusters}): there are not more different rows. Ask for fewer clusters.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _runs(self, D: Floats, weights: Floats) -> list[_Run]:
        root = seed_sequence(self.random_state)
        D = with_finite(D, weights)
        is_drawn = isinstance(self.init, str) and self.init != "build"
        return [
            _exchanged(D, weights, self._begin(D, weights, stream(root, i)), self.max_iter)
            for i in range(self.n_init if is_drawn else 1)
        ]

    def _begin(self, D: Floats, weights: Floats, rng: np.random.Generator) -> Integers:
        k, n = self.n_clusters, len(D)
        if not isinstance(self.init, str):
            rows, given = self.counted_rows_, np.asarray(self.init, np.int64)
            if given.shape != (k,) or len(np.unique(given)) != k or not set(given) <= set(rows):
                of_weight = "" if len(rows) == rows[-1] + 1 else " of a weight above 0"
                raise InputError(
                    f"init has {k} different row numbers{of_weight} from 0 to {rows[-1]}, got "
                    f"{self.init!r}."
                )
            return np.searchsorted(rows, given)
        if self.init == "random":
            return rng.choice(n, k, replace=False, p=weights / weights.sum()).astype(np.int64)
        if self.init == "build":
            return _built(D, weights, k)
        chosen = [int(rng.choice(n, p=weights / weights.sum()))]
        near = D[chosen[0]].copy()
        while len(chosen) < k:
            chances = weights * near
            chances[chosen] = 0.0
            if not chances.any():
                chances = np.ones(n)
                chances[chosen] = 0.0
            chosen.append(int(rng.choice(n, p=chances / chances.sum())))
            near = np.minimum(near, D[chosen[-1]])
        return np.array(chosen, np.int64)

    # Answers

    @property
    def _n_features_out(self) -> int:
        return len(self.medoid_indices_)

    def predict(self, X: Any) -> Codes:
        """The number of the nearest medoid of every row."""
        distances = self.transform(X)
        return _nearest(distances, np.arange(len(distances)))

    def transform(self, X: Any) -> Floats:
        """Distances of every row to every medoid, (n_rows, n_clusters)."""
        check_is_fitted(self, "medoid_indices_")
        if self.metric == "precomputed":
            n = self.n_features_in_
            columns = Precomputed().prepare(sparse.csr_array((n, n)))
            rows = Precomputed().prepare(X, columns)
            return np.asarray(rows.cross(columns.take(self.medoid_indices_)))
        sample = check_features(self, X, allow_missing=True, accept_sparse=True)
        if callable(self.metric) and not isinstance(self.metric, Distance):
            medoids = self.numbers_[self._medoids]
            return np.array([[self.metric(row, m) for m in medoids] for row in sample.numeric])
        distance, rows, medoids = self._prepared
        return np.asarray(distance.prepare(sample, rows).cross(medoids))

    @cached_property
    def _prepared(self) -> tuple[Distance, Any, Any]:
        """The distance, and training rows and medoids as it sees them."""
        sample = Sample(self.schema_, self.numbers_, self.codes_)
        distance = compared_by(sample, self.metric)
        rows: Any = distance.prepare(sample)
        return distance, rows, rows.take(self._medoids)

    @property
    def _medoids(self) -> Integers:
        """The medoids among the rows of positive weight."""
        return np.searchsorted(self.counted_rows_, self.medoid_indices_)

    def _check_state(self) -> None:
        n, schema = self.numbers_.shape[0], self.schema_
        # Files of earlier versions number the rows that they keep.
        self.counted_rows_ = getattr(self, "counted_rows_", np.arange(n))
        rows, medoids = self.counted_rows_, self.medoid_indices_
        shapes = [self.numbers_.shape, self.codes_.shape, rows.shape, medoids.shape]
        width = len(schema.numeric)
        levels = [max(column.n_levels, 1) for column in schema.categorical_columns]
        fits = shapes == [(n, width), (n, schema.n_columns - width), (n,), (self.n_clusters,)]
        fits = fits and bool((self.codes_ < levels).all() and (np.diff(rows) > 0).all())
        if not (fits and np.isin(medoids, rows).all()):
            raise ModelFileError("The medoids of this model are not among the rows that it keeps.")

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Codes:
        """`fit(X).labels_`."""
        return self.fit(X, y, sample_weight).labels_

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of distances to the nearest medoids; larger is better."""
        del y
        return -float(self.transform(X).min(axis=1).sum())


class _Run:
    """Medoids, the sum they reach, and how."""

    def __init__(self, medoids: Integers, cost: float) -> None:
        self.medoids, self.cost = medoids, cost
        self.trace, self.passes, self.exchanges, self.is_done = [cost], 0, 0, False


def _nearest(distances: Floats, rows: Integers) -> Codes:
    """The nearest medoid of every row; `rows` are their numbers."""
    apart = np.flatnonzero(np.isinf(distances).all(axis=1))
    if len(apart):
        raise InputError(
            f"The rows cannot be joined into {distances.shape[1]} clusters: row {rows[apart[0]]} "
            f"is infinitely far from every medoid, {len(apart)} such in all. Ask for more "
            "clusters, leave such rows out, or take a distance that knows all pairs."
        )
    return np.asarray(distances.argmin(axis=1).astype(np.int32))


def _built(D: Floats, weights: Floats, k: int) -> Integers:
    """The first medoids by BUILD: each lowers the sum most."""
    chosen = [int(np.argmin(D @ weights))]
    near = D[chosen[0]].copy()
    for _ in range(1, k):
        gains = np.maximum(near - D, 0.0) @ weights
        gains[chosen] = -1.0
        chosen.append(int(np.argmax(gains)))
        near = np.minimum(near, D[chosen[-1]])
    return np.array(chosen, np.int64)


def _exchanged(D: Floats, weights: Floats, medoids: Integers, max_iter: int) -> _Run:
    """Exchanges until none lowers the sum."""
    from novum.clustering import medoid_kernels as kernels

    n, k = len(D), len(medoids)
    run = _Run(medoids.copy(), float(D[medoids].min(axis=0) @ weights))
    nearest, distances = np.empty((2, n), np.int64), np.empty((2, n))
    losses, state = np.empty(k), np.zeros(2, np.int64)
    kernels.look_up(D, weights, run.medoids, nearest, distances, losses)
    step = max(1, _BUDGET // n)
    while not run.is_done and run.passes < max_iter:
        for start in range(0, n, step):
            stop = min(start + step, n)
            kernels.exchange(
                D, weights, start, stop, run.medoids, nearest, distances, losses, state
            )
            # As many rows as there are without an exchange: none is left.
            run.is_done = bool(state[1] >= n)
            if run.is_done:
                break
        run.passes += 1
        run.trace.append(float(distances[0] @ weights))
    run.exchanges, run.cost = int(state[0]), run.trace[-1]
    return run
