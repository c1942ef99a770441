"""Linear regression by least squares.

    minimize  sum_i w_i (y_i - b0 - x_i'b)^2

The fit is a function of the triangular factor `R` of `[1 X y]` (`statistics`), which adds
up over rows and does not square the condition number: merged parts give the accuracy of
Householder QR on the whole table. Columns may be in any unit and have any offset.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
from sklearn.base import clone

from novum.core.errors import InputError
from novum.core.learners import parameter
from novum.core.sums import sum_blocks, whole_sample
from novum.core.tables import Sample, check_features
from novum.linear.least_squares.inference import Covariance, LinearInference, infer, robust_errors
from novum.linear.least_squares.influence import Influence, influence_of, prediction_deviations
from novum.linear.least_squares.model import LinearModel
from novum.numerics import Floats, one_blas_thread

# Sums over the same rows agree far better, also when some were added and removed on the way.
_SAME_ROWS = 1e-6


class LinearRegression(LinearModel):
    """Ordinary least squares with certificate, inference and mergeable statistics.

    Minimizes `sum_i w_i (y_i - b0 - x_i'b)^2`. Solved by QR of blocks of rows, or by Cholesky where
    the condition number proves it as accurate, with one step of refinement. Without full rank
    the solution of smallest norm is given, and the certificate says so.

    Parameters
    ----------
    fit_intercept : bool, default=True
    copy_X : bool, default=True
        Kept for scikit-learn's signature; `X` is never overwritten.
    tol : float, default=1e-6
        Of the iterative solvers.
    n_jobs : int, optional
        Threads that sum blocks of rows. The result does not depend on it.
    positive : bool, default=False
        Restricts the coefficients to be at least zero.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Columns coded by their levels, against the first level.
    solver : {"auto", "lsqr", "gradient"}, default="auto"
        `"auto"` is direct, except for sparse tables of more than 2000 columns, which use
        `"lsqr"`. `"gradient"` is gradient descent with a checked step.
    max_iter : int, optional
        Limit of the iterative solvers.

    Attributes
    ----------
    coef_ : array of shape (n_coef,) or (n_targets, n_coef)
    intercept_ : float or array of shape (n_targets,)
    coef_names_ : tuple of str
    certificate_ : Certificate
    statistics_ : LeastSquaresStatistics
        What `partial_fit` adds to and `forget` takes from.
    rank_ : int
    singular_ : array of shape (min(n_rows, n_coef),)
        Singular values of the centered design.
    schema_ : Schema
    n_features_in_ : int
    feature_names_in_ : array of str, when `X` has names

    Notes
    -----
    Costs `O(n p^2)` time; memory beyond `X` is `O(p^2)`. Weights count repetitions: weight 2
    is the row twice, also in standard errors. Missing cells are refused. An unseen level counts as
    the first level, with a warning. Text, Boolean and categorical columns need no encoder.

    References
    ----------
    Golub and Van Loan, Matrix Computations, 4th ed., 5.3 and 6.5; Demmel et al. 2012,
    "Communication-optimal parallel and sequential QR and LU factorizations".

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> round(float(model.coef_[0]), 12), round(float(model.intercept_), 12)
    (2.0, 1.0)
    >>> model.certificate_.verdict.value
    'proved'
    """

    invariances = ("shift", "column_scale", "common_scale", "row_order", "duplication")

    n_jobs: int | None = parameter(default=None)

    def inference(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        covariance: Covariance = "classical",
    ) -> LinearInference:
        """Standard errors, t tests, confidence intervals and R squared.

        Parameters
        ----------
        covariance : {"classical", "HC0", "HC1", "HC2", "HC3"}
            Classical inference needs nothing but the fitted model. The others are robust against
            errors of unequal variance and need the rows again.
        X, y, sample_weight
            The rows of the fit, for a robust covariance.

        Examples
        --------
        >>> model = LinearRegression().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 2.0, 3.0])
        >>> found = model.inference()
        >>> found.standard_errors.round(4), float(found.r_squared.round(3))
        (array([0.2646, 0.1414]), 0.9)
        """
        self._check_inference(covariance)
        with one_blas_thread():
            design = self._design()
            solution = self._solution(design)
            robust = None
            if covariance != "classical":
                what = f"covariance={covariance!r}"
                if X is None or y is None:
                    raise InputError(f"{what} needs the rows again: pass inference(X, y, {what}).")
                rows = clone(self)._read(X, y, sample_weight, self.schema_)
                self._check_rows(rows, what)
                errors = robust_errors(rows, design, solution, self.fit_intercept, covariance)
                robust = covariance, errors
            inference = infer(
                design,
                solution,
                self.statistics_.weight,
                self.coef_names_,
                self.fit_intercept,
                robust,
            )
        return inference.single() if self.statistics_.vector_target else inference

    def influence(self, X: Any, y: Any, sample_weight: Any = None) -> Influence:
        """What each row of the fit does to it: leverage, Cook's distance, DFBETAS.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit, of one target.

        Examples
        --------
        >>> X, y = [[0.0], [1.0], [2.0], [10.0]], [0.1, 0.9, 2.1, 5.0]
        >>> found = LinearRegression().fit(X, y).influence(X, y)
        >>> found.leverage.round(3).tolist(), int(found.cooks_distance.argmax())
        ([0.418, 0.331, 0.275, 0.976], 3)
        """
        self._check_inference("classical")
        with one_blas_thread():
            rows = whole_sample(clone(self), X, y, sample_weight, self.schema_)
            self._check_rows(rows.rows(rows.weights > 0), "Influence")
            if rows.target.ndim != 1:
                raise InputError(
                    f"Influence is on the fit of one target, but y has {rows.target.shape[1]}. Fit "
                    "and ask one target at a time."
                )
            design = self._design()
            inference, solution = self.inference(), self._solution(design)
            return influence_of(rows, design, solution, inference, self.fit_intercept)

    def predict_interval(self, X: Any, confidence: float = 0.95) -> Floats:
        """Where new rows will lie: prediction intervals for normal errors of equal variance.

        Returns
        -------
        array of shape (n_rows, 2) or (n_rows, n_targets, 2)
            Infinite for rows that the fit does not determine.

        Examples
        --------
        >>> model = LinearRegression().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 2.0, 3.0])
        >>> model.predict_interval([[1.5]]).round(3).tolist()
        [[0.479, 3.521]]
        """
        return self._interval(X, confidence, of_rows=1.0)

    def mean_interval(self, X: Any, confidence: float = 0.95) -> Floats:
        """Where the mean target of such rows lies: confidence intervals, as `predict_interval`."""
        return self._interval(X, confidence, of_rows=0.0)

    def _interval(self, X: Any, confidence: float, of_rows: float) -> Floats:
        """Intervals from the variance of the prediction and `of_rows` times that of a row."""
        inference = self.inference()
        reach = inference.reach(confidence)
        middle = self.predict(X)
        with one_blas_thread():
            sample = check_features(self, X, accept_sparse=True, tell_unseen=False)
            known = prediction_deviations(
                sample, self._design(), inference.rows, self.fit_intercept
            )
        half = np.multiply.outer(np.hypot(known, np.sqrt(of_rows)), inference.residual_deviation)
        return np.stack([middle - reach * half, middle + reach * half], axis=-1)

    def _check_inference(self, covariance: str) -> None:
        if covariance not in get_args(Covariance):
            raise InputError(
                f"covariance={covariance!r} is not known; choose one of {get_args(Covariance)}."
            )
        if self.positive:
            raise InputError(
                "Coefficients that were kept positive have no such standard errors: their "
                "distribution is cut off at 0. Fit with positive=False for inference."
            )

    def _check_rows(self, rows: Sample, what: str) -> None:
        statistics, known = sum_blocks(self._sum, rows, self.n_jobs), self.statistics_
        if not statistics.isclose(known, _SAME_ROWS):
            raise InputError(
                f"{what} needs the rows of the fit, of total weight "
                f"{known.weight:g}; these, of weight {statistics.weight:g}, are other rows. Pass "
                "the rows, targets and weights that were fitted."
            )

    def _penalties(self, n_targets: int) -> Floats:
        return np.zeros(n_targets)
