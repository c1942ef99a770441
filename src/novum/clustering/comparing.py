"""Rows that are compared by any distance: the entrance of learners that need distances alone."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.metrics import pairwise_distances

from novum.clustering.numeric_table import refuse_empty_rows
from novum.core.errors import InputError
from novum.core.learners import Learner, parameter
from novum.core.runtime import check_memory
from novum.core.tables import Sample, check_sample
from novum.distances import ColumnRows, Distance, DistanceRows, Gower, distance_named, takes_sparse
from novum.numerics import Floats

# Distances in a block: few enough that the memory of one block serves the next.
_BLOCK = 250_000


class MatrixRows(DistanceRows):
    """Rows that are known by a matrix of their distances."""

    def __init__(self, matrix: Floats, places: Any = None) -> None:
        self.matrix = matrix
        self.places = np.arange(len(matrix)) if places is None else places

    def __len__(self) -> int:
        return len(self.places)

    def take(self, rows: Any) -> Self:
        return type(self)(self.matrix, self.places[rows])

    def cross_powers(self, other: Self) -> Floats:
        if len(other) == len(self.matrix):
            return np.array(self.matrix[self.places])
        return np.asarray(self.matrix[np.ix_(self.places, other.places)])

    def finish(self, powers: Floats) -> Floats:
        return powers


class Compared(Learner):
    """What learners by distances share: the metric, and how rows are read for it."""

    metric: Any = parameter(str, callable, Distance, default="euclidean")
    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_given = self.metric == "precomputed"
        tags.input_tags.allow_nan = not is_given
        tags.input_tags.pairwise = is_given
        tags.input_tags.sparse = takes_sparse(self.metric)
        tags.input_tags.string = self.categorical_features is not None and not is_given
        return tags

    def _compared(self, X: Any, sample_weight: Any = None) -> tuple[Sample, DistanceRows]:
        """The checked rows, and the same prepared for distances."""
        if self.metric == "precomputed":
            X = np.asarray(X, np.float64)
        is_given = self.metric == "precomputed"
        sample = check_sample(
            self,
            X,
            None,
            sample_weight,
            target="none",
            allow_missing=not is_given,
            accept_sparse=not is_given,
        )
        if self.metric == "precomputed":
            check_matrix(X)
            kept = np.arange(len(X)) if sample.n_rows == len(X) else _positive(sample_weight)
            return sample, MatrixRows(X[np.ix_(kept, kept)])
        refuse_empty_rows(sample)
        return sample, prepared_rows(sample, self.metric, self._settings())

    def _settings(self) -> Any:
        """Settings of a metric that is given by its name."""
        return None


def prepared_rows(sample: Any, metric: Any, settings: Any = None) -> DistanceRows:
    """Rows prepared for a distance, a name of one, or a function of two rows."""
    if callable(metric) and not isinstance(metric, Distance):
        if sample.codes.shape[1]:
            raise InputError(
                "A function of two rows is given rows of numbers, but the table has columns of "
                "categories. Use Gower(), or encode them."
            )
        if sample.is_sparse:
            raise InputError("A function as metric takes dense rows: X.toarray().")
        check_matrix_memory(sample.n_rows)
        distances = pairwise_distances(
            np.asarray(sample.numeric), metric=metric, **(settings or {})
        )
        return MatrixRows(np.asarray(distances, np.float64))
    rows: DistanceRows = compared_by(sample, metric, settings).prepare(sample)
    return rows


def compared_by(sample: Any, metric: Any, settings: Any = None) -> Distance:
    """The distance of a metric; "euclidean" is Gower's where the table has columns of levels."""
    if isinstance(metric, Distance):
        distance = metric
    elif metric == "euclidean" and sample.codes.shape[1]:
        distance = Gower()
    else:
        distance = distance_named(metric, **(settings or {}))
    if distance.needs_target:
        raise InputError(
            f"{type(distance).__name__} is learned from classes, which a search for groups does "
            "not have. Take Gower() or Overlap()."
        )
    return distance


def are_vectors(rows: Any) -> bool:
    """Whether distances are sums of powers of differences of numbers, none of them missing."""
    return isinstance(rows, ColumnRows) and rows.are_vectors


def distance_matrix(rows: DistanceRows, remedy: str = "") -> Floats:
    """All distances, block by block."""
    n = len(rows)
    check_matrix_memory(n, remedy)
    out = np.empty((n, n))
    step = max(1, _BLOCK // max(n, 1))
    for start in range(0, n, step):
        part = slice(start, start + step)
        out[part] = rows.take(part).cross(rows)
    return out


def check_matrix_memory(n: int, remedy: str = "") -> None:
    """Refuses a matrix of distances that memory has no room for."""
    check_memory(
        8 * n * n,
        f"The matrix of distances of {n:,} rows",
        remedy or "Take fewer rows, or a method without a matrix, such as KMeans or DBSCAN.",
    )


def check_matrix(matrix: Floats) -> None:
    """Refuses what is no matrix of distances."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            "A precomputed matrix has the distances of all pairs of rows, so it is square; got "
            f"shape {matrix.shape}."
        )
    wrong = np.argwhere(~(matrix >= 0))
    if len(wrong):
        i, j = wrong[0]
        raise InputError(
            f"Distances are at least 0, but the precomputed one of rows {i} and {j} is "
            f"{matrix[i, j]:g}."
        )
    skew = np.abs(matrix - matrix.T)
    if (skew > 1e-8 * matrix.max(initial=0.0)).any():
        i, j = np.unravel_index(np.argmax(skew), skew.shape)
        raise InputError(
            f"A precomputed matrix of distances is symmetric, but rows {i} and {j} are "
            f"{matrix[i, j]:g} and {matrix[j, i]:g} apart. Take the mean of both, or check it."
        )


def _positive(sample_weight: Any) -> Any:
    return np.flatnonzero(np.asarray(sample_weight, np.float64) > 0)
