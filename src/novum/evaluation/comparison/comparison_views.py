"""A comparison as plain data for its views: tables of scores and pairs, the verdict, charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import printable
from novum.display import (
    Axis,
    Bars,
    Bullets,
    Chart,
    Cloud,
    Heading,
    Line,
    Rule,
    Summary,
    Table,
    interval_chart,
)
from novum.evaluation.comparison.comparison import Comparison
from novum.evaluation.comparison.dataset_pairs import DatasetPair
from novum.evaluation.comparison.fold_pairs import FoldPair
from novum.evaluation.comparison.pairs.outcome import Outcome, bracket

_LONGEST = 40


def comparison_text(comparison: Comparison) -> str:
    """Tables and verdict for a terminal."""
    sentences = [f"  {line}" for line in comparison.verdict.splitlines()]
    summary = Summary(_title(comparison), blocks=_tables(comparison))
    return "\n".join([summary.as_text(), "", "Verdict", *sentences])


def comparison_html(comparison: Comparison) -> str:
    """Tables and verdict for a notebook or a report."""
    verdict = Heading("Verdict"), Bullets(comparison.verdict.splitlines())
    return Summary(_title(comparison), blocks=[*_tables(comparison), *verdict]).as_html()


# --- Plain tables ---------------------------------------------------------------------------------


def _title(comparison: Comparison) -> str:
    names = comparison.datasets
    plans = list(dict.fromkeys(entry.plan.name for entry in comparison.table.datasets.values()))
    where = f" on {len(names)} data sets" if len(names) > 1 else ""
    way = "" if comparison.greater_is_better else " (less is better)"
    return (
        f"Comparison of {len(comparison.models)} models by "
        f"{printable(comparison.measure, _LONGEST)}{way}{where}, {'; '.join(plans)}"
    )


def _tables(comparison: Comparison) -> list[Table]:
    if comparison.ranks is None:
        pairs = [pair for pair in comparison.pairs if isinstance(pair, FoldPair)]
        return [_score_table(comparison), _fold_table(pairs, comparison), _other_tests(pairs)]
    rank_pairs = [pair for pair in comparison.pairs if isinstance(pair, DatasetPair)]
    return [_mean_table(comparison), _rank_table(rank_pairs, comparison)]


def _score_table(comparison: Comparison) -> Table:
    rows = []
    for model in comparison.models:
        interval = comparison.mean(model)
        rows.append((_name(model), f"{interval.estimate:.4f}", bracket(interval)))
    return Table("Scores", ("model", "mean", f"{comparison.question.level:.0%} interval"), rows)


def _mean_table(comparison: Comparison) -> Table:
    assert comparison.ranks is not None
    means = comparison.table.means(comparison.measure)
    rows = [
        (_name(dataset), *(f"{value:.4f}" for value in row))
        for dataset, row in zip(comparison.datasets, means, strict=True)
    ]
    ranks = comparison.ranks.friedman.mean_ranks
    rows.append(("mean rank", *(f"{value:.2f}" for value in ranks)))
    return Table("Mean scores", ("data set", *map(_name, comparison.models)), rows)


def _fold_table(pairs: Sequence[FoldPair], comparison: Comparison) -> Table:
    rope = f"{comparison.question.rope:g}"
    rows = [
        (
            _pair_name(pair),
            f"{pair.difference.estimate:+.4f}",
            bracket(pair.difference),
            _p(pair.corrected),
            f"{pair.adjusted_p_value:.3g}",
            *(f"{value:.3f}" for value in pair.posterior.probabilities),
            str(pair.decision),
        )
        for pair in pairs
    ]
    header = ("pair", "difference", f"{comparison.question.level:.0%} interval", "corrected p")
    posterior = (f"P(< -{rope})", f"P(within {rope})", f"P(> {rope})")
    return Table("Pairs", (*header, "Holm p", *posterior, "decision"), rows)


def _other_tests(pairs: Sequence[FoldPair]) -> Table:
    rows = [
        (
            _pair_name(pair),
            _p(pair.five_by_two_t),
            _p(pair.five_by_two_f),
            _p(pair.mcnemar),
            _p(pair.paired),
            f"{pair.detectable:.3g}",
            "-" if pair.power is None else f"{pair.power:.2f}",
            _repeats(pair),
        )
        for pair in pairs
    ]
    header = ("pair", "5x2cv t p", "5x2cv F p", "McNemar p", "plain paired t p (too small)")
    return Table("Other tests and power", (*header, "detectable", "power", "repeats"), rows)


def _rank_table(pairs: Sequence[DatasetPair], comparison: Comparison) -> Table:
    rows = [
        (
            _pair_name(pair),
            f"{pair.difference.estimate:+.4f}",
            bracket(pair.difference),
            _p(pair.signed_rank),
            f"{pair.adjusted_p_value:.3g}",
            f"{pair.rank_p_value:.3g}",
            str(pair.counts),
            str(pair.decision),
        )
        for pair in pairs
    ]
    ranks = "Nemenyi p" if comparison.question.baseline is None else "rank p (Holm)"
    level = f"{comparison.question.level:.0%} interval"
    header = ("pair", "median", level, "signed-rank p", "Holm p", ranks, "win/tie/loss", "decision")
    return Table("Pairs", header, rows)


# --- Cells ----------------------------------------------------------------------------------------


def _name(name: str) -> str:
    return printable(name, _LONGEST)


def _pair_name(pair: FoldPair | DatasetPair) -> str:
    return f"{_name(pair.first)} - {_name(pair.second)}"


def _p(outcome: Outcome | None) -> str:
    return "-" if outcome is None else f"{outcome.p_value:.3g}"


def _repeats(pair: FoldPair) -> str:
    if pair.repeats is None:
        return "-"
    return "out of reach" if pair.repeats.repeats is None else str(pair.repeats.repeats)


# --- Charts ---------------------------------------------------------------------------------------


def plot_comparison(comparison: Comparison, kind: str | None = None, ax: Any = None) -> Any:
    """The picture that `Comparison.plot` draws; returns the axes."""
    if kind is None:
        kind = "differences" if comparison.ranks is None else "ranks"
    if kind == "ranks":
        if comparison.ranks is None:
            raise InputError(
                "Ranks are over data sets, and this comparison has one. Compare on several, or "
                "plot 'differences' or 'scores'."
            )
        return comparison.ranks.diagram.plot(ax)
    charts = {"differences": _difference_chart, "scores": _score_chart}
    if kind not in charts:
        raise InputError(f"kind is 'differences', 'ranks' or 'scores', got {kind!r}.")
    return charts[kind](comparison).plot(ax)


def _difference_chart(comparison: Comparison) -> Chart:
    pairs: Sequence[FoldPair | DatasetPair] = comparison.pairs
    below: list[Any] = [Rule(x=0.0)]
    rope = comparison.question.rope
    if rope:
        ends = ([-rope], [rope], [-0.6], [len(pairs) - 0.4])
        below.append(Bars(*ends, label=f"within {rope:g}", color="faint"))
    # Where no level is reached with so few data sets, the interval is the whole line.
    endless = [k for k, pair in enumerate(pairs) if not np.isfinite(list(pair.difference)).all()]
    below += [Rule(y=k, color=0) for k in endless]
    estimates = [(pair.difference.estimate, *pair.difference) for pair in pairs]
    x = Axis(f"difference of {_measured(comparison)}")
    return interval_chart([_pair_name(pair) for pair in pairs], estimates, x, below=below)


def _score_chart(comparison: Comparison) -> Chart:
    """Scores fold by fold on one data set, means of the data sets on several, and quartiles."""
    if comparison.ranks is None:
        values = list(comparison.scores[comparison.datasets[0]].values())
    else:
        values = list(comparison.table.means(comparison.measure).T)
    marks: list[Any] = []
    for place, scores in enumerate(values):
        low, middle, high = np.nanquantile(scores, [0.25, 0.5, 0.75])
        marks.append(Bars([place - 0.3], [place + 0.3], [low], [high], opacity=0.25))
        marks.append(Line([place - 0.3, place + 0.3], [middle, middle]))
        marks.append(Cloud(np.full(len(scores), place), scores, opacity=0.6))
    names = [_name(model) for model in comparison.models]
    return Chart(Axis(names=names), Axis(_measured(comparison)), marks)


def _measured(comparison: Comparison) -> str:
    way = "" if comparison.greater_is_better else " (less is better)"
    return f"{_name(comparison.measure)}{way}"
