"""Running learners on folds: in parallel, resumable, from sums where a learner has them.

    outcome[model][k] = scores of (model fitted to train_k) on test_k

All learners see the same folds. A learner whose statistics add up is fitted from sums
(`exact_folds`), any other one fold by fold; which way is taken, and hence every bit of the result,
depends neither on the number of jobs nor on what a journal already holds. Finished folds go to the
journal before the next ones begin.
"""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples

from novum.core.errors import InputError
from novum.core.runtime import Progress, check_cancelled, run_tasks, track
from novum.core.tables import with_checked_weight
from novum.evaluation.validation.exact_folds import exact_runs, groups_by_sums, has_exact_folds
from novum.evaluation.validation.fingerprints import fingerprint
from novum.evaluation.validation.fold_fits import (
    FoldRun,
    FoldWork,
    plain_table,
    plain_y,
    run_fold,
    takes_weight,
)
from novum.evaluation.validation.journal import Journal, as_journal
from novum.evaluation.validation.splits import Splits

__all__ = ["FoldRun", "UndefinedScoreWarning", "experiment_parts", "run_folds"]


class UndefinedScoreWarning(UserWarning):
    """Some scores are no numbers; the message counts them."""


@dataclass
class Folds:
    """Names the progress bar of folds."""

    verbose: int = 0


def run_folds(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    splits: Splits,
    scoring: Mapping[str, Any],
    *,
    sample_weight: Any = None,
    params: Mapping[str, Any] | None = None,
    score_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    journal: Any = None,
    keep: str | None = None,
    describe: Callable[[Any], Mapping[str, Any]] | None = None,
    return_estimator: bool = False,
    train_scores: bool = False,
    error_score: Any = "raise",
    verbose: int = 0,
    progress: Progress | None = None,
) -> dict[str, tuple[FoldRun, ...]]:
    """Fits and scores every learner on every fold.

    Parameters
    ----------
    models : mapping of names to estimators
        Cloned for every fold, never changed.
    X, y
        A table in any container, and its targets (None for learners without).
    splits : Splits
        Of `plan_splits`.
    scoring : mapping of names to scorers
        `callable(estimator, X, y)`, greater is better; see `resolve_scoring`.
    sample_weight : array-like of shape (n_rows,), optional
        Counts rows in fitting and in all scores that take weights.
    params : mapping, optional
        Arguments of `fit`; those with an entry for each row are cut.
    score_params : mapping of scorers' names to mappings, optional
        Arguments of each scorer, cut likewise.
    n_jobs : int, optional
        Fits at once, in threads; the bits do not depend on it.
    journal : path or Journal, optional
        Where finished folds are stored, and those of an interrupted run are found.
    keep : str, optional
        Method whose answers on the tested rows are kept as `output`, such as "predict_proba";
        columns of classes are in the order of the sorted labels of `y`.
    describe : callable, optional
        Gives facts on a fitted model, a mapping that a journal can store, kept as `facts`.
    return_estimator, train_scores : bool
        Whether to keep the fitted models, and to score the training rows too.
    error_score : "raise" or number
        What a fold scores whose fit or scorer fails; by default the error is raised.
    verbose : int
        Shows a bar on a terminal.
    progress : Progress, optional
        Counts finished folds in place of a bar of its own.

    Returns
    -------
    dict of name to tuple of FoldRun, in the order of the folds

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> from novum.evaluation.validation.splits import plan_splits
    >>> from novum.linear import LinearRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 7.0]
    >>> scoring = {"error": get_scorer("neg_mean_absolute_error")}
    >>> runs = run_folds({"line": LinearRegression()}, X, y, plan_splits(X, y, 2), scoring)
    >>> [round(run.scores["error"], 6) for run in runs["line"]]
    [-6.0, -2.0]
    """
    n_rows = _num_samples(X)
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    scores = _with_weights(scoring, score_params or {}, given)
    work = FoldWork(
        X=plain_table(X),
        y=plain_y(y, classifier=any(is_classifier(model) for model in models.values())),
        splits=splits,
        scoring=scoring,
        fit_params=with_checked_weight({**(params or {}), **given}, n_rows),
        score_params={name: with_checked_weight(own, n_rows) for name, own in scores.items()},
        keep=keep,
        describe=describe,
        return_estimator=return_estimator,
        train_scores=train_scores,
        error_score=error_score,
    )
    _check_targets(models, y)
    _check_work(work, journal)
    parts = {} if journal is None else experiment_parts(work)
    with as_journal(journal, parts) as book:
        runner = _Runner(models, work, book, parts)
        if progress is not None:
            runs = runner.run(n_jobs, progress)
        else:
            with track(Folds(verbose), "run", runner.n_folds) as bar:
                runs = runner.run(n_jobs, bar)
    warn_of_failures(runs, work)
    return runs


def experiment_parts(work: FoldWork) -> dict[str, str]:
    """What the results of folds depend on besides the learner, part by part."""
    from novum import __version__

    return {
        "novum": __version__,
        "data": fingerprint(work.X, work.y),
        "splits": work.splits.fingerprint,
        "scores": fingerprint(
            dict(work.scoring), work.train_scores, work.keep, work.describe is None
        ),
        "arguments": fingerprint(dict(work.fit_params), dict(work.score_params)),
    }


# --- Running --------------------------------------------------------------------------------------


class _Runner:
    """The folds of some learners, those that a journal holds taken from there."""

    def __init__(
        self,
        models: Mapping[str, Any],
        work: FoldWork,
        journal: Journal | None,
        parts: Mapping[str, str],
    ) -> None:
        self.models, self.work, self.journal = models, work, journal
        self.prefixes = {}
        if journal is not None:
            shared = fingerprint(dict(parts))
            self.prefixes = {name: fingerprint(shared, model) for name, model in models.items()}
        self.runs: dict[str, dict[int, FoldRun]] = {name: {} for name in models}
        self.lock = threading.Lock()

    @property
    def n_folds(self) -> int:
        return len(self.models) * len(self.work.splits)

    def run(self, n_jobs: int | None, progress: Progress) -> dict[str, tuple[FoldRun, ...]]:
        self._take_stored(progress)
        tasks = self._tasks()
        run_tasks(partial(self._run_task, progress), tasks, n_jobs)
        order = range(len(self.work.splits))
        return {name: tuple(self.runs[name][k] for k in order) for name in self.models}

    def _take_stored(self, progress: Progress) -> None:
        if self.journal is None:
            return
        for name in self.models:
            for number in range(len(self.work.splits)):
                record = self.journal.get(self._key(name, number))
                if record is not None:
                    self.runs[name][number] = FoldRun.of(record)
                    progress.advance()

    def _tasks(self) -> list[tuple[str, ...] | tuple[str, int]]:
        """A group of learners that share sums is one task, a fold of any other learner too."""
        left = {name: model for name, model in self.models.items() if self._missing(name)}
        exact = {name: m for name, m in left.items() if has_exact_folds(m, self.work)}
        tasks: list[Any] = [tuple(names) for names in groups_by_sums(exact, self.work)]
        others = (name for name in left if name not in exact)
        return [*tasks, *((name, number) for name in others for number in self._missing(name))]

    def _run_task(self, progress: Progress, task: tuple[Any, ...]) -> None:
        check_cancelled()
        if len(task) == 2 and isinstance(task[1], int):
            self._run_one(task[0], task[1], progress)
            return
        models = {name: self.models[name] for name in task}
        wanted = {name: self._missing(name) for name in task}
        runs = exact_runs(models, wanted, self.work)
        if runs is not None:
            self._store(runs, progress)
            return
        for name in task:
            for number in wanted[name]:
                check_cancelled()
                self._run_one(name, number, progress)

    def _run_one(self, name: str, number: int, progress: Progress) -> None:
        try:
            run = run_fold(self.models[name], self.work, number)
        except Exception as error:
            if len(self.models) > 1:
                error.add_note(f"The learner was {name!r}.")
            raise
        self._store({name: {number: run}}, progress)

    def _store(self, outcomes: Mapping[str, Mapping[int, FoldRun]], progress: Progress) -> None:
        # What failed is not stored: the next run tries again.
        if self.journal is not None:
            self.journal.put_all(
                {
                    self._key(name, number): run.record()
                    for name, runs in outcomes.items()
                    for number, run in runs.items()
                    if run.error is None and not run.failed_scores
                }
            )
        with self.lock:
            for name, runs in outcomes.items():
                self.runs[name].update(runs)
                progress.advance(len(runs), name if len(self.models) > 1 else "")

    def _missing(self, name: str) -> Sequence[int]:
        done = self.runs[name]
        return [number for number in range(len(self.work.splits)) if number not in done]

    def _key(self, name: str, number: int) -> str:
        return f"{self.prefixes[name]}:{number}"


# --- Checks ---------------------------------------------------------------------------------------


def _with_weights(
    scoring: Mapping[str, Any], given: Mapping[str, Any], weights: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments of each scorer, the weights among them where it takes them."""
    params = {}
    for name, scorer in scoring.items():
        own = dict(weights) if weights and takes_weight(scorer) else {}
        params[name] = {**given.get(name, {}), **own}
    return params


def _check_targets(models: Mapping[str, Any], y: Any) -> None:
    for model in models.values():
        tagged = y is None and hasattr(model, "__sklearn_tags__")
        if tagged and get_tags(model).target_tags.required:
            raise InputError(
                f"{type(model).__name__} requires y to be passed, but the target y is None."
            )


def _check_work(work: FoldWork, journal: Any) -> None:
    n_rows = _num_samples(work.X)
    if work.splits.n_rows != n_rows:
        raise InputError(
            f"The splits were drawn for {work.splits.n_rows} rows, but X has {n_rows}. Draw them "
            "anew with plan_splits."
        )
    if work.y is not None and work.y.shape[0] != n_rows:
        raise InputError(
            f"X has {n_rows} rows, but y has {work.y.shape[0]}: found input variables with "
            "inconsistent numbers of samples. Pass one target for each row."
        )
    if journal is not None and work.return_estimator:
        raise InputError(
            "A journal stores scores, not fitted models, so return_estimator=True cannot be "
            "resumed. Leave out the journal, or fit the models you need afterwards."
        )
    raises = isinstance(work.error_score, str)
    if raises and work.error_score != "raise":
        raise InputError(f"error_score is 'raise' or a number, got {work.error_score!r}.")


def warn_of_failures(outcomes_of: Mapping[str, Sequence[FoldRun]], work: FoldWork) -> None:
    """Says what was filled in; raises where nothing else is left."""
    if work.raises:
        return
    runs = [run for outcomes in outcomes_of.values() for run in outcomes]
    errors = Counter(run.error for run in runs if run.error is not None)
    n_failed = sum(errors.values())
    if n_failed:
        summary = "; ".join(
            f"{n} fits failed with the following error: {text}" for text, n in errors.most_common(3)
        )
        hint = "Use error_score='raise' to stop at the first and see where it comes from."
        if n_failed == len(runs):
            raise InputError(
                f"All the {n_failed} fits failed; it is likely that your model is misconfigured. "
                f"{summary} {hint}"
            )
        warnings.warn(
            f"{n_failed} fits failed out of a total of {len(runs)}. The score on these train-test "
            "partitions for these parameters will be set to "
            f"{work.error_score}. {summary} {hint}",
            FitFailedWarning,
            stacklevel=4,
        )
    failed = Counter(pair for run in runs for pair in run.failed_scores.items())
    for (name, text), count in failed.items():
        warnings.warn(
            f"Scoring failed. The score on this train-test partition for these parameters will be "
            f"set to {work.error_score}: {name!r} in {count} of {len(runs)} folds, {text}. Use "
            "error_score='raise' to stop at the first.",
            UserWarning,
            stacklevel=4,
        )
    undefined = Counter(
        name
        for run in runs
        if run.error is None
        for name, value in run.scores.items()
        if np.isnan(value) and name not in run.failed_scores
    )
    for name, count in undefined.items():
        warnings.warn(
            f"The score {name!r} is NaN in {count} of {len(runs)} folds, and so is its mean: one "
            "or more of the test scores are non-finite. Use folds that hold what the score needs, "
            "or error_score='raise' to see the first.",
            UndefinedScoreWarning,
            stacklevel=4,
        )
