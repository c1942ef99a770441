"""Ridge regression: least squares with a quadratic penalty.

    minimize  sum_i w_i (y_i - b0 - x_i'b)^2 + alpha |b|^2

The same triangular factor as for least squares serves every penalty: the coefficients come from
QR of `[R_x; sqrt(alpha) I]`, so no square of a small number is ever formed. The intercept is free
of the penalty. The penalty is in the user's units: ridge depends on the scale of columns by
definition.

`RidgeCV` chooses its own strength by exact cross-validation. Leaving one row out costs nothing
extra: with the singular value decomposition of the centered
factor, `R_x = U S V'`, and `t_i = V'(x_i - x_mean)`,

    fit       yhat_i = y_mean + sum_j t_ij s_j (U'R_y)_j / (s_j^2 + alpha)
    leverage  h_i    = 1 / sum(w) + sum_j t_ij^2 / (s_j^2 + alpha)
    error     (y_i - yhat_i) / (1 - h_i)

for every strength at once. A weight counts copies of a row and one copy is left out, so that
weight 2 is the row twice here too. Folds use sums of statistics (`core.sums.exact_validation`).

With no more rows than columns every row nearly fits itself and `1 - h_i` would cancel. There the
left singular vectors `z_j` of the rows, all of them but the constant, give both as plain sums:

    1 - h_i = alpha sum_j z_ij^2 / (s_j^2 + alpha),
    y_i - yhat_i = alpha sum_j z_ij (z_j'y) / (s_j^2 + alpha).
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import linalg
from sklearn.base import RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils._param_validation import Interval

from novum.core.errors import InputError
from novum.core.learners import Learner, parameter
from novum.core.runtime import fit_context, fitting
from novum.core.sums import (
    SAFE_REMAINDER,
    divided_rows,
    fold_of,
    fold_statistics,
    sum_blocks,
    whole_sample,
)
from novum.core.tables import Coding, Sample, rows_of, treatment_blocks, treatment_rows
from novum.linear.column_range import LARGEST_SQUARED, check_range, check_target_range
from novum.linear.least_squares.model import LinearModel, LinearPredictor
from novum.linear.least_squares.solution import Design, row_basis, solve
from novum.numerics import Floats

# Names of scikit-learn's solvers for what is solved directly here.
_OTHER_SOLVERS = ("svd", "cholesky", "sparse_cg", "sag", "saga", "lbfgs")


class Ridge(LinearModel):
    """Ridge regression with certificate and mergeable statistics.

    Minimizes `sum_i w_i (y_i - b0 - x_i'b)^2 + alpha |b|^2`, solved directly from the triangular
    factor of the table.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1.0
        Strength of the penalty, at least 0.
    fit_intercept : bool, default=True
    copy_X : bool, default=True
        Kept for scikit-learn's signature; `X` is never overwritten.
    max_iter : int, optional
        Limit of the iterative solvers.
    tol : float, default=1e-4
        Of the iterative solvers.
    solver : {"auto", "lsqr", "gradient"} or a name of scikit-learn's, default="auto"
        `"auto"` is direct, except for sparse tables of more than 2000 columns. scikit-learn's
        `"svd"`, `"cholesky"`, `"sparse_cg"`, `"sag"`, `"saga"`, and `"lbfgs"` with
        `positive=True`, are accepted and mean `"auto"`: the coefficients are the same.
    positive : bool, default=False
        Restricts the coefficients to be at least zero.
    random_state : optional
        Kept for scikit-learn's signature; nothing here is random.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Columns coded by their levels, against the first level.

    Attributes
    ----------
    coef_, intercept_, coef_names_, certificate_, statistics_, rank_, singular_, schema_
        As in `LinearRegression`.
    degrees_of_freedom_ : float
        Effective number of coefficients, the trace of the hat matrix, intercept included.

    Notes
    -----
    Costs `O(n p^2)` time, then `O(p^3)` for each further strength. Weights count repetitions.
    Missing cells are refused; an unseen level counts as the first level, with a warning.

    References
    ----------
    Hoerl and Kennard 1970; Golub and Van Loan, Matrix Computations, 4th ed., 6.1.4.

    Examples
    --------
    >>> from novum.linear import Ridge
    >>> model = Ridge(alpha=2.0).fit([[-1.0], [1.0]], [0.0, 4.0])
    >>> round(float(model.coef_[0]), 12), round(float(model.intercept_), 12)
    (1.0, 2.0)
    """

    alpha: Any = parameter(
        Interval(Real, 0, None, closed="left"), np.ndarray, list, default=1.0, kw_only=False
    )
    tol = 0.0001
    solver: str = parameter({"auto", "lsqr", "gradient", *_OTHER_SOLVERS}, default="auto")
    random_state: Any = parameter("random_state", default=None)

    _positive_solvers = ("auto", "lbfgs")

    @property
    def degrees_of_freedom_(self) -> Floats | float:
        """Effective number of coefficients: `sum s^2 / (s^2 + alpha)`, plus 1 for an intercept."""
        if not hasattr(self, "statistics_"):
            raise NotFittedError(
                "degrees_of_freedom_ is known after a direct fit only: the singular values of the "
                "table are needed. Fit with solver='auto' on dense columns."
            )
        squares = self.singular_[: self.rank_] ** 2
        penalties = self._penalties(self.statistics_.n_targets)
        counts = [float((squares / (squares + alpha)).sum()) for alpha in penalties]
        degrees = np.array(counts) + self.fit_intercept
        return float(degrees[0]) if self.statistics_.vector_target else degrees

    @property
    def _method(self) -> str:
        return "auto" if self.solver in _OTHER_SOLVERS else self.solver

    def _check_solver(self) -> None:
        super()._check_solver()
        if self.solver == "lbfgs" and not self.positive:
            raise InputError(
                "'lbfgs' solver can be used only when positive=True. Use solver='auto'."
            )

    def _penalties(self, n_targets: int) -> Floats:
        alpha = strengths(self.alpha, "alpha").ravel()
        if alpha.size not in (1, n_targets):
            raise InputError(
                f"Number of targets and number of penalties do not correspond: {n_targets} != "
                f"{alpha.size}. Give one alpha, or one for each target."
            )
        return np.broadcast_to(alpha, (n_targets,))


def strengths(values: Any, name: str) -> Floats:
    """Strengths of a penalty as an array: finite numbers of at least 0.

    >>> strengths([0, 1.5], "alpha").tolist()
    [0.0, 1.5]
    """
    try:
        # Text of digits would become numbers without a word.
        text = np.asarray(values).dtype.kind in "US"
        alphas = np.array(np.nan) if text else np.asarray(values, np.float64)
    except (TypeError, ValueError):
        alphas = np.array(np.nan)
    if not (np.isfinite(alphas).all() and (alphas >= 0).all()):
        raise InputError(f"{name} must be finite numbers of at least 0, got {values!r}.")
    return alphas


class RidgeCV(LinearPredictor, Learner):
    """Ridge regression with the strength of the best cross-validated predictions.

    Minimizes `sum_i w_i (y_i - b0 - x_i'b)^2 + alpha |b|^2` for the `alpha` whose models, each
    without the row or fold it predicts, have the best score.

    Parameters
    ----------
    alphas : array-like, default=(0.1, 1.0, 10.0)
        Strengths to try, each above 0, or at least 0 with `cv`.
    fit_intercept : bool, default=True
    scoring : str or callable, optional
        scikit-learn's name of a score. By default the negative mean squared error of rows left
        out one by one, or with folds the mean of their R squared.
    cv : int, splitter or iterable, optional
        Leave-one-out by default. A number and scikit-learn's splitters divide the rows of positive
        weight; an iterable of (train, test) names rows of the table.
    gcv_mode : optional
        Kept for scikit-learn's signature; the accurate way is chosen by itself.
    store_cv_results : bool, default=False
        Keeps `cv_results_`.
    alpha_per_target : bool, default=False
        Chooses one strength for each target.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"

    Attributes
    ----------
    alpha_ : float or array of shape (n_targets,)
    best_score_ : float or array of shape (n_targets,)
    best_estimator_ : Ridge
        The model fitted to all rows with that strength.
    coef_, intercept_, coef_names_, certificate_, schema_
        Of `best_estimator_`.
    cv_results_ : array of shape (n_rows, n_alphas) or (n_rows, n_targets, n_alphas)
        Squared errors, or predictions when `scoring` is given; NaN where a row is never tested.

    Notes
    -----
    Costs one fit and `O(n p)` for every strength; with `k` folds, one fit and `k` solutions of
    size `p` for every strength. Weights count repetitions, in the scores too; a fold whose tested
    rows all have weight 0 has no score. Of equal scores the first strength is taken. Missing cells
    are refused; an unseen level counts as the first level, with a warning.

    References
    ----------
    Allen 1974, "The relationship between variable selection and data augmentation and a method for
    prediction"; Golub, Heath and Wahba 1979, Technometrics 21, 215-223.

    Examples
    --------
    >>> from novum.linear import RidgeCV
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> RidgeCV(alphas=[0.01, 100.0]).fit(X, [0.0, 1.0, 2.1, 2.9]).alpha_
    0.01
    """

    invariances = ("shift", "row_order", "duplication")

    alphas: Any = parameter(
        "array-like",
        Interval(Real, 0, None, closed="neither"),
        default=(0.1, 1.0, 10.0),
        kw_only=False,
    )
    fit_intercept: bool = parameter(default=True)
    scoring: Any = parameter(str, callable, None, default=None)
    cv: Any = parameter("cv_object", default=None)
    gcv_mode: str | None = parameter({"auto", "svd", "eigen"}, default=None)
    store_cv_results: bool = parameter(default=False)
    alpha_per_target: bool = parameter(default=False)
    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Chooses the strength and fits it to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for `Ridge`.
        groups : array-like of shape (n_rows,), optional
            For a splitter that keeps groups of rows together.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self):
            alphas = self._checked_alphas()
            ridge = Ridge(
                fit_intercept=self.fit_intercept, categorical_features=self.categorical_features
            )
            sample = whole_sample(self, X, y, sample_weight)
            check_target_range(sample.targets)
            predictions, parts = self._validated(ridge, sample, alphas, groups)
            scores = [self._scores(sample.rows(part), predictions[part]) for part in parts]
            self._choose(alphas, np.mean(scores, axis=0))
            ridge.set_params(alpha=self.alpha_).fit(X, y, sample_weight)
            self._store(ridge, sample, predictions)
        return self

    # Steps of a fit

    def _checked_alphas(self) -> Floats:
        alphas = np.atleast_1d(strengths(self.alphas, "alphas"))
        if alphas.ndim != 1 or not alphas.size:
            raise InputError(f"alphas must be a list of strengths, got {self.alphas!r}.")
        if self.cv is None and not alphas.all():
            raise InputError(
                f"Leaving one row out needs alphas above 0, got {self.alphas!r}. Set cv for folds, "
                "which try 0 too."
            )
        return alphas

    def _validated(
        self, ridge: Ridge, sample: Sample, alphas: Floats, groups: Any
    ) -> tuple[Floats, list[Any]]:
        """Predictions of rows by models without them, (n, t, n_alphas), and the parts to score."""
        if self.cv is None:
            return self._left_out(ridge, sample, alphas), [slice(None)]
        divided = divided_rows(self.cv, sample)
        groups = None if groups is None else rows_of(groups, divided)
        errors = np.full((*sample.targets.shape, alphas.size), np.nan)
        sample = sample.rows(divided)
        splits = check_cv(self.cv).split(divided, sample.target, groups)
        folds = [fold_of(train, test, sample.n_rows) for train, test in splits]
        for number, part in enumerate(fold_statistics(ridge, sample, folds)):
            if not part.rows > 0:
                raise InputError(
                    f"Fold {number} (counted from 0) trains on no row of positive weight. Use "
                    "other folds, such as shuffled ones."
                )
            test, design = folds[number].test, Design.of(part, self.fit_intercept)
            errors[divided[test]] = _path_predictions(sample.rows(test), design, alphas)
        scored = [divided[fold.test] for fold in folds if sample.weights[fold.test].any()]
        if not scored:
            raise InputError("No fold tests a row of positive weight, so there is no score.")
        return errors, scored

    def _left_out(self, ridge: Ridge, sample: Sample, alphas: Floats) -> Floats:
        """Predictions of every row by models without one copy of it, shape (n, t, n_alphas)."""
        weight = sample.weights
        if np.count_nonzero(weight) < 2 and not weight.max() > 1:
            raise InputError(
                "Leaving one row out needs at least two rows, but n_samples = 1. Pass more rows, "
                "or fit Ridge with a strength of your own."
            )
        counted = sample.rows(weight > 0)
        design = Design.of(sum_blocks(ridge._sum, counted), self.fit_intercept)
        # Leverages are squares of columns; those that vanish beside the strength do no harm.
        sizes, names = design.sizes, lambda: Coding(sample.schema).names
        check_range(np.zeros_like(sizes), sizes, names, largest=LARGEST_SQUARED, least=0.0)
        if counted.n_rows <= design.x.shape[1]:
            predicted = np.empty((*sample.targets.shape, alphas.size))
            predicted[weight > 0] = _left_out_of_few(counted, design, alphas, self.fit_intercept)
            if counted.n_rows < sample.n_rows:
                rest = sample.rows(weight == 0)
                predicted[weight == 0] = _path_predictions(rest, design, alphas)
            return predicted
        predicted, remainder = leave_one_out_path(sample, design, alphas, self.fit_intercept)
        for row in np.flatnonzero((remainder < SAFE_REMAINDER).any(axis=1)):
            left = weight.copy()
            left[row] -= min(weight[row], 1.0)
            part = replace(sample, weight=left).rows(left > 0)
            design = Design.of(sum_blocks(ridge._sum, part), self.fit_intercept)
            predicted[row] = _path_predictions(sample.rows(slice(row, row + 1)), design, alphas)
        return predicted

    def _scores(self, sample: Sample, predictions: Floats) -> Floats:
        """Score of each target, or of all of them, and strength, shape (t or 1, n_alphas)."""
        targets = sample.targets
        if self.scoring is None and self.cv is None:
            errors = (targets[:, :, np.newaxis] - predictions) ** 2
            return -np.average(errors, axis=0, weights=sample.weight)
        scorer = check_scoring(_Identity(), scoring=self.scoring)
        weight = {} if sample.weight is None else {"sample_weight": sample.weight}
        if not self.alpha_per_target and targets.shape[1] > 1:
            # A score of several targets need not be the mean of the scores of each.
            paths = np.moveaxis(predictions, -1, 0)
            return np.array([[scorer(_Identity(), path, targets, **weight) for path in paths]])
        scores = np.empty(predictions.shape[1:])
        for t, a in np.ndindex(*scores.shape):
            scores[t, a] = scorer(_Identity(), predictions[:, t, a], targets[:, t], **weight)
        return scores

    def _choose(self, alphas: Floats, scores: Floats) -> None:
        if self.alpha_per_target and len(scores) > 1:
            best = scores.argmax(axis=1)
            self.alpha_ = alphas[best]
            self.best_score_ = scores[np.arange(len(scores)), best]
        else:
            mean = scores.mean(axis=0)
            self.alpha_ = float(alphas[mean.argmax()])
            self.best_score_ = float(mean.max())

    def _store(self, ridge: Ridge, sample: Sample, predictions: Floats) -> None:
        self.best_estimator_ = ridge
        for name in ("coef_", "intercept_", "certificate_", "schema_"):
            setattr(self, name, getattr(ridge, name))
        self.__dict__.pop("cv_results_", None)
        if self.store_cv_results:
            targets = sample.targets[:, :, np.newaxis]
            kept = predictions if self.scoring is not None else (targets - predictions) ** 2
            self.cv_results_ = kept[:, 0] if sample.target.ndim == 1 else kept


class _Identity(RegressorMixin, Learner):
    """Predicts what it is given, so that scorers can judge predictions made elsewhere."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing is learned; scorers ask for the method."""
        del X, y
        return self

    def predict(self, X: Any) -> Any:
        return X


def _path_predictions(sample: Sample, design: Design, alphas: Floats) -> Floats:
    """Predictions for all strengths, shape (n, t, n_alphas)."""
    x, n_targets = treatment_rows(sample, 0, sample.n_rows), design.y.shape[1]
    solutions = [solve(design, np.full(n_targets, alpha)) for alpha in alphas]
    return np.stack([x @ each.coef + each.intercept for each in solutions], axis=-1)


def leave_one_out_path(
    sample: Sample, design: Design, alphas: Floats, fit_intercept: bool
) -> tuple[Floats, Floats]:
    """Leave-one-out predictions, (n, t, n_alphas), and `1 - h`, (n, n_alphas), which divides."""
    u, s, vt = linalg.svd(design.x, full_matrices=False, check_finite=False)
    turned_targets = u.T @ design.y
    targets, weight = sample.targets, sample.weights
    shrink = 1 / (s[:, np.newaxis] ** 2 + alphas)
    predicted = np.empty((*targets.shape, alphas.size))
    remainder = np.empty((len(targets), alphas.size))
    for rows, x in treatment_blocks(sample):
        turned = (x - design.x_mean) @ vt.T
        # A row of weight below one is less than one copy, and all of it is left out.
        copy = np.minimum(weight[rows], 1.0)[:, np.newaxis]
        leverage = copy * (turned**2 @ shrink + (1 / weight.sum() if fit_intercept else 0.0))
        remainder[rows] = 1 - leverage
        for t in range(targets.shape[1]):
            effects = (s * turned_targets[:, t])[:, np.newaxis] * shrink
            fitted = design.y_mean[t] + turned @ effects
            y = targets[rows, t][:, np.newaxis]
            with np.errstate(divide="ignore", invalid="ignore"):
                predicted[rows, t] = y - (y - fitted) / remainder[rows]
    return predicted, remainder


def _left_out_of_few(sample: Sample, design: Design, alphas: Floats, fit_intercept: bool) -> Floats:
    """Leave-one-out predictions of no more rows than columns, all of positive weight, (n, t, a)."""
    n, weight = sample.n_rows, sample.weights
    root = np.sqrt(weight)[:, np.newaxis]
    rows = root * (treatment_rows(sample, 0, n) - design.x_mean)
    # Orthonormal columns that span what is orthogonal to a constant.
    apart = linalg.qr(root)[0][:, 1:] if fit_intercept else np.eye(n)
    _, triangle, order = row_basis(apart.T @ rows)
    u, s, _ = linalg.svd(triangle.T, check_finite=False)
    z = apart[:, order] @ u
    shrink = 1 / (s[:, np.newaxis] ** 2 + alphas)
    turned_targets = z.T @ (root * (sample.targets - design.y_mean))
    residuals = np.einsum("ij,jt,ja->ita", z, turned_targets, shrink, optimize=True)
    # A row of weight below one is less than one copy, and all of it is left out.
    copy = np.minimum(weight, 1.0)[:, np.newaxis] / weight[:, np.newaxis]
    remainder = (1 - copy) / alphas + copy * (z**2 @ shrink)
    errors = residuals / (root * remainder)[:, np.newaxis]
    return np.asarray(sample.targets[:, :, np.newaxis] - errors)
