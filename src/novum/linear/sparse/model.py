"""The lasso and the elastic net.

    minimize  sum_i w_i (y_i - b0 - x_i'b)^2 / (2 W) + alpha l1_ratio |b|_1
              + alpha (1 - l1_ratio) |b|^2 / 2,                              W = sum_i w_i.

The absolute values have a corner at zero, which holds the coefficients of columns that say little:
`b_j = 0` as long as the loss pulls at it with less than `alpha l1_ratio`. The rest is solved by
coordinate descent on working sets (`sparse.solver`), and the dual problem proves how far from the
optimum the result can be at most (`sparse.objective`).
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone

from novum.core.learners import (
    Certificate,
    Learner,
    Stopwatch,
    Verdict,
    fitted,
    parameter,
    warn_if_stopped,
)
from novum.core.runtime import fit_context, fitting, round_attributes, stream
from novum.core.tables import Sample
from novum.linear.least_squares.model import LinearPredictor
from novum.linear.least_squares.regression import LinearRegression
from novum.linear.sparse.columns import checked_targets, columns_of
from novum.linear.sparse.objective import Penalty
from novum.linear.sparse.path import entry_order, path
from novum.linear.sparse.solver import Problem, Products, SparseSolution
from novum.numerics import Floats, Positions, one_blas_thread

OBJECTIVE = "mean squared error / 2 + penalty"
# Looks at all columns that an ordinary fit takes.
_LOOKS = 6
# A relative gap of this size is rounding.
_ROUNDING = 1e-13


class Solved(NamedTuple):
    """Solutions of the targets, and the means (t,) and centers (p,) that intercepts are made of."""

    solutions: list[SparseSolution]
    means: Floats
    centers: Floats


class SparseRegression(LinearPredictor, Learner):
    """The shared fit; see `Lasso` and `ElasticNet`."""

    invariances: ClassVar[tuple[str, ...]] = ("shift", "row_order", "duplication")

    coef_: Floats = fitted()
    certificate_: Certificate = fitted()
    dual_gap_: Floats | float = fitted()
    n_iter_: Any = fitted()

    fit_intercept: bool = parameter(default=True)
    precompute: Any = parameter("boolean", "array-like", default=False)
    max_iter: int = parameter(default=10_000, at_least=1)
    copy_X: bool = parameter(default=True)
    tol: float = parameter(default=1e-6, at_least=0)
    warm_start: bool = parameter(default=False)
    positive: bool = parameter(default=False)
    random_state: Any = parameter("random_state", default=None)
    selection: str = parameter({"cyclic", "random"}, default="cyclic")
    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            Text, Boolean and categorical columns are coded inside.
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.
        check_input : bool, default=True
            Without effect: input is always checked.

        Returns
        -------
        self : fitted estimator
        """
        del check_input
        with fitting(self) as watch:
            sample = self._read(X, y, sample_weight, None)
            if getattr(self, "alpha", None) == 0:
                self._fit_least_squares(X, y, sample_weight)
            else:
                self._store(self._solve(sample), sample, watch)
            self.schema_ = sample.schema
            round_attributes(self, X, "coef_", "intercept_")
        return self

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a sparse matrix of shape (1, n_coef) or (n_targets, n_coef)."""
        return sparse.csr_matrix(self.coef_)

    # Steps of a fit

    def _penalty(self, problem: Problem, sample: Sample) -> Penalty:
        """The penalty of the coefficients of one target."""
        raise NotImplementedError

    def _solve(self, sample: Sample) -> Solved:
        columns = columns_of(sample, centered=self.fit_intercept)
        targets, means = checked_targets(sample, self.fit_intercept)
        products = Products.over(columns, _LOOKS, None if self.precompute is False else True)
        order = stream(self.random_state, "order") if self.selection == "random" else None
        start = self._earlier((len(targets), columns.shape[1]))
        solutions = []
        for k, t in enumerate(targets):
            problem = Problem(products, t)
            solutions.append(
                problem.solve(
                    self._penalty(problem, sample),
                    tol=self.tol,
                    max_iter=self.max_iter,
                    start=None if start is None else start[k],
                    finish=True,
                    order=order,
                )
            )
        return Solved(solutions, means, columns.mean)

    def _store(self, solved: Solved, sample: Sample, watch: Stopwatch) -> None:
        solutions = solved.solutions
        self.certificate_ = certified(solutions, self.tol, watch)
        warn_if_stopped(self.certificate_, type(self).__name__, stacklevel=4)
        coef = np.stack([each.coef for each in solutions])
        gaps = np.array([each.known.gap for each in solutions])
        passes = np.array([max(1, each.passes) for each in solutions])
        intercept = solved.means - coef @ solved.centers
        if sample.target.ndim == 1:
            self.coef_, self.dual_gap_ = coef[0], float(gaps[0])
            self.n_iter_ = int(passes[0])
            self.intercept_ = float(intercept[0]) if self.fit_intercept else 0.0
        else:
            self.coef_, self.dual_gap_, self.n_iter_ = coef, gaps, passes
            self.intercept_ = intercept if self.fit_intercept else np.zeros(len(solutions))

    def _fit_least_squares(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Without a penalty the solver of least squares has all digits."""
        model = LinearRegression(
            fit_intercept=self.fit_intercept,
            positive=self.positive,
            categorical_features=self.categorical_features,
        ).fit(X, y, sample_weight)
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        self.certificate_ = model.certificate_
        several = model.coef_.ndim == 2
        self.dual_gap_ = np.zeros(len(model.coef_)) if several else 0.0
        self.n_iter_ = np.ones(len(model.coef_), np.int64) if several else 1

    def _earlier(self, shape: tuple[int, int]) -> Floats | None:
        """The coefficients of the last fit, if it is to be continued."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        start = np.atleast_2d(np.asarray(self.coef_, np.float64))
        return start if start.shape == shape else None


class Lasso(SparseRegression):
    """Least squares with an L1 penalty: few columns, and a proof of the optimum.

    Minimizes `sum_i w_i (y_i - b0 - x_i'b)^2 / (2 W) + alpha |b|_1` with `W` the sum of the
    weights, by coordinate descent on working sets with Anderson acceleration and gap-safe
    screening.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; 0 is least squares.
    fit_intercept : bool, default=True
    precompute : bool or array-like, default=False
        Whether the cross-products of all columns are computed at once; an array means True, since
        its numbers would not be those of the centered, weighted columns. By default that is
        decided by cost. The solution is the same.
    copy_X : bool, default=True
        Without effect: `X` is never changed.
    max_iter : int, default=10000
        Passes over working sets.
    tol : float, default=1e-6
        Largest duality gap, as a share of the objective.
    warm_start : bool, default=False
        Starts from the coefficients of the last fit.
    positive : bool, default=False
        No coefficient is below zero.
    random_state
        For `selection="random"`.
    selection : {"cyclic", "random"}, default="cyclic"
        Order of the columns of a working set. The solution is the same.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Columns coded by their levels, against the first level.

    Attributes
    ----------
    coef_ : array (n_coef,) or (n_targets, n_coef)
    intercept_ : float or array (n_targets,)
    coef_names_ : tuple of str
    dual_gap_ : float or array (n_targets,)
    sparse_coef_ : sparse matrix
    n_iter_ : int or array (n_targets,)
        Passes over working sets.
    certificate_ : Certificate
        Primal and dual value; of several targets, their sums.
    schema_, n_features_in_, feature_names_in_

    Notes
    -----
    A look at all columns costs `O(n p)`, cross-products of k columns `O(n k^2)`, a pass over them
    `O(k^2)` at most. Weights count repetitions. Sparse rows stay sparse. Missing cells are
    refused; an unseen level counts as the first, with a warning. Of equal columns one or several
    may carry the common coefficient; the predictions are the same.

    References
    ----------
    Tibshirani 1996, JRSS B 58. Massias, Gramfort and Salmon 2018, "Celer". Ndiaye et al. 2017, "Gap
    safe screening rules", JMLR 18. Bertrand and Massias 2021, "Anderson acceleration of coordinate
    descent".

    Examples
    --------
    >>> from novum.linear import Lasso
    >>> X, y = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [4.0, -4.0, 1.0, -1.0]
    >>> model = Lasso(alpha=0.5).fit(X, y)  # soft thresholding: 4 - 1, and 1 - 1
    >>> model.coef_.round(9), model.certificate_.relative_gap < 1e-6
    (array([3., 0.]), True)
    """

    alpha: float = parameter(default=1.0, at_least=0, kw_only=False)

    def _penalty(self, problem: Problem, sample: Sample) -> Penalty:
        del sample
        return Penalty.of(float(self.alpha), 1.0, problem.columns.shape[1], self.positive)

    @staticmethod
    def path(X: Any, y: Any, *, l1_ratio: float = 1.0, **options: Any) -> Any:
        """Solutions for a falling series of penalties; see `ElasticNet.path`."""
        return path(X, y, l1_ratio=l1_ratio, **options)

    def entry_order(self, X: Any, y: Any, most: int) -> Positions:
        """The first `most` columns that come into the path; see `ElasticNet.entry_order`."""
        return _entry_order(self, X, y, most, 1.0)


class ElasticNet(SparseRegression):
    """Least squares with an L1 and an L2 penalty: few columns, and groups of like ones together.

    Minimizes `sum_i w_i (y_i - b0 - x_i'b)^2 / (2 W) + alpha l1_ratio |b|_1
    + alpha (1 - l1_ratio) |b|^2 / 2` with `W` the sum of the weights, by coordinate descent on
    working sets with Anderson acceleration and gap-safe screening.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; 0 is least squares.
    l1_ratio : float, default=0.5
        The share of the L1 penalty: 1 is the lasso, 0 is ridge regression.
    fit_intercept : bool, default=True
    precompute : bool or array-like, default=False
        Whether the cross-products of all columns are computed at once; an array means True. By
        default that is decided by cost. The solution is the same.
    copy_X : bool, default=True
        Without effect: `X` is never changed.
    max_iter : int, default=10000
        Passes over working sets.
    tol : float, default=1e-6
        Largest duality gap, as a share of the objective.
    warm_start : bool, default=False
        Starts from the coefficients of the last fit.
    positive : bool, default=False
        No coefficient is below zero.
    random_state
        For `selection="random"`.
    selection : {"cyclic", "random"}, default="cyclic"
        Order of the columns of a working set. The solution is the same.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Columns coded by their levels, against the first level.

    Attributes
    ----------
    coef_, intercept_, coef_names_, dual_gap_, sparse_coef_, n_iter_, certificate_, schema_
        As those of `Lasso`.

    Notes
    -----
    As for `Lasso`. With `l1_ratio` below 1 the solution is unique, and of equal columns all have
    the same coefficient.

    References
    ----------
    Zou and Hastie 2005, JRSS B 67; further those of `Lasso`.

    Examples
    --------
    >>> from novum.linear import ElasticNet
    >>> X, y = [[1.0, 1.0], [-1.0, -1.0]], [3.0, -3.0]  # two equal columns
    >>> ElasticNet(alpha=2.0, l1_ratio=0.5).fit(X, y).coef_.round(9)  # (3 - 1) / (2 + 1)
    array([0.66666667, 0.66666667])
    """

    alpha: float = parameter(default=1.0, at_least=0, kw_only=False)
    l1_ratio: float = parameter(default=0.5, at_least=0, at_most=1)

    path = staticmethod(path)

    def entry_order(self, X: Any, y: Any, most: int) -> Positions:
        """The first `most` columns that come into the path of falling penalties.

        Columns are measured in their standard deviations; one of levels comes in with the first of
        them. There are fewer where the path to a thousandth of its start has fewer.

        Examples
        --------
        >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]), [2.0, 5.0, -2, -5]
        >>> ElasticNet().entry_order(X, y, 2).tolist()
        [1, 0]
        """
        return _entry_order(self, X, y, most, float(self.l1_ratio))

    def _penalty(self, problem: Problem, sample: Sample) -> Penalty:
        del sample
        ratio, p = float(self.l1_ratio), problem.columns.shape[1]
        return Penalty.of(float(self.alpha), ratio, p, self.positive)


def _entry_order(
    model: Lasso | ElasticNet, X: Any, y: Any, most: int, l1_ratio: float
) -> Positions:
    model._validate_params()
    sample = clone(model)._read(X, y, None, None)
    with one_blas_thread():
        return entry_order(
            sample, l1_ratio, most,
            tol=model.tol, max_iter=model.max_iter, positive=model.positive,
        )  # fmt: skip


def certified(solutions: list[SparseSolution], tol: float, watch: Stopwatch) -> Certificate:
    """The certificate of the solutions of one or several targets."""
    primal = sum(each.known.primal for each in solutions)
    gap = sum(each.known.gap for each in solutions)
    stopped = [each.stopped_by for each in solutions if each.stopped_by is not None]
    verdict = Verdict.STOPPED_EARLY if stopped else Verdict.WITHIN_TOLERANCE
    if gap <= _ROUNDING * primal:
        verdict = Verdict.PROVED
    details: dict[str, Any] = {
        "solver": "coordinate descent on working sets",
        "relative_tol": tol,
        "active": tuple(int(np.count_nonzero(each.coef)) for each in solutions),
        "screened": tuple(each.screened for each in solutions),
        "looks": tuple(each.looks for each in solutions),
    }
    if stopped:
        details["stopped_by"] = stopped[0]
    return Certificate(
        objective=OBJECTIVE,
        verdict=verdict,
        value=primal,
        primal=primal,
        dual=primal - gap,
        iterations=sum(each.passes for each in solutions),
        trace=solutions[0].trace,
        details=details,
        seconds=watch.seconds,
    )
