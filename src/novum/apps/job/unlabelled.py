"""Rows without a target: whether learning from them helps, and the fits that do.

The chosen model is fitted to labelled rows, and to both, on the same folds of labelled rows. Where
the difference is clearly a gain the model of the run learns from both. A learner of likelihoods
takes such rows by EM; any other labels them for itself. The price is bounded before it begins: rows
without a target are drawn until the fits fit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import clone

from novum.apps.job.clock import END_OF_FITS
from novum.apps.job.last_fits import price_of_fit
from novum.apps.job.trials import LearningRows
from novum.core import UnlabelledRows, UnlabelledWarning
from novum.core.learners import Pipeline
from novum.core.runtime import fitted_model, stream
from novum.ensemble import SelfTraining
from novum.evaluation import Interval, label_curve

# Fewer rows without a target are not worth the question, nor are fewer labels of a class.
FEWEST_UNLABELLED = 20
FEWEST_OF_A_CLASS = 5
MOST_UNLABELLED = 20_000
FOLDS = 5
# Of self-training, and of EM; passes over the rows that either takes at most, about.
_ROUNDS, _INNER = 3, 3
_RULE = UnlabelledRows(weights=(0.1, 1.0), folds=3, tol=1e-4, max_iter=100)
_PASSES = {"self-training": (_ROUNDS + 1) * (_INNER + 1), "em": 150}
# Of the time that is left for fits; without a budget seconds by forecast, usually and when quick.
_SHARE, _SECONDS = 0.4, (7.0, 3.0)


@dataclass(frozen=True, eq=False)
class UnlabelledUse:
    """What was found about rows without a target.

    Attributes
    ----------
    X : Arrow table
        Those that take part.
    positions : array
        Of these rows in the table.
    gain : Interval
        Of the measure, more being better, on folds of labelled rows.
    """

    X: pa.Table
    positions: Any
    gain: Interval

    @property
    def helps(self) -> bool:
        return bool(self.gain.low > 0)

    def both(self, rows: LearningRows) -> LearningRows:
        """These rows after the labelled ones."""
        return with_unlabelled(rows, self.X, self.positions)

    def fitted(self, model: Any, rows: LearningRows) -> Any:
        """The model fitted to both; a plain model of its family."""
        both = self.both(rows)
        model_of_both = fitted_model(learner_of_both(model), both.X, both.y)
        return (
            model_of_both.estimator_ if isinstance(model_of_both, SelfTraining) else model_of_both
        )


def considered(
    model: Any, members: dict[str, int], ending: Any, in_time: Callable[..., Any]
) -> UnlabelledUse | None:
    """What rows without a target do for the chosen model; None where it is not known."""
    if not is_worth_asking(ending.rows, len(ending.parts.unlabeled)):
        return None
    positions = _rows_in_time(model, members, ending)
    if positions is None:
        return None
    rows, X, plan = ending.rows, ending.task.X, ending.plan
    use: UnlabelledUse | None = in_time(
        "The question whether rows without a target help",
        lambda: ask(clone(model), rows, X, positions, ending.metric, plan.seed),
        lambda _: None,
    )
    return use


def _rows_in_time(model: Any, members: dict[str, int], ending: Any) -> Any:
    """Positions of rows to ask about, as many as there is time for; None where it is for none."""
    positions, plan = ending.parts.unlabeled, ending.plan
    size = replace(ending.size, n_rows=ending.rows.X.num_rows)
    kind, wanted = ending.task.kind, min(len(positions), MOST_UNLABELLED)
    em = not isinstance(learner_of_both(model), SelfTraining)
    passes = (FOLDS + 2) * _PASSES["em" if em else "self-training"]
    limit = _SECONDS[plan.preset == "quick"]
    if ending.clock.is_limited:
        limit = _SHARE * ending.clock.until(END_OF_FITS) / plan.machine_factor
    while wanted >= FEWEST_UNLABELLED:
        grown = replace(size, n_rows=size.n_rows + wanted)
        if passes * price_of_fit(members, grown, kind) <= limit:
            break
        wanted //= 2
    if wanted < FEWEST_UNLABELLED:
        ending.attempts.omitted.append(
            "Whether rows without a target would help was not asked: the fits for it do not fit "
            "the time of the run; raise --budget."
        )
        return None
    if wanted < len(positions):
        turn = stream(plan.seed, "rows without a target").permutation(len(positions))
        positions = np.asarray(positions)[np.sort(turn[:wanted])]
    return np.asarray(positions)


def is_worth_asking(rows: LearningRows, n_unlabelled: int) -> bool:
    """Whether there are rows enough, and nothing that folds of labelled rows cannot keep."""
    if not rows.is_classification or rows.levels or n_unlabelled < FEWEST_UNLABELLED:
        return False
    if rows.weight is not None or rows.groups is not None or rows.in_time:
        return False
    counts = np.unique(rows.y, return_counts=True)[1]
    return len(counts) > 1 and int(counts.min()) >= FEWEST_OF_A_CLASS


def ask(
    model: Any, rows: LearningRows, X: pa.Table, positions: Any, metric: Any, seed: int
) -> UnlabelledUse:
    """Compares the model with and without rows that have no target, on the same folds."""
    part = X.take(pa.array(positions))
    both = with_unlabelled(rows, part, positions)
    with warnings.catch_warnings():
        # Whether they do harm is what is asked here, and the answer is told once.
        warnings.simplefilter("ignore", UnlabelledWarning)
        curve = label_curve(
            learner_of_both(model),
            both.X,
            both.y,
            labelled_only=model,
            label_sizes=[1.0],
            cv=FOLDS,
            scoring=metric,
            random_state=seed,
        )
    return UnlabelledUse(part, positions, curve.gains()[0])


def learner_of_both(model: Any) -> Any:
    """The model as it takes missing labels: by EM if it can, else by labels that it gives."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if "unlabelled" in last.get_params(deep=False):
        prefix = f"{model.steps[-1][0]}__" if isinstance(model, Pipeline) else ""
        return clone(model).set_params(**{f"{prefix}unlabelled": _RULE})
    return SelfTraining(clone(model), max_iter=_ROUNDS, folds=_INNER)


def with_unlabelled(rows: LearningRows, X: pa.Table, positions: Any) -> LearningRows:
    """Labelled rows followed by rows whose label is missing."""
    labels, n = np.asarray(rows.y), X.num_rows
    if labels.dtype.kind in "iuf":
        y = np.concatenate([labels.astype(np.float64), np.full(n, np.nan)])
    else:
        y = np.concatenate([labels.astype(object), np.full(n, None, object)])
    return replace(
        rows,
        X=pa.concat_tables([rows.X, X]),
        y=y,
        positions=np.concatenate([rows.positions, positions]),
    )
