"""Re-targeting a trained classifier to other priors and costs, without training again.

A classifier that knows its posteriors and the priors it was trained under is enough: the working
point moves the posteriors to its own priors and takes the action of least expected cost
(`novum.core.decisions.working_point`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from novum.core.decisions.working_point import WorkingPoint, label_array
from novum.core.decisions.wrapping import DecidingWrapper
from novum.numerics import Array, Floats


@dataclass
class RetargetedClassifier(DecidingWrapper):
    """A classifier at a working point.

    Fitted attributes (`coef_`, `classes_`, ...) are those of the model. A fitted model answers at
    once. Like every meta-estimator of scikit-learn it can be cloned, searched
    (`model__C`), cross-validated and fitted again, which fits a copy of the model.

    Parameters
    ----------
    model : classifier
        With `predict_proba` and, once fitted, `classes_` and `class_prior_` (its training priors).
    point : WorkingPoint
        For the same classes, in any order.

    Examples
    --------
    >>> from novum.core import WorkingPoint
    >>> from novum.linear import LogisticRegression
    >>> point = WorkingPoint.binary(prior=0.5, cost_fn=9.0, cost_fp=1.0, classes=(0, 1))
    >>> careful = LogisticRegression().at(point).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> careful.predict([[0.9]]).tolist(), careful.model.predict([[0.9]]).tolist()
    ([1], [0])
    """

    _title: ClassVar[str] = "A re-targeted classifier"
    _demand: ClassVar[str] = "a working point"

    point: WorkingPoint

    def _adopt(self) -> None:
        self.point = self.point.ordered(self.model.classes_)

    def predict_proba(self, X: Any) -> Floats:
        """Posteriors under the point's priors, of shape (n, K)."""
        self._require_fitted()
        return self.point.retarget(self.model.predict_proba(X), self.model.class_prior_)

    def predict(self, X: Any) -> Array:
        """The class to name for each row: of least expected cost, among the classes."""
        posteriors = self.predict_proba(X)
        return np.asarray(self.model.classes_)[self.point.classes_for(posteriors)]

    def decide(self, X: Any) -> Array:
        """The action of least expected cost for each row, by name."""
        posteriors = self.predict_proba(X)
        return label_array(self.point.action_names)[self.point.actions_for(posteriors)]

    def expected_costs(self, X: Any) -> Floats:
        """Expected cost of each of the point's `action_names`, of shape (n, n_actions)."""
        return self.point.expected_costs(self.predict_proba(X))

    def at(self, point: WorkingPoint) -> RetargetedClassifier:
        """The same model at another point."""
        return RetargetedClassifier(self.model, point)


class DecisionMixin:
    """`model.at(point)` for classifiers with `predict_proba`, `classes_` and `class_prior_`."""

    def at(self, point: WorkingPoint) -> RetargetedClassifier:
        """This classifier where other priors and costs hold; the model itself does not change.

        Parameters
        ----------
        point : WorkingPoint
            For the same classes, in any order.

        Returns
        -------
        RetargetedClassifier
            Its `predict` gives classes, its `decide` gives actions.
        """
        return RetargetedClassifier(self, point)
