"""Cross-validation: what a learner will do on rows it has not seen, and how sure that is.

    S = (1/k) sum_i S_i,    S_i the score on test_i of the model fitted to train_i

The result is scikit-learn's dictionary. It knows besides how sure the mean is, corrected for the
overlap of the training parts (`certainty`). Learners with statistics are fitted from sums, all
others fold by fold (`fold_runs`); a journal makes a long run resumable.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import _num_samples

from novum.core.errors import InputError
from novum.core.learners import SharedFolds, cross_fit_predictions
from novum.core.sums import check_partition
from novum.core.tables import plain_target
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.scorers import score_limits
from novum.evaluation.validation.certainty import (
    UNLIMITED,
    corrected_interval,
    variance_of_mean,
)
from novum.evaluation.validation.fold_fits import BY_CLASS, scores_of, whole_run
from novum.evaluation.validation.fold_runs import FoldRun, run_folds
from novum.evaluation.validation.routing import named_scorers, route
from novum.evaluation.validation.splits import Splits, plan_splits
from novum.numerics import Floats

__all__ = [
    "CrossValidation",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "variance_of_mean",
]


class CrossValidation(dict[str, Any]):
    """Results of cross-validation: scikit-learn's dictionary, with means and intervals.

    Attributes
    ----------
    splits : Splits
        The folds that were used.
    exact : bool
        Whether the models came from sums of the other folds' statistics.
    test_train_ratio : float
        Rows tested over rows trained on, each by its weight, averaged over the folds.
    limits : mapping of names of scores to pairs of float
        Between which scores lie; no interval leaves them.

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> X, y = [[float(i)] for i in range(12)], [i + (-1.0) ** i for i in range(12)]
    >>> result = cross_validate(LinearRegression(), X, y, scoring="neg_mean_absolute_error", cv=4)
    >>> sorted(result)
    ['fit_time', 'score_time', 'test_score']
    >>> round(result.mean(), 3), result.interval()
    (-1.057, -1.06 [-1.11, -1.00])
    """

    splits: Splits
    exact: bool
    test_train_ratio: float
    limits: Mapping[str, tuple[float, float]] = MappingProxyType({})

    def scores(self, name: str = "score") -> Floats:
        """The scores of the folds by name."""
        key = f"test_{name}"
        if key not in self:
            known = ", ".join(repr(k[5:]) for k in self if k.startswith("test_"))
            raise InputError(f"There is no score {name!r}; there is {known}.")
        return np.asarray(self[key], np.float64)

    def mean(self, name: str = "score") -> float:
        """The mean of a score over the folds."""
        return float(np.mean(self.scores(name)))

    def variance_of_mean(self, name: str = "score") -> float:
        """The variance of that mean, corrected for overlapping training parts."""
        return variance_of_mean(self.scores(name), self.test_train_ratio)

    def interval(self, name: str = "score", level: float = 0.95) -> Interval:
        """The interval of the expected score at this size of training part."""
        limits = self.limits.get(name, UNLIMITED)
        return corrected_interval(self.scores(name), self.test_train_ratio, level, limits)


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: Any = np.nan,
    journal: Any = None,
    random_state: int | None = None,
) -> CrossValidation:
    """Scores of a learner on folds it was not trained on.

    Parameters
    ----------
    estimator : estimator
        Cloned for every fold. One with statistics is fitted from sums, for the price of about one
        fit; any other one is fitted for each fold.
    X, y, groups
        A table in any container, its targets, and groups for splitters that use them.
    scoring : None, str, callable, list or dict
        Names of Novum's measures or scikit-learn's scorers, or scorers; by default the learner's
        own `score`.
    cv : int, text such as "10x5", splitter, Splits or iterable of (train, test), optional
        Five folds by default, with equal shares of the classes for a classifier.
    n_jobs : int, optional
        Folds at once, in threads; the bits do not depend on it.
    verbose : int
        Shows a bar on a terminal.
    params : mapping, optional
        Arguments of `fit`; `sample_weight` counts rows in fitting and in scores.
    pre_dispatch
        Kept for scikit-learn's signature; threads share the table.
    return_train_score, return_estimator, return_indices : bool
        Further entries of the result.
    error_score : number or "raise"
        Score of a fold whose fit or scorer fails; a warning says so.
    journal : path or Journal, optional
        Finished folds are stored there, and an interrupted run goes on from them.
    random_state : int, optional
        Shuffles the rows where `cv` is a number, None or text.

    Returns
    -------
    CrossValidation
        A dictionary with `fit_time`, `score_time`, `test_score` (or `test_<name>` of several
        scores) and what else was asked for; `.mean()`, `.interval()`, `.variance_of_mean()`.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> X, y = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]], ["a", "a", "a", "b", "b", "b"]
    >>> result = cross_validate(GaussianNB(), X, y, cv=3)
    >>> result["test_score"].tolist(), result.exact
    ([1.0, 1.0, 1.0], True)
    """
    del pre_dispatch
    scorers, _ = named_scorers(estimator, scoring)
    routed = route("cross_validate", estimator, scorers, cv, groups, params)
    splits = plan_splits(
        X,
        y,
        cv,
        groups=routed.groups,
        classifier=is_classifier(estimator),
        random_state=random_state,
        params=routed.split,
        sample_weight=routed.fit.get("sample_weight"),
    )
    runs = run_folds(
        {"estimator": estimator},
        X,
        y,
        splits,
        scorers,
        params=routed.fit,
        score_params=routed.score,
        n_jobs=n_jobs,
        journal=journal,
        return_estimator=return_estimator,
        train_scores=return_train_score,
        error_score=error_score,
        verbose=verbose,
    )["estimator"]
    result = results_of(runs, splits, scorers, routed.fit.get("sample_weight"))
    if return_estimator:
        result["estimator"] = [run.estimator for run in runs]
    if return_indices:
        train, test = zip(*splits.folds, strict=True)
        result["indices"] = {"train": train, "test": test}
    return result


def results_of(
    runs: tuple[FoldRun, ...],
    splits: Splits,
    scorers: Mapping[str, Any],
    sample_weight: Any = None,
) -> CrossValidation:
    """The dictionary of the outcomes of one learner's folds."""
    result = CrossValidation(
        fit_time=np.array([run.fit_seconds for run in runs]),
        score_time=np.array([run.score_seconds for run in runs]),
    )
    whole = whole_run(runs)
    for name in whole.scores:
        result[f"test_{name}"] = np.array(scores_of(runs, name))
        if name in whole.train_scores:
            result[f"train_{name}"] = np.array(scores_of(runs, name, train=True))
    result.limits = {name: score_limits(one) for name, one in scorers.items()}
    result.splits, result.exact = splits, all(run.exact for run in runs)
    result.test_train_ratio = splits.weighted_ratio(sample_weight)
    return result


def cross_val_score(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    error_score: Any = np.nan,
    journal: Any = None,
    random_state: int | None = None,
) -> Floats:
    """The scores of `cross_validate` under a single `scoring`.

    Parameters
    ----------
    estimator, X, y, groups, scoring, cv, n_jobs, verbose, params, pre_dispatch, error_score, \
journal, random_state
        As for `cross_validate`.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> X, y = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]], ["a", "a", "a", "b", "b", "b"]
    >>> cross_val_score(GaussianNB(), X, y, cv=3).tolist()
    [1.0, 1.0, 1.0]
    """
    _, several = named_scorers(estimator, scoring)
    if several:
        raise InputError(
            f"cross_val_score takes a single scoring, got {scoring!r}. Use cross_validate for "
            "several."
        )
    result = cross_validate(
        estimator,
        X,
        y,
        groups=groups,
        scoring=scoring,
        cv=cv,
        n_jobs=n_jobs,
        verbose=verbose,
        params=params,
        pre_dispatch=pre_dispatch,
        error_score=error_score,
        journal=journal,
        random_state=random_state,
    )
    return result.scores()


def cross_val_predict(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    method: str = "predict",
    journal: Any = None,
    random_state: int | None = None,
) -> Any:
    """For every row what a model says of it that was not trained on it.

    Parameters
    ----------
    estimator, X, y, groups, cv, n_jobs, verbose, params, pre_dispatch, journal, random_state
        As for `cross_validate`; `cv` must test every row exactly once.
    method : str
        Asked of each fold's model.

    Returns
    -------
    array of shape (n_rows,), (n_rows, n_targets) or (n_rows, n_classes)
        Columns of classes are in the order of the sorted labels. A class that a fold did not
        train on has probability 0 there, and a warning says so. Of several targets a list.

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 7.0]
    >>> cross_val_predict(LinearRegression(), X, y, cv=4).round(6).tolist()
    [-2.666667, 1.571429, 4.285714, 3.0]
    """
    del pre_dispatch
    routed = route("cross_val_predict", estimator, {}, cv, groups, params)
    splits = plan_splits(
        X,
        y,
        cv,
        groups=routed.groups,
        classifier=is_classifier(estimator),
        random_state=random_state,
        params=routed.split,
        sample_weight=routed.fit.get("sample_weight"),
    )
    check_partition(list(splits.parts), splits.n_rows)
    if method in BY_CLASS and y is not None and plain_target(y).ndim == 2:
        return _of_several_targets(estimator, X, y, splits, method, routed.fit, n_jobs, journal)
    runs = run_folds(
        {"estimator": estimator},
        X,
        y,
        splits,
        {},
        params=routed.fit,
        n_jobs=n_jobs,
        journal=journal,
        keep=method,
        verbose=verbose,
    )["estimator"]
    # Joined at the end, because labels of a later fold may need a longer text type.
    joined = np.concatenate([run.output for run in runs if run.output is not None])
    predictions = np.empty_like(joined)
    predictions[np.concatenate([fold.test for fold in splits.parts])] = joined
    return predictions


def _of_several_targets(
    estimator: Any,
    X: Any,
    y: Any,
    splits: Splits,
    method: str,
    params: Mapping[str, Any],
    n_jobs: int | None,
    journal: Any,
) -> Any:
    if journal is not None:
        raise InputError(
            f"{method} of several targets cannot be stored in a journal. Leave out the journal, "
            "or predict one target at a time."
        )
    others = {name: value for name, value in params.items() if name != "sample_weight"}
    return cross_fit_predictions(
        estimator,
        X,
        y,
        SharedFolds(splits.parts, _num_samples(X)),
        method=method,
        sample_weight=params.get("sample_weight"),
        n_jobs=n_jobs,
        fit_params=others,
    )
