"""What was found in short, what was planned, and what is needed to run it again."""

from __future__ import annotations

import json
from typing import Any

from novum.apps.job.judging import measure_title
from novum.apps.job.record import (
    Estimate,
    HoldoutRecord,
    PlannedTrial,
    PlanRecord,
    RunRecord,
)
from novum.apps.report.detail import Detail, first_of, sentences
from novum.apps.report.names import LONGEST_NAME, estimate, in_words, text
from novum.display import (
    Block,
    Cell,
    Column,
    Fact,
    Facts,
    Heading,
    Paragraph,
    Section,
    Table,
    counted,
    number,
    percent,
    seconds,
)

# --- In short -------------------------------------------------------------------------------------


def verdict_section(record: RunRecord, detail: Detail) -> Section:
    """Which model, how good, how sure."""
    blocks: list[Block] = []
    for place, sentence in enumerate(record.verdict[: detail.rows]):
        blocks.append(Paragraph(sentence, "lead" if place == 0 else ""))
    if not record.verdict:
        blocks.append(Paragraph("This run came to no verdict; what it found is below.", "lead"))
    blocks.append(Facts(_facts(record)))
    return Section("verdict", "In short", "In short", blocks)


def _facts(record: RunRecord) -> list[Fact]:
    facts = []
    metric = in_words(record.task.metric)
    if record.chosen.title:
        facts.append(Fact("chosen model", record.chosen.title))
    chosen = [s for s in record.leaderboard if s.is_chosen]
    if chosen:
        value, limits = estimate(chosen[0].score)
        facts.append(Fact(f"{metric}, cross-validated", value, limits))
    if record.holdout is not None and record.holdout.measures:
        name, measured = _headline(record.holdout, record.task.metric)
        value, limits = estimate(measured)
        facts.append(Fact(f"{in_words(name)}, on rows set aside", value, limits))
    data = record.data
    facts.append(Fact("rows", number(data.n_rows), counted(len(data.features), "column") + " used"))
    total = sum(spent for _, spent in record.stage_seconds)
    if total > 0:
        facts.append(
            Fact("time", seconds(total), counted(len(record.leaderboard), "model") + " tried")
        )
    return facts


def _headline(holdout: HoldoutRecord, metric: str) -> tuple[str, Estimate]:
    """The measure that the model was chosen by, or the first one there is."""
    names = {metric, measure_title(metric)}
    return next((m for m in holdout.measures if m[0] in names), holdout.measures[0])


# --- Plan -----------------------------------------------------------------------------------------


def _with_budget(plan: PlanRecord) -> str:
    if plan.budget_seconds is None:
        return ""
    return f" with a budget of {seconds(plan.budget_seconds)}"


def plan_section(record: RunRecord, detail: Detail) -> Section:
    """Trials with their forecast prices, times of the stages, and what a reader may miss."""
    plan = record.plan
    blocks: list[Block] = [
        Paragraph(
            f"The preset “{plan.preset}”{_with_budget(plan)} was turned into this plan before the "
            "first fit: "
            f"{folds_in_words(plan)}, each with {counted(plan.inner_folds, 'inner fold')} "
            f"to tune, seed {plan.seed}. "
            "The same plan gives the same models on any machine."
        )
    ]
    if plan.trials:
        shown, rest = first_of(plan.trials, detail.rows, "families")
        heads = (
            Column("family"),
            Column("candidates", True),
            Column("rows", True),
            Column("fits", True),
            Column("forecast", True),
            Column("status", is_long=True),
        )
        rows = [_row(trial) for trial in shown]
        blocks.append(Table("Trials as planned", heads, rows, note=rest))
    blocks += _times(record, detail)
    blocks.append(Heading("What was not done"))
    if record.not_done:
        blocks += sentences(record.not_done, detail.rows)
    else:
        blocks.append(Paragraph("Everything that was asked for was done."))
    return Section("plan", "What was planned, and what was not done", "Plan", blocks)


def folds_in_words(plan: PlanRecord) -> str:
    """The outer folds of the cross-validation.

    Examples
    --------
    >>> folds_in_words(PlanRecord("quick", 60.0, 1.0, 2, 5, 3, 0, ()))
    '5 folds, repeated 2 times'
    """
    words = counted(plan.folds, "fold")
    return words if plan.repeats == 1 else f"{words}, repeated {counted(plan.repeats, 'time')}"


def _row(trial: PlannedTrial) -> tuple[Cell | str, ...]:
    return (
        trial.title or trial.family,
        number(trial.n_candidates),
        number(trial.n_rows),
        number(trial.n_fits),
        seconds(trial.forecast_seconds),
        trial.status,
    )


def _times(record: RunRecord, detail: Detail) -> list[Block]:
    if not record.stage_seconds:
        return []
    shown, rest = first_of(record.stage_seconds, detail.rows, "stages")
    total = sum(spent for _, spent in record.stage_seconds)
    rows = [
        (name, seconds(spent), percent(spent / total if total else None)) for name, spent in shown
    ]
    heads = (Column("stage"), Column("time", True), Column("share", True))
    return [Table("Where the time went", heads, rows, note=rest)]


# --- Settings -------------------------------------------------------------------------------------


_LONGEST_VALUE = 300


def settings_section(record: RunRecord, detail: Detail) -> Section:
    """The request, the data's fingerprint, and the versions."""
    request, rest = first_of(list(record.settings.items()), detail.rows, "settings")
    versions, more = first_of(list(record.versions.items()), detail.rows, "versions")
    data = [
        ("table", record.data.name),
        ("SHA-256", record.data.sha256 or "–"),
        ("rows and columns", f"{number(record.data.n_rows)} × {number(record.data.n_columns)}"),
        ("seed", number(record.plan.seed)),
    ]
    heads = (Column("setting"), Column("value"))
    blocks: list[Block] = [
        Table("Identity of the data", (Column("what"), Column("value")), data),
        Table("Settings of the run", heads, [(name, _words(v)) for name, v in request], note=rest),
        Table("Versions", (Column("package"), Column("version")), versions, note=more),
    ]
    return Section("settings", "Settings and versions", "Settings", blocks)


def _words(value: Any) -> str:
    """A setting as text; nested ones as JSON."""
    if value is None:
        return "not given"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return number(value, 6)
    if not value:
        return "none"
    return text(json.dumps(value, default=lambda v: text(str(v), LONGEST_NAME)), _LONGEST_VALUE)
