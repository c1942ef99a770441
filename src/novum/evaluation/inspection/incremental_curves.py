"""Learning curves of learners that go on: one model for each fold, given the next rows each time.

Between two sizes only the rows in between are learned (`partial_fit`), so that the curve costs
about one pass over the largest training part. For a learner whose `partial_fit` depends on the
order or number of calls the scores differ from those of fresh fits, which is part of the question.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from novum.core.errors import InputError
from novum.core.parallel import check_cancelled, run_tasks
from novum.core.validation import with_checked_weight
from novum.evaluation.validation.fold_fits import (
    FoldWork,
    plain_table,
    plain_y,
    scores_on,
    table_rows,
)
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

    `params` are arguments of `partial_fit`; those with an entry for each row are cut to the rows
    of a step. A new fold begins wherever the training rows do not continue those before.
    """
    del verbose
    if not hasattr(estimator, "partial_fit"):
        raise InputError(
            f"{type(estimator).__name__} has no partial_fit, so an estimator must support the "
            "partial_fit interface to exploit incremental learning. Leave it to fresh fits."
        )
    work = FoldWork(
        X=plain_table(X),
        y=plain_y(y, classifier=is_classifier(estimator)),
        splits=splits,
        scoring=scorers,
        fit_params=with_checked_weight(params, splits.n_rows),
        score_params={
            name: with_checked_weight(own, splits.n_rows) for name, own in score_params.items()
        },
        error_score=error_score,
    )
    chains = _chains(splits)
    found = run_tasks(lambda chain: _runs_of_chain(estimator, work, chain), chains, n_jobs)
    return tuple(run for runs in found for run in runs)


def _chains(splits: Splits) -> list[list[int]]:
    """Numbers of the parts that one model runs through."""
    found: list[list[int]] = []
    tested = None
    for k, part in enumerate(splits.parts):
        if part.test is tested:
            found[-1].append(k)
        else:
            found.append([k])
        tested = part.test
    return found


def _runs_of_chain(estimator: Any, work: FoldWork, chain: list[int]) -> list[FoldRun]:
    model = clone(estimator)
    classes = {}
    if is_classifier(model) and "classes" in inspect.signature(model.partial_fit).parameters:
        classes["classes"] = np.unique(work.y)
    weight = work.fit_params.get("sample_weight")
    runs, seen = [], 0
    for k in chain:
        check_cancelled()
        train, test = work.splits.train(k), work.splits.test(k)
        started = time.perf_counter()
        new = train[seen:] if weight is None else train[seen:][weight[train[seen:]] > 0]
        if new.size:
            rows = table_rows(model, work.X, new, new)
            more = {**classes, **work.cut(work.fit_params, new)}
            model.partial_fit(rows, work.target(new), **more)
        seen = len(train)
        learned = time.perf_counter()
        test_scores = scores_on(model, estimator, work, k, test, "test")
        scored = time.perf_counter()
        runs.append(
            FoldRun(
                scores=test_scores,
                train_scores=scores_on(model, estimator, work, k, train, "training"),
                fit_seconds=learned - started,
                score_seconds=scored - learned,
                n_train=len(train),
                n_test=len(test),
            )
        )
    return runs
