"""The models compared: leaderboard with intervals, paired tests, mean ranks."""

from __future__ import annotations

from novum.apps.job.record import ComparisonRecord, Estimate, RunRecord, Standing
from novum.apps.report.blocks import Block, Cell, Column, Fold, Heading, Section, Table, Text
from novum.apps.report.detail import Detail, first_of
from novum.apps.report.figures.intervals import standings_figure
from novum.apps.report.figures.ranks import ranks_figure
from novum.apps.report.names import in_words
from novum.apps.report.numbers import counted, estimate, probability, seconds
from novum.apps.report.sections.plan import folds_in_words

_MOST_SETTINGS = 6


def leaderboard_section(record: RunRecord, detail: Detail) -> Section:
    """All models that were tried, the best first."""
    blocks: list[Block] = [Text(_way(record))]
    if not record.leaderboard:
        blocks = [Text("No model was compared in this run.")]
    else:
        blocks.append(_table(record, detail))
        drawable = [s for s in record.leaderboard[: detail.rows] if s.score.value is not None]
        if drawable and detail.pictures:
            greater = record.task.greater_is_better
            blocks.append(standings_figure(drawable[:30], record.task.metric, greater=greater))
    if record.comparison is not None:
        blocks += _comparison(record.comparison, detail)
    return Section("models", "Models compared", "Models", blocks)


def _way(record: RunRecord) -> str:
    better = "greater" if record.task.greater_is_better else "smaller"
    return (
        "Every model was tuned and judged on the same rows by nested cross-validation with "
        f"{folds_in_words(record.plan)}; none saw the rows set aside. "
        f"The measure is {in_words(record.task.metric)}; {better} is better."
    )


def _table(record: RunRecord, detail: Detail) -> Table:
    shown, rest = first_of(record.leaderboard, detail.rows, "models")
    heads = (
        Column("model", is_long=True),
        Column(in_words(record.task.metric), True),
        Column("95 % interval", True),
        Column("to the best", True),
        Column("p value", True),
        Column("as good as the best", True),
        Column("fit", True),
        Column("predict 1,000 rows", True),
    )
    marked = frozenset(place for place, s in enumerate(shown) if s.is_chosen)
    note = (
        "“To the best” is the mean difference over the same folds. The p value is of the corrected "
        "resampled t test against the best, adjusted for the number of models. “As good as the "
        "best” is the probability that the difference does not matter in practice. " + rest
    )
    return Table("Leaderboard", heads, [_row(s) for s in shown], marked, note.strip())


def _row(standing: Standing) -> tuple[Cell | str, ...]:
    value, limits = estimate(standing.score)
    pairs = [f"{name} {setting}" for name, setting in standing.settings[:_MOST_SETTINGS]]
    rest = len(standing.settings) - _MOST_SETTINGS
    settings = ", ".join(pairs) + (f" and {rest} more" if rest > 0 else "")
    difference = standing.difference
    return (
        Cell(standing.title or standing.family, "chosen" if standing.is_chosen else "", settings),
        value,
        limits,
        "best"
        if difference is None
        else Cell(estimate(difference)[0], note=estimate(difference)[1]),
        probability(standing.p_value),
        probability(standing.probability_equivalent),
        seconds(standing.fit_seconds),
        seconds(standing.predict_seconds),
    )


def _comparison(comparison: ComparisonRecord, detail: Detail) -> list[Block]:
    blocks: list[Block] = [Heading("Are the differences real?")]
    if comparison.verdict:
        blocks.append(Text(comparison.verdict))
    if comparison.friedman_p_value is not None:
        blocks.append(
            Text(
                "Friedman's test of the hypothesis that all models are equal has the p value "
                f"{probability(comparison.friedman_p_value)}."
            )
        )
    figure = ranks_figure(comparison) if detail.pictures else None
    if figure is not None:
        blocks.append(figure)
    if comparison.pairs:
        blocks.append(
            Fold(
                f"All {counted(len(comparison.pairs), 'pair')} of models",
                [_pairs(comparison, detail)],
            )
        )
    return blocks


def _pairs(comparison: ComparisonRecord, detail: Detail) -> Table:
    shown, rest = first_of(comparison.pairs, detail.rows, "pairs")
    rows = []
    for first, second, mean, low, high, p_value, verdict in shown:
        difference = estimate(Estimate(mean, low, high))
        rows.append((first, second, *difference, probability(p_value), verdict))
    heads = (
        Column("first"),
        Column("second"),
        Column("first − second", True),
        Column("95 % interval", True),
        Column("p value", True),
        Column("verdict", is_long=True),
    )
    return Table("Paired tests on shared folds", heads, rows, note=rest)
