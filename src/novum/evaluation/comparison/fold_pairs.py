"""Two models on the folds of one data set: every test, with the correction for several pairs.

The corrected resampled t test decides, adjusted by Holm over all pairs that are asked about, and
the Bayesian correlated t test says whether a difference matters. The plain paired t test is shown
beside them because people expect it; on overlapping folds it rejects too often.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from novum.core.errors import InputError
from novum.core.text import printable
from novum.evaluation.comparison.pairs.mcnemar import McNemar, mcnemar_from_counts
from novum.evaluation.comparison.pairs.outcome import (
    Outcome,
    checked_options,
    checked_rope,
    spread,
)
from novum.evaluation.comparison.pairs.power import (
    RepeatsNeeded,
    corrected_power,
    detectable_effect,
    repeats_needed,
)
from novum.evaluation.comparison.pairs.rope import RopePosterior, bayesian_correlated_t_test
from novum.evaluation.comparison.pairs.t_tests import (
    corrected_t_test,
    five_by_two_f_test,
    five_by_two_t_test,
    paired_differences,
    paired_t_test,
)
from novum.evaluation.comparison.ranks.multiplicity import holm_adjusted
from novum.evaluation.comparison.score_table import DatasetScores, Plan, ScoreTable
from novum.evaluation.measures.intervals import Interval


def wanted_power(level: float) -> float:
    """The power that experiments are planned for: 0.8, unless the test has that size itself."""
    return max(0.8, 1 - level / 2)


class Decision(StrEnum):
    """What can be said about a pair."""

    BETTER = "better"
    SLIGHTLY_BETTER = "better, perhaps by too little to matter"
    EQUAL = "equal for practical purposes"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Question:
    """What a comparison is asked.

    Attributes
    ----------
    measure : str
    rope : float
        Largest difference that does not matter.
    level : float
        Confidence of intervals and, as `1 - level`, size of tests.
    effect : float or None
        Difference whose power is stated; the edge of the rope by default, None without a rope.
    baseline : str or None
        Model that the others are compared with; all pairs by default.
    """

    measure: str
    rope: float = 0.01
    level: float = 0.95
    effect: float | None = None
    baseline: str | None = None

    def checked(self, models: Sequence[str]) -> Question:
        """The question, once it is known to make sense."""
        checked_options("two-sided", self.level)
        rope = checked_rope(self.rope)
        effect = self.effect if self.effect is not None else (rope or None)
        if effect is not None:
            effect = checked_rope(effect)
            if effect == 0:
                raise InputError("effect is the difference that would matter, above 0; got 0.")
        if self.baseline is not None and self.baseline not in models:
            raise InputError(
                f"baseline={self.baseline!r} is none of the models: "
                f"{', '.join(printable(name, 60) for name in models)}."
            )
        return replace(self, rope=rope, effect=effect)

    def pairs(self, models: Sequence[str]) -> list[tuple[int, int]]:
        """Positions of the models of each pair that is asked about."""
        if self.baseline is None:
            return list(itertools.combinations(range(len(models)), 2))
        control = list(models).index(self.baseline)
        return [(j, control) for j in range(len(models)) if j != control]


class ModelPair:
    """Which of two models is ahead, and whether it wins."""

    first: str
    second: str
    decision: Decision
    greater_is_better: bool

    @property
    def difference(self) -> Interval:
        """The first model minus the second."""
        raise NotImplementedError

    @property
    def is_first_ahead(self) -> bool:
        """Whether the first model is at least as good by the estimate."""
        estimate = self.difference.estimate
        return bool(estimate >= 0 if self.greater_is_better else estimate <= 0)

    @property
    def winner(self) -> str | None:
        """The better model, if one is."""
        if self.decision not in (Decision.BETTER, Decision.SLIGHTLY_BETTER):
            return None
        return self.first if self.is_first_ahead else self.second


@dataclass(frozen=True, eq=False)
class FoldPair(ModelPair):
    """The first model minus the second on one data set, in the units of the measure.

    Attributes
    ----------
    first, second, dataset : str
    means : pair of float
        Mean scores of both.
    corrected : Outcome
        Corrected resampled t test; its estimate is the mean difference.
    adjusted_p_value : float
        Of the corrected test, by Holm over all pairs of this data set; NaN where the differences
        have no spread.
    joint_interval : Interval
        Bonferroni interval: all pairs of this data set are covered together at the level.
    paired : Outcome
        Plain paired t test, which ignores that folds overlap.
    five_by_two_t, five_by_two_f : Outcome or None
    mcnemar : McNemar or None
        On the out-of-fold predictions of the first repeat.
    posterior : RopePosterior
        Of the difference; of a loss, a negative one is in favor of the first.
    deviation : float
        Of the differences over folds.
    detectable : float
        Difference that this experiment finds with probability 0.8.
    power : float or None
        Probability that it finds a difference of the stated effect.
    repeats : RepeatsNeeded or None
        Repeats that find the stated effect with probability 0.8.
    decision : Decision
    greater_is_better : bool
        Of the measure.
    """

    first: str
    second: str
    dataset: str
    means: tuple[float, float]
    corrected: Outcome
    adjusted_p_value: float
    joint_interval: Interval
    paired: Outcome
    five_by_two_t: Outcome | None
    five_by_two_f: Outcome | None
    mcnemar: McNemar | None
    posterior: RopePosterior
    deviation: float
    detectable: float
    power: float | None
    repeats: RepeatsNeeded | None
    decision: Decision
    greater_is_better: bool = True

    @property
    def difference(self) -> Interval:
        """Mean difference with the corrected interval."""
        assert self.corrected.interval is not None
        return self.corrected.interval


# --- From scores to pairs -------------------------------------------------------------------------


def fold_pairs(table: ScoreTable, dataset: str, question: Question) -> tuple[FoldPair, ...]:
    """All pairs that are asked about, on one data set."""
    entry = table.datasets[dataset]
    places = question.pairs(table.models)
    outcomes = [_corrected(entry, place, question, question.level) for place in places]
    p_values = np.array([outcome.p_value for outcome in outcomes])
    # A test without a p-value counts among the pairs, and stays without one.
    undefined = np.isnan(p_values)
    adjusted = np.where(undefined, np.nan, holm_adjusted(np.where(undefined, 1.0, p_values)))
    return tuple(
        _pair(table, dataset, place, question, outcome, float(p), len(places))
        for place, outcome, p in zip(places, outcomes, adjusted, strict=True)
    )


def _corrected(
    entry: DatasetScores, place: tuple[int, int], question: Question, level: float
) -> Outcome:
    scores = entry.scores[question.measure]
    differences = paired_differences(scores[place[0]], scores[place[1]])
    return corrected_t_test(differences, entry.plan.test_train_ratio, level=level)


def _pair(
    table: ScoreTable,
    dataset: str,
    place: tuple[int, int],
    question: Question,
    corrected: Outcome,
    adjusted: float,
    n_pairs: int,
) -> FoldPair:
    entry, level = table.datasets[dataset], question.level
    a, b = (entry.scores[question.measure][j] for j in place)
    differences = paired_differences(a, b)
    ratio = entry.plan.test_train_ratio
    joint = _corrected(entry, place, question, 1 - (1 - level) / n_pairs).interval
    assert joint is not None
    posterior = bayesian_correlated_t_test(differences, ratio, rope=question.rope, level=level)
    halves = _five_by_two(entry, place, question)
    deviation = spread(differences)
    detectable, power, repeats = _sensitivity(deviation, entry.plan, question)
    return FoldPair(
        first=table.models[place[0]],
        second=table.models[place[1]],
        dataset=dataset,
        means=(float(a.mean()), float(b.mean())),
        corrected=corrected,
        adjusted_p_value=adjusted,
        joint_interval=joint,
        paired=paired_t_test(a, b, level=level),
        five_by_two_t=halves[0],
        five_by_two_f=halves[1],
        mcnemar=_mcnemar(entry, place, level),
        posterior=posterior,
        deviation=deviation,
        detectable=detectable,
        power=power,
        repeats=repeats,
        decision=_decision(adjusted <= 1 - level, posterior, level),
        greater_is_better=table.greater_is_better(question.measure),
    )


def _five_by_two(
    entry: DatasetScores, place: tuple[int, int], question: Question
) -> tuple[Outcome, Outcome] | tuple[None, None]:
    scores = entry.halves.get(question.measure)
    if scores is None:
        return None, None
    differences = paired_differences(scores[place[0]], scores[place[1]])
    return (
        five_by_two_t_test(differences, level=question.level),
        five_by_two_f_test(differences, level=question.level),
    )


def _mcnemar(entry: DatasetScores, place: tuple[int, int], level: float) -> McNemar | None:
    if entry.right is None:
        return None
    a, b = entry.right[place[0]], entry.right[place[1]]
    return mcnemar_from_counts(int((a & ~b).sum()), int((b & ~a).sum()), a.size, level=level)


def _sensitivity(
    deviation: float, plan: Plan, question: Question
) -> tuple[float, float | None, RepeatsNeeded | None]:
    """What the experiment can find, the power at the stated effect, and the repeats it needs."""
    ratio, level, effect = plan.test_train_ratio, question.level, question.effect
    total = plan.n_repeats * plan.n_folds
    wanted = wanted_power(level)
    detectable = detectable_effect(deviation, total, ratio, power=wanted, level=level)
    if effect is None:
        return detectable, None, None
    power = corrected_power(effect, deviation, total, ratio, level=level)
    if not plan.repeatable:
        return detectable, power, None
    needed = repeats_needed(effect, deviation, plan.n_folds, ratio, power=wanted, level=level)
    return detectable, power, needed


def _decision(significant: bool, posterior: RopePosterior, level: float) -> Decision:
    # Models that are alike in every fold are equal even where the region has no width.
    if posterior.inside >= level:
        return Decision.EQUAL
    if not significant:
        return Decision.UNDECIDED
    certain = max(posterior.left, posterior.right) >= level
    return Decision.BETTER if certain else Decision.SLIGHTLY_BETTER
