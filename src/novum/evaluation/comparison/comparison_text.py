"""A comparison as text and as HTML: scores, pairs, verdict.

Both are rendered from the same plain tables. Names come from the user, so they are made printable
for terminals and escaped for pages; the HTML has no script, no style sheet and no reference.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import NamedTuple

from novum.core.text import printable
from novum.evaluation.comparison.comparison import Comparison
from novum.evaluation.comparison.dataset_pairs import DatasetPair
from novum.evaluation.comparison.fold_pairs import FoldPair
from novum.evaluation.comparison.pairs.outcome import Outcome, bracket

_LONGEST = 40


class TextTable(NamedTuple):
    """A caption, the names of the columns, and rows of cells, all text."""

    caption: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def comparison_text(comparison: Comparison) -> str:
    """Tables and verdict for a terminal."""
    parts = [_title(comparison)]
    for table in _tables(comparison):
        parts += ["", table.caption, *_aligned(table)]
    sentences = [f"  {line}" for line in comparison.verdict.splitlines()]
    return "\n".join([*parts, "", "Verdict", *sentences])


def comparison_html(comparison: Comparison) -> str:
    """Tables and verdict for a notebook or a report."""
    verdict = "".join(f"<li>{html.escape(line)}</li>" for line in comparison.verdict.splitlines())
    tables = "".join(_html_table(table) for table in _tables(comparison))
    return (
        f'<div class="novum-comparison"><p><strong>{html.escape(_title(comparison))}</strong></p>'
        f"{tables}<p><strong>Verdict</strong></p><ul>{verdict}</ul></div>"
    )


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


def _tables(comparison: Comparison) -> list[TextTable]:
    if comparison.ranks is None:
        pairs = [pair for pair in comparison.pairs if isinstance(pair, FoldPair)]
        return [_score_table(comparison), _fold_table(pairs, comparison), _other_tests(pairs)]
    rank_pairs = [pair for pair in comparison.pairs if isinstance(pair, DatasetPair)]
    return [_mean_table(comparison), _rank_table(rank_pairs, comparison)]


def _score_table(comparison: Comparison) -> TextTable:
    rows = []
    for model in comparison.models:
        found = comparison.mean(model)
        rows.append((_name(model), f"{found.estimate:.4f}", bracket(found)))
    return TextTable("Scores", ("model", "mean", f"{comparison.question.level:.0%} interval"), rows)


def _mean_table(comparison: Comparison) -> TextTable:
    assert comparison.ranks is not None
    means = comparison.table.means(comparison.measure)
    rows = [
        (_name(dataset), *(f"{value:.4f}" for value in row))
        for dataset, row in zip(comparison.datasets, means, strict=True)
    ]
    ranks = comparison.ranks.friedman.mean_ranks
    rows.append(("mean rank", *(f"{value:.2f}" for value in ranks)))
    return TextTable("Mean scores", ("data set", *map(_name, comparison.models)), rows)


def _fold_table(pairs: Sequence[FoldPair], comparison: Comparison) -> TextTable:
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
    return TextTable("Pairs", (*header, "Holm p", *posterior, "decision"), rows)


def _other_tests(pairs: Sequence[FoldPair]) -> TextTable:
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
    return TextTable("Other tests and power", (*header, "detectable", "power", "repeats"), rows)


def _rank_table(pairs: Sequence[DatasetPair], comparison: Comparison) -> TextTable:
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
    return TextTable("Pairs", header, rows)


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


# --- Rendering ------------------------------------------------------------------------------------


def _aligned(table: TextTable) -> list[str]:
    lines = [table.header, *table.rows]
    widths = [max(len(line[j]) for line in lines) for j in range(len(table.header))]
    return [
        "  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def _html_table(table: TextTable) -> str:
    head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in table.header)
    body = "".join(
        f'<tr><th scope="row">{html.escape(row[0])}</th>'
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in table.rows
    )
    return (
        f"<table><caption>{html.escape(table.caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
