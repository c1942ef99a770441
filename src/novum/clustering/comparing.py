"""Rows that are compared by any distance: the entrance of learners that need distances alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances

from novum.clustering.numeric_table import counted, refuse_empty_rows
from novum.core.errors import InputError
from novum.core.learners import Learner, parameter
from novum.core.runtime import check_memory
from novum.core.tables import Sample, check_sample
from novum.distances import (
    ColumnRows,
    Distance,
    DistanceRows,
    FromFunction,
    Gower,
    Precomputed,
    distance_named,
    takes_sparse,
)
from novum.numerics import Floats

# Distances in a block: few enough that the memory of one block serves the next.
_BLOCK = 250_000


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
        if isinstance(self.metric, str) and self.metric == "precomputed":
            matrix = Precomputed().prepare(X)
            sample = check_sample(
                self, matrix.readable, None, sample_weight, target="none", accept_sparse=True
            )
            rows = counted(sample_weight)
            return sample, matrix if rows is None else matrix.take(rows)
        sample = check_sample(
            self, X, None, sample_weight, target="none", allow_missing=True, accept_sparse=True
        )
        refuse_empty_rows(sample)
        return sample, prepared_rows(sample, self.metric, self._settings())

    def _settings(self) -> Any:
        """Settings of a metric that is given by its name."""
        return None


def prepared_rows(sample: Any, metric: Any, settings: Any = None) -> DistanceRows:
    """Rows prepared for a distance, a name of one, or a function of two rows."""
    if callable(metric) and not isinstance(metric, Distance):
        cells = FromFunction(metric).prepare(sample).cells
        check_matrix_memory(len(cells))
        distances = pairwise_distances(cells, metric=metric, **(settings or {}))
        return Precomputed().prepare(distances)
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


def with_finite(D: Floats, weights: Floats) -> Floats:
    """Infinite distances as finite ones that cost more than all others together.

    A sum of distances is then the least where the weight of infinite ones is, and among such by
    the finite ones.
    """
    infinite = np.isinf(D)
    if not infinite.any():
        return D
    largest = float(D.max(where=~infinite, initial=0.0)) or 1.0
    return np.where(infinite, 2.0 * largest * float(weights.sum() / weights.min()), D)


def check_matrix_memory(n: int, remedy: str = "") -> None:
    """Refuses a matrix of distances that memory has no room for."""
    check_memory(
        8 * n * n,
        f"The matrix of distances of {n:,} rows",
        remedy or "Take fewer rows, or a method without a matrix, such as KMeans or DBSCAN.",
    )
