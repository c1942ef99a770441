"""How well scores separate the classes: areas under curves and the equal error rate.

Area under the ROC curve = probability that a positive row scores above a negative one, ties half;
with tp, fp at falling thresholds it is the trapezoid rule on (fp/N, tp/P). Average precision is
`sum_k (R_k - R_{k-1}) P_k` over falling thresholds, without interpolation. The equal error rate is
where the lines between neighboring thresholds cross `miss rate = false-alarm rate`.

The error of the area is DeLong's: with the placement of a row, the share of the other class that it
beats, `var = var(placements of positives)/P + var(placements of negatives)/N`; its interval is
symmetric on the log-odds scale. The intervals of the other two come from Wilson's: of as many
trials as there are positives, or as the spread of the average precision is worth if that is fewer;
and of the equal error rates that a score test of both error rates does not refuse.

Of K classes: each against the rest (ovr) or all pairs (ovo, Hand & Till 2001), averaged.

References: Hanley & McNeil (1982); DeLong, DeLong & Clarke-Pearson (1988); Hand & Till (2001);
Zou & Donner (2008); Boyd, Eng & Page (2013).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from scipy import special

from novum.core.errors import InputError
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import (
    effective_size,
    logit_interval,
    proportion_interval,
)
from novum.evaluation.measures.reading import (
    ClassTable,
    ScoredRows,
    read_class_scores,
    read_score_array,
    read_scored,
)
from novum.numerics import Floats, Integers, Mask

# --- Of labels and scores -------------------------------------------------------------------------


def roc_area(
    y: Any,
    scores: Any,
    *,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    sample_weight: Any = None,
    multi_class: Literal["ovr", "ovo"] = "ovr",
    average: Literal["macro", "weighted"] = "macro",
) -> float:
    """Area under the ROC curve.

    Parameters
    ----------
    y : array of n labels
    scores : array of shape (n,) or (n, K)
        The larger, the more for the positive class; or a column for each class.
    classes : sequence of K labels, optional
    positive : label, optional
        Default: the last class.
    sample_weight : array of shape (n,), optional
    multi_class : "ovr" or "ovo"
        How more than two classes are averaged.
    average : "macro" or "weighted"

    Examples
    --------
    >>> roc_area([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    table = _several_classes(y, scores, classes, positive, sample_weight)
    if table is None:
        rows = read_scored(y, scores, classes, positive, sample_weight)
        return float(areas(*rank_scores(rows).accepted()))
    if multi_class == "ovo":
        return _one_vs_one(table, average)
    if multi_class != "ovr":
        raise InputError(f"multi_class is 'ovr' or 'ovo', got {multi_class!r}.")
    return _one_vs_rest(table, average, areas)


def average_precision(
    y: Any,
    scores: Any,
    *,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    sample_weight: Any = None,
    average: Literal["macro", "weighted"] = "macro",
) -> float:
    """Area under the precision-recall curve, as a sum of steps.

    Parameters as for `roc_area`; of more than two classes each is set against the rest.

    Examples
    --------
    >>> round(average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8333
    """
    table = _several_classes(y, scores, classes, positive, sample_weight)
    if table is not None:
        return _one_vs_rest(table, average, average_precisions)
    rows = read_scored(y, scores, classes, positive, sample_weight)
    return float(average_precisions(*rank_scores(rows).accepted()))


def equal_error_rate(
    y: Any,
    scores: Any,
    *,
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    sample_weight: Any = None,
) -> float:
    """The error rate at the threshold where misses and false alarms are equally likely.

    Examples
    --------
    >>> equal_error_rate([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """
    table = _several_classes(y, scores, classes, positive, sample_weight)
    if table is not None:
        return _one_vs_rest(table, "macro", equal_error_rates)
    rows = read_scored(y, scores, classes, positive, sample_weight)
    return float(equal_error_rates(*rank_scores(rows).accepted()))


# --- Of accepted positives and negatives ----------------------------------------------------------


def areas(tp: Floats, fp: Floats) -> Floats:
    """ROC areas from accepted weights of shape (..., m + 1)."""
    heights = (tp[..., 1:] + tp[..., :-1]) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return (heights * np.diff(fp)).sum(axis=-1) / (tp[..., -1] * fp[..., -1])


def average_precisions(tp: Floats, fp: Floats) -> Floats:
    """Average precisions from accepted weights of shape (..., m + 1)."""
    accepted = tp[..., 1:] + fp[..., 1:]
    precision = tp[..., 1:] / np.where(accepted > 0, accepted, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (np.diff(tp) * precision).sum(axis=-1) / tp[..., -1]


def equal_error_rates(tp: Floats, fp: Floats) -> Floats:
    """Equal error rates from accepted weights of shape (..., m + 1)."""
    ends = tp[..., -1:], fp[..., -1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        rises = tp / ends[0] + fp / ends[1]
    # Recall plus false-alarm rate rises from 0 to 2; miss and false-alarm rate are equal at 1.
    after = np.maximum((rises >= 1).argmax(axis=-1), 1)[..., None]
    left = np.take_along_axis(rises, after - 1, -1)
    right = np.take_along_axis(rises, after, -1)
    share = (1 - left) / (right - left)
    hits = [np.take_along_axis(tp, after - step, -1) for step in (1, 0)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return (1 - (hits[0] + share * (hits[1] - hits[0])) / ends[0])[..., 0]


# --- Their intervals ------------------------------------------------------------------------------
# Rows of the smaller class below which an interval says how few there are.
_FEW = 10
# So many points of a curve, at least, are tested.
_CURVE_POINTS = 2000
# So many rows of Hanley and McNeil's law steady the spread of the placements of a class.
_PRIOR_ROWS = 3


def area_interval(ranked: RankedScores, level: float = 0.95) -> Interval:
    """DeLong's interval of the ROC area, symmetric on the log-odds scale.

    Few placements show too little spread. Those of each class are pooled with three rows that have
    the larger of the two variances of Hanley and McNeil's law, which fade as rows are added:
    `A / (2 - A) - A^2` or `2 A^2 / (1 + A) - A^2`.

    At an area of 0 or 1 there is no spread to learn from. Pairing each row of the smaller class
    with another of the larger gives independent trials without failure, and Wilson's interval.

    Examples
    --------
    >>> from novum.evaluation.measures.reading import read_scored
    >>> rows = read_scored([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> area_interval(rank_scores(rows))
    0.9 [0.2, 1.0]
    """
    tp, fp = ranked.accepted()
    area = float(areas(tp, fp))
    smaller = min(ranked.sizes)
    if area in (0.0, 1.0) or min(ranked.n_rows) < 2:
        wilson = proportion_interval(area * smaller, smaller, level)
        method = _with_note("Wilson on the smaller class", ranked)
        return Interval(area, wilson.low, wilson.high, level, method)
    block = ranked.blocks
    beaten = 1 - (fp[block] + fp[block + 1]) / (2 * fp[-1])
    beaten_by = (tp[block] + tp[block + 1]) / (2 * tp[-1])
    law = max(area / (2 - area), 2 * area**2 / (1 + area)) - area**2
    weights = ranked.weight[ranked.order]
    variance = sum(
        _mean_variance(placement[chosen], weights[chosen], area, law)
        for placement, chosen in ((beaten, ranked.positive), (beaten_by, ~ranked.positive))
    )
    method = _with_note("DeLong, log-odds scale", ranked)
    return logit_interval(area, math.sqrt(variance), level, method)


def average_precision_interval(ranked: RankedScores, level: float = 0.95) -> Interval:
    """Wilson's interval of the average precision, around a value without most of its bias.

    The average precision is a mean over the positives of `tp / (tp + fp)`. Each counts itself among
    the accepted, which is too good by about a half: the middle takes `tp - 1/2` for `tp`. The
    trials are the positives, or fewer, as many as have the variance of the influences of all rows:

        positive   g(x) + mean of g_tp over the positives not above x,      g = tp / (tp + fp),
        negative          mean of g_fp over the positives not above x.

    Examples
    --------
    >>> from novum.evaluation.measures.reading import read_scored
    >>> rows = read_scored([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> average_precision_interval(rank_scores(rows))
    0.9 [0.4, 1.0]
    """
    tp, fp = ranked.accepted()
    average, block = float(average_precisions(tp, fp)), ranked.blocks
    weights = ranked.weight[ranked.order]
    chosen = ranked.positive & (weights > 0)
    before = (tp[1:][block] - weights / 2)[chosen]
    middle = np.average(before / (before + fp[1:][block][chosen]), weights=weights[chosen])
    size = min(ranked.sizes)
    if 0 < average < 1:
        variance = _average_precision_variance(ranked, tp, fp)
        size = average * (1 - average) / variance if variance > 0 else math.inf
        size = min(size, ranked.sizes[0])
    wilson = proportion_interval(float(middle) * size, size, level)
    low, high = min(wilson.low, average), max(wilson.high, average)
    return Interval(average, low, high, level, _with_note("Wilson on the positives", ranked))


def _average_precision_variance(ranked: RankedScores, tp: Floats, fp: Floats) -> float:
    weights, block = ranked.weight[ranked.order], ranked.blocks
    accepted = np.where(tp[1:] + fp[1:] > 0, tp[1:] + fp[1:], 1.0)
    shares = np.diff(tp) / tp[-1]
    of_hits = np.cumsum((shares * fp[1:] / accepted**2)[::-1])[::-1] * tp[-1]
    of_false = np.cumsum((shares * tp[1:] / accepted**2)[::-1])[::-1] * -fp[-1]
    variance = 0.0
    for influence, chosen in (
        ((tp[1:] / accepted + of_hits)[block], ranked.positive),
        (of_false[block], ~ranked.positive),
    ):
        own, weight = influence[chosen], weights[chosen]
        variance += _mean_variance(own, weight, float(np.average(own, weights=weight)))
    return variance


def equal_error_interval(ranked: RankedScores, level: float = 0.95) -> Interval:
    """The equal error rates that a score test does not refuse.

    A rate `e` is kept if the curve has a point whose miss rate `m` and false-alarm rate `f` agree
    with it: `P (m - e)^2 + N (f - e)^2 <= z^2 e (1 - e)`. No density of scores is estimated.

    Examples
    --------
    >>> from novum.evaluation.measures.reading import read_scored
    >>> rows = read_scored([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> equal_error_interval(rank_scores(rows))
    0.3 [0.1, 0.7]
    """
    tp, fp = ranked.accepted()
    rate = float(equal_error_rates(tp, fp))
    # Between two thresholds the curve is a line, which ties make long.
    steps = tp.size - 1
    places = np.linspace(0, steps, steps * math.ceil(_CURVE_POINTS / steps) + 1)
    miss = 1 - np.interp(places, np.arange(tp.size), tp / tp[-1])
    alarm = np.interp(places, np.arange(fp.size), fp / fp[-1])
    miss, alarm = np.append(miss, rate), np.append(alarm, rate)
    squared = float(special.ndtri((1 + level) / 2)) ** 2
    P, N = ranked.sizes
    whole, half = P + N + squared, P * miss + N * alarm + squared / 2
    inside = half**2 - whole * (P * miss**2 + N * alarm**2)
    kept = inside >= 0
    reach = np.sqrt(inside[kept])
    low, high = (half[kept] - reach).min() / whole, (half[kept] + reach).max() / whole
    low, high = max(0.0, float(low)), min(1.0, float(high))
    return Interval(rate, low, high, level, _with_note("score test of both rates", ranked))


def mean_of_intervals(intervals: Sequence[Interval], replicates: Floats, level: float) -> Interval:
    """Interval of the mean of several numbers from those of each.

    The distances of the limits add up as standard errors do, `sqrt(d' R d) / K`, with the
    correlations `R` of the replicates; the method of variance estimates recovery.

    Parameters
    ----------
    intervals : sequence of K Interval
    replicates : array of shape (n_resamples, K)
    level : float
    """
    estimates = np.array([one.estimate for one in intervals])
    limits = np.array([tuple(one) for one in intervals])
    varies = np.ptp(replicates, axis=0) > 0
    # What never varies tells nothing of what it goes with: it is added in full.
    together = np.ones((len(intervals), len(intervals)))
    if varies.sum() > 1:
        together[np.ix_(varies, varies)] = np.corrcoef(replicates[:, varies], rowvar=False)
    mean = float(estimates.mean())
    reaches = [
        math.sqrt(max(0.0, float(distance @ together @ distance))) / len(intervals)
        for distance in (estimates - limits[:, 0], limits[:, 1] - estimates)
    ]
    low, high = max(0.0, mean - reaches[0]), min(1.0, mean + reaches[1])
    return Interval(mean, low, high, level, f"of the classes' intervals: {intervals[0].method}")


def _mean_variance(
    values: Floats, weights: Floats, mean: float, prior: float | None = None
) -> float:
    """Of a weighted mean; `prior` is the variance of a value that a few more rows have."""
    n_rows, size = int((weights > 0).sum()), effective_size(weights)
    squares = float(np.sum((weights * (values - mean)) ** 2)) / float(weights.sum()) ** 2
    more = 0 if prior is None else _PRIOR_ROWS
    total = squares * size * n_rows + more * (prior or 0.0)
    return total / (max(n_rows - 1, 1) if more == 0 else n_rows - 1 + more) / size


def _with_note(method: str, ranked: RankedScores) -> str:
    fewest = min(ranked.n_rows)
    if fewest >= _FEW:
        return method
    rows = "row" if fewest == 1 else "rows"
    return f"{method}; {fewest} {rows} of a class say little"


# --- Several classes ------------------------------------------------------------------------------


def _several_classes(
    y: Any, scores: Any, classes: Sequence[Any] | None, positive: Any, sample_weight: Any
) -> ClassTable | None:
    """The table of scores of three classes or more, None for one against the other."""
    if positive is not None or np.ndim(scores) != 2:
        return None
    values = read_score_array(scores, len(scores))
    if values.ndim == 1 or values.shape[1] <= 2:
        return None
    table = read_class_scores(y, values, classes, sample_weight)
    met = np.unique(table.true if table.weight is None else table.true[table.weight > 0])
    absent = sorted(set(range(len(table.classes))) - set(met.tolist()))
    if absent:
        raise InputError(
            f"No row of y is of class {table.classes[absent[0]]!r}, so its curve does not exist. "
            "Judge more rows, stratify the folds, or choose a measure of labels."
        )
    return table


def one_vs_rest_rows(table: ClassTable, place: int) -> ScoredRows:
    """The rows scored for one class against all others."""
    return ScoredRows(table.classes, table.true == place, table.table[:, place], table.weight)


def _one_vs_rest(table: ClassTable, average: str, of_accepted: Any) -> float:
    values = [
        float(of_accepted(*rank_scores(one_vs_rest_rows(table, place)).accepted()))
        for place in range(len(table.classes))
    ]
    if average == "macro":
        return float(np.mean(values))
    if average != "weighted":
        raise InputError(f"average is 'macro' or 'weighted', got {average!r}.")
    shares = np.bincount(table.true, table.weight, minlength=len(table.classes))
    return float(np.average(values, weights=shares))


def _one_vs_one(table: ClassTable, average: str) -> float:
    if average not in ("macro", "weighted"):
        raise InputError(f"average is 'macro' or 'weighted', got {average!r}.")
    values, shares = [], []
    weights = np.ones(len(table.true)) if table.weight is None else table.weight
    for first, second in combinations(range(len(table.classes)), 2):
        chosen = (table.true == first) | (table.true == second)
        both = [
            float(
                areas(
                    *rank_scores(
                        ScoredRows(
                            table.classes,
                            table.true[chosen] == place,
                            table.table[chosen, place],
                            weights[chosen],
                        )
                    ).accepted()
                )
            )
            for place in (first, second)
        ]
        values.append(float(np.mean(both)))
        shares.append(float(weights[chosen].sum()))
    return float(np.average(values, weights=shares if average == "weighted" else None))


# --- Rows ranked by score -------------------------------------------------------------------------
# Scores sorted once, so that every threshold and every resample costs a running sum.
#
# Rows in falling order of score; accepting those above a threshold is accepting a first part of
# them. With the weights of positives and negatives summed along that order,
#
#     tp[k] = sum of positive weights among the k highest distinct scores,      fp[k] likewise,
#
# k = 0, ..., m, all curves, areas and measures against the threshold follow. A resample changes
# weights and no order, so nothing is sorted again. Equal scores are accepted or refused together.


@dataclass(frozen=True, eq=False)
class RankedScores:
    """Scored rows in falling order.

    Parameters
    ----------
    values : array of shape (m,)
        Distinct scores, falling.
    order : array of shape (n,)
        Rows in falling order of score.
    ends : array of shape (m,)
        Place in `order` of the last row of each distinct score.
    positive : array of shape (n,), bool
        In the order of `order`.
    weight : array of shape (n,)
        In the order of the rows; all 1 without weights.
    """

    values: Floats
    order: Integers
    ends: Integers
    positive: Mask
    weight: Floats

    @property
    def thresholds(self) -> Floats:
        """For each k the threshold above which exactly the k highest distinct scores lie.

        Of shape (m + 1,), from `inf` (accept nothing) to `-inf` (accept everything), halfway
        between neighbors, so that `score > threshold` and `score >= threshold` decide alike.
        """
        high, low = self.values[:-1], self.values[1:]
        with np.errstate(invalid="ignore"):
            middle = high / 2 + low / 2
        # Between neighboring floating-point numbers, or beside an infinite score, there is none.
        middle = np.where((middle < high) & (middle >= low), middle, low)
        return np.concatenate([[np.inf], middle, [-np.inf]])

    @property
    def blocks(self) -> Integers:
        """Which distinct score each row has, of shape (n,), in the order of `order`."""
        return np.searchsorted(self.ends, np.arange(self.order.size))

    @property
    def n_rows(self) -> tuple[int, int]:
        """Positives and negatives that count."""
        counted = self.weight[self.order] > 0
        return int(counted[self.positive].sum()), int(counted[~self.positive].sum())

    @property
    def sizes(self) -> tuple[float, float]:
        """Their effective sizes."""
        weights = self.weight[self.order]
        return effective_size(weights[self.positive]), effective_size(weights[~self.positive])

    def accepted(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Weights of accepted positives and negatives, each of shape (b, m + 1) or (m + 1,).

        Parameters
        ----------
        weights : array of shape (b, n), optional
            Of the rows in their own order. Default: `weight`.
        """
        rows = self.weight if weights is None else weights
        return self._summed(rows, self.positive), self._summed(rows, ~self.positive)

    def _summed(self, rows: Floats, chosen: Mask) -> Floats:
        """Running sums over the chosen rows, at the end of each distinct score."""
        part = np.take(rows, self.order[chosen], axis=-1)
        running = np.zeros((*part.shape[:-1], part.shape[-1] + 1))
        np.cumsum(part, axis=-1, out=running[..., 1:])
        upto = np.r_[0, np.cumsum(chosen)[self.ends]]
        return np.take(running, upto, axis=-1)

    def counts(self) -> Floats:
        """Confusion matrix `[true, predicted]` at each threshold, of shape (m + 1, 2, 2)."""
        tp, fp = self.accepted()
        table = np.empty((tp.size, 2, 2))
        table[:, 1, 1], table[:, 0, 1] = tp, fp
        table[:, 1, 0], table[:, 0, 0] = tp[-1] - tp, fp[-1] - fp
        return table


def rank_scores(rows: ScoredRows) -> RankedScores:
    """Sort rows by falling score.

    Examples
    --------
    >>> from novum.evaluation.measures.reading import read_scored
    >>> ranked = rank_scores(read_scored([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.4]))
    >>> ranked.values.tolist(), ranked.accepted()[0].tolist()
    ([0.8, 0.4, 0.1], [0.0, 1.0, 2.0, 2.0])
    """
    order = np.argsort(-rows.values, kind="stable")
    falling = rows.values[order]
    ends = np.append(np.flatnonzero(falling[1:] != falling[:-1]), falling.size - 1)
    weight = np.ones(falling.size) if rows.weight is None else rows.weight
    return RankedScores(falling[ends], order, ends, rows.positive[order], weight)
