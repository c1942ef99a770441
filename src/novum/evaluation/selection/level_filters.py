"""Filters that compare the p-values of columns with a level.

    SelectFpr   p-value below alpha: about `alpha * m` of m useless columns pass
    SelectFdr   at most alpha of those that pass are useless, on average (Benjamini-Hochberg)
    SelectFwe   with probability 1 - alpha no useless column passes (Holm)

A column is useless here if it alone has no association with the target.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from novum.evaluation.selection.column_tests import f_classif
from novum.evaluation.selection.filters import ColumnFilter
from novum.evaluation.selection.multiplicity import Correction, adjusted_p_values
from novum.evaluation.selection.selector import Support

Floats = NDArray[np.float64]


class LevelFilter(ColumnFilter):
    """Shared by the filters that compare p-values with a level."""

    alpha: float

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ColumnFilter._parameter_constraints,
        "alpha": [Interval(Real, 0, 1, closed="both")],
    }

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

    def __init__(
        self,
        score_func: Any = f_classif,
        *,
        alpha: float = 5e-2,
        categorical_features: Any = "auto",
    ) -> None:
        self.score_func = score_func
        self.alpha = alpha
        self.categorical_features = categorical_features

    def _get_support_mask(self) -> Support:
        return self._tested() < self.alpha


class CorrectedFilter(LevelFilter):
    """Shared by the filters that correct p-values for their number."""

    correction: Correction

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LevelFilter._parameter_constraints,
        "correction": [StrOptions({"benjamini_hochberg", "benjamini_yekutieli"})],
    }

    def __init__(
        self,
        score_func: Any = f_classif,
        *,
        alpha: float = 5e-2,
        correction: Correction = "benjamini_hochberg",
        categorical_features: Any = "auto",
    ) -> None:
        self.score_func = score_func
        self.alpha = alpha
        self.correction = correction
        self.categorical_features = categorical_features

    def _get_support_mask(self) -> Support:
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LevelFilter._parameter_constraints,
        "correction": [StrOptions({"holm", "bonferroni"})],
    }

    def __init__(
        self,
        score_func: Any = f_classif,
        *,
        alpha: float = 5e-2,
        correction: Correction = "holm",
        categorical_features: Any = "auto",
    ) -> None:
        self.score_func = score_func
        self.alpha = alpha
        self.correction = correction
        self.categorical_features = categorical_features

    def _get_support_mask(self) -> Support:
        return self.adjusted_pvalues_ < self.alpha
