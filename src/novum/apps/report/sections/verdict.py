"""The verdict: three sentences, and the numbers behind them."""

from __future__ import annotations

from novum.apps.job.judging import measure_title
from novum.apps.job.record import Estimate, HoldoutRecord, RunRecord
from novum.apps.report.blocks import Block, Fact, Facts, Section, Text
from novum.apps.report.detail import Detail
from novum.apps.report.names import in_words
from novum.apps.report.numbers import counted, estimate, number, seconds


def verdict_section(record: RunRecord, detail: Detail) -> Section:
    """Which model, how good, how sure."""
    blocks: list[Block] = []
    for place, sentence in enumerate(record.verdict[: detail.rows]):
        blocks.append(Text(sentence, "lead" if place == 0 else ""))
    if not record.verdict:
        blocks.append(Text("This run came to no verdict; what it found is below.", "lead"))
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
