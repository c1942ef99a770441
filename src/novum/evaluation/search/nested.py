"""Nested cross-validation: a search judged on rows that it never saw.

    for every outer fold:  search on train_k (with inner folds), score the chosen model on test_k

The best score of a search is the largest of several and so too good. Here the search as a whole,
choice included, is the learner that is judged: what it chose on the outer training rows meets the
outer test rows once, and the outer scores are honest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from novum.core.errors import InputError
from novum.core.text import printable
from novum.evaluation.validation.cross_validation import CrossValidation, results_of
from novum.evaluation.validation.fold_runs import run_folds
from novum.evaluation.validation.routing import named_scorers, route
from novum.evaluation.validation.splits import NestedFolds, plan_splits


class NestedCrossValidation(CrossValidation):
    """Outer scores of a search, and what it chose in every outer fold.

    Attributes
    ----------
    best_params : list of dicts
        What was chosen in each outer fold; values that are no numbers or text as text.
    inner_scores : array of shape (n_outer,)
        The search's own best scores, which are too good.
    splits : Splits
        The outer folds.
    """

    best_params: list[dict[str, Any]]
    inner_scores: np.ndarray

    @property
    def optimism(self) -> float:
        """By how much the search's own score exceeds the honest one, on average."""
        return float(np.mean(self.inner_scores) - self.mean())

    def choices(self) -> list[tuple[dict[str, Any], int]]:
        """What was chosen how often, most often first: a stable choice has one entry."""
        keys = [tuple(sorted(chosen.items(), key=str)) for chosen in self.best_params]
        return [(dict(key), count) for key, count in Counter(keys).most_common()]


def nested_cross_validate(
    search: Any,
    X: Any,
    y: Any = None,
    *,
    cv: Any = None,
    groups: Any = None,
    scoring: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    error_score: Any = "raise",
    journal: Any = None,
    random_state: int | None = None,
) -> NestedCrossValidation:
    """Judges a search on rows that it never saw.

    Parameters
    ----------
    search : GridSearchCV, RandomizedSearchCV, HalvingGridSearchCV
        Or any estimator with `best_params_` and `best_score_`. Cloned for each outer fold.
    X, y
    cv : outer folds, as for `cross_validate`, or `nested(outer, inner)`
        The inner folds are those of the search unless given here.
    groups : array-like, optional
        For the outer splitter, and the inner one if it divides groups.
    scoring : optional
        Of the outer folds; by default that of the search.
    n_jobs, verbose, params, error_score, random_state
        As for `cross_validate`.
    journal : path, optional
        Stores finished outer folds; an interrupted run goes on from them. The search's own
        journal is not used, as each outer fold is another experiment.

    Examples
    --------
    >>> from novum.evaluation.search.grid import GridSearchCV
    >>> from novum.linear import Ridge
    >>> X, y = [[float(i)] for i in range(20)], [2.0 * i for i in range(20)]
    >>> search = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]})
    >>> result = nested_cross_validate(search, X, y, cv=4, scoring="neg_mean_absolute_error")
    >>> result.choices(), len(result["test_score"])
    ([({'alpha': 0.1}, 4)], 4)
    """
    if not hasattr(search, "refit"):
        raise InputError(
            f"{type(search).__name__} is no search. Give a GridSearchCV or the like; "
            "cross_validate judges a learner without a search."
        )
    if not search.refit:
        raise InputError("The outer folds judge the refitted model; give the search refit=True.")
    judged = _prepared(search, cv)
    scorers, _ = named_scorers(judged, scoring)
    routed = route("nested_cross_validate", judged, scorers, cv, groups, params)
    splits = plan_splits(
        X,
        y,
        cv,
        groups=routed.groups,
        classifier=is_classifier(search),
        random_state=random_state,
        params=routed.split,
        sample_weight=routed.fit.get("sample_weight"),
    )
    runs = run_folds(
        {"search": judged},
        X,
        y,
        splits,
        scorers,
        params=_with_groups(judged, routed.fit, routed.groups),
        score_params=routed.score,
        n_jobs=n_jobs,
        journal=journal,
        describe=_facts,
        error_score=error_score,
        verbose=verbose,
    )["search"]
    scores = results_of(runs, splits, scorers, routed.fit.get("sample_weight"))
    result = NestedCrossValidation(scores)
    result.splits, result.exact, result.test_train_ratio = splits, False, scores.test_train_ratio
    result.limits = scores.limits
    result.best_params = [dict(run.facts.get("best_params", {})) for run in runs]
    result.inner_scores = np.array([run.facts.get("best_score", np.nan) for run in runs])
    return result


def _prepared(search: Any, cv: Any) -> Any:
    judged = clone(search)
    if isinstance(cv, NestedFolds):
        judged.set_params(cv=cv.inner)
    if getattr(judged, "journal", None) is not None:
        judged.set_params(journal=None)
    return judged


def _with_groups(search: Any, params: Mapping[str, Any], groups: Any) -> dict[str, Any]:
    inner = getattr(search, "cv", None)
    if groups is None or "Group" not in type(inner).__name__:
        return dict(params)
    return {**params, "groups": np.asarray(groups)}


def _facts(search: Any) -> dict[str, Any]:
    best = {name: _plain(value) for name, value in search.best_params_.items()}
    return {"best_params": best, "best_score": float(getattr(search, "best_score_", np.nan))}


def _plain(value: Any) -> Any:
    """A value as a journal stores it and `choices` counts it."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else printable(repr(value), 200)
