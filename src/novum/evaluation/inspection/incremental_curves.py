"""Learning curves of learners that go on: one model for each fold, given the next rows each time.

Between two sizes only the rows in between are learned (`partial_fit`), so that the curve costs
about one pass over the largest training part. For a learner whose `partial_fit` depends on the
order or number of calls the scores differ from those of fresh fits, which is part of the question.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from novum.core.errors import InputError
from novum.core.exact_validation import rows_of
from novum.core.parallel import check_cancelled, run_tasks
from novum.core.targets import plain_target
from novum.evaluation.validation.outcomes import FoldRun
from novum.evaluation.validation.splits import Splits


def incremental_runs(
    estimator: Any,
    X: Any,
    y: Any,
    splits: Splits,
    scorers: Mapping[str, Any],
    *,
    params: Mapping[str, Any],
    score_params: Mapping[str, Any],
    n_jobs: int | None,
    error_score: Any,
    verbose: int,
) -> tuple[FoldRun, ...]:
    """The outcomes of all folds of all sizes, in the order of `splits`.

    A new fold begins wherever the training rows do not continue those before.
    """
    del verbose, error_score
    if not hasattr(estimator, "partial_fit"):
        raise InputError(
            f"{type(estimator).__name__} has no partial_fit, so an estimator must support the "
            "partial_fit interface to exploit incremental learning. Leave it to fresh fits."
        )
    if params or any(score_params.values()):
        raise InputError(
            "Arguments of fit cannot be given row by row to partial_fit. Leave out `params`, or "
            "exploit_incremental_learning."
        )
    work = _Work(estimator, X, None if y is None else plain_target(y), splits, scorers)
    chains = work.chains()
    return tuple(run for runs in run_tasks(work.run, chains, n_jobs) for run in runs)


@dataclass(frozen=True, eq=False)
class _Work:
    """What the folds share."""

    estimator: Any
    X: Any
    y: Any
    splits: Splits
    scorers: Mapping[str, Any]

    def chains(self) -> list[list[int]]:
        """Numbers of the parts that one model runs through."""
        found: list[list[int]] = []
        tested = None
        for k, part in enumerate(self.splits.parts):
            if part.test is tested:
                found[-1].append(k)
            else:
                found.append([k])
            tested = part.test
        return found

    def run(self, chain: list[int]) -> list[FoldRun]:
        model = clone(self.estimator)
        more = {}
        takes = inspect.signature(model.partial_fit).parameters
        if is_classifier(model) and "classes" in takes:
            more["classes"] = np.unique(self.y)
        runs, seen = [], 0
        for k in chain:
            check_cancelled()
            train = self.splits.train(k)
            started = time.perf_counter()
            new = train[seen:]
            if new.size:
                model.partial_fit(rows_of(self.X, new), self._y(new), **more)
            seen = len(train)
            fitted = time.perf_counter()
            test_scores = self._scores(model, self.splits.test(k))
            scored = time.perf_counter()
            runs.append(
                FoldRun(
                    scores=test_scores,
                    train_scores=self._scores(model, train),
                    fit_seconds=fitted - started,
                    score_seconds=scored - fitted,
                    n_train=len(train),
                    n_test=len(self.splits.test(k)),
                )
            )
        return runs

    def _y(self, rows: Any) -> Any:
        return None if self.y is None else self.y[rows]

    def _scores(self, model: Any, rows: Any) -> dict[str, float]:
        part = rows_of(self.X, rows)
        return {name: score(model, part, self._y(rows)) for name, score in self.scorers.items()}
