"""Filters: columns chosen by the score of each alone, before any model is trained.

    SelectKBest        the k of highest score
    SelectPercentile   that share of all columns

`level_filters` has those that compare p-values with a level. A filter sees the target, so it
belongs inside the folds: put it in a `Pipeline` and validate that. It looks at original columns of
any kind; one that is useless alone but not beside another is missed (the parity of two columns is
the classic one), which the wrappers do see.
"""

from __future__ import annotations

import math
import warnings
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Verdict, fitted, parameter
from novum.core.runtime import fit_context, fitting
from novum.core.tables import Schema, plain_target
from novum.evaluation.comparison.ranks.multiplicity import Correction, adjusted_p_values
from novum.evaluation.selection.column_scores import ColumnScore, ColumnScores, listed, read_columns
from novum.evaluation.selection.column_tests import f_classif
from novum.evaluation.selection.selector import ColumnSelector, checked_columns
from novum.numerics import Floats, Mask, Positions


class ColumnFilter(ColumnSelector):
    """Shared by the filters; see `SelectKBest`."""

    score_func: Any = parameter(callable, default=f_classif, kw_only=False)
    categorical_features: Any = parameter(None, {"auto", "all"}, "array-like", default="auto")

    scores_: Floats = fitted()
    pvalues_: Floats | None = fitted()
    n_known_: Positions = fitted()
    schema_: Schema = fitted()

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on."""
        return ("row_order",)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Scores the columns.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            Missing cells are allowed where `score_func` is one of Novum's scores.
        y : array-like of shape (n_rows,)
            Labels or numbers; None for a `score_func` that does not look at it.
        """
        with fitting(self):
            scores = self._scores(X, y)
            self._refuse_undefined(scores)
            self.scores_, self.pvalues_, self.n_known_ = (
                scores.scores,
                scores.p_values,
                scores.n_known,
            )
            self._settle()
            kept = self._get_support_mask()
            total = float(scores.scores[kept].sum())
            self.certificate_ = Certificate(
                objective="score of the kept columns",
                verdict=Verdict.PROVED,
                value=total if math.isfinite(total) else None,
                details={
                    "columns": int(kept.size),
                    "kept": int(kept.sum()),
                    "incomplete_columns": int((scores.n_known < scores.n_known.max()).sum()),
                },
            )
        return self

    def _scores(self, X: Any, y: Any) -> ColumnScores:
        if isinstance(self.score_func, ColumnScore):
            sample = read_columns(self, X, y, self.score_func.target)
            self.schema_ = sample.schema
            return self.score_func.of(sample)
        return self._foreign_scores(X, y)

    def _foreign_scores(self, X: Any, y: Any) -> ColumnScores:
        """Scores of a function from elsewhere, which reads arrays of numbers."""
        checked_columns(self, X, reset=True)
        given = (X,) if y is None else (X, plain_target(y))
        options = {"accept_sparse": ["csr", "csc"], "multi_output": y is not None}
        if y is None:
            options.pop("multi_output")
        numbers = validate_data(self, *given, **options)
        table, target = (numbers, None) if y is None else numbers
        self.schema_ = Schema.of_array(table.shape[1])
        if hasattr(self, "feature_names_in_"):
            self.schema_ = self.schema_.renamed(self.feature_names_in_.tolist())
        said = self.score_func(table, target)
        pair = isinstance(said, (list, tuple))
        scores, p_values = said if pair else (said, None)
        return ColumnScores(
            np.asarray(scores, np.float64),
            None if p_values is None else np.asarray(p_values, np.float64),
            np.full(table.shape[1], table.shape[0], np.intp),
        )

    def _refuse_undefined(self, scores: ColumnScores) -> None:
        if scores.scores.shape != (self.n_features_in_,):
            raise InputError(
                f"score_func gave scores of shape {scores.scores.shape} for {self.n_features_in_} "
                "columns. It must give one for each."
            )
        p_values = scores.scores if scores.p_values is None else scores.p_values
        undefined = np.flatnonzero(np.isnan(scores.scores) | np.isnan(p_values))
        if undefined.size:
            names = [self.schema_.names[j] for j in undefined]
            raise InputError(
                f"score_func gave NaN for {undefined.size} of {self.n_features_in_} columns: "
                f"{listed(names)}. Constant columns are a common cause; leave them out, or take "
                "one of Novum's scores, which give them the lowest score."
            )

    def _settle(self) -> None:
        """What a filter finds out from the scores once."""

    def _tested(self) -> Floats:
        """The p-values, for filters that need them."""
        if self.pvalues_ is None:
            raise InputError(
                f"{type(self).__name__} needs p-values, which {self.score_func!r} does not give. "
                "Take a test such as AssociationTest(), or SelectKBest for scores without one."
            )
        return self.pvalues_

    def _check_state(self) -> None:
        super()._check_state()
        count = self.n_features_in_
        if self.scores_.shape != (count,) or self.schema_.n_columns != count:
            raise ModelFileError(f"The filter does not have the scores of its {count} columns.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        ours = isinstance(self.score_func, ColumnScore)
        tags.target_tags.required = ours
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = ours
        tags.input_tags.string = ours
        tags.input_tags.categorical = ours
        return tags


class SelectKBest(ColumnFilter):
    """The k columns of highest score.

    Parameters
    ----------
    score_func : score of columns, or callable, default=f_classif
        `AnovaF`, `ChiSquare`, `Correlation`, `KruskalWallis`, `AssociationTest` (any kinds),
        `MutualInformation` (any kinds), or a function of (X, y) as scikit-learn's.
    k : int or "all", default=10
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Which columns hold categories.

    Attributes
    ----------
    scores_ : array of shape (n_columns,)
    pvalues_ : array of shape (n_columns,), or None
        None if the score is no test.
    n_known_ : int array of shape (n_columns,)
        Rows in which each column is known, which its score is made of.

    Notes
    -----
    Among equal scores the later columns are kept, as in scikit-learn.

    Examples
    --------
    >>> X = [[1.0, 5.0, 0.1], [2.0, 3.0, 0.2], [3.0, 4.0, 0.9], [4.0, 6.0, 0.8]]
    >>> SelectKBest(k=1).fit_transform(X, ["a", "a", "b", "b"]).ravel().tolist()
    [0.1, 0.2, 0.9, 0.8]
    """

    k: int | str = parameter({"all"}, default=10, at_least=0)

    def _settle(self) -> None:
        if isinstance(self.k, Integral) and self.k > self.n_features_in_:
            warnings.warn(
                f"k={self.k} is greater than n_features={self.n_features_in_}. All the features "
                "will be returned. Pass k='all' to say so.",
                UserWarning,
                stacklevel=4,
            )

    def _get_support_mask(self) -> Mask:
        mask = np.zeros(len(self.scores_), bool)
        k = len(mask) if isinstance(self.k, str) else min(self.k, len(mask))
        mask[np.argsort(self.scores_, kind="stable")[len(mask) - k :]] = True
        return mask


class SelectPercentile(ColumnFilter):
    """That share of the columns which has the highest scores.

    Parameters
    ----------
    score_func, categorical_features
        As in `SelectKBest`.
    percentile : int, default=10
        Percent of the columns to keep.

    Examples
    --------
    >>> X = [[1.0, 5.0, 0.1], [2.0, 3.0, 0.2], [3.0, 4.0, 0.9], [4.0, 6.0, 0.8]]
    >>> SelectPercentile(percentile=67).fit(X, ["a", "a", "b", "b"]).get_support().tolist()
    [True, False, True]
    """

    percentile: float = parameter(default=10, at_least=0, at_most=100)

    def _get_support_mask(self) -> Mask:
        # Statistics of perfect columns are infinite, and infinity has no percentile.
        largest = np.finfo(np.float64).max / 4
        scores, percentile = np.clip(self.scores_, -largest, largest), self.percentile
        if percentile in (0, 100):
            return np.full(len(scores), percentile == 100)
        threshold = np.percentile(scores, 100 - percentile)
        mask = scores > threshold
        ties = np.flatnonzero(scores == threshold)
        # Of columns that tie at the threshold the first ones fill up the share.
        mask[ties[: max(0, int(len(scores) * percentile / 100) - int(mask.sum()))]] = True
        return mask


# --- Filters that hold an error rate --------------------------------------------------------------
# Filters that compare the p-values of columns with a level.
#
#     SelectFpr   p-value below alpha: about `alpha * m` of m useless columns pass
#     SelectFdr   at most alpha of those that pass are useless, on average (Benjamini-Hochberg)
#     SelectFwe   with probability 1 - alpha no useless column passes (Holm)
#
# A column is useless here if it alone has no association with the target.


class LevelFilter(ColumnFilter):
    """Shared by the filters that compare p-values with a level."""

    alpha: float = parameter(default=5e-2, at_least=0, at_most=1)

    def _settle(self) -> None:
        self._tested()


class SelectFpr(LevelFilter):
    """Columns whose p-value is below `alpha`, not corrected for how many are tested.

    Parameters
    ----------
    score_func, categorical_features
        As in `SelectKBest`; a test.
    alpha : float, default=0.05

    Examples
    --------
    >>> X = [[1.0, 5.0], [2.0, 3.0], [9.0, 4.0], [10.0, 6.0]]
    >>> SelectFpr().fit(X, ["a", "a", "b", "b"]).get_support().tolist()
    [True, False]
    """

    def _get_support_mask(self) -> Mask:
        return self._tested() < self.alpha


class CorrectedFilter(LevelFilter):
    """Shared by the filters that correct p-values for their number."""

    correction: Correction = parameter({"holm", "bonferroni"}, default="holm")

    @property
    def adjusted_pvalues_(self) -> Floats:
        """P-values to be compared with `alpha`, of shape (n_columns,)."""
        return adjusted_p_values(self._tested(), self.correction)


class SelectFdr(CorrectedFilter):
    """Columns of which on average at most the share `alpha` has no association with the target.

    Parameters
    ----------
    score_func, categorical_features
        As in `SelectKBest`; a test.
    alpha : float, default=0.05
    correction : {"benjamini_hochberg", "benjamini_yekutieli"}
        The second one for any dependence between the columns.

    Attributes
    ----------
    adjusted_pvalues_ : array of shape (n_columns,)

    Examples
    --------
    >>> X = [[1.0, 5.0], [2.0, 3.0], [9.0, 4.0], [10.0, 6.0]]
    >>> SelectFdr().fit(X, ["a", "a", "b", "b"]).adjusted_pvalues_.round(4).tolist()
    [0.0154, 0.5528]
    """

    correction: Correction = parameter(
        {"benjamini_hochberg", "benjamini_yekutieli"}, default="benjamini_hochberg"
    )

    def _get_support_mask(self) -> Mask:
        return self.adjusted_pvalues_ <= self.alpha


class SelectFwe(CorrectedFilter):
    """Columns chosen so that with probability `1 - alpha` all have some association.

    Parameters
    ----------
    score_func, categorical_features
        As in `SelectKBest`; a test.
    alpha : float, default=0.05
    correction : {"holm", "bonferroni"}
        Holm's keeps the same level and passes all that Bonferroni's passes, or more.

    Attributes
    ----------
    adjusted_pvalues_ : array of shape (n_columns,)

    Examples
    --------
    >>> X = [[1.0, 5.0], [2.0, 3.0], [9.0, 4.0], [10.0, 6.0]]
    >>> SelectFwe().fit(X, ["a", "a", "b", "b"]).get_support().tolist()
    [True, False]
    """

    def _get_support_mask(self) -> Mask:
        return self.adjusted_pvalues_ < self.alpha
