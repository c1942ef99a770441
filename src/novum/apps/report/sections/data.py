"""The data: how the task was understood, where the rows went, what its owner should know."""

from __future__ import annotations

from novum.apps.job.record import DataRecord, Finding, RunRecord, TaskRecord
from novum.apps.report.blocks import (
    Block,
    Column,
    Heading,
    Notice,
    Section,
    Table,
    Text,
    sentences,
)
from novum.apps.report.detail import Detail, first_of
from novum.apps.report.figures.target import target_figure
from novum.apps.report.names import label
from novum.apps.report.numbers import counted, number, percent
from novum.apps.report.sections.columns import column_blocks

_SEVERITIES = ("danger", "warning", "note")


def data_section(record: RunRecord, detail: Detail) -> Section:
    """Task, rows, findings, and the profile of the columns."""
    blocks: list[Block] = [*sentences(record.task.sentences, detail.rows)]
    blocks += _findings(record.findings, detail)
    target = record.profile.target
    figure = target_figure(target) if target is not None and detail.pictures else None
    if figure is not None:
        blocks.append(figure)
    blocks += [Heading("Where the rows went"), _rows(record.data)]
    blocks += _left_out(record.data, detail)
    blocks += _working_point(record.task, detail)
    blocks += column_blocks(record.profile, detail)
    return Section("data", "The data", "Data", blocks)


def _findings(findings: tuple[Finding, ...], detail: Detail) -> list[Block]:
    if not findings:
        return [Text("Nothing about the table calls for a warning.")]
    order = {severity: place for place, severity in enumerate(_SEVERITIES)}
    ranked = sorted(findings, key=lambda f: order.get(f.severity, len(order)))
    shown, rest = first_of(ranked, detail.rows, "findings")
    blocks: list[Block] = [Heading("What you should know")]
    for finding in shown:
        names = ", ".join(label(name, 40) for name in finding.columns[:6])
        more = f" and {len(finding.columns) - 6:,} more" if len(finding.columns) > 6 else ""
        title = finding.kind[:1].upper() + finding.kind[1:]
        title += f": {names}{more}" if names else ""
        blocks.append(Notice(finding.severity, title, finding.text, finding.advice))
    return blocks + ([Text(rest, "quiet")] if rest else [])


def _rows(data: DataRecord) -> Table:
    parts = [
        ("learned from", data.n_train),
        ("set aside to judge", data.n_holdout),
        ("without a target: not learned from, but predicted", data.n_without_target),
    ]
    rows = [
        (name, number(n), percent(n / data.n_rows if data.n_rows else None)) for name, n in parts
    ]
    missing = data.n_rows - sum(n for _, n in parts)
    if missing > 0:
        rows.append(
            (
                "not used; the notes of this run say why",
                number(missing),
                percent(missing / data.n_rows),
            )
        )
    return Table(
        f"{counted(data.n_rows, 'row')} of {label(data.name, 60)}",
        (Column("rows"), Column("number", True), Column("share", True)),
        rows,
        note=f"Rows were set aside so: {data.holdout_way}" if data.holdout_way else "",
    )


def _left_out(data: DataRecord, detail: Detail) -> list[Block]:
    if not data.left_out:
        return []
    shown, rest = first_of(data.left_out, detail.rows, "columns")
    columns = (Column("column"), Column("why it is left out", is_long=True))
    return [Table("Columns that no model sees", columns, shown, note=rest)]


def _working_point(task: TaskRecord, detail: Detail) -> list[Block]:
    """Priors and costs that decisions are made for."""
    if not task.cost or not task.actions or len(task.classes) > detail.rows:
        return []
    columns = [Column("true class")]
    has_priors = len(task.priors) == len(task.classes)
    if has_priors:
        columns.append(Column("prior", True))
    columns += [Column(f"cost of “{label(action)}”", True) for action in task.actions[:20]]
    rows = []
    for place, (name, costs) in enumerate(zip(task.classes, task.cost, strict=False)):
        prior = [percent(task.priors[place])] if has_priors else []
        rows.append((name, *prior, *(number(cost) for cost in costs[:20])))
    note = (
        f"The first 20 of {len(task.actions)} actions are shown." if len(task.actions) > 20 else ""
    )
    return [
        Heading("Where the model is used"),
        Text(
            "Decisions are made for these priors and costs, which need not be those of the table."
        ),
        Table("Working point", columns, rows, note=note),
    ]
