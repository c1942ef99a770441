"""How the model was chosen: the leaderboard, paired tests, and what is proved of the chosen one."""

from __future__ import annotations

from novum.apps.job.record import ComparisonRecord, RunRecord
from novum.apps.job.record_model import Estimate
from novum.apps.report.detail import Detail, first_of
from novum.apps.report.figures import ranks_figure, standings_figure
from novum.apps.report.names import common_decimals, estimate, in_words
from novum.apps.report.overview import folds_in_words, is_tuned
from novum.display import (
    Block,
    Cell,
    Column,
    Figure,
    Fold,
    Gallery,
    Listing,
    Paragraph,
    Section,
    Table,
    counted,
    probability,
    seconds,
)

_MOST_SETTINGS = 6


def models_section(record: RunRecord, detail: Detail) -> Section:
    """All models that were tried, the best first; tests and certificate behind folds."""
    blocks: list[Block]
    drawn: list[Figure] = []
    if not record.leaderboard:
        blocks = [Paragraph("No model was compared in this run.")]
    else:
        blocks = [Paragraph(_way(record)), leaderboard_table(record, detail)]
        drawable = [s for s in record.leaderboard[: detail.rows] if s.score.value is not None]
        if drawable and detail.pictures:
            greater = record.task.greater_is_better
            drawn.append(standings_figure(drawable[:30], record.task.metric, greater=greater))
    if record.comparison is not None:
        if record.comparison.verdict:
            blocks.append(Paragraph(record.comparison.verdict))
        chosen = next((s.title for s in record.leaderboard if s.is_chosen), "")
        ranks = ranks_figure(record.comparison, chosen) if detail.pictures else None
        drawn += [ranks] if ranks is not None else []
    if drawn:
        blocks.append(Fold("Scores and ranks as pictures", [Gallery(drawn)]))
    if record.leaderboard:
        blocks.append(Fold("Times, and which models are as good", [_times(record, detail)]))
    if record.comparison is not None:
        blocks += _tests(record.comparison, detail)
    blocks.append(_certificate(record.chosen.certificate, detail))
    return Section("chosen", "How it was chosen", "Chosen", blocks)


def _way(record: RunRecord) -> str:
    better = "greater" if record.task.greater_is_better else "smaller"
    way = "tuned and judged on the same rows by nested cross-validation"
    if not is_tuned(record.plan):
        way = "judged on the same rows by cross-validation"
    unseen = "; none saw the rows set aside" if record.data.n_holdout else ""
    return (
        f"Every model was {way} with {folds_in_words(record.plan)}{unseen}. "
        f"The measure is the {in_words(record.task.metric)}; {better} is better."
    )


def leaderboard_table(record: RunRecord, detail: Detail) -> Table:
    shown, rest = first_of(record.leaderboard, detail.rows, "models")
    heads = (
        Column("model", is_long=True),
        Column(in_words(record.task.metric), True),
        Column("to the chosen", True),
        Column("p value", True),
    )
    rows, decimals = [], common_decimals(record.leaderboard)
    for standing in shown:
        pairs = [f"{name} {setting}" for name, setting in standing.settings[:_MOST_SETTINGS]]
        more = len(standing.settings) - _MOST_SETTINGS
        settings = ", ".join(pairs) + (f" and {more} more" if more > 0 else "")
        title, badge = standing.title or standing.family, "chosen" if standing.is_chosen else ""
        (value, limits), difference = estimate(standing.score, decimals), standing.difference
        behind: Cell | str = "–"
        if difference is not None:
            behind = Cell(estimate(difference)[0], note=estimate(difference)[1])
        p_value = probability(standing.p_value)
        rows.append((Cell(title, badge, settings), Cell(value, note=limits), behind, p_value))
    marked = frozenset(place for place, s in enumerate(shown) if s.is_chosen)
    note = (
        "Below each number is its 95 % interval. “To the chosen” is the mean difference over "
        "the same folds, with the p value of the corrected resampled t test, adjusted for the "
        "number of models. " + rest
    )
    return Table("Leaderboard", heads, rows, note.strip(), marked)


def _times(record: RunRecord, detail: Detail) -> Table:
    """What a model takes, and how likely it is that another is as good."""
    shown, rest = first_of(record.leaderboard, detail.rows, "models")
    heads = (
        Column("model"),
        Column("as good as the chosen", True),
        Column("fit", True),
        Column("predict 1,000 rows", True),
    )
    rows = [
        (
            standing.title or standing.family,
            probability(standing.probability_equivalent),
            seconds(standing.fit_seconds),
            seconds(standing.predict_seconds),
        )
        for standing in shown
    ]
    note = (
        "“As good as the chosen” is the probability that the difference does not matter in "
        "practice. " + rest
    )
    return Table("Times of the models", heads, rows, note.strip())


def _tests(comparison: ComparisonRecord, detail: Detail) -> list[Block]:
    blocks: list[Block] = []
    if comparison.friedman_p_value is not None:
        blocks.append(
            Paragraph(
                "Friedman's test of the hypothesis that all models are equal has the p value "
                f"{probability(comparison.friedman_p_value)}."
            )
        )
    if comparison.pairs:
        blocks.append(_pairs(comparison, detail))
    if not blocks:
        return []
    return [Fold(f"Paired tests of {counted(len(comparison.pairs), 'pair')} of models", blocks)]


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


def _certificate(lines: tuple[str, ...], detail: Detail) -> Block:
    """The certificate, line by line."""
    if not lines:
        return Paragraph("The chosen model carries no certificate.", "quiet")
    shown, rest = first_of(lines, detail.rows, "lines")
    blocks: list[Block] = [
        Paragraph(
            "Every fit states what it optimized, the value it reached, and how far from the "
            "optimum it can be at most. “Proved” and “within tolerance” come with a bound; "
            "“local” says only that no small step helps."
        ),
        Listing(shown, "Certificate of the chosen model"),
    ]
    blocks += [Paragraph(rest, "quiet")] if rest else []
    return Fold("What is proved about the chosen model", blocks)
