"""The report of a run without a target: groups, why so many, and what tells them apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from novum import __version__
from novum.apps.job.clusters import ClusterRun
from novum.apps.report.names import label, text
from novum.core.files import replacing
from novum.display import (
    Bullets,
    Column,
    Fact,
    Facts,
    Figure,
    Markup,
    Paragraph,
    Section,
    Table,
    counted,
    element,
    number,
    percent,
)


def write_groups_report(run: ClusterRun, path: Path) -> None:
    """Writes the page as one file that needs nothing else."""
    with replacing(path) as file:
        file.write(groups_page(run).encode("utf-8"))


def groups_page(run: ClusterRun) -> str:
    """The page as HTML."""
    from novum.apps.report.page import document

    sections = [_groups(run), _number(run), columns_section(run.name, run.n_rows, run.kinds)]
    if run.not_done:
        sections.append(
            Section("not-done", "What was not done", "Not done", [Bullets(run.not_done)])
        )
    return document(f"Groups in {label(run.name, 60)}", _header(run), sections, __version__)


def _header(run: ClusterRun) -> Markup:
    k = run.choice.n_clusters
    row = next((r for r in run.choice.rows if r.k == k), None)
    facts = [Fact("groups", str(k)), Fact("rows", f"{run.n_rows:,}")]
    if row is not None and row.silhouette:
        facts.append(Fact("silhouette", f"{row.silhouette[0]:.2f}", "1 is clearest"))
    if row is not None and row.stability:
        facts.append(Fact("stability", f"{row.stability[0]:.2f}", "agreement of subsamples"))
    for name in ("adjusted_rand", "purity"):
        if name in run.agreement:
            words = name.replace("_", " ")
            facts.append(Fact(words, repr(run.agreement[name]), f"with {label(run.target, 40)}"))
    return element(
        "header",
        element("p", f"{label(run.name, 120)} · {run.date}", class_="mark"),
        element("h1", "One group" if k == 1 else f"{k} groups"),
        element("p", text(run.choice.reason), class_="lead"),
        Facts(facts).as_html(),
    )


def figures_of(run: Any, titles: tuple[str, ...]) -> list[Any]:
    """The charts of a run with these titles, as figures of its page."""
    return [
        Figure(title, caption, chart.as_svg(title.lower().replace(" ", "-")))
        for title, caption, chart in run.charts
        if title in titles
    ]


def _groups(run: ClusterRun) -> Section:
    blocks: list[Any] = []
    if run.descriptions is None:
        blocks.append(Paragraph("Nothing tells the rows from a table without groups."))
    else:
        blocks.append(Bullets([text(group.sentence) for group in run.descriptions]))
        lines = [
            [
                str(g.label),
                f"{g.size:,}",
                percent(g.share),
                g.rule,
                percent(g.found),
                percent(g.right),
            ]
            for g in run.descriptions
        ]
        heads: list[Column | str] = [
            "group",
            Column("rows", True),
            Column("share", True),
            Column("rule", is_long=True),
            Column("found", True),
            Column("right", True),
        ]
        said = (
            "The groups were made from these columns, so that their p values rank the columns and "
            "do not prove that there are groups."
        )
        blocks += [Table("Groups", heads, lines), run.descriptions.table(), Paragraph(said)]
    blocks += figures_of(run, ("Projection", "Silhouettes", "Tree of merges"))
    return Section("groups", "The groups", "Groups", blocks)


def _number(run: ClusterRun) -> Section:
    blocks: list[Any] = [Paragraph(text(run.choice.reason)), run.choice.table]
    blocks += figures_of(run, ("How many groups",))
    return Section("number", "Why so many", "Number", blocks)


def columns_section(name: str, n_rows: int, kinds: Any) -> Section:
    """How the columns of a table were understood."""
    lines = [[label(column, 60), kind, reason] for column, kind, reason in kinds]
    table = Table("Columns", ["column", "kind", Column("reason", is_long=True)], lines)
    said = f"{label(name, 60)} has {counted(n_rows, 'row')} and {number(len(lines))} columns."
    return Section("table", "The table as it was understood", "Table", [Paragraph(said), table])
