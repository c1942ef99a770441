"""Cross-fitting: every row predicted by a model that has not seen it.

    z_i = h(x_i; rows outside the fold of row i)        each row exactly once

What a learner says about rows it was trained on is too good; a second learner that corrects or
combines it (stacking, calibration, thresholds) must be trained on what it says about others. The
folds are drawn once and shared, so that the predictions of several learners belong to the same
rows.

A learner whose statistics add up gets all folds from sums of the other folds' statistics, for the
price of about one fit (`core.sums.exact_validation`, which reads every fold by the schema of the
whole table); any other one is fitted once for each fold.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils.validation import _check_method_params, _num_samples, has_fit_parameter

from novum.core.errors import InputError, NotAdditiveError
from novum.core.runtime import fitted_model, run_tasks
from novum.core.sums import (
    Fold,
    StatisticsMixin,
    check_partition,
    exact_cross_val_predict,
    fold_of,
)
from novum.core.tables import checked_weight, plain_target, rows_of
from novum.numerics import Array, Positions

Predictions = Array | list[Array]

# Methods with one column for each class.
_BY_CLASS = ("predict_proba", "predict_log_proba", "decision_function")


class AbsentClassWarning(UserWarning):
    """Some folds trained without any row of a class; the message names classes and folds."""


# --- Folds ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SharedFolds:
    """Folds drawn once, which test every row exactly once, by a model that has not seen it.

    A splitter like scikit-learn's, for any number of learners on the same rows.

    Parameters
    ----------
    folds : tuple of Fold
        Rows to train on (None for all that are not tested) and rows to test.
    n_rows : int

    Examples
    --------
    >>> folds = SharedFolds.of(2, [[0], [1], [2], [3]], [0.0, 1.0, 2.0, 3.0])
    >>> [test.tolist() for train, test in folds.split()]
    [[0, 1], [2, 3]]
    """

    folds: tuple[Fold, ...]
    n_rows: int

    @classmethod
    def of(
        cls, cv: Any, X: Any, y: Any, groups: Any = None, *, classifier: bool = False
    ) -> SharedFolds:
        """Folds of `cv`: a number, a splitter, or an iterable of (train, test); five by default."""
        n_rows = _num_samples(X)
        splits = check_cv(cv, y, classifier=classifier).split(X, y, groups)
        folds = [fold_of(train, test, n_rows) for train, test in splits]
        check_partition(folds, n_rows)
        for number, fold in enumerate(folds):
            if fold.train is not None:
                seen = np.intersect1d(fold.train, fold.test)
                if seen.size:
                    raise InputError(
                        f"Fold {number} (counted from 0) tests {seen.size} rows that it trains on, "
                        f"row {seen[0]} among them. Give training parts without the tested rows."
                    )
        return cls(tuple(folds), n_rows)

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[Any]:
        """Pairs of rows to train on and rows to test; the arguments are not needed."""
        del X, y, groups
        return ((self.train(fold), fold.test) for fold in self.folds)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds there are."""
        del X, y, groups
        return len(self.folds)

    def among(self, kept: Positions) -> SharedFolds:
        """The same folds of some of the rows, which are then counted from 0."""
        place = np.full(self.n_rows, -1)
        place[kept] = np.arange(len(kept))

        def placed(rows: Positions) -> Positions:
            positions = place[rows]
            return positions[positions >= 0]

        folds = [
            Fold(None if fold.train is None else placed(fold.train), placed(fold.test))
            for fold in self.folds
        ]
        return SharedFolds(tuple(fold for fold in folds if fold.test.size), len(kept))

    def warn_of_absent_classes(
        self, codes: Array, labels: Array, weight: Array | None = None
    ) -> None:
        """Says which classes some folds do not train on.

        Parameters
        ----------
        codes : int array of shape (n_rows,)
            The class of every row.
        labels : array of shape (n_classes,)
        weight : array of shape (n_rows,), optional
            Rows of weight zero do not count.
        """
        K = len(labels)
        counts = np.ones(len(codes)) if weight is None else (weight > 0).astype(np.float64)
        whole = np.bincount(codes, counts, K)
        absent = np.zeros(K, np.int64)
        for fold in self.folds:
            # Of complements only the tested rows are counted: leaving one out has many folds.
            rows = fold.test if fold.train is None else fold.train
            part = np.bincount(codes[rows], counts[rows], K)
            absent += (whole - part if fold.train is None else part) == 0
        if not absent.any():
            return
        k, several = int(absent.argmax()), np.count_nonzero(absent)
        others = f" ({several} such classes in all)" if several > 1 else ""
        warnings.warn(
            f"{absent[k]} of {len(self.folds)} folds train without any row of class "
            f"{labels.tolist()[k]!r}{others}, which has probability 0 there. Use fewer folds, "
            "folds with equal shares of the classes, or more rows.",
            AbsentClassWarning,
            stacklevel=4,
        )

    def train(self, fold: Fold) -> Positions:
        """The rows that a fold trains on."""
        if fold.train is not None:
            return fold.train
        return np.delete(np.arange(self.n_rows), fold.test)


# --- Predictions ----------------------------------------------------------------------------------


def cross_fit_predictions(
    estimator: Any,
    X: Any,
    y: Any,
    cv: Any = None,
    *,
    method: str = "predict",
    sample_weight: Any = None,
    groups: Any = None,
    n_jobs: int | None = None,
    fit_params: Mapping[str, Any] | None = None,
) -> Predictions:
    """For every row what a model says that was trained without it.

    Parameters
    ----------
    estimator : estimator
        Any that follows scikit-learn; it is cloned, never changed.
    X, y, sample_weight
        Rows of any container, targets, weights. A row of weight zero is predicted, and no fold
        is trained on it.
    cv : int, splitter, iterable of (train, test) or SharedFolds, optional
        Tested parts must share no row and cover all. Five folds by default, with equal shares of
        the classes for a classifier.
    method : str
        Called on each fold's model.
    groups : array-like, optional
        For the splitter.
    n_jobs : int, optional
        Folds at once; the bits do not depend on it.
    fit_params : mapping, optional
        More arguments of `fit`; those with an entry for each row are cut to the fold's rows.

    Returns
    -------
    array of shape (n,), (n, n_targets) or (n, n_classes), or a list of such for several targets
        Columns of classes are in the order of the sorted labels of `y`. A class that a fold's
        training rows lack has probability 0 there, and among scores the lowest of the row; an
        `AbsentClassWarning` says so, unless the folds are shared: then who shares them does.

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 7.0]
    >>> cross_fit_predictions(LinearRegression(), X, y, cv=4).round(6).tolist()
    [-2.666667, 1.571429, 4.285714, 3.0]
    """
    target, folds = plain_target(y), cv
    if not isinstance(cv, SharedFolds):
        folds = SharedFolds.of(cv, X, y, groups, classifier=is_classifier(estimator))
    weight = checked_weight(sample_weight, folds.n_rows)
    classes = _classes(target) if is_classifier(estimator) and method in _BY_CLASS else None
    if isinstance(classes, np.ndarray) and folds is not cv:
        codes = np.searchsorted(classes, target.ravel())
        folds.warn_of_absent_classes(codes, classes, weight)
    exact = None
    if not fit_params:
        exact = _from_sums(estimator, X, target, folds, method, weight)
    if exact is not None:
        return exact
    fit = partial(_fitted, estimator, X, target, weight, dict(fit_params or {}))
    tasks = list(enumerate(folds.folds))
    predictions = run_tasks(
        lambda task: _of_fold(task, fit, folds, X, method, classes), tasks, n_jobs
    )
    return _in_order_of_rows(predictions, folds)


def takes_weights(estimator: Any) -> bool:
    """Whether `fit` has a `sample_weight`, by name or among arbitrary keywords.

    Examples
    --------
    >>> from novum.linear import Ridge
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> takes_weights(Ridge()), takes_weights(KNeighborsClassifier())
    (True, False)
    """
    if has_fit_parameter(estimator, "sample_weight"):
        return True
    # A pipeline takes weights for its steps by other names only.
    if hasattr(estimator, "steps"):
        return False
    parameters = inspect.signature(estimator.fit).parameters.values()
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)


def _from_sums(
    estimator: Any, X: Any, y: Array, folds: SharedFolds, method: str, weight: Any
) -> Array | None:
    """All folds from sums, or None where the learner does not offer that."""
    if not isinstance(estimator, StatisticsMixin) or method not in ("predict", *_BY_CLASS):
        return None
    try:
        return exact_cross_val_predict(estimator, X, y, folds, method=method, sample_weight=weight)
    except NotAdditiveError:
        return None


def _fitted(
    estimator: Any, X: Any, y: Array, weight: Any, params: dict[str, Any], rows: Any
) -> Any:
    """The estimator fitted to some rows, without those of weight zero."""
    if weight is not None:
        rows = rows[weight[rows] > 0]
        params = {**params, "sample_weight": weight}
        if not takes_weights(estimator):
            raise InputError(
                f"{type(estimator).__name__} takes no sample_weight. Leave the weights out, or "
                "choose a learner that takes them."
            )
    chosen = _check_method_params(X, params=params, indices=rows)
    return fitted_model(clone(estimator), rows_of(X, rows), y[rows], **chosen)


def _of_fold(
    task: tuple[int, Fold], fit: Any, folds: SharedFolds, X: Any, method: str, classes: Any
) -> Predictions:
    number, fold = task
    try:
        model = fit(folds.train(fold))
        answers = getattr(model, method)(rows_of(X, fold.test))
    except Exception as error:
        error.add_note(f"This happened in fold {number} (counted from 0).")
        raise
    if isinstance(answers, list):
        known = getattr(model, "classes_", [None] * len(answers))
        wanted = classes if isinstance(classes, list) else [None] * len(answers)
        return [
            align_classes(np.asarray(part), k, w, method)
            for part, k, w in zip(answers, known, wanted, strict=True)
        ]
    if isinstance(classes, np.ndarray):
        return align_classes(np.asarray(answers), model.classes_, classes, method)
    return np.asarray(answers)


def _in_order_of_rows(answers: list[Predictions], folds: SharedFolds) -> Predictions:
    if isinstance(answers[0], list):
        parts = [[part[t] for part in answers] for t in range(len(answers[0]))]
        return [np.asarray(_in_order_of_rows(part, folds)) for part in parts]
    # Joined at the end, because labels of a later fold may need a longer text type.
    joined = np.concatenate(answers)
    predictions = np.empty_like(joined)
    predictions[np.concatenate([fold.test for fold in folds.folds])] = joined
    return predictions


# --- Classes --------------------------------------------------------------------------------------


def align_classes(scores: Array, known: Any, classes: Any, method: str = "predict_proba") -> Array:
    """Columns of the classes a model knows, as columns of all classes.

    Parameters
    ----------
    scores : array of shape (n, n_known), or (n,) for scores of two classes
    known, classes : arrays of labels
        Of the columns of `scores` and of the result; None leaves `scores` as it is.
    method : {"predict_proba", "predict_log_proba", "decision_function"}
        A class unknown to the model has probability 0, logarithm `-inf`, and the lowest of the
        row's scores.

    Examples
    --------
    >>> align_classes(np.array([[0.25, 0.75]]), ["a", "c"], ["a", "b", "c"]).tolist()
    [[0.25, 0.0, 0.75]]
    """
    if known is None or classes is None:
        return scores
    known, classes = np.asarray(known), np.asarray(classes)
    if np.array_equal(known, classes):
        return scores
    place = {label: k for k, label in enumerate(classes.tolist())}
    strange = [label for label in known.tolist() if label not in place]
    if strange:
        raise InputError(
            f"A model knows the class {strange[0]!r}, which is not among the classes "
            f"{classes.tolist()}. Train it on the same labels."
        )
    if scores.ndim == 1 and len(known) == 2:
        scores = np.stack([-scores, scores], axis=1)
    if scores.ndim != 2 or scores.shape[1] != len(known):
        raise InputError(
            f"{method} gave an array of shape {scores.shape} for {len(known)} of {len(classes)} "
            "classes, whose columns cannot be assigned. Choose predict_proba or predict."
        )
    columns = [place[label] for label in known.tolist()]
    result = np.zeros((len(scores), len(classes)))
    if method == "predict_log_proba":
        result[:] = -np.inf
    elif method == "decision_function":
        result[:] = scores.min(axis=1, keepdims=True)
    result[:, columns] = scores
    if method == "decision_function" and len(classes) == 2:
        return result[:, 1] - result[:, 0]
    return result


def _classes(target: Array) -> Any:
    """Sorted labels; a list of them for several targets."""
    if target.ndim == 2 and target.shape[1] > 1:
        return [np.unique(column) for column in target.T]
    return np.unique(target)
