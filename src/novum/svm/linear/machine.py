"""What the classifier and the regressor of linear machines share: reading, limits, files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Stopwatch, deferred, later, warn_if_stopped
from novum.core.tables import Coding, Schema, check_features
from novum.core.text import label_text
from novum.numerics import Array, Floats
from novum.svm.linear.fit import certify
from novum.svm.linear.solution import LinearSolution
from novum.svm.solver.problem import Stopping


class LinearMachine:
    """Mixin of the linear machines, which store `coef_`, `intercept_` and `schema_`."""

    C: float
    tol: float
    max_iter: int
    max_seconds: float | None
    fit_intercept: bool
    intercept_scaling: float
    categorical_features: Any

    coef_: Floats
    intercept_: Floats
    schema_: Schema
    certificate_: Certificate = deferred()

    @property
    def coef_names_(self) -> tuple[str, ...]:
        """Names of the coefficients; a level is `column=level`, against the first level."""
        check_is_fitted(self)
        return Coding(self.schema_).names

    # Steps of a fit

    def _stopping(self) -> Stopping:
        """Refuses what cannot be solved here."""
        if np.isinf(self.C):
            raise InputError(
                f"C=inf asks {type(self).__name__} for a hard margin, which has no optimum where "
                "the rows cannot be separated. Use SVC(kernel='linear', C=inf), which proves which "
                "of the two holds, or a finite C."
            )
        return Stopping(float(self.tol), self.max_iter, self.max_seconds)

    @property
    def _constant(self) -> float:
        """The cell that the intercept multiplies."""
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _split(self, vectors: Floats) -> tuple[Floats, Floats]:
        """Coefficients (m, d) and intercepts (m,) of vectors (m, width)."""
        if not self.fit_intercept:
            return np.ascontiguousarray(vectors), np.zeros(len(vectors))
        coef = np.ascontiguousarray(vectors[:, :-1])
        return coef, vectors[:, -1] * self._constant

    def _certify(
        self,
        solutions: Sequence[LinearSolution],
        objective: str,
        stopping: Stopping,
        watch: Stopwatch,
        modulus: float | None = 1.0,
    ) -> None:
        """Sets the certificate, and warns of a fit that was not done."""
        self.certificate_ = later(
            certify, solutions, objective, stopping, watch.seconds, modulus=modulus
        )
        if any(solution.stopped_by is not None for solution in solutions):
            warn_if_stopped(self.certificate_, type(self).__name__, stacklevel=5)

    # Prediction

    def _scores(self, X: Any) -> Floats:
        """Scores of new rows, shape (n, m)."""
        if not hasattr(self, "coef_"):
            check_is_fitted(self)
        sample = check_features(self, X, accept_sparse=True, tell_unseen=False)
        coef = np.atleast_2d(self.coef_).T
        return Coding(self.schema_).scores(sample, coef) + self.intercept_

    # scikit-learn and files

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        chosen = self.categorical_features
        tags.input_tags.string = chosen is not None
        tags.input_tags.categorical = isinstance(chosen, str) and chosen == "all"
        return tags

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        """Refuses a loaded model whose coefficients have another shape, or are no numbers."""
        coef, intercept = np.asarray(self.coef_), np.asarray(self.intercept_)
        if coef.shape != shape or intercept.shape != (shape[:-1] or (1,)):
            raise ModelFileError(
                f"The model has coefficients of shape {coef.shape} and intercepts of shape "
                f"{intercept.shape}; {shape} is needed for its columns and classes."
            )
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ModelFileError("The model has coefficients that are not finite numbers.")


# --- Classifiers ----------------------------------------------------------------------------------


class LinearClassifier(LinearMachine, ClassifierMixin):
    """Mixin of linear classifiers: one hyperplane for two classes, else one for each."""

    classes_: Array

    def decision_function(self, X: Any) -> Floats:
        """Scores `w'x + b`, of shape (n,) for two classes and (n, n_classes) for more."""
        scores = self._scores(X)
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 else scores)

    def predict(self, X: Any) -> Array:
        """The class of the largest score; of two, the last one where the score is positive."""
        scores = self._scores(X)
        codes = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        self._check_shape((hyperplanes(self.classes_), len(self.coef_names_)))


def hyperplanes(classes: Array) -> int:
    """How many hyperplanes tell the classes apart.

    >>> hyperplanes(np.array(["a", "b"])), hyperplanes(np.array(["a", "b", "c"]))
    (1, 3)
    """
    return 1 if len(classes) == 2 else len(classes)


def check_two_classes(classes: Array | None, n_rows: int, learner: str) -> Array:
    """The classes; refuses rows that are all of one."""
    assert classes is not None
    if len(classes) < 2:
        raise InputError(
            f"{learner} needs rows of at least two classes, but there is one class only: all "
            f"{n_rows} rows are of class {label_text(classes[0])}. Add rows of another."
        )
    return classes
