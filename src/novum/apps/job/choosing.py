"""Which model is taken, and how sure that is: the leaderboard and its tests.

Models are ordered by their mean score over the outer folds. The first is taken, except that a stack
must beat the best single model by more than a difference that matters, because it is harder to
explain. Differences are judged by the corrected tests of `novum.evaluation`, all pairs at once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novum.apps.job.attempts import Attempts
from novum.apps.job.building import build, candidate, settings_text
from novum.apps.job.families import Family, family
from novum.apps.job.planning import CONSTANT, STACK, STACK_MEMBERS, STACK_TITLE, TableSize, price
from novum.apps.job.record import ComparisonRecord, Estimate, PlanRecord, Standing
from novum.apps.job.table.task import Task
from novum.apps.job.trials import LearningRows, Trials, fit_params, stack_of, tuned
from novum.core.runtime import fitted_model, stream
from novum.evaluation import (
    Comparison,
    GridSearchCV,
    Measure,
    compare_scores,
    corrected_interval,
    score_ranks,
)

# --- The fits of the chosen family ----------------------------------------------------------------
# From the chosen family to fitted models: settings, the judged fit and the fit for use.
#
# Settings are chosen once more by the inner folds on all rows of the trials, or, for a stack, are
# those that the outer folds chose most often. The model is fitted to the training rows and judged;
# with the same settings it is then fitted to all labeled rows for use. A fit whose forecast does
# not
# fit its part of the budget takes a sample of the rows, and the report says so.

# Of the budget, for each of the two last fits.
SHARE_OF_A_FIT = 0.12
FEWEST_FITTED = 10_000
RARE_ROWS = 10


def settled(
    name: str, plan: PlanRecord, trials: Trials, rows: LearningRows, metric: Any
) -> tuple[Any, dict[str, int]]:
    """The chosen model, unfitted, and the candidates it or its members were given."""
    if name == STACK:
        members = _frequent_members(trials)
        return stack_of(members, plan, rows), members
    model = tuned(plan, name, rows, metric)
    number = 0
    if isinstance(model, GridSearchCV):
        search = model.set_params(refit=False)
        more = {} if rows.weight is None else {"sample_weight": rows.weight}
        search.fit(rows.X, rows.y, **more, **fit_params(search, rows))
        number = int(search.best_index_)
    row = family(name)
    estimator = build(
        row, rows.kind, has_missing=rows.has_missing, seed=plan.seed, columns=rows.columns
    )
    settings = candidate(row, rows.kind, number, estimator, plan.seed, rows.columns)
    return estimator.set_params(**settings), {name: number}


def most_rows(chosen: dict[str, int], plan: PlanRecord, size: TableSize, kind: str) -> int:
    """Rows that a last fit may have."""
    allowed = SHARE_OF_A_FIT * plan.budget_seconds / plan.machine_factor
    fits = plan.inner_folds + 1 if len(chosen) > 1 else 1
    n_rows = size.n_rows
    while n_rows > 1 and fits * _price(chosen, replace(size, n_rows=n_rows), kind) > allowed:
        n_rows //= 2
    return n_rows if n_rows == size.n_rows else max(n_rows, min(size.n_rows, FEWEST_FITTED))


def sampled(n_rows: int, wanted: int, seed: int, in_time: bool, use: str, codes: Any = None) -> Any:
    """Positions of a sample of rows, in their order; the latest ones where there is a time.

    With `codes` of their classes, every class keeps its share, and a rare one up to `RARE_ROWS` of
    its rows.
    """
    if wanted >= n_rows:
        return np.arange(n_rows)
    if in_time:
        return np.arange(n_rows - wanted, n_rows)
    shuffled = stream(seed, use).permutation(n_rows)
    if codes is None:
        return np.sort(shuffled[:wanted])
    counts = np.bincount(codes)
    takes = np.maximum(np.floor(counts * (wanted / n_rows)), np.minimum(counts, RARE_ROWS))
    # Of the largest class fewer or more, so that the sum is as wanted.
    takes[takes.argmax()] += wanted - takes.sum()
    place = np.empty(n_rows, np.int64)
    for code in np.flatnonzero(counts):
        rows = shuffled[codes[shuffled] == code]
        place[rows] = np.arange(len(rows))
    return np.flatnonzero(place < takes[codes])


def some_rows(task: Task, positions: Any, wanted: int, seed: int, use: str) -> Any:
    """Some positions of a task's rows, drawn by `sampled`."""
    codes = task.coded[positions] if task.is_classification else None
    return positions[sampled(len(positions), wanted, seed, task.order is not None, use, codes)]


def fitted(model: Any, rows: LearningRows) -> Any:
    """The model fitted to rows."""
    more = {} if rows.weight is None else {"sample_weight": rows.weight}
    return fitted_model(model, rows.X, rows.y, **more)


# --- Steps ----------------------------------------------------------------------------------------


def _frequent_members(trials: Trials) -> dict[str, int]:
    """The families that stacks had most often, each with its most frequent candidate."""
    counts = Counter(member for fold in trials.stacked for member in fold)
    order = sorted(counts, key=lambda name: (-counts[name], list(trials.runs).index(name)))
    members = {}
    for name in order[:STACK_MEMBERS]:
        chosen = Counter(int(run.facts["candidate"]) for run in trials.runs[name])
        members[name] = min(chosen, key=lambda number: (-chosen[number], number))
    return members


def _price(chosen: dict[str, int], size: TableSize, kind: str) -> float:
    def one(row: Family) -> float:
        role = row.role(kind, size.has_text)
        return 0.0 if role is None else price(role.price, size)

    return sum(one(family(name)) for name in chosen)


# Differences below this share of the measure's range, or of what a constant answer has, do not
# matter.
ROPE = 0.01


@dataclass(frozen=True, eq=False)
class Choice:
    """The leaderboard, the comparison behind it and the family that was taken."""

    family: str
    reason: str
    leaderboard: tuple[Standing, ...]
    comparison: Comparison | None

    def after(self, failure: str) -> Choice | None:
        """The choice of the next model on the leaderboard, where the chosen one cannot be fitted.

        None where the constant answer alone is left.
        """
        place = next(i for i, row in enumerate(self.leaderboard) if row.is_chosen)
        taken = next((r for r in self.leaderboard[place + 1 :] if r.family != CONSTANT), None)
        if taken is None:
            return None
        rows = tuple(replace(row, is_chosen=row is taken) for row in self.leaderboard)
        return replace(self, family=taken.family, reason=failure, leaderboard=rows)


def choose(trials: Trials, measure: Measure, kind: str, attempts: Attempts | None = None) -> Choice:
    """The leaderboard of the trials and the model to take.

    The tests between models are an attempt: without them there is a leaderboard all the same.
    """
    scores = {name: fold_scores(trials, name, measure) for name in trials.runs}
    # The least first: losses as they are, scores turned round.
    sign = -1.0 if measure.greater_is_better else 1.0
    order = sorted(scores, key=lambda name: (sign * scores[name].mean(), list(scores).index(name)))
    rope = difference_that_matters(measure, scores)
    taken, reason = _taken(order, scores, rope, kind)
    comparison = None
    if len(scores) > 1:
        comparison = (attempts or Attempts())(
            "The tests between models",
            lambda: _compared(scores, trials, measure, rope, kind),
            lambda _: None,
            is_recorded=False,
        )
    standings = tuple(
        _standing(name, order[0], taken, trials, comparison, measure, kind) for name in order
    )
    return Choice(taken, reason, standings, comparison)


def _compared(
    scores: Mapping[str, Any], trials: Trials, measure: Measure, rope: float, kind: str
) -> Comparison | None:
    found = compare_scores(
        {title_of(name, kind): values for name, values in scores.items()},
        trials.splits.test_train_ratio,
        measure=measure.label,
        greater_is_better=measure.greater_is_better,
        n_repeats=trials.splits.n_repeats,
        rope=rope,
    )
    # Pairs are computed when they are asked for: here, where a failure costs the tests alone.
    return found if found.pairs else None


def fold_scores(trials: Trials, name: str, measure: Measure) -> Any:
    """The measure of a family on the outer folds, as it is; scorers turn losses round."""
    scores = np.array([run.scores["metric"] for run in trials.runs[name]])
    return scores if measure.greater_is_better else -scores


def difference_that_matters(measure: Measure, scores: Mapping[str, Any]) -> float:
    """The region of practical equivalence: one hundredth of the measure's scale.

    That is its range where it has one, else what the constant answer scores.
    """
    low, high = measure.limits
    if math.isfinite(low) and math.isfinite(high):
        return ROPE * min(1.0, high - low)
    size = abs(float(np.mean(scores[CONSTANT]))) if CONSTANT in scores else 0.0
    return ROPE * size if size > 0 else ROPE


def title_of(name: str, kind: str) -> str:
    """A family's name for people."""
    return STACK_TITLE if name == STACK else family(name).title_for(kind)


def comparison_record(choice: Choice) -> ComparisonRecord | None:
    """The tests behind the leaderboard, as the report shows them; None for one model."""
    comparison = choice.comparison
    if comparison is None:
        return None
    matrix = np.array([standing.fold_scores for standing in choice.leaderboard])
    ranks = score_ranks(matrix.T if comparison.greater_is_better else -matrix.T).mean(axis=0)
    pairs = tuple(
        (
            pair.first,
            pair.second,
            float(pair.difference.estimate),
            _finite(pair.difference.low),
            _finite(pair.difference.high),
            _finite(pair.adjusted_p_value),
            # Of a loss the smaller is better, so a bare "better" would not say which.
            f"{pair.winner} is {pair.decision}" if pair.winner else str(pair.decision),
        )
        for pair in comparison.pairs
    )
    return ComparisonRecord(
        names=tuple(standing.title for standing in choice.leaderboard),
        average_ranks=tuple(float(rank) for rank in ranks),
        critical_difference=None,
        friedman_p_value=None,
        pairs=pairs,
        verdict=comparison.verdict.splitlines()[0],
    )


# --- Steps ----------------------------------------------------------------------------------------


def _taken(order: list[str], scores: Mapping[str, Any], rope: float, kind: str) -> tuple[str, str]:
    best = order[0]
    if len(order) == 1:
        return best, "No other model was tried."
    single = next(name for name in order if name != STACK)
    if best == STACK:
        ahead = abs(float(scores[STACK].mean() - scores[single].mean()))
        if ahead <= rope:
            return single, (
                f"The stack is ahead of {title_of(single, kind)} by {ahead:.3g} only, too little "
                "to be worth a model that is harder to explain."
            )
        return best, "The stack is ahead of every single model by more than what matters."
    return best, f"Its mean over the outer folds is the best: {title_of(best, kind)}."


def _standing(
    name: str,
    best: str,
    taken: str,
    trials: Trials,
    comparison: Comparison | None,
    measure: Measure,
    kind: str,
) -> Standing:
    runs = trials.runs[name]
    scores = fold_scores(trials, name, measure)
    mean = corrected_interval(scores, trials.splits.test_train_ratio)
    # A t interval knows nothing of the measure's limits.
    low, high = np.clip((mean.low, mean.high), *measure.limits)
    per_thousand = [1000 * run.score_seconds / max(run.n_test, 1) for run in runs]
    standing = Standing(
        family=name,
        title=title_of(name, kind),
        score=Estimate(float(mean.estimate), _finite(low), _finite(high)),
        difference=None,
        p_value=None,
        probability_equivalent=None,
        fit_seconds=float(np.median([run.fit_seconds for run in runs])),
        predict_seconds=float(np.median(per_thousand)),
        settings=_most_frequent(name, trials, kind),
        is_chosen=name == taken,
        fold_scores=tuple(map(float, scores)),
    )
    if name == best or comparison is None:
        return standing
    return _against(standing, title_of(best, kind), comparison)


def _against(standing: Standing, best: str, comparison: Comparison) -> Standing:
    """The standing with its difference to the best, this one minus the best."""
    pair: Any = comparison.pair(standing.title, best)
    sign = 1.0 if pair.first == standing.title else -1.0
    ends = sorted((sign * pair.difference.low, sign * pair.difference.high))
    estimate = sign * pair.difference.estimate
    return replace(
        standing,
        difference=Estimate(float(estimate), _finite(ends[0]), _finite(ends[1])),
        p_value=_finite(pair.adjusted_p_value),
        probability_equivalent=_finite(pair.posterior.inside),
    )


def _most_frequent(name: str, trials: Trials, kind: str) -> tuple[tuple[str, str], ...]:
    """Settings that the inner folds chose most often; of a stack its members."""
    if name == STACK:
        members = Counter(member for fold in trials.stacked for member in fold)
        shown = ", ".join(title_of(member, kind) for member, _ in members.most_common(3))
        return (("members", shown),)
    chosen = Counter(int(run.facts["candidate"]) for run in trials.runs[name])
    number = min(chosen, key=lambda key: (-chosen[key], key))
    return settings_text(candidate(family(name), kind, number, None, 0, trials.columns))


def _finite(value: Any) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
