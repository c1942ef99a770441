"""What was planned before the first fit, what it took, and what was not done."""

from __future__ import annotations

from novum.apps.job.record import PlannedTrial, PlanRecord, RunRecord
from novum.apps.report.blocks import Block, Cell, Column, Heading, Section, Table, Text, sentences
from novum.apps.report.detail import Detail, first_of
from novum.apps.report.numbers import counted, number, percent, seconds


def plan_section(record: RunRecord, detail: Detail) -> Section:
    """Trials with their forecast prices, times of the stages, and what a reader may miss."""
    plan = record.plan
    blocks: list[Block] = [
        Text(
            f"The preset “{plan.preset}” with a budget of {seconds(plan.budget_seconds)} was "
            "turned into this plan before the first fit: "
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
        blocks.append(Text("Everything that was asked for was done."))
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
