"""Gradient boosting for classes and for numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError
from novum.core.learners import fitted, parameter
from novum.core.text import label_text
from novum.ensemble.gradient_boosting.class_losses import LogisticLoss, OrdinalLoss, SoftmaxLoss
from novum.ensemble.gradient_boosting.losses import NAMED_LOSSES, Loss
from novum.ensemble.gradient_boosting.model import BoostingModel
from novum.numerics import Array, Floats
from novum.trees import CellRows, class_factors, read_classes, read_numbers, store_classes


class GradientBoostingClassifier(DecisionMixin, ClassifierMixin, BoostingModel):
    """Gradient boosting of classification trees, on tables as they are.

    Every round adds a tree that takes a Newton step of the log loss; see
    `novum.ensemble.gradient_boosting.model` for the formulas. Nominal columns are split into sets
    of levels, missing cells go to the side where they lower the loss more, and every column is
    looked at through histograms of at most `max_bins` bins.

    Parameters
    ----------
    loss : {"log_loss", "ordinal"} or Loss
        "ordinal" takes the sorted labels as an order: one score and thresholds between classes.
    class_weight : dict, "balanced" or None
        Multiplies the weights of rows.

    Attributes
    ----------
    forests_ : tuple of Forest
        The trees of each output; of two classes and of an order there is one.
    starts_ : array (n_outputs,), scores that rounds start from
    losses_ : tuple of Loss, with what was fitted besides scores
    classes_, n_classes_, class_prior_, n_outputs_
    n_estimators_ : int, rounds that were kept
    feature_importances_ : array (n_columns,)
    validation_losses_ : array
        Loss after each round on rows not seen, with early stopping.
    oob_improvement_ : array (n_estimators_,)
        With `subsample` below 1, what each round took off the mean loss of the rows that it had not
        drawn, in the unit of `certificate_.value`; NaN where it had drawn all.
    certificate_ : Certificate
        The training loss, its trace, and what stopped the rounds.
    schema_, n_features_in_, feature_names_in_

    Notes
    -----
    Gradients are rounded to whole numbers before they are summed, to about 2^-14 of the largest in
    100,000 rows, so that the trees do not depend on the order of additions. Leaf values come from
    sums with 40 bits more. A missing cell that a node met none of in training goes down both sides
    in parts, by their weights, and so does a level that training never met; rare levels beyond 254
    of a column share a code. Weight 2 is the row twice.

    References
    ----------
    Friedman, Greedy function approximation, Annals of Statistics 29, 2001. Ke et al., LightGBM,
    NIPS 2017.

    Examples
    --------
    >>> X, y = [[1], [2], [3], [4]] * 20, ["a", "a", "b", "b"] * 20
    >>> GradientBoostingClassifier(n_estimators=20).fit(X, y).predict([[1.2], [3.8]]).tolist()
    ['a', 'b']
    """

    loss: Any = parameter({"log_loss", "ordinal"}, Loss, default="log_loss", kw_only=False)
    class_weight: Any = parameter({"balanced"}, dict, None, default=None)

    classes_: Array = fitted()
    n_classes_: int = fitted()
    n_outputs_: int = fitted()
    class_prior_: Floats = fitted()

    def _read(self, X: Any, y: Any, sample_weight: Any) -> CellRows:
        return read_classes(self, X, y, sample_weight)

    def _take_target(self, rows: CellRows) -> CellRows:
        assert rows.classes is not None
        if len(rows.classes) > 1:
            raise InputError(
                f"GradientBoostingClassifier takes one target, and y has {len(rows.classes)}. Use "
                "MultiOutputClassifier(GradientBoostingClassifier())."
            )
        if len(rows.classes[0]) < 2:
            raise InputError(
                "GradientBoostingClassifier needs rows of at least two classes, but there is one "
                f"class only: all {rows.n_rows} rows are of class "
                f"{label_text(rows.classes[0][0])}. Add rows of another."
            )
        earlier = getattr(self, "classes_", None) if self.warm_start else None
        if earlier is not None and not np.array_equal(earlier, rows.classes[0]):
            raise InputError(
                "warm_start adds trees for the same classes, and these rows have others. Set "
                "warm_start=False."
            )
        if self.class_weight is not None:
            weight = rows.weight * class_factors(rows, self.class_weight, rows.weight)
            if not (weight > 0).any():
                raise InputError(
                    "class_weight gives every row weight 0. Give some class a weight above 0."
                )
            rows = replace(rows, weight=weight)
        store_classes(self, rows)
        return rows

    def _loss(self) -> Loss:
        if isinstance(self.loss, Loss):
            if self.loss.takes != "classes":
                raise InputError(
                    f"{type(self.loss).__name__} is a loss of numbers. Use "
                    "GradientBoostingRegressor, or a loss of classes."
                )
            if isinstance(self.loss, LogisticLoss) and self.n_classes_ > 2:
                raise InputError(
                    f"LogisticLoss is for two classes, and y has {self.n_classes_}. Use "
                    "SoftmaxLoss, or loss='log_loss'."
                )
            return self.loss
        if self.loss == "ordinal":
            return OrdinalLoss()
        return LogisticLoss() if self.n_classes_ == 2 else SoftmaxLoss()

    # Predictions

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, (n_rows, n_classes)."""
        check_is_fitted(self, "forests_")
        return self.losses_[0].answers(self._scores(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable class of each row, the first of equals."""
        most_probable = self.predict_proba(X).argmax(axis=1)
        return self.classes_[most_probable]

    def decision_function(self, X: Any) -> Floats:
        """Raw scores: (n_rows,) of two classes or an order, else (n_rows, n_classes)."""
        scores = self._scores(X)
        return scores[0] if len(scores) == 1 else np.ascontiguousarray(scores.T)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Probabilities after each round."""
        for scores in self._staged_scores(X):
            yield self.losses_[0].answers(scores)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Predictions after each round."""
        for probabilities in self.staged_predict_proba(X):
            yield self.classes_[probabilities.argmax(axis=1)]

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Raw scores after each round."""
        for scores in self._staged_scores(X):
            yield scores[0].copy() if len(scores) == 1 else np.ascontiguousarray(scores.T)


class GradientBoostingRegressor(RegressorMixin, BoostingModel):
    """Gradient boosting of regression trees, on tables as they are.

    Every round adds a tree that takes a Newton step of the loss; see
    `novum.ensemble.gradient_boosting.model` for the formulas, and `GradientBoostingClassifier` for
    how columns are read.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"} \
or Loss
        A value such as `QuantileLoss(0.9)`, `TweedieLoss(1.3)` or a `CustomLoss` says more than
        its name.

    Attributes
    ----------
    forests_ : tuple of Forest, one for each target
    starts_, losses_, n_estimators_, feature_importances_, validation_losses_, oob_improvement_, \
certificate_, schema_, n_features_in_, feature_names_in_
        As for `GradientBoostingClassifier`.
    n_outputs_ : int, targets

    Notes
    -----
    As for `GradientBoostingClassifier`. Targets may be several columns; each has trees of its own.

    References
    ----------
    Friedman, Greedy function approximation, Annals of Statistics 29, 2001.

    Examples
    --------
    >>> X, y = [[1], [2], [3], [4]] * 20, [0.0, 0.0, 1.0, 3.0] * 20
    >>> model = GradientBoostingRegressor(n_estimators=200).fit(X, y)
    >>> model.predict([[1], [4]]).round(3).tolist()
    [0.0, 3.0]
    """

    loss: Any = parameter(
        set(NAMED_LOSSES) - {"ordinal"}, Loss, default="squared_error", kw_only=False
    )

    n_outputs_: int = fitted()

    def _read(self, X: Any, y: Any, sample_weight: Any) -> CellRows:
        return read_numbers(self, X, y, sample_weight)

    def _take_target(self, rows: CellRows) -> CellRows:
        n_outputs = rows.targets.shape[1]
        if self.warm_start and getattr(self, "n_outputs_", n_outputs) != n_outputs:
            raise InputError(
                f"warm_start adds trees for the {self.n_outputs_} targets of the first fit, and y "
                f"has {n_outputs}. Set warm_start=False."
            )
        self.n_outputs_ = n_outputs
        return rows

    def _loss(self) -> Loss:
        loss = self.loss if isinstance(self.loss, Loss) else NAMED_LOSSES[self.loss]
        if loss.takes != "numbers":
            raise InputError(
                f"{type(loss).__name__} is a loss of classes. Use GradientBoostingClassifier, or a "
                "loss of numbers."
            )
        return loss

    def predict(self, X: Any) -> Floats:
        """What the loss takes scores for: mean, median, quantile; a column for each target."""
        check_is_fitted(self, "forests_")
        return self._answers(self._scores(X))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Predictions after each round."""
        for scores in self._staged_scores(X):
            yield self._answers(scores).copy()

    def _answers(self, scores: Floats) -> Floats:
        columns = [loss.answers(scores[[t]]) for t, loss in enumerate(self.losses_)]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
