"""What the interval of a new row is compared with: residuals of rows that a model has not seen.

    split      m(x) -+ q{ |y_i - m(x_i)| }                    i not among the training rows
    left out   [ -q{ R_i - m_i(x) },  q{ m_i(x) + R_i } ],  R_i = |y_i - m_i(x_i)|
    quantile   [ l(x) - q{ E_i },  h(x) + q{ E_i } ],       E_i = max(l(x_i) - y_i, y_i - h(x_i))

with `q` the conformal quantile (`quantiles`), and `m_i` the model of the rows outside the fold of
row `i`. Folds of many rows are CV+, of single rows the jackknife+. The jackknife+ of ridge
regression needs no refits: the model without row `i` is also that of all rows with `y_i` replaced
by what the model without it predicts there, so that all `n` models are one fit to `n` targets. A
row of weight two is there twice, and one copy is left out.

References
----------
Barber, Candès, Ramdas and Tibshirani 2021, Annals of Statistics 49, 486-507, theorems 1 and 4;
Romano, Patterson and Candès 2019, NeurIPS 32, equations 5 to 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut

from novum.core.errors import InputError
from novum.core.learners import cross_fit_predictions
from novum.core.runtime import check_cancelled, check_memory, fitted_model
from novum.core.tables import n_rows_of, rows_of
from novum.evaluation.conformal.full_conformal import RidgeUpdates, blocks
from novum.evaluation.conformal.quantiles import conformal_quantile
from novum.linear import LinearRegression, Ridge
from novum.numerics import Floats, Positions
from novum.svm import KernelRidge

_TARGETS_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class SplitResiduals:
    """A model and the sizes of its errors on rows it has not seen.

    Attributes
    ----------
    model : fitted regressor
    scores : array of shape (n,)
    """

    model: Any
    scores: Floats

    def limits(self, table: Any, coverage: float, weight: Floats) -> Floats:
        """Intervals of new rows, of shape (m, 2); `weight` says how much each score counts."""
        middle = numbers(self.model, table)
        reach = conformal_quantile(self.scores, weight, coverage)
        return np.stack([middle - reach, middle + reach], axis=1)


@dataclass(frozen=True, eq=False)
class LeftOutResiduals:
    """Models without parts of the rows, and their errors there.

    Attributes
    ----------
    models : list of fitted regressors
        Of one target or more, each of which is a model.
    column : int array of shape (n,)
        Which of all their targets was fitted without the row.
    scores : array of shape (n,)
    """

    models: list[Any]
    column: Positions
    scores: Floats

    def limits(self, table: Any, coverage: float, weight: Floats) -> Floats:
        """Intervals of new rows, of shape (m, 2)."""
        limits = np.empty((n_rows_of(table), 2))
        for rows in blocks(len(limits), len(self.scores)):
            check_cancelled()
            middle = self.predictions(rows_of(table, rows))
            limits[rows, 0] = -conformal_quantile(self.scores - middle, weight, coverage)
            limits[rows, 1] = conformal_quantile(middle + self.scores, weight, coverage)
        return limits

    def predictions(self, table: Any) -> Floats:
        """What the model without each calibration row says of new rows, of shape (m, n)."""
        n_rows = n_rows_of(table)
        columns = [np.asarray(model.predict(table), np.float64) for model in self.models]
        return np.hstack([each.reshape(n_rows, -1) for each in columns])[:, self.column]


@dataclass(frozen=True, eq=False)
class QuantileResiduals:
    """Models of two quantiles and how far targets lie outside of them, negative if inside.

    Attributes
    ----------
    lower, upper : fitted regressors
    scores : array of shape (n,)
    """

    lower: Any
    upper: Any
    scores: Floats

    def limits(self, table: Any, coverage: float, weight: Floats) -> Floats:
        """Intervals of new rows, of shape (m, 2); one that would be empty is its middle."""
        reach = conformal_quantile(self.scores, weight, coverage)
        low, high = numbers(self.lower, table) - reach, numbers(self.upper, table) + reach
        middle = (low + high) / 2 if np.isfinite(reach) else np.zeros(len(low))
        crossed = low > high
        return np.stack([np.where(crossed, middle, low), np.where(crossed, middle, high)], axis=1)


Reference = SplitResiduals | LeftOutResiduals | QuantileResiduals | RidgeUpdates


def numbers(model: Any, table: Any) -> Floats:
    """Predictions of a model with one target."""
    return np.asarray(model.predict(table), np.float64).reshape(n_rows_of(table))


# --- Learners that are linear in their targets ----------------------------------------------------


def is_ridge(learner: Any) -> bool:
    """Whether leaving a row out, or adding one, has a closed form.

    Examples
    --------
    >>> is_ridge(Ridge()), is_ridge(Ridge(positive=True)), is_ridge(KernelRidge(kernel="rbf"))
    (True, False, True)
    """
    if type(learner) in (LinearRegression, Ridge):
        return not learner.positive and learner.solver not in ("lsqr", "gradient")
    return type(learner) is KernelRidge


def left_out_models(learner: Any, table: Any, y: Floats, weight: Floats | None) -> LeftOutResiduals:
    """The models without each single row, by one fit with as many targets as rows.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0]], np.array([0.0, 1.0, 5.0])
    >>> found = left_out_models(LinearRegression(), X, y, None)
    >>> found.predictions([[3.0]]).round(9).tolist(), found.scores.round(9).tolist()
    ([[9.0, 7.5, 3.0]], [3.0, 1.5, 3.0])
    """
    check_memory(
        4 * 8 * len(y) ** 2,
        f"The jackknife+ of {len(y)} rows",
        "Use method='cross'.",
    )
    alone = _left_out_predictions(learner, table, y, weight)
    # Copies of a row that stay keep their target: the row has the mean of both.
    share = np.ones(len(y)) if weight is None else np.minimum(weight, 1.0) / weight
    targets = np.repeat(y[:, np.newaxis], len(y), axis=1)
    np.fill_diagonal(targets, y - share * (y - alone))
    models = _fits(learner, table, targets, weight)
    return LeftOutResiduals(models, np.arange(len(y)), np.abs(y - alone))


def _left_out_predictions(learner: Any, table: Any, y: Floats, weight: Floats | None) -> Floats:
    """Every row as predicted without it; without one copy, if its weight is more than one."""
    if isinstance(learner, KernelRidge):
        return np.asarray(learner.leave_one_out(table, y, weight).predictions)
    alone = np.asarray(
        cross_fit_predictions(learner, table, y, LeaveOneOut(), sample_weight=weight), np.float64
    )
    if weight is None or (weight <= 1).all():
        return alone
    # With the leverage h the error is e / (1 - h) without the row and e / (1 - h / w) without one
    # of its w copies.
    (model,) = _fits(learner, table, y, weight)
    error, without = y - numbers(model, table), y - alone
    ratio = np.divide(error, without, out=np.ones(len(y)), where=without != 0)
    rest = 1 - (1 - ratio) / np.maximum(weight, 1.0)
    copies = np.divide(error, rest, out=np.zeros(len(y)), where=rest != 0)
    return np.where(weight > 1, y - copies, alone)


def ridge_updates(learner: Any, table: Any, y: Floats, weight: Floats | None) -> RidgeUpdates:
    """The model of all rows, ready for one more (`full_conformal`)."""
    if not np.all(np.asarray(learner.get_params().get("alpha", 1.0), np.float64) > 0):
        raise InputError(
            "Full conformal prediction needs a penalty above 0, without which a further row may be "
            f"fitted exactly, but {learner!r} has alpha=0. Set a small alpha."
        )
    check_memory(4 * 8 * len(y) ** 2, f"The influence of {len(y)} rows", "Use method='cross'.")
    (model,) = _fits(learner, table, y, weight)
    if isinstance(learner, LinearRegression) and model.rank_ < len(model.coef_):
        raise InputError(
            f"The {len(y)} rows determine {model.rank_} of {len(model.coef_)} coefficients, so "
            "that any target of a further row may be fitted exactly. Use Ridge, or fewer columns."
        )
    ones = np.ones(len(y)) if weight is None else weight
    smoothers = _fits(learner, table, np.eye(len(y)), weight)
    return RidgeUpdates(model, smoothers, y - numbers(model, table), ones)


def _fits(learner: Any, table: Any, targets: Floats, weight: Floats | None) -> list[Any]:
    """Fits to all targets, some at once: least squares keeps the square of their number."""
    weights = {} if weight is None else {"sample_weight": weight}
    if targets.ndim == 1:
        return [fitted_model(clone(learner), table, targets, **weights)]
    size = targets.shape[1] if isinstance(learner, KernelRidge) else _TARGETS_AT_ONCE
    parts = (targets[:, start : start + size] for start in range(0, targets.shape[1], size))
    return [fitted_model(clone(learner), table, part, **weights) for part in parts]
