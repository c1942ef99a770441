"""Several targets at once: one table, the same rows and folds, a run for each, one model of all.

    table -> tasks -> rows set aside and folds, once -> a run for each target -> model, record

Each target has the model that is best for it, chosen without a look at the other targets: no target
is a feature of another. Every run has a folder of its own within that of the whole, so that what is
finished is never done again and never lost, whatever happens to the others.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path

import numpy as np

from novum.apps.job.attempts import Attempts, failed
from novum.apps.job.clock import DRAWING, JUDGING, Clock, Listener, Silent
from novum.apps.job.outputs import (
    LEADERBOARD,
    MODEL,
    PLAN,
    PREDICTIONS,
    REQUEST,
    RUN,
    safe_cell,
)
from novum.apps.job.record import (
    DataRecord,
    Finding,
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
from novum.apps.job.table.reading import LoadedTable, read
from novum.apps.job.table.task import Task
from novum.core import load, save
from novum.core.errors import FileFormatError, InputError, ReportWarning
from novum.core.files import replacing
from novum.core.text import printable
from novum.display import counted
from novum.ensemble import TargetModels
from novum.evaluation import proportion_interval

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
        _refuse_options(request)
        loaded = read(request)
        names = {target: folder_of(target, i) for i, target in enumerate(request.targets)}
        tasks = {
            name: formalize(_with_target(loaded, name), replace(request, target=name))
            for name in names
        }
        requests = _requests(request, folder, names, tasks, steps)
        first = next(iter(requests.values()))
        plan = steps.plan(replace(first, plan=None), next(iter(tasks.values())))
        given = plan if first.plan is None else read_record(Path(first.plan), PlanRecord)
        plan = replace(plan, folds=given.folds, repeats=given.repeats)
        shared = SharedRows.of(loaded, list(tasks.values()), request, plan)
        steps.open_folder(request, folder)
    records: dict[str, RunRecord] = {}
    failures: dict[str, Exception] = {}
    heard = _Targets(told)
    for name, own in requests.items():
        try:
            records[name] = _recorded(own, folder / names[name], heard.named(name), shared, steps)
        except (OSError, MemoryError):
            raise
        except Exception as error:
            failures[name] = error
    if not records:
        raise next(iter(failures.values()))
    lost = [failed(f"The run of {printable(name)!r}", error) for name, error in failures.items()]
    folders = {name: names[name] for name in records}
    save(
        TargetModels(list(records), [load(folder / one / MODEL) for one in folders.values()]),
        folder / MODEL,
    )
    lines = {name: prediction_lines(folder / one / PREDICTIONS) for name, one in folders.items()}
    write_rows(folder / PREDICTIONS, joined_predictions(lines, request.id))
    write_rows(folder / LEADERBOARD, _leaderboards(folder, folders))
    measures = attempts("The joint measures", lambda: all_right(lines, records), lambda _: ())
    record = SeveralRecord(
        verdict=verdict(records, measures),
        settings=asdict(request),
        targets=tuple(records),
        folders=tuple(folders.values()),
        runs=tuple(records.values()),
        measures=measures,
        not_done=(*lost, *attempts.sentences),
        date=date.today().isoformat(),
    )
    write_record(record, folder / RUN)
    for sentence in record.not_done:
        warnings.warn(sentence, ReportWarning, stacklevel=2)
    return record


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


def _refuse_options(request: Request) -> None:
    for name in _FOR_ONE:
        if getattr(request, name) is not None:
            raise InputError(
                f"--{name.replace('_', '-')} is for one target, and --target names "
                f"{len(request.targets)}. Leave it out, or run that target alone."
            )


def _with_target(loaded: LoadedTable, target: str) -> LoadedTable:
    is_own = target == loaded.target
    return loaded if is_own else replace(loaded, target=target, task=None, costs=None)


def _requests(
    request: Request,
    folder: Path,
    names: Mapping[str, str],
    tasks: Mapping[str, Task],
    steps: Steps,
) -> dict[str, Request]:
    """What is asked of each run: the same folds, and an equal part of the budget.

    Runs that have begun keep what they were asked.
    """
    known = [folder / one / REQUEST for one in names.values() if (folder / one / REQUEST).exists()]
    if known:
        began = read_record(known[0], Request)
        repeats, folds, budget = began.repeats, began.folds, began.budget_seconds
    else:
        budget = request.budget_seconds and _SHARE_OF_RUNS * request.budget_seconds / len(names)
        repeats, folds = request.repeats, request.folds
        if request.plan is None:
            own = replace(request, budget_seconds=budget)
            plans = [steps.plan(own, task) for task in tasks.values()]
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
    found = (given if given.is_dir() else given.parent) / folder / PLAN
    if not found.exists():
        raise InputError(
            f"--plan {printable(request.plan, 200)!r} has no plan of these targets in this order. "
            "Name the folder of a run of the same targets."
        )
    return str(found)


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
        new = tuple(finding for finding in findings if finding not in self.said)
        self.said.update(new)
        self.listener.understood(data, task, new)

    def _title(self, title: str) -> str:
        return f"{printable(self.target, 40)}: {title}"


# --- What they come to ----------------------------------------------------------------------------

Lines = list[dict[str, str]]


def prediction_lines(path: Path) -> Lines:
    """Lines of predictions; none where a run has none."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def joined_predictions(lines: Mapping[str, Lines], id: str | None) -> Iterator[Sequence[str]]:
    """A line for each row of the table, with all targets side by side."""
    heads = {name: [c for c in (own[0] if own else ()) if c not in ("row", id)]
             for name, own in lines.items()}  # fmt: skip
    named = [] if id is None else [id]
    titles = [_column(column, name) for name, own in heads.items() for column in own]
    yield [*map(safe_cell, named), "row", *map(safe_cell, titles)]
    by_row = {name: {_key(line): line for line in own} for name, own in lines.items()}
    for key in sorted({key for own in by_row.values() for key in own}):
        found = [own[key] for own in by_row.values() if key in own]
        cells = [by_row[name].get(key, {}).get(c, "") for name, own in heads.items() for c in own]
        yield [*(found[0][id] for id in named), str(key[1]), *cells]


def _key(line: Mapping[str, str]) -> tuple[bool, int]:
    """Rows of a test file are other rows than those of the table."""
    return line["answered"] == "test file", int(line["row"])


def _column(column: str, target: str) -> str:
    """A column of predictions under the name of its target.

    Examples
    --------
    >>> _column("prediction", "y"), _column("probability a", "y"), _column("target", "y")
    ('prediction y', 'probability y=a', 'target y')
    """
    if column.startswith("probability "):
        return f"probability {target}={column.removeprefix('probability ')}"
    return f"{column} {target}"


def _leaderboards(folder: Path, folders: Mapping[str, str]) -> Iterator[Sequence[str]]:
    """All models of all targets; the measure of each target is named in its lines."""
    head: list[str] = []
    for name, one in folders.items():
        with (folder / one / LEADERBOARD).open(newline="", encoding="utf-8") as file:
            own, *rows = list(csv.reader(file))
        if not head:
            head = ["target", own[0], "measure", "value", *own[2:]]
            yield head
        for row in rows:
            yield [safe_cell(name), row[0], own[1], *row[1:]]


def write_rows(path: Path, rows: Iterator[Sequence[str]]) -> None:
    """Writes cells that are safe already as CSV."""
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        csv.writer(text).writerows(rows)
        text.flush()
        text.detach()


def all_right(
    lines: Mapping[str, Lines], records: Mapping[str, RunRecord]
) -> tuple[tuple[str, Estimate], ...]:
    """The share of new rows whose classes are all right; nothing where a target is a number."""
    if len(records) < 2 or any(one.task.kind == "regression" for one in records.values()):
        return ()
    judged = ("hold-out", "test file")
    known = [[line for line in own if line["answered"] in judged] for own in lines.values()]
    rights = [{_key(line): line["target"] == line["prediction"] for line in own} for own in known]
    rows = sorted(set.intersection(*(set(own) for own in rights)))
    if not rows:
        return ()
    hits = np.array([all(own[row] for own in rights) for row in rows])
    found = proportion_interval(int(hits.sum()), len(hits))
    return (("all targets right", Estimate(found.estimate, found.low, found.high)),)


def verdict(
    records: Mapping[str, RunRecord], measures: Sequence[tuple[str, Estimate]]
) -> tuple[str, ...]:
    """All targets, each by itself, and all together."""
    chosen = ", ".join(
        f"{printable(name, 60)} by {record.chosen.title}" for name, record in records.items()
    )
    each = (f"{printable(name, 60)}: {record.verdict[1]}" for name, record in records.items())
    return (
        f"{counted(len(records), 'target')}, each with a model of its own: {chosen}.",
        *each,
        *together(records, measures),
    )


def together(
    records: Mapping[str, RunRecord], measures: Sequence[tuple[str, Estimate]]
) -> Iterator[str]:
    """What holds for all targets together."""
    savings = [record.holdout.saving if record.holdout else None for record in records.values()]
    if any(saving is not None for saving in savings):
        ahead = sum(one is not None and (one.saved.low or 0.0) > 0 for one in savings)
        number = "All" if ahead == len(savings) else f"{ahead} of the {len(savings)}"
        yield (
            f"{number} targets are clearly better predicted than by the same answer for every row, "
            "on the rows set aside."
        )
    for name, found in measures:
        if name == "all targets right" and found.value is not None:
            ends = f"between {100 * (found.low or 0):.1f} and {100 * (found.high or 0):.1f} %"
            yield (
                f"All targets at once are right for {100 * found.value:.1f} % of the rows that "
                f"have them ({ends} with 95 % confidence)."
            )
