"""Classes from the scores of hyperplanes: what linear classifiers of the family share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.svm.linear.machine import LinearMachine

Floats = NDArray[np.float64]


class LinearClassifier(LinearMachine, ClassifierMixin):
    """Mixin of linear classifiers: one hyperplane for two classes, else one for each."""

    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> Floats:
        """Scores `w'x + b`, of shape (n,) for two classes and (n, n_classes) for more."""
        scores = self._scores(X)
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 else scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the largest score; of two, the last one where the score is positive."""
        scores = self._scores(X)
        codes = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        self._check_shape((hyperplanes(self.classes_), len(self.coef_names_)))


def hyperplanes(classes: NDArray[Any]) -> int:
    """How many hyperplanes tell the classes apart.

    >>> hyperplanes(np.array(["a", "b"])), hyperplanes(np.array(["a", "b", "c"]))
    (1, 3)
    """
    return 1 if len(classes) == 2 else len(classes)


def check_two_classes(classes: NDArray[Any] | None, n_rows: int, learner: str) -> NDArray[Any]:
    """The classes; refuses rows that are all of one."""
    assert classes is not None
    if len(classes) < 2:
        raise InputError(
            f"{learner} needs rows of at least two classes, but there is one class only: all "
            f"{n_rows} rows are of class {label_text(classes[0])}. Add rows of another."
        )
    return classes
