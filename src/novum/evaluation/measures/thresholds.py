"""Any measure against the threshold, and where it is best.

Accepting when `score > t`, the confusion matrix changes at the scores only. One sort and a running
sum give it at all m + 1 thresholds that differ, and a measure of confusion matrices gives its whole
curve in one call. Costs at a working point are measures of that kind too.

The best value was chosen among many, so that on new rows it will be worse: choose the threshold on
rows that are not used to judge it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.evaluation.measures.catalog import Measure, measure
from novum.evaluation.measures.confusion import matrix_of, table_intervals
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import check_level, effective_size
from novum.evaluation.measures.reading import LabelPair, ScoredRows, read_scored
from novum.evaluation.measures.separation import rank_scores
from novum.numerics import Floats, at_least, best_of, merge_rounding

OfCounts = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class ThresholdCurve:
    """A measure at every threshold that makes a difference.

    Parameters
    ----------
    name : str
    thresholds : array of shape (m + 1,)
        Falling from `inf` to `-inf`; rows that score above one are accepted.
    values : array of shape (m + 1,)
    best_threshold : float
        Of several with the same value the lowest.
    best : Interval
        The best value; its limits are those of that threshold held fixed.
    greater_is_better : bool
    scores : array of shape (m,)
        The distinct scores, falling.

    Examples
    --------
    >>> curve = threshold_curve("f1", [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(curve.best_threshold, 3), round(curve.best.estimate, 3)
    (0.225, 0.8)
    """

    name: str
    thresholds: Floats
    values: Floats
    best_threshold: float
    best: Interval
    greater_is_better: bool
    scores: Floats

    def at(self, threshold: float) -> float:
        """The value of accepting rows that score above `threshold`; all of them at `-inf`."""
        if threshold == -np.inf:
            return float(self.values[-1])
        above = ~at_least(threshold, self.scores)
        return float(self.values[np.count_nonzero(above)])


def threshold_curve(
    measure_or_point: str | Measure | WorkingPoint | OfCounts,
    y: Any,
    scores: Any,
    *,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    sample_weight: Any = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    random_state: RandomSource = 0,
    **settings: Any,
) -> ThresholdCurve:
    """A measure of labels against the threshold of the scores.

    Parameters
    ----------
    measure_or_point : name, Measure, WorkingPoint or callable
        A measure of labels; the normalized detection cost at a point; or a function from confusion
        matrices `[true, predicted]` of shape (m, 2, 2), positives last, to values of shape (m,).
    y : array of n labels
    scores : array of shape (n,)
    classes, positive, sample_weight
        As for `curves`.
    level, n_resamples, random_state
        Of the interval of the best value; 0 resamples leave it out.
    **settings
        Of the measure, such as `beta=2` or `priors=[0.9, 0.1]`, negative class first.

    Examples
    --------
    >>> point = WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=1)
    >>> threshold_curve(point, [0, 0, 1, 1], [-2.0, 1.0, 0.5, 3.0]).best.estimate
    0.5
    """
    check_level(level)
    rows = read_scored(y, scores, classes, positive, sample_weight)
    name, of_counts, better = counts_measure(measure_or_point, settings)
    rng = stream(random_state, "threshold")
    return threshold_curve_of(rows, name, of_counts, better, level, n_resamples, rng)


def threshold_curve_of(
    rows: ScoredRows,
    name: str,
    of_counts: OfCounts,
    greater_is_better: bool,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> ThresholdCurve:
    """The curve of scored rows for a measure of confusion matrices."""
    # Scores that rounding alone keeps apart have no threshold between them.
    rows = replace(rows, values=merge_rounding(rows.values))
    ranked = rank_scores(rows)
    values = np.asarray(of_counts(ranked.counts()), float)
    if np.isnan(values).all():
        raise InputError(f"{name} is undefined at every threshold. Choose another measure.")
    signed = values if greater_is_better else -values
    # Thresholds fall, so the last of equals is the lowest.
    best = best_of(signed, last=True)
    thresholds = ranked.thresholds
    interval = Interval(float(values[best]), np.nan, np.nan, level, "not resampled")
    if n_resamples:
        interval = _interval_at(rows, thresholds[best], of_counts, level, n_resamples, rng)
    return ThresholdCurve(
        name,
        thresholds,
        values,
        float(thresholds[best]),
        interval,
        greater_is_better,
        ranked.values,
    )


def detection_cost_of_counts(point: WorkingPoint) -> OfCounts:
    """Normalized detection cost as a function of confusion matrices, positives last.

    Examples
    --------
    >>> import numpy as np
    >>> cost = detection_cost_of_counts(WorkingPoint.binary(prior=0.1, cost_fn=5, cost_fp=1))
    >>> round(float(cost(np.array([[90.0, 10.0], [5.0, 5.0]]))), 4)
    0.68
    """
    if len(point.classes) != 2:
        raise InputError(
            f"A threshold decides between two classes, the point has {len(point.classes)}."
        )
    miss, alarm = point.effective_prior, 1 - point.effective_prior
    blind = min(miss, alarm)
    if blind <= 0:
        raise InputError(
            "At this point one decision is always right, so no threshold matters. Give both "
            "classes a prior and both errors a cost."
        )

    def cost(counts: Floats) -> Floats:
        totals = counts.sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            misses = counts[..., 1, 0] / totals[..., 1]
            alarms = counts[..., 0, 1] / totals[..., 0]
        return (miss * misses + alarm * alarms) / blind

    return cost


def counts_measure(
    given: str | Measure | WorkingPoint | OfCounts, settings: dict[str, Any]
) -> tuple[str, OfCounts, bool]:
    """Name, vectorized function and direction of what is drawn against the threshold."""
    if isinstance(given, WorkingPoint):
        return "normalized detection cost", detection_cost_of_counts(given), False
    if isinstance(given, str | Measure):
        known = measure(given, **settings)
        of_counts = known.of_counts
        if of_counts is None:
            raise InputError(
                f"{known.name} is a measure of {known.needs} and has no threshold. Choose one of "
                "labels, such as 'f1', 'balanced_accuracy' or 'matthews'."
            )
        function = of_counts
        return (
            known.label,
            lambda counts: function(counts, **known.settings),
            (known.greater_is_better),
        )
    if callable(given):
        return getattr(given, "__name__", "measure"), given, True
    raise InputError(
        f"A measure is a name, a Measure, a WorkingPoint or a callable, got {given!r}."
    )


def _interval_at(
    rows: ScoredRows,
    threshold: float,
    of_counts: OfCounts,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> Interval:
    accepted = rows.values > threshold if threshold > -np.inf else np.ones(len(rows.values), bool)
    codes = rows.positive.astype(np.int64)
    pair = LabelPair((0, 1), codes, accepted.astype(np.int64), rows.weight)
    weight = np.ones(len(codes)) if rows.weight is None else rows.weight
    return table_intervals(
        lambda counts: np.asarray(of_counts(counts))[:, None],
        matrix_of(pair).counts,
        effective_size(weight),
        level=level,
        n_draws=n_resamples,
        rng=rng,
    )[0]
