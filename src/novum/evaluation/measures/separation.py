"""How well scores separate the classes: areas under curves and the equal error rate.

Area under the ROC curve = probability that a positive row scores above a negative one, ties half;
with tp, fp at falling thresholds it is the trapezoid rule on (fp/N, tp/P). Average precision is
`sum_k (R_k - R_{k-1}) P_k` over falling thresholds, without interpolation. The equal error rate is
where the lines between neighboring thresholds cross `miss rate = false-alarm rate`.

Of K classes: each against the rest (ovr) or all pairs (ovo, Hand & Till 2001), averaged.

Their intervals: `separation_intervals`.

Reference: Hand & Till (2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from novum.core.errors import InputError
from novum.evaluation.measures.intervals import effective_size
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
