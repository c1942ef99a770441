"""Kernel ridge regression that chooses its own strength by leaving rows out, exactly.

One eigendecomposition of the weighted kernel matrix gives the leave-one-out errors of every
strength at the price of a matrix product each, and the coefficients of the best one too
(`kernel_ridge_validation`).
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from novum.core.errors import InputError
from novum.core.fitting import fitting
from novum.linear.ridge import strengths
from novum.svm.objects import KernelSample
from novum.svm.ridge.kernel_ridge import RIDGE_PARAMETERS, RidgeMachine
from novum.svm.ridge.validation import left_out_path

Floats = NDArray[np.float64]


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
    kernel, gamma, degree, coef0, kernel_params, indefinite, categorical_features
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alphas": ["array-like", Interval(Real, 0, None, closed="neither")],
        "alpha_per_target": ["boolean"],
        "store_cv_results": ["boolean"],
        **RIDGE_PARAMETERS,
    }

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        alpha_per_target: bool = False,
        store_cv_results: bool = False,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        indefinite: str = "refuse",
        categorical_features: Any = "auto",
    ) -> None:
        self.alphas = alphas
        self.alpha_per_target = alpha_per_target
        self.store_cv_results = store_cv_results
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.indefinite = indefinite
        self.categorical_features = categorical_features

    @_fit_context(prefer_skip_nested_validation=True)
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
            prepared, system, targets = self._system(sample)
            spectrum = system.spectrum()
            errors = left_out_path(sample, system, spectrum, targets, alphas) ** 2
            best = self._choose(sample, alphas, errors)
            solutions = []
            for place in np.unique(best):
                chosen = best == place
                found = system.solve_by(spectrum, targets[:, chosen], float(alphas[place]))
                solutions.append((chosen, found))
            self._store(sample, prepared, solutions, watch)
            self._store_errors(sample, errors)
        return self

    def _checked_alphas(self) -> Floats:
        alphas = np.atleast_1d(strengths(self.alphas, "alphas"))
        if alphas.ndim != 1 or not alphas.size or not alphas.all():
            raise InputError(f"alphas must be a list of strengths above 0, got {self.alphas!r}.")
        return alphas

    def _choose(self, sample: KernelSample, alphas: Floats, errors: Floats) -> NDArray[np.intp]:
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
