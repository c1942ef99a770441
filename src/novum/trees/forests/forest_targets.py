"""Forests for classes and for numbers: what they learn from, and how their answers are read.

A classifier averages the class shares of the leaves and names the class of largest mean, the first
of equals; a regressor averages the leaves' means.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError
from novum.core.learners import fitted, parameter
from novum.numerics import Array, Floats, Integers, Mask
from novum.trees.classifier import (
    DecisionTreeClassifier,
    by_target,
    log_probabilities,
    most_likely,
    store_classes,
)
from novum.trees.forests.forest_model import ForestModel
from novum.trees.forests.importances import Loss
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.regressor import DecisionTreeRegressor
from novum.trees.settings import GrowthParameters
from novum.trees.training import CellRows, class_factors, read_classes, read_numbers


class ForestClassifier(DecisionMixin, ClassifierMixin, ForestModel):
    """Shared by `RandomForestClassifier` and `ExtraTreesClassifier`.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "gain_ratio"} or GainRatio
    oob_score : bool or callable
        Whether the rows are judged by the trees that have not seen them, by accuracy or by
        `oob_score(y_true, y_pred)`.
    class_weight : dict, list of dicts, "balanced", "balanced_subsample" or None
        Multiplies the weights of rows; "balanced_subsample" balances each bootstrap sample.
    """

    criterion: str | GainRatio = parameter(
        {"gini", "entropy", "log_loss", "gain_ratio"}, default="gini"
    )
    class_weight: Any = parameter(
        {"balanced", "balanced_subsample"}, dict, list, None, default=None
    )
    max_features = "sqrt"

    classes_: Any = fitted()
    n_classes_: Any = fitted()
    class_prior_: Floats = fitted()
    oob_score_: float = fitted()
    oob_decision_function_: Any = fitted()

    # Prediction

    def predict_proba(self, X: Any) -> Any:
        """Mean over trees of the class shares of the leaves, (n_rows, n_classes).

        For several targets a list with one array for each.
        """
        answers = self._answers(X)
        return by_target(answers, self.forest_.classes)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of `predict_proba`; `-inf` for a class without share."""
        return log_probabilities(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The most likely class of each row, the first of equals; a column for each target."""
        return most_likely(self.predict_proba(X), self.forest_.classes)

    # Steps of a fit

    def _member(self, random_state: int | None = None) -> DecisionTreeClassifier:
        given = _tree_parameters(self)
        # The general engine, which alone knows gain ratios, has no rule for the size of nodes.
        ratio = not isinstance(self.criterion, str) or self.criterion == "gain_ratio"
        if given["nominal"] == "auto" and ratio:
            given["nominal"] = "subset"
        return DecisionTreeClassifier(splitter=self._splitter, random_state=random_state, **given)

    def _training_rows(self, X: Any, y: Any, sample_weight: Any) -> CellRows:
        return read_classes(self, X, y, sample_weight)

    def _weighted(self, rows: CellRows) -> CellRows:
        if self.class_weight is None or (
            self.class_weight == "balanced_subsample" and self.bootstrap
        ):
            return rows
        given = "balanced" if isinstance(self.class_weight, str) else self.class_weight
        weight = rows.weight * class_factors(rows, given, rows.weight)
        if not (weight > 0).any():
            raise InputError(
                "class_weight gives every row weight 0. Give some class a weight above 0."
            )
        return replace(rows, weight=weight)

    def _store_target(self, rows: CellRows) -> None:
        if self.class_weight == "balanced_subsample" and self.bootstrap:
            # The trees learn under equal priors, whatever the shares in the table are.
            rows = replace(rows, weight=rows.weight * class_factors(rows, "balanced", rows.weight))
        store_classes(self, rows)

    def _target_attributes(self) -> tuple[str, ...]:
        return ("classes_", "n_classes_", "n_outputs_", "class_prior_")

    # Out of bag

    def _store_out_of_bag(self, answers: Floats) -> None:
        targets = by_target(answers, self.forest_.classes)
        if isinstance(targets, list) and len({part.shape[1] for part in targets}) == 1:
            targets = np.stack(targets, axis=-1)
        self.oob_decision_function_ = targets

    def _judge(self, rows: CellRows, answers: Floats, known: Mask) -> float:
        if not known.any():
            return float("nan")
        named = most_likely(by_target(answers[known], rows.classes), rows.classes)
        true = _labels(rows, known)
        if callable(self.oob_score):
            return float(self.oob_score(true, named))
        right = (named == true).reshape(len(true), -1).all(axis=1)
        return float(np.average(right, weights=rows.weight[known]))

    def _losses(self, rows: CellRows, measure: str | None) -> tuple[str, Loss]:
        if measure not in (None, "accuracy"):
            raise InputError(f"measure is 'accuracy' for classifiers, got {measure!r}.")
        assert rows.classes is not None
        ends = np.cumsum([len(labels) for labels in rows.classes])[:-1]

        def loss(answers: Floats, numbers: Integers) -> float:
            parts = np.split(answers, ends, axis=1)
            named = np.column_stack([part.argmax(axis=1) for part in parts])
            wrong = (named != rows.targets[numbers]).mean(axis=1)
            return float(np.average(wrong, weights=rows.weight[numbers]))

        return "accuracy", loss


class ForestRegressor(RegressorMixin, ForestModel):
    """Shared by `RandomForestRegressor` and `ExtraTreesRegressor`.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "friedman_mse"}
        The last is another name of the first. Absolute error is grown on exact values, more slowly.
    max_features : int, float, "sqrt", "log2" or None
        Columns that a node tries, drawn at random; all by default, and a third is often better.
    oob_score : bool or callable
        Whether the rows are judged by the trees that have not seen them, by R2 or by
        `oob_score(y_true, y_pred)`.
    """

    criterion: str = parameter(
        {"squared_error", "absolute_error", "friedman_mse"}, default="squared_error"
    )
    max_features = 1.0

    oob_score_: float = fitted()
    oob_prediction_: Floats = fitted()

    def predict(self, X: Any) -> Floats:
        """Mean over trees of the leaves' means; a column for each target."""
        return _one_column(self._answers(X))

    # Steps of a fit

    def _member(self, random_state: int | None = None) -> DecisionTreeRegressor:
        given = _tree_parameters(self)
        if given["nominal"] == "auto" and given["criterion"] == "absolute_error":
            given["nominal"] = "subset"
        return DecisionTreeRegressor(splitter=self._splitter, random_state=random_state, **given)

    def _training_rows(self, X: Any, y: Any, sample_weight: Any) -> CellRows:
        return read_numbers(self, X, y, sample_weight)

    def _weighted(self, rows: CellRows) -> CellRows:
        return rows

    def _store_target(self, rows: CellRows) -> None:
        self.n_outputs_ = rows.targets.shape[1]

    def _target_attributes(self) -> tuple[str, ...]:
        return ("n_outputs_",)

    # Out of bag

    def _store_out_of_bag(self, answers: Floats) -> None:
        self.oob_prediction_ = _one_column(answers)

    def _judge(self, rows: CellRows, answers: Floats, known: Mask) -> float:
        true, predicted = _one_column(rows.targets[known]), _one_column(answers[known])
        if callable(self.oob_score):
            return float(self.oob_score(true, predicted))
        if len(true) < 2:
            return float("nan")
        return float(r2_score(true, predicted, sample_weight=rows.weight[known]))

    def _losses(self, rows: CellRows, measure: str | None) -> tuple[str, Loss]:
        if measure not in (None, "r2", "mean_squared_error"):
            raise InputError(
                f"measure is 'r2' or 'mean_squared_error' for regressors, got {measure!r}."
            )
        unit = np.ones(rows.targets.shape[1])
        if measure != "mean_squared_error":
            mean = np.average(rows.targets, axis=0, weights=rows.weight)
            unit = np.average((rows.targets - mean) ** 2, axis=0, weights=rows.weight)
            unit[unit == 0.0] = 1.0

        def loss(answers: Floats, numbers: Integers) -> float:
            squared = ((answers - rows.targets[numbers]) ** 2 / unit).mean(axis=1)
            return float(np.average(squared, weights=rows.weight[numbers]))

        return measure or "r2", loss


def _tree_parameters(model: Any) -> dict[str, Any]:
    """What a forest hands on to its trees."""
    names = GrowthParameters._parameters.keys() - {"random_state"}
    return {name: getattr(model, name) for name in names}


def _labels(rows: CellRows, chosen: Mask) -> Array:
    assert rows.classes is not None
    columns = [labels[rows.targets[chosen, t]] for t, labels in enumerate(rows.classes)]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def _one_column(values: Floats) -> Floats:
    return values[:, 0] if values.shape[1] == 1 else values
