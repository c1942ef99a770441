"""The judgment on rows that nothing was learned from: measures, errors, decisions, residuals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from novum.apps.job.record import Curve, HoldoutRecord, RunRecord
from novum.apps.report.blocks import (
    Block,
    Column,
    Figure,
    Fold,
    Gallery,
    Heading,
    Section,
    Table,
    Text,
    sentences,
)
from novum.apps.report.detail import Detail, first_of
from novum.apps.report.figures.bayes_error import bayes_error_figure
from novum.apps.report.figures.calibration import calibration_figure
from novum.apps.report.figures.curves import is_drawable
from novum.apps.report.figures.det import det_figure
from novum.apps.report.figures.observed import observed_figure
from novum.apps.report.figures.other import other_figure
from novum.apps.report.figures.precision_recall import precision_recall_figure
from novum.apps.report.figures.quantiles import quantiles_figure
from novum.apps.report.figures.residuals import residuals_figure
from novum.apps.report.figures.roc import roc_figure
from novum.apps.report.figures.threshold import threshold_figure
from novum.apps.report.names import in_words
from novum.apps.report.numbers import counted, estimate
from novum.apps.report.sections.errors import error_blocks

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
        return Section("judgment", title, "On new rows", [Text(words)])
    blocks: list[Block] = [
        Text(
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
