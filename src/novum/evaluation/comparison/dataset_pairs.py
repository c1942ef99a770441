"""Two models over many data sets: signed ranks, and counts of wins, ties and losses.

Each data set gives one number, the difference of the mean scores; data sets are independent, so
Wilcoxon's test holds without correction for overlap. Pairs are adjusted by Holm. Wins and losses
are data sets on which the corrected resampled t test is significant by itself; the rest are ties.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.evaluation.comparison.fold_pairs import (
    Decision,
    FoldPair,
    ModelPair,
    Question,
    fold_pairs,
)
from novum.evaluation.comparison.pairs.outcome import Outcome
from novum.evaluation.comparison.ranks.diagram import (
    CriticalDifferenceDiagram,
    critical_difference_diagram,
)
from novum.evaluation.comparison.ranks.friedman import (
    Friedman,
    baseline_p_values,
    friedman_test,
    nemenyi_p_values,
)
from novum.evaluation.comparison.ranks.multiplicity import holm_adjusted
from novum.evaluation.comparison.ranks.signed_rank import WinTieLoss, signed_rank_test, win_tie_loss
from novum.evaluation.comparison.score_table import ScoreTable
from novum.evaluation.measures.intervals import Interval
from novum.numerics import Floats, score_differences


@dataclass(frozen=True, eq=False)
class DatasetPair(ModelPair):
    """The first model minus the second over all data sets, in the units of the measure.

    Attributes
    ----------
    first, second : str
    differences : tuple of float
        Of the mean scores, one for each data set.
    mean_ranks : pair of float
        Among all models compared; 1 is best.
    signed_rank : Outcome
    adjusted_p_value : float
        Of the signed-rank test, by Holm over all pairs.
    rank_p_value : float
        Of the mean ranks: Nemenyi's, or Holm's against a baseline.
    counts : WinTieLoss
        Data sets with a significant difference, by the corrected test on each alone.
    counts_by_estimate : WinTieLoss
        Data sets on which the first is better, equal and worse by the estimate.
    by_dataset : tuple of FoldPair
    decision : Decision
    greater_is_better : bool
        Of the measure.
    """

    first: str
    second: str
    differences: tuple[float, ...]
    mean_ranks: tuple[float, float]
    signed_rank: Outcome
    adjusted_p_value: float
    rank_p_value: float
    counts: WinTieLoss
    counts_by_estimate: WinTieLoss
    by_dataset: tuple[FoldPair, ...]
    decision: Decision
    greater_is_better: bool = True

    @property
    def difference(self) -> Interval:
        """Pseudo-median of the differences with its interval."""
        assert self.signed_rank.interval is not None
        return self.signed_rank.interval


@dataclass(frozen=True, eq=False)
class RankReport:
    """What ranks over data sets say.

    Attributes
    ----------
    friedman : Friedman
    diagram : CriticalDifferenceDiagram
    pairs : tuple of DatasetPair
    """

    friedman: Friedman
    diagram: CriticalDifferenceDiagram
    pairs: tuple[DatasetPair, ...]


def rank_report(table: ScoreTable, question: Question) -> RankReport:
    """Judges models over two or more data sets."""
    means = table.means(question.measure)
    greater = table.greater_is_better(question.measure)
    # Ranks and counts are about better and worse, all else about the measure as it is.
    goodness = means if greater else -means
    friedman = friedman_test(goodness, level=question.level)
    places = question.pairs(table.models)
    per_dataset = [fold_pairs(table, name, question) for name in table.datasets]
    differences = [score_differences(means[:, i], means[:, j]) for i, j in places]
    outcomes = [signed_rank_test(each, level=question.level) for each in differences]
    adjusted = holm_adjusted([outcome.p_value for outcome in outcomes])
    by_rank = _rank_p_values(friedman, table.models, question)
    pairs = []
    for k, (i, j) in enumerate(places):
        scores = tuple(entry[k] for entry in per_dataset)
        pairs.append(
            DatasetPair(
                table.models[i],
                table.models[j],
                tuple(differences[k].tolist()),
                (friedman.mean_ranks[i], friedman.mean_ranks[j]),
                outcomes[k],
                float(adjusted[k]),
                float(by_rank[i, j]),
                _significant(scores),
                win_tie_loss(differences[k] if greater else -differences[k]),
                scores,
                _decision(outcomes[k], float(adjusted[k]), question),
                greater,
            )
        )
    diagram = critical_difference_diagram(goodness, table.models, level=question.level)
    return RankReport(friedman, diagram, tuple(pairs))


def _rank_p_values(friedman: Friedman, models: tuple[str, ...], question: Question) -> Floats:
    if question.baseline is None:
        return nemenyi_p_values(friedman.mean_ranks, friedman.n_datasets)
    control = models.index(question.baseline)
    p_values = np.ones((len(models), len(models)))
    p_values[:, control] = baseline_p_values(friedman.mean_ranks, friedman.n_datasets, control)
    return p_values


def _significant(pairs: tuple[FoldPair, ...]) -> WinTieLoss:
    signs = [
        (1.0 if pair.is_first_ahead else -1.0) if pair.corrected.significant else 0.0
        for pair in pairs
    ]
    return win_tie_loss(signs)


def _decision(outcome: Outcome, adjusted: float, question: Question) -> Decision:
    assert outcome.interval is not None
    low, high = outcome.interval
    if -question.rope <= low and high <= question.rope:
        return Decision.EQUAL
    if adjusted > 1 - question.level:
        return Decision.UNDECIDED
    beyond = low > question.rope or high < -question.rope
    return Decision.BETTER if beyond else Decision.SLIGHTLY_BETTER
