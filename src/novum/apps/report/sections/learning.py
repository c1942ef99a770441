"""Would more rows help? The learning curve of the chosen model."""

from __future__ import annotations

from novum.apps.job.record import Estimate, RunRecord
from novum.apps.report.blocks import Column, Fold, Section, Table, Text
from novum.apps.report.detail import Detail, first_of
from novum.apps.report.figures.curves import is_drawable
from novum.apps.report.figures.learning import learning_figure
from novum.apps.report.names import in_words
from novum.apps.report.numbers import estimate, number


def learning_section(record: RunRecord, detail: Detail) -> Section | None:
    """The learning curve, or None where the run has none."""
    curve = record.learning_curve
    if curve is None or not is_drawable([curve]):
        return None
    has_band = len(curve.low) == len(curve.high) == len(curve.x)
    limits = (
        list(zip(curve.low, curve.high, strict=True)) if has_band else [(None, None)] * len(curve.x)
    )
    values = [
        (number(x), *estimate(Estimate(y, low, high)))
        for x, y, (low, high) in zip(curve.x, curve.y, limits, strict=False)
    ]
    shown, rest = first_of(values, detail.rows, "sizes")
    heads = (
        Column("training rows", True),
        Column(in_words(record.task.metric), True),
        Column("interval", True),
    )
    table = Table("Score by number of training rows", heads, shown, note=rest)
    figure = learning_figure(curve, record.task.metric, detail.points) if detail.pictures else None
    if figure is None:
        return Section("learning", "Would more rows help?", "More rows", [table])
    words = Text("Models of the chosen kind, fitted to growing parts of the training rows.")
    return Section(
        "learning",
        "Would more rows help?",
        "More rows",
        [words, figure, Fold("As a table", [table])],
    )
