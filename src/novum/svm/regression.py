"""What the support vector regressors share: a tube around the function, and who lies outside.

    f(x) = sum_i b_i k(x_i, x) + bias,        xi_i = max(0, |y_i - f(x_i)| - epsilon)

Each row has two coefficients in the program, one for targets above the tube and one for targets
below; at most one of them is not zero, and their sum is `b_i`.
"""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import DataConversionWarning

from novum.core.errors import InputError
from novum.core.learners import Stopwatch, parameter
from novum.core.runtime import fit_context, fitting
from novum.linear import check_target_range
from novum.numerics import Floats, Mask
from novum.svm.kernel_machine import ProgramMachine
from novum.svm.objects import KernelSample
from novum.svm.parameters import SHARE
from novum.svm.solver import problems
from novum.svm.solver.certification import cache_bytes_of, stopping_of
from novum.svm.solver.problem import QuadraticProblem, Solution
from novum.svm.solver.solving import solve


class Tube(NamedTuple):
    """The bias and the half-width of the tube."""

    bias: float
    epsilon: float


class SupportVectorRegressor(RegressorMixin, ProgramMachine):
    """The part of SVR and NuSVR that does not depend on who chooses the tube's width."""

    @abstractmethod
    def _problem(self, target: Floats, price: Floats) -> QuadraticProblem:
        """The program, two variables for each object."""

    @abstractmethod
    def _tube(self, solution: Solution) -> Tube:
        """Bias and width, from the multipliers."""

    @fit_context(prefer_skip_nested_validation=True)
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
            self._warn_if_stopped()
        return self

    def _learn(self, sample: KernelSample, watch: Stopwatch) -> None:
        prepared = self._prepared(sample)
        price = float(self.C) * sample.weight
        problem = self._problem(sample.target, price)
        solution = solve(
            prepared, problem, stopping_of(self, watch), cache_bytes=cache_bytes_of(self)
        )
        self._store(sample, prepared, problem, solution)
        self._certify([solution], watch)
        self.n_iter_ = solution.iterations

    def _store(
        self, sample: KernelSample, prepared: Any, problem: QuadraticProblem, solution: Solution
    ) -> None:
        m = len(sample.target)
        tube = self._tube(solution)
        self._keep(
            sample, prepared, (solution.coefficients[:m] + solution.coefficients[m:])[np.newaxis]
        )
        self._keep_slack(sample, _slack_of, sample.target, problem, solution, tube)
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

    def _check_state(self) -> None:
        super()._check_state()
        self._check_one_machine(self.intercept_[0])


def _slack_of(
    target: Floats, problem: QuadraticProblem, solution: Solution, tube: Tube
) -> tuple[Floats, Mask]:
    """How far targets are outside of the tube, and which coefficients are at a bound."""
    m = len(target)
    above, below = solution.coefficients[:m], solution.coefficients[m:]
    values = solution.gradient[:m] - problem.linear[:m] + tube.bias
    slack = np.maximum(np.abs(target - values) - tube.epsilon, 0.0)
    full = (above >= problem.upper[:m]) | (below <= problem.lower[m:])
    return slack, full & (above + below != 0)


def _with_one_target(sample: KernelSample, learner: str) -> KernelSample:
    check_target_range(sample.target)
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


# --- The width of the tube is given ---------------------------------------------------------------
#
#     min over w, b, xi   |w|^2 / 2 + C sum_i w_i xi_i    so that   |y_i - f(x_i)| <= epsilon + xi_i
#
# Targets inside the tube cost nothing, and their rows have no coefficient.


class SVR(SupportVectorRegressor):
    """Support vector regressor with any kernel, solved to a proved duality gap.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack, above zero and finite.
    epsilon : float, default=0.1
        Half-width of the tube.
    units : {"target", "spread"}, default="target"
        Of `C` and `epsilon`: those of the target, or standard deviations of it, so that a target
        in cents gives a hundred times the predictions of one in dollars.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, coef_, kernel_, certificate_, fit_status_, \
shape_fit_
        As in `SVC`, of one machine.
    n_support_ : int array of shape (1,)
    n_iter_ : int
    bound_, unbound_ : int arrays
        Support vectors outside the tube, and on its border.
    xi_ : array of shape (n_rows,)
        How far each target is outside of the tube. NaN for rows of weight zero.
    epsilon_ : float
        Half-width of the tube, in units of the target.
    unit_ : float
        What `C` and `epsilon` were multiplied by.

    Notes
    -----
    Weights count repetitions: weight 2 is the row twice, and weight 0 the row absent. Missing cells
    are refused. Without unbound support vectors the bias is the middle of its admissible interval.

    References
    ----------
    Drucker et al. (1997); Smola and Schoelkopf (2004).

    Examples
    --------
    >>> model = SVR(kernel="linear", C=10.0, epsilon=0.5).fit([[0.0], [1.0], [2.0]], [0, 1, 4])
    >>> model.predict([[1.0]]).round(4).tolist()
    [1.5]
    """

    _objective = "absolute error beyond a tube, and flatness"
    C: float = parameter(default=1.0, above=0)
    epsilon: float = parameter(default=0.1, at_least=0)
    units: str = parameter({"target", "spread"}, default="target")

    def _problem(self, target: Floats, price: Floats) -> QuadraticProblem:
        self.unit_ = 1.0 if self.units == "target" else spread_of(target, price)
        return problems.regression(target, price * self.unit_, self.epsilon * self.unit_)

    def _tube(self, solution: Solution) -> Tube:
        return Tube(-float(solution.multipliers[0]), self.epsilon * self.unit_)


def spread_of(target: Floats, weight: Floats) -> float:
    """The weighted standard deviation of a target; 1 where it is constant.

    Examples
    --------
    >>> spread_of(np.array([0.0, 10.0]), np.ones(2))
    5.0
    """
    mean = np.average(target, weights=weight)
    spread = math.sqrt(float(np.average((target - mean) ** 2, weights=weight)))
    return spread if spread > 0 else 1.0


# --- The share of rows outside is given -----------------------------------------------------------
#
#     min over w, b, xi, epsilon   |w|^2 / 2 + C (nu W epsilon + sum_i w_i xi_i)
#                                  so that   |y_i - f(x_i)| <= epsilon + xi_i
#
# `nu` bounds the share of rows outside the tube from above, and the share of support vectors from
# below; W is the sum of the weights. The multipliers of the two sides are `-epsilon - b` and
# `epsilon - b`.


class NuSVR(SupportVectorRegressor):
    """Support vector regressor that chooses the width of its tube.

    Parameters
    ----------
    nu : float, default=0.5
        Largest share of rows outside the tube, above 0 and at most 1.
    C : float, default=1.0
        Price of slack, above zero and finite.

    Attributes
    ----------
    epsilon_ : float
        Half-width of the tube that was found.
    support_, support_vectors_, dual_coef_, intercept_, coef_, n_support_, n_iter_, bound_, \
unbound_, xi_, kernel_, certificate_, fit_status_, shape_fit_
        As in `SVR`.

    References
    ----------
    Schoelkopf, Smola, Williamson and Bartlett (2000).

    Examples
    --------
    >>> model = NuSVR(kernel="linear", C=100.0, nu=0.4).fit([[0.0], [1.0], [2.0]], [0, 1, 4])
    >>> round(model.epsilon_, 4)
    0.5
    """

    _objective = "absolute error beyond a tube, its width, and flatness"
    nu: float = parameter(SHARE, default=0.5)
    C: float = parameter(default=1.0, above=0)

    def _problem(self, target: Floats, price: Floats) -> QuadraticProblem:
        return problems.nu_regression(target, price, float(self.nu))

    def _tube(self, solution: Solution) -> Tube:
        above, below = (float(r) for r in solution.multipliers)
        return Tube(-(above + below) / 2, max((below - above) / 2, 0.0))
