"""Regression trees."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import HasMethods, StrOptions

from novum.core.randomness import RandomSource
from novum.trees.model import TreeModel
from novum.trees.pruning.task import PruningRule
from novum.trees.settings import GROWTH_CONSTRAINTS
from novum.trees.training import TrainingRows, read_numbers

Floats = NDArray[np.float64]


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
    splitter : {"best", "random"}
        "random" tries one random cut of each column.
    max_depth : int, optional
    min_samples_split, min_samples_leaf : int or float
        Least weight of a node that is split, and of a leaf; a float is a share of all.
    min_weight_fraction_leaf : float
    max_features : int, float, "sqrt", "log2" or None
        Columns that a node tries, drawn at random.
    random_state : int, Generator, RandomState or None
    max_leaf_nodes : int, optional
        With it, the node whose split gains most is split first.
    min_impurity_decrease : float
        Least gain of a split, over the weight of all rows.
    ccp_alpha : float
        Price of a leaf: `pruning=CostComplexity(ccp_alpha)`.
    monotonic_cst : array-like or dict, optional
        Per column 1 (predictions must not fall along it), -1 or 0; squared error only.
    nominal : {"auto", "subset", "single", "multiway"}
        "subset" divides the levels into two sets, "single" parts one level from the rest, "auto"
        divides into sets where a node has 50 rows for each level and parts single levels
        elsewhere; "multiway" makes a branch for each level.
    missing : {"fractional", "auto", "direction", "most_common"}
        Missing cells go down all branches in parts; or, node by node, in parts, all to one side
        or to a branch of their own, whichever gains most ("auto"); or all to the better side; or
        are replaced before the fit by the most common value of the column (of numbers the median).
    pruning : ReducedError, CostComplexity or None
    max_thresholds : int, optional
        Cuts of a column that a node tries, drawn at random.
    max_bins : int up to 255, or None
        Columns of more distinct values are cut at as many quantiles; None keeps all values.
    categorical_features : "auto", "all", None, mask, names or indices

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

    n_outputs_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GROWTH_CONSTRAINTS,
        "criterion": [StrOptions({"squared_error", "absolute_error", "friedman_mse"})],
        "splitter": [StrOptions({"best", "random"})],
        "nominal": [StrOptions({"subset", "single", "auto", "multiway"})],
        "pruning": [HasMethods("prune"), None],
    }

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: RandomSource = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        nominal: str = "auto",
        missing: str = "fractional",
        pruning: PruningRule | None = None,
        max_thresholds: int | None = None,
        max_bins: int | None = 255,
        categorical_features: Any = "auto",
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.nominal = nominal
        self.missing = missing
        self.pruning = pruning
        self.max_thresholds = max_thresholds
        self.max_bins = max_bins
        self.categorical_features = categorical_features

    def _training_rows(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        return read_numbers(self, X, y, sample_weight)

    def _store_target(self, rows: TrainingRows) -> None:
        self.n_outputs_ = rows.targets.shape[1]

    def predict(self, X: Any, check_input: bool = True) -> Floats:  # noqa: ARG002
        """The mean of the leaves that each row reaches; a column for each target."""
        values = self._values(X)
        return values[:, 0] if self.n_outputs_ == 1 else values
