"""Several targets at once: one table, the same rows and folds, a run for each, one model of all.

    table -> tasks -> rows set aside and folds, once -> a run for each target -> model, record

Each target has the model that is best for it, chosen without a look at the other targets: no target
is a feature of another. Every run has a folder of its own within that of the whole, so that what is
finished is never done again and never lost, whatever happens to the others.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path

from novum.apps.job.attempts import Attempts, failed
from novum.apps.job.clock import DRAWING, JUDGING, Clock, Listener, Silent
from novum.apps.job.joint_results import (
    all_right,
    joined_leaderboards,
    joined_predictions,
    prediction_lines,
    verdict,
    write_rows,
)
from novum.apps.job.labels import (
    Lines,
    constant_lines,
    constant_model,
    judged_sets,
    label_verdict,
    rare_labels,
    rare_sentence,
    set_lines,
    set_measures,
)
from novum.apps.job.outputs import (
    LEADERBOARD,
    MODEL,
    PLAN,
    PREDICTIONS,
    REQUEST,
    RUN,
)
from novum.apps.job.record import (
    DataRecord,
    Finding,
    LabelsRecord,
    PlanRecord,
    RunRecord,
    SeveralRecord,
    TaskRecord,
)
from novum.apps.job.record_json import read_record, write_record
from novum.apps.job.record_model import Estimate
from novum.apps.job.request import Request
from novum.apps.job.shared_rows import SharedRows
from novum.apps.job.table.formalizing import formalize
from novum.apps.job.table.labels import LabelSets, read_sets, with_labels
from novum.apps.job.table.reading import LoadedTable, read
from novum.apps.job.table.task import Task
from novum.core import load, save
from novum.core.errors import FileFormatError, InputError, ReportWarning
from novum.core.text import printable
from novum.ensemble import LabelModels, TargetModels

FOLDER = "targets"
# Of the budget, for all runs together; the rest is for reading and for what is written at the end.
_SHARE_OF_RUNS = 0.93
_FOR_ONE = ("cost", "prior", "cost_fn", "cost_fp", "positive")


@dataclass(frozen=True)
class Steps:
    """Steps of the run of one target, which several share."""

    run: Callable[..., RunRecord]
    plan: Callable[..., PlanRecord]
    open_folder: Callable[[Request, Path], None]


@dataclass(frozen=True, eq=False)
class Targets:
    """The targets of a table, as they were understood.

    Attributes
    ----------
    loaded : LoadedTable
        With a column for each label, where the target is a column of sets.
    tasks : mapping of names to Task
    hidden : tuple of str
        Columns that are no feature of any target.
    sets : LabelSets or None
    rare : mapping of names to int
        Labels that nothing can be learned about.
    """

    loaded: LoadedTable
    tasks: Mapping[str, Task]
    hidden: tuple[str, ...]
    sets: LabelSets | None
    rare: Mapping[str, int]

    @classmethod
    def of(cls, request: Request) -> Targets:
        """Reads the table and each of its targets."""
        loaded, sets = read(request), None
        names = hidden = request.targets
        if request.task == "labels" and not names:
            if request.test is not None:
                raise InputError(
                    "--test does not go with sets of labels. Use --holdout, and judge the model on "
                    "that file afterwards: novum evaluate MODEL FILE."
                )
            sets = read_sets(loaded)
            loaded = with_labels(loaded, sets)
            names, hidden = sets.columns, (sets.target, *sets.columns)
        _refuse_options(request, names)
        tasks = {}
        for name in names:
            is_own = name == loaded.target
            own = loaded if is_own else replace(loaded, target=name, task=None, costs=None)
            tasks[name] = formalize(own, replace(request, target=name, targets=hidden))
        rare = rare_labels(tasks, request) if request.task == "labels" else {}
        return cls(loaded, tasks, hidden, sets, rare)

    @property
    def learned(self) -> dict[str, str]:
        """Names of the targets that have a run, and its folder."""
        places = {name: folder_of(name, place) for place, name in enumerate(self.tasks)}
        return {name: one for name, one in places.items() if name not in self.rare}

    @property
    def sentences(self) -> tuple[str, ...]:
        """How sets were understood; nothing of other targets, which speak for themselves."""
        rare = tuple(rare_sentence(name, n_rows) for name, n_rows in self.rare.items())
        return () if self.sets is None else (self.sets.sentence, *rare)


def run_several(
    request: Request, folder: Path, listener: Listener | None, steps: Steps
) -> SeveralRecord:
    """Runs all targets of a request, one after the other, and writes what they come to.

    A target whose run fails is left out with a sentence; if all fail, the error of the first is
    raised.
    """
    told: Listener = listener or Silent()
    clock, attempts = Clock(None, told), Attempts()
    with clock.stage("reading the table"):
        targets = Targets.of(request)
        requests = _requests(replace(request, targets=targets.hidden), folder, targets, steps)
        shared = _shared(requests, targets, request, steps)
        steps.open_folder(request, folder)
    records: dict[str, RunRecord] = {}
    failures: dict[str, Exception] = {}
    heard = _Targets(told, targets=targets)
    for name, own in requests.items():
        at = folder / targets.learned[name]
        try:
            records[name] = _recorded(own, at, heard.named(name), shared, steps)
        except (OSError, MemoryError):
            raise
        except Exception as error:
            failures[name] = error
    if not records:
        raise next(iter(failures.values()))
    lost = [failed(f"The run of {printable(name)!r}", error) for name, error in failures.items()]
    known = [name for name in targets.tasks if name not in failures]
    lines = _write_joint(folder, known, targets, shared, next(iter(requests.values())))
    measures: Sequence[tuple[str, Estimate]]
    labels: LabelsRecord | None = None
    if request.task == "labels":
        measures, constant = attempts(
            "The joint measures", lambda: set_measures(judged_sets(lines)), lambda _: ((), ())
        )
        labels = LabelsRecord(
            ", ".join(targets.tasks) if targets.sets is None else targets.sets.target,
            "" if targets.sets is None else targets.sets.separator,
            tuple(name.removeprefix(f"{request.target}=") for name in known),
            tuple(targets.rare.items()),
            constant,
        )
        said = tuple(label_verdict(labels, measures))
    else:
        measures = attempts("The joint measures", lambda: all_right(lines, records), lambda _: ())
        said = verdict(records, measures)
    rare = (rare_sentence(name, n_rows) for name, n_rows in targets.rare.items())
    record = SeveralRecord(
        verdict=said,
        settings=asdict(request),
        targets=tuple(records),
        folders=tuple(targets.learned[name] for name in records),
        runs=tuple(records.values()),
        measures=tuple(measures),
        not_done=(*lost, *rare, *attempts.sentences),
        date=date.today().isoformat(),
        labels=labels,
    )
    write_record(record, folder / RUN)
    for sentence in (*lost, *attempts.sentences):
        warnings.warn(sentence, ReportWarning, stacklevel=2)
    return record


def _shared(
    requests: Mapping[str, Request], targets: Targets, request: Request, steps: Steps
) -> SharedRows:
    """Rows set aside, and as many folds as all runs were asked for."""
    name, first = next(iter(requests.items()))
    plan = steps.plan(replace(first, plan=None), targets.tasks[name])
    given = plan if first.plan is None else read_record(Path(first.plan), PlanRecord)
    plan = replace(plan, folds=given.folds, repeats=given.repeats)
    return SharedRows.of(targets.loaded, list(targets.tasks.values()), request, plan)


def _write_joint(
    folder: Path, known: Sequence[str], targets: Targets, shared: SharedRows, request: Request
) -> dict[str, Lines]:
    """The model of all targets, their predictions and their leaderboards; gives the predictions."""
    models, lines = [], {}
    for name in known:
        if name in targets.rare:
            models.append(constant_model(targets.tasks[name]))
            lines[name] = constant_lines(targets.tasks[name], shared, request)
        else:
            models.append(load(folder / targets.learned[name] / MODEL))
            lines[name] = prediction_lines(folder / targets.learned[name] / PREDICTIONS)
    sets = targets.sets
    if sets is None:
        save(TargetModels(list(known), models), folder / MODEL)
        write_rows(folder / PREDICTIONS, joined_predictions(lines, request.id))
    else:
        names = dict(zip(sets.columns, sets.labels, strict=True))
        sets = replace(sets, labels=tuple(names[name] for name in known))
        model = LabelModels(list(sets.labels), models, sets.target, sets.separator)
        save(model, folder / MODEL)
        write_rows(folder / PREDICTIONS, set_lines(lines, sets, request.id))
    folders = {name: one for name, one in targets.learned.items() if name in known}
    write_rows(folder / LEADERBOARD, joined_leaderboards(folder, folders))
    return lines


def with_targets(request: Request) -> Request:
    """The request with several targets, where its target is no column but names of columns."""
    names = tuple(name.strip() for name in (request.target or "").split(","))
    if request.targets or len(names) < 2:
        return request
    try:
        read(request)
    except InputError:
        return replace(request, target=None, targets=names)
    return request


def read_run(path: Path) -> RunRecord | SeveralRecord:
    """The record of a run, of one target or of several."""
    try:
        return read_record(path, RunRecord)
    except FileFormatError:
        try:
            return read_record(path, SeveralRecord)
        except FileFormatError:
            pass
        raise


def folder_of(target: str, place: int) -> str:
    """The folder of a target's run.

    Examples
    --------
    >>> folder_of("blood pressure (mm)", 0)
    'targets/1_blood_pressure_mm_'
    """
    return f"{FOLDER}/{place + 1}_{re.sub(r'[^A-Za-z0-9]+', '_', target)[:40]}"


# --- Runs -----------------------------------------------------------------------------------------


def _refuse_options(request: Request, targets: Sequence[str]) -> None:
    for name in _FOR_ONE:
        if getattr(request, name) is not None:
            what = "names" if request.targets else "has labels, of which there are"
            raise InputError(
                f"--{name.replace('_', '-')} is for one target, and --target {what} "
                f"{len(targets)}. Leave it out, or run that target alone."
            )


def _requests(request: Request, folder: Path, targets: Targets, steps: Steps) -> dict[str, Request]:
    """What is asked of each run: the same folds, and an equal part of the budget.

    Runs that have begun keep what they were asked.
    """
    names = targets.learned
    known = [path for one in names.values() if (path := folder / one / REQUEST).exists()]
    if known:
        began = read_record(known[0], Request)
        repeats, folds, budget = began.repeats, began.folds, began.budget_seconds
    else:
        budget = request.budget_seconds and _SHARE_OF_RUNS * request.budget_seconds / len(names)
        repeats, folds = request.repeats, request.folds
        if request.plan is None:
            own = replace(request, budget_seconds=budget)
            plans = [steps.plan(own, targets.tasks[name]) for name in names]
            repeats = min(plan.repeats for plan in plans)
            folds = min(plan.folds for plan in plans)
    return {
        name: replace(
            request,
            target=name,
            budget_seconds=budget,
            repeats=repeats,
            folds=folds,
            plan=_plan_of(request, one),
        )
        for name, one in names.items()
    }


def _plan_of(request: Request, folder: str) -> str | None:
    """The plan of one target in the folder of another run of several."""
    if request.plan is None:
        return None
    given = Path(request.plan)
    plan = (given if given.is_dir() else given.parent) / folder / PLAN
    if not plan.exists():
        raise InputError(
            f"--plan {printable(request.plan, 200)!r} has no plan of these targets in this order. "
            "Name the folder of a run of the same targets."
        )
    return str(plan)


def _recorded(
    request: Request, folder: Path, listener: Listener, shared: SharedRows, steps: Steps
) -> RunRecord:
    """The record of one target: that of a finished run, or of a new one."""
    if not (folder / RUN).exists():
        return steps.run(request, folder, listener, shared)
    record = read_record(folder / RUN, RunRecord)
    if record.data.sha256 != shared.loaded.sha256:
        raise InputError(
            f"{shared.loaded.name} has changed since this run began, so its finished folds no "
            "longer hold. Start a new run with another --output."
        )
    return record


@dataclass
class _Targets(Silent):
    """Tells a listener which target is at work, and nothing twice that holds for all."""

    listener: Listener
    target: str = ""
    targets: Targets | None = None
    said: set[Finding] = field(default_factory=set)

    def named(self, target: str) -> _Targets:
        return replace(self, target=target)

    def stage(self, title: str) -> None:
        self.listener.stage(self._title(title))

    def step(self, title: str, done: int, total: int) -> None:
        self.listener.step(title, done, total)

    def advance(self, share: float) -> None:
        self.listener.advance(share)

    def expect(self, forecasts: Mapping[str, float], limit: float) -> None:
        del limit
        titled = {
            self._title(title) if title in (JUDGING, DRAWING) else title: seconds
            for title, seconds in forecasts.items()
        }
        self.listener.expect(titled, float("inf"))

    def understood(self, data: DataRecord, task: TaskRecord, findings: tuple[Finding, ...]) -> None:
        if self.targets is not None and self.targets.sets is not None:
            # Labels are understood in one sentence, not in one for each.
            sets, hidden = self.targets.sets, self.targets.hidden
            task = replace(task, target=sets.target, sentences=self.targets.sentences)
            others = tuple(column for column in data.left_out if column[0] not in hidden)
            n_columns = data.n_columns - len(sets.columns)
            data = replace(data, left_out=others, n_columns=n_columns)
        new = tuple(finding for finding in findings if finding not in self.said)
        self.said.update(new)
        self.listener.understood(data, task, new)

    def _title(self, title: str) -> str:
        return f"{printable(self.target, 40)}: {title}"
