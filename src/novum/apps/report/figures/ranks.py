"""Critical-difference diagram of the compared models, from `novum.evaluation`."""

from __future__ import annotations

from novum.apps.job.record import ComparisonRecord
from novum.apps.report.blocks import Figure
from novum.apps.report.names import label
from novum.apps.report.numbers import number
from novum.apps.report.svg import inline_svg
from novum.evaluation.comparison.ranks.diagram import CriticalDifferenceDiagram

_MOST_MODELS = 30
# Of the tests; the report's intervals have the confidence 0.95.
_SIZE = 0.05


def ranks_figure(comparison: ComparisonRecord) -> Figure | None:
    """The diagram, or None where there are not two ranks to draw."""
    n = len(comparison.names)
    difference = comparison.critical_difference
    if not 2 <= n <= _MOST_MODELS or len(comparison.average_ranks) != n:
        return None
    ranked = sorted(
        zip(comparison.average_ranks, comparison.names, strict=True), key=lambda r: r[0]
    )
    names = tuple(label(name) for _, name in ranked)
    ranks = tuple(float(rank) for rank, _ in ranked)
    apart = _told_apart(comparison, [name for _, name in ranked])
    diagram = CriticalDifferenceDiagram(names, ranks, difference, 1, apart=apart)
    words = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(names, ranks, strict=True))
    groups = "; ".join(", ".join(group) for group in diagram.groups)
    drawing = inline_svg(
        diagram.svg(),
        key="ranks",
        title="Critical-difference diagram",
        description=f"Mean ranks over the folds, 1 is best: {words}. {_difference(difference)}"
        + (f"Not told apart: {groups}." if groups else "All models are told apart."),
    )
    joins = "lie closer than the critical difference" if difference else "no test tells apart"
    return Figure(
        "Mean ranks of the models",
        "Models stand at their mean rank over the folds, the best at the left. A thick bar joins "
        f"neighbors that {joins}.",
        drawing,
    )


def _told_apart(comparison: ComparisonRecord, ranked: list[str]) -> tuple[tuple[int, int], ...]:
    """Places of the pairs whose adjusted p value is small."""
    place = {name: i for i, name in enumerate(ranked)}
    return tuple(
        (place[first], place[second])
        for first, second, _, _, _, p_value, _ in comparison.pairs
        if p_value is not None and p_value < _SIZE and first in place and second in place
    )


def _difference(difference: float | None) -> str:
    return "" if difference is None else f"Critical difference {number(difference, 3)}. "
