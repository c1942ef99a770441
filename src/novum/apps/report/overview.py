"""What stands first: the decision in one sentence, a picture of it, how sure it is, what it saves.

And what stands last: what was not done, what was planned, and what is needed to run it again.
"""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from novum.apps.job.judging import measure_title
from novum.apps.job.record import PlannedTrial, PlanRecord, RunRecord
from novum.apps.job.record_model import Estimate, SavingRecord
from novum.apps.report.curve_figures import is_drawable, observed_figure
from novum.apps.report.detail import Detail, first_of, sentences
from novum.apps.report.figures import rows_figure, standings_figure
from novum.apps.report.names import LONGEST_NAME, in_words, label, text
from novum.display import (
    Block,
    Cell,
    Column,
    Fact,
    Facts,
    Figure,
    Fold,
    Markup,
    Notice,
    Paragraph,
    Section,
    Table,
    about,
    counted,
    element,
    number,
    percent,
    seconds,
)

CONSTANT = "constant"
_DISTANCES = {"rmse", "mae", "root_mean_squared_error", "mean_absolute_error"}
_COST, _RIGHT, _LEVELS = "bayes_risk", "accuracy", "mean_level_error"


# --- Above the fold -------------------------------------------------------------------------------


def header(record: RunRecord, detail: Detail) -> Markup:
    """The head of the page: whoever reads no further knows what was found."""
    figure = decision_figure(record, detail.points) if detail.pictures else None
    dangers = [finding for finding in record.findings if finding.severity == "danger"][:2]
    said = " ".join(record.verdict[: detail.rows])
    words = element(
        "div",
        element("p", _about(record), class_="mark"),
        element("h1", decision(record)),
        element("p", said, class_="lead") if said else None,
        (Notice(f.severity, _titled(f.kind), f.text, f.advice).as_html() for f in dangers),
        element("p", detail.note, class_="notice warning", role="note") if detail.note else None,
    )
    return element(
        "header",
        element("div", words, figure.as_html() if figure else None, class_="decision"),
        Facts(facts(record)).as_html(),
    )


def _about(record: RunRecord) -> str:
    """The table, the day, and how many rows there are."""
    parts = [label(record.data.name, 120), day(record.date), counted(record.data.n_rows, "row")]
    return " · ".join(part for part in parts if part)


def _titled(words: str) -> str:
    return words[:1].upper() + words[1:]


def day(iso: str) -> str:
    """A date as people write it; what is none stays as it is.

    Examples
    --------
    >>> day("2026-11-08"), day("")
    ('8 November 2026', '')
    """
    try:
        when = date.fromisoformat(iso)
    except ValueError:
        return iso
    months = (
        *("January", "February", "March", "April", "May", "June", "July", "August"),
        *("September", "October", "November", "December"),
    )
    return f"{when.day} {months[when.month - 1]} {when.year}"


def decision(record: RunRecord) -> str:
    """What the run comes to, in one sentence, with what the best constant answer does."""
    target = label(record.task.target, 80)
    if record.chosen.family == CONSTANT:
        return f"No model predicts {target} better than the same answer for every row."
    saving = record.holdout.saving if record.holdout is not None else None
    if saving is None or saving.model.value is None or saving.constant.value is None:
        return f"Predicting {target} from {label(record.data.name, 80)}"
    ours, theirs = saving.model.value, saving.constant.value
    always = f"always saying “{label(saving.answer, 60)}”"
    if saving.metric == _COST:
        if about(ours) == about(theirs):
            return f"The model decides on {target} no better than {always}."
        return (
            f"The model decides on {target} at a cost of {about(ours)} a row; {always} costs "
            f"{about(theirs)}."
        )
    if saving.metric == _RIGHT:
        return (
            f"The model is right about {target} for {_hundred(ours)} of 100 new rows; {always} is "
            f"right for {_hundred(theirs)}."
        )
    if saving.metric == _LEVELS:
        return (
            f"The model predicts {target} and is off by {about(ours)} levels on average; {always} "
            f"is off by {about(theirs)}."
        )
    if saving.metric in _DISTANCES:
        always = f"always saying {label(saving.answer, 60)}"
        return (
            f"The model predicts {target} and is off by {about(ours)}; {always} is off by "
            f"{about(theirs)}."
        )
    return (
        f"The model predicts {target} with a {in_words(saving.metric)} of {about(ours)}; {always} "
        f"has {about(theirs)}."
    )


def _hundred(share: float) -> str:
    """Of a hundred; never all or none where it is not quite all or none."""
    rows = round(100 * share)
    return f"{100 * share:.1f}" if rows in (0, 100) and share not in (0.0, 1.0) else str(rows)


def facts(record: RunRecord) -> list[Fact]:
    """How good, what it saves, which model, from what: each with how sure it is."""
    facts: list[Fact] = []
    holdout = record.holdout
    saving = holdout.saving if holdout is not None else None
    if holdout is not None and holdout.measures:
        name, measured = _headline(record)
        facts.append(_goodness(name, measured, f"on {counted(holdout.n_rows, 'new row')}"))
    elif chosen := [s for s in record.leaderboard if s.is_chosen]:
        folds = f"over {folds_in_words(record.plan)}"
        facts.append(_goodness(record.task.metric, chosen[0].score, folds))
    if saving is not None and saving.saved.value is not None:
        facts.append(_saved(saving))
    if record.chosen.title:
        n = len(record.leaderboard)
        note = "the only one that was tried" if n == 1 else f"of {n} models that were tried"
        facts.append(Fact("model", _titled(record.chosen.title), note))
    data = record.data
    total = sum(spent for _, spent in record.stage_seconds)
    time = f", in {seconds(total)}" if total > 0 else ""
    note = f"and {counted(len(data.features), 'column')}{time}"
    facts.append(Fact("learned from", counted(data.n_train, "row"), note))
    return facts


def _headline(record: RunRecord) -> tuple[str, Estimate]:
    """The measure that the model was chosen by, or the first one there is."""
    assert record.holdout is not None
    metric, measures = record.task.metric, record.holdout.measures
    names = {metric, measure_title(metric)}
    name, estimate = next((m for m in measures if m[0] in names), measures[0])
    return (metric if name in names else name), estimate


def _goodness(name: str, estimate: Estimate, where: str) -> Fact:
    if name == _RIGHT:
        return Fact(f"right {where}", percent(estimate.value), _between(estimate, percent))
    if name == _COST:
        return Fact(f"cost of a decision {where}", about(estimate.value), _between(estimate))
    if name == _LEVELS:
        return Fact(f"off by, {where}", f"{about(estimate.value)} levels", _between(estimate))
    if name in _DISTANCES:
        what = "root mean square" if "r" in name[:2] else "mean distance"
        note = "; ".join(part for part in (what, _between(estimate)) if part)
        return Fact(f"off by, {where}", about(estimate.value), note)
    return Fact(f"{in_words(name)} {where}", about(estimate.value), _between(estimate))


def _saved(saving: SavingRecord) -> Fact:
    """In the unit of the measure; costs and errors for a number of rows that people think in."""
    saved, constant = saving.saved, saving.constant.value
    answer = label(saving.answer, 40)
    quoted = answer if saving.metric in _DISTANCES else f"“{answer}”"
    name = f"saved, against always saying {quoted}"
    if saving.metric == _COST:
        many = [None if v is None else 1000 * v for v in (saved.value, saved.low, saved.high)]
        per = Estimate(*many)
        value = f"{about(per.value)} for 1,000 rows" if per.value else "nothing"
        return Fact(name, value, _between(per))
    if saving.metric == _RIGHT:
        many = [None if v is None else 100 * v for v in (saved.value, saved.low, saved.high)]
        per = Estimate(*many)
        value = f"{about(per.value, 2)} errors of 100" if per.value else "nothing"
        return Fact(name, value, _between(per, lambda v: about(v, 2)))
    share = saved.value / abs(constant) if constant and saved.value is not None else None
    part = f" ({percent(share)})" if share is not None and abs(share) >= 0.001 else ""
    return Fact(name, f"{about(saved.value)}{part}", _between(saved))


def _between(estimate: Estimate, shown: Any = about) -> str:
    if estimate.low is None or estimate.high is None or shown(estimate.low) == shown(estimate.high):
        return ""
    return f"between {shown(estimate.low)} and {shown(estimate.high)}, 95 % sure"


def decision_figure(record: RunRecord, most: int, key: str = "decision") -> Figure | None:
    """The one picture of the decision: rows right and wrong, numbers near the truth, or scores."""
    holdout, task = record.holdout, record.task
    if holdout is not None and holdout.confusion and task.classes:
        return rows_figure(holdout, task, key)
    if holdout is not None and is_drawable(holdout.curves.get("predicted", ())):
        return observed_figure(holdout.curves["predicted"], most, key=key)
    shown = [s for s in record.leaderboard if s.is_chosen or s.family == CONSTANT]
    if not any(s.score.value is not None for s in shown):
        return None
    return standings_figure(shown, task.metric, greater=task.greater_is_better, key=key)


# --- What was not done ----------------------------------------------------------------------------


def omissions_section(record: RunRecord, detail: Detail) -> Section:
    """What a reader may miss; behind folds the plan, the times, and the settings."""
    blocks: list[Block] = sentences(record.not_done, detail.rows) or [
        Paragraph("Everything that was asked for was done.")
    ]
    blocks.append(Fold("The plan, and where the time went", _plan(record, detail)))
    blocks.append(Fold("Settings, versions and the table's checksum", _settings(record, detail)))
    return Section("omissions", "What was not done", "Not done", blocks)


def _plan(record: RunRecord, detail: Detail) -> list[Block]:
    """Trials with their forecast prices, and times of the stages."""
    plan = record.plan
    budget = plan.budget_seconds
    within = "" if budget is None else f" with a budget of {seconds(budget)}"
    inner = f", each with {counted(plan.inner_folds, 'inner fold')} to tune"
    inner = inner if is_tuned(plan) else ""
    blocks: list[Block] = [
        Paragraph(
            f"The preset “{plan.preset}”{within} was turned into this plan before the first fit: "
            f"{folds_in_words(plan)}{inner}, seed {plan.seed}. "
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
    return blocks + _times(record, detail)


def folds_in_words(plan: PlanRecord) -> str:
    """The outer folds of the cross-validation.

    Examples
    --------
    >>> folds_in_words(PlanRecord("quick", 60.0, 1.0, 2, 5, 3, 0, ()))
    '5 folds, repeated 2 times'
    """
    words = counted(plan.folds, "fold")
    return words if plan.repeats == 1 else f"{words}, repeated {counted(plan.repeats, 'time')}"


def is_tuned(plan: PlanRecord) -> bool:
    """Whether any model has settings that are chosen on inner folds."""
    return any(trial.n_candidates > 1 for trial in plan.trials)


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


def _settings(record: RunRecord, detail: Detail) -> list[Block]:
    """The request, the data's fingerprint, and the versions."""
    request, rest = first_of(list(record.settings.items()), detail.rows, "settings")
    versions, more = first_of(list(record.versions.items()), detail.rows, "versions")
    data = [
        ("table", record.data.name),
        ("SHA-256", record.data.sha256 or "–"),
        ("rows and columns", f"{number(record.data.n_rows)} × {number(record.data.n_columns)}"),
        ("day", record.date or "–"),
        ("seed", number(record.plan.seed)),
    ]
    heads = (Column("setting"), Column("value"))
    return [
        Table("Identity of the data", (Column("what"), Column("value")), data),
        Table("Settings of the run", heads, [(name, _words(v)) for name, v in request], note=rest),
        Table("Versions", (Column("package"), Column("version")), versions, note=more),
    ]


def _words(value: Any) -> str:
    """A setting as text; nested ones as JSON."""
    if value is None or value in ((), []):
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
