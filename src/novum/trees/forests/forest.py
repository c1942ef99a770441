"""Random forests: means of trees on bootstrap samples, with random columns at every node."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from novum.core.randomness import RandomSource
from novum.trees.forests.forest_model import FOREST_CONSTRAINTS
from novum.trees.forests.forest_targets import ForestClassifier, ForestRegressor
from novum.trees.general.gain_ratio import GainRatio


class RandomForestClassifier(ForestClassifier):
    """A random forest of classification trees, on tables as they are.

    Every tree is grown on a bootstrap sample of the rows, and every node takes the best split of
    `max_features` columns drawn anew. A row is given the mean of the class shares that the trees
    give it.

    Parameters
    ----------
    n_estimators : int
        Trees; the first 100 of 200 are those of a forest of 100.
    criterion : {"gini", "entropy", "log_loss", "gain_ratio"} or GainRatio
    max_depth : int, optional
    min_samples_split, min_samples_leaf : int or float
        Least weight of a node that is split, and of a leaf; a float is a share of all. A row
        weighs as often as it was drawn.
    min_weight_fraction_leaf : float
    max_features : int, float, "sqrt", "log2" or None
        Columns that a node tries, drawn at random.
    max_leaf_nodes : int, optional
        With it, the node whose split gains most is split first.
    min_impurity_decrease : float
        Least gain of a split, over the weight of all rows of the tree.
    bootstrap : bool
        Whether each tree draws rows with replacement; without, all trees learn from all rows.
    oob_score : bool or callable
        Whether the rows are judged by the trees that have not seen them, by accuracy or by
        `oob_score(y_true, y_pred)`.
    n_jobs : int, optional
        Trees, or blocks of rows, at once; the result does not depend on it.
    random_state : int, Generator, RandomState or None
    verbose : int
        Shows a bar on a terminal.
    warm_start : bool
        Whether `fit` adds the trees that are lacking to those of the last fit; they keep to its
        bins.
    class_weight : dict, list of dicts, "balanced", "balanced_subsample" or None
        Multiplies the weights of rows; "balanced_subsample" balances each bootstrap sample.
    ccp_alpha : float
        Price of a leaf; every tree is pruned by it.
    max_samples : int, float or None
        Rows that each tree draws; a float is a part of the total weight, None as many as there
        are.
    monotonic_cst : array-like or dict, optional
        Per column 1 (the second class must not get less likely), -1 or 0; two classes only.
    nominal : {"auto", "subset", "single", "multiway"}
        How nodes ask about levels: sets of them where a node has 50 rows for each level and one
        level against the rest elsewhere; always sets; always one; or a branch for each.
    missing : {"auto", "fractional", "direction", "most_common", "most_common_of_class"}
        As for `DecisionTreeClassifier`; "auto" learns from cells being missing.
    max_thresholds : int, optional
        Cuts of a column that a node tries, drawn at random.
    max_bins : int up to 255, or None
        Columns of more distinct values are cut at as many quantiles; None keeps all values.
    categorical_features : "auto", "all", None, mask, names or indices

    Attributes
    ----------
    forest_ : Forest
        All trees in one set of arrays.
    estimators_ : list of DecisionTreeClassifier
        The trees one by one, made when asked for.
    classes_ : array of labels, or a list of them for several targets
    class_prior_ : array (n_classes,), shares of the training weight
    feature_importances_ : array (n_columns,)
        Impurity that each column removes; see also `permutation_importances`.
    oob_score_ : float, with `oob_score`
    oob_decision_function_ : array (n_rows, n_classes), with `oob_score`
        NaN for a row that every tree has seen.
    estimators_samples_ : list of arrays, the rows drawn for each tree
    replaced_ : dict
        How many missing cells of each column were replaced.
    schema_, certificate_, draws_, n_classes_, n_outputs_

    Notes
    -----
    With weights rows are drawn in proportion to them, so that weight 2 is the row twice in law
    (give `max_samples` as a fraction for as many draws), and exactly so without bootstrap.
    Thresholds lie on the edges of the bins, so that rows to predict are coded once for all trees.
    One tree costs O(max_features x rows) for each of its levels. Criterion "gain_ratio" and
    "multiway" splits are grown on exact values, more slowly.

    References
    ----------
    Breiman, Random Forests, Machine Learning 45, 2001.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"outlook": ["sunny", "rainy", "overcast", "sunny"] * 5,
    ...                       "humidity": [70.0, 80.0, None, 95.0] * 5})
    >>> forest = RandomForestClassifier(10, random_state=0)
    >>> forest.fit(table, ["yes", "no", "yes", "no"] * 5).predict(table[:4]).tolist()
    ['yes', 'no', 'yes', 'no']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FOREST_CONSTRAINTS,
        "criterion": [StrOptions({"gini", "entropy", "log_loss", "gain_ratio"}), GainRatio],
        "class_weight": [
            StrOptions({"balanced", "balanced_subsample"}),
            dict,
            list,
            None,
        ],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str | GainRatio = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: RandomSource = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
        nominal: str = "auto",
        missing: str = "auto",
        max_thresholds: int | None = None,
        max_bins: int | None = 255,
        categorical_features: Any = "auto",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.nominal = nominal
        self.missing = missing
        self.max_thresholds = max_thresholds
        self.max_bins = max_bins
        self.categorical_features = categorical_features


class RandomForestRegressor(ForestRegressor):
    """A random forest of regression trees, on tables as they are.

    Every tree is grown on a bootstrap sample of the rows, and every node takes the best split of
    `max_features` columns drawn anew. A row is given the mean of what the trees predict.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "friedman_mse"}
        The last is another name of the first.
        Absolute error is grown on exact values, more slowly.
    max_features : int, float, "sqrt", "log2" or None
        Columns that a node tries, drawn at random; all by default, and a third is often better.
    oob_score : bool or callable
        Whether the rows are judged by the trees that have not seen them, by R2 or by
        `oob_score(y_true, y_pred)`.
    monotonic_cst : array-like or dict, optional
        Per column 1 (predictions must not fall along it), -1 or 0; squared error only.
    missing : {"auto", "fractional", "direction", "most_common"}
    n_estimators, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
max_leaf_nodes, min_impurity_decrease, bootstrap, n_jobs, random_state, verbose, warm_start, \
ccp_alpha, max_samples, nominal, max_thresholds, max_bins, categorical_features
        As for `RandomForestClassifier`.

    Attributes
    ----------
    forest_ : Forest
    estimators_ : list of DecisionTreeRegressor
    feature_importances_ : array (n_columns,)
    oob_score_ : float, with `oob_score`
    oob_prediction_ : array (n_rows,) or (n_rows, n_targets), with `oob_score`
    estimators_samples_, replaced_, schema_, certificate_, draws_, n_outputs_

    Notes
    -----
    As for `RandomForestClassifier`. Targets may be several columns.

    References
    ----------
    Breiman, Random Forests, Machine Learning 45, 2001.

    Examples
    --------
    >>> forest = RandomForestRegressor(20, random_state=0)
    >>> forest.fit([[1], [2], [3], [4]] * 5, [0.0, 0.0, 1.0, 3.0] * 5).predict([[1], [4]]).tolist()
    [0.0, 3.0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FOREST_CONSTRAINTS,
        "criterion": [StrOptions({"squared_error", "absolute_error", "friedman_mse"})],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: RandomSource = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
        nominal: str = "auto",
        missing: str = "auto",
        max_thresholds: int | None = None,
        max_bins: int | None = 255,
        categorical_features: Any = "auto",
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.nominal = nominal
        self.missing = missing
        self.max_thresholds = max_thresholds
        self.max_bins = max_bins
        self.categorical_features = categorical_features
