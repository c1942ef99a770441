"""`novum run`: from a table to a decision."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novum.apps.cli import INTERRUPTED
from novum.apps.cli import run_options as options
from novum.apps.cli.failures import guarded
from novum.apps.cli.options import Debug, Json, MissingValues, Quiet, Sheet, Sql, Table
from novum.apps.cli.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console

    from novum.apps.job.record import DataRecord, Finding, RunRecord, SeveralRecord, TaskRecord
    from novum.apps.job.request import Request


# --- Listening to a run ---------------------------------------------------------------------------
# Between a run and the screen: progress, and how the task was understood.


class RunListener:
    """Listener of a run.

    Parameters
    ----------
    progress : Progress or None
        None shows nothing.
    out : Console or None
        Where to say how the task was understood; None says nothing.
    """

    def __init__(self, progress: Progress | None, out: Console | None) -> None:
        self._progress, self._out = progress, out
        self._has_said: set[str] = set()

    def stage(self, title: str) -> None:
        if self._progress is not None:
            self._progress.stage(title)

    def step(self, title: str, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress.step(title, done, total)

    def advance(self, share: float) -> None:
        if self._progress is not None:
            self._progress.advance(share)

    def expect(self, forecasts: Mapping[str, float], limit: float) -> None:
        if self._progress is not None:
            self._progress.expect(forecasts, limit)

    def understood(self, data: DataRecord, task: TaskRecord, findings: tuple[Finding, ...]) -> None:
        """How the table and the task were understood; said once for each target."""
        from novum.apps.cli.run_summary import show_understanding

        if self._out is None or task.target in self._has_said:
            return
        self._has_said.add(task.target)
        if self._progress is None:
            show_understanding(self._out, data, task, findings)
            return
        with self._progress.paused():
            show_understanding(self._out, data, task, findings)


# --- novum report ---------------------------------------------------------------------------------
# `novum report`: draws the report of a run again; the same run gives the same bytes.


@guarded
def report(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or its run.json.")],
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Default: report.html beside run.json.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Draw the report of a finished run again."""
    from novum.apps.cli.progress import Progress

    del debug

    with Progress("drawing the report"):
        path = _drawn(run, output)
    typer.echo(str(path))


def _drawn(run: Path, output: Path | None) -> Path:
    from novum.apps.job.outputs import REQUEST, RUN
    from novum.apps.job.several import read_run
    from novum.apps.job.untargeted import recorded
    from novum.apps.report import write_report
    from novum.core.errors import InputError

    source = run / RUN if run.is_dir() else run
    if run.is_dir() and not source.exists():
        advice = (
            f"It was interrupted; go on with novum run --resume {run}."
            if (run / REQUEST).exists()
            else "Name the folder that novum run wrote to."
        )
        raise InputError(f"{run} holds no finished run: there is no {RUN}. {advice}")
    path = source.with_name(REPORT) if output is None else output
    untargeted = recorded(source)
    if untargeted is None:
        write_report(read_run(source), path)
    else:
        _draw_again(*untargeted, source, path)
    return path


def _draw_again(request: Request, plain: dict[str, Any], source: Path, path: Path) -> None:
    """The report of a run without a target, whose record holds no pictures: it is done again."""
    from tempfile import TemporaryDirectory

    from novum.apps.job.untargeted import check_same

    with TemporaryDirectory() as folder:
        result, _, _ = searched(request, Path(folder) / "run", RunListener(None, None))
    check_same(result.plain(), plain, source)
    _write_page(result.as_recorded(plain), path)


# Mixed columns, and a decision whose costs are published.
DEFAULT_TABLE = "german_credit"
REPORT = "report.html"
_WITH_RESUME = {"resume", "quiet", "as_json", "debug"}


@guarded
def run(
    context: typer.Context,
    table: Table = DEFAULT_TABLE,
    target: options.Target = None,
    task: options.Task = options.TaskChoice.auto,
    positive: options.Positive = None,
    metric: options.Metric = None,
    cost: options.Cost = None,
    prior: options.Prior = None,
    cost_fn: options.CostFn = None,
    cost_fp: options.CostFp = None,
    coverage: options.Coverage = 0.9,
    kind: options.Kind = None,
    levels: options.Levels = None,
    missing_values: MissingValues = "",
    id: options.Id = None,
    sheet: Sheet = None,
    sql: Sql = None,
    holdout: options.Holdout = 0.2,
    test: options.Test = None,
    weight: options.Weight = None,
    exposure: options.Exposure = None,
    group: options.Group = None,
    time: options.Time = None,
    preset: options.Preset = options.PresetChoice.standard,
    models: options.Models = "",
    budget: options.Budget = None,
    plan: options.Plan = None,
    cv: options.CrossValidation = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    no_refit: options.NoRefit = False,
    output: options.Output = None,
    resume: options.Resume = None,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """From a table to a decision: reads, checks, compares models, judges the best, reports.

    Without a table, a bundled one is used. Everything is written to one folder: report.html,
    model.novum, predictions.csv, leaderboard.csv, run.json and model.py.
    """
    from novum.apps.cli.run_options import (
        coverage_of,
        cross_validation_of,
        jobs_of,
        levels_of,
        names_of,
        pairs_of,
        seconds_of,
    )
    from novum.apps.job.request import Request
    from novum.apps.job.untargeted import UNTARGETED, request_to_repeat

    del debug
    if resume is not None:
        _refuse_settings(context)
        again = request_to_repeat(resume, resume / REPORT)
        if again is None:
            _work(None, resume, quiet, as_json)
        else:
            _without_target(again, resume, quiet, as_json)
        return
    repeats, folds = (None, None) if cv is None else cross_validation_of(cv)
    request = Request(
        table=table,
        target=target[0] if target and len(target) == 1 else None,
        targets=tuple(target) if target and len(target) > 1 else (),
        task=task.value,
        metric=metric,
        positive=positive,
        cost=cost,
        prior=prior,
        cost_fn=cost_fn,
        cost_fp=cost_fp,
        preset=preset.value,
        models=names_of(models),
        budget_seconds=None if budget is None else seconds_of(budget),
        plan=plan,
        repeats=repeats,
        folds=folds,
        holdout=holdout,
        test=test,
        weight=weight,
        exposure=exposure,
        group=group,
        time=time,
        id=id,
        kind=pairs_of(kind or [], "--kind", "zip=nominal"),
        levels=levels_of(levels or []),
        missing_values=names_of(missing_values),
        sql=sql,
        sheet=sheet,
        seed=seed,
        refit=not no_refit,
        n_jobs=jobs_of(jobs),
        coverage=coverage_of(coverage),
    )
    folder = free_folder(table) if output is None else output
    if request.task in UNTARGETED:
        _without_target(request, folder, quiet, as_json)
        return
    _work(request, folder, quiet, as_json)


def free_folder(table: str) -> Path:
    """A folder that is not there yet, named after a table."""
    return next(path for name in folder_names(table) if not (path := Path(name)).exists())


def folder_names(table: str) -> Iterator[str]:
    """Names for the folder of a run, the best first."""
    stem = Path(table).name.split(".")[0] or "table"
    return (f"novum-{stem}" if number == 1 else f"novum-{stem}-{number}" for number in count(1))


# --- Steps ----------------------------------------------------------------------------------------


def _work(request: Request | None, folder: Path, quiet: bool, as_json: bool) -> None:
    """Runs or goes on with a run, and shows what came out."""
    from novum.apps.cli.progress import Progress
    from novum.apps.cli.streams import output, say, write_json

    out = output()
    shown = None if quiet else Progress("starting")
    try:
        with nullcontext() if shown is None else shown:
            listener = RunListener(shown, None if quiet or as_json else out)
            record = recorded(request, folder, listener)
    except KeyboardInterrupt:
        raise _stopped(folder) from None
    except (OSError, MemoryError) as error:
        if _can_resume(folder):
            error.add_note(_how_to_resume(folder))
        raise
    from novum.apps.cli.run_summary import show_result, written

    files = written(folder)
    if as_json:
        write_json({"files": files, "record": _plain(record)})
    elif quiet:
        for sentence in (*record.verdict, files.get("report", files["record"])):
            say(out, sentence)
    else:
        show_result(out, record, files)


def _without_target(request: Request, folder: Path, quiet: bool, as_json: bool) -> None:
    """A run that predicts nothing: groups of rows, or unusual ones."""
    from novum.apps.cli.progress import Progress
    from novum.apps.cli.run_summary import written
    from novum.apps.cli.streams import output, say, write_json

    out, shown = output(), None if quiet else Progress("starting")
    try:
        with nullcontext() if shown is None else shown:
            result, table, rows = searched(request, folder, RunListener(shown, None))
    except KeyboardInterrupt:
        raise _stopped(folder) from None
    files = written(folder) | {rows.partition(".")[0]: str(folder / rows)}
    if as_json:
        write_json({"files": files, "record": result.plain()})
        return
    if not quiet:
        for line in table.as_text().splitlines():
            say(out, line)
    for sentence in (*result.verdict, *result.not_done):
        say(out, sentence, "" if quiet else "bold")
    for what, path in files.items():
        say(out, path if quiet else f"{what:<12}{path}")


def searched(request: Request, folder: Path, listener: Any) -> tuple[Any, Any, str]:
    """What was found with its report written, its table, and the file with a line for each row."""
    from novum.apps.job.outputs import own_folder

    with own_folder(folder):
        return _searched(request, folder, listener)


def _searched(request: Request, folder: Path, listener: Any) -> tuple[Any, Any, str]:
    if request.task == "clusters":
        from novum.apps.job.clusters import ASSIGNMENTS, run_clusters

        groups = run_clusters(request, folder, listener)
        _write_page(groups, folder / REPORT)
        return groups, groups.choice.table, ASSIGNMENTS
    from novum.apps.job.novelty import SCORES, run_novelty

    unusual = run_novelty(request, folder, listener)
    _write_page(unusual, folder / REPORT)
    return unusual, unusual.comparison.table(), SCORES


def _write_page(run: Any, path: Path) -> None:
    """The report of a run without a target."""
    from novum.apps.job.clusters import ClusterRun
    from novum.apps.report.groups import write_groups_report
    from novum.apps.report.novelty import write_novelty_report

    write = write_groups_report if isinstance(run, ClusterRun) else write_novelty_report
    write(run, path)


def recorded(request: Request | None, folder: Path, listener: Any) -> RunRecord | SeveralRecord:
    """The record of the run, with its report written."""
    from novum.apps.job import job
    from novum.apps.job.record import SeveralRecord
    from novum.apps.job.several import read_run

    record: RunRecord | SeveralRecord
    if request is not None:
        record = job.run(request, folder, listener)
    elif (folder / job.RUN).exists():
        # The run was finished, and stopped while its report was drawn.
        record = read_run(folder / job.RUN)
    else:
        record = job.resume(folder, listener)
    runs = record.runs if isinstance(record, SeveralRecord) else (record,)
    for one in runs if not isinstance(record, SeveralRecord) or record.labels is None else ():
        listener.understood(one.data, one.task, one.findings)
    listener.stage(job.DRAWING)
    _draw(record, folder / REPORT)
    if isinstance(record, SeveralRecord):
        for one, inside in zip(runs, record.folders, strict=True):
            _draw(one, folder / inside / REPORT)
    return record


def _draw(record: RunRecord | SeveralRecord, path: Path) -> None:
    """The report; whatever keeps it from being drawn, the run itself is finished and written."""
    import warnings

    from novum.apps.job.attempts import failed
    from novum.apps.report import write_report
    from novum.core.errors import ReportWarning

    try:
        write_report(record, path)
    except (OSError, MemoryError):
        raise
    except Exception as error:
        warnings.warn(failed("The report", error), ReportWarning, stacklevel=2)


def _plain(record: RunRecord | SeveralRecord) -> Any:
    import json

    from novum.apps.job.record_json import to_json

    return json.loads(to_json(record))["record"]


def _refuse_settings(context: typer.Context) -> None:
    """A run goes on with its own settings."""
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in _WITH_RESUME
        and getattr(context.get_parameter_source(str(parameter.name)), "name", "") == "COMMANDLINE"
    ]
    if given:
        raise typer.BadParameter(
            f"the run goes on with its own settings; leave out {', '.join(given)}.",
            param_hint="'--resume'",
        )


def _can_resume(folder: Path) -> bool:
    return (folder / "request.json").exists()


def _how_to_resume(folder: Path) -> str:
    return f"Go on with: novum run --resume {shlex.quote(str(folder))}"


def _stopped(folder: Path) -> typer.Exit:
    from novum.apps.cli.streams import remarks, say

    more = _how_to_resume(folder) if _can_resume(folder) else "Nothing had been written yet."
    say(remarks(), f"Stopped. {more}")
    return typer.Exit(INTERRUPTED)
