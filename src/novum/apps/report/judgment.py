"""The judgment on rows that nothing was learned from: measures, errors, decisions, residuals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from novum.apps.job.record import (
    Curve,
    HoldoutRecord,
    RunRecord,
    TaskRecord,
)
from novum.apps.report.curve_figures import (
    MOST_CONFUSED,
    bayes_error_figure,
    calibration_figure,
    confusion_figure,
    det_figure,
    is_drawable,
    observed_figure,
    other_figure,
    precision_recall_figure,
    quantiles_figure,
    residuals_figure,
    roc_figure,
    threshold_figure,
)
from novum.apps.report.detail import Detail, first_of, sentences
from novum.apps.report.names import estimate, in_words
from novum.display import (
    Block,
    Column,
    Figure,
    Fold,
    Gallery,
    Heading,
    Paragraph,
    Section,
    Table,
    counted,
    number,
    percent,
)
from novum.numerics import Floats

# --- On new rows ----------------------------------------------------------------------------------


Draw = Callable[[Sequence[Curve], int], Figure]

# Heading, and the curves that stand below it.
_GROUPS: tuple[tuple[str, dict[str, Draw]], ...] = (
    (
        "The decision and its cost",
        {"threshold": threshold_figure, "bayes_error": bayes_error_figure},
    ),
    (
        "Probabilities and ranking",
        {
            "calibration": calibration_figure,
            "roc": roc_figure,
            "precision_recall": precision_recall_figure,
            "det": det_figure,
        },
    ),
    (
        "Residuals",
        {
            "predicted": observed_figure,
            "residuals": residuals_figure,
            "quantiles": quantiles_figure,
        },
    ),
)
_WIDE = {"threshold", "bayes_error"}


def judgment_section(record: RunRecord, detail: Detail) -> Section:
    """What the chosen model does on rows set aside before anything was learned."""
    holdout = record.holdout
    title = "How good it is on new rows"
    if holdout is None:
        words = (
            "No rows were set aside in this run, so there is no judgment on new rows; the "
            "cross-validated scores above are the evidence there is."
        )
        return Section("judgment", title, "On new rows", [Paragraph(words)])
    blocks: list[Block] = [
        Paragraph(
            f"The chosen model was judged once, on {counted(holdout.n_rows, 'row')} that nothing "
            "was learned from."
        ),
        *sentences(holdout.sentences, detail.rows),
    ]
    if holdout.measures:
        blocks.append(_measures(holdout, detail))
    blocks += error_blocks(record.task, holdout, detail)
    blocks += _class_measures(holdout, detail)
    blocks += _curves(holdout.curves, detail)
    return Section("judgment", title, "On new rows", blocks)


def _measures(holdout: HoldoutRecord, detail: Detail) -> Table:
    shown, rest = first_of(holdout.measures, detail.rows, "measures")
    rows = [(in_words(name), *estimate(value)) for name, value in shown]
    heads = (Column("measure"), Column("value", True), Column("95 % interval", True))
    return Table("Measures on the rows set aside", heads, rows, note=rest)


def _class_measures(holdout: HoldoutRecord, detail: Detail) -> list[Block]:
    if not holdout.class_measures:
        return []
    shown, rest = first_of(holdout.class_measures, detail.rows, "classes")
    names = list(dict.fromkeys(name for _, values in shown for name, _ in values))[:8]
    rows = []
    for label, values in shown:
        by_name = dict(values)
        rows.append((label, *(" ".join(estimate(by_name.get(name))).strip() for name in names)))
    heads = (Column("class"), *(Column(in_words(name), True) for name in names))
    table = Table("Measures of each class, with 95 % intervals", heads, rows, note=rest)
    return [table if len(rows) <= 12 else Fold(f"Measures of all {len(rows)} classes", [table])]


def _curves(curves: dict[str, tuple[Curve, ...]], detail: Detail) -> list[Block]:
    if not detail.pictures:
        return []
    blocks: list[Block] = []
    known: set[str] = set()
    for heading, figures in _GROUPS:
        known |= figures.keys()
        found = {
            name: draw(curves[name], detail.points)
            for name, draw in figures.items()
            if is_drawable(curves.get(name, ()))
        }
        if found:
            blocks.append(Heading(heading))
            blocks += [figure for name, figure in found.items() if name in _WIDE]
            narrow = [figure for name, figure in found.items() if name not in _WIDE]
            blocks += [Gallery(narrow)] if narrow else []
    others = [name for name in curves if name not in known and is_drawable(curves[name])]
    for place, name in enumerate(others[:10]):
        blocks.append(other_figure(name, curves[name], detail.points, place))
    return blocks


# --- Errors ---------------------------------------------------------------------------------------


_MOST_ERRORS = 12
_FEW = 5


def error_blocks(task: TaskRecord, holdout: HoldoutRecord, detail: Detail) -> list[Block]:
    """The matrix as a picture where it has room, as a table where it is small, its peaks else."""
    if not holdout.confusion or not task.classes:
        return []
    counts = np.array(holdout.confusion, float)
    columns = holdout.confusion_columns or task.actions or task.classes
    if counts.shape != (len(task.classes), len(columns)):
        return [
            Paragraph("The confusion matrix does not fit the classes and is not shown.", "quiet")
        ]
    blocks: list[Block] = [Heading("What is taken for what")]
    if detail.pictures and max(counts.shape) <= MOST_CONFUSED:
        blocks.append(confusion_figure(holdout.confusion, task.classes, columns))
    if max(counts.shape) <= _FEW:
        blocks.append(_matrix(counts, task.classes, columns))
    else:
        blocks += _peaks(counts, task.classes, columns)
    return blocks


def _matrix(counts: Floats, classes: tuple[str, ...], columns: tuple[str, ...]) -> Table:
    heads = (Column("true class"), *(Column(f"decided {name}", True) for name in columns))
    rows = []
    for name, row in zip(classes, counts, strict=True):
        total = row.sum()
        cells = (f"{number(n)} ({percent(n / total if total else None)})" for n in row.tolist())
        rows.append((name, *cells))
    return Table("Rows by true class and decision, with shares of the true class", heads, rows)


def _peaks(counts: Floats, classes: tuple[str, ...], columns: tuple[str, ...]) -> list[Block]:
    """The largest entries off the diagonal."""
    errors = counts.copy()
    for place, name in enumerate(classes):
        if name in columns:
            errors[place, columns.index(name)] = 0
    order = np.argsort(-errors, axis=None, kind="stable")[:_MOST_ERRORS]
    rows = []
    for true, decided in zip(*np.unravel_index(order, errors.shape), strict=True):
        n = float(errors[true, decided])
        if n > 0:
            share = percent(n / counts[true].sum())
            rows.append((classes[true], columns[decided], number(n), share))
    if not rows:
        return [Paragraph("No row was taken for another class.")]
    heads = (
        Column("true class"),
        Column("taken for"),
        Column("rows", True),
        Column("share of the class", True),
    )
    return [Table("The most frequent errors", heads, rows)]
