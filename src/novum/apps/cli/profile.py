"""`novum profile`: a table in brief, and what its owner should know."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from novum.apps.cli.failures import guarded
from novum.apps.cli.options import Debug, Json, MissingValues, Quiet, Sheet, Sql, Table
from novum.apps.cli.run_options import Id, Kind, Levels, Task, TaskChoice

if TYPE_CHECKING:
    from novum.apps.job.record import ColumnRecord, Finding, ProfileRecord
    from novum.apps.job.request import Request

# Columns that are listed on a screen; --json has them all.
MOST_COLUMNS = 60


@guarded
def profile(
    table: Table,
    target: Annotated[
        str | None, typer.Option(help="Column to predict; findings need one.")
    ] = None,
    task: Task = TaskChoice.auto,
    kind: Kind = None,
    levels: Levels = None,
    missing_values: MissingValues = "",
    id: Id = None,
    sheet: Sheet = None,
    sql: Sql = None,
    quiet: Quiet = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show a table in brief: kinds, missing cells, distributions, and findings about a target."""
    from novum.apps.cli.progress import Progress
    from novum.apps.cli.run_options import levels_of, names_of, pairs_of
    from novum.apps.cli.streams import write_json
    from novum.apps.job.request import Request

    del debug
    shown = None if quiet else Progress("reading the table")
    with nullcontext() if shown is None else shown:
        request = Request(
            table,
            target,
            task=task.value,
            kind=pairs_of(kind or [], "--kind", "zip=nominal"),
            levels=levels_of(levels or []),
            missing_values=names_of(missing_values),
            id=id,
            sheet=sheet,
            sql=sql,
        )
        name, record, findings, notes = looked_at(request)
    if as_json:
        import json

        from novum.apps.job.record_json import to_json

        parts = {"profile": record, "findings": findings}
        plain = {key: json.loads(to_json(part))["record"] for key, part in parts.items()}
        write_json({"table": name, **plain})
        return
    _show(name, record, findings, notes)


def looked_at(
    request: Request,
) -> tuple[str, ProfileRecord, tuple[Finding, ...], tuple[str, ...]]:
    """Name, profile, findings, and what was decided while reading."""
    from novum import data
    from novum.apps.job.table.findings import find
    from novum.apps.job.table.formalizing import formalize
    from novum.apps.job.table.named_columns import check_declared
    from novum.apps.job.table.profile import profile_table
    from novum.apps.job.table.reading import read, read_file

    if request.target is None and request.table not in data.available():
        read_table, _ = read_file(request)
        roles = {"id": request.id}
        check_declared(request, roles, read_table.schema.names, read_table.report.path)
        record = profile_table(read_table.table, read_table.schema)
        return read_table.report.path, record, (), read_table.report.notes
    loaded = read(request)
    task = formalize(loaded, request)
    record = profile_table(loaded.table, loaded.schema, loaded.target, task.kind)
    notes = (*loaded.report.notes, *task.sentences)
    return loaded.name, record, find(task, record, loaded.report), notes


def _show(
    name: str, record: ProfileRecord, findings: tuple[Finding, ...], notes: tuple[str, ...]
) -> None:
    from novum.apps.cli.run_summary import show_findings
    from novum.apps.cli.streams import output, say, table_of
    from novum.apps.job.table.reader_advice import for_a_run
    from novum.apps.report.names import cleaned
    from novum.display import counted

    out, record = output(), cleaned(record)
    columns = (*(() if record.target is None else (record.target,)), *record.columns)
    rows, wide = counted(record.n_rows, "row"), counted(len(columns), "column")
    say(out, f"{name}: {rows}, {wide}", "bold")
    for note in notes:
        say(out, f"  {for_a_run(note)}")
    say(out, f"  {_of_rows(record)}")
    say(out, "")
    heads = [("column", "left"), ("kind", "left"), ("missing", "right"), ("different", "right")]
    heads.append(("values", "left"))
    if record.target is not None:
        heads.append(("explains", "right"))
    lines = [_line(column, record) for column in columns[:MOST_COLUMNS]]
    out.print(table_of(heads, lines))
    if len(columns) > MOST_COLUMNS:
        say(out, f"and {len(columns) - MOST_COLUMNS:,} more columns; --json has them all.")
    if findings:
        say(out, "")
        show_findings(out, cleaned(findings))


def _line(column: ColumnRecord, record: ProfileRecord) -> list[str]:
    from novum.display import number, percent

    is_target = record.target is not None and column.name == record.target.name
    share = f" ({percent(column.n_missing / max(record.n_rows, 1))})" if column.n_missing else ""
    line = [
        f"{column.name[:40]}{' (target)' if is_target else ''}",
        column.kind,
        f"{number(column.n_missing)}{share}",
        number(column.n_distinct),
        _values(column),
    ]
    if record.target is not None:
        line.append("" if is_target else percent(column.association))
    return line


def _values(column: ColumnRecord) -> str:
    """Least, median and largest of numbers, or the most frequent levels."""
    from novum.display import number

    if column.quantiles:
        least, _, median, _, largest = column.quantiles
        return f"{number(least)} ... {number(median)} ... {number(largest)}"
    shown: list[Any] = [f"{level[:20]} ({number(count)})" for level, count in column.levels[:3]]
    more = len(column.levels) - len(shown) + column.n_other_levels
    return ", ".join(shown) + (f", {number(more)} more" if more > 0 else "")


def _of_rows(record: ProfileRecord) -> str:
    from novum.display import counted, number

    return (
        f"{counted(record.n_complete_rows, 'row')} without a missing cell, "
        f"{number(record.n_duplicate_rows)} that repeat an earlier row."
    )
