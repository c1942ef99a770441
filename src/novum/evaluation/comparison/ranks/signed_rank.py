"""Wilcoxon's signed-rank test: two models over many data sets.

The differences are ranked by size; W is the sum of the ranks of the positive ones. If positive and
negative differences of a size are equally likely, every rank enters W with probability 1/2:

    P(W = w) = #{subsets of the ranks with sum w} / 2^n

counted exactly here, ties and zeros included: equal sizes share their mean rank, and zeros are
ranked with the others but have no sign (Pratt 1959). Sizes that differ by rounding alone, such as
`0.83 - 0.82` and `0.73 - 0.72`, are equal (`numerics.ties`). Counting takes `n^3` steps; from 300
differences on the normal law with the same moments is used, with half a step of continuity.

The estimate is the Hodges-Lehmann pseudo-median, the median of all means of two differences; its
interval consists of the values that the test would not reject.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from novum.evaluation.comparison.pairs.outcome import (
    Alternative,
    CriticalRegion,
    Outcome,
    checked_options,
    checked_rope,
    checked_values,
)
from novum.evaluation.measures.intervals import Interval
from novum.numerics import Floats, merge_differences

EXACT_UP_TO = 300


def signed_rank_test(
    differences: ArrayLike, *, alternative: Alternative = "two-sided", level: float = 0.95
) -> Outcome:
    """Whether one of two models scores higher over independent data sets.

    Parameters
    ----------
    differences : array-like of shape (n_datasets,)
        Score of the first model minus score of the second, one for each data set.
    alternative : {"two-sided", "less", "greater"}
        "greater": the first is better.
    level : float
        Confidence of the interval, at least; the test has size `1 - level` at most.

    Returns
    -------
    Outcome
        Its statistic is the sum of the positive ranks, its estimate the pseudo-median.

    References
    ----------
    Demsar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.

    Examples
    --------
    >>> found = signed_rank_test([0.1, 0.2, 0.3, -0.05, 0.4])
    >>> found.statistic, found.p_value
    (14.0, 0.125)
    """
    checked_options(alternative, level)
    values = checked_values(differences, "The differences", 1)
    merged = merge_differences(values)
    ranks = stats.rankdata(np.abs(merged))
    signed = ranks[merged != 0]
    law = _law(signed) if values.size <= EXACT_UP_TO else None
    statistic = float(ranks[merged > 0].sum())
    region = _region(signed, law, alternative, 1 - level)
    walsh = walsh_means(values)
    return Outcome(
        "signed-rank test",
        statistic,
        _p_value(statistic, signed, law, alternative),
        region,
        alternative,
        level,
        estimate=float(np.median(walsh)),
        interval=_interval(walsh, values.size, alternative, level),
        note="" if signed.size else "all differences are zero, so there is nothing to test",
    )


def walsh_means(differences: Floats) -> Floats:
    """Means of all pairs of differences, each also with itself, sorted."""
    first, second = np.triu_indices(differences.size)
    return np.sort((differences[first] + differences[second]) / 2)


# --- The law of W ---------------------------------------------------------------------------------


def _law(ranks: Floats) -> Floats:
    """P(2 W = w) for w = 0, 1, ...; ranks are halves, so that twice a rank is whole."""
    doubled = np.rint(2 * ranks).astype(int)
    law = np.zeros(int(doubled.sum()) + 1)
    law[0] = 1.0
    for step in doubled:
        shifted = np.zeros_like(law)
        shifted[step:] = law[: law.size - step]
        law = (law + shifted) / 2
    return law


def _tails(statistic: float, ranks: Floats, law: Floats | None) -> tuple[float, float]:
    """P(W <= statistic) and P(W >= statistic)."""
    if law is not None:
        place = round(2 * statistic)
        return min(1.0, float(law[: place + 1].sum())), min(1.0, float(law[place:].sum()))
    middle, deviation = ranks.sum() / 2, math.sqrt(float(np.sum(ranks**2))) / 2
    return tuple(  # type: ignore[return-value]
        float(special.ndtr((sign * (statistic - middle) + 0.5) / deviation)) for sign in (1, -1)
    )


def _p_value(
    statistic: float, ranks: Floats, law: Floats | None, alternative: Alternative
) -> float:
    below, above = _tails(statistic, ranks, law)
    if alternative == "two-sided":
        return min(1.0, 2 * min(below, above))
    return below if alternative == "less" else above


def _region(
    ranks: Floats, law: Floats | None, alternative: Alternative, size: float
) -> CriticalRegion:
    """Sums of ranks that reject."""
    tail = size / 2 if alternative == "two-sided" else size
    total = float(ranks.sum())
    low = _largest_below(ranks, law, tail)
    return CriticalRegion(
        low if alternative != "greater" else -math.inf,
        total - low if alternative != "less" else math.inf,
    )


def _largest_below(ranks: Floats, law: Floats | None, tail: float) -> float:
    """The largest w with P(W <= w) <= tail, or -inf."""
    if law is None:
        deviation = math.sqrt(float(np.sum(ranks**2))) / 2
        return float(ranks.sum() / 2 + special.ndtri(tail) * deviation - 0.5)
    reached = np.cumsum(law)
    # Sums that no subset of the ranks has are no values of W.
    possible = np.flatnonzero((law > 0) & (reached <= tail))
    return float(possible.max()) / 2 if possible.size else -math.inf


def _interval(walsh: Floats, n: int, alternative: Alternative, level: float) -> Interval:
    """Order statistics of the Walsh means, by the law of W without ties."""
    tail = (1 - level) / 2 if alternative == "two-sided" else 1 - level
    ranks = np.arange(1.0, n + 1)
    low = _largest_below(ranks, _law(ranks) if n <= EXACT_UP_TO else None, tail)
    estimate, method = float(np.median(walsh)), "Hodges-Lehmann"
    if low == -math.inf:
        # So few differences that no value is ever rejected.
        return Interval(estimate, -math.inf, math.inf, level, method)
    place = max(0, math.floor(low)) + 1
    left = -math.inf if alternative == "less" else float(walsh[place - 1])
    right = math.inf if alternative == "greater" else float(walsh[walsh.size - place])
    return Interval(estimate, left, right, level, method)


# --- Wins, ties and losses ------------------------------------------------------------------------
# Counting wins, ties and losses over data sets.
#
# A description, not a test: with many data sets some of the counted differences are chance.


class WinTieLoss(NamedTuple):
    """On how many data sets the first model is better, equal, and worse."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins}/{self.ties}/{self.losses}"


def win_tie_loss(differences: ArrayLike, margin: float = 0.0) -> WinTieLoss:
    """Counts differences above, within and below a margin.

    Parameters
    ----------
    differences : array-like of shape (n_datasets,)
        Score of the first model minus that of the second.
    margin : float
        Differences up to this size are ties, also where rounding alone makes them larger.

    Examples
    --------
    >>> win_tie_loss([0.02, 0.0, -0.001, 0.3], margin=0.01)
    WinTieLoss(wins=2, ties=2, losses=0)
    >>> win_tie_loss([0.83 - 0.82], margin=0.01)
    WinTieLoss(wins=0, ties=1, losses=0)
    """
    size = checked_rope(margin)
    values = merge_differences(checked_values(differences, "The differences", 1), size)
    return WinTieLoss(
        int(np.sum(values > size)), int(np.sum(np.abs(values) <= size)), int(np.sum(values < -size))
    )
