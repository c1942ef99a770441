"""Ranking: a function that puts the better of two objects above the other.

    minimize  |f|^2 / 2 + C sum over pairs of  max(0, 1 - (f(x_i) - f(x_j))),    y_i > y_j

over the pairs of rows of one group, such as the documents found for one query. A pair is a row of
the feature space, `phi(x_i) - phi(x_j)`, and the problem that of a classifier without bias for
which all such rows are positive (`ranking_pairs`). The solution is an expansion over the objects:
each has the sum of its coefficients as the better one minus those as the worse one.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from novum.core.errors import InputError
from novum.core.learners import Learner, parameter, warn_if_stopped
from novum.core.runtime import RandomSource, fit_context, fitting
from novum.core.tables import (
    check_numbers,
    checked_weight,
    missing_mask,
    plain_target,
    refuse_missing,
)
from novum.kernels import Linear
from novum.numerics import Floats, Positions
from novum.svm.kernel_machine import KernelMachine
from novum.svm.objects import KernelSample
from novum.svm.parameters import PRICE
from novum.svm.ranking_pairs import PairRows, Pairs, of_objects, ordered_pairs, pairwise_accuracy
from novum.svm.solver.certification import cache_bytes_of, certify, stopping_of
from novum.svm.solver.problem import UNGROUPED, QuadraticProblem, Solution
from novum.svm.solver.solving import solve

# Differences of rows are written down for the linear kernel up to this size.
_DIFFERENCE_BYTES = 2**28


class RankingSVM(KernelMachine, Learner):
    """Support vector ranking: scores whose differences order the rows of each group.

    Parameters
    ----------
    C : float, default=1.0
        Price of a unit by which a pair breaks its margin; infinite for hard margins.
    kernel : str, callable or Kernel, default="linear"
        "linear", "poly", "rbf", "sigmoid", "cosine", "precomputed", a function of two matrices, or
        a kernel of `novum.kernels` on any objects.
    gamma
        Of the named kernels, as in `SVC`.
    max_pairs : int, optional
        Learns from so many pairs drawn at random where there are more, each at a price that is
        higher in proportion. All pairs by default.
    tol : float, default=1e-3
        Relative duality gap.
    cache_size : float, default=200
        Megabytes for rows of the kernel matrix.
    max_iter : int, default=-1
        Steps of the solver; -1 for no limit.
    max_seconds : float, optional
    random_state : int, generator or None, default=0
        Of the drawn pairs.

    Attributes
    ----------
    support_, support_vectors_
        Rows that take part in a pair with a coefficient, their positions and themselves.
    dual_coef_ : array of shape (1, n_support)
    coef_ : array of shape (n_columns,)
        Of the linear kernel.
    support_pairs_ : int array of shape (n_support_pairs, 2)
        Positions of the better and the worse row of the pairs with a coefficient.
    pair_coef_ : array of shape (n_support_pairs,)
    n_pairs_ : int
        Pairs that were learned from.
    certificate_ : Certificate
        `primal`, `dual`, `gap`, `residual`.

    Notes
    -----
    A group of n rows with different targets has `n (n - 1) / 2` pairs; their number is found, and
    the memory they need forecast, before any is made. Weights count repetitions, so a pair weighs
    the product of its rows' weights. Scores have no zero point: only differences within a group
    mean something. Missing cells are refused.

    References
    ----------
    Herbrich, Graepel and Obermayer 2000, "Large margin rank boundaries for ordinal regression";
    Joachims 2002, "Optimizing search engines using clickthrough data".

    Examples
    --------
    >>> X, relevance, query = [[1.0], [2.0], [7.0], [5.0]], [0, 1, 1, 0], ["a", "a", "b", "b"]
    >>> model = RankingSVM(C=10.0).fit(X, relevance, groups=query)
    >>> model.coef_.round(6).tolist(), model.score(X, relevance, groups=query)
    ([1.0], 1.0)
    """

    invariances = ("row_order", "duplication")

    C: float = parameter(PRICE, default=1.0)
    kernel = "linear"
    max_pairs: int | None = parameter(default=None, at_least=1)
    tol: float = parameter(default=1e-3, above=0)
    cache_size: float = parameter(default=200, above=0)
    max_iter: int = parameter(default=-1, at_least=-1)
    max_seconds: float | None = parameter(default=None, above=0)
    random_state: RandomSource = parameter(default=0)

    # Fitting

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Learns from all pairs of rows of one group with different targets.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, sequence of objects or square matrix
            What the kernel takes.
        y : array-like of shape (n_rows,)
            Relevance: the larger, the better.
        sample_weight : array-like of shape (n_rows,), optional
        groups : array-like of shape (n_rows,), optional
            Label of each row's group, such as its query. All rows are one group by default.
        """
        name = type(self).__name__
        with fitting(self) as watch:
            target = None if y is None else _target(y, groups, name)
            sample = self._read(X, target, sample_weight, "numbers")
            pairs = self._pairs(sample)
            prepared = self._prepared(sample)
            problem = self._problem(sample, pairs)
            rows = _differences(sample, prepared, pairs)
            solution = solve(
                rows, problem, stopping_of(self, watch), cache_bytes=cache_bytes_of(self)
            )
            self._store(sample, prepared, pairs, solution)
            details = {"pairs": len(pairs), "pairs_of_all": pairs.n_all}
            self.certificate_ = certify(
                "hinge loss of pairs with a large margin",
                [solution],
                self.tol,
                watch.seconds,
                details=details,
            )
            warn_if_stopped(self.certificate_, name, stacklevel=4)
        return self

    def _pairs(self, sample: KernelSample) -> Pairs:
        relevance, groups = sample.target[:, 0], sample.target[:, 1]
        pairs = ordered_pairs(relevance, groups, self.max_pairs, self.random_state)
        if not len(pairs):
            n, levels = len(sample.rows), len(np.unique(relevance))
            what = "1 sample only" if n == 1 else f"{n} rows with {levels} different targets"
            raise InputError(
                f"{type(self).__name__} learns from pairs of rows of one group with different "
                f"targets, but there is no such pair: {what} in "
                f"{len(np.unique(groups))} groups. Pass rows that differ in y, or larger groups."
            )
        return pairs

    def _problem(self, sample: KernelSample, pairs: Pairs) -> QuadraticProblem:
        n = len(pairs)
        price = self.C * sample.weight[pairs.above] * sample.weight[pairs.below]
        return QuadraticProblem(
            rows=np.arange(n),
            linear=np.full(n, -1.0),
            lower=np.zeros(n),
            upper=price * (pairs.n_all / n),
            groups=np.full(n, UNGROUPED),
            totals=np.zeros(0),
        )

    def _store(self, sample: KernelSample, prepared: Any, pairs: Pairs, solution: Solution) -> None:
        if solution.stopped_by == "infeasible":
            raise InputError(
                "Hard margins (C=inf) are infeasible: no function of this kernel orders all pairs "
                "by a margin. Choose a finite C, or a kernel with more freedom."
            )
        coefficients = of_objects(pairs, solution.coefficients, len(sample.weight))
        self._keep(sample, prepared, coefficients[np.newaxis])
        used = np.flatnonzero(solution.coefficients)
        # Equal rows are one object; the first of them stands for it.
        first = sample.rows[np.unique(sample.group, return_index=True)[1]]
        ends = [first[pairs.above[used]], first[pairs.below[used]]]
        self.support_pairs_ = np.column_stack(ends)
        self.pair_coef_ = solution.coefficients[used]
        self.n_pairs_ = len(pairs)

    # Predicting

    def decision_function(self, X: Any) -> Floats:
        """Scores, of shape (n,): the larger, the higher in the ranking."""
        return self._scores(X)[:, 0]

    def predict(self, X: Any) -> Floats:
        """The same scores; ranks within a group follow by sorting."""
        return self.decision_function(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> float:
        """Share of the pairs of a group that the scores order as `y` does; ties count half.

        It is `(1 + tau) / 2` of Kendall's tau over pairs of different targets.
        """
        scores = self.decision_function(X)
        name = type(self).__name__
        if y is None:
            raise InputError(f"{name} requires y to be passed, but the target y is None.")
        target = _target(y, groups, name)
        if len(target) != len(scores):
            raise InputError(f"X has {len(scores)} rows, but y has {len(target)}.")
        weight = checked_weight(sample_weight, len(scores))
        return pairwise_accuracy(scores, target[:, 0], target[:, 1], weight)

    @property
    def dual_coef_(self) -> Floats:
        """Coefficients of the support rows, of shape (1, n_support)."""
        return self.expansion_

    @property
    def coef_(self) -> Floats:
        """Weights of the columns, for the linear kernel."""
        return self._column_weights[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _target(y: Any, groups: Any, learner: str) -> Floats:
    """Relevance and the number of the group, as two columns."""
    numbers = check_numbers(y, learner)
    relevance = column_or_1d(numbers, warn=True)
    codes = np.zeros(len(relevance))
    if groups is not None:
        codes = _group_codes(groups, learner).astype(np.float64)
    if len(codes) != len(relevance):
        raise InputError(
            f"groups has {len(codes)} labels, but y has {len(relevance)}. Give the group of every "
            "row."
        )
    return np.column_stack([relevance, codes])


def _group_codes(groups: Any, learner: str) -> Positions:
    labels = plain_target(groups)
    if labels.ndim != 1:
        raise InputError(f"groups is one label for each row, got an array of shape {labels.shape}.")
    refuse_missing(missing_mask(labels), ["groups"], learner, what="groups")
    if labels.dtype.kind != "O":
        return np.asarray(np.unique(labels, return_inverse=True)[1], np.intp)
    # Labels of several types have no order of their own; by type and text they have one.
    distinct = sorted(set(labels.tolist()), key=lambda each: (type(each).__name__, str(each)))
    code = {label: number for number, label in enumerate(distinct)}
    return np.array([code[label] for label in labels.tolist()], np.intp)


def _differences(sample: KernelSample, prepared: Any, pairs: Pairs) -> Any:
    """The pairs as objects of the solver."""
    if isinstance(sample.kernel, Linear):
        rows = sample.objects
        cells = np.diff(rows.indptr).max() if sparse.issparse(rows) else rows.shape[1]
        if 32 * len(pairs) * int(cells) <= _DIFFERENCE_BYTES:
            # Differences of the rows themselves lose no digits between rows that are close.
            return Linear().prepare(rows[pairs.above] - rows[pairs.below])
    return PairRows(prepared, pairs.above, pairs.below)
