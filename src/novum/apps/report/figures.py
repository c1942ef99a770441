"""Figures of estimates, ranks, columns and rows: charts of the record, each with its words.

All charts are as wide as the page of a phone, so that they shrink with the window and their words
stay readable; a wider page has several side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from novum.apps.job.record import ColumnRecord, ComparisonRecord, Standing, TaskRecord
from novum.apps.job.record_model import (
    ContributionRecord,
    DependenceRecord,
    Estimate,
    HoldoutRecord,
    SpreadRecord,
)
from novum.apps.report.names import in_words, label
from novum.display import (
    GRAY,
    Axis,
    Band,
    Bars,
    Chart,
    Cloud,
    Dots,
    Drawing,
    Figure,
    Label,
    Line,
    Markup,
    Rule,
    Words,
    about,
    element,
    fitting,
    interval_chart,
    interval_texts,
    number,
    percent,
    rounded,
    text_width,
)

WIDTH = 380.0
_FRAME = 160.0
MOST_TERMS = 25
MOST_CREDITS = 7
_MOST_CLASSES = 30
_MOST_MODELS = 30
# Of the tests; the report's intervals have the confidence 0.95.
_TEST_SIZE = 0.05
_RIGHT, _WRONG = 0, 5


def figure(chart: Chart, key: str, caption: str, height: float | None = None) -> Figure:
    """A chart of the page's width."""
    return replace(chart, width=WIDTH, height=height or chart.height).figure(key, caption)


# --- The decision ---------------------------------------------------------------------------------


_MOST_DOTS = 150
_MOST_BLOCKS = 5
_PITCH, _RADIUS = 14.0, 5.0


def rows_figure(holdout: HoldoutRecord, task: TaskRecord, key: str = "decision") -> Figure | None:
    """A dot for each row set aside, full where the decision is right and a ring where not."""
    counts = np.array(holdout.confusion, float)
    columns = holdout.confusion_columns or task.actions or task.classes
    total = counts.sum()
    if counts.shape != (len(task.classes), len(columns)) or not total > 0:
        return None
    best = np.array([[name == column for column in columns] for name in task.classes], float)
    if counts.shape == np.shape(task.cost):
        costs = np.array(task.cost, float)
        best = (costs == costs.min(axis=1, keepdims=True)).astype(float)
    right, wrong = (counts * best).sum(axis=1), (counts * (1 - best)).sum(axis=1)
    names = [label(name) for name in task.classes]
    if len(names) > _MOST_BLOCKS:
        names, right, wrong = ["All rows"], right.sum(keepdims=True), wrong.sum(keepdims=True)
    scale = max(1.0, total / _MOST_DOTS)
    shapes: list[Dots | Label] = [
        Dots([8.0], [8.0], _RADIUS, _RIGHT),
        Label(18.0, 12.0, "decided right"),
        Dots([128.0], [8.0], _RADIUS - 0.75, _WRONG, hollow=True),
        Label(138.0, 12.0, "decided wrong"),
    ]
    words, y = [], 22.0
    per_line = int(WIDTH // _PITCH)
    for name, n_right, n_wrong in zip(names, right.tolist(), wrong.tolist(), strict=True):
        told = f": {number(n_right)} of {number(n_right + n_wrong)} right"
        words.append(f"{name}{told}")
        shown, whole = fitting(name, WIDTH - 150.0)
        y += 20.0
        shapes.append(Label(2.0, y, f"{shown}{told}", hover=whole))
        y += 8.0
        # A few wrong rows among thousands still have a dot.
        n_dots = [max(round(n / scale), int(n > 0)) for n in (n_right, n_wrong)]
        places = np.arange(sum(n_dots))
        xs, ys = _PITCH * (places % per_line + 0.5), y + _PITCH * (places // per_line + 0.5)
        first, second = slice(None, n_dots[0]), slice(n_dots[0], None)
        if n_dots[0]:
            shapes.append(Dots(xs[first].tolist(), ys[first].tolist(), _RADIUS, _RIGHT))
        if n_dots[1]:
            rings = (xs[second].tolist(), ys[second].tolist())
            shapes.append(Dots(*rings, _RADIUS - 0.75, _WRONG, hollow=True))
        y += _PITCH * -(-sum(n_dots) // per_line)
    each = "a row" if scale == 1 else f"about {number(scale, 2)} rows"
    title = "Rows set aside, by what they are"
    drawing = Drawing(WIDTH, y + 6.0, shapes, title, "; ".join(words) + ".")
    caption = f"Each dot is {each} that the model had not seen before."
    return Figure(title, caption, drawing.as_svg(key))


# --- Estimates with intervals, ranks --------------------------------------------------------------


def standings_figure(
    standings: Sequence[Standing], metric: str, *, greater: bool, key: str = "standings"
) -> Figure:
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
        "Dot: mean over the folds. Bar: its 95 % interval, corrected because folds share training "
        "rows. Strokes: single folds. Bars that overlap do not mean that models are equal."
    )
    return figure(chart, key, caption)


def terms_figure(
    terms: Sequence[tuple[str, Estimate]], *, key: str, title: str, axis: str, caption: str
) -> Figure:
    """Coefficients, log-odds or importances with their intervals."""
    shown = [(name, value) for name, value in terms if value.value is not None][:MOST_TERMS]
    names = [label(name) for name, _ in shown]
    chart = interval_chart(
        names,
        [_limits(value) for _, value in shown],
        Axis(axis, most=7),
        title,
        f"The largest: {_estimates_in_words(names[:10], [value for _, value in shown])}.",
        below=[Rule(x=0.0)],
    )
    return figure(chart, key, caption, 66.0 + 22.0 * max(len(shown), 2))


def _limits(given: Estimate) -> tuple[float | None, float | None, float | None]:
    return given.value, given.low, given.high


def _estimates_in_words(names: Sequence[str], estimates: Sequence[Estimate]) -> str:
    pairs = zip(names, estimates, strict=False)
    return "; ".join(f"{name} {' '.join(interval_texts(*_limits(e)))}".strip() for name, e in pairs)


def ranks_figure(comparison: ComparisonRecord, chosen: str) -> Figure | None:
    """Mean ranks over the folds, or None where there are not two to draw.

    Tests compare the chosen model with each of the others.
    """
    n = len(comparison.names)
    if not 2 <= n <= _MOST_MODELS or len(comparison.average_ranks) != n:
        return None
    ranked = sorted(
        zip(comparison.average_ranks, comparison.names, strict=True), key=lambda r: r[0]
    )
    apart = {
        second if first == chosen else first
        for first, second, _, _, _, p_value, _ in comparison.pairs
        if p_value is not None and p_value < _TEST_SIZE and chosen in (first, second)
    }
    names = [label(name) for _, name in ranked]
    told = ", ".join(f"{name} {rank:.2f}" for name, (rank, _) in zip(names, ranked, strict=True))
    words = ", ".join(label(name) for _, name in ranked if name in apart)
    chart = interval_chart(
        names,
        [(float(rank), None, None) for rank, _ in ranked],
        Axis("mean rank over the folds (1 is best)"),
        "Mean ranks of the models",
        f"Mean ranks, 1 is best: {told}. "
        + f"Told apart from the chosen model: {words or 'none'}.",
        colors=[GRAY if name in apart else 0 for _, name in ranked],
    )
    caption = "Models in gray are told from the chosen one by the paired tests, the others are not."
    return figure(chart, "ranks", caption)


# --- Columns and rows that move the model ---------------------------------------------------------


def dependence_figures(records: Sequence[DependenceRecord], task: TaskRecord) -> list[Figure]:
    """How the prediction follows each column, all on the same scale."""
    ends = [np.array(side, float) for one in records for side in (one.means, one.low, one.high)]
    low = min((float(side.min()) for side in ends if side.size), default=0.0)
    high = max((float(side.max()) for side in ends if side.size), default=1.0)
    room = 0.05 * (high - low) or 0.5
    limits = (low - room, high + room)
    if task.classes:
        limits = (max(limits[0], -0.02), min(limits[1], 1.02))
    return [_dependence(one, task, limits, place) for place, one in enumerate(records)]


def _dependence(
    one: DependenceRecord, task: TaskRecord, limits: tuple[float, float], place: int
) -> Figure:
    outputs = [label(output) if output else "" for output in one.outputs]
    said = f"probability of {outputs[0]}" if len(outputs) == 1 else "probability"
    value = said if task.classes else label(task.target)
    names = outputs if len(outputs) > 1 else [""] * len(outputs)
    marks: list[Band | Line | Cloud] = []
    title = label(one.column)
    means = np.array(one.means, float)
    alt = f"Mean {value} from {about(float(means.min()))} to {about(float(means.max()))}."
    for color, name in enumerate(names):
        if one.levels:
            places = list(range(len(one.levels)))
            if len(names) == 1:
                pairs = zip(places, one.low[color], one.high[color], strict=True)
                marks += [
                    Line([a, b], [k, k], color=color, width=4.5, opacity=0.35) for k, a, b in pairs
                ]
            marks.append(Cloud(one.means[color], places, name, color, 3.6))
        else:
            if len(names) == 1:
                marks.append(Band(one.values, one.low[color], one.high[color], color=color))
            marks.append(Line(one.values, one.means[color], name, color))
    if one.levels:
        axes = Axis(value, limits, most=5), Axis(names=[label(level) for level in one.levels])
        height = 66.0 + 26.0 * max(len(one.levels), 2)
    else:
        axes, height = (Axis(title, most=6), Axis(value, limits, most=5)), 230.0
    chart = Chart(*axes, marks, title, alt)
    return figure(chart, f"dependence-{place}", "", min(height, 300.0))


def contribution_figures(
    records: Sequence[ContributionRecord], task: TaskRecord, target: str
) -> list[Figure]:
    """What moves single rows away from the mean, all on the same scale."""
    drawn = []
    for one in records:
        terms = [
            (f"{label(name)} = {label(cell)}", value)
            for name, cell, value in one.terms[:MOST_CREDITS]
            if value.value is not None
        ]
        known = sum(value.value or 0.0 for _, value in terms)
        rest = one.prediction - one.start - known
        if len(one.terms) > len(terms) or one.rest:
            terms.append(("all other columns", Estimate(rest, None, None)))
        drawn.append(terms)
    sizes = [abs(e) for terms in drawn for _, v in terms for e in _limits(v) if e is not None]
    reach = 1.05 * max(sizes, default=1.0) or 1.0
    shown = percent if task.classes else about
    figures = []
    for place, (one, terms) in enumerate(zip(records, drawn, strict=True)):
        about_what = f"probability of {label(one.output)}" if one.output else label(target)
        marks: list[Bars | Line | Rule] = [Rule(x=0.0)]
        for row, (_, value) in enumerate(terms):
            amount = value.value or 0.0
            marks.append(Bars.lying([row], [amount], 0.62, color=0 if amount >= 0 else 1))
            if value.low is not None and value.high is not None:
                marks.append(Line([value.low, value.high], [row, row], color="ink", width=1.0))
        told = "; ".join(f"{name} {about(value.value)}" for name, value in terms)
        chart = Chart(
            Axis(f"added to the {about_what}", (-reach, reach), most=5),
            Axis(names=[name for name, _ in terms]),
            marks,
            f"Row {one.row:,}: {one.why}",
            f"From {shown(one.start)} to {shown(one.prediction)}: {told}.",
        )
        caption = (
            f"True: {label(one.true, 60)}. Said: {label(one.decided, 60)}. The "
            f"{about_what if one.output else f'prediction of {about_what}'} starts at "
            f"{shown(one.start)} and ends at {shown(one.prediction)}."
        )
        figures.append(figure(chart, f"row-{place}", caption, 66.0 + 24.0 * len(terms)))
    return figures


def spread_figure(spread: SpreadRecord, target: str) -> Figure:
    """What columns add to the predictions of many rows, a dot for each row."""
    what = f"probability of {label(spread.output)}" if spread.output else label(target)
    what = f"score of {label(spread.output)}" if spread.is_score else what
    groups: dict[str, int | str] = {
        "lower half of its values": 0,
        "upper half": 1,
        "level or missing": "muted",
    }
    dots: dict[str, list[tuple[float, float]]] = {name: [] for name in groups}
    width = np.ptp(np.concatenate([[0.0], *spread.values])) / 60 or 1.0
    for row, (values, ranks) in enumerate(zip(spread.values, spread.ranks, strict=True)):
        met: dict[int, int] = {}
        for value, rank in zip(values, ranks, strict=True):
            # Dots of one place stand beside each other, by turns on both sides of the middle.
            turn = met[round(value / width)] = met.get(round(value / width), -1) + 1
            beside = min((turn + 1) // 2 * 0.05, 0.4) * (1 if turn % 2 else -1)
            name = "level or missing" if rank is None else list(groups)[int(rank > 0.5)]
            dots[name].append((value, row + beside))
    marks: list[Cloud | Rule] = [Rule(x=0.0)]
    for (name, color), pairs in zip(groups.items(), dots.values(), strict=True):
        if pairs:
            x, y = zip(*pairs, strict=True)
            marks.append(Cloud(x, y, name, color, opacity=0.75))
    means = np.abs(np.array(spread.values)).mean(axis=1).tolist()
    sizes = [f"{name} {about(m)}" for name, m in zip(spread.columns, means, strict=True)]
    chart = Chart(
        Axis(f"added to the {what}", most=6),
        Axis(names=[label(name) for name in spread.columns]),
        marks,
        "What columns add to each row",
        f"Mean sizes of what columns add: {'; '.join(sizes)}.",
    )
    n_rows = len(spread.values[0])
    caption = f"A dot is one of {n_rows} rows set aside. Exact Shapley values of the trees."
    return figure(chart, "spread", caption, 90.0 + 34.0 * len(spread.columns))


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
        )
        return figure(chart, "target", "How the target is spread over the table.", 200.0)
    if not target.levels:
        return None
    shown = target.levels[:_MOST_CLASSES]
    total = sum(count for _, count in target.levels) + target.n_other_rows or 1
    sizes = [float(count) for _, count in shown]
    words = [
        Words(size, place, f"{number(size)}  ({percent(size / total)})", "start", (5.0, 0.0))
        for place, size in enumerate(sizes)
    ]
    # However long the names are, half of the width is left for bars and words.
    room = max(text_width(mark.text) for mark in words) + 12.0
    stretch = _FRAME / max(_FRAME - room, 30.0)
    names = [label(name) for name, _ in shown]
    told = "; ".join(f"{name} {number(size)}" for name, size in zip(names, sizes, strict=True))
    chart = Chart(
        Axis("rows", (0.0, stretch * max(sizes) or 1.0), most=4),
        Axis(names=names),
        [Bars.lying(range(len(shown)), sizes, 0.68), *words],
        title,
        f"Rows of each class: {told}.",
    )
    rest = len(target.levels) - len(shown) + target.n_other_levels
    more = f" {rest:,} classes with fewer rows are not drawn." if rest else ""
    height = 66.0 + 22.0 * max(len(shown), 2)
    return figure(chart, "target", "How many rows each class has." + more, height)


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
