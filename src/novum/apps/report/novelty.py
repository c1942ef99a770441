"""The report of a search for unusual rows: which, why, and how far detectors agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from novum import __version__
from novum.apps.job.novelty import NoveltyRun
from novum.apps.report.groups import columns_section, figures_of
from novum.apps.report.names import label, text
from novum.core.files import replacing
from novum.display import (
    Bullets,
    Column,
    Fact,
    Facts,
    Markup,
    Paragraph,
    Section,
    Table,
    element,
    percent,
)


def write_novelty_report(run: NoveltyRun, path: Path) -> None:
    """Writes the page as one file that needs nothing else."""
    with replacing(path) as file:
        file.write(novelty_page(run).encode("utf-8"))


def novelty_page(run: NoveltyRun) -> str:
    """The page as HTML."""
    from novum.apps.report.page import document

    sections = [_rows(run), _detectors(run), columns_section(run.name, run.n_rows, run.kinds)]
    if run.not_done:
        said = [text(sentence) for sentence in run.not_done]
        sections.append(Section("not-done", "What was not done", "Not done", [Bullets(said)]))
    title = f"Unusual rows of {label(run.name, 60)}"
    return document(title, _header(run), sections, __version__)


def _header(run: NoveltyRun) -> Markup:
    best = run.comparison.results[0]
    facts = [
        Fact("rows", f"{run.n_rows:,}"),
        Fact("detectors", str(len(run.comparison.results))),
        Fact("best", label(best.name, 40)),
    ]
    if best.area is not None:
        facts.append(Fact("area", repr(best.area), f"novel by {label(run.target, 40)}"))
    else:
        facts.append(Fact("agreement", f"{best.agreement.estimate:.2f}", "with the others"))
    return element(
        "header",
        element("p", f"{label(run.name, 120)} · {run.date}", class_="mark"),
        element("h1", "What is unusual here"),
        element("p", text(run.comparison.sentence), class_="lead"),
        Facts(facts).as_html(),
    )


def _rows(run: NoveltyRun) -> Section:
    lines = [
        [
            str(row.row),
            label(row.name, 40),
            percent(row.rank),
            "; ".join(label(row.cell(c, cell), 120) for c, cell, _ in row.reasons),
        ]
        for row in run.unusual
    ]
    heads: list[Column | str] = [
        Column("row", True),
        "name",
        Column("more unusual than", True),
        Column("because of", is_long=True),
    ]
    blocks: list[Any] = [
        Paragraph(
            "Rows by the mean of their ranks over the detectors, each of which had not seen the "
            "row. Reasons are the columns by which random cuts isolate it; what an autoencoder "
            "expected there is told where one was trained."
        ),
        Table("Most unusual rows", heads, lines),
        *figures_of(run, ("Projection", "Consensus")),
    ]
    return Section("rows", "The most unusual rows", "Rows", blocks)


def _detectors(run: NoveltyRun) -> Section:
    blocks: list[Any] = [Paragraph(text(run.comparison.sentence)), run.comparison.table()]
    return Section("detectors", "How far detectors agree", "Detectors", [
        *blocks, *figures_of(run, ("Detectors",)),
    ])  # fmt: skip
