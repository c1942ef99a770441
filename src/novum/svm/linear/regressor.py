"""Linear support vector regression: a hyperplane inside a tube around the targets.

    minimize   |w|^2 / 2 + (b / s)^2 / 2 + C sum_i c_i loss(y_i - w'x_i - b)

with `loss(r) = max(0, |r| - epsilon)` or its square. The intercept is the coefficient of a constant
column of `s` (`intercept_scaling`) and penalized with the others, as in LIBLINEAR. The objective is
strongly convex: its optimum is unique, and the gap to the dual bounds the distance from it.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils._param_validation import Interval

from novum.core.errors import InputError
from novum.core.learners import Learner, parameter
from novum.core.runtime import RandomSource, fit_context, fitting, stream
from novum.core.tables import check_sample
from novum.linear import check_target_range
from novum.numerics import Floats
from novum.svm.linear.design import design_of
from novum.svm.linear.fit import solve_losses
from novum.svm.linear.losses import tube_losses
from novum.svm.linear.machine import LinearMachine
from novum.svm.linear.solution import Budget

_OBJECTIVES = {
    "epsilon_insensitive": "|w|^2 / 2 + C sum of losses outside the tube",
    "squared_epsilon_insensitive": "|w|^2 / 2 + C sum of squared losses outside the tube",
}


class LinearSVR(LinearMachine, RegressorMixin, Learner):
    """Linear support vector regression with a proof of its optimum.

    Parameters
    ----------
    epsilon : float
        Half-width of the tube, in units of the target.
    tol : float
        Relative duality gap at which a fit may end; `linear_fit` says how it is reached.
    C : float
        Weight of the losses against the penalty.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}
    fit_intercept : bool
    intercept_scaling : float
        The constant cell of each row whose coefficient is the intercept; the larger, the less the
        intercept is penalized.
    dual : "auto" or bool
        Without effect: the optimum is the same, and the method is chosen by shape.
    verbose : int
        Without effect.
    random_state : int, generator or None
        Of the order of visits, where rows and columns are many.
    max_iter : int
        Newton steps, or passes over the rows.
    max_seconds : float, optional
        Wall-clock time after which the fit ends, with a warning.
    categorical_features : "auto", "all", None, mask, names or indices
        Columns to be coded by their levels.

    Attributes
    ----------
    coef_ : array of shape (n_coefs,)
    intercept_ : array of shape (1,)
    coef_names_ : tuple of str
    certificate_ : Certificate
        `primal`, `dual`, `gap`, and `distance_bound` of the coefficients with the intercept's.
    n_iter_ : int

    Notes
    -----
    Weights count repetitions. Sparse rows stay sparse. Missing cells are refused. Columns should be
    of like size, since the penalty is on their coefficients.

    Examples
    --------
    >>> model = LinearSVR(C=1000.0, epsilon=0.5, intercept_scaling=1000.0)
    >>> model = model.fit([[0.0], [1.0], [2.0]], [0.5, 1.5, 3.5])  # the flattest line in the tube
    >>> model.coef_.round(3), model.predict([[0.0], [2.0]]).round(3)
    (array([1.]), array([1., 3.]))
    >>> model.certificate_.converged
    True
    """

    epsilon: float = parameter(default=0.0, at_least=0)
    tol: float = parameter(default=1e-3, above=0)
    C: float = parameter(Interval(Real, 0, None, closed="right"), default=1.0)
    loss: str = parameter(set(_OBJECTIVES), default="epsilon_insensitive")
    fit_intercept: bool = parameter(default=True)
    intercept_scaling: float = parameter(default=1.0, above=0)
    dual: bool | str = parameter({"auto"}, default="auto")
    verbose: int = parameter("verbose", default=0)
    random_state: RandomSource = parameter(default=None)
    max_iter: int = parameter(default=1000, at_least=1)
    max_seconds: float | None = parameter(default=None, at_least=0)
    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    # Where both rows and columns are many the two hold to the tolerance only.
    invariances: ClassVar[tuple[str, ...]] = ("row_order", "duplication")

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the hyperplane.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.
        """
        stopping = self._stopping()
        with fitting(self) as watch:
            sample = check_sample(self, X, y, sample_weight, target="numbers", accept_sparse=True)
            design = design_of(sample, self._constant)
            losses = tube_losses(
                _one_target(sample.target),
                float(self.C) * sample.weights,
                self.epsilon,
                squared=self.loss != "epsilon_insensitive",
            )
            rng = stream(self.random_state, "visits")
            solution = solve_losses(design, losses, stopping, Budget(stopping), rng)
            coef, intercept = self._split(solution.vector[np.newaxis])
            self.schema_ = sample.schema
            self.coef_, self.intercept_ = coef[0], intercept
            self.n_iter_ = max(1, solution.iterations)
            self._certify([solution], _OBJECTIVES[self.loss], stopping, watch)
        return self

    def predict(self, X: Any) -> Floats:
        """`w'x + b`, shape (n,)."""
        return np.asarray(self._scores(X)[:, 0])

    def _check_state(self) -> None:
        self._check_shape((len(self.coef_names_),))


def _one_target(target: Floats) -> Floats:
    check_target_range(target)
    if target.ndim == 1:
        return target
    if target.shape[1] > 1:
        raise InputError(
            f"LinearSVR predicts one number for each row, but y has {target.shape[1]} columns: y "
            f"should be a 1d array, got an array of shape {target.shape} instead. Use "
            "MultiOutputRegressor."
        )
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples,), for example using ravel().",
        DataConversionWarning,
        stacklevel=5,
    )
    return np.ascontiguousarray(target[:, 0])
