"""What least squares and ridge have in common: one fit, from rows or from statistics.

    read  ->  sum (triangular factor)  ->  solve  ->  refine from the rows  ->  store

A learner of this family says only what its penalty is.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.core.certificate import Certificate, Stopwatch, warn_if_stopped
from novum.core.coding import Coding
from novum.core.engine import sum_blocks
from novum.core.errors import InputError, NotAdditiveError
from novum.core.fitting import fitting
from novum.core.interrupts import long_call
from novum.core.memory import check_memory
from novum.core.single_precision import round_attributes
from novum.core.statistics import StatisticsMixin
from novum.core.validation import Sample
from novum.linear.certification import certify, certify_non_negative
from novum.linear.gram import gram_statistics
from novum.linear.iterative import RowSolution, descend, solve_rows
from novum.linear.leverage import leave_one_out
from novum.linear.prediction import LinearPredictor
from novum.linear.refinement import refined
from novum.linear.solution import (
    Design,
    Floats,
    Solution,
    check_coefficients,
    plain_singular_values,
    solve,
)
from novum.linear.statistics import LeastSquaresStatistics
from novum.numerics.linear_algebra import column_norms

# Beyond this width a sparse table is solved by iteration on its rows, never made dense.
SPARSE_WIDTH = 2000


def _adds_up(model: LinearModel) -> bool:
    """Whether the solver works from sums; scikit-learn hides `partial_fit` otherwise."""
    if not model._is_additive():
        raise AttributeError(
            f"solver={model.solver!r} works on all rows at once and cannot add to them. "
            "Use solver='auto'."
        )
    return True


class LinearModel(LinearPredictor, StatisticsMixin, BaseEstimator):
    """The shared fit; see `LinearRegression` and `Ridge`."""

    invariances: tuple[str, ...] = ("shift", "row_order", "duplication")

    fit_intercept: bool
    positive: bool
    solver: str
    tol: float
    max_iter: int | None

    statistics_: LeastSquaresStatistics
    certificate_: Certificate

    @abstractmethod
    def _penalties(self, n_targets: int) -> Floats:
        """The strength of the penalty for each target."""

    @_fit_context(prefer_skip_nested_validation=True)
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
        singular_values = plain_singular_values(design)
        # Coefficients that overflow are refused by the name of their column.
        with np.errstate(over="ignore", invalid="ignore"):
            solution = solve(design, penalties, positive=self.positive)
        if not penalties.all():
            coding = Coding(statistics.schema)
            check_coefficients(solution.coef, column_norms(design.x), lambda: coding.names)
        if self._method == "gradient":
            solution, certificate = descend(design, solution, self.tol, self.max_iter)
            warn_if_stopped(certificate, type(self).__name__)
        else:
            if sample is not None and not self.positive:
                solution = refined(sample, design, solution, self.fit_intercept)
            certificate = (
                certify_non_negative(design, solution, watch.seconds)
                if self.positive
                else certify(design, solution, watch.seconds)
            )
        self.statistics_ = statistics
        self.schema_ = statistics.schema
        self.certificate_ = certificate
        self.n_iter_ = max(1, certificate.iterations or 1)
        self.rank_ = solution.rank
        self.singular_ = singular_values
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
        if self.positive and self._method != "auto":
            raise InputError(
                f"solver={self.solver!r} does not support positive fitting: it cannot keep "
                "coefficients at least zero. Use solver='auto'."
            )

    # Rows that are never summed

    def _iterates(self, sample: Sample) -> bool:
        if self._method == "lsqr":
            return True
        wide = sample.is_sparse and Coding(sample.schema).full_width > SPARSE_WIDTH
        return self._method == "auto" and wide and not self.positive

    def _store_rows(self, sample: Sample, watch: Stopwatch) -> None:
        self._check_solver()
        found: RowSolution = solve_rows(
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
        self.certificate_ = found.certificate
        self.n_iter_ = max(1, found.certificate.iterations or 1)
        self._store_coefficients(found.coef, found.intercept, sample.target.ndim == 1)
        warn_if_stopped(found.certificate, type(self).__name__)

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
        found, remainder = leave_one_out(
            sample, design, model._solution(design), self.fit_intercept
        )
        return (found[:, 0] if sample.target.ndim == 1 else found), remainder

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
        found = solve(design, self._penalties(self.statistics_.n_targets))
        if self.coef_.dtype != np.float64:
            return found
        intercept = np.broadcast_to(np.asarray(self.intercept_, float), found.intercept.shape)
        return replace(found, coef=np.atleast_2d(self.coef_).T, intercept=intercept)
