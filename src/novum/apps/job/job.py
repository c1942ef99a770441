"""The main job, step by step: read, understand, set aside, plan, try, choose, judge, write.

    table -> task -> hold-out | training rows -> plan -> trials -> choice -> judgment -> files

The hold-out is set aside before anything is learned and is looked at once, by the chosen model. The
folder of a run holds its request, its plan and the journals of its trials from the first moment on,
so a run that was interrupted goes on where it stopped and ends as if nothing had happened.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa

from novum.apps.job.attempts import Attempts, Warnings
from novum.apps.job.choosing import Choice, choose, comparison_record
from novum.apps.job.clock import DRAWING, JUDGING, Clock, Listener
from novum.apps.job.ending import Ending, end
from novum.apps.job.families import FAMILIES
from novum.apps.job.last_fits import some_rows
from novum.apps.job.metric import cost_measure, metric_of, risk_of_present
from novum.apps.job.outputs import (
    JOURNALS,
    LEADERBOARD,
    PLAN,
    REQUEST,
    RUN,
    check_folder,
    own_folder,
    write_leaderboard,
)
from novum.apps.job.planning import (
    PLANNED,
    PRESETS,
    STACK,
    TableSize,
    Wish,
    plan_trials,
    speed_probe,
)
from novum.apps.job.record import Finding, PlanRecord, ProfileRecord, RunRecord, SeveralRecord
from novum.apps.job.record_json import read_record, write_record
from novum.apps.job.request import Request
from novum.apps.job.several import Steps, run_several, with_targets
from novum.apps.job.shared_rows import SharedRows
from novum.apps.job.table.findings import find
from novum.apps.job.table.formalizing import formalize
from novum.apps.job.table.partition import Parts, data_record, set_aside
from novum.apps.job.table.profile import profile_table
from novum.apps.job.table.reading import LoadedTable, read
from novum.apps.job.table.task import Task
from novum.apps.job.trials import LearningRows, Trials, run_trials
from novum.apps.job.verdict import not_done, verdict
from novum.core.errors import FileFormatError, InputError, ReportWarning
from novum.core.tables import Coding, Kind
from novum.core.text import label_text, printable

# Seconds of the last stages besides their fits, and fits there.
_JUDGING_SECONDS, _DRAWING_SECONDS = 1.0, 1.0
_LAST_FITS = 12
# Rows with a target that a run takes at least, and folds below which it warns.
FEWEST_LABELED = 10
ENOUGH_FOLDS = 5
# Measures that are defined on folds without a row of some class.
RARE_CLASSES_MAY_LACK = ("accuracy", "bayes_risk", "mean_level_error")


def run(
    request: Request, folder: Path, listener: Listener | None = None
) -> RunRecord | SeveralRecord:
    """Runs the job in a folder of its own; where there are several targets, a run for each.

    Parameters
    ----------
    request : Request
    folder : path
        Made if it is not there. If it holds a run that was interrupted, that run is gone on with;
        a finished run, one with another request, or one that is going on is not overwritten.
    listener : Listener, optional
    """
    request = with_targets(request)
    with own_folder(folder):
        if not request.targets and request.task != "labels":
            return run_one(request, folder, listener)
        check_folder(request, folder)
        return run_several(request, folder, listener, Steps(run_one, plan_for, _open_folder))


def run_one(
    request: Request,
    folder: Path,
    listener: Listener | None = None,
    shared: SharedRows | None = None,
) -> RunRecord:
    """The run of one target, with the rows that it shares with others if there are some."""
    # A plan that is given is carried out, whatever time that takes.
    limit = request.budget_seconds if request.plan is None else None
    clock, attempts = Clock(limit, listener), Attempts()
    check_folder(request, folder)
    with clock.stage("reading the table"):
        loaded = read(request) if shared is None else shared.table_of(str(request.target))
        task = formalize(loaded, request)
        _check_rows(task)
        if shared is None:
            parts = set_aside(task, request, loaded)
        else:
            parts = shared.parts_of(task, request)
        _check_classes(task, parts)
        _open_folder(request, folder)
    with clock.stage("looking at the columns"):
        profile = attempts(
            "The profile of the columns",
            lambda: profile_table(
                loaded.table, loaded.schema, loaded.target, task.kind, task.kinds
            ),
            lambda _: ProfileRecord(loaded.table.num_rows, (), None, 0, 0, (), 0),
        )
    with clock.stage("planning"):
        size = table_size(task, parts)
        plan = _planned(request, task, size, folder, loaded)
        findings = attempts(
            "The search for what calls for a warning",
            # Where the profile failed there is nothing to search, and that is said already.
            lambda: find(task, profile, loaded.report, folds=plan.folds) if profile.columns else (),
            _not_searched,
        )
        findings = (*_few_folds(task, parts, plan, size, request), *findings)
        rows = trial_rows(task, parts, plan)
        metric = metric_of(task)
        data = data_record(loaded, task, parts)
    clock.listener.understood(data, task.record(), findings)
    slower = speed_probe() / plan.machine_factor
    clock.listener.expect(
        {title: slower * seconds for title, seconds in forecasts(plan).items()}, clock.budget
    )
    heard = Warnings()
    with clock.stage("trying models"):
        trials = run_trials(
            plan,
            rows,
            metric,
            folder / JOURNALS,
            n_jobs=request.n_jobs,
            clock=clock,
            heard=heard,
            splits=None if shared is None else shared.splits_of(rows),
        )
        if trials.stopped:
            plan = trials.done(plan)
            write_record(plan, folder / PLAN)
        choice = choose(trials, metric.measure, task.kind, attempts)
        write_leaderboard(folder / LEADERBOARD, choice.leaderboard, metric.measure.label)
    clock.listener.expect(last_forecasts(plan, choice), clock.budget)
    with clock.stage(JUDGING), heard:
        ending = end(
            Ending(
                request,
                task,
                parts,
                plan,
                size,
                profile,
                rows,
                metric,
                trials,
                choice,
                folder,
                attempts,
                clock,
            )
        )
        plan = ending.plan
    if ending.choice is not choice:
        choice = ending.choice
        write_leaderboard(folder / LEADERBOARD, choice.leaderboard, metric.measure.label)
    said = attempts(
        "The verdict", lambda: verdict(task, choice, ending, plan), lambda sentence: (sentence,)
    )
    comparison = attempts(
        "The comparison of the models", lambda: comparison_record(choice), lambda _: None
    )
    omissions = attempts(
        "The list of what was not done",
        lambda: not_done(plan, task, parts, ending),
        lambda _: (),
    )
    failures = (*trials.failed, *attempts.sentences)
    record = RunRecord(
        verdict=said,
        settings=asdict(request),
        versions=versions(),
        data=data,
        task=task.record(),
        findings=findings,
        profile=profile,
        plan=plan,
        leaderboard=choice.leaderboard,
        comparison=comparison,
        chosen=ending.chosen,
        holdout=ending.holdout,
        learning_curve=ending.learning_curve,
        not_done=(*omissions, *attempts.omitted, *failures, *heard.sentences()),
        stage_seconds=tuple(clock.seconds.items()),
        date=date.today().isoformat(),
    )
    write_record(record, folder / RUN)
    for sentence in failures:
        warnings.warn(sentence, ReportWarning, stacklevel=2)
    return record


def resume(folder: Path, listener: Listener | None = None) -> RunRecord | SeveralRecord:
    """Goes on with a run that was interrupted."""
    if not (folder / REQUEST).exists():
        raise InputError(
            f"{folder} holds no run that could be gone on with: there is no {REQUEST}. Name the "
            "folder that --output named."
        )
    return run(read_record(folder / REQUEST, Request), folder, listener)


# --- Forecasts ------------------------------------------------------------------------------------


def forecasts(plan: PlanRecord) -> dict[str, float]:
    """Titles of the work of a run with their seconds, as planned."""
    tried = sorted(
        (trial for trial in plan.trials if trial.status == PLANNED),
        key=lambda trial: (trial.family == STACK, trial.forecast_seconds),
    )
    one_fit = max((trial.forecast_seconds / max(trial.n_fits, 1) for trial in tried), default=0.0)
    return {
        **{trial.title: trial.forecast_seconds for trial in tried},
        JUDGING: _JUDGING_SECONDS + _LAST_FITS * one_fit,
        DRAWING: _DRAWING_SECONDS,
    }


def last_forecasts(plan: PlanRecord, choice: Choice) -> dict[str, float]:
    """The last stages, by what the fits of the chosen model took."""
    chosen = next(row for row in choice.leaderboard if row.is_chosen)
    seconds = _JUDGING_SECONDS + _LAST_FITS * chosen.fit_seconds
    if plan.last.searches_again:
        seconds += chosen.search_seconds
    return {JUDGING: seconds, DRAWING: _DRAWING_SECONDS}


# --- Steps ----------------------------------------------------------------------------------------


def _check_rows(task: Task) -> None:
    """Refuses what is too little to learn from, to compare models on and to judge one on."""
    n_rows = len(task.labeled)
    if n_rows < FEWEST_LABELED:
        shown = "1 row with a target is" if n_rows == 1 else f"{n_rows} rows with a target are"
        raise InputError(
            f"{shown} too few: some are learned from, models are compared on some, and one is "
            f"judged on others, which takes {FEWEST_LABELED} rows at least. Add rows."
        )


def _check_classes(task: Task, parts: Parts) -> None:
    """Two classes have a row to learn from and another to be judged on."""
    if task.classes is None:
        return
    counts = np.bincount(task.coded[parts.train], minlength=len(task.classes))
    if np.count_nonzero(counts > 1) < 2:
        label = label_text(task.classes[int(counts.argmax())])
        raise InputError(
            f"Only the class {label} has two rows or more to learn from, so models cannot be "
            "compared on rows that they have not seen. Add rows of the other classes, or join them."
        )


def _few_folds(
    task: Task, parts: Parts, plan: PlanRecord, size: TableSize, request: Request
) -> tuple[Finding, ...]:
    """Says that a rare class or few groups leave fewer folds than usual."""
    usual = min(ENOUGH_FOLDS, PRESETS[plan.preset].folds)
    if request.folds is not None or plan.folds >= usual:
        return ()
    if size.n_groups is not None:
        reason = f"there are {size.n_groups} groups to learn from"
    elif task.classes is not None:
        counts = np.bincount(task.coded[parts.train], minlength=len(task.classes))
        label = label_text(task.classes[int((counts == size.smallest_class).argmax())])
        reason = f"the class {label} has {size.smallest_class} rows to learn from"
    else:
        reason = f"there are {size.n_rows} rows to learn from"
    return (
        Finding(
            "few folds",
            "warning",
            (task.target,),
            f"Models are compared on {plan.folds} folds in place of {usual}, because {reason}.",
            "The scores are uncertain. Add rows, join classes, or name the folds yourself, such as "
            f"--cv 2x{usual}.",
        ),
    )


def _not_searched(sentence: str) -> tuple[Finding, ...]:
    return (Finding("no search", "warning", (), sentence, "Look at the table yourself."),)


def _open_folder(request: Request, folder: Path) -> None:
    """Writes to the folder once the request is known to make sense."""
    (folder / JOURNALS).mkdir(parents=True, exist_ok=True)
    write_record(request, folder / REQUEST)


def _planned(
    request: Request, task: Task, size: TableSize, folder: Path, loaded: LoadedTable
) -> PlanRecord:
    """The plan of the folder, or a new one; a plan belongs to the bytes of one table."""
    path, digest = folder / PLAN, folder / f"{loaded.sha256[:16]}.table"
    if path.exists():
        if not digest.exists():
            raise InputError(
                f"{loaded.name} has changed since this run began, so its finished folds no longer "
                "hold. Start a new run with another --output."
            )
        return read_record(path, PlanRecord)
    if request.plan is not None:
        plan = _given_plan(request, Path(request.plan), task)
        digest.touch()
        write_record(plan, path)
        return plan
    plan = plan_for(request, task, size)
    digest.touch()
    write_record(plan, path)
    return plan


def plan_for(request: Request, task: Task, size: TableSize | None = None) -> PlanRecord:
    """A new plan; without a size, that of all rows with a target."""
    if size is None:
        _check_rows(task)
        size = table_size(task, set_aside(task, replace(request, holdout=0.0, test=None)))
    wish = Wish(
        task.kind,
        request.preset,
        request.budget_seconds,
        request.seed,
        request.models,
        request.repeats,
        request.folds,
    )
    # Without a budget the plan must not depend on the machine.
    factor = 1.0 if request.budget_seconds is None else speed_probe()
    return plan_trials(size, wish, factor)


def _given_plan(request: Request, path: Path, task: Task) -> PlanRecord:
    """The plan of another run, from its plan.json or its run.json."""
    shown = repr(printable(str(path), 200))
    source = path / RUN if path.is_dir() else path
    try:
        try:
            plan = read_record(source, PlanRecord)
        except FileFormatError:
            plan = read_record(source, RunRecord).plan
    except OSError as error:
        raise InputError(
            f"--plan {shown} cannot be read: {error.strerror}. Name a plan.json or run.json."
        ) from None
    except FileFormatError:
        raise InputError(
            f"--plan {shown} is no plan. Name the plan.json or run.json of a run."
        ) from None
    for trial in plan.trials:
        if trial.status == PLANNED and trial.family != STACK:
            known = {row.name for row in FAMILIES if row.role(task.kind) is not None}
            if trial.family not in known:
                raise InputError(
                    f"--plan {shown} tries {trial.title}, which is not for this task. Take a plan "
                    "of the same kind of target."
                )
    if request.models or request.repeats or request.folds:
        raise InputError("--plan names models and folds already. Leave out --models and --cv.")
    return plan


def table_size(task: Task, parts: Parts) -> TableSize:
    """What prices depend on."""
    smallest = len(parts.train)
    n_classes = 1
    if task.classes is not None:
        counts = np.bincount(task.coded[parts.train], minlength=len(task.classes))
        n_classes = len(task.classes)
        if task.metric in RARE_CLASSES_MAY_LACK:
            # One rare class of many does not cost all others their folds.
            smallest = int(np.sort(counts)[-2])
        else:
            # A single row is learned from or judged, never both, whatever the number of folds.
            smallest = int(counts[counts > 1].min(initial=len(parts.train)))
    return TableSize(
        n_rows=len(parts.train),
        n_columns=task.X.num_columns,
        n_coded=len(Coding(task.plain_schema).names),
        n_classes=n_classes,
        smallest_class=smallest,
        has_missing=any(column.null_count for column in task.X.columns),
        has_nominal=any(column.kind is not Kind.NUMERIC for column in task.plain_schema.columns),
        n_groups=None if task.groups is None else len(np.unique(task.groups[parts.train])),
        in_time=task.order is not None,
        has_text=bool(task.columns.texts),
        is_text_alone=task.columns.are_texts_alone,
        most_whole=task.columns.most_whole,
        n_empty=_n_empty(task.X),
    )


def _n_empty(X: pa.Table) -> int:
    """Rows without any known cell."""
    known = np.zeros(X.num_rows, bool)
    for column in X.columns:
        if not column.null_count:
            return 0
        known |= np.asarray(column.is_valid())
    return int((~known).sum())


def trial_rows(task: Task, parts: Parts, plan: PlanRecord) -> LearningRows:
    """The training rows that the trials see: all, or as many as the plan says."""
    wanted = max((trial.n_rows for trial in plan.trials), default=0)
    at = some_rows(task, parts.train, wanted, plan.seed, "trials")
    return LearningRows.of(task, task.rows(at))


def versions() -> dict[str, str]:
    """Of Python and of what the numbers depend on."""
    import platform
    from importlib.metadata import version

    names = ("novum", "numpy", "scipy", "scikit-learn", "numba", "pyarrow")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


__all__ = [
    "DRAWING",
    "LEADERBOARD",
    "PLAN",
    "REQUEST",
    "RUN",
    "Choice",
    "Listener",
    "Trials",
    "cost_measure",
    "metric_of",
    "resume",
    "risk_of_present",
    "run",
    "run_one",
]
