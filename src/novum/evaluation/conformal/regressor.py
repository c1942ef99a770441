"""Intervals for predicted numbers that hold the truth as often as promised.

The law of the data and the learner may be anything; new rows must be drawn like those of the fit,
in any order (exchangeable). What is compared with what is told in `references` and
`full_conformal`, how rows are divided in `calibration_rows`.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.core import files
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import ConstantTargetWarning, fitted, parameter
from novum.core.runtime import fit_context, fitting
from novum.core.tables import TrainingRows, checked_rows, n_rows_of, rows_of, said_once
from novum.evaluation.conformal.calibration_rows import ConformalLearner
from novum.evaluation.conformal.full_conformal import RidgeUpdates
from novum.evaluation.conformal.references import (
    LeftOutResiduals,
    QuantileResiduals,
    Reference,
    SplitResiduals,
    is_ridge,
    left_out_models,
    numbers,
    ridge_updates,
)
from novum.numerics import Array, Floats, Positions

_INFINITE = "every interval is infinite"


def _is_full(model: ConformalRegressor) -> bool:
    if model.method != "full":
        raise AttributeError(f"Only method='full' gives unions of intervals, not {model.method!r}.")
    return True


class ConformalRegressor(RegressorMixin, ConformalLearner):
    """Intervals around the predictions of any regressor.

    `P(y in interval) >= coverage` for new rows drawn like those of the fit, whatever their law; for
    "jackknife+" `2 coverage - 1` is proved, for "cross" somewhat less, and `coverage` is what they
    reach but for learners that a single row can turn. `certificate_` says how much is proved.

    Parameters
    ----------
    method : {"cross", "split", "jackknife+", "quantile", "full"}
        "split": residuals of rows set aside; the cheapest, and all intervals have one width.
        "cross": residuals of folds (CV+), ten fits. "jackknife+": residuals of single rows left
        out, for `Ridge`, `LinearRegression` and `KernelRidge` exactly and without refits, for
        others by as many fits as rows. "quantile": learners of two quantiles, corrected by rows set
        aside, so that widths follow the spread. "full": every candidate is added to the rows, for
        `Ridge`, `LinearRegression` and `KernelRidge` exactly.
    quantiles : pair of regressors, optional
        For "quantile": learners of the lower and the upper quantile, `(1 -+ coverage) / 2`. By
        default the learner itself where it has a quantile (`QuantileLoss`, `quantile=`), else
        `novum.ensemble.GradientBoostingRegressor(QuantileLoss(q))`.

    Attributes
    ----------
    estimator_ : fitted regressor
        Whose predictions are given: of all rows for "cross", "jackknife+" and "full", of those
        that train for "split" and "quantile".
    reference_ : fitted models and the scores of the calibration rows
    calibration_weight_, calibration_groups_ : arrays of shape (n_calibration,)
    group_labels_ : array or None
    certificate_ : Certificate
    n_features_in_, feature_names_in_

    Notes
    -----
    The quantile of `n` scores is the `ceil((n + 1) coverage)`-th smallest; with fewer than
    `coverage / (1 - coverage)` calibration rows intervals are infinite, and a warning says so.
    A weight counts rows in the quantile too; of a row of weight two one copy is left out. Missing
    cells are the learner's matter. "cross" keeps a model for each fold, "jackknife+" and "full"
    `O(n^2)` numbers.

    References
    ----------
    Lei et al. 2018, JASA 113, 1094-1111; Barber et al. 2021, Annals of Statistics 49, 486-507;
    Romano, Patterson and Candès 2019; Vovk, Lindsay, Nouretdinov and Gammerman 2003 for groups.

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> X = [[float(i)] for i in range(20)]
    >>> y = [i + (1.0 if i % 2 else -1.0) for i in range(20)]
    >>> model = ConformalRegressor(LinearRegression(), method="jackknife+").fit(X, y)
    >>> model.predict_interval([[10.0]]).round(1).tolist()
    [[8.7, 11.3]]
    """

    method: str = parameter({"split", "cross", "jackknife+", "quantile", "full"}, default="cross")
    quantiles: Any = parameter(tuple, list, None, default=None)

    reference_: Reference = fitted()

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit the learner and calibrate.

        Parameters
        ----------
        X, y
            Rows of any container the learner reads, and one number for each.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.
        groups : array-like of shape (n,), optional
            Calibrates each group by itself: the coverage holds in every one of them.
        """
        with fitting(self) as watch:
            self._begin()
            training = TrainingRows.of(self, X, y, sample_weight, target="one number")
            self._check_rows(training)
            self.reference_, rows = self._reference(training)
            self._keep_groups(training, groups, rows)
            reference = self.reference_
            folds = reference.column if isinstance(reference, LeftOutResiduals) else rows
            self.certificate_ = self._certified(folds, self.calibration_groups_, "", watch.seconds)
        if np.ptp(training.target) == 0:
            warnings.warn(
                f"All targets are {training.target[0]:g}, so that every interval is that one "
                "number. Check the target.",
                ConstantTargetWarning,
                stacklevel=2,
            )
        return self

    @said_once()
    def predict(self, X: Any) -> Array:
        """Predictions of the learner."""
        check_is_fitted(self, "reference_")
        return np.asarray(self.estimator_.predict(checked_rows(self, X, reset=False)))

    @said_once()
    def predict_interval(
        self, X: Any, coverage: float | None = None, *, groups: Any = None
    ) -> Floats:
        """Limits of the intervals, of shape (n, 2).

        Parameters
        ----------
        X : rows
        coverage : float, optional
            Default: that of the constructor.
        groups : array-like of shape (n,)
            Of the new rows, if the model was calibrated by groups.
        """
        check_is_fitted(self, "reference_")
        table, asked = checked_rows(self, X, reset=False), self._asked(coverage)
        n_rows = n_rows_of(table)
        limits = np.empty((n_rows, 2))
        for rows, counted, what in self._by_group(n_rows, groups):
            weight = self.calibration_weight_ * counted
            self._warn_if_few(weight, asked, what, _INFINITE)
            limits[rows] = self.reference_.limits(rows_of(table, rows), asked, weight)
        return limits

    @available_if(_is_full)
    def predict_union(
        self, X: Any, coverage: float | None = None, *, groups: Any = None
    ) -> list[Floats]:
        """For each row all its intervals, of shape (k, 2); `predict_interval` gives their hull."""
        check_is_fitted(self, "reference_")
        assert isinstance(self.reference_, RidgeUpdates)
        table, asked = checked_rows(self, X, reset=False), self._asked(coverage)
        n_rows = n_rows_of(table)
        intervals: list[Floats] = [np.empty((0, 2))] * n_rows
        for rows, counted, what in self._by_group(n_rows, groups):
            weight = self.calibration_weight_ * counted
            self._warn_if_few(weight, asked, what, _INFINITE)
            unions = self.reference_.unions(rows_of(table, rows), asked, weight)
            for row, union in zip(rows.tolist(), unions, strict=True):
                intervals[row] = union
        return intervals

    # Steps of a fit

    def _reference(self, training: TrainingRows) -> tuple[Reference, Positions]:
        """Sets `estimator_`; what new rows are compared with, and the rows that calibrate."""
        y, everything = training.target, np.arange(training.n_rows)
        if self.method == "split":
            split = self._split_model(training, y)
            (self.estimator_,) = split.models
            scores = np.abs(y[split.rows] - split.answers(numbers, training.table))
            return SplitResiduals(self.estimator_, scores), split.rows
        if self.method == "quantile":
            return self._quantile_reference(training)
        if self.method == "full":
            if not is_ridge(self.learner):
                raise InputError(
                    "method='full' is exact for Ridge, LinearRegression and KernelRidge, not for "
                    f"{self.learner!r}. Use method='cross'."
                )
            updates = ridge_updates(self.learner, training.table, y, training.weight)
            self.estimator_ = updates.model
            return updates, everything
        self.estimator_ = self._whole_model(training, y)
        if self.method == "jackknife+" and is_ridge(self.learner):
            return left_out_models(self.learner, training.table, y, training.weight), everything
        folds = self._fold_models(training, y, None)
        scores = np.abs(y - folds.answers(numbers, training.table))
        return LeftOutResiduals(folds.models, folds.column, scores), everything

    def _quantile_reference(self, training: TrainingRows) -> tuple[QuantileResiduals, Positions]:
        train, rows = self._split(training)
        weights, y = self._weights(training), training.target
        self.estimator_ = self._fitted(self._seeded(), training, y, weights, train)
        lower, upper = (
            self._fitted(clone(each), training, y, weights, train) for each in self._pair()
        )
        table = rows_of(training.table, rows)
        scores = np.maximum(numbers(lower, table) - y[rows], y[rows] - numbers(upper, table))
        return QuantileResiduals(lower, upper, scores), rows

    def _pair(self) -> tuple[Any, Any]:
        """Learners of the lower and the upper quantile."""
        if self.quantiles is None:
            low = (1 - self.coverage) / 2
            return with_quantile(self.learner, low), with_quantile(self.learner, 1 - low)
        if len(self.quantiles) != 2 or not all(hasattr(each, "fit") for each in self.quantiles):
            raise InputError(
                "quantiles is a pair of regressors, of the lower and the upper quantile, got "
                f"{self.quantiles!r}."
            )
        return tuple(self.quantiles)

    # What others ask of a model

    def _check_state(self) -> None:
        super()._check_state()
        reference, n = self.reference_, len(self.calibration_weight_)
        if not isinstance(reference, Reference):
            raise ModelFileError("The model has no reference for its intervals.")
        scores = reference.residuals if isinstance(reference, RidgeUpdates) else reference.scores
        if scores.shape != (n,) or not np.isfinite(scores).all():
            raise ModelFileError(f"The scores of {n} calibration rows are damaged.")
        if isinstance(reference, LeftOutResiduals):
            column = reference.column
            inside = column.shape == (n,) and column.min() >= 0 and column.max() < n
            if not inside or not reference.models:
                raise ModelFileError("The folds of the calibration rows are damaged.")


def with_quantile(learner: Any, q: float) -> Any:
    """The learner for the quantile `q` if it has one, else gradient boosting.

    Examples
    --------
    >>> from sklearn.linear_model import QuantileRegressor
    >>> with_quantile(QuantileRegressor(), 0.25)
    QuantileRegressor(quantile=0.25)
    """
    # By their names: packages of one layer do not import each other.
    boosting, loss = files.estimator("GradientBoostingRegressor"), files.value("QuantileLoss")
    params = learner.get_params(deep=True)
    for name, value in params.items():
        prefix, _, last = name.rpartition("__")
        owner, before = (params[prefix], f"{prefix}__") if prefix else (learner, "")
        if last == "loss" and isinstance(owner, boosting):
            return clone(learner).set_params(**{name: loss(q)})
        if last == "quantile":
            more = {f"{before}loss": "quantile"} if f"{before}loss" in params else {}
            return clone(learner).set_params(**{name: q}, **more)
        if last == "loss" and value == "quantile" and f"{before}alpha" in params:
            return clone(learner).set_params(**{f"{before}alpha": q})
    return boosting(loss(q), random_state=0)
