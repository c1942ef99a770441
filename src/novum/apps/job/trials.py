"""Running the plan: every family tuned inside each outer fold and judged on the rows left out.

Families share the outer folds. A search sees the training part of a fold alone and chooses among
the family's candidates by inner folds; the stack of a fold is made of the families that these inner
folds rank first, with the settings chosen there, so it has seen no tested row either. Finished
folds are kept in journals, one for each family, and an interrupted run goes on after them.

The cheapest families run first. Where time is limited, a family may take some times its part of
what is left; one that takes longer is stopped, goes on after its last finished fold if the others
leave time, and is left out if they do not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from novum.apps.job.attempts import Warnings, failed
from novum.apps.job.building import build, candidate, grid, imported, in_order
from novum.apps.job.clock import END_OF_TRIALS, Clock
from novum.apps.job.families import family
from novum.apps.job.planning import CONSTANT, PLANNED, STACK, STACK_MEMBERS
from novum.apps.job.record import OF_NUMBERS, PlannedTrial, PlanRecord
from novum.apps.job.table.task import PLAIN, Rows, SpecialColumns, Task
from novum.core.runtime import OutOfTime, Progress, deadline, run_tasks
from novum.evaluation import (
    FoldRun,
    GridSearchCV,
    RepeatedFolds,
    Splits,
    grouped,
    plan_splits,
    run_folds,
    time_ordered,
)

# Members of a stack where no inner folds say which are best.
_PREFERRED = ("gradient_boosting", "forest", "linear", "tree", "naive_bayes")
# A family is stopped that takes this many times its part of the time left, or this share of it.
_PATIENCE, _SHARE = 2.0, 0.15
# Rows that the time of a prediction is measured on.
TIMED_ROWS = 1000
# A prediction that took fewer seconds is timed again.
_REPEATED = 1.0


@dataclass(frozen=True, eq=False)
class LearningRows:
    """Rows to learn from.

    Attributes
    ----------
    kind : {"binary", "multiclass", "ordinal", "regression", "counts"}
    X : Arrow table
    y : array
    weight, groups : arrays or None
    in_time : bool
        Whether the rows are in the order of time, which folds then keep.
    positions : array or None
        Of the rows in the table.
    columns : SpecialColumns
        Dates, free text, and columns that count in two ways.
    levels : tuple
        Classes of an ordinal task, from low to high.
    """

    kind: str
    X: Any
    y: Any
    weight: Any = None
    groups: Any = None
    in_time: bool = False
    positions: Any = None
    columns: SpecialColumns = PLAIN
    levels: tuple[Any, ...] = ()

    @classmethod
    def of(cls, task: Task, rows: Rows) -> LearningRows:
        """Some rows of a task."""
        return cls(
            task.kind,
            rows.X,
            rows.y,
            rows.weight,
            rows.groups,
            rows.order is not None,
            rows.positions,
            task.columns,
            task.levels,
        )

    @property
    def is_classification(self) -> bool:
        return self.kind not in OF_NUMBERS


@dataclass(frozen=True, eq=False)
class Trials:
    """What the outer folds say: for each family its runs, in the order of `splits`.

    `failed` has a sentence for each family whose fits failed, and `stopped` the reasons of those
    that took too long; both are in no run.
    """

    splits: Splits
    runs: Mapping[str, tuple[FoldRun, ...]]
    stacked: tuple[tuple[str, ...], ...]
    failed: tuple[str, ...] = ()
    stopped: Mapping[str, str] = field(default_factory=dict)
    columns: SpecialColumns = PLAIN

    def done(self, plan: PlanRecord) -> PlanRecord:
        """The plan as it was carried out: families that were stopped are left out."""
        trials = (
            replace(trial, status=self.stopped.get(trial.family, trial.status))
            for trial in plan.trials
        )
        return replace(plan, trials=tuple(trials))


def run_trials(
    plan: PlanRecord,
    rows: LearningRows,
    metric: Any,
    folder: Path,
    *,
    n_jobs: int = 1,
    clock: Clock | None = None,
    heard: Warnings | None = None,
    splits: Splits | None = None,
) -> Trials:
    """Runs every planned family and the stack on the outer folds.

    Parameters
    ----------
    plan : PlanRecord
    rows : LearningRows
        As many as the plan says.
    metric : scorer
    folder : path
        Of the journals; those of an interrupted run are gone on with.
    n_jobs : int
        Folds at once; the bits do not depend on it.
    clock : Clock, optional
        Whose listener is told of every family and fold, and whose budget ends the trials.
    heard : Warnings, optional
        Hears what the fits warn of; what finished families said is read from the folder.
    splits : Splits, optional
        Folds that are shared with other targets, in place of those of the plan.

    Notes
    -----
    A family whose fits fail is left out with a sentence, so that it costs the others nothing. Where
    the constant answer fails too, or nothing else is left, its error is raised.
    """
    heard, clock = heard or Warnings(), clock or Clock(None)
    with heard.remembered(folder / "folds.warnings.json"):
        splits = outer_splits(plan, rows) if splits is None else splits
    planned = [trial for trial in plan.trials if trial.status == PLANNED]
    queue = sorted(planned, key=lambda trial: (trial.family == STACK, trial.forecast_seconds))
    n_steps = len(queue)
    runs: dict[str, tuple[FoldRun, ...]] = {}
    stacked: tuple[tuple[str, ...], ...] = ()
    failures: dict[str, Exception] = {}
    stopped: dict[str, str] = {}
    while queue:
        trial = queue.pop(0)
        is_again = trial.family in stopped
        clock.listener.step(trial.title, len(runs) + len(failures), n_steps)
        if trial.family == STACK and sum(family(name).can_be_stacked for name in runs) < 2:
            # Families that failed left fewer than the two that a stack needs.
            continue
        seconds = _allowed(trial, [] if is_again else queue, clock)
        if seconds <= 0:
            stopped.setdefault(
                trial.family, "was not begun before the budget was used up; raise --budget"
            )
            continue
        folds = _folds(clock, len(splits))
        try:
            with heard.remembered(folder / f"{trial.family}.warnings.json"), deadline(seconds):
                if trial.family == STACK:
                    stacked, runs[STACK] = _run_stacks(
                        plan, rows, splits, metric, folder, runs, n_jobs, folds
                    )
                else:
                    model = tuned(plan, trial.family, rows, metric)
                    runs[trial.family] = _run(
                        trial.family, model, rows, splits, metric, folder, n_jobs, folds
                    )
            stopped.pop(trial.family, None)
        except OutOfTime:
            if trial.family in runs:
                # The time was over in the moment when the last fold was finished.
                continue
            stopped[trial.family] = (
                "was stopped when it had taken more than its part of the budget; raise --budget to "
                "try it"
            )
            if not is_again and trial.family != STACK:
                # What the others leave of their time is for this one; its folds are not lost.
                queue.insert(len(queue) - (STACK in {one.family for one in queue}), trial)
        except (OSError, MemoryError):
            # The disk or the memory is at fault: once there is room, the run can go on.
            raise
        except Exception as error:
            if trial.family == CONSTANT:
                raise
            failures[trial.title] = error
    if failures and set(runs) <= {CONSTANT}:
        raise next(iter(failures.values()))
    clock.listener.step("", n_steps, n_steps)
    return Trials(
        splits,
        {trial.family: runs[trial.family] for trial in planned if trial.family in runs},
        stacked,
        tuple(failed(f"Fits of {t}", e) for t, e in failures.items()),
        stopped,
        rows.columns,
    )


def _allowed(trial: PlannedTrial, others: Sequence[PlannedTrial], clock: Clock) -> float:
    """Seconds that a trial may take before others that are to come."""
    left = clock.until(END_OF_TRIALS)
    if trial.family == CONSTANT or not clock.is_limited:
        # What all others have to beat is not given up.
        return max(left, 60.0)
    rest = sum(one.forecast_seconds for one in others)
    part = trial.forecast_seconds / (trial.forecast_seconds + rest) if rest > 0 else 1.0
    return left * min(1.0, max(_SHARE, _PATIENCE * part))


class _FoldsDone:
    """Tells the listener of a run how many folds of a family are finished."""

    def __init__(self, clock: Clock, total: int) -> None:
        self._clock, self._total, self._done = clock, total, 0

    def advance(self, _note: str, _fitted: Any, /) -> bool:
        self._done += 1
        self._clock.listener.advance(min(1.0, self._done / self._total))
        return False

    def note(self, text: str) -> None:
        del text

    def close(self, *, finished: bool) -> None:
        del finished


def _folds(clock: Clock, total: int) -> Progress:
    return Progress(_FoldsDone(clock, total))


def outer_splits(plan: PlanRecord, rows: LearningRows) -> Splits:
    """The folds that judge, shared by all families."""
    if rows.groups is not None:
        cv: Any = grouped(plan.folds)
    elif rows.in_time:
        return plan_splits(rows.X, rows.y, time_ordered(plan.folds), classifier=False)
    else:
        cv = f"{plan.repeats}x{plan.folds}"
    return plan_splits(
        rows.X,
        rows.y,
        cv,
        groups=rows.groups,
        classifier=rows.is_classification,
        random_state=plan.seed if isinstance(cv, str) else None,
    )


def built(name: str, rows: LearningRows, seed: int) -> Any:
    """The family's estimator for these rows, with its preferred settings."""
    return build(
        family(name),
        rows.kind,
        seed=seed,
        columns=rows.columns,
        levels=rows.levels,
    )


def tuned(plan: PlanRecord, name: str, rows: LearningRows, metric: Any) -> Any:
    """The family's estimator, inside a search where there are settings to choose from."""
    row = family(name)
    estimator = built(name, rows, plan.seed)
    n_candidates = next(trial.n_candidates for trial in plan.trials if trial.family == name)
    if n_candidates < 2:
        return estimator
    return GridSearchCV(
        estimator,
        grid(row, rows.kind, n_candidates, estimator, plan.seed, rows.columns),
        scoring=metric,
        cv=inner_folds(plan, rows),
        error_score="raise",
    )


def inner_folds(plan: PlanRecord, rows: LearningRows) -> Any:
    """Folds that choose, within the training part of an outer fold."""
    if rows.groups is not None:
        return grouped(plan.inner_folds)
    return time_ordered(plan.inner_folds) if rows.in_time else f"1x{plan.inner_folds}"


def stack_of(members: Mapping[str, int], plan: PlanRecord, rows: LearningRows) -> Any:
    """A stack of families with the candidates of these numbers."""
    name = "StackingClassifier" if rows.is_classification else "StackingRegressor"
    estimators = []
    for member, number in members.items():
        row = family(member)
        model = built(member, replace(rows, levels=()), plan.seed)
        settings = candidate(row, rows.kind, number, model, plan.seed, rows.columns)
        estimators.append((member, model.set_params(**settings)))
    # Shuffled, because tables are often sorted; a value that model files can hold.
    folds = RepeatedFolds(plan.inner_folds, 1, plan.seed)
    return in_order(imported(f"novum.ensemble:{name}")(estimators, cv=folds), rows.levels)


def best_members(facts: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """The families that go into a stack, with the numbers of their candidates.

    `facts` has for each family the chosen candidate and its inner score, None if there was no
    choice.

    Examples
    --------
    >>> facts = {"tree": {"candidate": 1, "inner_score": 0.7}, "linear": {"candidate": 0,
    ...          "inner_score": 0.9}, "naive_bayes": {"candidate": 0, "inner_score": None}}
    >>> best_members(facts)
    {'linear': 0, 'tree': 1}
    """
    scored = {name: fact for name, fact in facts.items() if fact["inner_score"] is not None}
    if len(scored) > 1:
        order = sorted(scored, key=lambda name: -scored[name]["inner_score"])
    else:
        known = [name for name in _PREFERRED if name in facts]
        order = known + [name for name in facts if name not in known]
    return {name: int(facts[name]["candidate"]) for name in order[:STACK_MEMBERS]}


# --- Steps ----------------------------------------------------------------------------------------


def chosen_candidate(model: Any) -> dict[str, Any]:
    """Which candidate a fitted search chose, how well it did on the inner folds, and its fit."""
    if not isinstance(model, GridSearchCV):
        return {"candidate": 0, "inner_score": None}
    return {
        "candidate": int(model.best_index_),
        "inner_score": float(model.best_score_),
        "refit_seconds": float(model.refit_time_),
    }


class _Facts:
    """Facts of every fold's model; of the first one, what predicting a thousand rows takes."""

    def __init__(self, rows: LearningRows) -> None:
        self._rows, self._is_timed = rows, False

    def __call__(self, model: Any) -> dict[str, Any]:
        facts = chosen_candidate(model)
        if not self._is_timed:
            self._is_timed = True
            table = self._rows.X.take(pa.array(np.arange(TIMED_ROWS) % self._rows.X.num_rows))
            facts["predict_seconds"] = _seconds_of(model.predict, table)
            if facts["predict_seconds"] < _REPEATED:
                # The first call may have loaded or compiled something.
                again = _seconds_of(model.predict, table)
                facts["predict_seconds"] = min(facts["predict_seconds"], again)
        return facts


def _seconds_of(step: Callable[[Any], Any], table: Any) -> float:
    began = time.perf_counter()
    step(table)
    return time.perf_counter() - began


def fit_params(model: Any, rows: LearningRows) -> dict[str, Any]:
    """Arguments of `fit` besides the rows: groups for searches."""
    takes_groups = rows.groups is not None and isinstance(model, GridSearchCV)
    return {"groups": rows.groups} if takes_groups else {}


def _run(
    name: str,
    model: Any,
    rows: LearningRows,
    splits: Splits,
    metric: Any,
    folder: Path,
    n_jobs: int,
    progress: Progress | None = None,
    facts: _Facts | None = None,
) -> tuple[FoldRun, ...]:
    runs = run_folds(
        {name: model},
        rows.X,
        rows.y,
        splits,
        {"metric": metric},
        sample_weight=rows.weight,
        params=fit_params(model, rows),
        n_jobs=n_jobs,
        journal=folder / f"{name}.jsonl",
        keep="predict_proba" if rows.is_classification else "predict",
        describe=facts or _Facts(rows),
        progress=progress,
    )
    return runs[name]


def _run_stacks(
    plan: PlanRecord,
    rows: LearningRows,
    splits: Splits,
    metric: Any,
    folder: Path,
    runs: Mapping[str, tuple[FoldRun, ...]],
    n_jobs: int,
    progress: Progress | None = None,
) -> tuple[tuple[tuple[str, ...], ...], tuple[FoldRun, ...]]:
    """Fold by fold, because the members and their settings are those the fold chose."""
    tried = [name for name in runs if family(name).can_be_stacked]
    facts = _Facts(rows)

    def one(number: int) -> tuple[tuple[str, ...], FoldRun]:
        best = best_members({name: runs[name][number].facts for name in tried})
        alone = Splits((splits.parts[number],), splits.n_rows, 1, 1, "1 fold")
        stack = stack_of(best, plan, rows)
        (run,) = _run(f"{STACK}_{number}", stack, rows, alone, metric, folder, 1, progress, facts)
        return tuple(best), run

    pairs = run_tasks(one, range(len(splits)), n_jobs)
    return tuple(members for members, _ in pairs), tuple(run for _, run in pairs)
