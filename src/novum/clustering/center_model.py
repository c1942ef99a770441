"""What models with centers share: their parameters, first centers, and answers for rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from novum.clustering.numeric_table import counted, numeric_features, numeric_table
from novum.clustering.starts import Starts
from novum.core.errors import InputError
from novum.core.learners import ConvergenceWarning, Learner, fitted, parameter
from novum.core.runtime import kept_float
from novum.core.tables import Sample, Schema
from novum.distances import Distance
from novum.numerics import Codes, Floats


class CenterModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Learner):
    """k centers; every row belongs to the nearest one."""

    invariances = ("shift", "common_scale", "row_order", "duplication")
    # The distance of `transform`.
    _distance: ClassVar[Distance]
    _takes_sparse: ClassVar[bool] = False

    n_clusters: int = parameter(default=8, at_least=1, kw_only=False)
    init: Any = parameter({"k-means++", "random"}, callable, "array-like", default="k-means++")
    n_init: int | str = parameter({"auto"}, default="auto", at_least=1)
    max_iter: int = parameter(default=300, at_least=1)
    random_state: Any = parameter("random_state", np.random.Generator, default=None)

    cluster_centers_: Floats = fitted()
    labels_: Codes = fitted()
    inertia_: float = fitted()
    n_iter_: int = fitted()
    schema_: Schema = fitted()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._takes_sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # Steps of a fit

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:  # noqa: ARG002
        return numeric_table(self, X, sample_weight, schema, self._takes_sparse)

    def _check_count(self, n_rows: float) -> None:
        if n_rows < self.n_clusters:
            raise InputError(
                f"n_samples={n_rows:g} should be >= n_clusters={self.n_clusters}: there are fewer "
                "rows than clusters. Ask for fewer clusters."
            )

    def _first_centers(
        self, rows: Callable[[], Starts], p: int
    ) -> Callable[[np.random.Generator], Floats]:
        """First centers of a restart, given, or drawn from rows, which are ordered for that."""
        k, ordered = self.n_clusters, cache(rows)

        def begin(rng: np.random.Generator) -> Floats:
            if isinstance(self.init, str):
                starts = ordered()
                draw = starts.spread if self.init == "k-means++" else starts.at_random
                return draw(k, rng)
            given = self.init
            if callable(given):
                state = np.random.RandomState(rng.integers(2**31))
                given = given(ordered().rows, k, random_state=state)
            points = np.array(given, np.float64)
            if points.shape != (k, p) or not np.isfinite(points).all():
                raise InputError(
                    f"init has the shape {points.shape}, but {k} centers of {p} columns are "
                    "wanted, all of them finite."
                )
            return points

        return begin

    @property
    def _restarts(self) -> int:
        is_given = not isinstance(self.init, str) and not callable(self.init)
        is_random = callable(self.init) or (isinstance(self.init, str) and self.init == "random")
        by_rule = 10 if is_random else 1
        # From given centers every restart is the same.
        return by_rule if is_given or self.n_init == "auto" else int(self.n_init)

    def _labels_of_all(self, labels: Codes, X: Any, sample_weight: Any) -> Codes:
        """Labels of the rows of the table, of which those of weight 0 took no part in the fit."""
        if counted(sample_weight) is None:
            return labels
        return self._nearest(self._features(X))[0]

    def _tell_fewer(self, n_different: int) -> None:
        if n_different < self.n_clusters:
            warnings.warn(
                f"Number of distinct clusters ({n_different}) found smaller than n_clusters "
                f"({self.n_clusters}): there are not more different rows. Ask for fewer clusters.",
                ConvergenceWarning,
                stacklevel=5,
            )

    # Answers

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _features(self, X: Any) -> Any:
        return numeric_features(self, X, self._takes_sparse)

    def _nearest(self, X: Any) -> tuple[Codes, Floats]:
        """The nearest center of every row, and its part of the sum."""
        raise NotImplementedError

    def predict(self, X: Any) -> Codes:
        """The number of the nearest center of every row."""
        check_is_fitted(self, "cluster_centers_")
        return self._nearest(self._features(X))[0]

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Codes:
        """`fit(X).labels_`."""
        return self.fit(X, y, sample_weight).labels_

    def transform(self, X: Any) -> Floats:
        """Distances of every row to every center, (n_rows, n_clusters)."""
        check_is_fitted(self, "cluster_centers_")
        rows = self._distance.prepare(self._features(X))
        distances = rows.cross(self._distance.prepare(self.cluster_centers_, rows))
        return np.asarray(distances.astype(kept_float(X), copy=False))

    def fit_transform(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Any:
        """`fit(X).transform(X)`."""
        return self.fit(X, y, sample_weight).transform(X)

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Minus the sum that a fit minimizes, of these rows; larger is better."""
        del y
        check_is_fitted(self, "cluster_centers_")
        costs = self._nearest(self._features(X))[1]
        weights = 1.0 if sample_weight is None else np.asarray(sample_weight, np.float64)
        return -float((weights * costs).sum())

    def _check_state(self) -> None:
        shape = np.shape(self.cluster_centers_)
        if len(shape) != 2 or shape[1] != self.schema_.n_columns:
            raise InputError("The centers of this model have other columns than its schema.")
