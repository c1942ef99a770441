"""Classifiers that decide at a threshold of their own: what fixed and tuned ones share.

    predict(x) = positive class  if  score(x) >= threshold  else the other

The score is the probability of the positive class or the decision function of the inner classifier,
whose other methods answer unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, Verdict, fitted, parameter, takes_weights
from novum.core.runtime import fit_context, fitted_model, fitting
from novum.core.tables import TrainingRows, checked_rows
from novum.evaluation.calibration.evidence import certify, kept_invariances
from novum.numerics import Array, Floats, Mask, at_least


def inner_has(method: str) -> Any:
    """Whether the inner classifier has a method; scikit-learn hides ours otherwise."""

    def check(model: Any) -> bool:
        getattr(getattr(model, "estimator_", model.estimator), method)
        return True

    return available_if(check)


class ThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, Learner):
    """Shared by the two; see `TunedThresholdClassifierCV`."""

    estimator: Any = parameter(
        HasMethods(["fit", "predict_proba"]),
        HasMethods(["fit", "decision_function"]),
        kw_only=False,
    )
    response_method: str = parameter({"auto", "predict_proba", "decision_function"}, default="auto")

    estimator_: Any = fitted()
    certificate_: Certificate = fitted()
    n_features_in_: int = fitted()

    # Answers of the inner classifier

    @property
    def classes_(self) -> Array:
        """Labels of the two classes."""
        try:
            labels: Array = self._inner().classes_
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
        training = TrainingRows.of(self, X, y, sample_weight, target="classes", least_classes=2)
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
            whole = np.zeros(training.n_given)
            whole[slice(None) if training.kept is None else training.kept] = training.weight
            more["sample_weight"] = whole
        if _routing_enabled():
            routed = process_routing(self, "fit", **more)
            params = {"estimator": dict(routed.estimator.fit), "splitter": {}, "scorer": {}}
            if "splitter" in routed:
                params["splitter"] = dict(routed.splitter.split)
                params["scorer"] = dict(routed.scorer.score)
            return params
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
        scores = np.asarray(getattr(model, method)(table), np.float64)
        if scores.ndim == 2:
            return scores[:, positive]
        return scores if positive == 1 else -scores

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        if len(np.asarray(self.classes_)) != 2:
            raise ModelFileError("The classifier inside does not have two classes.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.classifier_tags.multi_class = False
        return tags


def positive_code(label: Any, classes: Array) -> int:
    """Code of the positive class; the last unless said.

    Examples
    --------
    >>> positive_code(None, np.array(["no", "yes"])), positive_code("no", np.array(["no", "yes"]))
    (1, 0)
    """
    if label is None:
        return 1
    positions = np.flatnonzero(np.asarray(classes) == label)
    if positions.size != 1:
        raise InputError(
            f"pos_label={label!r} is not a valid label: it should be one of "
            f"{np.asarray(classes).tolist()}."
        )
    return int(positions[0])


def labels_at(accepted: Mask, classes: Array, positive: int) -> Array:
    """The positive label where accepted, else the other."""
    return np.asarray(classes)[np.where(accepted, positive, 1 - positive)]


# --- A threshold that is given --------------------------------------------------------------------
# A classifier that decides at a threshold given by hand.
#
# predict(x) = positive class  if  score(x) >= threshold  else the other


class FixedThresholdClassifier(ThresholdClassifier):
    """A binary classifier with a given threshold.

    Parameters
    ----------
    estimator : classifier
        Fitted or not; a fitted one predicts without another fit.
    threshold : float or "auto"
        "auto" is 0.5 for probabilities and 0 for a decision function.
    pos_label : label, optional
        The positive class. Default: the last of the classes.
    response_method : {"auto", "predict_proba", "decision_function"}
        "auto" takes the first of the two that the classifier has.

    Attributes
    ----------
    estimator_ : fitted classifier
    classes_ : array of two labels
    certificate_ : Certificate
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> X, y = [[-1.0], [0.0], [1.0], [1.0], [2.0], [3.0]], ["no"] * 3 + ["yes"] * 3
    >>> model = FixedThresholdClassifier(GaussianNB(), threshold=0.99).fit(X, y)
    >>> model.predict([[1.5], [3.0]]).tolist()
    ['no', 'yes']
    """

    threshold: Any = parameter({"auto"}, Real, default="auto")
    pos_label: Any = parameter(Real, str, "boolean", None, default=None)

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on."""
        return kept_invariances(self.estimator, folds=False)

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the classifier inside.

        Parameters
        ----------
        X, y
            Rows of any container the classifier reads, and labels of two classes.
        sample_weight : array-like of shape (n,), optional
        **params
            For the classifier, under scikit-learn's metadata routing.
        """
        with fitting(self) as watch:
            training = self._read(X, y, sample_weight)
            positive_code(self.pos_label, training.classes)
            given = training.cut(self._routed(training, params)["estimator"])
            model = fitted_model(clone(self.estimator), training.table, training.labels, **given)
            self.estimator_ = model
            self.certificate_ = certify(
                "that of the classifier, at a given threshold",
                Verdict.PROVED,
                [model],
                seconds=watch.seconds,
            )
        return self

    def predict(self, X: Any) -> Array:
        """The positive class where its score reaches the threshold, but for rounding."""
        model = self._inner()
        positive = positive_code(self.pos_label, model.classes_)
        scores = self._scores(model, self._table(X), positive)
        threshold = self.threshold
        if isinstance(threshold, str):
            threshold = 0.5 if self._response(model) == "predict_proba" else 0.0
        return labels_at(at_least(scores, threshold), np.asarray(model.classes_), positive)

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go to the classifier."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)
