"""Classification trees."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import HasMethods, StrOptions

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError
from novum.core.randomness import RandomSource
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.model import TreeModel
from novum.trees.pruning.task import PruningRule
from novum.trees.settings import GROWTH_CONSTRAINTS
from novum.trees.training import TrainingRows, read_classes

Floats = NDArray[np.float64]


class DecisionTreeClassifier(DecisionMixin, ClassifierMixin, TreeModel):
    """A classification tree on tables as they are: numbers, levels, missing cells.

    Every node is split by the question that removes most impurity, the sum over rows of

        gini      1 - sum_k p_k^2
        entropy   - sum_k p_k log2 p_k

    and a row is given the class shares of the leaf it reaches. `id3()`, `c45()` and `cart()` return
    classifiers with the settings of these algorithms.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "gain_ratio"} or GainRatio
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
    class_weight : dict, list of dicts, "balanced" or None
    ccp_alpha : float
        Price of a leaf: `pruning=CostComplexity(ccp_alpha)`.
    monotonic_cst : array-like or dict, optional
        Per column 1 (the second class must not get less likely), -1 or 0; two classes only.
    nominal : {"auto", "subset", "single", "multiway"}
        "subset" divides the levels into two sets, "single" parts one level from the rest, "auto"
        divides into sets where a node has 50 rows for each level and parts single levels
        elsewhere; "multiway" makes a branch for each level.
    missing : {"fractional", "auto", "direction", "most_common", "most_common_of_class"}
        Missing cells go down all branches in parts (C4.5); or, node by node, in parts, all to one
        side or to a branch of their own, whichever gains most ("auto"); or all to the better
        side; or are replaced before the fit by the most common value of the column (of the class).
    pruning : ReducedError, CostComplexity, Pessimistic or None
    max_thresholds : int, optional
        Cuts of a column that a node tries, drawn at random.
    max_bins : int up to 255, or None
        Columns of more distinct values are cut at as many quantiles; None keeps all values.
    categorical_features : "auto", "all", None, mask, names or indices

    Attributes
    ----------
    tree_ : Tree
        The fitted tree, a value of arrays.
    classes_ : array of labels, or a list of them for several targets
    class_prior_ : array (n_classes,), shares of the training weight
    replaced_ : dict
        How many missing cells of each column were replaced.
    feature_importances_ : array (n_columns,)
    schema_, certificate_, n_classes_, n_outputs_, max_features_

    Notes
    -----
    Gains are those of the rows whose cell is known or has a branch. A level that was not met in
    training, in all or at a node, goes down all branches in parts there. Of equal splits the
    lowest column wins, then the lowest threshold, then missing cells in parts. Weights count
    rows: weight 2 is the row twice, and limits on samples are limits on weight. One tree costs
    O(columns x rows) for each of its levels.

    References
    ----------
    Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, 1984.
    Quinlan, C4.5: Programs for Machine Learning, 1993.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"outlook": ["sunny", "rainy", "overcast", "sunny"],
    ...                       "humidity": [70.0, 80.0, 86.0, 95.0]})
    >>> tree = DecisionTreeClassifier().fit(table, ["yes", "no", "yes", "no"])
    >>> print(tree.text())
    all rows [no 2, yes 2]
    ├─ outlook = overcast: yes [yes 1]
    └─ outlook in {rainy, sunny} [no 2, yes 1]
       ├─ humidity <= 75: yes [yes 1]
       └─ humidity > 75: no [no 2]
    >>> tree.predict(pd.DataFrame({"outlook": ["sunny"], "humidity": [90.0]})).tolist()
    ['no']
    """

    classes_: Any
    n_classes_: Any
    n_outputs_: int
    class_prior_: Floats

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GROWTH_CONSTRAINTS,
        "criterion": [StrOptions({"gini", "entropy", "log_loss", "gain_ratio"}), GainRatio],
        "splitter": [StrOptions({"best", "random"})],
        "class_weight": [dict, list, StrOptions({"balanced"}), None],
        "nominal": [StrOptions({"subset", "single", "auto", "multiway"})],
        "pruning": [HasMethods("prune"), None],
    }

    def __init__(
        self,
        *,
        criterion: str | GainRatio = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: RandomSource = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.nominal = nominal
        self.missing = missing
        self.pruning = pruning
        self.max_thresholds = max_thresholds
        self.max_bins = max_bins
        self.categorical_features = categorical_features

    def _training_rows(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        return read_classes(self, X, y, sample_weight, self.class_weight)

    def _store_target(self, rows: TrainingRows) -> None:
        store_classes(self, rows)

    def _check_state(self) -> None:
        super()._check_state()
        labels = self.classes_ if isinstance(self.classes_, list) else [self.classes_]
        classes = self.tree_.classes or ()
        if len(labels) != len(classes) or not all(map(np.array_equal, labels, classes)):
            raise InputError("The tree and the model have different classes.")

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:  # noqa: ARG002
        """Class shares of the leaves that each row reaches, (n_rows, n_classes).

        For several targets a list with one array for each.
        """
        return by_target(self._values(X), self.tree_.classes)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of `predict_proba`; `-inf` for a class without share."""
        return log_probabilities(self.predict_proba(X))

    def predict(self, X: Any, check_input: bool = True) -> NDArray[Any]:  # noqa: ARG002
        """The most likely class of each row, the first of equals; a column for each target."""
        return most_likely(self.predict_proba(X), self.tree_.classes)


# --- Classes of one or several targets ------------------------------------------------------------


def store_classes(model: Any, rows: TrainingRows) -> None:
    """Stores labels, their number and their shares on a model, as scikit-learn names them."""
    assert rows.classes is not None
    model.n_outputs_ = len(rows.classes)
    if model.n_outputs_ == 1:
        model.classes_ = rows.classes[0]
        model.n_classes_ = len(rows.classes[0])
        count = np.bincount(rows.targets[:, 0], rows.weight, minlength=model.n_classes_)
        model.class_prior_ = count / count.sum()
        return
    model.classes_ = list(rows.classes)
    model.n_classes_ = [len(labels) for labels in rows.classes]
    model.__dict__.pop("class_prior_", None)


def by_target(values: Floats, classes: tuple[NDArray[Any], ...] | None) -> Any:
    """Probabilities of all targets side by side, taken apart; one target stays an array."""
    assert classes is not None
    ends = np.cumsum([len(labels) for labels in classes])
    parts = np.split(values, ends[:-1], axis=1)
    return parts[0] if len(parts) == 1 else parts


def log_probabilities(probabilities: Any) -> Any:
    with np.errstate(divide="ignore"):
        if isinstance(probabilities, list):
            return [np.log(part) for part in probabilities]
        return np.log(probabilities)


def most_likely(probabilities: Any, classes: tuple[NDArray[Any], ...] | None) -> NDArray[Any]:
    """The label of the largest probability of each target, the first of equals."""
    assert classes is not None
    parts = probabilities if isinstance(probabilities, list) else [probabilities]
    found = [labels[p.argmax(axis=1)] for labels, p in zip(classes, parts, strict=True)]
    return found[0] if len(found) == 1 else np.column_stack(found)
