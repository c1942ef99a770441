"""Which model is taken, and how sure that is: the leaderboard and its tests.

Models are ordered by their mean score over the outer folds. The first is taken, except that a stack
must beat the best single model by more than a difference that matters, because it is harder to
explain. Two questions are asked of the corrected resampled t test of `novum.evaluation`. Whether
the chosen model is better than the same answer for every row is planned, one test, and needs no
correction. Which of the other models can be told from the chosen one is a family of tests, adjusted
by Holm, and each difference has the interval that excludes zero exactly where its test rejects.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novum.apps.job.attempts import Attempts
from novum.apps.job.building import candidate, settings_text
from novum.apps.job.families import family
from novum.apps.job.last_fits import frequent_candidate
from novum.apps.job.planning import (
    CONSTANT,
    STACK,
    STACK_TITLE,
)
from novum.apps.job.record import ComparisonRecord, Standing
from novum.apps.job.record_model import Estimate
from novum.apps.job.trials import Trials
from novum.display import number
from novum.evaluation import (
    Comparison,
    Measure,
    compare_scores,
    corrected_interval,
    score_ranks,
)

# Differences below this share of the measure's range, or of what a constant answer has, do not
# matter.
ROPE = 0.01
# The size of the tests: p values below it tell two models apart.
CLEAR = 0.05


@dataclass(frozen=True, eq=False)
class Choice:
    """The leaderboard, the comparisons behind it and the family that was taken.

    Attributes
    ----------
    family, reason : str
    leaderboard : tuple of Standing
    comparison : Comparison or None
        Of the models with the chosen one; None if no other was tried.
    planned : FoldPair or None
        The chosen model and the constant answer.
    """

    family: str
    reason: str
    leaderboard: tuple[Standing, ...]
    comparison: Comparison | None
    planned: Any = None

    def after(self, failure: str) -> Choice | None:
        """The choice of the next model on the leaderboard, where the chosen one cannot be fitted.

        None where the constant answer alone is left.
        """
        place = next(i for i, row in enumerate(self.leaderboard) if row.is_chosen)
        taken = next((r for r in self.leaderboard[place + 1 :] if r.family != CONSTANT), None)
        if taken is None:
            return None
        return self._taking(taken, failure)

    def cheapest(self, reason: str) -> Choice | None:
        """The choice of the model that is fitted fastest; None if it is taken already."""
        rows = [row for row in self.leaderboard if row.family != CONSTANT] or self.leaderboard
        taken = min(rows, key=lambda row: row.fit_seconds)
        if taken.is_chosen:
            return None
        more = f"{reason} {taken.title[0].upper()}{taken.title[1:]} is taken, the fastest to fit."
        return self._taking(taken, more)

    def _taking(self, taken: Standing, reason: str) -> Choice:
        rows = tuple(replace(row, is_chosen=row is taken) for row in self.leaderboard)
        return replace(self, family=taken.family, reason=reason, leaderboard=rows)


def choose(trials: Trials, measure: Measure, kind: str, attempts: Attempts | None = None) -> Choice:
    """The leaderboard of the trials and the model to take.

    The tests between models are an attempt: without them there is a leaderboard all the same.
    """
    scores = {name: fold_scores(trials, name, measure) for name in trials.runs}
    # The least first: losses as they are, scores turned round.
    sign = -1.0 if measure.greater_is_better else 1.0
    order = sorted(scores, key=lambda name: (sign * scores[name].mean(), list(scores).index(name)))
    rope = difference_that_matters(measure, scores)
    taken, reason = _taken(order, scores, rope, kind)
    comparison, planned = (attempts or Attempts())(
        "The tests between models",
        lambda: _compared(scores, taken, trials, measure, rope, kind),
        lambda _: (None, None),
        is_recorded=False,
    )
    standings = tuple(
        _standing(name, taken, trials, comparison, planned, measure, kind) for name in order
    )
    return Choice(taken, reason, standings, comparison, planned)


def _compared(
    scores: Mapping[str, Any],
    taken: str,
    trials: Trials,
    measure: Measure,
    rope: float,
    kind: str,
) -> tuple[Comparison | None, Any]:
    """The models compared with the chosen one, and the chosen one with the constant answer."""

    def against(others: list[str]) -> Comparison:
        return compare_scores(
            {title_of(name, kind): scores[name] for name in others},
            trials.splits.test_train_ratio,
            measure=measure.label,
            greater_is_better=measure.greater_is_better,
            n_repeats=trials.splits.n_repeats,
            rope=rope,
            baseline=title_of(taken, kind),
        )

    models = [name for name in scores if name != CONSTANT or taken == CONSTANT]
    comparison = against(models) if len(models) > 1 else None
    if comparison is not None:
        # Pairs are computed when they are asked for: here, where a failure costs the tests alone.
        assert comparison.pairs
    if CONSTANT not in scores or taken == CONSTANT:
        return comparison, None
    (planned,) = against([taken, CONSTANT]).pairs
    return comparison, planned


def fold_scores(trials: Trials, name: str, measure: Measure) -> Any:
    """The measure of a family on the outer folds, as it is; scorers turn losses round."""
    scores = np.array([run.scores["metric"] for run in trials.runs[name]])
    return scores if measure.greater_is_better else -scores


def difference_that_matters(measure: Measure, scores: Mapping[str, Any]) -> float:
    """The region of practical equivalence: one hundredth of the measure's scale.

    That is its range where it has one, else what the constant answer scores.
    """
    low, high = measure.limits
    if math.isfinite(low) and math.isfinite(high):
        return ROPE * min(1.0, high - low)
    size = abs(float(np.mean(scores[CONSTANT]))) if CONSTANT in scores else 0.0
    return ROPE * size if size > 0 else ROPE


def title_of(name: str, kind: str) -> str:
    """A family's name for people."""
    return STACK_TITLE if name == STACK else family(name).title_for(kind)


def comparison_record(choice: Choice) -> ComparisonRecord | None:
    """The tests behind the leaderboard, as the report shows them; None for one model."""
    shown = [row for row in choice.leaderboard if row.difference is not None]
    if not shown:
        return None
    chosen = next(row.title for row in choice.leaderboard if row.is_chosen)
    greater = (choice.comparison or choice.planned).greater_is_better
    matrix = np.array([standing.fold_scores for standing in choice.leaderboard])
    ranks = score_ranks(matrix.T if greater else -matrix.T).mean(axis=0)
    pairs = tuple(
        (
            row.title,
            chosen,
            row.difference.value,
            row.difference.low,
            row.difference.high,
            row.p_value,
            _decision(row, chosen, greater),
        )
        for row in shown
        if row.difference is not None and row.difference.value is not None
    )
    told = sum(1 for pair in pairs if pair[5] is not None and pair[5] < CLEAR)
    return ComparisonRecord(
        names=tuple(standing.title for standing in choice.leaderboard),
        average_ranks=tuple(float(rank) for rank in ranks),
        critical_difference=None,
        friedman_p_value=None,
        pairs=pairs,
        verdict=(
            f"{chosen[0].upper()}{chosen[1:]} is compared with each of the others; {told} of "
            f"{len(pairs)} can be told from it."
        ),
    )


def is_told_apart(row: Standing) -> bool:
    """Whether the test tells a model from the chosen one."""
    return row.p_value is not None and row.p_value < CLEAR


def _decision(row: Standing, chosen: str, greater: bool) -> str:
    """What can be said of a model and the chosen one, in words."""
    if not is_told_apart(row):
        inside = row.probability_equivalent
        return "equal for practical purposes" if inside and inside > 0.95 else "undecided"
    assert row.difference is not None
    ahead = ((row.difference.value or 0.0) > 0) == greater
    # Of a loss the smaller is better, so a bare "better" would not say which.
    return f"{row.title if ahead else chosen} is better"


# --- Steps ----------------------------------------------------------------------------------------


def _taken(order: list[str], scores: Mapping[str, Any], rope: float, kind: str) -> tuple[str, str]:
    best = order[0]
    if len(order) == 1:
        return best, "No other model was tried."
    single = next(name for name in order if name != STACK)
    if best == STACK:
        ahead = abs(float(scores[STACK].mean() - scores[single].mean()))
        if ahead <= rope:
            return single, (
                f"The stack is ahead of {title_of(single, kind)} by {number(ahead, 2)} only, too "
                "little to be worth a model that is harder to explain."
            )
        return best, "The stack is ahead of every single model by more than what matters."
    return best, f"Its mean over the outer folds is the best: {title_of(best, kind)}."


def _standing(
    name: str,
    taken: str,
    trials: Trials,
    comparison: Comparison | None,
    planned: Any,
    measure: Measure,
    kind: str,
) -> Standing:
    runs = trials.runs[name]
    scores = fold_scores(trials, name, measure)
    mean = corrected_interval(scores, trials.splits.test_train_ratio)
    # A t interval knows nothing of the measure's limits.
    low, high = np.clip((mean.low, mean.high), *measure.limits)
    fits = [run.facts.get("refit_seconds", run.fit_seconds) for run in runs]
    timed = [run.facts["predict_seconds"] for run in runs if "predict_seconds" in run.facts]
    per_thousand = [1000 * run.score_seconds / max(run.n_test, 1) for run in runs]
    standing = Standing(
        family=name,
        title=title_of(name, kind),
        score=Estimate(float(mean.estimate), _finite(low), _finite(high)),
        difference=None,
        p_value=None,
        probability_equivalent=None,
        fit_seconds=float(np.median(fits)),
        predict_seconds=float(np.median(timed or per_thousand)),
        settings=_most_frequent(name, trials, kind),
        is_chosen=name == taken,
        fold_scores=tuple(map(float, scores)),
        search_seconds=float(
            np.median(
                [max(run.fit_seconds - fit, 0.0) for run, fit in zip(runs, fits, strict=True)]
            )
        ),
    )
    if name == taken:
        return standing
    pair = planned
    if name != CONSTANT:
        pair = comparison and comparison.pair(standing.title, title_of(taken, kind))
    if pair is None:
        return standing
    ours = scores - fold_scores(trials, taken, measure)
    return _against(standing, pair, ours, trials.splits.test_train_ratio)


def _against(standing: Standing, pair: Any, differences: Any, ratio: float) -> Standing:
    """The standing with its difference to the chosen model, this one minus the chosen one.

    Holm multiplies a p value by some factor; the interval of level `1 - 0.05 / factor` excludes
    zero exactly where the product is below 0.05.
    """
    p_value, adjusted = float(pair.corrected.p_value), float(pair.adjusted_p_value)
    factor = adjusted / p_value if p_value > 0 else 1.0
    level = 1.0 - CLEAR / factor if math.isfinite(factor) and factor >= 1 else 1.0 - CLEAR
    shown = corrected_interval(differences, ratio, level=level)
    # Opposite differences may leave rounding where they sum to zero.
    is_rounding = abs(shown.estimate) < 1e-12 * np.abs(differences).max()
    value = 0.0 if is_rounding else float(shown.estimate)
    return replace(
        standing,
        difference=Estimate(value, _finite(shown.low), _finite(shown.high)),
        p_value=_finite(adjusted),
        probability_equivalent=_finite(pair.posterior.inside),
    )


def _most_frequent(name: str, trials: Trials, kind: str) -> tuple[tuple[str, str], ...]:
    """Settings that the inner folds chose most often; of a stack its members."""
    if name == STACK:
        members = Counter(member for fold in trials.stacked for member in fold)
        shown = ", ".join(title_of(member, kind) for member, _ in members.most_common(3))
        return (("members", shown),)
    number = frequent_candidate(name, trials)
    return settings_text(candidate(family(name), kind, number, None, 0, trials.columns))


def _finite(value: Any) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
