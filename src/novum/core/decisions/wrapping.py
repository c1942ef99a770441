"""A classifier inside another that decides in its own way: what such wrappers share.

Both parts, the model and how to decide, are parameters, so that a wrapper is cloned, searched
(`model__C`), cross-validated and fitted again like every meta-estimator of scikit-learn. Fitted
attributes (`coef_`, `certificate_`, ...) are those of the model, and a fitted model answers at
once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.tables import checked_weight
from novum.numerics import Array, Floats

_NEEDED = ("predict_proba", "classes_", "class_prior_")


@dataclass
class DecidingWrapper:
    """Shared by `RetargetedClassifier` and `OrderedClassifier`."""

    # The wrapper, and what of it makes demands on the model, in words.
    _title: ClassVar[str]
    _demand: ClassVar[str]

    model: Any

    def __post_init__(self) -> None:
        if self.__sklearn_is_fitted__():
            self._adopt()
        elif not hasattr(self.model, "fit") or _is_fitted(self.model):
            lacking = [name for name in _NEEDED if not hasattr(self.model, name)]
            raise InputError(
                f"{type(self.model).__name__} has no {' and no '.join(lacking)}; {self._demand} "
                "needs a classifier with posteriors and training priors."
            )

    def _adopt(self) -> None:
        """Fits the way to decide to a fitted model, or refuses the model."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> Floats:
        raise NotImplementedError

    def predict(self, X: Any) -> Array:
        raise NotImplementedError

    # scikit-learn

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fits a copy of the model, which answers from then on."""
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        model = clone(self.model)
        # Some estimators return nothing from fit.
        model.fit(X, y, **given, **params)
        self.model = model
        self.__post_init__()
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parts, and with `deep` the parameters of the model as `model__name`."""
        own = {part.name: getattr(self, part.name) for part in fields(self)}
        if not deep or not hasattr(self.model, "get_params"):
            return own
        inner = self.model.get_params(deep=True)
        return {**own, **{f"model__{name}": value for name, value in inner.items()}}

    def set_params(self, **params: Any) -> Self:
        """Sets parts, or parameters of the model by `model__name`."""
        known = [part.name for part in fields(self)]
        inner = {}
        for name, value in params.items():
            if name in known:
                setattr(self, name, value)
            elif name.startswith("model__"):
                inner[name.removeprefix("model__")] = value
            else:
                raise InputError(
                    f"{self._title} has no parameter {name!r}; it has "
                    f"{' and '.join(known)}, and those of the model as model__name."
                )
        if inner:
            self.model.set_params(**inner)
        return self

    def __sklearn_clone__(self) -> Self:
        return type(self)(**{**self.get_params(deep=False), "model": clone(self.model)})

    def __sklearn_is_fitted__(self) -> bool:
        return all(hasattr(self.model, name) for name in _NEEDED)

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()

    # Answers

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self.model).__name__} with {self._demand} is not fitted yet. Call fit."
            )

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of `predict_proba`; an impossible class has `-inf`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of `predict`, as for every classifier."""
        hits = self.predict(X) == np.asarray(y)
        return float(np.average(hits, weights=checked_weight(sample_weight, len(hits))))

    def __getattr__(self, name: str) -> Any:
        # Fitted attributes only: a method of the model would decide in the model's way.
        if name.endswith("_") and not name.startswith("_"):
            return getattr(self.model, name)
        raise AttributeError(
            f"{self._title} has no {name!r}; ask its `model` if its own way to decide is meant."
        )


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True
