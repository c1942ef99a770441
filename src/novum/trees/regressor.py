"""Regression trees."""

from __future__ import annotations

from typing import Any

from sklearn.base import RegressorMixin

from novum.core.errors import ModelFileError
from novum.core.learners import fitted, parameter
from novum.numerics import Floats
from novum.trees.model import TreeModel
from novum.trees.training import CellRows, read_numbers


class DecisionTreeRegressor(RegressorMixin, TreeModel):
    """A regression tree on tables as they are: numbers, levels, missing cells.

    Every node is split by the question that removes most of

        squared_error    sum_i w_i (y_i - mean)^2
        absolute_error   sum_i w_i |y_i - median|

    and a row is given the mean (the median) of the leaf it reaches.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "friedman_mse"}
        The last is another name of the first.

    Attributes
    ----------
    tree_ : Tree
        The fitted tree, a value of arrays.
    replaced_ : dict
        How many missing cells of each column were replaced.
    feature_importances_ : array (n_columns,)
    schema_, certificate_, n_outputs_, max_features_

    Notes
    -----
    As for `DecisionTreeClassifier`. Targets may be several columns; the impurity is then the mean
    over the targets.

    References
    ----------
    Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, 1984.

    Examples
    --------
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[1], [2], [3], [4]], [0.0, 0.0, 2.0, 4.0])
    >>> tree.predict([[1], [9]]).tolist(), tree.tree_.threshold[0].item()
    ([0.0, 3.0], 2.5)
    """

    n_outputs_: int = fitted()

    criterion: str = parameter(
        {"squared_error", "absolute_error", "friedman_mse"}, default="squared_error"
    )

    def _training_rows(self, X: Any, y: Any, sample_weight: Any) -> CellRows:
        return read_numbers(self, X, y, sample_weight)

    def _store_target(self, rows: CellRows) -> None:
        self.n_outputs_ = rows.targets.shape[1]

    def _check_state(self) -> None:
        super()._check_state()
        if self.tree_.value.shape[1:] != (self.n_outputs_,):
            raise ModelFileError("The leaves of the tree have values of other targets.")

    def predict(self, X: Any, check_input: bool = True) -> Floats:  # noqa: ARG002
        """The mean of the leaves that each row reaches; a column for each target."""
        values = self._values(X)
        return values[:, 0] if self.n_outputs_ == 1 else values
