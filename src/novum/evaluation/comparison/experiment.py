"""Comparing models: shared folds, all tests, a verdict; resumable and the same for any n_jobs.

Every model is fitted to the same training parts and judged on the same test parts, so that what the
parts have in common cancels in the differences. Repeats of k folds give the scores of the corrected
tests; five more repeats of two folds those of the 5x2cv tests; the predictions of the first repeat,
one for each row, McNemar's. All fits of all data sets go to one journal.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import BaseShuffleSplit, RepeatedKFold, RepeatedStratifiedKFold

from novum.core.errors import InputError
from novum.core.tables import plain_target
from novum.core.text import printable
from novum.evaluation.comparison.comparison import Comparison
from novum.evaluation.comparison.fold_pairs import Question
from novum.evaluation.comparison.score_table import (
    DatasetScores,
    Plan,
    ScoreTable,
    check_finite,
    checked_names,
)
from novum.evaluation.measures.scorers import natural_form, resolve_scoring
from novum.evaluation.validation.fingerprints import fingerprint
from novum.evaluation.validation.fold_runs import FoldRun, run_folds
from novum.evaluation.validation.journal import Journal
from novum.evaluation.validation.splits import RepeatedFolds, Splits, plan_splits
from novum.numerics import Array, Floats, Mask


def compare(
    models: Any,
    X: Any = None,
    y: Any = None,
    *,
    datasets: Any = None,
    cv: Any = "10x10",
    scoring: Any = None,
    rope: float = 0.01,
    level: float = 0.95,
    effect: float | None = None,
    baseline: str | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    five_by_two: bool = True,
    random_state: int | None = None,
    journal: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Comparison:
    """Compares models on shared folds of one table, or of several data sets.

    Parameters
    ----------
    models : mapping of names to estimators, list of (name, estimator), or list of estimators
        At least two; a list of estimators is named by their classes.
    X, y
        Table and targets.
    datasets : mapping of names to (X, y), optional
        Several tables in place of `X` and `y`.
    cv : int, text, splitter or iterable
        As for `plan_splits`; "10x10" is ten repeats of ten folds, stratified for classes.
    scoring : name, callable, list of names or mapping, optional
        Accuracy for classifiers and R2 for regressors by default. The first of several decides;
        `judged(measure=...)` asks another. Losses are shown as they are, whatever the sign that
        their scorer gives them.
    rope : float
        Differences up to this size do not matter, in units of the first score.
    level : float
        Confidence of intervals; tests have size `1 - level` after correction for several pairs.
    effect : float, optional
        Difference for which power and repeats are stated; the edge of the rope by default.
    baseline : str, optional
        Model that all others are compared with; all pairs by default.
    groups, sample_weight : array-like of shape (n_rows,), optional
        With `datasets`, mappings from their names.
    five_by_two : bool
        Whether to run five repeats of two folds besides, for the 5x2cv tests.
    random_state : int, optional
        Of the folds; 0 by default where they are shuffled, so that a run can be resumed.
    journal : path, optional
        File that keeps every finished fold; a run that was killed goes on from there.
    n_jobs : int, optional
        Fits at once; the result does not depend on it.
    verbose : int
        Shows a bar on a terminal.

    Returns
    -------
    Comparison
        With `pairs`, `verdict`, `to_frame()`, `plot()`, and for several data sets `ranks`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> from novum.linear import LinearRegression
    >>> X = np.arange(40.0)[:, None]
    >>> y = X[:, 0] + np.random.default_rng(0).normal(size=40)
    >>> found = compare({"line": LinearRegression(), "mean": DummyRegressor()}, X, y, cv="5x5",
    ...                 scoring="neg_root_mean_squared_error")
    >>> found.pair("line", "mean").winner
    'line'
    """
    named = named_models(models)
    tables = named_datasets(datasets, X, y, groups, sample_weight)
    kind = _kind(named)
    measures = _measures(named, scoring, kind)
    names = _natural_names(measures)
    question = Question(next(iter(names.values())), rope, level, effect, baseline).checked(
        tuple(named)
    )
    halved = five_by_two and _repeatable(cv)
    experiments = [
        _planned(name, table, cv, kind, halved, random_state) for name, table in tables.items()
    ]
    run = _Run(named, measures, kind, n_jobs, verbose)
    with _journal(journal, experiments, measures) as book:
        entries = {plan.name: run.dataset(plan, book) for plan in experiments}
    losses = frozenset(names[key] for key in names if natural_form(measures[key])[1] < 0)
    table = ScoreTable(tuple(named), entries, tuple(names.values()), losses)
    return Comparison(table, question, _notes(experiments, entries, five_by_two, kind))


# --- Planning -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Planned:
    """A data set with its folds."""

    name: str
    table: Dataset
    splits: Splits
    halves: Splits | None
    repeatable: bool


def _planned(
    name: str, table: Dataset, cv: Any, kind: str, halved: bool, random_state: int | None
) -> _Planned:
    options: dict[str, Any] = {
        "groups": table.groups,
        "classifier": kind == "classifier",
        "sample_weight": table.sample_weight,
    }
    splits = plan_splits(table.X, table.y, cv, random_state=random_state, **options)
    if len(splits) < 2:
        raise InputError("A comparison needs at least 2 folds, and cv gives 1. Use cv='10x10'.")
    halves = None
    if halved and table.groups is None:
        halves = plan_splits(table.X, table.y, "5x2", random_state=random_state, **options)
    return _Planned(name, table, splits, halves, _repeatable(cv) and table.groups is None)


def _repeatable(cv: Any) -> bool:
    """Whether rows may be divided anew at random: not for groups, time or given folds."""
    shuffled = (RepeatedFolds, RepeatedKFold, RepeatedStratifiedKFold, BaseShuffleSplit)
    if cv is None or isinstance(cv, (str, Integral)):
        return True
    return isinstance(cv, shuffled) and "Group" not in type(cv).__name__


def _kind(models: Mapping[str, Any]) -> str:
    kinds = {
        name: "classifier"
        if is_classifier(model)
        else "regressor"
        if is_regressor(model)
        else "other"
        for name, model in models.items()
    }
    if len(set(kinds.values())) > 1:
        shown = ", ".join(f"{name!r} is a {kind}" for name, kind in kinds.items())
        raise InputError(
            f"Models that are compared do the same task, but {shown}. Compare like with like."
        )
    return next(iter(kinds.values()))


def _measures(models: Mapping[str, Any], scoring: Any, kind: str) -> dict[str, Any]:
    if scoring is None:
        scoring = {"classifier": "accuracy", "regressor": "r2"}.get(kind)
    return resolve_scoring(next(iter(models.values())), scoring)


def _natural_names(measures: Mapping[str, Any]) -> dict[str, str]:
    """Names of the measures by those of their scorers: `log_loss` of `neg_log_loss`."""
    losses = [key for key, one in measures.items() if natural_form(one)[1] < 0]
    names = {key: key.removeprefix("neg_") if key in losses else key for key in measures}
    twice = {name for name in names.values() if list(names.values()).count(name) > 1}
    return {
        key: f"{name} ({key})" if name in twice and name != key else name
        for key, name in names.items()
    }


def _journal(
    path: Any, experiments: list[_Planned], measures: Mapping[str, Any]
) -> contextlib.AbstractContextManager[Any]:
    """One journal for all data sets. Models are told apart inside, so that some may be added."""
    if path is None:
        return contextlib.nullcontext(None)
    plans = [(e.splits.fingerprint, e.halves and e.halves.fingerprint) for e in experiments]
    data = [(e.name, e.table.X, _plain(e.table.y), e.table.sample_weight) for e in experiments]
    parts = {"data": fingerprint(data), "splits": fingerprint(plans)}
    return Journal(path, {"kind": "comparison", **parts, "scores": ", ".join(measures)})


def _plain(y: Any) -> Any:
    """Targets as an array, if there are any."""
    return None if y is None else plain_target(y)


# --- Running --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Run:
    """What the fits of all data sets have in common."""

    models: Mapping[str, Any]
    measures: Mapping[str, Any]
    kind: str
    n_jobs: int | None
    verbose: int

    def dataset(self, plan: _Planned, journal: Journal | None) -> DatasetScores:
        """All scores on one data set."""
        splits, y = plan.splits, _plain(plan.table.y)
        first, rest = _divided(splits)
        labels = self.kind == "classifier" and y is not None and y.ndim == 1
        judged = labels and plan.table.sample_weight is None and _tests_once(first)
        runs = self._folds(plan, first, journal, "predict" if judged else None)
        right = _right(runs, first, y) if judged and y is not None else None
        if rest is not None:
            later = self._folds(plan, rest, journal, None)
            runs = {name: (*runs[name], *later[name]) for name in self.models}
        halves = {}
        if plan.halves is not None:
            halves = self._scores(plan, self._folds(plan, plan.halves, journal, None))
        ratio = splits.test_train_ratio
        drawn = Plan(splits.n_repeats, splits.n_folds, ratio, splits.name, plan.repeatable)
        return DatasetScores(self._scores(plan, runs), drawn, halves, right)

    def _folds(
        self, plan: _Planned, splits: Splits, journal: Journal | None, keep: Any
    ) -> dict[str, tuple[FoldRun, ...]]:
        return run_folds(
            self.models,
            plan.table.X,
            plan.table.y,
            splits,
            self.measures,
            sample_weight=plan.table.sample_weight,
            n_jobs=self.n_jobs,
            journal=journal,
            keep=keep,
            verbose=self.verbose,
        )

    def _scores(self, plan: _Planned, runs: Mapping[str, tuple[FoldRun, ...]]) -> dict[str, Floats]:
        scores_of = {}
        for key, name in _natural_names(self.measures).items():
            scores = [[run.scores[key] for run in runs[model]] for model in self.models]
            scores_of[name] = natural_form(self.measures[key])[1] * np.array(scores)
        for matrix in scores_of.values():
            check_finite(matrix, tuple(self.models), plan.name)
        return scores_of


def _divided(splits: Splits) -> tuple[Splits, Splits | None]:
    """The first repeat, whose predictions are kept, and the others, whose scores are enough."""
    if splits.n_repeats == 1:
        return splits, None
    n, parts = splits.n_folds, splits.parts
    first = replace(splits, parts=parts[:n], n_repeats=1)
    return first, replace(splits, parts=parts[n:], n_repeats=splits.n_repeats - 1)


def _tests_once(splits: Splits) -> bool:
    rows = np.concatenate([fold.test for fold in splits.parts])
    return np.unique(rows).size == rows.size


def _right(runs: Mapping[str, tuple[FoldRun, ...]], splits: Splits, y: Array) -> Mask:
    """Which of the tested rows each model has right."""
    truth = y[np.concatenate([fold.test for fold in splits.parts])]
    answers = [
        np.concatenate([np.asarray(run.output) for run in outcomes]) for outcomes in runs.values()
    ]
    return np.array([np.asarray(answer == truth, bool) for answer in answers])


def _notes(
    experiments: list[_Planned],
    entries: Mapping[str, DatasetScores],
    five_by_two: bool,
    kind: str,
) -> tuple[str, ...]:
    notes = []
    if five_by_two and any(plan.halves is None for plan in experiments):
        notes.append("The 5x2cv tests were not run: these folds cannot be drawn anew at random.")
    if kind == "classifier" and any(entry.right is None for entry in entries.values()):
        notes.append(
            "McNemar's test was not run: it needs one unweighted out-of-fold label for each row."
        )
    return tuple(notes)


# --- Models and data sets as they are given -------------------------------------------------------
# What is compared: models and data sets under names of their own, checked once.


class Dataset(NamedTuple):
    """A table with its targets, groups and weights; what is absent is None."""

    X: Any
    y: Any
    groups: Any = None
    sample_weight: Any = None


def named_models(models: Any) -> dict[str, Any]:
    """Models by name, from a mapping, a list of pairs or a list of estimators.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier, DummyRegressor
    >>> list(named_models([DummyClassifier(), DummyRegressor()]))
    ['DummyClassifier', 'DummyRegressor']
    """
    if isinstance(models, Mapping):
        entries = list(models.items())
    elif isinstance(models, (list, tuple)):
        entries = [_pair(entry) for entry in models]
    else:
        raise InputError(
            "models are a mapping of names to estimators or a list of them, at least two; got "
            f"{printable(repr(models), 80)}."
        )
    try:
        names = checked_names([name for name, _ in entries], "model", 2)
    except InputError as error:
        if not isinstance(models, Mapping) and "more than once" in str(error):
            raise InputError(f"{error} Pass a mapping {{name: model}}.") from None
        raise
    for name, (_, model) in zip(names, entries, strict=True):
        _check_model(name, model)
    return {name: model for name, (_, model) in zip(names, entries, strict=True)}


def named_datasets(
    datasets: Any, X: Any, y: Any, groups: Any, sample_weight: Any
) -> dict[str, Dataset]:
    """Data sets by name, from `datasets` or from one table."""
    if datasets is None:
        if X is None:
            raise InputError("compare needs a table: pass X and y, or datasets={name: (X, y)}.")
        return {"data": Dataset(X, y, groups, sample_weight)}
    if X is not None or y is not None:
        raise InputError("Pass X and y, or datasets, not both.")
    entries = _entries(datasets)
    names = checked_names([name for name, _ in entries], "data set", 1)
    extras = {
        "groups": _by_name(groups, names, "groups"),
        "sample_weight": _by_name(sample_weight, names, "sample_weight"),
    }
    return {
        name: Dataset(*_table(name, value), **{key: extra[name] for key, extra in extras.items()})
        for name, (_, value) in zip(names, entries, strict=True)
    }


def _pair(entry: Any) -> tuple[str, Any]:
    if isinstance(entry, tuple):
        if len(entry) == 2 and isinstance(entry[0], str):
            return entry
        raise InputError(
            f"A pair of models is (name, estimator), got {printable(repr(entry), 80)}."
        )
    return type(entry).__name__, entry


def _check_model(name: str, model: Any) -> None:
    if isinstance(model, type):
        raise InputError(
            f"Model {printable(repr(name), 60)} is the class {model.__name__}, not an estimator. "
            f"Write {model.__name__}()."
        )
    if not hasattr(model, "fit") or not hasattr(model, "get_params"):
        raise InputError(
            f"Model {printable(repr(name), 60)} is no estimator: it has no fit and get_params, but "
            f"is {printable(repr(model), 80)}."
        )


def _entries(datasets: Any) -> list[tuple[Any, Any]]:
    if isinstance(datasets, Mapping):
        return list(datasets.items())
    if isinstance(datasets, (list, tuple)) and all(
        isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)
        for entry in datasets
    ):
        return list(datasets)
    raise InputError(
        "datasets are a mapping {name: (X, y)} or a list of (name, (X, y)), got "
        f"{printable(repr(datasets), 80)}."
    )


def _table(name: str, value: Any) -> tuple[Any, Any]:
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return value[0], value[1]
    raise InputError(
        f"Data set {printable(repr(name), 60)} is a pair (X, y), got {printable(repr(value), 80)}."
    )


def _by_name(values: Any, names: tuple[str, ...], argument: str) -> dict[str, Any]:
    """What belongs to each data set, from a mapping with the same names."""
    if values is None:
        return dict.fromkeys(names)
    if not isinstance(values, Mapping):
        raise InputError(
            f"With several data sets {argument} is a mapping from their names, got "
            f"{type(values).__name__}."
        )
    unequal = sorted(set(map(str, values)) ^ set(names))
    if unequal:
        shown = ", ".join(printable(repr(name), 60) for name in unequal)
        raise InputError(
            f"The names of {argument} and of datasets are not the same: {shown} occurs in one "
            "only. Give every data set its entry, None where it has none."
        )
    return {str(name): value for name, value in values.items()}
