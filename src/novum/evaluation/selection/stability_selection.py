"""Stability selection: the columns that a sparse model takes on most halves of the rows.

The rows are cut into two halves B times. On every half the learner says which q columns come in
first as its penalty falls, and a column is kept if at least a share `threshold` of the 2 B halves
have it among them. If columns without effect are exchangeable, and the learner is not worse than
guessing, the expected number of them that are kept is at most

    E[V] <= q^2 / ((2 threshold - 1) p)

for p columns, whatever the learner (Meinshausen and Buhlmann 2010, theorem 1; Shah and Samworth
2013 for complementary halves). So q follows from the number of errors that is accepted.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.multiclass import type_of_target

from novum.core.errors import InputError
from novum.core.learners import Certificate, Verdict, fitted, parameter
from novum.core.runtime import fit_context, fitting, run_tasks, seed_sequence, stream
from novum.core.tables import plain_target, rows_of
from novum.core.text import printable
from novum.display import Table
from novum.evaluation.selection.selector import ColumnSelector, checked_columns
from novum.numerics import Array, Floats, Mask, Positions


class StabilitySelection(ColumnSelector):
    """Keeps the columns that a sparse model takes on most halves of the rows, with an error bound.

    Parameters
    ----------
    estimator : learner with `entry_order(X, y, most)`
        Such as `novum.linear.Lasso()`.
    expected_errors : float, default=1.0
        Columns without effect that may be kept on average.
    threshold : float, default=0.75
        Share of the halves, above 0.5, that must have a column for it to be kept.
    n_pairs : int, default=50
        How often the rows are cut into halves.
    n_jobs : int, optional
    random_state : None, int, Generator, RandomState or SeedSequence

    Attributes
    ----------
    frequencies_ : array (n_columns,)
        Share of the halves that had the column among the first.
    n_first_ : int
        How many columns every half had: q.
    error_bound_ : float
        The bound with that q. It is above `expected_errors` only where q is 1.
    certificate_, n_features_in_, feature_names_in_

    Notes
    -----
    Two classes are coded as 0 and 1; the bound holds for every way to order columns.

    References
    ----------
    N. Meinshausen, P. Buhlmann (2010). Stability selection. J. Royal Statistical Society B 72.
    R. Shah, R. Samworth (2013). Variable selection with error control: another look at stability
    selection. J. Royal Statistical Society B 75.

    Examples
    --------
    >>> from novum.linear import Lasso
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 20))
    >>> y = 2 * X[:, 3] - 2 * X[:, 7] + rng.normal(size=100)
    >>> model = StabilitySelection(Lasso(), random_state=0).fit(X, y)
    >>> model.get_support(indices=True).tolist(), model.n_first_, model.error_bound_
    ([3, 7], 3, 0.9)
    """

    estimator: Any = parameter(default=None, kw_only=False)
    expected_errors: float = parameter(default=1.0, above=0)
    threshold: float = parameter(default=0.75, above=0.5, at_most=1)
    n_pairs: int = parameter(default=50, at_least=1)
    n_jobs: int | None = parameter(default=None)
    random_state: Any = parameter("random_state", default=None)

    frequencies_: Floats = fitted()
    n_first_: int = fitted()
    error_bound_: float = fitted()

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> Self:
        """Counts on how many halves every column is among the first.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            As far as the learner takes it.
        y : array-like of shape (n_rows,)
            Numbers, or two classes.
        """
        with fitting(self):
            self._refuse_without_order()
            table = checked_columns(self, X, reset=True)
            target = self._target(y, table.shape[0])
            n, p = table.shape
            q = max(1, int(math.sqrt(self.expected_errors * (2 * self.threshold - 1) * p)))
            root = seed_sequence(self.random_state)

            def first_columns(half: Positions) -> Mask:
                rows = np.sort(half)
                order = clone(self.estimator).entry_order(rows_of(table, rows), target[rows], q)
                return np.isin(np.arange(p), order)

            halves = []
            for pair in range(self.n_pairs):
                shuffled = stream(root, pair).permutation(n)
                halves += [shuffled[: n // 2], shuffled[n // 2 : 2 * (n // 2)]]
            counts = np.sum(run_tasks(first_columns, halves, self.n_jobs), axis=0)
            self.frequencies_ = np.asarray(counts / len(halves))
            self.n_first_ = q
            self.error_bound_ = q**2 / ((2 * self.threshold - 1) * p)
            self.certificate_ = Certificate(
                objective="expected number of columns without effect that are kept",
                verdict=Verdict.PROVED,
                value=self.error_bound_,
                details={"halves": len(halves), "first": q, "threshold": self.threshold},
            )
        return self

    def table(self) -> Table:
        """How often every column was among the first, the most frequent first."""
        order = np.argsort(-self.frequencies_, kind="stable")
        kept, p = self.get_support(), len(order)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(p)])
        rows = [
            [printable(str(names[j]), 40), f"{self.frequencies_[j]:.2f}", "yes" if kept[j] else ""]
            for j in order
        ]
        return Table.of_numbers("", ["column", "share of halves", "kept"], rows)

    def _get_support_mask(self) -> Mask:
        return np.asarray(self.frequencies_ >= self.threshold)

    def _refuse_without_order(self) -> None:
        if not hasattr(self.estimator, "entry_order"):
            what = "none was given" if self.estimator is None else f"got {self.estimator!r}"
            raise InputError(
                "StabilitySelection needs a learner that says in which order columns come in "
                f"(`entry_order`), such as novum.linear.Lasso(); {what}."
            )

    def _target(self, y: Any, n_rows: int) -> Array:
        if y is None:
            raise InputError(
                "StabilitySelection requires y to be passed, but the target y is None."
            )
        target = plain_target(y)
        if len(target) != n_rows:
            raise InputError(
                f"X has {n_rows} rows, but y has {len(target)}: found input variables with "
                "inconsistent numbers of samples. Pass one target for each row."
            )
        if n_rows < 4:
            raise InputError(f"Two halves need at least four rows, got n_samples = {n_rows}.")
        if type_of_target(target) == "unknown":
            raise InputError(
                f"Unknown label type: y holds {type(target[0]).__name__}. Pass numbers, or two "
                "classes."
            )
        if target.dtype.kind in "OUSb" or type_of_target(target) == "binary":
            classes, codes = np.unique(target, return_inverse=True)
            if len(classes) > 2:
                raise InputError(
                    f"StabilitySelection orders columns for numbers or two classes, but y has "
                    f"{len(classes)} classes. Select for one class against the rest."
                )
            return codes.astype(np.float64)
        return np.asarray(target)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = False
        return tags
