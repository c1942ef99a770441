"""Rows that are unlike all others: far from their neighbors, or where it is sparser.

    NeighborDistance      score(x) = - distance to the k-th nearest row (or the mean of k)
    LocalOutlierFactor    score(x) = - mean over neighbors of density(neighbor) / density(x)

where the density of a row is one over the mean reach of its neighbors, `max(d(x, o), d_k(o))`.
A detector calls a row novel whose score is below the offset. How often that hits an ordinary row
is judged by the training rows, each scored by the others (`core.learners.detectors`).
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from novum.core.errors import InputError
from novum.core.learners import NoveltyMixin, fitted, parameter, share_line
from novum.core.runtime import fit_context, fitting
from novum.neighbors.nearest import KNeighborsMixin, rows_to_keep
from novum.numerics import Floats, Integers, Positions


class NeighborDetector(NoveltyMixin, KNeighborsMixin):
    """What detectors by neighbors share: training rows that are scored by the others."""

    training_scores_: Floats = fitted()
    n_neighbors_: int = fitted()

    def _scores_by_others(self) -> Floats:
        """The score of every training row under the others."""
        raise NotImplementedError

    def _offset(self, scores: Floats) -> float:
        """Below it a score is novel."""
        raise NotImplementedError

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Keeps the rows, scores each by the others, and finds the offset.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        y : ignored
        """
        del y
        with fitting(self):
            self._keep(rows_to_keep(self, X, None, "none"))
            n = self.n_samples_fit_
            if n < 2:
                raise InputError(
                    f"{type(self).__name__} needs at least 2 rows to judge one by the others, got "
                    f"{n} (n_samples = {n})."
                )
            self.n_neighbors_ = min(self.n_neighbors, n - 1)
            if self.n_neighbors > n - 1:
                warnings.warn(
                    f"n_neighbors ({self.n_neighbors}) is greater than the number of other rows "
                    f"({n - 1}), which are all taken. Ask for fewer, or pass more rows.",
                    UserWarning,
                    stacklevel=3,
                )
            self.training_scores_ = self._scores_by_others()
            with np.errstate(invalid="ignore"):
                self.offset_ = self._offset(self.training_scores_)
            if not np.isfinite(self.offset_):
                alone = int(np.isinf(self.training_scores_).sum())
                raise InputError(
                    f"{alone} of {n} rows are infinitely far from one of their {self.n_neighbors_} "
                    "nearest, more than may be novel. Ask for fewer neighbors, or take a distance "
                    "that knows all pairs."
                )
            self._judge_line(self.training_scores_)
        return self


class NeighborDistance(NeighborDetector):
    """Novel is what is far from its neighbors.

    Parameters
    ----------
    n_neighbors : int, default=5
    aggregate : {"largest", "mean"}, default="largest"
        Whether the distance to the k-th neighbor counts, or the mean of all k.
    false_alarms : float, default=0.05
        Share of the training rows that the offset leaves beyond it, each scored by the others.
    algorithm, leaf_size, p, metric, metric_params, n_jobs, categorical_features
        As for `NearestNeighbors`.

    Attributes
    ----------
    offset_ : float
        `decision_function = score_samples - offset_`.
    training_scores_ : array (n_rows,)
        Minus the distances of the training rows, each by the others.
    false_alarm_rate_ : float
        Share of the training rows beyond the offset.
    false_alarm_interval_ : list of two floats
        Holds the rate for new ordinary rows with 95 % confidence.
    n_neighbors_ : int
    numbers_, codes_, certificate_, schema_, n_features_in_, feature_names_in_
        As for `NearestNeighbors`.

    Notes
    -----
    `predict` takes rows as new ones, and a training row finds itself among its neighbors.

    Examples
    --------
    >>> model = NeighborDistance(n_neighbors=1).fit([[0.0], [1.0], [2.0], [3.0]])
    >>> model.predict([[1.5], [9.0]]).tolist()
    [1, -1]
    >>> model.score_samples([[9.0]])
    array([-6.])
    """

    invariances = (*NeighborDetector.invariances, "row_order")

    aggregate: str = parameter({"largest", "mean"}, default="largest")
    false_alarms: float = parameter(default=0.05, above=0, below=1)

    def _scores_by_others(self) -> Floats:
        return self._scored(self._nearest(None, self.n_neighbors_)[0])

    def _offset(self, scores: Floats) -> float:
        return share_line(scores, self.false_alarms)

    def _scored(self, distances: Floats) -> Floats:
        return -(distances[:, -1] if self.aggregate == "largest" else distances.mean(axis=1))

    def score_samples(self, X: Any) -> Floats:
        """Minus the distances to the neighbors, (n_rows,); the larger, the more typical."""
        self._check_fitted()
        return self._scored(self._nearest(X, self.n_neighbors_)[0])


def _for_new_rows(model: Any) -> bool:
    if not model.novelty:
        raise AttributeError(
            "predict, decision_function and score_samples are for new rows, and novelty=False "
            "judges the training rows alone. Use fit_predict, or novelty=True."
        )
    return True


def _for_training_rows(model: Any) -> bool:
    if model.novelty:
        raise AttributeError(
            "fit_predict judges the training rows, and novelty=True is for new rows. Use predict, "
            "or novelty=False."
        )
    return True


class LocalOutlierFactor(NeighborDetector):
    """Novel is where it is sparser than where the neighbors are.

    Parameters
    ----------
    n_neighbors : int, default=20
    contamination : float or "auto", default="auto"
        Share of the training rows beyond the offset; "auto" puts it at -1.5.
    novelty : bool, default=False
        Whether new rows are judged (`predict`) or the training rows (`fit_predict`).
    algorithm, leaf_size, p, metric, metric_params, n_jobs, categorical_features
        As for `NearestNeighbors`.

    Attributes
    ----------
    negative_outlier_factor_ : array (n_rows,)
        Minus the factors of the training rows: -1 among neighbors of equal density.
    offset_, training_scores_, false_alarm_rate_, false_alarm_interval_, n_neighbors_
        As for `NeighborDistance`.
    reach_, local_density_ : arrays (n_rows,)
        Distance of every training row to its k-th neighbor, and one over the mean reach.
    numbers_, codes_, certificate_, schema_, n_features_in_, feature_names_in_
        As for `NearestNeighbors`.

    Notes
    -----
    The mean reach of rows that repeat more than k times is 0; it is taken for 1e-10 of the mean
    over all rows, so that factors do not depend on units. A row that is infinitely far from one of
    its k nearest has the factor infinity. Of equally near rows the first are the neighbors, so the
    order of rows matters where distances are equal.

    References
    ----------
    Breunig, Kriegel, Ng and Sander, LOF: identifying density-based local outliers, SIGMOD 2000.

    Examples
    --------
    >>> X = [[-1.1], [0.2], [101.1], [0.3]]
    >>> model = LocalOutlierFactor(n_neighbors=2)
    >>> model.fit_predict(X).tolist()
    [1, 1, -1, 1]
    >>> model.negative_outlier_factor_.round(2).tolist()
    [-0.98, -1.04, -73.37, -0.98]
    """

    n_neighbors: int = parameter(default=20, at_least=1, kw_only=False)
    contamination: float | str = parameter({"auto"}, default="auto", above=0, at_most=0.5)
    novelty: bool = parameter(default=False)

    reach_: Floats = fitted()
    local_density_: Floats = fitted()
    least_reach_: float = fitted()

    @property
    def negative_outlier_factor_(self) -> Floats:
        """Minus the factors of the training rows."""
        return self.training_scores_

    def _scores_by_others(self) -> Floats:
        distances, rows = self._nearest(None, self.n_neighbors_)
        self.reach_ = distances[:, -1]
        means = np.maximum(distances, self.reach_[rows]).mean(axis=1)
        finite = means[np.isfinite(means)]
        self.least_reach_ = 1e-10 * float(finite.mean() if len(finite) else 0.0) or 1.0
        self.local_density_ = 1.0 / (means + self.least_reach_)
        return self._factors(distances, rows)

    def _factors(self, distances: Floats, rows: Integers) -> Floats:
        means = np.maximum(distances, self.reach_[rows]).mean(axis=1)
        near, alone = self.local_density_[rows].mean(axis=1), np.isinf(means)
        # Fewer than k rows are known to be near: unlike all others, however sparse these are.
        return -np.where(alone, np.inf, near * np.where(alone, 1.0, means + self.least_reach_))

    def _offset(self, scores: Floats) -> float:
        if isinstance(self.contamination, str):
            return -1.5
        return float(np.percentile(scores, 100.0 * self.contamination))

    @available_if(_for_training_rows)
    def fit_predict(self, X: Any, y: Any = None) -> Positions:
        """1 for training rows inside, -1 for those outside, each judged by the others."""
        del y
        self.fit(X)
        return np.where(self.training_scores_ < self.offset_, -1, 1)

    @available_if(_for_new_rows)
    def score_samples(self, X: Any) -> Floats:
        """Minus the factors of new rows, (n_rows,); the larger, the more typical."""
        self._check_fitted()
        return self._factors(*self._nearest(X, self.n_neighbors_))

    decision_function = available_if(_for_new_rows)(NoveltyMixin.decision_function)
    predict = available_if(_for_new_rows)(NoveltyMixin.predict)
