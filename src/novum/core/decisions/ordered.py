"""Classes with an order: the level of least expected distance is decided for.

With probabilities p_k of the levels 0, ..., K-1, the level that is least wrong on average,

    decide(x) = argmin_k  sum_j  p_j |j - k|,

is the median of the distribution: the first level up to which at least one half is collected. The
most probable level need not be near it: of 0.4, 0.25, 0.35 the median is the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from novum.core.decisions.retargeting import RetargetedClassifier
from novum.core.decisions.working_point import WorkingPoint
from novum.core.decisions.wrapping import DecidingWrapper
from novum.core.errors import InputError
from novum.core.text import label_text, listed
from novum.numerics import Array, Floats, Positions

# What rounding may leave of one half.
_ROUNDING = 1e-12


def median_levels(probabilities: ArrayLike) -> Positions:
    """Place of the median of each row of probabilities; of two medians the lower one.

    Examples
    --------
    >>> median_levels([[0.4, 0.25, 0.35], [0.5, 0.0, 0.5]]).tolist()
    [1, 0]
    """
    below = np.cumsum(np.asarray(probabilities, np.float64), axis=1)
    half = 0.5 * below[:, -1:] - _ROUNDING
    return np.asarray((below < half).sum(axis=1))


@dataclass
class OrderedClassifier(DecidingWrapper):
    """A classifier of levels with an order, which predicts their median.

    Any classifier with probabilities can be inside; it knows nothing of the order. `classes_` and
    the columns of probabilities are in the order of the levels.

    Parameters
    ----------
    model : classifier
        With `predict_proba` and, once fitted, `classes_` and `class_prior_`.
    classes : sequence of labels
        All levels from low to high; those without rows are not in `classes_`.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> model = OrderedClassifier(GaussianNB(), ["low", "mid", "high"])
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> model.fit(X, ["low", "low", "mid", "mid", "high", "high"]).classes_.tolist()
    ['low', 'mid', 'high']
    >>> model.predict([[1.0], [6.0]]).tolist()
    ['low', 'high']
    """

    _title: ClassVar[str] = "A classifier of levels with an order"
    _demand: ClassVar[str] = "the median of levels"

    classes: Any

    def _adopt(self) -> None:
        met, known = np.asarray(self.model.classes_).tolist(), list(self.classes)
        if len(set(known)) < len(known):
            raise InputError(f"The levels are {listed(known)}. List each of them once.")
        strange = [label for label in met if label not in known]
        if strange:
            raise InputError(
                f"The level {label_text(strange[0])} occurs, but the levels are {listed(known)}. "
                "List all of them in `classes`, from low to high."
            )

    @property
    def _columns(self) -> Positions:
        """Columns of the model in the order of the levels."""
        met = np.asarray(self.model.classes_).tolist()
        return np.array([met.index(label) for label in self.classes if label in met], np.intp)

    @property
    def classes_(self) -> Array:
        """The levels that occurred in training, from low to high."""
        return np.asarray(self.model.classes_)[self._columns]

    @property
    def class_prior_(self) -> Floats:
        """Shares of the levels in training."""
        return np.asarray(self.model.class_prior_)[self._columns]

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the levels from low to high, of shape (n, K)."""
        self._require_fitted()
        return np.asarray(self.model.predict_proba(X))[:, self._columns]

    def predict(self, X: Any) -> Array:
        """The median level of each row: of least expected distance in levels."""
        places = median_levels(self.predict_proba(X))
        return self.classes_[places]

    def at(self, point: WorkingPoint) -> RetargetedClassifier:
        """This classifier where costs say what an error is worth, in place of distances."""
        return RetargetedClassifier(self, point)
