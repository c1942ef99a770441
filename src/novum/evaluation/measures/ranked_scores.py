"""Scores sorted once, so that every threshold and every resample costs a running sum.

Rows in falling order of score; accepting those above a threshold is accepting a first part of
them. With the weights of positives and negatives summed along that order,

    tp[k] = sum of positive weights among the k highest distinct scores,      fp[k] likewise,

k = 0, ..., m, all curves, areas and measures against the threshold follow. A resample changes
weights and no order, so nothing is sorted again. Equal scores are accepted or refused together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novum.evaluation.measures.reading import ScoredRows

Floats = NDArray[np.float64]


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
    order: NDArray[np.int64]
    ends: NDArray[np.int64]
    positive: NDArray[np.bool_]
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

    def accepted(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """Weights of accepted positives and negatives, each of shape (b, m + 1) or (m + 1,).

        Parameters
        ----------
        weights : array of shape (b, n), optional
            Of the rows in their own order. Default: `weight`.
        """
        rows = self.weight if weights is None else weights
        return self._summed(rows, self.positive), self._summed(rows, ~self.positive)

    def _summed(self, rows: Floats, chosen: NDArray[np.bool_]) -> Floats:
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
