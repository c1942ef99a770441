"""Where the model is wrong: its errors on rows that nothing was learned from.

What helps to trust or mistrust it stands open: what is taken for what, the probabilities, the worst
rows, groups of high error. Measures and further curves are behind folds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from novum.apps.job.record import RunRecord, TaskRecord
from novum.apps.job.record_model import Curve, Estimate, HoldoutRecord, MistakesRecord
from novum.apps.report.curve_figures import (
    MOST_CONFUSED,
    bayes_error_figure,
    calibration_figure,
    confusion_figure,
    det_figure,
    is_drawable,
    other_figure,
    precision_recall_figure,
    quantiles_figure,
    residuals_figure,
    roc_figure,
    threshold_figure,
)
from novum.apps.report.detail import Detail, first_of, sentences
from novum.apps.report.names import estimate, in_words, label
from novum.display import (
    Block,
    Column,
    Figure,
    Fold,
    Gallery,
    Paragraph,
    Section,
    Table,
    about,
    counted,
    number,
    percent,
    probability,
)
from novum.numerics import Floats

Draw = Callable[[Sequence[Curve], int], Figure]

# Curves that stand open, and those behind a fold.
_OPEN: dict[str, Draw] = {
    "calibration": calibration_figure,
    "threshold": threshold_figure,
    "residuals": residuals_figure,
    "quantiles": quantiles_figure,
}
_FOLDED: dict[str, Draw] = {
    "roc": roc_figure,
    "precision_recall": precision_recall_figure,
    "det": det_figure,
    "bayes_error": bayes_error_figure,
}
# The picture of the decision shows them already.
_SHOWN = {"predicted"}
_CLEAR = 0.05
# All rows and so many classes.
_MOST_COVERED = 13
_LOSSES = {
    "wrong": "share wrong",
    "cost": "cost",
    "levels": "levels off, on average",
    "distance": "off by, on average",
}
# What the worst rows are ordered by.
_WORST = {**_LOSSES, "wrong": "given to the truth", "levels": "levels off", "distance": "off by"}


def judgment_section(record: RunRecord, detail: Detail) -> Section:
    """What the chosen model does wrong on rows set aside before anything was learned."""
    holdout, title = record.holdout, "Where it is wrong"
    if holdout is None:
        words = (
            "No rows were set aside in this run, so there is no judgment on new rows; the "
            "cross-validated scores are the evidence there is."
        )
        return Section("wrong", title, "Wrong", [Paragraph(words)])
    blocks: list[Block] = [
        Paragraph(
            f"The chosen model was judged once, on {counted(holdout.n_rows, 'row')} that nothing "
            f"was learned from. {_wrong_in_words(holdout)}".strip()
        ),
    ]
    figures, rest = error_blocks(record.task, holdout, detail)
    curves = holdout.curves if detail.pictures else {}
    figures += [
        draw(curves[name], detail.points)
        for name, draw in _OPEN.items()
        if is_drawable(curves.get(name, ()))
    ]
    blocks += [Gallery(figures)] if figures else []
    blocks += rest
    blocks += _coverage(holdout)
    if holdout.mistakes is not None:
        tables = _worst(holdout.mistakes) + _groups(holdout.mistakes)
        blocks += [Gallery(tables, "tables")] if tables else []
    said = sentences(holdout.sentences, detail.rows)
    if holdout.measures or said or holdout.class_measures:
        inside = [*said, *measure_blocks(holdout, detail), *_class_measures(holdout, detail)]
        blocks.append(Fold("All measures", inside))
    blocks += _further_curves(curves, detail)
    return Section("wrong", title, "Wrong", blocks)


def _wrong_in_words(holdout: HoldoutRecord) -> str:
    mistakes = holdout.mistakes
    if mistakes is None or mistakes.kind == "distance":
        return ""
    if not mistakes.n_wrong:
        return "It decided all of them right, which does not mean that it always will."
    return f"It decided {counted(mistakes.n_wrong, 'row')} wrong."


def _share(estimate: Estimate) -> str:
    if estimate.low is None:
        return percent(estimate.value)
    return f"{percent(estimate.value)} [{percent(estimate.low)}, {percent(estimate.high)}]"


def _coverage(holdout: HoldoutRecord) -> list[Block]:
    """Measured against promised coverage of the intervals or sets."""
    coverage = holdout.coverage
    if coverage is None:
        return []
    rows = [
        (
            one.rows,
            number(one.n_rows),
            percent(coverage.promised),
            _share(one.coverage),
            "" if one.size is None else about(one.size),
        )
        for one in coverage.parts[:_MOST_COVERED]
    ]
    what = "sets of classes" if coverage.is_of_classes else "intervals"
    heads = (
        Column("rows"),
        Column("number", True),
        Column("promised", True),
        Column("held the truth", True),
        Column("mean classes" if coverage.is_of_classes else "mean width", True),
    )
    note = (
        f"By {counted(coverage.n_calibration, 'error')} on rows that the folds left out, as in "
        "predictions.csv; brackets are exact 95 % intervals."
    )
    return [Table(f"How often the {what} around the answers held the truth", heads, rows, note)]


# --- Worst rows and groups ------------------------------------------------------------------------


def _worst(mistakes: MistakesRecord) -> list[Block]:
    """The rows of largest loss, with the cells that matter most."""
    if not mistakes.worst:
        return []
    is_class = mistakes.kind != "distance"
    rows = []
    for one in mistakes.worst:
        loss = percent(one.probability) if mistakes.kind == "wrong" else about(one.loss)
        cells = ", ".join(f"{label(name, 60)} {label(cell, 60)}" for name, cell in one.cells)
        rows.append((f"{one.row:,}", one.true, one.decided, loss, cells))
    heads = (
        Column("row"),
        Column("truth", not is_class),
        Column("decided" if is_class else "predicted", not is_class),
        Column(_WORST[mistakes.kind], True),
        Column("what it is like", is_long=True),
    )
    note = "Rows are numbered as in predictions.csv, from 1."
    return [Table("The worst errors", heads, rows, note)]


def _groups(mistakes: MistakesRecord) -> list[Block]:
    """Groups of rows with a larger loss than the others, and whether that may be chance."""
    if not mistakes.groups:
        return []
    clear = sum(g.p_value is not None and g.p_value < _CLEAR for g in mistakes.groups)
    looked = counted(mistakes.n_groups, "group")
    words = (
        f"Of {looked} of rows that were looked at, {clear} "
        f"{'is' if clear == 1 else 'are'} clearly worse than the other rows."
        if clear
        else f"Of {looked} of rows that were looked at, none is clearly worse than the other rows; "
        "these come first, and it may be chance."
    )
    name = _LOSSES[mistakes.kind]
    shown = percent if mistakes.kind == "wrong" else about
    rows = []
    for group in mistakes.groups:
        low, high = group.loss.low, group.loss.high
        limits = "" if low is None or high is None else f"[{shown(low)}, {shown(high)}]"
        value = f"{shown(group.loss.value)} {limits}".strip()
        group_name = f"{label(group.column, 80)}: {label(group.group, 80)}"
        others, p_value = shown(group.others), probability(group.p_value)
        rows.append((group_name, number(group.n_rows), value, others, p_value))
    heads = (
        Column("group"),
        Column("rows", True),
        Column(name, True),
        Column("other rows", True),
        Column("p value", True),
    )
    return [Table("Groups of rows with more error than the rest", heads, rows, words)]


# --- Measures and curves --------------------------------------------------------------------------


def measure_blocks(holdout: HoldoutRecord, detail: Detail) -> list[Block]:
    if not holdout.measures:
        return []
    shown, rest = first_of(holdout.measures, detail.rows, "measures")
    rows = [(in_words(name), *estimate(value)) for name, value in shown]
    heads = (Column("measure"), Column("value", True), Column("95 % interval", True))
    return [Table("Measures on the rows set aside", heads, rows, note=rest)]


def _class_measures(holdout: HoldoutRecord, detail: Detail) -> list[Block]:
    if not holdout.class_measures:
        return []
    shown, rest = first_of(holdout.class_measures, detail.rows, "classes")
    names = list(dict.fromkeys(name for _, values in shown for name, _ in values))[:8]
    rows = []
    for name, values in shown:
        by_name = dict(values)
        rows.append((name, *(" ".join(estimate(by_name.get(key))).strip() for key in names)))
    heads = (Column("class"), *(Column(in_words(key), True) for key in names))
    return [Table("Measures of each class, with 95 % intervals", heads, rows, note=rest)]


def _further_curves(curves: dict[str, tuple[Curve, ...]], detail: Detail) -> list[Block]:
    drawn = [
        draw(curves[name], detail.points)
        for name, draw in _FOLDED.items()
        if is_drawable(curves.get(name, ()))
    ]
    known = _OPEN.keys() | _FOLDED.keys() | _SHOWN
    others = [name for name in curves if name not in known and is_drawable(curves[name])]
    drawn += [
        other_figure(name, curves[name], detail.points, place)
        for place, name in enumerate(others[:10])
    ]
    return [Fold("Further curves", [Gallery(drawn)])] if drawn else []


# --- What is taken for what -----------------------------------------------------------------------


_MOST_ERRORS = 12
_FEW = 5


def error_blocks(
    task: TaskRecord, holdout: HoldoutRecord, detail: Detail
) -> tuple[list[Figure], list[Block]]:
    """The matrix as a picture where it has room; as a table where it is small, its peaks else."""
    if not holdout.confusion or not task.classes:
        return [], []
    counts = np.array(holdout.confusion, float)
    columns = holdout.confusion_columns or task.actions or task.classes
    if counts.shape != (len(task.classes), len(columns)):
        words = "The confusion matrix does not fit the classes and is not shown."
        return [], [Paragraph(words, "quiet")]
    drawn: list[Figure] = []
    if detail.pictures and max(counts.shape) <= MOST_CONFUSED:
        drawn.append(confusion_figure(holdout.confusion, task.classes, columns))
    if max(counts.shape) > _FEW:
        return drawn, _peaks(counts, task.classes, columns)
    table = _matrix(counts, task.classes, columns)
    return drawn, [Fold("Decisions as a table", [table]) if drawn else table]


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
