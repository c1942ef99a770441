"""Kernel ridge regression that chooses its own strength by leaving rows out, exactly.

One eigendecomposition of the weighted kernel matrix gives the leave-one-out errors of every
strength at the price of a matrix product each, and the coefficients of the best one too
(`ridge.solution`).
"""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils._param_validation import Interval

from novum.core.errors import InputError
from novum.core.learners import parameter
from novum.core.runtime import fit_context, fitting
from novum.linear import check_target_range, strengths
from novum.numerics import Floats, Positions
from novum.svm.objects import KernelSample
from novum.svm.ridge.kernel_ridge import RidgeMachine
from novum.svm.ridge.solution import left_out_path


class KernelRidgeCV(RidgeMachine):
    """Kernel ridge regression with the strength of the best leave-one-out predictions.

    Minimizes `sum_i w_i (y_i - f(x_i))^2 + alpha |f|^2` for the `alpha` whose models, each without
    the row it predicts, have the least mean squared error.

    Parameters
    ----------
    alphas : array-like, default=(0.1, 1.0, 10.0)
        Strengths to try, each above 0.
    alpha_per_target : bool, default=False
        Chooses one strength for each target.
    store_cv_results : bool, default=False
        Keeps `cv_results_`.
    kernel, gamma, kernel_params
        As in `KernelRidge`.

    Attributes
    ----------
    alpha_ : float or array of shape (n_targets,)
    best_score_ : float or array of shape (n_targets,)
        The negative mean squared error of the rows left out one by one.
    cv_results_ : array of shape (n_rows, n_alphas) or (n_rows, n_targets, n_alphas)
        Squared errors; NaN for rows of weight zero.
    dual_coef_, coef_, kernel_, support_, X_fit_, certificate_
        As in `KernelRidge`.

    Notes
    -----
    One eigendecomposition, about ten times the price of a fit, and `O(n^2)` for every strength.
    Weights count repetitions, in the scores too. Of equal scores the first strength is taken.

    References
    ----------
    Golub, Heath and Wahba 1979, Technometrics 21, 215-223; Cawley and Talbot 2003.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> KernelRidgeCV(alphas=[0.01, 100.0]).fit(X, [1.0, 2.1, 2.9, 4.0]).alpha_
    0.01
    """

    alphas: Any = parameter(
        "array-like",
        Interval(Real, 0, None, closed="neither"),
        default=(0.1, 1.0, 10.0),
        kw_only=False,
    )
    alpha_per_target: bool = parameter(default=False)
    store_cv_results: bool = parameter(default=False)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Chooses the strength and solves for it.

        Parameters
        ----------
        X, y, sample_weight
            As for `KernelRidge`.
        """
        with fitting(self) as watch:
            alphas = self._checked_alphas()
            sample = self._read(X, y, sample_weight, "numbers")
            _check_rows(sample)
            check_target_range(sample.target)
            prepared, system, targets = self._system(sample)
            spectrum = system.spectrum()
            errors = left_out_path(sample, system, spectrum, targets, alphas) ** 2
            best = self._choose(sample, alphas, errors)
            solutions = []
            for place in np.unique(best):
                chosen = best == place
                solution = system.solve_by(spectrum, targets[:, chosen], float(alphas[place]))
                solutions.append((chosen, solution))
            self._store(sample, prepared, solutions, watch)
            self._store_errors(sample, errors)
        return self

    def _checked_alphas(self) -> Floats:
        alphas = np.atleast_1d(strengths(self.alphas, "alphas"))
        if alphas.ndim != 1 or not alphas.size or not alphas.all():
            raise InputError(f"alphas must be a list of strengths above 0, got {self.alphas!r}.")
        return alphas

    def _choose(self, sample: KernelSample, alphas: Floats, errors: Floats) -> Positions:
        """Sets `alpha_` and `best_score_`; the place of each target's strength in `alphas`."""
        scores = -np.average(errors, axis=0, weights=sample.row_weight)
        if self.alpha_per_target and sample.target.ndim == 2:
            best = scores.argmax(axis=1)
            self.alpha_, self.best_score_ = alphas[best], scores.max(axis=1)
            return best
        mean = scores.mean(axis=0)
        self.alpha_, self.best_score_ = float(alphas[mean.argmax()]), float(mean.max())
        return np.full(len(scores), mean.argmax())

    def _store_errors(self, sample: KernelSample, errors: Floats) -> None:
        self.__dict__.pop("cv_results_", None)
        if self.store_cv_results:
            whole = np.full((sample.n_rows, *errors.shape[1:]), np.nan)
            whole[sample.rows] = errors
            self.cv_results_ = whole[:, 0] if sample.target.ndim == 1 else whole


def _check_rows(sample: KernelSample) -> None:
    if len(sample.rows) < 2 and not sample.row_weight.max() > 1:
        raise InputError(
            "Leaving one row out needs at least two rows, but n_samples = 1. Pass more rows, or "
            "fit KernelRidge with a strength of your own."
        )
