"""Classifiers that decide at a threshold of their own: what fixed and tuned ones share.

    predict(x) = positive class  if  score(x) >= threshold  else the other

The score is the probability of the positive class or the decision function of the inner classifier,
whose other methods answer unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.metadata_routing import _raise_for_params, _routing_enabled, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.core.certificate import Certificate
from novum.core.cross_fitting import takes_weights
from novum.core.errors import InputError, ModelFileError
from novum.core.member_rows import checked_rows
from novum.evaluation.calibration.training_rows import (
    Floats,
    TrainingRows,
    training_rows,
)


def inner_has(method: str) -> Any:
    """Whether the inner classifier has a method; scikit-learn hides ours otherwise."""

    def check(model: Any) -> bool:
        getattr(getattr(model, "estimator_", model.estimator), method)
        return True

    return available_if(check)


class ThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Shared by the two; see `TunedThresholdClassifierCV`."""

    estimator: Any
    response_method: str
    estimator_: Any
    certificate_: Certificate
    n_features_in_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [
            HasMethods(["fit", "predict_proba"]),
            HasMethods(["fit", "decision_function"]),
        ],
        "response_method": [StrOptions({"auto", "predict_proba", "decision_function"})],
    }

    # Answers of the inner classifier

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels of the two classes."""
        try:
            labels: NDArray[Any] = self._inner().classes_
        except NotFittedError as error:
            raise AttributeError("The classifier inside is not fitted yet.") from error
        return labels

    @inner_has("predict_proba")
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the inner classifier, which the threshold does not change."""
        return np.asarray(self._inner().predict_proba(self._table(X)))

    @inner_has("predict_log_proba")
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of `predict_proba`."""
        return np.asarray(self._inner().predict_log_proba(self._table(X)))

    @inner_has("decision_function")
    def decision_function(self, X: Any) -> Floats:
        """Scores of the inner classifier."""
        return np.asarray(self._inner().decision_function(self._table(X)))

    # Shared steps

    def _inner(self) -> Any:
        """The fitted classifier: that of the fit, or the given one if it came fitted."""
        if hasattr(self, "estimator_"):
            return self.estimator_
        try:
            check_is_fitted(self.estimator)
        except NotFittedError:
            check_is_fitted(self, "estimator_")
        return self.estimator

    def _table(self, X: Any) -> Any:
        return checked_rows(self, X, reset=False) if hasattr(self, "n_features_in_") else X

    def _read(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        training = training_rows(self, X, y, sample_weight)
        if len(training.classes) != 2:
            raise InputError(
                "Only binary classification is supported. Unknown label type: multiclass; y has "
                f"{len(training.classes)} classes. More classes need costs, not one threshold: "
                "model.at(WorkingPoint(...))."
            )
        return training

    def _routed(self, training: TrainingRows, given: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments with an entry for each given row, by receiver: estimator, splitter, scorer."""
        more = dict(given)
        if training.weight is not None:
            whole = np.zeros(len(training.given[1]))
            whole[slice(None) if training.kept is None else training.kept] = training.weight
            more["sample_weight"] = whole
        if _routing_enabled():
            routed = process_routing(self, "fit", **more)
            found = {"estimator": dict(routed.estimator.fit), "splitter": {}, "scorer": {}}
            if "splitter" in routed:
                found["splitter"] = dict(routed.splitter.split)
                found["scorer"] = dict(routed.scorer.score)
            return found
        _raise_for_params(given, self, "fit")
        if training.weight is not None and not takes_weights(self.estimator):
            raise InputError(
                f"{type(self.estimator).__name__} takes no sample_weight. Leave the weights out, "
                "or choose a classifier that takes them."
            )
        return {"estimator": more, "splitter": {}, "scorer": more}

    def _response(self, model: Any) -> str:
        """The method that gives scores."""
        wanted = ("predict_proba", "decision_function")
        if self.response_method != "auto":
            wanted = (self.response_method,)  # type: ignore[assignment]
        for method in wanted:
            if hasattr(model, method):
                return method
        raise InputError(
            f"{type(model).__name__} has none of the following attributes: {', '.join(wanted)}. "
            "Choose another response_method."
        )

    def _scores(self, model: Any, table: Any, positive: int) -> Floats:
        """Scores of the positive class, given by its code."""
        method = self._response(model)
        found = np.asarray(getattr(model, method)(table), np.float64)
        if found.ndim == 2:
            return found[:, positive]
        return found if positive == 1 else -found

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        if len(np.asarray(self.classes_)) != 2:
            raise ModelFileError("The classifier inside does not have two classes.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.classifier_tags.multi_class = False
        return tags


def positive_code(label: Any, classes: NDArray[Any]) -> int:
    """Code of the positive class; the last unless said.

    Examples
    --------
    >>> positive_code(None, np.array(["no", "yes"])), positive_code("no", np.array(["no", "yes"]))
    (1, 0)
    """
    if label is None:
        return 1
    found = np.flatnonzero(np.asarray(classes) == label)
    if found.size != 1:
        raise InputError(
            f"pos_label={label!r} is not a valid label: it should be one of "
            f"{np.asarray(classes).tolist()}."
        )
    return int(found[0])


def labels_at(accepted: NDArray[np.bool_], classes: NDArray[Any], positive: int) -> NDArray[Any]:
    """The positive label where accepted, else the other."""
    return np.asarray(classes)[np.where(accepted, positive, 1 - positive)]
