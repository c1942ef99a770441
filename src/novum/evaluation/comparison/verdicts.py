"""Verdicts in words: which model is better, by how much, how surely, and what would settle it.

The words follow the numbers by four rules. *Equal for practical purposes*: the region of
equivalence holds the difference with probability `level`. *Better*: the corrected test rejects
after Holm's correction, and the difference lies beyond the region with probability `level`.
*Better, perhaps by too little to matter*: it rejects, but not that. *Undecided* otherwise; then the
verdict says what the experiment could have found and whether more repeats would help.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from novum.core.text import printable
from novum.evaluation.comparison.dataset_pairs import DatasetPair, RankReport
from novum.evaluation.comparison.fold_pairs import Decision, FoldPair, Question, wanted_power
from novum.evaluation.measures.intervals import Interval

_LONGEST = 40


def fold_sentence(pair: FoldPair, question: Question, n_pairs: int) -> str:
    """What one data set says about a pair."""
    better, worse = _ordered(pair)
    size = _signed(pair.difference, pair.is_first_ahead)
    tested = f"{_p(pair.adjusted_p_value)}{_holm(n_pairs)}"
    beyond = max(pair.posterior.left, pair.posterior.right)
    rope = f"{question.rope:g}"
    if pair.decision is Decision.EQUAL:
        text = (
            f"{better} and {worse} are equal for practical purposes: they differ by at most {rope} "
            f"with probability {_share(pair.posterior.inside)}."
        )
    elif pair.decision is Decision.BETTER:
        certainty = (
            f", and by more than {rope} with probability {_share(beyond)}"
            if (question.rope)
            else ""
        )
        text = f"{better} is better than {worse}: {size}, {tested}{certainty}."
    elif pair.decision is Decision.SLIGHTLY_BETTER:
        text = (
            f"{better} is better than {worse}: {size}, {tested}; but it may be by too little to "
            f"matter, as it exceeds {rope} only with probability {_share(beyond)}."
        )
    elif math.isnan(pair.adjusted_p_value):
        ahead = abs(pair.difference.estimate)
        text = f"{better} is ahead of {worse} by the same {ahead:.4g} in every fold."
    else:
        text = f"{better} and {worse} are not told apart: {size}, {tested}. {_open(pair, question)}"
    return f"{text} Note: {pair.corrected.note}." if pair.corrected.note else text


def rank_sentence(pair: DatasetPair, question: Question, n_pairs: int) -> str:
    """What all data sets say about a pair."""
    better, worse = _ordered(pair)
    forward = pair.is_first_ahead
    wins, ties, losses = pair.counts_by_estimate if forward else pair.counts_by_estimate[::-1]
    n = len(pair.differences)
    ahead, behind = ("higher", "lower") if pair.greater_is_better else ("lower", "higher")
    counts = f"{ahead} on {wins} of {n} data sets, equal on {ties}, {behind} on {losses}"
    size = f"median difference {_signed(pair.difference, forward)}"
    tested = f"signed-rank {_p(pair.adjusted_p_value)}{_holm(n_pairs)}"
    if pair.decision is Decision.EQUAL:
        return (
            f"{better} and {worse} are equal for practical purposes: {size}, all of it within "
            f"{question.rope:g}."
        )
    if pair.decision is Decision.UNDECIDED:
        # Signs that all agree have the smallest p-value, which Holm multiplies by the pairs.
        smallest = min(1.0, n_pairs * 2.0 ** (1 - n))
        few = (
            f" With {n} data sets no p-value can be below {smallest:.3g}; compare on more."
            if smallest > 1 - question.level
            else ""
        )
        return f"{better} and {worse} are not told apart: {counts}, {size}, {tested}.{few}"
    small = (
        ""
        if pair.decision is Decision.BETTER
        else f" It may be by too little to matter (within {question.rope:g})."
    )
    return f"{better} is better than {worse}: {counts}, {size}, {tested}.{small}"


def headline(start: str, best: str, pairs: Sequence[FoldPair | DatasetPair]) -> str:
    """One sentence on the best model, which begins with `start`: whom it beats and whom not."""
    known: dict[str, list[str]] = {"beats": [], "equals": [], "open": []}
    for pair in pairs:
        if best not in (pair.first, pair.second):
            continue
        other = printable(pair.second if best == pair.first else pair.first, _LONGEST)
        kind = "equals" if pair.decision is Decision.EQUAL else "open"
        known["beats" if pair.winner == best else kind].append(other)
    clauses = [
        words.format(_listed(known[kind]))
        for kind, words in (
            ("beats", "it is better than {}"),
            ("equals", "for practical purposes equal to {}"),
            ("open", "not told apart from {}"),
        )
        if known[kind]
    ]
    return f"{start}; {', '.join(clauses)}." if clauses else f"{start}."


def friedman_sentence(report: RankReport) -> str:
    """What Friedman's test says, with the critical difference."""
    friedman = report.friedman
    word = "differ" if friedman.significant else "do not differ significantly"
    return (
        f"Over {friedman.n_datasets} data sets the ranks of the models {word} (Friedman, "
        f"Iman-Davenport F = {friedman.statistic:.3g}, {_p(friedman.p_value)}); the critical "
        f"difference of mean ranks is {report.diagram.difference:.2f}."
    )


# --- Words ----------------------------------------------------------------------------------------


def _ordered(pair: FoldPair | DatasetPair) -> tuple[str, str]:
    names = printable(pair.first, _LONGEST), printable(pair.second, _LONGEST)
    return names if pair.is_first_ahead else names[::-1]


def _signed(interval: Interval, forward: bool) -> str:
    """The better model minus the other, with the interval; of a loss it is negative."""
    low, high = interval if forward else (-interval.high, -interval.low)
    estimate = interval.estimate if forward else -interval.estimate
    half = (high - low) / 2
    digits = 4
    if 0 < half < math.inf:
        digits = min(10, max(0, 1 - math.floor(math.log10(half))))
    # Adding zero takes the sign off a negative one.
    return f"{estimate + 0.0:+.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def _open(pair: FoldPair, question: Question) -> str:
    if question.effect is None or pair.power is None:
        return (
            f"This experiment finds a difference of {pair.detectable:.3g} with probability "
            f"{wanted_power(question.level):g}; smaller ones it may miss."
        )
    sentence = (
        f"This experiment finds a difference of {question.effect:g} with probability "
        f"{_share(pair.power)}"
    )
    if pair.repeats is None:
        return f"{sentence}, and these folds cannot be repeated; more rows would help."
    return f"{sentence}; {pair.repeats}."


def _p(value: float) -> str:
    return "p < 0.0001" if value < 1e-4 else f"p = {value:.2g}"


def _holm(n_pairs: int) -> str:
    return f" (Holm, {n_pairs} pairs)" if n_pairs > 1 else ""


def _share(probability: float) -> str:
    """A probability that is never rounded up to certainty."""
    if probability >= 0.995:
        return "above 0.99"
    return "below 0.01" if probability < 0.005 else f"{probability:.2f}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
