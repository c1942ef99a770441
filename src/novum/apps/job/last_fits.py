"""From the chosen family to fitted models: settings, the judged fit and the fit for use.

Settings are chosen once more by the inner folds on all rows of the trials, or, for a stack and
where there is no time for that, are those that the outer folds chose most often. The model is
fitted to the training rows and judged; with the same settings it is then fitted to all labeled rows
for use. A fit whose forecast does not fit its part of the budget takes a sample of the rows, and
the report says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from novum.apps.job.building import candidate
from novum.apps.job.clock import END_OF_JUDGMENT
from novum.apps.job.families import Family, family
from novum.apps.job.planning import STACK, STACK_MEMBERS, USUAL_SECONDS, TableSize, price
from novum.apps.job.record import PlanRecord
from novum.apps.job.record_model import Curve
from novum.apps.job.table.task import Task
from novum.apps.job.trials import LearningRows, Trials, built, fit_params, stack_of, tuned
from novum.core.runtime import OutOfTime, fitted_model, stream
from novum.evaluation import GridSearchCV, learning_curve

# Of the budget, for each of the two last fits.
SHARE_OF_A_FIT = 0.12
FEWEST_FITTED = 10_000
RARE_ROWS = 10
# Shuffled, because tables are often sorted by class.
CURVE_FOLDS = "1x5"
_SHORT_CURVE = (0.3, 1.0)
# Forecast of the fits of one fold beyond which a curve is short: usually, and in the quick preset.
_DEAR_CURVE = (5.0, 1.0)


def settled(
    name: str, plan: PlanRecord, trials: Trials, rows: LearningRows, metric: Any
) -> tuple[Any, dict[str, int]]:
    """The chosen model, unfitted, and the candidates it or its members were given."""
    if name == STACK:
        members = _frequent_members(trials)
        return stack_of(members, plan, rows), members
    model = tuned(plan, name, rows, metric)
    number = 0
    if isinstance(model, GridSearchCV) and not plan.last.searches_again:
        number = frequent_candidate(name, trials)
    elif isinstance(model, GridSearchCV):
        search = model.set_params(refit=False)
        more = {} if rows.weight is None else {"sample_weight": rows.weight}
        search.fit(rows.X, rows.y, **more, **fit_params(search, rows))
        number = int(search.best_index_)
    row = family(name)
    estimator = built(name, rows, plan.seed)
    settings = candidate(row, rows.kind, number, estimator, plan.seed, rows.columns)
    return estimator.set_params(**settings), {name: number}


def most_rows(chosen: dict[str, int], plan: PlanRecord, size: TableSize, kind: str) -> int:
    """Rows that a last fit may have."""
    if plan.last.n_fitted is not None:
        return plan.last.n_fitted
    budget = USUAL_SECONDS if plan.budget_seconds is None else plan.budget_seconds
    allowed = SHARE_OF_A_FIT * budget / plan.machine_factor
    fits = plan.inner_folds + 1 if len(chosen) > 1 else 1
    n_rows = size.n_rows
    while n_rows > 1 and fits * price_of_fit(chosen, replace(size, n_rows=n_rows), kind) > allowed:
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


def curve_of_rows(
    model: Any, rows: LearningRows, sizes: Sequence[float], metric: Any, seed: int, n_jobs: int
) -> Curve | None:
    """The score against the number of rows; None where no part of them has a score."""
    curve = learning_curve(
        model,
        rows.X,
        rows.y,
        train_sizes=list(sizes),
        cv=CURVE_FOLDS,
        scoring=metric,
        n_jobs=n_jobs,
        random_state=seed,
        shuffle=True,
        params=None if rows.weight is None else {"sample_weight": rows.weight},
    )
    sign = 1.0 if metric.measure.greater_is_better else -1.0
    # The smallest parts may lack a class, and have no score then.
    known = [
        (size, one)
        for size, one in zip(curve.train_sizes, curve.intervals(), strict=True)
        if np.isfinite([one.estimate, one.low, one.high]).all()
    ]
    if not known:
        return None
    ends = [sorted((sign * one.low, sign * one.high)) for _, one in known]
    low, high = np.clip(np.array(ends).T, *metric.measure.limits)
    return Curve(
        tuple(float(size) for size, _ in known),
        tuple(sign * float(one.estimate) for _, one in known),
        tuple(map(float, low)),
        tuple(map(float, high)),
        (),
        metric.measure.label,
    )


def curve_in_time(model: Any, ending: Any) -> Curve | None:
    """The score against the number of rows; None where folds must keep groups or time."""
    rows = ending.rows
    if rows.groups is not None or rows.in_time or rows.X.num_rows < 30:
        return None
    sizes = ending.plan.last.curve_sizes
    if ending.clock.is_limited:
        left = ending.clock.until(END_OF_JUDGMENT)
        affordable = [one for one in (sizes, _SHORT_CURVE) if _curve_seconds(one, ending) < left]
        sizes = affordable[0] if affordable else ()
        ending.plan = with_last(ending.plan, curve_sizes=sizes)
    elif len(sizes) * ending.price > _DEAR_CURVE[ending.plan.preset == "quick"]:
        # By forecast, which is the same on every machine.
        sizes = _SHORT_CURVE
        ending.plan = with_last(ending.plan, curve_sizes=sizes)
    if not sizes:
        raise OutOfTime
    return curve_of_rows(model, rows, sizes, ending.metric, ending.plan.seed, ending.request.n_jobs)


def _curve_seconds(sizes: tuple[float, ...], ending: Any) -> float:
    """What the fits of a learning curve take, by the fit of the judged model."""
    folds = int(CURVE_FOLDS.partition("x")[2])
    more_rows = ending.rows.X.num_rows / max(ending.n_judged_fit, 1)
    return 1.2 * folds * sum(sizes) * more_rows * ending.fit_seconds


def with_last(plan: PlanRecord, **changes: Any) -> PlanRecord:
    """The plan with other last steps."""
    return replace(plan, last=replace(plan.last, **changes))


# --- Steps ----------------------------------------------------------------------------------------


def _frequent_members(trials: Trials) -> dict[str, int]:
    """The families that stacks had most often, each with its most frequent candidate."""
    counts = Counter(member for fold in trials.stacked for member in fold)
    order = sorted(counts, key=lambda name: (-counts[name], list(trials.runs).index(name)))
    return {name: frequent_candidate(name, trials) for name in order[:STACK_MEMBERS]}


def frequent_candidate(name: str, trials: Trials) -> int:
    """The settings that the outer folds chose most often."""
    chosen = Counter(int(run.facts["candidate"]) for run in trials.runs[name])
    return min(chosen, key=lambda number: (-chosen[number], number))


def price_of_fit(chosen: dict[str, int], size: TableSize, kind: str) -> float:
    """Seconds of one fit of the chosen families on the reference machine."""

    def one(row: Family) -> float:
        role = row.role(kind, size.has_text)
        return 0.0 if role is None else price(role.price, size)

    return sum(one(family(name)) for name in chosen)
