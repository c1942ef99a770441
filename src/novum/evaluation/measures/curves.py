"""ROC, precision-recall and DET curves with their areas and bootstrap bands.

    ROC   recall (true positive rate) against the false positive rate; the diagonal knows nothing
    PR    precision against recall; the share of positives is what knowing nothing reaches
    DET   miss rate against the false positive rate, drawn on normal-deviate axes, on which normal
          scores give straight lines; its area is one minus that of the ROC curve

All three come from one sort (`ranked_scores`) and one bootstrap, which draws positives and
negatives apart, so that the share of positives stays as it is. Intervals of areas and of the equal
error rate: `separation`. Bands are pointwise percentiles: at each false positive rate (or recall)
the curve lies inside with about the stated probability, not the curve as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novum.core.runtime import RandomSource, stream
from novum.evaluation.measures.bootstrap import Bootstrap, weight_bootstrap
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import check_level
from novum.evaluation.measures.reading import ScoredRows, read_scored
from novum.evaluation.measures.separation import (
    RankedScores,
    areas,
    average_precisions,
    equal_error_rates,
    rank_scores,
)
from novum.evaluation.measures.separation_intervals import (
    area_interval,
    average_precision_interval,
    equal_error_interval,
    mean_of_intervals,
)
from novum.numerics import Array, Floats

_RECALLS = np.linspace(0, 1, 101)
_NOTHING = np.empty(0)
# Area, average precision and equal error rate come first among the resampled numbers.
_N_SUMMARIES = 3
# Bands of more classes than this fill memory, and no picture.
_MOST_BANDS = 20


@dataclass(frozen=True, eq=False)
class Band:
    """Pointwise limits `low <= curve <= high` at abscissas `x`, all of shape (q,)."""

    x: Floats
    low: Floats
    high: Floats
    level: float


@dataclass(frozen=True, eq=False)
class RocCurve:
    """Points for falling thresholds, of shape (m + 1,), from (0, 0) to (1, 1)."""

    false_positive_rate: Floats
    true_positive_rate: Floats
    thresholds: Floats
    area: Interval
    band: Band | None = None


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
    """Points for falling thresholds, of shape (m,); `area` is the average precision."""

    recall: Floats
    precision: Floats
    thresholds: Floats
    area: Interval
    prevalence: float
    band: Band | None = None


@dataclass(frozen=True, eq=False)
class DetCurve:
    """Points for falling thresholds, of shape (m + 1,), from (0, 1) to (1, 0)."""

    false_positive_rate: Floats
    false_negative_rate: Floats
    thresholds: Floats
    area: Interval
    equal_error_rate: Interval
    band: Band | None = None


@dataclass(frozen=True, eq=False)
class Curves:
    """The three curves of one class against the rest."""

    roc: RocCurve
    precision_recall: PrecisionRecallCurve
    det: DetCurve


def curves(
    y: Any,
    scores: Any,
    *,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    sample_weight: Any = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    random_state: RandomSource = 0,
) -> Curves:
    """All three curves, from one sort and one bootstrap.

    Parameters
    ----------
    y : array of n labels
    scores : array of shape (n,)
        The larger, the more for the positive class. Of shape (n, K): the column of the positive
        class is taken.
    classes : sequence of labels, optional
    positive : label, optional
        Default: the last class.
    sample_weight : array of shape (n,), optional
    level : float
    n_resamples : int
        0 leaves out the bands.
    random_state : None, int, Generator, RandomState or SeedSequence

    Examples
    --------
    >>> found = curves([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], n_resamples=0)
    >>> found.roc.false_positive_rate.tolist(), found.roc.true_positive_rate.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    >>> found.roc.area.estimate, found.det.equal_error_rate.estimate
    (0.75, 0.5)
    """
    rows = read_scored(y, scores, classes, positive, sample_weight)
    return curves_of(rows, level, n_resamples, stream(random_state, "curves"))


def roc_curve(y: Any, scores: Any, **options: Any) -> RocCurve:
    """The ROC curve; options as for `curves`.

    Examples
    --------
    >>> roc_curve([0, 0, 1, 1], [1, 2, 3, 4], n_resamples=0).area.estimate
    1.0
    """
    return curves(y, scores, **options).roc


def precision_recall_curve(y: Any, scores: Any, **options: Any) -> PrecisionRecallCurve:
    """The precision-recall curve; options as for `curves`.

    Examples
    --------
    >>> precision_recall_curve([0, 0, 1, 1], [1, 3, 2, 4], n_resamples=0).precision.tolist()
    [1.0, 0.5, 0.6666666666666666, 0.5]
    """
    return curves(y, scores, **options).precision_recall


def det_curve(y: Any, scores: Any, **options: Any) -> DetCurve:
    """The DET curve; options as for `curves`.

    Examples
    --------
    >>> det_curve([0, 0, 1, 1], [1, 3, 2, 4], n_resamples=0).area.estimate
    0.25
    """
    return curves(y, scores, **options).det


# --- From ranked rows -----------------------------------------------------------------------------


def curves_of(rows: ScoredRows, level: float, n_resamples: int, rng: np.random.Generator) -> Curves:
    """The curves of scored rows."""
    return several_curves([rows], rows.positive, level, n_resamples, rng)[0][0]


def several_curves(
    scored: Sequence[ScoredRows],
    strata: Array,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[tuple[Curves, ...], dict[str, Interval]]:
    """Curves of the same rows scored for several classes, from one bootstrap.

    Parameters
    ----------
    scored : sequence of ScoredRows
    strata : array of shape (n,)
        True classes, within which rows are drawn.
    level, n_resamples, rng

    Returns
    -------
    curves : tuple of Curves
    means : dict
        The means over the classes of `roc_auc`, `average_precision` and `equal_error_rate`.
    """
    check_level(level)
    ranked = [rank_scores(rows) for rows in scored]
    plain = [_without_bands(one, level) for one in ranked]
    if n_resamples == 0:
        return tuple(plain), {}
    drawn = len(scored) <= _MOST_BANDS
    grids = [
        (_alarm_grid(one.roc.false_positive_rate), _RECALLS) if drawn else (_NOTHING, _NOTHING)
        for one in plain
    ]
    bootstrap = weight_bootstrap(
        lambda weights: np.concatenate(
            [_resampled(one, weights, *grid) for one, grid in zip(ranked, grids, strict=True)],
            axis=1,
        ),
        len(strata),
        sample_weight=scored[0].weight,
        n_resamples=n_resamples,
        rng=rng,
        strata=strata,
        jackknife=False,
    )
    return _split(plain, bootstrap, grids, level)


def _split(
    plain: list[Curves], bootstrap: Bootstrap, grids: list[tuple[Floats, Floats]], level: float
) -> tuple[tuple[Curves, ...], dict[str, Interval]]:
    """The part of each class, and the means over classes."""
    sizes = [_N_SUMMARIES + alarms.size + recalls.size for alarms, recalls in grids]
    starts = np.cumsum([0, *sizes[:-1]])
    banded = tuple(
        _with_bands(one, bootstrap.part(slice(start, start + size)), level, *grid)
        for one, start, size, grid in zip(plain, starts, sizes, grids, strict=True)
    )
    of_classes = {
        "roc_auc": [one.roc.area for one in plain],
        "average_precision": [one.precision_recall.area for one in plain],
        "equal_error_rate": [one.det.equal_error_rate for one in plain],
    }
    means = {
        name: mean_of_intervals(intervals, bootstrap.replicates[:, starts + place], level)
        for place, (name, intervals) in enumerate(of_classes.items())
    }
    return banded, means


def _without_bands(ranked: RankedScores, level: float) -> Curves:
    tp, fp = ranked.accepted()
    recall, alarm = tp / tp[-1], fp / fp[-1]
    area = area_interval(ranked, level)
    thresholds = ranked.thresholds
    left = Interval(1 - area.estimate, 1 - area.high, 1 - area.low, level, area.method)
    prevalence = float(tp[-1] / (tp[-1] + fp[-1]))
    accepted = tp[1:] + fp[1:]
    # A first part of the ranking can weigh nothing; it has the precision of what follows it.
    precision = np.divide(tp[1:], accepted, out=np.full(accepted.size, np.nan), where=accepted > 0)
    met = ~np.isnan(precision)
    return Curves(
        RocCurve(alarm, recall, thresholds, area),
        PrecisionRecallCurve(
            recall[1:][met],
            precision[met],
            thresholds[1:][met],
            average_precision_interval(ranked, level),
            prevalence,
        ),
        DetCurve(
            alarm,
            1 - recall,
            thresholds,
            left,
            equal_error_interval(ranked, level),
        ),
    )


def _alarm_grid(alarms: Floats) -> Floats:
    """False positive rates at which bands are given: evenly, and evenly in their logarithm."""
    least = float(alarms[alarms > 0].min())
    return np.union1d(np.linspace(0, 1, 101), np.geomspace(min(least, 0.01), 0.1, 20))


def _resampled(ranked: RankedScores, weights: Floats, alarms: Floats, recalls: Floats) -> Floats:
    """ROC area, average precision, equal error rate, ROC at `alarms`, precision at `recalls`."""
    tp, fp = ranked.accepted(weights)
    summary = np.stack(
        [areas(tp, fp), average_precisions(tp, fp), equal_error_rates(tp, fp)], axis=1
    )
    if alarms.size == 0:
        return summary
    heights = np.empty((len(weights), alarms.size))
    precisions = np.empty((len(weights), recalls.size))
    for row, (hits, false) in enumerate(zip(tp, fp, strict=True)):
        heights[row] = np.interp(alarms * false[-1], false, hits) / hits[-1]
        place = np.searchsorted(hits[1:], recalls * hits[-1]) + 1
        place = np.minimum(place, hits.size - 1)
        accepted = hits[place] + false[place]
        precisions[row] = hits[place] / np.where(accepted > 0, accepted, 1.0)
    # Before the first accepted positive the curve has no precision of its own.
    precisions[:, recalls == 0] = precisions[:, [1]]
    return np.concatenate([summary, heights, precisions], axis=1)


def _with_bands(
    plain: Curves, bootstrap: Bootstrap, level: float, alarms: Floats, recalls: Floats
) -> Curves:
    if alarms.size == 0:
        return plain
    low, high = bootstrap.part(slice(_N_SUMMARIES, None)).band(level)
    roc_band = Band(alarms, low[: alarms.size], high[: alarms.size], level)
    det_band = Band(alarms, 1 - roc_band.high, 1 - roc_band.low, level)
    pr_band = Band(recalls, low[alarms.size :], high[alarms.size :], level)
    return Curves(
        replace(plain.roc, band=roc_band),
        replace(plain.precision_recall, band=pr_band),
        replace(plain.det, band=det_band),
    )
