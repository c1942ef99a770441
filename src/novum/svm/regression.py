"""What the support vector regressors share: a tube around the function, and who lies outside.

    f(x) = sum_i b_i k(x_i, x) + bias,        xi_i = max(0, |y_i - f(x_i)| - epsilon)

Each row has two coefficients in the program, one for targets above the tube and one for targets
below; at most one of them is not zero, and their sum is `b_i`.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.exceptions import DataConversionWarning

from novum.core.certificate import Stopwatch, warn_if_stopped
from novum.core.errors import InputError
from novum.core.fitting import fitting
from novum.svm.kernel_machine import KernelMachine
from novum.svm.objects import KernelSample
from novum.svm.solver.certification import cache_bytes_of, certify, stopping_of
from novum.svm.solver.problem import QuadraticProblem, Solution
from novum.svm.solver.solving import solve

Floats = NDArray[np.float64]


class Tube(NamedTuple):
    """The bias and the half-width of the tube."""

    bias: float
    epsilon: float


class SupportVectorRegressor(KernelMachine, RegressorMixin, BaseEstimator):
    """The part of SVR and NuSVR that does not depend on who chooses the tube's width."""

    _objective: ClassVar[str]

    @abstractmethod
    def _problem(self, target: Floats, price: Floats) -> QuadraticProblem:
        """The program, two variables for each object."""

    @abstractmethod
    def _tube(self, solution: Solution) -> Tube:
        """Bias and width, from the multipliers."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Finds the function to the relative duality gap `tol`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of objects
            What the kernel takes; similarities of all pairs where it is precomputed.
        y : array-like of shape (n_rows,)
            Numbers.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts; the price of its slack is `C` times this.
        """
        with fitting(self) as watch:
            sample = self._read(X, y, sample_weight, "numbers")
            self._learn(_with_one_target(sample, type(self).__name__), watch)
            warn_if_stopped(self.certificate_, type(self).__name__, stacklevel=4)
        return self

    def _learn(self, sample: KernelSample, watch: Stopwatch) -> None:
        prepared = self._prepared(sample)
        price = float(self.C) * sample.weight
        problem = self._problem(sample.target, price)
        found = solve(prepared, problem, stopping_of(self, watch), cache_bytes=cache_bytes_of(self))
        self._store(sample, prepared, problem, found)
        self.certificate_ = certify(self._objective, [found], self.tol, watch.seconds)
        self.fit_status_ = 0 if self.certificate_.converged else 1
        self.n_iter_ = found.iterations

    def _store(
        self, sample: KernelSample, prepared: Any, problem: QuadraticProblem, found: Solution
    ) -> None:
        m = len(sample.target)
        above, below = found.coefficients[:m], found.coefficients[m:]
        coefficients = above + below
        tube = self._tube(found)
        values = found.gradient[:m] - problem.linear[:m] + tube.bias
        slack = np.maximum(np.abs(sample.target - values) - tube.epsilon, 0.0)
        full = (above >= problem.upper[:m]) | (below <= problem.lower[m:])
        self._keep(sample, prepared, coefficients[np.newaxis])
        self._keep_slack(sample, slack, full & (coefficients != 0))
        self.epsilon_ = tube.epsilon
        self.intercept_ = np.array([tube.bias])
        self.n_support_ = np.array([len(self.support_)], np.int32)

    @property
    def dual_coef_(self) -> Floats:
        """Signed coefficients, of shape (1, n_support)."""
        return self.expansion_

    @property
    def coef_(self) -> Floats:
        """Weights of the columns, for a linear kernel, of shape (1, n_columns)."""
        return self._column_weights

    def predict(self, X: Any) -> Floats:
        """`f(x)` of every object, of shape (n,)."""
        return self._scores(X)[:, 0] + self.intercept_[0]


def _with_one_target(sample: KernelSample, learner: str) -> KernelSample:
    if sample.target.ndim == 1:
        return sample
    if sample.target.shape[1] > 1:
        raise InputError(
            f"{learner} predicts one number for each row, but y has {sample.target.shape[1]} "
            "columns: y should be a 1d array, got an array of shape "
            f"({sample.n_rows}, {sample.target.shape[1]}) instead. Use MultiOutputRegressor."
        )
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples,), for example using ravel().",
        DataConversionWarning,
        stacklevel=5,
    )
    return replace(sample, target=np.ascontiguousarray(sample.target[:, 0]))
