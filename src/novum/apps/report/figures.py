"""Figures of estimates, ranks and columns: charts of the record, each with its words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from novum.apps.job.record import ColumnRecord, ComparisonRecord, Estimate, Standing
from novum.apps.report.names import in_words, label
from novum.display import (
    GRAY,
    Axis,
    Bars,
    Chart,
    Cloud,
    Figure,
    Markup,
    Rule,
    Words,
    element,
    interval_chart,
    interval_texts,
    number,
    percent,
    rounded,
)
from novum.evaluation import (
    CriticalDifferenceDiagram,
)

MOST_CONFUSED = 40
MOST_TERMS = 25
_MOST_CURVES = 5
_MOST_BANDS = 2
_MOST_CLASSES = 30
_MOST_MODELS = 30
# Far from its calibration a model costs many times a blind decision; how many is no news.
_HIGHEST_COST = 2.0
# Of the tests; the report's intervals have the confidence 0.95.
_TEST_SIZE = 0.05
_ALL = 10**9


# --- Estimates with intervals, ranks --------------------------------------------------------------


def standings_figure(standings: Sequence[Standing], metric: str, *, greater: bool) -> Figure:
    """Scores of models with their intervals, and the scores of the folds behind them."""
    shown = [s for s in standings if s.score.value is not None]
    names = [label(s.title or s.family) for s in shown]
    folds = []
    for place, standing in enumerate(shown):
        scores = np.array(standing.fold_scores, float)
        marks = Cloud(scores, np.full(len(scores), place), "", "muted", opacity=0.6, strokes=True)
        folds.append(marks)
    chart = interval_chart(
        names,
        [_limits(standing.score) for standing in shown],
        Axis(f"{in_words(metric)} ({'greater' if greater else 'smaller'} is better)", most=7),
        "Scores with their intervals",
        f"{in_words(metric)}: {_estimates_in_words(names, [s.score for s in shown])}.",
        colors=[0 if standing.is_chosen else GRAY for standing in shown],
        below=folds,
    )
    caption = (
        "The dot is the mean over the folds, the bar its 95 % interval, corrected because folds "
        "share training rows; thin strokes are single folds. Bars that overlap do not mean that "
        "models are equal: the paired tests below decide that."
    )
    return chart.figure("standings", caption)


def terms_figure(
    terms: Sequence[tuple[str, Estimate]], *, key: str, title: str, caption: str
) -> Figure:
    """Coefficients, log-odds or importances with their intervals."""
    shown = [(name, value) for name, value in terms if value.value is not None][:MOST_TERMS]
    names = [label(name) for name, _ in shown]
    chart = interval_chart(
        names,
        [_limits(value) for _, value in shown],
        Axis(label(title, 60), most=7),
        title,
        f"The largest: {_estimates_in_words(names[:10], [value for _, value in shown])}.",
        below=[Rule(x=0.0)],
    )
    return chart.figure(key, caption)


def _limits(given: Estimate) -> tuple[float | None, float | None, float | None]:
    return given.value, given.low, given.high


def _estimates_in_words(names: Sequence[str], estimates: Sequence[Estimate]) -> str:
    pairs = zip(names, estimates, strict=False)
    return "; ".join(f"{name} {' '.join(interval_texts(*_limits(e)))}".strip() for name, e in pairs)


def ranks_figure(comparison: ComparisonRecord) -> Figure | None:
    """The critical-difference diagram, or None where there are not two ranks to draw."""
    n = len(comparison.names)
    difference = comparison.critical_difference
    if not 2 <= n <= _MOST_MODELS or len(comparison.average_ranks) != n:
        return None
    ranked = sorted(
        zip(comparison.average_ranks, comparison.names, strict=True), key=lambda r: r[0]
    )
    place = {name: i for i, (_, name) in enumerate(ranked)}
    apart = tuple(
        (place[first], place[second])
        for first, second, _, _, _, p_value, _ in comparison.pairs
        if p_value is not None and p_value < _TEST_SIZE and first in place and second in place
    )
    names = tuple(label(name) for _, name in ranked)
    ranks = tuple(float(rank) for rank, _ in ranked)
    diagram = CriticalDifferenceDiagram(names, ranks, difference, 1, apart=apart)
    words = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(names, ranks, strict=True))
    groups = "; ".join(", ".join(group) for group in diagram.groups)
    critical = "" if difference is None else f"Critical difference {number(difference, 3)}. "
    description = f"Mean ranks over the folds, 1 is best: {words}. {critical}" + (
        f"Not told apart: {groups}." if groups else "All models are told apart."
    )
    joins = "lie closer than the critical difference" if difference else "no test tells apart"
    return Figure(
        "Mean ranks of the models",
        "Models stand at their mean rank over the folds, the best at the left. A thick bar joins "
        f"neighbors that {joins}.",
        diagram.drawing(description).as_svg("ranks"),
    )


# --- Columns --------------------------------------------------------------------------------------


def target_figure(target: ColumnRecord) -> Figure | None:
    """What is to be predicted: how often each class, or each range of numbers, occurs."""
    title = "What is to be predicted"
    if len(target.histogram_counts) > 1:
        edges = np.array(target.histogram_edges, float)
        counts = np.array(target.histogram_counts, float)
        chart = Chart(
            Axis(label(target.name, 50), grid=False, most=8),
            Axis("rows", most=5),
            [Bars(edges[:-1], edges[1:], np.zeros(len(counts)), counts)],
            title,
            f"Histogram from {number(float(edges[0]))} to {number(float(edges[-1]))}; the fullest "
            f"bar has {number(float(counts.max()))} rows.",
            height=210.0,
        )
        return chart.figure("target", "How the values of the target are spread over the table.")
    if not target.levels:
        return None
    shown = target.levels[:_MOST_CLASSES]
    total = sum(count for _, count in target.levels) + target.n_other_rows or 1
    sizes = [float(count) for _, count in shown]
    words = [
        Words(size, place, f"{number(size)}  ({percent(size / total)})", "start", (5.0, 0.0))
        for place, size in enumerate(sizes)
    ]
    names = [label(name) for name, _ in shown]
    told = "; ".join(f"{name} {number(size)}" for name, size in zip(names, sizes, strict=True))
    chart = Chart(
        Axis("rows", (0.0, 1.2 * max(sizes) or 1.0)),
        Axis(names=names),
        [Bars.lying(range(len(shown)), sizes, 0.68), *words],
        title,
        f"Rows of each class: {told}.",
        height=60.0 + 24.0 * max(len(shown), 2),
    )
    rest = len(target.levels) - len(shown) + target.n_other_levels
    more = f" {rest:,} classes with fewer rows are not drawn." if rest else ""
    return chart.figure("target", "How many rows each class has." + more)


def spark_bars(counts: Sequence[float], words: str) -> Markup | None:
    """A small histogram that stands in a cell, one path, or None without any count.

    Examples
    --------
    >>> print(spark_bars([1, 2], "two bars").split("path ")[1])
    d="M0.5 24V12H47.5V24ZM48.5 24V0H95.5V24Z"/></svg>
    """
    step = -(-len(counts) // 32) or 1
    sizes = [max(float(count), 0.0) for count in counts]
    # Neighbors are added up until there are few enough bars to see.
    bars = [sum(sizes[start : start + step]) for start in range(0, len(sizes), step)]
    highest = max(bars, default=0.0)
    if not highest > 0:
        return None
    width = 96.0 / len(bars)
    path = "".join(
        f"M{rounded(place * width + 0.5)} 24V{rounded(24 * (1 - bar / highest))}"
        f"H{rounded((place + 1) * width - 0.5)}V24Z"
        for place, bar in enumerate(bars)
        if bar > 0
    )
    return _small("spark", element("path", d=path), words, 96, 24)


def share_bar(share: float, words: str) -> Markup:
    """A bar that fills `share` of its frame."""
    frame = element("rect", class_="frame", width=64, height=6, rx=3)
    filled = element("rect", width=round(64 * min(max(share, 0.0), 1.0), 1), height=6, rx=3)
    return _small("share", Markup(frame + filled), words, 64, 6)


def _small(kind: str, shapes: Markup, words: str, width: float, height: float) -> Markup:
    return element(
        "svg",
        shapes,
        class_=kind,
        role="img",
        aria_label=words,
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )
