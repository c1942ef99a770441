"""Classification trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError
from novum.core.learners import fitted, parameter
from novum.numerics import Array, Floats
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.model import TreeModel
from novum.trees.training import CellRows, read_classes


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
    class_weight : dict, list of dicts, "balanced" or None

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

    classes_: Any = fitted()
    n_classes_: Any = fitted()
    n_outputs_: int = fitted()
    class_prior_: Floats = fitted()

    criterion: str | GainRatio = parameter(
        {"gini", "entropy", "log_loss", "gain_ratio"}, default="gini"
    )
    class_weight: Any = parameter(dict, list, {"balanced"}, None, default=None)

    def _training_rows(self, X: Any, y: Any, sample_weight: Any) -> CellRows:
        return read_classes(self, X, y, sample_weight, self.class_weight)

    def _store_target(self, rows: CellRows) -> None:
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

    def predict(self, X: Any, check_input: bool = True) -> Array:  # noqa: ARG002
        """The most likely class of each row, the first of equals; a column for each target."""
        return most_likely(self.predict_proba(X), self.tree_.classes)


# --- Classes of one or several targets ------------------------------------------------------------


def store_classes(model: Any, rows: CellRows) -> None:
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


def by_target(values: Floats, classes: tuple[Array, ...] | None) -> Any:
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


def most_likely(probabilities: Any, classes: tuple[Array, ...] | None) -> Array:
    """The label of the largest probability of each target, the first of equals."""
    assert classes is not None
    parts = probabilities if isinstance(probabilities, list) else [probabilities]
    labels_of = [labels[p.argmax(axis=1)] for labels, p in zip(classes, parts, strict=True)]
    return labels_of[0] if len(labels_of) == 1 else np.column_stack(labels_of)
