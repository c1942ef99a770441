"""Linear support vector regression: a hyperplane inside a tube around the targets.

    minimize   |w|^2 / 2 + (b / s)^2 / 2 + C sum_i c_i loss(y_i - w'x_i - b)

with `loss(r) = max(0, |r| - epsilon)` or its square. The intercept is the coefficient of a constant
column of `s` (`intercept_scaling`) and penalized with the others, as in LIBLINEAR. The objective is
strongly convex: its optimum is unique, and the gap to the dual bounds the distance from it.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.exceptions import DataConversionWarning
from sklearn.utils._param_validation import Interval, StrOptions

from novum.core.certificate import warn_if_stopped
from novum.core.errors import InputError
from novum.core.fitting import fitting
from novum.core.randomness import RandomSource, stream
from novum.core.validation import check_sample
from novum.svm.linear.design import design_of
from novum.svm.linear.fit import certify, solve_losses
from novum.svm.linear.losses import tube_losses
from novum.svm.linear.machine import LinearMachine
from novum.svm.linear.solution import Budget

Floats = NDArray[np.float64]

_OBJECTIVES = {
    "epsilon_insensitive": "|w|^2 / 2 + C sum of losses outside the tube",
    "squared_epsilon_insensitive": "|w|^2 / 2 + C sum of squared losses outside the tube",
}


class LinearSVR(LinearMachine, RegressorMixin, BaseEstimator):
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="right")],
        "loss": [StrOptions(set(_OBJECTIVES))],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "dual": ["boolean", StrOptions({"auto"})],
        "verbose": ["verbose"],
        "random_state": ["random_state", np.random.Generator, np.random.SeedSequence],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_seconds": [Interval(Real, 0, None, closed="left"), None],
    }

    # Where both rows and columns are many the two hold to the tolerance only.
    invariances: tuple[str, ...] = ("row_order", "duplication")

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: bool | str = "auto",
        verbose: int = 0,
        random_state: RandomSource = None,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        categorical_features: Any = "auto",
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.categorical_features = categorical_features

    @_fit_context(prefer_skip_nested_validation=True)
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
            found = solve_losses(design, losses, stopping, Budget(stopping), rng)
            coef, intercept = self._split(found.vector[np.newaxis])
            self.schema_ = sample.schema
            self.coef_, self.intercept_ = coef[0], intercept
            self.n_iter_ = max(1, found.iterations)
            self.certificate_ = certify([found], _OBJECTIVES[self.loss], stopping, watch.seconds)
            warn_if_stopped(self.certificate_, type(self).__name__, stacklevel=4)
        return self

    def predict(self, X: Any) -> Floats:
        """`w'x + b`, shape (n,)."""
        return np.asarray(self._scores(X)[:, 0])

    def _check_state(self) -> None:
        self._check_shape((len(self.coef_names_),))


def _one_target(target: Floats) -> Floats:
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
