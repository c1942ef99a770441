"""The data: how the task was understood, where the rows went, what its owner should know."""

from __future__ import annotations

from collections.abc import Sequence

from novum.apps.job.record import (
    ColumnRecord,
    DataRecord,
    Finding,
    ProfileRecord,
    RunRecord,
    TaskRecord,
)
from novum.apps.report.detail import Detail, first_of, sentences
from novum.apps.report.figures import (
    share_bar,
    spark_bars,
    target_figure,
)
from novum.apps.report.names import label
from novum.display import (
    Block,
    Cell,
    Column,
    Fold,
    Gallery,
    Markup,
    Notice,
    Paragraph,
    Section,
    Table,
    counted,
    number,
    percent,
)

# --- Task, rows and findings ----------------------------------------------------------------------


_SEVERITIES = ("danger", "warning", "note")
_MOST_OPEN = 4


def data_section(record: RunRecord, detail: Detail) -> Section:
    """Task, findings and target; rows, working point and columns behind folds."""
    blocks: list[Block] = [*sentences(record.task.sentences, detail.rows)]
    blocks += _findings(record.findings, detail)
    target = record.profile.target
    figure = target_figure(target) if target is not None and detail.pictures else None
    if figure is not None:
        blocks.append(Gallery([figure]))
    of_test_file = record.settings.get("test") is not None
    rows = [_rows(record.data, of_test_file=of_test_file), *_left_out(record.data, detail)]
    blocks.append(Fold("Where the rows went", [*rows, *_working_point(record.task, detail)]))
    n_columns = counted(len(record.profile.columns), "column")
    blocks.append(Fold(f"All {n_columns}", column_blocks(record.profile, detail)))
    return Section("data", "The table", "Table", blocks)


def _findings(findings: tuple[Finding, ...], detail: Detail) -> list[Block]:
    """What calls for a warning, the most severe first; mere notes behind a fold."""
    if not findings:
        return [Paragraph("Nothing about the table calls for a warning.")]
    order = {severity: place for place, severity in enumerate(_SEVERITIES)}
    ranked = sorted(findings, key=lambda f: order.get(f.severity, len(order)))
    shown, rest = first_of(ranked, detail.rows, "findings")
    notices: list[Block] = []
    for finding in shown:
        names = ", ".join(label(name, 80) for name in finding.columns[:6])
        more = f" and {len(finding.columns) - 6:,} more" if len(finding.columns) > 6 else ""
        title = finding.kind[:1].upper() + finding.kind[1:]
        title += f": {names}{more}" if names else ""
        notices.append(Notice(finding.severity, title, finding.text, finding.advice))
    n_open = min(sum(f.severity in ("danger", "warning") for f in shown), _MOST_OPEN)
    folded = [*notices[n_open:], *([Paragraph(rest, "quiet")] if rest else [])]
    if not folded:
        return notices
    return [*notices[:n_open], Fold(f"Notes about the table ({len(shown) - n_open})", folded)]


def _rows(data: DataRecord, *, of_test_file: bool) -> Table:
    parts = [
        ("learned from", data.n_train),
        ("set aside to judge", data.n_holdout),
        ("without a target: not judged on, but predicted", data.n_without_target),
    ]
    if of_test_file:
        # Its rows are none of the table's.
        del parts[1]
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
        note=f"Rows to judge on: {data.holdout_way}" if data.holdout_way else "",
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
        Paragraph(
            "Decisions are made for these priors and costs, which need not be those of the table."
        ),
        Table("Working point", columns, rows, note=note),
    ]


# --- Columns --------------------------------------------------------------------------------------


_HEADS = (
    Column("column"),
    Column("kind"),
    Column("missing", True),
    Column("distinct", True),
    Column("distribution"),
    Column("in brief", is_long=True),
    Column("tells of the target", True),
)


def column_blocks(profile: ProfileRecord, detail: Detail) -> list[Block]:
    """Sentences and tables of the profile."""
    blocks: list[Block] = [Paragraph(_words(profile))]
    if profile.columns:
        shown, rest = _most_telling(profile.columns, detail.columns)
        rows = [_row(column, profile.n_rows, detail) for column in shown]
        note = (
            "The last figure is the share of the target's uncertainty that the column explains "
            "alone, without the others. " + rest
        )
        blocks.append(Table("Columns of the table", _HEADS, rows, note=note.strip()))
    if profile.missing_patterns:
        blocks.append(_patterns(profile, detail))
    return blocks


def _words(profile: ProfileRecord) -> str:
    whole = counted(profile.n_complete_rows, "row")
    words = f"{whole} of {number(profile.n_rows)} have no missing cell"
    words += f"; {counted(profile.n_duplicate_rows, 'row')} repeat an earlier one."
    if profile.seen_rows < profile.n_rows:
        words += f" The profile was made from {counted(profile.seen_rows, 'row')}."
    return words


def _most_telling(columns: Sequence[ColumnRecord], most: int) -> tuple[Sequence[ColumnRecord], str]:
    """All columns in their order, or those that tell most of the target."""
    if len(columns) <= most:
        return columns, ""
    order = sorted(range(len(columns)), key=lambda j: (-(columns[j].association or 0.0), j))
    words = (
        f"The {most} of {len(columns):,} columns that tell most are listed; run.json has all of "
        "them."
    )
    return [columns[j] for j in order[:most]], words


def _row(column: ColumnRecord, n_rows: int, detail: Detail) -> tuple[Cell | str, ...]:
    missing = percent(column.n_missing / n_rows) if n_rows and column.n_missing else "0"
    return (
        column.name,
        column.kind,
        missing,
        number(column.n_distinct),
        Cell("", picture=_distribution(column) if detail.pictures else None),
        _brief(column),
        _telling(column, detail),
    )


def _distribution(column: ColumnRecord) -> Markup | None:
    if column.histogram_counts:
        return spark_bars(column.histogram_counts, f"histogram of {label(column.name)}")
    return spark_bars([n for _, n in column.levels], f"rows of each level of {label(column.name)}")


def _brief(column: ColumnRecord) -> str:
    if len(column.quantiles) == 5:
        low, _, middle, _, high = (number(value, 3) for value in column.quantiles)
        return f"{low} to {high}, median {middle}"
    if not column.levels:
        return ""
    shown = ", ".join(f"{label(name, 20)} {number(count)}" for name, count in column.levels[:3])
    rest = len(column.levels) - 3 + column.n_other_levels
    return f"{shown}, and {number(rest)} more" if rest > 0 else shown


def _telling(column: ColumnRecord, detail: Detail) -> Cell:
    share = column.association
    words = percent(share)
    if share is None or not detail.pictures:
        return Cell(words)
    return Cell(words, picture=share_bar(share, f"{words} explained"))


def _patterns(profile: ProfileRecord, detail: Detail) -> Table:
    shown, rest = first_of(profile.missing_patterns, min(detail.rows, 15), "patterns")
    rows = []
    for names, n_rows in shown:
        words = ", ".join(label(name, 30) for name in names[:8]) or "none"
        words += f" and {len(names) - 8:,} more" if len(names) > 8 else ""
        share = n_rows / profile.n_rows if profile.n_rows else None
        rows.append((words, number(n_rows), percent(share)))
    heads = (Column("missing together"), Column("rows", True), Column("share", True))
    return Table("Cells that are missing together", heads, rows, note=rest)
