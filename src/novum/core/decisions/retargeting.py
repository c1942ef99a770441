"""Re-targeting a trained classifier to other priors and costs, without training again.

A classifier that knows its posteriors and the priors it was trained under is enough: the working
point moves the posteriors to its own priors and takes the action of least expected cost
(`novum.core.decisions.working_point`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions.working_point import WorkingPoint, label_array
from novum.core.errors import InputError
from novum.core.tables import checked_weight
from novum.numerics import Array, Floats

_NEEDED = ("predict_proba", "classes_", "class_prior_")


@dataclass(frozen=True)
class RetargetedClassifier:
    """A fitted classifier at a working point.

    Fitted attributes (`coef_`, `classes_`, ...) are those of the model. There is nothing to fit:
    train the model and go `at` the point again.

    Parameters
    ----------
    model : classifier
        Fitted, with `predict_proba`, `classes_` and `class_prior_` (its training priors).
    point : WorkingPoint
        For the same classes, in any order.
    """

    model: Any
    point: WorkingPoint

    def __post_init__(self) -> None:
        lacking = [name for name in _NEEDED if not hasattr(self.model, name)]
        if lacking:
            if hasattr(self.model, "fit"):
                check_is_fitted(self.model)
            raise InputError(
                f"{type(self.model).__name__} has no {' and no '.join(lacking)}; a working point "
                "needs a fitted classifier with posteriors and training priors."
            )
        object.__setattr__(self, "point", self.point.ordered(self.model.classes_))

    def predict_proba(self, X: Any) -> Floats:
        """Posteriors under the point's priors, of shape (n, K)."""
        return self.point.retarget(self.model.predict_proba(X), self.model.class_prior_)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of `predict_proba`; an impossible class has `-inf`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The class to name for each row: of least expected cost, among the classes."""
        return np.asarray(self.model.classes_)[self.point.classes_for(self.predict_proba(X))]

    def decide(self, X: Any) -> Array:
        """The action of least expected cost for each row, by name."""
        return label_array(self.point.action_names)[self.point.actions_for(self.predict_proba(X))]

    def expected_costs(self, X: Any) -> Floats:
        """Expected cost of each of the point's `action_names`, of shape (n, n_actions)."""
        return self.point.expected_costs(self.predict_proba(X))

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of `predict`, as for every classifier."""
        hits = self.predict(X) == np.asarray(y)
        return float(np.average(hits, weights=checked_weight(sample_weight, len(hits))))

    def at(self, point: WorkingPoint) -> RetargetedClassifier:
        """The same model at another point."""
        return RetargetedClassifier(self.model, point)

    def __getattr__(self, name: str) -> Any:
        # Fitted attributes only: a method of the model would answer for its training priors.
        if name.endswith("_") and not name.startswith("_"):
            return getattr(self.model, name)
        raise AttributeError(
            f"A re-targeted classifier has no {name!r}; ask its `model` if the training priors are "
            "meant."
        )

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()


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
