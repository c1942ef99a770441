"""Intervals of the ROC area, the average precision and the equal error rate.

The error of the area is DeLong's: with the placement of a row, the share of the other class that it
beats, `var = var(placements of positives)/P + var(placements of negatives)/N`; its interval is
symmetric on the log-odds scale. The intervals of the other two come from Wilson's: of as many
trials as there are positives, or as the spread of the average precision is worth if that is fewer;
and of the equal error rates that a score test of both error rates does not refuse. All are made to
hold with few rows of a class, where resampling sees too little (`docs/theory/measures.md`).

References: Hanley & McNeil (1982); DeLong, DeLong & Clarke-Pearson (1988); Zou & Donner (2008);
Boyd, Eng & Page (2013).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import (
    effective_size,
    logit_interval,
    proportion_interval,
)
from novum.evaluation.measures.separation import (
    RankedScores,
    areas,
    average_precisions,
    equal_error_rates,
)
from novum.numerics import Floats

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
    >>> from novum.evaluation.measures.separation import rank_scores
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
    >>> from novum.evaluation.measures.separation import rank_scores
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
        values, weight = influence[chosen], weights[chosen]
        variance += _mean_variance(values, weight, float(np.average(values, weights=weight)))
    return variance


def equal_error_interval(ranked: RankedScores, level: float = 0.95) -> Interval:
    """The equal error rates that a score test does not refuse.

    A rate `e` is kept if the curve has a point whose miss rate `m` and false-alarm rate `f` agree
    with it: `P (m - e)^2 + N (f - e)^2 <= z^2 e (1 - e)`. No density of scores is estimated.

    Examples
    --------
    >>> from novum.evaluation.measures.reading import read_scored
    >>> from novum.evaluation.measures.separation import rank_scores
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
    # The rate itself agrees but for rounding.
    low, high = max(0.0, min(float(low), rate)), min(1.0, max(float(high), rate))
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
    told = "1 row of a class says" if fewest == 1 else f"{fewest} rows of a class say"
    return f"{method}; {told} little"
