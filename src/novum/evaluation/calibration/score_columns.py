"""What a classifier says, as columns to calibrate.

A decision function is taken where there is one, since it is not squeezed between 0 and 1; otherwise
probabilities. Two classes need one column, that of the positive class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError

Floats = NDArray[np.float64]

# The logarithm of a probability of zero; exp(-27.6), beyond what calibration rows can tell.
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class ScoreColumns:
    """Scores or probabilities of some rows.

    Attributes
    ----------
    values : array of shape (n, 1) for two classes, (n, K) for more
    probabilistic : bool
        Whether the values are probabilities.

    Examples
    --------
    >>> ScoreColumns(np.array([[2.0]]), False).logits.tolist()
    [[0.0, 2.0]]
    """

    values: Floats
    probabilistic: bool

    @property
    def n_classes(self) -> int:
        return max(2, self.values.shape[1])

    @property
    def logits(self) -> Floats:
        """Scores of shape (n, K), of which a softmax gives posteriors."""
        values = self.values
        if not self.probabilistic:
            return np.hstack([np.zeros_like(values), values]) if values.shape[1] == 1 else values
        both = np.hstack([1 - values, values]) if values.shape[1] == 1 else values
        return np.log(np.maximum(both, _LEAST))

    def rows(self, chosen: NDArray[Any]) -> ScoreColumns:
        return ScoreColumns(self.values[chosen], self.probabilistic)


def scoring_method(model: Any) -> str:
    """The method whose answers are calibrated."""
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            return method
    raise InputError(
        f"{type(model).__name__} has neither decision_function nor predict_proba, so there is "
        "nothing to calibrate. Choose a classifier that has one of them."
    )


def scores_of(model: Any, X: Any) -> ScoreColumns:
    """What a fitted classifier says about rows."""
    method = scoring_method(model)
    found = getattr(model, method)(X)
    return as_columns(found, method, len(model.classes_), type(model).__name__)


def as_columns(found: Any, method: str, n_classes: int, name: str) -> ScoreColumns:
    """Answers of a method as checked columns."""
    values = np.asarray(found, np.float64)
    probabilistic = method == "predict_proba"
    if values.ndim == 1:
        values = values[:, np.newaxis]
    elif n_classes == 2 and values.shape[1] == 2:
        values = values[:, 1:] if probabilistic else values[:, 1:] - values[:, :1]
    if values.shape[1] != (1 if n_classes == 2 else n_classes):
        raise InputError(
            f"{method} of {name} gives {values.shape[1]} columns for {n_classes} classes; each "
            "class needs one. (SVC: decision_function_shape='ovr'.)"
        )
    strange = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if strange.size:
        raise InputError(
            f"{method} of {name} gives {values[strange[0]].tolist()} at row {strange[0]} "
            f"({strange.size} such rows in all); scores must be finite to be calibrated."
        )
    return ScoreColumns(values, probabilistic)
