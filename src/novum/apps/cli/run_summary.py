"""A run on the screen: how it was understood, the leaderboard, the verdict, what was written."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from novum.apps.cli.streams import say, table_of
from novum.apps.job.record import (
    DataRecord,
    Finding,
    RunRecord,
    SeveralRecord,
    Standing,
    TaskRecord,
)
from novum.apps.report.names import cleaned, common_decimals, estimate
from novum.display import counted, number, probability, seconds
from novum.evaluation import measure

# The report has them all.
MOST_FINDINGS = 12
_STYLES = {"danger": "bold red", "warning": "yellow", "note": ""}


def show_understanding(
    out: Console, data: DataRecord, task: TaskRecord, findings: Sequence[Finding]
) -> None:
    """Rows and columns, the task with its reasons, and what the owner of the table should know."""
    data, task, findings = cleaned(data), cleaned(task), cleaned(tuple(findings))
    rows, columns = counted(data.n_rows, "row"), counted(data.n_columns, "column")
    say(out, f"{data.name}: {rows}, {columns}", "bold")
    for sentence in task.sentences:
        say(out, f"  {sentence}")
    say(out, f"  {_parts(data)}")
    hidden = [f"{name!r} ({reason})" for name, reason in data.left_out if name != task.target]
    if hidden:
        more = f" and {len(hidden) - 5} more" if len(hidden) > 5 else ""
        say(out, f"  Models do not see {', '.join(hidden[:5])}{more}.")
    if findings:
        say(out, "")
        show_findings(out, findings)
    say(out, "")


def show_findings(out: Console, findings: Sequence[Finding]) -> None:
    """Findings, the gravest first, the last of many left to the report."""
    say(out, counted(len(findings), "finding"), "bold")
    for finding in findings[:MOST_FINDINGS]:
        text = f"  {finding.severity}, {finding.kind}: {finding.text} {finding.advice}"
        say(out, text, _STYLES[finding.severity])
    if len(findings) > MOST_FINDINGS:
        say(out, f"  and {len(findings) - MOST_FINDINGS} more, which the report lists.")


def show_result(out: Console, record: RunRecord | SeveralRecord, files: Mapping[str, str]) -> None:
    """Leaderboard of each target, verdict and files."""
    record = cleaned(record)
    if isinstance(record, SeveralRecord) and record.labels is not None:
        show_labels(out, record)
    elif isinstance(record, SeveralRecord):
        for one in record.runs:
            say(out, one.task.target, "bold")
            show_leaderboard(out, one)
    else:
        show_leaderboard(out, record)
    for sentence in record.verdict:
        say(out, sentence, "bold")
    if record.not_done:
        count = counted(len(record.not_done), "thing")
        say(out, f"{count} a reader might expect and did not get: see the report.")
    say(out, "")
    for what, path in files.items():
        say(out, f"{what:<12}{path}")
    say(out, "")
    say(out, f"Predict other rows: novum predict {shlex.quote(files['model'])} TABLE")


def show_labels(out: Console, record: SeveralRecord) -> None:
    """Each label with the model that decides it, and all of them together."""
    columns = [("label", "left"), ("model", "left"), ("accuracy, 95 %", "right")]
    rows = []
    for one in record.runs:
        chosen = next(standing for standing in one.leaderboard if standing.is_chosen)
        rows.append([one.task.target, chosen.title, " ".join(estimate(chosen.score))])
    out.print(table_of(columns, rows))
    rows = [[name, " ".join(estimate(measure))] for name, measure in record.measures]
    if rows:
        out.print(table_of([("on the rows set aside", "left"), ("value, 95 %", "right")], rows))
    say(out, "")


def show_leaderboard(out: Console, record: RunRecord) -> None:
    """All models, the best first, the chosen one marked."""
    label = measure(record.task.metric).label
    plan = record.plan
    say(out, f"Leaderboard: {label} over {plan.repeats} x {plan.folds} folds", "bold")
    columns = [
        ("", "left"),
        ("model", "left"),
        (f"{label}, 95 %", "right"),
        ("to *", "right"),
        ("p", "right"),
        ("fit", "right"),
        ("1000 rows", "right"),
    ]
    decimals = common_decimals(record.leaderboard)
    out.print(table_of(columns, [_line(standing, decimals) for standing in record.leaderboard]))
    say(
        out,
        "* is the chosen model; the others are compared with it on the same folds, p by Holm. fit: "
        "one fit; 1000 rows: their prediction.",
    )
    say(out, "")


def written(folder: Path) -> dict[str, str]:
    """Files of a run that are there, by what they are."""
    from novum.apps.job.outputs import LEADERBOARD, MODEL, PREDICTIONS, RUN, SCRIPT

    names = {
        "report": "report.html",
        "model": MODEL,
        "predictions": PREDICTIONS,
        "leaderboard": LEADERBOARD,
        "program": SCRIPT,
        "record": RUN,
    }
    return {
        what: os.fspath(folder / name) for what, name in names.items() if (folder / name).exists()
    }


def _line(standing: Standing, decimals: int) -> list[str]:
    value, ends = estimate(standing.score, decimals)
    score = f"{value} {ends}" if ends and standing.score.low != standing.score.high else value
    behind = number(None if standing.difference is None else standing.difference.value, 2)
    return [
        "*" if standing.is_chosen else "",
        standing.title,
        score,
        behind,
        probability(standing.p_value),
        seconds(standing.fit_seconds),
        seconds(standing.predict_seconds),
    ]


def _parts(data: DataRecord) -> str:
    train = f"{counted(data.n_train, 'row')} to learn from"
    aside = f", {counted(data.n_holdout, 'row')} set aside to judge" if data.n_holdout else ""
    rest = f", {number(data.n_without_target)} without a target" if data.n_without_target else ""
    return f"{train}{aside}{rest}; {counted(len(data.features), 'column')} to predict from."
