"""A classifier that decides at a threshold given by hand.

predict(x) = positive class  if  score(x) >= threshold  else the other
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context, clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from novum.core.certificate import Verdict
from novum.core.fitting import fitted_model, fitting
from novum.evaluation.calibration.evidence import certify, kept_invariances
from novum.evaluation.calibration.threshold_classifier import (
    ThresholdClassifier,
    labels_at,
    positive_code,
)
from novum.numerics.ties import at_least


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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ThresholdClassifier._parameter_constraints,
        "threshold": [StrOptions({"auto"}), Real],
        "pos_label": [Real, str, "boolean", None],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        threshold: Any = "auto",
        pos_label: Any = None,
        response_method: str = "auto",
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.pos_label = pos_label
        self.response_method = response_method

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on."""
        return kept_invariances(self.estimator, folds=False)

    @_fit_context(prefer_skip_nested_validation=False)
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

    def predict(self, X: Any) -> NDArray[Any]:
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
