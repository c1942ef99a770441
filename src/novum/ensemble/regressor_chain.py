"""Regressions in a chain; see `novum.ensemble.chains` for the method."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from novum.ensemble.chains import Chain
from novum.ensemble.target_columns import Floats, TargetColumns, read_number_columns


class RegressorChain(RegressorMixin, Chain):
    """Regressions in a chain: each sees the predictions of those before it.

    Parameters
    ----------
    estimator : regressor
        Cloned for each target.
    order : array-like of n_targets positions, or "random", optional
        The order of the chain; that of the columns by default.
    cv : int, splitter or iterable, optional
        Train members on cross-fitted predictions of earlier targets in place of the targets.
    random_state : int, Generator, RandomState or None
        Of the random order, and of members whose `random_state` is None.
    verbose : bool, default=False
        Show progress on a terminal.

    Attributes
    ----------
    estimators_ : list of n_targets members, in the order of the chain
    order_ : array of shape (n_targets,)
    certificate_ : Certificate
        The weakest verdict of the members.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> from novum.ensemble.regressor_chain import RegressorChain
    >>> X, Y = [[0.0], [1.0], [2.0]], [[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]]
    >>> RegressorChain(LinearRegression()).fit(X, Y).predict([[3.0]]).round(6).tolist()
    [[6.0, 1.0]]
    """

    def __init__(
        self,
        estimator: Any,
        *,
        order: ArrayLike | str | None = None,
        cv: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose

    def _read(self, y: Any) -> TargetColumns:
        return read_number_columns(y, type(self).__name__)

    def _feature(self, member: Any, answer: Any) -> Floats:  # noqa: ARG002
        return np.asarray(answer, float).reshape(-1, 1)
