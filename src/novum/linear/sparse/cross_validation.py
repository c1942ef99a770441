"""The penalty chosen by cross-validation, by the rule of one standard error, or by BIC.

Every fold has a path of its own, and the penalty is the one of least mean squared error over the
folds; `rule="1se"` takes the largest penalty whose error is within one standard error of the least,
a simpler model that cannot be told from the best (Breiman et al. 1984). `criterion="bic"` needs one
path and no folds:

    W log(mean squared residual) + log(W) df,    df = trace of A_S (A_S'A_S + l2 I)^-1 A_S'

over the active columns S, the number of them for the lasso (Zou, Hastie and Tibshirani 2007).
"""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import column_or_1d

from novum.core.errors import InputError
from novum.core.learners import Certificate, Learner, fitted, parameter
from novum.core.runtime import fit_context, fitting, run_tasks
from novum.core.sums import divided_rows, whole_sample
from novum.core.tables import Coding, Sample, plain_target, rows_of
from novum.linear.least_squares.model import LinearPredictor
from novum.linear.sparse.columns import checked_targets, columns_of
from novum.linear.sparse.model import ElasticNet, Lasso
from novum.linear.sparse.path import grid_of, solutions
from novum.linear.sparse.solver import Problem, Products
from novum.numerics import Floats, Positions


class SparseRegressionCV(LinearPredictor, Learner):
    """The shared search; see `LassoCV` and `ElasticNetCV`."""

    invariances = ("shift",)  # Folds are made of rows in their order.

    certificate_: Certificate = fitted()

    eps: float = parameter(default=1e-3, above=0, at_most=1)
    alphas: Any = parameter("array-like", int, default=100)
    fit_intercept: bool = parameter(default=True)
    precompute: Any = parameter({"auto"}, "boolean", "array-like", default="auto")
    max_iter: int = parameter(default=10_000, at_least=1)
    tol: float = parameter(default=1e-6, at_least=0)
    copy_X: bool = parameter(default=True)
    cv: Any = parameter("cv_object", default=None)
    verbose: Any = parameter("verbose", default=False)
    n_jobs: int | None = parameter(default=None)
    positive: bool = parameter(default=False)
    random_state: Any = parameter("random_state", default=None)
    selection: str = parameter({"cyclic", "random"}, default="cyclic")
    categorical_features: Any = parameter(str, None, "array-like", default="auto")
    rule: str = parameter({"min", "1se"}, default="min")
    criterion: str = parameter({"cv", "bic"}, default="cv")

    def _ratios(self) -> list[float]:
        raise NotImplementedError

    def _model(self, alpha: float, ratio: float) -> Lasso | ElasticNet:
        raise NotImplementedError

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Chooses the penalty and fits it to all rows.

        Parameters
        ----------
        X, sample_weight
            As for `Lasso`.
        y : array-like of shape (n_rows,)
        groups : array-like of shape (n_rows,), optional
            For a splitter that keeps groups of rows together.

        Returns
        -------
        self : fitted estimator
        """
        y = plain_target(y)
        if y is not None and np.ndim(y) == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        with fitting(self):
            sample = whole_sample(self, X, y, sample_weight)
            self._check(sample)
            counted = sample if sample.weight is None else sample.rows(sample.weight > 0)
            problem = self._problem(counted)
            ratios = self._ratios()
            grids = [grid_of([problem], self.alphas, self.eps, r, self.positive) for r in ratios]
            if self.criterion == "bic":
                losses = self._criteria(problem, counted, ratios, grids)
                errors = losses[:, :, np.newaxis]
            else:
                errors = self._validated(sample, ratios, grids, groups)
            best, place = self._chosen(errors)
            model = self._model(float(grids[best][place]), ratios[best])
            model.fit(X, y, sample_weight)
            self._store(model, ratios, grids, errors)
            self.l1_ratio_ = float(ratios[best])
        return self

    # Steps of a fit

    def _check(self, sample: Sample) -> None:
        if sample.target.ndim != 1:
            raise InputError(
                f"{type(self).__name__} chooses one penalty for one target, but y has shape "
                f"{sample.target.shape}. Fit one target at a time; for many use a plain model."
            )
        if not np.ndim(self.alphas) and int(self.alphas) < 1:
            raise InputError(f"alphas must be at least 1 or a list, got {self.alphas!r}.")

    def _problem(self, sample: Sample) -> Problem:
        columns = columns_of(sample, centered=self.fit_intercept)
        targets = checked_targets(sample, self.fit_intercept)[0]
        number = int(self.alphas) if not np.ndim(self.alphas) else len(self.alphas)
        wanted = None if isinstance(self.precompute, str) else self.precompute is not False
        looks = 2 * number * len(self._ratios())
        return Problem(Products.over(columns, looks, wanted), targets[0])

    @property
    def _options(self) -> dict[str, Any]:
        return {"tol": self.tol, "max_iter": self.max_iter, "positive": self.positive}

    def _validated(
        self, sample: Sample, ratios: list[float], grids: list[Floats], groups: Any
    ) -> Floats:
        """Mean squared errors of rows left out, (n_ratios, n_alphas, n_folds)."""
        divided = divided_rows(self.cv, sample)
        groups = None if groups is None else rows_of(groups, divided)
        sample = sample.rows(divided)
        splits = list(check_cv(self.cv).split(divided, sample.target, groups))

        def errors(fold: int) -> Floats:
            train, test = (np.asarray(part) for part in splits[fold])
            return self._fold(sample, train, test, ratios, grids, fold)

        errors_of = run_tasks(errors, range(len(splits)), self.n_jobs)
        kept = [each for each in errors_of if np.isfinite(each).all()]
        if not kept:
            raise InputError("No fold tests a row of positive weight, so there is no error.")
        return np.stack(kept, axis=-1)

    def _fold(
        self,
        sample: Sample,
        train: Positions,
        test: Positions,
        ratios: list[float],
        grids: list[Floats],
        number: int,
    ) -> Floats:
        learned, held = sample.rows(train), sample.rows(test)
        if learned.weight is not None:
            learned = learned.rows(learned.weight > 0)
        if not learned.n_rows:
            raise InputError(
                f"Fold {number} (counted from 0) trains on no row of positive weight. Use other "
                "folds, such as shuffled ones."
            )
        problem = self._problem(learned)
        columns = problem.columns
        mean = checked_targets(learned, self.fit_intercept)[1][0]
        weight = held.weights
        if not weight.any():
            return np.full((len(ratios), len(grids[0])), np.nan)
        coding, errors = Coding(sample.schema), []
        for ratio, grid in zip(ratios, grids, strict=True):
            path = solutions(problem, grid, ratio, **self._options)
            coef = np.stack([each.coef for each in path], axis=-1)
            scores = coding.scores(held, coef) + (mean - columns.mean @ coef)
            squares = (held.target[:, np.newaxis] - scores) ** 2
            errors.append(np.average(squares, axis=0, weights=weight))
        return np.stack(errors)

    def _criteria(
        self, problem: Problem, sample: Sample, ratios: list[float], grids: list[Floats]
    ) -> Floats:
        """BIC of every penalty, (n_ratios, n_alphas)."""
        total = float(sample.weights.sum())
        floor = max(problem.total, np.finfo(float).tiny) * np.finfo(float).eps
        rows = []
        for ratio, grid in zip(ratios, grids, strict=True):
            values = []
            for alpha, each in zip(
                grid, solutions(problem, grid, ratio, **self._options), strict=True
            ):
                active = np.flatnonzero(each.coef)
                square = max(
                    problem.total - float(each.coef @ (problem.fits + each.products)), floor
                )
                G = problem.products.of(active) if active.size else np.zeros((0, 0))
                curvature = np.linalg.eigvalsh(G)
                l2 = alpha * (1.0 - ratio)
                kept = curvature[curvature > 1e-12 * max(curvature.max(initial=0.0), 1e-300)]
                df = float((kept / (kept + l2)).sum())
                values.append(total * np.log(square) + np.log(total) * df)
            rows.append(values)
        return np.array(rows)

    def _chosen(self, errors: Floats) -> tuple[int, int]:
        """Positions of the ratio and of the penalty."""
        mean = errors.mean(axis=-1)
        best, place = (int(k) for k in np.unravel_index(np.argmin(mean), mean.shape))
        folds = errors.shape[-1]
        if self.rule == "1se" and folds > 1:
            spread = float(errors[best, place].std(ddof=1)) / np.sqrt(folds)
            place = int(np.flatnonzero(mean[best] <= mean[best, place] + spread)[0])
        return best, place

    def _store(
        self, model: Lasso | ElasticNet, ratios: list[float], grids: list[Floats], errors: Floats
    ) -> None:
        for name in ("coef_", "intercept_", "certificate_", "schema_", "dual_gap_", "n_iter_"):
            setattr(self, name, getattr(model, name))
        self.alpha_ = float(model.alpha)
        several = len(ratios) > 1
        # A given grid is the same for every ratio.
        self.alphas_ = np.stack(grids) if several and not np.ndim(self.alphas) else grids[0]
        kept = errors if several else errors[0]
        for name in ("mse_path_", "bic_path_"):
            self.__dict__.pop(name, None)
        if self.criterion == "bic":
            self.bic_path_ = kept[..., 0]
        else:
            self.mse_path_ = kept

    def _given(self) -> dict[str, Any]:
        """Parameters of the model that is fitted to all rows."""
        names = ("fit_intercept", "max_iter", "tol", "positive", "random_state", "selection",
                 "categorical_features")  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


class LassoCV(SparseRegressionCV):
    """The lasso with its penalty chosen by cross-validation or BIC.

    Minimizes `sum_i w_i (y_i - b0 - x_i'b)^2 / (2 W) + alpha |b|_1` for the `alpha` whose models,
    each without the fold it predicts, have the least mean squared error.

    Parameters
    ----------
    eps : float, default=1e-3
        Ratio of the smallest penalty of the series to the largest.
    alphas : int or array-like, default=100
        Number of penalties, or the penalties.
    cv : int, splitter or iterable, optional
        Five folds by default, of the rows of positive weight.
    precompute : "auto", bool or array-like, default="auto"
        Whether all cross-products are computed at once; "auto" decides by cost.
    n_jobs : int, optional
        Folds at a time. The result does not depend on it.
    rule : {"min", "1se"}, default="min"
        "1se" takes the largest penalty within one standard error of the least error.
    criterion : {"cv", "bic"}, default="cv"
        "bic" takes the penalty of least BIC, from one path and without folds.
    fit_intercept, max_iter, tol, copy_X, positive, random_state, selection, categorical_features
        As for `Lasso`.
    verbose
        Without effect.

    Attributes
    ----------
    alpha_ : float
    alphas_ : array (n_alphas,)
        Falling.
    mse_path_ : array (n_alphas, n_folds)
        With `criterion="cv"`.
    bic_path_ : array (n_alphas,)
        With `criterion="bic"`.
    coef_, intercept_, coef_names_, dual_gap_, n_iter_, certificate_, schema_
        Of the model fitted to all rows.

    Notes
    -----
    Costs a path for every fold. Weights count repetitions, in the errors too. Of equal errors the
    largest penalty is taken. Missing cells are refused.

    References
    ----------
    Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 2nd ed., sections 3.4 and
    7.10. Zou, Hastie and Tibshirani 2007, "On the degrees of freedom of the lasso".

    Examples
    --------
    >>> from novum.linear import LassoCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = 3 * X[:, 0] - 2 * X[:, 1] + 0.5 * rng.normal(size=60)
    >>> np.flatnonzero(LassoCV(rule="1se").fit(X, y).coef_).tolist()
    [0, 1]
    """

    def _ratios(self) -> list[float]:
        return [1.0]

    def _model(self, alpha: float, ratio: float) -> Lasso | ElasticNet:
        del ratio
        return Lasso(alpha, **self._given())


class ElasticNetCV(SparseRegressionCV):
    """The elastic net with its penalty chosen by cross-validation or BIC.

    Minimizes the objective of `ElasticNet` for the `alpha` and the `l1_ratio` whose models, each
    without the fold it predicts, have the least mean squared error.

    Parameters
    ----------
    l1_ratio : float or array-like, default=0.5
        One share of the L1 penalty, or several to choose from.
    eps : float, default=1e-3
        Ratio of the smallest penalty of the series to the largest.
    alphas : int or array-like, default=100
        Number of penalties, or the penalties.
    cv : int, splitter or iterable, optional
        Five folds by default, of the rows of positive weight.
    precompute : "auto", bool or array-like, default="auto"
        Whether all cross-products are computed at once; "auto" decides by cost.
    n_jobs : int, optional
        Folds at a time. The result does not depend on it.
    rule : {"min", "1se"}, default="min"
        "1se" takes the largest penalty, at the best `l1_ratio`, within one standard error.
    criterion : {"cv", "bic"}, default="cv"
        "bic" takes the penalty of least BIC, from one path and without folds.
    fit_intercept, max_iter, tol, copy_X, positive, random_state, selection, categorical_features
        As for `ElasticNet`.
    verbose
        Without effect.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
    alphas_ : array (n_alphas,) or (n_l1_ratios, n_alphas)
        Falling; of several `l1_ratio` one row each, unless the penalties were given.
    mse_path_ : array (n_alphas, n_folds) or (n_l1_ratios, n_alphas, n_folds)
    bic_path_ : array (n_alphas,) or (n_l1_ratios, n_alphas)
    coef_, intercept_, coef_names_, dual_gap_, n_iter_, certificate_, schema_
        Of the model fitted to all rows.

    Notes
    -----
    As for `LassoCV`.

    References
    ----------
    Those of `LassoCV`.

    Examples
    --------
    >>> from novum.linear import ElasticNetCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = 3 * X[:, 0] - 2 * X[:, 1] + 0.5 * rng.normal(size=60)
    >>> ElasticNetCV(l1_ratio=[0.1, 0.9], alphas=20).fit(X, y).l1_ratio_
    0.9
    """

    l1_ratio: Any = parameter("array-like", Real, default=0.5)

    def _ratios(self) -> list[float]:
        ratios = np.atleast_1d(np.asarray(self.l1_ratio, np.float64)).ravel()
        if not (ratios.size and ((ratios >= 0) & (ratios <= 1)).all()):
            raise InputError(f"l1_ratio must lie between 0 and 1, got {self.l1_ratio!r}.")
        return [float(r) for r in ratios]

    def _model(self, alpha: float, ratio: float) -> Lasso | ElasticNet:
        return ElasticNet(alpha, l1_ratio=ratio, **self._given())
