"""Isotonic regression: the monotone function of one column closest to the targets.

    minimize over f_1 <= ... <= f_m    sum_i w_i (y_i - f(x_i))^2

Neighbors in the wrong order are pooled to their mean until none is left
(`numerics.isotonic`). A falling function is the negative of the rising one of `-y`, and within
bounds the best function is the best one without them, cut off at the bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, Verdict, fitted, parameter
from novum.core.runtime import answered, fit_context, fitting, round_attributes
from novum.core.tables import Kind, Sample, Schema, check_features, check_sample
from novum.linear.column_range import check_target_range
from novum.numerics import Array, Floats, IsotonicMap, fit_isotonic


class IsotonicRegression(RegressorMixin, TransformerMixin, Learner):
    """The rising (or falling) function of one column with the least squared error.

    The column holds numbers, or ordered levels, whose order alone counts. Between the values of
    training the function is linear.

    Parameters
    ----------
    y_min, y_max : float
        Bounds of the function.
    increasing : bool or "auto"
        Whether it rises or falls; "auto" takes what fits better, and rises where both do.
    out_of_bounds : {"nan", "clip", "raise"}
        What is predicted beyond the values of training: nothing, what is predicted at their end,
        or an error.

    Attributes
    ----------
    X_thresholds_, y_thresholds_ : arrays (n_thresholds,)
        The corners of the function.
    X_min_, X_max_ : float
        The range of training.
    increasing_ : bool
    f_ : callable
        The function itself, constant beyond the range of training.
    certificate_, schema_

    Notes
    -----
    `O(n log n)`. Weights count repetitions; equal values get equal predictions. Missing cells are
    refused. The same function minimizes every Bregman loss, the log loss of shares too.

    References
    ----------
    Barlow, Bartholomew, Bremner and Brunk, Statistical Inference under Order Restrictions, 1972,
    theorems 1.1 and 1.10.

    Examples
    --------
    >>> model = IsotonicRegression().fit([1, 2, 3, 4], [1.0, 3.0, 2.0, 4.0])
    >>> model.predict([1, 2.5, 3.5, 9]).tolist()
    [1.0, 2.5, 3.25, nan]
    >>> model.certificate_.verdict.value
    'proved'
    """

    invariances: ClassVar[tuple[str, ...]] = ("shift", "column_scale", "row_order", "duplication")
    categorical_features: ClassVar[str] = "auto"

    y_min: float | None = parameter(default=None)
    y_max: float | None = parameter(default=None)
    increasing: bool | str = parameter({"auto"}, default=True)
    out_of_bounds: str = parameter({"nan", "clip", "raise"}, default="nan")

    schema_: Schema = fitted()
    certificate_: Certificate = fitted()
    X_thresholds_: Floats = fitted()
    y_thresholds_: Floats = fitted()

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Finds the function.

        Parameters
        ----------
        X : array-like of shape (n_rows,) or (n_rows, 1), or a frame of one column
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.

        Returns
        -------
        self : fitted estimator
        """
        low = -np.inf if self.y_min is None else self.y_min
        high = np.inf if self.y_max is None else self.y_max
        if low > high:
            raise InputError(f"y_min={self.y_min} is larger than y_max={self.y_max}. Swap them.")
        with fitting(self) as watch:
            sample = check_sample(self, _as_column(X), y, sample_weight)
            x, target = _values(sample), np.ravel(sample.target)
            check_target_range(target, least=0.0)
            signs = {True: (1,), False: (-1,), "auto": (1, -1)}[self.increasing]
            tried = [(sign, fit_isotonic(x, sign * target, sample.weight)) for sign in signs]
            sign, best = min(tried, key=lambda one: _loss(one[1], x, one[0] * target, sample))
            self.increasing_ = sign == 1
            self.X_thresholds_ = best.knots
            self.y_thresholds_ = np.clip(sign * best.values, low, high)
            self.X_min_, self.X_max_ = best.knots[0], best.knots[-1]
            self.schema_ = sample.schema
            self.certificate_ = Certificate(
                objective="sum of weighted squared errors of a monotone function",
                verdict=Verdict.PROVED,
                value=_loss(IsotonicMap(best.knots, self.y_thresholds_), x, target, sample),
                residual=best.residual,
                seconds=watch.seconds,
            )
            corners = ("X_thresholds_", "y_thresholds_", "X_min_", "X_max_")
            round_attributes(self, X, *corners)
        return self

    @property
    def f_(self) -> Callable[[Any], Floats]:
        """The function, for arrays of any shape."""
        check_is_fitted(self)
        return IsotonicMap(self.X_thresholds_, self.y_thresholds_).predict

    def predict(self, X: Any) -> Floats:
        """The function at the rows, of shape (n_rows,)."""
        function = self.f_
        x = _values(check_features(self, _as_column(X)))
        beyond = (x < self.X_min_) | (x > self.X_max_)
        if self.out_of_bounds == "raise" and beyond.any():
            row = int(beyond.argmax())
            raise InputError(
                f"Row {row} has the value {x[row]:g}, which is below or above the range of "
                f"training, {self.X_min_:g} to {self.X_max_:g}. Set out_of_bounds='clip' or 'nan'."
            )
        values = np.where(beyond & (self.out_of_bounds == "nan"), np.nan, function(x))
        return answered(self.y_thresholds_, X, values)

    def transform(self, X: Any) -> Floats:
        """As `predict`; a step of a pipeline."""
        return self.predict(X)

    def get_feature_names_out(self, input_features: Any = None) -> Array:  # noqa: ARG002
        """One name, `isotonicregression0`."""
        check_is_fitted(self)
        return np.array([f"{type(self).__name__.lower()}0"], object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = True
        return tags

    def _check_state(self) -> None:
        x, y = self.X_thresholds_, self.y_thresholds_
        steps = np.diff(y) if self.increasing_ else -np.diff(y)
        if x.ndim != 1 or x.shape != y.shape or not ((np.diff(x) > 0).all() and (steps >= 0).all()):
            raise ModelFileError("The corners of the model are not those of a monotone function.")


def _as_column(X: Any) -> Any:
    """One-dimensional input as a table of one column."""
    if isinstance(X, (list, tuple)) and not (X and isinstance(X[0], (list, tuple, np.ndarray))):
        return np.asarray(X).reshape(-1, 1)
    return X.reshape(-1, 1) if isinstance(X, np.ndarray) and X.ndim == 1 else X


def _values(sample: Sample) -> Floats:
    """The one column as numbers: its own, or the places of ordered levels."""
    schema = sample.schema
    if schema.n_columns != 1 or schema.columns[0].kind is Kind.NOMINAL:
        what = f"{schema.n_columns} columns" if schema.n_columns != 1 else "levels without order"
        raise InputError(
            "Isotonic regression input X should be a 1d array or 2d array with 1 feature, of "
            f"numbers or ordered levels; got {what}."
        )
    column = sample.numeric if schema.is_numeric else sample.codes.astype(np.float64)
    return np.asarray(column[:, 0])


def _loss(function: IsotonicMap, x: Floats, target: Floats, sample: Sample) -> float:
    return float(sample.weights @ (target - function.predict(x)) ** 2)
