"""One fold, one learner: fit to the training rows, judge on the tested ones.

Rows keep the container they came in, so that a frame stays a frame for the learner and the
scorers. Arguments with an entry for each row, such as weights, are cut along; a row of weight zero
is absent from training.
"""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import _check_method_params, _num_samples

from novum.core.errors import InputError
from novum.core.learners import align_classes
from novum.core.runtime import Cancelled, check_cancelled, fitted_model
from novum.core.tables import plain_target, rows_of
from novum.evaluation.validation.split_checks import checked_labels
from novum.evaluation.validation.splits import Splits
from novum.numerics import Array, Positions

# Methods with one column for each class.
BY_CLASS = ("predict_proba", "predict_log_proba", "decision_function")


class UndefinedScoreError(InputError):
    """A score that is no number; the message says of which fold and why."""


@dataclass(frozen=True, eq=False)
class FoldRun:
    """The outcome of training on one fold's training rows and judging on its tested rows.

    Attributes
    ----------
    scores : mapping of str to float
        On the tested rows, greater is better.
    train_scores : mapping of str to float
        On the training rows; empty unless asked for.
    fit_seconds, score_seconds : float
        A learner fitted from shared sums has its part of the time they took.
    n_train, n_test : int
    output : array or None
        What the model said of the tested rows, if it was kept, in the order of the fold.
    facts : mapping
        What was asked of the fitted model besides; empty unless asked for.
    estimator : fitted estimator or None
    exact : bool
        Whether the model came from sums of the other folds' statistics.
    error : str or None
        What went wrong, where all scores were filled in.
    failed_scores : mapping of str to str
        What went wrong with single scores, which were filled in.
    """

    scores: Mapping[str, float]
    train_scores: Mapping[str, float] = field(default_factory=dict)
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    n_train: int = 0
    n_test: int = 0
    output: Array | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    estimator: Any = None
    exact: bool = False
    error: str | None = None
    failed_scores: Mapping[str, str] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """As a journal keeps it; the model itself is not kept."""
        return {
            "scores": dict(self.scores),
            "train_scores": dict(self.train_scores),
            "fit_seconds": self.fit_seconds,
            "score_seconds": self.score_seconds,
            "n_train": self.n_train,
            "n_test": self.n_test,
            "output": None if self.output is None else np.asarray(self.output),
            "facts": dict(self.facts),
            "exact": self.exact,
        }

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> FoldRun:
        """Of a record in a journal."""
        return cls(**record)


@dataclass(frozen=True, eq=False)
class FoldWork:
    """Everything the folds of all learners share.

    Attributes
    ----------
    X, y : table and targets
    splits : Splits
    scoring : mapping of names to scorers
    fit_params : mapping
        Arguments of `fit`; those with an entry for each row are cut.
    score_params : mapping of scorers' names to mappings
        Arguments of each scorer, cut likewise.
    keep : str or None
        Method whose answers on the tested rows are kept.
    describe : callable or None
        Gives facts on a fitted model.
    return_estimator, train_scores : bool
    error_score : "raise" or float
    """

    X: Any
    y: Any
    splits: Splits
    scoring: Mapping[str, Any]
    fit_params: Mapping[str, Any]
    score_params: Mapping[str, Any]
    keep: str | None = None
    describe: Callable[[Any], Mapping[str, Any]] | None = None
    return_estimator: bool = False
    train_scores: bool = False
    error_score: Any = "raise"
    _pairwise: dict[int, bool] = field(default_factory=dict, init=False, repr=False)

    @property
    def raises(self) -> bool:
        return isinstance(self.error_score, str)

    def is_pairwise(self, model: Any) -> bool:
        """Whether a learner takes similarities of rows; its tags are asked once for all folds."""
        known = self._pairwise.get(id(model))
        if known is None:
            tagged = hasattr(model, "__sklearn_tags__")
            known = tagged and bool(get_tags(model).input_tags.pairwise)
            self._pairwise[id(model)] = known
        return known

    def training_rows(self, number: int) -> Positions:
        """The rows that a fold trains on, without those of weight zero."""
        return self.counted(self.splits.train(number))

    def counted(self, rows: Positions) -> Positions:
        """Rows without those of weight zero; all if none is left, which is for others to say."""
        weight = self.fit_params.get("sample_weight")
        if weight is None:
            return rows
        kept = rows[weight[rows] > 0]
        return kept if kept.size else rows

    def table(self, model: Any, rows: Positions, number: int) -> Any:
        """Some rows; of a matrix of similarities, those to the rows that a fold trains on."""
        if not self.is_pairwise(model):
            return rows_of(self.X, rows)
        matrix = self.X if hasattr(self.X, "shape") else np.asarray(self.X)
        if matrix.shape[0] != matrix.shape[1]:
            raise InputError(
                f"{type(model).__name__} takes similarities between rows, so X should be a square "
                f"matrix, got shape {tuple(matrix.shape)}."
            )
        return matrix[np.ix_(rows, self.training_rows(number))]

    def target(self, rows: Positions) -> Any:
        return None if self.y is None else self.y[rows]

    def cut(self, params: Mapping[str, Any], rows: Positions) -> dict[str, Any]:
        if not params:
            return {}
        n_rows = np.empty(self.splits.n_rows)
        cut: dict[str, Any] = _check_method_params(n_rows, params=dict(params), indices=rows)
        return cut


def plain_y(y: Any, *, classifier: bool = False) -> Any:
    """Targets as an array that rows can be taken of; None and sparse indicators stay.

    Examples
    --------
    >>> plain_y(np.array([1, 2], dtype=object), classifier=True)
    array([1, 2])
    """
    if y is None:
        return None
    if sparse.issparse(y):
        return y.tocsr()
    target = plain_target(y)
    return checked_labels(target) if classifier else target


def plain_table(X: Any) -> Any:
    """A table that rows can be taken of: what only NumPy can read becomes an array."""
    if hasattr(X, "__array__") and not hasattr(X, "__getitem__"):
        return np.asarray(X)
    return X


def run_fold(model: Any, work: FoldWork, number: int) -> FoldRun:
    """Fits a clone of the model to a fold's training rows and scores it."""
    return judged_fold(lambda: fitted_on(model, work, number), model, work, number)


def fitted_on(model: Any, work: FoldWork, number: int) -> Any:
    """A clone of the model, fitted to the training rows of a fold."""
    train = work.training_rows(number)
    params = work.cut(work.fit_params, train)
    X = work.table(model, train, number)
    try:
        return fitted_model(clone(model), X, work.target(train), **params)
    except Exception as error:
        n_train = work.splits.n_train(number)
        if len(train) < n_train:
            # What the learner misses, such as a second class, may be in these rows.
            error.add_note(
                f"{n_train - len(train)} of {n_train} training rows have a sample_weight of 0 and "
                "are absent."
            )
        raise


def judged_fold(
    fit: Any, model: Any, work: FoldWork, number: int, *, exact: bool = False, shared: float = 0.0
) -> FoldRun:
    """The outcome of a fold whose model `fit()` gives; `shared` seconds were spent on it before."""
    began = time.perf_counter()
    try:
        fitted = fit()
        # A model that the deadline has cut is no answer of this learner.
        check_cancelled()
        seconds = time.perf_counter() - began + shared
        began = time.perf_counter()
        test = work.splits.test(number)
        output = None if work.keep is None else _output(fitted, model, work, number)
        failures: dict[str, str] = {}
        scores = scores_on(fitted, model, work, number, work.counted(test), "test", failures)
        score_seconds = time.perf_counter() - began
        train_scores = (
            scores_on(fitted, model, work, number, work.training_rows(number), "training", failures)
            if work.train_scores
            else {}
        )
    except Cancelled:
        raise
    except Exception as error:
        if work.raises:
            error.add_note(f"This happened in fold {number} (counted from 0).")
            raise
        return failed_fold(work, number, error, time.perf_counter() - began)
    return FoldRun(
        scores=scores,
        train_scores=train_scores,
        fit_seconds=seconds,
        score_seconds=score_seconds,
        output=output,
        facts={} if work.describe is None else dict(work.describe(fitted)),
        estimator=fitted if work.return_estimator else None,
        exact=exact,
        n_train=work.splits.n_train(number),
        n_test=len(test),
        failed_scores=failures,
    )


def failed_fold(work: FoldWork, number: int, error: Exception, seconds: float) -> FoldRun:
    """A fold whose scores are filled in, because something went wrong."""
    filled = {name: float(work.error_score) for name in work.scoring}
    return FoldRun(
        scores=filled,
        train_scores=dict(filled) if work.train_scores else {},
        fit_seconds=seconds,
        error=_text_of(error),
        n_train=work.splits.n_train(number),
        n_test=len(work.splits.test(number)),
    )


def _text_of(error: Exception) -> str:
    return " ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])


def whole_run(runs: Sequence[FoldRun]) -> FoldRun:
    """A run that knows the names of all scores, if there is one: those that failed may not."""
    whole = (run for run in runs if run.error is None and not run.failed_scores)
    return next(whole, runs[0])


def scores_of(runs: Sequence[FoldRun], name: str, *, train: bool = False) -> list[float]:
    """A score of every fold; what was filled in where a fold failed."""
    scores_by_run = [run.train_scores if train else run.scores for run in runs]
    return [
        scores[name] if name in scores else next(iter(scores.values()), math.nan)
        for scores in scores_by_run
    ]


# --- Answers and scores ---------------------------------------------------------------------------


def _output(fitted: Any, model: Any, work: FoldWork, number: int) -> Array:
    assert work.keep is not None
    ask = getattr(fitted, work.keep, None)
    if ask is None:
        raise InputError(
            f"{type(fitted).__name__} has no method {work.keep}. Ask for another one, such as "
            "predict."
        )
    answers = ask(work.table(model, work.splits.test(number), number))
    if work.keep not in BY_CLASS or not is_classifier(fitted) or work.y is None:
        return np.asarray(answers)
    if isinstance(answers, list) or work.y.ndim != 1:
        raise InputError(
            f"{work.keep} of several targets is a list of arrays, which folds cannot keep. Use "
            "cross_val_predict without a journal."
        )
    return align_classes(np.asarray(answers), fitted.classes_, np.unique(work.y), work.keep)


def scores_on(
    fitted: Any,
    model: Any,
    work: FoldWork,
    number: int,
    rows: Positions,
    part: str,
    failures: dict[str, str] | None = None,
) -> dict[str, float]:
    """All scores of a fitted model on some rows of a fold.

    A score among others that fails is filled in, unless errors are raised, and `failures` says
    why; where no score is left the error is raised.
    """
    X = work.table(model, rows, number)
    y = work.target(rows)
    values: dict[str, float] = {}
    for name, scorer in work.scoring.items():
        chosen = work.cut(work.score_params.get(name, {}), rows)
        try:
            value = scorer(fitted, X, **chosen) if y is None else scorer(fitted, X, y, **chosen)
        except Exception as error:
            if work.raises or failures is None or isinstance(error, Cancelled):
                raise
            if len({*failures, name}) == len(work.scoring):
                raise
            failures[name] = _text_of(error)
            value = float(work.error_score)
        if isinstance(value, Mapping):
            values.update({key: _number(cell, key) for key, cell in value.items()})
        else:
            values[name] = _number(value, name)
    if work.raises:
        refuse_undefined(values, number, part, y)
    return values


def refuse_undefined(scores: Mapping[str, float], number: int, part: str, y: Any) -> None:
    """Says which score of which fold is no number."""
    for name, value in scores.items():
        if np.isnan(value):
            raise UndefinedScoreError(
                f"The score {name!r} of fold {number} (counted from 0) is NaN on its "
                f"{part} rows{_possible_reason(y)}. Use folds that hold what the score needs, or "
                "another score."
            )


def _possible_reason(y: Any) -> str:
    if y is None or sparse.issparse(y):
        return ""
    if _num_samples(y) == 1:
        return ", of which there is only 1"
    labels = set(y.tolist()) if y.ndim == 1 else set()
    if len(labels) == 1:
        return f", which all have the target {labels.pop()!r}"
    return ""


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"scoring must return a number, got {value!r} ({type(value).__name__}) instead from "
            f"{name!r}. Give a scorer callable(estimator, X, y) that returns one number."
        ) from error


def takes_weight(scorer: Any) -> bool:
    """Whether a scorer can be given `sample_weight`.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> takes_weight(get_scorer("accuracy")), takes_weight(lambda model, X, y: 0.0)
    (True, False)
    """
    inner = getattr(scorer, "function", scorer)
    ask = getattr(inner, "_accept_sample_weight", None)
    if ask is not None:
        return bool(ask())
    if hasattr(inner, "_score_func"):
        inner = inner._score_func
    try:
        parameters = inspect.signature(inner).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)
