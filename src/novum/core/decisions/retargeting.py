"""Re-targeting a trained classifier to other priors and costs, without training again.

A classifier that knows its posteriors and the priors it was trained under is enough: the working
point moves the posteriors to its own priors and takes the action of least expected cost
(`novum.core.decisions.working_point`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions.working_point import WorkingPoint, label_array
from novum.core.errors import InputError
from novum.core.tables import checked_weight
from novum.numerics import Array, Floats

_NEEDED = ("predict_proba", "classes_", "class_prior_")


@dataclass
class RetargetedClassifier:
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

    model: Any
    point: WorkingPoint

    def __post_init__(self) -> None:
        if self.__sklearn_is_fitted__():
            self.point = self.point.ordered(self.model.classes_)
        elif not hasattr(self.model, "fit") or _is_fitted(self.model):
            lacking = [name for name in _NEEDED if not hasattr(self.model, name)]
            raise InputError(
                f"{type(self.model).__name__} has no {' and no '.join(lacking)}; a working point "
                "needs a classifier with posteriors and training priors."
            )

    # scikit-learn

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fits a copy of the model, which is at the point from then on."""
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        model = clone(self.model)
        # Some estimators return nothing from fit.
        model.fit(X, y, **given, **params)
        self.model = model
        self.__post_init__()
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Model and point, and with `deep` the parameters of the model as `model__name`."""
        own = {"model": self.model, "point": self.point}
        if not deep or not hasattr(self.model, "get_params"):
            return own
        inner = self.model.get_params(deep=True)
        return {**own, **{f"model__{name}": value for name, value in inner.items()}}

    def set_params(self, **params: Any) -> Self:
        """Sets model, point, or parameters of the model by `model__name`."""
        inner = {}
        for name, value in params.items():
            if name in ("model", "point"):
                setattr(self, name, value)
            elif name.startswith("model__"):
                inner[name.removeprefix("model__")] = value
            else:
                raise InputError(
                    f"A re-targeted classifier has no parameter {name!r}; it has model, point and "
                    "those of the model as model__name."
                )
        if inner:
            self.model.set_params(**inner)
        return self

    def __sklearn_clone__(self) -> RetargetedClassifier:
        return RetargetedClassifier(clone(self.model), self.point)

    def __sklearn_is_fitted__(self) -> bool:
        return all(hasattr(self.model, name) for name in _NEEDED)

    # Answers

    def predict_proba(self, X: Any) -> Floats:
        """Posteriors under the point's priors, of shape (n, K)."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self.model).__name__} at a working point is not fitted yet. Call fit."
            )
        return self.point.retarget(self.model.predict_proba(X), self.model.class_prior_)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of `predict_proba`; an impossible class has `-inf`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

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


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


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
