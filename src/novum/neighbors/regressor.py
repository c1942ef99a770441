"""Regression by the mean of neighbors.

f(x) = sum over neighbors i of w_i y_i / sum of w_i
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from novum.core.errors import ModelFileError
from novum.core.learners import fitted
from novum.neighbors.nearest import RadiusMixin, rows_to_keep
from novum.neighbors.voters import ChosenNeighborsMixin, TargetsOfNeighbors, Voters
from novum.neighbors.votes import mean_votes, vote_weights
from novum.numerics import Floats


class AveragingModel(RegressorMixin, TargetsOfNeighbors):
    """What regressors by neighbors share: numbers, one target or several."""

    targets_: Floats = fitted()

    def _fit(self, X: Any, y: Any) -> None:
        sample = rows_to_keep(self, X, y, "numbers")
        self.outputs_2d_ = sample.target.ndim == 2
        self.targets_ = np.ascontiguousarray(sample.targets, np.float64)
        self._keep(sample)

    def _check_state(self) -> None:
        super()._check_state()
        if self.targets_.dtype != np.float64 or self.targets_.ndim != 2 or not self.targets_.size:
            raise ModelFileError("The file has targets that are no table of numbers.")

    def _means(self, X: Any) -> Floats:
        """Means of the neighbors, (n_rows, n_targets)."""
        raise NotImplementedError

    def predict(self, X: Any) -> Floats:
        """Means of the neighbors, (n_rows,) or (n_rows, n_targets)."""
        means = self._means(X)
        return means if self.outputs_2d_ else means[:, 0]


class KNeighborsRegressor(ChosenNeighborsMixin, AveragingModel):
    """The mean of the k nearest rows.

    Parameters
    ----------
    n_neighbors : int or "auto", default=5
        "auto" takes the number of least leave-one-out error up to 50, from one search.
    weights : {"uniform", "distance"} or callable, default="uniform"
    algorithm, leaf_size, p, metric, metric_params, n_jobs, categorical_features
        As for `KNeighborsClassifier`.

    Attributes
    ----------
    n_neighbors_ : int
    numbers_, codes_, targets_ : arrays
        The training rows.
    certificate_, schema_, n_features_in_, feature_names_in_
        As everywhere.

    Notes
    -----
    Rows that are as far as the k-th share the votes that are left, as in `KNeighborsClassifier`.

    Examples
    --------
    >>> KNeighborsRegressor(2).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 8.0]).predict([[0.4], [1.9]])
    array([0.5, 4.5])
    """

    def _means(self, X: Any) -> Floats:
        self._check_fitted()
        voters = self._voters(X, self.n_neighbors_)
        weights = vote_weights(self.weights, voters.distances)
        return voters.mean(weights, partial(mean_votes, self.targets_))

    def _losses(self, voters: Voters) -> Floats:
        losses, targets = np.empty(voters.rows.shape), self.targets_
        means = voters.running_means(self.weights, lambda rows: targets[rows], targets.shape[1])
        for block, answers in means:
            losses[block] = ((answers - targets[block, np.newaxis]) ** 2).mean(axis=2)
        return losses


class RadiusNeighborsRegressor(RadiusMixin, AveragingModel):
    """The mean of all rows within a radius.

    Parameters
    ----------
    radius : float, default=1.0
    weights : as for `KNeighborsRegressor`
    algorithm, leaf_size, p, metric, metric_params, n_jobs, categorical_features
        As for `NearestNeighbors`.

    Attributes
    ----------
    numbers_, codes_, targets_, certificate_, schema_
        As for `KNeighborsRegressor`.

    Notes
    -----
    Where nothing is within the radius the answer is NaN, with a warning.

    Examples
    --------
    >>> model = RadiusNeighborsRegressor(1.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 8.0])
    >>> model.predict([[0.5]])
    array([0.5])
    """

    invariances = ("shift", "row_order")  # The radius has the unit of the columns.

    def _means(self, X: Any) -> Floats:
        import warnings

        distances, rows = self.radius_neighbors(X)
        answers = np.full((len(rows), self.targets_.shape[1]), np.nan)
        for at, (apart, near) in enumerate(zip(distances, rows, strict=True)):
            if len(near):
                weights = vote_weights(self.weights, apart[np.newaxis])
                answers[at] = mean_votes(self.targets_, near[np.newaxis], weights)[0]
        alone = np.isnan(answers[:, 0])
        if alone.any():
            warnings.warn(
                f"{int(alone.sum())} rows have no neighbors within {self.radius:g}; their answer "
                "is NaN. Take a larger radius.",
                UserWarning,
                stacklevel=3,
            )
        return answers
