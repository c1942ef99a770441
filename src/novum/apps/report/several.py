"""The page of several targets: all of them in one headline, then a section for each.

Everything about one target is on its own page, in the folder of its run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from novum.apps.job.record import SeveralRecord
from novum.apps.report.data import data_section
from novum.apps.report.detail import Detail, first_of, sentences
from novum.apps.report.judgment import error_blocks, measure_blocks
from novum.apps.report.models import leaderboard_table
from novum.apps.report.names import estimate, label
from novum.apps.report.overview import CONSTANT, day, decision, decision_figure, facts
from novum.display import (
    Block,
    Column,
    Fact,
    Facts,
    Fold,
    Gallery,
    Markup,
    Paragraph,
    Section,
    Table,
    about,
    counted,
    element,
)

# Targets that have a figure of their own above all others.
_MOST_FACTS = 12


def several_header(record: SeveralRecord) -> Markup:
    """All targets at a glance."""
    data = record.runs[0].data
    parts = [label(data.name, 120), day(record.date), counted(data.n_rows, "row")]
    first, *rest = record.verdict
    together = rest if record.labels is not None else rest[len(record.runs) :]
    shown = []
    if record.labels is not None:
        same = dict(record.labels.constant)
        for name, measured in record.measures:
            note = f"the same set for every row has {about(same[name].value)}"
            value, ends = estimate(measured)
            shown.append(Fact(name, value, f"{ends}; {note}" if ends else note))
    else:
        for run in record.runs[:_MOST_FACTS]:
            fact = facts(run)[0]
            shown.append(Fact(f"{label(run.task.target, 40)}: {fact.name}", fact.value, fact.note))
    return element(
        "header",
        element("p", " · ".join(part for part in parts if part), class_="mark"),
        element("h1", together[0] if together else first),
        element("p", " ".join([first, *together[1:]] if together else rest), class_="lead"),
        Facts(shown).as_html(),
    )


def target_sections(record: SeveralRecord, detail: Detail) -> dict[str, Callable[[], Section]]:
    """A section for each target, one for the table, and one for what was not done."""
    sections: dict[str, Callable[[], Section]] = {}
    if record.labels is not None:
        sections["Labels"] = partial(_labels, record, detail)
    else:
        for place, run in enumerate(record.runs):
            sections[run.task.target] = partial(_target, record, place, detail)
    sections["Table"] = partial(_table, record, detail)
    sections["Not done"] = partial(_omissions, record, detail)
    return sections


def _target(record: SeveralRecord, place: int, detail: Detail) -> Section:
    """What the run of one target comes to."""
    run, name = record.runs[place], record.targets[place]
    blocks: list[Block] = [Paragraph(decision(run)), *sentences(run.verdict, detail.rows)]
    picture = decision_figure(run, detail.points, f"decision-{place}") if detail.pictures else None
    blocks += [Gallery([picture])] if picture is not None else []
    blocks.append(leaderboard_table(run, detail))
    if run.holdout is not None:
        _, errors = error_blocks(run.task, run.holdout, replace(detail, pictures=False))
        measures = measure_blocks(run.holdout, detail)
        blocks += [Fold("Measures and errors on the rows set aside", [*measures, *errors])]
    words = f"Everything about this target is in {record.folders[place]}/report.html."
    blocks.append(Paragraph(words, "quiet"))
    return Section(f"target-{place + 1}", label(name, 80), label(name, 40), blocks)


def _table(record: SeveralRecord, detail: Detail) -> Section:
    """The table as the run of the first target saw it."""
    section = data_section(record.runs[0], replace(detail, pictures=False))
    said = (
        f"As it was read to predict {label(record.targets[0], 80)}; the pages of the others say "
        "how it was read for them."
    )
    return replace(section, blocks=[Paragraph(said, "quiet"), *section.blocks])


def _labels(record: SeveralRecord, detail: Detail) -> Section:
    """Each label with its model, and where its own page is."""
    shown, rest = first_of(
        tuple(zip(record.runs, record.folders, strict=True)), detail.rows, "labels"
    )
    rows = []
    for run, folder in shown:
        chosen = next(standing for standing in run.leaderboard if standing.is_chosen)
        same = next((one for one in run.leaderboard if one.family == CONSTANT), chosen)
        score = " ".join(estimate(chosen.score)).strip()
        rows.append(
            (run.task.target, chosen.title, score, about(same.score.value), f"{folder}/report.html")
        )
    heads = (
        Column("label"),
        Column("model"),
        Column("accuracy over the folds", True),
        Column("same answer", True),
        Column("its own page", is_long=True),
    )
    return Section(
        "labels", "Labels", "Labels", [Table("Labels and models", heads, rows, note=rest)]
    )


def _omissions(record: SeveralRecord, detail: Detail) -> Section:
    lost = [f"{run.task.target}: {said}" for run in record.runs for said in run.not_done]
    blocks: list[Block] = sentences((*record.not_done, *lost), detail.rows) or [
        Paragraph("Everything that was asked for was done.")
    ]
    return Section("omissions", "What was not done", "Not done", blocks)
