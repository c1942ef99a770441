"""`novum report`: draws the report of a run again; the same run gives the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from novum.apps.cli.failures import guarded
from novum.apps.cli.options import Debug


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
    from novum.apps.cli.run import REPORT
    from novum.apps.job.job import REQUEST, RUN
    from novum.apps.job.record import RunRecord
    from novum.apps.job.record_json import read_record
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
    write_report(read_record(source, RunRecord), path)
    return path
