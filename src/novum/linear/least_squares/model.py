"""What least squares and ridge have in common: one fit, from rows or from statistics.

    read  ->  sum (triangular factor)  ->  solve  ->  refine from the rows  ->  store

A learner of this family says only what its penalty is. A fitted one reads new rows and adds up
their effects,

    yhat = b0 + x'b,        x the treatment design of the row (`core.tables.coding`):

a numeric column contributes its cell times its coefficient, a categorical one the coefficient of
its level, against the first level.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError, NotAdditiveError
from novum.core.learners import (
    Certificate,
    Learner,
    Stopwatch,
    deferred,
    fitted,
    later,
    parameter,
    warn_if_stopped,
)
from novum.core.runtime import (
    answered,
    check_memory,
    fit_context,
    fitting,
    long_call,
    round_attributes,
)
from novum.core.sums import StatisticsMixin, sum_blocks
from novum.core.tables import (
    Coding,
    Sample,
    Schema,
    check_features,
    check_sample,
    treatment_blocks,
)
from novum.linear.least_squares.certification import certify, certify_non_negative
from novum.linear.least_squares.inference import leave_one_out, penalized_inverse
from novum.linear.least_squares.iterative import RowSolution, descend, solve_rows
from novum.linear.least_squares.solution import (
    Design,
    Solution,
    check_coefficients,
    plain_singular_values,
    refined,
    solve,
)
from novum.linear.least_squares.statistics import LeastSquaresStatistics, gram_statistics
from novum.numerics import Floats


class LinearPredictor(RegressorMixin):
    """Reading and prediction of a linear model that stores `coef_`, `intercept_` and `schema_`."""

    coef_: Floats
    intercept_: Floats | float
    schema_: Schema

    def predict(self, X: Any) -> Floats:
        """Predicted targets of the rows of `X`, shape (n_rows,) or (n_rows, n_targets)."""
        # One row is predicted in microseconds; scikit-learn's own check takes longer than that.
        if not hasattr(self, "coef_"):
            check_is_fitted(self)
        sample = check_features(self, X, accept_sparse=True, tell_unseen=False)
        coef = np.atleast_2d(self.coef_).T
        scores = Coding(self.schema_).scores(sample, coef) + self.intercept_
        return answered(coef, X, scores[:, 0] if np.ndim(self.coef_) == 1 else scores)

    @property
    def coef_names_(self) -> tuple[str, ...]:
        """Names of the coefficients; a level is `column=level`, against the first level."""
        check_is_fitted(self)
        return Coding(self.schema_).names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        chosen = getattr(self, "categorical_features", None)
        tags.input_tags.string = chosen is not None
        tags.input_tags.categorical = isinstance(chosen, str) and chosen == "all"
        tags.target_tags.multi_output = True
        return tags

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:
        return check_sample(self, X, y, sample_weight, schema=schema, accept_sparse=True)

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        width = len(self.coef_names_)
        coef = np.asarray(self.coef_)
        if coef.shape[-1:] != (width,) or coef.ndim > 2:
            raise ModelFileError(
                f"The model has coefficients of shape {coef.shape} for {width} columns."
            )
        if not (np.isfinite(coef).all() and np.isfinite(self.intercept_).all()):
            raise ModelFileError("The model has coefficients that are not finite numbers.")


# Beyond this width a sparse table is solved by iteration on its rows, never made dense.
SPARSE_WIDTH = 2000
_SMALL_DESIGN = 2**12


def _adds_up(model: LinearModel) -> bool:
    """Whether the solver works from sums; scikit-learn hides `partial_fit` otherwise."""
    if not model._is_additive():
        raise AttributeError(
            f"solver={model.solver!r} works on all rows at once and cannot add to them. "
            "Use solver='auto'."
        )
    return True


class LinearModel(LinearPredictor, StatisticsMixin, Learner):
    """The shared fit; see `LinearRegression` and `Ridge`."""

    invariances: ClassVar[tuple[str, ...]] = ("shift", "row_order", "duplication")
    _positive_solvers: ClassVar[tuple[str, ...]] = ("auto",)

    fit_intercept: bool = parameter(default=True)
    copy_X: bool = parameter(default=True)
    tol: float = parameter(default=1e-6, above=0)
    max_iter: int | None = parameter(default=None, at_least=1)
    positive: bool = parameter(default=False)
    solver: str = parameter({"auto", "lsqr", "gradient"}, default="auto")
    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    statistics_: LeastSquaresStatistics = fitted()
    certificate_: Certificate = deferred()
    singular_: Floats = deferred()

    @abstractmethod
    def _penalties(self, n_targets: int) -> Floats:
        """The strength of the penalty for each target."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            Text, Boolean and categorical columns are coded inside.
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self) as watch:
            sample = self._read(X, y, sample_weight, None)
            if self._iterates(sample):
                self._store_rows(sample, watch)
                round_attributes(self, X, "coef_", "intercept_")
                return self
            statistics = self._sum_quickly(sample) or sum_blocks(
                self._sum, sample, getattr(self, "n_jobs", None)
            )
            self._estimate(statistics, sample, watch)
            round_attributes(self, X, "coef_", "intercept_", "singular_")
        return self

    @available_if(_adds_up)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Adds rows to those the model has learned from; the first call starts anew."""
        return super().partial_fit(X, y, sample_weight)

    # Steps of a fit

    def _sum(self, sample: Sample) -> LeastSquaresStatistics:
        width = Coding(sample.schema).full_width + 1
        rows = min(sample.n_rows, width)
        check_memory(
            4 * 8 * rows * width,
            f"The triangular factor of {width} columns",
            "Use solver='lsqr' on a sparse table, or select columns.",
        )
        return long_call(
            lambda: LeastSquaresStatistics.of(sample), 4.0 * width**2 * rows, "QR of one block"
        )

    def _sum_quickly(self, sample: Sample) -> LeastSquaresStatistics | None:
        """The statistics of many rows by cross-products, where that is accurate enough."""
        return gram_statistics(sample)

    def _estimate(
        self,
        statistics: LeastSquaresStatistics,
        sample: Sample | None = None,
        watch: Stopwatch | None = None,
    ) -> None:
        watch = watch or Stopwatch()
        self._check_solver()
        design = Design.of(statistics, self.fit_intercept)
        penalties = self._penalties(statistics.n_targets)
        # Coefficients that overflow are refused by the name of their column.
        with np.errstate(over="ignore", invalid="ignore"):
            solution = solve(design, penalties, positive=self.positive)
        if not penalties.all():
            coding = Coding(statistics.schema)
            check_coefficients(solution.coef, design.sizes, lambda: coding.names)
        if self._method == "gradient":
            solution, self.certificate_ = descend(design, solution, self.tol, self.max_iter)
            warn_if_stopped(self.certificate_, type(self).__name__)
            self.n_iter_ = max(1, self.certificate_.iterations or 1)
        else:
            if sample is not None and not self.positive:
                solution = refined(sample, design, solution, self.fit_intercept)
            prove = certify_non_negative if self.positive else certify
            self.certificate_ = later(prove, design, solution, watch.seconds)
            self.n_iter_ = 1
        self.singular_ = later(plain_singular_values, design)
        if design.x.size > _SMALL_DESIGN:
            # Computed now: to wait for a reader would keep large arrays for him.
            _ = self.certificate_, self.singular_
        self.statistics_ = statistics
        self.schema_ = statistics.schema
        self.rank_ = design.rank
        self._store_coefficients(solution.coef, solution.intercept, statistics.vector_target)

    def _store_coefficients(self, coef: Floats, intercept: Floats, vector: bool) -> None:
        self.coef_ = coef[:, 0].copy() if vector else np.ascontiguousarray(coef.T)
        if not self.fit_intercept:
            self.intercept_ = 0.0
        else:
            self.intercept_ = np.float64(intercept[0]) if vector else intercept

    @property
    def _method(self) -> str:
        """The way to the solution: "auto", "lsqr" or "gradient"."""
        return self.solver

    def _check_solver(self) -> None:
        if self.positive and self.solver not in self._positive_solvers:
            solvers = " or ".join(map(repr, self._positive_solvers))
            raise InputError(
                f"solver={self.solver!r} does not support positive fitting. Set the solver to "
                f"{solvers}, or positive=False."
            )

    # Rows that are never summed

    def _iterates(self, sample: Sample) -> bool:
        if self._method == "lsqr":
            return True
        wide = sample.is_sparse and Coding(sample.schema).full_width > SPARSE_WIDTH
        return self._method == "auto" and wide and not self.positive

    def _store_rows(self, sample: Sample, watch: Stopwatch) -> None:
        self._check_solver()
        solution: RowSolution = solve_rows(
            sample,
            self._penalties(sample.targets.shape[1]),
            self.fit_intercept,
            self.tol,
            self.max_iter,
            watch,
        )
        for name in ("statistics_", "rank_", "singular_"):
            self.__dict__.pop(name, None)
        self.schema_ = sample.schema
        self.certificate_ = solution.certificate
        self.n_iter_ = max(1, solution.certificate.iterations or 1)
        self._store_coefficients(solution.coef, solution.intercept, sample.target.ndim == 1)
        warn_if_stopped(solution.certificate, type(self).__name__)

    # What others ask of a model

    def _is_additive(self) -> bool:
        return self._method != "lsqr"

    def _leave_one_out(self, sample: Sample) -> tuple[Floats, Floats]:
        """Predictions without the row itself, and how safe the formula is there."""
        if self.positive or self._method == "gradient":
            # Not a linear function of the targets: no formula, so no row is safe.
            return np.empty_like(sample.target), np.zeros_like(sample.targets)
        kept = sample if sample.weight is None else sample.rows(sample.weight > 0)
        model = clone(self)
        model._estimate(sum_blocks(self._sum, kept), kept)
        design = model._design()
        predicted, remainder = leave_one_out(
            sample, design, model._solution(design), self.fit_intercept
        )
        return (predicted[:, 0] if sample.target.ndim == 1 else predicted), remainder

    def _influence(self, X: Any) -> tuple[Floats, Floats]:
        """Of a model fitted to the identity: weights of its rows in predictions, and `x'A^-1 x`.

        `A` is the matrix of the normal equations; a further row of weight one would have the
        leverage `v / (1 + v)` with `v = x'A^-1 x`. Of shapes (m, n) and (m,).
        """
        sample = check_features(self, X, accept_sparse=True, tell_unseen=False)
        design = self._design()
        inverse = penalized_inverse(design, float(self._penalties(1)[0]))
        rows = treatment_blocks(sample)
        spread = np.concatenate([inverse.squares(x - design.x_mean) for _, x in rows])
        if self.fit_intercept:
            spread += 1 / self.statistics_.weight
        return self.predict(X), spread

    def _design(self) -> Design:
        check_is_fitted(self)
        if not hasattr(self, "statistics_"):
            raise NotAdditiveError(
                f"{type(self).__name__} was solved by iteration on the rows and kept no "
                "statistics, which this needs. Fit with solver='auto' on dense columns."
            )
        return Design.of(self.statistics_, self.fit_intercept)

    def _solution(self, design: Design) -> Solution:
        """The stored coefficients, unless rounded, with the spectrum of their design."""
        solution = solve(design, self._penalties(self.statistics_.n_targets))
        if self.coef_.dtype != np.float64:
            return solution
        intercept = np.broadcast_to(np.asarray(self.intercept_, float), solution.intercept.shape)
        return replace(solution, coef=np.atleast_2d(self.coef_).T, intercept=intercept)
