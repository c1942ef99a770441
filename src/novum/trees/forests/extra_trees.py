"""Extremely randomized trees: forests whose nodes draw one cut of each column that they try."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from novum.core.randomness import RandomSource
from novum.trees.forests.forest_model import FOREST_CONSTRAINTS
from novum.trees.forests.forest_targets import ForestClassifier, ForestRegressor
from novum.trees.general.gain_ratio import GainRatio


class ExtraTreesClassifier(ForestClassifier):
    """Extremely randomized classification trees, on tables as they are.

    Every node draws `max_features` columns and one cut of each, uniformly in the range of the
    node's rows (of levels: two sets at random), and takes the best of these. All trees learn from
    all rows unless `bootstrap=True`.

    Parameters
    ----------
    n_estimators, criterion, max_depth, min_samples_split, min_samples_leaf, \
min_weight_fraction_leaf, max_features, max_leaf_nodes, min_impurity_decrease, bootstrap, \
oob_score, n_jobs, random_state, verbose, warm_start, class_weight, ccp_alpha, max_samples, \
monotonic_cst, nominal, missing, max_thresholds, max_bins, categorical_features
        As for `RandomForestClassifier`, but that `bootstrap` is False by default.

    Attributes
    ----------
    forest_, estimators_, classes_, class_prior_, feature_importances_, oob_score_, \
oob_decision_function_, estimators_samples_, replaced_, schema_, certificate_, draws_, n_classes_, \
n_outputs_
        As for `RandomForestClassifier`.

    References
    ----------
    Geurts, Ernst and Wehenkel, Extremely randomized trees, Machine Learning 63, 2006.

    Examples
    --------
    >>> forest = ExtraTreesClassifier(10, random_state=0)
    >>> forest.fit([[1], [2], [3], [4]], ["a", "a", "b", "b"]).predict([[1], [4]]).tolist()
    ['a', 'b']
    """

    _splitter: ClassVar[str] = "random"

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
        bootstrap: bool = False,
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


class ExtraTreesRegressor(ForestRegressor):
    """Extremely randomized regression trees, on tables as they are.

    Nodes draw one cut of each column that they try, as in `ExtraTreesClassifier`.

    Parameters
    ----------
    n_estimators, criterion, max_depth, min_samples_split, min_samples_leaf, \
min_weight_fraction_leaf, max_features, max_leaf_nodes, min_impurity_decrease, bootstrap, \
oob_score, n_jobs, random_state, verbose, warm_start, ccp_alpha, max_samples, monotonic_cst, \
nominal, missing, max_thresholds, max_bins, categorical_features
        As for `RandomForestRegressor`, but that `bootstrap` is False by default.

    Attributes
    ----------
    forest_, estimators_, feature_importances_, oob_score_, oob_prediction_, estimators_samples_, \
replaced_, schema_, certificate_, draws_, n_outputs_
        As for `RandomForestRegressor`.

    References
    ----------
    Geurts, Ernst and Wehenkel, Extremely randomized trees, Machine Learning 63, 2006.

    Examples
    --------
    >>> forest = ExtraTreesRegressor(10, random_state=0)
    >>> forest.fit([[1], [2], [3], [4]], [0.0, 0.0, 1.0, 3.0]).predict([[1], [4]]).tolist()
    [0.0, 3.0]
    """

    _splitter: ClassVar[str] = "random"

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
        bootstrap: bool = False,
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
