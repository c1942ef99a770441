"""Least squares with a penalty given as a value.

    minimize  sum_i w_i (y_i - b0 - x_i'b)^2 / (2 W) + penalty(b),        W = sum_i w_i.

Penalties of single coefficients are solved as the lasso (`sparse.solver`), groups by Newton's
method on working sets (`sparse.composite`); for this loss its quadratic function is the loss.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import parameter
from novum.core.tables import Sample
from novum.linear.sparse.columns import checked_targets, plain_columns
from novum.linear.sparse.composite import minimize
from novum.linear.sparse.losses import SquaredRows
from novum.linear.sparse.model import Solved, SparseRegression
from novum.linear.sparse.objective import Penalty
from novum.linear.sparse.path import largest_alpha
from novum.linear.sparse.penalties import L1, L2, AdaptiveL1, ElasticNetPenalty, Groups
from novum.linear.sparse.solver import Problem, SparseSolution

_DEFAULT_SHARE = 0.01


class PenalizedRegression(SparseRegression):
    """Least squares with a penalty given as a value: `L1`, `L2`, `Groups` and others.

    Minimizes `sum_i w_i (y_i - b0 - x_i'b)^2 / (2 W) + penalty(b)` with `W` the sum of the weights.

    Parameters
    ----------
    penalty : L1, L2, ElasticNetPenalty, AdaptiveL1 or Groups, optional
        By default L1 of a hundredth of the strength from which on all coefficients are zero, which
        does not depend on the unit of the target.
        `Groups(0.1)` lets every nominal column enter or leave with all of its levels.
    fit_intercept : bool, default=True
    precompute : bool or array-like, default=False
        Whether the cross-products of all columns are computed at once.
    copy_X : bool, default=True
        Without effect: `X` is never changed.
    max_iter : int, default=10000
        Passes over working sets; with groups, Newton steps.
    tol : float, default=1e-6
        Largest duality gap, as a share of the objective.
    warm_start : bool, default=False
        Starts from the coefficients of the last fit.
    positive : bool, default=False
        No coefficient is below zero; not with `Groups`.
    random_state, selection
        Order of the columns of a working set. The solution is the same.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Columns coded by their levels, against the first level.

    Attributes
    ----------
    coef_, intercept_, coef_names_, dual_gap_, sparse_coef_, n_iter_, certificate_, schema_
        As those of `Lasso`.

    Notes
    -----
    As for `Lasso`. The levels of a column are coded against the first, so the penalty of a group is
    that of the differences from it.

    References
    ----------
    Yuan and Lin 2006, JRSS B 68. Zou 2006, JASA 101.

    Examples
    --------
    >>> import numpy as np
    >>> from novum.linear import Groups, PenalizedRegression
    >>> color = np.repeat(["blue", "green", "red"], 10)
    >>> shape = np.tile(["round", "square"], 15)
    >>> y = np.repeat([0.0, 3.0, 5.0], 10)
    >>> table = np.column_stack([color, shape]).astype(object)
    >>> model = PenalizedRegression(penalty=Groups(0.1)).fit(table, y)
    >>> [name for name, b in zip(model.coef_names_, model.coef_) if b]
    ['x0=green', 'x0=red']
    """

    penalty: Any = parameter(
        L1, L2, ElasticNetPenalty, AdaptiveL1, Groups, None, default=None, kw_only=False
    )

    def _solve(self, sample: Sample) -> Solved:
        if isinstance(self.penalty, Groups):
            return self._solve_groups(sample, self.penalty)
        return super()._solve(sample)

    def _penalty(self, problem: Problem, sample: Sample) -> Penalty:
        value = self.penalty
        if value is None:
            largest = largest_alpha(problem.fits, 1.0, self.positive)
            # Every strength has the same solution where no column says anything.
            value = L1(_DEFAULT_SHARE * largest or 1.0)
        if isinstance(value, AdaptiveL1):
            first = value.first(sample.schema)
            ridge = problem.solve(first, tol=self.tol, max_iter=self.max_iter, finish=True)
            penalty = value.after(ridge.coef)
        else:
            penalty = value.of(sample.schema)
        return replace(penalty, positive=self.positive)

    def _solve_groups(self, sample: Sample, groups: Groups) -> Solved:
        if self.positive:
            raise InputError("Groups have no positive fit. Use L1, or positive=False.")
        weight = sample.weights / sample.weights.sum()
        columns = plain_columns(sample, weight, centered=self.fit_intercept)
        # The targets are checked as for other penalties, and taken from their means.
        means = checked_targets(sample, self.fit_intercept)[1]
        penalty = groups.of(sample.schema)
        solutions: list[SparseSolution] = []
        for target, mean in zip(sample.targets.T, means, strict=True):
            solved = minimize(
                columns,
                SquaredRows(np.asarray(target - mean, np.float64), weight),
                penalty,
                fit_intercept=self.fit_intercept,
                tol=self.tol,
                max_iter=self.max_iter,
            )
            solutions.append(
                SparseSolution(
                    solved.coef[0],
                    solved.known,
                    solved.steps,
                    len(solved.trace),
                    solved.screened,
                    solved.stopped_by,
                    solved.trace,
                    np.empty(0),
                )
            )
            means[len(solutions) - 1] += solved.intercept[0]
        return Solved(solutions, means, columns.mean)
